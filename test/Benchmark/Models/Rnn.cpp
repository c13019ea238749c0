//===- Rnn.cpp - Recurrent networks ---------------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LSTM layers, unrolled. The first layer adds its input to the gates as it is,
// without a matrix, so that there are 4 * hidden^2 * (2 * layers - 1) weights,
// as the Tofu paper counts. The loss is the mean squared distance of the last
// layer's states from targets.
//
//===----------------------------------------------------------------------===//

#include "Layers.h"
#include "Models.h"

using namespace mlir;
using namespace mlir::tofu;
using namespace mlir::tofu::models;

using Scalars = ArrayRef<Scalar>;

static Scalar sigmoid(Scalar x) { return x.constant(1) / (exp(0 - x) + 1); }

/// The input, forget and output gate, and what is added to the cell.
enum Gate { In, Forget, Out, New, kNumGates };

namespace {

/// One LSTM layer, with all its steps.
class LstmLayer {
public:
  enum class InputMatrix { No, Yes };

  LstmLayer(Program &program, const Twine &name, int64_t hidden,
            InputMatrix hasMatrix);

  /// The state after one more step.
  Value forward(Value x);
  /// The last step that was not gone back yet: from the gradient in its state,
  /// but for what the step after it adds, to that in x.
  Value backward(Value gradient);

private:
  /// What a step keeps for its way back.
  struct Step {
    Value x, state, cell, gates[kNumGates], newCell;
  };

  Value sumGates(const Step &step);
  Value gradientOfGates(const Step &step, Value ofState, Value ofCell);

  Program &program;
  Ops &ops;
  std::string name;
  Parameter *ofInput = nullptr;
  Parameter &ofState, &bias;
  std::vector<Step> steps;
  Value state, cell;
  /// In the state and the cell, from the step after.
  Value gradientInState, gradientInCell;
};

} // namespace

LstmLayer::LstmLayer(Program &program, const Twine &name, int64_t hidden,
                     InputMatrix hasMatrix)
    : program(program), ops(program.getOps()), name(name.str()),
      ofState(
          program.addParameter(name + ".state", {hidden, kNumGates, hidden})),
      bias(program.addParameter(name + ".bias", {kNumGates, hidden})) {
  if (hasMatrix == InputMatrix::Yes)
    ofInput =
        &program.addParameter(name + ".input", {hidden, kNumGates, hidden});
}

Value LstmLayer::sumGates(const Step &step) {
  Value fromState =
      ops.contract({step.state, "b k"}, {ofState, "k g h"}, "b g h");
  Read fromInput{step.x, "b h"};
  if (ofInput)
    fromInput = {ops.contract({step.x, "b k"}, {*ofInput, "k g h"}, "b g h"),
                 "b g h"};
  return ops.map({{fromState, "b g h"}, fromInput, {bias, "g h"}}, "b g h",
                 [](Scalars in) { return in[0] + in[1] + in[2]; });
}

Value LstmLayer::forward(Value x) {
  ops.setName(name + ".step" + Twine(steps.size()));
  if (steps.empty())
    state = cell = ops.fill(shapeOf(x), 0);
  Step step{x, state, cell, {}, {}};
  Value gates = sumGates(step);
  for (int64_t gate = 0; gate < kNumGates; ++gate)
    step.gates[gate] = ops.take(gates, 1, gate);
  StringRef dims = "b h";
  step.newCell =
      ops.map({{step.gates[In], dims},
               {step.gates[Forget], dims},
               {step.gates[New], dims},
               {cell, dims}},
              dims, [](Scalars in) {
                return sigmoid(in[1]) * in[3] + sigmoid(in[0]) * tanh(in[2]);
              });
  cell = step.newCell;
  state = ops.map({{step.gates[Out], dims}, {cell, dims}}, dims,
                  [](Scalars in) { return sigmoid(in[0]) * tanh(in[1]); });
  steps.push_back(step);
  return state;
}

/// Of the sigmoid that is `s`.
static Scalar slope(Scalar s) { return s * (1 - s); }

Value LstmLayer::gradientOfGates(const Step &step, Value ofState,
                                 Value ofCell) {
  StringRef dims = "b h";
  SmallVector<Read> reads{
      {ofState, dims}, {ofCell, dims}, {step.cell, dims}, {step.newCell, dims}};
  for (Value gate : step.gates)
    reads.push_back({gate, dims});
  return ops.map(reads, "b g h",
                 [](Scalars in) {
                   Scalar i = sigmoid(in[4 + In]), f = sigmoid(in[4 + Forget]),
                          o = sigmoid(in[4 + Out]), n = tanh(in[4 + New]);
                   Scalar gradients[kNumGates] = {
                       in[1] * n * slope(i), in[1] * in[2] * slope(f),
                       in[0] * tanh(in[3]) * slope(o), in[1] * i * (1 - n * n)};
                   Scalar gate = loopIndex(in[0], 1), result = gradients[New];
                   for (int64_t other : {In, Forget, Out})
                     result = select(equal(gate, indexConstant(gate, other)),
                                     gradients[other], result);
                   return result;
                 },
                 {{'g', kNumGates}});
}

Value LstmLayer::backward(Value gradient) {
  Step step = steps.back();
  steps.pop_back();
  ops.setName(name + ".step" + Twine(steps.size()) + ".backward");
  StringRef dims = "b h";
  Value ofNewState =
      gradientInState ? ops.add(gradient, gradientInState) : gradient;
  Value ofNewCell = ops.map(
      {{ofNewState, dims}, {step.gates[Out], dims}, {step.newCell, dims}}, dims,
      [](Scalars in) {
        Scalar t = tanh(in[2]);
        return in[0] * sigmoid(in[1]) * (1 - t * t);
      });
  if (gradientInCell)
    ofNewCell = ops.add(ofNewCell, gradientInCell);
  Value g = gradientOfGates(step, ofNewState, ofNewCell);
  gradientInCell =
      ops.map({{ofNewCell, dims}, {step.gates[Forget], dims}}, dims,
              [](Scalars in) { return in[0] * sigmoid(in[1]); });
  gradientInState = ops.contract({g, "b g h"}, {ofState, "k g h"}, "b k");
  program.addGradient(ofState,
                      ops.contract({step.state, "b k"}, {g, "b g h"}, "k g h"));
  program.addGradient(
      bias, ops.sum({{g, "b g h"}}, "g h", [](Scalars in) { return in[0]; }));
  if (!ofInput)
    return ops.sum({{g, "b g h"}}, "b h", [](Scalars in) { return in[0]; });
  program.addGradient(*ofInput,
                      ops.contract({step.x, "b k"}, {g, "b g h"}, "k g h"));
  return ops.contract({g, "b g h"}, {*ofInput, "k g h"}, "b k");
}

static Value squaredDistance(Ops &ops, Value state, Value target,
                             double factor) {
  return ops.sum({{state, "b h"}, {target, "b h"}}, "", [&](Scalars in) {
    Scalar distance = in[0] - in[1];
    return distance * distance * factor;
  });
}

static llvm::Expected<Value> build(Program &program, const Sizes &sizes) {
  int64_t hidden = sizes.at("hidden"), batch = sizes.at("batch");
  int64_t steps = sizes.at("steps");
  std::vector<LstmLayer> layers;
  for (int64_t i = 0; i < sizes.at("layers"); ++i)
    layers.emplace_back(program, "layer" + Twine(i + 1), hidden,
                        i == 0 ? LstmLayer::InputMatrix::No
                               : LstmLayer::InputMatrix::Yes);
  Value inputs = program.addInput("inputs", {steps, batch, hidden});
  Value targets = program.addInput("targets", {steps, batch, hidden});

  Ops &ops = program.getOps();
  double factor = 1.0 / (steps * batch * hidden);
  SmallVector<Value> gradients;
  Value loss;
  for (int64_t step = 0; step < steps; ++step) {
    ops.setName("input.step" + Twine(step));
    Value x = ops.take(inputs, 0, step);
    for (LstmLayer &layer : layers)
      x = layer.forward(x);
    ops.setName("loss.step" + Twine(step));
    Value target = ops.take(targets, 0, step);
    Value more = squaredDistance(ops, x, target, factor);
    loss = loss ? ops.add(loss, more) : more;
    gradients.push_back(
        ops.map({{x, "b h"}, {target, "b h"}}, "b h",
                [&](Scalars in) { return (in[0] - in[1]) * (2 * factor); }));
  }
  for (Value gradient : llvm::reverse(gradients))
    for (LstmLayer &layer : llvm::reverse(layers))
      gradient = layer.backward(gradient);
  return loss;
}

Model models::getRnn() {
  return {"rnn",
          "LSTM layers, unrolled",
          {{"layers", 2, "LSTM layers"},
           {"hidden", 1024, "elements of a state"},
           {"steps", 20, "time steps"},
           {"batch", 64, "sequences"}},
          build};
}
