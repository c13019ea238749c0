//===- MessageTest.cpp - Tests of GPUs that can't reach each other --------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Beside these tests those of the host runtime's collectives run on such GPUs,
// of which there are enough here for NCCL. Its messages must match.
//
//===----------------------------------------------------------------------===//

#include "Fake.h"
#include "TestWorld.h"

#include "gtest/gtest.h"

#include <nccl.h>
#include <thread>

using namespace mlir::tofu::test;

namespace {

/// Before and after each test, whatever it is about.
class NoFaults : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo &) override {
    numFakeGpus = 64;
    canReachPeers = false;
    numNcclMessages = 0;
  }
  void OnTestEnd(const testing::TestInfo &test) override {
    EXPECT_EQ(takeNcclFaults(), std::vector<std::string>()) << test.name();
    bool exchanges = std::string(test.name()) != "ComplexHasNoMaximum";
    EXPECT_EQ(numNcclMessages > 0, exchanges) << test.name();
  }
};

const bool isListening = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new NoFaults);
  return true;
}();

/// A table on devices of one dim, all of them in one family.
std::vector<int64_t> makeTable(int64_t kind, int64_t combiner, int64_t addends,
                               const std::vector<int64_t> &boxes) {
  int64_t devices = boxes.size() / 4;
  std::vector<int64_t> words = {
      TOFU_TABLE_VERSION, kind, combiner, TOFU_F32, 1, devices, addends, 1};
  words.insert(words.end(), devices, 0);
  for (int64_t device = 0; device < devices; ++device)
    words.push_back(addends > 1 ? device : 0);
  words.insert(words.end(), devices, 0);
  words.insert(words.end(), boxes.begin(), boxes.end());
  return words;
}

/// Uneven parts, one of them empty: each device gets one message from each
/// other one that has something, without padding.
TEST(Messages, UnevenGather) {
  TestWorld world(3);
  auto table = makeTable(TOFU_ALL_GATHER, TOFU_COMBINE_NONE, 1,
                         {0, 3, 3, 3, 3, 5, 0, 5, 0, 5, 0, 5});
  std::vector<TestMemref> sources, results;
  for (int64_t size : {3, 0, 2}) {
    sources.emplace_back(std::vector<int64_t>{size}, std::vector<size_t>{0}, 1,
                         4);
    results.emplace_back(std::vector<int64_t>{5}, std::vector<size_t>{0}, 1, 4);
  }
  for (int64_t i = 0; i < 5; ++i) {
    float value = 10 + i;
    char *at = i < 3 ? sources[0].at({i}, 4) : sources[2].at({i - 3}, 4);
    std::memcpy(at, &value, 4);
  }
  numGathers = numCopies = 0;
  EXPECT_EQ(world.run([&](TofuContext *context, int64_t device) {
    tofuCollective(context, nullptr, table.data(), "here", 1,
                   sources[device].descriptor(), 1,
                   results[device].descriptor());
  }),
            TOFU_OK)
      << world.error();
  for (TestMemref &result : results)
    for (int64_t i = 0; i < 5; ++i) {
      float value = 0;
      std::memcpy(&value, result.at({i}, 4), 4);
      EXPECT_EQ(value, 10 + i);
    }
  EXPECT_EQ(numNcclMessages, 4);
  // Each packs all messages at once, if it has any, and unpacks all.
  EXPECT_EQ(numGathers, 2 + 3);
  EXPECT_EQ(numCopies, 0);
  EXPECT_EQ(world.collectives(0)[0].receivedBytes, 2 * 4);
  EXPECT_EQ(world.collectives(1)[0].receivedBytes, 5 * 4);
  // Three elements for each of two devices, and two that come, beside what the
  // library for products may use.
  EXPECT_EQ(world.memory(0).scratchBytes, (32 << 20) + (2 * 3 + 2) * 4);
}

/// Sums in the order of the devices, in which 2^24 + 1 - 2^24 is 0 and
/// 1 + 2^24 - 2^24 is 0 as well, but 2^24 - 2^24 + 1 is 1; twice two messages
/// for each device: the parts of its share, and what the others have combined.
TEST(Messages, SumsInOrder) {
  for (auto [addends, sum] :
       {std::pair(std::vector<float>{16777216, 1, -16777216}, 0.0f),
        std::pair(std::vector<float>{16777216, -16777216, 1}, 1.0f)}) {
    TestWorld world(3);
    numNcclMessages = 0;
    auto table = makeTable(TOFU_ALL_REDUCE, TOFU_COMBINE_SUM, 3,
                           {0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4});
    std::vector<TestMemref> values;
    for (float addend : addends) {
      values.emplace_back(std::vector<int64_t>{4}, std::vector<size_t>{0}, 0,
                          4);
      for (int64_t i = 0; i < 4; ++i)
        std::memcpy(values.back().at({i}, 4), &addend, 4);
    }
    EXPECT_EQ(world.run([&](TofuContext *context, int64_t device) {
      void *value = values[device].descriptor();
      tofuCollective(context, nullptr, table.data(), "here", 1, value, 1,
                     value);
    }),
              TOFU_OK)
        << world.error();
    for (TestMemref &value : values)
      for (int64_t i = 0; i < 4; ++i) {
        float got = -1;
        std::memcpy(&got, value.at({i}, 4), 4);
        EXPECT_EQ(got, sum);
      }
    EXPECT_EQ(numNcclMessages, 3 * 2 * 2);
  }
}

/// NCCL takes one device for each GPU, so there is no way for more.
TEST(Messages, MoreDevicesThanGpus) {
  numFakeGpus = 2;
  numNcclMessages = 1;
  TofuWorldOptions options = {3, 60, 0};
  char error[200] = "";
  EXPECT_EQ(tofuGetBackend()->createWorld(&options, error, sizeof(error)),
            nullptr);
  EXPECT_STREQ(error,
               "GPU 0 can't access the memory of GPU 1, and NCCL takes one "
               "device for each GPU: there are 3 for 2");
}

void settle(ncclComm_t communicator) {
  for (ncclResult_t state = ncclInProgress; state == ncclInProgress;)
    ncclCommGetAsyncError(communicator, &state);
}

/// Two ranks of the library that these tests run on, on threads of their own.
void talk(const std::function<void(ncclComm_t)> &first,
          const std::function<void(ncclComm_t)> &second) {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  auto run = [&](int rank, const std::function<void(ncclComm_t)> &body) {
    ncclComm_t communicator;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclCommInitRankConfig(&communicator, 2, id, rank, &config);
    settle(communicator);
    ncclGroupStart();
    body(communicator);
    ncclGroupEnd();
    settle(communicator);
    // After an error there is no other end.
    if (ncclCommFinalize(communicator) != ncclInProgress) {
      ncclCommAbort(communicator);
      return;
    }
    settle(communicator);
    ncclCommDestroy(communicator);
  };
  std::thread other([&] { run(1, second); });
  run(0, first);
  other.join();
  numNcclMessages = 1;
}

/// A device doesn't wait for messages of one that has failed.
TEST(Messages, PeerFails) {
  TestWorld world(2);
  auto table = makeTable(TOFU_ALL_GATHER, TOFU_COMBINE_NONE, 1,
                         {0, 1, 1, 2, 0, 2, 0, 2});
  std::vector<TestMemref> sources, values;
  for (int device = 0; device < 2; ++device) {
    sources.emplace_back(std::vector<int64_t>{1}, std::vector<size_t>{0}, 0, 4);
    values.emplace_back(std::vector<int64_t>{2}, std::vector<size_t>{0}, 0, 4);
  }
  auto gather = [&](TofuContext *context, int64_t device) {
    tofuCollective(context, nullptr, table.data(), "here", 1,
                   sources[device].descriptor(), 1,
                   values[device].descriptor());
  };
  EXPECT_EQ(world.run([&](TofuContext *context, int64_t device) {
    if (device == 1)
      tofuFail(context, "no more", "there");
    gather(context, device);
  }),
            TOFU_FAILED);
  EXPECT_EQ(world.error(), "device 1, there: no more");
  EXPECT_EQ(world.run(gather), TOFU_OK) << world.error();
}

/// Nor for those of one that never comes.
TEST(Messages, PeerStaysAway) {
  TestWorld world(2, 0.2);
  auto table = makeTable(TOFU_ALL_GATHER, TOFU_COMBINE_NONE, 1,
                         {0, 1, 1, 2, 0, 2, 0, 2});
  TestMemref source({1}, {0}, 0, 4), value({2}, {0}, 0, 4);
  EXPECT_EQ(world.run([&](TofuContext *context, int64_t device) {
    if (device == 0)
      tofuCollective(context, nullptr, table.data(), "here", 1,
                     source.descriptor(), 1, value.descriptor());
  }),
            TOFU_FAILED);
  EXPECT_EQ(world.error(), "device 0, here: all_gather timed out after 0.2 s "
                           "waiting for the other devices");
  numNcclMessages = 1;
}

/// The library finds messages that don't match.
TEST(Messages, FaultsAreFound) {
  char a[8] = {}, b[8] = {};
  auto send = [&](size_t size, int peer) {
    return [=](ncclComm_t c) { ncclSend(a, size, ncclInt8, peer, c, nullptr); };
  };
  auto receive = [&](size_t size, int peer) {
    return [=, &b](ncclComm_t c) {
      ncclRecv(b, size, ncclInt8, peer, c, nullptr);
    };
  };
  using Faults = std::vector<std::string>;
  talk(send(4, 1), receive(4, 0));
  EXPECT_EQ(takeNcclFaults(), Faults());
  talk(send(4, 1), receive(8, 0));
  EXPECT_EQ(takeNcclFaults(),
            Faults{"rank 1 receives from rank 0 8 bytes, it sends 4"});
  talk(send(4, 1), [&](ncclComm_t c) { receive(2, 0)(c), receive(2, 0)(c); });
  EXPECT_EQ(takeNcclFaults(),
            Faults{"rank 1 receives from rank 0 2 messages of a group, it "
                   "sends 1"});
  talk(send(4, 1), [](ncclComm_t) {});
  EXPECT_EQ(takeNcclFaults(),
            Faults{"rank 0 has sent to rank 1, which did not receive it"});
  talk([](ncclComm_t) {}, receive(4, 0));
  EXPECT_EQ(takeNcclFaults(),
            Faults{"rank 1 receives from rank 0, which has gone"});
}

} // namespace
