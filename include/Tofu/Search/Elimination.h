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
// a node or edge elimination of OptCNN is the case of one or two neighbours.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_ELIMINATION_H
#define TOFU_SEARCH_ELIMINATION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace mlir::tofu::search {

/// A cost that rules an assignment out. Sums saturate here; actual costs must
/// stay far below.
inline constexpr int64_t Forbidden = int64_t(1) << 60;

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
    /// Entries of the largest table to build. Variables that would need a
    /// larger one are left to a beam search, which is not exact.
    int64_t tableLimit = int64_t(1) << 22;
    /// Partial assignments that the beam keeps.
    unsigned beamWidth = 512;
  };

  explicit Elimination(llvm::ArrayRef<unsigned> domains);

  /// Adds a term over the variables `scope`, all different, given as a table
  /// of its values with the last variable of the scope running fastest. The
  /// table must stay alive. Values are at most Forbidden and not negative.
  void add(llvm::ArrayRef<unsigned> scope, llvm::ArrayRef<int64_t> table);

  /// Finds the minimum. False if every assignment (or, when not exact, every
  /// one that the beam met) is forbidden.
  bool solve(const Options &options);

  int64_t minimum() const { return best; }
  /// Whether `minimum` is proven: no beam was needed.
  bool exact() const { return core.empty(); }
  /// Most neighbours that an eliminated variable had.
  unsigned width() const { return largestWidth; }

  /// Rank of a value of a variable: among values that are equally good, the
  /// one of the lowest rank is taken, then the lowest value.
  using Preference = llvm::function_ref<uint64_t(unsigned var, unsigned value)>;

  /// The optimal assignment that follows `preference` at every choice.
  Assignment optimum(Preference preference) const;

  /// Optimal assignments in lexicographic order of the solver's variable
  /// order, at most `limit`. When exact, all of them if there are no more.
  std::vector<Assignment> optima(size_t limit) const;

private:
  /// A term, or a table that an elimination left behind.
  struct Factor {
    llvm::SmallVector<unsigned, 4> scope;
    llvm::ArrayRef<int64_t> table;
    bool live = true; ///< no variable of it is eliminated
  };
  /// An eliminated variable and all the factors that it was in.
  struct Step {
    unsigned var;
    llvm::SmallVector<unsigned, 8> factors;
  };

  int64_t valueOf(const Factor &factor, const Assignment &assignment) const;
  int64_t costOf(llvm::ArrayRef<unsigned> of,
                 const Assignment &assignment) const;
  llvm::SmallVector<unsigned, 8> bestValues(const Step &step,
                                            Assignment &assignment) const;
  int64_t tableSize(unsigned var) const;
  void attach(unsigned factor);
  llvm::SmallVector<unsigned, 8> liveFactors(unsigned var) const;
  void eliminate(unsigned var);
  void leaveTable(llvm::ArrayRef<unsigned> scope, std::vector<int64_t> table);
  void detach(unsigned var);
  llvm::SmallVector<unsigned> coreOrder(llvm::ArrayRef<unsigned> vars) const;
  bool searchCore(llvm::ArrayRef<unsigned> order, unsigned beamWidth);
  void improveCore(Assignment &assignment);

  llvm::SmallVector<unsigned> domains;
  std::vector<Factor> factors;
  std::deque<std::vector<int64_t>> ownTables;
  /// Per variable: the eliminated leaves' costs added up, as an own table.
  llvm::SmallVector<int> leaves;
  /// Factors of each variable, and the live variables it shares one with
  /// (sorted).
  std::vector<llvm::SmallVector<unsigned, 4>> factorsOf, neighbours;
  std::vector<Step> steps;
  /// The variables that were not eliminated, and what the beam chose for them.
  llvm::SmallVector<std::pair<unsigned, unsigned>> core;
  int64_t constant = 0, best = 0;
  unsigned largestWidth = 0;
};

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_ELIMINATION_H
