//===- SizesTest.cpp - The same boxes when the program runs ---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of values of unknown size, the runtime finds the boxes that the compiler
// would have found had it known the sizes.
//
//===----------------------------------------------------------------------===//

#include "../Runtime/TestWorld.h"
#include "Tofu/Search/Geometry.h"

#include "gtest/gtest.h"

using namespace mlir::tofu::search;
using mlir::tofu::test::TestWorld;

namespace {

using Words = std::vector<int64_t>;

int64_t toWord(int64_t size) {
  return size == kUnknownSize    ? TOFU_UNKNOWN
         : size == kCoveringSize ? TOFU_COVERING
                                 : size;
}

/// The table of a shard.
Words makeTable(llvm::ArrayRef<int64_t> shape, const Mesh &mesh,
                const Placement &placement) {
  Words table = {TOFU_TABLE_VERSION, int64_t(shape.size()),
                 int64_t(mesh.numAxes())};
  table.insert(table.end(), mesh.sizes.begin(), mesh.sizes.end());
  for (int64_t size : shape)
    table.push_back(toWord(size));
  table.push_back(placement.dimSizes.size());
  for (size_t dim = 0; dim < placement.dimSizes.size(); ++dim) {
    const Axes &axes = placement.dimAxes[dim];
    table.push_back(toWord(placement.dimSizes[dim]));
    table.push_back(axes.size());
    table.insert(table.end(), axes.begin(), axes.end());
  }
  for (const LinearExpr &expr : placement.index) {
    table.push_back(expr.whole ? TOFU_UNKNOWN : int64_t(expr.terms.size()));
    table.push_back(expr.constant);
    for (auto [dim, coefficient] : expr.terms)
      table.insert(table.end(), {int64_t(dim), coefficient});
  }
  return table;
}

/// Compares the boxes that all devices find for a value of `shape`, whose first
/// dim the table doesn't know.
void compare(llvm::ArrayRef<int64_t> shape, const Mesh &mesh,
             const Placement &placement) {
  llvm::SmallVector<int64_t> open(shape.begin(), shape.end());
  open[0] = kUnknownSize;
  Words table = makeTable(open, mesh, placement);
  llvm::SmallVector<Box> boxes = placement.boxes(shape, mesh);
  TestWorld world(mesh.numDevices());
  llvm::SmallVector<Box> found(boxes.size(), Box(shape.size()));
  ASSERT_EQ(world.run([&](TofuContext *context, int64_t device) {
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      int64_t lo = tofuShardOffset(context, table.data(), &shape[0], dim);
      int64_t size = tofuShardSize(context, table.data(), &shape[0], dim);
      found[device][dim] = {lo, lo + size};
    }
  }),
            TOFU_OK)
      << world.error();
  for (size_t device = 0; device < boxes.size(); ++device)
    for (size_t dim = 0; dim < shape.size(); ++dim)
      EXPECT_EQ(found[device][dim], boxes[device][dim])
          << "device " << device << ", dim " << dim << ", size " << shape[0];
}

Mesh makeMesh(llvm::ArrayRef<int64_t> sizes) {
  Mesh mesh;
  for (int64_t size : sizes) {
    mesh.names.push_back("a" + std::to_string(mesh.sizes.size()));
    mesh.sizes.push_back(size);
  }
  return mesh;
}

TEST(Sizes, Layouts) {
  Mesh mesh = makeMesh({2, 3});
  for (int64_t size : {0, 1, 2, 5, 6, 7, 64})
    for (Axes rows : {Axes{}, Axes{0}, Axes{1}, Axes{0, 1}, Axes{1, 0}}) {
      Axes columns;
      if (rows == Axes{0})
        columns = {1};
      Placement placement =
          Placement::ofLayout({kUnknownSize, 7}, {rows, columns});
      compare({size, 7}, mesh, placement);
    }
}

TEST(Sizes, DimsThatFill) {
  Mesh mesh = makeMesh({4});
  // Groups of three rows; rows of which a window takes two; from the third row.
  LinearExpr group{{{0, 3}, {1, 1}}, 0, false};
  LinearExpr window{{{0, 2}, {1, 1}}, -1, false};
  LinearExpr later{{{0, 1}}, 2, false};
  for (int64_t size : {0, 1, 2, 3, 8, 12, 13, 60})
    for (auto [expr, inner] :
         {std::pair(group, 3), std::pair(window, 2), std::pair(later, 1)}) {
      Placement placement{{kUnknownSize, inner}, {{0}, {}}, {expr}};
      compare({size}, mesh, placement);
    }
}

TEST(Sizes, DimsThatCover) {
  Mesh mesh = makeMesh({2, 2});
  LinearExpr tiles{{{0, 8}, {1, 1}}, 0, false};
  Placement placement{{kCoveringSize, 8}, {{0, 1}, {}}, {tiles}};
  for (int64_t size : {0, 1, 2, 7, 8, 9, 17, 31, 32, 33, 64})
    compare({size}, mesh, placement);
  // Three tiles, the first device's two, the last one of one row.
  EXPECT_EQ(placement.boxes({17}, makeMesh({2, 1})),
            (llvm::SmallVector<Box>{{{0, 16}}, {{16, 17}}}));
  // Of what fills 17 rows there are only two.
  placement.dimSizes[0] = kUnknownSize;
  EXPECT_EQ(placement.boxes({17}, makeMesh({2, 1})),
            (llvm::SmallVector<Box>{{{0, 8}}, {{8, 16}}}));
}

TEST(Sizes, KnownDimsOfUnknownTensors) {
  Mesh mesh = makeMesh({3});
  LinearExpr reversed{{{0, -1}}, 9, false};
  LinearExpr shifted{{{0, 1}}, 4, false};
  for (int64_t size : {0, 3, 8, 10, 20})
    for (const LinearExpr &expr : {reversed, shifted, LinearExpr::ofDim(0)}) {
      Placement placement{{10}, {{0}}, {expr, LinearExpr::all()}};
      compare({size, 5}, mesh, placement);
    }
}

TEST(Sizes, Errors) {
  TestWorld world(2);
  auto fail = [&](Words table, int64_t size) {
    EXPECT_EQ(world.run([&](TofuContext *context, int64_t device) {
      if (device == 0)
        tofuShardSize(context, table.data(), &size, 0);
    }),
              TOFU_FAILED);
    return world.error();
  };
  Placement rows = Placement::ofLayout({kUnknownSize}, {Axes{0}});
  Words table = makeTable({kUnknownSize}, makeMesh({2}), rows);
  EXPECT_EQ(fail(table, -3), "device 0: a tensor has size -3");
  table[0] = 2;
  EXPECT_EQ(fail(table, 3),
            "device 0: table has version 2, the runtime reads 5");
  EXPECT_EQ(fail(makeTable({kUnknownSize}, makeMesh({3}), rows), 3),
            "device 0: a mesh is of 3 devices, there are 2");
}

TEST(Sizes, DevicesMustAgree) {
  TestWorld world(2);
  Placement rows = Placement::ofLayout({kUnknownSize}, {Axes{0}});
  Placement whole = Placement::ofLayout({kUnknownSize}, {Axes{}});
  Mesh mesh = makeMesh({2});
  Words table = {TOFU_TABLE_VERSION,
                 TOFU_ALL_GATHER,
                 TOFU_COMBINE_NONE,
                 TOFU_F32,
                 1,
                 2,
                 1,
                 1,
                 0,
                 0,
                 0,
                 0,
                 0,
                 0};
  Words geometry = makeTable({kUnknownSize}, mesh, rows);
  table.insert(table.end(), geometry.begin() + 1, geometry.end());
  Words second = makeTable({kUnknownSize}, mesh, whole);
  // Rank, number of axes, one axis, one dim.
  table.insert(table.end(), second.begin() + 5, second.end());
  float part[2] = {1, 2}, all[5] = {};
  auto gather = [&](TofuContext *context, int64_t device, int64_t size) {
    int64_t rows = device == 0 ? (size + 1) / 2 : size / 2;
    struct {
      void *allocated, *aligned;
      int64_t offset, size, stride;
    } from = {part, part, 0, rows, 1}, to = {all, all, 0, size, 1};
    tofuCollectiveOfSizes(context, nullptr, table.data(), &size, "here", 1,
                          &from, 1, &to);
  };
  EXPECT_EQ(world.run([&](TofuContext *context, int64_t device) {
    gather(context, device, device == 0 ? 3 : 4);
  }),
            TOFU_FAILED);
  EXPECT_NE(world.error().find("is at all_gather number 1 at here"),
            std::string::npos)
      << world.error();
}

} // namespace
