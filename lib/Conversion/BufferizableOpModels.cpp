//===- BufferizableOpModels.cpp - tofu's operations on buffers ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Conversion/Passes.h"
#include "Tofu/Dialect/BufferOps.h"
#include "Tofu/Dialect/Placement.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::tofu;

/// A new buffer for what this device gets of a value of type `type`.
static FailureOr<Value> allocateShard(RewriterBase &rewriter, Operation *op,
                                      RankedTensorType type,
                                      PlacementAttrInterface placement,
                                      const GlobalShape &globalShape,
                                      const BufferizationOptions &options) {
  MeshOp mesh = lookupMesh(op, placement.getMesh());
  if (!mesh)
    return op->emitOpError() << "unknown mesh: " << placement.getMesh();
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(getValueOrCreateConstantIndexOp(
          rewriter, op->getLoc(),
          getShardSize(rewriter, op->getLoc(), dim, placement, globalShape,
                       mesh.getMesh())));
  auto bufferType = MemRefType::get(type.getShape(), type.getElementType());
  return options.createAlloc(rewriter, op->getLoc(), bufferType, sizes);
}

namespace {

/// A collective reads its operand and writes to memory of its own.
template <typename OpTy, CollectiveKind kind>
struct CollectiveModel
    : public BufferizableOpInterface::ExternalModel<CollectiveModel<OpTy, kind>,
                                                    OpTy> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const bufferization::AnalysisState &) const {
    return true;
  }

  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const bufferization::AnalysisState &) const {
    return false;
  }

  bool bufferizesToAllocation(Operation *, Value) const { return true; }

  AliasingValueList
  getAliasingValues(Operation *, OpOperand &,
                    const bufferization::AnalysisState &) const {
    return {};
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto collective = cast<OpTy>(op);
    FailureOr<Value> source =
        getBuffer(rewriter, collective.getInput(), options, state);
    if (failed(source))
      return failure();
    FailureOr<Value> dest = allocateShard(
        rewriter, op, cast<RankedTensorType>(collective.getResult().getType()),
        collective.getTo(), collective.getShape(), options);
    if (failed(dest))
      return failure();
    CollectiveBufferOp::create(rewriter, op->getLoc(), kind, *source, *dest,
                               collective.getDynamicSizes(),
                               collective.getGlobalShape(),
                               collective.getFrom(), collective.getTo());
    replaceOpWithBufferizedValues(rewriter, op, *dest);
    return success();
  }
};

/// A contraction writes to its output and reads it if it accumulates.
struct ContractModel
    : public DstBufferizableOpInterfaceExternalModel<ContractModel,
                                                     ContractOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const bufferization::AnalysisState &) const {
    auto contract = cast<ContractOp>(op);
    return !contract.isDpsInit(&operand) || contract.getAccumulate();
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto contract = cast<ContractOp>(op);
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    ContractOp::create(
        rewriter, op->getLoc(), TypeRange(), buffers[0], buffers[1], buffers[2],
        contract.getBias() ? buffers[3] : Value(), contract.getMaps(),
        contract.getAccumulateAttr(), contract.getActivationAttr());
    replaceOpWithBufferizedValues(rewriter, op, buffers[2]);
    return success();
  }
};

/// Sizes of the unknown dims of a buffer.
static SmallVector<Value> getDynamicSizes(OpBuilder &builder, Location loc,
                                          Value buffer) {
  SmallVector<Value> sizes;
  auto type = cast<MemRefType>(buffer.getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(builder, loc, buffer, dim));
  return sizes;
}

/// A call of a function of the user's, which takes contiguous buffers, reads
/// its inputs and writes its outs.
struct CallModel
    : public DstBufferizableOpInterfaceExternalModel<CallModel, CallOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const bufferization::AnalysisState &) const {
    auto call = cast<CallOp>(op);
    return !call.isDpsInit(&operand) || call.getCondition();
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto call = cast<CallOp>(op);
    SmallVector<Value> inputs, outs, contiguous;
    for (Value input : call.getInputs()) {
      FailureOr<Value> passed = getPassed(rewriter, op, input, options, state);
      if (failed(passed))
        return failure();
      inputs.push_back(*passed);
    }
    for (Value out : call.getOuts()) {
      FailureOr<Value> buffer = getBuffer(rewriter, out, options, state);
      if (failed(buffer))
        return failure();
      FailureOr<Value> passed = *buffer;
      if (!isContiguous(*buffer))
        passed = call.getCondition()
                     ? copy(rewriter, op, *buffer, options)
                     : allocateLike(rewriter, op, *buffer, options);
      if (failed(passed))
        return failure();
      outs.push_back(*buffer);
      contiguous.push_back(*passed);
    }
    CallOp::create(rewriter, op->getLoc(), TypeRange(), call.getCalleeAttr(),
                   inputs, contiguous, call.getCondition());
    for (auto [out, passed] : llvm::zip_equal(outs, contiguous))
      if (out != passed &&
          failed(options.createMemCpy(rewriter, op->getLoc(), passed, out)))
        return failure();
    replaceOpWithBufferizedValues(rewriter, op, outs);
    return success();
  }

private:
  static bool isContiguous(Value buffer) {
    return cast<MemRefType>(buffer.getType()).getLayout().isIdentity();
  }

  /// Contiguous memory as large as `buffer`.
  static FailureOr<Value> allocateLike(RewriterBase &rewriter, Operation *op,
                                       Value buffer,
                                       const BufferizationOptions &options) {
    auto type = cast<MemRefType>(buffer.getType());
    return options.createAlloc(
        rewriter, op->getLoc(),
        MemRefType::get(type.getShape(), type.getElementType()),
        getDynamicSizes(rewriter, op->getLoc(), buffer));
  }

  /// The elements of `buffer`, one after the other.
  static FailureOr<Value> copy(RewriterBase &rewriter, Operation *op,
                               Value buffer,
                               const BufferizationOptions &options) {
    FailureOr<Value> copied = allocateLike(rewriter, op, buffer, options);
    if (failed(copied) ||
        failed(options.createMemCpy(rewriter, op->getLoc(), buffer, *copied)))
      return failure();
    return copied;
  }

  static FailureOr<Value> getPassed(RewriterBase &rewriter, Operation *op,
                                    Value input,
                                    const BufferizationOptions &options,
                                    BufferizationState &state) {
    if (!isa<TensorType>(input.getType()))
      return input;
    FailureOr<Value> buffer = getBuffer(rewriter, input, options, state);
    if (failed(buffer) || isContiguous(*buffer))
      return buffer;
    return copy(rewriter, op, *buffer, options);
  }
};

} // namespace

void tofu::registerBufferizableOpInterfaceModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TofuDialect *) {
    context->loadDialect<BufferizationDialect, memref::MemRefDialect>();
    AllReduceOp::attachInterface<
        CollectiveModel<AllReduceOp, CollectiveKind::AllReduce>>(*context);
    AllGatherOp::attachInterface<
        CollectiveModel<AllGatherOp, CollectiveKind::AllGather>>(*context);
    ReduceScatterOp::attachInterface<
        CollectiveModel<ReduceScatterOp, CollectiveKind::ReduceScatter>>(
        *context);
    AllToAllOp::attachInterface<
        CollectiveModel<AllToAllOp, CollectiveKind::AllToAll>>(*context);
    FetchOp::attachInterface<CollectiveModel<FetchOp, CollectiveKind::Fetch>>(
        *context);
    ContractOp::attachInterface<ContractModel>(*context);
    CallOp::attachInterface<CallModel>(*context);
  });
}
