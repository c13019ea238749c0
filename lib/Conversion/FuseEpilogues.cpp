//===- FuseEpilogues.cpp - Bias and activation of contractions ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EpilogueFusion.h"
#include "EpilogueMatch.h"
#include "Tofu/Conversion/Passes.h"
#include "Tofu/Dialect/BufferOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

namespace {

/// A contraction, and the only reader of its result.
struct Fusion : FusedContraction {
  unsigned input; ///< of the reader, that is the contraction's result
  Epilogue epilogue;
  AffineMap biasMap; ///< from the contraction's loops

  Value getBias() const {
    return epilogue.biasInput
               ? linalg::GenericOp(reader).getInputs()[*epilogue.biasInput]
               : Value();
  }
};

} // namespace

/// Sets the map of the bias, if the runtime's library may add it.
static bool matchBias(Fusion &fusion) {
  linalg::GenericOp reader = fusion.reader;
  if (!fusion.epilogue.biasInput)
    return true;
  AffineMap toResult =
      reader.getMatchingIndexingMap(reader.getDpsInitOperand(0));
  AffineMap toBias = reader.getMatchingIndexingMap(
      reader.getDpsInputOperand(*fusion.epilogue.biasInput));
  fusion.biasMap = toBias.compose(inversePermutation(toResult))
                       .compose(fusion.contract.getMap(2));
  SmallVector<AffineExpr> dims;
  for (AffineExpr expr : fusion.biasMap.getResults())
    if (!isa<AffineConstantExpr>(expr))
      dims.push_back(expr);
  ContractOp contract = fusion.contract;
  SmallVector<AffineExpr> role = getBiasDims(contract);
  if (!role.empty() && dims == role)
    return true;
  // One for each element of the result: the product is added to it.
  return mayAddToTensor(contract) && !contract.getAccumulate() &&
         fusion.getTarget() != fusion.getBias() &&
         llvm::equal(fusion.biasMap.getResults(),
                     contract.getMap(2).getResults());
}

/// True if the result may be of the type that the reader gives it.
///
/// Where that is a shorter one, sums that are rounded before the epilogue, as a
/// kernel after the library's product finds them, must give the same: relu
/// does, a bias or gelu of what was rounded doesn't.
static bool matchTypes(const Fusion &fusion) {
  ContractOp contract = fusion.contract;
  Type from = getElementTypeOrSelf(contract.getOut()),
       to = getElementTypeOrSelf(fusion.reader->getResult(0));
  Value bias = fusion.getBias();
  if (!isa<FloatType>(from) ||
      (bias && (getElementTypeOrSelf(bias) != to ||
                !isa<RankedTensorType>(bias.getType()))))
    return false;
  if (from == to)
    return true;
  // To what the inputs hold: libraries have this, and sum in f32 as well.
  return !bias && fusion.epilogue.activation != Activation::GeluTanh &&
         !contract.getAccumulate() && from.isF32() &&
         (to.isF16() || to.isBF16()) &&
         getElementTypeOrSelf(contract.getLhs()) == to;
}

/// The contraction that `reader` is the epilogue of.
static std::optional<Fusion> matchFusion(linalg::GenericOp reader) {
  for (OpOperand *operand : reader.getDpsInputOperands()) {
    ContractOp contract = getContractionReadBy(reader, *operand);
    if (!contract)
      continue;
    Fusion fusion{{contract, reader, {}}, operand->getOperandNumber(), {}, {}};
    std::optional<Epilogue> epilogue = matchEpilogue(reader, fusion.input);
    if (!epilogue)
      continue;
    fusion.epilogue = *epilogue;
    Type type = getElementTypeOrSelf(reader->getResult(0));
    if (matchLibrary(contract, contract.getAccumulate(),
                     epilogue->biasInput.has_value(), type, fusion.epilogue) &&
        matchBias(fusion) && matchTypes(fusion))
      return fusion;
  }
  return std::nullopt;
}

static bool fuse(IRRewriter &rewriter, const Fusion &fusion) {
  ContractOp contract = fusion.contract;
  SmallVector<Value> needs;
  if (Value bias = fusion.getBias())
    needs.push_back(bias);
  Operation *place = fusion.findPlace(needs);
  if (!place)
    return false;
  rewriter.setInsertionPoint(place);
  fusion.replace(rewriter, contract.getLhs(), contract.getRhs(),
                 fusion.getBias(), fusion.biasMap, fusion.epilogue.activation);
  return true;
}

//===----------------------------------------------------------------------===//
// Sums with what is kept
//===----------------------------------------------------------------------===//

/// Makes what is added to the bias, so that the sum is elsewhere. It is added
/// in f32 in any case, to what is rounded before for shorter types.
static bool separate(IRRewriter &rewriter, ContractOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getOut().getType());
  if (!type || !op.getAccumulate() || op.getBias() || !mayAddToTensor(op) ||
      (!type.getElementType().isF32() && !type.getElementType().isF64()) ||
      !isKept(op.getOut(), op))
    return false;
  rewriter.setInsertionPoint(op);
  Value empty = tensor::EmptyOp::create(
      rewriter, op.getLoc(),
      tensor::getMixedSizes(rewriter, op.getLoc(), op.getOut()),
      type.getElementType());
  AffineMap maps[] = {op.getMap(0), op.getMap(1), op.getMap(2), op.getMap(2)};
  rewriter.replaceOpWithNewOp<ContractOp>(
      op, empty.getType(), op.getLhs(), op.getRhs(), empty, op.getOut(),
      rewriter.getAffineMapArrayAttr(maps), /*accumulate=*/false,
      op.getActivation());
  return true;
}

namespace {

struct FuseEpilogues : public tofu::impl::FuseEpiloguesBase<FuseEpilogues> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> readers;
    getOperation()->walk([&](linalg::GenericOp op) { readers.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp reader : readers)
      if (std::optional<Fusion> fusion = matchFusion(reader))
        numFused += fuse(rewriter, *fusion);
    SmallVector<ContractOp> contractions;
    getOperation()->walk([&](ContractOp op) { contractions.push_back(op); });
    for (ContractOp op : contractions)
      numSeparated += separate(rewriter, op);
  }
};

} // namespace
