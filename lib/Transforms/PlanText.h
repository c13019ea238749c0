//===- PlanText.h - Plans in words ------------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_TRANSFORMS_PLANTEXT_H
#define TOFU_LIB_TRANSFORMS_PLANTEXT_H

#include "PlanGraph.h"

namespace mlir::tofu {

/// The axes that cut each dim, as [a0 - a1.a2], and those that leave partial
/// results.
std::string getText(const search::Layout &layout, const search::Mesh &mesh);
std::string getText(const search::Strategy &strategy, const search::Mesh &mesh);

/// How operator `i` is cut: "replicated" if it can't be.
std::string getStrategyText(const PlanGraph &graph, const search::Plan &plan,
                            unsigned i);

/// Sizes as 8x6x4.
std::string getSizesText(ArrayRef<search::IterationDim> dims);

/// Axes as a0 = 2, a1 = 3.
std::string getText(const search::Mesh &mesh);

/// The line of a file as :12, or the name, that an operation comes from.
std::string getText(Location loc);

/// What a value is called: argument 0, result 1 of operator 5.
std::string getValueText(const PlanGraph &graph, unsigned value);

/// Bytes, or picoseconds as microseconds, exactly; and what these are called.
std::string getCostText(int64_t cost, search::Objective objective);
StringRef getUnit(search::Objective objective);

/// More or less of them: +96, -24, +0.
std::string
getChangeText(int64_t cost,
              search::Objective objective = search::Objective::Bytes);

int64_t getSum(ArrayRef<int64_t> numbers);

/// What operator `i` receives, operands and results.
int64_t getBytes(const search::Plan &plan, unsigned i);

} // namespace mlir::tofu

#endif // TOFU_LIB_TRANSFORMS_PLANTEXT_H
