//===- SemanticsAttr.cpp - What an operator reads and writes --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttributeSyntax.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tofu;
using namespace mlir::tofu::syntax;

//===----------------------------------------------------------------------===//
// IterationDimAttr, AccessAttr
//===----------------------------------------------------------------------===//

/// One combiner for all results, or in parentheses one for each.
static ParseResult parseCombiners(AsmParser &parser,
                                  SmallVectorImpl<Combiner> &combiners) {
  if (failed(parser.parseOptionalLParen()))
    return parseCombiner(parser, combiners.emplace_back());
  if (parser.parseCommaSeparatedList(
          [&] { return parseCombiner(parser, combiners.emplace_back()); }) ||
      parser.parseRParen())
    return failure();
  if (llvm::all_equal(combiners))
    combiners.truncate(1);
  return success();
}

static void printCombiners(AsmPrinter &printer, ArrayRef<Combiner> combiners) {
  if (combiners.size() == 1) {
    printer << stringifyCombiner(combiners.front());
    return;
  }
  printer << '(';
  llvm::interleaveComma(combiners, printer, [&](Combiner combiner) {
    printer << stringifyCombiner(combiner);
  });
  printer << ')';
}

static ParseResult parseIterationDim(AsmParser &parser,
                                     IterationDimAttr &result) {
  StringAttr name;
  int64_t size;
  if (parseNamedSize(parser, name, size))
    return failure();
  DimKind kind = DimKind::Parallel;
  SmallVector<Combiner> combiners;
  if (succeeded(parser.parseOptionalColon())) {
    if (succeeded(parser.parseOptionalKeyword(
            stringifyDimKind(DimKind::Unsplittable)))) {
      kind = DimKind::Unsplittable;
    } else {
      kind = DimKind::Reduction;
      if (parseCombiners(parser, combiners))
        return failure();
    }
  }
  StringAttr after;
  if (succeeded(parser.parseOptionalKeyword("after"))) {
    StringRef outer;
    if (parser.parseKeyword(&outer))
      return failure();
    after = StringAttr::get(parser.getContext(), outer);
  }
  bool covering = size == search::kCoveringSize;
  result = IterationDimAttr::get(parser.getContext(), name,
                                 covering ? search::kUnknownSize : size, kind,
                                 combiners, after, covering);
  return success();
}

static void printIterationDim(AsmPrinter &printer, IterationDimAttr dim) {
  printNamedSize(printer, dim.getName(),
                 dim.getCovering() ? search::kCoveringSize : dim.getSize());
  if (dim.getKind() == DimKind::Reduction) {
    printer << " : ";
    printCombiners(printer, dim.getCombiners());
  }
  if (dim.getKind() == DimKind::Unsplittable)
    printer << " : " << stringifyDimKind(dim.getKind());
  if (dim.getAfter())
    printer << " after " << dim.getAfter().getValue();
}

Attribute IterationDimAttr::parse(AsmParser &parser, Type) {
  IterationDimAttr result;
  if (parser.parseLess() || parseIterationDim(parser, result) ||
      parser.parseGreater())
    return {};
  return result;
}

void IterationDimAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printIterationDim(printer, *this);
  printer << '>';
}

/// An access alone has no names for its dims; only inside of semantics does it
/// print well. Standing alone it prints affine dims.
static SmallVector<StringAttr> anonymousDims(MLIRContext *context,
                                             ArrayRef<AffineExpr> index) {
  int64_t most = 0;
  for (AffineExpr expr : index)
    if (expr)
      expr.walk([&](AffineExpr sub) {
        if (auto dim = dyn_cast<AffineDimExpr>(sub))
          most = std::max<int64_t>(most, dim.getPosition() + 1);
      });
  SmallVector<StringAttr> names;
  for (int64_t i = 0; i < most; ++i)
    names.push_back(StringAttr::get(context, "d" + Twine(i)));
  return names;
}

Attribute AccessAttr::parse(AsmParser &parser, Type) {
  parser.emitError(parser.getCurrentLocation())
      << "#tofu.access stands inside of #tofu.semantics only";
  return {};
}

void AccessAttr::print(AsmPrinter &printer) const {
  printer << '<' << getName().getValue();
  printIndex(printer, getIndex(), anonymousDims(getContext(), getIndex()));
  printer << '>';
}

//===----------------------------------------------------------------------===//
// SemanticsAttr
//===----------------------------------------------------------------------===//

namespace {
/// An access as parsed: an initial value names its result, which comes later.
struct ParsedAccess {
  StringAttr name;
  SmallVector<AffineExpr> index;
  bool isInit = false, read = true;
  SMLoc loc;
};
} // namespace

static ParseResult parseAccess(AsmParser &parser, const NamedDims &dims,
                               ParsedAccess &access) {
  access.loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  if (name == "init") {
    StringRef next;
    if (succeeded(parser.parseOptionalKeyword(&next))) {
      access.isInit = true;
      name = next;
    }
  }
  access.name = StringAttr::get(parser.getContext(), name);
  if (name == "_") {
    access.read = false;
    return success();
  }
  return parseIndex(parser, dims, access.index);
}

static ParseResult parseAccesses(AsmParser &parser, const NamedDims &dims,
                                 SmallVectorImpl<ParsedAccess> &accesses) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
    return parseAccess(parser, dims, accesses.emplace_back());
  });
}

/// Parses `linear [{0}, {0, 1}]`: sets of operands, as bit masks.
static ParseResult parseLinear(AsmParser &parser, size_t numOperands,
                               SmallVectorImpl<int64_t> &linear) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    int64_t &mask = linear.emplace_back(0);
    return parser.parseCommaSeparatedList(
        AsmParser::Delimiter::Braces, [&]() -> ParseResult {
          int64_t operand;
          SMLoc loc = parser.getCurrentLocation();
          if (parser.parseInteger(operand))
            return failure();
          if (operand < 0 || operand >= int64_t(numOperands) || operand >= 63)
            return parser.emitError(loc) << "no operand " << operand;
          mask |= int64_t(1) << operand;
          return success();
        });
  });
}

static FailureOr<AccessAttr> toAccess(AsmParser &parser,
                                      const ParsedAccess &access,
                                      ArrayRef<ParsedAccess> results) {
  int64_t initOf = AccessAttr::kNoInit;
  if (access.isInit) {
    const auto *it = llvm::find_if(results, [&](const ParsedAccess &result) {
      return result.name == access.name;
    });
    if (it == results.end())
      return parser.emitError(access.loc)
             << "initial value of an unknown result: "
             << access.name.getValue();
    initOf = it - results.begin();
  }
  return AccessAttr::get(parser.getContext(), access.name, access.index, initOf,
                         access.read);
}

Attribute SemanticsAttr::parse(AsmParser &parser, Type) {
  SmallVector<IterationDimAttr> dims;
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parseIterationDim(parser, dims.emplace_back());
      }))
    return {};
  NamedDims named;
  SmallVector<StringAttr> names = llvm::map_to_vector(
      dims, [](IterationDimAttr dim) { return dim.getName(); });
  SmallVector<ParsedAccess> operands, results;
  if (nameDims(parser, names, named) || parser.parseComma() ||
      parseAccesses(parser, named, operands) || parser.parseArrow() ||
      parseAccesses(parser, named, results))
    return {};
  SmallVector<int64_t> linear;
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("linear") ||
       parseLinear(parser, operands.size(), linear)))
    return {};
  if (parser.parseGreater())
    return {};
  SmallVector<AccessAttr> operandAttrs, resultAttrs;
  for (auto [from, to] : {std::make_pair(&operands, &operandAttrs),
                          std::make_pair(&results, &resultAttrs)})
    for (const ParsedAccess &access : *from) {
      FailureOr<AccessAttr> attr = toAccess(parser, access, results);
      if (failed(attr))
        return {};
      to->push_back(*attr);
    }
  auto emitError = [&]() -> InFlightDiagnostic {
    return parser.emitError(parser.getNameLoc());
  };
  if (failed(verify(emitError, dims, operandAttrs, resultAttrs, linear)))
    return {};
  return get(parser.getContext(), dims, operandAttrs, resultAttrs, linear);
}

static void printAccesses(AsmPrinter &printer, ArrayRef<AccessAttr> accesses,
                          ArrayRef<StringAttr> names) {
  printer << '(';
  llvm::interleaveComma(accesses, printer, [&](AccessAttr access) {
    if (!access.getRead()) {
      printer << '_';
      return;
    }
    if (access.getInitOf() >= 0)
      printer << "init ";
    printer << access.getName().getValue();
    printIndex(printer, access.getIndex(), names);
  });
  printer << ')';
}

void SemanticsAttr::print(AsmPrinter &printer) const {
  SmallVector<StringAttr> names = llvm::map_to_vector(
      getDims(), [](IterationDimAttr dim) { return dim.getName(); });
  printer << "<[";
  llvm::interleaveComma(getDims(), printer, [&](IterationDimAttr dim) {
    printIterationDim(printer, dim);
  });
  printer << "], ";
  printAccesses(printer, getOperands(), names);
  printer << " -> ";
  printAccesses(printer, getResults(), names);
  if (!getLinear().empty()) {
    printer << ", linear [";
    llvm::interleaveComma(getLinear(), printer, [&](int64_t mask) {
      printer << '{';
      bool first = true;
      for (unsigned i = 0; i < 63; ++i) {
        if (!(mask >> i & 1))
          continue;
        printer << (first ? "" : ", ") << i;
        first = false;
      }
      printer << '}';
    });
    printer << ']';
  }
  printer << '>';
}

/// A result is put together from parts, so cutting a parallel dim must cut
/// every result, once, and cutting a reduction none.
static LogicalResult
verifyResultDim(function_ref<InFlightDiagnostic()> emitError,
                IterationDimAttr dim, unsigned position, AccessAttr result,
                unsigned number) {
  int64_t uses = llvm::count_if(result.getIndex(), [&](AffineExpr expr) {
    return expr && expr.isFunctionOfDim(position);
  });
  StringRef name = dim.getName().getValue();
  if (uses > 1)
    return emitError() << "dim " << name << " indexes " << uses
                       << " dims of result " << number;
  if (dim.getKind() == DimKind::Reduction && uses)
    return emitError() << "dim " << name
                       << " is a reduction, but indexes result " << number;
  if (dim.getKind() == DimKind::Parallel && !uses && dim.getSize() != 0 &&
      dim.getSize() != 1)
    return emitError() << "dim " << name
                       << " is parallel, but doesn't index result " << number;
  return success();
}

static std::string toString(ArrayRef<Combiner> combiners) {
  return llvm::join(llvm::map_range(combiners, stringifyCombiner), ", ");
}

/// The combiners of one dim: one for all results, or one for each. A region
/// combines all results together.
static LogicalResult
verifyCombiners(function_ref<InFlightDiagnostic()> emitError,
                IterationDimAttr dim, size_t numResults) {
  ArrayRef<Combiner> combiners = dim.getCombiners();
  StringRef name = dim.getName().getValue();
  if ((dim.getKind() == DimKind::Reduction) == combiners.empty())
    return emitError() << "dim " << name
                       << ": a reduction, and nothing else, has a combiner";
  if (combiners.size() > 1 && combiners.size() != numResults)
    return emitError() << "dim " << name << " has " << combiners.size()
                       << " combiners, there are " << numResults << " results";
  if (combiners.size() > 1 && llvm::is_contained(combiners, Combiner::Region))
    return emitError() << "dim " << name << " combines by "
                       << toString(combiners)
                       << ", but a region combines all results";
  return success();
}

/// Parts are combined in one way, and a sum that passes through is a sum.
static LogicalResult
verifyCombiners(function_ref<InFlightDiagnostic()> emitError,
                ArrayRef<IterationDimAttr> dims, size_t numResults,
                bool isLinear) {
  IterationDimAttr first;
  for (IterationDimAttr dim : dims) {
    if (failed(verifyCombiners(emitError, dim, numResults)))
      return failure();
    if (dim.getKind() != DimKind::Reduction)
      continue;
    if (first && first.getCombiners() != dim.getCombiners())
      return emitError() << "dim " << first.getName().getValue()
                         << " combines by " << toString(first.getCombiners())
                         << ", dim " << dim.getName().getValue() << " by "
                         << toString(dim.getCombiners());
    if (isLinear && !dim.combinesBy(Combiner::Sum))
      return emitError() << "linear, but dim " << dim.getName().getValue()
                         << " combines by " << toString(dim.getCombiners());
    first = dim;
  }
  return success();
}

/// The dim before `position` that is called `name`, or -1.
static int findEarlier(ArrayRef<IterationDimAttr> dims, size_t position,
                       StringAttr name) {
  for (size_t i = 0; i < position; ++i)
    if (dims[i].getName() == name)
      return i;
  return -1;
}

LogicalResult
SemanticsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<IterationDimAttr> dims,
                      ArrayRef<AccessAttr> operands,
                      ArrayRef<AccessAttr> results, ArrayRef<int64_t> linear) {
  auto verify = [&](ArrayRef<AccessAttr> accesses,
                    StringRef what) -> LogicalResult {
    for (auto [i, access] : llvm::enumerate(accesses))
      for (AffineExpr expr : access.getIndex())
        if (expr && expr.isFunctionOfDim(dims.size()))
          return emitError() << what << ' ' << i << ": unknown dim";
    return success();
  };
  if (failed(verify(operands, "operand")) || failed(verify(results, "result")))
    return failure();
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim.getAfter() && findEarlier(dims, i, dim.getAfter()) < 0)
      return emitError() << "dim " << dim.getName().getValue() << " is after "
                         << dim.getAfter().getValue()
                         << ", which is no dim before it";
  for (auto [i, result] : llvm::enumerate(results)) {
    if (!result.getRead())
      return emitError() << "result " << i << " has no index";
    for (auto [position, dim] : llvm::enumerate(dims))
      if (failed(verifyResultDim(emitError, dim, position, result, i)))
        return failure();
  }
  return verifyCombiners(emitError, dims, results.size(), !linear.empty());
}

SmallVector<int64_t> SemanticsAttr::getShape() const {
  return llvm::map_to_vector(
      getDims(), [](IterationDimAttr dim) { return dim.getSize(); });
}

bool SemanticsAttr::hasDynamicDims() const {
  return ShapedType::isDynamicShape(getShape());
}

/// Adds `a` * `b` to `sum`; fails if that overflows.
static LogicalResult addProduct(int64_t a, int64_t b, int64_t &sum) {
  int64_t product;
  return success(!llvm::MulOverflow(a, b, product) &&
                 !llvm::AddOverflow(sum, product, sum));
}

/// Adds `factor` * `expr` to `sum`; fails if it isn't linear, or overflows.
static LogicalResult addLinear(AffineExpr expr, int64_t factor,
                               search::LinearExpr &sum) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return addProduct(factor, constant.getValue(), sum.constant);
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    auto *term = llvm::find_if(
        sum.terms, [&](auto &t) { return t.dim == dim.getPosition(); });
    if (term != sum.terms.end())
      return addProduct(factor, 1, term->coefficient);
    sum.terms.push_back({dim.getPosition(), factor});
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  if (binary.getKind() == AffineExprKind::Add)
    return success(succeeded(addLinear(binary.getLHS(), factor, sum)) &&
                   succeeded(addLinear(binary.getRHS(), factor, sum)));
  auto scale = dyn_cast<AffineConstantExpr>(binary.getRHS());
  int64_t scaled = 0;
  if (binary.getKind() != AffineExprKind::Mul || !scale ||
      failed(addProduct(factor, scale.getValue(), scaled)))
    return failure();
  return addLinear(binary.getLHS(), scaled, sum);
}

/// True if no value of `expr`, over dims of the given sizes, overflows. What is
/// unknown is taken for more than a tensor can have.
static bool isBounded(const search::LinearExpr &expr, ArrayRef<int64_t> sizes) {
  constexpr int64_t kMostElements = int64_t(1) << 48;
  int64_t least = 0, most = 1;
  auto add = [&](int64_t a, int64_t b) {
    return succeeded(addProduct(a, search::isUnknown(b) ? kMostElements : b,
                                a < 0 ? least : most));
  };
  return add(expr.constant, 1) &&
         llvm::all_of(expr.terms, [&](const search::LinearExpr::Term &term) {
           return add(term.coefficient, sizes[term.dim]);
         });
}

FailureOr<SmallVector<search::LinearExpr, 4>>
mlir::tofu::toLinear(ArrayRef<AffineExpr> index, ArrayRef<int64_t> sizes) {
  SmallVector<search::LinearExpr, 4> exprs;
  for (AffineExpr expr : index) {
    if (!expr) {
      exprs.push_back(search::LinearExpr::all());
      continue;
    }
    if (failed(addLinear(expr, 1, exprs.emplace_back())) ||
        !isBounded(exprs.back(), sizes))
      return failure();
  }
  return exprs;
}

FailureOr<search::Operator> SemanticsAttr::getOperator() const {
  search::Operator op;
  SmallVector<int64_t> sizes = getShape();
  for (IterationDimAttr dim : getDims())
    op.dims.push_back(
        {dim.getSize(), static_cast<search::DimKind>(dim.getKind()),
         dim.combinesBy(Combiner::Sum),
         dim.getAfter() ? findEarlier(getDims(), op.dims.size(), dim.getAfter())
                        : -1});
  for (AccessAttr access : getOperands()) {
    auto index = toLinear(access.getIndex(), sizes);
    if (failed(index))
      return failure();
    op.operands.push_back({0, *index, int(access.getInitOf())});
  }
  for (AccessAttr access : getResults()) {
    auto index = toLinear(access.getIndex(), sizes);
    if (failed(index))
      return failure();
    op.results.push_back({0, *index});
  }
  for (int64_t mask : getLinear())
    op.linear.push_back(mask);
  return op;
}

Combiner SemanticsAttr::getCombiner(const search::Strategy &strategy,
                                    unsigned result) const {
  if (!strategy.partial.empty())
    return Combiner::Sum;
  for (auto [dim, axes] : llvm::zip_equal(getDims(), strategy.dims))
    if (dim.getKind() == DimKind::Reduction && !axes.empty())
      return dim.getCombiner(result);
  return Combiner::None;
}

bool SemanticsAttr::combinesByRegion(const search::Strategy &strategy) const {
  return getCombiner(strategy, 0) == Combiner::Region;
}
