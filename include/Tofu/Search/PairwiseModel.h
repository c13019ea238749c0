//===- PairwiseModel.h - Minima and their bounds ----------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Minimises a sum of costs between pairs of variables, with a lower bound. The
// bound comes from moving costs between terms so that the sum of their minima
// grows: sequential message passing (Kolmogorov, "Convergent tree-reweighted
// message passing for energy minimization", PAMI 2006). States that can't be in
// anything better than what is known are dropped; where that leaves little, the
// rest is eliminated exactly and bound and minimum meet.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_PAIRWISEMODEL_H
#define TOFU_SEARCH_PAIRWISEMODEL_H

#include "Tofu/Search/Elimination.h"

#include <memory>
#include <optional>
#include <unordered_map>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::tofu::search {

class SharedColumns;
class Units;

/// A minimisation over variables with values 0 ... domain-1. Usage: add groups,
/// then `minimize`.
class PairwiseModel {
public:
  /// What reads the row variable of a group: a variable and, for each of its
  /// values, the column of the group's table.
  struct Reader {
    unsigned var;
    llvm::ArrayRef<unsigned> columnOf;
  };

  struct Options {
    /// Passes over all variables, each there and back, at most.
    unsigned passes = 200;
    /// Stop when a pass raises the bound by less than this part of the gap.
    double leastProgress = 0.01;
    /// Stop when the gap is less than this part of the minimum.
    double closeEnough = 0;
    /// Entries of all tables of the exact elimination at the end.
    int64_t tableLimit = int64_t(1) << 22;
    /// The same at the beginning, among all values; none if 0.
    int64_t wholeLimit = 0;
    /// The same where something better is looked for among some values.
    int64_t improvementLimit = int64_t(1) << 18;
    /// Partial assignments that are looked at in the exact solution of a part
    /// of the model, where such solutions raise the bound at the end; none if
    /// 0.
    int64_t segmentLimit = 0;
    /// Stop when eight passes have found nothing better.
    bool settles = false;
    /// Look no closer while the gap is more than this part of the minimum.
    double farGap = 1;
    /// Drop values that are in nothing better than what is known. What is found
    /// then says nothing about a model that this one was folded from.
    bool prunes = true;
    /// Seconds after which no pass begins.
    double seconds = 1e9;

    /// Whether the gap is small enough to stop.
    bool isClose(double bound, double minimum) const;
  };

  struct Result {
    int64_t minimum = Forbidden; ///< of `assignment`
    int64_t lowerBound = 0;      ///< no assignment costs less
    Assignment assignment;       ///< empty if all that was met is forbidden
    unsigned passes = 0;         ///< that were made
  };

  explicit PairwiseModel(llvm::ArrayRef<unsigned> domains);

  /// Adds costs between `row` and each reader: the entry of `table`, a row per
  /// value of `row` with `numColumns` entries, at the reader's column; charged
  /// once for all readers with the same column. Tables and columns must stay
  /// alive; entries are at most Forbidden and not negative.
  void addGroup(unsigned row, llvm::ArrayRef<int64_t> table,
                unsigned numColumns, llvm::ArrayRef<Reader> readers);

  unsigned numVariables() const { return domains.size(); }

  /// Entries between all pairs of variables that share a group, if the first
  /// variables had so many values.
  int64_t numEntries(llvm::ArrayRef<unsigned> sizes) const;

  /// The cost of an assignment.
  int64_t costOf(const Assignment &assignment) const;

  /// `hint` is an assignment to start from, if there is one.
  Result minimize(const Options &options, const Assignment *hint = nullptr);

  /// By how much the bound speaks against each value of a variable, after
  /// `minimize`.
  llvm::ArrayRef<double> getExcess(unsigned var) const { return excess[var]; }

  /// A smaller model: variables that look alike in a neighbourhood are one.
  /// What it costs, this model costs with its assignment unfolded.
  struct Folding;

  /// Folds variables of one kind that look alike as far as `radius` groups
  /// away.
  Folding fold(llvm::ArrayRef<unsigned> kinds, unsigned radius) const;

  /// The same by a bound for which variables of one kind that look alike are
  /// treated alike: much faster where there are many. Needs an assignment to
  /// begin with, `hint`; without one, `known` is what one costs, and the result
  /// is the bound alone. Another call goes on from where this one got.
  Result minimizeAlike(llvm::ArrayRef<unsigned> kinds, const Options &options,
                       const Assignment *hint, int64_t known);

  /// After minimizeAlike, spares no effort to find what costs less than `known`
  /// and more than `bound`, or to show that there is nothing: asks for what
  /// costs hardly more than the bound, tries the values of variables with many
  /// neighbours one by one, up to `mostProbes`, and has as many passes as
  /// `options` say only where that isn't enough.
  Result closeGap(llvm::ArrayRef<unsigned> kinds, const Options &options,
                  unsigned mostProbes, int64_t bound, int64_t known);

  /// Has the next call of minimizeAlike begin anew.
  void forgetBound() {
    view = nullptr;
    numRadii = 0;
  }

  /// Writes the same minimisation as an integer linear program, in LP format.
  void writeIlp(llvm::raw_ostream &os) const;

private:
  using Values = llvm::SmallVector<unsigned, 0>;

  /// A reader in a group, with what was moved to its ends.
  struct Edge {
    unsigned group;
    unsigned row, col;                 ///< variables
    llvm::ArrayRef<unsigned> columnOf; ///< by value of `col`
    /// Of the group's table, rows x columns: `ownShare`, or all of it.
    const double *share = nullptr;
    std::vector<double> ownShare;
    std::vector<double> toRow, toCol; ///< by value: moved from the pair
    std::vector<bool> present;        ///< columns that it can have
  };
  struct Group {
    unsigned row, numColumns;
    llvm::ArrayRef<int64_t> table;
    unsigned firstEdge, numEdges;
    /// Readers that are the row variable itself.
    llvm::SmallVector<llvm::ArrayRef<unsigned>, 1> own;
  };

  struct Folder;
  class GapCloser;
  class Remainder;
  class Restriction;
  class View;

  std::vector<double> costsOfOthers(const Group &group) const;
  int64_t ownCost(const Group &group, unsigned row) const;
  void start();
  std::vector<unsigned> classify(llvm::ArrayRef<unsigned> kinds,
                                 unsigned radius) const;
  void rebalance(const Group &group, SharedColumns &shared);
  void collect(Edge &edge, unsigned at);
  void prune(unsigned var);
  void choose(unsigned var);
  void visit(unsigned var, bool forwards);
  void descend(Assignment &assignment) const;
  int64_t costAround(unsigned var, const Assignment &assignment) const;
  int64_t costOf(const Group &group, const Assignment &assignment) const;
  int64_t integerBound(Units units) const;
  void addTo(Remainder &rest, const Group &group,
             llvm::ArrayRef<Values> values) const;
  std::optional<std::pair<int64_t, Assignment>>
  eliminate(llvm::ArrayRef<Values> values, int64_t tableLimit) const;
  bool solveWhole(const Options &options, Result &result);
  bool finish(const Options &options, Result &result);
  void improve(const Options &options, Result &result);
  void offer(Assignment assignment, Result &result);
  Folding fold(std::vector<unsigned> classes) const;
  void improveAlike(View &view, const Options &options, Result &result);

  llvm::SmallVector<unsigned> domains;
  std::vector<Group> groups;
  std::vector<Edge> edges;
  /// Edges of each variable; those to variables before it come first.
  std::vector<llvm::SmallVector<unsigned, 4>> before, after;
  std::vector<llvm::SmallVector<unsigned, 4>> groupsOf;
  /// Values that are left, per variable.
  std::vector<Values> active;
  std::vector<std::vector<double>> unary;
  /// By how much a value is dearer than the variable's best, when last seen.
  std::vector<std::vector<double>> excess;
  std::unordered_map<const int64_t *, std::vector<double>> wholeTables;
  std::vector<double> least; ///< of `unary`, per variable
  double sumOfLeast = 0, upper = 0;
  Assignment current;
  /// Of minimizeAlike: the finest view so far, how many were made, and the cost
  /// that what they dropped can't beat.
  std::shared_ptr<View> view;
  unsigned numRadii = 0;
  int64_t leastKnown = Forbidden;
  int64_t provenBound = 0; ///< of its last call
  bool isWarm = false;     ///< messages are there already
  bool prunes = true;
  bool isDone = false;                 ///< a variable has no values left
  std::vector<double> columns, scores; ///< scratch
};

struct PairwiseModel::Folding {
  std::vector<unsigned> classOf; ///< by variable
  std::unique_ptr<PairwiseModel> model;
  std::deque<std::vector<int64_t>> tables;
  /// By edge of the whole model: that of the folded one; -1 for those within a
  /// class.
  std::vector<int> edges;

  /// The variables of a class as their first one.
  Assignment fold(const Assignment &assignment) const;
  Assignment unfold(const Assignment &folded) const;
};

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_PAIRWISEMODEL_H
