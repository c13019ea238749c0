//===- EpilogueFusion.cpp - Contractions that get an epilogue -------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EpilogueFusion.h"
#include "EpilogueMatch.h"
#include "RowGroups.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::tofu;

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

SmallVector<AffineExpr> tofu::getBiasDims(ContractOp op) {
  return isConvolution(op) ? getFilterDims(op) : getInnermostRole(op);
}

bool tofu::mayAddToTensor(ContractOp op) {
  return !hasSums(op.getMap(0)) && !hasSums(op.getMap(1)) &&
         llvm::all_of(op.getMap(2).getResults(),
                      [](AffineExpr expr) { return isa<AffineDimExpr>(expr); });
}

/// True if the library of convolutions may have the activation: cuDNN has
/// engines for a bias and relu after it, which may add to what is there, and
/// for short floats others as well, which don't.
static bool isOfConvolutions(bool adds, bool hasBias, Type type,
                             const Epilogue &epilogue) {
  bool isBiasOrRelu = hasBias && epilogue.activation != Activation::GeluTanh;
  return isBiasOrRelu || (!adds && (type.isF16() || type.isBF16()));
}

bool tofu::matchLibrary(ContractOp op, bool adds, bool hasBias, Type type,
                        Epilogue &epilogue) {
  bool isConvolution = ::isConvolution(op);
  if (isConvolution && !isOfConvolutions(adds, hasBias, type, epilogue))
    return false;
  Activation &activation = epilogue.activation;
  if (activation != Activation::Relu && activation != Activation::ReluNan)
    return true;
  // The two differ in what becomes of NaN.
  Activation ofLibrary = isConvolution ? Activation::ReluNan : Activation::Relu;
  if (activation != ofLibrary && !epilogue.hasNoNaN)
    return false;
  activation = ofLibrary;
  return true;
}

ContractOp tofu::getContractionReadBy(linalg::GenericOp reader,
                                      OpOperand &operand) {
  if (!reader.hasPureTensorSemantics() || reader.getNumResults() != 1 ||
      reader.getNumParallelLoops() != reader.getNumLoops())
    return {};
  AffineMap toResult =
      reader.getMatchingIndexingMap(reader.getDpsInitOperand(0));
  auto contract = operand.get().getDefiningOp<ContractOp>();
  if (!contract || !contract->hasOneUse() || contract.hasEpilogue() ||
      contract->getBlock() != reader->getBlock() ||
      (hasSums(contract.getMap(0)) && hasSums(contract.getMap(1))) ||
      !toResult.isPermutation() ||
      reader.getMatchingIndexingMap(&operand) != toResult)
    return {};
  return contract;
}

/// True for the arguments of functions that may be written to, and for those
/// of other regions.
static bool isWritable(BlockArgument argument) {
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  auto writable =
      function ? function.getArgAttrOfType<BoolAttr>(
                     argument.getArgNumber(),
                     bufferization::BufferizationDialect::kWritableAttrName)
               : BoolAttr();
  return !writable || writable.getValue();
}

/// True if anything in the block after `op` uses the value, but for `other`.
static bool isUsedAfter(Value value, Operation *op, Operation *other) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
    return !inBlock ||
           (inBlock != other && inBlock != op && op->isBeforeInBlock(inBlock));
  });
}

bool tofu::isKept(Value value, Operation *op) {
  auto argument = dyn_cast<BlockArgument>(value);
  return value.getParentBlock() != op->getBlock() ||
         (argument && !isWritable(argument)) ||
         matchPattern(value, m_Constant()) || isUsedAfter(value, op, op);
}

//===----------------------------------------------------------------------===//
// Fused contractions
//===----------------------------------------------------------------------===//

/// True if `value` is there before `op`.
static bool isBefore(Value value, Operation *op) {
  Operation *definition = value.getDefiningOp();
  return !definition || definition->getBlock() != op->getBlock() ||
         definition->isBeforeInBlock(op);
}

/// What the reader would have, unless that is just memory.
Value FusedContraction::getTarget() const {
  if (addend)
    return addend;
  ContractOp contract = this->contract;
  Value init = linalg::GenericOp(reader).getOutputs()[0];
  bool isSame = init.getType() == contract.getOut().getType();
  bool isMemory = isa_and_nonnull<tensor::EmptyOp>(init.getDefiningOp());
  return contract.getAccumulate() || (isSame && isMemory) ? contract.getOut()
                                                          : init;
}

Operation *FusedContraction::findPlace(ArrayRef<Value> needs) const {
  auto isThere = [&](Value value) { return isBefore(value, contract); };
  bool isReadBetween = addend && isUsedAfter(addend, contract, reader);
  if (!isReadBetween && isThere(getTarget()) && llvm::all_of(needs, isThere))
    return contract;
  for (Operation *op = contract->getNextNode(); op != reader;
       op = op->getNextNode())
    if (!canPassRows(*op))
      return nullptr;
  return reader;
}

void FusedContraction::replace(IRRewriter &rewriter, Value lhs, Value rhs,
                               Value bias, AffineMap biasMap,
                               Activation activation) const {
  ContractOp contract = this->contract;
  linalg::GenericOp reader = this->reader;
  Value target = getTarget();
  SmallVector<AffineMap> maps = {contract.getMap(0), contract.getMap(1),
                                 contract.getMap(2)};
  if (bias)
    maps.push_back(biasMap);
  auto fused = ContractOp::create(
      rewriter, rewriter.getFusedLoc({contract.getLoc(), reader.getLoc()}),
      target.getType(), lhs, rhs, target, bias,
      rewriter.getAffineMapArrayAttr(maps), addend || contract.getAccumulate(),
      activation);
  Operation *memory[] = {contract.getOut().getDefiningOp(),
                         reader.getOutputs()[0].getDefiningOp()};
  rewriter.replaceOp(reader, fused.getResults());
  rewriter.eraseOp(contract);
  if (memory[0] == memory[1])
    memory[1] = nullptr;
  for (Operation *op : memory)
    if (isa_and_nonnull<tensor::EmptyOp>(op) && op->use_empty())
      rewriter.eraseOp(op);
}
