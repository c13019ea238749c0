//===- WResNet.cpp - Wide residual networks -------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bottleneck ResNets as in the Tofu paper: all convolutions, the stem too, are
// `width` times as wide as usual.
//
//===----------------------------------------------------------------------===//

#include "Layers.h"
#include "Models.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::tofu;
using namespace mlir::tofu::models;

/// What a bottleneck block widens its inner channels by.
static constexpr int64_t kExpansion = 4;

namespace {

/// Blocks of the four groups, by the number of layers.
struct Depth {
  int64_t layers;
  int64_t blocks[4];
};

} // namespace

static constexpr Depth kDepths[] = {{14, {1, 1, 1, 1}},
                                    {26, {2, 2, 2, 2}},
                                    {50, {3, 4, 6, 3}},
                                    {101, {3, 4, 23, 3}},
                                    {152, {3, 8, 36, 3}}};

static void addConvNorm(Sequence &layers, Program &program, const Twine &name,
                        int64_t window, int64_t stride, int64_t inputs,
                        int64_t outputs) {
  layers.add<Conv2d>(name, window, stride, inputs, outputs);
  layers.add<BatchNorm2d>(name + ".norm", outputs);
}

static std::unique_ptr<Layer> makeBlock(Program &program,
                                        const std::string &name, int64_t inputs,
                                        int64_t channels, int64_t stride) {
  int64_t outputs = kExpansion * channels;
  auto branch = std::make_unique<Sequence>(program, name);
  addConvNorm(*branch, program, name + ".conv1", 1, 1, inputs, channels);
  branch->add<Relu>(name + ".relu1");
  addConvNorm(*branch, program, name + ".conv2", 3, stride, channels, channels);
  branch->add<Relu>(name + ".relu2");
  addConvNorm(*branch, program, name + ".conv3", 1, 1, channels, outputs);
  if (inputs == outputs && stride == 1)
    return std::make_unique<Residual>(program, name + ".add",
                                      std::move(branch));
  auto shortcut = std::make_unique<Sequence>(program, name);
  addConvNorm(*shortcut, program, name + ".shortcut", 1, stride, inputs,
              outputs);
  return std::make_unique<Residual>(program, name + ".add", std::move(branch),
                                    std::move(shortcut));
}

static llvm::Expected<Value> build(Program &program, const Sizes &sizes) {
  const Depth *depth = llvm::find_if(
      kDepths, [&](const Depth &d) { return d.layers == sizes.at("layers"); });
  if (depth == std::end(kDepths))
    return sizeError("--layers must be 14, 26, 50, 101 or 152");
  int64_t base = sizes.at("base") * sizes.at("width");
  int64_t batch = sizes.at("batch"), image = sizes.at("image");

  Sequence layers(program, "");
  addConvNorm(layers, program, "stem", 7, 2, 3, base);
  layers.add<Relu>("stem.relu");
  layers.add<MaxPool2d>("stem.pool", 3, 2);
  int64_t channels = base;
  for (int64_t group = 0; group < 4; ++group) {
    for (int64_t block = 0; block < depth->blocks[group]; ++block) {
      std::string name =
          llvm::formatv("group{0}.block{1}", group + 1, block + 1);
      int64_t stride = group > 0 && block == 0 ? 2 : 1;
      layers.add(makeBlock(program, name, channels, base << group, stride));
      channels = kExpansion * (base << group);
      layers.add<Relu>(name + ".relu3");
    }
  }
  layers.add<MeanPool2d>("pool");
  layers.add<Linear>("classify", "n", channels, sizes.at("classes"),
                     Linear::Bias::Yes);

  Value x = program.addInput("images", {batch, image, image, 3});
  Value labels = program.addLabels("labels", {batch});
  CrossEntropy loss(program, "loss", "n");
  Value result = loss.forward(layers.forward(x), labels);
  layers.backward(loss.backward());
  return result;
}

Model models::getWResNet() {
  return {"wresnet",
          "bottleneck ResNet with batch norm",
          {{"layers", 50, "14, 26, 50, 101 or 152"},
           {"width", 1, "how many times as wide as usual"},
           {"batch", 32, "images"},
           {"base", 64, "channels of the first group at width 1"},
           {"image", 224, "rows and columns of an image"},
           {"classes", 1000, "classes"}},
          build};
}
