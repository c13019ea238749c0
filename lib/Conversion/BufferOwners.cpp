//===- BufferOwners.cpp - Who frees what loops hand on --------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferOwners.h"

#include "BufferLifetimes.h"
#include "GenericCopy.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::tofu;

/// What an operand of a branch or loop, or of a terminator in it, becomes.
using Handovers = llvm::MapVector<OpOperand *, SmallVector<Value>>;

static bool hasPlainRegions(Operation *op) {
  return llvm::all_of(op->getRegions(), [](Region &region) {
    return region.empty() || region.hasOneBlock();
  });
}

/// The buffers that `op` hands on; nothing unless its regions have one block.
static Handovers getHandovers(Operation *op) {
  Handovers handovers;
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  if (!branch || !hasPlainRegions(op))
    return handovers;
  RegionBranchSuccessorMapping mapping;
  branch.getSuccessorOperandInputMapping(mapping);
  auto add = [&](Operation *from) {
    for (OpOperand &operand : from->getOpOperands()) {
      auto it = mapping.find(&operand);
      if (it == mapping.end() || !isa<MemRefType>(operand.get().getType()))
        continue;
      llvm::append_range(handovers[&operand], it->second);
    }
  };
  add(op);
  for (Region &region : op->getRegions())
    if (!region.empty())
      add(region.front().getTerminator());
  return handovers;
}

/// The type of a copy of a buffer of type `type`.
static MemRefType getCopyType(MemRefType type) {
  return MemRefType::get(type.getShape(), type.getElementType(),
                         MemRefLayoutAttrInterface(), type.getMemorySpace());
}

/// True if a copy can stand for `value`: if it has the strides that its type
/// says. A cast would take unknown ones for any.
static bool canBeCopy(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type)
    return false;
  MemRefType copyType = getCopyType(type);
  if (copyType == type)
    return true;
  SmallVector<int64_t> strides, ofCopy;
  int64_t offset, offsetOfCopy;
  if (!memref::CastOp::areCastCompatible(copyType, type) ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      failed(copyType.getStridesAndOffset(ofCopy, offsetOfCopy)))
    return false;
  return llvm::all_of(llvm::zip_equal(strides, ofCopy), [](auto pair) {
    auto [stride, ofCopy] = pair;
    return ShapedType::isDynamic(stride) || stride == ofCopy;
  });
}

//===----------------------------------------------------------------------===//
// Finding owners
//===----------------------------------------------------------------------===//

BufferOwners::BufferOwners(func::FuncOp function) : function(function) {
  function.walk([&](Operation *op) { decide(op); });
}

bool BufferOwners::isOwner(Value value) const {
  return value.getDefiningOp<memref::AllocOp>() || owners.contains(value);
}

/// Makes owners of what `op` hands on and some region of it has made or owns.
/// What is in the regions has been decided on.
void BufferOwners::decide(Operation *op) {
  Handovers found = getHandovers(op);
  llvm::EquivalenceClasses<Value> alike;
  llvm::MapVector<OpOperand *, SmallVector<Value, 1>> roots;
  for (Region &region : op->getRegions()) {
    if (found.empty() || region.empty())
      continue;
    BufferLifetimes lifetimes(region.front(), &owners);
    for (OpOperand &operand : region.front().getTerminator()->getOpOperands())
      if (found.contains(&operand))
        roots[&operand] = lifetimes.getRoots(operand.get());
  }
  for (auto &[operand, inputs] : found)
    for (Value input : inputs)
      alike.unionSets(inputs.front(), input);
  auto isFresh = [&](Value root) {
    return isOwner(root) &&
           op->isAncestor(root.getParentBlock()->getParentOp());
  };
  // What one operand becomes may be handed to another one.
  bool changed = true;
  while (std::exchange(changed, false))
    for (auto &[operand, from] : roots) {
      Value becomes = found[operand].front();
      if (owners.contains(becomes) || llvm::none_of(from, isFresh))
        continue;
      SmallVector<Value> members(alike.findLeader(becomes), alike.member_end());
      if (!llvm::all_of(members, canBeCopy))
        continue;
      owners.insert(members.begin(), members.end());
      changed = true;
    }
  for (auto &[operand, inputs] : found)
    if (owners.contains(inputs.front()))
      handovers.insert(operand);
}

//===----------------------------------------------------------------------===//
// Handing over
//===----------------------------------------------------------------------===//

int64_t BufferOwners::handOver() {
  int64_t copies = 0;
  if (!handovers.empty())
    function.walk([&](Block *block) { copies += handOver(*block); });
  return copies;
}

/// How often `op`, and what is in it, uses the memory of each root.
static DenseMap<Value, unsigned> countUses(const BufferLifetimes &lifetimes,
                                           Operation *op) {
  DenseMap<Value, unsigned> uses;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      for (Value root : lifetimes.getRoots(operand))
        ++uses[root];
  });
  return uses;
}

/// What `view` is a view of.
static Value getViewed(Value view) {
  while (auto viewLike = view.getDefiningOp<ViewLikeOpInterface>())
    view = viewLike.getViewSource();
  return view;
}

int64_t BufferOwners::handOver(Block &block) {
  int64_t copies = 0;
  std::optional<BufferLifetimes> lifetimes;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    SmallVector<OpOperand *> becoming;
    for (OpOperand &operand : op.getOpOperands())
      if (handovers.contains(&operand))
        becoming.push_back(&operand);
    if (becoming.empty())
      continue;
    // Copies come right before their only user: they change no other last use.
    if (!lifetimes)
      lifetimes.emplace(block, &owners);
    DenseMap<Value, unsigned> uses = countUses(*lifetimes, &op);
    for (OpOperand *operand : becoming) {
      Value owner = getViewed(operand->get());
      SmallVector<Value, 1> roots = lifetimes->getRoots(operand->get());
      if (block.getParent()->hasOneBlock() && isOwner(owner) &&
          owner.getParentBlock() == &block && roots.size() == 1 &&
          roots.front() == owner && lifetimes->getLastUser(owner) == &op &&
          uses.lookup(owner) == 1) {
        handedOn.insert(owner);
        continue;
      }
      for (Value root : roots)
        --uses[root];
      copy(*operand);
      ++copies;
    }
  }
  return copies;
}

/// Hands on a copy of what `operand` is.
void BufferOwners::copy(OpOperand &operand) {
  OpBuilder builder(operand.getOwner());
  Location loc = operand.getOwner()->getLoc();
  auto type = cast<MemRefType>(operand.get().getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(builder, loc, operand.get(), dim));
  Value copy = memref::AllocOp::create(builder, loc, getCopyType(type), sizes);
  createGenericCopy(builder, loc, operand.get(), copy);
  handedOn.insert(copy);
  if (copy.getType() != type)
    copy = memref::CastOp::create(builder, loc, type, copy);
  operand.set(copy);
}
