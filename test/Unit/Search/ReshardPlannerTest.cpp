//===- ReshardPlannerTest.cpp - The least that a reshard moves ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/ReshardPlanner.h"
#include "Reference.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir::tofu::search;
using reference::meshOf;

static llvm::SmallVector<Box> boxesOf(llvm::ArrayRef<int64_t> shape,
                                      llvm::ArrayRef<Axes> dims,
                                      const Mesh &mesh) {
  return Placement::ofLayout(shape, dims).boxes(shape, mesh);
}

TEST(Received, PartialToCutAndToWhole) {
  for (int64_t k : {2, 3, 4, 5}) {
    Mesh mesh = meshOf({k});
    auto whole = boxesOf({7, 10}, {{}, {}}, mesh);
    auto rows = boxesOf({7, 10}, {{0}, {}}, mesh);
    auto columns = boxesOf({7, 10}, {{}, {0}}, mesh);
    // (k - 1) |r| and 2 (k - 1) |r|, whatever divides.
    EXPECT_EQ(receivedElements({whole, {0}}, {rows, {}}, mesh), (k - 1) * 70);
    EXPECT_EQ(receivedElements({whole, {0}}, {columns, {}}, mesh),
              (k - 1) * 70);
    EXPECT_EQ(receivedElements({whole, {0}}, {whole, {}}, mesh),
              2 * (k - 1) * 70);
  }
}

TEST(Received, WithinTheGroupsOfAnotherCut) {
  // Rows are cut over a0 already; the partial sums are over a1.
  Mesh mesh = meshOf({2, 2});
  auto from = boxesOf({8, 6}, {{0}, {}}, mesh);
  auto nested = boxesOf({8, 6}, {{0, 1}, {}}, mesh);
  auto whole = boxesOf({8, 6}, {{}, {}}, mesh);
  // Every group of two has 24 elements and hands on half of them.
  EXPECT_EQ(receivedElements({from, {1}}, {nested, {}}, mesh), 2 * 24);
  EXPECT_EQ(receivedElements({from, {1}}, {from, {}}, mesh), 4 * 24);
  // Then each device lacks 36 of 48.
  EXPECT_EQ(receivedElements({from, {1}}, {whole, {}}, mesh), 2 * 24 + 4 * 36);
}

TEST(Received, OneOfSeveralGroupsAddsUp) {
  // Three addends, on two groups of devices. To all: one group adds up, the six
  // devices but one receive the sum: 2 + 5. Each group for itself would take
  // 2 * (2 + 2).
  Mesh mesh = meshOf({2, 3});
  auto whole = boxesOf({4}, {{}}, mesh);
  EXPECT_EQ(receivedElements({whole, {1}}, {whole, {}}, mesh), 4 * (2 + 5));
  auto scalar = boxesOf({}, {}, mesh);
  EXPECT_EQ(receivedElements({scalar, {1}}, {scalar, {}}, mesh), 2 + 5);
  EXPECT_EQ(receivedElements({scalar, {0, 1}}, {scalar, {}}, mesh), 5 + 5);
}

TEST(Received, ToPartial) {
  Mesh mesh = meshOf({2, 2});
  auto whole = boxesOf({4, 4}, {{}, {}}, mesh);
  auto rows = boxesOf({4, 4}, {{0}, {}}, mesh);
  auto columns = boxesOf({4, 4}, {{}, {1}}, mesh);
  // One of the owners keeps it, whether it is whole or cut.
  EXPECT_EQ(receivedElements({whole, {}}, {whole, {0}}, mesh), 0);
  EXPECT_EQ(receivedElements({rows, {}}, {whole, {0}}, mesh), 0);
  EXPECT_EQ(receivedElements({rows, {}}, {rows, {1}}, mesh), 0);
  // Two devices lack half of the elements, wherever the addend is.
  EXPECT_EQ(receivedElements({rows, {}}, {whole, {1}}, mesh), 2 * 8);
  // Addends that stay where they are, cut.
  EXPECT_EQ(receivedElements({whole, {0}}, {columns, {0}}, mesh), 0);
  // Combined over a0 and left on one of two over a1: 1 addend, 1 sum.
  EXPECT_EQ(receivedElements({whole, {0}}, {whole, {1}}, mesh), 16 * 2);
}

TEST(Received, AxesOfSizeOneMakeNoAddends) {
  Mesh mesh = meshOf({1, 2});
  auto whole = boxesOf({4}, {{}}, mesh);
  auto cut = boxesOf({4}, {{1}}, mesh);
  EXPECT_EQ(receivedElements({cut, {0}}, {whole, {}}, mesh), 4);
  EXPECT_EQ(receivedElements({cut, {}}, {whole, {0}}, mesh), 4);
}

TEST(Received, ManyAxes) {
  // 512 devices, all axes partial: 511 addends and 511 sums of one element.
  Mesh mesh = Mesh::factored(512);
  Axes all{0, 1, 2, 3, 4, 5, 6, 7, 8};
  auto unit = boxesOf({1, 1, 1}, {{}, {}, {}}, mesh);
  EXPECT_EQ(receivedElements({unit, all}, {unit, {}}, mesh), 2 * 511);
  // Onto the first of nine dims' halves: each device gets its share.
  auto cut = boxesOf({512, 3, 3}, {all, {}, {}}, mesh);
  auto whole = boxesOf({512, 3, 3}, {{}, {}, {}}, mesh);
  EXPECT_EQ(receivedElements({whole, all}, {cut, {}}, mesh), 511 * 512 * 9);
}

TEST(Received, AgreesWithElementSets) {
  std::mt19937 random(2);
  llvm::SmallVector<Mesh> meshes{meshOf({2, 2}), meshOf({3, 2}), meshOf({2, 3}),
                                 meshOf({2, 2, 2})};
  for (int i = 0; i < 600; ++i) {
    const Mesh &mesh = meshes[random() % meshes.size()];
    llvm::SmallVector<int64_t> shape{int64_t(1 + random() % 6),
                                     int64_t(1 + random() % 6)};
    auto draw = [&](llvm::SmallVector<Axes> &dims, Axes &partial) {
      dims.resize(2);
      for (unsigned axis = 0; axis < mesh.numAxes(); ++axis) {
        if (unsigned at = random() % 4; at < 2)
          dims[at].push_back(axis);
        else if (at == 2)
          partial.push_back(axis);
      }
    };
    llvm::SmallVector<Axes> from, to;
    Axes fromPartial, toPartial;
    draw(from, fromPartial);
    draw(to, toPartial);
    EXPECT_EQ(receivedElements({boxesOf(shape, from, mesh), fromPartial},
                               {boxesOf(shape, to, mesh), toPartial}, mesh),
              reference::received(
                  {reference::layoutElements(shape, from, mesh), fromPartial},
                  {reference::layoutElements(shape, to, mesh), toPartial},
                  mesh));
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static llvm::SmallVector<StepKind>
kindsOf(const Holding &from, const Holding &to, const Mesh &mesh) {
  llvm::SmallVector<StepKind> kinds;
  int64_t elements = 0;
  for (const ReshardStep &step : planReshard(from, to, mesh)) {
    kinds.push_back(step.kind);
    elements += step.elements;
  }
  EXPECT_EQ(elements, receivedElements(from, to, mesh));
  return kinds;
}

TEST(Steps, Kinds) {
  Mesh mesh = meshOf({2, 2});
  auto at = [&](Axes rows, Axes columns) {
    return boxesOf({8, 8}, {rows, columns}, mesh);
  };
  using Kinds = llvm::SmallVector<StepKind>;
  auto whole = at({}, {}), x = at({0}, {}), y = at({1}, {}),
       xy = at({0, 1}, {}), ofX = at({}, {0}), yx = at({1, 0}, {});
  EXPECT_EQ(kindsOf({x, {}}, {x, {}}, mesh), Kinds());
  EXPECT_EQ(kindsOf({x, {1}}, {x, {1}}, mesh), Kinds());
  EXPECT_EQ(kindsOf({whole, {}}, {x, {}}, mesh), Kinds{StepKind::Slice});
  EXPECT_EQ(kindsOf({whole, {1}}, {x, {1}}, mesh), Kinds{StepKind::Slice});
  EXPECT_EQ(kindsOf({xy, {}}, {x, {}}, mesh), Kinds{StepKind::AllGather});
  EXPECT_EQ(kindsOf({x, {}}, {ofX, {}}, mesh), Kinds{StepKind::AllToAll});
  EXPECT_EQ(kindsOf({xy, {}}, {yx, {}}, mesh), Kinds{StepKind::AllToAll});
  EXPECT_EQ(kindsOf({x, {}}, {y, {}}, mesh), Kinds{StepKind::Fetch});
  EXPECT_EQ(kindsOf({x, {1}}, {x, {}}, mesh), Kinds{StepKind::AllReduce});
  EXPECT_EQ(kindsOf({whole, {0, 1}}, {whole, {0}}, mesh),
            Kinds{StepKind::AllReduce});
  EXPECT_EQ(kindsOf({x, {1}}, {xy, {}}, mesh), Kinds{StepKind::ReduceScatter});
  EXPECT_EQ(kindsOf({whole, {1}}, {x, {}}, mesh),
            (Kinds{StepKind::Slice, StepKind::AllReduce}));
  EXPECT_EQ(kindsOf({x, {1}}, {ofX, {}}, mesh), Kinds{StepKind::Fetch});
  EXPECT_EQ(kindsOf({x, {}}, {x, {1}}, mesh), Kinds{StepKind::Fetch});
}

TEST(Steps, AxesOfSizeOne) {
  Mesh mesh = meshOf({1, 2});
  auto whole = boxesOf({4}, {{}}, mesh), cut = boxesOf({4}, {{1}}, mesh);
  using Kinds = llvm::SmallVector<StepKind>;
  EXPECT_EQ(kindsOf({whole, {0}}, {whole, {}}, mesh), Kinds());
  EXPECT_EQ(kindsOf({whole, {}}, {cut, {0}}, mesh), Kinds{StepKind::Slice});
  // A gather would have to leave the value partial over the axis.
  EXPECT_EQ(kindsOf({cut, {0}}, {whole, {}}, mesh), Kinds{StepKind::Fetch});
  EXPECT_EQ(kindsOf({cut, {}}, {whole, {0}}, mesh), Kinds{StepKind::Fetch});
  EXPECT_EQ(kindsOf({whole, {1}}, {cut, {0}}, mesh), Kinds{StepKind::Fetch});
  EXPECT_EQ(kindsOf({whole, {0, 1}}, {cut, {}}, mesh),
            Kinds{StepKind::ReduceScatter});
}
