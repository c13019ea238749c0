//===- Program.h - A training step as a function ----------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_BENCHMARK_MODELS_PROGRAM_H
#define TOFU_TEST_BENCHMARK_MODELS_PROGRAM_H

#include "Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <deque>

namespace mlir::tofu::models {

/// A weight, and what trains it.
struct Parameter {
  std::string name;
  Value value, momentum;
  /// Of the loss; null until a layer has gone back.
  Value gradient = nullptr;

  operator Value() const { return value; }
};

/// Builds @main: weights and momenta, each argument given back as the result
/// of its number, then the batch; the last result is the loss.
class Program {
public:
  Program(MLIRContext *context, FloatType type);

  Ops &getOps() { return ops; }

  /// Weights come before inputs.
  Parameter &addParameter(const Twine &name, ArrayRef<int64_t> shape);
  Value addInput(const Twine &name, ArrayRef<int64_t> shape);
  /// Numbers of classes, i32.
  Value addLabels(const Twine &name, ArrayRef<int64_t> shape);
  void addGradient(Parameter &parameter, Value gradient);

  int64_t countParameters() const;

  /// Updates the weights by momentum and returns.
  OwningOpRef<ModuleOp> finish(Value loss);

private:
  Value addArgument(const Twine &name, Type type);

  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  Ops ops;
  std::deque<Parameter> parameters;
};

} // namespace mlir::tofu::models

#endif // TOFU_TEST_BENCHMARK_MODELS_PROGRAM_H
