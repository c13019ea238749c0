//===- BaselinesTest.cpp - Plans to compare with, and random ones ---------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "Tofu/Search/Search.h"

#include "gtest/gtest.h"

#include <set>

using namespace mlir::tofu::search;

TEST(DataParallel, CombinesEveryGradient) {
  // Nothing moves but the gradients, from partial to whole: 2(k-1) times the
  // weights, 4*6 and 6*10 elements of 4 bytes.
  PartitionGraph graph = mlpChain(24, {4, 6, 10});
  for (int64_t devices : {2, 3, 4, 6, 8}) {
    SearchResult result =
        searchDataParallel(graph, Mesh::factored(devices), {});
    EXPECT_EQ(result.plan.totalBytes, 2 * (devices - 1) * 4 * (4 * 6 + 6 * 10));
    EXPECT_FALSE(checkPlan(graph, result.plan));
  }
}

TEST(DataParallel, CutsASmallBatchByWhatFits) {
  // Three samples are enough for the axis of 3, its parts of one for no more.
  GraphBuilder b;
  b.elementwise({b.value({3})});
  SearchResult result = searchDataParallel(b.graph, Mesh::factored(6), {});
  EXPECT_EQ(result.plan.strategies[0].dims[0], (Axes{0}));
  EXPECT_EQ(result.plan.layouts[0].dims[0], (Axes{0}));
  EXPECT_FALSE(checkPlan(b.graph, result.plan));
}

TEST(DataParallel, AddsGradientsBeforeItCombinesThem) {
  // w - (dw0 + dw1) of two products over the batch: one sum of 4*6 elements.
  GraphBuilder b;
  unsigned x = b.value({8, 4}), y = b.value({8, 6}), w = b.value({4, 6});
  unsigned dw0 = b.einsum({{x, "km"}, {y, "kn"}}, "mn");
  unsigned dw1 = b.einsum({{x, "km"}, {y, "kn"}}, "mn");
  unsigned sum = b.elementwise({dw0, dw1}, "add");
  b.graph.operators.back().linear = {3};
  b.carry(b.elementwise({w, sum}, "update"), w);
  SearchResult result = searchDataParallel(b.graph, Mesh::factored(2), {});
  EXPECT_EQ(result.plan.totalBytes, 2 * 4 * (4 * 6));
  EXPECT_EQ(result.plan.layouts[dw0].partial, (Axes{0}));
  EXPECT_FALSE(checkPlan(b.graph, result.plan));
}

TEST(DataParallel, FollowsTheBatchThroughReshapes) {
  // x[b, s, w] -> y[b*s, w] -> y v, where v is no data since it is carried to;
  // the batch leads the joined dim, so nothing moves.
  GraphBuilder b;
  unsigned x = b.value({8, 5, 7}), v = b.value({7, 9});
  unsigned y = b.value({40, 7});
  Operator collapse;
  collapse.dims = {{8}, {5}, {7}};
  auto dim = [](unsigned d) { return LinearExpr::ofDim(d); };
  collapse.operands.push_back({x, {dim(0), dim(1), dim(2)}, -1});
  LinearExpr joined;
  joined.terms = {{0, 5}, {1, 1}};
  collapse.results.push_back({y, {joined, dim(2)}});
  b.graph.operators.push_back(collapse);
  unsigned product = b.einsum({{y, "mk"}, {v, "kn"}}, "mn");
  b.carry(b.elementwise({v}), v);
  SearchResult result = searchDataParallel(b.graph, Mesh::factored(4), {});
  EXPECT_EQ(result.plan.totalBytes, 0);
  EXPECT_EQ(result.plan.layouts[product].dims[0], (Axes{0, 1}));
  EXPECT_EQ(result.plan.layouts[v], (Layout{{{}, {}}, {}}));
}

TEST(DataParallel, PlansAProgramWithoutData) {
  GraphBuilder b;
  unsigned w = b.value({8, 8});
  b.carry(b.elementwise({w}), w);
  SearchResult result = searchDataParallel(b.graph, Mesh::factored(2), {});
  EXPECT_EQ(result.plan.totalBytes, 0);
  EXPECT_FALSE(checkPlan(b.graph, result.plan));
}

TEST(Any, GivesValidPlans) {
  std::mt19937 random(12);
  for (int round = 0; round < 20; ++round) {
    PartitionGraph graph = randomProgram(random, 6, 4);
    Mesh mesh = Mesh::factored(2 + round % 7);
    SearchOptions options;
    options.partials = round % 2;
    for (options.seed = 0; options.seed < 16; ++options.seed) {
      SearchResult result = searchAny(graph, mesh, options);
      EXPECT_EQ(checkPlan(graph, result.plan), std::nullopt);
      EXPECT_EQ(result.plan.totalBytes,
                searchAny(graph, mesh, options).plan.totalBytes);
    }
  }
}

TEST(Random, GivesValidPlansThatDifferBySeed) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    PartitionGraph graph = randomProgram(random, 6, 4);
    Mesh mesh = Mesh::factored(2 + round % 7);
    for (bool spaces : {false, true}) {
      SearchOptions options;
      options.replication = options.partials = spaces;
      std::set<int64_t> totals;
      for (options.seed = 0; options.seed < 16; ++options.seed) {
        SearchResult result = searchRandom(graph, mesh, options);
        EXPECT_TRUE(result.remarks.empty());
        EXPECT_EQ(checkPlan(graph, result.plan), std::nullopt);
        EXPECT_EQ(result.plan.totalBytes,
                  searchRandom(graph, mesh, options).plan.totalBytes);
        EXPECT_GE(result.plan.totalBytes, 0);
        totals.insert(result.plan.totalBytes);
      }
      // Few of the sizes can be cut by more.
      if (mesh.numDevices() == 2)
        EXPECT_GT(totals.size(), 1u);
    }
  }
}
