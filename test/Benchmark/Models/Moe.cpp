//===- Moe.cpp - Mixtures of experts --------------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPT in which every second block has experts, with the sizes of the Alpa
// paper: feed-forward layers are 8 times as wide as the states. Each token goes
// to the two experts that its gate likes best; an expert takes the first
// 2 * seq / experts tokens of a sequence that come to it, and others pass it
// by. Tokens are moved by products with a 0/1 tensor [sequence, token, expert,
// place], as in GShard. No loss balances the experts.
//
//===----------------------------------------------------------------------===//

#include "Transformer.h"

using namespace mlir;
using namespace mlir::tofu;
using namespace mlir::tofu::models;

using Scalars = ArrayRef<Scalar>;

static constexpr int64_t kChoices = 2, kInnerFactor = 8;

static Scalar itself(Scalars in) { return in[0]; }
static Scalar product(Scalars in) { return in[0] * in[1]; }

namespace {

/// Loops: sequence b, token s, expert e, place in the expert c, state h, inner
/// state f.
class Experts : public Layer {
public:
  Experts(Program &program, const Twine &name, int64_t hidden, int64_t experts);

  Value forward(Value x) override;
  Value backward(Value gradient) override;

private:
  void chooseExperts();
  void placeTokens();
  Value backFromWeights(Value gradient);

  Parameter &gate, &up, &upBias, &down, &downBias;
  Gelu gelu;
  Value x;
  /// [b, s, e]; `weights` are the chosen probabilities, with the sum 1.
  Value probabilities, chosen, weights;
  /// [b, s], the sum of the chosen probabilities.
  Value total;
  /// [b, s, e, c]: 1, and the weight, where the token has its place.
  Value dispatch, combine;
  Value inputs, inner, outputs;
};

} // namespace

Experts::Experts(Program &program, const Twine &name, int64_t hidden,
                 int64_t experts)
    : Layer(program, name),
      gate(program.addParameter(name + ".gate", {hidden, experts})),
      up(program.addParameter(name + ".up",
                              {experts, hidden, kInnerFactor * hidden})),
      upBias(program.addParameter(name + ".up.bias",
                                  {experts, kInnerFactor * hidden})),
      down(program.addParameter(name + ".down",
                                {experts, kInnerFactor * hidden, hidden})),
      downBias(program.addParameter(name + ".down.bias", {experts, hidden})),
      gelu(program, name + ".gelu") {}

void Experts::chooseExperts() {
  StringRef all = "b s e", rows = "b s";
  Value logits = ops.contract({x, "b s h"}, {gate, "h e"}, all);
  probabilities = ops.softmax({logits, all}, rows);
  Value first = ops.greatest({probabilities, all}, rows);
  Value others =
      ops.map({{probabilities, all}, {first, rows}}, all, [](Scalars in) {
        return select(equal(in[0], in[1]), in[0].constant(-1), in[0]);
      });
  Value second = ops.greatest({others, all}, rows);
  chosen = ops.map({{probabilities, all}, {second, rows}}, all, [](Scalars in) {
    return select(less(in[0], in[1]), in[0].constant(0), in[0].constant(1));
  });
  total = ops.sum({{probabilities, all}, {chosen, all}}, rows, product);
  weights = ops.map({{probabilities, all}, {chosen, all}, {total, rows}}, all,
                    [](Scalars in) { return in[0] * in[1] / in[2]; });
}

/// A token's place is how many of its sequence came to the expert before it.
void Experts::placeTokens() {
  int64_t tokens = sizeOf(x, 1), experts = sizeOf(gate, 1);
  int64_t places = llvm::divideCeil(kChoices * tokens, experts);
  Value before = ops.sum({{chosen, "b t e"}}, "b s e",
                         [](Scalars in) {
                           Scalar isBefore =
                               less(loopIndex(in[0], 3), loopIndex(in[0], 1));
                           return select(isBefore, in[0], in[0].constant(0));
                         },
                         {{'s', tokens}});
  dispatch =
      ops.map({{chosen, "b s e"}, {before, "b s e"}}, "b s e c",
              [](Scalars in) {
                Scalar place = toFloat(loopIndex(in[0], 3), in[0]);
                return select(equal(in[1], place), in[0], in[0].constant(0));
              },
              {{'c', places}});
  combine =
      ops.map({{dispatch, "b s e c"}, {weights, "b s e"}}, "b s e c", product);
}

Value Experts::forward(Value input) {
  enterForward();
  x = input;
  chooseExperts();
  placeTokens();
  inputs = ops.contract({dispatch, "b s e c"}, {x, "b s h"}, "e b c h");
  Value y = ops.contract({inputs, "e b c h"}, {up, "e h f"}, "e b c f");
  inner = gelu.forward(ops.addBias({y, "e b c f"}, {upBias, "e f"}));
  enterForward();
  y = ops.contract({inner, "e b c f"}, {down, "e f h"}, "e b c h");
  outputs = ops.addBias({y, "e b c h"}, {downBias, "e h"});
  return ops.contract({combine, "b s e c"}, {outputs, "e b c h"}, "b s h");
}

/// From the gradient in `weights` through the gate. What is chosen and where
/// are steps, whose gradient is zero.
Value Experts::backFromWeights(Value gradient) {
  StringRef all = "b s e", rows = "b s";
  Value mean = ops.sum({{gradient, all}, {weights, all}}, rows, product);
  Value g =
      ops.map({{gradient, all}, {mean, rows}, {chosen, all}, {total, rows}},
              all, [](Scalars in) { return (in[0] - in[1]) * in[2] / in[3]; });
  mean = ops.sum({{g, all}, {probabilities, all}}, rows, product);
  g = ops.map({{g, all}, {mean, rows}, {probabilities, all}}, all,
              [](Scalars in) { return (in[0] - in[1]) * in[2]; });
  program.addGradient(gate, ops.contract({x, "b s h"}, {g, all}, "h e"));
  return ops.contract({g, all}, {gate, "h e"}, "b s h");
}

Value Experts::backward(Value gradient) {
  enterBackward();
  Read g{ops.contract({combine, "b s e c"}, {gradient, "b s h"}, "e b c h"),
         "e b c h"};
  program.addGradient(down, ops.contract({inner, "e b c f"}, g, "e f h"));
  program.addGradient(downBias, ops.sum(g, "e h", itself));
  Read h{gelu.backward(ops.contract(g, {down, "e f h"}, "e b c f")), "e b c f"};
  enterBackward();
  program.addGradient(up, ops.contract({inputs, "e b c h"}, h, "e h f"));
  program.addGradient(upBias, ops.sum(h, "e f", itself));
  Value inInputs = ops.contract(h, {up, "e h f"}, "e b c h");
  Value inX =
      ops.contract({dispatch, "b s e c"}, {inInputs, "e b c h"}, "b s h");
  Value inCombine =
      ops.contract({gradient, "b s h"}, {outputs, "e b c h"}, "b s e c");
  Value inWeights = ops.sum({{inCombine, "b s e c"}, {dispatch, "b s e c"}},
                            "b s e", product);
  return ops.add(inX, backFromWeights(inWeights));
}

static llvm::Expected<Value> build(Program &program, const Sizes &sizes) {
  int64_t hidden = sizes.at("hidden"), experts = sizes.at("experts");
  if (experts < kChoices)
    return sizeError("--experts must be at least 2");
  return buildTransformer(
      program, sizes,
      [&](Program &program, const std::string &name,
          int64_t block) -> std::unique_ptr<Layer> {
        if (block % 2 == 0)
          return std::make_unique<Experts>(program, name, hidden, experts);
        return makeFeedForward(program, name, hidden, kInnerFactor * hidden);
      });
}

Model models::getMoe() {
  std::vector<Setting> settings = getTransformerSettings();
  settings.push_back({"experts", 8, "experts of every second block"});
  return {"moe", "GPT with a mixture of experts in every second block",
          settings, build};
}
