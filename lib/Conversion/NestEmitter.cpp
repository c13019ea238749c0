//===- NestEmitter.cpp - Loops, loads and stores of one operation ---------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NestEmitter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::tofu;

NestPlan tofu::planLoops(linalg::LinalgOp op, ArrayRef<unsigned> order) {
  NestPlan plan;
  plan.groups = collapseLoops(op, order);
  unsigned loops = countAccumulatingLoops(op, order);
  while (plan.numAccumulating < plan.groups.size()) {
    size_t size =
        plan.groups[plan.groups.size() - 1 - plan.numAccumulating].size();
    if (size > loops)
      break;
    loops -= size;
    ++plan.numAccumulating;
  }
  return plan;
}

bool tofu::visitsOutputsOnce(linalg::LinalgOp op, const NestPlan &plan) {
  if (!plan.numAccumulating)
    return false;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (ArrayRef<unsigned> group :
       ArrayRef(plan.groups).drop_back(plan.numAccumulating))
    for (unsigned loop : group)
      for (OpOperand &init : op.getDpsInitsMutable())
        if (!op.getMatchingIndexingMap(&init).isFunctionOfDim(loop) &&
            sizes[loop] != 1)
          return false;
  return true;
}

linalg::FillOp tofu::getStart(linalg::LinalgOp first, linalg::LinalgOp second) {
  auto fill = dyn_cast<linalg::FillOp>(first.getOperation());
  if (!fill || fill->getNextNode() != second.getOperation())
    return {};
  for (OpOperand &init : second.getDpsInitsMutable())
    if (init.get() == fill.getOutputs()[0] &&
        second.payloadUsesValueFromOperand(&init))
      return fill;
  return {};
}

/// The buffer with its booleans as bytes, which is how memory has them; LLVM
/// doesn't vectorize accesses of i1.
static Value viewAsBytes(OpBuilder &builder, Location loc, Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || !type.getElementType().isInteger(1))
    return buffer;
  auto bytes = MemRefType::Builder(type).setElementType(builder.getI8Type());
  return UnrealizedConversionCastOp::create(
             builder, loc, TypeRange(MemRefType(bytes)), buffer)
      .getResult(0);
}

/// Keeps LLVM from unrolling the loop.
static void keepRolled(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true),
                                          {}, {}, {}, {}, {}, {});
  auto annotation = LLVM::LoopAnnotationAttr::get(
      context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
  loop->setAttr("loop_annotation", annotation);
}

NestEmitter::NestEmitter(OpBuilder &builder, linalg::LinalgOp op,
                         linalg::FillOp fill, NestPlan plan,
                         ArrayRef<OpFoldResult> sizes, bool reassociate)
    : builder(builder), loc(op.getLoc()), op(op), fill(fill),
      plan(std::move(plan)), sizes(sizes), reassociate(reassociate),
      combiners(getFreeCombiners(op)) {
  zero = arith::ConstantIndexOp::create(builder, loc, 0);
  one = arith::ConstantIndexOp::create(builder, loc, 1);
  ivs.assign(op.getNumLoops(), zero);
  firsts = ivs;
  more.assign(op.getNumLoops(), 0);
  for (ArrayRef<unsigned> group : this->plan.groups) {
    Value bound =
        getValueOrCreateConstantIndexOp(builder, loc, sizes[group.front()]);
    for (unsigned loop : group.drop_front())
      bound = builder.createOrFold<arith::MulIOp>(
          loc, bound,
          getValueOrCreateConstantIndexOp(builder, loc, sizes[loop]));
    bounds.push_back(bound);
  }
  for (OpOperand &operand : op->getOpOperands())
    accesses.push_back(makeAccess(operand));
}

void NestEmitter::setIteration(unsigned group, Value first, int64_t more) {
  unsigned loop = plan.groups[group].back();
  firsts[loop] = first;
  this->more[loop] = more;
  ivs[loop] = more == 0
                  ? first
                  : arith::AddIOp::create(
                        builder, loc, first,
                        arith::ConstantIndexOp::create(builder, loc, more),
                        arith::IntegerOverflowFlags::nsw)
                        .getResult();
}

void NestEmitter::setIterations(Value number, ArrayRef<unsigned> groups) {
  SmallVector<unsigned> varying;
  for (unsigned group : groups)
    if (getConstantIntValue(bounds[group]) != 1)
      varying.push_back(group);
  for (auto [i, group] : llvm::enumerate(llvm::reverse(varying))) {
    if (i + 1 == varying.size()) {
      setIteration(group, number);
      break;
    }
    setIteration(group,
                 arith::RemUIOp::create(builder, loc, number, bounds[group]));
    number = arith::DivUIOp::create(builder, loc, number, bounds[group]);
  }
}

Value NestEmitter::getProduct(ArrayRef<unsigned> groups) {
  Value product = one;
  for (unsigned group : groups)
    product = builder.createOrFold<arith::MulIOp>(loc, product, bounds[group]);
  return product;
}

NestEmitter::Access NestEmitter::makeAccess(OpOperand &operand) {
  Access access{&operand, viewAsBytes(builder, loc, operand.get()), {}, false};
  if (!isa<MemRefType>(access.buffer.getType()))
    return access;
  access.strides = getLoopStrides(op, &operand);
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (ShapedType::isStaticShape(access.strides))
    if (Value flat = makeFlat(access.buffer, map, access.strides)) {
      access.buffer = flat;
      access.isFlat = true;
    }
  return access;
}

/// The memory from the buffer's first element on as one dim; null if the map
/// does not start there.
Value NestEmitter::makeFlat(Value buffer, AffineMap map,
                            const Strides &strides) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> origin(map.getNumDims(), 0);
  if (llvm::any_of(map.compose(origin), [](int64_t i) { return i != 0; }))
    return {};
  int64_t offset;
  SmallVector<int64_t> memoryStrides;
  if (llvm::any_of(strides, [](int64_t stride) { return stride < 0; }) ||
      failed(type.getStridesAndOffset(memoryStrides, offset)) ||
      ShapedType::isDynamic(offset))
    return {};
  OpFoldResult size = getSpan(strides);
  auto layout = StridedLayoutAttr::get(builder.getContext(), offset, {1});
  auto flat = MemRefType::get(
      {getConstantIntValue(size).value_or(ShapedType::kDynamic)},
      type.getElementType(), layout, type.getMemorySpace());
  return memref::ReinterpretCastOp::create(builder, loc, flat, buffer,
                                           builder.getIndexAttr(offset), {size},
                                           {builder.getIndexAttr(1)});
}

/// Number of elements from the first to the last that the loops touch.
OpFoldResult NestEmitter::getSpan(const Strides &strides) {
  AffineExpr span = builder.getAffineConstantExpr(1);
  for (auto [symbol, stride] : llvm::enumerate(strides))
    span = span + (builder.getAffineSymbolExpr(symbol) - 1) * stride;
  return affine::makeComposedFoldedAffineApply(
      builder, loc, AffineMap::get(0, sizes.size(), span), sizes);
}

SmallVector<Value> NestEmitter::getIndices(Access &access) {
  if (access.isFlat) {
    Value sum;
    auto add = [&](Value term) {
      sum = sum ? arith::AddIOp::create(builder, loc, sum, term,
                                        arith::IntegerOverflowFlags::nsw)
                      .getResult()
                : term;
    };
    int64_t constant = 0;
    for (auto [stride, first, more] :
         llvm::zip(access.strides, firsts, this->more)) {
      constant += stride * more;
      if (stride == 0 || first == zero)
        continue;
      Value term = first;
      if (stride != 1)
        term = arith::MulIOp::create(
            builder, loc, first,
            arith::ConstantIndexOp::create(builder, loc, stride),
            arith::IntegerOverflowFlags::nsw);
      add(term);
    }
    if (constant != 0)
      add(arith::ConstantIndexOp::create(builder, loc, constant));
    return {sum ? sum : zero};
  }
  SmallVector<Value> indices;
  AffineMap map = op.getMatchingIndexingMap(access.operand);
  for (AffineExpr expr : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      indices.push_back(ivs[dim.getPosition()]);
    else
      indices.push_back(getValueOrCreateConstantIndexOp(
          builder, loc,
          affine::makeComposedFoldedAffineApply(
              builder, loc, AffineMap::get(map.getNumDims(), 0, expr),
              getAsOpFoldResult(ivs))));
  }
  return indices;
}

Value NestEmitter::load(Access &access) {
  if (!isa<MemRefType>(access.buffer.getType()))
    return access.operand->get();
  Value value =
      memref::LoadOp::create(builder, loc, access.buffer, getIndices(access));
  if (access.buffer.getType() != access.operand->get().getType() &&
      getElementTypeOrSelf(access.operand->get()).isInteger(1))
    value = arith::TruncIOp::create(builder, loc, builder.getI1Type(), value);
  return value;
}

void NestEmitter::store(Access &access, Value value) {
  if (value.getType().isInteger(1))
    value = arith::ExtUIOp::create(builder, loc, builder.getI8Type(), value);
  memref::StoreOp::create(builder, loc, value, access.buffer,
                          getIndices(access));
}

Value NestEmitter::getInitial(unsigned output) {
  OpOperand *init = op.getDpsInitOperand(output);
  if (fill && fill.getOutputs()[0] == init->get())
    return fill.getInputs()[0];
  return load(accesses[op.getNumDpsInputs() + output]);
}

SmallVector<Value> NestEmitter::getInitials() {
  SmallVector<Value> initials;
  for (int64_t output = 0; output < op.getNumDpsInits(); ++output) {
    bool isRead =
        op.payloadUsesValueFromOperand(op.getDpsInitOperand(output)) ||
        plan.numAccumulating;
    initials.push_back(isRead ? getInitial(output) : Value());
  }
  return initials;
}

void NestEmitter::storeOutput(unsigned output, Value value) {
  store(accesses[op.getNumDpsInputs() + output], value);
}

void NestEmitter::emitLoops(unsigned group) {
  if (group < plan.groups.size() && !plan.isAccumulating(group)) {
    auto loop = scf::ForOp::create(builder, loc, zero, bounds[group], one);
    limitUnrolling(loop, group);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    setIteration(group, loop.getInductionVar());
    emitLoops(group + 1);
    return;
  }
  SmallVector<Value> initial = getInitials();
  SmallVector<Value> results = plan.numAccumulating
                                   ? emitAccumulation(group, initial)
                                   : emitBody(initial);
  for (auto [output, result] : llvm::enumerate(results))
    storeOutput(output, result);
}

/// What `load` gives in each of the iterations.
SmallVector<SmallVector<Value>>
NestEmitter::loadNeighbours(unsigned group, int64_t number,
                            llvm::function_ref<SmallVector<Value>()> load) {
  Value first = getIteration(group);
  SmallVector<SmallVector<Value>> values;
  for (int64_t i = 0; i < number; ++i) {
    setIteration(group, first, i);
    values.push_back(load());
  }
  setIteration(group, first);
  return values;
}

void NestEmitter::emitNeighbours(
    unsigned group, int64_t number,
    llvm::function_ref<SmallVector<Value>()> getInitials) {
  auto inputs = loadNeighbours(group, number, [&] { return loadInputs(); });
  auto initials = loadNeighbours(group, number, getInitials);
  Value first = getIteration(group);
  SmallVector<SmallVector<Value>> results;
  for (int64_t i = 0; i < number; ++i) {
    setIteration(group, first, i);
    results.push_back(emitBody(initials[i], inputs[i]));
  }
  for (auto [i, yielded] : llvm::enumerate(results)) {
    setIteration(group, first, i);
    for (auto [output, value] : llvm::enumerate(yielded))
      storeOutput(output, value);
  }
}

SmallVector<Value> NestEmitter::accumulateNeighbours(unsigned group,
                                                     int64_t number,
                                                     ValueRange accumulators) {
  auto inputs = loadNeighbours(group, number, [&] { return loadInputs(); });
  Value first = getIteration(group);
  SmallVector<Value> values(accumulators);
  for (int64_t i = 0; i < number; ++i) {
    setIteration(group, first, i);
    values = emitBody(values, inputs[i]);
  }
  return values;
}

/// Nests of short loops would be unrolled to blocks of thousands of
/// instructions, on which LLVM takes seconds.
void NestEmitter::limitUnrolling(scf::ForOp loop, unsigned group) {
  constexpr int64_t kShort = 64;
  std::optional<int64_t> size = getConstantIntValue(bounds[group]);
  if (group + 1 < plan.groups.size() || (size && *size < kShort))
    keepRolled(loop);
}

/// Emits the innermost loops, which hand the values of the outputs on.
SmallVector<Value> NestEmitter::emitAccumulation(unsigned group,
                                                 ValueRange accumulators) {
  if (group == plan.groups.size())
    return emitBody(accumulators);
  auto loop =
      scf::ForOp::create(builder, loc, zero, bounds[group], one, accumulators);
  limitUnrolling(loop, group);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  setIteration(group, loop.getInductionVar());
  SmallVector<Value> next =
      emitAccumulation(group + 1, loop.getRegionIterArgs());
  // A loop that hands nothing on has its yield already.
  if (!next.empty())
    scf::YieldOp::create(builder, loc, next);
  // The outputs are stored outside of the loop, at the same place.
  setIteration(group, zero);
  return loop.getResults();
}

SmallVector<Value> NestEmitter::loadInputs() {
  SmallVector<Value> inputs;
  for (OpOperand *input : op.getDpsInputOperands()) {
    bool isUsed = !op.getMatchingBlockArgument(input).use_empty();
    inputs.push_back(isUsed ? load(accesses[input->getOperandNumber()])
                            : Value());
  }
  return inputs;
}

SmallVector<Value> NestEmitter::emitBody(ValueRange accumulators,
                                         ArrayRef<Value> inputs) {
  IRMapping mapping;
  Block *body = op.getBlock();
  for (auto [arg, value] : llvm::zip_equal(op.getRegionInputArgs(), inputs))
    if (value)
      mapping.map(arg, value);
  for (auto [arg, value] : llvm::zip(op.getRegionOutputArgs(), accumulators))
    if (value)
      mapping.map(arg, value);
  cloneBody(mapping);
  return llvm::map_to_vector(
      body->getTerminator()->getOperands(),
      [&](Value yielded) { return mapping.lookupOrDefault(yielded); });
}

/// Lets a sum be computed in several lanes, and its products be fused with it.
static void allowReassociation(Operation *combiner) {
  auto sum = dyn_cast<arith::ArithFastMathInterface>(combiner);
  if (!sum)
    return;
  auto flags = arith::FastMathFlagsAttr::get(
      combiner->getContext(),
      arith::FastMathFlags::reassoc | arith::FastMathFlags::contract);
  combiner->setAttr(sum.getFastMathAttrName(), flags);
  for (Value operand : combiner->getOperands())
    if (auto product = operand.getDefiningOp<arith::MulFOp>())
      product.setFastmathAttr(arith::FastMathFlagsAttr::get(
          combiner->getContext(), arith::FastMathFlags::contract));
}

void NestEmitter::cloneBody(IRMapping &mapping) {
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(index.getResult(), ivs[index.getDim()]);
      continue;
    }
    Operation *copy = builder.clone(inner, mapping);
    if (reassociate && plan.numAccumulating &&
        llvm::is_contained(combiners, &inner) &&
        isa<arith::AddFOp, arith::MulFOp>(inner))
      allowReassociation(copy);
    copy->walk([&](linalg::IndexOp index) {
      index.replaceAllUsesWith(ivs[index.getDim()]);
      index.erase();
    });
  }
}
