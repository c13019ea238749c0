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
    ContractOp::create(rewriter, op->getLoc(), TypeRange(), buffers[0],
                       buffers[1], buffers[2], contract.getMaps(),
                       contract.getAccumulateAttr());
    replaceOpWithBufferizedValues(rewriter, op, buffers[2]);
    return success();
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
  });
}
