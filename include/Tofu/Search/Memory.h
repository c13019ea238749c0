//===- Memory.h - What a plan takes of each device's memory -----*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks the program in its order and adds up what every device holds: shards,
// the copies that uses need, and what operators produce before it is moved to
// where it belongs. Each is a buffer of its own; none is used again for another
// value, nor saved by fusing operators.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_MEMORY_H
#define TOFU_SEARCH_MEMORY_H

#include "Tofu/Search/Search.h"

namespace mlir::tofu::search {

/// The worst moment of a program.
struct PeakMemory {
  int64_t bytes = 0;  ///< of the device that holds most
  int64_t device = 0; ///< the first of these
  /// The operator that runs then; none: before the first, or after the last.
  std::optional<unsigned> op;
};

/// What `plan` takes of memory, exactly for every device. With Charge::Once a
/// copy of a value is held from the first use that needs it to the last; with
/// Charge::PerUse each use makes its own.
PeakMemory estimatePeak(const PartitionGraph &graph, const Plan &plan,
                        Charge charge);

/// The same with a cost model of the plan's mesh, which plans of one program
/// share.
PeakMemory estimatePeak(const PartitionGraph &graph, const Plan &plan,
                        Charge charge, CostModel &model);

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_MEMORY_H
