//===- EvenTest.cpp - Tests of even collectives ---------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestWorld.h"

#include "gtest/gtest.h"

using namespace mlir::tofu::test;

namespace {

using Words = std::vector<int64_t>;

class Even : public testing::Test {
  void SetUp() override { TOFU_NEEDS_DEVICES(4); }
};

/// Four devices: 0 and 2 are a group, 1 and 3 are one, where ranks are the
/// other way around.
Words makeTable(int64_t kind, int64_t combiner, int64_t count,
                int64_t root = 0) {
  return {TOFU_TABLE_VERSION, kind, combiner, TOFU_I32, count, root, 4,
          /*groups=*/0,       1,    0,        1,
          /*ranks=*/0,        1,    1,        0};
}

/// Each device begins with 100 * device, 100 * device + 1 and so on.
std::vector<std::vector<int32_t>> runEven(const Words &table, int64_t given,
                                          int64_t wanted) {
  TestWorld world(4);
  std::vector<std::vector<int32_t>> src(4), dst(4);
  for (int32_t device = 0; device < 4; ++device) {
    for (int32_t i = 0; i < given; ++i)
      src[device].push_back(100 * device + i);
    dst[device].assign(wanted, -1);
  }
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    tofuEvenCollective(context, nullptr, table.data(), "here",
                       src[device].data(), dst[device].data());
  });
  EXPECT_EQ(status, TOFU_OK) << world.error();
  return dst;
}

using Values = std::vector<std::vector<int32_t>>;

TEST_F(Even, AllReduce) {
  EXPECT_EQ(
      runEven(makeTable(TOFU_ALL_REDUCE, TOFU_COMBINE_SUM, 3), 3, 3),
      (Values{
          {200, 202, 204}, {400, 402, 404}, {200, 202, 204}, {400, 402, 404}}));
}

TEST_F(Even, AllGather) {
  EXPECT_EQ(runEven(makeTable(TOFU_ALL_GATHER, TOFU_COMBINE_NONE, 2), 2, 4),
            (Values{{0, 1, 200, 201},
                    {300, 301, 100, 101},
                    {0, 1, 200, 201},
                    {300, 301, 100, 101}}));
}

TEST_F(Even, ReduceScatter) {
  EXPECT_EQ(runEven(makeTable(TOFU_REDUCE_SCATTER, TOFU_COMBINE_MAX, 2), 4, 2),
            (Values{{200, 201}, {302, 303}, {202, 203}, {300, 301}}));
}

TEST_F(Even, Broadcast) {
  EXPECT_EQ(runEven(makeTable(TOFU_BROADCAST, TOFU_COMBINE_NONE, 2, 1), 2, 2),
            (Values{{200, 201}, {100, 101}, {200, 201}, {100, 101}}));
}

/// What devices receive is counted, under the kind of the call.
TEST_F(Even, Statistics) {
  TestWorld world(4);
  Words table = makeTable(TOFU_BROADCAST, TOFU_COMBINE_NONE, 2);
  TofuStatus status = world.run([&](TofuContext *context, int64_t) {
    int32_t src[2] = {}, dst[2];
    tofuEvenCollective(context, nullptr, table.data(), "here", src, dst);
  });
  ASSERT_EQ(status, TOFU_OK) << world.error();
  for (int64_t device = 0; device < 4; ++device) {
    std::vector<TofuCollectiveStats> stats = world.collectives(device);
    ASSERT_EQ(stats.size(), 1u);
    EXPECT_EQ(stats[0].kind, TOFU_BROADCAST);
    EXPECT_EQ(stats[0].receivedBytes, device == 1 || device == 2 ? 8 : 0);
  }
}

TEST_F(Even, Errors) {
  auto run = [](Words table) {
    TestWorld world(4);
    int32_t value = 0;
    EXPECT_EQ(world.run([&](TofuContext *context, int64_t device) {
      if (device == 0)
        tofuEvenCollective(context, nullptr, table.data(), "here", &value,
                           &value);
    }),
              TOFU_FAILED);
    return world.error();
  };
  auto runWith = [&](int word, int64_t value) {
    Words table = makeTable(TOFU_ALL_REDUCE, TOFU_COMBINE_SUM, 1);
    table[word] = value;
    return run(table);
  };
  EXPECT_EQ(runWith(TOFU_EVEN_VERSION, TOFU_TABLE_VERSION - 1),
            "device 0, here: table has version 4, the runtime reads 5");
  EXPECT_EQ(runWith(TOFU_EVEN_KIND, TOFU_FETCH),
            "device 0, here: unknown kind of even collective in table: 4");
  EXPECT_EQ(runWith(TOFU_EVEN_DEVICES, 5),
            "device 0, here: all_reduce is for 5 devices, there are 4");
  EXPECT_EQ(runWith(TOFU_EVEN_COUNT, 0),
            "device 0, here: an even collective can't have parts of 0 "
            "elements");
  EXPECT_EQ(runWith(TOFU_EVEN_COUNT, INT64_MAX),
            "device 0, here: an even collective can't have parts of "
            "9223372036854775807 elements");
  EXPECT_EQ(runWith(TOFU_EVEN_ROOT, 2),
            "device 0, here: unknown root in table: 2");
  EXPECT_EQ(runWith(TOFU_EVEN_TYPE, 77),
            "device 0, here: unknown element type in table: 77");
  const char *uneven = "device 0, here: groups of an even collective differ in "
                       "size, or two devices have one rank";
  // A group of three, a group that isn't there, a rank that is there twice.
  EXPECT_EQ(runWith(TOFU_EVEN_HEADER + 3, 0), uneven);
  EXPECT_EQ(runWith(TOFU_EVEN_HEADER + 3, 4), uneven);
  EXPECT_EQ(runWith(TOFU_EVEN_HEADER + 6, 0), uneven);
}

} // namespace
