//===- FoldScales.cpp - Scales of results become those of inputs ----------===//
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

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/SetVector.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_FOLDSCALES
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

namespace {

/// A contraction, whose elements x the reader makes activation(s * x + b) of,
/// where s and b are the same along all but some dims.
struct Scaling : FusedContraction {
  unsigned input; ///< of the reader, that is the contraction's result
  /// From x to s * x + b, each of which has one operand that depends on x.
  SmallVector<Operation *> steps;
  /// What else of the body the steps need, in order.
  llvm::SetVector<Operation *> others;
  /// The inputs of the reader that s and b depend on.
  llvm::SetVector<unsigned> inputs;
  /// The loops of the contraction that index a library's bias, and the input of
  /// the contraction that they index.
  SmallVector<AffineExpr> role;
  unsigned scaled;
  Epilogue epilogue;

  BlockArgument getX() const {
    return linalg::GenericOp(reader).getBlock()->getArgument(input);
  }
  Value getResult() const { return steps.back()->getResult(0); }
  Value getScaled() const { return contract->getOperand(scaled); }
};

/// s and b while they are worked out; null for 1 and 0.
struct Affine {
  Value scale, shift;
};

} // namespace

/// Follows x as long as all that is done to it is a sum, a difference, a
/// product or a quotient with something else.
static void followX(Scaling &scaling) {
  Value x = scaling.getX();
  while (x.hasOneUse()) {
    OpOperand &use = *x.use_begin();
    Operation *op = use.getOwner();
    bool isQuotient = isa<arith::DivFOp>(op) && use.getOperandNumber() == 0;
    if (!isQuotient &&
        !isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp>(op))
      return;
    scaling.steps.push_back(op);
    x = op->getResult(0);
  }
}

/// Collects what `value` is made of in the body; false if x is part of it, or
/// what the body writes over.
static bool collect(Scaling &scaling, Value value) {
  linalg::GenericOp reader = scaling.reader;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != reader.getBlock())
      return true;
    unsigned number = argument.getArgNumber();
    bool isInput = number < reader.getNumDpsInputs();
    if (isInput)
      scaling.inputs.insert(number);
    return isInput && number != scaling.input;
  }
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != reader.getBlock() || scaling.others.contains(op))
    return true;
  if (isa<linalg::IndexOp>(op) || !isPure(op) ||
      !llvm::all_of(op->getOperands(),
                    [&](Value each) { return collect(scaling, each); }))
    return false;
  scaling.others.insert(op);
  return true;
}

static bool collectOthers(Scaling &scaling) {
  Value x = scaling.getX();
  for (Operation *step : scaling.steps) {
    for (Value operand : step->getOperands())
      if (operand != x && !collect(scaling, operand))
        return false;
    x = step->getResult(0);
  }
  return true;
}

/// The reader's loop that goes along the dim of the contraction's result that
/// `expr` indexes.
static AffineExpr getReaderLoop(const Scaling &scaling, AffineExpr expr) {
  ContractOp contract = scaling.contract;
  linalg::GenericOp reader = scaling.reader;
  ArrayRef<AffineExpr> out = contract.getMap(2).getResults();
  AffineMap toResult =
      reader.getMatchingIndexingMap(reader.getDpsInitOperand(0));
  return toResult.getResult(llvm::find(out, expr) - out.begin());
}

/// The map of an input of the reader by loops over the role alone; nothing if
/// it has other loops.
static std::optional<AffineMap> getRoleMap(const Scaling &scaling,
                                           unsigned input) {
  linalg::GenericOp reader = scaling.reader;
  AffineMap map =
      reader.getMatchingIndexingMap(reader.getDpsInputOperand(input));
  MLIRContext *context = reader.getContext();
  SmallVector<AffineExpr> loops(map.getNumDims());
  for (auto [position, expr] : llvm::enumerate(scaling.role)) {
    auto loop = cast<AffineDimExpr>(getReaderLoop(scaling, expr));
    loops[loop.getPosition()] = getAffineDimExpr(position, context);
  }
  for (auto [position, loop] : llvm::enumerate(loops)) {
    if (!loop && map.isFunctionOfDim(position))
      return std::nullopt;
    if (!loop)
      loop = getAffineConstantExpr(0, context);
  }
  return map.replaceDimsAndSymbols(loops, {}, scaling.role.size(), 0);
}

/// Sets the role, and the input of the contraction that it is part of.
static bool matchRole(Scaling &scaling) {
  scaling.role = getBiasDims(scaling.contract);
  auto isOfInput = [&](unsigned input) {
    AffineMap map = scaling.contract.getMap(input);
    return llvm::all_of(scaling.role, [&](AffineExpr expr) {
      return llvm::is_contained(map.getResults(), expr);
    });
  };
  scaling.scaled = isOfInput(0) ? 0 : 1;
  return !scaling.role.empty() && isOfInput(scaling.scaled) &&
         llvm::all_of(scaling.inputs, [&](unsigned input) {
           return getRoleMap(scaling, input).has_value();
         });
}

/// True if there is less to scale then, and no type that is too short for it.
static bool isWorthIt(const Scaling &scaling) {
  ContractOp contract = scaling.contract;
  linalg::GenericOp reader = scaling.reader;
  auto scaled = cast<RankedTensorType>(scaling.getScaled().getType()),
       out = cast<RankedTensorType>(contract.getOut().getType());
  Type element = out.getElementType();
  bool areSame = llvm::all_of(
      ValueRange{contract.getLhs(), contract.getRhs(), reader->getResult(0)},
      [&](Value value) { return getElementTypeOrSelf(value) == element; });
  return areSame && (element.isF32() || element.isF64()) &&
         scaled.hasStaticShape() && out.hasStaticShape() &&
         scaled.getNumElements() < out.getNumElements();
}

static std::optional<Scaling> matchScaling(linalg::GenericOp reader) {
  for (OpOperand *operand : reader.getDpsInputOperands()) {
    ContractOp contract = getContractionReadBy(reader, *operand);
    if (!contract || contract.getAccumulate())
      continue;
    Scaling scaling;
    scaling.contract = contract;
    scaling.reader = reader;
    scaling.input = operand->getOperandNumber();
    followX(scaling);
    bool hasScale = llvm::any_of(scaling.steps, [](Operation *step) {
      return isa<arith::MulFOp, arith::DivFOp>(step);
    });
    if (!hasScale || !collectOthers(scaling) || !matchRole(scaling) ||
        !isWorthIt(scaling))
      continue;
    Value yielded = reader.getBlock()->getTerminator()->getOperand(0);
    std::optional<Epilogue> epilogue =
        matchActivation(yielded, scaling.getResult());
    if (!epilogue)
      continue;
    scaling.epilogue = *epilogue;
    Type type = getElementTypeOrSelf(reader->getResult(0));
    if (matchLibrary(contract, /*hasBias=*/true, type, scaling.epilogue))
      return scaling;
  }
  return std::nullopt;
}

/// Does one step to s and b instead of to x, which is its operand `number`.
static void takeStep(OpBuilder &builder, Operation *step, unsigned number,
                     const IRMapping &values, Affine &affine) {
  Location loc = step->getLoc();
  Type type = step->getResult(0).getType();
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, value));
  };
  auto negate = [&](Value &value) {
    if (value)
      value = arith::NegFOp::create(builder, loc, value);
  };
  bool isDifferenceFrom = isa<arith::SubFOp>(step) && number == 1;
  if (isa<arith::NegFOp>(step) || isDifferenceFrom) {
    affine.scale = affine.scale ? affine.scale : constant(1);
    negate(affine.scale);
    negate(affine.shift);
  }
  if (isa<arith::NegFOp>(step))
    return;
  Value other = values.lookupOrDefault(step->getOperand(1 - number));
  if (isa<arith::MulFOp>(step)) {
    affine.scale =
        affine.scale ? arith::MulFOp::create(builder, loc, affine.scale, other)
                     : other;
    if (affine.shift)
      affine.shift = arith::MulFOp::create(builder, loc, affine.shift, other);
  } else if (isa<arith::DivFOp>(step)) {
    affine.scale = arith::DivFOp::create(
        builder, loc, affine.scale ? affine.scale : constant(1), other);
    if (affine.shift)
      affine.shift = arith::DivFOp::create(builder, loc, affine.shift, other);
  } else if (isa<arith::AddFOp>(step) || isDifferenceFrom) {
    affine.shift =
        affine.shift ? arith::AddFOp::create(builder, loc, affine.shift, other)
                     : other;
  } else {
    affine.shift = arith::SubFOp::create(
        builder, loc, affine.shift ? affine.shift : constant(0), other);
  }
}

/// Computes s and b in the body of an operation over the role.
static Affine computeAffine(OpBuilder &builder, const Scaling &scaling,
                            ValueRange arguments) {
  IRMapping values;
  Block *body = linalg::GenericOp(scaling.reader).getBlock();
  for (auto [input, argument] : llvm::zip(scaling.inputs, arguments))
    values.map(body->getArgument(input), argument);
  for (Operation *op : scaling.others)
    builder.clone(*op, values);
  Affine affine;
  Value x = scaling.getX();
  for (Operation *step : scaling.steps) {
    takeStep(builder, step, step->getOperand(0) == x ? 0 : 1, values, affine);
    x = step->getResult(0);
  }
  if (!affine.shift)
    affine.shift = arith::ConstantOp::create(
        builder, scaling.reader->getLoc(),
        builder.getFloatAttr(scaling.getX().getType(), 0));
  return affine;
}

/// Drops dims of one element that no loop goes along from a tensor and its map.
/// So reshapes can be moved out of the way of fusion.
static Value dropUnitDims(OpBuilder &builder, Location loc, Value tensor,
                          AffineMap &map) {
  auto type = cast<RankedTensorType>(tensor.getType());
  llvm::SmallBitVector dropped(type.getRank());
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    dropped[dim] = isa<AffineConstantExpr>(expr) && type.getDimSize(dim) == 1;
  if (dropped.none())
    return tensor;
  map = map.dropResults(dropped);
  return tensor::dropGivenUnitDims(builder, loc, tensor, dropped);
}

/// The tensors s and b over the role.
static linalg::GenericOp makeScaleAndShift(OpBuilder &builder,
                                           const Scaling &scaling) {
  linalg::GenericOp reader = scaling.reader;
  ContractOp contract = scaling.contract;
  auto out = cast<RankedTensorType>(contract.getOut().getType());
  Location loc = reader.getLoc();
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (unsigned input : scaling.inputs) {
    AffineMap map = *getRoleMap(scaling, input);
    inputs.push_back(
        dropUnitDims(builder, loc, reader.getInputs()[input], map));
    maps.push_back(map);
  }
  SmallVector<int64_t> sizes;
  ArrayRef<AffineExpr> results = contract.getMap(2).getResults();
  for (AffineExpr expr : scaling.role)
    sizes.push_back(
        out.getDimSize(llvm::find(results, expr) - results.begin()));
  AffineMap identity = builder.getMultiDimIdentityMap(scaling.role.size());
  maps.append(2, identity);
  SmallVector<Value> outs(
      2, tensor::EmptyOp::create(builder, loc, sizes, out.getElementType()));
  SmallVector<utils::IteratorType> iterators(scaling.role.size(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
      builder, loc, TypeRange(ValueRange(outs)), inputs, outs, maps, iterators,
      [&](OpBuilder &nested, Location, ValueRange arguments) {
        Affine affine = computeAffine(nested, scaling, arguments);
        linalg::YieldOp::create(nested, loc,
                                ValueRange{affine.scale, affine.shift});
      });
}

/// The input of the contraction times s.
static Value scaleInput(OpBuilder &builder, const Scaling &scaling,
                        Value scale) {
  Value input = scaling.getScaled();
  auto type = cast<RankedTensorType>(input.getType());
  ArrayRef<AffineExpr> indices =
      ContractOp(scaling.contract).getMap(scaling.scaled).getResults();
  SmallVector<AffineExpr> ofScale;
  for (AffineExpr expr : scaling.role)
    ofScale.push_back(
        builder.getAffineDimExpr(llvm::find(indices, expr) - indices.begin()));
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank()),
            toScale = AffineMap::get(type.getRank(), 0, ofScale,
                                     builder.getContext());
  Location loc = scaling.reader->getLoc();
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto product = linalg::GenericOp::create(
      builder, loc, type, ValueRange{input, scale}, empty,
      ArrayRef<AffineMap>{identity, toScale, identity}, iterators,
      [&](OpBuilder &nested, Location, ValueRange arguments) {
        Value each =
            arith::MulFOp::create(nested, loc, arguments[0], arguments[1]);
        linalg::YieldOp::create(nested, loc, each);
      });
  return product.getResult(0);
}

/// All that the new operations need where they are.
static SmallVector<Value> getNeeds(const Scaling &scaling) {
  SmallVector<Value> needs;
  for (unsigned input : scaling.inputs)
    needs.push_back(linalg::GenericOp(scaling.reader).getInputs()[input]);
  auto addOperands = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (operand.getParentBlock() != op->getBlock())
        needs.push_back(operand);
  };
  llvm::for_each(scaling.others, addOperands);
  llvm::for_each(scaling.steps, addOperands);
  return needs;
}

static bool fold(IRRewriter &rewriter, const Scaling &scaling) {
  ContractOp contract = scaling.contract;
  Operation *place = scaling.findPlace(getNeeds(scaling));
  if (!place)
    return false;
  rewriter.setInsertionPoint(place);
  linalg::GenericOp both = makeScaleAndShift(rewriter, scaling);
  Value scaled = scaleInput(rewriter, scaling, both.getResult(0));
  AffineMap toBias = AffineMap::get(contract.getMap(2).getNumDims(), 0,
                                    scaling.role, rewriter.getContext());
  scaling.replace(rewriter, scaling.scaled == 0 ? scaled : contract.getLhs(),
                  scaling.scaled == 1 ? scaled : contract.getRhs(),
                  both.getResult(1), toBias, scaling.epilogue.activation);
  return true;
}

namespace {

struct FoldScales : public tofu::impl::FoldScalesBase<FoldScales> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> readers;
    getOperation()->walk([&](linalg::GenericOp op) { readers.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp reader : readers)
      if (std::optional<Scaling> scaling = matchScaling(reader))
        numFolded += fold(rewriter, *scaling);
  }
};

} // namespace
