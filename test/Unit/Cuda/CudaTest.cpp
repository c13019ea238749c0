//===- CudaTest.cpp - Tests of the CUDA backend's host side ---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On libraries that do all at once. Beside these tests those of the host
// runtime run on this backend.
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "Fake.h"
#include "SumOfHalves.h"
#include "TestWorld.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cuda_runtime_api.h>
#include <ostream>

using namespace mlir::tofu::test;

namespace {

const auto alloc = find<decltype(tofuAlloc)>("tofuAlloc");
const auto freeMemory = find<decltype(tofuFree)>("tofuFree");
const auto getGlobal = find<decltype(tofuGlobal)>("tofuGlobal");
const auto getConstant = find<decltype(tofuConstant)>("tofuConstant");
const auto getStream = find<decltype(tofuStream)>("tofuStream");
const auto record = find<decltype(tofuRecord)>("tofuRecord");
const auto wait = find<decltype(tofuWait)>("tofuWait");
const auto beginGroup = find<decltype(tofuGroupBegin)>("tofuGroupBegin");
const auto endGroup = find<decltype(tofuGroupEnd)>("tofuGroupEnd");
const auto launch = find<decltype(tofuLaunch)>("tofuLaunch");
const auto readMemory = find<decltype(tofuRead)>("tofuRead");
const auto writeMemory = find<decltype(tofuWrite)>("tofuWrite");

/// A GPU for each device, for as long as this lives.
struct FakeGpus {
  explicit FakeGpus(int count) { numFakeGpus = count; }
  ~FakeGpus() { numFakeGpus = 1; }
};

/// Four devices: 0 and 2 are a group, 1 and 3 are one, where ranks are the
/// other way around.
std::vector<int64_t> makeTable(int64_t kind, int64_t combiner, int64_t count,
                               int64_t root = 0) {
  return {TOFU_TABLE_VERSION, kind, combiner, TOFU_I32, count, root, 4,
          /*groups=*/0,       1,    0,        1,
          /*ranks=*/0,        1,    1,        0};
}

TEST(Cuda, NcclDoesEvenCollectives) {
  FakeGpus gpus(4);
  TestWorld world(4);
  numNcclCalls = 0;
  auto sum = makeTable(TOFU_ALL_REDUCE, TOFU_COMBINE_SUM, 1),
       gather = makeTable(TOFU_ALL_GATHER, TOFU_COMBINE_NONE, 1),
       scatter = makeTable(TOFU_REDUCE_SCATTER, TOFU_COMBINE_MAX, 1),
       broadcast = makeTable(TOFU_BROADCAST, TOFU_COMBINE_NONE, 1, 1);
  std::vector<std::vector<int32_t>> seen(4, std::vector<int32_t>(5));
  auto body = [&](TofuContext *context, int64_t device) {
    int32_t src[2] = {static_cast<int32_t>(10 * device),
                      static_cast<int32_t>(10 * device + 1)};
    int32_t *dst = seen[device].data();
    TofuStream *stream = getStream(context, TOFU_COMMUNICATION);
    beginGroup(context, stream);
    tofuEvenCollective(context, stream, sum.data(), "here", src, dst);
    tofuEvenCollective(context, stream, gather.data(), "here", src, dst + 1);
    endGroup(context, stream);
    tofuEvenCollective(context, stream, scatter.data(), "here", src, dst + 3);
    tofuEvenCollective(context, stream, broadcast.data(), "here", src, dst + 4);
  };
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(world.run(body), TOFU_OK) << world.error();
    EXPECT_EQ(seen, (std::vector<std::vector<int32_t>>{{20, 0, 20, 20, 20},
                                                       {40, 30, 10, 31, 10},
                                                       {20, 0, 20, 21, 20},
                                                       {40, 30, 10, 30, 10}}));
  }
  EXPECT_EQ(numNcclCalls, 2 * 4 * 4);
  std::vector<TofuCollectiveStats> stats = world.collectives(0);
  ASSERT_EQ(stats.size(), 4u);
  EXPECT_EQ(stats[1].kind, TOFU_ALL_GATHER);
  EXPECT_EQ(stats[1].calls, 2);
  EXPECT_EQ(stats[1].receivedBytes, 2 * 4);
}

/// After a failure the communicators are made anew.
TEST(Cuda, NcclAfterAFailure) {
  FakeGpus gpus(2);
  TestWorld world(2);
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
  std::vector<int32_t> seen(2);
  auto run = [&] {
    EXPECT_EQ(world.run([&](TofuContext *context, int64_t device) {
      int32_t src = 5;
      tofuEvenCollective(context, nullptr, sum.data(), "here", &src,
                         &seen[device]);
    }),
              TOFU_OK)
        << world.error();
    return seen;
  };
  EXPECT_EQ(run(), (std::vector<int32_t>{10, 10}));
  EXPECT_EQ(world.run([&](TofuContext *context, int64_t device) {
    freeMemory(context, &seen[device]);
  }),
            TOFU_FAILED);
  EXPECT_NE(world.error().find("memory is freed that is not the device's"),
            std::string::npos);
  seen = {};
  seen.resize(2);
  EXPECT_EQ(run(), (std::vector<int32_t>{10, 10}));
}

void addTo(void **arguments, dim3 grid, dim3 block) {
  int64_t *memory = *static_cast<int64_t **>(arguments[0]);
  *memory += *static_cast<int64_t *>(arguments[1]) + 100 * grid.y + block.z;
}

TEST(Cuda, KernelsAndMemory) {
  TestWorld world(2);
  // What the library takes for an image.
  const FakeKernel image = {addTo, 2};
  TofuKernel kernel = {
      TOFU_TABLE_VERSION, "known", &image, 8, nullptr, 0, nullptr};
  static const int64_t constant = 7;
  std::vector<int64_t> seen(2);
  auto body = [&](TofuContext *context, int64_t device) {
    void *memory = alloc(context, 8);
    int64_t value = 1000 * device;
    writeMemory(context, nullptr, memory, &value, 8);
    const int64_t shape[6] = {1, 2, 1, 1, 1, 3};
    void *arguments[] = {&memory, &value};
    launch(context, nullptr, &kernel, "here", shape, arguments);
    const int64_t empty[6] = {1, 0, 1, 1, 1, 3};
    launch(context, nullptr, &kernel, "here", empty, arguments);
    record(context, getStream(context, TOFU_COMMUNICATION), 3);
    wait(context, nullptr, 3);
    readMemory(context, nullptr, &value, memory, 8);
    seen[device] = value;
    readMemory(context, nullptr, &value, getConstant(context, &constant, 8), 8);
    seen[device] += value;
    int8_t isNew = 0;
    void *global = getGlobal(context, "g", 8, &isNew);
    seen[device] += isNew * 10000;
    EXPECT_EQ(global, getGlobal(context, "g", 8, &isNew));
    EXPECT_FALSE(isNew);
    freeMemory(context, memory);
  };
  EXPECT_EQ(world.run(body), TOFU_OK) << world.error();
  EXPECT_EQ(seen, (std::vector<int64_t>{10210, 12210}));
  // A global stays.
  EXPECT_EQ(world.run(body), TOFU_OK) << world.error();
  EXPECT_EQ(seen, (std::vector<int64_t>{210, 2210}));
  EXPECT_EQ(world.memory(0).programBytes, 8);
  EXPECT_EQ(world.memory(0).peakProgramBytes, 16);
}

TEST(Cuda, KernelErrors) {
  TestWorld world(1);
  auto run = [&](TofuKernel kernel) {
    EXPECT_EQ(world.run([&](TofuContext *context, int64_t) {
      const int64_t shape[6] = {1, 1, 1, 1, 1, 1};
      launch(context, nullptr, &kernel, "here", shape, nullptr);
    }),
              TOFU_FAILED);
    return world.error();
  };
  TofuKernel kernel = {
      TOFU_TABLE_VERSION, "unknown", "", 1, nullptr, 0, nullptr};
  EXPECT_EQ(run(kernel), "device 0, here: unknown: an error (cudaErrorOfTest)");
  kernel.image = nullptr;
  EXPECT_EQ(run(kernel), "device 0, here: a kernel is not compiled for GPUs");
  kernel.version = 4;
  EXPECT_EQ(run(kernel),
            "device 0, here: a kernel is of another version of Tofu");
}

/// A product in memory is the library's, also with A transposed or with C's
/// columns in rows.
/// What CUDA says when memory is freed, or the thread's GPU is selected.
TEST(Cuda, ErrorsOfMemoryAndOfSelection) {
  TestWorld world(1);
  auto body = [&](TofuContext *context, int64_t) {
    freeMemory(context, alloc(context, 8));
  };
  EXPECT_EQ(world.run(body), TOFU_OK) << world.error();
  onFree = cudaErrorInvalidValue;
  EXPECT_EQ(world.run(body), TOFU_FAILED);
  EXPECT_EQ(world.error(),
            "device 0: memory is freed: an error (cudaErrorOfTest)");
  onSelect = cudaErrorDevicesUnavailable;
  EXPECT_EQ(world.run(body), TOFU_FAILED);
  EXPECT_EQ(world.error(), "device 0: the GPU: an error (cudaErrorOfTest)");
  onSelect = cudaErrorDevicesUnavailable;
  EXPECT_EQ(world.backend->allocate(world.context(0), 8), nullptr);
  EXPECT_EQ(world.run(body), TOFU_OK) << world.error();
}

TEST(Cuda, ProductsOfMatricesAreTheLibrarys) {
  auto run = [](std::vector<size_t> orderA, std::vector<size_t> orderC,
                int64_t input) {
    TestWorld world(1);
    const int64_t table[] = {TOFU_TABLE_VERSION,
                             input,
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
    TestMemref a({3, 4}, orderA, 0, input == TOFU_F16 ? 2 : 4),
        b({4, 5}, {0, 1}, 2, input == TOFU_F16 ? 2 : 4),
        c({3, 5}, orderC, 0, 4);
    numProducts = 0;
    EXPECT_EQ(world.run([&](TofuContext *context, int64_t) {
      tofuContract(context, nullptr, table, "here", 2, a.descriptor(), 2,
                   b.descriptor(), 2, c.descriptor());
    }),
              TOFU_OK)
        << world.error();
    return numProducts.load();
  };
  EXPECT_EQ(run({0, 1}, {0, 1}, TOFU_F32), 1);
  EXPECT_EQ(run({1, 0}, {0, 1}, TOFU_F32), 1);
  EXPECT_EQ(run({0, 1}, {1, 0}, TOFU_F32), 1);
  EXPECT_EQ(run({0, 1}, {0, 1}, TOFU_F16), 1);
}

/// Where an epilogue was computed: within the library's product, by a kernel
/// after it, or by the kernel of the contraction.
struct Epilogues {
  int inProducts, ofTheirOwn, contractions;
  bool operator==(const Epilogues &other) const {
    return inProducts == other.inProducts && ofTheirOwn == other.ofTheirOwn &&
           contractions == other.contractions;
  }
};
std::ostream &operator<<(std::ostream &out, const Epilogues &counts) {
  return out << counts.inProducts << " in products, " << counts.ofTheirOwn
             << " of their own, " << counts.contractions << " contractions";
}

/// Fills a tensor of f32 by a function of the index.
template <typename Function>
void fill(TestMemref &memref, const Function &getValue) {
  forEachIndex(memref.sizes, [&](const std::vector<int64_t> &index) {
    store(TOFU_F32, memref.at(index, 4), getValue(index));
  });
}

/// Of relu(A * B + bias), with A all 2, B all 3, three terms, and the bias
/// -20, -19, ... along a dim of C.
Epilogues runEpilogue(std::vector<size_t> orderC, int64_t biasDim,
                      size_t biasGap = 0) {
  const std::vector<int64_t> table = {TOFU_TABLE_VERSION,
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
                                      1,
                                      TOFU_ACTIVATION_RELU,
                                      biasDim};
  const std::vector<int64_t> sizes = {4, 5};
  TestMemref a({4, 3}, {0, 1}, 0, 4), b({3, 5}, {0, 1}, 0, 4),
      c(sizes, orderC, 0, 4);
  // With a gap, the bias is a column of a matrix.
  TestMemref bias({sizes[biasDim], 1}, {0, 1}, biasGap, 4);
  fill(a, [](auto &) { return 2; });
  fill(b, [](auto &) { return 3; });
  fill(bias, [](auto &index) { return index[0] - 20; });
  std::vector<int64_t> withGap = table;
  withGap.push_back(-1);
  numProductsWithEpilogue = numEpilogues = numContractions = 0;
  TestWorld world(1);
  EXPECT_EQ(world.run([&](TofuContext *context, int64_t) {
    tofuContractWithEpilogue(context, nullptr, withGap.data(), "here", 2,
                             a.descriptor(), 2, b.descriptor(), 2,
                             c.descriptor(), 2, bias.descriptor());
  }),
            TOFU_OK)
      << world.error();
  forEachIndex(sizes, [&](const std::vector<int64_t> &index) {
    EXPECT_EQ(load(TOFU_F32, c.at(index, 4)),
              std::max<int64_t>(18 + index[biasDim] - 20, 0));
  });
  return {numProductsWithEpilogue, numEpilogues, numContractions};
}

TEST(Cuda, EpiloguesAreTheLibrarysWhereItHasThem) {
  const Epilogues inProduct = {1, 0, 0}, after = {0, 1, 0};
  EXPECT_EQ(runEpilogue({0, 1}, 1), inProduct);
  // C^T is in memory what C was.
  EXPECT_EQ(runEpilogue({1, 0}, 0), inProduct);
  // Along the other dim, or with gaps, a bias isn't the library's.
  EXPECT_EQ(runEpilogue({0, 1}, 0), after);
  EXPECT_EQ(runEpilogue({1, 0}, 1), after);
  EXPECT_EQ(runEpilogue({0, 1}, 1, 2), after);
  // No algorithm may have the epilogue.
  lacksEpilogues = true;
  EXPECT_EQ(runEpilogue({0, 1}, 1), after);
  lacksEpilogues = false;
}

/// Of relu(A * B + bias), with a bias of the shape of C, in that order in
/// memory and maybe with a gap after each row.
Epilogues runSum(std::vector<size_t> orderOfBias, size_t biasGap,
                 bool accumulate = false) {
  const std::vector<int64_t> table = {TOFU_TABLE_VERSION,
                                      TOFU_F32,
                                      TOFU_F32,
                                      accumulate,
                                      3,
                                      2,
                                      2,
                                      2,
                                      /*A=*/0,
                                      2,
                                      /*B=*/2,
                                      1,
                                      /*C=*/0,
                                      1,
                                      TOFU_ACTIVATION_RELU,
                                      /*bias=*/0,
                                      1};
  TestMemref a({4, 3}, {0, 1}, 0, 4), b({3, 5}, {0, 1}, 0, 4),
      c({4, 5}, {0, 1}, 0, 4), bias({4, 5}, orderOfBias, biasGap, 4);
  fill(a, [](auto &) { return 2; });
  fill(b, [](auto &) { return 3; });
  fill(c, [](auto &) { return 1; });
  fill(bias, [](auto &index) { return 7 * index[0] - index[1] - 20; });
  numProducts = numProductsWithEpilogue = numEpilogues = numContractions = 0;
  TestWorld world(1);
  EXPECT_EQ(world.run([&](TofuContext *context, int64_t) {
    tofuContractWithEpilogue(context, nullptr, table.data(), "here", 2,
                             a.descriptor(), 2, b.descriptor(), 2,
                             c.descriptor(), 2, bias.descriptor());
  }),
            TOFU_OK)
      << world.error();
  forEachIndex(c.sizes, [&](const std::vector<int64_t> &index) {
    EXPECT_EQ(
        load(TOFU_F32, c.at(index, 4)),
        std::max<int64_t>(18 + accumulate + 7 * index[0] - index[1] - 20, 0));
  });
  EXPECT_EQ(numProducts, 1);
  return {numProductsWithEpilogue, numEpilogues, numContractions};
}

/// The library adds to what is elsewhere, in its own layout.
TEST(Cuda, BiasOfTheShapeOfTheResult) {
  const Epilogues inProduct = {1, 0, 0}, after = {0, 1, 0};
  EXPECT_EQ(runSum({0, 1}, 0), inProduct);
  EXPECT_EQ(runSum({0, 1}, 3), inProduct);
  // A transposed one, or a second one, isn't the library's.
  EXPECT_EQ(runSum({1, 0}, 0), after);
  EXPECT_EQ(runSum({0, 1}, 0, /*accumulate=*/true), after);
}

/// Once in the library; where a kernel comes after it, as often as on the host.
TEST(Cuda, RoundingOfSumsBeforeEpilogues) {
  EXPECT_EQ(sumHalvesAndBias(), 2050);
  lacksEpilogues = true;
  EXPECT_EQ(sumHalvesAndBias(), 2048);
  lacksEpilogues = false;
}

TEST(Cuda, ListsGpus) {
  char error[256] = "";
  FakeGpus gpus(2);
  std::string text = tofuGetBackend()->listDevices(error, sizeof(error));
  EXPECT_EQ(text.substr(0, text.find("with ")),
            "GPU 0: Fake 0, sm_90, 81920 MiB\n"
            "GPU 1: Fake 1, sm_90, 81920 MiB\n");
  numFakeGpus = 0;
  EXPECT_EQ(tofuGetBackend()->listDevices(error, sizeof(error)), nullptr);
  EXPECT_STREQ(error, "no GPU can be used: there is none");
}

} // namespace
