//===- Attributes.cpp - Attributes of the tofu dialect --------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/Tofu.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tofu;

#include "Tofu/Dialect/TofuAttrInterfaces.cpp.inc"
#include "Tofu/Dialect/TofuEnums.cpp.inc"

//===----------------------------------------------------------------------===//
// Pieces of syntax
//===----------------------------------------------------------------------===//

static ParseResult parseAxisNames(AsmParser &parser,
                                  SmallVectorImpl<StringAttr> &names) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Braces, [&]() -> ParseResult {
        std::string name;
        if (parser.parseKeywordOrString(&name))
          return failure();
        names.push_back(StringAttr::get(parser.getContext(), name));
        return success();
      });
}

static ParseResult parseAxisNames(AsmParser &parser,
                                  FailureOr<SmallVector<StringAttr>> &names) {
  names = SmallVector<StringAttr>();
  return parseAxisNames(parser, *names);
}

static void printAxisNames(AsmPrinter &printer, ArrayRef<StringAttr> names) {
  printer << '{';
  llvm::interleaveComma(names, printer, [&](StringAttr name) {
    printer.printKeywordOrString(name.getValue());
  });
  printer << '}';
}

static ParseResult parseAxes(AsmParser &parser, AxesAttr &axes) {
  SmallVector<StringAttr> names;
  if (parseAxisNames(parser, names))
    return failure();
  axes = AxesAttr::get(parser.getContext(), names);
  return success();
}

static ParseResult parseAxesList(AsmParser &parser,
                                 SmallVectorImpl<AxesAttr> &list) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parseAxes(parser, list.emplace_back());
  });
}

static void printAxesList(AsmPrinter &printer, ArrayRef<AxesAttr> list) {
  printer << '[';
  llvm::interleaveComma(list, printer, [&](AxesAttr axes) {
    printAxisNames(printer, axes.getNames());
  });
  printer << ']';
}

static ParseResult parseCombiner(AsmParser &parser, Combiner &combiner) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<Combiner> known = symbolizeCombiner(word);
  if (!known || *known == Combiner::None)
    return parser.emitError(loc) << "unknown combiner: " << word;
  combiner = *known;
  return success();
}

/// Parses `, COMBINER {AXES}` if it is there.
static ParseResult parsePartial(AsmParser &parser, AxesAttr &partial,
                                Combiner &combiner) {
  partial = AxesAttr::get(parser.getContext(), ArrayRef<StringAttr>());
  combiner = Combiner::None;
  if (failed(parser.parseOptionalComma()))
    return success();
  return failure(parseCombiner(parser, combiner) || parseAxes(parser, partial));
}

static void printPartial(AsmPrinter &printer, AxesAttr partial,
                         Combiner combiner) {
  if (partial.empty())
    return;
  printer << ", " << stringifyCombiner(combiner) << ' ';
  printAxisNames(printer, partial.getNames());
}

using NamedDims = SmallVector<std::pair<StringRef, AffineExpr>>;

/// Parses a list of index expressions in brackets; `:` gives a null one.
static ParseResult parseIndex(AsmParser &parser, const NamedDims &dims,
                              SmallVectorImpl<AffineExpr> &index) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        AffineExpr &expr = index.emplace_back();
        if (succeeded(parser.parseOptionalColon()))
          return success();
        return parser.parseAffineExpr(dims, expr);
      });
}

/// Binding strength of an affine expression's operator, for parentheses.
static int getPrecedence(AffineExpr expr) {
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return 0;
  case AffineExprKind::Mul:
  case AffineExprKind::Mod:
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    return 1;
  default:
    return 2;
  }
}

static void printExpr(AsmPrinter &printer, AffineExpr expr,
                      ArrayRef<StringAttr> names, int least = 0) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    printer << constant.getValue();
    return;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    printer << names[dim.getPosition()].getValue();
    return;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int precedence = getPrecedence(expr);
  StringRef sign = expr.getKind() == AffineExprKind::Add        ? " + "
                   : expr.getKind() == AffineExprKind::Mul      ? " * "
                   : expr.getKind() == AffineExprKind::Mod      ? " mod "
                   : expr.getKind() == AffineExprKind::FloorDiv ? " floordiv "
                                                                : " ceildiv ";
  if (precedence < least)
    printer << '(';
  printExpr(printer, binary.getLHS(), names, precedence);
  printer << sign;
  printExpr(printer, binary.getRHS(), names, precedence + 1);
  if (precedence < least)
    printer << ')';
}

static void printIndex(AsmPrinter &printer, ArrayRef<AffineExpr> index,
                       ArrayRef<StringAttr> names) {
  printer << '[';
  llvm::interleaveComma(index, printer, [&](AffineExpr expr) {
    if (expr)
      printExpr(printer, expr, names);
    else
      printer << ':';
  });
  printer << ']';
}

/// Parses `NAME = SIZE`; `?` is a size that isn't known.
static ParseResult parseNamedSize(AsmParser &parser, StringAttr &name,
                                  int64_t &size) {
  StringRef text;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&text) || parser.parseEqual())
    return failure();
  name = StringAttr::get(parser.getContext(), text);
  if (succeeded(parser.parseOptionalQuestion())) {
    size = ShapedType::kDynamic;
    return success();
  }
  if (parser.parseInteger(size))
    return failure();
  if (size < 0)
    return parser.emitError(loc)
           << "size of " << text << " is negative: " << size;
  return success();
}

static void printNamedSize(AsmPrinter &printer, StringAttr name, int64_t size) {
  printer << name.getValue() << " = ";
  if (ShapedType::isDynamic(size))
    printer << '?';
  else
    printer << size;
}

static ParseResult nameDims(AsmParser &parser, ArrayRef<StringAttr> names,
                            NamedDims &dims) {
  llvm::StringSet<> seen;
  for (auto [position, name] : llvm::enumerate(names)) {
    if (!seen.insert(name.getValue()).second)
      return parser.emitError(parser.getCurrentLocation())
             << "two dims are called " << name.getValue();
    dims.emplace_back(name.getValue(),
                      getAffineDimExpr(position, parser.getContext()));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Mesh axes in attributes
//===----------------------------------------------------------------------===//

search::Axes AxesAttr::resolve(const search::Mesh &mesh) const {
  search::Axes axes;
  for (StringAttr name : getNames()) {
    const auto *it = llvm::find(mesh.names, name.getValue());
    if (it != mesh.names.end())
      axes.push_back(it - mesh.names.begin());
  }
  return axes;
}

AxesAttr AxesAttr::get(MLIRContext *context, ArrayRef<unsigned> axes,
                       const search::Mesh &mesh) {
  SmallVector<StringAttr> names;
  for (unsigned axis : axes)
    names.push_back(StringAttr::get(context, mesh.names[axis]));
  return get(context, names);
}

static SmallVector<search::Axes, 4> resolveAll(ArrayRef<AxesAttr> list,
                                               const search::Mesh &mesh) {
  SmallVector<search::Axes, 4> all;
  for (AxesAttr axes : list)
    all.push_back(axes.resolve(mesh));
  return all;
}

/// Elements of a tensor must be countable; sizes that aren't known don't
/// matter.
static LogicalResult verifyVolume(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> shape) {
  int64_t volume = 1;
  for (int64_t size : shape)
    if (!ShapedType::isDynamic(size) && size > 0 &&
        llvm::MulOverflow(volume, size, volume))
      return emitError() << "tensor has too many elements";
  return success();
}

/// Every axis must be one of the mesh's, and be used once.
static LogicalResult verifyAxes(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<AxesAttr> dims, AxesAttr partial,
                                Combiner combiner, const search::Mesh &mesh) {
  llvm::StringSet<> used;
  auto verify = [&](AxesAttr axes) -> LogicalResult {
    for (StringAttr name : axes.getNames()) {
      if (!llvm::is_contained(mesh.names, name.getValue()))
        return emitError() << "unknown axis: " << name.getValue();
      if (!used.insert(name.getValue()).second)
        return emitError() << "axis " << name.getValue() << " is used twice";
    }
    return success();
  };
  for (AxesAttr axes : dims)
    if (failed(verify(axes)))
      return failure();
  if (partial.empty() != (combiner == Combiner::None))
    return emitError() << "a combiner goes with partial axes";
  return verify(partial);
}

//===----------------------------------------------------------------------===//
// IterationDimAttr, AccessAttr
//===----------------------------------------------------------------------===//

static ParseResult parseIterationDim(AsmParser &parser,
                                     IterationDimAttr &result) {
  StringAttr name;
  int64_t size;
  if (parseNamedSize(parser, name, size))
    return failure();
  DimKind kind = DimKind::Parallel;
  Combiner combiner = Combiner::None;
  if (succeeded(parser.parseOptionalColon())) {
    if (succeeded(parser.parseOptionalKeyword(
            stringifyDimKind(DimKind::Unsplittable)))) {
      kind = DimKind::Unsplittable;
    } else {
      kind = DimKind::Reduction;
      if (parseCombiner(parser, combiner))
        return failure();
    }
  }
  result =
      IterationDimAttr::get(parser.getContext(), name, size, kind, combiner);
  return success();
}

static void printIterationDim(AsmPrinter &printer, IterationDimAttr dim) {
  printNamedSize(printer, dim.getName(), dim.getSize());
  if (dim.getKind() == DimKind::Reduction)
    printer << " : " << stringifyCombiner(dim.getCombiner());
  if (dim.getKind() == DimKind::Unsplittable)
    printer << " : " << stringifyDimKind(dim.getKind());
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
  return SemanticsAttr::getChecked(
      [&] { return parser.emitError(parser.getNameLoc()); },
      parser.getContext(), dims, operandAttrs, resultAttrs, linear);
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

/// Parts are combined in one way, and a sum that passes through is a sum.
static LogicalResult
verifyCombiners(function_ref<InFlightDiagnostic()> emitError,
                ArrayRef<IterationDimAttr> dims, bool isLinear) {
  IterationDimAttr first;
  for (IterationDimAttr dim : dims) {
    if (dim.getKind() != DimKind::Reduction)
      continue;
    if (first && first.getCombiner() != dim.getCombiner())
      return emitError() << "dim " << first.getName().getValue()
                         << " combines by "
                         << stringifyCombiner(first.getCombiner()) << ", dim "
                         << dim.getName().getValue() << " by "
                         << stringifyCombiner(dim.getCombiner());
    if (isLinear && dim.getCombiner() != Combiner::Sum)
      return emitError() << "linear, but dim " << dim.getName().getValue()
                         << " combines by "
                         << stringifyCombiner(dim.getCombiner());
    first = dim;
  }
  return success();
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
  for (auto [i, result] : llvm::enumerate(results)) {
    if (!result.getRead())
      return emitError() << "result " << i << " has no index";
    for (auto [position, dim] : llvm::enumerate(dims))
      if (failed(verifyResultDim(emitError, dim, position, result, i)))
        return failure();
  }
  return verifyCombiners(emitError, dims, !linear.empty());
}

bool SemanticsAttr::hasDynamicDims() const {
  return llvm::any_of(getDims(), [](IterationDimAttr dim) {
    return ShapedType::isDynamic(dim.getSize());
  });
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

/// True if no value of `expr`, over dims of the given sizes, overflows.
static bool isBounded(const search::LinearExpr &expr, ArrayRef<int64_t> sizes) {
  int64_t least = 0, most = 1;
  auto add = [&](int64_t a, int64_t b) {
    return succeeded(addProduct(a, b, a < 0 ? least : most));
  };
  return add(expr.constant, 1) &&
         llvm::all_of(expr.terms, [&](const search::LinearExpr::Term &term) {
           return add(term.coefficient, sizes[term.dim]);
         });
}

/// Index expressions over dims of the given sizes; fails if one isn't linear,
/// or too large.
static FailureOr<SmallVector<search::LinearExpr, 4>>
toLinear(ArrayRef<AffineExpr> index, ArrayRef<int64_t> sizes) {
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
  if (hasDynamicDims())
    return failure();
  search::Operator op;
  SmallVector<int64_t> sizes;
  for (IterationDimAttr dim : getDims()) {
    sizes.push_back(dim.getSize());
    op.dims.push_back({dim.getSize(),
                       static_cast<search::DimKind>(dim.getKind()),
                       dim.getCombiner() == Combiner::Sum});
  }
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

Combiner SemanticsAttr::getCombiner(const search::Strategy &strategy) const {
  if (!strategy.partial.empty())
    return Combiner::Sum;
  for (auto [dim, axes] : llvm::zip_equal(getDims(), strategy.dims))
    if (dim.getKind() == DimKind::Reduction && !axes.empty())
      return dim.getCombiner();
  return Combiner::None;
}

//===----------------------------------------------------------------------===//
// LayoutAttr
//===----------------------------------------------------------------------===//

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<AxesAttr> dims;
  AxesAttr partial;
  Combiner combiner;
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() || parseAxesList(parser, dims) ||
      parsePartial(parser, partial, combiner) || parser.parseGreater())
    return {};
  return get(parser.getContext(), mesh, dims, partial, combiner);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << '<' << getMesh() << ", ";
  printAxesList(printer, getDims());
  printPartial(printer, getPartial(), getCombiner());
  printer << '>';
}

ArrayRef<StringAttr> LayoutAttr::getPartialAxes() const {
  return getPartial().getNames();
}

Attribute LayoutAttr::withPartial(ArrayRef<StringAttr> axes,
                                  Combiner combiner) const {
  return get(getContext(), getMesh(), getDims(),
             AxesAttr::get(getContext(), axes), combiner);
}

search::Placement LayoutAttr::getPlacement(ArrayRef<int64_t> shape,
                                           const search::Mesh &mesh) const {
  return search::Placement::ofLayout(shape, resolveAll(getDims(), mesh));
}

LogicalResult
LayoutAttr::verifyPlacement(function_ref<InFlightDiagnostic()> emitError,
                            ArrayRef<int64_t> shape,
                            const search::Mesh &mesh) const {
  if (getDims().size() != shape.size())
    return emitError() << "layout has " << getDims().size()
                       << " dims, tensor has " << shape.size();
  if (failed(verifyVolume(emitError, shape)))
    return failure();
  return verifyAxes(emitError, getDims(), getPartial(), getCombiner(), mesh);
}

LayoutAttr LayoutAttr::getWhole(FlatSymbolRefAttr mesh, int64_t rank) {
  MLIRContext *context = mesh.getContext();
  AxesAttr none = AxesAttr::get(context, ArrayRef<StringAttr>());
  return get(context, mesh, SmallVector<AxesAttr>(rank, none), none,
             Combiner::None);
}

LayoutAttr LayoutAttr::get(FlatSymbolRefAttr mesh, const search::Layout &layout,
                           Combiner combiner, const search::Mesh &meshInfo) {
  MLIRContext *context = mesh.getContext();
  SmallVector<AxesAttr> dims;
  for (const search::Axes &axes : layout.dims)
    dims.push_back(AxesAttr::get(context, axes, meshInfo));
  return get(context, mesh, dims,
             AxesAttr::get(context, layout.partial, meshInfo),
             layout.partial.empty() ? Combiner::None : combiner);
}

//===----------------------------------------------------------------------===//
// BoxesAttr
//===----------------------------------------------------------------------===//

Attribute BoxesAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  SmallVector<AxesAttr> axes;
  auto parseDim = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    if (parseNamedSize(parser, names.emplace_back(), sizes.emplace_back()))
      return failure();
    if (ShapedType::isDynamic(sizes.back()))
      return parser.emitError(loc) << "boxes need known sizes";
    SmallVector<StringAttr> none;
    axes.push_back(AxesAttr::get(parser.getContext(), none));
    if (succeeded(parser.parseOptionalLBrace())) {
      SmallVector<StringAttr> axisNames;
      do {
        std::string name;
        if (parser.parseKeywordOrString(&name))
          return failure();
        axisNames.push_back(StringAttr::get(parser.getContext(), name));
      } while (succeeded(parser.parseOptionalComma()));
      axes.back() = AxesAttr::get(parser.getContext(), axisNames);
      return parser.parseRBrace();
    }
    return success();
  };
  NamedDims named;
  SmallVector<AffineExpr> index;
  AxesAttr partial;
  Combiner combiner;
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim) ||
      nameDims(parser, names, named) || parser.parseComma())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parseIndex(parser, named, index) ||
      parsePartial(parser, partial, combiner) || parser.parseGreater())
    return {};
  if (failed(toLinear(index, sizes))) {
    parser.emitError(loc) << "index is not linear, or too large";
    return {};
  }
  return get(parser.getContext(), mesh, names, sizes, axes, index, partial,
             combiner);
}

void BoxesAttr::print(AsmPrinter &printer) const {
  printer << '<' << getMesh() << ", [";
  for (unsigned i = 0; i < getDimNames().size(); ++i) {
    if (i)
      printer << ", ";
    printNamedSize(printer, getDimNames()[i], getDimSizes()[i]);
    if (getDimAxes()[i].empty())
      continue;
    printer << ' ';
    printAxisNames(printer, getDimAxes()[i].getNames());
  }
  printer << "], ";
  printIndex(printer, getIndex(), getDimNames());
  printPartial(printer, getPartial(), getCombiner());
  printer << '>';
}

ArrayRef<StringAttr> BoxesAttr::getPartialAxes() const {
  return getPartial().getNames();
}

Attribute BoxesAttr::withPartial(ArrayRef<StringAttr> axes,
                                 Combiner combiner) const {
  return get(getContext(), getMesh(), getDimNames(), getDimSizes(),
             getDimAxes(), getIndex(), AxesAttr::get(getContext(), axes),
             combiner);
}

search::Placement BoxesAttr::getPlacement(ArrayRef<int64_t>,
                                          const search::Mesh &mesh) const {
  search::Placement placement;
  placement.dimSizes.assign(getDimSizes().begin(), getDimSizes().end());
  placement.dimAxes = resolveAll(getDimAxes(), mesh);
  // Indices are linear: the parser and the builders see to that.
  placement.index = *toLinear(getIndex(), getDimSizes());
  return placement;
}

LogicalResult
BoxesAttr::verifyPlacement(function_ref<InFlightDiagnostic()> emitError,
                           ArrayRef<int64_t> shape,
                           const search::Mesh &mesh) const {
  if (getIndex().size() != shape.size())
    return emitError() << "boxes have " << getIndex().size()
                       << " dims, tensor has " << shape.size();
  if (failed(verifyVolume(emitError, shape)))
    return failure();
  return verifyAxes(emitError, getDimAxes(), getPartial(), getCombiner(), mesh);
}

//===----------------------------------------------------------------------===//
// StrategyAttr
//===----------------------------------------------------------------------===//

Attribute StrategyAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<AxesAttr> dims;
  SmallVector<StringAttr> none;
  AxesAttr partial = AxesAttr::get(parser.getContext(), none);
  SmallVector<int64_t> operands;
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() || parseAxesList(parser, dims))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("partial") || parseAxes(parser, partial) ||
       parser.parseKeyword("in") ||
       parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
         return parser.parseInteger(operands.emplace_back());
       })))
    return {};
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), mesh, dims, partial, operands);
}

void StrategyAttr::print(AsmPrinter &printer) const {
  printer << '<' << getMesh() << ", ";
  printAxesList(printer, getDims());
  if (!getPartial().empty()) {
    printer << ", partial ";
    printAxisNames(printer, getPartial().getNames());
    printer << " in [";
    llvm::interleaveComma(getPartialOperands(), printer);
    printer << ']';
  }
  printer << '>';
}

search::Strategy StrategyAttr::resolve(const search::Mesh &mesh) const {
  search::Strategy strategy;
  strategy.dims = resolveAll(getDims(), mesh);
  strategy.partial = getPartial().resolve(mesh);
  for (int64_t operand : getPartialOperands())
    strategy.partialOperands |= uint64_t(1) << operand;
  return strategy;
}

StrategyAttr StrategyAttr::get(FlatSymbolRefAttr mesh,
                               const search::Strategy &strategy,
                               const search::Mesh &meshInfo) {
  MLIRContext *context = mesh.getContext();
  SmallVector<AxesAttr> dims;
  for (const search::Axes &axes : strategy.dims)
    dims.push_back(AxesAttr::get(context, axes, meshInfo));
  SmallVector<int64_t> operands;
  if (!strategy.partial.empty())
    for (unsigned i = 0; i < 64; ++i)
      if (strategy.partialOperands >> i & 1)
        operands.push_back(i);
  return get(context, mesh, dims,
             AxesAttr::get(context, strategy.partial, meshInfo), operands);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_ATTRDEF_CLASSES
#include "Tofu/Dialect/TofuAttributes.cpp.inc"

void TofuDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Tofu/Dialect/TofuAttributes.cpp.inc"
      >();
}
