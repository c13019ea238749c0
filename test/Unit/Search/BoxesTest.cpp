//===- BoxesTest.cpp - Boxes against sets of elements ---------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"
#include "Tofu/Search/Geometry.h"
#include "Tofu/Search/ReshardPlanner.h"

#include "gtest/gtest.h"

#include <random>

using namespace mlir::tofu::search;
using reference::meshOf;

static reference::Elements elementsOf(const Box &box) {
  std::vector<reference::Element> all{{}};
  for (Interval interval : box) {
    std::vector<reference::Element> longer;
    for (const reference::Element &element : all)
      for (int64_t i = interval.lo; i < interval.hi; ++i) {
        longer.push_back(element);
        longer.back().push_back(i);
      }
    all = std::move(longer);
  }
  return reference::Elements(all.begin(), all.end());
}

TEST(Boxes, NestedCutsCoverOnce) {
  Mesh mesh = meshOf({3, 2, 2});
  for (int64_t size = 0; size < 30; ++size)
    for (Axes axes : {Axes{}, Axes{0}, Axes{1, 0}, Axes{0, 1, 2}, Axes{2}}) {
      int64_t smallest = size, covered = 0;
      for (int64_t d = 0; d < mesh.numDevices(); ++d) {
        Interval part = cut({0, size}, axes, mesh, mesh.coordinates(d));
        auto expected = reference::part(size, axes, mesh, mesh.coordinates(d));
        ASSERT_EQ(part.size(), int64_t(expected.size()));
        if (!expected.empty()) {
          EXPECT_EQ(part.lo, expected.front());
        }
        smallest = std::min(smallest, part.size());
        covered += part.size();
      }
      int64_t copies = mesh.numDevices();
      for (unsigned axis : axes)
        copies /= mesh.sizes[axis];
      EXPECT_EQ(covered, size * copies);
      EXPECT_EQ(smallestPart(size, axes, mesh), smallest);
    }
}

TEST(Boxes, BoxesCountElements) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    auto interval = [&] {
      int64_t lo = random() % 5;
      return Interval{lo, lo + int64_t(random() % 4)};
    };
    Box a{interval(), interval()}, b{interval(), interval()};
    auto inA = elementsOf(a), inB = elementsOf(b);
    EXPECT_EQ(volume(a), int64_t(inA.size()));
    int64_t both = 0;
    for (const auto &element : inA)
      both += inB.count(element);
    EXPECT_EQ(overlap(a, b), both);
    EXPECT_EQ(volume(intersect(a, b)), both);
  }
}

TEST(Boxes, UnionsCountElementsOnce) {
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    unsigned rank = random() % 4;
    std::vector<Box> boxes(random() % 6);
    reference::Elements all;
    for (Box &box : boxes) {
      for (unsigned dim = 0; dim < rank; ++dim) {
        // Many have the same interval, or lie beside each other.
        int64_t lo = random() % 3 * 2;
        box.push_back({lo, lo + int64_t(random() % 4)});
      }
      reference::Elements mine = elementsOf(box);
      all.insert(mine.begin(), mine.end());
    }
    EXPECT_EQ(unionVolume(boxes), int64_t(all.size())) << "case " << i;
  }
}

TEST(Boxes, ImagesOfIndexExpressions) {
  Mesh mesh = meshOf({2, 2});
  Operator op;
  op.dims = {{9}, {3}};
  LinearExpr halo{{{0, 2}, {1, 1}}, -1, false}, reversed{{{1, -1}}, 2, false};
  for (const LinearExpr &expr :
       {halo, reversed, LinearExpr::all(), LinearExpr::ofConstant(2)}) {
    for (Axes first : {Axes{}, Axes{0}, Axes{0, 1}}) {
      Placement placement;
      placement.dimSizes = {9, 3};
      placement.dimAxes = {first, Axes{}};
      placement.index = {expr};
      auto expected =
          reference::imageElements(op, placement.dimAxes, {expr}, {15}, mesh);
      for (auto [device, box] : llvm::enumerate(placement.boxes({15}, mesh)))
        EXPECT_EQ(elementsOf(box), expected[device]);
    }
  }
}
