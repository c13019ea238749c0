//===- CostTest.cpp - Bytes of plans against sets of elements -------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "Reference.h"
#include "Tofu/Search/Search.h"

#include "gtest/gtest.h"

using namespace mlir::tofu::search;

/// A plan that cuts, replicates and leaves partial at random, but is valid.
static Plan randomPlan(const PartitionGraph &graph, const Mesh &mesh,
                       std::mt19937 &random) {
  Plan plan;
  plan.mesh = mesh;
  for (const Value &value : graph.values)
    plan.layouts.push_back(
        {llvm::SmallVector<Axes, 4>(value.shape.size()), {}});
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
    for (Layout &layout : plan.layouts)
      if (unsigned at = random() % (layout.dims.size() + 1);
          at < layout.dims.size())
        layout.dims[at].push_back(axis);
  for (const Operator &op : graph.operators) {
    Strategy strategy;
    strategy.dims.resize(op.dims.size());
    uint64_t set =
        op.linear.empty() ? 0 : op.linear[random() % op.linear.size()];
    for (unsigned axis = 0; axis < mesh.numAxes(); ++axis) {
      bool passes = set != 0;
      for (auto [i, operand] : llvm::enumerate(op.operands))
        if (set >> i & 1)
          passes &=
              llvm::is_contained(plan.layouts[operand.value].partial, axis);
      if (passes && random() % 2)
        strategy.partial.push_back(axis);
      else if (unsigned at = random() % (op.dims.size() + 1);
               at < op.dims.size())
        strategy.dims[at].push_back(axis);
    }
    strategy.partialOperands = strategy.partial.empty() ? 0 : set;
    // The layout of a result gives up what it does with axes that it is left
    // partial over.
    for (unsigned axis : sumPartialAxes(op, strategy))
      for (const Result &result : op.results) {
        Layout &layout = plan.layouts[result.value];
        if (random() % 2)
          continue;
        for (Axes &axes : layout.dims)
          llvm::erase(axes, axis);
        layout.partial.push_back(axis);
      }
    plan.strategies.push_back(std::move(strategy));
  }
  return plan;
}

TEST(Cost, RandomPlansAgreeWithElementSets) {
  std::mt19937 random(5);
  for (int i = 0; i < 60; ++i) {
    PartitionGraph graph = randomProgram(random, 5, true);
    graph.carried.push_back({graph.operators[0].results[0].value,
                             graph.operators[0].results[0].value});
    Plan plan = randomPlan(
        graph, Mesh::factored(std::vector<int64_t>{2, 3, 4, 6}[i % 4]), random);
    std::optional<std::string> wrong = checkPlan(graph, plan);
    ASSERT_FALSE(wrong) << *wrong;
    countBytes(graph, plan, Charge::PerUse);
    EXPECT_EQ(plan.totalBytes, reference::bytesPerUse(graph, plan));
    Plan once = plan;
    countBytes(graph, once, Charge::Once);
    EXPECT_LE(once.totalBytes, plan.totalBytes);
  }
}

/// One product C[3, 5] += A[3, 4] B[4, 5] on two devices, cut along k.
static std::pair<PartitionGraph, Plan> accumulation() {
  GraphBuilder b;
  unsigned x = b.value({3, 4}), w = b.value({4, 5}), init = b.value({3, 5});
  b.einsum({{x, "mk"}, {w, "kn"}}, "mn");
  Operator &op = b.graph.operators.back();
  op.operands.push_back({init, op.results[0].index, 0});
  Plan plan;
  plan.mesh = Mesh::factored(2);
  plan.strategies = {{{{}, {}, {0}}, {}, 0}};
  plan.layouts = {
      {{{}, {0}}, {}}, {{{0}, {}}, {}}, {{{0}, {}}, {}}, {{{}, {0}}, {}}};
  return {b.graph, plan};
}

TEST(Cost, InitialValuesAreNeededAsTheResultLies) {
  auto [graph, plan] = accumulation();
  countBytes(graph, plan, Charge::PerUse);
  // The operands lie as needed. The initial value lies in rows (2 and 1 of 5
  // elements), the result in columns (3 and 2 of 3 elements): 3 and 4 lack.
  EXPECT_EQ(plan.operatorBytes[0].operands,
            (llvm::SmallVector<int64_t, 4>{0, 0, 4 * (3 + 4)}));
  EXPECT_EQ(plan.operatorBytes[0].results,
            (llvm::SmallVector<int64_t, 4>{4 * 15}));
  // Where no reduction is cut, it is needed as the index says.
  plan.strategies[0].dims = {{0}, {}, {}};
  countBytes(graph, plan, Charge::PerUse);
  EXPECT_EQ(plan.operatorBytes[0].operands[2], 0);
}

TEST(Cost, ConstantsAreFree) {
  auto [graph, plan] = accumulation();
  plan.layouts[2].dims = {{}, {}};
  countBytes(graph, plan, Charge::PerUse);
  EXPECT_EQ(plan.operatorBytes[0].operands[2], 0);
  plan.layouts[2].dims = {{0}, {}};
  graph.values[2].constant = true;
  countBytes(graph, plan, Charge::PerUse);
  EXPECT_EQ(plan.operatorBytes[0].operands[2], 0);
}

TEST(Cost, PartialsThatPassThroughAreCombinedLater) {
  // (A B) + (C D), both products cut along k, combined after the addition.
  GraphBuilder b;
  unsigned a = b.value({6, 4}), c = b.value({4, 6});
  unsigned x = b.einsum({{a, "mk"}, {c, "kn"}}, "mn");
  unsigned y = b.einsum({{a, "mk"}, {c, "kn"}}, "mn");
  b.elementwise({x, y}, "add");
  b.graph.operators.back().linear = {3};
  Plan plan;
  plan.mesh = Mesh::factored(4);
  Strategy reduce{{{}, {}, {0, 1}}, {}, 0};
  plan.strategies = {reduce, reduce, {{{}, {}}, {0, 1}, 3}};
  Layout partial{{{}, {}}, {0, 1}};
  plan.layouts = {{{{}, {0, 1}}, {}},
                  {{{0, 1}, {}}, {}},
                  partial,
                  partial,
                  {{{0, 1}, {}}, {}}};
  ASSERT_FALSE(checkPlan(b.graph, plan));
  countBytes(b.graph, plan, Charge::PerUse);
  EXPECT_EQ(plan.totalBytes, 3 * 36 * 4);
  // A use that a partial is not good enough for combines it.
  plan.strategies[2] = {{{0, 1}, {}}, {}, 0};
  ASSERT_FALSE(checkPlan(b.graph, plan));
  countBytes(b.graph, plan, Charge::PerUse);
  EXPECT_EQ(plan.totalBytes, 2 * 3 * 36 * 4);
}

TEST(CheckPlan, PartialsMustBeLegal) {
  std::pair<PartitionGraph, Plan> both = accumulation();
  auto &graph = both.first;
  auto &plan = both.second;
  ASSERT_FALSE(checkPlan(graph, plan));
  auto expect = [&](const char *text) {
    std::optional<std::string> wrong = checkPlan(graph, plan);
    ASSERT_TRUE(wrong);
    EXPECT_NE(wrong->find(text), std::string::npos) << *wrong;
  };
  plan.layouts[3] = {{{}, {}}, {0}};
  EXPECT_FALSE(checkPlan(graph, plan));
  graph.values[3].neverPartial = true;
  expect("must be combined");
  graph.values[3].neverPartial = false;
  graph.operators[0].dims[2].additive = false;
  expect("the operator leaves other partial results");
  graph.operators[0].dims[2].additive = true;
  plan.strategies[0] = {{{}, {}, {}}, {0}, 1};
  expect("not linear in its partial operands");
  graph.operators[0].linear = {1};
  // What is whole or cut can be made partial.
  EXPECT_FALSE(checkPlan(graph, plan));
  graph.values[0].constant = true;
  expect("operand 0 is a constant");
  graph.values[0].constant = false;
  plan.layouts[0] = {{{}, {}}, {0}};
  expect("no operator produces it");
  plan.strategies[0] = {{{}, {}, {}}, {0}, 0};
  expect("partial axes without partial operands");
  plan.strategies[0] = {{{}, {}, {0}}, {}, 0};
  graph.operators[0].dims[2].kind = DimKind::Unsplittable;
  expect("unsplittable");
  plan.mesh.sizes[0] = 0;
  expect("mesh axis of size 0");
}
