//===- GeometryTest.cpp - Cuts and boxes against sets of elements ---------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Geometry.h"

#include "gtest/gtest.h"

#include <set>

using namespace mlir::tofu::search;

static Mesh makeMesh(llvm::ArrayRef<int64_t> sizes) {
  Mesh mesh;
  for (int64_t size : sizes) {
    mesh.names.push_back("x" + std::to_string(mesh.names.size()));
    mesh.sizes.push_back(size);
  }
  return mesh;
}

/// The elements of a box of rank 1 or 2, as pairs.
static std::set<std::pair<int64_t, int64_t>> elements(const Box &box) {
  std::set<std::pair<int64_t, int64_t>> all;
  for (int64_t i = box[0].lo; i < box[0].hi; ++i)
    for (int64_t j = box[1].lo; j < box[1].hi; ++j)
      all.insert({i, j});
  return all;
}

TEST(Mesh, FactorsLargestFirst) {
  EXPECT_EQ(Mesh::factored(1).numAxes(), 0u);
  EXPECT_EQ(Mesh::factored(1).numDevices(), 1);
  EXPECT_EQ(llvm::ArrayRef(Mesh::factored(6).sizes),
            llvm::ArrayRef<int64_t>({3, 2}));
  EXPECT_EQ(llvm::ArrayRef(Mesh::factored(8).sizes),
            llvm::ArrayRef<int64_t>({2, 2, 2}));
  EXPECT_EQ(llvm::ArrayRef(Mesh::factored(7).sizes),
            llvm::ArrayRef<int64_t>({7}));
  EXPECT_EQ(llvm::ArrayRef(Mesh::factored(60).sizes),
            llvm::ArrayRef<int64_t>({5, 3, 2, 2}));
}

TEST(Mesh, NumbersDevicesLastAxisFastest) {
  Mesh mesh = makeMesh({2, 3});
  EXPECT_EQ(llvm::ArrayRef(mesh.coordinates(0)),
            llvm::ArrayRef<int64_t>({0, 0}));
  EXPECT_EQ(llvm::ArrayRef(mesh.coordinates(2)),
            llvm::ArrayRef<int64_t>({0, 2}));
  EXPECT_EQ(llvm::ArrayRef(mesh.coordinates(4)),
            llvm::ArrayRef<int64_t>({1, 1}));
}

TEST(Cut, FirstPartsAreLarger) {
  // 66 rows over 4: 17, 17, 16, 16.
  int64_t expected[] = {0, 17, 34, 50, 66};
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(balancedPart({0, 66}, 4, i),
              (Interval{expected[i], expected[i + 1]}));
  // Fewer elements than parts: the last parts are empty.
  EXPECT_EQ(balancedPart({0, 2}, 3, 2).size(), 0);
}

TEST(Cut, NestedPartsMakeUpTheOuterOne) {
  Mesh mesh = makeMesh({3, 2});
  for (int64_t size : {1, 5, 7, 13, 60})
    for (int64_t outer = 0; outer < 3; ++outer) {
      Interval whole = cut({0, size}, {0}, mesh, {outer, 0});
      Interval a = cut({0, size}, {0, 1}, mesh, {outer, 0});
      Interval b = cut({0, size}, {0, 1}, mesh, {outer, 1});
      EXPECT_EQ(a.lo, whole.lo);
      EXPECT_EQ(a.hi, b.lo);
      EXPECT_EQ(b.hi, whole.hi);
      EXPECT_GE(a.size(), b.size());
      EXPECT_LE(a.size() - b.size(), 1);
      EXPECT_LE(smallestPart(size, {0, 1}, mesh), b.size());
    }
}

TEST(Image, IsTheRangeOfTheExpression) {
  // 2 * y + i over every box of y in [0, 5), i in [0, 3).
  LinearExpr expr;
  expr.terms = {{0, 2}, {1, 1}};
  for (int64_t y0 = 0; y0 < 5; ++y0)
    for (int64_t y1 = y0 + 1; y1 <= 5; ++y1) {
      int64_t least = 100, most = -1;
      for (int64_t y = y0; y < y1; ++y)
        for (int64_t i = 0; i < 3; ++i) {
          least = std::min(least, 2 * y + i);
          most = std::max(most, 2 * y + i);
        }
      EXPECT_EQ(image(expr, {{y0, y1}, {0, 3}}, 11),
                (Interval{least, most + 1}));
    }
}

TEST(Image, ClampsAndKeepsEmptyPartsEmpty) {
  LinearExpr shifted = LinearExpr::ofDim(0);
  shifted.constant = -2;
  EXPECT_EQ(image(shifted, {{0, 4}}, 10), (Interval{0, 2}));
  EXPECT_EQ(image(LinearExpr::ofDim(0), {{4, 4}}, 10).size(), 0);
  EXPECT_EQ(image(LinearExpr::all(), {{4, 4}}, 10), (Interval{0, 10}));
  EXPECT_EQ(image(LinearExpr::ofConstant(0), {{4, 7}}, 1), (Interval{0, 1}));
}

TEST(Moved, CountsSetDifferences) {
  Mesh mesh = makeMesh({2, 3});
  llvm::SmallVector<int64_t> shape = {7, 5};
  llvm::SmallVector<llvm::SmallVector<Axes>> layouts = {
      {{}, {}},     {{0}, {}},  {{}, {0}}, {{0, 1}, {}},
      {{1, 0}, {}}, {{0}, {1}}, {{1}, {0}}};
  for (const auto &a : layouts)
    for (const auto &b : layouts) {
      auto from = Placement::ofLayout(shape, a).boxes(shape, mesh);
      auto to = Placement::ofLayout(shape, b).boxes(shape, mesh);
      int64_t expected = 0;
      for (int64_t d = 0; d < 6; ++d) {
        auto have = elements(from[d]);
        for (auto element : elements(to[d]))
          expected += !have.count(element);
      }
      EXPECT_EQ(movedElements(from, to), expected);
    }
}
