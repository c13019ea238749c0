//===- TilingTest.cpp - Operations that only say how they are tiled -------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dialect as a compiler of its own would have it: it implements MLIR's
// interfaces for tiling, and includes nothing of Tofu.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"

using namespace mlir;

#include "TilingTestDialect.h.inc"

#define GET_OP_CLASSES
#include "TilingTest.h.inc"

#include "TilingTestDialect.cpp.inc"

#define GET_OP_CLASSES
#include "TilingTest.cpp.inc"

using namespace tiling_test;
using Sizes = SmallVector<OpFoldResult>;

void TilingTestDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "TilingTest.cpp.inc"
      >();
}

static OpFoldResult plus(OpBuilder &b, Location loc, OpFoldResult x,
                         int64_t y) {
  return affine::makeComposedFoldedAffineApply(b, loc,
                                               b.getAffineDimExpr(0) + y, {x});
}

static SmallVector<Range> getRanges(OpBuilder &b, Location loc,
                                    ArrayRef<OpFoldResult> sizes) {
  return llvm::map_to_vector(sizes, [&](OpFoldResult size) {
    return Range{b.getIndexAttr(0), size, b.getIndexAttr(1)};
  });
}

static tensor::ExtractSliceOp slice(OpBuilder &b, Location loc, Value from,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, from, offsets, sizes, strides);
}

static RankedTensorType withSizes(Type type, ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  return cast<RankedTensorType>(type).clone(shape);
}

static Value createZeros(OpBuilder &b, Location loc,
                         ArrayRef<OpFoldResult> sizes, Type element) {
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  return linalg::FillOp::create(b, loc, zero, empty).getResult(0);
}

static void addSum(OpBuilder &b, Location loc, ValueRange args, bool squared) {
  Value x = args.front();
  if (squared)
    x = arith::MulFOp::create(b, loc, x, x);
  linalg::YieldOp::create(
      b, loc, arith::AddFOp::create(b, loc, x, args.back()).getResult());
}

//===----------------------------------------------------------------------===//
// blur
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> BlurOp::getLoopIteratorTypes() {
  return {utils::IteratorType::parallel, utils::IteratorType::parallel};
}

SmallVector<Range> BlurOp::getIterationDomain(OpBuilder &b) {
  Sizes sizes = tensor::getMixedSizes(b, getLoc(), getInput());
  return getRanges(b, getLoc(), {plus(b, getLoc(), sizes[0], -2), sizes[1]});
}

FailureOr<TilingResult>
BlurOp::getTiledImplementation(OpBuilder &b, ArrayRef<OpFoldResult> offsets,
                               ArrayRef<OpFoldResult> sizes) {
  auto part = slice(b, getLoc(), getInput(), offsets,
                    {plus(b, getLoc(), sizes[0], 2), sizes[1]});
  auto tile = BlurOp::create(b, getLoc(),
                             withSizes(getOutput().getType(), sizes), part);
  return TilingResult{{tile}, {tile.getOutput()}, {part}};
}

LogicalResult BlurOp::getResultTilePosition(OpBuilder &, unsigned,
                                            ArrayRef<OpFoldResult> offsets,
                                            ArrayRef<OpFoldResult> sizes,
                                            Sizes &resultOffsets,
                                            Sizes &resultSizes) {
  resultOffsets = Sizes(offsets);
  resultSizes = Sizes(sizes);
  return success();
}

FailureOr<SmallVector<Value>> BlurOp::decomposeOperation(OpBuilder &b) {
  auto type = cast<RankedTensorType>(getOutput().getType());
  Sizes sizes = tensor::getMixedSizes(b, getLoc(), getInput());
  sizes[0] = plus(b, getLoc(), sizes[0], -2);
  Value zeros = createZeros(b, getLoc(), sizes, type.getElementType());
  Value window =
      tensor::EmptyOp::create(b, getLoc(), {3}, type.getElementType());
  AffineExpr i = b.getAffineDimExpr(0), j = b.getAffineDimExpr(1),
             w = b.getAffineDimExpr(2);
  MLIRContext *context = b.getContext();
  auto sum = linalg::GenericOp::create(
      b, getLoc(), zeros.getType(), ValueRange{getInput(), window}, zeros,
      ArrayRef<AffineMap>{AffineMap::get(3, 0, {i + w, j}, context),
                          AffineMap::get(3, 0, {w}, context),
                          AffineMap::get(3, 0, {i, j}, context)},
      ArrayRef<utils::IteratorType>{utils::IteratorType::parallel,
                                    utils::IteratorType::parallel,
                                    utils::IteratorType::reduction},
      [](OpBuilder &b, Location loc, ValueRange args) {
        addSum(b, loc, args, /*squared=*/false);
      });
  Value result = sum.getResult(0);
  if (result.getType() != type)
    result = tensor::CastOp::create(b, getLoc(), type, result);
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// mirror
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> MirrorOp::getLoopIteratorTypes() {
  return {utils::IteratorType::parallel};
}

SmallVector<Range> MirrorOp::getIterationDomain(OpBuilder &b) {
  return getRanges(b, getLoc(), tensor::getMixedSizes(b, getLoc(), getInput()));
}

/// The tile of the input that mirrors to a tile of the output begins where
/// that ends.
FailureOr<TilingResult>
MirrorOp::getTiledImplementation(OpBuilder &b, ArrayRef<OpFoldResult> offsets,
                                 ArrayRef<OpFoldResult> sizes) {
  OpFoldResult size = tensor::getMixedSize(b, getLoc(), getInput(), 0);
  OpFoldResult first = affine::makeComposedFoldedAffineApply(
      b, getLoc(),
      b.getAffineDimExpr(0) - b.getAffineDimExpr(1) - b.getAffineDimExpr(2),
      {size, offsets[0], sizes[0]});
  auto part = slice(b, getLoc(), getInput(), first, sizes);
  auto tile = MirrorOp::create(b, getLoc(),
                               withSizes(getOutput().getType(), sizes), part);
  return TilingResult{{tile}, {tile.getOutput()}, {part}};
}

LogicalResult MirrorOp::getResultTilePosition(OpBuilder &, unsigned,
                                              ArrayRef<OpFoldResult> offsets,
                                              ArrayRef<OpFoldResult> sizes,
                                              Sizes &resultOffsets,
                                              Sizes &resultSizes) {
  resultOffsets = Sizes(offsets);
  resultSizes = Sizes(sizes);
  return success();
}

FailureOr<SmallVector<Value>> MirrorOp::decomposeOperation(OpBuilder &b) {
  auto type = cast<RankedTensorType>(getOutput().getType());
  OpFoldResult size = tensor::getMixedSize(b, getLoc(), getInput(), 0);
  Value empty =
      tensor::EmptyOp::create(b, getLoc(), size, type.getElementType());
  Value last =
      getValueOrCreateConstantIndexOp(b, getLoc(), plus(b, getLoc(), size, -1));
  Value input = getInput();
  auto mirrored = linalg::GenericOp::create(
      b, getLoc(), empty.getType(), ValueRange(), empty,
      b.getMultiDimIdentityMap(1), utils::IteratorType::parallel,
      [&](OpBuilder &b, Location loc, ValueRange) {
        Value i = linalg::IndexOp::create(b, loc, 0);
        Value j = arith::SubIOp::create(b, loc, last, i);
        Value x = tensor::ExtractOp::create(b, loc, input, j);
        linalg::YieldOp::create(b, loc, x);
      });
  Value result = mirrored.getResult(0);
  if (result.getType() != type)
    result = tensor::CastOp::create(b, getLoc(), type, result);
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// norms
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> NormsOp::getLoopIteratorTypes() {
  return {utils::IteratorType::parallel, utils::IteratorType::reduction};
}

SmallVector<Range> NormsOp::getIterationDomain(OpBuilder &b) {
  return getRanges(b, getLoc(), tensor::getMixedSizes(b, getLoc(), getInput()));
}

FailureOr<TilingResult>
NormsOp::getTiledImplementation(OpBuilder &b, ArrayRef<OpFoldResult> offsets,
                                ArrayRef<OpFoldResult> sizes) {
  auto part = slice(b, getLoc(), getInput(), offsets, sizes);
  auto init = slice(b, getLoc(), getInit(), offsets[0], sizes[0]);
  auto tile = NormsOp::create(b, getLoc(), init.getType(), part, init);
  return TilingResult{{tile}, {tile.getOutput()}, {part, init}};
}

LogicalResult NormsOp::getResultTilePosition(OpBuilder &, unsigned,
                                             ArrayRef<OpFoldResult> offsets,
                                             ArrayRef<OpFoldResult> sizes,
                                             Sizes &resultOffsets,
                                             Sizes &resultSizes) {
  resultOffsets = {offsets[0]};
  resultSizes = {sizes[0]};
  return success();
}

FailureOr<SmallVector<Value>> NormsOp::decomposeOperation(OpBuilder &b) {
  auto sum = linalg::GenericOp::create(
      b, getLoc(), getInit().getType(), getInput(), getInit(),
      ArrayRef<AffineMap>{b.getMultiDimIdentityMap(2),
                          AffineMap::get(2, 0, b.getAffineDimExpr(0))},
      ArrayRef<utils::IteratorType>{utils::IteratorType::parallel,
                                    utils::IteratorType::reduction},
      [](OpBuilder &b, Location loc, ValueRange args) {
        addSum(b, loc, args, /*squared=*/true);
      });
  return SmallVector<Value>{sum.getResult(0)};
}

FailureOr<SmallVector<Value>> NormsOp::generateInitialTensorForPartialReduction(
    OpBuilder &b, Location loc, ArrayRef<OpFoldResult> tileSizes,
    const SetVector<unsigned> &) {
  Type element = cast<RankedTensorType>(getInit().getType()).getElementType();
  return SmallVector<Value>{createZeros(b, loc, tileSizes, element)};
}

FailureOr<TilingResult> NormsOp::tileToPartialReduction(
    OpBuilder &b, Location loc, ReductionTilingStrategy strategy,
    ValueRange init, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, const SetVector<unsigned> &,
    ArrayRef<OpFoldResult> numbers) {
  if (strategy != ReductionTilingStrategy::PartialReductionOuterParallel)
    return failure();
  auto part = slice(b, loc, getInput(), offsets, sizes);
  auto type = withSizes(getInit().getType(), sizes[0]);
  Sizes strides(2, b.getIndexAttr(1));
  auto sofar = tensor::ExtractSliceOp::create(
      b, loc, type, init[0], Sizes{offsets[0], numbers[0]},
      Sizes{sizes[0], b.getIndexAttr(1)}, strides);
  auto tile = NormsOp::create(b, loc, type, part, sofar);
  return TilingResult{{tile}, {tile.getOutput()}, {part, sofar}};
}

FailureOr<MergeResult> NormsOp::mergeReductions(OpBuilder &b, Location loc,
                                                ValueRange partial,
                                                const SetVector<unsigned> &) {
  auto merge =
      linalg::ReduceOp::create(b, loc, partial, getInit(), ArrayRef<int64_t>{1},
                               [](OpBuilder &b, Location loc, ValueRange args) {
                                 addSum(b, loc, args, /*squared=*/false);
                               });
  return MergeResult{{merge}, {merge.getResult(0)}};
}

LogicalResult NormsOp::getPartialResultTilePosition(
    OpBuilder &b, unsigned, ReductionTilingStrategy,
    ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
    const SetVector<unsigned> &, ArrayRef<OpFoldResult> numbers,
    Sizes &resultOffsets, Sizes &resultSizes) {
  resultOffsets = {offsets[0], numbers[0]};
  resultSizes = {sizes[0], b.getIndexAttr(1)};
  return success();
}

//===----------------------------------------------------------------------===//
// Plugin
//===----------------------------------------------------------------------===//

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {
      MLIR_PLUGIN_API_VERSION, "TilingTest", LLVM_VERSION_STRING,
      [](DialectRegistry *registry) { registry->insert<TilingTestDialect>(); }};
}
