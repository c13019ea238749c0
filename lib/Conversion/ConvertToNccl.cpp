//===- ConvertToNccl.cpp - Collectives on a stream of their own -----------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each block is scheduled on its own. Operations are numbered on each of the
// two streams, as a stream does one after the other: that a stream has waited
// for a number says all that the streams know of each other.
//
// Where a block begins, the compute stream has waited for all collectives, and
// the communication stream for nothing: not even for what came before.
//
//===----------------------------------------------------------------------===//

#include "BufferAccesses.h"
#include "CollectiveTables.h"
#include "RuntimeCalls.h"
#include "Tofu/Conversion/Passes.h"
#include "Tofu/Dialect/BufferOps.h"
#include "Tofu/Runtime/Runtime.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_CONVERTTONCCL
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

namespace {

/// Collectives that the runtime may do together.
using Group = SmallVector<CollectiveBufferOp, 1>;

/// What the pass counts.
struct Counts {
  int64_t even = 0, uneven = 0, groups = 0, events = 0;
};

/// Schedules one block.
class BlockScheduler {
public:
  /// `isFresh`: nothing is on the compute stream where the block begins.
  BlockScheduler(Block &block, bool isFresh, BufferAccesses &accesses,
                 RuntimeCalls &calls, Counts &counts)
      : block(block), function(getFunction(block)), accesses(accesses),
        calls(calls), counts(counts),
        builder(block.getParentOp()->getContext()),
        communicationSaw(isFresh ? kBlockStart : kNothing) {}

  LogicalResult schedule();

private:
  /// Numbers on the compute stream before the first operation's.
  static constexpr int64_t kNothing = -2, kBlockStart = -1;
  /// Of a collective that was never there.
  static constexpr int64_t kNone = -1;

  /// The last operation of a stream that has read, and written, some memory.
  struct Last {
    int64_t read, write;

    /// The last one that an access depends on.
    int64_t before(Access access) const {
      return access.writes ? std::max(read, write) : write;
    }
    void update(Access access, int64_t number) {
      if (access.reads)
        read = number;
      if (access.writes)
        write = number;
    }
  };

  static func::FuncOp getFunction(Block &block) {
    Operation *op = block.getParentOp();
    auto function = dyn_cast<func::FuncOp>(op);
    return function ? function : op->getParentOfType<func::FuncOp>();
  }

  void formGroups();
  bool canJoin(const Group &group, CollectiveBufferOp op);
  Accesses getAccesses(const Group &group);
  void visit(Operation *op);
  void visitHostCall(Operation *op);
  int64_t findCollective(const Accesses &accessed) const;
  bool defersFree(Operation *op, const Accesses &accessed);
  int64_t findProducer(const Accesses &accessed) const;
  void moveAllocations(const Group &group, const Accesses &accessed);
  LogicalResult issue(const Group &group);
  LogicalResult call(CollectiveBufferOp op);
  void waitForCollectives(int64_t last, Operation *before);
  void moveFrees(Operation *before);
  int64_t record(TofuStreamKind stream, Operation *after);
  void wait(TofuStreamKind stream, int64_t event, Operation *before);
  Value callRuntime(Location loc, StringRef name, TofuStreamKind stream,
                    ValueRange operands = {});

  Block &block;
  func::FuncOp function;
  BufferAccesses &accesses;
  RuntimeCalls &calls;
  Counts &counts;
  OpBuilder builder;

  llvm::MapVector<Operation *, Group> groups; ///< by first member
  DenseMap<Value, Last> onCompute, onCommunication;
  /// What each number stands for: records come after it.
  SmallVector<Operation *> computed, communicated;
  int64_t communicationSaw, computeSaw = kNone;
  /// Frees that have to come after collectives, and the last of these.
  SmallVector<std::pair<Operation *, int64_t>> frees;
};

} // namespace

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static void addCollective(CollectiveBufferOp op, BufferAccesses &classes,
                          Accesses &accesses) {
  accesses[classes.getClass(op.getSource())].reads = true;
  accesses[classes.getClass(op.getDest())].writes = true;
}

Accesses BlockScheduler::getAccesses(const Group &group) {
  Accesses result;
  for (CollectiveBufferOp op : group)
    addCollective(op, accesses, result);
  return result;
}

/// True if `op` depends on nothing in the group, nor the other way around.
bool BlockScheduler::canJoin(const Group &group, CollectiveBufferOp op) {
  Accesses before = getAccesses(group), its = getAccesses({op});
  return llvm::none_of(its, [&](auto &entry) {
    Access other = before.lookup(entry.first);
    return (entry.second.writes && other.reads) || other.writes;
  });
}

/// Puts neighbours into groups, with the frees between them after these and all
/// else before.
void BlockScheduler::formGroups() {
  Group group;
  SmallVector<Operation *> within;
  auto close = [&] {
    if (!group.empty())
      groups[group.front()] = group;
    group.clear();
    within.clear();
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<memref::DeallocOp>(op)) {
      within.push_back(&op);
      continue;
    }
    auto collective = dyn_cast<CollectiveBufferOp>(op);
    if (!collective) {
      bool isIdle = isa<memref::AllocOp, memref::GetGlobalOp>(op) ||
                    (isMemoryEffectFree(&op) && op.getNumRegions() == 0);
      if (!isIdle)
        close();
      continue;
    }
    if (!group.empty() && !canJoin(group, collective))
      close();
    if (group.empty())
      within.clear();
    for (CollectiveBufferOp member : group)
      member->moveBefore(collective);
    for (Operation *free : within)
      free->moveAfter(collective);
    group.push_back(collective);
  }
  close();
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

Value BlockScheduler::callRuntime(Location loc, StringRef name,
                                  TofuStreamKind stream, ValueRange operands) {
  SmallVector<Value> all = {calls.getStream(function, stream)};
  llvm::append_range(all, operands);
  return calls.call(builder, loc, name, {}, all);
}

/// Records a new event after an operation, or where the block begins.
int64_t BlockScheduler::record(TofuStreamKind stream, Operation *after) {
  // The stream itself is looked up where the function begins.
  Value handle = calls.getStream(function, stream);
  if (!after && handle.getParentBlock() == &block)
    after = handle.getDefiningOp();
  if (after)
    builder.setInsertionPointAfter(after);
  else
    builder.setInsertionPointToStart(&block);
  Location loc = after ? after->getLoc() : function.getLoc();
  int64_t event = counts.events++;
  callRuntime(loc, "tofuRecord", stream, calls.getWord(builder, loc, event));
  return event;
}

void BlockScheduler::wait(TofuStreamKind stream, int64_t event,
                          Operation *before) {
  builder.setInsertionPoint(before);
  Location loc = before->getLoc();
  callRuntime(loc, "tofuWait", stream, calls.getWord(builder, loc, event));
}

/// Lets the compute stream wait for collective number `last` and those before.
void BlockScheduler::waitForCollectives(int64_t last, Operation *before) {
  if (last <= computeSaw)
    return;
  int64_t event = record(TOFU_COMMUNICATION, communicated[last]);
  wait(TOFU_COMPUTE, event, before);
  computeSaw = last;
  moveFrees(before);
}

/// Frees what no collective needs any more.
void BlockScheduler::moveFrees(Operation *before) {
  llvm::erase_if(frees, [&](std::pair<Operation *, int64_t> free) {
    if (free.second > computeSaw)
      return false;
    free.first->moveBefore(before);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The last collective that the accesses depend on.
int64_t BlockScheduler::findCollective(const Accesses &accessed) const {
  int64_t last = kNone;
  for (auto &[memory, access] : accessed) {
    auto it = onCommunication.find(memory);
    if (it != onCommunication.end())
      last = std::max(last, it->second.before(access));
  }
  return last;
}

/// Frees wait for collectives: nothing should wait for the sake of a free.
bool BlockScheduler::defersFree(Operation *op, const Accesses &accessed) {
  if (!isa<memref::DeallocOp>(op))
    return false;
  int64_t last = findCollective(accessed);
  if (last <= computeSaw)
    return false;
  frees.push_back({op, last});
  return true;
}

/// A function of the user's has no stream: the runtime waits for all of them
/// before the call, and it has done its work when it returns.
void BlockScheduler::visitHostCall(Operation *op) {
  computeSaw = int64_t(communicated.size()) - 1;
  communicationSaw = int64_t(computed.size()) - 1;
  moveFrees(op->getNextNode());
}

/// An operation on the compute stream.
void BlockScheduler::visit(Operation *op) {
  if (isa<CallOp>(op))
    return visitHostCall(op);
  bool isJoin =
      op->hasTrait<OpTrait::IsTerminator>() || accesses.hasCollectives(op);
  if (isJoin)
    waitForCollectives(int64_t(communicated.size()) - 1, op);
  Accesses accessed = accesses.getAccesses(op);
  if (accessed.empty() || defersFree(op, accessed))
    return;
  waitForCollectives(findCollective(accessed), op);
  for (auto &[memory, access] : accessed) {
    auto [it, isNew] =
        onCompute.try_emplace(memory, Last{kBlockStart, kBlockStart});
    it->second.update(access, computed.size());
  }
  computed.push_back(op);
}

LogicalResult BlockScheduler::call(CollectiveBufferOp op) {
  builder.setInsertionPoint(op);
  FailureOr<SmallVector<int64_t>> table = makeCollectiveTable(op);
  if (failed(table))
    return failure();
  Value stream = calls.getStream(function, TOFU_COMMUNICATION);
  std::optional<SmallVector<int64_t>> even = makeEvenTable(op, *table);
  if (!even) {
    callCollective(calls, builder, op, stream, *table);
    ++counts.uneven;
    return success();
  }
  Location loc = op.getLoc();
  calls.call(builder, loc, "tofuEvenCollective", {},
             {stream, calls.getTable(builder, loc, *even),
              calls.getText(builder, loc, describeLocation(loc)),
              calls.getElement(builder, loc, op.getSource(), {}),
              calls.getElement(builder, loc, op.getDest(), {})});
  ++counts.even;
  return success();
}

/// The last operation on the compute stream that the accesses depend on.
int64_t BlockScheduler::findProducer(const Accesses &accessed) const {
  int64_t last = kNothing;
  for (auto &[memory, access] : accessed) {
    auto it = onCompute.find(memory);
    last = std::max(last, it == onCompute.end() ? kBlockStart
                                                : it->second.before(access));
  }
  return last;
}

/// Nothing should wait for an allocation: moves those of destinations up to
/// what the group has to wait for anyway.
void BlockScheduler::moveAllocations(const Group &group,
                                     const Accesses &accessed) {
  Accesses others = accessed;
  SmallVector<memref::AllocOp> allocations;
  for (CollectiveBufferOp op : group) {
    auto allocation = op.getDest().getDefiningOp<memref::AllocOp>();
    auto it = onCompute.find(accesses.getClass(op.getDest()));
    if (!allocation || it == onCompute.end() || it->second.write < 0 ||
        computed[it->second.write] != allocation ||
        it->second.read > it->second.write)
      continue;
    allocations.push_back(allocation);
    others.erase(it->first);
  }
  int64_t last = findProducer(others);
  if (last <= communicationSaw || last < 0)
    return;
  for (memref::AllocOp allocation : allocations) {
    Last &its = onCompute[accesses.getClass(allocation)];
    bool canMove = llvm::all_of(allocation.getOperands(), [&](Value size) {
      Operation *op = size.getDefiningOp();
      return !op || op->getBlock() != &block ||
             op->isBeforeInBlock(computed[last]);
    });
    if (its.write <= last || !canMove)
      continue;
    allocation->moveAfter(computed[last]);
    // So that it is before the record of that number.
    computed[last] = allocation;
    its.write = last;
  }
}

LogicalResult BlockScheduler::issue(const Group &group) {
  Accesses accessed = getAccesses(group);
  moveAllocations(group, accessed);
  int64_t needed = findProducer(accessed);
  Operation *first = group.front(), *last = group.back();
  if (needed > communicationSaw) {
    int64_t event = record(TOFU_COMPUTE,
                           needed == kBlockStart ? nullptr : computed[needed]);
    wait(TOFU_COMMUNICATION, event, first);
    communicationSaw = needed;
  }
  if (group.size() > 1) {
    builder.setInsertionPoint(first);
    callRuntime(first->getLoc(), "tofuGroupBegin", TOFU_COMMUNICATION);
    ++counts.groups;
  }
  for (CollectiveBufferOp op : group)
    if (failed(call(op)))
      return failure();
  // Stays while the block is scheduled: events come after it.
  builder.setInsertionPoint(last);
  if (group.size() > 1)
    callRuntime(last->getLoc(), "tofuGroupEnd", TOFU_COMMUNICATION);
  for (auto &[memory, access] : accessed) {
    auto [it, isNew] = onCommunication.try_emplace(memory, Last{kNone, kNone});
    it->second.update(access, communicated.size());
  }
  communicated.push_back(last);
  return success();
}

LogicalResult BlockScheduler::schedule() {
  formGroups();
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops) {
    auto group = groups.find(op);
    if (group != groups.end()) {
      if (failed(issue(group->second)))
        return failure();
    } else if (!isa<CollectiveBufferOp>(op)) {
      visit(op);
    }
  }
  for (auto &[first, group] : groups)
    for (CollectiveBufferOp op : group)
      op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct ConvertToNccl : public tofu::impl::ConvertToNcclBase<ConvertToNccl> {
  void runOnOperation() override {
    BufferAccesses accesses(getOperation());
    RuntimeCalls calls(getOperation());
    Counts counts;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (accesses.hasCollectives(function) &&
          failed(schedule(function, accesses, calls, counts)))
        return signalPassFailure();
    numEven += counts.even;
    numUneven += counts.uneven;
    numGroups += counts.groups;
    numEvents += counts.events;
  }

private:
  LogicalResult schedule(func::FuncOp function, BufferAccesses &accesses,
                         RuntimeCalls &calls, Counts &counts) {
    if (!function.getNumArguments() ||
        !isa<LLVM::LLVMPointerType>(function.getArgument(0).getType()))
      return function.emitOpError("has collectives, but no device context");
    // What runs before an entry point is done where it begins.
    bool isEntry = function.isPublic() &&
                   SymbolTable::symbolKnownUseEmpty(function, getOperation());
    SmallVector<Block *> blocks;
    // Outer ones first, while the inner ones' collectives are there.
    function.walk<WalkOrder::PreOrder>(
        [&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks) {
      bool isFresh = isEntry && block == &function.front();
      if (failed(BlockScheduler(*block, isFresh, accesses, calls, counts)
                     .schedule()))
        return failure();
    }
    return success();
  }
};

} // namespace
