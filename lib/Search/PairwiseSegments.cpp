//===- PairwiseSegments.cpp - A bound by parts of the program
//--------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages make neighbours agree. Around a cycle, a block of layers with its
// residual connection, say, all neighbours may agree though no plan does. So
// the order of the program is divided into segments, and each is solved exactly
// with the costs as messages have distributed them: no variable is in two
// segments and no cost below its least, so what the segments' minima are above
// the sums of their least costs adds up.
//
//===----------------------------------------------------------------------===//

#include "EliminationOrder.h"
#include "PairwiseView.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <deque>

using namespace mlir::tofu::search;

class PairwiseModel::View::Segments {
public:
  Segments(const View &view, const WholeCosts &costs, int64_t tableLimit)
      : view(view), model(view.model), tableLimit(tableLimit), costs(costs),
        positionOf(model.numVariables()) {
    sort();
  }

  /// A bound of the whole model, in units.
  int64_t bound() {
    int64_t sum = costs.bound;
    for (unsigned begin = 0, end; begin < order.size(); begin = end) {
      end = endFrom(begin);
      sum += minimum(begin, end);
    }
    return sum;
  }

private:
  using Table = std::vector<int64_t>;

  llvm::ArrayRef<unsigned> valuesOf(unsigned var) const {
    return view.types[view.typeOf[var]].active;
  }

  /// In the order of the variables, which is that of the program. What comes
  /// after all of its neighbours is where the last of these is.
  void sort() {
    std::vector<std::pair<unsigned, unsigned>> keys;
    for (unsigned var = 0; var < model.numVariables(); ++var) {
      keys.push_back({var, var});
      if (!model.after[var].empty() || model.before[var].empty())
        continue;
      // Edges to variables before it: the other end is the lesser one.
      unsigned last = 0;
      for (unsigned number : model.before[var])
        last = std::max(
            last, std::min(model.edges[number].row, model.edges[number].col));
      keys.back().first = last;
    }
    llvm::sort(keys);
    for (auto [key, var] : keys) {
      positionOf[var] = order.size();
      order.push_back(var);
    }
  }

  llvm::SmallVector<unsigned> sizes(unsigned begin, unsigned end) const {
    llvm::SmallVector<unsigned> sizes;
    for (unsigned at = begin; at < end; ++at)
      sizes.push_back(valuesOf(order[at]).size());
    return sizes;
  }

  /// Calls `visit` for each edge between variables of a segment, with the
  /// places of its ends there.
  void forEachEdge(
      unsigned begin, unsigned end,
      llvm::function_ref<void(unsigned, unsigned, unsigned)> visit) const {
    for (unsigned at = begin; at < end; ++at)
      for (unsigned number : model.after[order[at]]) {
        const Edge &edge = model.edges[number];
        unsigned row = positionOf[edge.row], col = positionOf[edge.col];
        if (std::min(row, col) >= begin && std::max(row, col) < end)
          visit(number, row - begin, col - begin);
      }
  }

  /// Whether the tables of an exact solution are small enough.
  bool fits(unsigned begin, unsigned end) const {
    llvm::SmallVector<unsigned> domains = sizes(begin, end);
    EliminationOrder plan(domains);
    forEachEdge(begin, end, [&](unsigned, unsigned row, unsigned col) {
      if (domains[row] > 1 && domains[col] > 1)
        plan.connect({row, col});
    });
    plan.start();
    int64_t entries = 0;
    for (; !plan.empty() && entries <= tableLimit; plan.eliminate(plan.next()))
      entries = addCosts(entries, plan.nextSize());
    return entries <= tableLimit;
  }

  /// The end of the segment at `begin`: as far as it fits.
  unsigned endFrom(unsigned begin) const {
    unsigned good = begin + 1, bad = order.size() + 1;
    for (unsigned length = 16; good < bad - 1; length *= 2) {
      unsigned end = std::min<unsigned>(begin + length, bad - 1);
      if (!fits(begin, end)) {
        bad = end;
        break;
      }
      good = end;
    }
    while (bad - good > 1) {
      unsigned middle = good + (bad - good) / 2;
      (fits(begin, middle) ? good : bad) = middle;
    }
    return good;
  }

  /// What the edge costs above its least, the row's values slowest.
  Table tableOf(unsigned number) const {
    const Edge &edge = model.edges[number];
    const EdgeClass &mine = view.edges[view.edgeOf[number]];
    unsigned numColumns = view.groups[mine.group].example->numColumns;
    int64_t least = costs.leastOfEdge[view.edgeOf[number]];
    Table table;
    for (unsigned l : valuesOf(edge.row)) {
      const double *share = &mine.share[size_t(l) * numColumns];
      int64_t moved = costs.units.roundDown(mine.toRow[l]) + least;
      for (unsigned s : valuesOf(edge.col))
        table.push_back(
            std::min(costs.units.roundDown(share[mine.columnOf[s]]) - moved -
                         costs.units.roundDown(mine.toCol[s]),
                     Forbidden));
    }
    return table;
  }

  /// The least that a segment costs above the sum of its least costs.
  int64_t minimum(unsigned begin, unsigned end) const {
    Elimination solver(sizes(begin, end));
    std::deque<Table> tables;
    auto add = [&](llvm::ArrayRef<unsigned> scope, Table table) {
      solver.add(scope, tables.emplace_back(std::move(table)));
    };
    for (unsigned at = begin; at < end; ++at) {
      const std::vector<int64_t> &all = costs.ofType[view.typeOf[order[at]]];
      Table table;
      for (unsigned value : valuesOf(order[at]))
        table.push_back(std::min(all[value], Forbidden));
      add({at - begin}, std::move(table));
    }
    forEachEdge(begin, end, [&](unsigned number, unsigned row, unsigned col) {
      add({row, col}, tableOf(number));
    });
    Elimination::Options options;
    options.tableLimit = tableLimit;
    solver.solve(options);
    return solver.exact() ? solver.minimum() : 0;
  }

  const View &view;
  const PairwiseModel &model;
  int64_t tableLimit;
  const WholeCosts &costs;
  std::vector<unsigned> order, positionOf;
};

int64_t PairwiseModel::View::integerBound(const Options &options,
                                          int64_t upper) const {
  // Where forbidden costs were moved, there is no room for fine units.
  WholeCosts costs = wholeCosts(Units()), fine;
  int64_t bound = costs.units.toBound(costs.bound);
  fine = wholeCosts(Units::fineFor(double(upper)));
  if (int64_t finer = fine.units.toBound(fine.bound); finer > bound) {
    bound = finer;
    costs = std::move(fine);
  }
  if (options.segmentLimit <= 0 ||
      options.isClose(double(bound), double(upper)))
    return bound;
  int64_t units = Segments(*this, costs, options.segmentLimit).bound();
  return std::max(bound, costs.units.toBound(units));
}
