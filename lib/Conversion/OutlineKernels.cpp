//===- OutlineKernels.cpp - One function for each distinct loop nest ------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's time grows faster than the size of a function, and programs repeat
// their layers: a training step of a thousand operations has some hundred
// distinct ones. Arguments of a function can also say that they don't alias,
// which the vectorizer would otherwise check at run time.
//
//===----------------------------------------------------------------------===//

#include "BufferLifetimes.h"
#include "RowGroups.h"
#include "Tofu/Conversion/Passes.h"
#include "Tofu/Dialect/Tofu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

namespace {

/// Operations that become one kernel: a linalg operation, perhaps after the
/// fill of its output, or several over the same rows.
struct Group {
  SmallVector<Operation *, 2> ops;
  /// Of several over the same rows, those of the first one; otherwise empty.
  SmallVector<int64_t> rowLoops;
  /// Memory that only they use, and reshapes of buffers that they see, in
  /// order.
  SmallVector<Operation *> views;

  Operation *getLast() const { return ops.back(); }
};

} // namespace

/// True if `op` reads as its initial value just what `fill` wrote, so that one
/// loop nest can do both.
static bool completes(linalg::FillOp fill, linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return init.get() == fill.getOutputs()[0] &&
           op.payloadUsesValueFromOperand(&init);
  });
}

/// True if an operation between the two may touch the memory of `buffer`.
static bool isTouchedBetween(const BufferLifetimes &lifetimes, Value buffer,
                             Operation *from, Operation *to) {
  SmallVector<Value, 1> roots = lifetimes.getRoots(buffer);
  for (Operation *op = from->getNextNode(); op != to; op = op->getNextNode()) {
    WalkResult result = op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (isa<BaseMemRefType>(operand.getType()) &&
            llvm::any_of(lifetimes.getRoots(operand), [&](Value root) {
              return llvm::is_contained(roots, root);
            }))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return true;
  }
  return false;
}

/// True if different roots of this kind are different memory: allocations,
/// constants and the arguments of an entry point, but not what comes from an
/// enclosing block or a caller.
static bool isDistinct(Value root) {
  auto arg = dyn_cast<BlockArgument>(root);
  if (!arg)
    return isa<memref::AllocOp, memref::GetGlobalOp>(root.getDefiningOp());
  auto function = dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp());
  return function && function.isPublic() && arg.getOwner()->isEntryBlock();
}

//===----------------------------------------------------------------------===//
// Operations over the same rows
//===----------------------------------------------------------------------===//

namespace {

/// Which operations of a block on buffers may be done together.
class BufferSurroundings : public RowSurroundings {
public:
  BufferSurroundings(const BufferLifetimes &lifetimes, Block &block)
      : lifetimes(lifetimes), block(block) {}

  bool separates(const RowGroup &group, Operation &op) override {
    // Memory is freed after the group, then.
    if (isa<memref::AllocOp, memref::DeallocOp>(op))
      return false;
    if (!canPassRows(op))
      return true;
    return !isMemoryEffectFree(&op) && conflicts(group, op, /*asMember=*/false);
  }

  bool fits(const RowGroup &group, linalg::LinalgOp op,
            SmallVectorImpl<linalg::FillOp> &fills) override {
    if (!op.hasPureBufferSemantics() ||
        conflicts(group, *op, /*asMember=*/true))
      return false;
    for (OpOperand &init : op.getDpsInitsMutable())
      fills.push_back(findFill(op, init));
    return true;
  }

private:
  /// The fill that an output of `op` starts from, if it can be done right
  /// before.
  linalg::FillOp findFill(linalg::LinalgOp op, OpOperand &init) {
    linalg::FillOp last;
    for (Operation *user : init.get().getUsers()) {
      auto fill = dyn_cast<linalg::FillOp>(user);
      if (fill && fill->getBlock() == &block && completes(fill, op) &&
          op.payloadUsesValueFromOperand(&init) && fill->isBeforeInBlock(op) &&
          (!last || last->isBeforeInBlock(fill)))
        last = fill;
    }
    return last && !isTouchedBetween(lifetimes, init.get(), last, op)
               ? last
               : linalg::FillOp();
  }

  static bool mayWrite(Operation &op, Value buffer) {
    auto destination = dyn_cast<DestinationStyleOpInterface>(op);
    return !destination ||
           llvm::is_contained(destination.getDpsInits(), buffer);
  }

  /// True if the order of the group and of `op` matters, as far as this can be
  /// told from which memory they use. A member may use the group's buffers, but
  /// not other parts of their memory.
  bool conflicts(const RowGroup &group, Operation &op, bool asMember) {
    SetVector<Value> used(op.operand_begin(), op.operand_end());
    getUsedValuesDefinedAbove(op.getRegions(), used);
    for (Value buffer : used) {
      if (!isa<BaseMemRefType>(buffer.getType()))
        continue;
      Value slot = skipUnitReshapes(buffer);
      for (auto &[other, use] : group.getSlots())
        if (!(asMember && other == slot) &&
            (use.isWritten || mayWrite(op, buffer)) && mayBeSame(other, slot))
          return true;
    }
    return false;
  }

  bool mayBeSame(Value a, Value b) {
    for (Value first : lifetimes.getRoots(a))
      for (Value second : lifetimes.getRoots(b))
        if (first == second || !areApart(first, second))
          return true;
    return false;
  }

  /// What is allocated in the block isn't what came from outside.
  bool areApart(Value a, Value b) {
    return isAllocatedHere(a) || isAllocatedHere(b) ||
           (isDistinct(a) && isDistinct(b));
  }

  bool isAllocatedHere(Value root) {
    Operation *op = root.getDefiningOp();
    return isa_and_nonnull<memref::AllocOp>(op) && op->getBlock() == &block;
  }

  const BufferLifetimes &lifetimes;
  Block &block;
};

} // namespace

/// Adds what `value` is a reshape of, up to `slot`, and the reshapes.
static void addViews(Value value, Value slot, SetVector<Operation *> &views) {
  if (value == slot)
    return;
  Operation *view = value.getDefiningOp();
  addViews(view->getOperand(0), slot, views);
  views.insert(view);
}

/// True if `ops`, reshapes and deallocations are all that use `value`.
static bool isUsedOnlyBy(Value value, ArrayRef<Operation *> ops) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (llvm::is_contained(ops, user) || isa<memref::DeallocOp>(user))
      return true;
    return user->getNumResults() == 1 &&
           isa<MemRefType>(user->getResult(0).getType()) &&
           skipUnitReshapes(user->getResult(0)) == skipUnitReshapes(value) &&
           isUsedOnlyBy(user->getResult(0), ops);
  });
}

static Group makeGroup(const RowGroup &rows) {
  Group group;
  for (const RowMember &member : rows.getMembers()) {
    for (linalg::FillOp fill : member.fills)
      if (fill && !llvm::is_contained(group.ops, fill.getOperation()))
        group.ops.push_back(fill);
    group.ops.push_back(member.op);
  }
  llvm::append_range(group.rowLoops, rows.getMembers().front().rowLoops);
  SetVector<Operation *> views;
  Block *block = group.getLast()->getBlock();
  for (auto &[slot, use] : rows.getSlots()) {
    auto alloc = slot.getDefiningOp<memref::AllocOp>();
    if (alloc && use.isMadePerRow && alloc->getBlock() == block &&
        isUsedOnlyBy(slot, group.ops))
      views.insert(alloc);
  }
  for (Operation *op : group.ops)
    for (Value operand : op->getOperands())
      if (isa<MemRefType>(operand.getType()))
        addViews(operand, skipUnitReshapes(operand), views);
  group.views = views.takeVector();
  return group;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// The linalg operations of a block in groups, in order; without those among
/// `taken`.
static SmallVector<Group> collectGroups(const BufferLifetimes &lifetimes,
                                        Block &block,
                                        const DenseSet<Operation *> &taken) {
  SmallVector<Group> groups;
  for (Operation &op : block) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || !linalgOp.hasPureBufferSemantics() || taken.contains(&op))
      continue;
    auto fill = groups.empty() || groups.back().ops.size() > 1
                    ? linalg::FillOp()
                    : dyn_cast<linalg::FillOp>(groups.back().ops.front());
    if (fill && completes(fill, linalgOp) &&
        !isTouchedBetween(lifetimes, fill.getOutputs()[0], fill, &op))
      groups.back().ops.push_back(&op);
    else
      groups.push_back({{&op}, {}, {}});
  }
  return groups;
}

/// Constants are made anew in the kernel; all other values become arguments.
static bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isa<arith::ConstantOp>(op);
}

/// The values that the group uses, once each.
static SetVector<Value> collectValues(const Group &group) {
  SetVector<Value> values;
  for (Operation *op : llvm::concat<Operation *const>(group.views, group.ops)) {
    values.insert(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), values);
  }
  values.remove_if([&](Value value) {
    return llvm::is_contained(group.views, value.getDefiningOp());
  });
  return values;
}

static bool canFail(const Group &group) {
  return llvm::any_of(group.ops, [](Operation *op) {
    return op->walk([](cf::AssertOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  });
}

/// True if a bare pointer says all about the buffer.
static bool isStatic(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return !isa<BaseMemRefType>(type);
  int64_t offset;
  SmallVector<int64_t> strides;
  return memref.hasStaticShape() &&
         succeeded(memref.getStridesAndOffset(strides, offset)) &&
         ShapedType::isStatic(offset) && ShapedType::isStaticShape(strides);
}

namespace {

struct OutlineKernels : public tofu::impl::OutlineKernelsBase<OutlineKernels> {
  using OutlineKernelsBase::OutlineKernelsBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      function->walk([&](Block *block) {
        if (!isa<linalg::LinalgOp>(block->getParentOp()))
          outlineBlock(symbols, *block);
      });
  }

private:
  void outlineBlock(SymbolTable &symbols, Block &block) {
    BufferLifetimes lifetimes(block);
    SmallVector<Group> groups;
    DenseSet<Operation *> taken;
    BufferSurroundings surroundings(lifetimes, block);
    if (rows)
      for (const RowGroup &found :
           findRowGroups(block, reassociate, surroundings)) {
        groups.push_back(makeGroup(found));
        taken.insert(groups.back().ops.begin(), groups.back().ops.end());
        ++numRowKernels;
      }
    llvm::append_range(groups, collectGroups(lifetimes, block, taken));
    for (const Group &group : groups)
      outline(symbols, lifetimes, group);
  }

  void outline(SymbolTable &symbols, const BufferLifetimes &lifetimes,
               const Group &group) {
    SmallVector<Value> arguments, constants;
    for (Value value : collectValues(group))
      (isConstant(value) ? constants : arguments).push_back(value);
    func::FuncOp kernel = build(group, arguments, constants);
    markArguments(kernel, lifetimes, arguments);

    std::string text;
    llvm::raw_string_ostream os(text);
    kernel->print(os, OpPrintingFlags().useLocalScope().assumeVerified());
    // The message of a failed assertion names the place in the program.
    if (canFail(group))
      group.getLast()->getLoc().print(os);
    auto [it, isNew] = kernels.try_emplace(text, kernel);
    if (isNew) {
      symbols.insert(kernel);
      ++numKernels;
    } else {
      kernel->erase();
      ++numShared;
    }
    OpBuilder builder(group.getLast());
    auto call = func::CallOp::create(builder, group.getLast()->getLoc(),
                                     it->second, arguments);
    if (!group.rowLoops.empty())
      moveDeallocs(lifetimes, group, call);
    for (Operation *op : llvm::reverse(group.ops))
      op->erase();
    for (Operation *view : llvm::reverse(group.views))
      eraseUnused(view);
  }

  /// All operations of the group now come where the last one was, before what
  /// they use is freed.
  static void moveDeallocs(const BufferLifetimes &lifetimes, const Group &group,
                           Operation *call) {
    SetVector<Value> values;
    for (Operation *op : group.ops) {
      values.insert(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), values);
    }
    DenseSet<Value> used;
    for (Value value : values)
      if (isa<BaseMemRefType>(value.getType()))
        for (Value root : lifetimes.getRoots(value))
          used.insert(root);
    SmallVector<Operation *> deallocs;
    for (Operation *op = group.ops.front(); op != call; op = op->getNextNode())
      if (auto dealloc = dyn_cast<memref::DeallocOp>(op))
        if (llvm::any_of(lifetimes.getRoots(dealloc.getMemref()),
                         [&](Value root) { return used.contains(root); }))
          deallocs.push_back(op);
    for (Operation *dealloc : llvm::reverse(deallocs))
      dealloc->moveAfter(call);
  }

  /// Erases a view or memory that nothing uses but its deallocation.
  static void eraseUnused(Operation *view) {
    if (!llvm::all_of(view->getUsers(), llvm::IsaPred<memref::DeallocOp>))
      return;
    for (Operation *user : llvm::make_early_inc_range(view->getUsers()))
      user->erase();
    view->erase();
  }

  func::FuncOp build(const Group &group, ArrayRef<Value> arguments,
                     ArrayRef<Value> constants) {
    OpBuilder builder(&getContext());
    Location loc = group.getLast()->getLoc();
    auto type = builder.getFunctionType(ValueRange(arguments).getTypes(), {});
    auto kernel = func::FuncOp::create(builder, loc, "kernel", type);
    kernel.setPrivate();
    builder.setInsertionPointToStart(kernel.addEntryBlock());
    IRMapping mapping;
    mapping.map(arguments, kernel.getArguments());
    for (Value constant : constants)
      builder.clone(*constant.getDefiningOp(), mapping);
    for (Operation *op : llvm::concat<Operation *const>(group.views, group.ops))
      builder.clone(*op, mapping);
    func::ReturnOp::create(builder, loc);
    if (!group.rowLoops.empty())
      kernel->setAttr(TofuDialect::kRowLoops,
                      builder.getDenseI64ArrayAttr(group.rowLoops));
    return kernel;
  }

  /// Says of each buffer that no other argument is part of the same memory, if
  /// that is known, and keeps the kernel a function of its own.
  void markArguments(func::FuncOp kernel, const BufferLifetimes &lifetimes,
                     ArrayRef<Value> arguments) {
    // Memory of unknown origin may be any of the others.
    DenseMap<Value, unsigned> users;
    bool areKnown = true;
    for (Value argument : arguments)
      if (isa<BaseMemRefType>(argument.getType()))
        for (Value root : lifetimes.getRoots(argument)) {
          ++users[root];
          areKnown &= isDistinct(root);
        }
    Builder builder(&getContext());
    for (auto [i, argument] : llvm::enumerate(arguments)) {
      if (!isa<BaseMemRefType>(argument.getType()))
        continue;
      bool isAlone =
          llvm::all_of(lifetimes.getRoots(argument),
                       [&](Value root) { return users.lookup(root) == 1; });
      if (areKnown && isAlone)
        kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                          builder.getUnitAttr());
    }
    kernel->setAttr(
        "llvm.linkage",
        LLVM::LinkageAttr::get(&getContext(), LLVM::Linkage::Internal));
    kernel->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
    if (llvm::all_of(kernel.getArgumentTypes(), isStatic))
      kernel->setAttr("llvm.bareptr", builder.getUnitAttr());
  }

  llvm::StringMap<func::FuncOp> kernels;
};

} // namespace
