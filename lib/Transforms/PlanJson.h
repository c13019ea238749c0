//===- PlanJson.h - Plans as files ------------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_TRANSFORMS_PLANJSON_H
#define TOFU_LIB_TRANSFORMS_PLANJSON_H

#include "PlanGraph.h"

#include "llvm/Support/JSON.h"

namespace mlir::tofu {

/// The plan of one function: its hash, bytes, memory, and every strategy and
/// layout as the text of its attribute, and its times, if they have been
/// counted. The attributes must have been written.
llvm::json::Object toJson(const PlanGraph &graph, const search::Plan &plan,
                          const search::PeakMemory &peak, bool isTimed);

double toSeconds(int64_t picoseconds);

/// Sets the attributes of the function from a plan of it. `complain` gets what
/// is wrong with the file; nothing is set then.
LogicalResult fromJson(PlanGraph &graph, const llvm::json::Object &plan,
                       function_ref<void(const Twine &)> complain);

/// The mesh as JSON: a list of axes with name and size.
llvm::json::Array toJson(const search::Mesh &mesh);
LogicalResult fromJson(search::Mesh &mesh, const llvm::json::Array &axes,
                       function_ref<void(const Twine &)> complain);

/// Parses the text of a file; nesting that no plan has is an error, since the
/// parser would overflow the stack.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace mlir::tofu

#endif // TOFU_LIB_TRANSFORMS_PLANJSON_H
