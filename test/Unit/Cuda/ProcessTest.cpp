//===- ProcessTest.cpp - Tests of devices in several processes ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each process has a world with one device. None accesses the memory of another
// one's device.
//
//===----------------------------------------------------------------------===//

#include "Fake.h"
#include "FakeProcesses.h"
#include "TestWorld.h"

#include "Tofu/Runtime/Execution.h"

#include "gtest/gtest.h"

using namespace mlir::tofu::test;

namespace {

constexpr int kProcesses = 3;

class Processes : public testing::Test {
protected:
  void SetUp() override {
    numFakeGpus = kProcesses;
    numNcclMessages = 0;
  }
  void TearDown() override {
    numFakeGpus = 1;
    EXPECT_EQ(numNcclCommunicators, 0);
    EXPECT_EQ(takeNcclFaults(), std::vector<std::string>());
  }
};

const std::vector<int64_t> sum = {TOFU_TABLE_VERSION,
                                  TOFU_ALL_REDUCE,
                                  TOFU_COMBINE_SUM,
                                  TOFU_I32,
                                  1,
                                  0,
                                  3,
                                  /*groups=*/0,
                                  0,
                                  0,
                                  /*ranks=*/0,
                                  1,
                                  2};

/// Parts of 2, 0 and 1 elements, which all get.
const std::vector<int64_t> gather = {TOFU_TABLE_VERSION,
                                     TOFU_ALL_GATHER,
                                     TOFU_COMBINE_NONE,
                                     TOFU_I32,
                                     1,
                                     3,
                                     1,
                                     1,
                                     /*groups=*/0,
                                     0,
                                     0,
                                     /*addends=*/0,
                                     0,
                                     0,
                                     /*slots=*/0,
                                     0,
                                     0,
                                     /*from=*/0,
                                     2,
                                     2,
                                     2,
                                     2,
                                     3,
                                     /*to=*/0,
                                     3,
                                     0,
                                     3,
                                     0,
                                     3};

/// Devices 0, 1 and 2 add 1, 10 and 100.
int32_t getAddend(int64_t device) {
  return device == 0 ? 1 : device == 1 ? 10 : 100;
}

TEST_F(Processes, Collectives) {
  runProcesses(kProcesses, [](int rank) {
    TestWorld world(kProcesses);
    for (int device = 0; device < kProcesses; ++device)
      EXPECT_EQ(world.context(device) != nullptr, device == rank);
    int32_t addend = getAddend(rank), total = 0;
    const int64_t sizes[] = {2, 0, 1};
    TestMemref part({sizes[rank]}, {0}, 0, 4), whole({3}, {0}, 0, 4);
    for (int64_t i = 0; i < sizes[rank]; ++i)
      std::memcpy(part.at({i}, 4), &addend, 4);
    for (int run = 0; run < 2; ++run) {
      total = 0;
      EXPECT_EQ(world.run([&](TofuContext *context, int64_t device) {
        EXPECT_EQ(device, rank);
        tofuEvenCollective(context, nullptr, sum.data(), "here", &addend,
                           &total);
        tofuCollective(context, nullptr, gather.data(), "here", 1,
                       part.descriptor(), 1, whole.descriptor());
      }),
                TOFU_OK)
          << world.error();
      EXPECT_EQ(total, 111);
      const int32_t want[] = {1, 1, 100};
      for (int64_t i = 0; i < 3; ++i)
        EXPECT_EQ(std::memcmp(whole.at({i}, 4), &want[i], 4), 0);
    }
  });
  // Two send to two others each, in two runs.
  EXPECT_EQ(numNcclMessages, 2 * 4);
}

/// One fails while the others wait for it: all end, and process 0 has its
/// message. Then they go on.
TEST_F(Processes, OneFails) {
  runProcesses(kProcesses, [](int rank) {
    TestWorld world(kProcesses);
    int32_t addend = getAddend(rank), total = 0;
    for (int failing = 0; failing < kProcesses; ++failing) {
      EXPECT_EQ(world.run([&](TofuContext *context, int64_t device) {
        if (device == failing)
          tofuFail(context, "no more", "there");
        tofuEvenCollective(context, nullptr, sum.data(), "here", &addend,
                           &total);
      }),
                TOFU_FAILED);
      std::string message =
          "device " + std::to_string(failing) + ", there: no more";
      EXPECT_EQ(world.error(), rank == 0 ? message : "");
      EXPECT_EQ(world.run([&](TofuContext *context, int64_t device) {
        tofuEvenCollective(context, nullptr, sum.data(), "here", &addend,
                           &total);
      }),
                TOFU_OK)
          << world.error();
      EXPECT_EQ(total, 111);
    }
  });
}

/// The first process has no identifier for the communicators after a run that
/// failed: none hangs, and the run after the next is good.
TEST_F(Processes, NoIdentifier) {
  runProcesses(kProcesses, [](int rank) {
    TestWorld world(kProcesses);
    int32_t addend = getAddend(rank), total = 0;
    auto run = [&](bool fails) {
      return world.run([&](TofuContext *context, int64_t device) {
        if (fails && device == 1)
          tofuFail(context, "no more", "there");
        tofuEvenCollective(context, nullptr, sum.data(), "here", &addend,
                           &total);
      });
    };
    if (rank == 0)
      onUniqueId = ncclSystemError;
    EXPECT_EQ(run(true), TOFU_FAILED);
    EXPECT_EQ(run(false), TOFU_FAILED);
    EXPECT_EQ(world.error(), rank == 0
                                 ? "device 0: an identifier of communicators: "
                                   "NCCL: an error"
                                 : "");
    EXPECT_EQ(total, 0);
    EXPECT_EQ(run(false), TOFU_OK) << world.error();
    EXPECT_EQ(total, 111);
  });
}

/// As many processes as devices, and one GPU for each: the first process says
/// what is wrong.
TEST_F(Processes, NumbersDiffer) {
  auto getError = [](int devices) {
    std::string first;
    runProcesses(kProcesses, [&](int rank) {
      TofuWorldOptions options = {devices, 60, 0};
      char error[256] = "?";
      EXPECT_EQ(tofuGetBackend()->createWorld(&options, error, sizeof(error)),
                nullptr);
      if (rank == 0)
        first = error;
      else
        EXPECT_STREQ(error, "");
    });
    return first;
  };
  EXPECT_EQ(getError(4),
            "there are 3 processes, and the number of devices is 4: start 4 "
            "processes, or one without a launcher");
  numFakeGpus = 2;
  EXPECT_EQ(getError(3), "there are 3 processes on a machine with 2 GPUs, and "
                         "NCCL takes one for each GPU");
  numFakeGpus = 0;
  EXPECT_EQ(getError(3), "no GPU can be used: there is none");
}

std::atomic<int> numEntered{0};

/// A program compiled: the sum of what all devices have. Device 2 may look at
/// it.
void enterProgram(void **arguments) {
  static const auto alloc = find<decltype(tofuAlloc)>("tofuAlloc");
  static const auto read = find<decltype(tofuRead)>("tofuRead");
  auto *result = *static_cast<int64_t **>(arguments[0]);
  auto *context = *static_cast<TofuContext **>(arguments[1]);
  auto *data =
      reinterpret_cast<void *>((*static_cast<int64_t **>(arguments[2]))[1]);
  bool looks = *static_cast<int32_t *>(arguments[3]);
  ++numEntered;
  void *memory = alloc(context, 4);
  tofuEvenCollective(context, nullptr, sum.data(), "here", data, memory);
  int32_t seen = 0;
  if (looks && tofuDeviceId(context) == 2) {
    read(context, nullptr, &seen, data, 4);
    EXPECT_EQ(seen, 100);
  }
  result[0] = result[1] = reinterpret_cast<int64_t>(memory);
  result[2] = 0;
  result[3] = result[4] = 1;
}

/// As tofu-run does it: process 0 has the results, all replay runs or none.
TEST_F(Processes, Runners) {
  using namespace mlir::tofu;
  for (bool looks : {false, true}) {
    numEntered = 0;
    runProcesses(kProcesses, [&](int rank) {
      Signature program;
      program.numDevices = kProcesses;
      Port x, flag, y;
      flag.type = flag.localType = {TOFU_I32, {}};
      flag.isTensor = false;
      y.type = y.localType = {TOFU_I32, {1}};
      x.type = x.localType = {TOFU_I32, {1}};
      program.arguments = {x, flag};
      program.results = {y};
      std::vector<HostTensor> inputs;
      inputs.push_back(std::move(*HostTensor::create(TOFU_I32, {1})));
      inputs[0].setInteger(0, 100);
      inputs.push_back(std::move(*HostTensor::create(TOFU_I32, {})));
      inputs[1].setInteger(0, looks);
      ExecutionOptions options;
      options.iterations = 5;
      OrFailure<Execution> executed =
          execute(program, enterProgram, *tofuGetBackend(), inputs, options);
      ASSERT_TRUE(executed) << executed.reason();
      EXPECT_EQ(executed->isHere, rank == 0);
      if (rank != 0)
        return;
      EXPECT_EQ(executed->results[0].whole.getInteger(0), 300);
      ASSERT_EQ(executed->devices.size(), size_t(kProcesses));
      for (const DeviceReport &report : executed->devices) {
        EXPECT_EQ(report.seconds.size(), 5u);
        ASSERT_EQ(report.collectives.size(), 1u);
        EXPECT_EQ(report.collectives[0].calls, 5);
      }
      EXPECT_EQ(executed->notice,
                looks ? "runs are not replayed as a graph of CUDA: device 2: "
                        "the program reads the device's memory"
                      : "");
    });
    EXPECT_EQ(numEntered, kProcesses * (looks ? 5 : 2));
  }
}

} // namespace
