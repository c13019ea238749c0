//===- StagingTest.cpp - Tests of copies by way of pinned memory ----------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tests' CUDA refuses copies on streams without pinned memory on one side,
// and does those that are delayed only when somebody waits.
//
//===----------------------------------------------------------------------===//

#include "Staging.h"
#include "Fake.h"
#include "TestWorld.h"

#include "gtest/gtest.h"

#include <algorithm>

using namespace mlir::tofu;
using namespace mlir::tofu::test;

namespace {

const auto alloc = find<decltype(tofuAlloc)>("tofuAlloc");
const auto freeMemory = find<decltype(tofuFree)>("tofuFree");
const auto getConstant = find<decltype(tofuConstant)>("tofuConstant");
const auto getStream = find<decltype(tofuStream)>("tofuStream");
const auto readMemory = find<decltype(tofuRead)>("tofuRead");
const auto writeMemory = find<decltype(tofuWrite)>("tofuWrite");

constexpr int64_t kChunk = cuda::Staging::kChunkBytes;

/// Nothing, and below, at and above multiples of a chunk.
const std::vector<int64_t> kSizes = {0,
                                     1,
                                     13,
                                     kChunk - 1,
                                     kChunk,
                                     kChunk + 1,
                                     2 * kChunk,
                                     2 * kChunk + 7,
                                     3 * kChunk - 5,
                                     5 * kChunk + 3};

/// No two chunks look alike: 251 is prime.
std::vector<char> makeBytes(int64_t count, int64_t seed) {
  std::vector<char> bytes(count);
  for (int64_t i = 0; i < count; ++i)
    bytes[i] = static_cast<char>((i + seed) % 251);
  return bytes;
}

class Staged : public testing::Test {
protected:
  Staged() {
    delaysCopies = true;
    startCounting();
  }
  ~Staged() override { delaysCopies = false; }

  void startCounting() {
    numHostCopies = 0;
    mostHostBytes = 0;
  }
  /// One for each chunk, of which the last one is what is left.
  void expectCopiesOf(int64_t bytes) {
    EXPECT_EQ(numHostCopies, (bytes + kChunk - 1) / kChunk) << bytes;
    EXPECT_EQ(mostHostBytes, size_t(std::min(bytes, kChunk))) << bytes;
    startCounting();
  }

  /// Memory of the GPU is the host's here.
  static bool holds(const void *memory, const std::vector<char> &bytes) {
    return !std::memcmp(memory, bytes.data(), bytes.size());
  }

  TestWorld world{1};
  const TofuBackend *backend = world.backend;
};

TEST_F(Staged, CopiesOfRunners) {
  TofuContext *context = world.context(0);
  for (int64_t bytes : kSizes) {
    std::vector<char> sent = makeBytes(bytes, bytes), seen(bytes + 1, 'x');
    void *memory = backend->allocate(context, bytes + 1);
    static_cast<char *>(memory)[bytes] = 'y';
    backend->copyIn(context, memory, sent.data(), bytes);
    // It is done when the call returns.
    EXPECT_TRUE(holds(memory, sent)) << bytes;
    EXPECT_EQ(static_cast<char *>(memory)[bytes], 'y') << bytes;
    expectCopiesOf(bytes);
    backend->copyOut(context, seen.data(), memory, bytes);
    EXPECT_TRUE(holds(seen.data(), sent)) << bytes;
    EXPECT_EQ(seen[bytes], 'x') << bytes;
    expectCopiesOf(bytes);
    backend->release(context, memory);
  }
}

/// Tensors with gaps are packed by kernels, as many as there are chunks: no row
/// or element is copied by itself. Element i of the memory is i.
TEST_F(Staged, PacksTensors) {
  using Dims = std::vector<int64_t>;
  struct Case {
    Dims sizes, strides;
    int numCopies;
  };
  constexpr int64_t kMost = kChunk / 4;
  const Case cases[] = {
      // Columns of a matrix, and its transpose.
      {{1000}, {7}, 1},
      {{30, 50}, {1, 30}, 1},
      // A box of three dims, and a broadcast one.
      {{3, 4, 5}, {200, 10, 1}, 1},
      {{3, 4, 5}, {0, 10, 1}, 1},
      // Rows of which two fit into a chunk, and the last one is alone.
      {{5, kMost / 2 - 1}, {kMost, 1}, 3},
      // Rows that don't fit: two parts each.
      {{3, kMost + 5}, {kMost + 9, 1}, 6},
      {{2, 2, kMost + 5}, {2 * kMost + 30, kMost + 9, 1}, 8},
      // Every other element of more than a chunk.
      {{2 * kMost + 1}, {2}, 3},
      // Nothing.
      {{4, 0, 3}, {9, 3, 1}, 0},
  };
  TofuContext *context = world.context(0);
  for (const Case &each : cases) {
    int64_t last = 0, count = 1;
    for (size_t dim = 0; dim < each.sizes.size(); ++dim) {
      last += std::max<int64_t>(each.sizes[dim] - 1, 0) * each.strides[dim];
      count *= each.sizes[dim];
    }
    auto *memory =
        static_cast<int32_t *>(backend->allocate(context, 4 * (last + 1)));
    for (int64_t i = 0; i <= last; ++i)
      memory[i] = static_cast<int32_t>(i);
    std::vector<int32_t> seen(count + 1, -1);
    numCopies = 0;
    startCounting();
    EXPECT_TRUE(backend->packOut(context, seen.data(), memory, 4,
                                 each.sizes.size(), each.sizes.data(),
                                 each.strides.data()));
    EXPECT_EQ(numCopies, each.numCopies);
    EXPECT_EQ(numHostCopies, 0);
    Dims index(each.sizes.size());
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; ++i) {
      int64_t offset = 0, rest = i;
      for (size_t dim = index.size(); dim-- > 0; rest /= each.sizes[dim])
        offset += rest % each.sizes[dim] * each.strides[dim];
      wrong += seen[i] != offset;
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(seen[count], -1);
    backend->release(context, memory);
  }
}

/// One without gaps is copied, whatever its dims say: dims of size 1 may have
/// any stride.
TEST_F(Staged, PacksTensorsWithoutGaps) {
  TofuContext *context = world.context(0);
  std::vector<char> sent = makeBytes(48, 3), seen(48);
  void *memory = backend->allocate(context, 48);
  EXPECT_TRUE(backend->copyIn(context, memory, sent.data(), 48));
  const int64_t sizes[] = {2, 1, 3}, strides[] = {3, 77, 1};
  numCopies = 0;
  startCounting();
  EXPECT_TRUE(
      backend->packOut(context, seen.data(), memory, 8, 3, sizes, strides));
  expectCopiesOf(48);
  EXPECT_EQ(numCopies, 0);
  EXPECT_TRUE(seen == sent);
  backend->release(context, memory);
}

/// A copy that fails is no result.
TEST_F(Staged, CopiesFail) {
  TofuContext *context = world.context(0);
  char bytes[8] = {};
  void *memory = backend->allocate(context, 8);
  onCopy = cudaErrorInvalidValue;
  EXPECT_FALSE(backend->copyIn(context, memory, bytes, 8));
  EXPECT_EQ(world.error(),
            "device 0: a copy to the device: an error (cudaErrorOfTest)");
  EXPECT_EQ(world.run([](TofuContext *, int64_t) {}), TOFU_OK);
  onCopy = cudaErrorInvalidValue;
  EXPECT_FALSE(backend->copyOut(context, bytes, memory, 8));
  EXPECT_EQ(world.error(),
            "device 0: a copy to the host: an error (cudaErrorOfTest)");
  backend->release(context, memory);
}

/// Rows of an uneven part, one after the other, as a view has them.
TEST_F(Staged, CopiesFromOddAddresses) {
  TofuContext *context = world.context(0);
  const int64_t rows = 3, row = kChunk + 5, gap = 7;
  std::vector<char> sent = makeBytes(rows * (row + gap), 1), seen(rows * row);
  auto *memory = static_cast<char *>(backend->allocate(context, sent.size()));
  backend->copyIn(context, memory, sent.data(), sent.size());
  for (int64_t i = 0; i < rows; ++i)
    backend->copyOut(context, seen.data() + i * row,
                     memory + i * (row + gap) + gap, row);
  for (int64_t i = 0; i < rows; ++i)
    EXPECT_TRUE(std::equal(seen.begin() + i * row, seen.begin() + (i + 1) * row,
                           sent.begin() + i * (row + gap) + gap))
        << i;
  backend->release(context, memory);
}

/// What a program writes may change after the call, before it is copied.
TEST_F(Staged, CopiesOfPrograms) {
  // Constants are known by their addresses.
  std::vector<std::vector<char>> constants;
  for (int64_t bytes : kSizes) {
    constants.push_back(makeBytes(bytes, bytes));
    const std::vector<char> &sent = constants.back();
    std::vector<char> source = sent, seen(bytes), copied(bytes);
    ASSERT_EQ(world.run([&](TofuContext *context, int64_t) {
      void *memory = alloc(context, bytes);
      TofuStream *stream = getStream(context, TOFU_COMMUNICATION);
      writeMemory(context, stream, memory, source.data(), bytes);
      expectCopiesOf(bytes);
      std::fill(source.begin(), source.end(), '!');
      readMemory(context, stream, seen.data(), memory, bytes);
      expectCopiesOf(bytes);
      const void *constant = getConstant(context, sent.data(), bytes);
      // Its streams need not wait for it.
      copied.assign(static_cast<const char *>(constant),
                    static_cast<const char *>(constant) + bytes);
      startCounting();
      freeMemory(context, memory);
    }),
              TOFU_OK)
        << world.error();
    EXPECT_TRUE(seen == sent) << bytes;
    EXPECT_TRUE(copied == sent) << bytes;
  }
}

/// Two streams have their copies in chunks at the same time.
TEST_F(Staged, StreamsShareChunks) {
  const std::vector<char> one = makeBytes(kChunk, 1), two = makeBytes(9, 2),
                          three = makeBytes(kChunk - 2, 3);
  std::vector<std::vector<char>> seen = {std::vector<char>(one.size()),
                                         std::vector<char>(two.size()),
                                         std::vector<char>(three.size())};
  ASSERT_EQ(world.run([&](TofuContext *context, int64_t) {
    TofuStream *other = getStream(context, TOFU_COMMUNICATION);
    int i = 0;
    void *memory[3];
    for (const std::vector<char> *each : {&one, &two, &three}) {
      memory[i] = alloc(context, each->size());
      writeMemory(context, i == 1 ? other : nullptr, memory[i], each->data(),
                  each->size());
      ++i;
    }
    for (i = 0; i < 3; ++i) {
      readMemory(context, i == 1 ? other : nullptr, seen[i].data(), memory[i],
                 seen[i].size());
      freeMemory(context, memory[i]);
    }
  }),
            TOFU_OK)
      << world.error();
  EXPECT_TRUE(seen[0] == one);
  EXPECT_TRUE(seen[1] == two);
  EXPECT_TRUE(seen[2] == three);
}

/// The tests' CUDA itself.
TEST(FakeCopies, NeedPinnedMemory) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, 0);
  char pageable[16] = "0123456789", *pinned;
  void *memory;
  cudaMallocHost(&memory, 8);
  pinned = static_cast<char *>(memory);
  EXPECT_EQ(
      cudaMemcpyAsync(pageable + 8, pageable, 8, cudaMemcpyDefault, stream),
      cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(pinned + 1, pageable, 8, cudaMemcpyDefault, stream),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(pinned + 1, pageable, 7, cudaMemcpyDefault, stream),
            cudaSuccess);
  EXPECT_EQ(pinned[7], '6');
  cudaFreeHost(memory);
  cudaStreamDestroy(stream);
}

} // namespace
