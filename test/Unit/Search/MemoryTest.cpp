//===- MemoryTest.cpp - Memory of plans, by hand --------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Memory.h"
#include "Programs.h"

#include "gtest/gtest.h"

using namespace mlir::tofu::search;

/// A plan on one axis: where each operator and each value is cut, -1 for
/// nowhere.
static Plan planOf(const PartitionGraph &graph, int64_t devices,
                   llvm::ArrayRef<int> strategies,
                   llvm::ArrayRef<int> layouts) {
  Plan plan;
  plan.mesh = {{"a0"}, {devices}};
  for (auto [op, cut] : llvm::zip_equal(graph.operators, strategies)) {
    plan.strategies.push_back({{}, {}, 0});
    plan.strategies.back().dims.resize(op.dims.size());
    if (cut >= 0)
      plan.strategies.back().dims[cut] = {0};
  }
  for (auto [value, cut] : llvm::zip_equal(graph.values, layouts)) {
    plan.layouts.push_back({{}, {}});
    plan.layouts.back().dims.resize(value.shape.size());
    if (cut >= 0)
      plan.layouts.back().dims[cut] = {0};
  }
  EXPECT_FALSE(checkPlan(graph, plan));
  return plan;
}

static PeakMemory peakOf(const PartitionGraph &graph, const Plan &plan,
                         Charge charge = Charge::Once) {
  return estimatePeak(graph, plan, charge);
}

/// x W for x[8, 4] and W[4, 6], twice: y[8, 6] = x W, z[8, 2] = y V, V[6, 2].
struct Chain {
  GraphBuilder b;
  unsigned x = b.value({8, 4}), w = b.value({4, 6}), v = b.value({6, 2});
  unsigned y = b.einsum({{x, "mk"}, {w, "kn"}}, "mn");
  unsigned z = b.einsum({{y, "mk"}, {v, "kn"}}, "mn");
};

// One device holds x, W, V (32 + 24 + 12 elements) and y (48): x and W may go
// then, and z comes.
TEST(MemoryTest, OneDevice) {
  Chain c;
  PeakMemory peak =
      peakOf(c.b.graph, planOf(c.b.graph, 1, {-1, -1}, {-1, -1, -1, -1, -1}));
  EXPECT_EQ(peak.bytes, 4 * (32 + 24 + 12 + 48));
  EXPECT_EQ(peak.device, 0);
  EXPECT_EQ(peak.op, 0u);
}

// Arguments that are not the program's to free stay: V, z and the end are
// added to, with y still there while z is made.
TEST(MemoryTest, HeldArguments) {
  Chain c;
  for (unsigned value : {c.x, c.w, c.v})
    c.b.graph.values[value].heldTo = kEnd;
  PeakMemory peak =
      peakOf(c.b.graph, planOf(c.b.graph, 1, {-1, -1}, {-1, -1, -1, -1, -1}));
  EXPECT_EQ(peak.bytes, 4 * (32 + 24 + 12 + 48 + 16));
  EXPECT_EQ(peak.op, 1u);
}

// Rows over three devices: 3, 3 and 2 of 8. W, by rows 2, 1, 1 of 4, is needed
// whole beside the part that is held; V by rows, two each.
TEST(MemoryTest, UnevenCopies) {
  Chain c;
  PeakMemory peak =
      peakOf(c.b.graph, planOf(c.b.graph, 3, {0, 0}, {0, 0, 0, 0, 0}));
  EXPECT_EQ(peak.bytes, 4 * (3 * 4 + 2 * 6 + 4 * 6 + 2 * 2 + 3 * 6));
  EXPECT_EQ(peak.device, 0);
  EXPECT_EQ(peak.op, 0u);
}

// A cut reduction: each of two devices produces all of y, then gets its rows.
// While it is moved, x and W have gone.
TEST(MemoryTest, PartialResults) {
  Chain c;
  Plan plan = planOf(c.b.graph, 2, {2, 0}, {1, 0, -1, 0, 0});
  // x and W by k: 16 + 12, V, all of y.
  PeakMemory peak = peakOf(c.b.graph, plan);
  EXPECT_EQ(peak.bytes, 4 * (16 + 12 + 12 + 48));
  // With x and W kept: while y is moved to its rows.
  for (unsigned value : {c.x, c.w})
    c.b.graph.values[value].heldTo = kEnd;
  peak = peakOf(c.b.graph, plan);
  EXPECT_EQ(peak.bytes, 4 * (16 + 12 + 12 + 48 + 24));
  EXPECT_EQ(peak.op, 0u);
}

/// y = x + f(g(x)): x is held until it is added.
TEST(MemoryTest, Residual) {
  GraphBuilder b;
  unsigned x = b.elementwise({b.value({8})});
  b.elementwise({x, b.elementwise({b.elementwise({x})})});
  std::vector<int> whole(5, -1), cut(5, 0);
  PartitionGraph &graph = b.graph;
  PeakMemory peak = peakOf(graph, planOf(graph, 1, {-1, -1, -1, -1}, whole));
  // x, f's operand and result; then x, f's result and y.
  EXPECT_EQ(peak.bytes, 4 * 3 * 8);
  EXPECT_EQ(peak.op, 2u);
  EXPECT_EQ(peakOf(graph, planOf(graph, 2, {0, 0, 0, 0}, cut)).bytes,
            4 * 3 * 4);
}

/// Two products with one weight, W[4, 6], and something between. The copy of
/// the weight stays between its uses, or each makes its own.
TEST(MemoryTest, CopiesUnderBothCharges) {
  GraphBuilder b;
  unsigned x = b.value({8, 4}), w = b.value({4, 6});
  b.einsum({{x, "mk"}, {w, "kn"}}, "mn");
  unsigned big = b.value({50});
  b.elementwise({big});
  b.einsum({{x, "mk"}, {w, "kn"}}, "mn");
  const PartitionGraph &graph = b.graph;
  Plan plan = planOf(graph, 2, {0, 0, 0}, {0, 0, 0, 0, 0, 0});
  // Of x 16, of W 12, its copy 24, of the vector 25 and its result 25.
  EXPECT_EQ(peakOf(graph, plan, Charge::Once).bytes,
            4 * (16 + 12 + 24 + 25 + 25));
  EXPECT_EQ(peakOf(graph, plan, Charge::Once).op, 1u);
  // During the first product: x, W, its copy, the result's 24, the vector.
  EXPECT_EQ(peakOf(graph, plan, Charge::PerUse).bytes,
            4 * (16 + 12 + 24 + 24 + 25));
  EXPECT_EQ(peakOf(graph, plan, Charge::PerUse).op, 0u);
}

// What is whole has every part that is needed of it: no copy.
TEST(MemoryTest, PartsOfWholeValues) {
  GraphBuilder b;
  unsigned x = b.value({8, 4}), w = b.value({4, 6});
  b.einsum({{x, "mk"}, {w, "kn"}}, "mn");
  Plan plan = planOf(b.graph, 2, {1}, {-1, -1, 1});
  EXPECT_EQ(peakOf(b.graph, plan).bytes, 4 * (32 + 24 + 24));
}

// A constant is not counted; what moves each time around a loop is held once.
TEST(MemoryTest, ConstantsAndLoops) {
  GraphBuilder b;
  unsigned x = b.value({8}), c = b.value({8});
  unsigned y = b.elementwise({x, c});
  b.graph.values[c].constant = true;
  b.graph.values[y].elementBytes = 4 * 10;
  b.graph.values[y].times = 10;
  EXPECT_EQ(peakOf(b.graph, planOf(b.graph, 1, {-1}, {-1, -1, -1})).bytes,
            4 * (8 + 8));
}

// The updated weight is carried to rows: beside it there is its copy, at the
// end; the argument has gone.
TEST(MemoryTest, Carried) {
  GraphBuilder b;
  unsigned w = b.value({4, 8});
  unsigned updated = b.elementwise({w});
  b.carry(updated, w);
  PeakMemory peak = peakOf(b.graph, planOf(b.graph, 2, {1}, {0, 1}));
  // w's 16, its copy's 16 by columns, the result's 16.
  EXPECT_EQ(peak.bytes, 4 * 48);
  EXPECT_EQ(peak.op, 0u);
  b.graph.values[w].heldTo = kEnd;
  EXPECT_EQ(peakOf(b.graph, planOf(b.graph, 2, {0}, {0, 1})).bytes, 4 * 48);
}

// Memory of many devices is that of the few that differ: 70 rows over 64.
TEST(MemoryTest, ManyDevices) {
  GraphBuilder b;
  unsigned x = b.value({70, 2});
  b.elementwise({x});
  EXPECT_EQ(peakOf(b.graph, planOf(b.graph, 64, {0}, {0, 0})).bytes,
            4 * (4 + 4));
}
