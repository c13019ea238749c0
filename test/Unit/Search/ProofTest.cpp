//===- ProofTest.cpp - Proofs about boxes ---------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Planted errors with the element that gives them away, and random boxes
// against sets of elements, one by one.
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Proof.h"
#include "Reference.h"

#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace mlir::tofu::search;
using reference::meshOf;

using Point = std::vector<int64_t>;

static std::vector<Box> boxesOf(llvm::ArrayRef<int64_t> shape,
                                llvm::ArrayRef<Axes> axes, const Mesh &mesh) {
  auto boxes = Placement::ofLayout(shape, axes).boxes(shape, mesh);
  return std::vector<Box>(boxes.begin(), boxes.end());
}

/// Whether, and where, a claim is wrong.
static void expectFlaw(const Verdict &flaw, Flaw::Kind kind, Point point,
                       int64_t device, int64_t other = -1) {
  ASSERT_TRUE(flaw);
  EXPECT_EQ(flaw->kind, kind);
  EXPECT_EQ(Point(flaw->point.begin(), flaw->point.end()), point);
  EXPECT_EQ(flaw->device, device);
  EXPECT_EQ(flaw->other, other);
}

//===----------------------------------------------------------------------===//
// Covers
//===----------------------------------------------------------------------===//

TEST(Proof, CutsCoverOnce) {
  Mesh mesh = meshOf({3, 2, 2});
  Prover prover;
  for (int64_t n : {0, 1, 5, 12, 13})
    for (int64_t m : {1, 4, 7})
      for (Axes rows : {Axes{}, Axes{0}, Axes{1, 0}, Axes{0, 1}})
        for (Axes columns : {Axes{}, Axes{2}}) {
          Axes all = rows;
          all.append(columns);
          auto boxes = boxesOf({n, m}, {rows, columns}, mesh);
          EXPECT_FALSE(prover.coverOnce(boxes, {n, m}, mesh, all));
          EXPECT_FALSE(prover.cover(boxes, {n, m}, mesh));
        }
}

TEST(Proof, ScalarsAreCoveredByReplicas) {
  Mesh mesh = meshOf({2});
  std::vector<Box> boxes(2);
  Prover prover;
  EXPECT_FALSE(prover.coverOnce(boxes, {}, mesh, {}));
  expectFlaw(prover.coverOnce(boxes, {}, mesh, {0}), Flaw::Kind::Doubled, {}, 0,
             1);
}

TEST(Proof, FindsLostRow) {
  std::vector<Box> boxes{{{0, 4}, {0, 3}}, {{5, 8}, {0, 3}}};
  Prover prover;
  expectFlaw(prover.coverOnce(boxes, {8, 3}, meshOf({2}), {0}),
             Flaw::Kind::Missing, {4, 0}, -1);
  expectFlaw(prover.cover(boxes, {8, 3}, meshOf({2})), Flaw::Kind::Missing,
             {4, 0}, -1);
}

TEST(Proof, FindsDoubledRow) {
  std::vector<Box> boxes{{{0, 5}, {0, 3}}, {{4, 8}, {0, 3}}};
  Prover prover;
  expectFlaw(prover.coverOnce(boxes, {8, 3}, meshOf({2}), {0}),
             Flaw::Kind::Doubled, {4, 0}, 0, 1);
  EXPECT_FALSE(prover.cover(boxes, {8, 3}, meshOf({2})));
}

TEST(Proof, FindsRowOutOfBounds) {
  std::vector<Box> boxes{{{0, 4}}, {{4, 9}}};
  expectFlaw(Prover().coverOnce(boxes, {8}, meshOf({2}), {0}),
             Flaw::Kind::Extra, {8}, 1);
}

// All rows are there, but replicas over the second axis have different ones.
TEST(Proof, FindsUnequalReplicas) {
  std::vector<Box> boxes{{{0, 4}}, {{0, 5}}, {{4, 8}}, {{4, 8}}};
  expectFlaw(Prover().coverOnce(boxes, {8}, meshOf({2, 2}), {0}),
             Flaw::Kind::Extra, {4}, 1);
  boxes[1] = {{0, 3}};
  expectFlaw(Prover().coverOnce(boxes, {8}, meshOf({2, 2}), {0}),
             Flaw::Kind::Missing, {3}, 1);
}

// One axis along which nothing changes, said to share the work.
TEST(Proof, FindsRepeatedWork) {
  std::vector<Box> boxes{{{0, 4}}, {{0, 4}}, {{4, 8}}, {{4, 8}}};
  expectFlaw(Prover().coverOnce(boxes, {8}, meshOf({2, 2}), {0, 1}),
             Flaw::Kind::Doubled, {0}, 0, 1);
}

// A cover that is no product: a row above, and two halves below.
TEST(Proof, TakesCoversThatAreNoProducts) {
  std::vector<Box> boxes{{{0, 1}, {0, 4}}, {{1, 3}, {0, 2}}, {{1, 3}, {2, 4}}};
  EXPECT_FALSE(Prover().coverOnce(boxes, {3, 4}, meshOf({3}), {0}));
  boxes[2] = {{2, 3}, {2, 4}};
  expectFlaw(Prover().coverOnce(boxes, {3, 4}, meshOf({3}), {0}),
             Flaw::Kind::Missing, {1, 2}, -1);
}

TEST(Proof, FindsWhatNobodyHolds) {
  std::vector<Box> outer{{{0, 3}}, {{5, 8}}}, inner{{{0, 3}}, {{2, 6}}};
  expectFlaw(Prover().withinUnion(inner, outer, {8}, meshOf({2})),
             Flaw::Kind::Missing, {3}, -1, 1);
  inner[1] = {{5, 8}};
  EXPECT_FALSE(Prover().withinUnion(inner, outer, {8}, meshOf({2})));
}

TEST(Proof, FindsWhatADeviceLacks) {
  std::vector<Box> outer{{{0, 4}, {0, 4}}, {{4, 8}, {0, 4}}};
  std::vector<Box> inner{{{1, 3}, {0, 4}}, {{4, 8}, {1, 5}}};
  expectFlaw(Prover().within(inner, outer), Flaw::Kind::Missing, {4, 4}, 1);
  // Nothing is within anything.
  inner[1] = {{9, 9}, {1, 5}};
  EXPECT_FALSE(Prover().within(inner, outer));
}

//===----------------------------------------------------------------------===//
// Reads and writes
//===----------------------------------------------------------------------===//

// out[y] of in[2 * y + j], 5 rows over 2 devices and a window of 3.
TEST(Proof, WindowsNeedHalos) {
  LinearExpr expr{{{0, 2}, {1, 1}}, 0, false};
  std::vector<Box> parts{{{0, 3}, {0, 3}}, {{3, 5}, {0, 3}}};
  std::vector<Box> held{{{0, 7}}, {{6, 11}}};
  Prover prover;
  EXPECT_FALSE(prover.readsWithin(parts, expr, {11}, held));
  held[0] = {{0, 6}};
  expectFlaw(prover.readsWithin(parts, expr, {11}, held), Flaw::Kind::Missing,
             {6}, 0);
  held[0] = {{0, 7}};
  held[1] = {{7, 11}};
  expectFlaw(prover.readsWithin(parts, expr, {11}, held), Flaw::Kind::Missing,
             {6}, 1);
}

// in[2 * y] reads even elements only: the last, odd one need not be there.
TEST(Proof, StridesSkip) {
  LinearExpr expr{{{0, 2}}, 0, false};
  EXPECT_FALSE(Prover().readsWithin({{{1, 3}}}, expr, {8}, {{{2, 5}}}));
  expectFlaw(Prover().readsWithin({{{1, 3}}}, expr, {8}, {{{2, 4}}}),
             Flaw::Kind::Missing, {4}, 0);
}

// What is out of bounds along one dim isn't read along another.
TEST(Proof, OutOfBoundsIsNoRead) {
  llvm::SmallVector<LinearExpr> index{{{{0, 1}}, 0, false},
                                      {{{0, 1}}, 2, false}};
  EXPECT_FALSE(
      Prover().readsWithin({{{0, 4}}}, index, {4, 4}, {{{0, 2}, {2, 4}}}));
}

TEST(Proof, ConstantsAndWholeDims) {
  llvm::SmallVector<LinearExpr> index{LinearExpr::ofConstant(2),
                                      LinearExpr::all()};
  EXPECT_FALSE(
      Prover().readsWithin({{{0, 4}}}, index, {4, 3}, {{{2, 3}, {0, 3}}}));
  expectFlaw(
      Prover().readsWithin({{{0, 4}}}, index, {4, 3}, {{{2, 3}, {0, 2}}}),
      Flaw::Kind::Missing, {2, 2}, 0);
  // An empty part reads nothing.
  EXPECT_FALSE(
      Prover().readsWithin({{{4, 4}}}, index, {4, 3}, {{{0, 0}, {0, 0}}}));
}

// out[2 * g + i] of 3 groups of 2.
TEST(Proof, GroupsMakeBoxes) {
  LinearExpr expr{{{0, 2}, {1, 1}}, 0, false};
  std::vector<IterationDim> dims{{3}, {2}};
  std::vector<Box> parts{{{0, 2}, {0, 2}}, {{2, 3}, {0, 2}}};
  std::vector<Box> made{{{0, 4}}, {{4, 6}}};
  Prover prover;
  EXPECT_FALSE(prover.makes(dims, parts, expr, {6}, made));
  made = {{{0, 3}}, {{3, 6}}};
  expectFlaw(prover.makes(dims, parts, expr, {6}, made), Flaw::Kind::Extra, {3},
             0);
  made = {{{0, 4}}, {{3, 6}}};
  expectFlaw(prover.makes(dims, parts, expr, {6}, made), Flaw::Kind::Missing,
             {3}, 1);
  // With a stride of 3 there are gaps.
  LinearExpr gaps{{{0, 3}, {1, 1}}, 0, false};
  expectFlaw(prover.makes(dims, parts, gaps, {9}, {{{0, 5}}, {{6, 8}}}),
             Flaw::Kind::Missing, {2}, 0);
}

// A device without work makes nothing, one without a share of a reduction makes
// the neutral element.
TEST(Proof, IdleDevicesMakeNothing) {
  LinearExpr expr = LinearExpr::ofConstant(0);
  std::vector<Box> parts{{{0, 1}}, {{1, 1}}}, made{{{0, 1}}, {{0, 1}}};
  expectFlaw(Prover().makes({{1, DimKind::Parallel}}, parts, expr, {1}, made),
             Flaw::Kind::Missing, {0}, 1);
  EXPECT_FALSE(
      Prover().makes({{1, DimKind::Reduction}}, parts, expr, {1}, made));
}

//===----------------------------------------------------------------------===//
// Against elements one by one
//===----------------------------------------------------------------------===//

static std::vector<Point> pointsOf(const Box &box) {
  std::vector<Point> points{{}};
  for (Interval interval : box) {
    std::vector<Point> longer;
    for (const Point &point : points)
      for (int64_t i = interval.lo; i < interval.hi; ++i) {
        longer.push_back(point);
        longer.back().push_back(i);
      }
    points = std::move(longer);
  }
  return points;
}

namespace {
struct RandomBoxes : testing::TestWithParam<int> {
  std::mt19937 random{unsigned(GetParam())};

  int64_t draw(int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  }
  Box drawBox(llvm::ArrayRef<int64_t> shape) {
    Box box;
    for (int64_t size : shape) {
      int64_t lo = draw(0, size);
      box.push_back({lo, draw(lo, size)});
    }
    return box;
  }
  /// A box that is more often at the border than in between.
  Box drawHalf(llvm::ArrayRef<int64_t> shape) {
    Box box;
    for (int64_t size : shape)
      switch (int64_t half = size / 2; draw(0, 3)) {
      case 0:
        box.push_back({0, half});
        break;
      case 1:
        box.push_back({half, size});
        break;
      default:
        box.push_back({0, size});
      }
    return box;
  }
};
} // namespace

TEST_P(RandomBoxes, Cover) {
  Mesh mesh = meshOf({2, 2});
  llvm::SmallVector<int64_t> shape{draw(1, 3), draw(1, 4)};
  std::vector<Box> boxes;
  for (int i = 0; i < 4; ++i)
    boxes.push_back(drawHalf(shape));
  std::map<Point, int> counts;
  for (const Box &box : boxes)
    for (const Point &point : pointsOf(box))
      ++counts[point];
  bool all = true, once = true;
  for (const Point &point : pointsOf({{0, shape[0]}, {0, shape[1]}})) {
    all &= counts[point] >= 1;
    once &= counts[point] == 1;
  }
  EXPECT_EQ(!Prover().cover(boxes, shape, mesh), all);
  EXPECT_EQ(!Prover().coverOnce(boxes, shape, mesh, {0, 1}), once);
}

TEST_P(RandomBoxes, Reads) {
  llvm::SmallVector<int64_t> shape{draw(1, 6), draw(1, 6)};
  std::vector<Box> parts{drawBox({4, 3})}, held{drawBox(shape)};
  llvm::SmallVector<LinearExpr> index;
  for (int i = 0; i < 2; ++i)
    index.push_back({{{0, draw(-1, 2)}, {1, draw(0, 2)}}, draw(0, 2), false});
  std::vector<Point> unheld;
  for (const Point &at : pointsOf(parts[0])) {
    Point read;
    bool inBounds = true, isHeld = true;
    for (int d = 0; d < 2; ++d) {
      int64_t i = index[d].constant + index[d].terms[0].coefficient * at[0] +
                  index[d].terms[1].coefficient * at[1];
      read.push_back(i);
      inBounds &= i >= 0 && i < shape[d];
      isHeld &= i >= held[0][d].lo && i < held[0][d].hi;
    }
    if (inBounds && !isHeld)
      unheld.push_back(read);
  }
  Verdict flaw = Prover().readsWithin(parts, index, shape, held);
  EXPECT_EQ(!flaw, unheld.empty());
  if (flaw && !unheld.empty()) {
    EXPECT_EQ(Point(flaw->point.begin(), flaw->point.end()),
              *std::min_element(unheld.begin(), unheld.end()));
  }
}

TEST_P(RandomBoxes, Makes) {
  int64_t size = draw(1, 9);
  std::vector<Box> parts{drawBox({3, 3})}, made{drawBox({size})};
  LinearExpr expr{{{0, draw(1, 4)}, {1, draw(1, 2)}}, draw(0, 1), false};
  std::map<int64_t, bool> written;
  for (const Point &at : pointsOf(parts[0])) {
    int64_t i = expr.constant + expr.terms[0].coefficient * at[0] +
                expr.terms[1].coefficient * at[1];
    if (i < size)
      written[i] = true;
  }
  bool same = true;
  for (int64_t i = 0; i < size; ++i)
    same &= written.count(i) == (i >= made[0][0].lo && i < made[0][0].hi);
  EXPECT_EQ(!Prover().makes({{3}, {3}}, parts, expr, {size}, made), same);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomBoxes, testing::Range(0, 200));
