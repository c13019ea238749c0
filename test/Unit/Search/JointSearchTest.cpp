//===- JointSearchTest.cpp - Plans and bounds against enumeration ---------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Search/JointSearch.h"
#include "Programs.h"
#include "Tofu/Search/CostModel.h"
#include "Tofu/Search/Elimination.h"
#include "Tofu/Search/PlanSpace.h"
#include "Tofu/Search/Search.h"

#include "llvm/Support/ThreadPool.h"

#include "gtest/gtest.h"

using namespace mlir::tofu::search;

namespace {

/// The least cost of all plans of a graph without carried or initial values:
/// every combination of strategies, and for each the best layout of every
/// value, which depends on no other.
class AllPlans {
public:
  AllPlans(const PartitionGraph &graph, const Mesh &mesh,
           const SearchOptions &options)
      : graph(graph), mesh(mesh), options(options), model(mesh, options) {}

  int64_t run() {
    strategies.resize(graph.operators.size());
    choose(0, 0);
    return least;
  }

private:
  /// All ways to give each axis to one of `numDims` dims or to none.
  std::vector<Cuts> allCuts(size_t numDims) const {
    std::vector<Cuts> all(1);
    all.front().dims.resize(numDims);
    for (unsigned axis = 0; axis < mesh.numAxes(); ++axis) {
      std::vector<Cuts> more = all;
      for (const Cuts &cuts : all)
        for (unsigned dim = 0; dim < numDims; ++dim) {
          more.push_back(cuts);
          more.back().dims[dim].push_back(axis);
        }
      all = std::move(more);
    }
    return all;
  }

  /// Whether all that is cut may be, and no axis is left out that could cut a
  /// dim, but those of `mayBeWhole`.
  bool isAllowed(llvm::ArrayRef<IterationDim> dims, const Cuts &cuts,
                 uint64_t mayBeWhole) const {
    uint64_t used = 0;
    for (auto [dim, axes] : llvm::zip_equal(dims, cuts.dims)) {
      int64_t parts = 1;
      for (unsigned axis : axes) {
        used |= uint64_t(1) << axis;
        parts *= mesh.sizes[axis];
      }
      if (parts > dim.size || (parts > 1 && dim.kind == DimKind::Unsplittable))
        return false;
    }
    for (unsigned axis = 0; axis < mesh.numAxes(); ++axis) {
      if ((used | mayBeWhole) >> axis & 1)
        continue;
      for (auto [dim, axes] : llvm::zip_equal(dims, cuts.dims)) {
        int64_t parts = mesh.sizes[axis];
        for (unsigned other : axes)
          if (other < axis)
            parts *= mesh.sizes[other];
        if (parts <= dim.size && dim.kind != DimKind::Unsplittable)
          return false;
      }
    }
    return true;
  }

  void choose(unsigned op, int64_t work) {
    if (work >= least)
      return;
    if (op == graph.operators.size()) {
      int64_t sum = work;
      for (unsigned value = 0; value < graph.values.size() && sum < least;
           ++value)
        sum += leastOf(value);
      least = std::min(least, sum);
      return;
    }
    // Work is replicated only where that is what counts.
    uint64_t mayBeWhole = options.objective == Objective::Time ? ~0 : 0;
    const Operator &mine = graph.operators[op];
    for (const Cuts &cuts : allCuts(mine.dims.size()))
      if (isAllowed(mine.dims, cuts, mayBeWhole)) {
        strategies[op] = cuts;
        choose(op + 1, work + model.workCost(graph, mine, cuts.strategy()));
      }
  }

  int64_t leastOf(unsigned number) {
    const Value &value = graph.values[number];
    std::vector<IterationDim> dims;
    for (int64_t size : value.shape)
      dims.push_back({size, DimKind::Parallel});
    int64_t cheapest = Forbidden;
    uint64_t mayBeWhole = options.replication ? ~uint64_t(0) : 0;
    for (unsigned op = 0; op < graph.operators.size(); ++op)
      for (const Result &result : graph.operators[op].results)
        if (result.value == number)
          mayBeWhole |= axesNotIn(strategies[op]);
    for (const Cuts &cuts : allCuts(value.shape.size()))
      if (isAllowed(dims, cuts, mayBeWhole))
        cheapest = std::min(cheapest, costOf(number, cuts.layout()));
    return cheapest;
  }

  int64_t costOf(unsigned number, const Layout &layout) {
    const Value &value = graph.values[number];
    CostModel::Shards held = model.layoutShards(value, layout);
    int64_t cost = 0;
    std::vector<CostModel::Family> read;
    for (auto [op, cuts] : llvm::zip_equal(graph.operators, strategies)) {
      for (unsigned i = 0; i < op.operands.size(); ++i) {
        if (op.operands[i].value != number)
          continue;
        CostModel::Shards need =
            model.operandShards(op, i, cuts.strategy(), value, nullptr);
        if (options.charge == Charge::Once &&
            llvm::is_contained(read, need.family))
          continue;
        read.push_back(need.family);
        cost += model.readCost(value, held, need);
      }
      for (unsigned i = 0; i < op.results.size(); ++i)
        if (op.results[i].value == number)
          cost += model.writeCost(
              value, model.resultShards(op, i, cuts.strategy(), value), held);
    }
    return cost;
  }

  const PartitionGraph &graph;
  Mesh mesh;
  SearchOptions options;
  CostModel model;
  std::vector<Cuts> strategies;
  int64_t least = Forbidden;
};

PartitionGraph smallProgram(std::mt19937 &random, unsigned numOps) {
  PartitionGraph graph = randomProgram(random, numOps, /*elementwise=*/true);
  for (Operator &op : graph.operators)
    llvm::erase_if(op.operands,
                   [](const Operand &operand) { return operand.initOf >= 0; });
  return graph;
}

void compare(unsigned seed, unsigned numOps, int64_t devices) {
  std::mt19937 random(seed);
  PartitionGraph graph = smallProgram(random, numOps);
  SearchOptions options;
  options.charge = seed & 1 ? Charge::PerUse : Charge::Once;
  options.replication = seed & 2;
  Mesh mesh = Mesh::factored(devices);
  int64_t expected = AllPlans(graph, mesh, options).run();
  SearchResult result = searchKBest(graph, mesh, options);
  std::optional<std::string> wrong = checkPlan(graph, result.plan);
  ASSERT_FALSE(wrong) << *wrong;
  EXPECT_EQ(result.plan.totalBytes, expected) << "seed " << seed;
  EXPECT_EQ(result.lowerBound, expected) << "seed " << seed;
}

/// Devices and links of many kinds: latencies, or moves, or work may be what
/// takes time, and links be alike or not.
Rates ratesOf(unsigned seed, const Mesh &mesh) {
  std::mt19937 random(seed);
  auto pick = [&](std::initializer_list<double> from) {
    return from.begin()[random() % from.size()];
  };
  Rates rates;
  rates.numDevices = mesh.numDevices();
  rates.flops = {1e9, 2e9, 4e9};
  rates.memoryBandwidth = pick({1e9, 1e10, 1e11});
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
    rates.axes.push_back(
        {pick({0, 20e-9, 200e-9}), pick({0.1e9, 1e9, 1e9, 10e9})});
  return rates;
}

/// Whether an operator of the plan leaves an axis out that could cut it.
bool replicatesWork(const PartitionGraph &graph, const Plan &plan) {
  for (auto [op, strategy] :
       llvm::zip_equal(graph.operators, plan.strategies)) {
    uint64_t whole = axesNotIn({strategy.dims, {}, 0});
    for (unsigned axis = 0; axis < plan.mesh.numAxes(); ++axis)
      for (auto [dim, axes] : llvm::zip_equal(op.dims, strategy.dims))
        if (whole >> axis & 1 &&
            smallestPart(dim.size, axes, plan.mesh) >= plan.mesh.sizes[axis])
          return true;
  }
  return false;
}

/// Says whether the best plan replicates work.
bool compareTimes(unsigned seed, unsigned numOps, Mesh mesh) {
  std::mt19937 random(seed);
  PartitionGraph graph = smallProgram(random, numOps);
  for (Operator &op : graph.operators) {
    op.flops = 1 + random() % 3;
    op.precision = Precision(random() % 3);
  }
  SearchOptions options;
  options.objective = Objective::Time;
  options.rates = ratesOf(seed, mesh);
  options.charge = seed & 1 ? Charge::PerUse : Charge::Once;
  options.replication = seed & 2;
  int64_t expected = AllPlans(graph, mesh, options).run();
  SearchResult result = searchExact(graph, mesh, options);
  std::optional<std::string> wrong = checkPlan(graph, result.plan);
  EXPECT_FALSE(wrong) << *wrong;
  EXPECT_EQ(result.plan.totalTime, expected) << "seed " << seed;
  EXPECT_EQ(result.lowerBound, expected) << "seed " << seed;
  // The plan is valued as it was found.
  Plan again = result.plan;
  countTimes(graph, again, options.charge, *options.rates);
  EXPECT_EQ(again.totalTime, result.plan.totalTime);
  EXPECT_GE(searchRecursive(graph, mesh, options).plan.totalTime, expected);
  return replicatesWork(graph, result.plan);
}

} // namespace

TEST(JointSearch, FindsTheSameOnThreads) {
  llvm::DefaultThreadPool threads;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    PartitionGraph graph = smallProgram(random, 4 + seed % 20);
    Mesh mesh = Mesh::factored(seed % 2 ? 8 : 6);
    SearchOptions options;
    SearchResult alone = searchKBest(graph, mesh, options);
    options.threads = &threads;
    SearchResult beside = searchKBest(graph, mesh, options);
    EXPECT_EQ(alone.plan.totalBytes, beside.plan.totalBytes) << "seed " << seed;
    EXPECT_EQ(alone.lowerBound, beside.lowerBound) << "seed " << seed;
    EXPECT_TRUE(alone.plan.strategies == beside.plan.strategies)
        << "seed " << seed;
    EXPECT_TRUE(alone.plan.layouts == beside.plan.layouts) << "seed " << seed;
  }
}

TEST(JointSearch, RaisesTheSameBoundOnThreads) {
  llvm::DefaultThreadPool threads;
  unsigned raised = 0, open = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    PartitionGraph graph = smallProgram(random, 10 + seed % 20);
    Mesh mesh = Mesh::factored(seed % 2 ? 8 : 12);
    auto run = [&](llvm::ThreadPoolInterface *pool) {
      SearchOptions options;
      options.threads = pool;
      BestPlan best(graph, mesh, options);
      JointSearch joined(graph, mesh, options, best);
      options.joining = Joining::Chains;
      JointSearch unjoined(graph, mesh, options, best);
      joined.run(&unjoined);
      return std::pair(best.cost(), best.getBound());
    };
    auto alone = run(nullptr);
    EXPECT_EQ(alone, run(&threads)) << "seed " << seed;
    raised += alone.second > 0;
    open += alone.second < alone.first;
  }
  EXPECT_GT(raised, 20u);
  EXPECT_GT(open, 5u);
}

TEST(JointSearch, AgreesWithAllPlansInTimeOnOneAxis) {
  unsigned replicating = 0;
  for (unsigned seed = 0; seed < 120; ++seed)
    replicating +=
        compareTimes(seed, 1 + seed % 5, {{"a"}, {seed % 2 ? 3 : 2}});
  EXPECT_GE(replicating, 5u);
}

TEST(JointSearch, AgreesWithAllPlansInTimeOnTwoAxes) {
  unsigned replicating = 0;
  for (unsigned seed = 200; seed < 320; ++seed)
    replicating +=
        compareTimes(seed, 1 + seed % 3, {{"a", "b"}, {2, seed % 2 ? 2 : 3}});
  EXPECT_GE(replicating, 10u);
}

TEST(JointSearch, AgreesWithAllPlansOnTwoDevices) {
  for (unsigned seed = 0; seed < 350; ++seed)
    compare(seed, 1 + seed % 8, 2);
}

TEST(JointSearch, AgreesWithAllPlansOnSeveralAxes) {
  for (unsigned seed = 350; seed < 500; ++seed)
    compare(seed, 1 + seed % 3, seed % 2 ? 4 : 6);
}
