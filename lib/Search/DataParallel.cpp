//===- DataParallel.cpp - Cutting the batch only --------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Clock.h"
#include "FollowedDims.h"

using namespace mlir::tofu::search;

SearchResult
mlir::tofu::search::searchDataParallel(const PartitionGraph &graph,
                                       const Mesh &mesh,
                                       const SearchOptions &options) {
  Clock clock;
  SearchResult result;
  FollowedCut batch{findBatch(graph, mesh, options.charge), {}};
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
    batch.axes.push_back(axis);
  result.plan = planOf(graph, mesh, batch);
  countBytes(graph, result.plan, options.charge);
  result.seconds = clock.seconds();
  return result;
}
