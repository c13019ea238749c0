//===- BufferLifetimes.h - Who uses which memory --------------*- C++ -*---===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_BUFFERLIFETIMES_H
#define TOFU_LIB_CONVERSION_BUFFERLIFETIMES_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::tofu {

/// Which memory each buffer of a block may be, and where the block's operations
/// use it. Memory is named by its root: the result of an allocation, a block
/// argument, or a value from outside. An operation with regions uses what
/// anything in it uses; the buffers that it yields may be any of these.
class BufferLifetimes {
public:
  /// Results among `owners` are roots: no other buffer is part of them.
  explicit BufferLifetimes(Block &block,
                           const DenseSet<Value> *owners = nullptr);

  /// The roots that `buffer` may be part of.
  SmallVector<Value, 1> getRoots(Value buffer) const;

  /// The last operation of the block that may use `root`; null if none does.
  Operation *getLastUser(Value root) const { return lastUser.lookup(root); }

  /// Makes `other` another name of `root`, with the uses of both.
  void merge(Value root, Value other);

private:
  void visit(Operation &op, const DenseSet<Value> *owners);

  DenseMap<Value, SmallVector<Value, 1>> roots;
  DenseMap<Value, Operation *> lastUser;
  DenseMap<Value, Value> merged;
};

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_BUFFERLIFETIMES_H
