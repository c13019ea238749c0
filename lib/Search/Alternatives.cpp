//===- Alternatives.cpp - What else could be cut how ----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Alternatives.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::tofu::search;

Axes mlir::tofu::search::axesThatSplit(const Mesh &mesh) {
  Axes axes;
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
    if (mesh.sizes[axis] > 1)
      axes.push_back(axis);
  return axes;
}

/// Cuts dim `dim` by those of `axes` that it is large enough for. False if it
/// is for none.
static bool cutDim(llvm::ArrayRef<IterationDim> dims, unsigned dim,
                   llvm::ArrayRef<unsigned> axes, const Mesh &mesh,
                   DimCuts &cuts) {
  if (!isSplittable(dims, dim, cuts, mesh))
    return false;
  size_t before = cuts[dim].size();
  for (unsigned axis : axes)
    if (smallestPart(dims[dim].size, cuts[dim], mesh) >= mesh.sizes[axis])
      cuts[dim].push_back(axis);
  return cuts[dim].size() > before;
}

/// How many of `axes` may choose dims of their own: the others join the last
/// one.
static size_t countFree(size_t numDims, size_t numAxes, size_t limit) {
  size_t ways = 1, free = 0;
  while (free < numAxes && ways * std::max<size_t>(numDims, 1) <= limit) {
    ways *= std::max<size_t>(numDims, 1);
    ++free;
  }
  return std::max<size_t>(free, 1);
}

std::vector<DimCuts>
mlir::tofu::search::listCuts(llvm::ArrayRef<IterationDim> dims,
                             llvm::ArrayRef<unsigned> axes, const Mesh &mesh,
                             size_t limit) {
  std::vector<DimCuts> all{DimCuts(dims.size())};
  size_t free = countFree(dims.size(), axes.size(), limit);
  for (size_t i = 0; i < std::min(free, axes.size()); ++i) {
    llvm::ArrayRef<unsigned> group =
        i + 1 == free ? axes.drop_front(i) : axes.slice(i, 1);
    std::vector<DimCuts> more;
    for (const DimCuts &cuts : all) {
      size_t before = more.size();
      for (unsigned dim = 0; dim < dims.size(); ++dim)
        if (DimCuts next = cuts; cutDim(dims, dim, group, mesh, next))
          more.push_back(std::move(next));
      if (more.size() == before)
        more.push_back(cuts);
    }
    all = std::move(more);
  }
  return all;
}

std::vector<DimCuts> mlir::tofu::search::listCuts(const Value &value,
                                                  const Mesh &mesh,
                                                  size_t limit) {
  llvm::SmallVector<IterationDim, 4> dims;
  for (int64_t size : value.shape)
    dims.push_back({size, DimKind::Parallel});
  return listCuts(dims, axesThatSplit(mesh), mesh, limit);
}
