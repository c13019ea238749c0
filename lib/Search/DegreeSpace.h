//===- DegreeSpace.h - Plans by how many parts dims have --------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a plan, only its degrees: for each dim, how many axes of each size cut it.
// A pair of an operator and a value then costs what it costs if their axes are
// the same as far as degrees allow, which no plan of these degrees can go below
// and which depends on the number of devices only by degrees. The space is much
// smaller than that of plans, so all axes are chosen together.
//
// Why nothing is below: see `Overlap`, and ReshardPlanner.h for partial
// results. In time, the elements received, spread evenly over the devices, come
// over the link of the most bandwidth, and one latency is the least.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_DEGREESPACE_H
#define TOFU_LIB_SEARCH_DEGREESPACE_H

#include "PairwiseSpace.h"

#include <deque>

namespace mlir::tofu::search {

/// Axes by their size: those of one size are alike.
struct AxisClasses {
  explicit AxisClasses(const Mesh &mesh);

  unsigned size() const { return sizes.size(); }

  llvm::SmallVector<int64_t, 4> sizes;  ///< different ones, larger than one
  llvm::SmallVector<unsigned, 4> count; ///< axes of each
  llvm::SmallVector<int, 8> classOf;    ///< per axis; -1 for axes of size one
};

/// How many axes of each class; by class.
using AxisCounts = llvm::SmallVector<uint8_t, 4>;

class DegreeSpace : public PairwiseSpace {
public:
  /// Of a variable: axes per dim and class, over which it is partial, and with
  /// which operands.
  struct State {
    llvm::SmallVector<AxisCounts, 4> dims;
    AxisCounts partial;
    uint64_t partialOperands = 0;
  };

  DegreeSpace(const PartitionGraph &graph, const PlanSpace &space,
              const Mesh &mesh, const SearchOptions &options);

  const State &getState(unsigned var, unsigned value) const {
    return domainOf[var]->states[value];
  }
  unsigned getDomainSize(unsigned var) const {
    return domainOf[var]->states.size();
  }

  /// The value of a variable that has the degrees of `cuts`; nothing if the
  /// space has none.
  std::optional<unsigned> find(unsigned var, const Cuts &cuts) const;

  /// The cuts that project to a value of a variable.
  std::vector<Cuts> arrangements(unsigned var, unsigned value,
                                 const Mesh &mesh) const;

  /// How many there are.
  size_t numArrangements(unsigned var, unsigned value) const;

  using RestKey = llvm::SmallVector<int64_t, 16>;

  /// What `left`, the degrees that are still to come, and the cuts so far say:
  /// equal keys have equal placements.
  static RestKey keyOfRest(const State &left, const Cuts &cuts);

  /// What `axis` can make of `cuts`, with `left` to come from it on.
  std::vector<Cuts> placements(const State &left, const Cuts &cuts,
                               unsigned axis) const;

  /// Takes from `left` what `axis` made of `before`.
  void take(State &left, const Cuts &before, const Cuts &after,
            unsigned axis) const;

private:
  struct Domain {
    unsigned id = 0;
    std::vector<State> states;
    AxisCounts mostWhole; ///< most axes that a state doesn't use
  };

  /// What devices have, or read, along one dim of a tensor: an interval for
  /// each combination of coordinates of the axes that cut it.
  struct Profile {
    int64_t size = 0; ///< of the dim
    AxisCounts counts;
    int64_t numParts = 1;
    bool plain = true;           ///< the parts of a cut of the dim itself
    std::vector<Interval> parts; ///< where not plain
    int64_t sum = 0;             ///< of the parts' sizes
    int64_t together = 0;        ///< elements in any of the parts
  };

  /// How much of what is needed along a dim can be held, at most: `sum`
  /// elements over the `parts` combinations of the coordinates of all axes that
  /// cut one or the other. An element is in one of the held parts, so for each
  /// needed part the coordinates that are still free choose among so many held
  /// parts, at best those that share most with it.
  struct Overlap {
    int64_t sum = 0, parts = 1;
    int64_t most = 0;    ///< for one combination
    bool uniform = true; ///< the same for all combinations
  };

  /// Profiles per dim and what is partial: what a row or a column of a table
  /// stands for.
  struct Family {
    llvm::SmallVector<unsigned, 4> profiles;
    AxisCounts partial;
    /// Of results: over which sums may stay partial, which axes aren't used.
    AxisCounts sumPartial, whole;
    bool unknown = false; ///< no bound but zero
  };

  /// Of what is needed: devices that share an addend, elements that the groups
  /// of these need in all, and different ones of these.
  struct Needs {
    int64_t kept = 1, elements = 0, together = 1;
  };

  void makeDomains();
  void fillReads(Columns &group, unsigned row, const Value &value,
                 llvm::ArrayRef<Use> uses) override;
  void fillWrites(Columns &group, unsigned row, unsigned op,
                  unsigned result) override;
  static Key keyOf(const Family &family);
  void fillWork(Columns &group, unsigned op) override;
  bool cutsReduction(unsigned op, unsigned value) const override;
  int64_t costOf(const Value &value, int64_t elements) const;
  double largestPart(const Family &family) const;
  Family needOf(const Use &use, unsigned value, llvm::ArrayRef<int64_t> shape);
  Family madeBy(const Operator &op, const Result &result, const State &state,
                llvm::ArrayRef<int64_t> shape);
  AxisCounts reductionAxes(const Operator &op, const State &state,
                           bool additive) const;
  State stateOf(const Cuts &cuts) const;

  const Domain *domainFor(const PlanSpace::Kind &kind, unsigned kindNumber,
                          const AxisCounts &mayBeWhole);
  void enumerate(const PlanSpace::Kind &kind, const AxisCounts &mayBeWhole,
                 Domain &domain) const;
  bool isAllowed(llvm::ArrayRef<IterationDim> dims, const State &state,
                 const AxisCounts &mayBeWhole) const;
  AxisCounts wholeAxes(const State &state) const;
  int64_t degree(const AxisCounts &counts) const;

  unsigned internProfile(Profile profile);
  unsigned profileOf(const LinearExpr &index, llvm::ArrayRef<IterationDim> dims,
                     const State &state, int64_t size);
  unsigned plainProfile(int64_t size, const AxisCounts &counts);
  std::vector<Interval> partsOf(const Profile &profile) const;
  std::vector<Interval> partsOf(int64_t size, const AxisCounts &counts) const;
  const Overlap &overlapOf(unsigned needed, unsigned held) {
    if (needed < overlapsOf.size() && held < overlapsOf[needed].size())
      if (const Overlap *known = overlapsOf[needed][held])
        return *known;
    return newOverlap(needed, held);
  }
  const Overlap &newOverlap(unsigned needed, unsigned held);
  Overlap computeOverlap(const Profile &need, const Profile &hold) const;
  int64_t shared(const Family &needed, const Family &held, int64_t devices);
  Needs needsOf(const Family &needed) const;
  int64_t elements(const Family &needed, const Needs &needs,
                   const Family &held);

  Family familyOf(llvm::ArrayRef<LinearExpr> index,
                  llvm::ArrayRef<IterationDim> dims, const State &state,
                  llvm::ArrayRef<int64_t> shape);
  Family layoutOf(const State &state, llvm::ArrayRef<int64_t> shape);

  AxisClasses classes;
  int64_t numDevices;

  std::deque<Domain> domains;
  KeyMap<Key, const Domain *> domainsByKey;
  std::vector<const Domain *> domainOf;
  std::vector<Profile> profiles;
  KeyMap<Key, unsigned> profileNumbers;
  std::deque<Overlap> overlaps;
  /// By the profile that is needed and the one that is held; null if not known
  /// yet.
  std::vector<std::vector<const Overlap *>> overlapsOf;
};

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_DEGREESPACE_H
