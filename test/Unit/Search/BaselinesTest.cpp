//===- BaselinesTest.cpp - Plans to compare with, and random ones ---------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "Tofu/Search/Alternatives.h"
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

TEST(DataParallel, CombinesWhatAnOperandWithoutABitReads) {
  // Sums may pass through operand 0, but operand 64 reads the same one, and
  // sets of operands have 64 bits.
  GraphBuilder b;
  unsigned x = b.value({8, 4}), y = b.value({8, 6}), w = b.value({4, 6});
  unsigned dw = b.einsum({{x, "km"}, {y, "kn"}}, "mn");
  llvm::SmallVector<unsigned> operands(65, w);
  operands.front() = operands.back() = dw;
  b.carry(b.elementwise(operands, "update"), w);
  b.graph.operators.back().linear = {1};
  SearchResult result = searchDataParallel(b.graph, Mesh::factored(2), {});
  EXPECT_EQ(result.plan.totalBytes, 2 * 4 * (4 * 6));
  EXPECT_TRUE(result.plan.layouts[dw].partial.empty());
  EXPECT_EQ(result.plan.strategies.back().partialOperands, 0u);
  EXPECT_EQ(checkPlan(b.graph, result.plan), std::nullopt);
  SearchOptions options;
  options.partials = true;
  for (auto search : {searchRecursive, searchRandom, searchAny})
    EXPECT_EQ(
        checkPlan(b.graph, search(b.graph, Mesh::factored(2), options).plan),
        std::nullopt);
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

TEST(Megatron, CutsOneWeightByColumnsTheNextByRows) {
  // The hidden dim of 6 is cut; what moves is the output of 24*10, from partial
  // to whole.
  PartitionGraph graph = mlpChain(24, {4, 6, 10});
  for (int64_t devices : {2, 3, 5}) {
    SearchResult result = searchMegatron(graph, Mesh::factored(devices), {});
    EXPECT_TRUE(result.remarks.empty());
    EXPECT_FALSE(checkPlan(graph, result.plan));
    EXPECT_EQ(result.plan.totalBytes, 2 * (devices - 1) * 4 * (24 * 10));
    EXPECT_EQ(result.plan.strategies[0].dims, (DimCuts{{}, {0}, {}}));
    EXPECT_EQ(result.plan.strategies[1].dims, (DimCuts{{}, {}, {0}}));
  }
}

TEST(Megatron, CutsTheBatchByTheFirstOfSeveralAxes) {
  // Two groups combine the outputs of half a batch, 12*10 elements each; two
  // groups the gradients of half of each weight.
  PartitionGraph graph = mlpChain(24, {4, 6, 10});
  SearchResult result = searchMegatron(graph, Mesh::factored(4), {});
  EXPECT_FALSE(checkPlan(graph, result.plan));
  EXPECT_EQ(result.plan.strategies[0].dims, (DimCuts{{0}, {1}, {}}));
  EXPECT_EQ(result.plan.totalBytes,
            2 * 4 * (2 * 12 * 10 + 2 * (4 * 6 + 6 * 10) / 2));
}

TEST(Megatron, LeavesEverySecondDimOfAChainWhole) {
  // Dims 1 and 3 are cut; a weight can be cut along one dim only.
  PartitionGraph graph = mlpChain(8, {4, 6, 10, 12, 14});
  SearchResult result = searchMegatron(graph, Mesh::factored(2), {});
  EXPECT_FALSE(checkPlan(graph, result.plan));
  const DimCuts columns{{}, {0}, {}}, rows{{}, {}, {0}};
  for (unsigned layer = 0; layer < 4; ++layer)
    EXPECT_EQ(result.plan.strategies[layer].dims, layer % 2 ? rows : columns);
}

TEST(Megatron, CutsHeadsAndHiddenDimsOfATransformer) {
  Transformer sizes{2, 4, 8, 8, 4};
  PartitionGraph graph = TransformerBuilder(sizes).build();
  SearchResult result = searchMegatron(graph, Mesh::factored(2), {});
  EXPECT_TRUE(result.remarks.empty());
  EXPECT_FALSE(checkPlan(graph, result.plan));
  for (auto [op, strategy] :
       llvm::zip_equal(graph.operators, result.plan.strategies)) {
    // b h s d k, and b h s t d.
    if (op.name == "project" || op.name == "mask" || op.name == "softmax")
      EXPECT_EQ(strategy.dims[1], (Axes{0})) << op.name;
    // Between blocks everything is whole.
    if (op.name == "residual" || op.name == "centre")
      for (const Axes &axes : strategy.dims)
        EXPECT_TRUE(axes.empty()) << op.name;
  }
}

TEST(Megatron, IsDataParallelismWithoutPairs) {
  PartitionGraph graph = mlpChain(24, {4, 6});
  SearchResult result = searchMegatron(graph, Mesh::factored(2), {});
  EXPECT_EQ(result.remarks.size(), 1u);
  EXPECT_EQ(result.plan.totalBytes, 2 * 4 * (4 * 6));
}

/// One product of a [m, k] and b [k, n].
static PartitionGraph product(int64_t m, int64_t k, int64_t n) {
  GraphBuilder b;
  unsigned x = b.value({m, k}), y = b.value({k, n});
  b.einsum({{x, "mk"}, {y, "kn"}}, "mn");
  return b.graph;
}

TEST(WithoutReductions, FetchesWhatItCannotSum) {
  // Cut along the 64, 2*2 elements are combined; cut along a 2, each device
  // fetches the half of 64*2 that it lacks.
  PartitionGraph graph = product(2, 64, 2);
  Mesh mesh = Mesh::factored(2);
  EXPECT_EQ(searchKBest(graph, mesh, {}).plan.totalBytes, 4 * (2 * 2));
  SearchResult result = searchWithoutReductions(graph, mesh, {});
  EXPECT_EQ(result.plan.totalBytes, 4 * (64 * 2));
  EXPECT_FALSE(checkPlan(graph, result.plan));
}

TEST(EqualChop, CutsOneDimByAllAxes) {
  GraphBuilder b;
  unsigned x = b.value({3, 13});
  unsigned y = b.elementwise({x});
  SearchResult result = searchEqualChop(b.graph, Mesh::factored(6), {});
  EXPECT_EQ(result.plan.strategies[0].dims, (DimCuts{{}, {0, 1}}));
  EXPECT_EQ(result.plan.layouts[y].dims, (DimCuts{{}, {0, 1}}));
  EXPECT_EQ(result.plan.totalBytes, 0);
  EXPECT_FALSE(checkPlan(b.graph, result.plan));
}

TEST(EqualChop, NeedsMoreThanTwoDims) {
  // a[8,4] b[4,8] on 2x2 devices: cut along both 8s, each device needs half of
  // a and of b, and holds half of that. Cut along one, it lacks 3/4 of the
  // other.
  PartitionGraph graph = product(8, 4, 8);
  Mesh mesh = Mesh::factored(4);
  EXPECT_EQ(searchKBest(graph, mesh, {}).plan.totalBytes, 4 * (4 * 8 + 4 * 8));
  EXPECT_EQ(searchEqualChop(graph, mesh, {}).plan.totalBytes, 4 * (3 * 32));
}

TEST(AllRowGreedy, CutsFirstDims) {
  // By rows, all but half of the 4*6 lies where it is needed.
  PartitionGraph graph = product(8, 4, 6);
  SearchResult result = searchAllRowGreedy(graph, Mesh::factored(2), {});
  for (const Layout &layout : result.plan.layouts)
    EXPECT_EQ(layout.dims, (DimCuts{{0}, {}}));
  EXPECT_EQ(result.plan.totalBytes, 4 * (4 * 6));
  EXPECT_FALSE(checkPlan(graph, result.plan));
}

TEST(AllRowGreedy, GoesOnWithTheNextDim) {
  GraphBuilder b;
  unsigned x = b.value({3, 7});
  SearchResult result = searchAllRowGreedy(b.graph, Mesh::factored(6), {});
  EXPECT_EQ(result.plan.layouts[x].dims, (DimCuts{{0}, {1}}));
}

TEST(Spartan, StartsFromTheLargest) {
  // The result is cut by rows, at no cost yet, and so is the work; then the
  // first operand lies as it is read, and all of the second must be fetched.
  PartitionGraph graph = product(8, 4, 6);
  SearchResult result = searchSpartan(graph, Mesh::factored(2), {});
  EXPECT_EQ(result.plan.strategies[0].dims, (DimCuts{{0}, {}, {}}));
  EXPECT_EQ(result.plan.layouts[0].dims, (DimCuts{{0}, {}}));
  EXPECT_EQ(result.plan.totalBytes, 4 * (4 * 6));
  EXPECT_FALSE(checkPlan(graph, result.plan));
}

TEST(Spartan, LooksAtWhatIsChosen) {
  // y, the largest, is cut along its first dim; x meets that in its second.
  GraphBuilder b;
  unsigned x = b.value({4, 4}), y = b.value({4, 4, 9});
  b.einsum({{y, "abc"}, {x, "ba"}}, "abc");
  SearchResult result = searchSpartan(b.graph, Mesh::factored(2), {});
  EXPECT_EQ(result.plan.layouts[y].dims, (DimCuts{{0}, {}, {}}));
  EXPECT_EQ(result.plan.layouts[x].dims, (DimCuts{{}, {0}}));
  EXPECT_EQ(result.plan.totalBytes, 0);
}

TEST(Baselines, GiveValidPlansOfAnyProgram) {
  std::mt19937 random(13);
  for (int round = 0; round < 40; ++round) {
    PartitionGraph graph = randomProgram(random, 6, round % 2);
    Mesh mesh = Mesh::factored(1 + round % 8);
    for (auto search : {searchMegatron, searchWithoutReductions,
                        searchEqualChop, searchAllRowGreedy, searchSpartan}) {
      SearchOptions options;
      options.replication = options.partials = round % 3 == 0;
      SearchResult result = search(graph, mesh, options);
      EXPECT_EQ(checkPlan(graph, result.plan), std::nullopt);
      EXPECT_EQ(result.plan.mesh.sizes, mesh.sizes);
      Plan again = result.plan;
      countBytes(graph, again, options.charge);
      EXPECT_EQ(again.totalBytes, result.plan.totalBytes);
    }
  }
}

TEST(Propagation, CutsWhatPinsReach) {
  // x[8, 4] by rows and w[4, 6] by columns: the product by both, and what is
  // made of it; nothing moves.
  GraphBuilder b;
  unsigned x = b.value({8, 4}), w = b.value({4, 6});
  unsigned y = b.elementwise({b.einsum({{x, "mk"}, {w, "kn"}}, "mn")});
  b.graph.values[x].pinned = {{{0}, {}}, {}};
  b.graph.values[w].pinned = {{{}, {1}}, {}};
  SearchResult result = searchPropagation(b.graph, Mesh::factored(4), {});
  EXPECT_EQ(result.plan.strategies[0].dims, (DimCuts{{0}, {1}, {}}));
  EXPECT_EQ(result.plan.layouts[y].dims, (DimCuts{{0}, {1}}));
  EXPECT_EQ(result.plan.totalBytes, 0);
  EXPECT_FALSE(checkPlan(b.graph, result.plan));
}

TEST(Propagation, TakesTheHigherPriorityFirst) {
  // One axis, two pins of a product: rows of x, or columns of w.
  for (int64_t priority : {-1, 1}) {
    GraphBuilder b;
    unsigned x = b.value({8, 4}), w = b.value({4, 6});
    b.einsum({{x, "mk"}, {w, "kn"}}, "mn");
    b.graph.values[x].pinned = {{{0}, {}}, {}};
    b.graph.values[w].pinned = {{{}, {0}}, {}};
    b.graph.values[w].priority = priority;
    SearchResult result = searchPropagation(b.graph, Mesh::factored(2), {});
    EXPECT_EQ(result.plan.strategies[0].dims,
              priority < 0 ? (DimCuts{{0}, {}, {}}) : (DimCuts{{}, {0}, {}}));
    EXPECT_FALSE(checkPlan(b.graph, result.plan));
  }
}

TEST(Propagation, LeavesAllWholeWithoutPins) {
  PartitionGraph graph = mlpChain(24, {4, 6});
  SearchResult result = searchPropagation(graph, Mesh::factored(2), {});
  EXPECT_EQ(result.remarks.size(), 1u);
  EXPECT_EQ(result.plan.totalBytes, 0);
}

/// Pins and forbids some of what `plan` says.
static void pinSome(std::mt19937 &random, const Plan &plan,
                    PartitionGraph &graph) {
  for (auto [value, layout] : llvm::zip_equal(graph.values, plan.layouts)) {
    if (random() % 4 == 0)
      value.pinned = layout;
    else if (random() % 4 == 0)
      value.forbidden = 1;
  }
  for (auto [op, strategy] : llvm::zip_equal(graph.operators, plan.strategies))
    if (random() % 4 == 0)
      op.pinned = strategy;
}

TEST(Pins, AreKeptByAllAlgorithms) {
  std::mt19937 random(19);
  for (int round = 0; round < 40; ++round) {
    PartitionGraph graph = randomProgram(random, 6, round % 2);
    Mesh mesh = Mesh::factored(2 + round % 7);
    SearchOptions options;
    options.seed = round;
    options.replication = round % 3 == 0;
    pinSome(random, searchRandom(graph, mesh, options).plan, graph);
    options.partials = round % 5 == 0;
    for (const Algorithm &algorithm : getAlgorithms()) {
      SearchResult result = algorithm.search(graph, mesh, options);
      EXPECT_EQ(checkPlan(graph, result.plan), std::nullopt)
          << algorithm.name.str();
      Plan again = result.plan;
      countBytes(graph, again, options.charge);
      EXPECT_EQ(again.totalBytes, result.plan.totalBytes);
    }
  }
}

TEST(Pins, MayNameAxesOfOnePart) {
  GraphBuilder b;
  unsigned x = b.value({8, 4}), y = b.elementwise({x});
  b.graph.values[x].pinned = {{{1, 0}, {}}, {}};
  b.graph.values[y].pinned = {{{0}, {1}}, {}};
  b.graph.operators[0].pinned = {{{}, {1, 0}}, {}, 0};
  Mesh mesh{{"x", "y"}, {2, 1}};
  for (const Algorithm &algorithm : getAlgorithms())
    EXPECT_EQ(checkPlan(b.graph, algorithm.search(b.graph, mesh, {}).plan),
              std::nullopt)
        << algorithm.name.str();
}

TEST(Pins, AreChecked) {
  GraphBuilder b;
  unsigned x = b.value({8, 4});
  b.elementwise({x});
  Plan plan = searchAllRowGreedy(b.graph, Mesh::factored(2), {}).plan;
  PartitionGraph forbidden = b.graph, pinned = b.graph;
  forbidden.values[x].forbidden = 1;
  EXPECT_EQ(checkPlan(forbidden, plan),
            "value 0: dim 0 is cut, which is forbidden");
  pinned.values[x].pinned = {{{}, {0}}, {}};
  EXPECT_EQ(checkPlan(pinned, plan), "value 0: lies not as it is pinned");
  pinned = b.graph;
  pinned.operators[0].pinned = {{{}, {0}}, {}, 0};
  EXPECT_EQ(checkPlan(pinned, plan),
            "operator 0 (elementwise): not cut as it is pinned");
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
