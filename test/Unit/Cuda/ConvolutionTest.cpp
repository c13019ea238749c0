//===- ConvolutionTest.cpp - Tests of convolutions on the CUDA backend ----===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionCase.h"

using namespace mlir::tofu;
using namespace mlir::tofu::test;
using namespace mlir::tofu::test::convolutions;

namespace {

/// Filters as programs have them, HWCF, are copied; images aren't.
TEST(Convolution, Forward) {
  UseFake fake;
  TestWorld world(1);
  check(make2d(), world);
  EXPECT_EQ(fake->numForward, 1);
  EXPECT_EQ(fake->groups, 1);
  EXPECT_TRUE(fake->isChannelsLast);
  EXPECT_EQ(Index(fake->sizesOfX, fake->sizesOfX + 5), (Index{2, 3, 7, 7, 0}));
}

TEST(Convolution, ChannelsFirst) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.ofX = "ngc012";
  c.ofY = "ngk012";
  c.ofW = "gkc012";
  check(c, world);
  EXPECT_EQ(fake->numForward, 1);
  EXPECT_FALSE(fake->isChannelsLast);
}

TEST(Convolution, StridesAndDilations) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.stride = {2, 3};
  c.dilation = {3, 1};
  c.taps = {2, 4};
  c.rest = 1;
  check(c, world);
  EXPECT_EQ(fake->numForward, 1);
  EXPECT_EQ(Index(fake->sizesOfX, fake->sizesOfX + 4), (Index{2, 3, 12, 19}));
}

/// Rows of images have channels and windows beside each other in memory, and so
/// have filters: loops that could be joined are told apart.
TEST(Convolution, FilterGradient) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.isGradient = true;
  check(c, world);
  EXPECT_EQ(fake->numFilterGradients, 1);
  c.stride = {2, 2};
  c.accumulate = true;
  check(c, world);
  EXPECT_EQ(fake->numFilterGradients, 2);
  EXPECT_EQ(fake->numForward, 0);
}

/// The gradient to the images, as programs have it: with windows of one step
/// over a gradient that is spread and padded, and the roles of channels and
/// filters exchanged in the reversed filter.
TEST(Convolution, DataGradient) {
  UseFake fake;
  TestWorld world(1);
  constexpr int64_t images = 2, channels = 3, filters = 4, size = 9, taps = 3,
                    stride = 2, out = 4;
  std::mt19937 random(1);
  Case c;
  c.images = images;
  c.channels = filters;
  c.filters = channels;
  c.positions = {size, size};
  c.taps = {taps, taps};
  c.stride = c.dilation = {1, 1};
  c.ofW = "01gkc";
  Tensors tensors(c);
  std::vector<double> expected;
  Tensor w("kcij", {filters, channels, taps, taps}, "ijck", TOFU_F32),
      dy("nkyx", {images, filters, out, out}, "nyxk", TOFU_F32);
  w.fill(random, 3);
  dy.fill(random, 3);
  std::map<Index, double> dx;
  forEachIndex(
      {images, filters, channels, out, out, taps, taps}, [&](const Index &i) {
        dx[{i[0], i[2], stride * i[3] + i[5], stride * i[4] + i[6]}] +=
            dy.get({i[0], i[1], i[3], i[4]}) * w.get({i[1], i[2], i[5], i[6]});
      });
  forEachIndex({images, channels, size, size},
               [&](const Index &i) { expected.push_back(dx[i]); });
  // Spread by the stride, with taps - 1 zeros around it.
  forEachIndex(tensors.x.sizes, [&](const Index &i) {
    int64_t p = i[3] - taps + 1, q = i[4] - taps + 1;
    bool isThere = p >= 0 && q >= 0 && p % stride == 0 && q % stride == 0 &&
                   p / stride < out && q / stride < out;
    store(TOFU_F32, tensors.x.at(tensors.x.offset(i)),
          isThere ? dy.get({i[0], i[2], p / stride, q / stride}) : 0);
  });
  forEachIndex(tensors.w.sizes, [&](const Index &i) {
    store(TOFU_F32, tensors.w.at(tensors.w.offset(i)),
          w.get({i[2], i[1], taps - 1 - i[3], taps - 1 - i[4]}));
  });
  ASSERT_EQ(tensors.contract(*world.backend, world.getWorld()), TOFU_OK);
  EXPECT_EQ(tensors.getResult(), expected);
  EXPECT_EQ(fake->numForward, 1);
}

/// Images of f16 in any layout, whose sums stay f32.
TEST(Convolution, Widening) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.inputType = TOFU_F16;
  c.ofX = "ngc012";
  c.ofY = "ngk012";
  c.ofW = "gkc012";
  for (bool isGradient : {false, true}) {
    c.isGradient = isGradient;
    for (bool accumulate : {false, true}) {
      c.accumulate = accumulate;
      check(c, world);
      EXPECT_TRUE(fake->isChannelsLast);
    }
  }
  EXPECT_EQ(fake->numForward, 2);
  EXPECT_EQ(fake->numFilterGradients, 2);
}

/// Few positions and large windows are a convolution still: images come first
/// in memory.
TEST(Convolution, LargeFilters) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.positions = {2, 2};
  c.taps = {3, 3};
  check(c, world);
  EXPECT_EQ(fake->numForward, 1);
  EXPECT_EQ(Index(fake->sizesOfX, fake->sizesOfX + 4), (Index{2, 3, 4, 4}));
  c.isGradient = true;
  check(c, world);
  EXPECT_EQ(fake->numFilterGradients, 1);
}

TEST(Convolution, OneAndThreeDims) {
  UseFake fake;
  TestWorld world(1);
  for (size_t rank : {1, 3}) {
    Case c;
    c.positions = rank == 1 ? Index{7} : Index{3, 2, 4};
    c.taps = rank == 1 ? Index{3} : Index{2, 3, 2};
    c.stride = Index(rank, 2);
    c.dilation = Index(rank, 1);
    for (bool isGradient : {false, true}) {
      c.isGradient = isGradient;
      check(c, world);
    }
  }
  EXPECT_EQ(fake->numForward, 2);
  EXPECT_EQ(fake->numFilterGradients, 2);
}

/// Single images, channels or filters are no loops.
TEST(Convolution, MissingDims) {
  UseFake fake;
  TestWorld world(1);
  for (int64_t Case::*one : {&Case::images, &Case::channels, &Case::filters}) {
    Case c = make2d();
    c.*one = 1;
    check(c, world);
    c.isGradient = true;
    check(c, world);
  }
  EXPECT_EQ(fake->numConvolutions(), 6);
}

TEST(Convolution, Groups) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.groups = 5;
  check(c, world);
  EXPECT_EQ(fake->groups, 5);
  c.isGradient = true;
  check(c, world);
  EXPECT_EQ(fake->groups, 5);
  // Each channel by itself, with several filters or with one.
  c.channels = 1;
  check(c, world);
  c.filters = 1;
  c.isGradient = false;
  check(c, world);
  EXPECT_EQ(fake->groups, 5);
  EXPECT_EQ(fake->numConvolutions(), 4);
}

/// Windows of one element, every second: rows are no single dim of a matrix.
TEST(Convolution, WindowsOfOne) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.taps = {1, 1};
  c.stride = {2, 2};
  check(c, world);
  EXPECT_EQ(fake->numForward, 1);
}

/// Windows that lie side by side are windows all the same.
TEST(Convolution, Patches) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.taps = c.stride = {2, 3};
  check(c, world);
  EXPECT_EQ(Index(fake->sizesOfX, fake->sizesOfX + 4), (Index{2, 3, 10, 18}));
  c.ofX = "ngc012";
  check(c, world);
  EXPECT_EQ(Index(fake->sizesOfX, fake->sizesOfX + 4), (Index{2, 3, 10, 18}));
  EXPECT_EQ(fake->numForward, 2);
}

TEST(Convolution, Types) {
  UseFake fake;
  TestWorld world(1);
  const int64_t types[][2] = {{TOFU_F64, TOFU_F64},
                              {TOFU_F16, TOFU_F16},
                              {TOFU_BF16, TOFU_BF16},
                              {TOFU_F16, TOFU_F32},
                              {TOFU_BF16, TOFU_F32}};
  for (auto [input, output] : types) {
    Case c = make2d();
    c.inputType = input;
    c.outputType = output;
    c.greatest = 1;
    for (bool accumulate : {false, true}) {
      c.accumulate = accumulate;
      check(c, world);
    }
  }
  EXPECT_EQ(fake->numForward, 10);
  // cuDNN's integers aren't those of programs, and its sums of f32 are f32.
  numContractions = 0;
  Case c = make2d();
  c.inputType = c.outputType = TOFU_I32;
  check(c, world);
  c.inputType = TOFU_F32;
  c.outputType = TOFU_F64;
  check(c, world);
  EXPECT_EQ(fake->numForward, 10);
  EXPECT_EQ(numContractions, 2);
}

template <typename T>
T pick(std::mt19937 &random, const std::vector<T> &from) {
  return from[random() % from.size()];
}

Case makeRandom(std::mt19937 &random) {
  Case c;
  size_t rank = 1 + random() % 3;
  for (size_t d = 0; d < rank; ++d) {
    c.positions.push_back(pick<int64_t>(random, {1, 2, 3, 4, 5}));
    c.taps.push_back(pick<int64_t>(random, {1, 2, 3}));
    c.stride.push_back(pick<int64_t>(random, {1, 1, 2, 3}));
    c.dilation.push_back(pick<int64_t>(random, {1, 1, 2, 3}));
  }
  c.images = pick<int64_t>(random, {1, 2, 3});
  c.groups = pick<int64_t>(random, {1, 1, 2, 3});
  c.channels = pick<int64_t>(random, {1, 2, 3, 4});
  c.filters = pick<int64_t>(random, {1, 2, 3, 4});
  c.rest = random() % 3;
  c.isGradient = random() % 2;
  c.accumulate = random() % 2;
  c.swapsInputs = random() % 2;
  c.repeatsFilter = !c.isGradient && random() % 4 == 0;
  c.ofX = pick<std::string>(random, {"n012gc", "ngc012", "012ngc", "gc012n"});
  c.ofY = pick<std::string>(random, {"n012gk", "ngk012", "012ngk", "gk012n"});
  c.ofW = pick<std::string>(random, {"012cgk", "gkc012", "gk012c", "c012gk"});
  static const std::vector<std::array<int64_t, 2>> types = {
      {TOFU_F32, TOFU_F32},
      {TOFU_F32, TOFU_F32},
      {TOFU_F64, TOFU_F64},
      {TOFU_F16, TOFU_F16},
      {TOFU_BF16, TOFU_F32}};
  auto [input, output] = pick(random, types);
  c.inputType = input;
  c.outputType = output;
  return c;
}

/// True if windows overlap along each dim that has several of several elements:
/// no matrix holds them, and nothing else can be taken for a window.
bool hasWindows(const Case &c) {
  bool overlap = false;
  for (size_t d = 0; d < c.rank(); ++d) {
    if (c.positions[d] == 1 || c.taps[d] == 1)
      continue;
    overlap = c.stride[d] * (c.positions[d] - 1) >= c.dilation[d] &&
              c.dilation[d] * (c.taps[d] - 1) >= c.stride[d];
    if (!overlap)
      break;
  }
  return overlap;
}

TEST(Convolution, Random) {
  UseFake fake;
  std::mt19937 random(7);
  int numWindows = 0;
  for (int i = 0; i < 1500 && !testing::Test::HasFailure(); ++i) {
    TestWorld world(1);
    Case c = makeRandom(random);
    SCOPED_TRACE("case " + std::to_string(i) + ": positions " +
                 testing::PrintToString(c.positions) + " taps " +
                 testing::PrintToString(c.taps) + " strides " +
                 testing::PrintToString(c.stride) + " dilations " +
                 testing::PrintToString(c.dilation) + " n g c k " +
                 testing::PrintToString(
                     Index{c.images, c.groups, c.channels, c.filters}) +
                 " x " + c.ofX + " w " + c.ofW + " y " + c.ofY + " rest " +
                 std::to_string(c.rest) + " gradient " +
                 std::to_string(c.isGradient));
    fake->refusesGaps = random() % 2;
    fake->refusesToAdd = c.inputType != TOFU_F16 && random() % 2;
    fake->workspaceBytes = random() % 2 * 64;
    int before = fake->numConvolutions();
    check(c, world, i);
    if (!hasWindows(c))
      continue;
    ++numWindows;
    EXPECT_EQ(fake->numConvolutions(), before + 1);
  }
  EXPECT_GT(numWindows, 500);
}

} // namespace
