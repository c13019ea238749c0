//===- OuterOperations.cpp - Globals, and functions of a library ----------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operations.h"
#include "Reducers.h"

using namespace mlir::tofu::fuzz;

//===----------------------------------------------------------------------===//
// Globals
//===----------------------------------------------------------------------===//

namespace {
/// A global of the type of some value.
class Global {
public:
  Global(Program &program, const Value &like, bool isMutable);

  /// Adds a load. `stored` is the quality of all that was stored so far, also
  /// by the run before.
  size_t load(const Quality &stored);

  std::string loadText() const {
    return std::string("ml_program.global_load") +
           (isMutable ? " @" : "_const @") + name + " : " + type;
  }

  /// Adds a load of what has just been stored: the value `x`.
  size_t storeAndLoad(size_t x);

  std::string storeText(const std::string &value) const {
    return "ml_program.global_store @" + name + " = " + value + " : " + type;
  }

  const Quality &initial() const { return quality; }

private:
  Program &program;
  std::string name, type, element;
  Shape shape;
  Quality quality;
  bool isMutable;
};
} // namespace

Global::Global(Program &program, const Value &like, bool isMutable)
    : program(program), name(program.freshName("g").substr(1)),
      type(like.type()), element(like.element), shape(like.shape),
      isMutable(isMutable) {
  quality.integral = isReal(element);
  // Without an initial value it begins with zeros.
  std::string initial;
  if (!isMutable || program.random.chance(70))
    initial = "(" + program.randomElements(element, shape) + " : " + type + ")";
  program.addFunction("ml_program.global private " +
                      std::string(isMutable ? "mutable " : "") + "@" + name +
                      initial + " : " + type + "\n");
}

size_t Global::load(const Quality &stored) {
  return program.add(loadText(), element, shape, larger(quality, stored));
}

size_t Global::storeAndLoad(size_t x) {
  program.addEffect(storeText(program.use(x)));
  return program.add(loadText(), element, shape, program[x].quality);
}

/// A loop that changes a global. Each trip halves what it finds, so that the
/// number of trips stays out of the error.
static void addGlobalLoop(Program &program) {
  size_t x = program.pick([](const Value &value) {
    return value.element == "f32" && value.isUsable();
  });
  const Value input = program[x];
  Global global(program, input, /*isMutable=*/true);
  const Quality a = larger(input.quality, global.initial());
  std::string type = input.type();
  std::string half =
      program.addOther("arith.constant dense<0.5> : " + type, type);
  LoopHead loop(program, 4);
  std::string name = program.use(x), carried = program.freshName("l");
  Quality quality = {a.bound + 2 * input.quality.bound,
                     2 * input.quality.error + a.error, false};
  program.add(loop.text + " iter_args(" + carried + " = " + name + ") -> (" +
                  type + ") {\n      %g = " + global.loadText() +
                  "\n      %h = arith.mulf %g, " + half + " : " + type +
                  "\n      %n = arith.addf %h, " + name + " : " + type +
                  "\n      " + global.storeText("%n") +
                  "\n      scf.yield %g : " + type + "\n    }",
              "f32", input.shape, quality);
  global.load(quality);
}

void mlir::tofu::fuzz::addGlobal(Program &program) {
  if (program.random.chance(20))
    return addGlobalLoop(program);
  size_t x =
      program.pick([](const Value &value) { return value.shape.size() > 0; });
  const Value like = program[x];
  if (program.random.chance(25)) {
    Global(program, like, /*isMutable=*/false).load({0, 0, true});
    return;
  }
  Global global(program, like, /*isMutable=*/true);
  // What a run finds is what the run before has stored: numbers that don't
  // depend on it.
  if (program.random.chance(40)) {
    size_t argument = program.addArgument(like.element, like.shape);
    global.load(program[argument].quality);
    x = argument;
  }
  global.storeAndLoad(x);
}

//===----------------------------------------------------------------------===//
// Functions of the library of the tests
//===----------------------------------------------------------------------===//

/// Adds a call of `callee`, whose declaration has these semantics.
static void addForeignCall(Program &program, const std::string &callee,
                           const std::string &semantics,
                           const std::vector<std::string> &operands,
                           const std::vector<std::string> &operandTypes,
                           const std::vector<Value> &results) {
  std::vector<std::string> types;
  for (const Value &result : results)
    types.push_back(result.type());
  std::string type = "(" + join(operandTypes) + ") -> (" + join(types) + ")";
  program.addFunction("func.func private @" + callee + type +
                      " attributes {\n    tofu.semantics = #tofu.semantics<" +
                      semantics + ">\n}\n");
  std::string text =
      "func.call @" + callee + "(" + join(operands) + ") : " + type;
  if (results.size() == 1) {
    program.tame(program.add(text, results[0].element, results[0].shape,
                             results[0].quality));
    return;
  }
  for (size_t number : program.addAll(text, results))
    program.tame(number);
}

static Value f32Value(const Shape &shape, const Quality &quality) {
  Value value;
  value.element = "f32";
  value.shape = shape;
  value.quality = quality;
  return value;
}

static void addReverse(Program &program) {
  size_t x = program.pick([](const Value &value) {
    return value.element == "f32" && value.shape.size() == 1;
  });
  const Value input = program[x];
  std::string last = std::to_string(input.shape[0] - 1);
  addForeignCall(program, "reverse",
                 "[i = " + std::to_string(input.shape[0]) + "], (in[" + last +
                     " - i]) -> (out[i]), linear [{0}]",
                 {program.use(x)}, {input.type()},
                 {f32Value(input.shape, input.quality)});
}

void mlir::tofu::fuzz::addForeignCall(Program &program) {
  static const std::vector<std::string> kCallees = {
      "reverse", "moments", "sum_squares", "add_squares", "sum_and_max"};
  const std::string &callee = program.random.pick(kCallees);
  // A function has one declaration, and that has one type.
  if (!program.declare(callee))
    return;
  if (callee == "reverse")
    return addReverse(program);
  size_t x = program.pick([](const Value &value) {
    return value.element == "f32" && value.shape.size() == 2 &&
           value.isUsable() && value.quality.bound < 100;
  });
  const Value input = program[x];
  const Quality &item = input.quality;
  Quality square = {item.bound * item.bound, 2 * item.bound * item.error,
                    item.integral};
  int64_t rows = input.shape[0], columns = input.shape[1];
  std::string m = std::to_string(rows), n = std::to_string(columns);
  std::string name = program.use(x);
  if (callee == "moments") {
    std::string half = program.addOther("arith.constant 0.5 : f32", "f32");
    square.integral = false;
    return ::addForeignCall(
        program, callee, "[i = " + m + "], (x[i, :]) -> (mean[i], square[i])",
        {name, half}, {input.type(), "f32"},
        {f32Value({rows}, {item.bound, item.error, false}),
         f32Value({rows}, square)});
  }
  std::string dims = "[i = " + m + " : sum, j = " + n + "]";
  if (callee == "sum_squares")
    return ::addForeignCall(
        program, callee, dims + ", (x[i, j]) -> (out[j])", {name},
        {input.type()},
        {f32Value({columns},
                  reduce("arith.addf", "f32", rows, square, {0, 0, true}))});
  if (callee == "sum_and_max")
    return ::addForeignCall(
        program, callee,
        "[i = " + m + " : (sum, max), j = " + n +
            "], (x[i, j]) -> (sum[j], max[j])",
        {name}, {input.type()},
        {f32Value({columns},
                  reduce("arith.addf", "f32", rows, item, {0, 0, true})),
         f32Value({columns}, item)});
  size_t init = program.getOperand("f32", {columns});
  Quality sum =
      reduce("arith.addf", "f32", rows, square, program[init].quality);
  std::string initName = program.use(init);
  ::addForeignCall(program, callee,
                   dims + ", (x[i, j], init out[j]) -> (out[j])",
                   {name, initName}, {input.type(), typeText("f32", {columns})},
                   {f32Value({columns}, sum)});
}
