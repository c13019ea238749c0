//===- Layers.cpp - Layers with their gradients ---------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layers.h"

#include <limits>

using namespace mlir;
using namespace mlir::tofu;
using namespace mlir::tofu::models;

using Scalars = ArrayRef<Scalar>;

static Scalar itself(Scalars in) { return in[0]; }
static Scalar product(Scalars in) { return in[0] * in[1]; }

//===----------------------------------------------------------------------===//
// Composition
//===----------------------------------------------------------------------===//

Value Sequence::forward(Value x) {
  for (auto &layer : layers)
    x = layer->forward(x);
  return x;
}

Value Sequence::backward(Value gradient) {
  for (auto &layer : llvm::reverse(layers))
    gradient = layer->backward(gradient);
  return gradient;
}

Value Residual::forward(Value x) {
  Value y = branch->forward(x);
  if (shortcut)
    x = shortcut->forward(x);
  enterForward();
  return ops.add(y, x);
}

Value Residual::backward(Value gradient) {
  Value ofBranch = branch->backward(gradient);
  if (shortcut)
    gradient = shortcut->backward(gradient);
  enterBackward();
  return ops.add(ofBranch, gradient);
}

//===----------------------------------------------------------------------===//
// Linear
//===----------------------------------------------------------------------===//

Linear::Linear(Program &program, const Twine &name, StringRef rows,
               int64_t inputs, int64_t outputs, Bias hasBias)
    : Layer(program, name), rows(rows),
      weight(program.addParameter(name, {inputs, outputs})) {
  if (hasBias == Bias::Yes)
    bias = &program.addParameter(name + ".bias", {outputs});
}

Value Linear::forward(Value input) {
  enterForward();
  x = input;
  Value y = shapeOf(x).size() == 2
                ? ops.matmul(x, weight)
                : ops.contract({x, with('i')}, {weight, "i o"}, with('o'));
  return bias ? ops.addBias({y, with('o')}, {*bias, "o"}) : y;
}

Value Linear::backward(Value gradient) {
  enterBackward();
  Read g{gradient, with('o')};
  program.addGradient(weight, ops.contract({x, with('i')}, g, "i o"));
  if (bias)
    program.addGradient(*bias, ops.sum(g, "o", itself));
  return ops.contract(g, {weight, "i o"}, with('i'));
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

Value Relu::forward(Value x) {
  enterForward();
  std::string dims = inOrder(x);
  y = ops.map({{x, dims}}, dims,
              [](Scalars in) { return max(in[0], in[0].constant(0)); });
  return y;
}

Value Relu::backward(Value gradient) {
  enterBackward();
  std::string dims = inOrder(y);
  return ops.map({{gradient, dims}, {y, dims}}, dims, [](Scalars in) {
    return select(greater(in[1], 0), in[0], in[0].constant(0));
  });
}

static constexpr double kGeluRoot = 0.7978845608028654, kGeluCubic = 0.044715;

static Scalar geluTanh(Scalar x) {
  return tanh((x + x * x * x * kGeluCubic) * kGeluRoot);
}

Value Gelu::forward(Value input) {
  enterForward();
  x = input;
  std::string dims = inOrder(x);
  return ops.map({{x, dims}}, dims, [](Scalars in) {
    return in[0] * 0.5 * (geluTanh(in[0]) + 1);
  });
}

Value Gelu::backward(Value gradient) {
  enterBackward();
  std::string dims = inOrder(x);
  return ops.map({{gradient, dims}, {x, dims}}, dims, [](Scalars in) {
    Scalar x = in[1], t = geluTanh(x);
    Scalar slope = (x * x * (3 * kGeluCubic) + 1) * kGeluRoot;
    return in[0] * ((t + 1) * 0.5 + x * 0.5 * (1 - t * t) * slope);
  });
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

static constexpr double kEpsilon = 1e-5;

namespace {

/// What layer norm and batch norm share: x is read by `all`, its statistics are
/// over the loops that `kept` does not name, gain and bias are read by `gain`.
struct Norm {
  Ops &ops;
  StringRef all, kept, weights;
  double count;

  struct Result {
    Value y, normal, deviation;
  };

  Result forward(Value x, Value gain, Value bias) const;
  Value backward(Value gradient, Value normal, Value deviation,
                 Value gain) const;
};

} // namespace

/// `deviation` is 1 / sqrt(variance + epsilon).
Norm::Result Norm::forward(Value x, Value gain, Value bias) const {
  Value total = ops.sum({{x, all}}, kept, itself);
  Value centred = ops.map({{x, all}, {total, kept}}, all, [&](Scalars in) {
    return in[0] - in[1] * (1 / count);
  });
  Value squares =
      ops.sum({{centred, all}}, kept, [](Scalars in) { return in[0] * in[0]; });
  Value deviation = ops.map({{squares, kept}}, kept, [&](Scalars in) {
    return rsqrt(in[0] * (1 / count) + kEpsilon);
  });
  Value normal = ops.map({{centred, all}, {deviation, kept}}, all, product);
  Value y = ops.map({{normal, all}, {gain, weights}, {bias, weights}}, all,
                    [](Scalars in) { return in[0] * in[1] + in[2]; });
  return {y, normal, deviation};
}

Value Norm::backward(Value gradient, Value normal, Value deviation,
                     Value gain) const {
  Value g = ops.map({{gradient, all}, {gain, weights}}, all, product);
  Value total = ops.sum({{g, all}}, kept, itself);
  Value slope = ops.sum({{g, all}, {normal, all}}, kept, product);
  return ops.map({{g, all},
                  {normal, all},
                  {total, kept},
                  {slope, kept},
                  {deviation, kept}},
                 all, [&](Scalars in) {
                   Scalar mean = (in[2] + in[1] * in[3]) * (1 / count);
                   return in[4] * (in[0] - mean);
                 });
}

static Norm layerNorm(Ops &ops, double size) {
  return {ops, "b s h", "b s", "h", size};
}

LayerNorm::LayerNorm(Program &program, const Twine &name, int64_t size)
    : Layer(program, name), gain(program.addParameter(name + ".gain", {size})),
      bias(program.addParameter(name + ".bias", {size})) {}

Value LayerNorm::forward(Value x) {
  enterForward();
  Norm::Result result = layerNorm(ops, sizeOf(x, 2)).forward(x, gain, bias);
  normal = result.normal;
  deviation = result.deviation;
  return result.y;
}

Value LayerNorm::backward(Value gradient) {
  enterBackward();
  Norm norm = layerNorm(ops, sizeOf(normal, 2));
  program.addGradient(bias, ops.sum({{gradient, norm.all}}, "h", itself));
  program.addGradient(
      gain, ops.sum({{gradient, norm.all}, {normal, norm.all}}, "h", product));
  return norm.backward(gradient, normal, deviation, gain);
}

BatchNorm2d::BatchNorm2d(Program &program, const Twine &name, int64_t channels)
    : Layer(program, name),
      gain(program.addParameter(name + ".gain", {channels})),
      bias(program.addParameter(name + ".bias", {channels})) {}

static Norm batchNorm(Ops &ops, Value x) {
  double count = sizeOf(x, 0) * sizeOf(x, 1) * sizeOf(x, 2);
  return {ops, "n y x c", "c", "c", count};
}

Value BatchNorm2d::forward(Value x) {
  enterForward();
  Norm::Result result = batchNorm(ops, x).forward(x, gain, bias);
  normal = result.normal;
  deviation = result.deviation;
  return result.y;
}

/// The statistics are per channel, as gain and bias are: their gradients are
/// the sums that the input's gradient needs, but for the gain.
Value BatchNorm2d::backward(Value gradient) {
  enterBackward();
  StringRef all = "n y x c";
  double count = sizeOf(normal, 0) * sizeOf(normal, 1) * sizeOf(normal, 2);
  Value total = ops.sum({{gradient, all}}, "c", itself);
  Value slope = ops.sum({{gradient, all}, {normal, all}}, "c", product);
  program.addGradient(bias, total);
  program.addGradient(gain, slope);
  return ops.map({{gradient, all},
                  {normal, all},
                  {total, "c"},
                  {slope, "c"},
                  {deviation, "c"},
                  {gain, "c"}},
                 all, [&](Scalars in) {
                   Scalar mean = (in[2] + in[1] * in[3]) * (1 / count);
                   return in[4] * in[5] * (in[0] - mean);
                 });
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

namespace {

/// Zeros before and after each row and column.
struct Padding {
  int64_t low, high;
};

} // namespace

static Padding getPadding(int64_t size, int64_t window, int64_t stride) {
  int64_t windows = llvm::divideCeil(size, stride);
  int64_t low = (window - 1) / 2;
  int64_t needed = (windows - 1) * stride + window;
  return {low, std::max<int64_t>(needed - size - low, 0)};
}

/// The gradient in a window operator's result where a sum over windows with
/// stride 1 finds it for an image of `size`: element r of the result met the
/// reversed window at low + 1 - window + stride * r.
static Value spreadGradient(Ops &ops, Value gradient, int64_t size,
                            int64_t window, int64_t stride, int64_t low) {
  int64_t offset = window - 1 - low, spreadSize = size + window - 1;
  if (stride == 1)
    return ops.padImage(gradient, offset,
                        spreadSize - offset - sizeOf(gradient, 1), 0);
  return ops.spread(gradient, spreadSize, offset, stride);
}

Conv2d::Conv2d(Program &program, const Twine &name, int64_t window,
               int64_t stride, int64_t inputs, int64_t outputs)
    : Layer(program, name), window(window), stride(stride),
      kernel(program.addParameter(name, {window, window, inputs, outputs})) {}

Value Conv2d::forward(Value x) {
  enterForward();
  imageSize = sizeOf(x, 1);
  Padding padding = getPadding(imageSize, window, stride);
  low = padding.low;
  padded = ops.padImage(x, low, padding.high, 0);
  return ops.conv2d(padded, kernel, stride);
}

/// How the place p + `loop` of an image is read, p the place of a window.
static std::string place(int64_t stride, char position, char loop) {
  return (stride == 1 ? "" : std::to_string(stride)) + position + "+" + loop;
}

Value Conv2d::gradientOfInput(Value gradient) {
  Value weights = kernel;
  if (window == 1) {
    Value g =
        ops.contract({gradient, "n y x f"}, {weights, "i j c f"}, "n y x c");
    return stride == 1 ? g : ops.spread(g, imageSize, 0, stride);
  }
  std::string last = std::to_string(window - 1);
  std::string reversed = last + "-i " + last + "-j c f";
  weights = ops.map({{weights, reversed}}, "i j c f", itself,
                    {{'i', window}, {'j', window}});
  Value spread = spreadGradient(ops, gradient, imageSize, window, stride, low);
  return ops.contract({spread, "n y+i x+j f"}, {weights, "i j c f"}, "n y x c",
                      {{'y', imageSize}, {'x', imageSize}});
}

Value Conv2d::backward(Value gradient) {
  enterBackward();
  std::string windows =
      "n " + place(stride, 'y', 'i') + " " + place(stride, 'x', 'j') + " c";
  program.addGradient(kernel,
                      ops.contract({padded, windows}, {gradient, "n y x f"},
                                   "i j c f", {{'i', window}, {'j', window}}));
  return gradientOfInput(gradient);
}

Value MaxPool2d::forward(Value input) {
  enterForward();
  x = input;
  Padding padding = getPadding(sizeOf(x, 1), window, stride);
  low = padding.low;
  y = ops.maxPool2d(ops.padImage(x, low, padding.high,
                                 -std::numeric_limits<double>::infinity()),
                    window, stride);
  return y;
}

/// To each element of x that is its window's greatest. Several may be in one
/// window only where x was cut off, by ReLU, and has no gradient.
Value MaxPool2d::backward(Value gradient) {
  enterBackward();
  int64_t size = sizeOf(x, 1);
  Value greatest = spreadGradient(ops, y, size, window, stride, low);
  Value g = spreadGradient(ops, gradient, size, window, stride, low);
  StringRef windows = "n y+i x+j c";
  // Read for its size only, as pooling operations do.
  Value windowSize = ops.empty({window, window});
  return ops.sum(
      {{x, "n y x c"}, {greatest, windows}, {g, windows}, {windowSize, "i j"}},
      "n y x c", [](Scalars in) {
        return select(equal(in[0], in[1]), in[2], in[2].constant(0));
      });
}

Value MeanPool2d::forward(Value input) {
  enterForward();
  x = input;
  Value total = ops.sum({{x, "n y x c"}}, "n c", itself);
  return ops.scale(total, 1.0 / (sizeOf(x, 1) * sizeOf(x, 2)));
}

Value MeanPool2d::backward(Value gradient) {
  enterBackward();
  Value g = ops.scale(gradient, 1.0 / (sizeOf(x, 1) * sizeOf(x, 2)));
  return ops.map({{g, "n c"}}, "n y x c", itself,
                 {{'y', sizeOf(x, 1)}, {'x', sizeOf(x, 2)}});
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// `in` at the label, else zero; `in` is read by the loop numbered `loop`.
static Scalar atLabel(Scalar in, Scalar label, unsigned loop) {
  return select(equal(loopIndex(in, loop), toIndex(label)), in, in.constant(0));
}

Value CrossEntropy::forward(Value logits, Value labelsOfRows) {
  ops.setName(name);
  labels = labelsOfRows;
  std::string all = rows + " v";
  unsigned loop = shapeOf(logits).size() - 1;
  Value most = ops.greatest({logits, all}, rows);
  powers = ops.map({{logits, all}, {most, rows}}, all,
                   [](Scalars in) { return exp(in[0] - in[1]); });
  total = ops.sum({{powers, all}}, rows, itself);
  Value chosen =
      ops.sum({{logits, all}, {labels, rows}}, rows,
              [&](Scalars in) { return atLabel(in[0], in[1], loop); });
  double count = cast<ShapedType>(labels.getType()).getNumElements();
  return ops.sum(
      {{total, rows}, {most, rows}, {chosen, rows}}, "",
      [&](Scalars in) { return (log(in[0]) + in[1] - in[2]) * (1 / count); });
}

Value CrossEntropy::backward() {
  ops.setName(name + ".backward");
  std::string all = rows + " v";
  unsigned loop = shapeOf(powers).size() - 1;
  double count = cast<ShapedType>(labels.getType()).getNumElements();
  return ops.map({{powers, all}, {total, rows}, {labels, rows}}, all,
                 [&](Scalars in) {
                   Scalar one = atLabel(in[0].constant(1), in[2], loop);
                   return (in[0] / in[1] - one) * (1 / count);
                 });
}
