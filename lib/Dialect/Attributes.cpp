//===- Attributes.cpp - Attributes of the tofu dialect --------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttributeSyntax.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tofu;
using namespace mlir::tofu::syntax;

#include "Tofu/Dialect/TofuAttrInterfaces.cpp.inc"
#include "Tofu/Dialect/TofuEnums.cpp.inc"

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
    if (parseNamedSize(parser, names.emplace_back(), sizes.emplace_back()))
      return failure();
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
  if (failed(verifyVolume(emitError, shape)) ||
      failed(verifyAxes(emitError, getDimAxes(), getPartial(), getCombiner(),
                        mesh)))
    return failure();
  search::Placement placement = getPlacement(shape, mesh);
  for (auto [dim, size] : llvm::enumerate(getDimSizes()))
    if (search::isUnknown(size) && !placement.findFilled(dim))
      return emitError() << "nothing says how large "
                         << getDimNames()[dim].getValue() << " is";
  return success();
}

//===----------------------------------------------------------------------===//
// StrategyAttr
//===----------------------------------------------------------------------===//

/// Parses `partial {AXES} in [OPERANDS]`.
static ParseResult parsePartialOperands(AsmParser &parser, AxesAttr &partial,
                                        SmallVectorImpl<int64_t> &operands) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword("partial") || parseAxes(parser, partial))
    return failure();
  if (partial.empty())
    return parser.emitError(loc) << "partial operands need partial axes";
  return failure(
      parser.parseKeyword("in") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(operands.emplace_back());
      }));
}

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
      parsePartialOperands(parser, partial, operands))
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
