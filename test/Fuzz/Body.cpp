//===- Body.cpp - Random arithmetic on scalars ----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include <algorithm>
#include <cmath>

using namespace mlir::tofu::fuzz;

/// Whole numbers up to here are exact, sums of a few of them included.
static constexpr double kMostIntegral = 1 << 20;

/// What a function of the library may differ by from one call to another.
static constexpr double kFunctionError = 1e-7;

Scalar Body::add(const std::string &line, const std::string &element,
                 Quality quality) {
  Scalar result = {program.freshName("b"), element, quality};
  text += "      " + result.name + " = " + line + "\n";
  return result;
}

Scalar Body::real(double number, const std::string &element) {
  return add("arith.constant " + numberText(number, element), element,
             {std::fabs(number), 0, number == std::floor(number)});
}

Scalar Body::constant(const std::string &element) {
  if (!isReal(element))
    return add("arith.constant " + numberText(random.below(5), element),
               element, {});
  return real(double(random.between(-4, 4)) / (random.chance(50) ? 4 : 1),
              element);
}

Scalar Body::index(int64_t dim, int64_t size) {
  Scalar x =
      add("linalg.index " + std::to_string(dim) + " : index", "index", {});
  Scalar cast = add("arith.index_cast " + x.name + " : index to i32", "i32",
                    {double(size), 0, false});
  return cast;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static int64_t widthOf(const std::string &element) {
  return std::stoll(element.substr(element.find_first_of("0123456789")));
}

bool Body::convert(Scalar &x, const std::string &element) {
  if (x.element == element)
    return true;
  auto cast = [&](const std::string &op, Quality quality) {
    x = add(op + " " + x.name + " : " + x.element + " to " + element, element,
            quality);
    return true;
  };
  bool fromReal = isReal(x.element), toReal = isReal(element);
  if (fromReal && toReal) {
    if (widthOf(x.element) < widthOf(element))
      return cast("arith.extf", x.quality);
    if (widthOf(x.element) == widthOf(element))
      return false;
    bool isSmall = x.quality.bound <= 128;
    Quality quality = x.quality;
    if (quality.error != 0 && isHalf(element))
      quality.error = std::max(quality.error, 1e-2 * quality.bound);
    quality.integral &= !isHalf(element) || isSmall;
    return isSmall && cast("arith.truncf", quality);
  }
  if (fromReal) {
    if (!x.quality.isExact() || x.quality.bound > 1e6)
      return false;
    if (element == "i1") {
      Scalar zero = real(0, x.element);
      x = add("arith.cmpf ogt, " + x.name + ", " + zero.name + " : " +
                  x.element,
              "i1", {});
      return true;
    }
    return cast("arith.fptosi", {});
  }
  if (toReal) {
    if (x.element == "i1")
      return cast("arith.uitofp", {1, 0, true});
    Scalar mask = add("arith.constant 7 : " + x.element, x.element, {});
    x = add("arith.andi " + x.name + ", " + mask.name + " : " + x.element,
            x.element, {});
    return cast("arith.sitofp", {7, 0, true});
  }
  if (element == "i1") {
    Scalar one = add("arith.constant 1 : " + x.element, x.element, {});
    x = add("arith.cmpi sge, " + x.name + ", " + one.name + " : " + x.element,
            "i1", {});
    return true;
  }
  if (x.element == "i1")
    return cast("arith.extui", {});
  return cast(widthOf(x.element) < widthOf(element) ? "arith.extsi"
                                                    : "arith.trunci",
              {});
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Scalar Body::shrink(const Scalar &x) {
  if (!isReal(x.element) ||
      x.quality.bound <= (x.quality.integral ? kMostIntegral : 4))
    return x;
  double factor = 1;
  while (factor * x.quality.bound > 1)
    factor /= 2;
  Scalar scale = real(factor, x.element);
  return add("arith.mulf " + x.name + ", " + scale.name + " : " + x.element,
             x.element,
             {x.quality.bound * factor, x.quality.error * factor, false});
}

Scalar Body::unary(const Scalar &x) {
  const Quality &q = x.quality;
  auto make = [&](const std::string &op, Quality quality) {
    return add(op + " " + x.name + " : " + x.element, x.element, quality);
  };
  auto function = [&](const std::string &op, double bound) {
    return make(op, {bound, q.error + kFunctionError, false});
  };
  if (!isReal(x.element)) {
    Scalar c = constant(x.element);
    return binaryInteger(x, c);
  }
  switch (random.below(9)) {
  case 0:
    return make("arith.negf", q);
  case 1:
    return make("math.absf", q);
  case 2:
    return function("math.tanh", 1);
  case 3:
    return function("math.sin", 1);
  case 4:
    return function("math.cos", 1);
  case 5:
    return q.bound <= 1
               ? make("math.exp",
                      {std::exp(q.bound), 3 * q.error + kFunctionError, false})
               : make("arith.negf", q);
  case 6:
    return function("math.erf", 1);
  case 7:
    if (!q.isExact())
      return make("arith.negf", q);
    return make(random.chance(50) ? "math.roundeven" : "math.floor",
                {q.bound + 1, 0, true});
  default: {
    // A quotient with a divisor that is at least one.
    Scalar one = real(1, x.element);
    Scalar square =
        add("arith.mulf " + x.name + ", " + x.name + " : " + x.element,
            x.element, {q.bound * q.bound, 0, false});
    Scalar divisor =
        add("arith.addf " + square.name + ", " + one.name + " : " + x.element,
            x.element, {});
    return add("arith.divf " + x.name + ", " + divisor.name + " : " + x.element,
               x.element, {q.bound, 2 * q.error, false});
  }
  }
}

Scalar Body::binaryReal(const Scalar &x, const Scalar &y) {
  const Quality &a = x.quality, &b = y.quality;
  bool integral = a.integral && b.integral;
  auto make = [&](const std::string &op, Quality quality) {
    Scalar result = add(op + " " + x.name + ", " + y.name + " : " + x.element,
                        x.element, quality);
    return shrink(result);
  };
  Quality sum = {a.bound + b.bound, a.error + b.error, integral};
  Quality larger = {std::max(a.bound, b.bound), std::max(a.error, b.error),
                    integral};
  switch (random.below(8)) {
  case 0:
  case 1:
    return make("arith.addf", sum);
  case 2:
    return make("arith.subf", sum);
  case 3:
  case 4:
    return make(
        "arith.mulf",
        {a.bound * b.bound, a.bound * b.error + b.bound * a.error, integral});
  case 5:
    return make("arith.maximumf", larger);
  case 6:
    return make("arith.minnumf", larger);
  default: {
    if (!a.isExact() || !b.isExact())
      return make("arith.minimumf", larger);
    Scalar less =
        add("arith.cmpf olt, " + x.name + ", " + y.name + " : " + x.element,
            "i1", {});
    return add("arith.select " + less.name + ", " + y.name + ", " + x.name +
                   " : " + x.element,
               x.element, larger);
  }
  }
}

Scalar Body::binaryInteger(const Scalar &x, const Scalar &y) {
  static const std::vector<std::string> kOps = {
      "arith.addi", "arith.subi",  "arith.muli",  "arith.andi",  "arith.ori",
      "arith.xori", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui"};
  if (x.element != "i1" && random.chance(15)) {
    Scalar three = add("arith.constant 3 : " + x.element, x.element, {});
    std::string op = random.chance(50) ? "arith.divsi " : "arith.remui ";
    Scalar part =
        add(op + x.name + ", " + three.name + " : " + x.element, x.element, {});
    return binaryInteger(part, y);
  }
  if (random.chance(10)) {
    Scalar less =
        add("arith.cmpi slt, " + x.name + ", " + y.name + " : " + x.element,
            "i1", {});
    return add("arith.select " + less.name + ", " + y.name + ", " + x.name +
                   " : " + x.element,
               x.element, {});
  }
  return add(random.pick(kOps) + " " + x.name + ", " + y.name + " : " +
                 x.element,
             x.element, {});
}

Scalar Body::binary(const Scalar &x, const Scalar &y) {
  return isReal(x.element) ? binaryReal(x, y) : binaryInteger(x, y);
}

Scalar Body::express(std::vector<Scalar> leaves, const std::string &element) {
  // Halves are computed in f32 and rounded once.
  std::string wide = isHalf(element) ? "f32" : element;
  std::vector<Scalar> terms;
  for (Scalar leaf : leaves)
    if (convert(leaf, wide))
      terms.push_back(leaf);
  if (terms.empty())
    terms.push_back(constant(wide));
  random.shuffle(terms);
  Scalar value = shrink(terms.front());
  for (size_t i = 1; i < terms.size(); ++i)
    value = binary(value, shrink(terms[i]));
  for (int64_t steps = random.below(3); steps > 0; --steps)
    value = shrink(random.chance(60) ? unary(value)
                                     : binary(value, constant(wide)));
  if (isHalf(element) && value.quality.bound > 100) {
    Scalar scale = real(1.0 / 1048576, wide);
    Quality small = {1, value.quality.error, false};
    value = add("arith.mulf " + value.name + ", " + scale.name + " : f32", wide,
                small);
  }
  convert(value, element);
  return value;
}
