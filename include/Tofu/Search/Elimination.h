//===- Elimination.h - Exact minima of sums of small tables -----*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Minimises a sum of terms that depend on few variables each, by eliminating
// one variable after the other: the terms of a variable are replaced by one
// table over its neighbours, which says what the best choice for it costs. On
// chains, fork-joins and anything of small tree width that is exact and fast;
// the node and edge eliminations of OptCNN are the cases of one and two
// neighbours. What is too dense for it is left to a beam and local search.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_ELIMINATION_H
#define TOFU_SEARCH_ELIMINATION_H

#include "Tofu/Search/KeyMap.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace mlir::tofu::search {

class EliminationOrder;

/// A cost that rules an assignment out: sums saturate here. Actual costs must
/// stay far below.
inline constexpr int64_t Forbidden = int64_t(1) << 52;

/// Sum of two costs that may be Forbidden.
inline int64_t addCosts(int64_t a, int64_t b) {
  return a + b < Forbidden ? a + b : Forbidden;
}

/// One value per variable.
using Assignment = std::vector<unsigned>;

/// A minimisation over variables with values 0 ... domain-1. Usage: add the
/// terms, `solve` once, then ask for optimal assignments.
class Elimination {
public:
  struct Options {
    /// Entries of the largest table to build. If more were needed, variables
    /// are eliminated up to tables of `coreLimit` entries; the others, the
    /// core, are searched by other means and not exactly.
    int64_t tableLimit = int64_t(1) << 22;
    int64_t coreLimit = int64_t(1) << 16;
    /// Partial assignments of the core that the beam keeps.
    unsigned beamWidth = 32;
    /// Local search in the core: at most so many large neighbourhoods are
    /// solved, each with tables of at most `neighbourhoodLimit` entries.
    unsigned neighbourhoods = 64;
    int64_t neighbourhoodLimit = int64_t(1) << 13;
  };

  explicit Elimination(llvm::ArrayRef<unsigned> domains);

  /// Adds a term over the variables `scope`, all different, given as a table
  /// of its values with the last variable of the scope running fastest. The
  /// table must stay alive. Values are at most Forbidden and not negative.
  void add(llvm::ArrayRef<unsigned> scope, llvm::ArrayRef<int64_t> table);

  /// Entries of the tables that an exact solution would build; no further than
  /// to one of more than `limit`.
  struct Work {
    int64_t largest = 1, total = 0;
  };
  Work plan(int64_t limit = Forbidden) const;

  /// The total where tables that are equal, by what they are made from, are
  /// built once, as `solve` does; no further than to more than `limit`.
  int64_t distinctWork(int64_t limit) const;

  /// Finds the minimum. False if every assignment (or, when not exact, every
  /// one that was met) is forbidden. If not exact, the result is no worse than
  /// `hint`, where one is given.
  bool solve(const Options &options, const Assignment *hint = nullptr);

  int64_t minimum() const { return best; }
  /// Whether `minimum` is proven: all variables could be eliminated.
  bool exact() const { return core.empty(); }
  /// Most neighbours that an eliminated variable had.
  unsigned width() const { return largestWidth; }

  /// Rank of a value of a variable: among values that are equally good, the
  /// one of the lowest rank is taken, then the lowest value.
  using Preference = llvm::function_ref<uint64_t(unsigned var, unsigned value)>;

  /// The optimal assignment that follows `preference` at every choice.
  Assignment optimum(Preference preference) const;

  /// Optimal assignments, at most `limit`, in a fixed order. When exact, all of
  /// them if there are no more.
  std::vector<Assignment> optima(size_t limit) const;

private:
  /// A term, or a table that an elimination left behind.
  struct Factor {
    llvm::SmallVector<unsigned, 4> scope;
    unsigned table = 0;
    bool live = true; ///< no variable of it is eliminated
  };
  /// An eliminated variable and the factors that it was in.
  struct Step {
    unsigned var;
    llvm::SmallVector<unsigned, 8> factors;
  };

  EliminationOrder startOrder() const;
  void attach(Factor factor);
  llvm::SmallVector<unsigned, 8> liveFactors(unsigned var) const;
  bool eliminate(unsigned var, llvm::ArrayRef<unsigned> neighbours, bool isDry);
  void keep(std::vector<int64_t> table);
  void leaveTable(llvm::ArrayRef<unsigned> scope, unsigned table, bool isDry);
  using Key = llvm::SmallVector<unsigned, 16>;
  Key keyOf(llvm::ArrayRef<unsigned> dims, llvm::ArrayRef<unsigned> of) const;

  int64_t valueOf(const Factor &factor, const Assignment &assignment) const;
  int64_t costOf(llvm::ArrayRef<unsigned> of,
                 const Assignment &assignment) const;
  llvm::SmallVector<unsigned, 8> bestValues(const Step &step,
                                            Assignment &assignment) const;

  // The core (EliminationCore.cpp).
  bool searchCore(llvm::ArrayRef<unsigned> vars, const Options &options,
                  const Assignment *hint);
  llvm::SmallVector<unsigned, 0> coreFactors() const;
  llvm::SmallVector<unsigned> beamOrder(llvm::ArrayRef<unsigned> vars) const;
  bool beam(llvm::ArrayRef<unsigned> order, unsigned width,
            Assignment &assignment) const;
  void descend(llvm::ArrayRef<unsigned> vars, Assignment &assignment) const;
  std::vector<bool> chooseFixed(llvm::ArrayRef<unsigned> of, int64_t limit,
                                std::vector<unsigned> &timesFixed) const;
  bool improve(llvm::ArrayRef<unsigned> of, const std::vector<bool> &fixed,
               const Options &options, Assignment &assignment) const;

  llvm::SmallVector<unsigned> domains;
  std::vector<Factor> factors;
  /// Tables, given or own: repeated parts of a graph share them.
  std::vector<llvm::ArrayRef<int64_t>> tables;
  std::deque<std::vector<int64_t>> ownTables;
  llvm::DenseMap<std::pair<const int64_t *, size_t>, unsigned> given;
  /// By what they are sums or least sums of.
  KeyMap<Key, unsigned> numbers;
  /// Per variable: the factor that adds the eliminated leaves' costs up.
  llvm::SmallVector<int> leaves;
  std::vector<llvm::SmallVector<unsigned, 4>> factorsOf;
  std::vector<Step> steps;
  /// The variables that were not eliminated, with their values.
  llvm::SmallVector<std::pair<unsigned, unsigned>> core;
  int64_t constant = 0, best = 0;
  unsigned largestWidth = 0;
};

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_ELIMINATION_H
