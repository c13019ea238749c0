//===- ConvolutionMatch.cpp - What is a convolution -----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only the loops' strides tell. In x, loops of different dims of a tensor nest:
// all steps of one are shorter than one step of the other. Where a window's
// loop and a position's don't, they slide along the same dim.
//
//===----------------------------------------------------------------------===//

#include "ConvolutionMatch.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

using namespace mlir::tofu;
using namespace mlir::tofu::cuda;
using host::Contraction;
using host::ContractionLoop;
using host::ContractionLoops;
using host::kA;
using host::kB;
using host::kC;
using host::Operand;
using host::orderAndJoin;

/// A dim that is not there.
static constexpr ContractionLoop kUnit = {1, {0, 0, 0}};

int64_t ConvolutionTensor::volume() const {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

namespace {

/// A loop over y and one over w that step along the same dim of x.
struct SpatialDim {
  ContractionLoop position, tap;

  int64_t pitch() const {
    return std::gcd(position.strides[kA], tap.strides[kA]);
  }
  int64_t stride() const {
    return std::max<int64_t>(position.strides[kA] / pitch(), 1);
  }
  int64_t dilation() const {
    return std::max<int64_t>(tap.strides[kA] / pitch(), 1);
  }
  int64_t extent() const {
    return stride() * (position.size - 1) + dilation() * (tap.size - 1) + 1;
  }
};

/// Takes A for x.
class Matcher {
public:
  Matcher(const Contraction &contraction, bool isFilterGradient)
      : contraction(contraction), isFilterGradient(isFilterGradient),
        w(isFilterGradient ? kC : kB), y(isFilterGradient ? kB : kC) {}

  std::optional<Convolution> match();

private:
  bool takeLoops();
  bool pairOverlapping();
  bool areChannels() const;
  bool areNeighbors(const ContractionLoop &outer,
                    const ContractionLoop &inner) const;
  void pairNested();
  bool takeGroups();
  bool takeChannels();
  bool takesEpilogue() const;
  ConvolutionTensor makeTensor(Operand operand, int64_t outer,
                               int64_t outerStride, int64_t inner,
                               int64_t innerStride) const;
  std::optional<Convolution> makeConvolution() const;

  const Contraction &contraction;
  const bool isFilterGradient;
  const Operand w, y;
  /// Loops over x and y, over x and w, over w and y, and over all three.
  ContractionLoops positions, taps, filters, groups;
  std::vector<SpatialDim> dims;
  ContractionLoop image = kUnit, channel = kUnit, filter = kUnit, group = kUnit;
  bool isProduct = false;
};

} // namespace

/// True if all loops step forward in both operands.
static bool goForward(const ContractionLoops &loops, Operand a, Operand b) {
  return std::all_of(loops.begin(), loops.end(), [&](auto &loop) {
    return loop.strides[a] > 0 && loop.strides[b] > 0;
  });
}

/// Loops by what they index. A batch dim along which an input is repeated is
/// none of that input.
bool Matcher::takeLoops() {
  positions = isFilterGradient ? contraction.inner : contraction.rows;
  taps = isFilterGradient ? contraction.rows : contraction.inner;
  filters = contraction.columns;
  for (const ContractionLoop &loop : contraction.batch) {
    bool isRow = loop.strides[kB] == 0, isColumn = loop.strides[kA] == 0;
    (isRow      ? (isFilterGradient ? taps : positions)
     : isColumn ? filters
                : groups)
        .push_back(loop);
  }
  return goForward(positions, kA, y) && goForward(taps, kA, w) &&
         goForward(filters, w, y) && goForward(groups, kA, w) &&
         goForward(groups, kA, y);
}

/// False if filters or groups are more than one dim.
bool Matcher::takeGroups() {
  for (ContractionLoops *loops : {&filters, &groups})
    orderAndJoin(*loops, w);
  if (filters.size() > 1 || groups.size() > 1)
    return false;
  if (!filters.empty())
    filter = filters.front();
  if (!groups.empty())
    group = groups.front();
  return true;
}

/// True if neither loop's steps all fit into one step of the other one.
static bool overlap(const ContractionLoop &a, const ContractionLoop &b) {
  return a.strides[kA] * (a.size - 1) >= b.strides[kA] &&
         b.strides[kA] * (b.size - 1) >= a.strides[kA];
}

/// Pairs what slides along the same dim. False if a loop overlaps with several:
/// it steps along more than one dim.
bool Matcher::pairOverlapping() {
  ContractionLoops otherPositions;
  for (const ContractionLoop &position : positions) {
    auto overlaps = [&](const ContractionLoop &tap) {
      return overlap(position, tap);
    };
    auto found = std::find_if(taps.begin(), taps.end(), overlaps);
    if (found == taps.end()) {
      otherPositions.push_back(position);
      continue;
    }
    if (std::find_if(found + 1, taps.end(), overlaps) != taps.end())
      return false;
    dims.push_back({position, *found});
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    for (size_t j = 0; j < i; ++j)
      if (dims[i].tap.strides[kA] == dims[j].tap.strides[kA])
        return false;
    taps.erase(std::find_if(taps.begin(), taps.end(), [&](auto &tap) {
      return tap.strides[kA] == dims[i].tap.strides[kA];
    }));
  }
  positions = std::move(otherPositions);
  return true;
}

/// The stride of groups with parts, as one dim; nothing if they are not one.
static std::optional<int64_t> joinGroups(const ContractionLoop &group,
                                         const ContractionLoop &part,
                                         Operand operand) {
  if (group.size == 1 || part.size == 1)
    return (group.size == 1 ? part : group).strides[operand];
  return host::joinedStride({group, part}, operand);
}

static bool isOneLoop(ContractionLoops loops) {
  orderAndJoin(loops, kA);
  return loops.size() <= 1;
}

/// True if the taps that are left are one dim of channels, in each group.
bool Matcher::areChannels() const {
  ContractionLoops joined = taps;
  orderAndJoin(joined, kA);
  return joined.empty() ||
         (joined.size() == 1 && joinGroups(group, joined.front(), kA));
}

/// True if nothing else steps along x by less than `outer` and more than
/// `inner`.
bool Matcher::areNeighbors(const ContractionLoop &outer,
                           const ContractionLoop &inner) const {
  auto isBetween = [&](int64_t stride) {
    return inner.strides[kA] < stride && stride < outer.strides[kA];
  };
  auto isLoopBetween = [&](const ContractionLoop &loop) {
    return isBetween(loop.strides[kA]);
  };
  return !isLoopBetween(group) &&
         std::none_of(positions.begin(), positions.end(), isLoopBetween) &&
         std::none_of(taps.begin(), taps.end(), isLoopBetween) &&
         std::none_of(dims.begin(), dims.end(), [&](const SpatialDim &dim) {
           return isBetween(dim.pitch());
         });
}

/// Windows that don't overlap nest in what a position steps over. They are
/// looked for only where images or channels are no single dim otherwise.
void Matcher::pairNested() {
  std::sort(positions.begin(), positions.end(),
            [](auto &a, auto &b) { return a.strides[kA] < b.strides[kA]; });
  std::sort(taps.begin(), taps.end(),
            [](auto &a, auto &b) { return a.strides[kA] > b.strides[kA]; });
  for (auto position = positions.begin(); position != positions.end();) {
    bool isEnough = taps.size() <= 1 || isOneLoop(positions);
    if (positions.size() <= 1 || (areChannels() && isEnough))
      return;
    auto tap = std::find_if(taps.begin(), taps.end(), [&](auto &tap) {
      return tap.strides[kA] * (tap.size - 1) < position->strides[kA] &&
             areNeighbors(*position, tap);
    });
    if (tap == taps.end()) {
      ++position;
      continue;
    }
    dims.push_back({*position, *tap});
    taps.erase(tap);
    position = positions.erase(position);
  }
}

/// Moves a loop out of a list, to be a dim of its own; no loop if it is the
/// end.
static ContractionLoop take(ContractionLoops &loops,
                            ContractionLoops::iterator loop) {
  if (loop == loops.end())
    return kUnit;
  ContractionLoop taken = *loop;
  loops.erase(loop);
  return taken;
}

/// What is no dim of images and channels is a spatial dim: with a filter of 1,
/// or a result of 1. False if there are too many.
bool Matcher::takeChannels() {
  for (ContractionLoops *loops : {&positions, &taps})
    orderAndJoin(*loops, kA);
  image = take(positions, positions.begin());
  // Channels come last in memory, or before the spatial dims.
  auto areChannels = [&](const ContractionLoop &tap) {
    return joinGroups(group, tap, kA).has_value();
  };
  bool isLast =
      !taps.empty() && taps.back().strides[kA] == 1 && areChannels(taps.back());
  channel =
      take(taps, isLast ? taps.end() - 1
                        : std::find_if(taps.begin(), taps.end(), areChannels));
  for (const ContractionLoop &position : positions)
    dims.push_back({position, kUnit});
  for (const ContractionLoop &tap : taps)
    dims.push_back({kUnit, tap});
  // A product of matrices is none of single pixels, but for what comes after
  // it.
  isProduct = dims.empty() && image.size > 1 && contraction.hasEpilogue();
  if (isProduct)
    dims.push_back({std::exchange(image, kUnit), kUnit});
  std::sort(dims.begin(), dims.end(),
            [](auto &a, auto &b) { return a.pitch() > b.pitch(); });
  return !dims.empty() && dims.size() <= kMaxSpatialDims;
}

/// True if no two elements share memory.
static bool isInjective(const ConvolutionTensor &tensor) {
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (size_t i = 0; i < tensor.sizes.size(); ++i)
    if (tensor.sizes[i] != 1)
      dims.push_back({tensor.strides[i], tensor.sizes[i]});
  std::sort(dims.begin(), dims.end());
  int64_t last = 0;
  for (auto [stride, size] : dims) {
    if (stride <= last)
      return false;
    last += stride * (size - 1);
  }
  return true;
}

/// The tensor whose first two dims are given; spatial dims are added.
ConvolutionTensor Matcher::makeTensor(Operand operand, int64_t outer,
                                      int64_t outerStride, int64_t inner,
                                      int64_t innerStride) const {
  ConvolutionTensor tensor = {
      operand, {outer, inner}, {outerStride, innerStride}};
  for (size_t i = dims.size(); i < 2; ++i) {
    tensor.sizes.push_back(1);
    tensor.strides.push_back(0);
  }
  for (const SpatialDim &dim : dims) {
    bool isX = operand == kA;
    const ContractionLoop &loop = operand == y ? dim.position : dim.tap;
    tensor.sizes.push_back(isX ? dim.extent() : loop.size);
    tensor.strides.push_back(isX ? dim.pitch() : loop.strides[operand]);
  }
  return tensor;
}

bool Matcher::takesEpilogue() const {
  if (isFilterGradient || !contraction.bias)
    return !isFilterGradient;
  bool isConstant = image.strides[host::kBias] == 0 &&
                    std::all_of(dims.begin(), dims.end(), [](auto &dim) {
                      return dim.position.strides[host::kBias] == 0;
                    });
  bool isOne = group.size * filter.size == 1;
  return isConstant && (isOne || joinGroups(group, filter, host::kBias) == 1);
}

std::optional<Convolution> Matcher::makeConvolution() const {
  std::optional<int64_t> ofX = joinGroups(group, channel, kA),
                         ofW = joinGroups(group, filter, w),
                         ofY = joinGroups(group, filter, y);
  if (!ofX || !ofW || !ofY)
    return std::nullopt;
  int64_t numFilters = group.size * filter.size;
  Convolution result = {
      isFilterGradient,
      takesEpilogue(),
      isProduct,
      makeTensor(kA, image.size, image.strides[kA], group.size * channel.size,
                 *ofX),
      makeTensor(w, numFilters, *ofW, channel.size, channel.strides[w]),
      makeTensor(y, image.size, image.strides[y], numFilters, *ofY),
      {},
      {}};
  size_t missing = result.x.sizes.size() - 2 - dims.size();
  result.stride.assign(missing, 1);
  result.dilation.assign(missing, 1);
  for (const SpatialDim &dim : dims) {
    result.stride.push_back(dim.stride());
    result.dilation.push_back(dim.dilation());
  }
  if (!isInjective(result.x) || !isInjective(result.w) ||
      !isInjective(result.y))
    return std::nullopt;
  return result;
}

std::optional<Convolution> Matcher::match() {
  if (!takeLoops() || !takeGroups() || !pairOverlapping())
    return std::nullopt;
  pairNested();
  return takeChannels() ? makeConvolution() : std::nullopt;
}

/// True if x is one image after the other.
static bool hasImagesOutside(const ConvolutionTensor &x) {
  return x.sizes[0] == 1 ||
         x.strides[0] == *std::max_element(x.strides.begin(), x.strides.end());
}

/// How well a library will do with it: better with windows along more dims,
/// then with images as they use to be, and then with filters that are smaller
/// than what they make. Every convolution can be seen the other way around: the
/// filter's gradient is one with very large windows, where images are channels.
static std::array<int64_t, 3> getRank(const Convolution &convolution) {
  const std::vector<int64_t> &w = convolution.w.sizes, &y = convolution.y.sizes;
  int64_t windows = 0, ofW = 1, ofY = 1;
  for (size_t dim = 2; dim < w.size(); ++dim) {
    windows += w[dim] > 1 && y[dim] > 1;
    ofW *= w[dim];
    ofY *= y[dim];
  }
  return {windows, hasImagesOutside(convolution.x), ofW <= ofY};
}

std::vector<Convolution>
cuda::matchConvolutions(const Contraction &contraction) {
  std::vector<Convolution> found;
  for (bool isTransposed : {false, true}) {
    Contraction turned = isTransposed ? contraction.transposed() : contraction;
    for (bool isFilterGradient : {false, true}) {
      std::optional<Convolution> match =
          Matcher(turned, isFilterGradient).match();
      if (!match)
        continue;
      for (ConvolutionTensor *tensor : {&match->x, &match->w, &match->y})
        if (isTransposed && tensor->operand != kC)
          tensor->operand = tensor->operand == kA ? kB : kA;
      found.push_back(std::move(*match));
    }
  }
  host::sortFew(found.begin(), found.end(),
                [](auto &a, auto &b) { return getRank(a) > getRank(b); });
  return found;
}
