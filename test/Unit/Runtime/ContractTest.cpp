//===- ContractTest.cpp - Tests of the host backend's contractions --------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "TestWorld.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <numeric>
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

void expectError(const std::vector<int64_t> &table, std::vector<int64_t> aSizes,
                 std::vector<int64_t> bSizes, std::vector<int64_t> cSizes,
                 const std::string &message) {
  auto memref = [](std::vector<int64_t> sizes) {
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    return TestMemref(sizes, order, 0, 8);
  };
  TestMemref memrefs[3] = {memref(aSizes), memref(bSizes), memref(cSizes)};
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
