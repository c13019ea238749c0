//===- Annotate.cpp - Semantics for every operation -----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Branches.h"
#include "GlobalSizes.h"
#include "Globals.h"
#include "Tofu/Dialect/Models.h"
#include "Tofu/Dialect/Structure.h"
#include "Tofu/Transforms/Passes.h"
#include "Tofu/Transforms/Remade.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
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

/// True for what needs no semantics: scalars, sizes, constants, globals, and
/// the return.
static bool isExempt(Operation *op) {
  return !hasTensors(op) || getReadDim(op) || GlobalAccess(op) ||
         op->hasTrait<OpTrait::IsTerminator>() ||
         (op->getNumResults() == 1 && isConstantTensor(op->getResult(0)));
}

//===----------------------------------------------------------------------===//
// Semantics that the user gives
//===----------------------------------------------------------------------===//

/// An operation that has semantics of its own builds its part by these: others
/// may keep dims whole, and no more.
static bool restrictsDim(IterationDimAttr given, IterationDimAttr own) {
  if (given.getSize() != own.getSize())
    return false;
  return given.getKind() == DimKind::Unsplittable ||
         (given.getKind() == own.getKind() &&
          given.getCombiners() == own.getCombiners());
}

/// The position of the dim that dim `i` is after, or -1.
static int64_t findAfter(SemanticsAttr semantics, unsigned i) {
  ArrayRef<IterationDimAttr> dims = semantics.getDims();
  const auto *it = llvm::find_if(dims, [&](IterationDimAttr dim) {
    return dim.getName() == dims[i].getAfter();
  });
  return it == dims.end() ? -1 : it - dims.begin();
}

/// True if no dim of `expr` can be cut.
static bool isWhole(AffineExpr expr, SemanticsAttr semantics) {
  for (auto [i, dim] : llvm::enumerate(semantics.getDims()))
    if (dim.getKind() != DimKind::Unsplittable && expr.isFunctionOfDim(i))
      return false;
  return true;
}

static bool restrictsAccess(AccessAttr given, AccessAttr own,
                            SemanticsAttr semantics) {
  if (!own.getRead())
    return true;
  bool reduces = llvm::any_of(semantics.getDims(), [](IterationDimAttr dim) {
    return dim.getKind() == DimKind::Reduction;
  });
  if (!given.getRead() || (reduces && given.getInitOf() != own.getInitOf()))
    return false;
  return llvm::all_of(
      llvm::zip_equal(given.getIndex(), own.getIndex()), [&](auto pair) {
        auto [expr, known] = pair;
        return expr == known || (!expr && isWhole(known, semantics));
      });
}

static bool restricts(SemanticsAttr given, SemanticsAttr own) {
  if (given.getDims().size() != own.getDims().size())
    return false;
  for (auto [i, dim, known] : llvm::enumerate(given.getDims(), own.getDims()))
    if (!restrictsDim(dim, known) ||
        (dim.getKind() != DimKind::Unsplittable && known.getAfter() &&
         findAfter(given, i) != findAfter(own, i)))
      return false;
  for (auto [access, known] :
       llvm::zip_equal(given.getOperands(), own.getOperands()))
    if (!restrictsAccess(access, known, given))
      return false;
  for (auto [access, known] :
       llvm::zip_equal(given.getResults(), own.getResults()))
    if (!restrictsAccess(access, known, given))
      return false;
  return true;
}

static LogicalResult verifyGiven(Operation *op, SemanticsAttr given) {
  if (!hasModel(op))
    return success();
  std::string why;
  SemanticsAttr own = computeSemantics(op, why);
  if (!own)
    return op->emitOpError() << "can't be cut, semantics or not: " << why;
  if (!restricts(given, own))
    return op->emitOpError()
           << "semantics contradict those of the operation: " << own;
  return success();
}

/// Checks that the dims whose sizes are read are there. MLIR leaves it open
/// what they are if not, and its analyses look for them.
static LogicalResult verifyReadDims(Operation *root) {
  return failure(root->walk([](ShapedDimOpInterface read) {
                       auto type = dyn_cast<ShapedType>(
                           read.getShapedValue().getType());
                       std::optional<int64_t> dim =
                           getConstantIntValue(read.getDimension());
                       if (!type || !type.hasRank() || !dim ||
                           (*dim >= 0 && *dim < type.getRank()))
                         return WalkResult::advance();
                       read.emitOpError() << "index " << *dim << ": tensor has "
                                          << type.getRank() << " dims";
                       return WalkResult::interrupt();
                     })
                     .wasInterrupted());
}

namespace {
struct AnnotatePass : public tofu::impl::AnnotatePassBase<AnnotatePass> {
  void runOnOperation() override {
    if (failed(inlineCalls()) || failed(dropUnusedResults(getOperation())) ||
        failed(verifyReadDims(getOperation())))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    structureTensorOps(rewriter, getOperation());
    structureIndexing(rewriter, getOperation());
    if (failed(splitReductions(rewriter, getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(annotate(function)))
        return signalPassFailure();
  }

  LogicalResult inlineCalls() {
    bool calls =
        getOperation()
            ->walk([](func::CallOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (!calls)
      return success();
    OpPassManager pipeline(ModuleOp::getOperationName());
    // Canonicalizing would take padding that shifts for nothing.
    pipeline.addPass(createInlinerPass({}, [](OpPassManager &) {}));
    pipeline.addPass(createSymbolDCEPass());
    return runPipeline(pipeline, getOperation());
  }

  LogicalResult annotate(func::FuncOp function) {
    if (!function.getBody().hasOneBlock()) {
      function.emitRemark() << "is replicated: it has several blocks";
      return success();
    }
    Block &body = function.getBody().front();
    if (body.empty() || !isa<func::ReturnOp>(body.back())) {
      function.emitRemark() << "is replicated: it doesn't end with func.return";
      return success();
    }
    return annotate(body);
  }

  LogicalResult annotate(Block &block) {
    for (Operation &op : block) {
      if (!isPlannedBranch(&op)) {
        if (failed(annotate(&op)))
          return failure();
        continue;
      }
      for (Region &region : op.getRegions())
        if (!region.empty() && failed(annotate(region.front())))
          return failure();
    }
    return success();
  }

  LogicalResult annotate(Operation *op) {
    if (isExempt(op))
      return success();
    if (auto given =
            op->getAttrOfType<SemanticsAttr>(TofuDialect::kSemantics)) {
      ++numDescribed;
      return verifyGiven(op, given);
    }
    std::string why;
    SemanticsAttr semantics = computeSemantics(op, why);
    if (semantics) {
      op->setAttr(TofuDialect::kSemantics, semantics);
      if (llvm::all_of(op->getResults(), hasTraceableSizes)) {
        ++numDescribed;
        if (!why.empty())
          remark(op, why);
        return success();
      }
      op->removeAttr(TofuDialect::kSemantics);
      why = "nothing else tells the sizes of its result";
    }
    ++numReplicated;
    remark(op, "is replicated: " + why);
    return success();
  }

  /// Says something once for each kind of operation.
  void remark(Operation *op, const std::string &text) {
    std::string kind = op->getName().getStringRef().str();
    // Of one that is replicated, one reason will do.
    if (op->hasAttr(TofuDialect::kSemantics))
      kind += " " + text;
    if (remarked.insert(kind).second)
      op->emitRemark() << text << "; further ones alike are not reported";
  }

  llvm::StringSet<> remarked;
};
} // namespace
