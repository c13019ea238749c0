//===- EpilogueMatch.cpp - What is an epilogue ----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EpilogueMatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace mlir::tofu;

/// The value that `value` has another type of, or itself. Epilogues are
/// computed in f32, so what f64 has to do with is no mere change of type.
static Value skipConversions(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op) || value.getType().isF64() ||
        op->getOperand(0).getType().isF64())
      break;
    value = op->getOperand(0);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Forms with tanh
//===----------------------------------------------------------------------===//

namespace {

/// Coefficients of 1, x, x^2 and x^3.
using Polynomial = std::array<double, 4>;

/// plain + factor * tanh(inner), with one inner for all.
struct TanhForm {
  Polynomial plain = {}, factor = {};
};

/// Works out what sums and products with a tanh of x are.
class TanhFormReader {
public:
  explicit TanhFormReader(Value x) : x(x) {}

  /// Nothing if it isn't of the form.
  std::optional<TanhForm> read(Value value);

  /// What the tanh is of, once it is read.
  std::optional<Polynomial> inner;

private:
  std::optional<TanhForm> readOperation(Operation *op);

  Value x;
  /// A value may be used often.
  DenseMap<Value, std::optional<TanhForm>> known;
};

} // namespace

static bool isZero(const Polynomial &polynomial) {
  return llvm::all_of(polynomial, [](double each) { return each == 0; });
}

static Polynomial add(const Polynomial &a, const Polynomial &b) {
  Polynomial sum;
  for (size_t i = 0; i < sum.size(); ++i)
    sum[i] = a[i] + b[i];
  return sum;
}

/// Nothing if the degree gets too high.
static std::optional<Polynomial> multiply(const Polynomial &a,
                                          const Polynomial &b) {
  Polynomial product = {};
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j) {
      if (a[i] == 0 || b[j] == 0)
        continue;
      if (i + j >= product.size())
        return std::nullopt;
      product[i + j] += a[i] * b[j];
    }
  return product;
}

static std::optional<TanhForm> multiply(const TanhForm &a, const TanhForm &b) {
  if (!isZero(a.factor) && !isZero(b.factor))
    return std::nullopt;
  std::optional<Polynomial> plain = multiply(a.plain, b.plain),
                            ofA = multiply(a.factor, b.plain),
                            ofB = multiply(a.plain, b.factor);
  if (!plain || !ofA || !ofB)
    return std::nullopt;
  return TanhForm{*plain, add(*ofA, *ofB)};
}

std::optional<TanhForm> TanhFormReader::readOperation(Operation *op) {
  if (isa<arith::AddFOp, arith::MulFOp>(op)) {
    std::optional<TanhForm> a = read(op->getOperand(0)),
                            b = read(op->getOperand(1));
    if (!a || !b)
      return std::nullopt;
    if (isa<arith::MulFOp>(op))
      return multiply(*a, *b);
    return TanhForm{add(a->plain, b->plain), add(a->factor, b->factor)};
  }
  if (!isa<math::TanhOp>(op))
    return std::nullopt;
  std::optional<TanhForm> of = read(op->getOperand(0));
  if (!of || !isZero(of->factor) || (inner && *inner != of->plain))
    return std::nullopt;
  inner = of->plain;
  return TanhForm{{}, {1}};
}

std::optional<TanhForm> TanhFormReader::read(Value value) {
  value = skipConversions(value);
  if (value == x)
    return TanhForm{{0, 1}, {}};
  APFloat constant(0.0);
  if (matchPattern(value, m_ConstantFloat(&constant)))
    return TanhForm{{constant.convertToDouble()}, {}};
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto it = known.find(value);
  if (it == known.end())
    it = known.insert({value, readOperation(op)}).first;
  return it->second;
}

/// True if both are the same but for constants rounded to `type`.
static bool isClose(const Polynomial &a, const Polynomial &b, FloatType type) {
  // An inner coefficient is the product of two constants.
  int precision = APFloat::semanticsPrecision(type.getFloatSemantics());
  double tolerance = std::max(std::ldexp(4, -precision), 1e-12);
  return llvm::all_of(llvm::zip(a, b), [&](auto pair) {
    auto [got, want] = pair;
    return std::abs(got - want) <= tolerance * std::abs(want);
  });
}

/// True if `value` is x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).
static bool isGeluTanh(Value value, Value x) {
  TanhFormReader reader(x);
  std::optional<TanhForm> form = reader.read(value);
  if (!form || !reader.inner)
    return false;
  auto type = cast<FloatType>(skipConversions(value).getType());
  const double scale = std::sqrt(2 / std::acos(-1.0));
  const Polynomial half = {0, 0.5}, inner = {0, scale, 0, scale * 0.044715};
  return isClose(form->plain, half, type) &&
         isClose(form->factor, half, type) &&
         isClose(*reader.inner, inner, type);
}

//===----------------------------------------------------------------------===//
// The epilogue
//===----------------------------------------------------------------------===//

static bool isZero(Value value) {
  return matchPattern(skipConversions(value), m_AnyZeroFloat());
}

static bool hasNoNaN(arith::FastMathFlags flags) {
  return bitEnumContainsAny(flags, arith::FastMathFlags::nnan);
}

static bool isXAndZero(Value a, Value b, Value x) {
  return skipConversions(a) == x && isZero(b);
}

/// Reads a choice between x and 0 by a comparison of the two. What it chooses
/// for a positive number, a negative one and NaN says what it is; zeros of
/// either sign are the same.
static bool readRelu(arith::SelectOp select, Value x, Epilogue &epilogue) {
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compare)
    return false;
  Value lhs = compare.getLhs(), rhs = compare.getRhs(),
        ifTrue = select.getTrueValue(), ifFalse = select.getFalseValue();
  bool isXFirst = isXAndZero(lhs, rhs, x),
       isXIfTrue = isXAndZero(ifTrue, ifFalse, x);
  if ((!isXFirst && !isXAndZero(rhs, lhs, x)) ||
      (!isXIfTrue && !isXAndZero(ifFalse, ifTrue, x)))
    return false;
  const APFloat zero(0.0);
  auto choosesX = [&](const APFloat &sample) {
    bool holds = arith::applyCmpPredicate(compare.getPredicate(),
                                          isXFirst ? sample : zero,
                                          isXFirst ? zero : sample);
    return holds == isXIfTrue;
  };
  if (!choosesX(APFloat(1.0)) || choosesX(APFloat(-1.0)))
    return false;
  epilogue.activation = choosesX(APFloat::getNaN(zero.getSemantics()))
                            ? Activation::ReluNan
                            : Activation::Relu;
  epilogue.hasNoNaN = hasNoNaN(compare.getFastmath());
  return true;
}

/// Reads a relu of x, by its result.
static bool readRelu(Value value, Value x, Epilogue &epilogue) {
  Operation *op = value.getDefiningOp();
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return readRelu(select, x, epilogue);
  if (!isa_and_nonnull<arith::MaxNumFOp, arith::MaximumFOp>(op) ||
      (!isXAndZero(op->getOperand(0), op->getOperand(1), x) &&
       !isXAndZero(op->getOperand(1), op->getOperand(0), x)))
    return false;
  epilogue.activation =
      isa<arith::MaximumFOp>(op) ? Activation::ReluNan : Activation::Relu;
  epilogue.hasNoNaN = hasNoNaN(cast<arith::ArithFastMathInterface>(op)
                                   .getFastMathFlagsAttr()
                                   .getValue());
  return true;
}

/// The sum of two arguments of the body, or nothing.
static Value findSum(Block &body, Value a, Value b) {
  for (auto sum : body.getOps<arith::AddFOp>()) {
    Value lhs = skipConversions(sum.getLhs()),
          rhs = skipConversions(sum.getRhs());
    if ((lhs == a && rhs == b) || (lhs == b && rhs == a))
      return sum;
  }
  return {};
}

std::optional<Epilogue> tofu::matchActivation(Value value, Value x) {
  Epilogue epilogue;
  Value result = skipConversions(value);
  if (!isa<FloatType>(value.getType()))
    return std::nullopt;
  if (result == x || readRelu(result, x, epilogue))
    return epilogue;
  if (!isGeluTanh(result, x))
    return std::nullopt;
  epilogue.activation = Activation::GeluTanh;
  return epilogue;
}

std::optional<Epilogue> tofu::matchEpilogue(linalg::GenericOp op,
                                            unsigned input) {
  Block &body = *op.getBlock();
  if (op.getNumDpsInputs() > 2 ||
      !isa<FloatType>(body.getArgument(input).getType()) ||
      !llvm::all_of(body.without_terminator(),
                    [](Operation &each) { return isMemoryEffectFree(&each); }))
    return std::nullopt;
  std::optional<unsigned> biasInput;
  Value x = body.getArgument(input);
  if (op.getNumDpsInputs() == 2) {
    biasInput = 1 - input;
    x = findSum(body, x, body.getArgument(1 - input));
  }
  if (!x)
    return std::nullopt;
  std::optional<Epilogue> activation =
      matchActivation(body.getTerminator()->getOperand(0), x);
  if (activation)
    activation->biasInput = biasInput;
  return activation;
}
