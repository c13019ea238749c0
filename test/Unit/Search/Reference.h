//===- Reference.h - Costs by listing elements ---------------- -*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cost model again, by sets of elements and without any arithmetic on
// boxes, to compare with.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_SEARCH_REFERENCE_H
#define TOFU_TEST_SEARCH_REFERENCE_H

#include "Tofu/Search/PartitionGraph.h"

#include <set>
#include <string>

namespace mlir::tofu::search::reference {

/// A mesh with axes a0, a1, ... of the given sizes.
inline Mesh meshOf(llvm::ArrayRef<int64_t> sizes) {
  Mesh mesh;
  for (int64_t size : sizes) {
    mesh.sizes.push_back(size);
    mesh.names.push_back("a" + std::to_string(mesh.names.size()));
  }
  return mesh;
}

/// An element of a tensor by its indices, and those that a device holds.
using Element = std::vector<int64_t>;
using Elements = std::set<Element>;

/// The indices of [0, size) that part `coordinates` of a nested balanced cut
/// has, from dealing out one element after the other.
std::vector<int64_t> part(int64_t size, const Axes &axes, const Mesh &mesh,
                          llvm::ArrayRef<int64_t> coordinates);

/// What every device has of a value of `shape` cut by `dims`.
std::vector<Elements> layoutElements(llvm::ArrayRef<int64_t> shape,
                                     llvm::ArrayRef<Axes> dims,
                                     const Mesh &mesh);

/// What every device's iterations touch of a tensor of `shape`: the smallest
/// box around it.
std::vector<Elements> imageElements(const Operator &op,
                                    llvm::ArrayRef<Axes> dims,
                                    llvm::ArrayRef<LinearExpr> index,
                                    llvm::ArrayRef<int64_t> shape,
                                    const Mesh &mesh);

/// What every device has, partial over some axes.
struct Held {
  std::vector<Elements> elements;
  Axes partial;
};

/// Elements received to get from `from` to `to`: for every element the least
/// over the devices that may add up its addends, if it has any, and over the
/// partial results to which it may go. Addends over axes that both are partial
/// over are not added.
int64_t received(const Held &from, const Held &to, const Mesh &mesh);

/// Bytes of `plan`, charged per use.
int64_t bytesPerUse(const PartitionGraph &graph, const Plan &plan);

} // namespace mlir::tofu::search::reference

#endif // TOFU_TEST_SEARCH_REFERENCE_H
