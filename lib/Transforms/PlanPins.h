//===- PlanPins.h - What a program says of its plan beforehand --*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_TRANSFORMS_PLANPINS_H
#define TOFU_LIB_TRANSFORMS_PLANPINS_H

#include "PlanGraph.h"

namespace mlir::tofu {

/// Reads layouts and strategies that are there already, and what is forbidden
/// or tied, into `graph`, which is to be planned on the mesh. Where they
/// contradict each other the one of the lower priority gives way, with a
/// remark; equal ones are an error.
LogicalResult readPins(PlanGraph &graph, const search::Mesh &mesh,
                       FlatSymbolRefAttr meshSymbol);

/// Removes the attributes that a plan has made good on.
void dropConstraints(func::FuncOp function);

} // namespace mlir::tofu

#endif // TOFU_LIB_TRANSFORMS_PLANPINS_H
