//===- Alternatives.h - What else could be cut how --------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_ALTERNATIVES_H
#define TOFU_SEARCH_ALTERNATIVES_H

#include "Tofu/Search/PartitionGraph.h"

#include <vector>

namespace mlir::tofu::search {

/// The axes that cut each of a few dims.
using DimCuts = llvm::SmallVector<Axes, 4>;

/// All ways in which `axes` of `mesh`, in this order, cut `dims`: each cuts one
/// of the dims that it may cut after the axes before it, or none if there are
/// no such dims. Where that would be more than `limit` ways, the last axes go
/// together: they cut one dim as far as it goes.
std::vector<DimCuts> listCuts(llvm::ArrayRef<IterationDim> dims,
                              llvm::ArrayRef<unsigned> axes, const Mesh &mesh,
                              size_t limit = 4096);

/// The same for the dims of a value, by all axes.
std::vector<DimCuts> listCuts(const Value &value, const Mesh &mesh,
                              size_t limit = 4096);

/// The axes of a mesh that have more than one part.
Axes axesThatSplit(const Mesh &mesh);

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_ALTERNATIVES_H
