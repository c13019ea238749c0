//===- PairwiseModelTest.cpp - Tests of minima and their bounds -----------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/PairwiseModel.h"

#include "gtest/gtest.h"

#include <deque>
#include <random>

using namespace mlir::tofu::search;

namespace {

/// A random model with few variables, and its minimum by trying everything.
class RandomModel {
public:
  explicit RandomModel(unsigned seed) : random(seed) {
    for (unsigned var = 0, count = 2 + pick(5); var < count; ++var)
      domains.push_back(1 + pick(4));
    model = std::make_unique<PairwiseModel>(domains);
    for (unsigned i = 0, count = 1 + pick(8); i < count; ++i)
      addGroup();
  }

  int64_t bruteForce() {
    Assignment assignment(domains.size(), 0);
    int64_t least = Forbidden;
    while (true) {
      least = std::min(least, model->costOf(assignment));
      size_t var = 0;
      while (var < domains.size() && ++assignment[var] == domains[var])
        assignment[var++] = 0;
      if (var == domains.size())
        return least;
    }
  }

  std::unique_ptr<PairwiseModel> model;

private:
  unsigned pick(unsigned below) { return random() % below; }

  void addGroup() {
    unsigned row = pick(domains.size()), numColumns = 1 + pick(4);
    std::vector<int64_t> &table = tables.emplace_back();
    for (unsigned i = 0; i < domains[row] * numColumns; ++i)
      table.push_back(pick(8) == 0 ? Forbidden : pick(100));
    llvm::SmallVector<PairwiseModel::Reader> readers;
    for (unsigned i = 0, count = 1 + pick(4); i < count; ++i) {
      unsigned var = pick(domains.size());
      std::vector<unsigned> &columns = columnsOf.emplace_back();
      for (unsigned value = 0; value < domains[var]; ++value)
        columns.push_back(pick(numColumns));
      readers.push_back({var, columns});
    }
    model->addGroup(row, table, numColumns, readers);
  }

  std::mt19937 random;
  llvm::SmallVector<unsigned> domains;
  std::deque<std::vector<int64_t>> tables;
  std::deque<std::vector<unsigned>> columnsOf;
};

} // namespace

TEST(PairwiseModelTest, exactByElimination) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RandomModel random(seed);
    int64_t expected = random.bruteForce();
    PairwiseModel::Result result = random.model->minimize({});
    EXPECT_EQ(result.minimum, expected) << "seed " << seed;
    EXPECT_EQ(result.lowerBound, expected) << "seed " << seed;
    if (expected < Forbidden)
      EXPECT_EQ(random.model->costOf(result.assignment), expected)
          << "seed " << seed;
  }
}

TEST(PairwiseModelTest, boundsWithoutElimination) {
  PairwiseModel::Options options;
  options.tableLimit = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RandomModel random(seed);
    int64_t expected = random.bruteForce();
    PairwiseModel::Result result = random.model->minimize(options);
    EXPECT_LE(result.lowerBound, expected) << "seed " << seed;
    EXPECT_GE(result.minimum, expected) << "seed " << seed;
  }
}
