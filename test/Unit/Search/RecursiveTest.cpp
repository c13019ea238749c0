//===- RecursiveTest.cpp - The recursive search ---------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "Tofu/Search/Search.h"

#include "gtest/gtest.h"

#include <limits>
#include <random>

using namespace mlir::tofu::search;

static SearchOptions perUse() {
  SearchOptions options;
  options.charge = Charge::PerUse;
  return options;
}

static int64_t sumOf(const Plan &plan) {
  int64_t sum = 0;
  for (const Bytes &bytes : plan.operatorBytes) {
    for (int64_t n : bytes.operands)
      sum += n;
    for (int64_t n : bytes.results)
      sum += n;
  }
  for (int64_t n : plan.carriedBytes)
    sum += n;
  return sum;
}

/// The least bytes of any plan on a mesh of one axis, by trying all: every
/// operator cuts one dim, every value one dim, where they are large enough.
class BruteForce {
public:
  BruteForce(const PartitionGraph &graph, int64_t devices) : graph(graph) {
    plan.mesh = Mesh::factored(devices);
    for (const Operator &op : graph.operators)
      plan.strategies.push_back(
          {llvm::SmallVector<Axes, 4>(op.dims.size()), {}, 0});
    for (const Value &value : graph.values)
      plan.layouts.push_back(
          {llvm::SmallVector<Axes, 4>(value.shape.size()), {}});
  }

  int64_t run() {
    chooseOperator(0);
    return least;
  }

private:
  template <typename Sizes, typename Next>
  void choose(llvm::SmallVectorImpl<Axes> &dims, Sizes sizeOf, Next next) {
    bool any = false;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (sizeOf(i) < plan.mesh.numDevices())
        continue;
      any = true;
      dims[i] = {0};
      next();
      dims[i] = {};
    }
    if (!any)
      next();
  }

  void chooseOperator(size_t i) {
    if (i == graph.operators.size())
      return chooseValue(0);
    choose(
        plan.strategies[i].dims,
        [&](size_t d) { return graph.operators[i].dims[d].size; },
        [&] { chooseOperator(i + 1); });
  }

  void chooseValue(size_t i) {
    if (i == graph.values.size()) {
      countBytes(graph, plan, Charge::PerUse);
      least = std::min(least, plan.totalBytes);
      return;
    }
    choose(
        plan.layouts[i].dims,
        [&](size_t d) { return graph.values[i].shape[d]; },
        [&] { chooseValue(i + 1); });
  }

  const PartitionGraph &graph;
  Plan plan;
  int64_t least = std::numeric_limits<int64_t>::max();
};

TEST(Recursive, OneDeviceMovesNothing) {
  PartitionGraph graph = mlpChain(8, {4, 6});
  SearchResult result = searchRecursive(graph, Mesh::factored(1), perUse());
  EXPECT_EQ(result.plan.totalBytes, 0);
  EXPECT_FALSE(checkPlan(graph, result.plan));
}

TEST(Recursive, AgreesWithBruteForceOnOneAxis) {
  // Products joined at random; the sizes divide by no number of devices but 2.
  std::mt19937 random(7);
  auto pick = [&](int n) { return static_cast<int>(random() % n); };
  for (int round = 0; round < 20; ++round) {
    GraphBuilder b;
    int64_t sizes[] = {5, 7, 8, 11};
    int64_t m = sizes[pick(4)], k = sizes[pick(4)], n = sizes[pick(4)];
    unsigned x = b.value({m, k}), w = b.value({k, n});
    unsigned y = b.einsum({{x, "mk"}, {w, "kn"}}, "mn");
    if (pick(2))
      y = b.elementwise({y, y});
    unsigned v = b.value({n, m});
    unsigned z = pick(2) ? b.einsum({{y, "mn"}, {v, "nk"}}, "mk")
                         : b.einsum({{y, "mn"}, {x, "mk"}}, "nk");
    if (pick(2))
      b.einsum({{z, "ab"}}, "b");
    for (int64_t devices : {2, 3, 5}) {
      SearchResult result =
          searchRecursive(b.graph, Mesh::factored(devices), perUse());
      EXPECT_TRUE(result.exact);
      EXPECT_FALSE(checkPlan(b.graph, result.plan));
      EXPECT_EQ(sumOf(result.plan), result.plan.totalBytes);
      // Element-wise operators are joined with their values, so a plan that
      // cuts them apart can be missed; here none is better.
      EXPECT_EQ(result.plan.totalBytes, BruteForce(b.graph, devices).run())
          << "round " << round << ", " << devices << " devices";
    }
  }
}

TEST(Recursive, ChainsOfProducts) {
  // Optimum and best step-wise plan, in elements, known from an exhaustive
  // search (Tofu's plan space).
  struct Case {
    int64_t batch;
    llvm::SmallVector<int64_t> widths;
    int64_t devices, optimum, stepwise;
  } cases[] = {{2048, {2048, 4096, 4096, 128}, 4, 77856768, 90439680},
               {1024, {64, 512, 2048}, 8, 8192000, 8978432}};
  for (const Case &c : cases) {
    PartitionGraph graph = mlpChain(c.batch, c.widths);
    SearchResult result =
        searchRecursive(graph, Mesh::factored(c.devices), perUse());
    EXPECT_FALSE(checkPlan(graph, result.plan));
    EXPECT_GE(result.plan.totalBytes, 4 * c.optimum);
    EXPECT_LE(result.plan.totalBytes, 4 * c.stepwise);
  }
}

TEST(Recursive, PlansAreValidForAnyNumberOfDevices) {
  PartitionGraph graph = mlpChain(13, {7, 9, 5});
  for (int64_t devices = 1; devices <= 12; ++devices)
    for (bool replication : {false, true})
      for (bool partials : {false, true}) {
        SearchOptions options;
        options.replication = replication;
        options.partials = partials;
        SearchResult result =
            searchRecursive(graph, Mesh::factored(devices), options);
        std::optional<std::string> wrong = checkPlan(graph, result.plan);
        EXPECT_FALSE(wrong) << *wrong;
        EXPECT_EQ(sumOf(result.plan), result.plan.totalBytes);
      }
}

TEST(Charge, AValueThatTwoOperatorsNeedAlikeMovesOnce) {
  GraphBuilder b;
  unsigned x = b.value({8, 6}), w = b.value({6, 4});
  b.einsum({{x, "mk"}, {w, "kn"}}, "mn");
  b.einsum({{x, "mk"}, {w, "kn"}}, "mn");
  Plan plan;
  plan.mesh = Mesh::factored(2);
  for (int i = 0; i < 2; ++i)
    plan.strategies.push_back({{{0}, {}, {}}, {}, 0});
  plan.layouts = {
      {{{0}, {}}, {}}, {{{0}, {}}, {}}, {{{0}, {}}, {}}, {{{0}, {}}, {}}};
  // Both devices lack half of w, which has 24 elements of 4 bytes.
  countBytes(b.graph, plan, Charge::PerUse);
  EXPECT_EQ(plan.totalBytes, 2 * 2 * 12 * 4);
  countBytes(b.graph, plan, Charge::Once);
  EXPECT_EQ(plan.totalBytes, 2 * 12 * 4);
}

TEST(CheckPlan, NamesWhatIsWrong) {
  GraphBuilder b;
  unsigned x = b.value({8, 6});
  b.elementwise({x});
  SearchResult result =
      searchRecursive(b.graph, Mesh::factored(2), SearchOptions());
  ASSERT_FALSE(checkPlan(b.graph, result.plan));
  Plan twice = result.plan;
  twice.layouts[0].dims = {{0}, {0}};
  EXPECT_TRUE(checkPlan(b.graph, twice));
  Plan unknown = result.plan;
  unknown.strategies[0].dims[0] = {5};
  EXPECT_TRUE(checkPlan(b.graph, unknown));
  Plan few = result.plan;
  few.layouts.pop_back();
  EXPECT_TRUE(checkPlan(b.graph, few));
}
