//===- CollectiveTables.cpp - Collectives as the runtime has them ---------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveTables.h"

#include "Tofu/Conversion/PortGeometry.h"
#include "Tofu/Conversion/RuntimeTypes.h"
#include "Tofu/Dialect/Placement.h"
#include "Tofu/Runtime/Runtime.h"
#include "Tofu/Search/ReshardPlanner.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::tofu;

/// Appends the number of each device in its coordinates of `axes`.
static void appendNumbers(SmallVectorImpl<int64_t> &table,
                          const search::Mesh &mesh, const search::Axes &axes) {
  for (int64_t device = 0; device < mesh.numDevices(); ++device)
    table.push_back(mesh.number(device, axes));
}

static void appendBoxes(SmallVectorImpl<int64_t> &table,
                        ArrayRef<search::Box> boxes) {
  for (const search::Box &box : boxes)
    for (search::Interval interval : box)
      table.append({interval.lo, interval.hi});
}

void tofu::appendShape(SmallVectorImpl<int64_t> &table, ArrayRef<int64_t> shape,
                       const search::Mesh &mesh) {
  table.append({static_cast<int64_t>(shape.size()), mesh.numAxes()});
  llvm::append_range(table, mesh.sizes);
  for (int64_t size : shape)
    table.push_back(ShapedType::isDynamic(size) ? TOFU_UNKNOWN : size);
}

void tofu::appendPlacement(SmallVectorImpl<int64_t> &table,
                           const search::Placement &placement) {
  table.push_back(placement.dimSizes.size());
  for (auto [size, axes] :
       llvm::zip_equal(placement.dimSizes, placement.dimAxes)) {
    table.push_back(size == search::kUnknownSize    ? TOFU_UNKNOWN
                    : size == search::kCoveringSize ? TOFU_COVERING
                                                    : size);
    table.push_back(axes.size());
    llvm::append_range(table, axes);
  }
  for (const search::LinearExpr &expr : placement.index) {
    table.push_back(expr.whole ? TOFU_UNKNOWN : int64_t(expr.terms.size()));
    table.push_back(expr.constant);
    for (auto [dim, coefficient] : expr.terms)
      table.append({dim, coefficient});
  }
}

std::vector<int64_t> tofu::makePortGeometry(PlacementAttrInterface placement,
                                            ArrayRef<int64_t> shape,
                                            const search::Mesh &mesh) {
  SmallVector<int64_t> words;
  appendShape(words, shape, mesh);
  appendPlacement(words, placement.getPlacement(shape, mesh));
  return std::vector<int64_t>(words.begin(), words.end());
}

FailureOr<SmallVector<int64_t>>
tofu::makeCollectiveTable(CollectiveBufferOp op) {
  Type element = getElementTypeOrSelf(op.getSource().getType());
  std::optional<TofuElementType> type = getRuntimeType(element);
  if (!type)
    return op.emitOpError()
           << "the runtime does not know elements of type " << element;
  MeshOp meshOp = lookupMesh(op, op.getFrom().getMesh());
  search::Mesh mesh = meshOp.getMesh();
  search::PartialAxes axes(resolvePartial(op.getFrom(), mesh),
                           resolvePartial(op.getTo(), mesh), mesh);
  int64_t addends = mesh.numCoordinates(axes.combined),
          slots = mesh.numCoordinates(axes.added);
  auto combiner = addends > 1 ? op.getFrom().getCombiner()
                  : slots > 1 ? op.getTo().getCombiner()
                              : Combiner::None;
  ArrayRef<int64_t> shape = op.getGlobalShape();
  SmallVector<int64_t> table = {TOFU_TABLE_VERSION,
                                static_cast<int64_t>(op.getKind()),
                                static_cast<int64_t>(combiner),
                                *type,
                                static_cast<int64_t>(shape.size()),
                                mesh.numDevices(),
                                addends,
                                slots};
  appendNumbers(table, mesh, axes.kept);
  appendNumbers(table, mesh, axes.combined);
  appendNumbers(table, mesh, axes.added);
  if (ShapedType::isDynamicShape(shape)) {
    appendShape(table, shape, mesh);
    appendPlacement(table, op.getFrom().getPlacement(shape, mesh));
    appendPlacement(table, op.getTo().getPlacement(shape, mesh));
    return table;
  }
  appendBoxes(table, getBoxes(op.getFrom(), shape, meshOp));
  appendBoxes(table, getBoxes(op.getTo(), shape, meshOp));
  return table;
}

void tofu::callCollective(RuntimeCalls &calls, OpBuilder &builder,
                          CollectiveBufferOp op, Value stream,
                          ArrayRef<int64_t> table) {
  SmallVector<Value> buffers = {op.getSource(), op.getDest()};
  if (op.getShape().isStatic())
    return calls.callWithTable(builder, op, "tofuCollective", stream, table,
                               buffers);
  calls.callWithTable(
      builder, op, "tofuCollectiveOfSizes", stream, table, buffers,
      calls.getSizes(builder, op.getLoc(), op.getDynamicSizes()));
}
