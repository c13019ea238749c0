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

/// A contraction, whose elements x the reader makes activation(s * x + b) or
/// activation(s * x + b + addend) of, where s and b are the same along all but
/// some dims, and the addend is an input of the result's shape.
struct Scaling : FusedContraction {
  unsigned input; ///< of the reader, that is the contraction's result
  /// From x to s * x + b, each of which has one operand that depends on x.
  SmallVector<Operation *> steps;
  /// The step that adds the addend, if there is one.
  Operation *sum = nullptr;
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
  bool hasScale() const {
    return llvm::any_of(steps, [](Operation *step) {
      return isa<arith::MulFOp, arith::DivFOp>(step);
    });
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

/// Takes an input of the reader for the addend, if `operand` is one that
/// nothing else needs by then, and memory for the result is not there already.
static bool takeAddend(Scaling &scaling, Operation *step, Value operand) {
  linalg::GenericOp reader = scaling.reader;
  auto argument = dyn_cast<BlockArgument>(operand);
  if (scaling.sum || !isa<arith::AddFOp>(step) || !argument ||
      argument.getOwner() != reader.getBlock() ||
      argument.getArgNumber() >= reader.getNumDpsInputs())
    return false;
  OpOperand *input = reader.getDpsInputOperand(argument.getArgNumber()),
            *init = reader.getDpsInitOperand(0);
  bool isInput =
      llvm::is_contained(scaling.contract->getOperands(), input->get());
  bool isMemory = isa_and_nonnull<tensor::EmptyOp>(init->get().getDefiningOp());
  if (!isMemory || input->get().getType() != init->get().getType() ||
      reader.getMatchingIndexingMap(input) !=
          reader.getMatchingIndexingMap(init) ||
      isInput || getRoleMap(scaling, argument.getArgNumber()) ||
      isKept(input->get(), reader))
    return false;
  scaling.sum = step;
  scaling.addend = input->get();
  return true;
}

/// Collects what the steps need; false if that isn't the same along all dims
/// but the role, or the addend not merely added.
static bool collectOthers(Scaling &scaling) {
  Value x = scaling.getX();
  for (Operation *step : scaling.steps) {
    bool isSum = isa<arith::AddFOp>(step) ||
                 (isa<arith::SubFOp>(step) && step->getOperand(0) == x);
    if (scaling.sum && !isSum)
      return false;
    for (Value operand : step->getOperands())
      if (operand != x && !takeAddend(scaling, step, operand) &&
          !collect(scaling, operand))
        return false;
    x = step->getResult(0);
  }
  return llvm::all_of(scaling.inputs, [&](unsigned input) {
    return getRoleMap(scaling, input).has_value();
  });
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
  return !scaling.role.empty() && isOfInput(scaling.scaled);
}

/// The input that is b as it is, where nothing but the addend is added besides.
static std::optional<unsigned> getBiasInput(const Scaling &scaling) {
  if (!scaling.sum || scaling.steps.size() != 2 || scaling.inputs.size() != 1 ||
      !scaling.others.empty())
    return std::nullopt;
  Operation *step = scaling.steps[scaling.steps[0] == scaling.sum ? 1 : 0];
  if (!isa<arith::AddFOp>(step) ||
      !llvm::all_of(step->getOperands(), [&](Value operand) {
        return isa<BlockArgument>(operand) ||
               operand.getDefiningOp() == scaling.sum;
      }))
    return std::nullopt;
  unsigned input = scaling.inputs.front();
  SmallVector<AffineExpr> dims;
  for (AffineExpr expr : getRoleMap(scaling, input)->getResults())
    if (!isa<AffineConstantExpr>(expr))
      dims.push_back(expr);
  bool isInOrder = dims.size() == scaling.role.size();
  for (auto [position, expr] : llvm::enumerate(dims))
    isInOrder =
        isInOrder && expr == getAffineDimExpr(position, expr.getContext());
  return isInOrder ? std::optional(input) : std::nullopt;
}

/// True if there is less to scale then, or nothing. What is scaled would be
/// rounded to a short type once more; what is only added is rounded as often,
/// or less.
static bool isWorthIt(const Scaling &scaling) {
  ContractOp contract = scaling.contract;
  linalg::GenericOp reader = scaling.reader;
  auto scaled = cast<RankedTensorType>(scaling.getScaled().getType()),
       out = cast<RankedTensorType>(contract.getOut().getType());
  Type element = out.getElementType();
  bool areSame = llvm::all_of(
      ValueRange{contract.getLhs(), contract.getRhs(), reader->getResult(0)},
      [&](Value value) { return getElementTypeOrSelf(value) == element; });
  bool isLess = scaled.hasStaticShape() && out.hasStaticShape() &&
                scaled.getNumElements() < out.getNumElements();
  if (!areSame)
    return false;
  return scaling.hasScale()
             ? isLess && (element.isF32() || element.isF64())
             : isa<FloatType>(element) && getBiasInput(scaling).has_value();
}

/// Follows the contraction that `operand` of the reader is the result of;
/// nothing if it is none, or if the reader does something else as well, such as
/// to assert.
static std::optional<Scaling> follow(linalg::GenericOp reader,
                                     OpOperand &operand) {
  ContractOp contract = getContractionReadBy(reader, operand);
  bool isPlain =
      llvm::all_of(reader.getBlock()->without_terminator(),
                   [](Operation &each) { return isMemoryEffectFree(&each); });
  if (!contract || contract.getAccumulate() || !isPlain)
    return std::nullopt;
  Scaling scaling;
  scaling.contract = contract;
  scaling.reader = reader;
  scaling.input = operand.getOperandNumber();
  followX(scaling);
  return matchRole(scaling) ? std::optional(scaling) : std::nullopt;
}

/// True if the steps are what can be folded, with what comes after them.
static bool isFoldable(Scaling &scaling) {
  return collectOthers(scaling) && (scaling.hasScale() || scaling.sum) &&
         isWorthIt(scaling) &&
         matchLibrary(scaling.contract, /*adds=*/scaling.sum, /*hasBias=*/true,
                      getElementTypeOrSelf(scaling.reader->getResult(0)),
                      scaling.epilogue);
}

static std::optional<Scaling> matchScaling(linalg::GenericOp reader) {
  for (OpOperand *operand : reader.getDpsInputOperands()) {
    std::optional<Scaling> scaling = follow(reader, *operand);
    if (!scaling || scaling->steps.empty())
      continue;
    Value yielded = reader.getBlock()->getTerminator()->getOperand(0);
    std::optional<Epilogue> epilogue =
        matchActivation(yielded, scaling->getResult());
    if (!epilogue)
      continue;
    scaling->epilogue = *epilogue;
    if (isFoldable(*scaling))
      return scaling;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Sums of two results
//===----------------------------------------------------------------------===//

/// The scaling by the steps before `end`; nothing if it can't be folded by
/// itself.
static std::optional<Scaling> matchPart(const Scaling &whole, Operation *end) {
  Scaling part = whole;
  part.steps.erase(llvm::find(part.steps, end), part.steps.end());
  auto type = cast<RankedTensorType>(part.reader->getResult(0).getType());
  bool isPart = type.hasStaticShape() && !part.steps.empty();
  return isPart && isFoldable(part) && !part.sum ? std::optional(part)
                                                 : std::nullopt;
}

/// Makes an operation of its own of a part of the reader, which reads the
/// result of that instead.
static linalg::GenericOp separate(IRRewriter &rewriter, const Scaling &part) {
  linalg::GenericOp reader = part.reader;
  Location loc = reader.getLoc();
  auto type = cast<RankedTensorType>(reader->getResult(0).getType());
  SmallVector<unsigned> numbers = {part.input};
  llvm::append_range(numbers, part.inputs);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (unsigned number : numbers) {
    OpOperand *input = reader.getDpsInputOperand(number);
    inputs.push_back(input->get());
    maps.push_back(reader.getMatchingIndexingMap(input));
  }
  maps.push_back(reader.getMatchingIndexingMap(reader.getDpsInitOperand(0)));
  rewriter.setInsertionPoint(reader);
  Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                        type.getElementType());
  auto separated = linalg::GenericOp::create(
      rewriter, loc, type, inputs, empty, maps, reader.getIteratorTypesArray(),
      [&](OpBuilder &nested, Location, ValueRange arguments) {
        IRMapping values;
        for (auto [number, argument] : llvm::zip(numbers, arguments))
          values.map(reader.getBlock()->getArgument(number), argument);
        for (Operation *op : part.others)
          nested.clone(*op, values);
        for (Operation *step : part.steps)
          nested.clone(*step, values);
        linalg::YieldOp::create(nested, loc, values.lookup(part.getResult()));
      });
  rewriter.modifyOpInPlace(reader, [&] {
    reader.getDpsInputOperand(part.input)->set(separated.getResult(0));
  });
  rewriter.replaceAllUsesWith(part.getResult(), part.getX());
  for (Operation *step : llvm::reverse(part.steps))
    rewriter.eraseOp(step);
  return separated;
}

/// Where the reader adds two contractions' results, each of which is scaled,
/// separates the first one's part, which is the addend of the other one then.
/// Null if it doesn't.
static linalg::GenericOp splitSum(IRRewriter &rewriter,
                                  linalg::GenericOp reader) {
  SmallVector<Scaling, 2> scalings;
  for (OpOperand *operand : reader.getDpsInputOperands())
    if (std::optional<Scaling> scaling = follow(reader, *operand))
      scalings.push_back(*scaling);
  for (const Scaling &first : scalings)
    for (const Scaling &second : scalings) {
      if (!first.contract->isBeforeInBlock(second.contract))
        continue;
      auto sum = llvm::find_if(first.steps, [&](Operation *step) {
        return llvm::is_contained(second.steps, step);
      });
      if (sum == first.steps.end() || !isa<arith::AddFOp>(*sum) ||
          !matchPart(second, *sum))
        continue;
      if (std::optional<Scaling> part = matchPart(first, *sum))
        return separate(rewriter, *part);
    }
  return {};
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

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
    if (step != scaling.sum)
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
  AffineMap toBias = AffineMap::get(contract.getMap(2).getNumDims(), 0,
                                    scaling.role, rewriter.getContext());
  Value inputs[] = {contract.getLhs(), contract.getRhs()}, bias;
  if (scaling.hasScale()) {
    linalg::GenericOp both = makeScaleAndShift(rewriter, scaling);
    inputs[scaling.scaled] = scaleInput(rewriter, scaling, both.getResult(0));
    bias = both.getResult(1);
  } else {
    unsigned input = *getBiasInput(scaling);
    bias = linalg::GenericOp(scaling.reader).getInputs()[input];
    toBias = getRoleMap(scaling, input)->compose(toBias);
  }
  scaling.replace(rewriter, inputs[0], inputs[1], bias, toBias,
                  scaling.epilogue.activation);
  return true;
}

namespace {

struct FoldScales : public tofu::impl::FoldScalesBase<FoldScales> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> readers;
    getOperation()->walk([&](linalg::GenericOp op) { readers.push_back(op); });
    IRRewriter rewriter(&getContext());
    auto foldReader = [&](linalg::GenericOp reader) {
      if (std::optional<Scaling> scaling = matchScaling(reader))
        numFolded += fold(rewriter, *scaling);
    };
    for (linalg::GenericOp reader : readers) {
      if (linalg::GenericOp part = splitSum(rewriter, reader))
        foldReader(part);
      foldReader(reader);
    }
  }
};

} // namespace
