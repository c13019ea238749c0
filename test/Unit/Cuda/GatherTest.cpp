//===- GatherTest.cpp - Tests of copies that share a launch ---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gather.h"
#include "Fake.h"
#include "TestWorld.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace mlir::tofu::cuda;
using namespace mlir::tofu::test;

namespace {

using Bytes = std::vector<unsigned char>;

/// Launches on a stream of its own; counts start anew.
class Stream {
public:
  Stream() {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    numCopies = numGathers = 0;
  }
  ~Stream() { cudaStreamDestroy(stream); }

  void run(const std::vector<Copy> &copies, int64_t elementBytes) {
    EXPECT_EQ(launchCopies(stream, copies, elementBytes), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  }

private:
  cudaStream_t stream = nullptr;
};

Bytes makeBytes(int64_t count) {
  Bytes bytes(count);
  for (int64_t i = 0; i < count; ++i)
    bytes[i] = static_cast<unsigned char>(i * 37 + i / 251);
  return bytes;
}

/// Rows of `rowSize` elements, every other one of the source, side by side.
Copy makeRows(void *to, const void *from, int64_t rows, int64_t rowSize) {
  Copy copy{{}, to, from};
  copy.region.rank = 2;
  copy.region.volume = rows * rowSize;
  const int64_t sizes[] = {rows, rowSize}, toStrides[] = {rowSize, 1},
                fromStrides[] = {2 * rowSize, 1};
  std::copy_n(sizes, 2, copy.region.sizes);
  std::copy_n(toStrides, 2, copy.region.to);
  std::copy_n(fromStrides, 2, copy.region.from);
  return copy;
}

Copy makeWhole(void *to, const void *from, int64_t elements) {
  Copy copy{{}, to, from};
  copy.region.rank = 1;
  copy.region.volume = copy.region.sizes[0] = elements;
  copy.region.to[0] = copy.region.from[0] = 1;
  return copy;
}

TEST(Gather, OneLaunchForAllElementSizes) {
  for (int64_t size : {1, 2, 4, 8, 16}) {
    Stream stream;
    Bytes from = makeBytes(32 * size), to(16 * size), single(3 * size, 99);
    Copy scalar{{}, single.data() + size, from.data() + 7 * size};
    stream.run({makeRows(to.data(), from.data(), 3, 4), scalar,
                makeWhole(to.data() + 12 * size, from.data() + 28 * size, 4)},
               size);
    EXPECT_EQ(numGathers, 1);
    EXPECT_EQ(numCopies, 0);
    auto expectElement = [&](const Bytes &got, int64_t at, int64_t source) {
      EXPECT_TRUE(std::equal(got.begin() + at * size,
                             got.begin() + (at + 1) * size,
                             from.begin() + source * size))
          << at;
    };
    for (int64_t row = 0; row < 3; ++row)
      for (int64_t i = 0; i < 4; ++i)
        expectElement(to, 4 * row + i, 8 * row + i);
    for (int64_t i = 0; i < 4; ++i)
      expectElement(to, 12 + i, 28 + i);
    expectElement(single, 1, 7);
    EXPECT_EQ(single[size - 1], 99);
    EXPECT_EQ(single[2 * size], 99);
  }
}

TEST(Gather, NothingAndOne) {
  Stream stream;
  Bytes from = makeBytes(8), to(8);
  stream.run({}, 1);
  Copy nothing = makeRows(to.data(), from.data(), 0, 4);
  stream.run({nothing, nothing}, 1);
  EXPECT_EQ(numGathers + numCopies, 0);
  stream.run({nothing, makeWhole(to.data(), from.data(), 8), nothing}, 1);
  EXPECT_EQ(numGathers, 0);
  EXPECT_EQ(numCopies, 1);
  EXPECT_EQ(to, from);
}

/// 16 go together: 35 are two launches and three more.
TEST(Gather, MorePartsThanALaunchHolds) {
  Stream stream;
  Bytes from = makeBytes(35 * 3), to(35 * 3);
  std::vector<Copy> copies;
  for (int64_t i = 0; i < 35; ++i)
    copies.push_back(makeWhole(to.data() + 3 * i, from.data() + 3 * i, 3));
  stream.run(copies, 1);
  EXPECT_EQ(to, from);
  EXPECT_EQ(numGathers, 3);
  EXPECT_EQ(numCopies, 0);
  copies.resize(33);
  stream.run(copies, 1);
  EXPECT_EQ(numGathers, 3 + 2);
  EXPECT_EQ(numCopies, 1);
}

/// Large memory without gaps is left to the copy engines, and what has many
/// dims to a launch of its own.
TEST(Gather, WhatDoesNotFit) {
  Stream stream;
  constexpr int64_t kLarge = 1 << 18;
  Bytes from = makeBytes(4 * kLarge + 4 * 64), to(from.size());
  Copy deep{{}, to.data() + 4 * kLarge, from.data() + 4 * kLarge};
  deep.region.rank = 6;
  deep.region.volume = 64;
  for (int dim = 0; dim < 6; ++dim) {
    deep.region.sizes[dim] = 2;
    deep.region.to[dim] = deep.region.from[dim] = int64_t(1) << dim;
  }
  stream.run({makeWhole(to.data(), from.data(), kLarge), deep}, 4);
  EXPECT_EQ(to, from);
  EXPECT_EQ(numGathers, 0);
  EXPECT_EQ(numCopies, 2);
  // One element less goes with the others.
  std::fill(to.begin(), to.end(), 0);
  Copy first = makeWhole(to.data(), from.data(), kLarge - 1),
       last = makeWhole(to.data() + 4 * (kLarge - 1),
                        from.data() + 4 * (kLarge - 1), 65);
  stream.run({first, last}, 4);
  EXPECT_EQ(to, from);
  EXPECT_EQ(numGathers, 1);
}

/// What each of three devices gets from the others, and what it has itself, is
/// one launch.
TEST(Gather, OneLaunchForEachDevice) {
  constexpr int64_t kDevices = 3, kSize = 7;
  const int64_t ends[] = {0, 3, 5, 7};
  std::vector<int64_t> table = {TOFU_TABLE_VERSION, TOFU_ALL_GATHER,
                                TOFU_COMBINE_NONE,  TOFU_I32,
                                /*rank=*/1,         kDevices,
                                /*addends=*/1,      /*slots=*/1};
  table.insert(table.end(), 3 * kDevices, 0);
  for (int64_t device = 0; device < kDevices; ++device)
    table.insert(table.end(), {ends[device], ends[device + 1]});
  for (int64_t device = 0; device < kDevices; ++device)
    table.insert(table.end(), {0, kSize});
  std::vector<int32_t> whole(kSize);
  std::iota(whole.begin(), whole.end(), 10);
  std::vector<std::vector<int32_t>> got(kDevices, std::vector<int32_t>(kSize));
  TestWorld world(kDevices);
  numCopies = numGathers = 0;
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    auto describe = [](int32_t *data, int64_t size) {
      auto address = reinterpret_cast<int64_t>(data);
      return std::vector<int64_t>{address, address, 0, size, 1};
    };
    int64_t begin = ends[device];
    auto src = describe(whole.data() + begin, ends[device + 1] - begin),
         dst = describe(got[device].data(), kSize);
    tofuCollective(context, nullptr, table.data(), "here", 1, src.data(), 1,
                   dst.data());
  });
  ASSERT_EQ(status, TOFU_OK) << world.error();
  for (const std::vector<int32_t> &each : got)
    EXPECT_EQ(each, whole);
  EXPECT_EQ(numGathers, kDevices);
  EXPECT_EQ(numCopies, 0);
}

} // namespace
