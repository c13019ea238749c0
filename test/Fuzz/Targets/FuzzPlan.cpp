//===- FuzzPlan.cpp - Any text as the plan of a program
//---------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fresh.h"
#include "Tofu/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// The plans of the corpus are of this program; its hash is in them.
static constexpr llvm::StringLiteral kProgram = R"mlir(
func.func @main(%a: tensor<7x5xf32>, %b: tensor<5x6xf32>, %c: tensor<7x6xf32>) -> (tensor<7x6xf32>, tensor<6xf32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<7x5xf32>, tensor<5x6xf32>) outs(%c : tensor<7x6xf32>) -> tensor<7x6xf32>
  %zero = arith.constant dense<0.0> : tensor<6xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<7x6xf32>) outs(%zero : tensor<6xf32>) dimensions = [0]
  %2 = arith.negf %0 : tensor<7x6xf32>
  return %2, %1 : tensor<7x6xf32>, tensor<6xf32>
}
)mlir";

/// A file that the plan is written to, again and again.
static StringRef getPath() {
  static const std::string path = [] {
    SmallString<128> made;
    if (llvm::sys::fs::createTemporaryFile("fuzz-plan", "json", made))
      llvm::report_fatal_error("no temporary file");
    return made.str().str();
  }();
  return path;
}

namespace {

/// The program and the passes that each plan is tried with.
struct Planned {
  Planned() : context(getAllDialects()), pm(&context) {
    program = parseSourceString<ModuleOp>(kProgram, ParserConfig(&context));
    tofu::TofuPartitionOptions options;
    options.load = getPath().str();
    tofu::addTofuPartitionPipeline(pm, options);
  }

  QuietContext context;
  OwningOpRef<ModuleOp> program;
  PassManager pm;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::error_code error;
  llvm::raw_fd_ostream file(getPath(), error);
  file.write(reinterpret_cast<const char *>(data), size);
  file.close();
  auto &planned = getFresh<Planned>();
  OwningOpRef<ModuleOp> module(planned.program->clone());
  (void)planned.pm.run(*module);
  // What isn't JSON is not worth changing further.
  StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(text);
  if (json)
    return 0;
  llvm::consumeError(json.takeError());
  return -1;
}
