//===- NcclTest.cpp - Tests of communicators that don't block -------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever NCCL does or doesn't do, a run ends, and says where.
//
//===----------------------------------------------------------------------===//

#include "Fake.h"
#include "TestWorld.h"

#include "gtest/gtest.h"

using namespace mlir::tofu::test;

namespace {

/// Two devices, each with a GPU.
class Nccl : public testing::Test {
protected:
  void SetUp() override {
    numFakeGpus = 2;
    seen.assign(2, 0);
  }
  /// Whatever has happened, no communicator is left, and no call was made that
  /// NCCL doesn't take.
  void TearDown() override {
    numFakeGpus = 1;
    numNcclPolls = 2;
    failNccl(-1, 0);
    hangNccl(-1, 0);
    EXPECT_EQ(numNcclCommunicators, 0);
    EXPECT_EQ(takeNcclFaults(), std::vector<std::string>());
  }

  void add(TofuContext *context, int64_t device) {
    tofuEvenCollective(context, nullptr, sum.data(), "here", &five,
                       &seen[device]);
  }
  /// All devices add up fives.
  TofuStatus runGood(TestWorld &world) {
    seen.assign(2, 0);
    return world.run(
        [this](TofuContext *context, int64_t device) { add(context, device); });
  }

  const std::vector<int64_t> sum = {TOFU_TABLE_VERSION,
                                    TOFU_ALL_REDUCE,
                                    TOFU_COMBINE_SUM,
                                    TOFU_I32,
                                    1,
                                    0,
                                    2,
                                    /*groups=*/0,
                                    0,
                                    /*ranks=*/0,
                                    1};
  int32_t five = 5;
  std::vector<int32_t> seen;
  const std::vector<int32_t> ten = {10, 10};
};

TEST_F(Nccl, StaysInProgress) {
  for (int polls : {0, 1, 50}) {
    numNcclPolls = polls;
    TestWorld world(2);
    for (int run = 0; run < 2; ++run) {
      EXPECT_EQ(runGood(world), TOFU_OK) << world.error();
      EXPECT_EQ(seen, ten);
    }
    EXPECT_EQ(numNcclCommunicators, 4);
  }
}

/// A device fails before it comes to the collective in which the other one is:
/// the first of all, in whose communicators the others wait, and a later one.
TEST_F(Nccl, PeerFails) {
  TestWorld world(2);
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(world.run([&](TofuContext *context, int64_t device) {
      if (device == 1)
        tofuFail(context, "no more", "there");
      add(context, device);
    }),
              TOFU_FAILED);
    EXPECT_EQ(world.error(), "device 1, there: no more");
    EXPECT_EQ(numNcclCommunicators, 0);
    EXPECT_EQ(runGood(world), TOFU_OK) << world.error();
    EXPECT_EQ(seen, ten);
  }
}

/// A device never comes to the collective: in the first run the other one waits
/// for a communicator, in the second one for the collective.
TEST_F(Nccl, PeerStaysAway) {
  TestWorld world(2, 0.2);
  auto run = [&] {
    EXPECT_EQ(world.run([&](TofuContext *context, int64_t device) {
      if (device == 0)
        add(context, device);
    }),
              TOFU_FAILED);
    return world.error();
  };
  EXPECT_EQ(run(), "device 0, here: a communicator timed out after 0.2 s "
                   "waiting for the other devices");
  EXPECT_EQ(runGood(world), TOFU_OK) << world.error();
  EXPECT_EQ(run(), "device 0, here: all_reduce timed out after 0.2 s waiting "
                   "for the other devices");
}

/// What a rank does one after the other: two communicators, the collective.
enum { kMake, kSplit, kCollective, kFinalize };

/// A call fails after it has returned.
TEST_F(Nccl, FailsLater) {
  const char *errors[] = {"device 1: a communicator: NCCL: an error",
                          "device 1, here: a communicator: NCCL: an error",
                          "device 1, here: all_reduce: NCCL: an error"};
  TestWorld world(2);
  for (int job : {kMake, kSplit, kCollective}) {
    failNccl(1, job);
    EXPECT_EQ(runGood(world), TOFU_FAILED);
    EXPECT_EQ(world.error(), errors[job]);
    EXPECT_EQ(numNcclCommunicators, 0);
  }
  EXPECT_EQ(runGood(world), TOFU_OK) << world.error();
  EXPECT_EQ(seen, ten);
}

/// A call doesn't end: either device may be the first to lose patience.
TEST_F(Nccl, NeverEnds) {
  const char *errors[] = {": a communicator timed out after 0.2 s",
                          ", here: a communicator timed out after 0.2 s",
                          ", here: all_reduce timed out after 0.2 s"};
  TestWorld world(2, 0.2);
  for (int job : {kMake, kSplit, kCollective}) {
    hangNccl(1, job);
    EXPECT_EQ(runGood(world), TOFU_FAILED);
    EXPECT_NE(world.error().find(errors[job]), std::string::npos)
        << world.error();
    EXPECT_EQ(numNcclCommunicators, 0);
  }
}

/// There is no identifier for the communicators after a run that failed: the
/// next run says so, and the one after it tries again.
TEST_F(Nccl, NoIdentifier) {
  TestWorld world(2);
  for (int run = 0; run < 2; ++run) {
    onUniqueId = ncclSystemError;
    EXPECT_EQ(world.run([&](TofuContext *context, int64_t device) {
      if (device == 1)
        tofuFail(context, "no more", "there");
    }),
              TOFU_FAILED);
    EXPECT_EQ(world.error(), "device 1, there: no more");
    EXPECT_EQ(runGood(world), TOFU_FAILED);
    EXPECT_NE(
        world.error().find(": an identifier of communicators: NCCL: an error"),
        std::string::npos)
        << world.error();
    EXPECT_EQ(seen, std::vector<int32_t>(2, 0));
    EXPECT_EQ(runGood(world), TOFU_OK) << world.error();
    EXPECT_EQ(seen, ten);
  }
}

/// The end of a communicator can't begin: it is aborted.
TEST_F(Nccl, CantFinalize) {
  {
    TestWorld world(2, 0.2);
    EXPECT_EQ(runGood(world), TOFU_OK) << world.error();
    onFinalize = ncclSystemError;
  }
  EXPECT_EQ(onFinalize, ncclSuccess);
}

/// Nor does the end of a communicator.
TEST_F(Nccl, NeverFinalizes) {
  for (auto spoil : {failNccl, hangNccl}) {
    spoil(1, kFinalize);
    TestWorld world(2, 0.2);
    EXPECT_EQ(runGood(world), TOFU_OK) << world.error();
  }
}

} // namespace
