//===- Runner.h - Runs a program by many plans ------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_FUZZ_RUNNER_H
#define TOFU_TEST_FUZZ_RUNNER_H

#include "Compiler.h"

#include "Tofu/Runtime/Execution.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

namespace mlir::tofu::fuzz {

/// How a case is cut.
struct Cut {
  int64_t devices = 1;
  std::string mesh;    ///< empty: made from the number of devices
  std::string options; ///< of tofu-partition

  /// As arguments of tofu-run.
  std::string str() const;
};

/// What tofu-run is to be given for the arguments of a program, if it doesn't
/// know their sizes.
std::vector<std::string> getInputs(StringRef text);

/// A random cut.
Cut makeCut(uint64_t seed);

enum class Outcome {
  Good,
  OutOfScope, ///< the serial program doesn't run
  Failed
};

/// What is checked besides the results.
struct Checks {
  bool twice = false; ///< a second run gives the same bits
  bool bytes = false; ///< no more bytes move than the plan says
};

struct Verdict {
  Outcome outcome = Outcome::Good;
  std::string message;
};

/// One program: run serially once, as loops, then cut in one way after the
/// other.
class Runner {
public:
  /// `serialBackend` runs the serial program, `backend` cut ones.
  Runner(const DialectRegistry &registry, const ChosenBackend &serialBackend,
         const ChosenBackend &backend, const Libraries &libraries,
         std::string text, unsigned optimizationLevel);

  /// Whether the partitioned program gives what the serial one does.
  Verdict run(const Cut &cut, Checks checks);

private:
  llvm::Expected<Execution> runSerially();
  llvm::Error runCut(const Cut &cut, Checks checks);
  llvm::Error compareResults(const Execution &execution);
  llvm::Expected<Program> partition(const Cut &cut, int64_t &plannedBytes);

  ChosenBackend serialBackend, backend;
  const Libraries &libraries;
  unsigned optimizationLevel;
  MLIRContext context;
  std::string diagnostics;
  std::vector<std::string> inputTexts; ///< as for tofu-run; or none
  OwningOpRef<ModuleOp> module;
  std::vector<HostTensor> inputs;
  std::optional<Execution> serial;
  std::string outOfScope;
};

} // namespace mlir::tofu::fuzz

#endif // TOFU_TEST_FUZZ_RUNNER_H
