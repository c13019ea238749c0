//===- Explain.h - Why a plan is as it is ---------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_TRANSFORMS_EXPLAIN_H
#define TOFU_LIB_TRANSFORMS_EXPLAIN_H

#include "PlanGraph.h"

namespace mlir::tofu {

/// Prints the plan as a table whose lines sum to the total; with times, if that
/// is what the plan is to be least in.
void printPlan(raw_ostream &os, const PlanGraph &graph,
               const search::Plan &plan, const search::PeakMemory &peak,
               const search::SearchOptions &options);

/// Prints how the operators at `where` are cut, what they receive, and every
/// strategy of theirs with what the plan would cost. `where` is the number of
/// an operator, or the name or line of its location. Fails if there is none.
LogicalResult explainOperators(raw_ostream &os, const PlanGraph &graph,
                               const search::Plan &plan,
                               const search::SearchOptions &options,
                               StringRef where);

/// Gives remarks for the operators that receive the most bytes, through the
/// context's remark engine, if it has one.
void remarkDearest(const PlanGraph &graph, const search::Plan &plan,
                   const search::SearchOptions &options);

/// Prints the operators and values of which `plan` and `other`, a plan of the
/// same function, differ.
void printDifference(raw_ostream &os, const PlanGraph &graph,
                     const search::Plan &plan, const search::Plan &other);

/// The plan as a graph in Graphviz's language: operators, coloured by their
/// strategies, values, and the bytes that move between them.
std::string getDot(const PlanGraph &graph, const search::Plan &plan);

} // namespace mlir::tofu

#endif // TOFU_LIB_TRANSFORMS_EXPLAIN_H
