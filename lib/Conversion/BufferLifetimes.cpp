//===- BufferLifetimes.cpp - Who uses which memory ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferLifetimes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tofu;

static bool isBuffer(Value value) {
  return isa<BaseMemRefType>(value.getType());
}

BufferLifetimes::BufferLifetimes(Block &block, const DenseSet<Value> *owners) {
  for (Operation &op : block)
    visit(op, owners);
}

SmallVector<Value, 1> BufferLifetimes::getRoots(Value buffer) const {
  SmallVector<Value, 1> result;
  auto it = roots.find(buffer);
  if (it == roots.end())
    result.push_back(buffer);
  else
    result = it->second;
  for (Value &root : result)
    while (Value into = merged.lookup(root))
      root = into;
  return result;
}

void BufferLifetimes::visit(Operation &op, const DenseSet<Value> *owners) {
  SmallVector<Value, 4> used;
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      if (!isBuffer(operand))
        continue;
      if (roots.find(operand) == roots.end())
        roots[operand] = {operand};
      for (Value root : roots[operand])
        if (!llvm::is_contained(used, root))
          used.push_back(root);
    }
  });
  for (Value root : used)
    lastUser[root] = &op;

  bool allocates = isa<memref::AllocOp>(op);
  for (Value result : op.getResults()) {
    if (!isBuffer(result))
      continue;
    if (allocates || used.empty() || (owners && owners->contains(result)))
      roots[result] = {result};
    else
      roots[result].assign(used.begin(), used.end());
  }
}

void BufferLifetimes::merge(Value root, Value other) {
  Operation *last = lastUser.lookup(root), *otherLast = lastUser.lookup(other);
  if (!last || (otherLast && last->isBeforeInBlock(otherLast)))
    lastUser[root] = otherLast;
  merged[other] = root;
}
