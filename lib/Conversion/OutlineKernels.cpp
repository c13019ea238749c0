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
#include "Tofu/Conversion/Passes.h"

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

/// Operations that become one kernel: a linalg operation, perhaps after the
/// fill of its output.
using Group = SmallVector<Operation *, 2>;

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

/// The linalg operations of a block in groups, in order.
static SmallVector<Group> collectGroups(const BufferLifetimes &lifetimes,
                                        Block &block) {
  SmallVector<Group> groups;
  for (Operation &op : block) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || !linalgOp.hasPureBufferSemantics())
      continue;
    auto fill = groups.empty() || groups.back().size() > 1
                    ? linalg::FillOp()
                    : dyn_cast<linalg::FillOp>(groups.back().front());
    if (fill && completes(fill, linalgOp) &&
        !isTouchedBetween(lifetimes, fill.getOutputs()[0], fill, &op))
      groups.back().push_back(&op);
    else
      groups.push_back({&op});
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
  for (Operation *op : group) {
    values.insert(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), values);
  }
  return values;
}

static bool canFail(const Group &group) {
  return llvm::any_of(group, [](Operation *op) {
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
    for (const Group &group : collectGroups(lifetimes, block))
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
      group.back()->getLoc().print(os);
    auto [it, isNew] = kernels.try_emplace(text, kernel);
    if (isNew) {
      symbols.insert(kernel);
      ++numKernels;
    } else {
      kernel->erase();
      ++numShared;
    }
    OpBuilder builder(group.back());
    func::CallOp::create(builder, group.back()->getLoc(), it->second,
                         arguments);
    for (Operation *op : llvm::reverse(group))
      op->erase();
  }

  func::FuncOp build(const Group &group, ArrayRef<Value> arguments,
                     ArrayRef<Value> constants) {
    OpBuilder builder(&getContext());
    Location loc = group.back()->getLoc();
    auto type = builder.getFunctionType(ValueRange(arguments).getTypes(), {});
    auto kernel = func::FuncOp::create(builder, loc, "kernel", type);
    kernel.setPrivate();
    builder.setInsertionPointToStart(kernel.addEntryBlock());
    IRMapping mapping;
    mapping.map(arguments, kernel.getArguments());
    for (Value constant : constants)
      builder.clone(*constant.getDefiningOp(), mapping);
    for (Operation *op : group)
      builder.clone(*op, mapping);
    func::ReturnOp::create(builder, loc);
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

  llvm::StringMap<func::FuncOp> kernels;
};

} // namespace
