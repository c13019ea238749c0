//===- PairwiseGap.cpp - Closing the gap of a pairwise model --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two ways to have fewer values, with which the same messages say more.
//
// Near the bound: a cost below that of the best that is known is asked for, as
// if something had it. What can't be in that is dropped, and with every value
// others go. If nothing is left, no assignment costs so little, and the bound
// is that much higher; else little is left, and what is sought is found in it.
//
// One by one: what many variables depend on, a weight that all timesteps read,
// say, makes many cycles, around which messages are in favour of a bit of this
// value and a bit of that. With one value these cycles are open. So each value
// is tried: most lead to nothing cheaper than what is known, soon, and are
// dropped. Of other variables only what one of those that are kept goes with is
// left.
//
//===----------------------------------------------------------------------===//

#include "Clock.h"
#include "PairwiseView.h"
#include "Tofu/Search/PairwiseModel.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

using namespace mlir::tofu::search;

/// Neighbours with a choice that a variable has whose values are tried.
static constexpr unsigned kManyNeighbours = 8;

/// Passes that show whether a value leads to anything, and entries of tables of
/// an elimination of what is left then.
static constexpr unsigned kFewPasses = 30;
static constexpr int64_t kFewEntries = int64_t(1) << 20;

/// Passes near the bound at first, and how little each may raise it.
static constexpr unsigned kUsualPasses = 100;
static constexpr double kUsualProgress = 0.005;

/// How far above the bound something is looked for, as parts of the gap, one
/// after the other for as long as that leads anywhere, and in the end.
static constexpr double kPartsOfGap[] = {1.0 / 16, 1.0 / 4, 1.0 / 2, 1};
static constexpr double kLeastPartOfGap = 1.0 / 256;

/// A model of some of the values of another one. It charges the same.
class PairwiseModel::Restriction {
public:
  Restriction(const PairwiseModel &whole, llvm::ArrayRef<Values> values)
      : whole(whole), values(values) {
    llvm::SmallVector<unsigned> sizes;
    for (const Values &mine : values)
      sizes.push_back(mine.size());
    model = std::make_unique<PairwiseModel>(sizes);
    for (const Group &group : whole.groups)
      addGroup(group);
  }

  PairwiseModel &getModel() { return *model; }

  /// The same assignment of the whole model.
  Assignment toWhole(const Assignment &assignment) const {
    Assignment mine;
    for (auto [value, all] : llvm::zip_equal(assignment, values))
      mine.push_back(all[value]);
    return mine;
  }

  /// Of each variable the whole model's values that are left.
  std::vector<Values> valuesLeft() const {
    std::vector<Values> left;
    for (auto [active, all] : llvm::zip_equal(model->active, values)) {
      left.emplace_back();
      for (unsigned value : active)
        left.back().push_back(all[value]);
    }
    return left;
  }

private:
  /// One list for all that are equal, so that what looks alike still does.
  llvm::ArrayRef<unsigned> share(std::vector<unsigned> columns) {
    return *columnLists.insert(std::move(columns)).first;
  }

  /// The entries of some rows and columns of a group's table, shared too.
  llvm::ArrayRef<int64_t> tableOf(const Group &group,
                                  llvm::ArrayRef<unsigned> rows,
                                  llvm::ArrayRef<unsigned> columns) {
    std::vector<uint64_t> key{
        uint64_t(reinterpret_cast<uintptr_t>(group.table.data())), rows.size()};
    key.insert(key.end(), rows.begin(), rows.end());
    key.insert(key.end(), columns.begin(), columns.end());
    auto [table, isNew] = tables.try_emplace(std::move(key));
    if (isNew)
      for (unsigned row : rows)
        for (unsigned column : columns)
          table->second.push_back(
              group.table[size_t(row) * group.numColumns + column]);
    return table->second;
  }

  void addGroup(const Group &group) {
    const Values &rows = values[group.row];
    std::map<unsigned, unsigned> numbers;
    llvm::SmallVector<unsigned> columns;
    auto numberOf = [&](unsigned column) {
      auto [number, isNew] =
          numbers.try_emplace(column, unsigned(columns.size()));
      if (isNew)
        columns.push_back(column);
      return number->second;
    };
    llvm::SmallVector<Reader> readers;
    auto addReader = [&](unsigned var, llvm::ArrayRef<unsigned> columnOf) {
      std::vector<unsigned> mine;
      for (unsigned value : values[var])
        mine.push_back(numberOf(columnOf[value]));
      // Who has no choice pays in any case, as the row would.
      if (mine.size() == 1) {
        mine.resize(rows.size(), mine.front());
        var = group.row;
      }
      readers.push_back({var, share(std::move(mine))});
    };
    for (llvm::ArrayRef<unsigned> own : group.own)
      addReader(group.row, own);
    for (unsigned i = 0; i < group.numEdges; ++i) {
      const Edge &edge = whole.edges[group.firstEdge + i];
      addReader(edge.col, edge.columnOf);
    }
    model->addGroup(group.row, tableOf(group, rows, columns), columns.size(),
                    readers);
  }

  const PairwiseModel &whole;
  llvm::ArrayRef<Values> values;
  std::unique_ptr<PairwiseModel> model;
  std::map<std::vector<uint64_t>, std::vector<int64_t>> tables;
  std::set<std::vector<unsigned>> columnLists;
};

/// Closes the gap over what is active in a model.
class PairwiseModel::GapCloser {
public:
  GapCloser(const PairwiseModel &model, llvm::ArrayRef<unsigned> kinds,
            const Options &options, unsigned most, int64_t bound, int64_t known)
      : model(model), kinds(kinds), options(options), left(most),
        values(model.active) {
    result.lowerBound = bound;
    result.minimum = known;
  }

  Result run() {
    // Where little is left, few passes show it.
    Options few = options;
    few.passes = std::min(few.passes, kUsualPasses);
    few.leastProgress = std::max(few.leastProgress, kUsualProgress);
    few.segmentLimit = 0;
    lookNearBound(few);
    if (!isMet() && drop())
      lookNearBound(few);
    if (!isMet())
      lookNearBound(options);
    if (!isMet())
      raise(minimize(options, kindsLeft(), result.minimum).bound);
    return result;
  }

private:
  /// What is known of the assignments of some values.
  struct Outcome {
    int64_t bound;
    std::vector<Values> values; ///< that may be in something cheaper
  };

  bool isMet() const { return result.lowerBound >= result.minimum; }

  void raise(int64_t bound) {
    result.lowerBound = std::max(result.lowerBound, bound);
    result.lowerBound = std::min(result.lowerBound, result.minimum);
  }

  unsigned numNeighbours(unsigned var) const {
    unsigned number = 0;
    for (const auto *edges : {&model.before[var], &model.after[var]})
      for (unsigned index : *edges) {
        const Edge &edge = model.edges[index];
        number += values[edge.row == var ? edge.col : edge.row].size() > 1;
      }
    return number;
  }

  /// The variable with the most neighbours of those that are to be tried.
  std::optional<unsigned> next() const {
    std::optional<unsigned> best;
    unsigned most = kManyNeighbours - 1;
    for (unsigned var = 0; var < values.size(); ++var) {
      if (isTried[var] || values[var].size() < 2 || values[var].size() > left)
        continue;
      unsigned number = numNeighbours(var);
      if (number <= most)
        continue;
      most = number;
      best = var;
    }
    return best;
  }

  /// Drops values of one variable after the other, and of all others what goes
  /// with nothing that is kept. Ends where all is kept: variables with fewer
  /// neighbours would say less. Says whether anything was dropped.
  bool drop() {
    isTried.assign(values.size(), false);
    bool hasDropped = false;
    while (std::optional<unsigned> var = next()) {
      if (!tryValues(*var))
        break;
      hasDropped = true;
      if (isMet())
        break;
    }
    return hasDropped;
  }

  /// False if all values are kept.
  bool tryValues(unsigned var) {
    isTried[var] = true;
    Options few = options;
    few.passes = std::min(few.passes, kFewPasses);
    few.tableLimit = std::min(few.tableLimit, kFewEntries);
    few.segmentLimit = few.improvementLimit = 0;
    // With one value of its own, hardly a variable looks like another.
    std::vector<unsigned> apart(values.size());
    std::iota(apart.begin(), apart.end(), 0);
    std::vector<Values> all = values, kept(values.size());
    int64_t bound = Forbidden;
    for (unsigned value : all[var]) {
      values = all;
      if (clock.seconds() >= options.seconds)
        return false;
      values[var] = {value};
      Outcome outcome = minimize(few, apart, result.minimum);
      --left;
      bound = std::min(bound, outcome.bound);
      if (outcome.bound < result.minimum)
        for (auto [mine, more] : llvm::zip_equal(kept, outcome.values))
          mine = join(mine, more);
    }
    raise(bound);
    values = std::move(kept);
    return values[var].size() < all[var].size();
  }

  /// Looks for something that costs more than the bound by hardly more than a
  /// part of the gap, as if it were known that there is: what can't be in that
  /// is dropped, which leaves little to choose from. Where there is nothing,
  /// the bound is that much higher. False if neither is the case.
  bool lookBelow(double part, const Options &with) {
    double open = double(result.minimum - result.lowerBound);
    int64_t most =
        result.lowerBound + std::max<int64_t>(int64_t(part * open), 1);
    Outcome outcome = minimize(with, kindsLeft(), most);
    raise(std::min(outcome.bound, most));
    return outcome.bound >= most || result.minimum < most;
  }

  void lookNearBound(const Options &with) {
    for (double part : kPartsOfGap)
      if (isMet() || !lookBelow(part, with))
        break;
    // The bound may be all there is to reach, while values abound.
    if (!isMet())
      lookBelow(kLeastPartOfGap, with);
  }

  static Values join(const Values &a, const Values &b) {
    Values both;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(),
                   std::back_inserter(both));
    return both;
  }

  /// Minimises over `values`, as far as something costs less than `upper`. That
  /// is the result's from then on.
  Outcome minimize(const Options &with, llvm::ArrayRef<unsigned> kinds,
                   int64_t upper) {
    Options mine = with;
    mine.wholeLimit = 0;
    mine.seconds = std::max(options.seconds - clock.seconds(), 0.0);
    Restriction some(model, values);
    Result found =
        some.getModel().minimizeAlike(kinds, mine, /*hint=*/nullptr, upper);
    if (!found.assignment.empty()) {
      result.minimum = found.minimum;
      result.assignment = some.toWhole(found.assignment);
    }
    return {found.lowerBound, some.valuesLeft()};
  }

  /// What has the same values left is of one kind, if it was before.
  std::vector<unsigned> kindsLeft() const {
    std::map<std::vector<unsigned>, unsigned> numbers;
    std::vector<unsigned> all;
    for (auto [kind, mine] : llvm::zip_equal(kinds, values)) {
      std::vector<unsigned> key{kind};
      key.insert(key.end(), mine.begin(), mine.end());
      all.push_back(
          numbers.try_emplace(std::move(key), unsigned(numbers.size()))
              .first->second);
    }
    return all;
  }

  const PairwiseModel &model;
  llvm::ArrayRef<unsigned> kinds;
  const Options &options;
  unsigned left; ///< values that may be tried
  Clock clock;
  Result result; ///< `minimum` is the least that is known
  std::vector<Values> values;
  std::vector<bool> isTried;
};

PairwiseModel::Result PairwiseModel::closeGap(llvm::ArrayRef<unsigned> kinds,
                                              const Options &options,
                                              unsigned most, int64_t bound,
                                              int64_t known) {
  // What views have dropped is in nothing as cheap as what was known then.
  known = std::min(known, leastKnown);
  Result result;
  result.minimum = known;
  result.lowerBound = std::min(bound, known);
  if (!view || view->isEmpty())
    return result;
  result =
      GapCloser(*this, kinds, options, most, result.lowerBound, known).run();
  leastKnown = std::min(leastKnown, result.minimum);
  return result;
}
