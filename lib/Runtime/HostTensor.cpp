//===- HostTensor.cpp - Tensors in host memory ----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/HostTensor.h"

#include "Tofu/Runtime/Half.h"

#include "Text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {

struct ElementInfo {
  const char *name;
  int64_t bytes;
};

} // namespace

static constexpr ElementInfo kElements[] = {
    {"f32", 4}, {"f64", 8},   {"f16", 2},          {"bf16", 2},
    {"i1", 1},  {"i8", 1},    {"i16", 2},          {"i32", 4},
    {"i64", 8}, {"index", 8}, {"complex<f32>", 8}, {"complex<f64>", 16}};
static_assert(std::size(kElements) == TOFU_NUM_ELEMENT_TYPES,
              "one line per element type");

int64_t mlir::tofu::getElementBytes(TofuElementType type) {
  return kElements[type].bytes;
}

int64_t mlir::tofu::getNumParts(TofuElementType type) {
  return type == TOFU_COMPLEX_F32 || type == TOFU_COMPLEX_F64 ? 2 : 1;
}

bool mlir::tofu::isFloat(TofuElementType type) {
  return type <= TOFU_BF16 || getNumParts(type) > 1;
}

const char *mlir::tofu::getName(TofuElementType type) {
  return kElements[type].name;
}

std::optional<TofuElementType>
mlir::tofu::parseElementType(std::string_view name) {
  for (size_t i = 0; i < std::size(kElements); ++i)
    if (kElements[i].name == name)
      return static_cast<TofuElementType>(i);
  return std::nullopt;
}

std::string HostTensorType::str() const {
  std::string text;
  for (int64_t size : shape)
    text += (size == kDynamic ? "?" : std::to_string(size)) + "x";
  return text + getName(type);
}

bool HostTensorType::accepts(const HostTensorType &other) const {
  return type == other.type && shape.size() == other.shape.size() &&
         std::equal(shape.begin(), shape.end(), other.shape.begin(),
                    [](int64_t mine, int64_t theirs) {
                      return mine == kDynamic || mine == theirs;
                    });
}

bool HostTensorType::isStatic() const {
  return std::count(shape.begin(), shape.end(), kDynamic) == 0;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

OrFailure<HostTensor> HostTensor::create(TofuElementType type,
                                         std::vector<int64_t> shape) {
  HostTensor tensor;
  tensor.type = {type, std::move(shape)};
  auto fail = [&] {
    return Failure{"no memory for a tensor of " + tensor.type.str()};
  };
  const std::vector<int64_t> &sizes = tensor.type.shape;
  bool isEmpty = std::count(sizes.begin(), sizes.end(), 0) > 0;
  int64_t size = getElementBytes(type);
  for (int64_t dim : sizes)
    if (dim < 0 || (!isEmpty && __builtin_mul_overflow(size, dim, &size)))
      return fail();
  tensor.numElements = isEmpty ? 0 : size / getElementBytes(type);
  tensor.data.reset(new (std::nothrow) char[tensor.getNumBytes()]);
  if (!tensor.data)
    return fail();
  return tensor;
}

template <typename T>
static T load(const char *data, int64_t i) {
  T value;
  std::memcpy(&value, data + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
static void store(char *data, int64_t i, T value) {
  std::memcpy(data + i * sizeof(T), &value, sizeof(T));
}

double HostTensor::getFloat(int64_t i, int64_t part) const {
  switch (getType()) {
  case TOFU_COMPLEX_F32:
    return load<float>(getData(), 2 * i + part);
  case TOFU_COMPLEX_F64:
    return load<double>(getData(), 2 * i + part);
  case TOFU_F32:
    return load<float>(getData(), i);
  case TOFU_F64:
    return load<double>(getData(), i);
  case TOFU_F16:
    return floatFromHalf(load<uint16_t>(getData(), i));
  case TOFU_BF16:
    return floatFromBFloat(load<uint16_t>(getData(), i));
  default:
    return getInteger(i);
  }
}

int64_t HostTensor::getInteger(int64_t i) const {
  switch (getType()) {
  case TOFU_I1:
    return load<uint8_t>(getData(), i);
  case TOFU_I8:
    return load<int8_t>(getData(), i);
  case TOFU_I16:
    return load<int16_t>(getData(), i);
  case TOFU_I32:
    return load<int32_t>(getData(), i);
  case TOFU_I64:
  case TOFU_INDEX:
    return load<int64_t>(getData(), i);
  default:
    return getFloat(i);
  }
}

void HostTensor::setFloat(int64_t i, double value, int64_t part) {
  switch (getType()) {
  case TOFU_COMPLEX_F32:
    return store<float>(getData(), 2 * i + part, value);
  case TOFU_COMPLEX_F64:
    return store<double>(getData(), 2 * i + part, value);
  case TOFU_F32:
    return store<float>(getData(), i, value);
  case TOFU_F64:
    return store<double>(getData(), i, value);
  case TOFU_F16:
    return store<uint16_t>(getData(), i, halfFromFloat(value));
  case TOFU_BF16:
    return store<uint16_t>(getData(), i, bfloatFromFloat(value));
  default:
    return setInteger(i, value);
  }
}

void HostTensor::setInteger(int64_t i, int64_t value) {
  switch (getType()) {
  case TOFU_I1:
    return store<uint8_t>(getData(), i, value & 1);
  case TOFU_I8:
    return store<int8_t>(getData(), i, value);
  case TOFU_I16:
    return store<int16_t>(getData(), i, value);
  case TOFU_I32:
    return store<int32_t>(getData(), i, value);
  case TOFU_I64:
  case TOFU_INDEX:
    return store<int64_t>(getData(), i, value);
  default:
    return setFloat(i, value);
  }
}

/// How many digits tell any two numbers of a float type apart.
static int getNumDigits(TofuElementType type) {
  switch (type) {
  case TOFU_F64:
  case TOFU_COMPLEX_F64:
    return 17;
  case TOFU_F16:
    return 5;
  case TOFU_BF16:
    return 4;
  default:
    return 9;
  }
}

static std::string formatFloat(double value, TofuElementType type) {
  if (std::isnan(value))
    return "nan";
  return format("%.*g", getNumDigits(type), value);
}

std::string HostTensor::getText(int64_t i) const {
  if (!isFloat(getType()))
    return std::to_string(getInteger(i));
  std::string text = formatFloat(getFloat(i), getType());
  if (getNumParts(getType()) == 1)
    return text;
  return "(" + text + "," + formatFloat(getFloat(i, 1), getType()) + ")";
}

std::vector<int64_t> HostTensor::getIndex(int64_t i) const {
  std::vector<int64_t> index(getShape().size());
  for (size_t dim = index.size(); dim-- > 0;) {
    index[dim] = i % getShape()[dim];
    i /= getShape()[dim];
  }
  return index;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

static std::vector<int64_t> getStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

/// Calls `visit` with the offset of each row of `box`, in elements from the
/// start of a row-major tensor of `shape`, and the number of the row's
/// elements.
template <typename Visit>
static void forEachRow(const std::vector<int64_t> &shape, const host::Box &box,
                       Visit visit) {
  if (host::volume(box) == 0)
    return;
  // A row goes as far out as the dims within it are whole.
  size_t rowDim = box.size();
  int64_t rowSize = 1;
  while (rowDim > 0) {
    rowSize *= box[--rowDim].size();
    if (box[rowDim].size() != shape[rowDim])
      break;
  }
  std::vector<int64_t> strides = getStrides(shape), index;
  int64_t offset = 0;
  for (size_t dim = 0; dim < box.size(); ++dim) {
    index.push_back(box[dim].lo);
    offset += box[dim].lo * strides[dim];
  }
  for (;;) {
    visit(offset, rowSize);
    size_t dim = rowDim;
    for (; dim > 0; --dim) {
      offset += strides[dim - 1];
      if (++index[dim - 1] < box[dim - 1].hi)
        break;
      offset -= strides[dim - 1] * box[dim - 1].size();
      index[dim - 1] = box[dim - 1].lo;
    }
    if (dim == 0)
      return;
  }
}

OrFailure<HostTensor> HostTensor::slice(const host::Box &box) const {
  std::vector<int64_t> sizes;
  for (host::Interval interval : box)
    sizes.push_back(interval.size());
  OrFailure<HostTensor> part = create(getType(), sizes);
  if (!part)
    return part;
  int64_t bytes = getElementBytes(getType());
  char *to = part->getData();
  forEachRow(getShape(), box, [&](int64_t offset, int64_t size) {
    std::memcpy(to, getData() + offset * bytes, size * bytes);
    to += size * bytes;
  });
  return part;
}

OrFailure<HostTensor> HostTensor::widen() const {
  int64_t parts = getNumParts(getType());
  OrFailure<HostTensor> wide = create(!isFloat(getType()) ? getType()
                                      : parts > 1         ? TOFU_COMPLEX_F64
                                                          : TOFU_F64,
                                      getShape());
  if (!wide)
    return wide;
  if (wide->getType() == getType()) {
    std::memcpy(wide->getData(), getData(), getNumBytes());
    return wide;
  }
  for (int64_t i = 0; i < numElements; ++i)
    for (int64_t part = 0; part < parts; ++part)
      wide->setFloat(i, getFloat(i, part), part);
  return wide;
}

void HostTensor::insert(const host::Box &box, const HostTensor &part) {
  int64_t bytes = getElementBytes(getType());
  const char *from = part.getData();
  forEachRow(getShape(), box, [&](int64_t offset, int64_t size) {
    std::memcpy(getData() + offset * bytes, from, size * bytes);
    from += size * bytes;
  });
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

Tolerance Tolerance::getDefault(TofuElementType type) {
  if (!isFloat(type))
    return {};
  bool isShort = type == TOFU_F16 || type == TOFU_BF16;
  return {isShort ? 1e-2 : 1e-4, 1e-5};
}

/// |got - expected|, infinite where that is no number; 0 for equal ones.
static double distance(double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected)))
    return 0;
  double distance = std::fabs(got - expected);
  return std::isnan(distance) ? INFINITY : distance;
}

/// The number that a relative tolerance refers to. Parts that are not finite
/// have no tolerance, and give the other part none.
static double getMagnitude(const HostTensor &tensor, int64_t i) {
  double magnitude = 0;
  for (int64_t part = 0; part < getNumParts(tensor.getType()); ++part)
    if (double value = tensor.getFloat(i, part); std::isfinite(value))
      magnitude = std::max(magnitude, std::fabs(value));
  return magnitude;
}

/// The largest distance between the parts of two elements.
static double distance(const HostTensor &got, const HostTensor &expected,
                       int64_t i) {
  double largest = 0;
  for (int64_t part = 0; part < getNumParts(got.getType()); ++part)
    largest = std::max(
        largest, distance(got.getFloat(i, part), expected.getFloat(i, part)));
  return largest;
}

static bool isWithin(double off, double most) {
  return off == 0 || (std::isfinite(off) && off <= most);
}

std::optional<Rounding> Rounding::find(const HostTensor &rounded,
                                       const HostTensor &exact,
                                       Tolerance tolerance) {
  if (!isFloat(rounded.getType()))
    return std::nullopt;
  Rounding rounding{&exact};
  double magnitude = 0;
  for (int64_t i = 0; i < rounded.getNumElements(); ++i) {
    magnitude = std::max(magnitude, getMagnitude(exact, i));
    // What overflows in short floats alone says nothing about the others.
    if (double off = distance(rounded, exact, i); std::isfinite(off))
      rounding.error = std::max(rounding.error, off);
  }
  if (rounding.error > 10 * tolerance.relative * magnitude)
    return std::nullopt;
  return rounding;
}

Difference mlir::tofu::compare(const HostTensor &got,
                               const HostTensor &expected, Tolerance tolerance,
                               const Rounding *rounding) {
  Difference result;
  // As doubles, large integers that differ may look alike.
  bool isExact =
      !isFloat(got.getType()) && !tolerance.relative && !tolerance.absolute;
  auto getMost = [&](const HostTensor &reference, int64_t i) {
    return tolerance.absolute + tolerance.relative * getMagnitude(reference, i);
  };
  auto isRounded = [&](int64_t i) {
    const HostTensor &exact = *rounding->exact;
    return isWithin(distance(got, exact, i),
                    getMost(exact, i) + 2 * rounding->error);
  };
  for (int64_t i = 0; i < got.getNumElements(); ++i) {
    double off = distance(got, expected, i);
    result.largest = std::max(result.largest, off);
    bool isGood = isExact ? got.getInteger(i) == expected.getInteger(i)
                          : isWithin(off, getMost(expected, i));
    if (isGood || (rounding && isRounded(i)))
      continue;
    if (result.numDifferent++ == 0)
      result.first = i;
  }
  return result;
}
