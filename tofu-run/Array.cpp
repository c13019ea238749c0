//===- Array.cpp - Tensors in the host's memory ---------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Array.h"

#include "Tofu/Runtime/Half.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
struct ElementInfo {
  llvm::StringLiteral name;
  int64_t bytes;
};
} // namespace

static constexpr ElementInfo kElements[TOFU_NUM_ELEMENT_TYPES] = {
    {"f32", 4}, {"f64", 8}, {"f16", 2}, {"bf16", 2}, {"i1", 1},
    {"i8", 1},  {"i16", 2}, {"i32", 4}, {"i64", 8},  {"index", 8}};

int64_t mlir::tofu::getElementBytes(TofuElementType type) {
  return kElements[type].bytes;
}

llvm::StringRef mlir::tofu::getElementName(TofuElementType type) {
  return kElements[type].name;
}

bool mlir::tofu::isFloat(TofuElementType type) { return type <= TOFU_BF16; }

std::optional<TofuElementType> mlir::tofu::getElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type); integer && !integer.isSignless())
    type = IntegerType::get(type.getContext(), integer.getWidth());
  std::string name = llvm::formatv("{0}", type).str();
  for (int i = 0; i < TOFU_NUM_ELEMENT_TYPES; ++i)
    if (kElements[i].name == name)
      return static_cast<TofuElementType>(i);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Array
//===----------------------------------------------------------------------===//

Array::Array(TofuElementType type, llvm::ArrayRef<int64_t> shape)
    : type(type), shape(shape) {
  data.resize(size() * getElementBytes(type));
}

int64_t Array::size() const {
  int64_t product = 1;
  for (int64_t n : shape)
    product *= n;
  return product;
}

template <typename T> static T load(const std::vector<char> &data, int64_t i) {
  T value;
  std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
static void store(std::vector<char> &data, int64_t i, T value) {
  std::memcpy(data.data() + i * sizeof(T), &value, sizeof(T));
}

double Array::getFloat(int64_t i) const {
  switch (type) {
  case TOFU_F32:
    return load<float>(data, i);
  case TOFU_F64:
    return load<double>(data, i);
  case TOFU_F16:
    return floatFromHalf(load<uint16_t>(data, i));
  case TOFU_BF16:
    return floatFromBFloat(load<uint16_t>(data, i));
  default:
    return static_cast<double>(getInteger(i));
  }
}

int64_t Array::getInteger(int64_t i) const {
  switch (getElementBytes(type)) {
  case 1:
    return type == TOFU_I1 ? load<uint8_t>(data, i) : load<int8_t>(data, i);
  case 2:
    return load<int16_t>(data, i);
  case 4:
    return load<int32_t>(data, i);
  default:
    return load<int64_t>(data, i);
  }
}

void Array::setFloat(int64_t i, double value) {
  switch (type) {
  case TOFU_F32:
    return store<float>(data, i, static_cast<float>(value));
  case TOFU_F64:
    return store<double>(data, i, value);
  case TOFU_F16:
    return store<uint16_t>(data, i,
                           halfFromFloat(static_cast<float>(value)));
  case TOFU_BF16:
    return store<uint16_t>(data, i,
                           bfloatFromFloat(static_cast<float>(value)));
  default:
    return setInteger(i, static_cast<int64_t>(value));
  }
}

void Array::setInteger(int64_t i, int64_t value) {
  switch (getElementBytes(type)) {
  case 1:
    return store<uint8_t>(data, i, static_cast<uint8_t>(value));
  case 2:
    return store<uint16_t>(data, i, static_cast<uint16_t>(value));
  case 4:
    return store<uint32_t>(data, i, static_cast<uint32_t>(value));
  default:
    return store<uint64_t>(data, i, static_cast<uint64_t>(value));
  }
}

std::string Array::getText(int64_t i) const {
  if (isFloat(type))
    return llvm::formatv("{0:e7}", getFloat(i)).str();
  return std::to_string(getInteger(i));
}

std::string Array::getIndexText(int64_t i) const {
  llvm::SmallVector<std::string> index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    index[dim] = std::to_string(i % shape[dim]);
    i /= shape[dim];
  }
  return "[" + llvm::join(index, ", ") + "]";
}

std::string mlir::tofu::getTypeText(TofuElementType type,
                                    llvm::ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t n : shape)
    text += (n < 0 ? "?" : std::to_string(n)) + "x";
  return text + getElementName(type).str();
}

/// Calls `copy` with the offsets in the whole and in the part of each row.
template <typename Copy>
static void forEachRow(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<search::Interval> box, int64_t bytes,
                       Copy copy) {
  if (search::volume(box) == 0)
    return;
  int64_t rank = shape.size();
  int64_t row = rank ? box.back().size() : 1;
  llvm::SmallVector<int64_t> at;
  for (search::Interval interval : box)
    at.push_back(interval.lo);
  for (int64_t part = 0, rows = search::volume(box) / row; part < rows; ++part) {
    int64_t offset = 0;
    for (int64_t dim = 0; dim < rank; ++dim)
      offset = offset * shape[dim] + at[dim];
    copy(offset * bytes, part * row * bytes, row * bytes);
    for (int64_t dim = rank - 1; dim-- > 0;) {
      if (++at[dim] < box[dim].hi)
        break;
      at[dim] = box[dim].lo;
    }
  }
}

void mlir::tofu::copyBoxOut(const Array &whole,
                            llvm::ArrayRef<search::Interval> box, char *part) {
  forEachRow(whole.shape, box, getElementBytes(whole.type),
             [&](int64_t from, int64_t to, int64_t bytes) {
               std::memcpy(part + to, whole.data.data() + from, bytes);
             });
}

void mlir::tofu::copyBoxIn(Array &whole, llvm::ArrayRef<search::Interval> box,
                           const char *part) {
  forEachRow(whole.shape, box, getElementBytes(whole.type),
             [&](int64_t to, int64_t from, int64_t bytes) {
               std::memcpy(whole.data.data() + to, part + from, bytes);
             });
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

template <typename... Args>
static llvm::Error makeError(const char *format, Args &&...args) {
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      llvm::formatv(format, std::forward<Args>(args)...).str().c_str());
}

static llvm::Expected<Array> makeRandom(llvm::StringRef text,
                                        TofuElementType type,
                                        llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ':');
  uint64_t seed;
  double lo = isFloat(type) ? -1.0 : 0.0, hi = isFloat(type) ? 1.0 : 2.0;
  if ((parts.size() != 1 && parts.size() != 3) ||
      parts[0].getAsInteger(10, seed) ||
      (parts.size() == 3 &&
       (parts[1].getAsDouble(lo) || parts[2].getAsDouble(hi) || !(lo < hi))))
    return makeError("random:SEED or random:SEED:LO:HI with LO < HI, not "
                     "random:{0}",
                     text);
  Array array(type, shape);
  std::mt19937_64 bits(seed);
  for (int64_t i = 0, e = array.size(); i < e; ++i) {
    double unit = static_cast<double>(bits() >> 11) * 0x1p-53;
    double value = lo + (hi - lo) * unit;
    if (isFloat(type))
      array.setFloat(i, value);
    else
      array.setInteger(i, static_cast<int64_t>(std::floor(value)));
  }
  return array;
}

static bool parseElement(llvm::StringRef text, Array &array, int64_t i) {
  if (isFloat(array.type)) {
    double value;
    if (text.getAsDouble(value))
      return false;
    array.setFloat(i, value);
    return true;
  }
  int64_t value;
  if (text == "true" || text == "false")
    value = text == "true";
  else if (text.getAsInteger(10, value))
    return false;
  array.setInteger(i, value);
  return true;
}

static llvm::Expected<Array> makeLiteral(llvm::StringRef typeText,
                                         llvm::StringRef values,
                                         TofuElementType type,
                                         llvm::ArrayRef<int64_t> shape) {
  if (typeText != getTypeText(type, shape))
    return makeError("has type {0}, the program wants {1}", typeText,
                     getTypeText(type, shape));
  Array array(type, shape);
  llvm::SmallVector<llvm::StringRef> numbers;
  llvm::SplitString(values, numbers, " ,\t\n[]");
  int64_t size = array.size();
  if (numbers.size() != 1 && static_cast<int64_t>(numbers.size()) != size)
    return makeError("has {0} numbers for {1} elements", numbers.size(), size);
  for (int64_t i = 0; i < size; ++i) {
    llvm::StringRef number = numbers[numbers.size() == 1 ? 0 : i];
    if (!parseElement(number, array, i))
      return makeError("no {0}: {1}", getElementName(type), number);
  }
  return array;
}

llvm::Expected<Array> mlir::tofu::makeInput(llvm::StringRef text,
                                            TofuElementType type,
                                            llvm::ArrayRef<int64_t> shape) {
  if (text.starts_with("@"))
    return readNpy(text.drop_front(), type, shape);
  if (llvm::is_contained(shape, ShapedType::kDynamic))
    return makeError("{0} has no known size; give it as @FILE.npy",
                     getTypeText(type, shape));
  if (text.consume_front("random:"))
    return makeRandom(text, type, shape);
  auto [typeText, values] = text.split('=');
  if (values.empty())
    return makeError("@FILE.npy, TYPE=NUMBERS or random:SEED, not {0}", text);
  return makeLiteral(typeText.trim(), values, type, shape);
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

Tolerance Tolerance::getDefault(TofuElementType type) {
  bool isShort = type == TOFU_F16 || type == TOFU_BF16;
  return {isShort ? 1e-2 : 1e-4, 1e-5};
}

static bool isClose(double got, double want, Tolerance tolerance) {
  if (std::isnan(got) || std::isnan(want))
    return std::isnan(got) && std::isnan(want);
  if (got == want)
    return true;
  if (std::isinf(got) || std::isinf(want))
    return false;
  return std::abs(got - want) <=
         tolerance.absolute + tolerance.relative * std::abs(want);
}

std::string mlir::tofu::compareArrays(const Array &got, const Array &want,
                                      Tolerance tolerance) {
  int64_t wrong = 0, first = -1;
  double largest = 0;
  for (int64_t i = 0, e = got.size(); i < e; ++i) {
    bool same = isFloat(got.type)
                    ? isClose(got.getFloat(i), want.getFloat(i), tolerance)
                    : got.getInteger(i) == want.getInteger(i);
    double difference = std::abs(got.getFloat(i) - want.getFloat(i));
    if (difference > largest)
      largest = difference;
    if (same)
      continue;
    ++wrong;
    if (first < 0)
      first = i;
  }
  if (!wrong)
    return "";
  return llvm::formatv("at {0}: {1} instead of {2}; {3} of {4} elements "
                       "differ, by {5:e2} at most",
                       got.getIndexText(first), got.getText(first),
                       want.getText(first), wrong, got.size(), largest)
      .str();
}
