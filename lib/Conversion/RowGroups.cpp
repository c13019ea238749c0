//===- RowGroups.cpp - Operations that one kernel does row by row ---------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowGroups.h"

#include "GuardAssertions.h"
#include "RuntimeCalls.h"
#include "ThreadPlan.h"
#include "Tofu/Dialect/BufferOps.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> getSizesButOne(Value value) {
  SmallVector<int64_t> sizes;
  for (int64_t size : cast<ShapedType>(value.getType()).getShape())
    if (size != 1)
      sizes.push_back(size);
  return sizes;
}

/// What `value` is a reshape of that only adds or drops dims of size 1; null if
/// it is none.
static Value getReshaped(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                       memref::ExpandShapeOp, memref::CollapseShapeOp>(op))
    return {};
  Value source = op->getOperand(0);
  return getSizesButOne(source) == getSizesButOne(value) ? source : Value();
}

Value tofu::skipUnitReshapes(Value value) {
  while (Value source = getReshaped(value))
    value = source;
  return value;
}

/// The operations that use `value` or a view of it, as skipUnitReshapes has it.
static void getUsersOfViews(Value value, SmallVectorImpl<Operation *> &users) {
  for (Operation *user : value.getUsers())
    if (user->getNumResults() == 1 && getReshaped(user->getResult(0)))
      getUsersOfViews(user->getResult(0), users);
    else
      users.push_back(user);
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

namespace {

/// A tensor or buffer that an operation uses.
struct Use {
  Value slot;
  /// The loop that indexes each dim that isn't of size 1.
  SmallVector<unsigned> loops;
  /// False if an index is something else.
  bool isPlain = true;
  bool reads = false, writes = false;
};

} // namespace

static Use getUse(linalg::LinalgOp op, OpOperand &operand) {
  Use use;
  use.slot = skipUnitReshapes(operand.get());
  auto type = cast<ShapedType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [size, expr] : llvm::zip_equal(type.getShape(), map.getResults())) {
    if (size == 1)
      continue;
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      use.loops.push_back(dim.getPosition());
    else
      use.isPlain = false;
  }
  return use;
}

/// All that `member` uses; what its body captures as well.
static SmallVector<Use> getUses(const RowMember &member) {
  linalg::LinalgOp op = member.op;
  SmallVector<Use> uses;
  for (OpOperand *input : op.getDpsInputOperands())
    if (isa<ShapedType>(input->get().getType())) {
      uses.push_back(getUse(op, *input));
      uses.back().reads = true;
    }
  for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    Use use = getUse(op, init);
    bool startsFromFill = i < member.fills.size() && member.fills[i];
    use.reads = op.payloadUsesValueFromOperand(&init) && !startsFromFill;
    if (!op.hasPureTensorSemantics()) {
      use.writes = true;
      uses.push_back(use);
      continue;
    }
    if (use.reads)
      uses.push_back(use);
    use.slot = op->getResult(i);
    use.reads = false;
    use.writes = true;
    uses.push_back(use);
  }
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    if (isa<ShapedType>(value.getType())) {
      Use use;
      use.slot = skipUnitReshapes(value);
      use.isPlain = false;
      use.reads = true;
      uses.push_back(use);
    }
  return uses;
}

/// RowSlot::dims of a use.
static SmallVector<int> getRowDims(const Use &use, const RowMember &member) {
  SmallVector<int> dims;
  for (unsigned loop : use.loops) {
    auto it = llvm::find(member.rowLoops, loop);
    dims.push_back(it == member.rowLoops.end() ? -1
                                               : it - member.rowLoops.begin());
  }
  return dims;
}

/// True if different rows use different elements.
static bool isByRow(const Use &use, ArrayRef<int> dims, unsigned numRowDims) {
  if (!use.isPlain)
    return false;
  return llvm::all_of(llvm::seq<int>(0, numRowDims),
                      [&](int dim) { return llvm::is_contained(dims, dim); });
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

/// Not yet known.
static constexpr unsigned kNoLoop = -1;

/// Finds the loops that `use` has where `slot` has dims of the rows. Fails if
/// they contradict those that are known.
static bool matchRows(const Use &use, const RowSlot &slot, RowMember &member) {
  if (!slot.isByRow || !use.isPlain || use.loops.size() != slot.dims.size())
    return false;
  SmallVector<unsigned> rowLoops = member.rowLoops;
  for (auto [loop, dim] : llvm::zip_equal(use.loops, slot.dims)) {
    if (dim < 0)
      continue;
    if (rowLoops[dim] != kNoLoop && rowLoops[dim] != loop)
      return false;
    rowLoops[dim] = loop;
  }
  member.rowLoops = rowLoops;
  return true;
}

/// Finds the member's loops over the dims of the rows by what it uses of that
/// which the group uses. Where one of the two writes, both must do so by row.
bool RowGroup::findRowLoops(RowMember &member) const {
  SmallVector<Use> uses = getUses(member);
  for (const Use &use : uses) {
    auto it = slots.find(use.slot);
    if (it != slots.end() && (it->second.isWritten || use.writes) &&
        !matchRows(use, it->second, member))
      return false;
  }
  for (const Use &use : uses) {
    auto it = slots.find(use.slot);
    if (it != slots.end() && llvm::is_contained(member.rowLoops, kNoLoop))
      matchRows(use, it->second, member);
  }
  return !llvm::is_contained(member.rowLoops, kNoLoop);
}

static SmallVector<unsigned> getSorted(ArrayRef<unsigned> loops) {
  SmallVector<unsigned> sorted(loops);
  llvm::sort(sorted);
  return sorted;
}

/// Finds the member's other loops. Fails if threads can't share them.
bool RowGroup::classify(RowMember &member) const {
  linalg::LinalgOp op = member.op;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<unsigned> rows = getSorted(member.rowLoops);
  if (llvm::adjacent_find(rows) != rows.end())
    return false;
  unsigned numReductions = 0;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    bool isParallel = iterators[loop] == utils::IteratorType::parallel;
    if (llvm::is_contained(rows, loop)) {
      if (!isParallel)
        return false;
      continue;
    }
    if (sizes[loop] == 1)
      continue;
    member.innerLoops.push_back(loop);
    numReductions += !isParallel;
  }
  member.reduces = numReductions != 0;
  if (numReductions != 0 && (numReductions != member.innerLoops.size() ||
                             !canShareReductions(op, reassociate)))
    return false;
  SmallVector<unsigned> written = rows;
  if (!member.reduces)
    llvm::append_range(written, member.innerLoops);
  return llvm::all_of(getUses(member), [&](const Use &use) {
    return !use.writes ||
           (use.isPlain && getSorted(use.loops) == getSorted(written));
  });
}

/// Bytes of a block's memory that the reductions of a group take.
static int64_t getSharedBytes(ArrayRef<RowMember> members) {
  int64_t bytes = 0;
  for (RowMember member : members)
    if (member.reduces)
      for (BlockArgument arg : member.op.getRegionOutputArgs())
        bytes += kBlockSize * getElementBytes(arg.getType());
  return bytes;
}

bool RowGroup::addMember(RowMember member) {
  // A block has 48 KiB if it asks for no more; several blocks share it.
  constexpr int64_t kMostShared = 16 << 10;
  constexpr size_t kMostMembers = 24;
  if (!classify(member))
    return false;
  SmallVector<Use> uses = getUses(member);
  for (const Use &use : uses) {
    auto it = slots.find(use.slot);
    if (it == slots.end() || !(it->second.isWritten || use.writes))
      continue;
    // What an output adds to is read from memory.
    if ((use.reads && use.writes && it->second.isWritten) ||
        !it->second.isByRow || getRowDims(use, member) != it->second.dims)
      return false;
  }
  members.push_back(member);
  if (members.size() > kMostMembers || getSharedBytes(members) > kMostShared) {
    members.pop_back();
    return false;
  }
  for (const Use &use : uses) {
    SmallVector<int> dims = getRowDims(use, member);
    auto [it, isNew] = slots.try_emplace(use.slot);
    RowSlot &slot = it->second;
    if (isNew) {
      slot.dims = dims;
      slot.isMadePerRow = use.writes && !use.reads && member.hasValuePerRow();
    }
    slot.isByRow &= dims == slot.dims && isByRow(use, dims, numRowDims);
    slot.isRead |= use.reads;
    slot.isWritten |= use.writes;
  }
  return true;
}

static bool canBeMember(linalg::LinalgOp op) {
  return !isa<linalg::FillOp>(op.getOperation()) && Assertions(op).empty() &&
         (op.hasPureTensorSemantics() || op.hasPureBufferSemantics());
}

bool RowGroup::add(linalg::LinalgOp op, ArrayRef<linalg::FillOp> fills) {
  if (!canBeMember(op))
    return false;
  RowMember member{op, SmallVector<linalg::FillOp>(fills), {}, {}};
  member.rowLoops.assign(numRowDims, kNoLoop);
  return findRowLoops(member) && addMember(std::move(member));
}

bool RowGroup::addFirst(linalg::LinalgOp op, ArrayRef<unsigned> rows,
                        ArrayRef<linalg::FillOp> fills) {
  if (!canBeMember(op))
    return false;
  return addMember({op,
                    SmallVector<linalg::FillOp>(fills),
                    SmallVector<unsigned>(rows),
                    {}});
}

//===----------------------------------------------------------------------===//
// How to begin
//===----------------------------------------------------------------------===//

/// The parallel loops of a reduction that can have a row of each point of them.
static SmallVector<unsigned> getRowsOfReduction(linalg::LinalgOp op,
                                                bool reassociate) {
  SmallVector<unsigned> rows;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (op.getNumReductionLoops() == 0 || !canBeMember(op) ||
      !canShareReductions(op, reassociate))
    return rows;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type == utils::IteratorType::parallel && sizes[loop] != 1)
      rows.push_back(loop);
  return rows;
}

/// The loops that make what is indexed by the loops `wanted` of `reduction`,
/// where it reads it.
static SmallVector<unsigned> getRowsOfProducer(const Use &made,
                                               linalg::LinalgOp reduction,
                                               ArrayRef<unsigned> wanted) {
  SmallVector<unsigned> rows;
  for (unsigned loop : wanted) {
    for (OpOperand *input : reduction.getDpsInputOperands()) {
      if (!isa<ShapedType>(input->get().getType()))
        continue;
      Use use = getUse(reduction, *input);
      auto it = llvm::find(use.loops, loop);
      if (use.slot != made.slot || !use.isPlain || it == use.loops.end())
        continue;
      rows.push_back(made.loops[it - use.loops.begin()]);
      break;
    }
  }
  return rows;
}

/// The next reduction of the block that reads what `made` is.
static linalg::LinalgOp findNextReduction(linalg::LinalgOp op,
                                          const Use &made) {
  SmallVector<Operation *> users;
  getUsersOfViews(made.slot, users);
  linalg::LinalgOp next;
  for (Operation *user : users) {
    auto reduction = dyn_cast<linalg::LinalgOp>(user);
    if (reduction && reduction.getNumReductionLoops() != 0 &&
        user->getBlock() == op->getBlock() && op->isBeforeInBlock(user) &&
        (!next || user->isBeforeInBlock(next)))
      next = reduction;
  }
  return next;
}

/// The loops of `op` that go over rows, if a group may begin with it: those of
/// a reduction that it is, or that reads what it makes. None otherwise.
static SmallVector<unsigned> findFirstRows(linalg::LinalgOp op,
                                           bool reassociate) {
  if (!canBeMember(op))
    return {};
  if (op.getNumReductionLoops() != 0)
    return getRowsOfReduction(op, reassociate);
  for (const Use &made : getUses({op, {}, {}, {}})) {
    linalg::LinalgOp next = made.writes && made.isPlain
                                ? findNextReduction(op, made)
                                : linalg::LinalgOp();
    if (!next)
      continue;
    SmallVector<unsigned> wanted = getRowsOfReduction(next, reassociate);
    SmallVector<unsigned> rows = getRowsOfProducer(made, next, wanted);
    if (rows.size() == wanted.size())
      return rows;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Whether it helps
//===----------------------------------------------------------------------===//

/// As in ThreadPlan.cpp, but by shapes: tensors have no strides yet, and both
/// must come to the same groups.
static int64_t getNeighbourCost(linalg::LinalgOp op, unsigned loop) {
  constexpr int64_t kStrided = 8;
  int64_t cost = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<ShapedType>(operand.get().getType()))
      continue;
    Use use = getUse(op, operand);
    if (llvm::is_contained(use.loops, loop))
      cost += use.loops.back() == loop ? 1 : kStrided;
  }
  return cost;
}

RowPlan RowGroup::plan() const {
  RowPlan plan;
  plan.length = 1;
  SmallVector<int64_t> rowCosts(numRowDims, 0);
  int64_t innerCost = 0;
  for (const RowMember &member : members) {
    if (!plan.numRows)
      plan.numRows = getKnownProduct(member.op, member.rowLoops);
    std::optional<int64_t> length =
        getKnownProduct(member.op, member.innerLoops);
    plan.length = length && plan.length
                      ? std::optional(std::max(*plan.length, *length))
                      : std::nullopt;
    if (member.innerLoops.empty())
      continue;
    for (auto [cost, loop] : llvm::zip_equal(rowCosts, member.rowLoops))
      cost += getNeighbourCost(member.op, loop);
    innerCost +=
        llvm::min_element(llvm::map_range(member.innerLoops, [&](unsigned
                                                                     loop) {
          return getNeighbourCost(member.op, loop);
        })).operator*();
  }
  unsigned best = 0;
  for (unsigned dim = 1; dim < numRowDims; ++dim)
    if (rowCosts[dim] <= rowCosts[best])
      best = dim;
  for (unsigned dim = 0; dim < numRowDims; ++dim)
    if (dim != best)
      plan.dims.push_back(dim);
  plan.dims.push_back(best);
  plan.sharersAreNeighbours = innerCost < rowCosts[best];
  plan.threadsPerRow =
      chooseSharers(plan.numRows, plan.length, plan.sharersAreNeighbours);
  return plan;
}

bool RowGroup::helps() const {
  // What a thread may have to do while others have nothing to do.
  constexpr int64_t kMostOfThread = 64;
  if (members.size() < 2 || llvm::none_of(members, [](const RowMember &member) {
        return member.reduces;
      }))
    return false;
  RowPlan plan = this->plan();
  return !plan.numRows || !plan.length ||
         *plan.numRows * plan.threadsPerRow >= kManyElements ||
         *plan.length <= kMostOfThread * plan.threadsPerRow;
}

//===----------------------------------------------------------------------===//
// Groups of a block
//===----------------------------------------------------------------------===//

namespace {

/// Goes through a block and collects groups, several at a time.
class RowScanner {
public:
  RowScanner(bool reassociate, RowSurroundings &surroundings)
      : reassociate(reassociate), surroundings(surroundings) {}

  SmallVector<RowGroup, 0> scan(Block &block) {
    for (Operation &op : block)
      visit(op);
    while (!open.empty())
      close(0);
    return std::move(groups);
  }

private:
  /// A group that may get further members.
  struct Open {
    RowGroup group;
    /// Operations since the last member.
    unsigned age = 0;
  };

  void visit(Operation &op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    std::optional<size_t> taker = linalgOp ? add(linalgOp) : std::nullopt;
    // Members are all done where the last one is: those of other groups before
    // what depends on them.
    for (size_t i = open.size(); i-- > 0;)
      if (i != taker && (++open[i].age > kOldest ||
                         surroundings.separates(open[i].group, op)))
        close(i);
    if (linalgOp && !taker)
      begin(linalgOp);
  }

  std::optional<size_t> add(linalg::LinalgOp op) {
    for (auto [i, each] : llvm::enumerate(open)) {
      SmallVector<linalg::FillOp> fills;
      if (surroundings.fits(each.group, op, fills) &&
          each.group.add(op, fills)) {
        each.age = 0;
        return i;
      }
    }
    return std::nullopt;
  }

  void begin(linalg::LinalgOp op) {
    SmallVector<unsigned> rows = findFirstRows(op, reassociate);
    if (rows.empty())
      return;
    SmallVector<linalg::FillOp> fills;
    RowGroup group(rows.size(), reassociate);
    if (!surroundings.fits(group, op, fills) ||
        !group.addFirst(op, rows, fills))
      return;
    if (open.size() == kMostOpen)
      close(0);
    open.push_back({std::move(group)});
  }

  void close(size_t i) {
    if (open[i].group.helps())
      groups.push_back(std::move(open[i].group));
    open.erase(open.begin() + i);
  }

  /// Members that wait for far ones keep memory that they read, and each
  /// operation is compared with all open groups.
  static constexpr unsigned kOldest = 32;
  static constexpr size_t kMostOpen = 4;

  bool reassociate;
  RowSurroundings &surroundings;
  SmallVector<Open, 0> open;
  SmallVector<RowGroup, 0> groups;
};

} // namespace

SmallVector<RowGroup, 0> tofu::findRowGroups(Block &block, bool reassociate,
                                             RowSurroundings &surroundings) {
  return RowScanner(reassociate, surroundings).scan(block);
}

bool tofu::canPassRows(Operation &op) {
  if (isa<linalg::LinalgOp, ContractOp>(op))
    return true;
  return op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
         !isa<TofuDialect>(op.getDialect());
}

namespace {

class TensorSurroundings : public RowSurroundings {
public:
  bool separates(const RowGroup &group, Operation &op) override {
    if (op.getNumResults() == 1 && isa<ShapedType>(op.getResult(0).getType()) &&
        getReshaped(op.getResult(0)))
      return false;
    SetVector<Value> used(op.operand_begin(), op.operand_end());
    getUsedValuesDefinedAbove(op.getRegions(), used);
    return !canPassRows(op) || llvm::any_of(used, [&](Value value) {
      if (!isa<RankedTensorType>(value.getType()))
        return false;
      auto it = group.getSlots().find(skipUnitReshapes(value));
      return it != group.getSlots().end() && it->second.isWritten;
    });
  }

  bool fits(const RowGroup &group, linalg::LinalgOp op,
            SmallVectorImpl<linalg::FillOp> &fills) override {
    return op.hasPureTensorSemantics();
  }
};

} // namespace

SmallVector<RowGroup, 0> tofu::findRowGroupsOnTensors(Block &block,
                                                      bool reassociate) {
  TensorSurroundings surroundings;
  return findRowGroups(block, reassociate, surroundings);
}
