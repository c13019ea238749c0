//===- FuseEpilogues.cpp - Bias and activation of contractions ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EpilogueMatch.h"
#include "RowGroups.h"
#include "Tofu/Conversion/Passes.h"
#include "Tofu/Dialect/BufferOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

namespace {

/// A contraction, and the only reader of its result.
struct Fusion {
  ContractOp contract;
  linalg::GenericOp reader;
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

static bool hasSums(AffineMap map) {
  return llvm::any_of(map.getResults(), [](AffineExpr expr) {
    return isa<AffineBinaryOpExpr>(expr);
  });
}

/// A convolution has one input with windows; the other one is its filters.
static bool isConvolution(ContractOp op) {
  return hasSums(op.getMap(0)) != hasSums(op.getMap(1));
}

/// The dims of a convolution's result that index its filters.
static SmallVector<AffineExpr> getFilterDims(ContractOp op) {
  AffineMap filters = op.getMap(hasSums(op.getMap(0)) ? 1 : 0);
  return llvm::filter_to_vector(
      op.getMap(2).getResults(), [&](AffineExpr expr) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        return dim && filters.isFunctionOfDim(dim.getPosition());
      });
}

/// True if loop `dim` indexes both inputs.
static bool isBatch(ContractOp op, unsigned dim) {
  return op.getMap(0).isFunctionOfDim(dim) && op.getMap(1).isFunctionOfDim(dim);
}

/// The innermost dims of the result that are all rows, or all columns, of a
/// product; nothing if libraries would see no matrix with such rows.
static SmallVector<AffineExpr> getInnermostRole(ContractOp op) {
  ArrayRef<AffineExpr> out = op.getMap(2).getResults();
  auto isOfLhs = [&](AffineExpr expr) {
    return op.getMap(0).isFunctionOfDim(
        cast<AffineDimExpr>(expr).getPosition());
  };
  auto isOfRole = [&](AffineExpr expr) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    return dim && !isBatch(op, dim.getPosition()) &&
           isOfLhs(dim) == isOfLhs(out.back());
  };
  if (out.empty() || !isa<AffineDimExpr>(out.back()) || !isOfRole(out.back()))
    return {};
  auto end = llvm::find_if_not(llvm::reverse(out), isOfRole);
  SmallVector<AffineExpr> role(end.base(), out.end());
  return llvm::count_if(out, isOfRole) == static_cast<int64_t>(role.size())
             ? role
             : SmallVector<AffineExpr>();
}

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
  SmallVector<AffineExpr> role = isConvolution(fusion.contract)
                                     ? getFilterDims(fusion.contract)
                                     : getInnermostRole(fusion.contract);
  return !role.empty() && dims == role;
}

/// True if the library of convolutions may have the activation: cuDNN has
/// engines for a bias and relu after it, and for short floats others as well,
/// but none that add to what is there.
static bool isOfConvolutions(const Fusion &fusion) {
  Type type = getElementTypeOrSelf(fusion.reader->getResult(0));
  bool isBiasOrRelu = fusion.epilogue.biasInput &&
                      fusion.epilogue.activation != Activation::GeluTanh;
  return !ContractOp(fusion.contract).getAccumulate() &&
         (isBiasOrRelu || type.isF16() || type.isBF16());
}

/// Sets the kind of relu that the library has, which differ in what becomes of
/// NaN; false if it is the other one.
static bool matchActivation(Fusion &fusion) {
  bool isConvolution = ::isConvolution(fusion.contract);
  if (isConvolution && !isOfConvolutions(fusion))
    return false;
  Activation &activation = fusion.epilogue.activation;
  if (activation != Activation::Relu && activation != Activation::ReluNan)
    return true;
  Activation ofLibrary = isConvolution ? Activation::ReluNan : Activation::Relu;
  if (activation != ofLibrary && !fusion.epilogue.hasNoNaN)
    return false;
  activation = ofLibrary;
  return true;
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
  if (!reader.hasPureTensorSemantics() || reader.getNumResults() != 1 ||
      reader.getNumParallelLoops() != reader.getNumLoops())
    return std::nullopt;
  AffineMap toResult =
      reader.getMatchingIndexingMap(reader.getDpsInitOperand(0));
  for (OpOperand *operand : reader.getDpsInputOperands()) {
    auto contract = operand->get().getDefiningOp<ContractOp>();
    if (!contract || !contract->hasOneUse() || contract.hasEpilogue() ||
        contract->getBlock() != reader->getBlock() ||
        (hasSums(contract.getMap(0)) && hasSums(contract.getMap(1))) ||
        !toResult.isPermutation() ||
        reader.getMatchingIndexingMap(operand) != toResult)
      continue;
    Fusion fusion{contract, reader, operand->getOperandNumber(), {}, {}};
    std::optional<Epilogue> epilogue = matchEpilogue(reader, fusion.input);
    if (!epilogue)
      continue;
    fusion.epilogue = *epilogue;
    if (matchActivation(fusion) && matchBias(fusion) && matchTypes(fusion))
      return fusion;
  }
  return std::nullopt;
}

/// True if `value` is there before `op`.
static bool isBefore(Value value, Operation *op) {
  Operation *definition = value.getDefiningOp();
  return !definition || definition->getBlock() != op->getBlock() ||
         definition->isBeforeInBlock(op);
}

/// What the fused contraction writes to: what the reader would have, unless
/// that is just memory.
static Value getTarget(const Fusion &fusion) {
  ContractOp contract = fusion.contract;
  linalg::GenericOp reader = fusion.reader;
  Value init = reader.getOutputs()[0];
  bool isSame = init.getType() == contract.getOut().getType();
  bool isMemory = isa_and_nonnull<tensor::EmptyOp>(init.getDefiningOp());
  return contract.getAccumulate() || (isSame && isMemory) ? contract.getOut()
                                                          : init;
}

/// Where the fused contraction can be: in the place of the old one, else of the
/// reader, unless something is in between that the product may overlap with.
static Operation *getPlace(const Fusion &fusion, Value target) {
  Operation *contract = fusion.contract, *reader = fusion.reader;
  Value bias = fusion.getBias();
  if (isBefore(target, contract) && (!bias || isBefore(bias, contract)))
    return contract;
  for (Operation *op = contract->getNextNode(); op != reader;
       op = op->getNextNode())
    if (!canPassRows(*op))
      return nullptr;
  return reader;
}

static bool fuse(IRRewriter &rewriter, const Fusion &fusion) {
  ContractOp contract = fusion.contract;
  linalg::GenericOp reader = fusion.reader;
  Value target = getTarget(fusion);
  Operation *place = getPlace(fusion, target);
  if (!place)
    return false;
  rewriter.setInsertionPoint(place);
  SmallVector<AffineMap> maps = {contract.getMap(0), contract.getMap(1),
                                 contract.getMap(2)};
  if (fusion.epilogue.biasInput)
    maps.push_back(fusion.biasMap);
  auto fused = ContractOp::create(
      rewriter, rewriter.getFusedLoc({contract.getLoc(), reader.getLoc()}),
      target.getType(), contract.getLhs(), contract.getRhs(), target,
      fusion.getBias(), rewriter.getAffineMapArrayAttr(maps),
      contract.getAccumulate(), fusion.epilogue.activation);
  Operation *memory[] = {contract.getOut().getDefiningOp(),
                         reader.getOutputs()[0].getDefiningOp()};
  rewriter.replaceOp(reader, fused.getResults());
  rewriter.eraseOp(contract);
  if (memory[0] == memory[1])
    memory[1] = nullptr;
  for (Operation *op : memory)
    if (isa_and_nonnull<tensor::EmptyOp>(op) && op->use_empty())
      rewriter.eraseOp(op);
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
  }
};

} // namespace
