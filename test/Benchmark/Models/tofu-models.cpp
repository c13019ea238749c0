//===- tofu-models.cpp - Prints training steps of known models ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tofu;
using namespace mlir::tofu::models;

static constexpr llvm::StringLiteral kOverview =
    "Prints a training step - forward, loss, backward, update by momentum - "
    "as\n"
    "linalg on tensors.\n\n"
    "  tofu-models --model=NAME [--SIZE=N...] [--dtype=f32|f64]\n"
    "  tofu-models --model=NAME [--SIZE=N...] --print-parameters\n\n"
    "--print-parameters prints, instead of the program, how many weights "
    "there\n"
    "are, and their GiB in f32. Models and their sizes:\n";

/// Of what is said on the command line: products of several still are numbers.
static constexpr int64_t kGreatestSize = 1 << 20;

namespace {

struct CommandLine {
  Model model;
  Sizes sizes;
  std::string dtype = "f32";
  bool printParameters = false;
};

} // namespace

static std::vector<Model> getModels() {
  return {getMlp(), getWResNet(), getRnn(), getGpt(), getMoe()};
}

static void printHelp() {
  llvm::outs() << kOverview;
  for (const Model &model : getModels()) {
    llvm::outs() << "\n  " << model.name << ": " << model.meaning << '\n';
    for (const Setting &setting : model.settings)
      llvm::outs() << llvm::formatv("    --{0,-12} {1} ({2})\n", setting.name,
                                    setting.meaning, setting.standard);
  }
}

/// The value of --NAME=VALUE in the arguments, and takes it out of them.
static std::optional<StringRef> take(SmallVectorImpl<StringRef> &args,
                                     StringRef name) {
  for (StringRef &arg : args) {
    auto [key, value] = arg.split('=');
    if (!key.consume_front("--") || key != name || !arg.contains('='))
      continue;
    StringRef found = value;
    args.erase(&arg);
    return found;
  }
  return std::nullopt;
}

static llvm::Expected<Model> findModel(StringRef name) {
  std::vector<Model> models = getModels();
  for (Model &model : models)
    if (model.name == name)
      return model;
  std::string names = llvm::join(
      llvm::map_range(models, [](const Model &m) { return m.name; }), ", ");
  return sizeError("--model must be one of %s", names.c_str());
}

static llvm::Expected<CommandLine> parse(SmallVector<StringRef> args) {
  CommandLine line;
  llvm::Expected<Model> model = findModel(take(args, "model").value_or(""));
  if (!model)
    return model.takeError();
  line.model = *model;
  for (const Setting &setting : line.model.settings) {
    int64_t &size = line.sizes[setting.name.str()] = setting.standard;
    std::optional<StringRef> text = take(args, setting.name);
    if (text &&
        (text->getAsInteger(10, size) || size < 1 || size > kGreatestSize))
      return sizeError("--%s must be a number from 1 to 1048576, not '%s'",
                       setting.name.str().c_str(), text->str().c_str());
  }
  if (std::optional<StringRef> dtype = take(args, "dtype"))
    line.dtype = dtype->str();
  auto *flag = llvm::find(args, "--print-parameters");
  if (flag != args.end()) {
    line.printParameters = true;
    args.erase(flag);
  }
  if (!args.empty())
    return sizeError("model %s has no option '%s'; see --help",
                     line.model.name.str().c_str(), args[0].str().c_str());
  return line;
}

static FloatType getType(MLIRContext *context, StringRef name) {
  if (name == "f64")
    return Float64Type::get(context);
  return name == "f32" ? FloatType(Float32Type::get(context)) : FloatType();
}

/// Three times the rounded weights, as the Tofu paper's table has it.
static void printParameters(int64_t count) {
  double tenths = std::round(double(count) * 4 / (1 << 30) * 10);
  llvm::outs() << llvm::formatv("parameters: {0}\nweights: {1:f1} GiB\n"
                                "weights, momenta and gradients: {2:f1} GiB\n",
                                count, tenths / 10, 3 * tenths / 10);
}

static llvm::Error run(SmallVector<StringRef> args) {
  llvm::Expected<CommandLine> line = parse(args);
  if (!line)
    return line.takeError();
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<arith::ArithDialect, func::FuncDialect,
                      linalg::LinalgDialect, math::MathDialect,
                      tensor::TensorDialect>();
  FloatType type = getType(&context, line->dtype);
  if (!type)
    return sizeError("--dtype must be f32 or f64");
  Program program(&context, type);
  llvm::Expected<Value> loss = line->model.build(program, line->sizes);
  if (!loss)
    return loss.takeError();
  int64_t count = program.countParameters();
  OwningOpRef<ModuleOp> module = program.finish(*loss);
  if (failed(verify(*module)))
    return sizeError("the program is not valid");
  if (line->printParameters)
    printParameters(count);
  else
    module->print(llvm::outs(),
                  OpPrintingFlags().enableDebugInfo().assumeVerified());
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  SmallVector<StringRef> args(argv + 1, argv + argc);
  if (llvm::is_contained(args, "--help")) {
    printHelp();
    return 0;
  }
  if (llvm::Error error = run(args)) {
    llvm::WithColor::error(llvm::errs(), "tofu-models")
        << llvm::toString(std::move(error)) << '\n';
    return 2;
  }
  return 0;
}
