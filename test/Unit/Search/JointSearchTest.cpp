//===- JointSearchTest.cpp - Plans and bounds against enumeration ---------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "Tofu/Search/CostModel.h"
#include "Tofu/Search/Elimination.h"
#include "Tofu/Search/PlanSpace.h"
#include "Tofu/Search/Search.h"

#include "gtest/gtest.h"

using namespace mlir::tofu::search;

namespace {

/// The least bytes of all plans of a graph without carried or initial values:
/// every combination of strategies, and for each the best layout of every
/// value, which depends on no other.
class AllPlans {
public:
  AllPlans(const PartitionGraph &graph, const Mesh &mesh,
           const SearchOptions &options)
      : graph(graph), mesh(mesh), options(options), model(mesh) {}

  int64_t run() {
    strategies.resize(graph.operators.size());
    choose(0);
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

  void choose(unsigned op) {
    if (op == graph.operators.size()) {
      int64_t sum = 0;
      for (unsigned value = 0; value < graph.values.size() && sum < least;
           ++value)
        sum += leastOf(value);
      least = std::min(least, sum);
      return;
    }
    for (const Cuts &cuts : allCuts(graph.operators[op].dims.size()))
      if (isAllowed(graph.operators[op].dims, cuts, 0)) {
        strategies[op] = cuts;
        choose(op + 1);
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
        cost += model.movedBytes(value, held, need);
      }
      for (unsigned i = 0; i < op.results.size(); ++i)
        if (op.results[i].value == number)
          cost += model.movedBytes(
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

} // namespace

TEST(JointSearch, AgreesWithAllPlansOnTwoDevices) {
  for (unsigned seed = 0; seed < 350; ++seed)
    compare(seed, 1 + seed % 8, 2);
}

TEST(JointSearch, AgreesWithAllPlansOnSeveralAxes) {
  for (unsigned seed = 350; seed < 500; ++seed)
    compare(seed, 1 + seed % 3, seed % 2 ? 4 : 6);
}
