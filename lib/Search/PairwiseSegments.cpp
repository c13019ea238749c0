//===- PairwiseSegments.cpp - A bound by parts of the program -------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages make neighbours agree. Around a cycle, a block of layers with its
// residual connection and its gradients, say, all neighbours may agree though
// no plan does. So the program is divided into segments, and each is solved
// exactly with the costs as messages have distributed them: no variable is in
// two segments and no cost below its least, so what the segments' minima are
// above the sums of their least costs adds up. What the best plan costs there
// is a cap that leaves little to look at.
//
//===----------------------------------------------------------------------===//

#include "CappedElimination.h"
#include "Clock.h"
#include "PairwiseView.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

using namespace mlir::tofu::search;

/// Variables of a segment that is not made of smaller ones.
static constexpr unsigned kFewVariables = 64;

/// What may be lost of a part.
static constexpr double kMargin = 0.05;

class PairwiseModel::View::Segments {
public:
  /// `plan` is the best assignment that is known, if there is one, and what is
  /// known costs `upper` units.
  Segments(const View &view, const WholeCosts &costs, const Assignment &plan,
           int64_t upper, const Options &options, double seconds)
      : view(view), model(view.model), costs(costs), plan(plan), upper(upper),
        options(options), seconds(seconds), positionOf(model.numVariables()) {
    sort();
    measureCuts();
  }

  /// A bound of the whole model, in units.
  int64_t bound() {
    int64_t most = costs.bound;
    if (order.empty() || most >= upper)
      return most;
    Segment all(0, order.size());
    double open = double(upper - costs.bound);
    double enough = std::clamp(1 - options.closeEnough * double(upper) / open,
                               kMargin, 1.0);
    // Less is left to look at below smaller caps.
    double part = 0, next = enough / 8;
    while (part < next && !options.isClose(double(most), double(upper))) {
      part = next;
      limit =
          size_t(double(options.segmentLimit) * std::min(part / enough, 1.0));
      Gain gain = gainOf(all, part);
      most = std::max(most, costs.bound + gain.units);
      if (options.closeEnough > 0 && double(gain.most) < enough * open)
        break;
      // Some segments are at their minimum: the others make up for it.
      double reached = std::max(double(gain.units) / open, part / 2);
      next = (1 + kMargin) * part * enough / reached;
      next = std::min({next, 2 * part, 1.0});
    }
    return most;
  }

private:
  /// Neighbours in the order of the program.
  struct Segment {
    unsigned begin, end;
    std::unique_ptr<Segment> left, right;
    bool isJoint = false;   ///< its parts are solved together
    bool hasFailed = false; ///< that is too much
    Segment(unsigned begin, unsigned end) : begin(begin), end(end) {}
    unsigned size() const { return end - begin; }
  };
  /// What is known of the minimum of a segment.
  struct Minimum {
    int64_t least = 0; ///< it isn't less
    bool isExact = false, hasFailed = false;
  };

  /// By how much a segment is above its least costs, and may be found to be.
  struct Gain {
    int64_t units = 0, most = 0;
  };

  llvm::ArrayRef<unsigned> valuesOf(unsigned var) const {
    return view.types[view.typeOf[var]].active;
  }

  bool isOpen(unsigned var) const { return valuesOf(var).size() > 1; }

  void forEachEdge(unsigned var,
                   llvm::function_ref<void(unsigned, unsigned)> visit) const {
    for (const auto *edges : {&model.before[var], &model.after[var]})
      for (unsigned number : *edges) {
        const Edge &edge = model.edges[number];
        visit(number, edge.row == var ? edge.col : edge.row);
      }
  }

  /// Open variables from `var` on by their distance from it; those that aren't
  /// met keep theirs, -1.
  std::vector<unsigned> walk(unsigned var, std::vector<int> &distance) const {
    std::vector<unsigned> met{var};
    distance[var] = 0;
    for (size_t i = 0; i < met.size(); ++i)
      forEachEdge(met[i], [&](unsigned, unsigned other) {
        if (distance[other] >= 0 || !isOpen(other))
          return;
        distance[other] = distance[met[i]] + 1;
        met.push_back(other);
      });
    return met;
  }

  /// From one end of the program to the other, by how much closer one is: a
  /// block's gradients are where the block is, and so is what is off the
  /// shortest way.
  void sort() {
    std::vector<int> fromAny(model.numVariables(), -1);
    std::vector<int> fromOne = fromAny, fromOther = fromAny;
    for (unsigned var = 0; var < model.numVariables(); ++var) {
      if (fromAny[var] >= 0 || !isOpen(var))
        continue;
      unsigned one = walk(var, fromAny).back();
      unsigned other = walk(one, fromOne).back();
      std::vector<unsigned> met = walk(other, fromOther);
      llvm::sort(met, [&](unsigned a, unsigned b) {
        return std::pair(fromOne[a] - fromOther[a], a) <
               std::pair(fromOne[b] - fromOther[b], b);
      });
      for (unsigned each : met) {
        positionOf[each] = order.size();
        order.push_back(each);
      }
    }
  }

  /// How much is before each position that has edges to what is after it.
  void measureCuts() {
    cuts.assign(order.size() + 1, 0);
    for (auto [position, var] : llvm::enumerate(order)) {
      unsigned last = position;
      forEachEdge(var, [&](unsigned, unsigned other) {
        if (isOpen(other))
          last = std::max(last, positionOf[other]);
      });
      double size = std::log2(double(valuesOf(var).size()));
      cuts[position + 1] += size;
      cuts[last + 1] -= size;
    }
    for (size_t i = 1; i < cuts.size(); ++i)
      cuts[i] += cuts[i - 1];
  }

  /// The place in the middle of a segment where least is cut.
  unsigned middleOf(unsigned begin, unsigned end) const {
    unsigned margin = std::max(1u, (end - begin) / 4);
    return std::min_element(cuts.begin() + begin + margin,
                            cuts.begin() + end - margin) -
           cuts.begin();
  }

  void split(Segment &segment) const {
    unsigned middle = middleOf(segment.begin, segment.end);
    segment.left = std::make_unique<Segment>(segment.begin, middle);
    segment.right = std::make_unique<Segment>(middle, segment.end);
  }

  /// By how much a segment is at least above its least costs, as far as to
  /// `part` of what the plan is there.
  Gain gainOf(Segment &segment, double part) {
    int64_t cap = capOf(segment), target = int64_t(part * double(cap));
    auto gainBy = [&](const Minimum &minimum) {
      segment.hasFailed = minimum.hasFailed;
      bool isOver = minimum.isExact || minimum.hasFailed;
      return Gain{minimum.least, isOver ? minimum.least : cap};
    };
    if (!segment.left && segment.size() > kFewVariables)
      split(segment);
    Gain known;
    if (!segment.left || segment.isJoint) {
      known = gainBy(minimumOf(segment, target));
      if (segment.left || !segment.hasFailed || segment.size() < 2)
        return known;
      split(segment);
    }
    Gain left = gainOf(*segment.left, part),
         right = gainOf(*segment.right, part);
    Gain apart{std::max(known.units, left.units + right.units),
               std::max(known.most, left.most + right.most)};
    segment.hasFailed |= segment.left->hasFailed || segment.right->hasFailed;
    if (segment.hasFailed)
      return apart;
    // Together they may go on where they can't by themselves.
    if (double(apart.units) > (1 - kMargin) * double(target))
      return {apart.units, cap};
    Gain together = gainBy(minimumOf(segment, target));
    segment.isJoint = !segment.hasFailed;
    return {std::max(apart.units, together.units),
            std::max(apart.most, together.most)};
  }

  /// What a value costs above the least of its variable's.
  int64_t costOf(unsigned var, unsigned value) const {
    return std::min(costs.ofType[view.typeOf[var]][value], Forbidden);
  }

  /// What an edge costs above its least.
  int64_t costOf(unsigned number, unsigned row, unsigned col) const {
    const EdgeClass &edge = view.edges[view.edgeOf[number]];
    double share =
        edge.share[size_t(row) * numColumns(number) + edge.columnOf[col]];
    return std::min(costs.units.roundDown(share) -
                        costs.units.roundDown(edge.toRow[row]) -
                        costs.units.roundDown(edge.toCol[col]) -
                        costs.leastOfEdge[view.edgeOf[number]],
                    Forbidden);
  }

  bool isIn(const Segment &segment, unsigned var) const {
    return isOpen(var) && positionOf[var] >= segment.begin &&
           positionOf[var] < segment.end;
  }

  /// Edges with an end in a segment and none in another one.
  std::vector<unsigned> edgesIn(const Segment &segment) const {
    std::vector<unsigned> edges;
    for (unsigned at = segment.begin; at < segment.end; ++at)
      forEachEdge(order[at], [&](unsigned number, unsigned other) {
        if (!isOpen(other) || (isIn(segment, other) && positionOf[other] > at))
          edges.push_back(number);
      });
    return edges;
  }

  /// Edges of a group that a segment has: what is paid once for all of them is
  /// shared, so that one alone would be charged too little.
  struct Readers {
    unsigned row;
    llvm::SmallVector<unsigned, 4> edges;
  };

  std::vector<Readers> readersIn(const Segment &segment) const {
    std::vector<unsigned> numbers;
    for (unsigned at = segment.begin; at < segment.end; ++at)
      for (unsigned number : model.groupsOf[order[at]])
        if (unsigned row = model.groups[number].row;
            !isOpen(row) || isIn(segment, row))
          numbers.push_back(number);
    llvm::sort(numbers);
    numbers.erase(llvm::unique(numbers), numbers.end());
    std::vector<Readers> all;
    for (unsigned number : numbers) {
      const Group &group = model.groups[number];
      Readers mine{group.row, {}};
      for (unsigned i = 0; i < group.numEdges; ++i) {
        unsigned edge = group.firstEdge + i;
        if (isIn(segment, model.edges[edge].col))
          mine.edges.push_back(edge);
      }
      if (mine.edges.size() > 1)
        all.push_back(std::move(mine));
    }
    return all;
  }

  /// What is paid beyond the shares of those who have it: that of the others.
  int64_t costOf(const Readers &readers,
                 llvm::function_ref<unsigned(unsigned)> valueOf) const {
    llvm::SmallVector<unsigned, 8> columns;
    for (unsigned number : readers.edges) {
      const Edge &edge = model.edges[number];
      columns.push_back(edge.columnOf[valueOf(edge.col)]);
    }
    unsigned row = valueOf(readers.row);
    return missingShares(columns, [&](unsigned reader, unsigned column) {
      return shareOf(readers.edges[reader], row, column);
    });
  }

  int64_t shareOf(unsigned number, unsigned row, unsigned column) const {
    const EdgeClass &edge = view.edges[view.edgeOf[number]];
    double share = edge.share[size_t(row) * numColumns(number) + column];
    return std::max<int64_t>(costs.units.roundDown(share), 0);
  }

  /// What the best plan costs in a segment.
  int64_t capOf(const Segment &segment) const {
    int64_t open = upper - costs.bound;
    if (plan.empty())
      return open;
    // What it has, or the only value that there is.
    auto valueOf = [&](unsigned var) {
      return isOpen(var) ? plan[var] : valuesOf(var).front();
    };
    int64_t sum = 0;
    for (unsigned at = segment.begin; at < segment.end; ++at) {
      unsigned var = order[at];
      if (!llvm::is_contained(valuesOf(var), plan[var]))
        return open;
      sum = addCosts(sum, costOf(var, plan[var]));
    }
    for (unsigned number : edgesIn(segment)) {
      const Edge &edge = model.edges[number];
      sum = addCosts(sum, costOf(number, valueOf(edge.row), valueOf(edge.col)));
    }
    for (const Readers &readers : readersIn(segment))
      sum = addCosts(sum, costOf(readers, valueOf));
    return std::min(sum, open);
  }

  std::vector<int64_t> tableOf(unsigned number) const {
    const Edge &edge = model.edges[number];
    std::vector<int64_t> table;
    for (unsigned row : valuesOf(edge.row))
      for (unsigned col : valuesOf(edge.col))
        table.push_back(costOf(number, row, col));
    return table;
  }

  /// The minimum of a segment, as far as up to `target`.
  Minimum minimumOf(const Segment &segment, int64_t target) {
    std::vector<unsigned> edges = edgesIn(segment);
    std::vector<Readers> readers = readersIn(segment);
    Minimum &minimum = minima[keyOf(segment, edges, readers)];
    if (minimum.isExact || minimum.hasFailed || minimum.least > target ||
        clock.seconds() > seconds)
      return minimum;
    std::optional<int64_t> found =
        problemOf(segment, edges, readers)
            .minimum(target, limit, seconds - clock.seconds());
    minimum.hasFailed = !found;
    minimum.isExact = found && *found <= target;
    minimum.least = std::max(minimum.least, found.value_or(0));
    return minimum;
  }

  /// The same for segments that have the same minimum: layers alike are solved
  /// once.
  std::vector<int64_t> keyOf(const Segment &segment,
                             llvm::ArrayRef<unsigned> edges,
                             llvm::ArrayRef<Readers> readers) const {
    std::vector<int64_t> key;
    auto placeOf = [&](unsigned var) {
      return isOpen(var) ? int64_t(positionOf[var] - segment.begin)
                         : -1 - int64_t(view.typeOf[var]);
    };
    for (unsigned at = segment.begin; at < segment.end; ++at)
      key.push_back(view.typeOf[order[at]]);
    auto addEdge = [&](unsigned number) {
      const Edge &edge = model.edges[number];
      key.insert(key.end(),
                 {view.edgeOf[number], placeOf(edge.row), placeOf(edge.col)});
    };
    llvm::for_each(edges, addEdge);
    for (const Readers &mine : readers) {
      key.push_back(-1);
      llvm::for_each(mine.edges, addEdge);
    }
    return key;
  }

  CappedElimination problemOf(const Segment &segment,
                              llvm::ArrayRef<unsigned> edges,
                              llvm::ArrayRef<Readers> readers) const {
    llvm::SmallVector<unsigned> sizes;
    for (unsigned at = segment.begin; at < segment.end; ++at)
      sizes.push_back(valuesOf(order[at]).size());
    CappedElimination problem(sizes);
    for (unsigned at = segment.begin; at < segment.end; ++at) {
      std::vector<int64_t> mine;
      for (unsigned value : valuesOf(order[at]))
        mine.push_back(costOf(order[at], value));
      problem.add(at - segment.begin, mine);
    }
    for (unsigned number : edges) {
      const Edge &edge = model.edges[number];
      std::vector<int64_t> table = tableOf(number);
      unsigned row = positionOf[edge.row] - segment.begin,
               col = positionOf[edge.col] - segment.begin;
      if (!isOpen(edge.row))
        problem.add(col, table);
      else if (!isOpen(edge.col))
        problem.add(row, table);
      else
        problem.add(row, col, table);
    }
    for (const Readers &mine : readers)
      addReaders(problem, segment, mine);
    return problem;
  }

  unsigned numColumns(unsigned number) const {
    return view.groups[view.edges[view.edgeOf[number]].group]
        .example->numColumns;
  }

  void addReaders(CappedElimination &problem, const Segment &segment,
                  const Readers &readers) const {
    std::vector<CappedElimination::Reader> all;
    unsigned columns = numColumns(readers.edges.front());
    for (unsigned number : readers.edges) {
      const Edge &edge = model.edges[number];
      CappedElimination::Reader &mine = all.emplace_back();
      mine.var = positionOf[edge.col] - segment.begin;
      for (unsigned value : valuesOf(edge.col))
        mine.columnOf.push_back(edge.columnOf[value]);
      for (unsigned row : valuesOf(readers.row))
        for (unsigned column = 0; column < columns; ++column)
          mine.shares.push_back(shareOf(number, row, column));
    }
    std::optional<unsigned> row;
    if (isOpen(readers.row))
      row = positionOf[readers.row] - segment.begin;
    problem.add(row, columns, std::move(all));
  }

  const View &view;
  const PairwiseModel &model;
  const WholeCosts &costs;
  const Assignment &plan;
  int64_t upper;
  const Options &options;
  double seconds;
  size_t limit = 0; ///< rows of each solution
  Clock clock;
  std::vector<unsigned> order, positionOf;
  std::vector<double> cuts; ///< by position: bits of what is before
  std::map<std::vector<int64_t>, Minimum> minima;
};

int64_t PairwiseModel::View::integerBound(const Options &options,
                                          const Assignment &plan, int64_t upper,
                                          double seconds) const {
  WholeCosts costs = wholeCosts(Units::fineFor(double(upper)));
  int64_t bound = costs.units.toBound(costs.bound);
  // Where forbidden costs were moved, there is no room for fine units.
  if (double(bound) < std::floor(sumOfLeast)) {
    WholeCosts coarse = wholeCosts(Units());
    if (int64_t other = coarse.units.toBound(coarse.bound); other > bound) {
      bound = other;
      costs = std::move(coarse);
    }
  }
  if (options.segmentLimit <= 0 ||
      options.isClose(double(bound), double(upper)))
    return bound;
  Segments segments(*this, costs, plan, costs.units.roundDown(double(upper)),
                    options, seconds);
  return std::max(bound, costs.units.toBound(segments.bound()));
}
