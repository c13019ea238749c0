//===- ConvolutionRefusalTest.cpp - What cuDNN does not do ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionCase.h"
#include "Cudnn.h"

using namespace mlir::tofu;
using namespace mlir::tofu::test;
using namespace mlir::tofu::test::convolutions;

namespace {

/// Loops with strides in A, B and C, 0 where they don't index it: it is no
/// convolution that can be expressed.
void expectOther(const std::vector<int64_t> &sizes,
                 const std::vector<std::array<int64_t, 3>> &strides) {
  UseFake fake;
  TestWorld world(1);
  std::vector<float> data[3];
  std::vector<int64_t> words[3];
  std::vector<int64_t> dims[3];
  std::vector<double> expected;
  std::vector<int64_t> table = {TOFU_TABLE_VERSION, TOFU_F32, TOFU_F32, 0,
                                static_cast<int64_t>(sizes.size())};
  // Where strides are negative indices begin at the end.
  int64_t first[3] = {}, last[3] = {};
  for (int operand = 0; operand < 3; ++operand) {
    for (size_t loop = 0; loop < sizes.size(); ++loop) {
      int64_t steps = strides[loop][operand] * (sizes[loop] - 1);
      (steps < 0 ? first[operand] : last[operand]) += std::abs(steps);
      if (strides[loop][operand])
        dims[operand].push_back(loop);
    }
    data[operand].resize(first[operand] + last[operand] + 1);
    for (size_t i = 0; i < data[operand].size(); ++i)
      data[operand][i] = static_cast<int>((i * 7 + operand) % 5) - 2;
    words[operand].assign(3, 0);
    float *memory = data[operand].data();
    std::memcpy(&words[operand][1], &memory, sizeof(memory));
    words[operand][2] = first[operand];
    for (int64_t loop : dims[operand])
      words[operand].push_back(sizes[loop]);
    for (int64_t loop : dims[operand])
      words[operand].push_back(strides[loop][operand]);
    table.push_back(dims[operand].size());
  }
  for (const auto &list : dims)
    table.insert(table.end(), list.begin(), list.end());
  std::vector<float> want(data[2].size());
  forEachIndex(sizes, [&](const Index &index) {
    int64_t at[3];
    for (int operand = 0; operand < 3; ++operand) {
      at[operand] = first[operand];
      for (size_t loop = 0; loop < sizes.size(); ++loop)
        at[operand] += strides[loop][operand] * index[loop];
    }
    want[at[2]] += data[0][at[0]] * data[1][at[1]];
  });
  numContractions = numProducts = 0;
  ASSERT_EQ(world.run([&](TofuContext *context, int64_t) {
    tofuContract(context, nullptr, table.data(), "here", dims[0].size(),
                 words[0].data(), dims[1].size(), words[1].data(),
                 dims[2].size(), words[2].data());
  }),
            TOFU_OK)
      << world.error();
  EXPECT_EQ(data[2], want);
  EXPECT_EQ(fake->numConvolutions(), 0);
  EXPECT_EQ(numContractions + numProducts, 1);
}

TEST(Convolution, OtherWindows) {
  // y - i: the filter is reversed.
  expectOther({4, 3, 2, 5}, {{2, 0, 5}, {-2, 10, 0}, {1, 5, 0}, {0, 1, 1}});
  // y + i + j: two loops of a window along one dim.
  expectOther({4, 3, 2, 5}, {{1, 0, 5}, {1, 10, 0}, {1, 5, 0}, {0, 1, 1}});
  // y + z + i: two loops over positions.
  expectOther({4, 3, 2, 5}, {{1, 0, 15}, {1, 0, 5}, {1, 5, 0}, {0, 1, 1}});
  // Windows over both inputs.
  expectOther({4, 3, 2, 3}, {{1, 1, 9}, {1, 0, 3}, {1, 1, 0}, {0, 4, 1}});
  // A filter for each position.
  expectOther({4, 3, 5}, {{1, 15, 5}, {1, 5, 0}, {0, 1, 1}});
  // Four dims with windows.
  expectOther({2, 2, 2, 2, 2, 2, 2, 2, 2}, {{27, 0, 16},
                                            {9, 0, 8},
                                            {3, 0, 4},
                                            {1, 0, 2},
                                            {27, 16, 0},
                                            {9, 8, 0},
                                            {3, 4, 0},
                                            {1, 2, 0},
                                            {0, 1, 1}});
}

TEST(Convolution, RefusedByTheLibrary) {
  UseFake fake;
  TestWorld world(1);
  fake->refusesAll = true;
  numContractions = 0;
  check(make2d(), world);
  check(make2d(), world);
  EXPECT_EQ(fake->numConvolutions(), 0);
  EXPECT_EQ(numContractions, 2);
  // It isn't asked again: what it says doesn't change.
  fake->refusesAll = false;
  check(make2d(), world);
  EXPECT_EQ(numContractions, 3);
  Case other = make2d();
  other.images = 3;
  check(other, world);
  EXPECT_EQ(fake->numForward, 1);
}

/// Images with gaps are copied if they must be.
TEST(Convolution, Gaps) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.rest = 1;
  check(c, world);
  EXPECT_EQ(fake->numForward, 1);
  fake->refusesGaps = true;
  c.images = 3;
  check(c, world);
  c.isGradient = true;
  check(c, world);
  EXPECT_EQ(fake->numForward, 2);
  EXPECT_EQ(fake->numFilterGradients, 1);
}

/// The sum of the result and a product is two steps where it must be, but for
/// f16, of which it would be rounded twice.
TEST(Convolution, RefusesToAdd) {
  UseFake fake;
  TestWorld world(1);
  fake->refusesToAdd = true;
  numContractions = 0;
  Case c = make2d();
  c.accumulate = true;
  check(c, world);
  c.isGradient = true;
  check(c, world);
  EXPECT_EQ(fake->numConvolutions(), 2);
  EXPECT_EQ(numContractions, 0);
  c.inputType = c.outputType = TOFU_F16;
  check(c, world);
  EXPECT_EQ(fake->numConvolutions(), 2);
  EXPECT_EQ(numContractions, 1);
}

TEST(Convolution, RefusedWhenItRuns) {
  UseFake fake;
  TestWorld world(1);
  fake->onExecute = CUDNN_STATUS_NOT_SUPPORTED_LAYOUT;
  numContractions = 0;
  Case c = make2d();
  c.accumulate = true;
  check(c, world);
  EXPECT_EQ(numContractions, 1);
  EXPECT_EQ(fake->numConvolutions(), 0);
}

TEST(Convolution, FailsWhenItRuns) {
  UseFake fake;
  TestWorld world(1);
  fake->onExecute = CUDNN_STATUS_EXECUTION_FAILED;
  Tensors tensors(make2d());
  EXPECT_EQ(tensors.contract(*world.backend, world.getWorld()), TOFU_FAILED);
  EXPECT_EQ(world.error(), "device 0, here: a convolution: cuDNN: an error, "
                           "it says");
}

/// Plans are made once for a shape; nothing is left of what they were made
/// from, nor of them in the end.
TEST(Convolution, PlansAreKept) {
  UseFake fake;
  {
    TestWorld world(1);
    check(make2d(), world);
    int plans = fake->numPlans;
    EXPECT_EQ(fake->numDescriptors, 1);
    check(make2d(), world);
    EXPECT_EQ(fake->numPlans, plans);
    EXPECT_EQ(fake->numForward, 2);
    Case other = make2d();
    other.stride = {2, 1};
    check(other, world);
    EXPECT_GT(fake->numPlans, plans);
    EXPECT_EQ(fake->numDescriptors, 2);
    EXPECT_EQ(fake->numHandles, 1);
  }
  EXPECT_EQ(fake->numDescriptors, 0);
  EXPECT_EQ(fake->numHandles, 0);
}

/// What the library needs is the runtime's memory for as long, beside the 32
/// MiB that products have, and not the program's.
TEST(Convolution, Workspace) {
  UseFake fake;
  TestWorld world(1);
  fake->workspaceBytes = 100000;
  Case c = make2d();
  c.ofW = "gk01c";
  check(c, world);
  EXPECT_EQ(fake->numForward, 1);
  EXPECT_EQ(world.memory(0).scratchBytes, (32 << 20) + 100000);
  // A filter of 4 * 3 * 2 * 3 elements is copied.
  c.ofW = "01cgk";
  check(c, world);
  EXPECT_EQ(world.memory(0).scratchBytes, (32 << 20) + 100000 + 4 * 72);
  EXPECT_EQ(world.memory(0).peakProgramBytes, 0);
  // It has been given back.
  world.backend->resetStats(world.context(0));
  EXPECT_EQ(world.memory(0).scratchBytes, 32 << 20);
}

/// The backend goes on without a library that can't be used.
TEST(Convolution, NoLibrary) {
  UseFake fake;
  TestWorld world(1);
  fake->onCreate = CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED;
  numContractions = 0;
  check(make2d(), world);
  EXPECT_EQ(numContractions, 1);
  cuda::Cudnn missing = cuda::Cudnn::load("libcudnn_missing.so.9");
  EXPECT_FALSE(missing.isUsable());
  EXPECT_NE(missing.whyNot.find("libcudnn_missing.so.9"), std::string::npos);
  cuda::Cudnn other = cuda::Cudnn::load("libc.so.6");
  EXPECT_EQ(other.whyNot, "libc.so.6 has no cudnnGetVersion");
}

TEST(Convolution, LibraryOfAnotherVersion) {
  UseFake fake;
  TestWorld world(1);
  fake->version = 8907;
  Tensors tensors(make2d());
  EXPECT_EQ(tensors.contract(*world.backend, world.getWorld()), TOFU_FAILED);
  EXPECT_EQ(world.error(),
            "device 0, here: a convolution: libcudnn.so.9 is cuDNN 8.9.7, but "
            "Tofu was built for cuDNN 9: put the library of that version first "
            "in LD_LIBRARY_PATH");
}

TEST(Convolution, ErrorWithoutAText) {
  UseFake fake;
  TestWorld world(1);
  fake->errorText = nullptr;
  fake->onExecute = CUDNN_STATUS_EXECUTION_FAILED;
  Tensors tensors(make2d());
  EXPECT_EQ(tensors.contract(*world.backend, world.getWorld()), TOFU_FAILED);
  EXPECT_EQ(world.error(), "device 0, here: a convolution: cuDNN: error 5000");
}

TEST(Convolution, ListsTheVersion) {
  UseFake fake;
  fake->version = 91902;
  char error[256] = "";
  std::string text = tofuGetBackend()->listDevices(error, sizeof(error));
  EXPECT_NE(text.find(", cuDNN 9.19.2\n"), std::string::npos) << text;
}

} // namespace
