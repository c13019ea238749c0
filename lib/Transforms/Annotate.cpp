//===- Annotate.cpp - Semantics for every operation -----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Transforms/Passes.h"
#include "Tofu/Transforms/Remade.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_ANNOTATEPASS
#include "Tofu/Transforms/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

static bool hasTensors(Operation *op) {
  auto isTensor = llvm::IsaPred<TensorType>;
  return llvm::any_of(op->getResultTypes(), isTensor) ||
         !getTensorOperands(op).empty();
}

/// True for what needs no semantics: scalars, constants, and the return.
static bool isExempt(Operation *op) {
  return !hasTensors(op) || op->hasTrait<OpTrait::IsTerminator>() ||
         (op->getNumResults() == 1 && isConstantTensor(op->getResult(0)));
}

static SemanticsAttr getSemantics(Operation *op, std::string &why) {
  auto partitionable = dyn_cast<PartitionableOpInterface>(op);
  if (partitionable)
    return partitionable.computeSemantics(why);
  why = "it has no semantics";
  return {};
}

namespace {
struct AnnotatePass : public tofu::impl::AnnotatePassBase<AnnotatePass> {
  void runOnOperation() override {
    if (failed(inlineCalls()))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        annotate(function);
  }

  LogicalResult inlineCalls() {
    bool calls = getOperation()
                     ->walk([](func::CallOp) { return WalkResult::interrupt(); })
                     .wasInterrupted();
    if (!calls)
      return success();
    OpPassManager pipeline(ModuleOp::getOperationName());
    pipeline.addPass(createInlinerPass());
    pipeline.addPass(createSymbolDCEPass());
    return runPipeline(pipeline, getOperation());
  }

  void annotate(func::FuncOp function) {
    if (!function.getBody().hasOneBlock()) {
      function.emitRemark() << "is replicated: it has several blocks";
      return;
    }
    for (Operation &op : function.getBody().front())
      annotate(&op);
  }

  void annotate(Operation *op) {
    if (isExempt(op))
      return;
    std::string why;
    if (!op->hasAttr(TofuDialect::kSemantics)) {
      SemanticsAttr semantics = getSemantics(op, why);
      if (!semantics) {
        ++numReplicated;
        if (remarked.insert(op->getName().getStringRef()).second)
          op->emitRemark() << "is replicated: " << why
                           << "; further ones alike are not reported";
        return;
      }
      op->setAttr(TofuDialect::kSemantics, semantics);
    }
    ++numDescribed;
  }

  llvm::StringSet<> remarked;
};
} // namespace
