//===- BufferAccesses.cpp - Who reads and writes which memory -------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferAccesses.h"

#include "Tofu/Dialect/BufferOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::tofu;

static bool isBuffer(Value value) {
  return isa<BaseMemRefType>(value.getType());
}

/// True if memory of its own begins at the operation's result.
static bool makesMemory(Operation *op) {
  return isa<memref::AllocOp, memref::AllocaOp>(op);
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

BufferAccesses::BufferAccesses(ModuleOp module) {
  module.walk([&](Operation *op) {
    joinResults(op);
    joinBranches(op);
  });
  findCollectives(module);
  for (Operation *function : withCollectives) {
    if (!SymbolTable::symbolKnownUseEmpty(function, module))
      joinArguments(cast<FunctionOpInterface>(function));
    (void)getArguments(cast<FunctionOpInterface>(function));
  }
}

Value BufferAccesses::getClass(Value buffer) const {
  auto it = classes.findLeader(buffer);
  return it == classes.member_end() ? buffer : *it;
}

/// A result may be part of any operand.
void BufferAccesses::joinResults(Operation *op) {
  auto join = [&](Attribute name, Value memory) {
    Value &known = globals[name];
    if (known)
      classes.unionSets(known, memory);
    known = memory;
  };
  if (auto global = dyn_cast<GlobalMemoryOp>(op))
    return join(global.getNameAttr(), global.getMemory());
  if (auto constant = dyn_cast<memref::GetGlobalOp>(op))
    return join(constant.getNameAttr(), constant.getResult());
  if (makesMemory(op) || isa<RegionBranchOpInterface>(op))
    return;
  for (Value result : op->getResults())
    for (Value operand : op->getOperands())
      if (isBuffer(result) && isBuffer(operand))
        classes.unionSets(operand, result);
  auto call = dyn_cast<func::CallOp>(op);
  FunctionOpInterface callee =
      call ? lookup(call, call.getCalleeAttr()) : FunctionOpInterface();
  if (!callee)
    return;
  // Memory of a global, perhaps.
  callee->walk([&](func::ReturnOp end) {
    for (auto [result, returned] :
         llvm::zip(call.getResults(), end.getOperands()))
      if (isBuffer(result))
        classes.unionSets(returned, result);
  });
}

/// What branches and loops hand on stays the same memory.
void BufferAccesses::joinBranches(Operation *op) {
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    RegionBranchSuccessorMapping mapping;
    branch.getSuccessorOperandInputMapping(mapping);
    for (auto &[operand, inputs] : mapping)
      for (Value input : inputs)
        if (isBuffer(operand->get()) && isBuffer(input))
          classes.unionSets(operand->get(), input);
    return;
  }
  for (Block *successor : op->getSuccessors())
    for (Value argument : successor->getArguments())
      for (Value operand : op->getOperands())
        if (isBuffer(operand) && isBuffer(argument))
          classes.unionSets(operand, argument);
}

/// A caller may pass the same memory twice. It makes no difference where there
/// is one stream.
void BufferAccesses::joinArguments(FunctionOpInterface function) {
  Value first;
  for (Value argument : function.getArguments()) {
    if (!isBuffer(argument))
      continue;
    if (first)
      classes.unionSets(first, argument);
    first = argument;
  }
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

FunctionOpInterface BufferAccesses::lookup(Operation *op, SymbolRefAttr name) {
  auto function = dyn_cast_or_null<FunctionOpInterface>(
      symbols.lookupNearestSymbolFrom(op, name));
  return function && !function.isExternal() ? function : FunctionOpInterface();
}

Accesses BufferAccesses::getAccesses(Operation *op) {
  Accesses accesses;
  op->walk([&](Operation *inner) { add(inner, accesses); });
  return accesses;
}

void BufferAccesses::add(Operation *op, Accesses &accesses) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return addCall(call.getOperands(), lookup(op, call.getCalleeAttr()),
                   accesses);
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
    return addCall(launch.getKernelOperands(), lookup(op, launch.getKernel()),
                   accesses);
  if (makesMemory(op) || isa<GlobalMemoryOp>(op)) {
    // It is there once the stream has come so far.
    for (Value result : op->getResults())
      if (isBuffer(result))
        accesses[getClass(result)].writes = true;
    return;
  }
  addEffects(op, accesses);
}

void BufferAccesses::addCall(ValueRange operands, FunctionOpInterface callee,
                             Accesses &accesses) {
  ArrayRef<Access> known = callee ? getArguments(callee) : ArrayRef<Access>();
  for (auto [i, operand] : llvm::enumerate(operands))
    if (isBuffer(operand))
      accesses[getClass(operand)].add(i < known.size() ? known[i]
                                                       : Access{true, true});
}

void BufferAccesses::addEffects(Operation *op, Accesses &accesses) {
  if (llvm::none_of(op->getOperands(), isBuffer) || isMemoryEffectFree(op) ||
      isa<RegionBranchOpInterface>(op))
    return;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  SmallVector<MemoryEffects::EffectInstance> instances;
  if (effects)
    effects.getEffects(instances);
  bool isKnown = effects && llvm::all_of(instances, [](auto &instance) {
                   return instance.getValue();
                 });
  if (!isKnown) {
    for (Value operand : op->getOperands())
      if (isBuffer(operand))
        accesses[getClass(operand)] = {true, true};
    return;
  }
  for (MemoryEffects::EffectInstance &instance : instances)
    if (isBuffer(instance.getValue())) {
      bool reads = isa<MemoryEffects::Read>(instance.getEffect());
      accesses[getClass(instance.getValue())].add({reads, !reads});
    }
}

ArrayRef<Access> BufferAccesses::getArguments(FunctionOpInterface function) {
  auto [it, isNew] = arguments.try_emplace(function);
  if (!isNew)
    return it->second;
  // For calls from within itself.
  it->second.assign(function.getNumArguments(), {true, true});
  Accesses accesses;
  for (Operation &op : function.getFunctionBody().getOps())
    for (auto &[memory, access] : getAccesses(&op))
      accesses[memory].add(access);
  SmallVector<Access> known;
  for (BlockArgument argument : function.getArguments())
    known.push_back(accesses.lookup(getClass(argument)));
  return arguments[function] = std::move(known);
}

bool BufferAccesses::hasCollectives(Operation *op) {
  return op
      ->walk([&](Operation *inner) {
        auto call = dyn_cast<func::CallOp>(inner);
        bool has = isa<CollectiveBufferOp>(inner) ||
                   (call && withCollectives.contains(
                                lookup(call, call.getCalleeAttr())));
        return has ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void BufferAccesses::findCollectives(ModuleOp module) {
  for (size_t before = 1; before != withCollectives.size();) {
    before = withCollectives.size();
    for (auto function : module.getOps<func::FuncOp>())
      if (hasCollectives(function))
        withCollectives.insert(function);
  }
}
