//===- ContractTest.cpp - Tests of the host backend's contractions --------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "SumOfHalves.h"
#include "TestWorld.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>

using namespace mlir::tofu;
using namespace mlir::tofu::test;

namespace {

using Index = std::vector<int64_t>;

/// A contraction: the size of each loop, and the loop behind each dim.
struct Case {
  int64_t inputType = TOFU_F32, outputType = TOFU_F32;
  bool accumulate = false;
  std::vector<int64_t> loops;
  std::vector<int64_t> dims[3];

  std::vector<int64_t> sizes(int operand) const {
    std::vector<int64_t> sizes;
    for (int64_t loop : dims[operand])
      sizes.push_back(loop < 0 ? 1 : loops[loop]);
    return sizes;
  }
  int64_t type(int operand) const {
    return operand == 2 ? outputType : inputType;
  }
  std::vector<int64_t> table() const {
    std::vector<int64_t> words = {TOFU_TABLE_VERSION, inputType, outputType,
                                  accumulate,
                                  static_cast<int64_t>(loops.size())};
    for (const auto &list : dims)
      words.push_back(list.size());
    for (const auto &list : dims)
      words.insert(words.end(), list.begin(), list.end());
    return words;
  }
};

class CaseMaker {
public:
  explicit CaseMaker(unsigned seed) : random(seed) {}

  Case make();
  TestMemref memref(const Case &c, int operand);
  int64_t below(int64_t end) {
    return std::uniform_int_distribution<int64_t>(0, end - 1)(random);
  }

private:
  std::mt19937 random;
};

Case CaseMaker::make() {
  static const int64_t types[][2] = {
      {TOFU_F32, TOFU_F32},  {TOFU_F32, TOFU_F32},    {TOFU_F32, TOFU_F32},
      {TOFU_F64, TOFU_F64},  {TOFU_F16, TOFU_F16},    {TOFU_F16, TOFU_F32},
      {TOFU_BF16, TOFU_F32}, {TOFU_F32, TOFU_F64},    {TOFU_I8, TOFU_I32},
      {TOFU_I32, TOFU_I32},  {TOFU_I16, TOFU_I16},    {TOFU_I32, TOFU_I64},
      {TOFU_I64, TOFU_I64},  {TOFU_INDEX, TOFU_INDEX}};
  Case c;
  auto &pair = types[below(std::size(types))];
  c.inputType = pair[0];
  c.outputType = pair[1];
  c.accumulate = below(2);
  // Some large enough for products to be taken one by one.
  bool isLarge = below(40) == 0;
  for (int64_t loop = 0, e = 1 + below(isLarge ? 4 : 5); loop < e; ++loop) {
    static const int64_t sizes[] = {1, 1, 2, 2, 3, 3, 4, 5, 7, 8};
    c.loops.push_back(isLarge && loop < 3 ? 32 + below(8)
                      : below(10)         ? sizes[below(isLarge ? 6 : 10)]
                                          : 0);
    // All roles, the usual ones more often.
    static const unsigned roles[] = {1 | 2, 1 | 4, 2 | 4, 1 | 2 | 4, 1 | 2,
                                     1 | 4, 2 | 4, 1,     2,         4};
    unsigned role =
        isLarge && loop < 3 ? roles[loop] : roles[below(std::size(roles))];
    for (int operand = 0; operand < 3; ++operand)
      if (role & (1u << operand))
        c.dims[operand].push_back(loop);
  }
  for (auto &list : c.dims) {
    if (below(8) == 0)
      list.push_back(-1);
    std::shuffle(list.begin(), list.end(), random);
  }
  return c;
}

TestMemref CaseMaker::memref(const Case &c, int operand) {
  std::vector<size_t> order(c.dims[operand].size());
  std::iota(order.begin(), order.end(), 0);
  if (below(3) == 0)
    std::shuffle(order.begin(), order.end(), random);
  return TestMemref(c.sizes(operand), order, below(4) == 0 ? 2 : 0,
                    bytesOf(c.type(operand)));
}

Index indexOf(const std::vector<int64_t> &dims, const Index &iteration) {
  Index index;
  for (int64_t loop : dims)
    index.push_back(loop < 0 ? 0 : iteration[loop]);
  return index;
}

/// The result, row-major, by the definition.
std::vector<double> contract(const Case &c, TestMemref (&memrefs)[3]) {
  std::vector<int64_t> sizes = c.sizes(2);
  std::vector<double> result;
  forEachIndex(sizes, [&](const Index &index) {
    char *at = memrefs[2].at(index, bytesOf(c.outputType));
    result.push_back(c.accumulate ? load(c.outputType, at) : 0);
  });
  forEachIndex(c.loops, [&](const Index &iteration) {
    Index index = indexOf(c.dims[2], iteration);
    int64_t position = 0;
    for (size_t dim = 0; dim < index.size(); ++dim)
      position = position * sizes[dim] + index[dim];
    double product = 1;
    for (int operand : {0, 1})
      product *= load(c.inputType,
                      memrefs[operand].at(indexOf(c.dims[operand], iteration),
                                          bytesOf(c.inputType)));
    result[position] += product;
  });
  return result;
}

TofuStatus run(TestWorld &world, const std::vector<int64_t> &table,
               TestMemref (&m)[3]) {
  return world.run([&](TofuContext *context, int64_t device) {
    tofuContract(context, nullptr, table.data(), "here", m[0].rank(),
                 m[0].descriptor(), m[1].rank(), m[1].descriptor(), m[2].rank(),
                 m[2].descriptor());
  });
}

/// Small integers, so that all types but the halves are exact.
void check(const Case &c, CaseMaker &maker, TestWorld &world) {
  TestMemref memrefs[3] = {maker.memref(c, 0), maker.memref(c, 1),
                           maker.memref(c, 2)};
  for (int operand = 0; operand < 3; ++operand)
    forEachIndex(memrefs[operand].sizes, [&](const Index &index) {
      store(c.type(operand),
            memrefs[operand].at(index, bytesOf(c.type(operand))),
            maker.below(7) - 3);
    });
  std::vector<double> expected = contract(c, memrefs);
  ASSERT_EQ(run(world, c.table(), memrefs), TOFU_OK) << world.error();
  size_t position = 0;
  int64_t wrong = 0;
  forEachIndex(memrefs[2].sizes, [&](const Index &index) {
    double got =
        load(c.outputType, memrefs[2].at(index, bytesOf(c.outputType)));
    double want = expected[position++];
    // A sum that f16 can't hold is rounded once.
    wrong += c.outputType == TOFU_F16
                 ? halfFromFloat(got) != halfFromFloat(want)
                 : got != want;
  });
  EXPECT_EQ(wrong, 0) << "of " << position;
}

TEST(Contract, Random) {
  TestWorld world(1);
  CaseMaker maker(1);
  for (int i = 0; i < 2000 && !testing::Test::HasFailure(); ++i) {
    Case c = maker.make();
    // A loop that indexes nothing has no size.
    std::string text = testing::PrintToString(c.table()) + " loops " +
                       testing::PrintToString(c.loops);
    SCOPED_TRACE("case " + std::to_string(i) + ": " + text);
    check(c, maker, world);
  }
}

TEST(Contract, BFloatIsRoundedOnce) {
  // 257 needs nine bits: the sum of 1s stays exact in f32, then rounds to 256.
  Case c;
  c.inputType = c.outputType = TOFU_BF16;
  c.loops = {1, 1, 257};
  c.dims[0] = {0, 2};
  c.dims[1] = {2, 1};
  c.dims[2] = {0, 1};
  TestMemref memrefs[3] = {TestMemref(c.sizes(0), {0, 1}, 0, 2),
                           TestMemref(c.sizes(1), {0, 1}, 0, 2),
                           TestMemref(c.sizes(2), {0, 1}, 0, 2)};
  for (int operand : {0, 1})
    forEachIndex(memrefs[operand].sizes, [&](const Index &index) {
      store(TOFU_BF16, memrefs[operand].at(index, 2), 1);
    });
  TestWorld world(1);
  ASSERT_EQ(run(world, c.table(), memrefs), TOFU_OK) << world.error();
  EXPECT_EQ(load(TOFU_BF16, memrefs[2].at({0, 0}, 2)), 256);
}

TEST(Contract, Diagonal) {
  // One loop may index two dims of an operand.
  Case c;
  c.loops = {3, 2};
  c.dims[0] = {0, 0};
  c.dims[1] = {0, 1};
  c.dims[2] = {0, 1};
  CaseMaker maker(2);
  TestWorld world(1);
  check(c, maker, world);
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// A case with an activation and, unless it is missing, a bias.
struct EpilogueCase {
  Case contraction;
  int64_t activation = TOFU_ACTIVATION_NONE;
  std::optional<std::vector<int64_t>> bias;

  std::vector<int64_t> table() const {
    std::vector<int64_t> words = contraction.table();
    words.push_back(activation);
    if (bias)
      words.insert(words.end(), bias->begin(), bias->end());
    return words;
  }
  std::vector<int64_t> biasSizes() const {
    std::vector<int64_t> sizes;
    for (int64_t loop : *bias)
      sizes.push_back(loop < 0 ? 1 : contraction.loops[loop]);
    return sizes;
  }
};

TestMemref rowMajor(std::vector<int64_t> sizes, int64_t bytes) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  return TestMemref(sizes, order, 0, bytes);
}

TofuStatus runEpilogue(TestWorld &world, const EpilogueCase &c,
                       TestMemref (&m)[3], TestMemref *bias) {
  std::vector<int64_t> table = c.table();
  return world.run([&](TofuContext *context, int64_t device) {
    tofuContractWithEpilogue(
        context, nullptr, table.data(), "here", m[0].rank(), m[0].descriptor(),
        m[1].rank(), m[1].descriptor(), m[2].rank(), m[2].descriptor(),
        bias ? bias->rank() : 0, bias ? bias->descriptor() : nullptr);
  });
}

double activateByDefinition(int64_t activation, double x) {
  if (activation == TOFU_ACTIVATION_RELU ||
      activation == TOFU_ACTIVATION_RELU_NAN)
    return std::max(x, 0.0);
  if (activation == TOFU_ACTIVATION_GELU_TANH)
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) *
                          (x + 0.044715 * std::pow(x, 3))));
  return x;
}

EpilogueCase makeEpilogueCase(CaseMaker &maker) {
  EpilogueCase c;
  do
    c.contraction = maker.make();
  while (c.contraction.outputType > TOFU_BF16);
  c.activation = maker.below(TOFU_NUM_ACTIVATIONS);
  if (maker.below(5) == 0)
    return c;
  c.bias.emplace();
  for (int64_t loop : c.contraction.dims[2])
    if (maker.below(2))
      c.bias->push_back(loop);
  if (maker.below(6) == 0)
    c.bias->push_back(-1);
  if (maker.below(3) == 0)
    std::reverse(c.bias->begin(), c.bias->end());
  return c;
}

/// How far f32 may be off: GPUs approximate tanh.
#ifdef TOFU_TEST_ON_GPUS
constexpr double kTolerance = 5e-5;
#else
constexpr double kTolerance = 1e-6;
#endif

/// How far a result may be off: f16 may be rounded before the epilogue too.
double toleranceOf(int64_t type, double value) {
  return (type == TOFU_F16 ? 2e-3 : kTolerance) * (1 + std::abs(value));
}

void checkEpilogue(const EpilogueCase &c, CaseMaker &maker, TestWorld &world) {
  const Case &base = c.contraction;
  TestMemref memrefs[3] = {maker.memref(base, 0), maker.memref(base, 1),
                           maker.memref(base, 2)};
  for (int operand = 0; operand < 3; ++operand)
    forEachIndex(memrefs[operand].sizes, [&](const Index &index) {
      store(base.type(operand),
            memrefs[operand].at(index, bytesOf(base.type(operand))),
            maker.below(7) - 3);
    });
  int64_t type = base.outputType, bytes = bytesOf(type);
  std::optional<TestMemref> bias;
  if (c.bias) {
    bias.emplace(rowMajor(c.biasSizes(), bytes));
    forEachIndex(bias->sizes, [&](const Index &index) {
      store(type, bias->at(index, bytes), (maker.below(9) - 4) * 0.25);
    });
  }
  std::vector<double> expected = contract(base, memrefs);
  size_t position = 0;
  std::map<int64_t, size_t> dimOfLoop;
  for (size_t dim = 0; dim < base.dims[2].size(); ++dim)
    dimOfLoop[base.dims[2][dim]] = dim;
  forEachIndex(memrefs[2].sizes, [&](const Index &index) {
    double &value = expected[position++];
    if (bias) {
      Index at;
      for (int64_t loop : *c.bias)
        at.push_back(loop < 0 ? 0 : index[dimOfLoop[loop]]);
      value += load(type, bias->at(at, bytes));
    }
    value = activateByDefinition(c.activation, value);
  });
  ASSERT_EQ(runEpilogue(world, c, memrefs, bias ? &*bias : nullptr), TOFU_OK)
      << world.error();
  position = 0;
  forEachIndex(memrefs[2].sizes, [&](const Index &index) {
    double want = expected[position++];
    EXPECT_NEAR(load(type, memrefs[2].at(index, bytes)), want,
                toleranceOf(type, want));
  });
}

TEST(Contract, RandomEpilogues) {
  TestWorld world(1);
  CaseMaker maker(3);
  for (int i = 0; i < 2000 && !testing::Test::HasFailure(); ++i) {
    EpilogueCase c = makeEpilogueCase(maker);
    SCOPED_TRACE("case " + std::to_string(i) + ": " +
                 testing::PrintToString(c.table()) + " loops " +
                 testing::PrintToString(c.contraction.loops));
    checkEpilogue(c, maker, world);
  }
}

/// A product of a 1x1 by a 1x1 matrix.
double runOne(int64_t activation, float product) {
  EpilogueCase c;
  c.contraction.loops = {1, 1, 1};
  c.contraction.dims[0] = {0, 2};
  c.contraction.dims[1] = {2, 1};
  c.contraction.dims[2] = {0, 1};
  c.activation = activation;
  TestMemref memrefs[3] = {rowMajor({1, 1}, 4), rowMajor({1, 1}, 4),
                           rowMajor({1, 1}, 4)};
  store(TOFU_F32, memrefs[0].at({0, 0}, 4), product);
  store(TOFU_F32, memrefs[1].at({0, 0}, 4), 1);
  TestWorld world(1);
  EXPECT_EQ(runEpilogue(world, c, memrefs, nullptr), TOFU_OK) << world.error();
  return load(TOFU_F32, memrefs[2].at({0, 0}, 4));
}

TEST(Contract, ActivationsOfNoNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(runOne(TOFU_ACTIVATION_RELU, nan), 0);
  EXPECT_TRUE(std::isnan(runOne(TOFU_ACTIVATION_NONE, nan)));
  EXPECT_TRUE(std::isnan(runOne(TOFU_ACTIVATION_RELU_NAN, nan)));
  EXPECT_TRUE(std::isnan(runOne(TOFU_ACTIVATION_GELU_TANH, nan)));
}

TEST(Contract, GeluIsTheFormWithTanh) {
  // By erf it would be 0.8413447.
  EXPECT_NEAR(runOne(TOFU_ACTIVATION_GELU_TANH, 1), 0.8411920, kTolerance);
  EXPECT_NEAR(runOne(TOFU_ACTIVATION_GELU_TANH, -2), -0.0454023, kTolerance);
}

/// The host rounds sums before the epilogue, as a program would that has it in
/// an operation of its own; cuBLASLt, whose place is taken here by tests of the
/// CUDA backend, doesn't.
TEST(Contract, SumsAreRoundedBeforeEpilogues) {
  // On the host it has a longer name.
  bool isLibrary = !std::strncmp(tofuGetBackend()->name, "cuda", 4);
  EXPECT_EQ(sumHalvesAndBias(), isLibrary ? 2050 : 2048);
}

TEST(Contract, EpilogueErrors) {
  auto expectFailure = [](EpilogueCase c, std::vector<int64_t> biasSizes,
                          const std::string &message) {
    c.contraction.loops = {2, 2, 2};
    c.contraction.dims[0] = {0, 2};
    c.contraction.dims[1] = {2, 1};
    c.contraction.dims[2] = {0, 1};
    TestMemref memrefs[3] = {rowMajor({2, 2}, 8), rowMajor({2, 2}, 8),
                             rowMajor({2, 2}, 8)};
    TestMemref bias = rowMajor(biasSizes, 8);
    TestWorld world(1);
    EXPECT_EQ(runEpilogue(world, c, memrefs, &bias), TOFU_FAILED);
    EXPECT_EQ(world.error(), "device 0, here: " + message);
  };
  EpilogueCase c;
  c.bias = {2};
  expectFailure(c, {2}, "loop 2 indexes the bias, but not C");
  c.bias = {1};
  expectFailure(c, {3},
                "loop 1 has 3 iterations by the bias and 2 by another operand");
  c.activation = 9;
  expectFailure(c, {2}, "unknown activation in table: 9");
  c.activation = TOFU_ACTIVATION_RELU;
  c.contraction.inputType = c.contraction.outputType = TOFU_I32;
  expectFailure(c, {2}, "no epilogue for i32");
}

void expectError(const std::vector<int64_t> &table, std::vector<int64_t> aSizes,
                 std::vector<int64_t> bSizes, std::vector<int64_t> cSizes,
                 const std::string &message) {
  TestMemref memrefs[3] = {rowMajor(aSizes, 8), rowMajor(bSizes, 8),
                           rowMajor(cSizes, 8)};
  TestWorld world(1);
  EXPECT_EQ(run(world, table, memrefs), TOFU_FAILED);
  EXPECT_EQ(world.error(), "device 0, here: " + message);
}

TEST(Contract, Errors) {
  const std::vector<int64_t> good = {
      TOFU_TABLE_VERSION, TOFU_F32, TOFU_F32, 0, 3, 2, 2, 2, 0, 2, 2, 1, 0, 1};
  auto with = [&](size_t word, int64_t value) {
    std::vector<int64_t> table = good;
    table[word] = value;
    return table;
  };
  std::vector<int64_t> two = {2, 2};
  expectError(good, {2, 3}, {4, 2}, {2, 2},
              "loop 2 has 4 iterations by B and 3 by another operand");
  expectError(good, {2}, {2, 2}, {2, 2}, "A has rank 1, the table says 2");
  expectError(with(0, 2), two, two, two,
              "table has version 2, the runtime reads 5");
  expectError(with(1, TOFU_I8), two, two, two, "no contraction of i8 to f32");
  expectError(with(1, 99), two, two, two, "unknown element type in table: 99");
  expectError(with(4, -1), two, two, two, "contraction has -1 loops");
  expectError(with(4, 2), two, two, two, "table names loop 2 of 2");
  expectError(with(4, 4), two, two, two, "loop 3 indexes no operand");
  expectError(with(8, -1), {0, 2}, two, two,
              "a dim that is read at index 0 has no elements");
}

} // namespace
