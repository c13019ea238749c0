//===- CappedElimination.h - Exact minima below a cap -----------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Eliminates one variable after the other, as Elimination does, but keeps only
// what may be part of something that costs no more than a cap. Where the costs
// were evened out by messages, most of what doesn't fit together is above it,
// and tables that would have billions of entries are lists of thousands.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_CAPPEDELIMINATION_H
#define TOFU_LIB_SEARCH_CAPPEDELIMINATION_H

#include "Tofu/Search/Elimination.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <optional>

namespace mlir::tofu::search {

/// Where readers share what each of them takes a column of: the shares that are
/// missing, those of readers in columns that others take. `columns` are the
/// readers' ones, `shareOf(reader, column)` their shares.
template <typename ShareOf>
int64_t missingShares(llvm::ArrayRef<unsigned> columns, ShareOf shareOf) {
  int64_t sum = 0;
  for (unsigned i = 0; i < columns.size(); ++i) {
    if (llvm::is_contained(columns.take_front(i), columns[i]))
      continue;
    for (unsigned j = 0; j < columns.size(); ++j)
      if (columns[j] != columns[i])
        sum = addCosts(sum, shareOf(j, columns[i]));
  }
  return sum;
}

/// A minimisation of a sum of costs, none negative and none above Forbidden, of
/// variables with values 0 ... domain-1. Usage: add the costs, then ask for the
/// minimum below one cap after the other.
class CappedElimination {
public:
  explicit CappedElimination(llvm::ArrayRef<unsigned> domains);

  /// What each value of `var` costs.
  void add(unsigned var, llvm::ArrayRef<int64_t> costs);

  /// What two different variables cost, the values of `row` slowest.
  void add(unsigned row, unsigned col, llvm::ArrayRef<int64_t> costs);

  /// One of several who share what each of them takes a column of.
  struct Reader {
    unsigned var;
    std::vector<unsigned> columnOf; ///< by value
    /// What it is charged for a column already: a row per value of the row
    /// variable.
    std::vector<int64_t> shares;
  };

  /// Adds missingShares in each row. `row` is a variable, or nothing if there
  /// is just one row. All variables are different but those of readers from
  /// each other.
  void add(std::optional<unsigned> row, unsigned numColumns,
           std::vector<Reader> readers);

  /// The minimum, or cap + 1 if it is above the cap. Nothing if more than
  /// `limit` partial assignments would have to be looked at that may be below
  /// the cap, or if it takes more than so many seconds.
  std::optional<int64_t> minimum(int64_t cap, size_t limit,
                                 double seconds) const;

private:
  struct Pair {
    unsigned row, col;
    std::vector<int64_t> costs;
  };
  struct Term {
    llvm::SmallVector<unsigned, 4> scope;
    std::optional<unsigned> row;
    unsigned numColumns;
    std::vector<Reader> readers;

    /// With the shares of the row from `row` on, and the readers' columns.
    int64_t costOf(size_t row, llvm::ArrayRef<unsigned> columns) const;
  };
  class Run;

  std::vector<std::vector<int64_t>> unary;
  std::map<std::pair<unsigned, unsigned>, unsigned> numbers; ///< of pairs
  std::vector<Pair> pairs;
  std::vector<Term> terms;
  std::vector<llvm::SmallVector<unsigned, 8>> pairsOf, termsOf;
};

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_CAPPEDELIMINATION_H
