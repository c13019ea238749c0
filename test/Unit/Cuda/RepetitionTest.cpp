//===- RepetitionTest.cpp - Tests of runs that are replayed ---------------===//
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

#include "Fake.h"
#include "FakeProcesses.h"
#include "TestWorld.h"

#include "Tofu/Runtime/Execution.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>

using namespace mlir::tofu::test;

namespace {

const auto alloc = find<decltype(tofuAlloc)>("tofuAlloc");
const auto freeMemory = find<decltype(tofuFree)>("tofuFree");
const auto getGlobal = find<decltype(tofuGlobal)>("tofuGlobal");
const auto getConstant = find<decltype(tofuConstant)>("tofuConstant");
const auto getStream = find<decltype(tofuStream)>("tofuStream");
const auto record = find<decltype(tofuRecord)>("tofuRecord");
const auto wait = find<decltype(tofuWait)>("tofuWait");
const auto synchronizeDevice =
    find<decltype(tofuSynchronize)>("tofuSynchronize");
const auto launch = find<decltype(tofuLaunch)>("tofuLaunch");
const auto readMemory = find<decltype(tofuRead)>("tofuRead");
const auto writeMemory = find<decltype(tofuWrite)>("tofuWrite");

/// to = a + b, of words.
void addWords(void **arguments, dim3, dim3) {
  auto at = [&](int i) { return *static_cast<int64_t **>(arguments[i]); };
  *at(0) = *at(1) + *at(2);
}
const FakeKernel addImage = {addWords, 3};
const TofuKernel addKernel = {
    TOFU_TABLE_VERSION, "known", &addImage, 8, nullptr, 0, nullptr};

void addTo(TofuContext *context, void *to, void *a, void *b) {
  const int64_t shape[6] = {1, 1, 1, 1, 1, 1};
  void *arguments[] = {&to, &a, &b};
  launch(context, nullptr, &addKernel, "here", shape, arguments);
}

/// What the program may use: an input, and a place for its result.
struct Call {
  void *input = nullptr, *result = nullptr;
  int calls = 0;
};

/// Devices that run a program again and again, each time with other inputs. Of
/// several, each is in a process of its own, or all are in this one.
class Repeated : public testing::Test {
protected:
  using Program = std::function<void(TofuContext *, Call &)>;

  void open(int devices, double timeout = 60, bool inProcesses = true,
            int gpus = 0) {
    numFakeGpus = gpus ? gpus : devices;
    calls.assign(devices, {});
    worlds.clear();
    worlds.resize(inProcesses ? devices : 1);
    forEachWorld([&](int rank) {
      worlds[rank] = std::make_unique<TestWorld>(devices, timeout);
    });
    for (int device = 0; device < devices; ++device)
      calls[device].input =
          backend->allocate(getContext(device), sizeof(int64_t));
    numGraphLaunches = numCapturedNcclCalls = 0;
  }
  void TearDown() override {
    for (size_t device = 0; device < calls.size(); ++device)
      backend->release(getContext(device), calls[device].input);
    forEachWorld([this](int rank) { worlds[rank].reset(); });
    numFakeGpus = 1;
    EXPECT_EQ(numNcclCommunicators, 0);
    EXPECT_EQ(takeNcclFaults(), std::vector<std::string>());
  }

  /// Each in its process.
  void forEachWorld(const std::function<void(int)> &visit) {
    if (worlds.size() == 1)
      visit(0);
    else
      runProcesses(static_cast<int>(worlds.size()), visit);
  }
  TestWorld &getWorld(int64_t device) {
    return *worlds[worlds.size() == 1 ? 0 : device];
  }
  TofuContext *getContext(int64_t device) {
    return getWorld(device).context(device);
  }
  /// What the first process says.
  std::string getError() { return worlds.front()->error(); }

  /// Runs the program on those inputs.
  TofuStatus run(std::vector<int64_t> inputs) {
    for (size_t device = 0; device < calls.size(); ++device) {
      TofuContext *context = getContext(device);
      backend->reset(context);
      backend->copyIn(context, calls[device].input, &inputs[device],
                      sizeof(int64_t));
    }
    std::vector<TofuStatus> statuses(worlds.size());
    forEachWorld([&](int rank) { statuses[rank] = runWorld(*worlds[rank]); });
    for (TofuStatus status : statuses)
      EXPECT_EQ(status, statuses[0]);
    return statuses[0];
  }
  TofuStatus runWorld(TestWorld &world) {
    return world.run([this](TofuContext *context, int64_t device) {
      if (device == absent)
        return;
      if (before)
        before(context);
      backend->repeat(
          context,
          [](TofuContext *context, int64_t device, void *user) {
            auto *self = static_cast<Repeated *>(user);
            ++self->calls[device].calls;
            self->program(context, self->calls[device]);
          },
          this);
    });
  }
  std::vector<int64_t> getResults() {
    std::vector<int64_t> results;
    for (size_t device = 0; device < calls.size(); ++device) {
      results.emplace_back();
      backend->copyOut(getContext(device), &results.back(),
                       calls[device].result, sizeof(int64_t));
    }
    return results;
  }
  std::string getNotice() {
    return backend->notice(worlds.front()->getWorld());
  }

  const TofuBackend *backend = tofuGetBackend();
  std::vector<std::unique_ptr<TestWorld>> worlds;
  std::vector<Call> calls;
  Program program;
  /// The device that doesn't run the program.
  int64_t absent = -1;
  /// What a device does before the program.
  std::function<void(TofuContext *)> before;
};

/// result = 2 * input + 1000 + 7, by way of memory that is freed again; the
/// host writes the one number, and the other one is a constant.
void computeLine(TofuContext *context, Call &call) {
  static const int64_t seven = 7;
  void *twice = alloc(context, 8), *number = alloc(context, 8);
  addTo(context, twice, call.input, call.input);
  int64_t thousand = 1000;
  writeMemory(context, nullptr, number, &thousand, 8);
  // A graph must not look at where it was.
  thousand = -1;
  call.result = alloc(context, 8);
  addTo(context, number, number, getConstant(context, &seven, 8));
  addTo(context, call.result, twice, number);
  freeMemory(context, twice);
  freeMemory(context, number);
}

TEST_F(Repeated, ThirdRunIsAReplay) {
  open(1);
  program = computeLine;
  for (int64_t input : {1, 20, 300, 4000, 50000}) {
    ASSERT_EQ(run({input}), TOFU_OK) << getError();
    EXPECT_EQ(getResults(), (std::vector<int64_t>{2 * input + 1007}));
  }
  EXPECT_EQ(calls[0].calls, 2);
  EXPECT_EQ(numGraphLaunches, 4);
  EXPECT_EQ(getNotice(), "");
}

/// Also after statistics have begun anew.
TEST_F(Repeated, MemoryIsCounted) {
  open(1);
  program = computeLine;
  for (int i = 0; i < 4; ++i) {
    backend->reset(getContext(0));
    backend->resetStats(getContext(0));
    ASSERT_EQ(run({1}), TOFU_OK) << getError();
    TofuMemoryStats stats = getWorld(0).memory(0);
    EXPECT_EQ(stats.programBytes, 8);
    EXPECT_EQ(stats.peakProgramBytes, 24);
    EXPECT_EQ(stats.peakBytes, 32);
  }
}

/// A global that starts at 5, to which each run adds its input.
TEST_F(Repeated, GlobalsGoOn) {
  open(1);
  program = [](TofuContext *context, Call &call) {
    static const int64_t five = 5;
    int8_t isNew = 0;
    void *global = getGlobal(context, "g", 8, &isNew);
    int64_t zero = 0;
    void *none = alloc(context, 8);
    writeMemory(context, nullptr, none, &zero, 8);
    if (isNew)
      addTo(context, global, getConstant(context, &five, 8), none);
    addTo(context, global, global, call.input);
    call.result = alloc(context, 8);
    addTo(context, call.result, global, none);
    freeMemory(context, none);
  };
  int64_t want = 5;
  for (int64_t input : {1, 20, 300, 4000}) {
    want += input;
    ASSERT_EQ(run({input}), TOFU_OK) << getError();
    EXPECT_EQ(getResults(), std::vector<int64_t>{want});
  }
  EXPECT_EQ(calls[0].calls, 2);
}

/// Two devices add what they have, on the communication stream. With events,
/// and without for the input, which needs none.
void addUp(TofuContext *context, Call &call) {
  static const int64_t sum[] = {TOFU_TABLE_VERSION,
                                TOFU_ALL_REDUCE,
                                TOFU_COMBINE_SUM,
                                TOFU_I32,
                                2,
                                0,
                                2,
                                /*groups=*/0,
                                0,
                                /*ranks=*/0,
                                1};
  TofuStream *stream = getStream(context, TOFU_COMMUNICATION);
  void *ofInputs = alloc(context, 8), *twice = alloc(context, 8);
  record(context, nullptr, 0);
  wait(context, stream, 0);
  tofuEvenCollective(context, stream, sum, "there", call.input, ofInputs);
  addTo(context, twice, call.input, call.input);
  record(context, nullptr, 1);
  wait(context, stream, 1);
  call.result = alloc(context, 8);
  record(context, nullptr, 2);
  wait(context, stream, 2);
  tofuEvenCollective(context, stream, sum, "there", twice, call.result);
  record(context, stream, 3);
  wait(context, nullptr, 3);
  addTo(context, call.result, call.result, ofInputs);
  freeMemory(context, twice);
  freeMemory(context, ofInputs);
}

TEST_F(Repeated, Collectives) {
  open(2);
  program = addUp;
  for (int64_t input : {1, 20, 300, 4000}) {
    backend->resetStats(getContext(0));
    ASSERT_EQ(run({input, 2 * input}), TOFU_OK) << getError();
    EXPECT_EQ(getResults(), (std::vector<int64_t>{9 * input, 9 * input}));
    // Replays count what they do: one table, two calls.
    std::vector<TofuCollectiveStats> stats = getWorld(0).collectives(0);
    ASSERT_EQ(stats.size(), 1u);
    EXPECT_EQ(stats[0].calls, 2);
    EXPECT_EQ(stats[0].dataBytes, 16);
    EXPECT_EQ(stats[0].receivedBytes, 16);
  }
  EXPECT_EQ(calls[0].calls, 2);
  EXPECT_EQ(calls[1].calls, 2);
  EXPECT_EQ(numGraphLaunches, 2 * 3);
  EXPECT_EQ(numCapturedNcclCalls, 2 * 2);
}

/// If both are in one process, collectives stay outside of graphs, whether NCCL
/// does them or devices copy from each other: on one GPU.
TEST_F(Repeated, CollectivesInOneProcess) {
  for (int gpus : {2, 1}) {
    open(2, 60, /*inProcesses=*/false, gpus);
    program = addUp;
    for (int64_t input : {1, 20, 300, 4000}) {
      backend->resetStats(getContext(0));
      ASSERT_EQ(run({input, 2 * input}), TOFU_OK) << getError();
      EXPECT_EQ(getResults(), (std::vector<int64_t>{9 * input, 9 * input}));
      std::vector<TofuCollectiveStats> stats = getWorld(0).collectives(0);
      ASSERT_EQ(stats.size(), 1u);
      EXPECT_EQ(stats[0].calls, 2);
      EXPECT_EQ(stats[0].dataBytes, 16);
      EXPECT_EQ(stats[0].receivedBytes, 16);
      TofuMemoryStats memory = getWorld(0).memory(0);
      EXPECT_EQ(memory.programBytes, 8);
      EXPECT_EQ(memory.peakProgramBytes, 24);
    }
    EXPECT_EQ(calls[0].calls, 2);
    EXPECT_EQ(calls[1].calls, 2);
    // Of three runs, what is before, between and after collectives and events.
    EXPECT_EQ(numGraphLaunches, 3 * 2 * 4);
    EXPECT_EQ(numCapturedNcclCalls, 0);
    EXPECT_EQ(getNotice(), "");
    if (gpus == 2)
      TearDown();
  }
}

/// Uneven parts, by messages of NCCL and by copies: the first bytes of one
/// device's input, the last ones of the other's.
TEST_F(Repeated, UnevenCollectivesInOneProcess) {
  for (bool reaches : {false, true}) {
    canReachPeers = reaches;
    open(2, 60, /*inProcesses=*/false);
    program = [](TofuContext *context, Call &call) {
      static const int64_t gather[] = {TOFU_TABLE_VERSION,
                                       TOFU_ALL_GATHER,
                                       TOFU_COMBINE_NONE,
                                       TOFU_I8,
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
                                       5,
                                       5,
                                       8,
                                       /*to=*/0,
                                       8,
                                       0,
                                       8};
      int64_t first = tofuDeviceId(context) ? 5 : 0;
      int64_t size = tofuDeviceId(context) ? 3 : 5;
      call.result = alloc(context, 8);
      auto makeMemref = [](void *data, int64_t offset, int64_t size) {
        return std::vector<int64_t>{reinterpret_cast<int64_t>(data),
                                    reinterpret_cast<int64_t>(data), offset,
                                    size, 1};
      };
      std::vector<int64_t> from = makeMemref(call.input, first, size),
                           to = makeMemref(call.result, 0, 8);
      tofuCollective(context, getStream(context, TOFU_COMPUTE), gather, "there",
                     1, from.data(), 1, to.data());
      // Nobody may look at these later on.
      from.assign(5, 0);
      to.assign(5, 0);
      addTo(context, call.result, call.result, call.result);
    };
    for (int64_t input : {1, 20, 300, 4000}) {
      int64_t other = input << 40;
      ASSERT_EQ(run({input, other}), TOFU_OK) << getError();
      int64_t both = 2 * (input + other);
      EXPECT_EQ(getResults(), (std::vector<int64_t>{both, both}));
    }
    EXPECT_EQ(calls[0].calls, 2) << getNotice();
    EXPECT_EQ(calls[1].calls, 2);
    if (!reaches)
      TearDown();
  }
}

/// One device's run can't be captured, or its graphs can't be made: the others
/// have nothing of their collectives in graphs, so it calls what they replay.
TEST_F(Repeated, OnlyOneDeviceIsCaptured) {
  for (int kind = 0; kind < 3; ++kind) {
    open(2, 60, /*inProcesses=*/false);
    program = [kind](TofuContext *context, Call &call) {
      static const int64_t later = 0;
      bool isIt = call.calls == 2 && tofuDeviceId(context) == 1;
      if (isIt && kind == 0)
        getConstant(context, &later, 8);
      addUp(context, call);
      int64_t value = 0;
      if (isIt && kind == 1) {
        readMemory(context, nullptr, &value, call.result, 8);
        EXPECT_EQ(value, 9 * 20);
      }
      if (isIt && kind == 2) // what a library might do
        cudaStreamSynchronize(
            reinterpret_cast<cudaStream_t>(getStream(context, TOFU_COMPUTE)));
      addUp(context, call);
    };
    for (int64_t input : {1, 20, 300, 4000}) {
      ASSERT_EQ(run({input, 2 * input}), TOFU_OK) << getError();
      EXPECT_EQ(getResults(), (std::vector<int64_t>{9 * input, 9 * input}));
      EXPECT_EQ(getWorld(1).memory(1).programBytes, 16);
    }
    EXPECT_EQ(calls[0].calls, 4);
    EXPECT_EQ(calls[1].calls, kind == 2 ? 5 : 4);
    EXPECT_NE(getNotice().find("graph of CUDA: device 1: "), std::string::npos)
        << getNotice();
    if (kind < 2)
      TearDown();
  }
}

/// Memory for the graphs isn't there: nothing has been done yet.
TEST_F(Repeated, NoMemoryForGraphs) {
  for (bool inProcesses : {true, false}) {
    open(inProcesses ? 1 : 2, 60, inProcesses);
    program = inProcesses ? computeLine : addUp;
    int64_t factor = inProcesses ? 2 : 6, added = inProcesses ? 1007 : 0;
    for (int64_t input : {1, 20, 300}) {
      onUpload = input == 20 ? cudaErrorMemoryAllocation : cudaSuccess;
      ASSERT_EQ(run(std::vector<int64_t>(calls.size(), input)), TOFU_OK)
          << getError();
      EXPECT_EQ(getResults(),
                std::vector<int64_t>(calls.size(), factor * input + added));
    }
    EXPECT_NE(getNotice().find("CUDA makes no graph: an error"),
              std::string::npos);
    if (inProcesses)
      TearDown();
  }
}

/// What turns up in the second run: a collective, when the first had none, and
/// a kernel on the stream of collectives, which isn't captured.
TEST_F(Repeated, CollectivesInTheSecondRun) {
  open(2, 60, /*inProcesses=*/false);
  program = [](TofuContext *context, Call &call) {
    void *twice = alloc(context, 8);
    addTo(context, twice, call.input, call.input);
    if (call.calls > 1)
      addUp(context, call);
    else
      call.result = alloc(context, 8);
    addTo(context, call.result, twice, twice);
    freeMemory(context, twice);
  };
  for (int64_t input : {1, 20, 300}) {
    ASSERT_EQ(run({input, input}), TOFU_OK) << getError();
    EXPECT_EQ(getResults(), (std::vector<int64_t>{4 * input, 4 * input}));
  }
  EXPECT_EQ(getNotice(), "runs are not replayed as a graph of CUDA: device 0, "
                         "there: there was no collective in the first run");
}

TEST_F(Repeated, KernelOnTheOtherStream) {
  open(2, 60, /*inProcesses=*/false);
  program = [](TofuContext *context, Call &call) {
    addUp(context, call);
    const int64_t shape[6] = {1, 1, 1, 1, 1, 1};
    TofuStream *stream = getStream(context, TOFU_COMMUNICATION);
    record(context, nullptr, 4);
    wait(context, stream, 4);
    void *arguments[] = {&call.result, &call.result, &call.input};
    launch(context, stream, &addKernel, "here", shape, arguments);
    record(context, stream, 5);
    wait(context, nullptr, 5);
  };
  for (int64_t input : {1, 20, 300}) {
    ASSERT_EQ(run({input, input}), TOFU_OK) << getError();
    EXPECT_EQ(getResults(), (std::vector<int64_t>{7 * input, 7 * input}));
  }
  EXPECT_EQ(getNotice(),
            "runs are not replayed as a graph of CUDA: device 0, here: the "
            "stream of collectives does something else");
}

/// The program decides by what it has computed: each run is a call.
TEST_F(Repeated, ProgramReads) {
  open(1);
  program = [](TofuContext *context, Call &call) {
    int64_t value = 0;
    readMemory(context, nullptr, &value, call.input, 8);
    call.result = alloc(context, 8);
    int64_t sign = value % 2 ? -1 : 1;
    writeMemory(context, nullptr, call.result, &sign, 8);
  };
  for (int64_t input : {1, 2, 3, 4}) {
    ASSERT_EQ(run({input}), TOFU_OK) << getError();
    EXPECT_EQ(getResults(), std::vector<int64_t>{input % 2 ? -1 : 1});
  }
  EXPECT_EQ(calls[0].calls, 4);
  EXPECT_EQ(numGraphLaunches, 0);
  EXPECT_EQ(getNotice(), "runs are not replayed as a graph of CUDA: device 0: "
                         "the program reads the device's memory");
}

/// One of two devices can't: then neither replays.
TEST_F(Repeated, OneDeviceWaits) {
  open(2);
  program = [](TofuContext *context, Call &call) {
    addUp(context, call);
    if (tofuDeviceId(context) == 1)
      synchronizeDevice(context);
  };
  for (int64_t input : {1, 20, 300}) {
    ASSERT_EQ(run({input, input}), TOFU_OK) << getError();
    EXPECT_EQ(getResults(), (std::vector<int64_t>{6 * input, 6 * input}));
  }
  EXPECT_EQ(calls[0].calls, 3);
  EXPECT_EQ(getNotice(), "runs are not replayed as a graph of CUDA: device 1: "
                         "the program waits for the device");
}

/// What can't be captured turns up in the run that is: what came before is
/// launched, and the rest done as usual, also where it waits for events of
/// before and frees memory of before.
TEST_F(Repeated, ObstacleInTheCapturedRun) {
  open(2);
  for (int kind = 0; kind < 3; ++kind) {
    TearDown();
    open(2);
    program = [kind](TofuContext *context, Call &call) {
      static const int64_t later = 0;
      TofuStream *stream = getStream(context, TOFU_COMMUNICATION);
      void *twice = alloc(context, 8);
      addTo(context, twice, call.input, call.input);
      record(context, nullptr, 0);
      int64_t value = 0;
      int8_t isNew = 0;
      bool isCaptured = call.calls == 2;
      if (isCaptured && kind == 0) {
        readMemory(context, nullptr, &value, twice, 8);
        EXPECT_EQ(value, 40);
      }
      if (isCaptured && kind == 1)
        getConstant(context, &later, 8);
      if (isCaptured && kind == 2)
        getGlobal(context, "later", 8, &isNew);
      wait(context, stream, 0);
      call.result = alloc(context, 8);
      addTo(context, call.result, twice, call.input);
      freeMemory(context, twice);
      addUp(context, call);
    };
    for (int64_t input : {1, 20, 300, 4000}) {
      ASSERT_EQ(run({input, input}), TOFU_OK) << getError();
      EXPECT_EQ(getResults(), (std::vector<int64_t>{6 * input, 6 * input}));
    }
    EXPECT_EQ(calls[0].calls, 4);
    EXPECT_EQ(numGraphLaunches, 2);
    EXPECT_NE(getNotice(), "");
  }
}

/// Graphs copy from pinned memory, of which the first run says how much.
TEST_F(Repeated, WritesMoreThanInTheFirstRun) {
  open(1);
  static const std::vector<int64_t> numbers = {1000, 2000, 3000};
  program = [](TofuContext *context, Call &call) {
    call.result = alloc(context, 8);
    int64_t count = call.calls == 1 ? 2 : 3;
    for (int64_t i = 0; i < count; ++i) {
      void *number = alloc(context, 8);
      writeMemory(context, nullptr, number, &numbers[i], 8);
      addTo(context, call.result, i ? call.result : call.input, number);
      freeMemory(context, number);
    }
  };
  int64_t added = 3000;
  for (int64_t input : {1, 20, 300, 4000}) {
    ASSERT_EQ(run({input}), TOFU_OK) << getError();
    EXPECT_EQ(getResults(), std::vector<int64_t>{input + added});
    added = 6000;
  }
  EXPECT_EQ(calls[0].calls, 4);
  EXPECT_EQ(numGraphLaunches, 1);
  EXPECT_EQ(getNotice(), "runs are not replayed as a graph of CUDA: device 0: "
                         "the host writes more than in the first run");
}

/// As many as in the first run, of sizes that aren't aligned.
TEST_F(Repeated, WritesOfAllSizes) {
  open(1);
  program = [](TofuContext *context, Call &call) {
    call.result = alloc(context, 8);
    addTo(context, call.result, call.input, call.input);
    for (int64_t bytes : {5, 0, 8, 1}) {
      int64_t number = -1;
      void *memory = alloc(context, 8);
      writeMemory(context, nullptr, memory, &number, 8);
      number = 0x0102030405060708;
      writeMemory(context, nullptr, memory, &number, bytes);
      number = 7;
      addTo(context, call.result, call.result, memory);
      freeMemory(context, memory);
    }
  };
  // The lower bytes of the number, and those of -1.
  const int64_t expected =
      0xffffff0405060708 + (-1) + 0x0102030405060708 + 0xffffffffffffff08;
  for (int64_t input : {1, 20, 300, 4000}) {
    ASSERT_EQ(run({input}), TOFU_OK) << getError();
    EXPECT_EQ(getResults(), std::vector<int64_t>{2 * input + expected});
  }
  EXPECT_EQ(calls[0].calls, 2);
  EXPECT_EQ(getNotice(), "");
}

/// CUDA makes no graph of what was captured: the program is called once more,
/// and nothing has been done twice.
TEST_F(Repeated, CaptureFails) {
  open(1);
  program = [](TofuContext *context, Call &call) {
    int8_t isNew = 0;
    void *global = getGlobal(context, "g", 8, &isNew);
    addTo(context, global, isNew ? call.input : global, call.input);
    call.result = alloc(context, 8);
    addTo(context, call.result, global, call.input);
    if (call.calls == 2) // what a library might do
      cudaStreamSynchronize(
          reinterpret_cast<cudaStream_t>(getStream(context, TOFU_COMPUTE)));
  };
  int64_t global = 1;
  for (int64_t input : {1, 20, 300, 4000}) {
    global += input;
    ASSERT_EQ(run({input}), TOFU_OK) << getError();
    EXPECT_EQ(getResults(), std::vector<int64_t>{global + input});
    EXPECT_EQ(getWorld(0).memory(0).programBytes, 16);
  }
  EXPECT_EQ(calls[0].calls, 5);
  EXPECT_EQ(getNotice(), "runs are not replayed as a graph of CUDA: device 0: "
                         "CUDA makes no graph: an error (cudaErrorOfTest)");
}

/// A device fails in a run that is called, captured or replayed: the other one,
/// which may wait for it in a graph, ends as well, and runs go on.
TEST_F(Repeated, DeviceFails) {
  open(2);
  program = addUp;
  for (int failing : {0, 1, 2, 4}) {
    for (int i = 0; i < failing; ++i) {
      ASSERT_EQ(run({1, 2}), TOFU_OK) << getError();
      EXPECT_EQ(getResults(), (std::vector<int64_t>{9, 9}));
    }
    before = [](TofuContext *context) {
      if (tofuDeviceId(context) == 1)
        tofuFail(context, "no more", "there");
    };
    EXPECT_EQ(run({1, 2}), TOFU_FAILED);
    EXPECT_EQ(getError(), "device 1, there: no more");
    before = nullptr;
  }
  ASSERT_EQ(run({1, 2}), TOFU_OK) << getError();
  EXPECT_EQ(getResults(), (std::vector<int64_t>{9, 9}));
}

/// The same in one process, where the other device may be between two graphs.
/// Whatever these have allocated by then is freed.
TEST_F(Repeated, DeviceFailsInOneProcess) {
  open(2, 60, /*inProcesses=*/false);
  program = addUp;
  for (int failing : {0, 1, 2, 4}) {
    for (int i = 0; i < failing; ++i) {
      ASSERT_EQ(run({1, 2}), TOFU_OK) << getError();
      EXPECT_EQ(getResults(), (std::vector<int64_t>{9, 9}));
    }
    before = [](TofuContext *context) {
      if (tofuDeviceId(context) == 1)
        tofuFail(context, "no more", "there");
    };
    EXPECT_EQ(run({1, 2}), TOFU_FAILED);
    EXPECT_EQ(getError(), "device 1, there: no more");
    before = nullptr;
    for (int64_t device : {0, 1}) {
      backend->reset(getContext(device));
      EXPECT_EQ(getWorld(device).memory(device).programBytes, 0);
    }
    EXPECT_EQ(countLiveGraphMemory(), 0);
  }
  ASSERT_EQ(run({1, 2}), TOFU_OK) << getError();
  EXPECT_EQ(getResults(), (std::vector<int64_t>{9, 9}));
}

TEST_F(Repeated, DeviceStaysAwayInOneProcess) {
  open(2, 0.2, /*inProcesses=*/false);
  program = addUp;
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(run({1, 2}), TOFU_OK) << getError();
  absent = 1;
  EXPECT_EQ(run({1, 2}), TOFU_FAILED);
  EXPECT_EQ(getError(), "device 0, there: all_reduce timed out after 0.2 s "
                        "waiting for the other devices");
  backend->reset(getContext(0));
  EXPECT_EQ(getWorld(0).memory(0).programBytes, 0);
  EXPECT_EQ(countLiveGraphMemory(), 0);
  absent = -1;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(run({1, 2}), TOFU_OK) << getError();
    EXPECT_EQ(getResults(), (std::vector<int64_t>{9, 9}));
  }
}

/// A device doesn't come, while the other one waits for it in a graph.
TEST_F(Repeated, DeviceStaysAway) {
  open(2, 0.2);
  program = addUp;
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(run({1, 2}), TOFU_OK) << getError();
  absent = 1;
  EXPECT_EQ(run({1, 2}), TOFU_FAILED);
  EXPECT_EQ(getError(),
            "device 0, there: the GPU has not come to an end after 0.2 s; this "
            "is the last collective that it was given");
  absent = -1;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(run({1, 2}), TOFU_OK) << getError();
    EXPECT_EQ(getResults(), (std::vector<int64_t>{9, 9}));
  }
}

/// The program itself fails while it is captured.
TEST_F(Repeated, FailsInTheCapturedRun) {
  open(1);
  program = [](TofuContext *context, Call &call) {
    computeLine(context, call);
    if (call.calls == 2)
      tofuFail(context, "no more", "there");
  };
  ASSERT_EQ(run({1}), TOFU_OK) << getError();
  EXPECT_EQ(run({2}), TOFU_FAILED);
  EXPECT_EQ(getError(), "device 0, there: no more");
  for (int64_t input : {1, 20, 300}) {
    ASSERT_EQ(run({input}), TOFU_OK) << getError();
    EXPECT_EQ(getResults(), (std::vector<int64_t>{2 * input + 1007}));
  }
  EXPECT_EQ(calls[0].calls, 4);
}

//===----------------------------------------------------------------------===//
// Runners
//===----------------------------------------------------------------------===//

std::atomic<int> numEntered{0};

/// A program compiled: overwrites its argument x with 2 * x, and returns 4 * x.
void enterProgram(void **arguments) {
  ++numEntered;
  auto *result = *static_cast<int64_t **>(arguments[0]);
  auto *context = *static_cast<TofuContext **>(arguments[1]);
  auto *argument = *static_cast<int64_t **>(arguments[2]);
  auto *data = reinterpret_cast<void *>(argument[1]);
  addTo(context, data, data, data);
  void *memory = alloc(context, 8);
  addTo(context, memory, data, data);
  result[0] = result[1] = reinterpret_cast<int64_t>(memory);
  result[2] = 0;
  result[3] = result[4] = 1;
}

/// As tofu-run --iters does it. What the program overwrites is there again each
/// time.
TEST(Runner, Repeats) {
  using namespace mlir::tofu;
  Signature program;
  Port port;
  port.type = port.localType = {TOFU_I64, {1}};
  program.results = {port};
  port.isDonated = true;
  program.arguments = {port};
  for (auto [iterations, calls] : {std::pair(2, 2), std::pair(7, 2)}) {
    std::vector<HostTensor> inputs;
    inputs.push_back(std::move(*HostTensor::create(TOFU_I64, {1})));
    inputs[0].setInteger(0, 3);
    ExecutionOptions options;
    options.iterations = iterations - 1;
    options.warmup = 1;
    numEntered = numGraphLaunches = 0;
    OrFailure<Execution> executed =
        execute(program, enterProgram, *tofuGetBackend(), inputs, options);
    ASSERT_TRUE(executed) << executed.reason();
    EXPECT_EQ(executed->results[0].whole.getInteger(0), 12);
    EXPECT_EQ(executed->devices[0].seconds.size(), size_t(iterations - 1));
    EXPECT_EQ(executed->notice, "");
    EXPECT_EQ(numEntered, calls);
    // With two runs there is nothing to gain.
    EXPECT_EQ(numGraphLaunches, iterations == 2 ? 0 : iterations - 1);
  }
}

//===----------------------------------------------------------------------===//
// The library that these tests run on
//===----------------------------------------------------------------------===//

/// Two streams, the first of which is captured.
class FakeCapture : public testing::Test {
protected:
  void SetUp() override {
    for (cudaStream_t *stream : {&first, &second})
      cudaStreamCreateWithFlags(stream, 0);
    cudaEventCreateWithFlags(&event, 0);
    ASSERT_EQ(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed),
              cudaSuccess);
  }
  void TearDown() override {
    if (isCapturing(first))
      EXPECT_NE(end(), cudaSuccess);
    cudaEventDestroy(event);
    for (cudaStream_t stream : {first, second})
      cudaStreamDestroy(stream);
  }
  cudaError_t end() {
    cudaError_t status = cudaStreamEndCapture(first, &graph);
    cudaGraphDestroy(graph);
    return status;
  }

  cudaStream_t first, second;
  cudaEvent_t event;
  cudaGraph_t graph = nullptr;
};

TEST_F(FakeCapture, RefusesWhatIsNotOnAStream) {
  void *memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 8), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(FakeCapture, RefusesToWait) {
  EXPECT_EQ(cudaStreamQuery(first), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(FakeCapture, RefusesStreamsThatDontComeBack) {
  cudaEventRecord(event, first);
  EXPECT_EQ(cudaStreamWaitEvent(second, event, 0), cudaSuccess);
  EXPECT_EQ(end(), cudaErrorStreamCaptureUnjoined);
}

TEST_F(FakeCapture, RefusesEventsOfBefore) {
  cudaEventRecord(event, second);
  EXPECT_EQ(cudaStreamWaitEvent(first, event, 0),
            cudaErrorStreamCaptureIsolation);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(FakeCapture, RefusesEventsOfAfter) {
  cudaEventRecord(event, first);
  EXPECT_EQ(end(), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(second, event, 0), cudaErrorCapturedEvent);
}

TEST_F(FakeCapture, RefusesMemoryThatIsLive) {
  void *memory = nullptr;
  EXPECT_EQ(cudaMallocAsync(&memory, 8, first), cudaSuccess);
  cudaStreamEndCapture(first, &graph);
  cudaGraphExec_t launched;
  cudaGraphInstantiate(&launched, graph, 0);
  cudaGraphDestroy(graph);
  EXPECT_EQ(cudaFreeAsync(memory, first), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphLaunch(launched, first), cudaSuccess);
  cudaStreamSynchronize(first);
  EXPECT_EQ(cudaGraphLaunch(launched, first), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeAsync(memory, first), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(launched, first), cudaSuccess);
  cudaStreamSynchronize(first);
  cudaFreeAsync(memory, first);
  cudaGraphExecDestroy(launched);
}

/// A graph frees what another one has allocated, once that has been launched.
TEST_F(FakeCapture, FreesMemoryOfOtherGraphs) {
  void *memory = nullptr;
  cudaGraphExec_t made, freed;
  EXPECT_EQ(cudaMallocAsync(&memory, 8, first), cudaSuccess);
  cudaStreamEndCapture(first, &graph);
  cudaGraphInstantiate(&made, graph, 0);
  cudaGraphDestroy(graph);
  cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaFreeAsync(memory, first), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(memory, first), cudaErrorInvalidValue);
  cudaStreamEndCapture(first, &graph);
  cudaGraphInstantiate(&freed, graph, 0);
  cudaGraphDestroy(graph);
  EXPECT_EQ(cudaGraphLaunch(freed, first), cudaErrorInvalidValue);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(cudaGraphLaunch(made, first), cudaSuccess);
    cudaStreamSynchronize(first);
    EXPECT_EQ(countLiveGraphMemory(), 1);
    EXPECT_EQ(cudaGraphLaunch(freed, first), cudaSuccess);
    cudaStreamSynchronize(first);
    EXPECT_EQ(countLiveGraphMemory(), 0);
  }
  cudaGraphExecDestroy(made);
  cudaGraphExecDestroy(freed);
}

/// Two ranks of NCCL, driven by one thread.
class FakeRanks : public testing::Test {
protected:
  void SetUp() override {
    ncclUniqueId id;
    ncclGetUniqueId(&id);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    for (int rank : {0, 1}) {
      ncclCommInitRankConfig(&ranks[rank], 2, id, rank, &config);
      cudaStreamCreateWithFlags(&streams[rank], 0);
    }
    for (ncclComm_t rank : ranks)
      EXPECT_EQ(finish(rank), ncclSuccess);
  }
  void TearDown() override {
    for (ncclComm_t rank : ranks)
      ncclCommAbort(rank);
    for (cudaStream_t stream : streams)
      cudaStreamDestroy(stream);
    EXPECT_EQ(numNcclCommunicators, 0);
  }
  static ncclResult_t finish(ncclComm_t rank) {
    ncclResult_t result = ncclInProgress;
    while (result == ncclInProgress)
      ncclCommGetAsyncError(rank, &result);
    return result;
  }
  void sum(int rank, size_t count) {
    ncclGroupStart();
    ncclAllReduce(&fives, &tens[rank], count, ncclInt32, ncclSum, ranks[rank],
                  streams[rank]);
    ncclGroupEnd();
  }

  ncclComm_t ranks[2];
  cudaStream_t streams[2];
  int32_t fives[2] = {5, 5}, tens[2][2] = {};
};

TEST_F(FakeRanks, RefuseDifferentCollectives) {
  for (int rank : {0, 1})
    sum(rank, 2);
  for (int rank : {0, 1})
    EXPECT_EQ(finish(ranks[rank]), ncclSuccess);
  EXPECT_EQ(tens[1][1], 10);
  for (int rank : {0, 1})
    sum(rank, 1 + rank);
  for (int rank : {0, 1})
    EXPECT_EQ(finish(ranks[rank]), ncclInvalidUsage);
  // Either rank may be the first to say so.
  std::vector<std::string> faults = takeNcclFaults();
  std::sort(faults.begin(), faults.end());
  EXPECT_EQ(faults, (std::vector<std::string>{
                        "a rank is at all_reduce of 1, 0, another one at "
                        "all_reduce of 2, 0",
                        "a rank is at all_reduce of 2, 0, another one at "
                        "all_reduce of 1, 0"}));
}

TEST_F(FakeRanks, RefuseThatOnlyOneIsCaptured) {
  cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeRelaxed);
  sum(0, 2);
  EXPECT_EQ(finish(ranks[0]), ncclSuccess);
  cudaGraph_t captured;
  cudaGraphExec_t graph;
  ASSERT_EQ(cudaStreamEndCapture(streams[0], &captured), cudaSuccess);
  cudaGraphInstantiate(&graph, captured, 0);
  cudaGraphDestroy(captured);
  cudaGraphLaunch(graph, streams[0]);
  sum(1, 2);
  EXPECT_EQ(finish(ranks[1]), ncclInvalidUsage);
  cudaStreamSynchronize(streams[0]);
  cudaGraphExecDestroy(graph);
  EXPECT_EQ(takeNcclFaults(),
            (std::vector<std::string>(2, "only some ranks capture all_reduce "
                                         "of 2, 0")));
}

} // namespace
