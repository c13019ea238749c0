//===- Placement.h - Boxes and local types from attributes ------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_DIALECT_PLACEMENT_H
#define TOFU_DIALECT_PLACEMENT_H

#include "Tofu/Dialect/Tofu.h"

#include "mlir/IR/IRMapping.h"

#include <functional>

namespace mlir::tofu {

/// The mesh that `symbol` names, seen from `op`; null if there is none.
MeshOp lookupMesh(Operation *op, FlatSymbolRefAttr symbol);

/// The box that each device has, in device order. Unknown sizes are taken for
/// the same larger number, which all devices together divide: enough to tell
/// what tends to be cheaper, but not what holds for every size.
SmallVector<search::Box> getBoxes(PlacementAttrInterface placement,
                                  ArrayRef<int64_t> shape, MeshOp mesh);

/// True if two placements of a tensor of `shape` give every device the same
/// box, or each box of `inner` lies in that of `outer`; with unknown sizes, if
/// that is certain for all of them.
bool haveSameBoxes(PlacementAttrInterface a, PlacementAttrInterface b,
                   ArrayRef<int64_t> shape, const search::Mesh &mesh);
bool areBoxesWithin(PlacementAttrInterface inner, PlacementAttrInterface outer,
                    ArrayRef<int64_t> shape, const search::Mesh &mesh);

/// The first index, or the size, of the boxes of all devices in one dim;
/// nothing if they differ, or may differ for some of the unknown sizes.
std::optional<int64_t> getUniformOffset(PlacementAttrInterface placement,
                                        ArrayRef<int64_t> shape, unsigned dim,
                                        const search::Mesh &mesh);
std::optional<int64_t> getUniformSize(PlacementAttrInterface placement,
                                      ArrayRef<int64_t> shape, unsigned dim,
                                      const search::Mesh &mesh);

/// True if all devices have all of dim `dim`, whatever its size.
bool isWholeDim(PlacementAttrInterface placement, ArrayRef<int64_t> shape,
                unsigned dim, const search::Mesh &mesh);

/// True if two placements of a tensor give every device the same: equal boxes,
/// partial over the same axes alike. With unknown sizes, if that is certain for
/// all of them.
bool isSamePlacement(PlacementAttrInterface a, PlacementAttrInterface b,
                     RankedTensorType global, MeshOp mesh);

/// Checks that sizes are such, with a value for each that is unknown.
LogicalResult verifyShape(Operation *op, const GlobalShape &shape);

/// The axes over which `placement` is partial, by their index in `mesh`.
search::Axes resolvePartial(PlacementAttrInterface placement,
                            const search::Mesh &mesh);

/// What a move may do to the axes over which a value is partial.
enum class PartialRule {
  Keeps,    ///< leaves them as they are
  Combines, ///< combines some of them
  Any       ///< may combine some and make the value partial over others
};

/// Checks that `from` and `to`, which are called as given, follow the rule, and
/// that a value stays a partial result of one combiner.
LogicalResult verifyPartialAxes(function_ref<InFlightDiagnostic()> emitError,
                                PartialRule rule, StringRef fromName,
                                PlacementAttrInterface from, StringRef toName,
                                PlacementAttrInterface to);

/// The type of a device's box of a tensor: a dim is static if it has the same
/// known size on all devices.
RankedTensorType getLocalType(RankedTensorType global,
                              PlacementAttrInterface placement,
                              const search::Mesh &mesh);

/// The ranked tensors that `op` uses, in the order of the operands of its
/// semantics: its own operands, then what its regions capture, once each.
SmallVector<Value> getTensorOperands(Operation *op);

/// True if the size of a tensor that is an operand or result of `op` is not
/// known.
bool hasDynamicTensors(Operation *op);

/// One dim of a tensor.
struct TensorDim {
  Value tensor;
  unsigned dim;

  bool operator==(const TensorDim &o) const {
    return tensor == o.tensor && dim == o.dim;
  }
};

/// The dim of an operand of `op`, or else of a result, that is as large as dim
/// `dim` of the iteration space, whose size is unknown: that which it indexes
/// by itself. Nothing if there is none.
std::optional<TensorDim> findDimOfSize(Operation *op, SemanticsAttr semantics,
                                       unsigned dim);

/// The tensor and the dim of it whose size `op` reads, if it does just that.
std::optional<TensorDim> getReadDim(Operation *op);

/// What `strategy` needs of operand `i` of `semantics` (of the given shape),
/// partial over the axes that pass through: a layout where it is one, else
/// boxes.
PlacementAttrInterface getOperandPlacement(SemanticsAttr semantics,
                                           StrategyAttr strategy, unsigned i,
                                           ArrayRef<int64_t> shape,
                                           const search::Mesh &mesh);

/// What `strategy` produces of result `i`, with its partial axes.
PlacementAttrInterface getResultPlacement(SemanticsAttr semantics,
                                          StrategyAttr strategy, unsigned i,
                                          ArrayRef<int64_t> shape,
                                          const search::Mesh &mesh);

/// What one device needs to build its piece of an operation.
class LocalPiece {
public:
  /// Gives the shape of a tensor of the whole program, with the values of
  /// unknown sizes where `builder` is.
  using GetShape = std::function<GlobalShape(Value)>;

  LocalPiece(OpBuilder &builder, Operation *op, SemanticsAttr semantics,
             StrategyAttr strategy, const search::Mesh &mesh,
             IRMapping &mapping, GetShape getShape)
      : builder(builder), op(op), semantics(semantics), strategy(strategy),
        mesh(mesh), mapping(mapping), getShape(std::move(getShape)) {}

  OpBuilder &builder;
  Operation *op;
  SemanticsAttr semantics;
  StrategyAttr strategy;
  const search::Mesh &mesh;
  /// From the values of the whole program to local ones: scalars, and the
  /// tensors that the operation reads.
  IRMapping &mapping;
  /// Local operands, in the order of the semantics; null where one isn't read.
  SmallVector<Value> operands;

  /// Local type of result `i`.
  RankedTensorType resultType(unsigned i) const;

  /// A new tensor for result `i`, of undefined contents.
  Value emptyResult(unsigned i);

  /// First index and number of indices of this device's part of dim `dim` of
  /// the iteration space.
  OpFoldResult iterationOffset(unsigned dim);
  OpFoldResult iterationSize(unsigned dim);

  /// First index and size of this device's box of operand or result `i` in its
  /// dim `dim`.
  OpFoldResult operandOffset(unsigned i, unsigned dim);
  OpFoldResult operandSize(unsigned i, unsigned dim);
  OpFoldResult resultOffset(unsigned i, unsigned dim);
  OpFoldResult resultSize(unsigned i, unsigned dim);

  /// The sizes of the iteration space, of operand `i`, or of result `i`, of the
  /// whole program.
  GlobalShape iterationShape() const;
  GlobalShape operandShape(unsigned i) const;
  GlobalShape resultShape(unsigned i) const;

private:
  PlacementAttrInterface iterationSpace() const;
  PlacementAttrInterface operandPlacement(unsigned i,
                                          ArrayRef<int64_t> shape) const;
  PlacementAttrInterface resultPlacement(unsigned i,
                                         ArrayRef<int64_t> shape) const;

  GetShape getShape;
};

/// First index, or size, of this device's box of a tensor: an attribute if it
/// is the same on all devices, else the value of a new operation.
OpFoldResult getShardOffset(OpBuilder &builder, Location loc, unsigned dim,
                            PlacementAttrInterface placement,
                            const GlobalShape &shape, const search::Mesh &mesh);
OpFoldResult getShardSize(OpBuilder &builder, Location loc, unsigned dim,
                          PlacementAttrInterface placement,
                          const GlobalShape &shape, const search::Mesh &mesh);

/// True on the devices that are the first ones along `axes` of a mesh.
Value createIsFirst(OpBuilder &builder, Location loc,
                    FlatSymbolRefAttr meshName, AxesAttr axes,
                    const search::Mesh &mesh);

/// A tensor of undefined contents, as large as this device's box.
Value createLocalEmpty(OpBuilder &builder, Location loc, Type elementType,
                       const GlobalShape &shape,
                       PlacementAttrInterface placement,
                       const search::Mesh &mesh);

} // namespace mlir::tofu

#endif // TOFU_DIALECT_PLACEMENT_H
