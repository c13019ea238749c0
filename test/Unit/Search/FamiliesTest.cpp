//===- FamiliesTest.cpp - Counting by dims against counting by boxes ------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Search/Families.h"

#include "gtest/gtest.h"

#include <random>

using namespace mlir::tofu::search;

namespace {
/// Random placements of one tensor: dims cut in any order by any axes, windows,
/// strides, reversals, parts that are empty, axes of size one.
struct RandomPlacements {
  explicit RandomPlacements(unsigned seed) : random(seed) {
    for (unsigned axis = 0, e = random() % 5; axis < e; ++axis) {
      mesh.sizes.push_back(1 + random() % 3);
      mesh.names.push_back("x" + std::to_string(axis));
    }
    for (unsigned dim = 0, e = random() % 4; dim < e; ++dim)
      shape.push_back(1 + random() % 7);
  }

  /// Uses none of `axes`.
  Placement make(llvm::ArrayRef<unsigned> partial) {
    Placement placement;
    for (int64_t size : shape) {
      unsigned dim = placement.dimSizes.size();
      unsigned kind = random() % 6;
      placement.dimSizes.append({kind == 1 ? (size + 1) / 2 : size, 3});
      placement.dimAxes.append(2, Axes());
      LinearExpr expr = LinearExpr::ofDim(dim);
      if (kind == 0)
        expr = LinearExpr::all();
      else if (kind == 1)
        expr = {{{dim, 2}, {dim + 1, 1}}, -1, false};
      else if (kind == 2)
        expr = {{{dim, -1}}, size - 1, false};
      placement.index.push_back(expr);
    }
    for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
      if (!shape.empty() && !llvm::is_contained(partial, axis) && random() % 4)
        placement.dimAxes[random() % placement.dimAxes.size()].push_back(axis);
    for (Axes &axes : placement.dimAxes)
      std::shuffle(axes.begin(), axes.end(), random);
    return placement;
  }

  Axes pickAxes() {
    Axes axes;
    for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
      if (random() % 3 == 0)
        axes.push_back(axis);
    return axes;
  }

  std::mt19937 random;
  Mesh mesh;
  llvm::SmallVector<int64_t> shape;
};
} // namespace

TEST(Families, CountWhatBoxesDo) {
  unsigned moves = 0, movesOfFew = 0, reductions = 0, additions = 0, within = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    RandomPlacements random(seed);
    Families families(random.mesh);
    Axes fromPartial = random.pickAxes(), toPartial = random.pickAxes();
    if (seed % 2)
      fromPartial = toPartial = {};
    else if (seed % 4)
      toPartial = {};
    Placement from = random.make(fromPartial), to = random.make(toPartial);
    llvm::SmallVector<Box> held = from.boxes(random.shape, random.mesh),
                           needed = to.boxes(random.shape, random.mesh);
    Families::Family a = families.add(from, random.shape),
                     b = families.add(to, random.shape);
    EXPECT_EQ(families.boxes(a), llvm::ArrayRef(held)) << "seed " << seed;
    EXPECT_EQ(families.boxes(b), llvm::ArrayRef(needed)) << "seed " << seed;
    EXPECT_EQ(a == b, held == needed) << "seed " << seed;

    int64_t received =
        receivedElements({held, fromPartial}, {needed, toPartial}, random.mesh);
    EXPECT_EQ(families.receivedElements(a, fromPartial, b, toPartial), received)
        << "seed " << seed;
    if (families.hasFewDevices() && fromPartial.empty() && toPartial.empty()) {
      EXPECT_EQ(families.movedElements(a, b), received) << "seed " << seed;
      movesOfFew += received > 0;
    }
    EXPECT_EQ(families.areWithin(b, a), areWithin(needed, held))
        << "seed " << seed;

    std::vector<int64_t> volumes;
    for (const Box &box : needed)
      volumes.push_back(volume(box));
    EXPECT_EQ(families.largestVolume(b), *llvm::max_element(volumes));
    if (std::optional<int64_t> all = families.uniformVolume(b))
      EXPECT_EQ(volumes, std::vector<int64_t>(volumes.size(), *all));

    PartialAxes axes(fromPartial, toPartial, random.mesh);
    moves += received > 0;
    reductions += !axes.combined.empty();
    additions += axes.combined.empty() && !axes.added.empty();
    within += a != b && areWithin(needed, held);
  }
  // The cases are not all of one kind.
  EXPECT_GT(moves, 1000u);
  EXPECT_GT(movesOfFew, 300u);
  EXPECT_GT(reductions, 300u);
  EXPECT_GT(additions, 100u);
  EXPECT_GT(within, 100u);
}

TEST(Families, TakeAsLongOnManyDevices) {
  // Rows to columns on 2^24 devices: each has 4 x 2^14 elements and needs
  // 2^14 x 4, of which it has 4 x 4.
  Mesh mesh = Mesh::factored(int64_t(1) << 24);
  int64_t shape[] = {1 << 14, 1 << 14};
  Axes first, last;
  for (unsigned axis = 0; axis < 12; ++axis) {
    first.push_back(axis);
    last.push_back(12 + axis);
  }
  Families families(mesh);
  Families::Family rows =
      families.add(Placement::ofLayout(shape, {first, Axes()}), shape);
  Families::Family columns =
      families.add(Placement::ofLayout(shape, {Axes(), last}), shape);
  EXPECT_EQ(families.receivedElements(rows, {}, columns, {}),
            mesh.numDevices() * ((int64_t(1) << 14) * 4 - 4 * 4));
}
