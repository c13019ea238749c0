//===- Program.cpp - A training step as a function ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::tofu;
using namespace mlir::tofu::models;

static constexpr double kRate = 0.1, kDecay = 0.9;

Program::Program(MLIRContext *context, FloatType type) : ops(context, type) {
  Location loc = UnknownLoc::get(context);
  module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  function = func::FuncOp::create(builder, loc, "main",
                                  builder.getFunctionType({}, {}));
  ops.setInsertionPointToEnd(function.addEntryBlock());
}

Value Program::addArgument(const Twine &name, Type type) {
  MLIRContext *context = type.getContext();
  return function.getBody().addArgument(
      type, NameLoc::get(StringAttr::get(context, name)));
}

Parameter &Program::addParameter(const Twine &name, ArrayRef<int64_t> shape) {
  RankedTensorType type = ops.tensorOf(shape);
  Value value = addArgument(name, type);
  Value momentum = addArgument(name + ".momentum", type);
  return parameters.emplace_back(Parameter{name.str(), value, momentum});
}

Value Program::addInput(const Twine &name, ArrayRef<int64_t> shape) {
  return addArgument(name, ops.tensorOf(shape));
}

Value Program::addLabels(const Twine &name, ArrayRef<int64_t> shape) {
  Type type = IntegerType::get(function.getContext(), 32);
  return addArgument(name, RankedTensorType::get(shape, type));
}

void Program::addGradient(Parameter &parameter, Value gradient) {
  parameter.gradient =
      parameter.gradient ? ops.add(parameter.gradient, gradient) : gradient;
}

int64_t Program::countParameters() const {
  int64_t count = 0;
  for (const Parameter &parameter : parameters)
    count += cast<ShapedType>(parameter.value.getType()).getNumElements();
  return count;
}

/// Erases what nobody uses, such as the gradient of the batch.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

OwningOpRef<ModuleOp> Program::finish(Value loss) {
  SmallVector<Value> results;
  for (Parameter &parameter : parameters) {
    ops.setName(parameter.name + ".update");
    std::string dims = inOrder(parameter);
    Value momentum =
        ops.map({{parameter.momentum, dims}, {parameter.gradient, dims}}, dims,
                [](ArrayRef<Scalar> in) { return in[0] * kDecay + in[1]; });
    Value value =
        ops.map({{parameter, dims}, {momentum, dims}}, dims,
                [](ArrayRef<Scalar> in) { return in[0] - in[1] * kRate; });
    results.append({value, momentum});
  }
  results.push_back(loss);
  Block &block = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockEnd(&block);
  func::ReturnOp::create(builder, function.getLoc(), results);
  eraseDead(block);
  function.setType(builder.getFunctionType(block.getArgumentTypes(),
                                           TypeRange(ValueRange(results))));
  for (unsigned i = 0; i + 1 < results.size(); ++i)
    function.setArgAttr(i, "tf.aliasing_output", builder.getI32IntegerAttr(i));
  return std::move(module);
}
