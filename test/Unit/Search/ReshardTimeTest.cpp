//===- ReshardTimeTest.cpp - What crosses which links ---------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/ReshardTime.h"
#include "Programs.h"
#include "Tofu/Search/CostModel.h"

#include "gtest/gtest.h"

using namespace mlir::tofu::search;

namespace {

using Elements = std::vector<double>;

Mesh meshOf(llvm::ArrayRef<int64_t> sizes) {
  Mesh mesh;
  for (int64_t size : sizes) {
    mesh.names.push_back("a" + std::to_string(mesh.sizes.size()));
    mesh.sizes.push_back(size);
  }
  return mesh;
}

llvm::SmallVector<Box> boxesOf(llvm::ArrayRef<int64_t> shape,
                               const Layout &layout, const Mesh &mesh) {
  return Placement::ofLayout(shape, layout.dims).boxes(shape, mesh);
}

/// What crosses each axis from one layout to another.
Elements cross(llvm::ArrayRef<int64_t> shape, const Layout &from,
               const Layout &to, llvm::ArrayRef<int64_t> sizes) {
  Mesh mesh = meshOf(sizes);
  llvm::SmallVector<Box> held = boxesOf(shape, from, mesh),
                         needed = boxesOf(shape, to, mesh);
  auto elements =
      elementsPerAxis({held, from.partial}, {needed, to.partial}, mesh);
  return {elements.begin(), elements.end()};
}

} // namespace

TEST(ReshardTime, EightDevicesInARow) {
  Layout whole{{{}}, {}}, cut{{{0}}, {}}, partial{{{}}, {0}};
  // A device has one eighth of 64, gets the others.
  EXPECT_EQ(cross({64}, cut, whole, {8}), (Elements{56}));
  EXPECT_EQ(cross({64}, whole, cut, {8}), (Elements{0}));
  // Seven addends of its own eighth.
  EXPECT_EQ(cross({64}, partial, cut, {8}), (Elements{56}));
  // The same, and then seven eighths of sums.
  EXPECT_EQ(cross({64}, partial, whole, {8}), (Elements{112}));
  // Of its row of 8, one is there.
  EXPECT_EQ(cross({8, 8}, {{{0}, {}}, {}}, {{{}, {0}}, {}}, {8}),
            (Elements{7}));
  // What stays partial doesn't move.
  EXPECT_EQ(cross({64}, partial, partial, {8}), (Elements{0}));
}

TEST(ReshardTime, ThreeLevels) {
  Layout whole{{{}}, {}}, cut{{{0, 1, 2}}, {}}, partial{{{}}, {0, 1, 2}};
  // Each device gets the part of its neighbour over the last axis, the two of
  // the other pair over the one before, four over the first.
  EXPECT_EQ(cross({64}, cut, whole, {2, 2, 2}), (Elements{32, 16, 8}));
  // Half of 64 addends over the last axis, then a quarter, then an eighth.
  EXPECT_EQ(cross({64}, partial, cut, {2, 2, 2}), (Elements{8, 16, 32}));
  EXPECT_EQ(cross({64}, partial, whole, {2, 2, 2}), (Elements{16, 32, 64}));
  // Rows to columns, of 8 x 8: of a column of 8 elements 1 is there, 1 with
  // the neighbour, 2 with the other pair, 4 beyond.
  EXPECT_EQ(
      cross({8, 8}, {{{0, 1, 2}, {}}, {}}, {{{}, {0, 1, 2}}, {}}, {2, 2, 2}),
      (Elements{4, 2, 1}));
}

TEST(ReshardTime, TwoByFour) {
  Layout whole{{{}}, {}}, cut{{{0, 1}}, {}}, partial{{{}}, {0, 1}};
  EXPECT_EQ(cross({64}, cut, whole, {2, 4}), (Elements{32, 24}));
  // Three quarters of 64 within each four, then half of a quarter.
  EXPECT_EQ(cross({64}, partial, cut, {2, 4}), (Elements{8, 48}));
  EXPECT_EQ(cross({64}, partial, whole, {2, 4}), (Elements{16, 96}));
  EXPECT_EQ(cross({8, 8}, {{{0, 1}, {}}, {}}, {{{}, {0, 1}}, {}}, {2, 4}),
            (Elements{4, 3}));
  // Of 8 x 16, only the inner axis is exchanged: of 4 rows x 4 columns, 1 row
  // is there.
  EXPECT_EQ(cross({8, 16}, {{{0, 1}, {}}, {}}, {{{0}, {1}}, {}}, {2, 4}),
            (Elements{0, 12}));
}

TEST(ReshardTime, CombinesOverSomeAxesOnly) {
  // Partial over the inner axis, cut by the outer: groups of four each with 32.
  EXPECT_EQ(cross({64}, {{{0}}, {1}}, {{{0}}, {}}, {2, 4}),
            (Elements{0, 2 * 24}));
  EXPECT_EQ(cross({64}, {{{0}}, {1}}, {{{0, 1}}, {}}, {2, 4}),
            (Elements{0, 24}));
  // The sums are needed whole: in each group 64 elements are summed, of which
  // another group has half; a device fetches a quarter of that half.
  EXPECT_EQ(cross({64}, {{{0}}, {1}}, {{{}}, {}}, {2, 4}),
            (Elements{8, 2 * 48}));
  // Partial over both, whole over the inner: over the outer axis an eighth of
  // 64 addends, and no sums as each half is needed in one group; over the inner
  // 3/4 of 64 addends, and of the 32 sums three copies, shared by 4.
  EXPECT_EQ(cross({64}, {{{}}, {0, 1}}, {{{0}}, {}}, {2, 4}),
            (Elements{8, 48 + 24}));
  // Kept partial over the outer axis, nothing crosses it.
  EXPECT_EQ(cross({64}, {{{}}, {0, 1}}, {{{}}, {0}}, {2, 4}),
            (Elements{0, 96}));
}

TEST(ReshardTime, TheLargestDeviceCounts) {
  // 5 in parts of 3 and 2: the second device gets 3.
  EXPECT_EQ(cross({5}, {{{0}}, {}}, {{{}}, {}}, {2}), (Elements{3}));
  // Parts of 2, 1, 1, 1 nested otherwise: devices 1 and 2 change places.
  EXPECT_EQ(cross({5}, {{{0, 1}}, {}}, {{{1, 0}}, {}}, {2, 2}),
            (Elements{1, 0}));
}

namespace {
/// Per axis, what the busiest device fetches, element by element.
Elements fetchByElement(int64_t rows, int64_t columns, llvm::ArrayRef<Box> held,
                        llvm::ArrayRef<Box> needed, const Mesh &mesh) {
  auto has = [](const Box &box, int64_t i, int64_t j) {
    return box[0].lo <= i && i < box[0].hi && box[1].lo <= j && j < box[1].hi;
  };
  Elements most(mesh.numAxes(), 0);
  for (int64_t device = 0; device < mesh.numDevices(); ++device) {
    Elements mine(mesh.numAxes(), 0);
    auto at = mesh.coordinates(device);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        if (!has(needed[device], i, j))
          continue;
        unsigned nearest = 0; // the outermost axis that differs, at best
        for (int64_t other = 0; other < mesh.numDevices(); ++other) {
          auto its = mesh.coordinates(other);
          unsigned axis = 0;
          while (axis < at.size() && at[axis] == its[axis])
            ++axis;
          if (has(held[other], i, j))
            nearest = std::max(nearest, axis);
        }
        if (nearest < mesh.numAxes())
          ++mine[nearest];
      }
    for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
      most[axis] = std::max(most[axis], mine[axis]);
  }
  return most;
}

/// Any layout of two dims, its axes in any order.
Layout anyLayout(std::mt19937 &random, const Mesh &mesh, bool partial) {
  Layout layout;
  layout.dims.resize(2);
  llvm::SmallVector<unsigned> axes;
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
    axes.push_back(axis);
  std::shuffle(axes.begin(), axes.end(), random);
  for (unsigned axis : axes)
    if (unsigned to = random() % 4; to < 2)
      layout.dims[to].push_back(axis);
    else if (to == 2 && partial)
      layout.partial.push_back(axis);
  llvm::sort(layout.partial);
  return layout;
}
} // namespace

TEST(ReshardTime, FetchesFromTheNearest) {
  const std::vector<int64_t> meshes[] = {
      {2, 2}, {3}, {2, 3}, {3, 2}, {2, 2, 2}};
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    Mesh mesh = meshOf(meshes[round % 5]);
    int64_t shape[] = {int64_t(1 + random() % 7), int64_t(1 + random() % 7)};
    auto held = boxesOf(shape, anyLayout(random, mesh, false), mesh),
         needed = boxesOf(shape, anyLayout(random, mesh, false), mesh);
    // Boxes that are no product of anything.
    if (round % 3 == 0)
      for (Box &box : needed)
        for (unsigned dim = 0; dim < 2; ++dim) {
          int64_t a = random() % (shape[dim] + 1),
                  b = random() % (shape[dim] + 1);
          box[dim] = {std::min(a, b), std::max(a, b)};
        }
    auto elements = elementsPerAxis({held, {}}, {needed, {}}, mesh);
    EXPECT_EQ(Elements(elements.begin(), elements.end()),
              fetchByElement(shape[0], shape[1], held, needed, mesh))
        << "round " << round;
  }
}

TEST(ReshardTime, MovesNoLessThanThePlanner) {
  const std::vector<int64_t> meshes[] = {
      {2, 2}, {3}, {2, 3}, {4, 2}, {2, 2, 2}};
  std::mt19937 random(6);
  for (int round = 0; round < 2000; ++round) {
    Mesh mesh = meshOf(meshes[round % 5]);
    int64_t shape[] = {int64_t(1 + random() % 7), int64_t(1 + random() % 7)};
    Layout from = anyLayout(random, mesh, true),
           to = anyLayout(random, mesh, true);
    // Nothing becomes partial.
    Axes added = without(to.partial, from.partial);
    to.partial = without(to.partial, added);
    auto held = boxesOf(shape, from, mesh), needed = boxesOf(shape, to, mesh);
    Holding before{held, from.partial}, after{needed, to.partial};
    double sum = 0;
    for (double elements : elementsPerAxis(before, after, mesh)) {
      EXPECT_GE(elements, 0);
      sum += elements;
    }
    int64_t least = receivedElements(before, after, mesh);
    EXPECT_GE(sum * double(mesh.numDevices()) + 1e-6, double(least))
        << "round " << round;
    EXPECT_EQ(sum == 0, least == 0) << "round " << round;
  }
}

//===----------------------------------------------------------------------===//
// Picoseconds
//===----------------------------------------------------------------------===//

namespace {
/// 2 x 4 devices: a byte in 1 s and 10 s of latency outside, 0.1 s and 2 s
/// inside, all in nanoseconds.
Rates twoByFour() {
  Rates rates;
  rates.axes = {{10e-9, 1e9}, {2e-9, 10e9}};
  rates.numDevices = 8;
  // 1 operation, or 2 bytes of memory, in a nanosecond.
  rates.flops = {0.5e9, 1e9, 4e9};
  rates.memoryBandwidth = 2e9;
  return rates;
}
} // namespace

TEST(CostModel, TimesMoves) {
  CostModel model(meshOf({2, 4}), twoByFour());
  Value value;
  value.shape = {64};
  value.elementBytes = 2;
  auto shards = [&](Layout layout) {
    return model.layoutShards(value, layout);
  };
  // All gathered: 32 elements outside, 24 inside.
  EXPECT_EQ(model.movedTime(value, shards({{{0, 1}}, {}}), shards({{{}}, {}})),
            10000 + 64000 + 2000 + 4800);
  EXPECT_EQ(model.movedTime(value, shards({{{0, 1}}, {}}), shards({{{0}}, {}})),
            2000 + 4800);
  EXPECT_EQ(model.movedTime(value, shards({{{0}}, {}}), shards({{{0}}, {}})),
            0);
  EXPECT_EQ(model.movedTime(value, shards({{{}}, {}}), shards({{{0}}, {}})), 0);
  // Three times in a loop.
  value.times = 3;
  value.elementBytes = 6;
  EXPECT_EQ(model.movedTime(value, shards({{{0, 1}}, {}}), shards({{{0}}, {}})),
            3 * (2000 + 4800));
  value.constant = true;
  EXPECT_EQ(model.movedTime(value, shards({{{0, 1}}, {}}), shards({{{0}}, {}})),
            0);
}

TEST(CostModel, DevicesOfAPrefixAreAsFastAsThoseThatTheyStandFor) {
  SearchOptions options;
  options.objective = Objective::Time;
  options.rates = twoByFour();
  CostModel model(meshOf({2}), options);
  Value value;
  value.shape = {64};
  // 32 elements of 4 bytes over four links at once.
  EXPECT_EQ(model.readCost(value, model.layoutShards(value, {{{0}}, {}}),
                           model.layoutShards(value, {{{}}, {}})),
            10000 + 32000);
}

TEST(CostModel, TimesWork) {
  // 5 x 6 x 7 points of 2 operations; f32 operands of 5 x 7 and 7 x 6.
  GraphBuilder b;
  b.einsum({{b.value({5, 7}), "mk"}, {b.value({7, 6}), "kn"}}, "mn");
  Operator &op = b.graph.operators[0];
  op.flops = 2;
  CostModel model(meshOf({2, 4}), twoByFour());
  auto timeOf = [&](llvm::SmallVector<Axes, 4> dims) {
    return model.workTime(b.graph, op, {std::move(dims), {}, 0});
  };
  EXPECT_EQ(timeOf({{}, {}, {}}), 2 * 5 * 6 * 7 * 1000);
  // Parts of 3 x 2 x 7.
  EXPECT_EQ(timeOf({{0}, {1}, {}}), 2 * 3 * 2 * 7 * 1000);
  // A quarter of a nanosecond each; then memory takes longer: 35 + 42 + 30
  // elements of 4 bytes, 2 bytes per nanosecond.
  op.precision = Precision::Half;
  EXPECT_EQ(timeOf({{}, {}, {}}), 4 * (35 + 42 + 30) * 1000 / 2);
  // Parts of 5 x 2 of the second dim: 35 + 14 + 10.
  EXPECT_EQ(timeOf({{}, {1}, {}}), 4 * (35 + 14 + 10) * 1000 / 2);
  op.precision = Precision::Double;
  EXPECT_EQ(timeOf({{}, {}, {}}), 2 * 2 * 5 * 6 * 7 * 1000);
  // In a loop, with an operand from outside of it.
  op.times = 10;
  EXPECT_EQ(timeOf({{}, {}, {}}), 10 * 2 * 2 * 5 * 6 * 7 * 1000);
}

TEST(CostModel, ReadsTheSameOnce) {
  // x x^T: rows and columns of one value are apart, all of it is not.
  GraphBuilder b;
  unsigned x = b.value({4, 4});
  b.einsum({{x, "mk"}, {x, "nk"}}, "mn");
  b.elementwise({x, x});
  Rates rates = twoByFour();
  rates.flops = {1e15, 1e15, 1e15};
  CostModel model(meshOf({2, 4}), rates);
  EXPECT_EQ(
      model.workTime(b.graph, b.graph.operators[0], {{{}, {}, {}}, {}, 0}),
      4 * 3 * 16 * 1000 / 2);
  EXPECT_EQ(model.workTime(b.graph, b.graph.operators[1], {{{}, {}}, {}, 0}),
            4 * 2 * 16 * 1000 / 2);
}

TEST(CostModel, CountsTimes) {
  // x[8, 4] w[4, 6] on two devices, w is cut along its rows and gathered, the
  // result is moved from rows to columns and read twice as it is then needed.
  GraphBuilder b;
  unsigned product =
      b.einsum({{b.value({8, 4}), "mk"}, {b.value({4, 6}), "kn"}}, "mn");
  b.elementwise({product});
  b.elementwise({product});
  for (Operator &op : b.graph.operators)
    op.flops = 2;
  Rates rates;
  rates.axes = {{5e-9, 4e9}};
  rates.numDevices = 2;
  rates.flops = {1e9, 1e9, 1e9};
  rates.memoryBandwidth = 1e12;
  Plan plan;
  plan.mesh = meshOf({2});
  plan.strategies = {
      {{{0}, {}, {}}, {}, 0}, {{{}, {0}}, {}, 0}, {{{}, {0}}, {}, 0}};
  Layout rows{{{0}, {}}, {}}, columns{{{}, {0}}, {}};
  plan.layouts = {rows, rows, rows, columns, columns};
  countTimes(b.graph, plan, Charge::Once, rates);
  // 4 x 4 x 6 points; 12 elements of w in 12 ns and 5 ns. Then 8 x 3 points,
  // of which 4 x 3 elements are fetched, once.
  int64_t work = 2 * 96 * 1000, other = 2 * 24 * 1000, move = 5000 + 12000;
  EXPECT_EQ(plan.operatorTimes,
            (std::vector<int64_t>{work + move, other + move, other}));
  EXPECT_EQ(plan.workTime, work + 2 * other);
  EXPECT_EQ(plan.totalTime, work + 2 * other + 2 * move);
  EXPECT_EQ(costOf(plan, Objective::Time), plan.totalTime);
  countTimes(b.graph, plan, Charge::PerUse, rates);
  EXPECT_EQ(plan.totalTime, work + 2 * other + 3 * move);
  EXPECT_GE(mostTime(b.graph, rates), double(plan.totalTime));
}
