//===- Geometry.cpp - Boxes of values of any size -------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/Geometry.h"

#include "Tofu/Runtime/Runtime.h"

#include <algorithm>

using namespace mlir::tofu;
using namespace mlir::tofu::host;

static bool isUnknown(int64_t size) {
  return size == TOFU_UNKNOWN || size == TOFU_COVERING;
}

Geometry::Geometry(const int64_t *words, const int64_t *sizes) : next(words) {
  int64_t rank = *next++, numAxes = *next++;
  axisSizes.assign(next, next + numAxes);
  next += numAxes;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = *next++;
    shape.push_back(size == TOFU_UNKNOWN ? *sizes++ : size);
  }
}

int64_t Geometry::numDevices() const {
  int64_t product = 1;
  for (int64_t size : axisSizes)
    product *= size;
  return product;
}

void Geometry::readPlacement() {
  dims.assign(*next++, Dim());
  for (Dim &dim : dims) {
    dim.size = *next++;
    int64_t numAxes = *next++;
    dim.axes.assign(next, next + numAxes);
    next += numAxes;
  }
  indices.assign(shape.size(), Index());
  for (Index &index : indices) {
    int64_t numTerms = *next++;
    index.isWhole = numTerms == TOFU_UNKNOWN;
    index.constant = *next++;
    for (int64_t i = 0; i < numTerms; ++i, next += 2)
      index.terms.push_back({next[0], next[1]});
  }
  // Filled only now: each by indices whose other dims were known before.
  std::vector<int64_t> sizes;
  for (size_t dim = 0; dim < dims.size(); ++dim)
    sizes.push_back(isUnknown(dims[dim].size) ? fill(dim) : dims[dim].size);
  for (size_t dim = 0; dim < dims.size(); ++dim)
    dims[dim].size = sizes[dim];
}

/// The size of a dim that fills or covers the value: that of the first index of
/// it, and of no other dim that is still unknown, that is as large as the value
/// allows with the other dims at their largest, or at their smallest.
int64_t Geometry::fill(size_t dim) const {
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t last = shape[i] - 1 - indices[i].constant, coefficient = 0;
    bool othersKnown = true;
    for (Term term : indices[i].terms) {
      if (term.dim == static_cast<int64_t>(dim))
        coefficient = term.coefficient;
      else if (isUnknown(dims[term.dim].size))
        othersKnown = false;
      else if (term.coefficient > 0 && dims[dim].size != TOFU_COVERING)
        last -= term.coefficient * (dims[term.dim].size - 1);
    }
    if (coefficient > 0 && othersKnown)
      return last < 0 ? 0 : last / coefficient + 1;
  }
  return 0;
}

/// Coordinates are row-major, last axis fastest.
std::vector<int64_t> Geometry::getCoordinates(int64_t device) const {
  std::vector<int64_t> coordinates(axisSizes.size());
  for (size_t axis = axisSizes.size(); axis-- > 0;) {
    coordinates[axis] = device % axisSizes[axis];
    device /= axisSizes[axis];
  }
  return coordinates;
}

Interval Geometry::cut(const Dim &dim, int64_t device) const {
  std::vector<int64_t> coordinates = getCoordinates(device);
  Box part = {{0, dim.size}};
  for (int64_t axis : dim.axes)
    part = balancedPart(part, 0, axisSizes[axis], coordinates[axis]);
  return part[0];
}

Interval Geometry::image(const Index &index, const std::vector<Interval> &parts,
                         int64_t size) const {
  if (index.isWhole)
    return {0, size};
  int64_t lo = index.constant, last = index.constant;
  for (Term term : index.terms) {
    Interval part = parts[term.dim];
    if (part.size() == 0) {
      int64_t at = std::clamp<int64_t>(
          index.constant + term.coefficient * part.lo, 0, size);
      return {at, at};
    }
    int64_t first = term.coefficient * part.lo;
    int64_t end = term.coefficient * (part.hi - 1);
    lo += std::min(first, end);
    last += std::max(first, end);
  }
  lo = std::clamp<int64_t>(lo, 0, size);
  return {lo, std::clamp<int64_t>(last + 1, lo, size)};
}

Box Geometry::getBox(int64_t device) const {
  std::vector<Interval> parts;
  for (const Dim &dim : dims)
    parts.push_back(cut(dim, device));
  Box box;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    box.push_back(image(indices[dim], parts, shape[dim]));
  return box;
}

int64_t
Geometry::addParts(size_t dim,
                   const std::vector<std::vector<int64_t>> &parts) const {
  std::vector<bool> cuts(axisSizes.size());
  for (Term term : indices[dim].terms)
    for (int64_t axis : dims[term.dim].axes)
      cuts[axis] = true;
  // One device of each coordinate along the axes that cut the dim.
  int64_t sum = 0;
  for (int64_t device = 0; device < numDevices(); ++device) {
    std::vector<int64_t> coordinates = getCoordinates(device);
    bool isFirst = true;
    for (size_t axis = 0; axis < coordinates.size(); ++axis)
      isFirst &= cuts[axis] || coordinates[axis] == 0;
    if (isFirst)
      sum += parts[device][dim];
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Words from outside
//===----------------------------------------------------------------------===//

namespace {

/// Takes words as long as they are in the bounds that they have.
class Reader {
public:
  explicit Reader(const std::vector<int64_t> &words)
      : next(words.data()), end(next + words.size()) {}

  /// The next word, which must be in [least, most].
  int64_t take(int64_t least, int64_t most) {
    isGood = isGood && next != end && *next >= least && *next <= most;
    return isGood ? *next++ : 0;
  }
  bool isDone() const { return isGood && next == end; }
  explicit operator bool() const { return isGood; }

private:
  const int64_t *next, *end;
  bool isGood = true;
};

} // namespace

/// Bounds with which no sum of products overflows.
static constexpr int64_t kMostSize = int64_t(1) << 40,
                         kMostCoefficient = 1 << 16, kMostDims = 64;

static void checkAxes(Reader &reader, int64_t numAxes) {
  std::vector<bool> seen(numAxes);
  int64_t count = reader.take(0, numAxes);
  for (int64_t i = 0; i < count && reader; ++i) {
    size_t axis = reader.take(0, numAxes - 1);
    // An axis cuts a dim once at most.
    if (seen[axis])
      reader.take(1, 0);
    seen[axis] = true;
  }
}

static void checkPlacement(Reader &reader, int64_t rank, int64_t numAxes) {
  int64_t numDims = reader.take(0, kMostDims);
  for (int64_t dim = 0; dim < numDims && reader; ++dim) {
    reader.take(TOFU_COVERING, kMostSize);
    checkAxes(reader, numAxes);
  }
  for (int64_t i = 0; i < rank && reader; ++i) {
    int64_t numTerms = reader.take(TOFU_UNKNOWN, kMostDims);
    reader.take(-kMostSize, kMostSize);
    for (int64_t term = 0; term < numTerms && reader; ++term) {
      reader.take(0, numDims - 1);
      reader.take(-kMostCoefficient, kMostCoefficient);
    }
  }
}

bool Geometry::isValid(const std::vector<int64_t> &words,
                       const std::vector<int64_t> &shape, int64_t numDevices) {
  Reader reader(words);
  int64_t rank = shape.size();
  reader.take(rank, rank);
  int64_t numAxes = reader.take(0, kMostDims), devices = 1;
  for (int64_t axis = 0; axis < numAxes && reader; ++axis) {
    int64_t size = reader.take(1, kMostSize);
    if (!reader || __builtin_mul_overflow(devices, size, &devices))
      return false;
  }
  for (int64_t size : shape)
    reader.take(size < 0 ? TOFU_UNKNOWN : size, size < 0 ? TOFU_UNKNOWN : size);
  if (!reader || devices != numDevices)
    return false;
  checkPlacement(reader, rank, numAxes);
  return reader.isDone();
}
