//===- BufferAccesses.h - Who reads and writes which memory -----*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory is told apart by where it comes from: all buffers that may be part of
// one allocation, in whatever way, are one class. Where nothing is known of an
// operation it reads and writes all that it is given.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_BUFFERACCESSES_H
#define TOFU_LIB_CONVERSION_BUFFERACCESSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::tofu {

/// How memory is accessed.
struct Access {
  bool reads = false, writes = false;

  void add(Access other) {
    reads |= other.reads;
    writes |= other.writes;
  }
};

/// Accesses by class of memory.
using Accesses = llvm::MapVector<Value, Access>;

/// Of functions it says what they did when it was made.
class BufferAccesses {
public:
  explicit BufferAccesses(ModuleOp module);

  /// The value that stands for the class of `buffer`.
  Value getClass(Value buffer) const;

  /// What `op` does, and what is in it.
  Accesses getAccesses(Operation *op);

  /// What a function or kernel does with each of its arguments.
  ArrayRef<Access> getArguments(FunctionOpInterface function);

  /// True if `op`, or what it calls, has collectives.
  bool hasCollectives(Operation *op);

private:
  void joinResults(Operation *op);
  void joinBranches(Operation *op);
  void joinArguments(FunctionOpInterface function);
  void add(Operation *op, Accesses &accesses);
  void findCollectives(ModuleOp module);
  void addCall(ValueRange operands, FunctionOpInterface callee,
               Accesses &accesses);
  void addEffects(Operation *op, Accesses &accesses);
  FunctionOpInterface lookup(Operation *op, SymbolRefAttr name);

  SymbolTableCollection symbols;
  llvm::EquivalenceClasses<Value> classes;
  llvm::DenseMap<Attribute, Value> globals;
  llvm::DenseMap<Operation *, SmallVector<Access>> arguments;
  llvm::DenseSet<Operation *> withCollectives;
};

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_BUFFERACCESSES_H
