//===- GeometryTest.cpp - Tests of geometries as runners read them --------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/Signature.h"

#include "gtest/gtest.h"

using namespace mlir::tofu;

namespace {

using Words = std::vector<int64_t>;

constexpr int64_t kDynamic = HostTensorType::kDynamic;

/// A 5x3 tensor whose rows 2 devices share.
const Words kRows = {/*rank*/ 2,
                     /*axes*/ 1,      2,
                     /*shape*/ 5,     3,
                     /*dims*/ 2,
                     /*rows*/ 5,      1, 0,
                     /*columns*/ 3,   0,
                     /*row index*/ 1, 0, 0, 1, 1,
                     /*column*/ 0,    1, 1};

TEST(Geometry, BoxesOfEvenAndUnevenParts) {
  Signature program;
  program.numDevices = 2;
  Port port;
  port.type = {TOFU_F32, {5, 3}};
  port.geometry = kRows;
  std::vector<host::Box> boxes = program.getBoxes(port, {5, 3});
  ASSERT_EQ(boxes.size(), 2u);
  EXPECT_EQ(boxes[0], (host::Box{{0, 3}, {0, 3}}));
  EXPECT_EQ(boxes[1], (host::Box{{3, 5}, {0, 3}}));
  port.geometry.clear();
  for (const host::Box &box : program.getBoxes(port, {5, 3}))
    EXPECT_EQ(box, (host::Box{{0, 5}, {0, 3}}));
}

TEST(Geometry, SizesAreSumsOverTheAxesThatCut) {
  // ?x4 on a mesh of 2x3, the rows cut by the second axis, the columns by the
  // first: the devices (0, 0), (0, 1) and (0, 2) have all rows.
  Signature program;
  program.numDevices = 6;
  Port port;
  port.type = {TOFU_F32, {kDynamic, 4}};
  port.geometry = {
      2, 2, 2, 3, TOFU_UNKNOWN, 4, 2, TOFU_UNKNOWN, 1, 1, 4, 1, 0, 1, 0, 0, 1,
      1, 0, 1, 1};
  std::vector<Words> parts = {{3, 2}, {2, 2}, {2, 2}, {3, 2}, {2, 2}, {2, 2}};
  EXPECT_TRUE(host::Geometry::isValid(port.geometry, port.type.shape, 6));
  EXPECT_EQ(program.findShape(port, parts), (Words{7, 4}));
  EXPECT_EQ(program.getBoxes(port, {7, 4})[4], (host::Box{{3, 5}, {2, 4}}));
}

TEST(Geometry, WordsThatAreNoGeometry) {
  EXPECT_TRUE(host::Geometry::isValid(kRows, {5, 3}, 2));
  EXPECT_FALSE(host::Geometry::isValid(kRows, {5, 3}, 3));
  EXPECT_FALSE(host::Geometry::isValid(kRows, {5, 4}, 2));
  EXPECT_FALSE(host::Geometry::isValid(kRows, {5, kDynamic}, 2));
  EXPECT_FALSE(host::Geometry::isValid(kRows, {5}, 2));
  // Cut off anywhere, with a word more, or with one that is out of bounds.
  for (size_t size = 0; size < kRows.size(); ++size)
    EXPECT_FALSE(host::Geometry::isValid({kRows.begin(), kRows.begin() + size},
                                         {5, 3}, 2));
  Words longer = kRows;
  longer.push_back(0);
  EXPECT_FALSE(host::Geometry::isValid(longer, {5, 3}, 2));
  for (size_t i = 0; i < kRows.size(); ++i)
    for (int64_t value : {INT64_MIN, INT64_MAX}) {
      Words words = kRows;
      words[i] = value;
      EXPECT_FALSE(host::Geometry::isValid(words, {5, 3}, 2)) << i;
    }
}

} // namespace
