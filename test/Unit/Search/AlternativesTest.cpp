//===- AlternativesTest.cpp - What else could be cut how ------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Alternatives.h"
#include "Programs.h"

#include "gtest/gtest.h"

#include <set>

using namespace mlir::tofu::search;

TEST(ListCuts, GivesEveryAxisADim) {
  Value value;
  value.shape = {8, 8};
  EXPECT_EQ(listCuts(value, Mesh::factored(8)).size(), 8u);
  // Four parts of the first dim are all that there are of it.
  value.shape = {4, 8};
  EXPECT_EQ(listCuts(value, Mesh::factored(8)).size(), 7u);
  // No dim is large enough for 7.
  value.shape = {4, 6};
  EXPECT_EQ(listCuts(value, Mesh::factored(7)),
            std::vector<DimCuts>(1, DimCuts(2)));
  value.shape = {};
  EXPECT_EQ(listCuts(value, Mesh::factored(2)).size(), 1u);
}

TEST(ListCuts, LeavesUnsplittableDimsWhole) {
  IterationDim free{8}, fixed{8, DimKind::Unsplittable}, inner{8};
  inner.after = 0;
  Mesh mesh = Mesh::factored(2);
  EXPECT_EQ(listCuts({free, fixed, inner}, {0}, mesh),
            (std::vector<DimCuts>{{{0}, {}, {}}}));
}

TEST(ListCuts, TakesAxesTogetherWhereThereAreTooMany) {
  Value value;
  value.shape = {4096, 4096};
  Mesh mesh = Mesh::factored(4096);
  std::vector<DimCuts> all = listCuts(value, mesh, 16);
  EXPECT_EQ(all.size(), 16u);
  for (const DimCuts &cuts : all)
    EXPECT_EQ(cuts[0].size() + cuts[1].size(), 12u);
}

TEST(Alternatives, CostWhatThePlanWouldWithThem) {
  std::mt19937 random(17);
  for (int round = 0; round < 40; ++round) {
    PartitionGraph graph = randomProgram(random, 6, round % 2);
    Mesh mesh = Mesh::factored(2 + round % 7);
    SearchOptions options;
    options.seed = round;
    options.replication = options.partials = round % 2;
    options.charge = round % 4 < 2 ? Charge::Once : Charge::PerUse;
    Plan plan = searchRandom(graph, mesh, options).plan;
    Alternatives alternatives(graph, plan, options);
    for (unsigned i = 0; i < graph.operators.size(); ++i) {
      int64_t last = 0;
      for (const Alternative &other : alternatives.of(i)) {
        Plan changed = plan;
        changed.strategies[i] = other.strategy;
        EXPECT_EQ(checkPlan(graph, changed), std::nullopt);
        countBytes(graph, changed, options.charge);
        EXPECT_EQ(other.totalCost, changed.totalBytes);
        EXPECT_GE(other.totalCost, last);
        last = other.totalCost;
      }
    }
  }
}

TEST(Alternatives, CostTheTimeThatThePlanWouldTake) {
  std::mt19937 random(18);
  for (int round = 0; round < 20; ++round) {
    PartitionGraph graph = randomProgram(random, 6, round % 2);
    SearchOptions options;
    options.seed = round;
    options.charge = round % 4 < 2 ? Charge::Once : Charge::PerUse;
    Mesh mesh = {{"a", "b"}, {2, 3}};
    Rates rates;
    rates.axes = {{20e-9, 1e9}, {10e-9, 4e9}};
    rates.numDevices = 6;
    rates.flops = {1e9, 1e9, 1e9};
    rates.memoryBandwidth = 1e10;
    options.objective = Objective::Time;
    options.rates = rates;
    Plan plan = searchRandom(graph, mesh, options).plan;
    countTimes(graph, plan, options.charge, rates);
    Alternatives alternatives(graph, plan, options);
    for (unsigned i = 0; i < graph.operators.size(); ++i) {
      Strategy whole;
      whole.dims.resize(graph.operators[i].dims.size());
      unsigned replicated = 0;
      std::vector<Alternative> all = alternatives.of(i);
      for (const Alternative &other : all) {
        replicated += other.strategy == whole;
        EXPECT_EQ(llvm::count_if(all,
                                 [&](const Alternative &each) {
                                   return each.strategy == other.strategy;
                                 }),
                  1);
        Plan changed = plan;
        changed.strategies[i] = other.strategy;
        EXPECT_EQ(checkPlan(graph, changed), std::nullopt);
        countTimes(graph, changed, options.charge, rates);
        EXPECT_EQ(other.totalCost, changed.totalTime);
      }
      EXPECT_EQ(replicated, 1u);
    }
  }
}

TEST(Alternatives, FindsTheRunnerUp) {
  // a[8, 4] b[4, 6], all cut by rows: 24 elements are fetched. Cut along the 4,
  // half of each part of a is fetched, 16, and the half of the result that the
  // other device has, 48.
  GraphBuilder b;
  b.einsum({{b.value({8, 4}), "mk"}, {b.value({4, 6}), "kn"}}, "mn");
  Plan plan = searchAllRowGreedy(b.graph, Mesh::factored(2), {}).plan;
  std::optional<Alternative> other =
      Alternatives(b.graph, plan, {}).runnerUp(0);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->strategy.dims, (DimCuts{{}, {}, {0}}));
  EXPECT_EQ(other->totalCost, 4 * (16 + 48));
}
