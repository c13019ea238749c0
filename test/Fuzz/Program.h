//===- Program.h - A program while it is made -------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_FUZZ_PROGRAM_H
#define TOFU_TEST_FUZZ_PROGRAM_H

#include "Random.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace mlir::tofu::fuzz {

using Shape = std::vector<int64_t>;

int64_t numElements(const Shape &shape);

inline bool isHalf(const std::string &element) {
  return element == "f16" || element == "bf16";
}
inline bool isReal(const std::string &element) {
  return element[0] == 'f' || element == "bf16";
}

std::string typeText(const std::string &element, const Shape &shape);

/// "a, b, c".
std::string join(const std::vector<std::string> &list);

/// What is known of the numbers of a value.
struct Quality {
  double bound = 1;      ///< of their magnitude
  double error = 0;      ///< by how much the order of additions may change them
  bool integral = false; ///< floats that are whole numbers

  /// The same bits in every order of additions.
  bool isExact() const { return error == 0; }
};

/// That of a value that may be either.
inline Quality larger(const Quality &a, const Quality &b) {
  return {std::max(a.bound, b.bound), std::max(a.error, b.error),
          a.integral && b.integral};
}

struct Value {
  std::string name, element;
  Shape shape;
  Quality quality;
  int uses = 0;
  bool isArgument = false;

  std::string type() const { return typeText(element, shape); }

  /// Whether arithmetic may go on from it: what is left of a rounded half can
  /// only be moved about.
  bool isUsable() const {
    return !isReal(element) ||
           (isHalf(element) ? quality.isExact() : quality.error < 1e-6);
  }
};

/// A scalar in a body or at the top level.
struct Scalar {
  std::string name, element;
  Quality quality;
};

/// The function that is being written. Values are known by number, as the list
/// grows.
class Program {
public:
  explicit Program(Random &random) : random(random) {}

  const Value &operator[](size_t i) const { return values[i]; }
  size_t size() const { return values.size(); }

  std::string freshName(const char *prefix) {
    return "%" + std::string(prefix) + std::to_string(counter++);
  }

  size_t addArgument(const std::string &element, const Shape &shape);
  std::string addScalarArgument(const std::string &element);

  /// Adds a statement with one result. `text` follows the equals sign.
  size_t add(const std::string &text, const std::string &element,
             const Shape &shape, Quality quality);

  /// Adds a statement with several results.
  std::vector<size_t> addAll(const std::string &text,
                             const std::vector<Value> &results);

  /// Adds a statement that gives something else; returns its name.
  std::string addOther(const std::string &text, const std::string &type);

  /// Adds something that gives nothing, behind the statement before it.
  void addEffect(const std::string &text) {
    statements += "    " + text + "\n";
  }

  /// Adds what comes before the function: other functions, globals.
  void addFunction(const std::string &text) { functions += text; }

  /// False if `function` has been declared before.
  bool declare(const std::string &function) {
    return declared.insert(function).second;
  }

  /// The text of a constant, of one number or several.
  std::string randomElements(const std::string &element, const Shape &shape);

  /// The name of a value that is about to be used.
  const std::string &use(size_t i) {
    ++values[i].uses;
    return values[i].name;
  }

  /// A value that `accepts`, most likely a late one; or an argument made for
  /// it.
  size_t pick(const std::function<bool(const Value &)> &accepts);

  /// A value of that type for arithmetic: an old one, a new argument, or a
  /// constant.
  size_t getOperand(const std::string &element, const Shape &shape);

  /// An `outs` that starts with one number, or with nothing.
  std::string addEmpty(const std::string &element, const Shape &shape);
  std::string addFill(const std::string &number, const std::string &element,
                      const Shape &shape);

  /// Makes numbers that grew small again.
  size_t tame(size_t value);

  std::string str();

  Random &random;

private:
  size_t addConstant(const std::string &element, const Shape &shape);
  void addStatement(const std::string &name, const std::string &text,
                    const std::string &types);

  std::vector<Value> values;
  std::vector<std::string> arguments;
  std::string statements, functions;
  std::set<std::string> declared;
  int64_t counter = 0;
};

/// The body of a structured operation.
class Body {
public:
  explicit Body(Program &program) : program(program), random(program.random) {}

  Scalar add(const std::string &text, const std::string &element,
             Quality quality);

  /// Nothing if `x` can't be had as `element` without harm.
  bool convert(Scalar &x, const std::string &element);

  /// Some arithmetic on the leaves, as `element`.
  Scalar express(std::vector<Scalar> leaves, const std::string &element);

  Scalar constant(const std::string &element);

  /// The index of a dim of that size.
  Scalar index(int64_t dim, int64_t size);

  const std::string &str() const { return text; }

private:
  Scalar unary(const Scalar &x);
  Scalar binary(const Scalar &x, const Scalar &y);
  Scalar binaryReal(const Scalar &x, const Scalar &y);
  Scalar binaryInteger(const Scalar &x, const Scalar &y);
  Scalar shrink(const Scalar &x);
  Scalar real(double number, const std::string &element);

  Program &program;
  Random &random;
  std::string text;
};

std::string numberText(double number, const std::string &element);

/// Random operations; each adds statements.
void addRandomOperation(Program &program);

} // namespace mlir::tofu::fuzz

#endif // TOFU_TEST_FUZZ_PROGRAM_H
