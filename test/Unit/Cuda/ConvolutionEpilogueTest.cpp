//===- ConvolutionEpilogueTest.cpp - Convolutions with an epilogue --------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionCase.h"

#include <limits>

using namespace mlir::tofu;
using namespace mlir::tofu::test;
using namespace mlir::tofu::test::convolutions;

namespace {

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

} // namespace
