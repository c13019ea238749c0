//===- MachineTest.cpp - Machines and meshes on them ----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Machine.h"

#include "gtest/gtest.h"

using namespace mlir::tofu::search;

static Mesh meshOf(llvm::ArrayRef<int64_t> sizes) {
  Mesh mesh;
  for (int64_t size : sizes) {
    mesh.names.push_back("a" + std::to_string(mesh.sizes.size()));
    mesh.sizes.push_back(size);
  }
  return mesh;
}

/// Three levels of 2 x 4 x 3 devices, of 1, 10 and 100 bytes a second and 3, 2
/// and 1 seconds.
static Machine threeLevels() {
  Machine machine;
  machine.levels = {{2, {3, 1}}, {4, {2, 10}}, {3, {1, 100}}};
  return machine;
}

/// The bandwidths along the axes; none if the mesh doesn't fit.
static std::vector<double> bandwidths(const Machine &machine,
                                      llvm::ArrayRef<int64_t> sizes) {
  std::string why;
  std::optional<Rates> rates = layOut(machine, meshOf(sizes), why);
  EXPECT_EQ(rates.has_value(), why.empty());
  std::vector<double> all;
  if (rates)
    for (const Link &link : rates->axes)
      all.push_back(link.bandwidth);
  return all;
}

TEST(Machine, HasNames) {
  for (llvm::StringRef name : Machine::getNames()) {
    std::optional<Machine> machine = Machine::named(name);
    ASSERT_TRUE(machine) << name.str();
    EXPECT_EQ(machine->name, name);
    EXPECT_GE(machine->numDevices(), 1);
  }
  EXPECT_EQ(Machine::named("h100x8x16")->numDevices(), 128);
  EXPECT_FALSE(Machine::named("h100"));
}

TEST(Machine, GivesAxesTheLinkOfTheirLevel) {
  using Links = std::vector<double>;
  Machine machine = threeLevels();
  EXPECT_EQ(bandwidths(machine, {2, 4, 3}), (Links{1, 10, 100}));
  EXPECT_EQ(bandwidths(machine, {2, 2, 2, 3}), (Links{1, 10, 10, 100}));
  // What spans levels has the slower link.
  EXPECT_EQ(bandwidths(machine, {8, 3}), (Links{1, 100}));
  EXPECT_EQ(bandwidths(machine, {2, 12}), (Links{1, 10}));
  EXPECT_EQ(bandwidths(machine, {24}), (Links{1}));
  // Fewer devices than there are.
  EXPECT_EQ(bandwidths(machine, {3}), (Links{100}));
  EXPECT_EQ(bandwidths(machine, {2}), (Links{100}));
  EXPECT_EQ(bandwidths(machine, {2, 3}), (Links{10, 100}));
  EXPECT_EQ(bandwidths(machine, {3, 3}), (Links{10, 100}));
  EXPECT_EQ(bandwidths(machine, {}), (Links{}));
}

TEST(Machine, RefusesMeshesThatLeaveDevicesOver) {
  std::vector<double> none;
  // Two of three devices, then the next level.
  EXPECT_EQ(bandwidths(threeLevels(), {3, 2}), none);
  EXPECT_EQ(bandwidths(threeLevels(), {2, 2}), none);
  // Three of four groups.
  EXPECT_EQ(bandwidths(threeLevels(), {2, 3, 3}), none);
  // Too many.
  EXPECT_EQ(bandwidths(threeLevels(), {2, 24}), none);
}

TEST(Machine, TakesTheSlowestOfBothFigures) {
  Machine machine;
  machine.levels = {{2, {1, 1}}, {2, {5, 10}}};
  std::string why;
  Rates rates = *layOut(machine, meshOf({4}), why);
  EXPECT_EQ(rates.axes[0].latency, 5);
  EXPECT_EQ(rates.axes[0].bandwidth, 1);
}

TEST(Machine, HasNoGroupsToStraddleWithinOne) {
  Machine machine;
  machine.levels = {{2, {1, 1}}, {8, {5, 10}}};
  // Threes of six devices, all in one group of eight.
  EXPECT_EQ(bandwidths(machine, {2, 3}), (std::vector<double>{10, 10}));
  // The third three of nine would be in two groups.
  EXPECT_TRUE(bandwidths(machine, {3, 3}).empty());
  machine.levels = {{16, {5, 10}}};
  EXPECT_EQ(bandwidths(machine, {3, 3}), (std::vector<double>{10, 10}));
}

TEST(OrderFactors, ListsDistinctOrders) {
  auto orders = [](int64_t devices, unsigned limit) {
    std::vector<std::vector<int64_t>> all;
    for (const Mesh &mesh : orderFactors(devices, limit)) {
      EXPECT_EQ(mesh.numDevices(), devices);
      EXPECT_EQ(mesh.names.size(), mesh.sizes.size());
      all.emplace_back(mesh.sizes.begin(), mesh.sizes.end());
    }
    return all;
  };
  using Orders = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(orders(1, 6), (Orders{{}}));
  EXPECT_EQ(orders(8, 6), (Orders{{2, 2, 2}}));
  EXPECT_EQ(orders(6, 6), (Orders{{3, 2}, {2, 3}}));
  EXPECT_EQ(orders(12, 6), (Orders{{3, 2, 2}, {2, 3, 2}, {2, 2, 3}}));
  EXPECT_EQ(orders(30, 4),
            (Orders{{5, 3, 2}, {5, 2, 3}, {3, 5, 2}, {3, 2, 5}}));
}
