//===- ExpandWindows.cpp - Convolutions as matrix products ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Conversion/Passes.h"
#include "Tofu/Dialect/BufferOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AffineExpr.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_EXPANDWINDOWS
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

static bool hasSums(AffineMap map) {
  return llvm::any_of(map.getResults(), [](AffineExpr expr) {
    return isa<AffineBinaryOpExpr>(expr);
  });
}

/// How often dim `dim` counts in an index.
static int64_t getFactor(AffineExpr expr, unsigned dim) {
  if (auto self = dyn_cast<AffineDimExpr>(expr))
    return self.getPosition() == dim;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 0;
  if (binary.getKind() == AffineExprKind::Add)
    return getFactor(binary.getLHS(), dim) + getFactor(binary.getRHS(), dim);
  return getFactor(binary.getLHS(), dim) *
         cast<AffineConstantExpr>(binary.getRHS()).getValue();
}

namespace {

/// Gives the operands of one contraction a dim for each loop.
class WindowExpander {
public:
  explicit WindowExpander(ContractOp op)
      : op(op), builder(op), loc(op.getLoc()) {}

  void expand(int64_t minBatchWork);

private:
  void findLoopSizes();
  bool isBatched(unsigned loop, unsigned operand, int64_t minWork);
  void view(unsigned operand, std::optional<unsigned> batch);

  ContractOp op;
  OpBuilder builder;
  Location loc;
  SmallVector<OpFoldResult> loopSizes;
};

} // namespace

/// Takes the size of each loop from an operand that it indexes alone.
void WindowExpander::findLoopSizes() {
  loopSizes.resize(op.getMap(0).getNumDims());
  for (unsigned operand = 0; operand < 3; ++operand)
    for (auto [i, expr] : llvm::enumerate(op.getMap(operand).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr);
          dim && !loopSizes[dim.getPosition()])
        loopSizes[dim.getPosition()] =
            memref::getMixedSize(builder, loc, op->getOperand(operand), i);
}

/// True if `loop` may become a batch dim by repeating the operand that it does
/// not index: one product per image, so that the library's copy of the windows
/// is of one image. Products below `minWork` multiply-adds are better joined.
bool WindowExpander::isBatched(unsigned loop, unsigned operand,
                               int64_t minWork) {
  AffineExpr dim = builder.getAffineDimExpr(loop);
  if (op.getMap(operand).isFunctionOfDim(loop) ||
      !llvm::is_contained(op.getMap(1 - operand).getResults(), dim) ||
      getConstantIntValue(loopSizes[loop]) == 1)
    return false;
  int64_t work = 1;
  for (auto [other, size] : llvm::enumerate(loopSizes))
    if (other != loop)
      work *= getConstantIntValue(size).value_or(minWork);
  return work >= minWork;
}

/// Replaces an operand by a view with one dim for each loop that indexes it.
void WindowExpander::view(unsigned operand, std::optional<unsigned> batch) {
  Value buffer = op->getOperand(operand);
  auto type = cast<MemRefType>(buffer.getType());
  AffineMap map = op.getMap(operand);
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  SmallVector<OpFoldResult> strides = metadata.getConstifiedMixedStrides();
  OpFoldResult offset = metadata.getConstifiedMixedOffset();

  SmallVector<OpFoldResult> sizes, loopStrides;
  SmallVector<AffineExpr> dims;
  for (unsigned loop = 0; loop < loopSizes.size(); ++loop) {
    AffineExpr stride = builder.getAffineConstantExpr(0);
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      stride = stride + builder.getAffineSymbolExpr(i) * getFactor(expr, loop);
    if (!map.isFunctionOfDim(loop) && batch != loop)
      continue;
    sizes.push_back(loopSizes[loop]);
    loopStrides.push_back(affine::makeComposedFoldedAffineApply(
        builder, loc, AffineMap::get(0, strides.size(), stride), strides));
    dims.push_back(builder.getAffineDimExpr(loop));
  }
  SmallVector<int64_t> staticSizes, staticStrides;
  std::tie(staticSizes, std::ignore) = decomposeMixedValues(sizes);
  std::tie(staticStrides, std::ignore) = decomposeMixedValues(loopStrides);
  auto layout = StridedLayoutAttr::get(
      builder.getContext(),
      getConstantIntValue(offset).value_or(ShapedType::kDynamic),
      staticStrides);
  auto viewType = MemRefType::get(staticSizes, type.getElementType(), layout,
                                  type.getMemorySpace());
  op->setOperand(
      operand, memref::ReinterpretCastOp::create(builder, loc, viewType, buffer,
                                                 offset, sizes, loopStrides));
  SmallVector<Attribute> maps(op.getMaps().getValue());
  maps[operand] = AffineMapAttr::get(
      AffineMap::get(map.getNumDims(), 0, dims, builder.getContext()));
  op.setMapsAttr(builder.getArrayAttr(maps));
}

void WindowExpander::expand(int64_t minBatchWork) {
  findLoopSizes();
  unsigned windows = hasSums(op.getMap(0)) ? 0 : 1;
  std::optional<unsigned> batch;
  ArrayRef<AffineExpr> out = op.getMap(2).getResults();
  if (!out.empty())
    if (auto first = dyn_cast<AffineDimExpr>(out.front());
        first && isBatched(first.getPosition(), 1 - windows, minBatchWork))
      batch = first.getPosition();
  view(windows, std::nullopt);
  if (batch)
    view(1 - windows, batch);
}

namespace {

struct ExpandWindows : public tofu::impl::ExpandWindowsBase<ExpandWindows> {
  using ExpandWindowsBase::ExpandWindowsBase;

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](ContractOp op) {
      if (!hasSums(op.getMap(0)) && !hasSums(op.getMap(1)))
        return WalkResult::advance();
      if (!isa<MemRefType>(op.getOut().getType())) {
        op.emitOpError("is not on buffers");
        return WalkResult::interrupt();
      }
      WindowExpander(op).expand(minBatchWork);
      ++numExpanded;
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
