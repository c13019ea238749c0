//===- DegreeSpaceTest.cpp - Degrees cost no more than plans --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Search/DegreeSpace.h"
#include "Programs.h"

#include "gtest/gtest.h"

using namespace mlir::tofu::search;

/// What degrees say of a plan must be in their space, and cost no more.
static void check(const PartitionGraph &graph, const Plan &plan,
                  SearchOptions options) {
  options.joining = Joining::None;
  PlanSpace space(graph, options);
  DegreeSpace degrees(graph, space, plan.mesh, options);
  PlanSpace::States states = space.statesOf(plan);
  Assignment assignment;
  for (unsigned var = 0; var < states.size(); ++var) {
    std::optional<unsigned> value =
        degrees.find(var, space.getCuts(states[var]));
    ASSERT_TRUE(value);
    assignment.push_back(*value);
  }
  EXPECT_LE(degrees.getModel().costOf(degrees.complete(std::move(assignment))),
            costOf(plan, options.objective));
}

TEST(DegreeSpace, CostsNoMoreThanAnyPlan) {
  const Mesh meshes[] = {{{"a", "b"}, {2, 2}},
                         {{"a", "b"}, {2, 3}},
                         {{"a", "b", "c"}, {2, 3, 2}},
                         {{"a", "b", "c"}, {2, 2, 2}},
                         {{"a", "b"}, {4, 3}}};
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    PartitionGraph graph = randomProgram(random, 1 + seed % 8, true);
    SearchOptions options;
    options.seed = seed;
    options.replication = seed & 1;
    options.partials = seed & 2;
    options.charge = seed & 4 ? Charge::Once : Charge::PerUse;
    check(graph, searchRandom(graph, meshes[seed % 5], options).plan, options);
    if (HasFatalFailure())
      FAIL() << "seed " << seed;
  }
}

TEST(DegreeSpace, TakesNoLongerThanAnyPlan) {
  const Mesh meshes[] = {{{"a", "b"}, {2, 2}},
                         {{"a", "b"}, {2, 3}},
                         {{"a", "b", "c"}, {2, 3, 2}},
                         {{"a", "b", "c"}, {2, 2, 2}},
                         {{"a", "b"}, {4, 3}}};
  for (unsigned seed = 0; seed < 600; ++seed) {
    std::mt19937 random(seed);
    PartitionGraph graph = randomProgram(random, 1 + seed % 8, true);
    for (Value &value : graph.values) {
      value.times = 1 + random() % 3;
      value.elementBytes *= value.times;
    }
    for (Operator &op : graph.operators) {
      op.flops = random() % 4;
      op.times = 1 + random() % 3;
    }
    SearchOptions options;
    options.objective = Objective::Time;
    Rates rates;
    rates.numDevices = meshes[seed % 5].numDevices();
    rates.flops = {1e9, 1e9, 1e9};
    rates.memoryBandwidth = 4e9;
    for (int64_t size : meshes[seed % 5].sizes)
      rates.axes.push_back({double(size) * 1e-9, 1e9 + double(seed) * 1e7});
    options.rates = rates;
    options.seed = seed;
    options.replication = seed & 1;
    options.partials = seed & 2;
    options.charge = seed & 4 ? Charge::Once : Charge::PerUse;
    Plan plan = searchRandom(graph, meshes[seed % 5], options).plan;
    countTimes(graph, plan, options.charge, rates);
    check(graph, plan, options);
    if (HasFatalFailure())
      FAIL() << "seed " << seed;
  }
}

TEST(DegreeSpace, LargePartsMeetLargeOnes) {
  // Halves of x along one dim and thirds along the other, read the other way
  // round: of device (a, b)'s part it holds f(a, b)^2 elements, f = 4, 2, 0, 0,
  // 2, 4. Of 6 x 24 elements that makes 40.
  GraphBuilder b;
  b.elementwise({b.value({12, 12})});
  Plan plan;
  plan.mesh = {{"a", "b"}, {2, 3}};
  plan.strategies = {{{{0}, {1}}, {}, 0}};
  plan.layouts = {{{{1}, {0}}, {}}, {{{0}, {1}}, {}}};
  countBytes(b.graph, plan, Charge::Once);
  EXPECT_EQ(plan.totalBytes, (6 * 24 - 40) * 4);
  check(b.graph, plan, {});
}
