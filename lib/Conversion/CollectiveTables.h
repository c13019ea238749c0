//===- CollectiveTables.h - Collectives as the runtime has them -*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_COLLECTIVETABLES_H
#define TOFU_LIB_CONVERSION_COLLECTIVETABLES_H

#include "RuntimeCalls.h"
#include "Tofu/Dialect/BufferOps.h"
#include "Tofu/Search/Geometry.h"

#include <optional>

namespace mlir::tofu {

/// Appends a geometry (Tofu/Runtime/Runtime.h) but for its placements.
void appendShape(SmallVectorImpl<int64_t> &table, ArrayRef<int64_t> shape,
                 const search::Mesh &mesh);

/// Appends a placement of a geometry.
void appendPlacement(SmallVectorImpl<int64_t> &table,
                     const search::Placement &placement);

/// The table of Tofu/Runtime/Runtime.h for a collective.
FailureOr<SmallVector<int64_t>> makeCollectiveTable(CollectiveBufferOp op);

/// Calls tofuCollective, or the one for unknown sizes.
void callCollective(RuntimeCalls &calls, OpBuilder &builder,
                    CollectiveBufferOp op, Value stream,
                    ArrayRef<int64_t> table);

/// The even table that does the same as `table`, a collective's; nothing if
/// there is none.
std::optional<SmallVector<int64_t>> makeEvenTable(CollectiveBufferOp op,
                                                  ArrayRef<int64_t> table);

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_COLLECTIVETABLES_H
