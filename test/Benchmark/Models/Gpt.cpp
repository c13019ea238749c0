//===- Gpt.cpp - GPT ------------------------------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transformer.h"

using namespace mlir;
using namespace mlir::tofu;
using namespace mlir::tofu::models;

static llvm::Expected<Value> build(Program &program, const Sizes &sizes) {
  int64_t hidden = sizes.at("hidden");
  return buildTransformer(
      program, sizes, [&](Program &program, const std::string &name, int64_t) {
        return makeFeedForward(program, name, hidden, 4 * hidden);
      });
}

Model models::getGpt() {
  return {"gpt", "GPT with causal attention and tied tables of tokens",
          getTransformerSettings(), build};
}
