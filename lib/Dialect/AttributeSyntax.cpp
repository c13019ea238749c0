//===- AttributeSyntax.cpp - What attributes have in common ---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttributeSyntax.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::tofu;
using namespace mlir::tofu::syntax;

ParseResult
mlir::tofu::syntax::parseAxisNames(AsmParser &parser,
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

void mlir::tofu::syntax::printAxisNames(AsmPrinter &printer,
                                        ArrayRef<StringAttr> names) {
  printer << '{';
  llvm::interleaveComma(names, printer, [&](StringAttr name) {
    printer.printKeywordOrString(name.getValue());
  });
  printer << '}';
}

ParseResult mlir::tofu::syntax::parseAxes(AsmParser &parser, AxesAttr &axes) {
  SmallVector<StringAttr> names;
  if (parseAxisNames(parser, names))
    return failure();
  axes = AxesAttr::get(parser.getContext(), names);
  return success();
}

ParseResult mlir::tofu::syntax::parseAxesList(AsmParser &parser,
                                              SmallVectorImpl<AxesAttr> &list) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parseAxes(parser, list.emplace_back());
  });
}

void mlir::tofu::syntax::printAxesList(AsmPrinter &printer,
                                       ArrayRef<AxesAttr> list) {
  printer << '[';
  llvm::interleaveComma(list, printer, [&](AxesAttr axes) {
    printAxisNames(printer, axes.getNames());
  });
  printer << ']';
}

ParseResult mlir::tofu::syntax::parseCombiner(AsmParser &parser,
                                              Combiner &combiner) {
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
ParseResult mlir::tofu::syntax::parsePartial(AsmParser &parser,
                                             AxesAttr &partial,
                                             Combiner &combiner) {
  partial = AxesAttr::get(parser.getContext(), ArrayRef<StringAttr>());
  combiner = Combiner::None;
  if (failed(parser.parseOptionalComma()))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  if (parseCombiner(parser, combiner) || parseAxes(parser, partial))
    return failure();
  if (partial.empty())
    return parser.emitError(loc) << "a combiner needs partial axes";
  return success();
}

void mlir::tofu::syntax::printPartial(AsmPrinter &printer, AxesAttr partial,
                                      Combiner combiner) {
  if (partial.empty())
    return;
  printer << ", " << stringifyCombiner(combiner) << ' ';
  printAxisNames(printer, partial.getNames());
}

/// True if a constant of `expr` is the least integer: no literal is, so that
/// sums of literals have overflowed, and it can't be printed.
static bool hasOverflowed(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    auto constant = dyn_cast<AffineConstantExpr>(part);
    found |=
        constant && constant.getValue() == std::numeric_limits<int64_t>::min();
  });
  return found;
}

/// Parses a list of index expressions in brackets; `:` gives a null one.
ParseResult mlir::tofu::syntax::parseIndex(AsmParser &parser,
                                           const NamedDims &dims,
                                           SmallVectorImpl<AffineExpr> &index) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        AffineExpr &expr = index.emplace_back();
        if (succeeded(parser.parseOptionalColon()))
          return success();
        SMLoc loc = parser.getCurrentLocation();
        if (parser.parseAffineExpr(dims, expr))
          return failure();
        if (hasOverflowed(expr))
          return parser.emitError(loc) << "index is too large";
        return success();
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
  auto addend = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Add && addend &&
      addend.getValue() < 0 &&
      addend.getValue() != std::numeric_limits<int64_t>::min()) {
    printer << " - " << -addend.getValue();
  } else {
    printer << sign;
    printExpr(printer, binary.getRHS(), names, precedence + 1);
  }
  if (precedence < least)
    printer << ')';
}

void mlir::tofu::syntax::printIndex(AsmPrinter &printer,
                                    ArrayRef<AffineExpr> index,
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

ParseResult mlir::tofu::syntax::parseNamedSize(AsmParser &parser,
                                               StringAttr &name,
                                               int64_t &size) {
  StringRef text;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&text) || parser.parseEqual())
    return failure();
  name = StringAttr::get(parser.getContext(), text);
  if (succeeded(parser.parseOptionalQuestion())) {
    bool covering = succeeded(parser.parseOptionalKeyword("covering"));
    size = covering ? search::kCoveringSize : search::kUnknownSize;
    return success();
  }
  if (parser.parseInteger(size))
    return failure();
  if (size < 0)
    return parser.emitError(loc)
           << "size of " << text << " is negative: " << size;
  return success();
}

void mlir::tofu::syntax::printNamedSize(AsmPrinter &printer, StringAttr name,
                                        int64_t size) {
  printer << name.getValue() << " = ";
  if (size == search::kCoveringSize)
    printer << "? covering";
  else if (size == search::kUnknownSize)
    printer << '?';
  else
    printer << size;
}

ParseResult mlir::tofu::syntax::nameDims(AsmParser &parser,
                                         ArrayRef<StringAttr> names,
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
