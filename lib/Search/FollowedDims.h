//===- FollowedDims.h - Plans that cut a few dims everywhere ----*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_FOLLOWEDDIMS_H
#define TOFU_LIB_SEARCH_FOLLOWEDDIMS_H

#include "Tofu/Search/Search.h"

#include <tuple>
#include <vector>

namespace mlir::tofu::search {

/// A dim as it runs through the program: the iteration dim of every operator
/// and the tensor dim of every value that run over it, or -1.
struct FollowedDim {
  std::vector<int> operators, values;

  bool operator<(const FollowedDim &o) const {
    return std::tie(operators, values) < std::tie(o.operators, o.values);
  }
};

/// A dim and the axes that cut it, as far as it is large enough.
struct FollowedCut {
  FollowedDim dim;
  Axes axes;
};

/// The iteration dim that `expr` follows: where several are joined in one
/// index, the outermost. -1: none.
int leadingDim(const LinearExpr &expr);

/// The batch: a dim of an argument that runs through most of the work, but
/// through nothing that is carried. One that moves nothing if all axes of
/// `mesh` cut it, as in a program without gradients, else the one that runs
/// through the least of the arguments. In a program without data it is
/// nowhere.
FollowedDim findBatch(const PartitionGraph &graph, const Mesh &mesh,
                      Charge charge);

/// The plan that makes `cuts`, the first first where they meet, and no others:
/// everything else is whole on every device. Gradients are added up before they
/// are combined: values stay partial for as long as all their uses let them.
Plan planOf(const PartitionGraph &graph, const Mesh &mesh,
            llvm::ArrayRef<FollowedCut> cuts);

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_FOLLOWEDDIMS_H
