//===- Proof.h - Proofs about boxes, by integer sets ------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What Geometry computes, every stage believes: which part of a dim a device
// has, which box it reads. Here such boxes are taken as claims and proved by
// MLIR's Presburger library, from nothing but the index expressions: that parts
// cover a space once, that what a part reads lies in the box that its device
// holds, that a box is made in full.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_PROOF_H
#define TOFU_SEARCH_PROOF_H

#include "Tofu/Search/PartitionGraph.h"

#include <set>
#include <vector>

namespace mlir::tofu::search {

/// Why a claim doesn't hold: the first element that speaks against it.
struct Flaw {
  enum class Kind {
    Missing, ///< `device` lacks the element, or all do if it is negative
    Doubled, ///< `device` and `other` both have it
    Extra,   ///< `device` has it, but should not
  };
  Kind kind;
  llvm::SmallVector<int64_t, 4> point;
  int64_t device = -1;
  int64_t other = -1; ///< of a missing element: the device that needs it
};

/// Nothing if the claim is proved.
using Verdict = std::optional<Flaw>;

/// Proves claims about one box per device, in device order. Whatever is proved
/// along a single dim is remembered: programs ask the same over and over.
class Prover {
public:
  /// Boxes of devices that differ along `axes` are disjoint, boxes of others
  /// equal, and together they are all of a space of `shape`.
  Verdict coverOnce(llvm::ArrayRef<Box> boxes, llvm::ArrayRef<int64_t> shape,
                    const Mesh &mesh, llvm::ArrayRef<unsigned> axes);

  /// The boxes together are all of a space of `shape`.
  Verdict cover(llvm::ArrayRef<Box> boxes, llvm::ArrayRef<int64_t> shape,
                const Mesh &mesh);

  /// Each box of `inner` lies in the same device's box of `outer`.
  Verdict within(llvm::ArrayRef<Box> inner, llvm::ArrayRef<Box> outer);

  /// Each box of `inner` lies in what the boxes `outer` are together.
  Verdict withinUnion(llvm::ArrayRef<Box> inner, llvm::ArrayRef<Box> outer,
                      llvm::ArrayRef<int64_t> shape, const Mesh &mesh);

  /// What each of `parts` of an iteration space reads of a tensor of `shape`
  /// by `index` lies in its device's box of `held`.
  Verdict readsWithin(llvm::ArrayRef<Box> parts,
                      llvm::ArrayRef<LinearExpr> index,
                      llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Box> held);

  /// What each of `parts` of an iteration space of `dims` writes of a tensor of
  /// `shape` by `index`, in which no dim occurs twice, is its device's box of
  /// `made`. An empty part of a reduction writes what changes nothing.
  Verdict makes(llvm::ArrayRef<IterationDim> dims, llvm::ArrayRef<Box> parts,
                llvm::ArrayRef<LinearExpr> index, llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<Box> made);

private:
  /// Kinds of claims along one dim: the first number of a known fact.
  enum class Claim : int64_t { Cover, CoverOnce, Within, Reads, Makes };
  using Fact = std::vector<int64_t>;

  /// True if `fact` is known, or `prove` finds no flaw in it.
  template <typename Prove>
  bool isProved(Fact fact, Prove prove);

  bool coverByDims(llvm::ArrayRef<Box> boxes, llvm::ArrayRef<int64_t> shape,
                   const Mesh &mesh, Axes &used, bool once);

  std::set<Fact> facts;
};

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_PROOF_H
