//===- BufferOwners.h - Who frees what loops hand on ------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer has one owner, a value of the block that has to free it: the
// allocation, or, once a branch or loop hands it on, the argument or result
// that it has become. What a loop carries has another buffer each time around
// and takes its ownership along.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_BUFFEROWNERS_H
#define TOFU_LIB_CONVERSION_BUFFEROWNERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::tofu {

class BufferOwners {
public:
  /// Finds the arguments and results of branches and loops that are to own what
  /// they hold: those that some region hands a buffer that was made in it.
  explicit BufferOwners(func::FuncOp function);

  /// Makes every operand that becomes an owner one itself, which nobody uses
  /// any more: a copy where it isn't. Returns how many copies that took.
  int64_t handOver();

  /// True for owners: allocations, and what has been found.
  bool isOwner(Value value) const;

  /// True if ownership goes on where the block ends or a branch or loop begins.
  bool isHandedOn(Value owner) const { return handedOn.contains(owner); }

  /// Owners of arguments and results, but no allocations.
  const DenseSet<Value> &getOwners() const { return owners; }

private:
  void decide(Operation *op);
  int64_t handOver(Block &block);
  void copy(OpOperand &operand);

  func::FuncOp function;
  DenseSet<Value> owners;
  /// Operands that become owners.
  DenseSet<OpOperand *> handovers;
  DenseSet<Value> handedOn;
};

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_BUFFEROWNERS_H
