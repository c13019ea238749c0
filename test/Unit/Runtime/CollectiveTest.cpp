//===- CollectiveTest.cpp - Tests of the host backend's collectives -------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random collectives against a model that looks at one element at a time.
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "TestWorld.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

using namespace mlir::tofu::test;

namespace {

struct Interval {
  int64_t lo, hi;
};
using Box = std::vector<Interval>;
using Index = std::vector<int64_t>;

std::vector<int64_t> sizesOf(const Box &box) {
  std::vector<int64_t> sizes;
  for (Interval interval : box)
    sizes.push_back(std::max<int64_t>(interval.hi - interval.lo, 0));
  return sizes;
}

bool holds(const Box &box, const Index &index) {
  for (size_t dim = 0; dim < box.size(); ++dim)
    if (index[dim] < box[dim].lo || index[dim] >= box[dim].hi)
      return false;
  return true;
}

Interval balanced(Interval whole, int64_t parts, int64_t index) {
  int64_t size = whole.hi - whole.lo, rest = size % parts;
  int64_t lo = whole.lo + index * (size / parts) + std::min(index, rest);
  return {lo, lo + size / parts + (index < rest ? 1 : 0)};
}

/// A collective of k devices.
struct Case {
  int64_t kind = TOFU_FETCH, combiner = TOFU_COMBINE_NONE, type = TOFU_F32;
  int64_t groupSize = 1;
  std::vector<int64_t> shape, groups;
  std::vector<Box> from, to;

  int64_t devices() const { return from.size(); }

  /// Which of its group's addends a device holds.
  int64_t position(int64_t device) const {
    return std::count(groups.begin(), groups.begin() + device, groups[device]);
  }

  std::vector<int64_t> table() const {
    std::vector<int64_t> words = {TOFU_TABLE_VERSION,
                                  kind,
                                  combiner,
                                  type,
                                  static_cast<int64_t>(shape.size()),
                                  devices(),
                                  groupSize,
                                  1};
    // One family, in which a group has one of each addend; one slot.
    words.insert(words.end(), devices(), 0);
    for (int64_t device = 0; device < devices(); ++device)
      words.push_back(groupSize > 1 ? position(device) : 0);
    words.insert(words.end(), devices(), 0);
    for (const std::vector<Box> *boxes : {&from, &to})
      for (const Box &box : *boxes)
        for (Interval interval : box) {
          words.push_back(interval.lo);
          words.push_back(interval.hi);
        }
    return words;
  }
};

double combine(int64_t combiner, double a, double b) {
  switch (combiner) {
  case TOFU_COMBINE_PROD:
    return a * b;
  case TOFU_COMBINE_MIN:
  case TOFU_COMBINE_MINNUM:
    return std::min(a, b);
  case TOFU_COMBINE_MAX:
  case TOFU_COMBINE_MAXNUM:
    return std::max(a, b);
  case TOFU_COMBINE_AND:
    return static_cast<int64_t>(a) & static_cast<int64_t>(b);
  case TOFU_COMBINE_OR:
    return static_cast<int64_t>(a) | static_cast<int64_t>(b);
  case TOFU_COMBINE_XOR:
    return static_cast<int64_t>(a) ^ static_cast<int64_t>(b);
  // The values here are not negative.
  case TOFU_COMBINE_MINUI:
    return std::min(a, b);
  case TOFU_COMBINE_MAXUI:
    return std::max(a, b);
  default:
    return a + b;
  }
}

/// What device `device` of a group's `position` holds at an index: small
/// integers, of which sums and products are exact in all types. The same for
/// replicas.
double valueAt(const Case &c, int64_t position, const Index &index) {
  int64_t hash = 7 * position + 3;
  for (int64_t i : index)
    hash = hash * 31 + i;
  if (c.type == TOFU_I1)
    return hash % 2;
  return c.combiner == TOFU_COMBINE_PROD ? 1 + hash % 2 : hash % 5;
}

/// What a device must end with at an index.
double expectedAt(const Case &c, const Index &index) {
  double value = valueAt(c, 0, index);
  for (int64_t position = 1; position < c.groupSize; ++position) {
    double next = valueAt(c, position, index);
    // In one bit, sums wrap and 1 is the number -1.
    if (c.type == TOFU_I1 && c.combiner == TOFU_COMBINE_SUM)
      value = static_cast<int>(value + next) % 2;
    else if (c.type == TOFU_I1 &&
             (c.combiner == TOFU_COMBINE_MIN || c.combiner == TOFU_COMBINE_MAX))
      value = -combine(c.combiner, -value, -next);
    else
      value = combine(c.combiner, value, next);
  }
  return value;
}

/// Bytes that must be counted, summed over the devices.
int64_t expectedBytes(const Case &c) {
  int64_t elements = 0;
  for (int64_t device = 0; device < c.devices(); ++device) {
    if (c.kind == TOFU_ALL_REDUCE || c.kind == TOFU_REDUCE_SCATTER) {
      // Of each element p - 1 addends come to one device, which sends the sum
      // to the others that need it: (p - 2) + 1 for each of these. Groups that
      // hold the same have one such device in all.
      forEachIndex(sizesOf(c.to[device]), [&](const Index &index) {
        Index global = index;
        for (size_t dim = 0; dim < index.size(); ++dim)
          global[dim] += c.to[device][dim].lo;
        bool isFirst =
            std::none_of(c.to.begin(), c.to.begin() + device,
                         [&](const Box &box) { return holds(box, global); });
        elements += 1 + (isFirst ? c.groupSize - 2 : 0);
      });
    } else {
      forEachIndex(sizesOf(c.to[device]), [&](Index index) {
        for (size_t dim = 0; dim < index.size(); ++dim)
          index[dim] += c.to[device][dim].lo;
        elements += !holds(c.from[device], index);
      });
    }
  }
  return elements * bytesOf(c.type);
}

/// The combiners that a type has.
std::vector<int64_t> combinersOf(int64_t type) {
  std::vector<int64_t> combiners = {TOFU_COMBINE_SUM, TOFU_COMBINE_PROD};
  if (isComplexType(type))
    return combiners;
  combiners.insert(combiners.end(), {TOFU_COMBINE_MIN, TOFU_COMBINE_MAX});
  for (int64_t combiner = TOFU_COMBINE_AND; combiner < TOFU_NUM_COMBINERS;
       ++combiner) {
    bool forFloats =
        combiner == TOFU_COMBINE_MINNUM || combiner == TOFU_COMBINE_MAXNUM;
    if (forFloats == isFloatType(type))
      combiners.push_back(combiner);
  }
  return combiners;
}

//===----------------------------------------------------------------------===//
// Random cases
//===----------------------------------------------------------------------===//

class CaseMaker {
public:
  explicit CaseMaker(unsigned seed) : random(seed) {}

  Case make(int64_t devices);
  TestMemref memref(const Box &box, int64_t type);
  int64_t below(int64_t end) {
    return std::uniform_int_distribution<int64_t>(0, end - 1)(random);
  }

private:
  Box whole(const Case &c) const;
  Box cutOver(const Case &c, Box box, int64_t parts, int64_t index, size_t dim);
  void makePartials(Case &c);
  void makeMoves(Case &c);
  Box randomBox(const Case &c);

  std::mt19937 random;
};

Box CaseMaker::whole(const Case &c) const {
  Box box;
  for (int64_t size : c.shape)
    box.push_back({0, size});
  return box;
}

Box CaseMaker::cutOver(const Case &c, Box box, int64_t parts, int64_t index,
                       size_t dim) {
  if (!box.empty())
    box[dim] = balanced(box[dim], parts, index);
  return box;
}

Box CaseMaker::randomBox(const Case &c) {
  Box box;
  for (int64_t size : c.shape) {
    int64_t lo = below(size + 1);
    box.push_back({lo, lo + below(size - lo + 1)});
  }
  return box;
}

/// A mesh of q x p devices: cut or replicated over q, partial over p.
void CaseMaker::makePartials(Case &c) {
  int64_t k = c.groups.size();
  std::vector<int64_t> divisors;
  for (int64_t p = 2; p <= k; ++p)
    if (k % p == 0)
      divisors.push_back(p);
  c.groupSize = divisors[below(divisors.size())];
  bool partialIsOuter = below(2), cuts = below(2) && !c.shape.empty();
  bool scatters = below(2) && !c.shape.empty();
  size_t cutDim = cuts ? below(c.shape.size()) : 0;
  size_t scatterDim = scatters ? below(c.shape.size()) : 0;
  int64_t q = k / c.groupSize;
  c.kind = scatters ? TOFU_REDUCE_SCATTER : TOFU_ALL_REDUCE;
  for (int64_t device = 0; device < k; ++device) {
    int64_t group = partialIsOuter ? device % q : device / c.groupSize;
    int64_t position = partialIsOuter ? device / q : device % c.groupSize;
    c.groups[device] = group;
    Box box = cuts ? cutOver(c, whole(c), q, group, cutDim) : whole(c);
    c.from.push_back(box);
    c.to.push_back(scatters ? cutOver(c, box, c.groupSize, position, scatterDim)
                            : box);
  }
}

void CaseMaker::makeMoves(Case &c) {
  int64_t k = c.groups.size();
  size_t rank = c.shape.size();
  size_t fromDim = rank ? below(rank) : 0, toDim = rank ? below(rank) : 0;
  int64_t toForm = below(3);
  c.kind = toForm == 0   ? TOFU_ALL_GATHER
           : toForm == 1 ? TOFU_ALL_TO_ALL
                         : TOFU_FETCH;
  bool replicated = below(4) == 0;
  for (int64_t device = 0; device < k; ++device) {
    c.groups[device] = device;
    // Replicas: pairs of devices hold the same part.
    int64_t parts = replicated ? (k + 1) / 2 : k;
    c.from.push_back(cutOver(c, whole(c), parts, device % parts, fromDim));
    c.to.push_back(toForm == 0   ? whole(c)
                   : toForm == 1 ? cutOver(c, whole(c), k, device, toDim)
                                 : randomBox(c));
  }
}

Case CaseMaker::make(int64_t devices) {
  Case c;
  c.type = below(TOFU_NUM_ELEMENT_TYPES);
  c.groups.resize(devices);
  for (int64_t rank = below(4); rank > 0; --rank)
    c.shape.push_back(below(10) == 0 ? below(1000) % 200 : below(9));
  if (devices == 1 || below(2)) {
    makeMoves(c);
    return c;
  }
  std::vector<int64_t> combiners = combinersOf(c.type);
  c.combiner = combiners[below(combiners.size())];
  makePartials(c);
  return c;
}

TestMemref CaseMaker::memref(const Box &box, int64_t type) {
  std::vector<size_t> order(box.size());
  std::iota(order.begin(), order.end(), 0);
  if (below(3) == 0)
    std::shuffle(order.begin(), order.end(), random);
  return TestMemref(sizesOf(box), order, below(3) == 0 ? 3 : 0, bytesOf(type));
}

Index globalIndex(const Box &box, Index index) {
  for (size_t dim = 0; dim < index.size(); ++dim)
    index[dim] += box[dim].lo;
  return index;
}

/// Runs a case and compares each element of each device.
void check(const Case &c, CaseMaker &maker, TestWorld &world) {
  std::vector<TestMemref> sources, results;
  for (int64_t device = 0; device < c.devices(); ++device) {
    sources.push_back(maker.memref(c.from[device], c.type));
    results.push_back(maker.memref(c.to[device], c.type));
    forEachIndex(sources[device].sizes, [&](const Index &index) {
      store(c.type, sources[device].at(index, bytesOf(c.type)),
            valueAt(c, c.groupSize > 1 ? c.position(device) : 0,
                    globalIndex(c.from[device], index)));
    });
  }
  std::vector<int64_t> table = c.table();
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    tofuCollective(context, nullptr, table.data(), "here",
                   sources[device].rank(), sources[device].descriptor(),
                   results[device].rank(), results[device].descriptor());
  });
  ASSERT_EQ(status, TOFU_OK) << world.error();

  int64_t received = 0;
  for (int64_t device = 0; device < c.devices(); ++device) {
    int64_t wrong = 0;
    forEachIndex(results[device].sizes, [&](const Index &index) {
      double got = load(c.type, results[device].at(index, bytesOf(c.type)));
      wrong += got != expectedAt(c, globalIndex(c.to[device], index));
    });
    EXPECT_EQ(wrong, 0) << "device " << device;
    std::vector<TofuCollectiveStats> stats = world.collectives(device);
    ASSERT_EQ(stats.size(), 1u);
    EXPECT_EQ(stats[0].kind, c.kind);
    EXPECT_EQ(stats[0].calls, 1);
    received += stats[0].receivedBytes;
    world.backend->resetStats(world.context(device));
  }
  EXPECT_EQ(received, expectedBytes(c));
}

TEST(Collective, Random) {
  for (int64_t devices = 1; devices <= std::min<int64_t>(8, maxDevices);
       ++devices) {
    TestWorld world(devices);
    CaseMaker maker(devices);
    for (int i = 0; i < 250 && !testing::Test::HasFailure(); ++i) {
      Case c = maker.make(devices);
      SCOPED_TRACE(testing::Message()
                   << "case " << i << " of " << devices << " devices, kind "
                   << c.kind << ", combiner " << c.combiner << ", type "
                   << c.type);
      check(c, maker, world);
    }
  }
}

//===----------------------------------------------------------------------===//
// Particular cases
//===----------------------------------------------------------------------===//

Case allReduce(int64_t devices, int64_t combiner, int64_t type, int64_t size) {
  Case c;
  c.kind = TOFU_ALL_REDUCE;
  c.combiner = combiner;
  c.type = type;
  c.groupSize = devices;
  c.shape = {size};
  c.groups.assign(devices, 0);
  c.from.assign(devices, Box{{0, size}});
  c.to = c.from;
  return c;
}

/// All-reduces one float per device.
std::vector<float> allReduceFloats(int64_t combiner,
                                   std::vector<float> values) {
  Case c = allReduce(values.size(), combiner, TOFU_F32, 1);
  std::vector<int64_t> table = c.table();
  TestWorld world(values.size());
  std::vector<float> results(values.size());
  world.run([&](TofuContext *context, int64_t device) {
    void *src[5] = {&values[device], &values[device], nullptr, (void *)1,
                    (void *)1};
    void *dst[5] = {&results[device], &results[device], nullptr, (void *)1,
                    (void *)1};
    tofuCollective(context, nullptr, table.data(), "", 1, src, 1, dst);
  });
  EXPECT_EQ(world.error(), "");
  return results;
}

TEST(Collective, NaNAndSignedZero) {
  TOFU_NEEDS_DEVICES(3);
  float nan = NAN;
  for (float result : allReduceFloats(TOFU_COMBINE_MIN, {1, nan, 2}))
    EXPECT_TRUE(std::isnan(result));
  for (float result : allReduceFloats(TOFU_COMBINE_MAX, {nan, 1, 2}))
    EXPECT_TRUE(std::isnan(result));
  for (float result : allReduceFloats(TOFU_COMBINE_MINNUM, {3, nan, 2}))
    EXPECT_EQ(result, 2);
  for (float result : allReduceFloats(TOFU_COMBINE_MAXNUM, {nan, 1, nan}))
    EXPECT_EQ(result, 1);
  for (float result : allReduceFloats(TOFU_COMBINE_MAXNUM, {nan, nan}))
    EXPECT_TRUE(std::isnan(result));
  for (float result : allReduceFloats(TOFU_COMBINE_MIN, {0.0f, -0.0f}))
    EXPECT_TRUE(std::signbit(result));
  for (float result : allReduceFloats(TOFU_COMBINE_MAX, {-0.0f, 0.0f}))
    EXPECT_FALSE(std::signbit(result));
}

TEST(Collective, Complex) {
  TOFU_NEEDS_DEVICES(3);
  using Complex = std::complex<double>;
  std::map<int64_t, Complex> expected = {{TOFU_COMBINE_SUM, {6, -1}},
                                         {TOFU_COMBINE_PROD, {18, 1}}};
  for (auto [combiner, value] : expected) {
    std::vector<int64_t> table =
        allReduce(3, combiner, TOFU_COMPLEX_F64, 1).table();
    TestWorld world(3);
    Complex values[3] = {{1, 2}, {2, -1}, {3, -2}};
    world.run([&](TofuContext *context, int64_t device) {
      void *memref[5] = {&values[device], &values[device], nullptr, (void *)1,
                         (void *)1};
      tofuCollective(context, nullptr, table.data(), "", 1, memref, 1, memref);
    });
    EXPECT_EQ(world.error(), "");
    for (Complex result : values)
      EXPECT_EQ(result, value);
  }
}

TEST(Collective, ComplexHasNoMaximum) {
  std::vector<int64_t> table =
      allReduce(2, TOFU_COMBINE_MAX, TOFU_COMPLEX_F32, 1).table();
  TestWorld world(2);
  std::complex<float> values[2];
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    void *memref[5] = {&values[device], &values[device], nullptr, (void *)1,
                       (void *)1};
    tofuCollective(context, nullptr, table.data(), "", 1, memref, 1, memref);
  });
  EXPECT_EQ(status, TOFU_FAILED);
  EXPECT_NE(world.error().find("no combiner max for complex<f32>"),
            std::string::npos)
      << world.error();
}

TEST(Collective, CombinesInDeviceOrder) {
  TOFU_NEEDS_DEVICES(4);
  // Only from left to right do the ones get lost.
  for (float result : allReduceFloats(TOFU_COMBINE_SUM, {1e8f, 1, 1, -1e8f}))
    EXPECT_EQ(result, 0);
  for (float result : allReduceFloats(TOFU_COMBINE_SUM, {1, 1, 1e8f, -1e8f}))
    EXPECT_EQ(result, 0);
  for (float result : allReduceFloats(TOFU_COMBINE_SUM, {1e8f, -1e8f, 1, 1}))
    EXPECT_EQ(result, 2);
}

TEST(Collective, UnsignedAndSigned) {
  std::map<int64_t, int8_t> expected = {{TOFU_COMBINE_MIN, -1},
                                        {TOFU_COMBINE_MAX, 1},
                                        {TOFU_COMBINE_MINUI, 1},
                                        {TOFU_COMBINE_MAXUI, -1},
                                        {TOFU_COMBINE_SUM, 0}};
  for (auto [combiner, value] : expected) {
    std::vector<int64_t> table = allReduce(2, combiner, TOFU_I8, 1).table();
    TestWorld world(2);
    int8_t values[2] = {1, -1};
    world.run([&](TofuContext *context, int64_t device) {
      // In place.
      void *memref[5] = {&values[device], &values[device], nullptr, (void *)1,
                         (void *)1};
      tofuCollective(context, nullptr, table.data(), "", 1, memref, 1, memref);
    });
    EXPECT_EQ(values[0], value);
    EXPECT_EQ(values[1], value);
  }
}

TEST(Collective, LargeInPlaceAllReduce) {
  TOFU_NEEDS_DEVICES(4);
  constexpr int64_t kDevices = 4, kSize = 1 << 18;
  std::vector<int64_t> table =
      allReduce(kDevices, TOFU_COMBINE_SUM, TOFU_F32, kSize).table();
  std::vector<std::vector<float>> values(kDevices);
  for (int64_t device = 0; device < kDevices; ++device)
    for (int64_t i = 0; i < kSize; ++i)
      values[device].push_back(device * 1.25f + i % 1000 * 0.1f);
  std::vector<float> expected = values[0];
  for (int64_t device = 1; device < kDevices; ++device)
    for (int64_t i = 0; i < kSize; ++i)
      expected[i] += values[device][i];

  TestWorld world(kDevices);
  world.run([&](TofuContext *context, int64_t device) {
    void *data = values[device].data();
    void *memref[5] = {data, data, nullptr, (void *)kSize, (void *)1};
    tofuCollective(context, nullptr, table.data(), "", 1, memref, 1, memref);
  });
  for (int64_t device = 0; device < kDevices; ++device)
    EXPECT_TRUE(values[device] == expected) << device;
}

TEST(Collective, InPlaceAllReduceOfReplicas) {
  TOFU_NEEDS_DEVICES(6);
  // Three addends, on two groups of devices that share the work.
  constexpr int64_t kDevices = 6, kSize = 10007;
  Case c = allReduce(kDevices, TOFU_COMBINE_SUM, TOFU_I64, kSize);
  c.groupSize = 3;
  c.groups = {0, 0, 0, 1, 1, 1};
  std::vector<int64_t> table = c.table();
  std::vector<std::vector<int64_t>> values(kDevices);
  for (int64_t device = 0; device < kDevices; ++device)
    for (int64_t i = 0; i < kSize; ++i)
      values[device].push_back((device % 3 + 1) * i);
  TestWorld world(kDevices);
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    void *data = values[device].data();
    void *memref[5] = {data, data, nullptr, (void *)kSize, (void *)1};
    tofuCollective(context, nullptr, table.data(), "", 1, memref, 1, memref);
  });
  EXPECT_EQ(status, TOFU_OK) << world.error();
  int64_t received = 0;
  for (int64_t device = 0; device < kDevices; ++device) {
    int64_t wrong = 0;
    for (int64_t i = 0; i < kSize; ++i)
      wrong += values[device][i] != 6 * i;
    EXPECT_EQ(wrong, 0) << device;
    received += world.collectives(device)[0].receivedBytes;
  }
  // Two addends to one device, the sum to five others.
  EXPECT_EQ(received, (2 + 5) * kSize * 8);
}

TEST(Collective, FetchOfOverlappingAndEmptyBoxes) {
  TOFU_NEEDS_DEVICES(4);
  // The last device lacks the first half, the first one [4, 7); the others
  // hold, or need, nothing.
  Case c;
  c.type = TOFU_I32;
  c.shape = {8};
  c.groups = {0, 1, 2, 3};
  c.from = {{{0, 4}}, {{2, 6}}, {{3, 3}}, {{4, 8}}};
  c.to = {{{1, 7}}, {{8, 8}}, {{5, 2}}, {{0, 8}}};
  ASSERT_EQ(expectedBytes(c), 4 * (3 + 4));
  TestWorld world(4);
  CaseMaker maker(1);
  check(c, maker, world);
}

TEST(Collective, NeutralElements) {
  TOFU_NEEDS_DEVICES(3);
  // A value made partial on three devices, and combined again, is itself.
  constexpr int64_t kDevices = 3, kSize = 5;
  TestWorld world(kDevices);
  for (int64_t type = 0; type < TOFU_NUM_ELEMENT_TYPES; ++type)
    for (int64_t combiner : combinersOf(type)) {
      Case c = allReduce(kDevices, combiner, type, kSize);
      std::vector<int64_t> combines = c.table(), makes = combines;
      makes[TOFU_COLLECTIVE_KIND] = TOFU_FETCH;
      std::swap(makes[TOFU_COLLECTIVE_ADDENDS], makes[TOFU_COLLECTIVE_SLOTS]);
      // The devices' addends are to be their slots.
      auto *addends = makes.data() + TOFU_COLLECTIVE_HEADER + kDevices;
      std::swap_ranges(addends, addends + kDevices, addends + kDevices);

      TestMemref whole({kSize}, {0}, 0, bytesOf(type));
      for (int64_t i = 0; i < kSize; ++i)
        store(type, whole.at({i}, bytesOf(type)),
              type == TOFU_I1 ? i % 2 : double(i - 2));
      std::vector<TestMemref> partials, results;
      for (auto *memrefs : {&partials, &results})
        for (int64_t device = 0; device < kDevices; ++device)
          memrefs->emplace_back(std::vector<int64_t>{kSize},
                                std::vector<size_t>{0}, 0, bytesOf(type));
      TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
        tofuCollective(context, nullptr, makes.data(), "", 1,
                       whole.descriptor(), 1, partials[device].descriptor());
        tofuCollective(context, nullptr, combines.data(), "", 1,
                       partials[device].descriptor(), 1,
                       results[device].descriptor());
      });
      ASSERT_EQ(status, TOFU_OK) << world.error();
      for (int64_t device = 0; device < kDevices; ++device)
        for (int64_t i = 0; i < kSize; ++i)
          EXPECT_EQ(std::memcmp(results[device].at({i}, bytesOf(type)),
                                whole.at({i}, bytesOf(type)), bytesOf(type)),
                    0)
              << "combiner " << combiner << ", type " << type << ", at " << i;
    }
}

TEST(Collective, ManyInARow) {
  TOFU_NEEDS_DEVICES(16);
  // Buffers are used again at once, by 16 threads on few cores.
  constexpr int64_t kDevices = 16;
  std::vector<int64_t> table =
      allReduce(kDevices, TOFU_COMBINE_SUM, TOFU_I64, 3).table();
  TestWorld world(kDevices);
  std::vector<int64_t> last(kDevices);
  TofuStatus status = world.run([&](TofuContext *context, int64_t device) {
    int64_t src[3], dst[3];
    for (int64_t step = 0; step < 300; ++step) {
      for (int64_t &value : src)
        value = device + step;
      void *from[5] = {src, src, nullptr, (void *)3, (void *)1};
      void *to[5] = {dst, dst, nullptr, (void *)3, (void *)1};
      tofuCollective(context, nullptr, table.data(), "", 1, from, 1, to);
      if (dst[1] != kDevices * step + kDevices * (kDevices - 1) / 2)
        tofuFail(context, "wrong sum", "");
      last[device] = dst[2];
    }
  });
  EXPECT_EQ(status, TOFU_OK) << world.error();
  EXPECT_EQ(last.front(), last.back());
}

} // namespace
