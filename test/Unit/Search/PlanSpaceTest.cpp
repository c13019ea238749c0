//===- PlanSpaceTest.cpp - Steps against brute force ----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "Tofu/Search/CostModel.h"
#include "Tofu/Search/Elimination.h"
#include "Tofu/Search/Search.h"

#include "gtest/gtest.h"

using namespace mlir::tofu::search;

namespace {

/// The least bytes, charged per use, that one more axis can lead to: tries all
/// that it can do to the operators, and for each value, which then depends on
/// no other, all that it can do to it. Nothing is joined, so programs with
/// element-wise operators may do better than in the search. No initial values.
class BruteForceStep {
public:
  BruteForceStep(const PartitionGraph &graph, Plan prefix, Mesh mesh,
                 const SearchOptions &options)
      : graph(graph), plan(std::move(prefix)), model(mesh), options(options),
        axis(mesh.numAxes() - 1) {
    producers.assign(graph.values.size(), -1);
    for (auto [i, op] : llvm::enumerate(graph.operators))
      for (const Result &result : op.results)
        producers[result.value] = i;
  }

  int64_t run() {
    chooseOperator(0);
    return least;
  }

private:
  bool mayCut(int64_t size, const Axes &axes) const {
    const Mesh &mesh = model.getMesh();
    return smallestPart(size, axes, mesh) >= mesh.sizes[axis];
  }

  void chooseOperator(unsigned i) {
    if (i == graph.operators.size()) {
      int64_t total = 0;
      for (unsigned v = 0; v < graph.values.size(); ++v)
        total = addCosts(total, leastOfValue(v));
      least = std::min(least, total);
      return;
    }
    const Operator &op = graph.operators[i];
    Strategy before = plan.strategies[i];
    bool any = false;
    for (unsigned dim = 0; dim < op.dims.size(); ++dim) {
      if (!mayCut(op.dims[dim].size, before.dims[dim]))
        continue;
      any = true;
      plan.strategies[i].dims[dim].push_back(axis);
      chooseOperator(i + 1);
      plan.strategies[i] = before;
    }
    if (!any)
      chooseOperator(i + 1);
    for (uint64_t set : op.linear) {
      if (!options.partials ||
          (before.partialOperands && before.partialOperands != set))
        continue;
      plan.strategies[i].partial.push_back(axis);
      plan.strategies[i].partialOperands = set;
      chooseOperator(i + 1);
      plan.strategies[i] = before;
    }
  }

  bool isReplicated(unsigned op) const {
    const Strategy &strategy = plan.strategies[op];
    bool used = llvm::is_contained(strategy.partial, axis);
    for (const Axes &axes : strategy.dims)
      used |= llvm::is_contained(axes, axis);
    return !used;
  }

  int64_t leastOfValue(unsigned v) {
    const Value &value = graph.values[v];
    Layout before = plan.layouts[v];
    int64_t best = Forbidden;
    bool any = false;
    for (unsigned dim = 0; dim < value.shape.size(); ++dim) {
      if (!mayCut(value.shape[dim], before.dims[dim]))
        continue;
      any = true;
      Layout layout = before;
      layout.dims[dim].push_back(axis);
      best = std::min(best, costOf(v, layout));
    }
    if (!any || options.replication ||
        (producers[v] >= 0 && isReplicated(producers[v])))
      best = std::min(best, costOf(v, before));
    if (options.partials) {
      Layout layout = before;
      layout.partial.push_back(axis);
      best = std::min(best, costOf(v, layout));
    }
    return best;
  }

  int64_t costOf(unsigned v, const Layout &layout) {
    const Value &value = graph.values[v];
    CostModel::Shards held = model.layoutShards(value, layout);
    int64_t sum = 0;
    if (producers[v] < 0 && !layout.partial.empty())
      return Forbidden;
    for (auto [i, op] : llvm::enumerate(graph.operators)) {
      const Strategy &strategy = plan.strategies[i];
      for (auto [j, operand] : llvm::enumerate(op.operands)) {
        if (operand.value != v)
          continue;
        if (strategy.partialOperands >> j & 1 &&
            !without(strategy.partial, layout.partial).empty())
          return Forbidden;
        sum += model.movedBytes(
            value, held, model.operandShards(op, j, strategy, value, nullptr));
      }
      for (auto [j, result] : llvm::enumerate(op.results)) {
        if (result.value != v)
          continue;
        if (!without(layout.partial, sumPartialAxes(op, strategy)).empty())
          return Forbidden;
        sum += model.movedBytes(
            value, model.resultShards(op, j, strategy, value), held);
      }
    }
    return sum;
  }

  const PartitionGraph &graph;
  Plan plan;
  CostModel model;
  const SearchOptions &options;
  unsigned axis;
  std::vector<int> producers;
  int64_t least = Forbidden;
};

} // namespace

/// `plan` with its first axes only.
static Plan firstAxes(Plan plan, unsigned axes) {
  auto cut = [&](Axes &of) {
    llvm::erase_if(of, [&](unsigned axis) { return axis >= axes; });
  };
  plan.mesh.sizes.truncate(axes);
  plan.mesh.names.truncate(axes);
  for (Strategy &strategy : plan.strategies) {
    llvm::for_each(strategy.dims, cut);
    cut(strategy.partial);
    if (strategy.partial.empty())
      strategy.partialOperands = 0;
  }
  for (Layout &layout : plan.layouts) {
    llvm::for_each(layout.dims, cut);
    cut(layout.partial);
  }
  return plan;
}

static void dropInitialValues(PartitionGraph &graph) {
  for (Operator &op : graph.operators)
    llvm::erase_if(op.operands,
                   [](const Operand &operand) { return operand.initOf >= 0; });
}

/// Steps of a program without element-wise operators are optimal, each on its
/// own.
static void checkSteps(const PartitionGraph &graph, int64_t devices,
                       const SearchOptions &options) {
  Mesh mesh = Mesh::factored(devices);
  SearchResult result = searchRecursive(graph, mesh, options);
  EXPECT_TRUE(result.exact);
  std::optional<std::string> wrong = checkPlan(graph, result.plan);
  ASSERT_FALSE(wrong) << *wrong;
  for (unsigned axes = 1; axes <= mesh.numAxes(); ++axes) {
    Plan before = firstAxes(result.plan, axes - 1);
    Plan after = firstAxes(result.plan, axes);
    countBytes(graph, after, Charge::PerUse);
    EXPECT_EQ(after.totalBytes,
              BruteForceStep(graph, before, after.mesh, options).run());
  }
}

TEST(PlanSpace, EveryStepIsOptimal) {
  std::mt19937 random(6);
  SearchOptions options;
  options.charge = Charge::PerUse;
  for (int i = 0; i < 24; ++i) {
    PartitionGraph graph = randomProgram(random, 2 + i % 5, false);
    dropInitialValues(graph);
    for (int64_t devices : {2, 3, 4, 6})
      checkSteps(graph, devices, options);
  }
}

TEST(PlanSpace, EightOperators) {
  std::mt19937 random(8);
  SearchOptions options;
  options.charge = Charge::PerUse;
  PartitionGraph graph = randomProgram(random, 8, false);
  dropInitialValues(graph);
  checkSteps(graph, 6, options);
}

TEST(PlanSpace, OneStepWithReplicationAndPartials) {
  std::mt19937 random(9);
  for (int i = 0; i < 30; ++i) {
    PartitionGraph graph = randomProgram(random, 2 + i % 4, i % 2);
    dropInitialValues(graph);
    SearchOptions options;
    options.charge = Charge::PerUse;
    options.replication = i % 3 != 0;
    options.partials = i % 3 != 1;
    Mesh mesh = Mesh::factored(i % 2 ? 3 : 2);
    SearchResult result = searchRecursive(graph, mesh, options);
    std::optional<std::string> wrong = checkPlan(graph, result.plan);
    ASSERT_FALSE(wrong) << *wrong;
    int64_t least =
        BruteForceStep(graph, firstAxes(result.plan, 0), mesh, options).run();
    if (i % 2)
      EXPECT_GE(result.plan.totalBytes, least);
    else
      EXPECT_EQ(result.plan.totalBytes, least);
  }
}

TEST(PlanSpace, InitialValuesAndJoinedClasses) {
  // What the solver adds up is what the plan is charged, with every role.
  std::mt19937 random(10);
  for (int i = 0; i < 40; ++i) {
    PartitionGraph graph = randomProgram(random, 8, true);
    for (unsigned v = 0; v < graph.values.size(); ++v)
      for (unsigned w = 0; w < v; ++w)
        if (graph.values[v].shape == graph.values[w].shape && random() % 8 == 0)
          graph.carried.push_back({v, w});
    SearchOptions options;
    options.charge = Charge::PerUse;
    options.replication = i & 1;
    options.partials = i & 2;
    for (const Carried &carried : graph.carried)
      graph.values[carried.from].neverPartial = true;
    SearchResult recursive =
        searchRecursive(graph, Mesh::factored(12), options);
    SearchResult polished = searchKBest(graph, Mesh::factored(12), options);
    EXPECT_LE(polished.plan.totalBytes, recursive.plan.totalBytes);
    for (const SearchResult &result : {recursive, polished}) {
      std::optional<std::string> wrong = checkPlan(graph, result.plan);
      ASSERT_FALSE(wrong) << *wrong;
      for (const Layout &layout : result.plan.layouts)
        for (const Axes &axes : layout.dims)
          EXPECT_TRUE(llvm::is_sorted(axes));
    }
  }
}

TEST(PlanSpace, TooSmallToCut) {
  // Nothing has three elements along any dim: all is replicated.
  GraphBuilder b;
  unsigned x = b.value({2, 2}), w = b.value({2, 1});
  b.elementwise({b.einsum({{x, "mk"}, {w, "kn"}}, "mn")});
  SearchResult result = searchKBest(b.graph, Mesh::factored(3), {});
  EXPECT_EQ(result.plan.totalBytes, 0);
  EXPECT_EQ(result.lowerBound, 0);
  for (const Strategy &strategy : result.plan.strategies)
    for (const Axes &axes : strategy.dims)
      EXPECT_TRUE(axes.empty());
}

TEST(PlanSpace, UnsplittableOperatorsAreReplicated) {
  GraphBuilder b;
  unsigned x = b.value({8, 8});
  b.elementwise({x});
  for (IterationDim &dim : b.graph.operators[0].dims)
    dim.kind = DimKind::Unsplittable;
  b.graph.operators[0].operands[0].index.assign(2, LinearExpr::all());
  SearchResult result = searchRecursive(b.graph, Mesh::factored(4), {});
  // The argument is cut and read whole; the result stays where it is made.
  EXPECT_EQ(result.plan.totalBytes, 3 * 64 * 4);
  SearchOptions options;
  options.replication = true;
  EXPECT_EQ(
      searchRecursive(b.graph, Mesh::factored(4), options).plan.totalBytes, 0);
}

TEST(PlanSpace, ReplicationPaysForSharedValues) {
  // A small weight that many large products use, all cut along the rows.
  GraphBuilder b;
  unsigned w = b.value({8, 8});
  for (int i = 0; i < 6; ++i)
    b.einsum({{b.value({4096, 8}), "mk"}, {w, "kn"}}, "mn");
  SearchOptions options;
  options.charge = Charge::PerUse;
  Mesh mesh = Mesh::factored(4);
  EXPECT_EQ(searchRecursive(b.graph, mesh, options).plan.totalBytes,
            6 * 3 * 64 * 4);
  options.replication = true;
  EXPECT_EQ(searchRecursive(b.graph, mesh, options).plan.totalBytes, 0);
}

TEST(PlanSpace, PartialsAreAddedBeforeTheyAreCombined) {
  // k is so large that only it is worth cutting.
  GraphBuilder b;
  unsigned sum = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned x = b.value({8, 65536}), w = b.value({65536, 8});
    unsigned y = b.einsum({{x, "mk"}, {w, "kn"}}, "mn");
    sum = i == 0 ? y : b.elementwise({sum, y}, "add");
    if (i)
      b.graph.operators.back().linear = {3};
  }
  b.graph.values[sum].neverPartial = true;
  SearchOptions options;
  options.charge = Charge::PerUse;
  Mesh mesh = Mesh::factored(4);
  EXPECT_EQ(searchRecursive(b.graph, mesh, options).plan.totalBytes,
            4 * 3 * 64 * 4);
  options.partials = true;
  EXPECT_EQ(searchRecursive(b.graph, mesh, options).plan.totalBytes,
            3 * 64 * 4);
}

TEST(KBest, ReachesTheOptimaOfChains) {
  SearchOptions options;
  options.charge = Charge::PerUse;
  SearchResult four = searchKBest(mlpChain(2048, {2048, 4096, 4096, 128}),
                                  Mesh::factored(4), options);
  EXPECT_EQ(four.plan.totalBytes, 4 * 77856768);
  EXPECT_EQ(four.lowerBound, four.plan.totalBytes);
  SearchResult eight =
      searchKBest(mlpChain(1024, {64, 512, 2048}), Mesh::factored(8), options);
  EXPECT_EQ(eight.plan.totalBytes, 4 * 8192000);
  EXPECT_EQ(eight.lowerBound, eight.plan.totalBytes);
}

TEST(KBest, IsDeterministic) {
  std::mt19937 random(11);
  PartitionGraph graph = randomProgram(random, 30, true);
  SearchOptions options;
  options.replication = options.partials = true;
  SearchResult first = searchKBest(graph, Mesh::factored(8), options);
  SearchResult second = searchKBest(graph, Mesh::factored(8), options);
  EXPECT_EQ(first.plan.strategies, second.plan.strategies);
  EXPECT_EQ(first.plan.layouts, second.plan.layouts);
}

TEST(KBest, LargeProgramsAreSearchedExactly) {
  Transformer sizes;
  sizes.layers = 24;
  PartitionGraph graph = TransformerBuilder(sizes).build();
  SearchOptions options;
  options.tiedPlans = 2;
  SearchResult result = searchRecursive(graph, Mesh::factored(8), options);
  EXPECT_TRUE(result.exact);
  std::optional<std::string> wrong = checkPlan(graph, result.plan);
  EXPECT_FALSE(wrong) << *wrong;
}
