//===- Operations.h - Kinds of random operations ----------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_FUZZ_OPERATIONS_H
#define TOFU_TEST_FUZZ_OPERATIONS_H

#include "Program.h"

namespace mlir::tofu::fuzz {

// Each adds an operation, or nothing if it would be too large.

void addElementwise(Program &program);
void addNamedElementwise(Program &program);
void addReduction(Program &program);
void addNamedReduction(Program &program);
void addArgmax(Program &program);
void addComplexSum(Program &program);
void addWindow(Program &program);
void addContraction(Program &program);
void addNamedContraction(Program &program);
void addConvolution(Program &program);

void addReshape(Program &program);
void addExtractSlice(Program &program);
void addInsertSlice(Program &program);
void addPad(Program &program);
void addConcat(Program &program);
void addTranspose(Program &program);
void addTensorArithmetic(Program &program);
void addTensorCast(Program &program);
void addCall(Program &program);
/// `scf.for trip = 0 to n step 1` with fewer than `most` trips, to be followed
/// by what the loop carries. `one` is the constant.
struct LoopHead {
  LoopHead(Program &program, unsigned most);
  std::string one, trip, text;
};
void addLoop(Program &program);
void addBranch(Program &program);

void addGather(Program &program);
void addScatter(Program &program);
void addGenerate(Program &program);
void addSoftmax(Program &program);
void addPack(Program &program);

//===----------------------------------------------------------------------===//
// OuterOperations.cpp
//===----------------------------------------------------------------------===//

void addGlobal(Program &program);
void addForeignCall(Program &program);

} // namespace mlir::tofu::fuzz

#endif // TOFU_TEST_FUZZ_OPERATIONS_H
