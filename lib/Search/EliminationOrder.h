//===- EliminationOrder.h - Which variable goes next ------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_ELIMINATIONORDER_H
#define TOFU_LIB_SEARCH_ELIMINATIONORDER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <set>
#include <vector>

namespace mlir::tofu::search {

/// The graph of variables that share a factor, as elimination goes on. The next
/// variable is the one whose table, over itself and its neighbours, is the
/// smallest.
class EliminationOrder {
public:
  using Neighbours = llvm::SmallVector<unsigned, 8>;

  explicit EliminationOrder(llvm::ArrayRef<unsigned> domains)
      : domains(domains), neighbours(domains.size()), sizes(domains.size(), 0) {
  }

  /// Makes the variables of `scope` neighbours.
  void connect(llvm::ArrayRef<unsigned> scope);

  /// Takes up all variables that have a choice.
  void start();

  bool empty() const { return queue.empty(); }
  /// Entries of the table of the next variable (saturated).
  int64_t nextSize() const { return queue.begin()->first; }
  unsigned next() const { return queue.begin()->second; }
  const Neighbours &neighboursOf(unsigned var) const { return neighbours[var]; }
  /// Variables that are left, in increasing order.
  llvm::SmallVector<unsigned> rest() const;

  /// Removes `var`. Eliminated, it leaves its neighbours connected; fixed to a
  /// value, it leaves nothing.
  void eliminate(unsigned var) { remove(var, true); }
  void fix(unsigned var) { remove(var, false); }

private:
  int64_t tableSize(unsigned var) const;
  void remove(unsigned var, bool fill);

  llvm::SmallVector<unsigned> domains;
  std::vector<Neighbours> neighbours; ///< sorted
  std::vector<int64_t> sizes;
  std::set<std::pair<int64_t, unsigned>> queue;
};

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_ELIMINATIONORDER_H
