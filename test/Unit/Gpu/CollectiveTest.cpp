//===- CollectiveTest.cpp - Tests of GPUs that work together --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Beside these tests those of the host runtime's collectives run on GPUs. Even
// collectives are NCCL's where each device has a GPU.
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "Gpu.h"

#include "gtest/gtest.h"

#include <chrono>
#include <random>
#include <thread>

using namespace mlir::tofu::test;

namespace {

using Words = std::vector<int64_t>;

/// Of all devices as one group.
Words makeTable(int64_t kind, int64_t combiner, int64_t type, int64_t count,
                int64_t devices, int64_t root = 0) {
  Words table = {
      TOFU_TABLE_VERSION, kind, combiner, type, count, root, devices};
  table.insert(table.end(), devices, 0);
  for (int64_t device = 0; device < devices; ++device)
    table.push_back(device);
  return table;
}

/// One i64 of each device, to the sum, without NCCL.
Words makeUnevenSum(int64_t devices) {
  Words table = {
      TOFU_TABLE_VERSION, TOFU_ALL_REDUCE, TOFU_COMBINE_SUM, TOFU_I64,
      /*rank=*/0,         devices,         devices,          1};
  table.insert(table.end(), devices, 0);
  for (int64_t device = 0; device < devices; ++device)
    table.push_back(device);
  table.insert(table.end(), devices, 0);
  return table;
}

/// What a run has of each device: memory of the host.
template <typename T>
using Values = std::vector<std::vector<T>>;

//===----------------------------------------------------------------------===//
// Even collectives
//===----------------------------------------------------------------------===//

struct Case {
  int64_t kind, combiner, type, count;
  int64_t numGiven(int64_t devices) const {
    return count * (kind == TOFU_REDUCE_SCATTER ? devices : 1);
  }
  int64_t numWanted(int64_t devices) const {
    return count * (kind == TOFU_ALL_GATHER ? devices : 1);
  }
};

/// What a device gives: sums and products of up to eight of these are exact in
/// all types.
double valueOf(int64_t device, int64_t i) { return (device + i) % 3 - 1; }

double expectedOf(const Case &c, int64_t devices, int64_t device, int64_t i) {
  if (c.kind == TOFU_ALL_GATHER)
    return valueOf(i / c.count, i % c.count);
  if (c.kind == TOFU_BROADCAST)
    return valueOf(devices - 1, i);
  if (c.kind == TOFU_REDUCE_SCATTER)
    i += device * c.count;
  double value = valueOf(0, i);
  for (int64_t other = 1; other < devices; ++other) {
    double next = valueOf(other, i);
    value = c.combiner == TOFU_COMBINE_PROD  ? value * next
            : c.combiner == TOFU_COMBINE_MIN ? std::min(value, next)
            : c.combiner == TOFU_COMBINE_MAX ? std::max(value, next)
                                             : value + next;
  }
  return value;
}

void check(const Case &c, TestWorld &world) {
  int64_t devices = world.devices, bytes = bytesOf(c.type);
  Words table = makeTable(c.kind, c.combiner, c.type, c.count, devices,
                          c.kind == TOFU_BROADCAST ? devices - 1 : 0);
  Values<char> given(devices), got(devices);
  for (int64_t device = 0; device < devices; ++device) {
    given[device].resize(c.numGiven(devices) * bytes);
    got[device].resize(c.numWanted(devices) * bytes);
    for (int64_t i = 0; i < c.numGiven(devices); ++i)
      store(c.type, given[device].data() + i * bytes, valueOf(device, i));
  }
  ASSERT_EQ(world.run([&](TofuContext *context, int64_t device) {
    const Runtime &runtime = getRuntime();
    void *src = runtime.alloc(context, given[device].size()),
         *dst = runtime.alloc(context, got[device].size());
    runtime.write(context, nullptr, src, given[device].data(),
                  given[device].size());
    runtime.evenCollective(context, nullptr, table.data(), "here", src, dst);
    runtime.read(context, nullptr, got[device].data(), dst, got[device].size());
    runtime.free(context, src);
    runtime.free(context, dst);
  }),
            TOFU_OK)
      << world.error();
  for (int64_t device = 0; device < devices; ++device) {
    int64_t wrong = 0;
    for (int64_t i = 0; i < c.numWanted(devices); ++i)
      wrong += load(c.type, got[device].data() + i * bytes) !=
               expectedOf(c, devices, device, i);
    EXPECT_EQ(wrong, 0) << "device " << device;
  }
}

/// The combiners that programs leave to even collectives.
std::vector<int64_t> combinersOf(int64_t type) {
  if (isFloatType(type))
    return {TOFU_COMBINE_SUM, TOFU_COMBINE_PROD};
  return {TOFU_COMBINE_SUM, TOFU_COMBINE_PROD, TOFU_COMBINE_MIN,
          TOFU_COMBINE_MAX};
}

std::vector<Case> makeCases() {
  std::vector<Case> cases;
  for (int64_t count : {1, 3, 1000, 100003})
    for (int64_t type : {TOFU_F32, TOFU_F64, TOFU_F16, TOFU_BF16, TOFU_I8,
                         TOFU_I32, TOFU_I64}) {
      for (int64_t kind : {TOFU_ALL_GATHER, TOFU_BROADCAST})
        cases.push_back({kind, TOFU_COMBINE_NONE, type, count});
      for (int64_t combiner : combinersOf(type))
        for (int64_t kind : {TOFU_ALL_REDUCE, TOFU_REDUCE_SCATTER})
          cases.push_back({kind, combiner, type, count});
    }
  return cases;
}

TEST(EvenCollectives, AllKinds) {
  for (int64_t devices = 2; devices <= getNumDevices(); ++devices) {
    TestWorld world(devices);
    for (const Case &c : makeCases()) {
      SCOPED_TRACE(testing::Message()
                   << devices << " devices, kind " << c.kind << ", combiner "
                   << c.combiner << ", type " << c.type << ", count "
                   << c.count);
      check(c, world);
      if (testing::Test::HasFailure())
        return;
    }
  }
}

/// Sums of any numbers, in place.
TEST(EvenCollectives, ReplicasHaveTheSameBits) {
  constexpr int64_t kCount = 1 << 20;
  int64_t devices = getNumDevices();
  Words table =
      makeTable(TOFU_ALL_REDUCE, TOFU_COMBINE_SUM, TOFU_F32, kCount, devices);
  Values<float> values(devices);
  std::vector<double> sums(kCount);
  std::mt19937 random(1);
  for (auto &each : values)
    for (int64_t i = 0; i < kCount; ++i) {
      each.push_back(std::uniform_real_distribution<float>(-1, 1)(random));
      sums[i] += each.back();
    }
  TestWorld world(devices);
  ASSERT_EQ(world.run([&](TofuContext *context, int64_t device) {
    const Runtime &runtime = getRuntime();
    void *memory = runtime.alloc(context, 4 * kCount);
    runtime.write(context, nullptr, memory, values[device].data(), 4 * kCount);
    runtime.evenCollective(context, nullptr, table.data(), "here", memory,
                           memory);
    runtime.read(context, nullptr, values[device].data(), memory, 4 * kCount);
  }),
            TOFU_OK)
      << world.error();
  for (int64_t device = 1; device < devices; ++device)
    EXPECT_EQ(std::memcmp(values[0].data(), values[device].data(), 4 * kCount),
              0)
        << device;
  int64_t wrong = 0;
  for (int64_t i = 0; i < kCount; ++i)
    wrong += std::abs(values[0][i] - sums[i]) > 1e-5;
  EXPECT_EQ(wrong, 0);
}

/// Groups on a stream of their own: they wait for what they read, and what
/// comes after waits for them.
TEST(EvenCollectives, BesideComputation) {
  int64_t devices = getNumDevices();
  Words sum =
            makeTable(TOFU_ALL_REDUCE, TOFU_COMBINE_SUM, TOFU_I64, 2, devices),
        gather =
            makeTable(TOFU_ALL_GATHER, TOFU_COMBINE_NONE, TOFU_I64, 1, devices);
  Values<int64_t> seen(devices, std::vector<int64_t>(2 + devices));
  TestWorld world(devices);
  for (int64_t run = 1; run < 4; ++run) {
    ASSERT_EQ(world.run([&](TofuContext *context, int64_t device) {
      const Runtime &runtime = getRuntime();
      TofuStream *stream = runtime.stream(context, TOFU_COMMUNICATION);
      auto make = [&](int64_t words) {
        return static_cast<int64_t *>(runtime.alloc(context, 8 * words));
      };
      int64_t *own = make(2), *got = make(2 + devices), *late = make(2);
      int64_t values[2] = {device, run};
      runtime.write(context, nullptr, own, values, 16);
      launchAdd(context, nullptr, own, own, own, 2, kLong);
      runtime.record(context, nullptr, 0);
      runtime.wait(context, stream, 0);
      runtime.beginGroup(context, stream);
      runtime.evenCollective(context, stream, sum.data(), "here", own, got);
      runtime.evenCollective(context, stream, gather.data(), "here", own,
                             got + 2);
      runtime.endGroup(context, stream);
      // Meanwhile.
      launchAdd(context, nullptr, late, own, own, 2, kLong);
      runtime.record(context, stream, 1);
      runtime.wait(context, nullptr, 1);
      launchAdd(context, nullptr, got, got, late, 2);
      runtime.read(context, nullptr, seen[device].data(), got,
                   8 * (2 + devices));
    }),
              TOFU_OK)
        << world.error();
    for (int64_t device = 0; device < devices; ++device) {
      // Each has 2 * device and 2 * run; twice of these is added.
      std::vector<int64_t> want = {devices * (devices - 1) + 4 * device,
                                   2 * run * devices + 4 * run};
      for (int64_t other = 0; other < devices; ++other)
        want.push_back(2 * other);
      EXPECT_EQ(seen[device], want);
    }
  }
}

/// Each from what the one before has given.
TEST(EvenCollectives, ManyInARow) {
  int64_t devices = getNumDevices();
  Words table =
      makeTable(TOFU_ALL_REDUCE, TOFU_COMBINE_SUM, TOFU_I64, 1, devices);
  std::vector<int64_t> seen(devices);
  TestWorld world(devices);
  ASSERT_EQ(world.run([&](TofuContext *context, int64_t device) {
    const Runtime &runtime = getRuntime();
    auto *words = static_cast<int64_t *>(runtime.alloc(context, 16));
    int64_t own[2] = {device, 0};
    runtime.write(context, nullptr, words, own, 16);
    for (int i = 0; i < 300; ++i)
      runtime.evenCollective(context, nullptr, table.data(), "here",
                             words + i % 2, words + 1 - i % 2);
    runtime.read(context, nullptr, &seen[device], words, 8);
  }),
            TOFU_OK)
      << world.error();
  uint64_t want = devices * (devices - 1) / 2;
  for (int i = 1; i < 300; ++i)
    want *= devices;
  EXPECT_EQ(seen, Words(devices, static_cast<int64_t>(want)));
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

/// Two devices, whose collectives are even or not.
class Failures : public testing::TestWithParam<bool> {
protected:
  void sum(TofuContext *context, int64_t device) {
    const Runtime &runtime = getRuntime();
    auto *words = static_cast<int64_t *>(runtime.alloc(context, 16));
    int64_t own = 10 + device;
    runtime.write(context, nullptr, words, &own, 8);
    if (GetParam()) {
      runtime.evenCollective(context, nullptr, even.data(), "here", words,
                             words + 1);
    } else {
      void *src[] = {words, words, nullptr},
           *dst[] = {words + 1, words + 1, nullptr};
      runtime.collective(context, nullptr, uneven.data(), "here", 0, src, 0,
                         dst);
    }
    runtime.read(context, nullptr, &seen[device], words + 1, 8);
  }
  void runGood(TestWorld &world) {
    seen.assign(2, 0);
    ASSERT_EQ(world.run([this](TofuContext *context, int64_t device) {
      sum(context, device);
    }),
              TOFU_OK)
        << world.error();
    EXPECT_EQ(seen, Words(2, 21));
  }

  const Words even =
                  makeTable(TOFU_ALL_REDUCE, TOFU_COMBINE_SUM, TOFU_I64, 1, 2),
              uneven = makeUnevenSum(2);
  Words seen;
};
INSTANTIATE_TEST_SUITE_P(OfEach, Failures, testing::Bool(),
                         [](const auto &info) {
                           return std::string(info.param ? "Even" : "Uneven");
                         });

/// The other one, which is at a collective, ends as well; and then all goes on.
TEST_P(Failures, OneEndsAll) {
  TestWorld world(2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(world.run([this](TofuContext *context, int64_t device) {
      if (device == 1)
        getRuntime().fail(context, "no more", "there");
      sum(context, device);
    }),
              TOFU_FAILED);
    EXPECT_EQ(world.error(), "device 1, there: no more");
    runGood(world);
  }
}

/// A device never comes: in the first run, and once there are communicators.
TEST_P(Failures, PeerStaysAway) {
  TestWorld world(2, getTimeout());
  std::string seconds = isOnHost() ? "0.2 s" : "30 s";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(world.run([this](TofuContext *context, int64_t device) {
      if (device == 0)
        sum(context, device);
    }),
              TOFU_FAILED);
    std::string error = world.error();
    EXPECT_EQ(error.find("device 0, here: "), 0u) << error;
    // Where the threads meet they know; GPUs and NCCL wait.
    bool knows = error.find("all_reduce waits for devices that have ended the "
                            "program: 1") != std::string::npos,
         waits = error.find(" after " + seconds) != std::string::npos;
    EXPECT_TRUE(knows || waits) << error;
    runGood(world);
  }
}

/// Nor does it end.
TEST_P(Failures, PeerComesLate) {
  if (!isOnHost() && getNumGpus() > 1)
    GTEST_SKIP() << "NCCL needs longer to begin with";
  TestWorld world(2, 0.2);
  EXPECT_EQ(world.run([this](TofuContext *context, int64_t device) {
    if (device == 1)
      std::this_thread::sleep_for(std::chrono::seconds(1));
    sum(context, device);
  }),
            TOFU_FAILED);
  EXPECT_NE(world.error().find(" after 0.2 s"), std::string::npos)
      << world.error();
  runGood(world);
}

//===----------------------------------------------------------------------===//
// Devices and GPUs
//===----------------------------------------------------------------------===//

std::string failToOpen(int64_t devices) {
  TofuWorldOptions options = {devices, 1, 0};
  char error[256] = "";
  EXPECT_EQ(tofuGetBackend()->createWorld(&options, error, sizeof(error)),
            nullptr);
  return error;
}

TEST(Worlds, NumberOfDevices) {
  for (int64_t devices : {0, -1, 1025})
    EXPECT_NE(failToOpen(devices).find("1 to 1024 devices, not " +
                                       std::to_string(devices)),
              std::string::npos);
}

/// They share GPUs, if all can reach the memory of all.
TEST(Worlds, MoreDevicesThanGpus) {
  int64_t devices = getNumGpus() + 1;
  if (maxDevices < devices) {
    EXPECT_NE(failToOpen(devices).find(
                  "NCCL takes one device for each GPU: there are " +
                  std::to_string(devices) + " for " +
                  std::to_string(devices - 1)),
              std::string::npos);
    return;
  }
  TestWorld world(devices);
  Words even =
            makeTable(TOFU_ALL_REDUCE, TOFU_COMBINE_SUM, TOFU_I64, 1, devices),
        seen(devices);
  ASSERT_EQ(world.run([&](TofuContext *context, int64_t device) {
    const Runtime &runtime = getRuntime();
    void *memory = runtime.alloc(context, 8);
    runtime.write(context, nullptr, memory, &device, 8);
    runtime.evenCollective(context, nullptr, even.data(), "here", memory,
                           memory);
    runtime.read(context, nullptr, &seen[device], memory, 8);
  }),
            TOFU_OK)
      << world.error();
  EXPECT_EQ(seen, Words(devices, devices * (devices - 1) / 2));
}

/// One after the other, and two at a time.
TEST(Worlds, Several) {
  for (int i = 0; i < 3; ++i) {
    TestWorld first(1), second(1);
    std::vector<int64_t> seen(2);
    for (TestWorld *world : {&first, &second})
      ASSERT_EQ(world->run([&](TofuContext *context, int64_t) {
        const Runtime &runtime = getRuntime();
        int64_t value = world == &first ? 3 : 4;
        void *memory = runtime.alloc(context, 8);
        runtime.write(context, nullptr, memory, &value, 8);
        launchAdd(context, nullptr, memory, memory, memory);
        runtime.read(context, nullptr, &seen[world == &second], memory, 8);
      }),
                TOFU_OK)
          << world->error();
    EXPECT_EQ(seen, (std::vector<int64_t>{6, 8}));
  }
}

} // namespace
