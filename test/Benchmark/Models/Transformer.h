//===- Transformer.h - Language models of transformer blocks ----*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_BENCHMARK_MODELS_TRANSFORMER_H
#define TOFU_TEST_BENCHMARK_MODELS_TRANSFORMER_H

#include "Layers.h"
#include "Models.h"

namespace mlir::tofu::models {

/// Rows of a table by number, as a product with one-hot rows that are nowhere
/// in memory: cut along the vocabulary, it is a sum of parts.
class Embedding {
public:
  Embedding(Program &program, const Twine &name, int64_t count, int64_t size)
      : program(program), ops(program.getOps()), name(name.str()),
        table(program.addParameter(name, {count, size})) {}

  /// tokens [b, s] to [b, s, h].
  Value forward(Value tokens);
  void backward(Value gradient);

  /// x [b, s, h] times the table: one logit for each row of it.
  Value score(Value x);
  Value scoreBackward(Value gradient);

private:
  Program &program;
  Ops &ops;
  std::string name;
  Parameter &table;
  Value tokens, x;
};

/// A vector for each place in the sequence is added.
class Positions : public Layer {
public:
  Positions(Program &program, const Twine &name, int64_t sequence, int64_t size)
      : Layer(program, name),
        table(program.addParameter(name, {sequence, size})) {}

  Value forward(Value x) override;
  Value backward(Value gradient) override;

private:
  Parameter &table;
};

/// Causal, of x [b, s, h] with itself.
class Attention : public Layer {
public:
  Attention(Program &program, const Twine &name, int64_t hidden, int64_t heads);

  Value forward(Value x) override;
  Value backward(Value gradient) override;

private:
  /// Queries, keys and values.
  enum { Query, Key, Content, kNumProjections };

  struct Projection {
    Parameter *weight, *bias;
    Value result;
  };

  Value gradientOfScores(Value gradient);
  Value projectBack(Projection &projection, Value gradient);

  Projection projections[kNumProjections];
  Parameter &weight, &bias;
  double scale;
  Value x, attended, probabilities;
};

/// Makes the layer after the attention of block number `block`.
using MakeFeedForward = llvm::function_ref<std::unique_ptr<Layer>(
    Program &, const std::string &name, int64_t block)>;

/// Two linear layers with gelu between them.
std::unique_ptr<Layer> makeFeedForward(Program &program,
                                       const std::string &name, int64_t hidden,
                                       int64_t inner);

/// The sizes of all such models.
std::vector<Setting> getTransformerSettings();

/// Pre-norm blocks between a table of tokens and that table again.
llvm::Expected<Value> buildTransformer(Program &program, const Sizes &sizes,
                                       MakeFeedForward makeFeedForward);

} // namespace mlir::tofu::models

#endif // TOFU_TEST_BENCHMARK_MODELS_TRANSFORMER_H
