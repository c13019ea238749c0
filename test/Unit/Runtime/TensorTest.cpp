//===- TensorTest.cpp - Tests of host tensors and their text --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/HostTensor.h"
#include "Tofu/Runtime/LoadBackend.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace mlir::tofu;

namespace {

constexpr int64_t kDynamic = HostTensorType::kDynamic;

HostTensor parse(std::string_view text, HostTensorType type) {
  OrFailure<HostTensor> tensor = parseTensor(text, type, 0);
  if (tensor)
    return std::move(*tensor);
  ADD_FAILURE() << tensor.reason();
  return HostTensor();
}

std::string parseError(std::string_view text, HostTensorType type) {
  OrFailure<HostTensor> tensor = parseTensor(text, type, 0);
  return tensor ? "no error" : tensor.reason();
}

/// Text -> tensor -> text.
std::string roundTrip(std::string_view text, HostTensorType type) {
  return toText(parse(text, type), 100);
}

TEST(TensorText, Literals) {
  EXPECT_EQ(roundTrip("2x3xf32=1 2 3 4 5 6", {TOFU_F32, {2, 3}}),
            "2x3xf32=[1 2 3][4 5 6]");
  EXPECT_EQ(roundTrip("2x3xf32=[[1, 2, 3], [4, 5, 6]]", {TOFU_F32, {2, 3}}),
            "2x3xf32=[1 2 3][4 5 6]");
  EXPECT_EQ(roundTrip("3xi32=7", {TOFU_I32, {3}}), "3xi32=7 7 7");
  EXPECT_EQ(roundTrip("f32=1.5", {TOFU_F32, {}}), "f32=1.5");
  EXPECT_EQ(roundTrip("4xf32=inf -inf nan -0", {TOFU_F32, {4}}),
            "4xf32=inf -inf nan -0");
  EXPECT_EQ(roundTrip("4xi1=true false 1 0", {TOFU_I1, {4}}), "4xi1=1 0 1 0");
  EXPECT_EQ(roundTrip("3xi8=-128 127 255", {TOFU_I8, {3}}), "3xi8=-128 127 -1");
  EXPECT_EQ(roundTrip("2xi64=0x10 -9223372036854775808", {TOFU_I64, {2}}),
            "2xi64=16 -9223372036854775808");
  EXPECT_EQ(roundTrip("2xindex=3 4", {TOFU_INDEX, {2}}), "2xindex=3 4");
  EXPECT_EQ(roundTrip("2xbf16=1.00390625 3e38", {TOFU_BF16, {2}}),
            "2xbf16=1 3.004e+38");
  EXPECT_EQ(roundTrip("2xf16=65504 1e6", {TOFU_F16, {2}}), "2xf16=65504 inf");
  EXPECT_EQ(
      roundTrip("2xcomplex<f32>=(1.5,-2) (0,nan)", {TOFU_COMPLEX_F32, {2}}),
      "2xcomplex<f32>=(1.5,-2) (0,nan)");
  EXPECT_EQ(roundTrip("2x1xcomplex<f64>=1 2", {TOFU_COMPLEX_F64, {2, 1}}),
            "2x1xcomplex<f64>=[(1,2)][(1,2)]");
  EXPECT_EQ(roundTrip("0x4xf32=", {TOFU_F32, {0, 4}}), "0x4xf32=");
  EXPECT_EQ(roundTrip("5x1xf64=0.1", {TOFU_F64, {kDynamic, 1}}).substr(0, 8),
            "5x1xf64=");
}

TEST(TensorText, LongTensorsAreCut) {
  EXPECT_EQ(toText(parse("5xi8=1", {TOFU_I8, {5}}), 3), "5xi8=1 1 1 ...");
}

TEST(TensorText, Errors) {
  HostTensorType matrix = {TOFU_F32, {2, 3}};
  EXPECT_EQ(parseError("2x3xf32=1 2", matrix),
            "2 elements are given, 2x3xf32 has 6");
  EXPECT_EQ(parseError("2x3xf32=", matrix),
            "0 elements are given, 2x3xf32 has 6");
  EXPECT_EQ(parseError("3x2xf32=1", matrix),
            "'3x2xf32=1' has type 3x2xf32, expected 2x3xf32");
  EXPECT_EQ(parseError("2x3xf64=1", {TOFU_F32, {kDynamic, 3}}),
            "'2x3xf64=1' has type 2x3xf64, expected ?x3xf32");
  EXPECT_EQ(parseError("2x3xf32=one", matrix), "'one' is no f32");
  EXPECT_EQ(parseError("2xcomplex<f32>=1 2 3", {TOFU_COMPLEX_F32, {2}}),
            "3 parts of elements are given, 2xcomplex<f32> has 4");
  EXPECT_EQ(parseError("complex<f32>=1+2i", {TOFU_COMPLEX_F32, {}}),
            "1 parts of elements are given, complex<f32> has 2");
  EXPECT_EQ(parseError("complex<f32>=1 2i", {TOFU_COMPLEX_F32, {}}),
            "'2i' is no part of complex<f32>");
  EXPECT_EQ(parseError("i8=256", {TOFU_I8, {}}), "'256' is no i8");
  EXPECT_EQ(parseError("i8=-129", {TOFU_I8, {}}), "'-129' is no i8");
  EXPECT_EQ(parseError("i1=2", {TOFU_I1, {}}), "'2' is no i1");
  EXPECT_EQ(parseError("i32=1.5", {TOFU_I32, {}}), "'1.5' is no i32");
  for (std::string text : {"", "x", "2x3", "2xq8=1", "f32", "-2xf32=1",
                           "99999999999999999999xf32=1"})
    EXPECT_EQ(parseError(text, matrix),
              "'" + text +
                  "' is no tensor: say @FILE.npy, random:SEED, or a type with "
                  "elements such as 2x2xf32=1 2 3 4");
  EXPECT_EQ(parseError("1000000000x1000000000xf32=1",
                       {TOFU_F32, {kDynamic, kDynamic}}),
            "no memory for a tensor of 1000000000x1000000000xf32");
  EXPECT_EQ(parseError("4000000000x4000000000x4000000000xf32=1",
                       {TOFU_F32, {kDynamic, kDynamic, kDynamic}}),
            "no memory for a tensor of "
            "4000000000x4000000000x4000000000xf32");
}

TEST(TensorText, Random) {
  HostTensorType type = {TOFU_F32, {1000}};
  HostTensor a = parse("random:1", type), b = parse("random:1", type);
  HostTensor other = parse("random:2", type);
  EXPECT_EQ(compare(a, b, {}).numDifferent, 0);
  EXPECT_GT(compare(a, other, {}).numDifferent, 990);
  double sum = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    EXPECT_GE(a.getFloat(i), -1);
    EXPECT_LT(a.getFloat(i), 1);
    sum += a.getFloat(i);
  }
  EXPECT_LT(std::fabs(sum), 100);

  // Each argument has numbers of its own.
  OrFailure<HostTensor> second = parseTensor("random:1", type, 1);
  ASSERT_TRUE(!!second);
  EXPECT_GT(compare(a, *second, {}).numDifferent, 990);

  int64_t seen[5] = {};
  HostTensor integers = parse("random:3:-2:3", {TOFU_I8, {1000}});
  for (int64_t i = 0; i < 1000; ++i)
    ++seen[integers.getInteger(i) + 2];
  for (int64_t count : seen)
    EXPECT_GT(count, 100);
  HostTensor bits = parse("random:3", {TOFU_I1, {100}});
  for (int64_t i = 0; i < 100; ++i)
    EXPECT_LE(bits.getInteger(i), 1);
  EXPECT_EQ(parse("5xf32=random:1", {TOFU_F32, {kDynamic}}).getNumElements(),
            5);
}

TEST(TensorText, RandomErrors) {
  HostTensorType type = {TOFU_F32, {4}};
  for (std::string text :
       {"random:", "random:x", "random:1:2", "random:1:3:2", "random:1:a:b",
        "random:1:0:inf", "random:-1", "random:1:0:1:2"})
    EXPECT_EQ(parseError(text, type),
              "'" + text +
                  "': random input is random:SEED or random:SEED:LOW:HIGH with "
                  "LOW below HIGH");
  EXPECT_EQ(parseError("random:1", {TOFU_F32, {kDynamic, 3}}),
            "'random:1': a tensor of ?x3xf32 needs its sizes, as in "
            "2x3xf32=random:1");
}

//===----------------------------------------------------------------------===//
// Boxes and comparison
//===----------------------------------------------------------------------===//

HostTensor iota(std::vector<int64_t> shape) {
  HostTensor tensor = std::move(*HostTensor::create(TOFU_I32, shape));
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setInteger(i, i);
  return tensor;
}

std::string sliceText(const HostTensor &tensor, host::Box box) {
  return toText(*tensor.slice(box), 100);
}

TEST(HostTensor, Slice) {
  EXPECT_EQ(sliceText(iota({3, 4}), {{1, 3}, {1, 3}}), "2x2xi32=[5 6][9 10]");
  EXPECT_EQ(sliceText(iota({3, 4}), {{1, 2}, {0, 4}}), "1x4xi32=[4 5 6 7]");
  EXPECT_EQ(sliceText(iota({2, 2, 2}), {{0, 2}, {1, 2}, {0, 2}}),
            "2x1x2xi32=[2 3][6 7]");
  EXPECT_EQ(sliceText(iota({2, 3, 2}), {{0, 2}, {0, 3}, {1, 2}}),
            "2x3x1xi32=[1][3][5][7][9][11]");
  EXPECT_EQ(sliceText(iota({3, 4}), {{1, 1}, {0, 4}}), "0x4xi32=");
  EXPECT_EQ(sliceText(iota({}), {}), "i32=0");
}

TEST(HostTensor, InsertPutsSlicesTogether) {
  HostTensor whole = iota({5, 3, 4}), result = iota({5, 3, 4});
  for (int64_t i = 0; i < result.getNumElements(); ++i)
    result.setInteger(i, -1);
  for (int64_t lo : {0, 2, 4})
    for (int64_t column : {0, 3}) {
      host::Box box = {
          {lo, std::min<int64_t>(lo + 2, 5)}, {0, 3}, {column, column ? 4 : 3}};
      result.insert(box, *whole.slice(box));
    }
  EXPECT_EQ(compare(result, whole, {}).numDifferent, 0);
}

TEST(HostTensor, Compare) {
  HostTensorType type = {TOFU_F32, {4}};
  HostTensor got = parse("4xf32=1 nan 3.5 inf", type);
  HostTensor want = parse("4xf32=1 nan 3 inf", type);
  Difference difference = compare(got, want, {0.1, 0});
  EXPECT_EQ(difference.numDifferent, 1);
  EXPECT_EQ(difference.first, 2);
  EXPECT_EQ(difference.largest, 0.5);
  EXPECT_EQ(compare(got, want, {0.2, 0}).numDifferent, 0);
  EXPECT_EQ(compare(got, want, {0, 0.5}).numDifferent, 0);

  difference = compare(parse("4xf32=nan inf 1 2", type),
                       parse("4xf32=1 -inf nan 2", type), {1e9, 1e9});
  EXPECT_EQ(difference.numDifferent, 3);
  EXPECT_TRUE(std::isinf(difference.largest));
}

TEST(HostTensor, CompareComplex) {
  HostTensorType type = {TOFU_COMPLEX_F32, {3}};
  HostTensor want = parse("3xcomplex<f32>=(100,0) (1,1) (inf,1)", type);
  // An error of one part is measured by the larger one.
  HostTensor near = parse("3xcomplex<f32>=(100,0.5) (1,1) (inf,1)", type);
  EXPECT_EQ(compare(near, want, {0.01, 0}).numDifferent, 0);
  EXPECT_EQ(compare(near, want, {0.004, 0}).numDifferent, 1);
  HostTensor far = parse("3xcomplex<f32>=(100,0) (1,1.5) (inf,2)", type);
  Difference difference = compare(far, want, {0.1, 0});
  EXPECT_EQ(difference.numDifferent, 2);
  EXPECT_EQ(difference.first, 1);
  EXPECT_EQ(difference.largest, 1);
}

TEST(HostTensor, CompareLargeIntegersExactly) {
  // These are the same double.
  HostTensorType type = {TOFU_I64, {1}};
  HostTensor a = parse("1xi64=9007199254740993", type);
  HostTensor b = parse("1xi64=9007199254740992", type);
  EXPECT_EQ(compare(a, b, Tolerance::getDefault(TOFU_I64)).numDifferent, 1);
}

TEST(HostTensor, Widen) {
  auto widen = [](std::string_view text, HostTensorType type) {
    return toText(*parse(text, type).widen(), 100);
  };
  EXPECT_EQ(widen("2xf32=0.1 nan", {TOFU_F32, {2}}),
            "2xf64=0.10000000149011612 nan");
  EXPECT_EQ(widen("1x2xf16=65504 inf", {TOFU_F16, {1, 2}}),
            "1x2xf64=[65504 inf]");
  EXPECT_EQ(widen("2xcomplex<f32>=(1,2) (3,4)", {TOFU_COMPLEX_F32, {2}}),
            "2xcomplex<f64>=(1,2) (3,4)");
  EXPECT_EQ(widen("2xi32=3 -4", {TOFU_I32, {2}}), "2xi32=3 -4");
}

TEST(HostTensor, CompareWithRounding) {
  HostTensorType type = {TOFU_F32, {4}}, wide = {TOFU_F64, {4}};
  Tolerance tolerance = Tolerance::getDefault(TOFU_F32);
  HostTensor exact = parse("4xf64=1000 2 3 inf", wide);
  HostTensor rounded = parse("4xf32=1000 2.25 3 inf", type);
  std::optional<Rounding> rounding = Rounding::find(rounded, exact, tolerance);
  ASSERT_TRUE(rounding);
  EXPECT_EQ(rounding->error, 0.25);
  auto compareWith = [&](std::string_view got) {
    return compare(parse(got, type), rounded, tolerance, &*rounding);
  };
  // Twice the error away from the exact one, on either side.
  EXPECT_EQ(compareWith("4xf32=1000 1.5 3.5 inf").numDifferent, 0);
  // Or near the rounded one, or what the tolerance is on top of that.
  EXPECT_EQ(compareWith("4xf32=1000.59 2.2502 2.4998 inf").numDifferent, 0);
  // A wrong element is found, and so is a number in the place of another one.
  Difference wrong = compareWith("4xf32=1000 2.25 3.501 inf");
  EXPECT_EQ(wrong.numDifferent, 1);
  EXPECT_EQ(wrong.first, 2);
  EXPECT_EQ(compareWith("4xf32=1000 2.25 nan inf").numDifferent, 1);
  EXPECT_EQ(compareWith("4xf32=1000 2.25 3 1e38").numDifferent, 1);
}

TEST(HostTensor, RoundingThatTellsNothing) {
  HostTensorType type = {TOFU_F32, {2}}, wide = {TOFU_F64, {2}};
  Tolerance tolerance = Tolerance::getDefault(TOFU_F32);
  // 10 times the relative tolerance of the largest element is 1.
  HostTensor exact = parse("2xf64=-1000 5", wide);
  auto find = [&](std::string_view rounded) {
    return Rounding::find(parse(rounded, type), exact, tolerance);
  };
  EXPECT_TRUE(find("2xf32=-1000 5.96875"));
  EXPECT_FALSE(find("2xf32=-1000 6.03125"));
  // What overflows says nothing about the others.
  ASSERT_TRUE(find("2xf32=-inf 5.5"));
  EXPECT_EQ(find("2xf32=-inf 5.5")->error, 0.5);
  HostTensor integers = parse("2xi32=3 4", {TOFU_I32, {2}});
  EXPECT_FALSE(Rounding::find(integers, integers, {}));
}

TEST(LoadBackend, Errors) {
  auto load = [](const std::string &name) {
    OrFailure<const TofuBackend *> backend = loadBackend(name, "/nowhere");
    return backend ? "no error" : backend.reason();
  };
  EXPECT_EQ(load("cuda"), "backend cuda: not in this build, there is no "
                          "/nowhere/libtofu_runtime_cuda.so");
  EXPECT_EQ(load("../x"), "backend ../x: not the name of a backend");
  EXPECT_EQ(load(""), "backend : not the name of a backend");
}

} // namespace
