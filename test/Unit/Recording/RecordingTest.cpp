//===- RecordingTest.cpp - Tests of streams and their checks --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs by hand, most of them broken in one place.
//
//===----------------------------------------------------------------------===//

#include "TestWorld.h"

#include "gtest/gtest.h"

using namespace mlir::tofu::test;

namespace {

/// The backend's function of a name.
template <typename Function>
Function *getFunction(const char *name) {
  const TofuBackend *backend = tofuGetBackend();
  for (int64_t i = 0; i < backend->numSymbols; ++i)
    if (!std::strcmp(backend->symbols[i].name, name))
      return reinterpret_cast<Function *>(backend->symbols[i].address);
  return nullptr;
}

#define TOFU_BACKEND_FUNCTION(NAME)                                            \
  const auto NAME = getFunction<decltype(::NAME)>(#NAME)
TOFU_BACKEND_FUNCTION(tofuAlloc);
TOFU_BACKEND_FUNCTION(tofuFree);
TOFU_BACKEND_FUNCTION(tofuGlobal);
TOFU_BACKEND_FUNCTION(tofuConstant);
TOFU_BACKEND_FUNCTION(tofuStream);
TOFU_BACKEND_FUNCTION(tofuRecord);
TOFU_BACKEND_FUNCTION(tofuWait);
TOFU_BACKEND_FUNCTION(tofuSynchronize);
TOFU_BACKEND_FUNCTION(tofuGroupBegin);
TOFU_BACKEND_FUNCTION(tofuGroupEnd);
TOFU_BACKEND_FUNCTION(tofuEvenCollective);
TOFU_BACKEND_FUNCTION(tofuContract);
TOFU_BACKEND_FUNCTION(tofuLaunch);
TOFU_BACKEND_FUNCTION(tofuRead);
TOFU_BACKEND_FUNCTION(tofuWrite);
#undef TOFU_BACKEND_FUNCTION

/// One i64 of each of two devices to both, and the sum of both.
const int64_t gatherTable[] = {TOFU_TABLE_VERSION,
                               TOFU_ALL_GATHER,
                               TOFU_COMBINE_NONE,
                               TOFU_I64,
                               1,
                               0,
                               2,
                               /*groups=*/0,
                               0,
                               /*ranks=*/0,
                               1};
const int64_t sumTable[] = {TOFU_TABLE_VERSION,
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

/// Adds up two numbers: *arguments[0] = arguments[1][0] + arguments[1][1].
void addTwo(void **arguments, const int64_t *) {
  int64_t *sum = *static_cast<int64_t **>(arguments[0]);
  const int64_t *from = *static_cast<int64_t **>(arguments[1]);
  *sum = from[0] + from[1];
}
const int64_t addTwoArguments[] = {8, TOFU_WRITES, 8, TOFU_READS};
const TofuKernel addTwoKernel = {
    TOFU_TABLE_VERSION, "add_two", nullptr, 0, addTwo, 2, addTwoArguments};
/// The same, but it doesn't say what it does with its arguments.
const int64_t silentArguments[] = {8, 0, 8, 0};
const TofuKernel silentKernel = {
    TOFU_TABLE_VERSION, "silent", nullptr, 0, addTwo, 2, silentArguments};

/// Steps of a program that gathers one number of each device and adds them up.
struct Program {
  explicit Program(TofuContext *context)
      : context(context), compute(tofuStream(context, TOFU_COMPUTE)),
        communication(tofuStream(context, TOFU_COMMUNICATION)),
        mine(static_cast<int64_t *>(tofuAlloc(context, 8))),
        all(static_cast<int64_t *>(tofuAlloc(context, 16))),
        sum(static_cast<int64_t *>(tofuAlloc(context, 8))) {}

  void write(int64_t value) { tofuWrite(context, compute, mine, &value, 8); }
  void communicationWaits(int64_t event = 0) {
    tofuRecord(context, compute, event);
    tofuWait(context, communication, event);
  }
  void computeWaits(int64_t event = 1) {
    tofuRecord(context, communication, event);
    tofuWait(context, compute, event);
  }
  void gather(const char *location = "gather") {
    tofuEvenCollective(context, communication, gatherTable, location, mine,
                       all);
  }
  void add(const TofuKernel &kernel = addTwoKernel) {
    const int64_t shape[6] = {1, 1, 1, 1, 1, 1};
    void *arguments[] = {&sum, &all};
    tofuLaunch(context, compute, &kernel, "add", shape, arguments);
  }
  int64_t read() {
    int64_t value = 0;
    tofuRead(context, compute, &value, sum, 8);
    return value;
  }
  void free() {
    for (void *memory : {mine, all, sum})
      tofuFree(context, memory);
  }

  TofuContext *context;
  TofuStream *compute, *communication;
  int64_t *mine, *all, *sum;
};

/// What goes wrong on both devices is said of one of them: gives the rest.
std::string getError(const DeviceFunction &function) {
  TestWorld world(2);
  EXPECT_EQ(world.run(function), TOFU_FAILED);
  std::string error = world.error();
  EXPECT_EQ(error.substr(0, 7), "device ");
  return error.size() < 8 ? error : error.substr(8);
}

//===----------------------------------------------------------------------===//
// Programs that are right
//===----------------------------------------------------------------------===//

TEST(Recording, WaitsMakeAnOrder) {
  TestWorld world(2);
  std::vector<int64_t> seen(2);
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    Program program(context);
    program.write(10 + device);
    program.communicationWaits();
    program.gather();
    program.computeWaits();
    program.add();
    seen[device] = program.read();
    program.free();
  });
  EXPECT_EQ(status, TOFU_OK) << world.error();
  EXPECT_EQ(seen, (std::vector<int64_t>{21, 21}));
  EXPECT_EQ(world.memory(0).programBytes, 0);
}

TEST(Recording, SynchronizingIsAWaitForAll) {
  TestWorld world(2);
  std::vector<int64_t> seen(2);
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    Program program(context);
    program.write(10 + device);
    tofuSynchronize(context);
    program.gather();
    tofuSynchronize(context);
    seen[device] = program.all[0] + program.all[1];
    program.add();
    seen[device] += program.read();
  });
  EXPECT_EQ(status, TOFU_OK) << world.error();
  EXPECT_EQ(seen, (std::vector<int64_t>{42, 42}));
}

/// Waits of one stream for another, and of that for the first, carry over; an
/// event that was never recorded is no wait.
TEST(Recording, WaitsCarryOver) {
  TestWorld world(2);
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    Program program(context);
    tofuWait(context, program.compute, 7);
    for (int64_t i = 0; i < 3; ++i) {
      program.write(i);
      program.communicationWaits();
      program.gather();
      program.computeWaits();
    }
    program.add();
    program.free();
  });
  EXPECT_EQ(status, TOFU_OK) << world.error();
}

/// What nobody has asked for yet hasn't happened: the kernel, of whose accesses
/// nothing is known, finds the garbage of an allocation.
TEST(Recording, TasksRunLate) {
  TestWorld world(2);
  std::vector<int64_t> seen(2);
  auto run = [&](bool waits) {
    TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
      Program program(context);
      program.write(10 + device);
      program.communicationWaits();
      program.gather();
      if (waits)
        program.computeWaits();
      program.add(silentKernel);
      seen[device] = program.read();
      program.computeWaits();
      program.free();
    });
    EXPECT_EQ(status, TOFU_OK) << world.error();
    return seen;
  };
  EXPECT_EQ(run(true), (std::vector<int64_t>{21, 21}));
  EXPECT_EQ(run(false), (std::vector<int64_t>{-2, -2}));
}

//===----------------------------------------------------------------------===//
// Waits that are missing
//===----------------------------------------------------------------------===//

TEST(Recording, CollectiveBeforeItsProducer) {
  EXPECT_EQ(getError([](TofuContext *context, int64_t) {
              Program program(context);
              program.communicationWaits();
              program.write(1);
              program.gather();
            }),
            ", gather: all_gather reads what a write by the host has written, "
            "but the communication stream has not waited for the compute "
            "stream");
}

TEST(Recording, CollectiveBeforeItsAllocation) {
  EXPECT_EQ(getError([](TofuContext *context, int64_t) {
              Program program(context);
              program.communicationWaits();
              void *late = tofuAlloc(context, 16);
              tofuEvenCollective(context, program.communication, gatherTable,
                                 "gather", program.mine, late);
            }),
            ", gather: all_gather writes what an allocation has written, but "
            "the communication stream has not waited for the compute stream");
}

TEST(Recording, ConsumerBeforeItsCollective) {
  EXPECT_EQ(getError([](TofuContext *context, int64_t) {
              Program program(context);
              program.communicationWaits();
              program.gather();
              program.add();
            }),
            ", add: kernel add_two reads what all_gather at gather has "
            "written, but the compute stream has not waited for the "
            "communication stream");
}

TEST(Recording, ReuseBeforeTheCollectiveHasRead) {
  EXPECT_EQ(getError([](TofuContext *context, int64_t) {
              Program program(context);
              program.communicationWaits();
              program.gather();
              program.write(1);
            }),
            ": a write by the host writes what all_gather at gather has read, "
            "but the compute stream has not waited for the communication "
            "stream");
}

TEST(Recording, FreeBeforeTheCollectiveHasRead) {
  EXPECT_EQ(getError([](TofuContext *context, int64_t) {
              Program program(context);
              program.communicationWaits();
              program.gather();
              program.free();
            }),
            ": a free writes what all_gather at gather has read, but the "
            "compute stream has not waited for the communication stream");
}

/// A wait for an event that was recorded too early.
TEST(Recording, EventRecordedTooEarly) {
  EXPECT_EQ(getError([](TofuContext *context, int64_t) {
              Program program(context);
              program.communicationWaits();
              tofuRecord(context, program.communication, 1);
              program.gather();
              tofuWait(context, program.compute, 1);
              program.add();
            }),
            ", add: kernel add_two reads what all_gather at gather has "
            "written, but the compute stream has not waited for the "
            "communication stream");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(Recording, UseAfterFree) {
  EXPECT_EQ(getError([](TofuContext *context, int64_t) {
              Program program(context);
              tofuFree(context, program.all);
              program.add();
            }),
            ", add: kernel add_two reads memory that is freed");
  EXPECT_EQ(getError([](TofuContext *context, int64_t) {
              Program program(context);
              tofuFree(context, program.mine);
              program.communicationWaits();
              program.gather();
            }),
            ", gather: all_gather reads memory that is freed");
  EXPECT_EQ(getError([](TofuContext *context, int64_t) {
              Program program(context);
              tofuFree(context, program.mine);
              tofuFree(context, program.mine);
            }),
            ": a free writes memory that is freed");
}

TEST(Recording, ForeignMemory) {
  static int64_t foreign[2];
  EXPECT_EQ(getError([](TofuContext *context, int64_t) {
              Program program(context);
              program.all = foreign;
              program.add();
            }),
            ", add: kernel add_two reads memory that is not the device's");
  EXPECT_EQ(getError([](TofuContext *context, int64_t) {
              Program program(context);
              tofuFree(context, foreign);
            }),
            ": memory is freed that is not the device's");
  EXPECT_EQ(getError([](TofuContext *context, int64_t) {
              Program program(context);
              program.sum = static_cast<int64_t *>(
                  tofuConstant(context, foreign, sizeof(foreign)));
              program.add();
            }),
            ", add: kernel add_two writes a constant");
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

TEST(Recording, DependenceInAGroup) {
  EXPECT_EQ(getError([](TofuContext *context, int64_t) {
              Program program(context);
              program.communicationWaits();
              tofuGroupBegin(context, program.communication);
              program.gather("first");
              tofuEvenCollective(context, program.communication, sumTable,
                                 "second", program.all, program.sum);
              tofuGroupEnd(context, program.communication);
            }),
            ", second: all_reduce reads what all_gather at first has written "
            "in the same group");
}

TEST(Recording, Groups) {
  TestWorld world(2);
  std::vector<int64_t> seen(2);
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    Program program(context);
    program.write(10 + device);
    program.communicationWaits();
    tofuGroupBegin(context, program.communication);
    program.gather();
    tofuEvenCollective(context, program.communication, sumTable, "sum",
                       program.mine, program.sum);
    tofuGroupEnd(context, program.communication);
    program.computeWaits();
    seen[device] = program.read();
    program.add();
    seen[device] += program.read();
  });
  EXPECT_EQ(status, TOFU_OK) << world.error();
  EXPECT_EQ(seen, (std::vector<int64_t>{42, 42}));
  EXPECT_EQ(getError([](TofuContext *context, int64_t) {
              tofuGroupBegin(context, nullptr);
            }),
            ": the device synchronizes within a group");
}

/// One device does two collectives in the other order.
TEST(Recording, SwappedCollectives) {
  std::string error = getError([](TofuContext *context, int64_t device) {
    Program program(context);
    program.write(1);
    program.communicationWaits();
    for (int64_t i = 0; i < 2; ++i)
      if (i == device)
        program.gather();
      else
        tofuEvenCollective(context, program.communication, sumTable, "sum",
                           program.mine, program.sum);
    program.computeWaits();
  });
  bool isFirst = error ==
                 ", sum: device 1 is at all_gather number 1 at gather, "
                 "this one at all_reduce number 1 at sum";
  bool isSecond = error == ", gather: device 0 is at all_reduce number 1 at "
                           "sum, this one at all_gather number 1 at gather";
  // Device 0 begins with the gather.
  isFirst |= error == ", gather: device 1 is at all_reduce number 1 at sum, "
                      "this one at all_gather number 1 at gather";
  isSecond |= error == ", sum: device 0 is at all_gather number 1 at gather, "
                       "this one at all_reduce number 1 at sum";
  EXPECT_TRUE(isFirst || isSecond) << error;
}

/// Tables are looked at before they are copied.
TEST(Recording, BadTables) {
  static int64_t table[std::size(gatherTable)];
  auto runWith = [](int word, int64_t value) {
    std::copy(std::begin(gatherTable), std::end(gatherTable), table);
    table[word] = value;
    return getError([](TofuContext *context, int64_t) {
      Program program(context);
      tofuEvenCollective(context, program.communication, table, "here",
                         program.mine, program.all);
    });
  };
  EXPECT_EQ(runWith(TOFU_EVEN_VERSION, 3),
            ", here: table has version 3, the runtime reads 5");
  EXPECT_EQ(runWith(TOFU_EVEN_TYPE, 99),
            ", here: unknown element type in table: 99");
}

//===----------------------------------------------------------------------===//
// The record
//===----------------------------------------------------------------------===//

TEST(Recording, Record) {
  TestWorld world(1);
  TofuStatus status = world.run([&](TofuContext *context, int64_t) {
    void *memory = tofuAlloc(context, 16);
    int64_t values[2] = {3, 4};
    tofuWrite(context, nullptr, memory, values, 16);
    tofuRecord(context, tofuStream(context, TOFU_COMMUNICATION), 5);
    tofuWait(context, nullptr, 5);
    const int64_t shape[6] = {1, 1, 1, 32, 2, 1};
    void *arguments[] = {&memory, &memory};
    tofuLaunch(context, nullptr, &addTwoKernel, "a \"b\"\n", shape, arguments);
    tofuRead(context, nullptr, values, memory, 8);
    EXPECT_EQ(values[0], 7);
    tofuFree(context, memory);
  });
  EXPECT_EQ(status, TOFU_OK) << world.error();
  EXPECT_EQ(
      std::string(world.backend->record(world.getWorld())),
      "{\"devices\": [\n  [\n"
      "   {\"call\": \"alloc\", \"stream\": \"compute\", \"bytes\": 16},\n"
      "   {\"call\": \"write\", \"stream\": \"compute\", \"bytes\": 16},\n"
      "   {\"call\": \"record\", \"stream\": \"communication\", \"event\": "
      "5},\n"
      "   {\"call\": \"wait\", \"stream\": \"compute\", \"event\": 5},\n"
      "   {\"call\": \"launch\", \"stream\": \"compute\", \"name\": "
      "\"add_two\", \"location\": \"a \\\"b\\\"\\u000a\", \"shape\": [1, 1, "
      "1, 32, 2, 1]},\n"
      "   {\"call\": \"read\", \"stream\": \"compute\", \"bytes\": 8},\n"
      "   {\"call\": \"free\", \"stream\": \"compute\", \"bytes\": 16}]]}\n");
}

/// A world that has failed begins anew; globals too.
TEST(Recording, AfterAFailure) {
  TestWorld world(2);
  auto useGlobal = [](TofuContext *context) {
    int8_t isNew = 0;
    void *memory = tofuGlobal(context, "g", 8, &isNew);
    int64_t value = 1;
    if (!isNew)
      tofuRead(context, nullptr, &value, memory, 8);
    ++value;
    tofuWrite(context, nullptr, memory, &value, 8);
    return value;
  };
  std::vector<int64_t> seen(2);
  auto run = [&] {
    EXPECT_EQ(world.run([&](TofuContext *context, int64_t device) {
      seen[device] = useGlobal(context);
    }),
              TOFU_OK)
        << world.error();
    return seen;
  };
  EXPECT_EQ(run(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(run(), (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(world.run([&](TofuContext *context, int64_t) {
    Program program(context);
    tofuFree(context, program.all);
    program.add();
  }),
            TOFU_FAILED);
  for (int64_t device = 0; device < 2; ++device)
    world.backend->reset(world.context(device));
  EXPECT_EQ(run(), (std::vector<int64_t>{2, 2}));
}

} // namespace
