//===- LowerRowsToGpu.cpp - Several operations on rows as one kernel ------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Several threads of a block have a row and do one operation after the other:
// reductions as in other kernels, each operation on a row's elements as a loop,
// and what has one value per row all of them alike. Such values stay in
// registers. What is kept in memory is seen by the other threads of the row
// after a barrier; other blocks never look at it.
//
// Where neighbouring threads have neighbouring elements, each has as many of
// them at a time as an access takes together.
//
//===----------------------------------------------------------------------===//

#include "GpuKernels.h"
#include "NestEmitter.h"
#include "RowGroups.h"
#include "ThreadPlan.h"
#include "Tofu/Dialect/Tofu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::tofu;

/// True if the buffer stands for values that are never written to memory.
static bool isInRegisters(Value slot) {
  return isa_and_nonnull<memref::AllocOp>(slot.getDefiningOp());
}

/// True if the threads of a row combine their shares of `op` as registers.
static bool shuffles(linalg::LinalgOp op, const RowPlan &plan) {
  return plan.sharersAreNeighbours && canShuffleShares(op);
}

/// How many places in memory of the block `op` needs, of each type.
static int64_t countSharedMemory(linalg::LinalgOp op, const RowPlan &plan) {
  bool isOneWarp = plan.threadsPerRow <= kWarpSize;
  return shuffles(op, plan) && isOneWarp ? 0 : op.getNumDpsInits();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

/// The loops over a row's elements, of which a thread has `width` neighbours
/// along the last one at a time.
struct InnerLoops {
  SmallVector<unsigned> groups;
  int64_t width = 1;
};

/// Emits the body of the kernel.
class RowEmitter {
public:
  /// `mapping` has what is in the kernel for all that the operations use;
  /// `sizes` those of the loops of each. `shared` is memory of the block for
  /// each output of those that reduce.
  RowEmitter(OpBuilder &builder, const RowGroup &group, IRMapping &mapping,
             ArrayRef<SmallVector<OpFoldResult>> sizes,
             ArrayRef<BlockArgument> shared, bool reassociate)
      : builder(builder), loc(builder.getUnknownLoc()), group(group),
        plan(group.plan()), mapping(mapping), sizes(sizes), shared(shared),
        reassociate(reassociate) {}

  void emit();

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  int64_t getRowsPerBlock() const { return kBlockSize / plan.threadsPerRow; }
  int64_t getStep() const {
    return plan.sharersAreNeighbours ? 1 : getRowsPerBlock();
  }
  NestPlan planNest(const RowMember &member, linalg::LinalgOp op,
                    unsigned &numRowGroups);
  void placeThread(Value numRows);
  void emitMember(const RowMember &member, ArrayRef<OpFoldResult> sizes);
  Value getInitial(const RowMember &member, NestEmitter &nest, unsigned output);
  SmallVector<Value> getInitials(const RowMember &member, NestEmitter &nest);
  void takeValues(const RowMember &member, linalg::LinalgOp op);
  int64_t planWidth(const RowMember &member, linalg::LinalgOp op,
                    const NestPlan &nest);
  scf::ForOp emitLoop(NestEmitter &nest, const InnerLoops &inner,
                      ValueRange initial);
  SmallVector<Value> emitReduction(const RowMember &member, linalg::LinalgOp op,
                                   NestEmitter &nest, const InnerLoops &inner);
  SmallVector<Value> emitShare(linalg::LinalgOp op, NestEmitter &nest,
                               const InnerLoops &inner);
  SmallVector<Value> combineShares(linalg::LinalgOp op,
                                   ArrayRef<Operation *> combiners,
                                   ArrayRef<Value> shares);
  void emitElements(const RowMember &member, NestEmitter &nest,
                    const InnerLoops &inner);
  void storeValues(const RowMember &member, NestEmitter &nest,
                   ArrayRef<Value> results);
  void waitForReads(ArrayRef<Value> slots);
  SmallVector<Value> waitForWrites(const RowMember &member);
  void wait();
  void forgetAccesses() {
    read.clear();
    written.clear();
  }

  OpBuilder &builder;
  Location loc;
  const RowGroup &group;
  RowPlan plan;
  IRMapping &mapping;
  ArrayRef<SmallVector<OpFoldResult>> sizes;
  ArrayRef<BlockArgument> shared;
  bool reassociate;
  /// The thread, among those of its row; the row, 0 if there is none for it.
  Value thread, sharer, row, inside;
  /// Values that the threads of a row have, by slots.
  DenseMap<Value, Value> values;
  /// What threads have accessed in memory since the last barrier.
  DenseSet<Value> read, written;
};

} // namespace

/// Slots that an operation reads from memory, as inputs or to add to.
static SmallVector<Value> getSlotsRead(const RowMember &member) {
  SetVector<Value> read;
  linalg::LinalgOp op = member.op;
  for (OpOperand *input : op.getDpsInputOperands())
    read.insert(input->get());
  for (auto [init, fill] : llvm::zip_equal(op.getDpsInits(), member.fills))
    if (!fill)
      read.insert(init);
  getUsedValuesDefinedAbove(op->getRegions(), read);
  SmallVector<Value> slots;
  for (Value value : read)
    if (isa<MemRefType>(value.getType()))
      slots.push_back(skipUnitReshapes(value));
  return slots;
}

static SmallVector<Value> getSlotsWritten(const RowMember &member) {
  linalg::LinalgOp op = member.op;
  return llvm::map_to_vector(op.getDpsInits(), skipUnitReshapes);
}

void RowEmitter::wait() {
  if (plan.threadsPerRow > 1)
    gpu::BarrierOp::create(builder, loc);
  forgetAccesses();
}

/// Waits until no thread of the row needs any more what is in `slots`.
void RowEmitter::waitForReads(ArrayRef<Value> slots) {
  if (llvm::any_of(slots, [&](Value slot) {
        return read.contains(slot) || written.contains(slot);
      }))
    wait();
}

/// Waits for what other threads of the row have written that `member` reads;
/// returns all that it reads from memory.
SmallVector<Value> RowEmitter::waitForWrites(const RowMember &member) {
  SmallVector<Value> slots = getSlotsRead(member);
  llvm::erase_if(slots, [&](Value slot) { return values.contains(slot); });
  if (llvm::any_of(slots, [&](Value slot) { return written.contains(slot); }))
    wait();
  return slots;
}

void RowEmitter::emit() {
  Value numRows = constant(1);
  const RowMember &first = group.getMembers().front();
  for (unsigned loop : first.rowLoops)
    numRows = builder.createOrFold<arith::MulIOp>(
        loc, numRows,
        getValueOrCreateConstantIndexOp(builder, loc, sizes.front()[loop]));
  placeThread(numRows);
  for (auto [member, memberSizes] : llvm::zip_equal(group.getMembers(), sizes))
    emitMember(member, memberSizes);
}

/// Threads without a row go along, for the barriers: they look at row 0, and
/// have none of its elements.
void RowEmitter::placeThread(Value numRows) {
  Value block =
      gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x).getResult();
  thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x).getResult();
  Value divisor = constant(plan.sharersAreNeighbours ? plan.threadsPerRow
                                                     : getRowsPerBlock());
  Value quotient = arith::DivUIOp::create(builder, loc, thread, divisor);
  Value remainder = arith::RemUIOp::create(builder, loc, thread, divisor);
  auto [inBlock, inRow] = plan.sharersAreNeighbours
                              ? std::pair(quotient, remainder)
                              : std::pair(remainder, quotient);
  sharer = inRow;
  Value firstRow =
      arith::MulIOp::create(builder, loc, block, constant(getRowsPerBlock()));
  row = arith::AddIOp::create(builder, loc, firstRow, inBlock);
  inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, row,
                                 numRows);
  row = arith::SelectOp::create(builder, loc, inside, row, constant(0));
}

/// The loops over rows in the order of the plan, then the others.
NestPlan RowEmitter::planNest(const RowMember &member, linalg::LinalgOp op,
                              unsigned &numRowGroups) {
  SmallVector<unsigned> rows, inner = member.innerLoops;
  for (unsigned dim : plan.dims)
    rows.push_back(member.rowLoops[dim]);
  arrangeForNeighbours(op, inner);
  NestPlan nest;
  nest.groups = collapseLoops(op, rows);
  numRowGroups = nest.groups.size();
  llvm::append_range(nest.groups, collapseLoops(op, inner));
  if (member.reduces)
    nest.numAccumulating = nest.groups.size() - numRowGroups;
  return nest;
}

/// As many neighbours as leave none of the row's threads without any. Where few
/// threads have a row it is a line of the cache or less, which the first access
/// brings: larger ones would only take registers.
int64_t RowEmitter::planWidth(const RowMember &member, linalg::LinalgOp op,
                              const NestPlan &nest) {
  constexpr int64_t kLeastSharers = 8;
  if (!plan.sharersAreNeighbours || plan.threadsPerRow < kLeastSharers ||
      member.innerLoops.empty())
    return 1;
  int64_t width = chooseWidth(op, nest.groups.back());
  std::optional<int64_t> length = getKnownProduct(op, member.innerLoops);
  while (width > 1 && (!length || width * plan.threadsPerRow > *length))
    width /= 2;
  return width;
}

void RowEmitter::emitMember(const RowMember &member,
                            ArrayRef<OpFoldResult> memberSizes) {
  loc = member.op->getLoc();
  SmallVector<Value> own = waitForWrites(member);
  // What threads read of an element that they write themselves is no reason to
  // wait, unless it is the row's.
  if (!member.hasValuePerRow())
    waitForReads(getSlotsWritten(member));
  read.insert(own.begin(), own.end());
  auto op = cast<linalg::LinalgOp>(builder.clone(*member.op, mapping));
  builder.setInsertionPoint(op);
  unsigned numRowGroups = 0;
  NestPlan nestPlan = planNest(member, op, numRowGroups);
  takeValues(member, op);
  InnerLoops inner;
  inner.width = planWidth(member, op, nestPlan);
  if (inner.width > 1)
    assumeAlignment(builder, op, nestPlan.groups.back().back(), inner.width);
  NestEmitter nest(builder, op, {}, nestPlan, memberSizes, reassociate);
  SmallVector<unsigned> rowGroups;
  for (unsigned i = 0; i < nestPlan.groups.size(); ++i)
    (i < numRowGroups ? rowGroups : inner.groups).push_back(i);
  nest.setIterations(row, rowGroups);
  if (member.reduces)
    storeValues(member, nest, emitReduction(member, op, nest, inner));
  else if (member.innerLoops.empty())
    storeValues(member, nest, nest.emitBody(getInitials(member, nest)));
  else
    emitElements(member, nest, inner);
  builder.setInsertionPointAfter(op);
  op->erase();
}

/// Inputs that are in registers become scalars of the body.
void RowEmitter::takeValues(const RowMember &member, linalg::LinalgOp op) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    OpOperand &original = member.op->getOpOperand(input->getOperandNumber());
    if (Value value = values.lookup(skipUnitReshapes(original.get())))
      input->set(value);
  }
}

/// What an output starts from. Fills are nowhere else.
Value RowEmitter::getInitial(const RowMember &member, NestEmitter &nest,
                             unsigned output) {
  if (linalg::FillOp fill = member.fills[output])
    return mapping.lookupOrDefault(fill.getInputs()[0]);
  linalg::LinalgOp op = member.op;
  read.insert(skipUnitReshapes(op.getDpsInits()[output]));
  return nest.getInitial(output);
}

/// The same of all outputs; null for those that the body doesn't look at.
SmallVector<Value> RowEmitter::getInitials(const RowMember &member,
                                           NestEmitter &nest) {
  linalg::LinalgOp op = member.op;
  SmallVector<Value> initials;
  for (auto [output, init] : llvm::enumerate(op.getDpsInitsMutable()))
    initials.push_back(op.payloadUsesValueFromOperand(&init)
                           ? getInitial(member, nest, output)
                           : Value());
  return initials;
}

/// Emits the loop over a thread's elements. In it they begin with the present
/// iteration.
scf::ForOp RowEmitter::emitLoop(NestEmitter &nest, const InnerLoops &inner,
                                ValueRange initial) {
  Value length = arith::SelectOp::create(
      builder, loc, inside, nest.getProduct(inner.groups), nest.getZero());
  Value first = sharer;
  if (inner.width > 1)
    first = arith::MulIOp::create(builder, loc, first, constant(inner.width),
                                  arith::IntegerOverflowFlags::nsw);
  auto loop =
      scf::ForOp::create(builder, loc, first, length,
                         constant(plan.threadsPerRow * inner.width), initial);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  nest.setIterations(loop.getInductionVar(), inner.groups);
  return loop;
}

SmallVector<Value> RowEmitter::emitShare(linalg::LinalgOp op, NestEmitter &nest,
                                         const InnerLoops &inner) {
  SmallVector<Value> neutral;
  for (Operation *combiner : getFreeCombiners(op))
    neutral.push_back(createNeutralShare(builder, loc, combiner));
  scf::ForOp loop = emitLoop(nest, inner, neutral);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(builder, loc,
                       nest.accumulateNeighbours(inner.groups.back(),
                                                 inner.width,
                                                 loop.getRegionIterArgs()));
  for (unsigned group : inner.groups)
    nest.setIteration(group, nest.getZero());
  return loop.getResults();
}

/// Combines what the threads of a row have; all of them get it.
SmallVector<Value> RowEmitter::combineShares(linalg::LinalgOp op,
                                             ArrayRef<Operation *> combiners,
                                             ArrayRef<Value> shares) {
  ArrayRef<BlockArgument> memory =
      shared.take_front(countSharedMemory(op, plan));
  shared = shared.drop_front(memory.size());
  SharingThread sharing = {thread, sharer, getStep()};
  if (shuffles(op, plan)) {
    SmallVector<Value> results = shuffleShares(
        builder, op, combiners, shares, memory, sharing, plan.threadsPerRow);
    // The barrier was one for all memory.
    if (!memory.empty())
      forgetAccesses();
    return results;
  }
  for (auto [share, places] : llvm::zip_equal(shares, memory))
    memref::StoreOp::create(builder, loc, share, places, thread);
  tofu::combineShares(builder, op, combiners, memory, sharing,
                      plan.threadsPerRow);
  wait();
  Value first = arith::SubIOp::create(
      builder, loc, thread,
      arith::MulIOp::create(builder, loc, sharer, constant(getStep())));
  return llvm::map_to_vector(memory, [&](Value places) -> Value {
    return memref::LoadOp::create(builder, loc, places, first);
  });
}

/// Emits a reduction, whose results all threads of the row have.
SmallVector<Value> RowEmitter::emitReduction(const RowMember &member,
                                             linalg::LinalgOp op,
                                             NestEmitter &nest,
                                             const InnerLoops &inner) {
  SmallVector<Value> results = emitShare(op, nest, inner);
  SmallVector<Operation *> combiners = getFreeCombiners(op);
  if (plan.threadsPerRow > 1)
    results = combineShares(op, combiners, results);
  for (auto [i, result] : llvm::enumerate(results))
    result = cloneCombiner(builder, op, combiners[i], i,
                           getInitial(member, nest, i), result);
  return results;
}

/// Emits an operation on the elements of the row.
void RowEmitter::emitElements(const RowMember &member, NestEmitter &nest,
                              const InnerLoops &inner) {
  for (Value slot : getSlotsWritten(member))
    written.insert(slot);
  scf::ForOp loop = emitLoop(nest, inner, {});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  nest.emitNeighbours(inner.groups.back(), inner.width,
                      [&] { return getInitials(member, nest); });
}

/// Keeps values of the row, and lets its first thread write them.
void RowEmitter::storeValues(const RowMember &member, NestEmitter &nest,
                             ArrayRef<Value> results) {
  SmallVector<Value> slots = getSlotsWritten(member), inMemory;
  llvm::copy_if(slots, std::back_inserter(inMemory),
                [](Value slot) { return !isInRegisters(slot); });
  waitForReads(inMemory);
  for (auto [slot, result] : llvm::zip_equal(slots, results))
    values[slot] = result;
  if (inMemory.empty())
    return;
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        sharer, nest.getZero());
  Value stores = arith::AndIOp::create(builder, loc, isFirst, inside);
  auto branch = scf::IfOp::create(builder, loc, stores, /*hasElse=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  for (auto [i, slot] : llvm::enumerate(slots))
    if (!isInRegisters(slot))
      nest.storeOutput(i, results[i]);
  written.insert(inMemory.begin(), inMemory.end());
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

namespace {

/// Puts the launch of a kernel in the place of a function's operations.
class RowLauncher {
public:
  RowLauncher(func::FuncOp function, bool reassociate)
      : function(function), reassociate(reassociate), loc(function.getLoc()),
        host(function.getContext()) {}

  LogicalResult launch(SymbolTable &symbols);

private:
  std::optional<RowGroup> collectGroup();
  OpFoldResult getSize(linalg::LinalgOp op, unsigned loop);
  void collectSizes(const RowGroup &group);
  void collectArguments();
  SmallVector<Type> getSharedTypes(const RowGroup &group);
  void buildKernel(gpu::GPUFuncOp kernel, const RowGroup &group);
  Value getNumBlocks(const RowGroup &group);

  func::FuncOp function;
  bool reassociate;
  Location loc;
  OpBuilder host;
  /// All operations but the return and constants, in order.
  SmallVector<Operation *> ops;
  SmallVector<SmallVector<OpFoldResult>> sizes;
  SetVector<Value> arguments, constants;
};

} // namespace

static bool addFirst(RowGroup &group, linalg::LinalgOp op,
                     ArrayRef<int64_t> loops, ArrayRef<linalg::FillOp> fills) {
  SmallVector<unsigned> rows;
  for (int64_t loop : loops) {
    if (loop < 0 || loop >= op.getNumLoops())
      return false;
    rows.push_back(loop);
  }
  return group.addFirst(op, rows, fills);
}

/// The group that the function is; nothing if it is none.
std::optional<RowGroup> RowLauncher::collectGroup() {
  auto loops =
      function->getAttrOfType<DenseI64ArrayAttr>(TofuDialect::kRowLoops);
  RowGroup group(loops.size(), reassociate);
  SmallVector<linalg::FillOp> pending;
  for (Operation &op : function.front().without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    ops.push_back(&op);
    if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      pending.push_back(fill);
      continue;
    }
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp) {
      if (!isa<memref::AllocOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(
              op))
        return std::nullopt;
      continue;
    }
    if (!linalgOp.hasPureBufferSemantics())
      return std::nullopt;
    SmallVector<linalg::FillOp> fills;
    for (Value init : linalgOp.getDpsInits()) {
      auto it = llvm::find_if(pending, [&](linalg::FillOp fill) {
        return fill.getOutputs()[0] == init;
      });
      fills.push_back(it == pending.end() ? linalg::FillOp() : *it);
    }
    pending.clear();
    bool added = group.getMembers().empty()
                     ? addFirst(group, linalgOp, loops.asArrayRef(), fills)
                     : group.add(linalgOp, fills);
    if (!added)
      return std::nullopt;
  }
  return group.getMembers().empty() ? std::nullopt
                                    : std::optional(std::move(group));
}

/// The size of a loop by what its dims index. What is in registers has no sizes
/// of its own: those it would be allocated with are what folding gives.
OpFoldResult RowLauncher::getSize(linalg::LinalgOp op, unsigned loop) {
  int64_t known = op.getStaticLoopRanges()[loop];
  if (ShapedType::isStatic(known))
    return host.getIndexAttr(known);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      if (expr != host.getAffineDimExpr(loop))
        continue;
      Value slot = skipUnitReshapes(operand.get());
      // The dims that aren't of size 1 are in the same order.
      auto countDims = [](ArrayRef<int64_t> shape) {
        return llvm::count_if(shape, [](int64_t size) { return size != 1; });
      };
      int64_t number = countDims(type.getShape().take_front(dim));
      ArrayRef<int64_t> shape = cast<MemRefType>(slot.getType()).getShape();
      int64_t at = 0;
      while (shape[at] == 1 || countDims(shape.take_front(at)) != number)
        ++at;
      return host.createOrFold<memref::DimOp>(loc, slot, at);
    }
  }
  llvm_unreachable("a loop that no dim has");
}

void RowLauncher::collectSizes(const RowGroup &group) {
  for (const RowMember &member : group.getMembers()) {
    linalg::LinalgOp op = member.op;
    SmallVector<OpFoldResult> &loops = sizes.emplace_back();
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      loops.push_back(getSize(op, loop));
  }
}

void RowLauncher::collectArguments() {
  SetVector<Value> values;
  for (Operation *op : ops) {
    values.insert(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), values);
  }
  for (ArrayRef<OpFoldResult> loops : sizes)
    for (OpFoldResult size : loops)
      if (auto value = dyn_cast<Value>(size))
        values.insert(value);
  for (Value value : values)
    if (!llvm::is_contained(ops, value.getDefiningOp()))
      (isConstantInKernel(value) ? constants : arguments).insert(value);
}

SmallVector<Type> RowLauncher::getSharedTypes(const RowGroup &group) {
  SmallVector<Type> types;
  RowPlan plan = group.plan();
  if (plan.threadsPerRow == 1)
    return types;
  for (RowMember member : group.getMembers())
    if (member.reduces && countSharedMemory(member.op, plan))
      for (BlockArgument arg : member.op.getRegionOutputArgs())
        types.push_back(
            getSharedType(arg.getType(), shuffles(member.op, plan)));
  return types;
}

/// Erases what only `value`'s dead users keep.
static void eraseDeadUsers(Value value) {
  for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
    for (Value result : user->getResults())
      eraseDeadUsers(result);
    if (user->use_empty() && isMemoryEffectFree(user))
      user->erase();
  }
}

void RowLauncher::buildKernel(gpu::GPUFuncOp kernel, const RowGroup &group) {
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  IRMapping mapping;
  mapping.map(arguments.getArrayRef(),
              kernel.getBody().getArguments().take_front(arguments.size()));
  SmallVector<Operation *> inRegisters;
  for (Value constant : constants)
    builder.clone(*constant.getDefiningOp(), mapping);
  for (Operation *op : ops) {
    if (isa<linalg::LinalgOp>(op))
      continue;
    Operation *copy = builder.clone(*op, mapping);
    if (isInRegisters(op->getResult(0)))
      inRegisters.push_back(copy);
  }
  SmallVector<SmallVector<OpFoldResult>> kernelSizes = sizes;
  for (SmallVector<OpFoldResult> &loops : kernelSizes)
    for (OpFoldResult &size : loops)
      if (auto value = dyn_cast<Value>(size))
        size = mapping.lookup(value);
  RowEmitter(builder, group, mapping, kernelSizes,
             kernel.getWorkgroupAttributions(), reassociate)
      .emit();
  gpu::ReturnOp::create(builder, loc);
  for (Operation *alloc : inRegisters) {
    eraseDeadUsers(alloc->getResult(0));
    alloc->erase();
  }
}

Value RowLauncher::getNumBlocks(const RowGroup &group) {
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(host, loc, value);
  };
  int64_t perBlock = kBlockSize / group.plan().threadsPerRow;
  Value rows = constant(1);
  for (unsigned loop : group.getMembers().front().rowLoops)
    rows = host.createOrFold<arith::MulIOp>(
        loc, rows,
        getValueOrCreateConstantIndexOp(host, loc, sizes.front()[loop]));
  Value roundedUp =
      host.createOrFold<arith::AddIOp>(loc, rows, constant(perBlock - 1));
  return host.createOrFold<arith::DivUIOp>(loc, roundedUp, constant(perBlock));
}

LogicalResult RowLauncher::launch(SymbolTable &symbols) {
  std::optional<RowGroup> group = collectGroup();
  if (!group)
    return function.emitOpError()
           << "has " << TofuDialect::kRowLoops
           << ", but its operations can't be done row by row";
  loc = group->getMembers().back().op->getLoc();
  host.setInsertionPoint(function.front().getTerminator());
  collectSizes(*group);
  collectArguments();
  gpu::GPUFuncOp kernel =
      createKernel(loc, symbols, function.getName(), arguments.getArrayRef(),
                   getSharedTypes(*group));
  buildKernel(kernel, *group);
  createLaunch(host, loc, kernel, getNumBlocks(*group),
               arguments.getArrayRef());
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  function->removeAttr(TofuDialect::kRowLoops);
  return success();
}

LogicalResult tofu::lowerRows(func::FuncOp function, SymbolTable &symbols,
                              bool reassociate) {
  return RowLauncher(function, reassociate).launch(symbols);
}
