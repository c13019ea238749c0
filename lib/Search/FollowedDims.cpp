//===- FollowedDims.cpp - Plans that cut a few dims everywhere ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FollowedDims.h"

#include "OperandSet.h"

#include "Tofu/Search/CostModel.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>
#include <set>

using namespace mlir::tofu::search;

/// A batch runs through most of the program: a dim that cuts less work than
/// this part of what another one cuts is none.
static constexpr double kEnoughWork = 0.5;

static int64_t elementsOf(const Value &value) {
  int64_t elements = 1;
  for (int64_t size : value.shape)
    elements *= size;
  return elements;
}

int mlir::tofu::search::leadingDim(const LinearExpr &expr) {
  auto least = llvm::max_element(expr.terms, [](auto &a, auto &b) {
    return a.coefficient < b.coefficient;
  });
  return least == expr.terms.end() ? -1 : int(least->dim);
}

/// Appends those of `more` that a dim of `size` is large enough for and that
/// are not in `used`.
static void cutBy(llvm::ArrayRef<unsigned> more, int64_t size, const Mesh &mesh,
                  Axes &axes, Axes &used) {
  for (unsigned axis : more)
    if (mesh.sizes[axis] > 1 && !llvm::is_contained(used, axis) &&
        smallestPart(size, axes, mesh) >= mesh.sizes[axis]) {
      axes.push_back(axis);
      used.push_back(axis);
    }
}

/// Whether one of `axes` cuts something.
static bool cutsBy(llvm::ArrayRef<unsigned> axes, llvm::ArrayRef<Axes> cuts) {
  return llvm::any_of(cuts, [&](const Axes &cut) {
    return without(cut, axes).size() < cut.size();
  });
}

namespace {

/// Makes the plan that cuts a few dims.
class FollowedPlan {
public:
  FollowedPlan(const PartitionGraph &graph, const Mesh &mesh,
               llvm::ArrayRef<FollowedCut> cuts)
      : graph(graph), stays(graph.values.size(), true) {
    plan.mesh = mesh;
    for (auto [i, op] : llvm::enumerate(graph.operators)) {
      Strategy &strategy = plan.strategies.emplace_back();
      strategy.dims.resize(op.dims.size());
      Axes used;
      for (const FollowedCut &cut : cuts)
        if (int dim = cut.dim.operators[i]; dim >= 0)
          cutBy(cut.axes, op.dims[dim].size, mesh, strategy.dims[dim], used);
    }
    for (auto [i, value] : llvm::enumerate(graph.values)) {
      Layout &layout = plan.layouts.emplace_back();
      layout.dims.resize(value.shape.size());
      Axes used;
      for (const FollowedCut &cut : cuts)
        if (int dim = cut.dim.values[i]; dim >= 0)
          cutBy(cut.axes, value.shape[dim], mesh, layout.dims[dim], used);
    }
    leavePartial();
  }

  Plan plan;

private:
  /// Gradients are added up before they are combined: values stay partial for
  /// as long as all their uses let them.
  void leavePartial() {
    for (auto [value, from] : llvm::zip_equal(graph.values, stays))
      from = !value.neverPartial;
    while (!propagatePartials())
      ;
  }

  /// Leaves the results of `op` partial that may be.
  void leaveResults(const Operator &op, const Strategy &strategy) {
    Axes sums = sumPartialAxes(op, strategy);
    if (sums != partialAxes(op, strategy))
      return;
    for (const Result &result : op.results) {
      Layout &layout = plan.layouts[result.value];
      if (stays[result.value] && !cutsBy(sums, layout.dims))
        layout.partial = sums;
    }
  }

  /// Makes every value partial that may be, in program order. False if some
  /// turned out to be used as a whole: then they no longer stay partial, and
  /// all must be done again.
  bool propagatePartials() {
    std::vector<bool> used(graph.values.size(), false);
    bool good = true;
    for (Layout &layout : plan.layouts)
      layout.partial.clear();
    for (auto [op, strategy] :
         llvm::zip_equal(graph.operators, plan.strategies)) {
      good &= takePartials(op, strategy);
      for (const Operand &operand : op.operands)
        used[operand.value] = true;
      leaveResults(op, strategy);
    }
    for (const Carried &carried : graph.carried)
      used[carried.from] = false;
    for (auto [value, layout] : llvm::enumerate(plan.layouts))
      if (!used[value] && !layout.partial.empty())
        stays[value] = good = false;
    return good;
  }

  /// Lets the partial operands of `op` through, if it can.
  bool takePartials(const Operator &op, Strategy &strategy) {
    strategy.partial.clear();
    strategy.partialOperands = 0;
    uint64_t set = 0;
    bool isSet = true;
    Axes axes;
    int64_t largest = 0;
    for (auto [i, operand] : llvm::enumerate(op.operands)) {
      const Layout &layout = plan.layouts[operand.value];
      if (layout.partial.empty())
        continue;
      if (i < 64)
        set |= uint64_t(1) << i;
      else
        isSet = false; // No partial sum passes through operands without a bit.
      axes = layout.partial;
      largest = std::max(largest, elementsOf(graph.values[operand.value]));
    }
    if (axes.empty())
      return true;
    if (isSet && mayPass(op, strategy, set, axes, largest)) {
      strategy.partial = axes;
      strategy.partialOperands = set;
      return true;
    }
    for (const Operand &operand : op.operands)
      if (!plan.layouts[operand.value].partial.empty())
        stays[operand.value] = false;
    return false;
  }

  /// Whether the operands `set`, partial over `axes`, pass through `op` as they
  /// are, and into nothing larger.
  bool mayPass(const Operator &op, const Strategy &strategy, uint64_t set,
               const Axes &axes, int64_t largest) const {
    if (!llvm::is_contained(op.linear, set))
      return false;
    for (auto [i, operand] : llvm::enumerate(op.operands))
      if (hasOperand(set, i) && plan.layouts[operand.value].partial != axes)
        return false;
    if (cutsBy(axes, strategy.dims))
      return false;
    return llvm::all_of(op.results, [&](const Result &result) {
      return elementsOf(graph.values[result.value]) <= largest;
    });
  }

  const PartitionGraph &graph;
  std::vector<bool> stays; ///< per value: may be left partial
};

/// Finds where the batch lies, starting from one dim of the data arguments.
class BatchFinder {
public:
  explicit BatchFinder(const PartitionGraph &graph)
      : graph(graph), isArgument(graph.values.size(), true) {
    for (const Operator &op : graph.operators)
      for (const Result &result : op.results)
        isArgument[result.value] = false;
    for (auto [i, value] : llvm::enumerate(graph.values))
      if (value.constant)
        isArgument[i] = false;
    // What a training step carries to the next one is state, not data.
    for (const Carried &carried : graph.carried)
      isArgument[carried.to] = false;
    // Nor is what a loop carries.
    for (const auto &values : graph.tied)
      for (unsigned value : values)
        isArgument[value] = false;
  }

  /// Every batch that some dim of some data argument may be, or, in a program
  /// without data, none.
  std::set<FollowedDim> findAll() const {
    std::set<FollowedDim> all;
    for (auto [i, value] : llvm::enumerate(graph.values))
      for (unsigned dim = 0; isArgument[i] && dim < value.shape.size(); ++dim)
        if (FollowedDim batch = findFrom(i, dim); !cutsState(batch))
          all.insert(std::move(batch));
    if (all.empty())
      all.insert({std::vector<int>(graph.operators.size(), -1),
                  std::vector<int>(graph.values.size(), -1)});
    return all;
  }

  /// Elements of the arguments that run over `batch`.
  int64_t dataOf(const FollowedDim &batch) const {
    int64_t elements = 0;
    for (auto [i, value] : llvm::enumerate(graph.values))
      if (isArgument[i] && batch.values[i] >= 0)
        elements += elementsOf(value);
    return elements;
  }

private:
  bool cutsState(const FollowedDim &batch) const {
    return llvm::any_of(graph.carried, [&](const Carried &carried) {
      return batch.values[carried.from] >= 0;
    });
  }

  static int tensorDimOf(llvm::ArrayRef<LinearExpr> index, int iterationDim) {
    for (auto [dim, expr] : llvm::enumerate(index))
      if (leadingDim(expr) == iterationDim)
        return dim;
    return -1;
  }

  FollowedDim findFrom(unsigned argument, unsigned dim) const {
    FollowedDim batch;
    batch.values.assign(graph.values.size(), -1);
    batch.values[argument] = dim;
    for (const Operator &op : graph.operators) {
      int cut = iterationDimOf(op, batch);
      batch.operators.push_back(cut);
      if (cut < 0)
        continue;
      // Data that is met on the way runs over the same batch.
      for (const Operand &operand : op.operands)
        if (isArgument[operand.value] && batch.values[operand.value] < 0)
          batch.values[operand.value] = tensorDimOf(operand.index, cut);
      for (const Result &result : op.results)
        batch.values[result.value] = tensorDimOf(result.index, cut);
    }
    return batch;
  }

  int iterationDimOf(const Operator &op, const FollowedDim &batch) const {
    for (const Operand &operand : op.operands) {
      int tensorDim = batch.values[operand.value];
      int dim = tensorDim < 0 ? -1 : leadingDim(operand.index[tensorDim]);
      if (dim >= 0 && op.dims[dim].kind != DimKind::Unsplittable &&
          op.dims[dim].after < 0)
        return dim;
    }
    return -1;
  }

  const PartitionGraph &graph;
  std::vector<bool> isArgument; ///< per value: an argument that is data
};

} // namespace

Plan mlir::tofu::search::planOf(const PartitionGraph &graph, const Mesh &mesh,
                                llvm::ArrayRef<FollowedCut> cuts) {
  Plan plan = FollowedPlan(graph, mesh, cuts).plan;
  obey(graph, plan);
  return plan;
}

/// Points of the iteration spaces of operators that are cut.
static double cutWork(const PartitionGraph &graph, const Plan &plan) {
  double work = 0;
  for (auto [op, strategy] :
       llvm::zip_equal(graph.operators, plan.strategies)) {
    double points = 1;
    for (const IterationDim &dim : op.dims)
      points *= dim.size;
    if (llvm::any_of(strategy.dims,
                     [](const Axes &axes) { return !axes.empty(); }))
      work += points;
  }
  return work;
}

FollowedDim mlir::tofu::search::findBatch(const PartitionGraph &graph,
                                          const Mesh &mesh, Charge charge) {
  BatchFinder finder(graph);
  std::set<FollowedDim> batches = finder.findAll();
  Axes axes;
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
    axes.push_back(axis);
  auto planOfBatch = [&](const FollowedDim &batch) {
    return planOf(graph, mesh, FollowedCut{batch, axes});
  };
  double most = 0;
  for (const FollowedDim &batch : batches)
    most = std::max(most, cutWork(graph, planOfBatch(batch)));

  CostModel model(mesh);
  FollowedDim best;
  std::optional<std::tuple<bool, int64_t, int64_t>> least;
  for (const FollowedDim &batch : batches) {
    Plan plan = planOfBatch(batch);
    if (cutWork(graph, plan) < kEnoughWork * most)
      continue;
    countBytes(graph, plan, charge, model);
    std::tuple rank(plan.totalBytes != 0, finder.dataOf(batch),
                    plan.totalBytes);
    if (least && *least <= rank)
      continue;
    least = rank;
    best = batch;
  }
  return best;
}
