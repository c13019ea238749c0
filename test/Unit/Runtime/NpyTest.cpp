//===- NpyTest.cpp - Tests of NumPy's file format -------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/HostTensor.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>

using namespace mlir::tofu;

namespace {

constexpr int64_t kDynamic = HostTensorType::kDynamic;

/// A file with that header, in version 1 or 2 of the format.
std::string file(const std::string &header, const std::string &data,
                 int version = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte)
    text += static_cast<char>(header.size() >> 8 * byte & 0xff);
  return text + header + data;
}

std::string header(const std::string &descr, const std::string &shape,
                   bool fortran = false) {
  return "{'descr': '" + descr +
         "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

std::string parse(const std::string &contents, HostTensorType type) {
  OrFailure<HostTensor> tensor = parseNpy(contents, type, "x.npy");
  return tensor ? toText(*tensor, 100) : tensor.reason();
}

std::string bytes(std::initializer_list<int> list) {
  return std::string(list.begin(), list.end());
}

TEST(Npy, Types) {
  EXPECT_EQ(parse(file(header("<f4", "(2,)"),
                       bytes({0, 0, 0x80, 0x3f, 0, 0, 0, 0x40})),
                  {TOFU_F32, {2}}),
            "2xf32=1 2");
  EXPECT_EQ(
      parse(file(header("<f2", "(1,)"), bytes({0, 0x3c})), {TOFU_F16, {1}}),
      "1xf16=1");
  for (std::string descr : {"<u2", "|V2", "<V2"})
    EXPECT_EQ(parse(file(header(descr, "(1,)"), bytes({0x80, 0x3f})),
                    {TOFU_BF16, {1}}),
              "1xbf16=1");
  EXPECT_EQ(
      parse(file(header("|b1", "(3,)"), bytes({0, 1, 1})), {TOFU_I1, {3}}),
      "3xi1=0 1 1");
  EXPECT_EQ(parse(file(header("|u1", "(2,)"), bytes({255, 2})), {TOFU_I8, {2}}),
            "2xi8=-1 2");
  EXPECT_EQ(parse(file(header("|u1", "(2,)"), bytes({255, 0})), {TOFU_I1, {2}}),
            "2xi1=1 0");
  EXPECT_EQ(
      parse(file(header("<i4", "()"), bytes({7, 0, 0, 0})), {TOFU_I32, {}}),
      "i32=7");
  EXPECT_EQ(parse(file(header("<i8", "(1,)"), bytes({7, 0, 0, 0, 0, 0, 0, 0})),
                  {TOFU_INDEX, {1}}),
            "1xindex=7");
  EXPECT_EQ(parse(file(header("<c8", "(1,)"),
                       bytes({0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0})),
                  {TOFU_COMPLEX_F32, {1}}),
            "1xcomplex<f32>=(1,-2)");
  EXPECT_EQ(parse(file(header(">c8", "(1,)"),
                       bytes({0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0})),
                  {TOFU_COMPLEX_F32, {1}}),
            "1xcomplex<f32>=(1,-2)");
  EXPECT_EQ(parse(file(header("<c16", "()"),
                       std::string(14, '\0') + bytes({0xf0, 0x3f})),
                  {TOFU_COMPLEX_F64, {}}),
            "complex<f64>=(0,1)");
}

TEST(Npy, OrdersAndVersions) {
  std::string six = bytes({0, 1, 2, 3, 4, 5});
  EXPECT_EQ(parse(file(header("|i1", "(2, 3)"), six), {TOFU_I8, {2, 3}}),
            "2x3xi8=[0 1 2][3 4 5]");
  EXPECT_EQ(
      parse(file(header("|i1", "(2, 3)", true), six), {TOFU_I8, {2, kDynamic}}),
      "2x3xi8=[0 2 4][1 3 5]");
  EXPECT_EQ(parse(file(header(">i2", "(3,)"), six), {TOFU_I16, {3}}),
            "3xi16=1 515 1029");
  EXPECT_EQ(parse(file(header("|i1", "(6,)"), six, 2), {TOFU_I8, {6}}),
            "6xi8=0 1 2 3 4 5");
  // Keys in another order, other quotes, Python 2's long integers.
  EXPECT_EQ(parse(file("{\"shape\": (6L,), \"fortran_order\": False, "
                       "\"descr\": \"|i1\"}",
                       six),
                  {TOFU_I8, {6}}),
            "6xi8=0 1 2 3 4 5");
  EXPECT_EQ(parse(file(header("|i1", "(0, 6)"), ""), {TOFU_I8, {0, 6}}),
            "0x6xi8=");
}

TEST(Npy, Errors) {
  HostTensorType type = {TOFU_F32, {2}};
  std::string data(8, '\0');
  for (std::string bad :
       {std::string(), std::string("hello"), file("", data),
        file("{'descr': '<f4'}", data), file(header("<f4", "2"), data),
        file(header("<f4", "(-2,)"), data), file(header("<f4", "(2"), data),
        file(header("<f4", "(99999999999999999999,)"), data),
        file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': "
             "(2,)}",
             data),
        file(header("<f4", "(2,)") + "x", data), file("{'descr", data),
        file(header("<f4", "(2,)"), data, 4),
        std::string("\x93NUMPY\x01\0\xff\xff", 10)})
    EXPECT_EQ(parse(bad, type), "x.npy: not an .npy file, or cut off");
  EXPECT_EQ(parse(file(header("<f8", "(2,)"), data), type),
            "x.npy: has elements of type '<f8', expected f32");
  EXPECT_EQ(parse(file(header("<i4", "(2,)"), data), type),
            "x.npy: has elements of type '<i4', expected f32");
  EXPECT_EQ(parse(file(header("<c8", "(1,)"), data), type),
            "x.npy: has elements of type '<c8', expected f32");
  EXPECT_EQ(parse(file(header("<f8", "(1,)"), data), {TOFU_COMPLEX_F32, {1}}),
            "x.npy: has elements of type '<f8', expected complex<f32>");
  EXPECT_EQ(parse(file(header("|O", "(2,)"), data), type),
            "x.npy: has elements of type '|O', expected f32");
  EXPECT_EQ(parse(file(header("<f4", "(3,)"), data), type),
            "x.npy: has 3xf32, expected 2xf32");
  EXPECT_EQ(parse(file(header("<f4", "(1, 2)"), data), type),
            "x.npy: has 1x2xf32, expected 2xf32");
  EXPECT_EQ(parse(file(header("<f4", "(2,)"), data.substr(1)), type),
            "x.npy: has 7 bytes of elements, its shape needs 8");
  EXPECT_EQ(parse(file(header("<f4", "(4611686018427387904,)"), data),
                  {TOFU_F32, {kDynamic}}),
            "x.npy: no memory for a tensor of 4611686018427387904xf32");
  EXPECT_NE(readNpy("/nowhere/x.npy", type).reason().find("/nowhere/x.npy: "),
            std::string::npos);
}

TEST(Npy, DamagedFilesGiveErrors) {
  // Cut short everywhere, and with any byte changed: an error, or a tensor of
  // the type that was asked for.
  HostTensorType type = {TOFU_I16, {kDynamic, 3}};
  std::string good = file(header("<i2", "(2, 3)"), std::string(12, '\1'));
  for (size_t size = 0; size < good.size(); ++size) {
    OrFailure<HostTensor> tensor =
        parseNpy(std::string_view(good).substr(0, size), type, "");
    EXPECT_FALSE(!!tensor) << size;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (int change = 0; change < 1 + i % 3; ++change)
      bad[random() % bad.size()] = static_cast<char>(random());
    OrFailure<HostTensor> tensor = parseNpy(bad, type, "");
    if (tensor)
      EXPECT_TRUE(type.accepts(tensor->getTensorType()));
  }
}

TEST(Npy, RoundTrip) {
  std::string path = testing::TempDir() + "tofu-npy-test.npy";
  for (int type = 0; type < TOFU_NUM_ELEMENT_TYPES; ++type) {
    for (std::vector<int64_t> shape :
         {std::vector<int64_t>{}, {7}, {3, 0}, {2, 3, 4}}) {
      HostTensorType tensorType = {static_cast<TofuElementType>(type), shape};
      HostTensor tensor =
          std::move(*parseTensor("random:5:0:2", tensorType, 0));
      ASSERT_FALSE(writeNpy(path, tensor));
      HostTensor read = std::move(*readNpy(path, tensorType));
      EXPECT_EQ(toText(read, 100), toText(tensor, 100));

      std::ifstream file(path, std::ios::binary);
      std::string contents{std::istreambuf_iterator<char>(file), {}};
      size_t before = contents.size() - tensor.getNumBytes();
      EXPECT_EQ(before % 64, 0u);
      EXPECT_EQ(contents[before - 1], '\n');
    }
  }
  std::remove(path.c_str());
  MaybeFailure failure = writeNpy("/nowhere/x.npy", HostTensor());
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->reason.find("/nowhere/x.npy: "), std::string::npos);
}

} // namespace
