//===- ConvolutionCase.h - Convolutions, by definition ----------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With a library in the place of cuDNN that computes what it is told on the
// host. Results are those of the definition, over whole images, and those of
// the host backend.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_UNIT_CUDA_CONVOLUTIONCASE_H
#define TOFU_TEST_UNIT_CUDA_CONVOLUTIONCASE_H

#include "Elements.h"
#include "Fake.h"
#include "FakeCudnn.h"
#include "TestWorld.h"
#include "World.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

namespace mlir::tofu::test::convolutions {

using Index = std::vector<int64_t>;

/// What the library does, for as long as this lives.
struct UseFake {
  UseFake() { *tofuGetFakeCudnn() = FakeCudnn(); }
  ~UseFake() { *tofuGetFakeCudnn() = FakeCudnn(); }
  FakeCudnn *operator->() { return tofuGetFakeCudnn(); }
};

/// A tensor in memory of the test's choice.
struct Tensor {
  /// Dims in memory in the order `order`; a letter for each of `letters`.
  Tensor(std::string letters, Index sizes, const std::string &order,
         int64_t type)
      : letters(std::move(letters)), sizes(std::move(sizes)), type(type),
        strides(this->sizes.size()) {
    int64_t next = 1;
    for (size_t i = order.size(); i-- > 0;) {
      size_t dim = this->letters.find(order[i]);
      strides[dim] = next;
      next *= this->sizes[dim];
    }
    storage.assign(next * bytesOf(type) / 8 + 8, -1);
  }

  int64_t offset(const Index &index) const {
    return std::inner_product(index.begin(), index.end(), strides.begin(),
                              int64_t(0));
  }
  char *at(int64_t offset) {
    return reinterpret_cast<char *>(storage.data()) + offset * bytesOf(type);
  }
  double get(const Index &index) { return load(type, at(offset(index))); }
  void fill(std::mt19937 &random, int64_t greatest) {
    forEachIndex(sizes, [&](const Index &index) {
      std::uniform_int_distribution<int64_t> value(-greatest, greatest);
      store(type, at(offset(index)), value(random));
    });
  }

  std::string letters;
  Index sizes;
  int64_t type;
  Index strides;
  std::vector<int64_t> storage;
};

/// A convolution as a program has it. Loops are n, g, k, c, and for each
/// spatial dim one over positions and one over taps; y = x * w, or the gradient
/// w = x * y. x has the dims n g c 0 1 2, w g k c 0 1 2, y n g k 0 1 2.
struct Case {
  bool isGradient = false, accumulate = false;
  int64_t inputType = TOFU_F32, outputType = TOFU_F32;
  int64_t images = 2, groups = 1, channels = 3, filters = 4;
  Index positions, taps, stride, dilation;
  /// Elements at the end of each spatial dim that no window reads.
  int64_t rest = 0;
  /// As linalg's NHWC and HWCF.
  std::string ofX = "n012gc", ofW = "012cgk", ofY = "n012gk";
  bool swapsInputs = false, repeatsFilter = false;
  int64_t greatest = 3;
  int64_t activation = TOFU_ACTIVATION_NONE;
  /// The dims of the result that index the bias: letters of its dims.
  std::string ofBias;
  /// Elements between those of the bias.
  int64_t biasGap = 0;

  bool hasEpilogue() const { return activation || !ofBias.empty(); }

  size_t rank() const { return positions.size(); }
  Index getExtents() const {
    Index extents;
    for (size_t i = 0; i < rank(); ++i)
      extents.push_back(stride[i] * (positions[i] - 1) +
                        dilation[i] * (taps[i] - 1) + 1 + rest);
    return extents;
  }
};

/// Without the spatial dims that are not there.
inline std::string withRank(std::string letters, size_t rank) {
  auto isMore = [&](char letter) {
    return letter <= '2' && static_cast<size_t>(letter - '0') >= rank;
  };
  letters.erase(std::remove_if(letters.begin(), letters.end(), isMore),
                letters.end());
  return letters;
}

inline Index join(Index first, const Index &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// The tensors of a case, and how loops step through them.
class Tensors {
public:
  explicit Tensors(const Case &c)
      : c(c), x(make("ngc012", {c.images, c.groups, c.channels}, c.getExtents(),
                     c.ofX, c.inputType)),
        w(make("gkc012", {c.groups, c.filters, c.channels}, c.taps, c.ofW,
               c.isGradient ? c.outputType : c.inputType)),
        y(make("ngk012", {c.images, c.groups, c.filters}, c.positions, c.ofY,
               c.isGradient ? c.inputType : c.outputType)),
        bias(makeBias()) {}

  void fill(std::mt19937 &random) {
    for (Tensor *tensor : {&x, &w, &y, &bias})
      tensor->fill(random, c.greatest);
  }
  Tensor &result() { return c.isGradient ? w : y; }

  /// The result in the order of its indices.
  std::vector<double> getResult() {
    std::vector<double> values;
    forEachIndex(result().sizes, [&](const Index &index) {
      values.push_back(result().get(index));
    });
    return values;
  }

  /// By definition.
  std::vector<double> compute() {
    std::map<int64_t, double> sums;
    forEachIndex(result().sizes, [&](const Index &index) {
      sums[result().offset(index)] = c.accumulate ? result().get(index) : 0;
    });
    Index all = join(
        join({c.images, c.groups, c.filters, c.channels}, c.positions), c.taps);
    forEachIndex(all, [&](const Index &i) {
      Index position(i.begin() + 4, i.begin() + 4 + c.rank()),
          tap(i.begin() + 4 + c.rank(), i.end()), pixel;
      for (size_t d = 0; d < c.rank(); ++d)
        pixel.push_back(c.stride[d] * position[d] + c.dilation[d] * tap[d]);
      Index inX = join({i[0], i[1], i[3]}, pixel),
            inW = join({i[1], i[2], i[3]}, tap),
            inY = join({i[0], i[1], i[2]}, position);
      if (c.isGradient)
        sums[w.offset(inW)] += x.get(inX) * y.get(inY);
      else
        sums[y.offset(inY)] += x.get(inX) * w.get(inW);
    });
    std::vector<double> values;
    forEachIndex(result().sizes, [&](const Index &index) {
      double value = activate(sums[result().offset(index)] + getBias(index));
      values.push_back(c.outputType == TOFU_F16
                           ? floatFromHalf(halfFromFloat(value))
                           : value);
    });
    return values;
  }

  /// Calls a backend's tofuContract, or tofuContractWithEpilogue.
  TofuStatus contract(const TofuBackend &backend, TofuWorld *world) {
    std::vector<int64_t> table = makeTable();
    struct Call {
      decltype(&::tofuContract) plain;
      decltype(&::tofuContractWithEpilogue) withEpilogue;
      bool hasEpilogue;
      const int64_t *table;
      int64_t ranks[4];
      void *memrefs[4];
    } call;
    find(backend, "tofuContract", call.plain);
    find(backend, "tofuContractWithEpilogue", call.withEpilogue);
    call.hasEpilogue = c.hasEpilogue();
    call.table = table.data();
    for (int operand = 0; operand < 4; ++operand) {
      bool isThere = operand < 3 || !c.ofBias.empty();
      call.ranks[operand] = isThere ? (memrefs[operand].size() - 3) / 2 : 0;
      call.memrefs[operand] = isThere ? memrefs[operand].data() : nullptr;
    }
    auto body = [](TofuContext *context, int64_t, void *user) {
      auto &call = *static_cast<Call *>(user);
      auto &ranks = call.ranks;
      auto &memrefs = call.memrefs;
      if (call.hasEpilogue)
        call.withEpilogue(context, nullptr, call.table, "here", ranks[0],
                          memrefs[0], ranks[1], memrefs[1], ranks[2],
                          memrefs[2], ranks[3], memrefs[3]);
      else
        call.plain(context, nullptr, call.table, "here", ranks[0], memrefs[0],
                   ranks[1], memrefs[1], ranks[2], memrefs[2]);
    };
    return backend.run(world, body, &call);
  }

  const Case c;
  Tensor x, w, y, bias;

private:
  Tensor make(const std::string &letters, const Index &sizes,
              const Index &spatial, const std::string &order, int64_t type) {
    return Tensor(withRank(letters, c.rank()), join(sizes, spatial),
                  withRank(order, c.rank()), type);
  }

  template <typename Function>
  static void find(const TofuBackend &backend, const char *name,
                   Function &function) {
    function = nullptr;
    for (int64_t i = 0; i < backend.numSymbols; ++i)
      if (!std::strcmp(backend.symbols[i].name, name))
        function = reinterpret_cast<Function>(backend.symbols[i].address);
  }

  /// With a gap, it is a slice of a tensor with one more dim, `-`.
  Tensor makeBias() {
    Index sizes;
    for (char letter : c.ofBias)
      sizes.push_back(result().sizes[result().letters.find(letter)]);
    sizes.push_back(1 + c.biasGap);
    return Tensor(c.ofBias + "-", sizes, c.ofBias + "-", c.outputType);
  }

  /// At an index of the result.
  double getBias(const Index &index) {
    if (c.ofBias.empty())
      return 0;
    Index at;
    for (char letter : c.ofBias)
      at.push_back(index[result().letters.find(letter)]);
    at.push_back(0);
    return bias.get(at);
  }

  double activate(double value) const {
    switch (c.activation) {
    case TOFU_ACTIVATION_RELU:
      return value > 0 ? value : 0;
    case TOFU_ACTIVATION_RELU_NAN:
      return value <= 0 ? 0 : value;
    case TOFU_ACTIVATION_GELU_TANH:
      return value / 2 *
             (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) *
                            (value + 0.044715 * std::pow(value, 3))));
    default:
      return value;
    }
  }

  /// Describes an operand by the loops that index it, each a dim.
  void describe(int operand, Tensor &tensor,
                const std::vector<std::array<int64_t, 3>> &loops) {
    std::vector<int64_t> &words = memrefs[operand];
    char *data = tensor.at(0);
    words.assign(3, 0);
    std::memcpy(&words[0], &data, sizeof(data));
    std::memcpy(&words[1], &data, sizeof(data));
    for (auto [loop, size, stride] : loops)
      words.push_back(size);
    for (auto [loop, size, stride] : loops)
      words.push_back(stride);
    dims[operand].clear();
    for (auto [loop, size, stride] : loops)
      dims[operand].push_back(loop);
  }

  std::vector<int64_t> makeTable() {
    enum { kN, kG, kK, kC, kFirst };
    int64_t rank = c.rank();
    std::vector<std::array<int64_t, 3>> inX, inW, inY;
    auto add = [](auto &loops, int64_t loop, const Tensor &tensor, size_t dim) {
      loops.push_back({loop, tensor.sizes[dim], tensor.strides[dim]});
    };
    add(inX, kN, x, 0), add(inX, kG, x, 1), add(inX, kC, x, 2);
    add(inW, kG, w, 0), add(inW, kK, w, 1), add(inW, kC, w, 2);
    add(inY, kN, y, 0), add(inY, kG, y, 1), add(inY, kK, y, 2);
    if (c.repeatsFilter)
      inW.push_back({kN, c.images, 0});
    for (int64_t d = 0; d < rank; ++d) {
      int64_t step = x.strides[3 + d];
      inX.push_back({kFirst + d, c.positions[d], c.stride[d] * step});
      inX.push_back({kFirst + rank + d, c.taps[d], c.dilation[d] * step});
      add(inW, kFirst + rank + d, w, 3 + d);
      add(inY, kFirst + d, y, 3 + d);
    }
    describe(c.swapsInputs, x, inX);
    describe(!c.swapsInputs, c.isGradient ? y : w, c.isGradient ? inY : inW);
    describe(2, c.isGradient ? w : y, c.isGradient ? inW : inY);
    std::vector<int64_t> table = {TOFU_TABLE_VERSION, c.inputType, c.outputType,
                                  c.accumulate, kFirst + 2 * rank};
    for (int operand = 0; operand < 3; ++operand)
      table.push_back(dims[operand].size());
    for (int operand = 0; operand < 3; ++operand)
      table.insert(table.end(), dims[operand].begin(), dims[operand].end());
    if (!c.hasEpilogue())
      return table;
    table.push_back(c.activation);
    if (c.ofBias.empty())
      return table;
    std::vector<std::array<int64_t, 3>> inBias;
    for (size_t dim = 0; dim < c.ofBias.size(); ++dim)
      add(inBias, getLoop(c.ofBias[dim]), bias, dim);
    describe(3, bias, inBias);
    table.insert(table.end(), dims[3].begin(), dims[3].end());
    return table;
  }

  /// The loop over that dim of the result.
  int64_t getLoop(char letter) const {
    const std::string loops = "ngkc";
    size_t loop = loops.find(letter);
    if (loop != std::string::npos)
      return loop;
    return loops.size() + (letter - '0') + (c.isGradient ? c.rank() : 0);
  }

  std::vector<int64_t> memrefs[4];
  Index dims[4];
};

/// On the host backend, from the same inputs.
inline std::vector<double> computeOnHost(Tensors tensors) {
  const TofuBackend &host = host::getHostBackend();
  TofuWorldOptions options = {1, 60, 0};
  char error[200] = "";
  TofuWorld *world = host.createWorld(&options, error, sizeof(error));
  EXPECT_EQ(tensors.contract(host, world), TOFU_OK) << host.error(world);
  host.destroyWorld(world);
  return tensors.getResult();
}

/// Exactly, NaN for NaN; but gelu may be off by some bits.
inline void expectSame(const Case &c, const std::vector<double> &got,
                       const std::vector<double> &expected) {
  bool isShort = c.outputType == TOFU_F16 || c.outputType == TOFU_BF16;
  double tolerance = c.activation != TOFU_ACTIVATION_GELU_TANH ? 0
                     : isShort                                 ? 1e-2
                                                               : 1e-5;
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(got[i])) << got[i] << " at " << i;
    else
      EXPECT_NEAR(got[i], expected[i], tolerance * (1 + std::abs(expected[i])))
          << "at " << i;
  }
}

/// Runs a case whose inputs are there, and compares.
inline void check(Tensors tensors, TestWorld &world) {
  std::vector<double> expected = tensors.compute();
  expectSame(tensors.c, computeOnHost(tensors), expected);
  ASSERT_EQ(tensors.contract(*world.backend, world.getWorld()), TOFU_OK)
      << world.error();
  expectSame(tensors.c, tensors.getResult(), expected);
}

inline void check(const Case &c, TestWorld &world, unsigned seed = 1) {
  std::mt19937 random(seed);
  Tensors tensors(c);
  tensors.fill(random);
  check(tensors, world);
}

inline Case make2d() {
  Case c;
  c.positions = {5, 6};
  c.taps = {3, 2};
  c.stride = {1, 1};
  c.dilation = {1, 1};
  return c;
}

} // namespace mlir::tofu::test::convolutions

#endif // TOFU_TEST_UNIT_CUDA_CONVOLUTIONCASE_H
