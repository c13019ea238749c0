//===- WorldTest.cpp - Tests of failures, memory and worlds ---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestWorld.h"

#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

using namespace mlir::tofu::test;

namespace {

/// A sum of one i64 over all devices.
std::vector<int64_t> sumTable(int64_t devices) {
  std::vector<int64_t> table = {TOFU_TABLE_VERSION,
                                TOFU_ALL_REDUCE,
                                TOFU_COMBINE_SUM,
                                TOFU_I64,
                                0,
                                devices,
                                devices,
                                1};
  // One family, an addend each, one slot.
  table.insert(table.end(), devices, 0);
  for (int64_t device = 0; device < devices; ++device)
    table.push_back(device);
  table.insert(table.end(), devices, 0);
  return table;
}

int64_t sum(TofuContext *context, const std::vector<int64_t> &table,
            const char *location) {
  int64_t value = 1, result = 0;
  void *src[3] = {&value, &value, nullptr};
  void *dst[3] = {&result, &result, nullptr};
  tofuCollective(context, nullptr, table.data(), location, 0, src, 0, dst);
  return result;
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

TEST(World, AFailureEndsAllDevices) {
  TestWorld world(4);
  std::vector<int64_t> table = sumTable(4);
  std::atomic<int> survivors{0};
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    if (device == 2)
      tofuFail(context, "index out of bounds", "model.mlir:12:5");
    sum(context, table, "model.mlir:13:5");
    ++survivors;
  });
  EXPECT_EQ(status, TOFU_FAILED);
  EXPECT_EQ(world.error(), "device 2, model.mlir:12:5: index out of bounds");
  EXPECT_EQ(survivors, 0);
}

TEST(World, CanBeUsedAfterAFailure) {
  TestWorld world(3);
  std::vector<int64_t> table = sumTable(3);
  for (int i = 0; i < 50; ++i) {
    TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
      tofuAlloc(context, 1000);
      if (device == i % 3)
        tofuFail(context, "no", "");
      sum(context, table, "");
    });
    EXPECT_EQ(status, TOFU_FAILED);
    std::vector<int64_t> results(3);
    status = world.run([&](TofuContext *context, int64_t device) {
      results[device] = sum(context, table, "");
    });
    EXPECT_EQ(status, TOFU_OK) << world.error();
    EXPECT_EQ(results, std::vector<int64_t>(3, 3));
  }
}

/// What a processor does that divides by zero. Programs assert beforehand that
/// they can divide, functions of libraries may not.
TEST(World, ALibraryDividesByZero) {
  TestWorld world(2);
  std::vector<int64_t> table = sumTable(2);
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    if (device == 1)
      std::raise(SIGFPE);
    sum(context, table, "m.mlir:7:3");
  });
  EXPECT_EQ(status, TOFU_FAILED);
  EXPECT_EQ(world.error(), "device 1: integer division by zero, or of the "
                           "least number by -1");
}

TEST(World, DifferentCollectives) {
  TestWorld world(2);
  std::vector<int64_t> table = sumTable(2), other = table;
  other[1] = TOFU_REDUCE_SCATTER;
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    sum(context, device ? other : table, device ? "b.mlir:2:1" : "a.mlir:1:1");
  });
  EXPECT_EQ(status, TOFU_FAILED);
  std::string error = world.error();
  EXPECT_NE(error.find("all_reduce number 1 at a.mlir:1:1"), std::string::npos)
      << error;
  EXPECT_NE(error.find("reduce_scatter number 1 at b.mlir:2:1"),
            std::string::npos)
      << error;
}

TEST(World, ADeviceEndsEarly) {
  TestWorld world(3, 1000);
  std::vector<int64_t> table = sumTable(3);
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    if (device != 1)
      sum(context, table, "m.mlir:7:3");
  });
  EXPECT_EQ(status, TOFU_FAILED);
  std::string expected = ", m.mlir:7:3: all_reduce waits for devices that have "
                         "ended the program: 1";
  std::string error = world.error();
  EXPECT_TRUE(error == "device 0" + expected || error == "device 2" + expected)
      << error;
}

TEST(World, TimesOut) {
  TestWorld world(4, 0.05);
  std::vector<int64_t> table = sumTable(4);
  std::atomic<bool> stop{false};
  std::thread waker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop = true;
  });
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    while (device % 2 && !stop)
      std::this_thread::yield();
    sum(context, table, "m.mlir:7:3");
  });
  waker.join();
  EXPECT_EQ(status, TOFU_FAILED);
  std::string expected = ", m.mlir:7:3: all_reduce timed out after 0.05 s "
                         "waiting for devices 1, 3";
  std::string error = world.error();
  EXPECT_TRUE(error == "device 0" + expected || error == "device 2" + expected)
      << error;
}

TEST(World, ADeviceNeverComesBack) {
  TestWorld world(2, 0.05);
  std::vector<int64_t> table = sumTable(2);
  std::atomic<bool> stop{false}, stopped{false};
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    while (device == 1 && !stop)
      std::this_thread::yield();
    stopped = device == 1;
    if (device == 0)
      sum(context, table, "m.mlir:7:3");
  });
  EXPECT_EQ(status, TOFU_STUCK);
  EXPECT_EQ(world.error(), "device 0, m.mlir:7:3: all_reduce timed out after "
                           "0.05 s waiting for devices 1");
  // Only because this one does come back can the world be destroyed.
  stop = true;
  while (!stopped)
    std::this_thread::yield();
}

void expectTableError(std::vector<int64_t> table, const std::string &message) {
  TestWorld world(2);
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    if (device == 0)
      sum(context, table, "here");
  });
  EXPECT_EQ(status, TOFU_FAILED);
  EXPECT_EQ(world.error(), "device 0, here: " + message);
}

TEST(World, BadTables) {
  auto with = [](size_t word, int64_t value) {
    std::vector<int64_t> table = sumTable(2);
    table[word] = value;
    return table;
  };
  expectTableError(with(0, 2), "table has version 2, the runtime reads 5");
  expectTableError(with(1, 6), "unknown kind in table: 6");
  expectTableError(with(2, -1), "unknown combiner in table: -1");
  expectTableError(with(2, TOFU_COMBINE_MINNUM), "no combiner minnum for i64");
  expectTableError(with(3, TOFU_NUM_ELEMENT_TYPES),
                   "unknown element type in table: 12");
  expectTableError(with(4, 33), "unknown rank in table: 33");
  expectTableError(with(5, 3), "all_reduce is for 3 devices, there are 2");
  expectTableError(with(6, 3), "unknown number of addends in table: 3");
  expectTableError(with(7, -1), "unknown number of slots in table: -1");
  expectTableError(with(9, 2), "unknown family in table: 2");
  expectTableError(with(10, 2), "unknown addend in table: 2");
  expectTableError(with(12, 1), "unknown slot in table: 1");
  // Both devices want [0, 2), and hold only the first element.
  expectTableError({TOFU_TABLE_VERSION,
                    TOFU_FETCH,
                    0,
                    TOFU_I64,
                    1,
                    2,
                    1,
                    1,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    1,
                    0,
                    1,
                    0,
                    2,
                    0,
                    2},
                   "fetch gives device 0 elements that no device holds");
  // The second one holds no addend of [1, 2).
  expectTableError({TOFU_TABLE_VERSION,
                    TOFU_ALL_REDUCE,
                    TOFU_COMBINE_SUM,
                    TOFU_I64,
                    1,
                    2,
                    2,
                    1,
                    0,
                    0,
                    0,
                    1,
                    0,
                    0,
                    0,
                    2,
                    0,
                    1,
                    0,
                    2,
                    0,
                    1},
                   "all_reduce gives device 0 elements that no device holds "
                   "all addends of");
}

TEST(World, SizesMustBeThoseOfTheBoxes) {
  TestWorld world(1);
  std::vector<int64_t> table = {TOFU_TABLE_VERSION,
                                TOFU_FETCH,
                                0,
                                TOFU_I64,
                                1,
                                1,
                                1,
                                1,
                                0,
                                0,
                                0,
                                0,
                                2,
                                0,
                                2};
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    int64_t data[3] = {};
    void *src[5] = {data, data, nullptr, (void *)3, (void *)1};
    tofuCollective(context, nullptr, table.data(), "here", 1, src, 1, src);
  });
  EXPECT_EQ(status, TOFU_FAILED);
  EXPECT_EQ(world.error(), "device 0, here: source of fetch has sizes [3], the "
                           "device's box has [2]");
}

TEST(World, NumberOfDevices) {
  const TofuBackend *backend = tofuGetBackend();
  for (int64_t devices : {0, -1, 1025}) {
    TofuWorldOptions options = {devices, 1, 0};
    char error[200] = "";
    EXPECT_EQ(backend->createWorld(&options, error, sizeof(error)), nullptr);
    EXPECT_EQ(error, "the host backend has 1 to 1024 devices, not " +
                         std::to_string(devices));
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(World, MemoryIsCounted) {
  TestWorld world(1);
  TofuContext *context = world.context(0);
  void *input = world.backend->allocate(context, 1000);
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    void *a = tofuAlloc(context, 5000), *b = tofuAlloc(context, 300);
    if (reinterpret_cast<uintptr_t>(a) % 64 ||
        reinterpret_cast<uintptr_t>(b) % 64)
      tofuFail(context, "not aligned", "");
    tofuFree(context, a);
    tofuFree(context, nullptr);
    tofuAlloc(context, 0);
  });
  EXPECT_EQ(status, TOFU_OK) << world.error();
  TofuMemoryStats stats = world.memory(0);
  EXPECT_EQ(stats.inputBytes, 1000);
  EXPECT_EQ(stats.programBytes, 300);
  EXPECT_EQ(stats.peakProgramBytes, 5300);
  EXPECT_EQ(stats.peakBytes, 6300);

  world.backend->reset(context);
  world.backend->resetStats(context);
  stats = world.memory(0);
  EXPECT_EQ(stats.programBytes, 0);
  EXPECT_EQ(stats.peakProgramBytes, 0);
  EXPECT_EQ(stats.peakBytes, 1000);
  world.backend->release(context, input);
  EXPECT_EQ(world.memory(0).inputBytes, 0);
}

TEST(World, MemoryIsUsedAgain) {
  TestWorld world(1);
  world.run([&](TofuContext *context, int64_t device) {
    void *first = tofuAlloc(context, 1 << 20);
    tofuFree(context, first);
    if (tofuAlloc(context, 1 << 20) != first)
      tofuFail(context, "another block", "");
  });
  EXPECT_EQ(world.error(), "");
}

TEST(World, GlobalsStay) {
  constexpr int64_t kDevices = 3;
  TestWorld world(kDevices);
  std::vector<int64_t> seen(kDevices);
  auto count = [&](TofuContext *context, int64_t device) {
    int8_t isNew = -1, otherIsNew = -1;
    void *memory = tofuGlobal(context, "state", 8, &isNew);
    auto *state = static_cast<int64_t *>(memory);
    if (isNew)
      *state = 10 * device;
    if (tofuGlobal(context, "state", 8, &otherIsNew) != state || otherIsNew)
      tofuFail(context, "another block", "");
    seen[device] = ++*state;
  };
  for (int64_t run = 1; run < 4; ++run) {
    EXPECT_EQ(world.run(count), TOFU_OK) << world.error();
    EXPECT_EQ(seen, (std::vector<int64_t>{run, 10 + run, 20 + run}));
    EXPECT_EQ(world.memory(0).programBytes, 8);
    for (int64_t device = 0; device < kDevices; ++device)
      world.backend->reset(world.context(device));
    EXPECT_EQ(world.memory(0).programBytes, 8);
  }
  // After a failure nobody knows what they hold.
  auto fail = [&](TofuContext *context, int64_t device) {
    int8_t isNew;
    tofuGlobal(context, "state", device ? 8 : 16, &isNew);
  };
  EXPECT_EQ(world.run(fail), TOFU_FAILED);
  EXPECT_EQ(world.error(),
            "device 0: global state has 8 bytes, is asked for with 16");
  EXPECT_EQ(world.memory(1).programBytes, 0);
  EXPECT_EQ(world.run(count), TOFU_OK) << world.error();
  EXPECT_EQ(seen, (std::vector<int64_t>{1, 11, 21}));
}

TEST(World, MemoryErrors) {
  TestWorld world(1);
  auto run = [&](DeviceFunction function) {
    EXPECT_EQ(world.run(function), TOFU_FAILED);
    return world.error();
  };
  EXPECT_EQ(run([](TofuContext *context, int64_t) { tofuAlloc(context, -8); }),
            "device 0: no memory for -8 bytes beside the 0 in use");
  EXPECT_EQ(run([](TofuContext *context, int64_t) {
              tofuAlloc(context, int64_t(1) << 60);
            }),
            "device 0: no memory for 1152921504606846976 bytes beside the 0 in "
            "use");
  alignas(64) static char foreign[128] = {};
  EXPECT_EQ(run([](TofuContext *context, int64_t) {
              tofuFree(context, foreign + 64);
            }),
            "device 0: memory is freed that is not the device's");
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Leaves a digit for each word of the shape, and adds a number.
void writeShape(void **arguments, const int64_t *shape) {
  int64_t digits = 0;
  for (int i = 0; i < 6; ++i)
    digits = 10 * digits + shape[i];
  **static_cast<int64_t **>(arguments[0]) =
      digits + *static_cast<int64_t *>(arguments[1]);
}

void launch(TofuContext *context, const TofuKernel &kernel, int64_t *result,
            int64_t number) {
  const int64_t shape[6] = {1, 2, 3, 4, 5, 6};
  void *arguments[] = {&result, &number};
  tofuLaunch(context, nullptr, &kernel, "model.mlir:7:1", shape, arguments);
}

TEST(World, KernelsGetShapeAndArguments) {
  TestWorld world(2);
  TofuKernel kernel = {TOFU_TABLE_VERSION, "k", nullptr, 0,
                       writeShape,         0,   nullptr};
  std::vector<int64_t> seen(2);
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    void *memory = tofuAlloc(context, 8);
    launch(context, kernel, static_cast<int64_t *>(memory), 1000000 * device);
    tofuRead(context, nullptr, &seen[device], memory, 8);
    tofuFree(context, memory);
  });
  EXPECT_EQ(status, TOFU_OK) << world.error();
  EXPECT_EQ(seen, (std::vector<int64_t>{123456, 1123456}));
}

TEST(World, KernelErrors) {
  TestWorld world(1);
  auto run = [&](const TofuKernel &kernel) {
    EXPECT_EQ(world.run([&](TofuContext *context, int64_t) {
      int64_t result = 0;
      launch(context, kernel, &result, 0);
    }),
              TOFU_FAILED);
    return world.error();
  };
  EXPECT_EQ(
      run({TOFU_TABLE_VERSION - 1, "k", nullptr, 0, writeShape, 0, nullptr}),
      "device 0, model.mlir:7:1: a kernel is of another version of Tofu");
  EXPECT_EQ(run({TOFU_TABLE_VERSION, "k", "ptx", 4, nullptr, 0, nullptr}),
            "device 0, model.mlir:7:1: a kernel is not compiled for the host");
}

TEST(World, ElementsAndConstants) {
  TestWorld world(1);
  static const int32_t constants[] = {7, 8, 9};
  int32_t seen[2] = {};
  const void *first = nullptr, *second = nullptr;
  TofuStatus status = world.run([&](TofuContext *context, int64_t) {
    void *memory = tofuAlloc(context, 8);
    int32_t five = 5;
    tofuWrite(context, nullptr, static_cast<int32_t *>(memory) + 1, &five, 4);
    five = 6;
    tofuRead(context, nullptr, &seen[0], static_cast<int32_t *>(memory) + 1, 4);
    first = tofuConstant(context, constants, sizeof(constants));
    second = tofuConstant(context, constants, sizeof(constants));
    tofuRead(context, nullptr, &seen[1],
             static_cast<const int32_t *>(first) + 2, 4);
    tofuFree(context, memory);
  });
  EXPECT_EQ(status, TOFU_OK) << world.error();
  EXPECT_EQ(seen[0], 5);
  EXPECT_EQ(seen[1], 9);
  EXPECT_EQ(first, second);
}

} // namespace
