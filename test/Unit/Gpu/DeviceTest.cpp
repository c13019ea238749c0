//===- DeviceTest.cpp - Tests of streams, memory and kernels of GPUs ------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"

#include "gtest/gtest.h"

using namespace mlir::tofu::test;

namespace {

/// Words of the device.
int64_t *makeWords(TofuContext *context, int64_t count, int64_t value) {
  auto *words = static_cast<int64_t *>(getRuntime().alloc(context, 8 * count));
  for (int64_t i = 0; i < count; ++i)
    getRuntime().write(context, nullptr, words + i, &value, 8);
  return words;
}
int64_t readWord(TofuContext *context, const void *word) {
  int64_t value = -1;
  getRuntime().read(context, nullptr, &value, word, 8);
  return value;
}

/// The one device of a world.
class OneDevice : public testing::Test {
protected:
  TofuStatus run(const std::function<void(TofuContext *)> &body) {
    return world.run([&](TofuContext *context, int64_t) { body(context); });
  }
  std::string fail(const std::function<void(TofuContext *)> &body) {
    EXPECT_EQ(run(body), TOFU_FAILED);
    return world.error();
  }

  /// Whatever has failed before: by programs' kernels, and by the backend's
  /// own.
  void expectUsable() {
    int64_t seen = 0;
    ASSERT_EQ(run([&](TofuContext *context) {
                static const int64_t table[] = {
                    TOFU_TABLE_VERSION, TOFU_I64, TOFU_I64, 1, 0, 0, 0, 0};
                int64_t *word = makeWords(context, 1, 4),
                        *sum = makeWords(context, 1, 1);
                launchAdd(context, nullptr, word, word, word);
                void *factor[] = {word, word, nullptr},
                     *result[] = {sum, sum, nullptr};
                runtime.contract(context, nullptr, table, "here", 0, factor, 0,
                                 factor, 0, result);
                seen = readWord(context, sum);
              }),
              TOFU_OK)
        << world.error();
    EXPECT_EQ(seen, 65);
  }

  TestWorld world{1};
  const Runtime &runtime = getRuntime();
};

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

using Streams = OneDevice;

TEST_F(Streams, OneIsInOrder) {
  int64_t seen = 0;
  ASSERT_EQ(run([&](TofuContext *context) {
              int64_t *sum = makeWords(context, 1, 0),
                      *two = makeWords(context, 1, 2);
              for (int i = 0; i < 1000; ++i)
                launchAdd(context, nullptr, sum, sum, two);
              seen = readWord(context, sum);
            }),
            TOFU_OK)
      << world.error();
  EXPECT_EQ(seen, 2000);
}

/// Each stream goes on with what the other one has made, slowly.
TEST_F(Streams, EventsOrderTwo) {
  int64_t seen = 0;
  ASSERT_EQ(run([&](TofuContext *context) {
              TofuStream *other = runtime.stream(context, TOFU_COMMUNICATION);
              int64_t *one = makeWords(context, 1, 1),
                      *a = makeWords(context, 1, 0),
                      *b = makeWords(context, 1, 0);
              for (int i = 0; i < 5; ++i) {
                launchAdd(context, nullptr, a, b, one, 1, kLong);
                runtime.record(context, nullptr, 0);
                runtime.wait(context, other, 0);
                launchAdd(context, other, b, a, a, 1, kLong);
                runtime.record(context, other, 1);
                runtime.wait(context, nullptr, 1);
              }
              seen = readWord(context, b);
            }),
            TOFU_OK)
      << world.error();
  // b = 2 * (b + 1), five times.
  EXPECT_EQ(seen, 62);
}

/// The last record counts; there is nothing to wait for where there was none.
TEST_F(Streams, RecordsOfOneEvent) {
  int64_t seen = 0;
  ASSERT_EQ(run([&](TofuContext *context) {
              TofuStream *other = runtime.stream(context, TOFU_COMMUNICATION);
              int64_t *one = makeWords(context, 1, 1),
                      *a = makeWords(context, 1, 0),
                      *b = makeWords(context, 1, 0);
              runtime.wait(context, other, 7);
              runtime.record(context, nullptr, 3);
              launchAdd(context, nullptr, a, a, one, 1, kLong);
              runtime.record(context, nullptr, 3);
              runtime.wait(context, other, 3);
              launchAdd(context, other, b, a, one);
              runtime.record(context, other, 3);
              runtime.wait(context, nullptr, 3);
              seen = readWord(context, b);
            }),
            TOFU_OK)
      << world.error();
  EXPECT_EQ(seen, 2);
}

TEST_F(Streams, SynchronizeWaitsForAll) {
  int64_t seen = 0;
  ASSERT_EQ(run([&](TofuContext *context) {
              TofuStream *other = runtime.stream(context, TOFU_COMMUNICATION);
              int64_t *one = makeWords(context, 1, 1),
                      *a = makeWords(context, 1, 0);
              runtime.synchronize(context);
              launchAdd(context, other, a, one, one, 1, kLong);
              runtime.synchronize(context);
              seen = readWord(context, a);
            }),
            TOFU_OK)
      << world.error();
  EXPECT_EQ(seen, 2);
}

/// A run has ended when all streams have.
TEST_F(Streams, RunsWaitForAll) {
  void *memory = world.backend->allocate(world.context(0), 8);
  int64_t seen = 0;
  for (int64_t i = 1; i < 4; ++i) {
    ASSERT_EQ(run([&](TofuContext *context) {
                int64_t *value = makeWords(context, 1, i);
                runtime.synchronize(context);
                launchAdd(context, runtime.stream(context, TOFU_COMMUNICATION),
                          memory, value, value, 1, kLong);
              }),
              TOFU_OK)
        << world.error();
    world.backend->copyOut(world.context(0), &seen, memory, 8);
    EXPECT_EQ(seen, 2 * i);
  }
  world.backend->release(world.context(0), memory);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

using DeviceMemory = OneDevice;

TEST_F(DeviceMemory, IsAlignedAndCounted) {
  TofuContext *context = world.context(0);
  void *input = world.backend->allocate(context, 1000);
  bool isAligned = true;
  ASSERT_EQ(run([&](TofuContext *context) {
              void *a = runtime.alloc(context, 5000),
                   *b = runtime.alloc(context, 300);
              for (void *memory : {a, b})
                isAligned &= reinterpret_cast<uintptr_t>(memory) % 64 == 0;
              runtime.free(context, a);
              runtime.free(context, nullptr);
              runtime.alloc(context, 0);
            }),
            TOFU_OK)
      << world.error();
  EXPECT_TRUE(isAligned);
  TofuMemoryStats stats = world.memory(0);
  EXPECT_EQ(stats.inputBytes, 1000);
  EXPECT_EQ(stats.programBytes, 300);
  EXPECT_EQ(stats.peakProgramBytes, 5300);
  EXPECT_EQ(stats.peakBytes, 6300);
  world.backend->reset(context);
  world.backend->resetStats(context);
  EXPECT_EQ(world.memory(0).peakProgramBytes, 0);
  EXPECT_EQ(world.memory(0).peakBytes, 1000);
  world.backend->release(context, input);
  EXPECT_EQ(world.memory(0).inputBytes, 0);
}

/// What is freed while a kernel still uses it goes to others after that.
TEST_F(DeviceMemory, IsFreedInOrder) {
  std::vector<int64_t> seen;
  seen.reserve(20);
  ASSERT_EQ(run([&](TofuContext *context) {
              int64_t *sum = makeWords(context, 1, 0);
              for (int64_t i = 0; i < 20; ++i) {
                int64_t *value = makeWords(context, 1, i);
                launchAdd(context, nullptr, sum, sum, value, 1, kLong / 4);
                runtime.free(context, value);
                int64_t *next = makeWords(context, 1, 1000);
                seen.push_back(readWord(context, sum));
                runtime.free(context, next);
              }
            }),
            TOFU_OK)
      << world.error();
  int64_t want = 0;
  for (size_t i = 0; i < seen.size(); ++i)
    EXPECT_EQ(seen[i], want += i);
}

/// More in all than any GPU has.
TEST_F(DeviceMemory, IsUsedAgain) {
  constexpr int64_t kBytes = 256 << 20;
  ASSERT_EQ(run([&](TofuContext *context) {
              for (int i = 0; i < 2000; ++i)
                runtime.free(context, runtime.alloc(context, kBytes));
            }),
            TOFU_OK)
      << world.error();
  EXPECT_EQ(world.memory(0).peakProgramBytes, kBytes);
}

/// Nothing but the run has failed.
TEST_F(DeviceMemory, Errors) {
  constexpr int64_t kTooMuch = int64_t(1) << 50;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(
        fail([&](TofuContext *context) { runtime.alloc(context, kTooMuch); }),
        "device 0: no memory on GPU 0 for 1125899906842624 bytes");
    int8_t isNew;
    EXPECT_EQ(fail([&](TofuContext *context) {
                runtime.global(context, "g", kTooMuch, &isNew);
              }),
              "device 0: no memory on GPU 0 for 1125899906842624 bytes");
    EXPECT_EQ(fail([&](TofuContext *context) { runtime.alloc(context, -8); }),
              "device 0: no memory on GPU 0 for -8 bytes");
    EXPECT_EQ(
        fail([&](TofuContext *context) { runtime.free(context, &isNew); }),
        "device 0: memory is freed that is not the device's");
    EXPECT_EQ(world.backend->allocate(world.context(0), kTooMuch), nullptr);
    expectUsable();
  }
}

TEST_F(DeviceMemory, GlobalsStay) {
  int64_t seen = 0;
  auto count = [&](TofuContext *context) {
    int8_t isNew = 0;
    void *global = runtime.global(context, "g", 8, &isNew);
    int64_t *one = makeWords(context, 1, 1);
    launchAdd(context, nullptr, global, isNew ? one : global, one);
    seen = readWord(context, global);
  };
  for (int64_t want : {2, 3, 4}) {
    ASSERT_EQ(run(count), TOFU_OK) << world.error();
    EXPECT_EQ(seen, want);
    world.backend->reset(world.context(0));
    EXPECT_EQ(world.memory(0).programBytes, 8);
  }
  fail([&](TofuContext *context) { runtime.fail(context, "no", "here"); });
  EXPECT_EQ(world.memory(0).programBytes, 0);
  ASSERT_EQ(run(count), TOFU_OK) << world.error();
  EXPECT_EQ(seen, 2);
}

TEST_F(DeviceMemory, Constants) {
  static const int64_t constants[] = {7, 8, 9};
  const void *first = nullptr, *second = nullptr;
  int64_t seen = 0;
  for (const void **address : {&first, &second})
    ASSERT_EQ(run([&](TofuContext *context) {
                *address =
                    runtime.constant(context, constants, sizeof(constants));
                int64_t *sum = makeWords(context, 1, 0);
                // Ready for all streams.
                TofuStream *other = runtime.stream(context, TOFU_COMMUNICATION);
                runtime.synchronize(context);
                launchAdd(context, other, sum, *address,
                          static_cast<const int64_t *>(*address) + 2);
                runtime.synchronize(context);
                seen = readWord(context, sum);
              }),
              TOFU_OK)
        << world.error();
  EXPECT_EQ(seen, 16);
  EXPECT_EQ(first, second);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

using Copies = OneDevice;

std::vector<int64_t> makeNumbers(int64_t count, int64_t first) {
  std::vector<int64_t> numbers(count);
  for (int64_t i = 0; i < count; ++i)
    numbers[i] = first + 3 * i;
  return numbers;
}

/// By way of pinned memory, in chunks of 4 MiB.
TEST_F(Copies, ReadsOfAllSizes) {
  const std::vector<int64_t> numbers = makeNumbers(3 << 20, 5);
  std::vector<int64_t> seen(numbers.size());
  bool isSame = true;
  ASSERT_EQ(run([&](TofuContext *context) {
              for (size_t bytes : {8ul, 1ul, 0ul, (4ul << 20) - 1, 4ul << 20,
                                   (4ul << 20) + 1, 8 * numbers.size(), 13ul}) {
                void *memory = runtime.alloc(context, bytes);
                runtime.write(context, nullptr, memory, numbers.data(), bytes);
                std::fill(seen.begin(), seen.end(), -1);
                runtime.read(context, nullptr, seen.data(), memory, bytes);
                isSame &= !std::memcmp(seen.data(), numbers.data(), bytes);
                runtime.free(context, memory);
              }
            }),
            TOFU_OK)
      << world.error();
  EXPECT_TRUE(isSame);
}

/// What is written may change after the call, however long the stream takes.
TEST_F(Copies, WritesKeepWhatTheyGot) {
  const std::vector<int64_t> numbers = makeNumbers(1 << 20, 5);
  for (size_t count : {size_t(1), size_t(1000), numbers.size()}) {
    std::vector<int64_t> source(numbers.begin(), numbers.begin() + count),
        seen(count);
    ASSERT_EQ(run([&](TofuContext *context) {
                int64_t *one = makeWords(context, 1, 1);
                void *memory = runtime.alloc(context, 8 * count);
                launchAdd(context, nullptr, one, one, one, 1, kLong);
                runtime.write(context, nullptr, memory, source.data(),
                              8 * count);
                std::fill(source.begin(), source.end(), -1);
                runtime.read(context, nullptr, seen.data(), memory, 8 * count);
                runtime.free(context, memory);
              }),
              TOFU_OK)
        << world.error();
    EXPECT_TRUE(std::equal(seen.begin(), seen.end(), numbers.begin()));
  }
}

/// A read comes after what is on the stream.
TEST_F(Copies, ReadsWait) {
  int64_t seen = 0;
  ASSERT_EQ(run([&](TofuContext *context) {
              TofuStream *other = runtime.stream(context, TOFU_COMMUNICATION);
              int64_t *word = makeWords(context, 1, 1);
              runtime.synchronize(context);
              for (int i = 0; i < 3; ++i)
                launchAdd(context, other, word, word, word, 1, kLong);
              runtime.read(context, other, &seen, word, 8);
            }),
            TOFU_OK)
      << world.error();
  EXPECT_EQ(seen, 8);
}

TEST_F(Copies, OfRunners) {
  TofuContext *context = world.context(0);
  // More than two chunks of pinned memory.
  const std::vector<int64_t> numbers = makeNumbers((1 << 20) + 1, 11);
  std::vector<int64_t> seen(numbers.size());
  size_t bytes = 8 * numbers.size();
  void *memory = world.backend->allocate(context, bytes);
  EXPECT_TRUE(world.backend->copyIn(context, memory, numbers.data(), bytes));
  ASSERT_EQ(run([&](TofuContext *context) {
              launchAdd(context, nullptr, memory, memory, memory,
                        numbers.size());
            }),
            TOFU_OK)
      << world.error();
  EXPECT_TRUE(world.backend->copyOut(context, seen.data(), memory, bytes));
  EXPECT_TRUE(world.backend->copyOut(context, seen.data(), memory, 0));
  world.backend->release(context, memory);
  int64_t wrong = 0;
  for (size_t i = 0; i < numbers.size(); ++i)
    wrong += seen[i] != 2 * numbers[i];
  EXPECT_EQ(wrong, 0);
}

/// The transpose of a matrix that has gaps between its rows: more than two
/// chunks of it.
TEST_F(Copies, OfTensorsWithGaps) {
  TofuContext *context = world.context(0);
  const int64_t rows = 1030, columns = 1021, row = 1024;
  const std::vector<int64_t> numbers = makeNumbers(rows * row, 17);
  std::vector<int64_t> seen(rows * columns);
  void *memory = world.backend->allocate(context, 8 * numbers.size());
  EXPECT_TRUE(world.backend->copyIn(context, memory, numbers.data(),
                                    8 * numbers.size()));
  const int64_t sizes[] = {columns, rows}, strides[] = {1, row};
  EXPECT_TRUE(world.backend->packOut(context, seen.data(), memory, 8, 2, sizes,
                                     strides));
  world.backend->release(context, memory);
  int64_t wrong = 0;
  for (int64_t i = 0; i < columns; ++i)
    for (int64_t j = 0; j < rows; ++j)
      wrong += seen[i * rows + j] != numbers[j * row + i];
  EXPECT_EQ(wrong, 0);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

class Kernels : public OneDevice {
protected:
  /// The error of a launch of that kernel.
  std::string failLaunch(const TofuKernel &kernel, int64_t threads = 1) {
    return fail([&](TofuContext *context) {
      void *memory = runtime.alloc(context, 8);
      const int64_t shape[6] = {1, 1, 1, threads, 1, 1};
      void *arguments[] = {&memory};
      runtime.launch(context, nullptr, &kernel, "model.mlir:7:1", shape,
                     arguments);
    });
  }
  /// Launches on the host look at no image.
  static std::string getReason() { return "the library has no GPU code"; }
};

/// All threads, in the order of their numbers.
TEST_F(Kernels, GetTheirShape) {
  const int64_t shape[6] = {2, 3, 4, 5, 6, 7};
  std::vector<int64_t> seen(2 * 3 * 4 * 5 * 6 * 7);
  ASSERT_EQ(run([&](TofuContext *context) {
              void *memory = runtime.alloc(context, 8 * seen.size());
              void *arguments[] = {&memory};
              runtime.launch(context, nullptr, &numberKernel, "here", shape,
                             arguments);
              const int64_t empty[6] = {2, 0, 4, 1, 1, 1};
              runtime.launch(context, nullptr, &numberKernel, "here", empty,
                             arguments);
              runtime.read(context, nullptr, seen.data(), memory,
                           8 * seen.size());
            }),
            TOFU_OK)
      << world.error();
  size_t next = 0;
  int64_t wrong = 0;
  forEachIndex({4, 3, 2, 7, 6, 5}, [&](const std::vector<int64_t> &i) {
    wrong += seen[next++] != i[2] + 10 * i[1] + 100 * i[0] + 1000 * i[5] +
                                 10000 * i[4] + 100000 * i[3];
  });
  EXPECT_EQ(wrong, 0);
}

/// One image, loaded for all devices, and used in all worlds.
TEST_F(Kernels, OfOneImage) {
  for (int i = 0; i < 2; ++i) {
    int64_t devices = std::min(getNumDevices(), maxDevices);
    TestWorld many(devices);
    std::vector<int64_t> seen(2 * devices);
    ASSERT_EQ(many.run([&](TofuContext *context, int64_t device) {
      int64_t *words = makeWords(context, 2, device);
      const int64_t shape[6] = {1, 1, 1, 1, 1, 1};
      void *arguments[] = {&words};
      launchAdd(context, nullptr, words + 1, words, words);
      runtime.launch(context, nullptr, &numberKernel, "here", shape, arguments);
      runtime.read(context, nullptr, &seen[2 * device], words, 16);
    }),
              TOFU_OK)
        << many.error();
    for (int64_t device = 0; device < devices; ++device) {
      EXPECT_EQ(seen[2 * device], 0);
      EXPECT_EQ(seen[2 * device + 1], 2 * device);
    }
  }
}

TEST_F(Kernels, Errors) {
  if (isOnHost())
    GTEST_SKIP() << getReason();
  TofuKernel kernel = numberKernel;
  kernel.name = "missing";
  EXPECT_EQ(failLaunch(kernel).find("device 0, model.mlir:7:1: missing: "), 0u)
      << world.error();
  TofuKernel broken = numberKernel;
  broken.image = ".version 7.0 no PTX";
  EXPECT_EQ(failLaunch(broken).find("device 0, model.mlir:7:1: number: "), 0u)
      << world.error();
  // More threads than a block can have.
  EXPECT_EQ(
      failLaunch(numberKernel, 2048).find("device 0, model.mlir:7:1: number: "),
      0u)
      << world.error();
  kernel.image = nullptr;
  EXPECT_EQ(failLaunch(kernel),
            "device 0, model.mlir:7:1: a kernel is not compiled for GPUs");
  kernel.version = 4;
  EXPECT_EQ(failLaunch(kernel),
            "device 0, model.mlir:7:1: a kernel is of another version of Tofu");
  expectUsable();
}

} // namespace
