//===- PartitionGraph.cpp - What the search sees of a program -------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/PartitionGraph.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::tofu::search;

llvm::SmallVector<IterationDim, 4>
mlir::tofu::search::dimsOf(const Value &value) {
  llvm::SmallVector<IterationDim, 4> dims;
  for (auto [i, size] : llvm::enumerate(value.shape)) {
    bool isForbidden = i < 64 && value.forbidden >> i & 1;
    dims.push_back(
        {size, isForbidden ? DimKind::Unsplittable : DimKind::Parallel});
  }
  return dims;
}

bool mlir::tofu::search::isSplittable(llvm::ArrayRef<IterationDim> dims,
                                      unsigned i, llvm::ArrayRef<Axes> cuts,
                                      const Mesh &mesh) {
  if (dims[i].kind == DimKind::Unsplittable)
    return false;
  for (int outer = dims[i].after; outer >= 0; outer = dims[outer].after)
    if (largestPart(dims[outer].size, cuts[outer], mesh) > 1)
      return false;
  return true;
}

static Placement imageOf(const Operator &op, const Strategy &strategy,
                         llvm::ArrayRef<LinearExpr> index) {
  Placement placement;
  for (const IterationDim &dim : op.dims)
    placement.dimSizes.push_back(dim.size);
  placement.dimAxes = strategy.dims;
  placement.index.assign(index.begin(), index.end());
  return placement;
}

Placement mlir::tofu::search::operandPlacement(const Operator &op, unsigned i,
                                               const Strategy &strategy) {
  return imageOf(op, strategy, op.operands[i].index);
}

Placement mlir::tofu::search::resultPlacement(const Operator &op, unsigned i,
                                              const Strategy &strategy) {
  return imageOf(op, strategy, op.results[i].index);
}

Axes mlir::tofu::search::partialAxes(const Operator &op,
                                     const Strategy &strategy) {
  Axes axes = reductionAxes(op, strategy);
  axes.append(strategy.partial.begin(), strategy.partial.end());
  llvm::sort(axes);
  return axes;
}

Axes mlir::tofu::search::reductionAxes(const Operator &op,
                                       const Strategy &strategy) {
  Axes axes;
  for (auto [dim, cuts] : llvm::zip_equal(op.dims, strategy.dims))
    if (dim.kind == DimKind::Reduction)
      axes.append(cuts.begin(), cuts.end());
  llvm::sort(axes);
  return axes;
}

Axes mlir::tofu::search::sumPartialAxes(const Operator &op,
                                        const Strategy &strategy) {
  Axes axes = strategy.partial;
  for (auto [dim, cuts] : llvm::zip_equal(op.dims, strategy.dims))
    if (dim.kind == DimKind::Reduction && dim.additive)
      axes.append(cuts.begin(), cuts.end());
  llvm::sort(axes);
  return axes;
}
