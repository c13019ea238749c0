//===- Mlp.cpp - Multi-layer perceptrons ----------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products and ReLU, without biases, as in the example of the Unity paper: its
// sizes are the standard ones.
//
//===----------------------------------------------------------------------===//

#include "Layers.h"
#include "Models.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::tofu;
using namespace mlir::tofu::models;

static llvm::Expected<Value> build(Program &program, const Sizes &sizes) {
  int64_t count = sizes.at("layers"), batch = sizes.at("batch");
  int64_t width = sizes.at("inputs"), classes = sizes.at("classes");
  Sequence layers(program, "");
  for (int64_t i = 1; i <= count; ++i) {
    std::string name = llvm::formatv("layer{0}", i);
    int64_t outputs = i == count ? classes : sizes.at("hidden");
    layers.add<Linear>(name, "b", width, outputs, Linear::Bias::No);
    if (i < count)
      layers.add<Relu>(name + ".relu");
    width = outputs;
  }
  Value x = program.addInput("x", {batch, sizes.at("inputs")});
  Value labels = program.addLabels("labels", {batch});
  CrossEntropy loss(program, "loss", "b");
  Value result = loss.forward(layers.forward(x), labels);
  layers.backward(loss.backward());
  return result;
}

Model models::getMlp() {
  return {"mlp",
          "multi-layer perceptron without biases",
          {{"layers", 2, "products"},
           {"batch", 64, "rows"},
           {"inputs", 784, "columns of the input"},
           {"hidden", 512, "columns between layers"},
           {"classes", 10, "classes"}},
          build};
}
