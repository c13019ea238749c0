//===- Transformer.cpp - Language models of transformer blocks ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transformer.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::tofu;
using namespace mlir::tofu::models;

using Scalars = ArrayRef<Scalar>;

static Scalar itself(Scalars in) { return in[0]; }

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// `in` where the row that loop `loop` is at is the token's, else zero.
static Scalar atToken(Scalar in, Scalar token, unsigned loop) {
  return select(equal(loopIndex(in, loop), toIndex(token)), in, in.constant(0));
}

Value Embedding::forward(Value numbers) {
  ops.setName(name);
  tokens = numbers;
  return ops.sum({{table, "v h"}, {tokens, "b s"}}, "b s h",
                 [](Scalars in) { return atToken(in[0], in[1], /*loop=*/3); });
}

void Embedding::backward(Value gradient) {
  ops.setName(name + ".backward");
  program.addGradient(
      table, ops.sum({{gradient, "b s h"}, {tokens, "b s"}}, "v h",
                     [](Scalars in) { return atToken(in[0], in[1], 0); },
                     {{'v', sizeOf(table, 0)}}));
}

Value Embedding::score(Value input) {
  ops.setName(name + ".score");
  x = input;
  return ops.contract({x, "b s h"}, {table, "v h"}, "b s v");
}

Value Embedding::scoreBackward(Value gradient) {
  ops.setName(name + ".score.backward");
  program.addGradient(table,
                      ops.contract({gradient, "b s v"}, {x, "b s h"}, "v h"));
  return ops.contract({gradient, "b s v"}, {table, "v h"}, "b s h");
}

Value Positions::forward(Value x) {
  enterForward();
  return ops.addBias({x, "b s h"}, {table, "s h"});
}

Value Positions::backward(Value gradient) {
  enterBackward();
  program.addGradient(table, ops.sum({{gradient, "b s h"}}, "s h", itself));
  return gradient;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

Attention::Attention(Program &program, const Twine &name, int64_t hidden,
                     int64_t heads)
    : Layer(program, name),
      weight(
          program.addParameter(name + ".out", {heads, hidden / heads, hidden})),
      bias(program.addParameter(name + ".out.bias", {hidden})),
      scale(1 / std::sqrt(double(hidden / heads))) {
  const char *names[kNumProjections] = {".query", ".key", ".value"};
  for (int64_t i = 0; i < kNumProjections; ++i) {
    projections[i].weight =
        &program.addParameter(name + names[i], {hidden, heads, hidden / heads});
    projections[i].bias = &program.addParameter(name + names[i] + ".bias",
                                                {heads, hidden / heads});
  }
}

Value Attention::forward(Value input) {
  enterForward();
  x = input;
  for (Projection &p : projections) {
    Value y = ops.contract({x, "b s h"}, {*p.weight, "h n d"}, "b s n d");
    p.result = ops.addBias({y, "b s n d"}, {*p.bias, "n d"});
  }
  Value scores = ops.contract({projections[Query].result, "b s n d"},
                              {projections[Key].result, "b t n d"}, "b n s t");
  scores = ops.map({{scores, "b n s t"}}, "b n s t", [&](Scalars in) {
    Scalar least = in[0].constant(-std::numeric_limits<double>::infinity());
    Scalar query = loopIndex(in[0], 2), key = loopIndex(in[0], 3);
    return select(lessOrEqual(key, query), in[0] * scale, least);
  });
  probabilities = ops.softmax({scores, "b n s t"}, "b n s");
  attended = ops.contract({probabilities, "b n s t"},
                          {projections[Content].result, "b t n d"}, "b s n d");
  Value y = ops.contract({attended, "b s n d"}, {weight, "n d h"}, "b s h");
  return ops.addBias({y, "b s h"}, {bias, "h"});
}

/// From the gradient in `attended`. Where the mask is, the probability is zero
/// and so is the gradient.
Value Attention::gradientOfScores(Value gradient) {
  Read p{probabilities, "b n s t"};
  Read g{ops.contract({gradient, "b s n d"},
                      {projections[Content].result, "b t n d"}, "b n s t"),
         "b n s t"};
  Value mean =
      ops.sum({g, p}, "b n s", [](Scalars in) { return in[0] * in[1]; });
  return ops.map({g, p, {mean, "b n s"}}, "b n s t",
                 [&](Scalars in) { return in[1] * (in[0] - in[2]) * scale; });
}

/// To the gradient in x from that in a query, key or value.
Value Attention::projectBack(Projection &projection, Value gradient) {
  Read g{gradient, "b s n d"};
  program.addGradient(*projection.weight,
                      ops.contract({x, "b s h"}, g, "h n d"));
  program.addGradient(*projection.bias, ops.sum(g, "n d", itself));
  return ops.contract(g, {*projection.weight, "h n d"}, "b s h");
}

Value Attention::backward(Value gradient) {
  enterBackward();
  Read g{gradient, "b s h"};
  program.addGradient(weight, ops.contract({attended, "b s n d"}, g, "n d h"));
  program.addGradient(bias, ops.sum(g, "h", itself));
  Value inAttended = ops.contract(g, {weight, "n d h"}, "b s n d");
  Read scores{gradientOfScores(inAttended), "b n s t"};
  Value gradients[kNumProjections];
  gradients[Query] =
      ops.contract(scores, {projections[Key].result, "b t n d"}, "b s n d");
  gradients[Key] =
      ops.contract(scores, {projections[Query].result, "b s n d"}, "b t n d");
  gradients[Content] = ops.contract({probabilities, "b n s t"},
                                    {inAttended, "b s n d"}, "b t n d");
  Value total;
  for (int64_t i = 0; i < kNumProjections; ++i) {
    Value part = projectBack(projections[i], gradients[i]);
    total = total ? ops.add(total, part) : part;
  }
  return total;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

std::unique_ptr<Layer> models::makeFeedForward(Program &program,
                                               const std::string &name,
                                               int64_t hidden, int64_t inner) {
  auto layers = std::make_unique<Sequence>(program, name);
  layers->add<Linear>(name + ".up", "b s", hidden, inner, Linear::Bias::Yes);
  layers->add<Gelu>(name + ".gelu");
  layers->add<Linear>(name + ".down", "b s", inner, hidden, Linear::Bias::Yes);
  return layers;
}

std::vector<Setting> models::getTransformerSettings() {
  return {{"layers", 12, "blocks"},
          {"hidden", 768, "elements of a token's state"},
          {"heads", 12, "heads of the attention"},
          {"batch", 8, "sequences"},
          {"seq", 1024, "tokens of a sequence"},
          {"vocab", 51200, "tokens there are"}};
}

/// `layer` of the normalized x is added to x.
static std::unique_ptr<Layer> addToNormalized(Program &program,
                                              const std::string &name,
                                              int64_t hidden,
                                              std::unique_ptr<Layer> layer) {
  auto branch = std::make_unique<Sequence>(program, name);
  branch->add<LayerNorm>(name + ".norm", hidden);
  branch->add(std::move(layer));
  return std::make_unique<Residual>(program, name + ".add", std::move(branch));
}

llvm::Expected<Value>
models::buildTransformer(Program &program, const Sizes &sizes,
                         MakeFeedForward makeFeedForward) {
  int64_t hidden = sizes.at("hidden"), heads = sizes.at("heads");
  int64_t batch = sizes.at("batch"), seq = sizes.at("seq");
  if (hidden % heads != 0)
    return sizeError("--hidden must be a multiple of --heads");
  Embedding embedding(program, "tokens", sizes.at("vocab"), hidden);
  Sequence layers(program, "");
  layers.add<Positions>("positions", seq, hidden);
  for (int64_t i = 1; i <= sizes.at("layers"); ++i) {
    std::string name = llvm::formatv("layer{0}", i);
    layers.add(addToNormalized(program, name + ".attention", hidden,
                               std::make_unique<Attention>(program,
                                                           name + ".attention",
                                                           hidden, heads)));
    layers.add(addToNormalized(program, name + ".mlp", hidden,
                               makeFeedForward(program, name + ".mlp", i)));
  }
  layers.add<LayerNorm>("norm", hidden);
  Value tokens = program.addLabels("batch.tokens", {batch, seq});
  Value labels = program.addLabels("batch.labels", {batch, seq});

  CrossEntropy loss(program, "loss", "b s");
  Value states = layers.forward(embedding.forward(tokens));
  Value result = loss.forward(embedding.score(states), labels);
  Value gradient = embedding.scoreBackward(loss.backward());
  embedding.backward(layers.backward(gradient));
  return result;
}
