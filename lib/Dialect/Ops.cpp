//===- Ops.cpp - Operations of the tofu dialect ---------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/Placement.h"
#include "Tofu/Dialect/Tofu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// MeshOp
//===----------------------------------------------------------------------===//

/// Parses `[x = 2, y = 3]`.
static ParseResult parseMeshAxes(OpAsmParser &parser, ArrayAttr &names,
                                 DenseI64ArrayAttr &sizes) {
  SmallVector<Attribute> nameAttrs;
  SmallVector<int64_t> axisSizes;
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() ||
        parser.parseInteger(axisSizes.emplace_back()))
      return failure();
    nameAttrs.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis))
    return failure();
  names = parser.getBuilder().getArrayAttr(nameAttrs);
  sizes = parser.getBuilder().getDenseI64ArrayAttr(axisSizes);
  return success();
}

static void printMeshAxes(OpAsmPrinter &printer, Operation *, ArrayAttr names,
                          DenseI64ArrayAttr sizes) {
  printer << '[';
  llvm::interleaveComma(
      llvm::zip(names.getAsRange<StringAttr>(), sizes.asArrayRef()), printer,
      [&](auto axis) {
        printer.printKeywordOrString(std::get<0>(axis).getValue());
        printer << " = " << std::get<1>(axis);
      });
  printer << ']';
}

void MeshOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                   const search::Mesh &mesh) {
  SmallVector<StringRef> names(mesh.names.begin(), mesh.names.end());
  build(builder, state, name, builder.getStrArrayAttr(names), mesh.sizes);
}

LogicalResult MeshOp::verify() {
  if (getAxisNames().size() != getAxisSizes().size())
    return emitOpError() << getAxisNames().size() << " names for "
                         << getAxisSizes().size() << " axes";
  if (getAxisSizes().size() > kMostAxes)
    return emitOpError() << "has " << getAxisSizes().size()
                         << " axes, more than " << kMostAxes;
  SmallPtrSet<Attribute, 4> seen;
  for (Attribute name : getAxisNames())
    if (!seen.insert(name).second)
      return emitOpError() << "two axes are called "
                           << cast<StringAttr>(name).getValue();
  int64_t devices = 1;
  for (auto [i, size] : llvm::enumerate(getAxisSizes())) {
    if (size < 1)
      return emitOpError() << "axis " << i << " has size " << size
                           << ", not at least 1";
    if (size > kMostDevices || (devices *= size) > kMostDevices)
      return emitOpError() << "more than " << kMostDevices << " devices";
  }
  return success();
}

search::Mesh MeshOp::getMesh() {
  search::Mesh mesh;
  for (auto name : getAxisNames().getAsRange<StringAttr>())
    mesh.names.push_back(name.str());
  mesh.sizes.assign(getAxisSizes().begin(), getAxisSizes().end());
  return mesh;
}

//===----------------------------------------------------------------------===//
// ShardOffsetOp, ShardSizeOp
//===----------------------------------------------------------------------===//

/// Checks a placement against the mesh that it names.
static LogicalResult verifyPlacement(Operation *op, StringRef what,
                                     PlacementAttrInterface placement,
                                     ArrayRef<int64_t> shape) {
  if (!placement.getMesh())
    return op->emitOpError() << what << " names no mesh";
  MeshOp mesh = lookupMesh(op, placement.getMesh());
  if (!mesh)
    return op->emitOpError() << "unknown mesh: " << placement.getMesh();
  return placement.verifyPlacement(
      [&]() -> InFlightDiagnostic { return op->emitOpError() << what << ": "; },
      shape, mesh.getMesh());
}

LogicalResult mlir::tofu::verifyShape(Operation *op, const GlobalShape &shape) {
  for (auto [dim, size] : llvm::enumerate(shape.sizes))
    if (size < 0 && !ShapedType::isDynamic(size))
      return op->emitOpError() << "global dim " << dim << " has size " << size;
  size_t unknown = llvm::count_if(shape.sizes, ShapedType::isDynamic);
  if (unknown != shape.values.size())
    return op->emitOpError() << shape.values.size() << " values for " << unknown
                             << " unknown sizes";
  return success();
}

template <typename ShardOp>
static LogicalResult verifyShardBound(ShardOp op) {
  if (failed(verifyShape(op, op.getShape())))
    return failure();
  int64_t rank = op.getGlobalShape().size();
  if (op.getDim() >= static_cast<uint64_t>(rank))
    return op.emitOpError()
           << "no dim " << op.getDim() << " in a tensor of " << rank << " dims";
  return verifyPlacement(op, "placement", op.getPlacement(),
                         op.getGlobalShape());
}

LogicalResult ShardOffsetOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyShardBound(*this);
}
LogicalResult ShardSizeOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyShardBound(*this);
}

/// The bound of a dim as a constant, if `read` finds it the same on all
/// devices.
template <typename ShardOp>
static OpFoldResult
foldShardBound(ShardOp op,
               std::optional<int64_t> (*read)(PlacementAttrInterface,
                                              ArrayRef<int64_t>, unsigned,
                                              const search::Mesh &)) {
  MeshOp mesh = lookupMesh(op, op.getPlacement().getMesh());
  if (!mesh)
    return {};
  std::optional<int64_t> value =
      read(op.getPlacement(), op.getGlobalShape(), op.getDim(), mesh.getMesh());
  if (!value)
    return {};
  return IntegerAttr::get(IndexType::get(op.getContext()), *value);
}

OpFoldResult ShardOffsetOp::fold(FoldAdaptor) {
  return foldShardBound(*this, getUniformOffset);
}
OpFoldResult ShardSizeOp::fold(FoldAdaptor) {
  return foldShardBound(*this, getUniformSize);
}

Operation *TofuDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// Moves: reshard and the collectives
//===----------------------------------------------------------------------===//

namespace {
/// What all moves share.
struct Move {
  Operation *op;
  GlobalShape globalShape;
  ArrayRef<int64_t> shape;
  PlacementAttrInterface from, to;
  RankedTensorType input, result;

  template <typename MoveOp>
  explicit Move(MoveOp move)
      : op(move), globalShape(move.getShape()), shape(move.getGlobalShape()),
        from(move.getFrom()), to(move.getTo()),
        input(move.getInput().getType()), result(move.getResult().getType()) {}

  search::Mesh mesh() const { return lookupMesh(op, from.getMesh()).getMesh(); }
};
} // namespace

static LogicalResult verifyLocalType(Operation *op, StringRef what,
                                     RankedTensorType type,
                                     PlacementAttrInterface placement,
                                     ArrayRef<int64_t> shape,
                                     const search::Mesh &mesh) {
  auto global = RankedTensorType::get(shape, type.getElementType());
  RankedTensorType local = getLocalType(global, placement, mesh);
  if (succeeded(verifyCompatibleShape(type, local)))
    return success();
  return op->emitOpError() << what << " has type " << type
                           << ", its boxes have type " << local;
}

/// The results of an operation that combines them itself don't move alone.
static LogicalResult verifyNoRegion(const Move &move) {
  for (PlacementAttrInterface placement : {move.from, move.to})
    if (placement.getCombiner() == Combiner::Region)
      return move.op->emitOpError()
             << "moves partial results that their operation combines itself; "
                "tofu-insert-reshards has them merged";
  return success();
}

/// Checks both placements, and that together they follow `rule`.
static LogicalResult verifyPlacements(const Move &move, PartialRule rule) {
  if (failed(verifyShape(move.op, move.globalShape)) ||
      failed(verifyPlacement(move.op, "from", move.from, move.shape)) ||
      failed(verifyPlacement(move.op, "to", move.to, move.shape)))
    return failure();
  if (move.from.getMesh() != move.to.getMesh())
    return move.op->emitOpError() << "from is on " << move.from.getMesh()
                                  << ", to on " << move.to.getMesh();
  if (move.input.getElementType() != move.result.getElementType())
    return move.op->emitOpError()
           << "input holds " << move.input.getElementType() << ", result holds "
           << move.result.getElementType();
  if (failed(verifyNoRegion(move)))
    return failure();
  return verifyPartialAxes(
      [&]() -> InFlightDiagnostic { return move.op->emitOpError(); }, rule,
      "input", move.from, "result", move.to);
}

static LogicalResult verifyLocalTypes(const Move &move) {
  search::Mesh mesh = move.mesh();
  return success(succeeded(verifyLocalType(move.op, "input", move.input,
                                           move.from, move.shape, mesh)) &&
                 succeeded(verifyLocalType(move.op, "result", move.result,
                                           move.to, move.shape, mesh)));
}

LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &) {
  Move move(*this);
  if (failed(verifyPlacements(move, PartialRule::Any)))
    return failure();
  if (move.input.getShape() == move.shape &&
      move.result.getShape() == move.shape)
    return success();
  return verifyLocalTypes(move);
}

static LogicalResult verifyCollective(const Move &move, PartialRule rule) {
  return success(succeeded(verifyPlacements(move, rule)) &&
                 succeeded(verifyLocalTypes(move)));
}

LogicalResult AllReduceOp::verifySymbolUses(SymbolTableCollection &) {
  Move move(*this);
  if (failed(verifyCollective(move, PartialRule::Combines)))
    return failure();
  if (!haveSameBoxes(move.from, move.to, move.shape, move.mesh()))
    return emitOpError() << "result must have the boxes of the input";
  return success();
}

LogicalResult ReduceScatterOp::verifySymbolUses(SymbolTableCollection &) {
  Move move(*this);
  if (failed(verifyCollective(move, PartialRule::Combines)))
    return failure();
  if (!areBoxesWithin(move.to, move.from, move.shape, move.mesh()))
    return emitOpError() << "result must be a part of the input";
  return success();
}

LogicalResult AllGatherOp::verifySymbolUses(SymbolTableCollection &) {
  Move move(*this);
  if (failed(verifyCollective(move, PartialRule::Keeps)))
    return failure();
  if (!areBoxesWithin(move.from, move.to, move.shape, move.mesh()))
    return emitOpError() << "input must be a part of the result";
  return success();
}

LogicalResult AllToAllOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyCollective(Move(*this), PartialRule::Keeps);
}

LogicalResult FetchOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyCollective(Move(*this), PartialRule::Any);
}

LogicalResult StackOp::verifySymbolUses(SymbolTableCollection &) {
  LayoutAttr from = getFrom(), to = getTo();
  RankedTensorType input = getInput().getType();
  if (from.getCombiner() != Combiner::Region)
    return emitOpError(
        "input is no partial result that its operation combines");
  int64_t dim = getDim();
  if (dim < 0 || dim > input.getRank())
    return emitOpError() << "has no dim " << dim;
  if (failed(verifyPlacement(*this, "from", from, input.getShape())) ||
      failed(verifyPlacement(*this, "to", to, getType().getShape())))
    return failure();
  SmallVector<AxesAttr> dims(to.getDims());
  AxesAttr numbering = dims[getDim()];
  dims.erase(dims.begin() + getDim());
  search::Mesh mesh = lookupMesh(*this, to.getMesh()).getMesh();
  search::Axes axes = numbering.resolve(mesh),
               partial = resolvePartial(from, mesh);
  SmallVector<int64_t> shape(input.getShape());
  shape.insert(shape.begin() + getDim(), mesh.numCoordinates(axes));
  llvm::sort(axes);
  llvm::sort(partial);
  if (from.getMesh() != to.getMesh() || ArrayRef(dims) != from.getDims() ||
      !to.getPartialAxes().empty() || axes != partial ||
      getType() != input.clone(shape))
    return emitOpError() << "result is not the input with a dim " << getDim()
                         << " that the partial axes cut";
  return success();
}

/// A move to where the value already is, is the value.
template <typename MoveOp>
static OpFoldResult foldMove(MoveOp op) {
  if (op.getFrom() != op.getTo() ||
      op.getInput().getType() != op.getResult().getType())
    return {};
  return op.getInput();
}

OpFoldResult ReshardOp::fold(FoldAdaptor) { return foldMove(*this); }
OpFoldResult AllReduceOp::fold(FoldAdaptor) { return foldMove(*this); }
OpFoldResult AllGatherOp::fold(FoldAdaptor) { return foldMove(*this); }
OpFoldResult ReduceScatterOp::fold(FoldAdaptor) { return foldMove(*this); }
OpFoldResult AllToAllOp::fold(FoldAdaptor) { return foldMove(*this); }
OpFoldResult FetchOp::fold(FoldAdaptor) { return foldMove(*this); }

#define GET_OP_CLASSES
#include "Tofu/Dialect/TofuOps.cpp.inc"
