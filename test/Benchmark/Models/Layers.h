//===- Layers.h - Layers with their gradients -------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layer makes its weights when it is constructed, computes in forward(), and
// in backward() takes the loss's gradient in its result, adds those in its
// weights to the program, and returns that in its input. Operations have the
// layer's name as their location, those of backward() with ".backward".
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_BENCHMARK_MODELS_LAYERS_H
#define TOFU_TEST_BENCHMARK_MODELS_LAYERS_H

#include "Program.h"

namespace mlir::tofu::models {

class Layer {
public:
  Layer(Program &program, const Twine &name)
      : program(program), ops(program.getOps()), name(name.str()) {}
  virtual ~Layer() = default;

  virtual Value forward(Value x) = 0;
  virtual Value backward(Value gradient) = 0;

protected:
  void enterForward() { ops.setName(name); }
  void enterBackward() { ops.setName(name + ".backward"); }

  Program &program;
  Ops &ops;
  std::string name;
};

/// One after the other.
class Sequence : public Layer {
public:
  using Layer::Layer;

  template <typename T, typename... Args>
  void add(Args &&...args) {
    layers.push_back(std::make_unique<T>(program, std::forward<Args>(args)...));
  }

  Value forward(Value x) override;
  Value backward(Value gradient) override;

  void add(std::unique_ptr<Layer> layer) { layers.push_back(std::move(layer)); }

private:
  std::vector<std::unique_ptr<Layer>> layers;
};

/// The sum of a branch and of x, or of x through a shortcut.
class Residual : public Layer {
public:
  Residual(Program &program, const Twine &name, std::unique_ptr<Layer> branch,
           std::unique_ptr<Layer> shortcut = nullptr)
      : Layer(program, name), branch(std::move(branch)),
        shortcut(std::move(shortcut)) {}

  Value forward(Value x) override;
  Value backward(Value gradient) override;

private:
  std::unique_ptr<Layer> branch, shortcut;
};

/// The last dim of x times a matrix. x has the dims `rows` before it.
class Linear : public Layer {
public:
  enum class Bias { No, Yes };

  Linear(Program &program, const Twine &name, StringRef rows, int64_t inputs,
         int64_t outputs, Bias bias);

  Value forward(Value x) override;
  Value backward(Value gradient) override;

private:
  /// The rows and one more loop.
  std::string with(char loop) const { return rows + " " + loop; }

  std::string rows;
  Parameter &weight;
  Parameter *bias = nullptr;
  Value x;
};

class Relu : public Layer {
public:
  using Layer::Layer;

  Value forward(Value x) override;
  Value backward(Value gradient) override;

private:
  Value y;
};

/// x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))
class Gelu : public Layer {
public:
  using Layer::Layer;

  Value forward(Value x) override;
  Value backward(Value gradient) override;

private:
  Value x;
};

/// Over the last dim of x [b, s, h].
class LayerNorm : public Layer {
public:
  LayerNorm(Program &program, const Twine &name, int64_t size);

  Value forward(Value x) override;
  Value backward(Value gradient) override;

private:
  Parameter &gain, &bias;
  Value normal, deviation;
};

//===----------------------------------------------------------------------===//
// Images, [n, h, w, c] with h = w
//===----------------------------------------------------------------------===//

/// Zeros are added around x so that the result has ceil(size / stride) rows.
class Conv2d : public Layer {
public:
  Conv2d(Program &program, const Twine &name, int64_t window, int64_t stride,
         int64_t inputs, int64_t outputs);

  Value forward(Value x) override;
  Value backward(Value gradient) override;

private:
  Value gradientOfInput(Value gradient);

  int64_t window, stride, imageSize = 0, low = 0;
  Parameter &kernel;
  Value padded;
};

class MaxPool2d : public Layer {
public:
  MaxPool2d(Program &program, const Twine &name, int64_t window, int64_t stride)
      : Layer(program, name), window(window), stride(stride) {}

  Value forward(Value x) override;
  Value backward(Value gradient) override;

private:
  int64_t window, stride, low = 0;
  Value x, y;
};

/// By the statistics of the batch.
class BatchNorm2d : public Layer {
public:
  BatchNorm2d(Program &program, const Twine &name, int64_t channels);

  Value forward(Value x) override;
  Value backward(Value gradient) override;

private:
  Parameter &gain, &bias;
  Value normal, deviation;
};

/// The mean of the image.
class MeanPool2d : public Layer {
public:
  using Layer::Layer;

  Value forward(Value x) override;
  Value backward(Value gradient) override;

private:
  Value x;
};

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// Mean of -log softmax(logits)[label] over the dims `rows`.
class CrossEntropy {
public:
  CrossEntropy(Program &program, const Twine &name, StringRef rows)
      : ops(program.getOps()), name(name.str()), rows(rows) {}

  Value forward(Value logits, Value labels);
  /// In the logits.
  Value backward();

private:
  Ops &ops;
  std::string name, rows;
  Value labels, powers, total;
};

} // namespace mlir::tofu::models

#endif // TOFU_TEST_BENCHMARK_MODELS_LAYERS_H
