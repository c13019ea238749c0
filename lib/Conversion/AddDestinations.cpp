//===- AddDestinations.cpp - Memory for results of functions --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Conversion/Passes.h"
#include "Tofu/Dialect/BufferOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_ADDDESTINATIONS
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

/// The tensors among the operands of a call, as semantics number them.
static SmallVector<Value> getTensors(func::CallOp call) {
  return llvm::filter_to_vector(call.getOperands(), [](Value operand) {
    return isa<RankedTensorType>(operand.getType());
  });
}

/// The size of dim `dim` of result `i`, of which the type says nothing: that of
/// an operand's dim with the same index; null if there is none.
static Value findSize(OpBuilder &builder, func::CallOp call,
                      SemanticsAttr semantics, unsigned i, unsigned dim) {
  if (!semantics)
    return {};
  auto index = dyn_cast_or_null<AffineDimExpr>(
      semantics.getResults()[i].getIndex()[dim]);
  for (auto [operand, access] :
       llvm::zip_equal(getTensors(call), semantics.getOperands()))
    for (auto [at, expr] : llvm::enumerate(access.getIndex()))
      if (index && expr == index)
        return tensor::DimOp::create(builder, call.getLoc(), operand, at);
  return {};
}

static FailureOr<Value> createDestination(OpBuilder &builder, func::CallOp call,
                                          SemanticsAttr semantics, unsigned i) {
  auto type = dyn_cast<RankedTensorType>(call.getResultTypes()[i]);
  if (!type)
    return call.emitOpError()
           << "result " << i << " is " << call.getResultTypes()[i]
           << "; a function outside of the program that takes or gives tensors "
              "gives ranked tensors only";
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    sizes.push_back(findSize(builder, call, semantics, i, dim));
    if (!sizes.back())
      return call.emitOpError() << "result " << i << ": the size of dim " << dim
                                << " is not known before the call";
  }
  return tensor::EmptyOp::create(builder, call.getLoc(), type, sizes)
      .getResult();
}

namespace {

struct AddDestinations
    : public tofu::impl::AddDestinationsBase<AddDestinations> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    SmallVector<std::pair<func::CallOp, func::FuncOp>> calls;
    getOperation().walk([&](func::CallOp call) {
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      if (callee && callee.isExternal() && hasTensors(callee))
        calls.push_back({call, callee});
    });
    for (auto [call, callee] : calls)
      if (failed(convert(call, callee)))
        return signalPassFailure();
  }

private:
  static bool hasTensors(func::FuncOp function) {
    auto isTensor = llvm::IsaPred<TensorType>;
    return llvm::any_of(function.getArgumentTypes(), isTensor) ||
           llvm::any_of(function.getResultTypes(), isTensor);
  }

  LogicalResult convert(func::CallOp call, func::FuncOp callee) {
    for (auto [i, type] : llvm::enumerate(call.getOperandTypes()))
      if (isa<UnrankedTensorType>(type))
        return call.emitOpError()
               << "operand " << i << " is " << type
               << "; a function outside of the program takes ranked tensors";
    auto semantics =
        callee->getAttrOfType<SemanticsAttr>(TofuDialect::kSemantics);
    OpBuilder builder(call);
    SmallVector<Value> outs;
    for (unsigned i = 0; i < call.getNumResults(); ++i) {
      FailureOr<Value> out = createDestination(builder, call, semantics, i);
      if (failed(out))
        return failure();
      outs.push_back(*out);
    }
    auto into = CallOp::create(builder, call.getLoc(), call.getResultTypes(),
                               call.getCalleeAttr(), call.getOperands(), outs,
                               /*condition=*/Value());
    call.replaceAllUsesWith(into.getResults());
    call.erase();
    ++numCalls;
    return success();
  }
};

} // namespace
