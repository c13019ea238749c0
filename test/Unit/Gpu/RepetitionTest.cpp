//===- RepetitionTest.cpp - Tests of runs that GPUs replay ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each run gets other inputs and must give what a call of the program gives.
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"

#include "gtest/gtest.h"

#include <cstring>
#include <memory>

using namespace mlir::tofu::test;

namespace {

/// What the program of a device may use.
struct Call {
  void *input = nullptr, *result = nullptr;
  int calls = 0;
};

/// Devices that run a program again and again.
class Repeated : public testing::Test {
protected:
  using Program = void (*)(TofuContext *, Call &);

  void open(int64_t devices, int64_t newBytes = 8) {
    world = std::make_unique<TestWorld>(devices);
    bytes = newBytes;
    calls.assign(devices, {});
    for (int64_t device = 0; device < devices; ++device)
      calls[device].input =
          world->backend->allocate(world->context(device), bytes);
  }
  void TearDown() override {
    for (size_t device = 0; device < calls.size(); ++device)
      world->backend->release(world->context(device), calls[device].input);
  }

  /// Runs the program, with inputs at these addresses.
  TofuStatus run(Program newProgram, const std::vector<const void *> &inputs) {
    program = newProgram;
    for (size_t device = 0; device < calls.size(); ++device) {
      world->backend->reset(world->context(device));
      world->backend->copyIn(world->context(device), calls[device].input,
                             inputs[device], bytes);
    }
    return world->run([this](TofuContext *context, int64_t) {
      auto body = [](TofuContext *context, int64_t device, void *user) {
        auto *self = static_cast<Repeated *>(user);
        ++self->calls[device].calls;
        self->program(context, self->calls[device]);
      };
      world->backend->repeat(context, body, this);
    });
  }
  int64_t getResult(int64_t device) {
    int64_t result = -1;
    world->backend->copyOut(world->context(device), &result,
                            calls[device].result, 8);
    return result;
  }
  std::string getNotice() { return world->backend->notice(world->getWorld()); }

  std::unique_ptr<TestWorld> world;
  std::vector<Call> calls;
  int64_t bytes = 8;
  Program program = nullptr;
};

/// 2 * input + 1007 on two streams, with memory that is freed and used again.
void computeLine(TofuContext *context, Call &call) {
  const Runtime &runtime = getRuntime();
  static const int64_t seven = 7;
  int64_t thousand = 1000;
  TofuStream *other = runtime.stream(context, TOFU_COMMUNICATION);
  void *number = runtime.alloc(context, 8), *twice = runtime.alloc(context, 8);
  runtime.write(context, nullptr, number, &thousand, 8);
  // A graph keeps what was written.
  thousand = 0;
  runtime.record(context, nullptr, 0);
  runtime.wait(context, other, 0);
  launchAdd(context, other, twice, call.input, call.input, 1, kLong / 4);
  runtime.record(context, other, 1);
  launchAdd(context, nullptr, number, number,
            runtime.constant(context, &seven, 8));
  runtime.wait(context, nullptr, 1);
  void *sum = runtime.alloc(context, 8), *zero = runtime.alloc(context, 8);
  launchAdd(context, nullptr, sum, number, twice);
  runtime.free(context, number);
  runtime.free(context, twice);
  int64_t nothing = 0;
  runtime.write(context, nullptr, zero, &nothing, 8);
  call.result = runtime.alloc(context, 8);
  launchAdd(context, nullptr, call.result, sum, zero);
  runtime.free(context, sum);
  runtime.free(context, zero);
}

TEST_F(Repeated, ThirdRunIsAReplay) {
  open(1);
  for (int64_t input : {1, 20, 300, 4000, 50000, 600000}) {
    ASSERT_EQ(run(computeLine, {&input}), TOFU_OK) << world->error();
    EXPECT_EQ(getResult(0), 2 * input + 1007);
    EXPECT_EQ(world->memory(0).programBytes, 8);
  }
  EXPECT_EQ(calls[0].calls, 2) << getNotice();
  EXPECT_EQ(getNotice(), "");
}

TEST_F(Repeated, GlobalsGoOn) {
  open(1);
  int64_t sum = 0;
  for (int64_t input : {1, 20, 300, 4000, 50000}) {
    sum += input;
    ASSERT_EQ(run(
                  [](TofuContext *context, Call &call) {
                    const Runtime &runtime = getRuntime();
                    int8_t isNew = 0;
                    void *global = runtime.global(context, "g", 8, &isNew);
                    int64_t zero = 0;
                    if (isNew)
                      runtime.write(context, nullptr, global, &zero, 8);
                    launchAdd(context, nullptr, global, global, call.input);
                    call.result = global;
                  },
                  {&input}),
              TOFU_OK)
        << world->error();
    EXPECT_EQ(getResult(0), sum);
  }
  EXPECT_EQ(calls[0].calls, 2) << getNotice();
}

/// What a library does is captured as well: f32 products of 16 x 16 matrices,
/// the second of which is twice the identity.
TEST_F(Repeated, Contractions) {
  constexpr int64_t kSize = 16, kCount = kSize * kSize;
  static float factor[kCount] = {};
  for (int64_t i = 0; i < kSize; ++i)
    factor[i * (kSize + 1)] = 2;
  open(1, 4 * kCount);
  for (int run = 0; run < 5; ++run) {
    std::vector<float> input(kCount), seen(kCount);
    for (int64_t i = 0; i < kCount; ++i)
      input[i] = 1000 * run + i;
    ASSERT_EQ(this->run(
                  [](TofuContext *context, Call &call) {
                    const Runtime &runtime = getRuntime();
                    static const int64_t table[] = {TOFU_TABLE_VERSION,
                                                    TOFU_F32,
                                                    TOFU_F32,
                                                    0,
                                                    3,
                                                    2,
                                                    2,
                                                    2,
                                                    /*A=*/0,
                                                    2,
                                                    /*B=*/2,
                                                    1,
                                                    /*C=*/0,
                                                    1};
                    call.result = runtime.alloc(context, 4 * kCount);
                    int64_t words[3][7];
                    void *data[] = {
                        call.input,
                        runtime.constant(context, factor, 4 * kCount),
                        call.result};
                    for (int operand = 0; operand < 3; ++operand) {
                      int64_t address;
                      std::memcpy(&address, &data[operand], sizeof(address));
                      const int64_t memref[7] = {address, address, 0, kSize,
                                                 kSize,   kSize,   1};
                      std::memcpy(words[operand], memref, sizeof(memref));
                    }
                    runtime.contract(context, nullptr, table, "here", 2,
                                     words[0], 2, words[1], 2, words[2]);
                  },
                  {input.data()}),
              TOFU_OK)
        << world->error();
    world->backend->copyOut(world->context(0), seen.data(), calls[0].result,
                            4 * kCount);
    for (float &value : input)
      value *= 2;
    EXPECT_EQ(seen, input);
  }
  EXPECT_EQ(calls[0].calls, 2) << getNotice();
}

/// The program decides by what it has computed: each run is a call.
TEST_F(Repeated, ProgramReads) {
  open(1);
  for (int64_t input : {1, 2, 3, 4}) {
    ASSERT_EQ(run(
                  [](TofuContext *context, Call &call) {
                    const Runtime &runtime = getRuntime();
                    int64_t value = 0;
                    runtime.read(context, nullptr, &value, call.input, 8);
                    int64_t sign = value % 2 ? -1 : 1;
                    call.result = runtime.alloc(context, 8);
                    runtime.write(context, nullptr, call.result, &sign, 8);
                  },
                  {&input}),
              TOFU_OK)
        << world->error();
    EXPECT_EQ(getResult(0), input % 2 ? -1 : 1);
  }
  EXPECT_EQ(calls[0].calls, 4);
  EXPECT_NE(getNotice(), "");
}

/// What stands in the way turns up in the run that is captured.
TEST_F(Repeated, ObstacleInTheCapturedRun) {
  open(1);
  for (int64_t input : {1, 20, 300, 4000}) {
    ASSERT_EQ(run(
                  [](TofuContext *context, Call &call) {
                    const Runtime &runtime = getRuntime();
                    void *twice = runtime.alloc(context, 8);
                    launchAdd(context, nullptr, twice, call.input, call.input);
                    runtime.record(context, nullptr, 0);
                    int64_t value = 0;
                    if (call.calls == 2)
                      runtime.read(context, nullptr, &value, twice, 8);
                    TofuStream *other =
                        runtime.stream(context, TOFU_COMMUNICATION);
                    runtime.wait(context, other, 0);
                    call.result = runtime.alloc(context, 8);
                    launchAdd(context, nullptr, call.result, twice, call.input);
                    runtime.free(context, twice);
                  },
                  {&input}),
              TOFU_OK)
        << world->error();
    EXPECT_EQ(getResult(0), 3 * input);
  }
  EXPECT_EQ(calls[0].calls, 4);
  EXPECT_NE(getNotice(), "");
}

/// Several devices of one process: collectives are done between graphs, of
/// which the first one allocates what the last one frees.
TEST_F(Repeated, Collectives) {
  open(2);
  for (int64_t input : {1, 20, 300, 4000}) {
    int64_t other = 2 * input;
    ASSERT_EQ(
        run(
            [](TofuContext *context, Call &call) {
              const Runtime &runtime = getRuntime();
              static const int64_t sum[] = {TOFU_TABLE_VERSION,
                                            TOFU_ALL_REDUCE,
                                            TOFU_COMBINE_SUM,
                                            TOFU_I64,
                                            1,
                                            0,
                                            2,
                                            /*groups=*/0,
                                            0,
                                            /*ranks=*/0,
                                            1};
              TofuStream *other = runtime.stream(context, TOFU_COMMUNICATION);
              void *twice = runtime.alloc(context, 8);
              launchAdd(context, nullptr, twice, call.input, call.input, 1,
                        kLong / 4);
              runtime.record(context, nullptr, 0);
              runtime.wait(context, other, 0);
              call.result = runtime.alloc(context, 8);
              runtime.record(context, nullptr, 1);
              runtime.wait(context, other, 1);
              runtime.evenCollective(context, other, sum, "here", twice,
                                     call.result);
              runtime.record(context, other, 2);
              runtime.wait(context, nullptr, 2);
              launchAdd(context, nullptr, call.result, call.result, twice);
              runtime.free(context, twice);
            },
            {&input, &other}),
        TOFU_OK)
        << world->error();
    for (int64_t device : {0, 1})
      EXPECT_EQ(getResult(device), (device ? 10 : 8) * input);
    EXPECT_EQ(world->memory(0).programBytes, 8);
  }
  EXPECT_EQ(calls[0].calls, 2) << getNotice();
  EXPECT_EQ(calls[1].calls, 2);
  EXPECT_EQ(getNotice(), "");
}

/// Parts of two words and of one, which all get: GPUs copy what a graph of
/// another one has allocated, or send it.
TEST_F(Repeated, UnevenCollectives) {
  open(2, 16);
  for (int64_t input : {1, 20, 300, 4000}) {
    const int64_t first[] = {input, 2 * input}, second[] = {5 * input, -1};
    ASSERT_EQ(
        run(
            [](TofuContext *context, Call &call) {
              const Runtime &runtime = getRuntime();
              static const int64_t gather[] = {TOFU_TABLE_VERSION,
                                               TOFU_ALL_GATHER,
                                               TOFU_COMBINE_NONE,
                                               TOFU_I64,
                                               1,
                                               2,
                                               1,
                                               1,
                                               /*families=*/0,
                                               0,
                                               /*addends=*/0,
                                               0,
                                               /*slots=*/0,
                                               0,
                                               /*from=*/0,
                                               2,
                                               2,
                                               3,
                                               /*to=*/0,
                                               3,
                                               0,
                                               3};
              int64_t count = runtime.deviceId(context) ? 1 : 2;
              TofuStream *other = runtime.stream(context, TOFU_COMMUNICATION);
              auto *part = static_cast<char *>(runtime.alloc(context, 16)),
                   *all = static_cast<char *>(runtime.alloc(context, 24));
              launchAdd(context, nullptr, part, call.input, call.input, count,
                        kLong / 4);
              runtime.record(context, nullptr, 0);
              runtime.wait(context, other, 0);
              int64_t from[] = {0, 0, 0, count, 1}, to[] = {0, 0, 0, 3, 1};
              std::memcpy(from + 1, &part, 8);
              std::memcpy(to + 1, &all, 8);
              runtime.collective(context, other, gather, "here", 1, from, 1,
                                 to);
              runtime.record(context, other, 1);
              call.result = runtime.alloc(context, 8);
              runtime.wait(context, nullptr, 1);
              launchAdd(context, nullptr, call.result, all, all + 8);
              launchAdd(context, nullptr, call.result, call.result, all + 16);
              runtime.free(context, part);
              runtime.free(context, all);
            },
            {first, second}),
        TOFU_OK)
        << world->error();
    for (int64_t device : {0, 1})
      EXPECT_EQ(getResult(device), 16 * input);
    EXPECT_EQ(world->memory(0).programBytes, 8);
  }
  EXPECT_EQ(calls[0].calls, 2) << getNotice();
  EXPECT_EQ(calls[1].calls, 2);
}

/// Devices without collectives each have a graph.
TEST_F(Repeated, EachByItself) {
  open(2);
  for (int64_t input : {1, 20, 300, 4000}) {
    int64_t other = 5 * input;
    ASSERT_EQ(run(computeLine, {&input, &other}), TOFU_OK) << world->error();
    EXPECT_EQ(getResult(0), 2 * input + 1007);
    EXPECT_EQ(getResult(1), 10 * input + 1007);
  }
  EXPECT_EQ(calls[0].calls, 2) << getNotice();
  EXPECT_EQ(calls[1].calls, 2);
}

} // namespace
