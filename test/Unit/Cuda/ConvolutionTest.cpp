//===- ConvolutionTest.cpp - Tests of convolutions on the CUDA backend ----===//
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

#include "Cudnn.h"
#include "Elements.h"
#include "Fake.h"
#include "FakeCudnn.h"
#include "TestWorld.h"
#include "World.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>

using namespace mlir::tofu;
using namespace mlir::tofu::test;

namespace {

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
std::string withRank(std::string letters, size_t rank) {
  auto isMore = [&](char letter) {
    return letter <= '2' && static_cast<size_t>(letter - '0') >= rank;
  };
  letters.erase(std::remove_if(letters.begin(), letters.end(), isMore),
                letters.end());
  return letters;
}

Index join(Index first, const Index &second) {
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
std::vector<double> computeOnHost(Tensors tensors) {
  const TofuBackend &host = host::getHostBackend();
  TofuWorldOptions options = {1, 60, 0};
  char error[200] = "";
  TofuWorld *world = host.createWorld(&options, error, sizeof(error));
  EXPECT_EQ(tensors.contract(host, world), TOFU_OK) << host.error(world);
  host.destroyWorld(world);
  return tensors.getResult();
}

/// Exactly, NaN for NaN; but gelu may be off by some bits.
void expectSame(const Case &c, const std::vector<double> &got,
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
void check(Tensors tensors, TestWorld &world) {
  std::vector<double> expected = tensors.compute();
  expectSame(tensors.c, computeOnHost(tensors), expected);
  ASSERT_EQ(tensors.contract(*world.backend, world.getWorld()), TOFU_OK)
      << world.error();
  expectSame(tensors.c, tensors.getResult(), expected);
}

void check(const Case &c, TestWorld &world, unsigned seed = 1) {
  std::mt19937 random(seed);
  Tensors tensors(c);
  tensors.fill(random);
  check(tensors, world);
}

Case make2d() {
  Case c;
  c.positions = {5, 6};
  c.taps = {3, 2};
  c.stride = {1, 1};
  c.dilation = {1, 1};
  return c;
}

/// Filters as programs have them, HWCF, are copied; images aren't.
TEST(Convolution, Forward) {
  UseFake fake;
  TestWorld world(1);
  check(make2d(), world);
  EXPECT_EQ(fake->numForward, 1);
  EXPECT_EQ(fake->groups, 1);
  EXPECT_TRUE(fake->isChannelsLast);
  EXPECT_EQ(Index(fake->sizesOfX, fake->sizesOfX + 5), (Index{2, 3, 7, 7, 0}));
}

TEST(Convolution, ChannelsFirst) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.ofX = "ngc012";
  c.ofY = "ngk012";
  c.ofW = "gkc012";
  check(c, world);
  EXPECT_EQ(fake->numForward, 1);
  EXPECT_FALSE(fake->isChannelsLast);
}

TEST(Convolution, StridesAndDilations) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.stride = {2, 3};
  c.dilation = {3, 1};
  c.taps = {2, 4};
  c.rest = 1;
  check(c, world);
  EXPECT_EQ(fake->numForward, 1);
  EXPECT_EQ(Index(fake->sizesOfX, fake->sizesOfX + 4), (Index{2, 3, 12, 19}));
}

/// Rows of images have channels and windows beside each other in memory, and so
/// have filters: loops that could be joined are told apart.
TEST(Convolution, FilterGradient) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.isGradient = true;
  check(c, world);
  EXPECT_EQ(fake->numFilterGradients, 1);
  c.stride = {2, 2};
  c.accumulate = true;
  check(c, world);
  EXPECT_EQ(fake->numFilterGradients, 2);
  EXPECT_EQ(fake->numForward, 0);
}

/// The gradient to the images, as programs have it: with windows of one step
/// over a gradient that is spread and padded, and the roles of channels and
/// filters exchanged in the reversed filter.
TEST(Convolution, DataGradient) {
  UseFake fake;
  TestWorld world(1);
  constexpr int64_t images = 2, channels = 3, filters = 4, size = 9, taps = 3,
                    stride = 2, out = 4;
  std::mt19937 random(1);
  Case c;
  c.images = images;
  c.channels = filters;
  c.filters = channels;
  c.positions = {size, size};
  c.taps = {taps, taps};
  c.stride = c.dilation = {1, 1};
  c.ofW = "01gkc";
  Tensors tensors(c);
  std::vector<double> expected;
  Tensor w("kcij", {filters, channels, taps, taps}, "ijck", TOFU_F32),
      dy("nkyx", {images, filters, out, out}, "nyxk", TOFU_F32);
  w.fill(random, 3);
  dy.fill(random, 3);
  std::map<Index, double> dx;
  forEachIndex(
      {images, filters, channels, out, out, taps, taps}, [&](const Index &i) {
        dx[{i[0], i[2], stride * i[3] + i[5], stride * i[4] + i[6]}] +=
            dy.get({i[0], i[1], i[3], i[4]}) * w.get({i[1], i[2], i[5], i[6]});
      });
  forEachIndex({images, channels, size, size},
               [&](const Index &i) { expected.push_back(dx[i]); });
  // Spread by the stride, with taps - 1 zeros around it.
  forEachIndex(tensors.x.sizes, [&](const Index &i) {
    int64_t p = i[3] - taps + 1, q = i[4] - taps + 1;
    bool isThere = p >= 0 && q >= 0 && p % stride == 0 && q % stride == 0 &&
                   p / stride < out && q / stride < out;
    store(TOFU_F32, tensors.x.at(tensors.x.offset(i)),
          isThere ? dy.get({i[0], i[2], p / stride, q / stride}) : 0);
  });
  forEachIndex(tensors.w.sizes, [&](const Index &i) {
    store(TOFU_F32, tensors.w.at(tensors.w.offset(i)),
          w.get({i[2], i[1], taps - 1 - i[3], taps - 1 - i[4]}));
  });
  ASSERT_EQ(tensors.contract(*world.backend, world.getWorld()), TOFU_OK);
  EXPECT_EQ(tensors.getResult(), expected);
  EXPECT_EQ(fake->numForward, 1);
}

/// Images of f16 in any layout, whose sums stay f32.
TEST(Convolution, Widening) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.inputType = TOFU_F16;
  c.ofX = "ngc012";
  c.ofY = "ngk012";
  c.ofW = "gkc012";
  for (bool isGradient : {false, true}) {
    c.isGradient = isGradient;
    for (bool accumulate : {false, true}) {
      c.accumulate = accumulate;
      check(c, world);
      EXPECT_TRUE(fake->isChannelsLast);
    }
  }
  EXPECT_EQ(fake->numForward, 2);
  EXPECT_EQ(fake->numFilterGradients, 2);
}

/// Few positions and large windows are a convolution still: images come first
/// in memory.
TEST(Convolution, LargeFilters) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.positions = {2, 2};
  c.taps = {3, 3};
  check(c, world);
  EXPECT_EQ(fake->numForward, 1);
  EXPECT_EQ(Index(fake->sizesOfX, fake->sizesOfX + 4), (Index{2, 3, 4, 4}));
  c.isGradient = true;
  check(c, world);
  EXPECT_EQ(fake->numFilterGradients, 1);
}

TEST(Convolution, OneAndThreeDims) {
  UseFake fake;
  TestWorld world(1);
  for (size_t rank : {1, 3}) {
    Case c;
    c.positions = rank == 1 ? Index{7} : Index{3, 2, 4};
    c.taps = rank == 1 ? Index{3} : Index{2, 3, 2};
    c.stride = Index(rank, 2);
    c.dilation = Index(rank, 1);
    for (bool isGradient : {false, true}) {
      c.isGradient = isGradient;
      check(c, world);
    }
  }
  EXPECT_EQ(fake->numForward, 2);
  EXPECT_EQ(fake->numFilterGradients, 2);
}

/// Single images, channels or filters are no loops.
TEST(Convolution, MissingDims) {
  UseFake fake;
  TestWorld world(1);
  for (int64_t Case::*one : {&Case::images, &Case::channels, &Case::filters}) {
    Case c = make2d();
    c.*one = 1;
    check(c, world);
    c.isGradient = true;
    check(c, world);
  }
  EXPECT_EQ(fake->numConvolutions(), 6);
}

TEST(Convolution, Groups) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.groups = 5;
  check(c, world);
  EXPECT_EQ(fake->groups, 5);
  c.isGradient = true;
  check(c, world);
  EXPECT_EQ(fake->groups, 5);
  // Each channel by itself, with several filters or with one.
  c.channels = 1;
  check(c, world);
  c.filters = 1;
  c.isGradient = false;
  check(c, world);
  EXPECT_EQ(fake->groups, 5);
  EXPECT_EQ(fake->numConvolutions(), 4);
}

/// Windows of one element, every second: rows are no single dim of a matrix.
TEST(Convolution, WindowsOfOne) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.taps = {1, 1};
  c.stride = {2, 2};
  check(c, world);
  EXPECT_EQ(fake->numForward, 1);
}

/// Windows that lie side by side are windows all the same.
TEST(Convolution, Patches) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.taps = c.stride = {2, 3};
  check(c, world);
  EXPECT_EQ(Index(fake->sizesOfX, fake->sizesOfX + 4), (Index{2, 3, 10, 18}));
  c.ofX = "ngc012";
  check(c, world);
  EXPECT_EQ(Index(fake->sizesOfX, fake->sizesOfX + 4), (Index{2, 3, 10, 18}));
  EXPECT_EQ(fake->numForward, 2);
}

TEST(Convolution, Types) {
  UseFake fake;
  TestWorld world(1);
  const int64_t types[][2] = {{TOFU_F64, TOFU_F64},
                              {TOFU_F16, TOFU_F16},
                              {TOFU_BF16, TOFU_BF16},
                              {TOFU_F16, TOFU_F32},
                              {TOFU_BF16, TOFU_F32}};
  for (auto [input, output] : types) {
    Case c = make2d();
    c.inputType = input;
    c.outputType = output;
    c.greatest = 1;
    for (bool accumulate : {false, true}) {
      c.accumulate = accumulate;
      check(c, world);
    }
  }
  EXPECT_EQ(fake->numForward, 10);
  // cuDNN's integers aren't those of programs, and its sums of f32 are f32.
  numContractions = 0;
  Case c = make2d();
  c.inputType = c.outputType = TOFU_I32;
  check(c, world);
  c.inputType = TOFU_F32;
  c.outputType = TOFU_F64;
  check(c, world);
  EXPECT_EQ(fake->numForward, 10);
  EXPECT_EQ(numContractions, 2);
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// Where the epilogue of a convolution was computed.
struct Place {
  int inLibrary, inKernel;
  bool operator==(const Place &other) const {
    return inLibrary == other.inLibrary && inKernel == other.inKernel;
  }
};
std::ostream &operator<<(std::ostream &out, const Place &place) {
  return out << place.inLibrary << " in the library, " << place.inKernel
             << " in kernels";
}
const Place kInLibrary = {1, 0}, kInKernel = {0, 1};

/// Also checks what it computes.
Place checkEpilogue(const Case &c, TestWorld &world) {
  FakeCudnn &fake = *tofuGetFakeCudnn();
  int inLibrary = fake.numEpilogues, inKernel = numEpilogues;
  check(c, world);
  return {fake.numEpilogues - inLibrary, numEpilogues - inKernel};
}

Case makeEpilogue(int64_t activation, const std::string &ofBias,
                  int64_t type = TOFU_F32) {
  Case c = make2d();
  c.activation = activation;
  c.ofBias = ofBias;
  c.inputType = c.outputType = type;
  c.greatest = 1;
  return c;
}

void putChannelsFirst(Case &c) {
  c.ofX = "ngc012";
  c.ofY = "ngk012";
  c.ofW = "gkc012";
}

/// A bias, and relu after it, in all types and layouts.
TEST(Convolution, BiasAndRelu) {
  UseFake fake;
  TestWorld world(1);
  for (int64_t type : {TOFU_F32, TOFU_F64, TOFU_F16, TOFU_BF16})
    for (int64_t activation : {TOFU_ACTIVATION_NONE, TOFU_ACTIVATION_RELU_NAN})
      for (bool channelsFirst : {false, true}) {
        Case c = makeEpilogue(activation, "k", type);
        if (channelsFirst)
          putChannelsFirst(c);
        EXPECT_EQ(checkEpilogue(c, world), kInLibrary);
        EXPECT_EQ(fake->isChannelsLast, !channelsFirst);
      }
  EXPECT_EQ(fake->numForward, 16);
}

/// What else there is the library fuses for short floats, channels last.
TEST(Convolution, OtherEpilogues) {
  UseFake fake;
  TestWorld world(1);
  const std::pair<int64_t, const char *> epilogues[] = {
      {TOFU_ACTIVATION_RELU_NAN, ""},
      {TOFU_ACTIVATION_GELU_TANH, ""},
      {TOFU_ACTIVATION_GELU_TANH, "k"}};
  for (auto [activation, ofBias] : epilogues) {
    Case c = makeEpilogue(activation, ofBias, TOFU_F16);
    EXPECT_EQ(checkEpilogue(c, world), kInLibrary);
    putChannelsFirst(c);
    EXPECT_EQ(checkEpilogue(c, world), kInKernel);
    c = makeEpilogue(activation, ofBias);
    EXPECT_EQ(checkEpilogue(c, world), kInKernel);
  }
  EXPECT_EQ(fake->numForward, 9);
}

/// Sums of f16 stay f32, by the same operations.
TEST(Convolution, EpiloguesOfWidening) {
  UseFake fake;
  TestWorld world(1);
  Case c = makeEpilogue(TOFU_ACTIVATION_GELU_TANH, "k", TOFU_F16);
  c.outputType = TOFU_F32;
  EXPECT_EQ(checkEpilogue(c, world), kInLibrary);
  EXPECT_EQ(fake->numForward, 1);
}

/// In groups, a bias has one dim more, and no step between the two.
TEST(Convolution, BiasOfGroups) {
  UseFake fake;
  TestWorld world(1);
  Case c = makeEpilogue(TOFU_ACTIVATION_RELU_NAN, "gk");
  c.groups = 5;
  EXPECT_EQ(checkEpilogue(c, world), kInLibrary);
  EXPECT_EQ(fake->groups, 5);
  c.channels = c.filters = 1;
  EXPECT_EQ(checkEpilogue(c, world), kInLibrary);
  // A bias for each channel of a group, or with gaps, is none of the library.
  c.filters = 4;
  c.ofBias = "k";
  EXPECT_EQ(checkEpilogue(c, world), kInKernel);
  c.ofBias = "gk";
  c.biasGap = 1;
  EXPECT_EQ(checkEpilogue(c, world), kInKernel);
  EXPECT_EQ(fake->numForward, 4);
}

TEST(Convolution, BiasAlongOtherDims) {
  UseFake fake;
  TestWorld world(1);
  for (const char *ofBias : {"n", "0", "01", "kn", "n01k"})
    EXPECT_EQ(checkEpilogue(makeEpilogue(TOFU_ACTIVATION_NONE, ofBias), world),
              kInKernel);
  EXPECT_EQ(fake->numForward, 5);
}

/// Nor of the gradient to a filter, even if that can be seen as another
/// convolution.
TEST(Convolution, EpilogueOfFilterGradient) {
  UseFake fake;
  TestWorld world(1);
  Case c = makeEpilogue(TOFU_ACTIVATION_NONE, "k");
  c.isGradient = true;
  EXPECT_EQ(checkEpilogue(c, world), kInKernel);
  EXPECT_EQ(fake->numConvolutions(), 1);
}

/// What the result holds is added before a bias, in all types and layouts.
TEST(Convolution, SumsWithAnEpilogue) {
  UseFake fake;
  TestWorld world(1);
  for (int64_t type : {TOFU_F32, TOFU_F64, TOFU_F16, TOFU_BF16})
    for (int64_t activation : {TOFU_ACTIVATION_NONE, TOFU_ACTIVATION_RELU_NAN})
      for (bool channelsFirst : {false, true}) {
        Case c = makeEpilogue(activation, "k", type);
        c.accumulate = true;
        if (channelsFirst)
          putChannelsFirst(c);
        EXPECT_EQ(checkEpilogue(c, world), kInLibrary);
      }
  // In groups; where the result is a copy, it has what is added.
  Case c = makeEpilogue(TOFU_ACTIVATION_RELU_NAN, "gk");
  c.accumulate = true;
  c.groups = 5;
  EXPECT_EQ(checkEpilogue(c, world), kInLibrary);
  c.ofY = "ngk012";
  EXPECT_EQ(checkEpilogue(c, world), kInLibrary);
  EXPECT_EQ(fake->numForward, 18);
}

/// The library has no sum without a bias after it, none before gelu, and none
/// of another type than the inputs. Then the sum is a call of its own.
TEST(Convolution, SumsWithOtherEpilogues) {
  UseFake fake;
  TestWorld world(1);
  Case c = makeEpilogue(TOFU_ACTIVATION_RELU_NAN, "");
  c.accumulate = true;
  EXPECT_EQ(checkEpilogue(c, world), kInKernel);
  c = makeEpilogue(TOFU_ACTIVATION_GELU_TANH, "k", TOFU_F16);
  c.accumulate = true;
  EXPECT_EQ(checkEpilogue(c, world), kInKernel);
  c = makeEpilogue(TOFU_ACTIVATION_RELU_NAN, "k", TOFU_F16);
  c.accumulate = true;
  c.outputType = TOFU_F32;
  EXPECT_EQ(checkEpilogue(c, world), kInKernel);
  fake->refusesEpilogues = true;
  c = makeEpilogue(TOFU_ACTIVATION_RELU_NAN, "k");
  c.accumulate = true;
  c.images = 3;
  EXPECT_EQ(checkEpilogue(c, world), kInKernel);
  EXPECT_EQ(fake->numForward, 4);
}

/// Windows of one element are a product of matrices if there is one image, or
/// if channels are last; its library has another relu.
TEST(Convolution, EpiloguesOfProducts) {
  UseFake fake;
  TestWorld world(1);
  for (int64_t type : {TOFU_F32, TOFU_F16})
    for (bool channelsFirst : {false, true}) {
      Case c = makeEpilogue(TOFU_ACTIVATION_RELU_NAN, "k", type);
      c.taps = {1, 1};
      if (channelsFirst) {
        c.images = 1;
        putChannelsFirst(c);
      }
      // Where it doesn't copy.
      bool isInLibrary = channelsFirst == (type == TOFU_F32);
      numProducts = 0;
      EXPECT_EQ(checkEpilogue(c, world), isInLibrary ? kInLibrary : kInKernel);
      EXPECT_EQ(numProducts, !isInLibrary);
      // Without it, or with one of its own, it stays a product.
      numProducts = 0;
      c.activation = TOFU_ACTIVATION_NONE;
      c.ofBias = "";
      check(c, world);
      c.activation = TOFU_ACTIVATION_RELU;
      EXPECT_EQ(checkEpilogue(c, world), (Place{0, 0}));
      EXPECT_EQ(numProducts, 2);
    }
  EXPECT_EQ(fake->numForward, 2);
}

/// A library without engines for them is no error.
TEST(Convolution, RefusesEpilogues) {
  UseFake fake;
  TestWorld world(1);
  fake->refusesEpilogues = true;
  Case c = makeEpilogue(TOFU_ACTIVATION_RELU_NAN, "k");
  EXPECT_EQ(checkEpilogue(c, world), kInKernel);
  EXPECT_EQ(fake->numForward, 1);
  fake->refusesAll = true;
  c.images = 3;
  numContractions = 0;
  EXPECT_EQ(checkEpilogue(c, world), (Place{0, 0}));
  EXPECT_EQ(numContractions, 1);
}

/// NaN stays NaN in the one, and is 0 in the other, which is no library's.
TEST(Convolution, ReluOfNaN) {
  UseFake fake;
  TestWorld world(1);
  for (int64_t type : {TOFU_F32, TOFU_F16})
    for (int64_t activation : {TOFU_ACTIVATION_RELU_NAN, TOFU_ACTIVATION_RELU})
      for (const char *ofBias : {"", "k"}) {
        Case c = makeEpilogue(activation, ofBias, type);
        Tensors tensors(c);
        std::mt19937 random(1);
        tensors.fill(random);
        store(type, tensors.x.at(tensors.x.offset({0, 0, 1, 2, 3})),
              std::numeric_limits<double>::quiet_NaN());
        std::vector<double> expected = tensors.compute();
        bool keepsNaN = activation == TOFU_ACTIVATION_RELU_NAN;
        EXPECT_EQ(std::any_of(expected.begin(), expected.end(),
                              [](double each) { return std::isnan(each); }),
                  keepsNaN);
        check(tensors, world);
      }
  // In f32 only with a bias.
  EXPECT_EQ(fake->numEpilogues, 3);
  EXPECT_EQ(fake->numForward, 8);
}

TEST(Convolution, RandomEpilogues) {
  UseFake fake;
  TestWorld world(1);
  std::mt19937 random(7);
  auto below = [&](int64_t count) {
    return std::uniform_int_distribution<int64_t>(0, count - 1)(random);
  };
  const int64_t types[] = {TOFU_F32, TOFU_F64, TOFU_F16, TOFU_BF16};
  numEpilogues = 0;
  for (int i = 0; i < 300 && !testing::Test::HasFailure(); ++i) {
    Case c;
    size_t rank = 1 + below(2);
    for (size_t dim = 0; dim < rank; ++dim) {
      c.positions.push_back(2 + below(4));
      c.taps.push_back(1 + below(3));
      c.stride.push_back(1 + below(2));
      c.dilation.push_back(1 + below(2));
    }
    c.images = 1 + below(3);
    c.groups = below(3) ? 1 : 2;
    c.channels = 1 + below(4);
    c.filters = 1 + below(4);
    c.rest = below(2);
    c.swapsInputs = below(2);
    c.accumulate = below(3) == 0;
    c.greatest = 1;
    c.inputType = types[below(4)];
    c.outputType = c.inputType == TOFU_F16 && below(2) ? TOFU_F32 : c.inputType;
    if (below(2))
      putChannelsFirst(c);
    c.activation = below(TOFU_NUM_ACTIVATIONS);
    const char *const biases[] = {"", "gk", "gk", "k", "0", "ngk"};
    c.ofBias = biases[below(6)];
    SCOPED_TRACE("case " + std::to_string(i));
    check(c, world, i);
  }
  EXPECT_GT(fake->numEpilogues, 30);
  EXPECT_GT(numEpilogues, 30);
}

//===----------------------------------------------------------------------===//
// What is no convolution, and what the library refuses
//===----------------------------------------------------------------------===//

/// Loops with strides in A, B and C, 0 where they don't index it: it is no
/// convolution that can be expressed.
void expectOther(const std::vector<int64_t> &sizes,
                 const std::vector<std::array<int64_t, 3>> &strides) {
  UseFake fake;
  TestWorld world(1);
  std::vector<float> data[3];
  std::vector<int64_t> words[3];
  std::vector<int64_t> dims[3];
  std::vector<double> expected;
  std::vector<int64_t> table = {TOFU_TABLE_VERSION, TOFU_F32, TOFU_F32, 0,
                                static_cast<int64_t>(sizes.size())};
  // Where strides are negative indices begin at the end.
  int64_t first[3] = {}, last[3] = {};
  for (int operand = 0; operand < 3; ++operand) {
    for (size_t loop = 0; loop < sizes.size(); ++loop) {
      int64_t steps = strides[loop][operand] * (sizes[loop] - 1);
      (steps < 0 ? first[operand] : last[operand]) += std::abs(steps);
      if (strides[loop][operand])
        dims[operand].push_back(loop);
    }
    data[operand].resize(first[operand] + last[operand] + 1);
    for (size_t i = 0; i < data[operand].size(); ++i)
      data[operand][i] = static_cast<int>((i * 7 + operand) % 5) - 2;
    words[operand].assign(3, 0);
    float *memory = data[operand].data();
    std::memcpy(&words[operand][1], &memory, sizeof(memory));
    words[operand][2] = first[operand];
    for (int64_t loop : dims[operand])
      words[operand].push_back(sizes[loop]);
    for (int64_t loop : dims[operand])
      words[operand].push_back(strides[loop][operand]);
    table.push_back(dims[operand].size());
  }
  for (const auto &list : dims)
    table.insert(table.end(), list.begin(), list.end());
  std::vector<float> want(data[2].size());
  forEachIndex(sizes, [&](const Index &index) {
    int64_t at[3];
    for (int operand = 0; operand < 3; ++operand) {
      at[operand] = first[operand];
      for (size_t loop = 0; loop < sizes.size(); ++loop)
        at[operand] += strides[loop][operand] * index[loop];
    }
    want[at[2]] += data[0][at[0]] * data[1][at[1]];
  });
  numContractions = numProducts = 0;
  ASSERT_EQ(world.run([&](TofuContext *context, int64_t) {
    tofuContract(context, nullptr, table.data(), "here", dims[0].size(),
                 words[0].data(), dims[1].size(), words[1].data(),
                 dims[2].size(), words[2].data());
  }),
            TOFU_OK)
      << world.error();
  EXPECT_EQ(data[2], want);
  EXPECT_EQ(fake->numConvolutions(), 0);
  EXPECT_EQ(numContractions + numProducts, 1);
}

TEST(Convolution, OtherWindows) {
  // y - i: the filter is reversed.
  expectOther({4, 3, 2, 5}, {{2, 0, 5}, {-2, 10, 0}, {1, 5, 0}, {0, 1, 1}});
  // y + i + j: two loops of a window along one dim.
  expectOther({4, 3, 2, 5}, {{1, 0, 5}, {1, 10, 0}, {1, 5, 0}, {0, 1, 1}});
  // y + z + i: two loops over positions.
  expectOther({4, 3, 2, 5}, {{1, 0, 15}, {1, 0, 5}, {1, 5, 0}, {0, 1, 1}});
  // Windows over both inputs.
  expectOther({4, 3, 2, 3}, {{1, 1, 9}, {1, 0, 3}, {1, 1, 0}, {0, 4, 1}});
  // A filter for each position.
  expectOther({4, 3, 5}, {{1, 15, 5}, {1, 5, 0}, {0, 1, 1}});
  // Four dims with windows.
  expectOther({2, 2, 2, 2, 2, 2, 2, 2, 2}, {{27, 0, 16},
                                            {9, 0, 8},
                                            {3, 0, 4},
                                            {1, 0, 2},
                                            {27, 16, 0},
                                            {9, 8, 0},
                                            {3, 4, 0},
                                            {1, 2, 0},
                                            {0, 1, 1}});
}

TEST(Convolution, RefusedByTheLibrary) {
  UseFake fake;
  TestWorld world(1);
  fake->refusesAll = true;
  numContractions = 0;
  check(make2d(), world);
  check(make2d(), world);
  EXPECT_EQ(fake->numConvolutions(), 0);
  EXPECT_EQ(numContractions, 2);
  // It isn't asked again: what it says doesn't change.
  fake->refusesAll = false;
  check(make2d(), world);
  EXPECT_EQ(numContractions, 3);
  Case other = make2d();
  other.images = 3;
  check(other, world);
  EXPECT_EQ(fake->numForward, 1);
}

/// Images with gaps are copied if they must be.
TEST(Convolution, Gaps) {
  UseFake fake;
  TestWorld world(1);
  Case c = make2d();
  c.rest = 1;
  check(c, world);
  EXPECT_EQ(fake->numForward, 1);
  fake->refusesGaps = true;
  c.images = 3;
  check(c, world);
  c.isGradient = true;
  check(c, world);
  EXPECT_EQ(fake->numForward, 2);
  EXPECT_EQ(fake->numFilterGradients, 1);
}

/// The sum of the result and a product is two steps where it must be, but for
/// f16, of which it would be rounded twice.
TEST(Convolution, RefusesToAdd) {
  UseFake fake;
  TestWorld world(1);
  fake->refusesToAdd = true;
  numContractions = 0;
  Case c = make2d();
  c.accumulate = true;
  check(c, world);
  c.isGradient = true;
  check(c, world);
  EXPECT_EQ(fake->numConvolutions(), 2);
  EXPECT_EQ(numContractions, 0);
  c.inputType = c.outputType = TOFU_F16;
  check(c, world);
  EXPECT_EQ(fake->numConvolutions(), 2);
  EXPECT_EQ(numContractions, 1);
}

TEST(Convolution, RefusedWhenItRuns) {
  UseFake fake;
  TestWorld world(1);
  fake->onExecute = CUDNN_STATUS_NOT_SUPPORTED_LAYOUT;
  numContractions = 0;
  Case c = make2d();
  c.accumulate = true;
  check(c, world);
  EXPECT_EQ(numContractions, 1);
  EXPECT_EQ(fake->numConvolutions(), 0);
}

TEST(Convolution, FailsWhenItRuns) {
  UseFake fake;
  TestWorld world(1);
  fake->onExecute = CUDNN_STATUS_EXECUTION_FAILED;
  Tensors tensors(make2d());
  EXPECT_EQ(tensors.contract(*world.backend, world.getWorld()), TOFU_FAILED);
  EXPECT_EQ(world.error(), "device 0, here: a convolution: cuDNN: an error, "
                           "it says");
}

/// Plans are made once for a shape; nothing is left of what they were made
/// from, nor of them in the end.
TEST(Convolution, PlansAreKept) {
  UseFake fake;
  {
    TestWorld world(1);
    check(make2d(), world);
    int plans = fake->numPlans;
    EXPECT_EQ(fake->numDescriptors, 1);
    check(make2d(), world);
    EXPECT_EQ(fake->numPlans, plans);
    EXPECT_EQ(fake->numForward, 2);
    Case other = make2d();
    other.stride = {2, 1};
    check(other, world);
    EXPECT_GT(fake->numPlans, plans);
    EXPECT_EQ(fake->numDescriptors, 2);
    EXPECT_EQ(fake->numHandles, 1);
  }
  EXPECT_EQ(fake->numDescriptors, 0);
  EXPECT_EQ(fake->numHandles, 0);
}

/// What the library needs is the program's memory for as long.
TEST(Convolution, Workspace) {
  UseFake fake;
  TestWorld world(1);
  fake->workspaceBytes = 100000;
  Case c = make2d();
  c.ofW = "gk01c";
  check(c, world);
  EXPECT_EQ(fake->numForward, 1);
  EXPECT_EQ(world.memory(0).peakProgramBytes, 100000);
  EXPECT_EQ(world.memory(0).programBytes, 0);
  // A filter of 4 * 3 * 2 * 3 elements is copied.
  c.ofW = "01cgk";
  check(c, world);
  EXPECT_EQ(world.memory(0).peakProgramBytes, 100000 + 4 * 72);
}

/// The backend goes on without a library that can't be used.
TEST(Convolution, NoLibrary) {
  UseFake fake;
  TestWorld world(1);
  fake->onCreate = CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED;
  numContractions = 0;
  check(make2d(), world);
  EXPECT_EQ(numContractions, 1);
  cuda::Cudnn missing = cuda::Cudnn::load("libcudnn_missing.so.9");
  EXPECT_FALSE(missing.isUsable());
  EXPECT_NE(missing.whyNot.find("libcudnn_missing.so.9"), std::string::npos);
  cuda::Cudnn other = cuda::Cudnn::load("libc.so.6");
  EXPECT_EQ(other.whyNot, "libc.so.6 has no cudnnGetVersion");
}

TEST(Convolution, LibraryOfAnotherVersion) {
  UseFake fake;
  TestWorld world(1);
  fake->version = 8907;
  Tensors tensors(make2d());
  EXPECT_EQ(tensors.contract(*world.backend, world.getWorld()), TOFU_FAILED);
  EXPECT_EQ(world.error(),
            "device 0, here: a convolution: libcudnn.so.9 is cuDNN 8.9.7, but "
            "Tofu was built for cuDNN 9: put the library of that version first "
            "in LD_LIBRARY_PATH");
}

TEST(Convolution, ListsTheVersion) {
  UseFake fake;
  fake->version = 91902;
  char error[256] = "";
  std::string text = tofuGetBackend()->listDevices(error, sizeof(error));
  EXPECT_NE(text.find(", cuDNN 9.19.2\n"), std::string::npos) << text;
}

//===----------------------------------------------------------------------===//
// At random
//===----------------------------------------------------------------------===//

template <typename T>
T pick(std::mt19937 &random, const std::vector<T> &from) {
  return from[random() % from.size()];
}

Case makeRandom(std::mt19937 &random) {
  Case c;
  size_t rank = 1 + random() % 3;
  for (size_t d = 0; d < rank; ++d) {
    c.positions.push_back(pick<int64_t>(random, {1, 2, 3, 4, 5}));
    c.taps.push_back(pick<int64_t>(random, {1, 2, 3}));
    c.stride.push_back(pick<int64_t>(random, {1, 1, 2, 3}));
    c.dilation.push_back(pick<int64_t>(random, {1, 1, 2, 3}));
  }
  c.images = pick<int64_t>(random, {1, 2, 3});
  c.groups = pick<int64_t>(random, {1, 1, 2, 3});
  c.channels = pick<int64_t>(random, {1, 2, 3, 4});
  c.filters = pick<int64_t>(random, {1, 2, 3, 4});
  c.rest = random() % 3;
  c.isGradient = random() % 2;
  c.accumulate = random() % 2;
  c.swapsInputs = random() % 2;
  c.repeatsFilter = !c.isGradient && random() % 4 == 0;
  c.ofX = pick<std::string>(random, {"n012gc", "ngc012", "012ngc", "gc012n"});
  c.ofY = pick<std::string>(random, {"n012gk", "ngk012", "012ngk", "gk012n"});
  c.ofW = pick<std::string>(random, {"012cgk", "gkc012", "gk012c", "c012gk"});
  static const std::vector<std::array<int64_t, 2>> types = {
      {TOFU_F32, TOFU_F32},
      {TOFU_F32, TOFU_F32},
      {TOFU_F64, TOFU_F64},
      {TOFU_F16, TOFU_F16},
      {TOFU_BF16, TOFU_F32}};
  auto [input, output] = pick(random, types);
  c.inputType = input;
  c.outputType = output;
  return c;
}

/// True if windows overlap along each dim that has several of several elements:
/// no matrix holds them, and nothing else can be taken for a window.
bool hasWindows(const Case &c) {
  bool overlap = false;
  for (size_t d = 0; d < c.rank(); ++d) {
    if (c.positions[d] == 1 || c.taps[d] == 1)
      continue;
    overlap = c.stride[d] * (c.positions[d] - 1) >= c.dilation[d] &&
              c.dilation[d] * (c.taps[d] - 1) >= c.stride[d];
    if (!overlap)
      break;
  }
  return overlap;
}

TEST(Convolution, Random) {
  UseFake fake;
  std::mt19937 random(7);
  int numWindows = 0;
  for (int i = 0; i < 1500 && !testing::Test::HasFailure(); ++i) {
    TestWorld world(1);
    Case c = makeRandom(random);
    SCOPED_TRACE("case " + std::to_string(i) + ": positions " +
                 testing::PrintToString(c.positions) + " taps " +
                 testing::PrintToString(c.taps) + " strides " +
                 testing::PrintToString(c.stride) + " dilations " +
                 testing::PrintToString(c.dilation) + " n g c k " +
                 testing::PrintToString(
                     Index{c.images, c.groups, c.channels, c.filters}) +
                 " x " + c.ofX + " w " + c.ofW + " y " + c.ofY + " rest " +
                 std::to_string(c.rest) + " gradient " +
                 std::to_string(c.isGradient));
    fake->refusesGaps = random() % 2;
    fake->refusesToAdd = c.inputType != TOFU_F16 && random() % 2;
    fake->workspaceBytes = random() % 2 * 64;
    int before = fake->numConvolutions();
    check(c, world, i);
    if (!hasWindows(c))
      continue;
    ++numWindows;
    EXPECT_EQ(fake->numConvolutions(), before + 1);
  }
  EXPECT_GT(numWindows, 500);
}

} // namespace
