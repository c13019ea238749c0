//===- Search.h - The search for a plan -------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_SEARCH_H
#define TOFU_SEARCH_SEARCH_H

#include "Tofu/Search/PartitionGraph.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <optional>

namespace llvm {
class ThreadPoolInterface;
} // namespace llvm

namespace mlir::tofu::search {

class CostModel;

/// How a value that several operators use is charged.
enum class Charge {
  Once,   ///< once per value and distinct family of needed boxes
  PerUse, ///< for every use, as the papers do
};

/// Which operators and values are cut as one.
enum class Joining {
  None,
  Chains,     ///< where no plan is lost by it that moves less (see PlanSpace)
  Elementwise ///< element-wise operators and the values that they share: much
              ///< faster; a plan may have them cut otherwise, which rarely
              ///< helps
};

/// What a plan is to be least in.
enum class Objective {
  Bytes, ///< received, summed over all devices
  Time,  ///< of work and moves, one after the other; work may be replicated
};

struct SearchOptions {
  Objective objective = Objective::Bytes;
  /// What the devices of the mesh can do; Objective::Time needs it.
  std::optional<Rates> rates;
  /// Values may be whole over an axis although they could be cut.
  bool replication = false;
  /// Values may stay partial where operators let partials through.
  bool partials = false;
  Charge charge = Charge::Once;
  /// Bytes that no device may exceed, if any plan that is found keeps to them;
  /// else the plan is the one that needs least.
  std::optional<int64_t> memoryLimit;
  /// Of the joint and the recursive search: see CostModel::weighMemory.
  double memoryWeight = 0;
  /// Of searchRandom and searchAny: another number gives another plan.
  uint64_t seed = 0;
  Joining joining = Joining::Elementwise;
  /// Plans that are carried from one step to the next: a step has many plans of
  /// the same least cost, and later steps are not alike for all of them.
  unsigned tiedPlans = 16;
  /// Of the joint search and its bound: passes of message passing in a row, and
  /// the part of the gap that a few of them must close to go on.
  unsigned passes = 100;
  double leastProgress = 0.005;
  /// The gap, as a part of the cost, at which they stop; small programs are
  /// searched to the end.
  double closeEnough = 0.01;
  /// Seconds after which the joint search comes to an end, with the best plan
  /// so far; 0: none.
  double timeBudget = 0;
  /// Is told how far the joint search is, in words.
  std::function<void(llvm::StringRef)> progress;
  /// Runs parts of the joint search beside each other, which doesn't change
  /// what it finds; null: one thread does all.
  llvm::ThreadPoolInterface *threads = nullptr;
  /// Entries of the largest table that elimination may build before it falls
  /// back to a beam and local search.
  int64_t tableLimit = int64_t(1) << 22;
};

struct SearchResult {
  Plan plan;
  double seconds = 0;
  /// Every step was solved exactly (no table was too large).
  bool exact = true;
  /// No plan of the same space, on the same mesh and charged alike, costs less,
  /// in bytes or picoseconds; nothing if the algorithm doesn't look for one.
  std::optional<int64_t> lowerBound;
  /// What folding made of the search: operators and values that are chosen by
  /// themselves, and how many of them differ.
  unsigned variables = 0, classes = 0;
  /// What could not be done as asked, for the user: a beam was used, say.
  std::vector<std::string> remarks;
};

/// Tofu's recursive search (Tofu paper, section 5.2): one step per axis of
/// `mesh`, in order; each step chooses for every operator a dim to cut by the
/// axis, and for every value likewise, so that the exact cost on the mesh of
/// the axes so far is least, with earlier choices fixed. Exact per step by
/// variable elimination on the graph with element-wise operators joined.
///
/// Steps minimise what is charged per use; `options.charge` decides between the
/// plans that the last step leaves. With replication or partials, the smaller
/// plan spaces are searched too, as steps may do better without a choice.
SearchResult searchRecursive(const PartitionGraph &graph, const Mesh &mesh,
                             const SearchOptions &options);

/// All axes together, from the plans of the recursive search on: the degrees of
/// all dims, then their axes, then among all plans where that is affordable;
/// first with element-wise operators joined, then without. Comes with a bound
/// that is close, and is met by most programs.
SearchResult searchKBest(const PartitionGraph &graph, const Mesh &mesh,
                         const SearchOptions &options);

/// The same with larger tables and more patience, to meet the bound; a remark
/// says so if that could not be.
SearchResult searchExact(const PartitionGraph &graph, const Mesh &mesh,
                         const SearchOptions &options);

/// Writes the search for the best plan as an integer linear program in CPLEX's
/// LP format, without the bytes that are the same for all plans. False if there
/// are too many plans to list.
bool writeIlp(const PartitionGraph &graph, const Mesh &mesh,
              const SearchOptions &options, llvm::raw_ostream &os);

/// Data parallelism, to compare with: the batch is cut by every axis that it is
/// large enough for, all that has no batch dim is whole on every device, and
/// gradients are added up before they are combined. The batch is a dim of an
/// argument that runs through most of the work, but through nothing that is
/// carried: one that moves nothing, as in a program without gradients, else the
/// one that runs through the least of the arguments.
SearchResult searchDataParallel(const PartitionGraph &graph, const Mesh &mesh,
                                const SearchOptions &options);

/// Megatron-LM's plan, to compare with, found from the graph: in each pair of
/// products with weights where a dim that the first gives is summed over by the
/// second, as in attention and feed-forward blocks, that dim is cut all the
/// way, so that the first weight is cut by columns, the second by rows, and
/// what runs between such blocks is whole. Of several axes, the first cuts the
/// batch. Data parallelism, with a remark, if there is no such pair.
SearchResult searchMegatron(const PartitionGraph &graph, const Mesh &mesh,
                            const SearchOptions &options);

/// The search of Jia et al. (ICML 2018), to compare with: no operator is cut
/// along a reduction. Otherwise as searchKBest.
SearchResult searchWithoutReductions(const PartitionGraph &graph,
                                     const Mesh &mesh,
                                     const SearchOptions &options);

/// To compare with: each operator and value is cut along one dim by all axes
/// together. The one of these plans that moves the fewest bytes.
SearchResult searchEqualChop(const PartitionGraph &graph, const Mesh &mesh,
                             const SearchOptions &options);

/// To compare with: every value is cut along its first dim, or the next ones
/// where that is too small, and every operator as is best then.
SearchResult searchAllRowGreedy(const PartitionGraph &graph, const Mesh &mesh,
                                const SearchOptions &options);

/// Spartan's greedy search, to compare with: the values, the largest first, are
/// cut as costs least given what is chosen so far, the operators that meet in
/// one right after it.
SearchResult searchSpartan(const PartitionGraph &graph, const Mesh &mesh,
                           const SearchOptions &options);

/// No search: what is pinned spreads through the program, as GSPMD has it. Over
/// and over, forwards and backwards, operators are cut as the values are that
/// they read and produce, and values as the operators; pins of a higher
/// priority spread first. What nothing reaches stays whole.
SearchResult searchPropagation(const PartitionGraph &graph, const Mesh &mesh,
                               const SearchOptions &options);

/// Any valid plan of the plan space, by `options.seed`: for tests.
SearchResult searchRandom(const PartitionGraph &graph, const Mesh &mesh,
                          const SearchOptions &options);

/// Any valid plan, in the plan space or not, by `options.seed`: for tests.
/// Partial values are in it only with `options.partials`.
SearchResult searchAny(const PartitionGraph &graph, const Mesh &mesh,
                       const SearchOptions &options);

/// A search algorithm, as users name it.
struct Algorithm {
  llvm::StringRef name;
  SearchResult (*search)(const PartitionGraph &, const Mesh &,
                         const SearchOptions &);
};

/// All of them.
llvm::ArrayRef<Algorithm> getAlgorithms();

/// Fills in the bytes of `plan` from its strategies and layouts.
void countBytes(const PartitionGraph &graph, Plan &plan, Charge charge);

/// The same with a cost model of the plan's mesh, which plans of one program
/// share to be counted faster.
void countBytes(const PartitionGraph &graph, Plan &plan, Charge charge,
                CostModel &model);

/// Fills in the times of `plan`, in picoseconds, on a mesh of devices as
/// `rates` says. What several uses share is charged as in `countBytes`.
void countTimes(const PartitionGraph &graph, Plan &plan, Charge charge,
                const Rates &rates);

/// The same with a cost model of the plan's mesh that has rates.
void countTimes(const PartitionGraph &graph, Plan &plan, Charge charge,
                CostModel &model);

/// What `plan`, once counted, costs by `objective`.
int64_t costOf(const Plan &plan, Objective objective);

/// No plan of `graph` takes longer, in picoseconds: each device does all of the
/// work, and over every axis an addend, a sum and the value move to each. For a
/// check that times don't overflow.
double mostTime(const PartitionGraph &graph, const Rates &rates);

/// Changes what `plan` cuts otherwise than `graph` allows: what is pinned, what
/// must not be cut, what is tied. For plans that are made without a look at
/// that; bytes are to be counted afterwards.
void obey(const PartitionGraph &graph, Plan &plan);

/// Says what is wrong with `plan` for `graph`, or nothing if it is valid: sizes
/// match, every axis is known and used at most once by an operator or layout,
/// unsplittable dims are whole, partials are legal, what is pinned is kept.
std::optional<std::string> checkPlan(const PartitionGraph &graph,
                                     const Plan &plan);

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_SEARCH_H
