//===- ContractionTest.cpp - Tests of contractions on GPUs ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Beside these tests those of the host runtime's contractions run on GPUs. Here
// are larger ones, and convolutions, which are cuDNN's where there is one.
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "Gpu.h"

#include "gtest/gtest.h"

#include <random>

using namespace mlir::tofu;
using namespace mlir::tofu::test;

namespace {

using Index = std::vector<int64_t>;

/// A loop, and its steps in the memory of A, B and C: 0 in what it doesn't
/// index.
struct Loop {
  int64_t size, steps[3];
};

/// A contraction of integers.
struct Case {
  int64_t inputType = TOFU_F32, outputType = TOFU_F32;
  bool accumulate = false;
  std::vector<Loop> loops;
  int64_t greatest = 3;

  int64_t typeOf(int operand) const {
    return operand == 2 ? outputType : inputType;
  }
  Index sizes() const {
    Index sizes;
    for (const Loop &loop : loops)
      sizes.push_back(loop.size);
    return sizes;
  }
};

/// As an element of a type: a sum is rounded once.
double roundTo(int64_t type, double value) {
  char element[8];
  store(type, element, value);
  return load(type, element);
}

/// The tensors of a case, without gaps at their ends.
class Tensors {
public:
  explicit Tensors(const Case &c) : c(c) {
    for (int operand = 0; operand < 3; ++operand) {
      int64_t last = 0;
      words[operand].assign(3, 0);
      for (size_t loop = 0; loop < c.loops.size(); ++loop) {
        const Loop &each = c.loops[loop];
        if (!each.steps[operand])
          continue;
        last += each.steps[operand] * (each.size - 1);
        dims[operand].push_back(loop);
        words[operand].push_back(each.size);
      }
      for (int64_t loop : dims[operand])
        words[operand].push_back(c.loops[loop].steps[operand]);
      values[operand].resize(last + 1);
    }
  }

  void fill(std::mt19937 &random) {
    std::uniform_int_distribution<int64_t> value(-c.greatest, c.greatest);
    for (auto &each : values)
      for (double &element : each)
        element = value(random);
  }

  /// C by definition, in the order of memory.
  std::vector<double> compute() const {
    std::vector<double> sums = values[2];
    if (!c.accumulate)
      forEachIndex(c.sizes(), [&](const Index &i) { sums[at(2, i)] = 0; });
    forEachIndex(c.sizes(), [&](const Index &i) {
      sums[at(2, i)] += values[0][at(0, i)] * values[1][at(1, i)];
    });
    for (double &sum : sums)
      sum = roundTo(c.outputType, sum);
    return sums;
  }

  /// On a device of the world, while the others do nothing.
  TofuStatus contract(TestWorld &world, int64_t where = 0) {
    std::vector<char> memory[3];
    for (int operand = 0; operand < 3; ++operand) {
      int64_t bytes = bytesOf(c.typeOf(operand));
      memory[operand].resize(values[operand].size() * bytes);
      for (size_t i = 0; i < values[operand].size(); ++i)
        store(c.typeOf(operand), memory[operand].data() + i * bytes,
              values[operand][i]);
      char *data = memory[operand].data();
      for (int word : {0, 1})
        std::memcpy(&words[operand][word], &data, sizeof(data));
    }
    Index table = makeTable();
    TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
      if (device != where)
        return;
      tofuContract(context, nullptr, table.data(), "here", dims[0].size(),
                   words[0].data(), dims[1].size(), words[1].data(),
                   dims[2].size(), words[2].data());
    });
    int64_t bytes = bytesOf(c.outputType);
    for (size_t i = 0; i < values[2].size(); ++i)
      values[2][i] = load(c.outputType, memory[2].data() + i * bytes);
    return status;
  }

  std::vector<double> values[3];

private:
  int64_t at(int operand, const Index &index) const {
    int64_t offset = 0;
    for (size_t loop = 0; loop < index.size(); ++loop)
      offset += c.loops[loop].steps[operand] * index[loop];
    return offset;
  }
  Index makeTable() const {
    Index table = {TOFU_TABLE_VERSION, c.inputType, c.outputType, c.accumulate,
                   static_cast<int64_t>(c.loops.size())};
    for (const Index &list : dims)
      table.push_back(list.size());
    for (const Index &list : dims)
      table.insert(table.end(), list.begin(), list.end());
    return table;
  }

  const Case c;
  Index words[3], dims[3];
};

void check(const Case &c, TestWorld &world, std::mt19937 &random) {
  Tensors tensors(c);
  tensors.fill(random);
  std::vector<double> want = tensors.compute();
  ASSERT_EQ(tensors.contract(world), TOFU_OK) << world.error();
  int64_t wrong = 0;
  for (size_t i = 0; i < want.size(); ++i)
    wrong += tensors.values[2][i] != want[i];
  EXPECT_EQ(wrong, 0) << "of " << want.size();
}

constexpr int64_t kTypes[][2] = {{TOFU_F32, TOFU_F32}, {TOFU_F64, TOFU_F64},
                                 {TOFU_F16, TOFU_F16}, {TOFU_BF16, TOFU_BF16},
                                 {TOFU_F16, TOFU_F32}, {TOFU_BF16, TOFU_F32},
                                 {TOFU_I8, TOFU_I32}};

//===----------------------------------------------------------------------===//
// Products of matrices
//===----------------------------------------------------------------------===//

/// C[b, m, n] from A and B, each of which may be transposed.
Case makeProduct(int64_t b, int64_t m, int64_t n, int64_t k, int transposed) {
  auto step = [&](int operand, int64_t row, int64_t column, bool isRow) {
    return (transposed >> operand & 1) == isRow ? 1 : isRow ? column : row;
  };
  Case c;
  c.loops = {{m, {step(0, m, k, true), 0, step(2, m, n, true)}},
             {n, {0, step(1, k, n, false), step(2, m, n, false)}},
             {k, {step(0, m, k, false), step(1, k, n, true), 0}}};
  if (b > 1)
    c.loops.insert(c.loops.begin(), {b, {m * k, k * n, m * n}});
  return c;
}

TEST(Products, OfAllTypesAndLayouts) {
  TestWorld world(1);
  std::mt19937 random(1);
  for (auto [input, output] : kTypes)
    for (int transposed = 0; transposed < 8; ++transposed)
      for (int64_t b : {1, 3}) {
        Case c = makeProduct(b, 65, 97, 40, transposed);
        c.inputType = input;
        c.outputType = output;
        c.accumulate = transposed & 1;
        // bf16 holds no larger ones, to which C is rounded first.
        c.greatest = output == TOFU_BF16 ? 1 : 3;
        SCOPED_TRACE(testing::Message()
                     << "type " << input << " to " << output << ", transposed "
                     << transposed << ", batch " << b);
        check(c, world, random);
      }
}

/// Numbers that TF32 doesn't have, times one.
TEST(Products, OfF32AreF32) {
  TestWorld world(1);
  constexpr int64_t kSize = 128;
  Tensors tensors(makeProduct(1, kSize, kSize, kSize, 0));
  for (int64_t i = 0; i < kSize * kSize; ++i) {
    tensors.values[0][i] = 1 + std::ldexp(i % 4095 + 1, -23);
    tensors.values[1][i] = i % (kSize + 1) == 0;
  }
  ASSERT_EQ(tensors.contract(world), TOFU_OK) << world.error();
  EXPECT_EQ(tensors.values[2], tensors.values[0]);
}

/// Each GPU has a handle of its own.
TEST(Products, OfEachDevice) {
  int64_t devices = std::min(getNumDevices(), maxDevices);
  TestWorld world(devices);
  std::mt19937 random(1);
  Case c = makeProduct(1, 33, 44, 55, 0);
  std::vector<Tensors> tensors(devices, Tensors(c));
  std::vector<std::vector<double>> want;
  for (Tensors &each : tensors) {
    each.fill(random);
    want.push_back(each.compute());
  }
  for (int64_t device = 0; device < devices; ++device) {
    ASSERT_EQ(tensors[device].contract(world, device), TOFU_OK)
        << world.error();
    EXPECT_EQ(tensors[device].values[2], want[device]);
  }
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Steps of dims in memory, of which `order` is the outermost first.
Index makeSteps(const Index &sizes, const Index &order) {
  Index steps(sizes.size());
  int64_t next = 1;
  for (size_t i = order.size(); i-- > 0;) {
    steps[order[i]] = next;
    next *= sizes[order[i]];
  }
  return steps;
}

/// Images, groups, channels and filters; a window for each spatial dim.
struct Shape {
  int64_t images, groups, channels, filters;
  Index positions, taps, stride, dilation;
  bool isChannelsLast, isGradient;
};

/// y = x * w, or the gradient w = x * y. x has the dims n, g, c and the spatial
/// ones, w g, k, c and taps, y n, g, k and positions.
Case makeConvolution(const Shape &s) {
  size_t rank = s.positions.size();
  Index x = {s.images, s.groups, s.channels},
        w = {s.groups, s.filters, s.channels},
        y = {s.images, s.groups, s.filters};
  for (size_t d = 0; d < rank; ++d) {
    x.push_back(s.stride[d] * (s.positions[d] - 1) +
                s.dilation[d] * (s.taps[d] - 1) + 1);
    w.push_back(s.taps[d]);
    y.push_back(s.positions[d]);
  }
  // Channels of images before the spatial dims or after them; filters as
  // programs have them.
  Index ofImages = {0}, ofFilters;
  auto addSpatial = [&](Index &order) {
    for (size_t d = 0; d < rank; ++d)
      order.push_back(3 + d);
  };
  if (s.isChannelsLast)
    addSpatial(ofImages);
  ofImages.insert(ofImages.end(), {1, 2});
  if (!s.isChannelsLast)
    addSpatial(ofImages);
  if (s.isChannelsLast)
    addSpatial(ofFilters);
  Index others = s.isChannelsLast ? Index{2, 0, 1} : Index{0, 1, 2};
  ofFilters.insert(ofFilters.end(), others.begin(), others.end());
  if (!s.isChannelsLast)
    addSpatial(ofFilters);
  Index inX = makeSteps(x, ofImages), inW = makeSteps(w, ofFilters),
        inY = makeSteps(y, ofImages);
  Case c;
  c.loops = {{s.images, {inX[0], 0, inY[0]}},
             {s.groups, {inX[1], inW[0], inY[1]}},
             {s.channels, {inX[2], inW[2], 0}},
             {s.filters, {0, inW[1], inY[2]}}};
  for (size_t d = 0; d < rank; ++d) {
    c.loops.push_back(
        {s.positions[d], {s.stride[d] * inX[3 + d], 0, inY[3 + d]}});
    c.loops.push_back({s.taps[d], {s.dilation[d] * inX[3 + d], inW[3 + d], 0}});
  }
  if (s.isGradient)
    for (Loop &loop : c.loops)
      std::swap(loop.steps[1], loop.steps[2]);
  return c;
}

TEST(Convolutions, Random) {
  TestWorld world(1);
  std::mt19937 random(3);
  auto below = [&](int64_t end) {
    return std::uniform_int_distribution<int64_t>(0, end - 1)(random);
  };
  for (int i = 0; i < 150 && !testing::Test::HasFailure(); ++i) {
    Shape s;
    size_t rank = 1 + below(3);
    for (size_t d = 0; d < rank; ++d) {
      s.positions.push_back(2 + below(rank == 3 ? 3 : 8));
      s.taps.push_back(1 + below(3));
      s.stride.push_back(1 + below(2));
      s.dilation.push_back(1 + below(2));
    }
    s.images = 1 + below(3);
    s.groups = below(3) ? 1 : 1 + below(4);
    s.channels = 1 + below(9);
    s.filters = 1 + below(9);
    s.isChannelsLast = below(2);
    s.isGradient = below(2);
    Case c = makeConvolution(s);
    auto [input, output] = kTypes[below(std::size(kTypes))];
    c.inputType = input;
    c.outputType = output;
    c.accumulate = below(2);
    c.greatest = output == TOFU_F16 || output == TOFU_BF16 ? 1 : 3;
    SCOPED_TRACE(testing::Message()
                 << "case " << i << ": images, groups, channels, filters "
                 << s.images << " " << s.groups << " " << s.channels << " "
                 << s.filters << ", positions "
                 << testing::PrintToString(s.positions) << ", taps "
                 << testing::PrintToString(s.taps) << ", strides "
                 << testing::PrintToString(s.stride) << ", dilations "
                 << testing::PrintToString(s.dilation) << ", channels last "
                 << s.isChannelsLast << ", gradient " << s.isGradient
                 << ", type " << input << " to " << output << ", accumulate "
                 << c.accumulate);
    check(c, world, random);
  }
}

/// As those of networks: many channels, channels last.
TEST(Convolutions, OfNetworks) {
  TestWorld world(1);
  std::mt19937 random(4);
  for (auto [input, output] : kTypes)
    for (bool isGradient : {false, true}) {
      Shape s = {2,      1,      32,     64,   {7, 7},
                 {3, 3}, {1, 1}, {1, 1}, true, isGradient};
      Case c = makeConvolution(s);
      c.inputType = input;
      c.outputType = output;
      c.greatest = 1;
      SCOPED_TRACE(testing::Message() << "type " << input << " to " << output
                                      << ", gradient " << isGradient);
      check(c, world, random);
    }
}

/// Numbers that TF32 doesn't have, through windows whose middle is one.
TEST(Convolutions, OfF32AreF32) {
  TestWorld world(1);
  Shape s = {1, 1, 1, 1, {64}, {3}, {1}, {1}, true, false};
  Tensors tensors(makeConvolution(s));
  for (size_t i = 0; i < tensors.values[0].size(); ++i)
    tensors.values[0][i] = 1 + std::ldexp(i + 1, -23);
  tensors.values[1] = {0, 1, 0};
  ASSERT_EQ(tensors.contract(world), TOFU_OK) << world.error();
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(tensors.values[2][i], tensors.values[0][i + 1]);
}

} // namespace
