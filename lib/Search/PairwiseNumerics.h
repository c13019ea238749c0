//===- PairwiseNumerics.h - Loops of message passing ------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What message passing over single variables and over classes of them have in
// common.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_PAIRWISENUMERICS_H
#define TOFU_LIB_SEARCH_PAIRWISENUMERICS_H

#include "Tofu/Search/Elimination.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace mlir::tofu::search {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The least a[i] - b[i].
inline double leastDifference(const double *a, llvm::ArrayRef<double> b) {
  // Lanes of their own, so that compilers use vectors.
  constexpr size_t kLanes = 4;
  double least[kLanes] = {kInfinity, kInfinity, kInfinity, kInfinity};
  size_t i = 0;
  for (; i + kLanes <= b.size(); i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane)
      least[lane] = std::min(least[lane], a[i + lane] - b[i + lane]);
  for (; i < b.size(); ++i)
    least[0] = std::min(least[0], a[i] - b[i]);
  return std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
}

/// Costs as whole numbers of units, so that what comes of them has no rounding
/// errors.
class Units {
public:
  explicit Units(double perCost = 1) : perCost(perCost) {}

  /// Units so small that hardly anything is lost where costs of up to `cost`
  /// are sums of many, and so large that what thousands of passes make of
  /// shares by rounding is less than one: costs are whole numbers of units, so
  /// that shares rounded down are no more than what is shared.
  static Units fineFor(double cost) {
    constexpr int kBits = 40;
    int exponent = 0;
    std::frexp(std::max(cost, 1.0), &exponent);
    return Units(std::ldexp(1.0, std::max(kBits - exponent, 0)));
  }

  int64_t roundDown(double cost) const {
    double units = std::clamp<double>(cost * perCost, -Forbidden, Forbidden);
    // Faster than std::floor, which is a call on some machines.
    int64_t whole = int64_t(units);
    return whole - (double(whole) > units);
  }

  /// What is a whole number and not less than so many units, or than 0, is not
  /// less than this.
  int64_t toBound(int64_t units) const {
    return std::max<int64_t>(int64_t(std::ceil(double(units) / perCost)), 0);
  }

private:
  double perCost; ///< a power of two
};

/// Evens out what the readers of a group have to spare in each entry of its
/// table, so that no reader is short of what another doesn't need. Usage: start
/// a group, note what each reader has moved from its columns, count the
/// readers, then for each row take what is spare of all shares, divide it, and
/// give each its part.
class SharedColumns {
public:
  void start(size_t numReaders, unsigned columns) {
    numColumns = columns;
    most.assign(numReaders * numColumns, -kInfinity);
    has.assign(most.size(), 0);
    spare.resize(numColumns);
    readers.assign(numColumns, 0);
  }

  void note(size_t reader, unsigned column, double moved) {
    double &top = most[reader * numColumns + column];
    top = std::max(top, moved);
  }

  /// Readers need nothing in columns that they can't have any more.
  void count(size_t reader, double times) {
    for (unsigned column = 0; column < numColumns; ++column) {
      has[reader * numColumns + column] =
          most[reader * numColumns + column] != -kInfinity;
      readers[column] += times * has[reader * numColumns + column];
    }
  }

  void beginRow() { std::fill(spare.begin(), spare.end(), 0.0); }

  void take(size_t reader, double *share, double toRow, double times) {
    const double *top = &most[reader * numColumns];
    // No share may be negative: another reader alone would pay too much.
    for (unsigned column = 0; column < numColumns; ++column) {
      double kept = std::max(0.0, toRow + top[column]);
      spare[column] += times * (share[column] - kept);
      share[column] = kept;
    }
  }

  void divide() {
    for (unsigned column = 0; column < numColumns; ++column)
      spare[column] /= std::max(readers[column], 1.0);
  }

  void give(size_t reader, double *share) const {
    const double *mine = &has[reader * numColumns];
    for (unsigned column = 0; column < numColumns; ++column)
      share[column] += mine[column] * spare[column];
  }

private:
  unsigned numColumns = 0;
  std::vector<double> most, has; ///< per reader and column
  std::vector<double> spare, readers;
};

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_PAIRWISENUMERICS_H
