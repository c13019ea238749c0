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
#include <numeric>
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

  /// A layer, repeated: the groups of each are between its variables, those of
  /// the next layer and those that all layers share.
  RandomModel(unsigned seed, unsigned layers) : random(seed) {
    unsigned width = 1 + pick(2), shared = pick(2), domain = 2 + pick(2);
    domains.assign(layers * width + shared, domain);
    for (unsigned var = 0; var < domains.size(); ++var)
      kinds.push_back(var < shared ? var : shared + (var - shared) % width);
    model = std::make_unique<PairwiseModel>(domains);
    for (unsigned i = 0, count = 1 + pick(4); i < count; ++i) {
      unsigned numColumns = 1 + pick(3);
      std::vector<int64_t> &table = makeTable(domain, numColumns);
      auto any = [&] { return pick(shared + 2 * width); };
      unsigned row = any();
      std::vector<std::pair<unsigned, std::vector<unsigned> *>> readers;
      for (unsigned i = 0, count = 1 + pick(3); i < count; ++i)
        readers.push_back({any(), &makeColumns(domain, numColumns)});
      auto inLayer = [&](unsigned var, unsigned layer) {
        return var < shared ? var : var + layer * width;
      };
      for (unsigned layer = 0; layer + 1 < layers; ++layer) {
        llvm::SmallVector<PairwiseModel::Reader> mine;
        for (auto [var, columns] : readers)
          mine.push_back({inLayer(var, layer), *columns});
        model->addGroup(inLayer(row, layer), table, numColumns, mine);
      }
    }
  }

  int64_t numAssignments() const {
    int64_t number = 1;
    for (unsigned domain : domains)
      number *= domain;
    return number;
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
  llvm::SmallVector<unsigned> kinds; ///< of repeated layers

private:
  unsigned pick(unsigned below) { return random() % below; }

  void addGroup() {
    unsigned row = pick(domains.size()), numColumns = 1 + pick(4);
    std::vector<int64_t> &table = makeTable(domains[row], numColumns);
    llvm::SmallVector<PairwiseModel::Reader> readers;
    for (unsigned i = 0, count = 1 + pick(4); i < count; ++i) {
      unsigned var = pick(domains.size());
      readers.push_back({var, makeColumns(domains[var], numColumns)});
    }
    model->addGroup(row, table, numColumns, readers);
  }

  std::vector<int64_t> &makeTable(unsigned rows, unsigned numColumns) {
    std::vector<int64_t> &table = tables.emplace_back();
    for (unsigned i = 0; i < rows * numColumns; ++i)
      table.push_back(pick(8) == 0 ? Forbidden : pick(100));
    return table;
  }

  std::vector<unsigned> &makeColumns(unsigned domain, unsigned numColumns) {
    std::vector<unsigned> &columns = columnsOf.emplace_back();
    for (unsigned value = 0; value < domain; ++value)
      columns.push_back(pick(numColumns));
    return columns;
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

// Repeated layers: from any assignment, the least one, which then is its own
// bound; and with the known cost alone, a bound.
TEST(PairwiseModelTest, minimizesAlike) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RandomModel random(seed, /*layers=*/2 + seed % 4);
    int64_t expected = random.bruteForce();
    Assignment hint(random.model->numVariables(), 0);
    PairwiseModel::Result result = random.model->minimizeAlike(
        random.kinds, {}, &hint, /*known=*/Forbidden);
    EXPECT_EQ(result.minimum, expected) << "seed " << seed;
    EXPECT_EQ(result.lowerBound, expected) << "seed " << seed;
    EXPECT_EQ(random.model->costOf(result.assignment), expected)
        << "seed " << seed;
  }
}

// Small enough, all values are eliminated before any pass.
TEST(PairwiseModelTest, solvesTheWholeFirst) {
  PairwiseModel::Options options;
  options.tableLimit = options.improvementLimit = 0;
  options.wholeLimit = 1 << 20;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    RandomModel random(seed, /*layers=*/2 + seed % 4);
    int64_t expected = random.bruteForce();
    if (expected == Forbidden)
      continue;
    Assignment hint(random.model->numVariables(), 0);
    PairwiseModel::Result result = random.model->minimizeAlike(
        random.kinds, options, &hint, /*known=*/Forbidden);
    EXPECT_EQ(result.passes, 0u) << "seed " << seed;
    EXPECT_EQ(result.lowerBound, expected) << "seed " << seed;
    EXPECT_EQ(random.model->costOf(result.assignment), expected)
        << "seed " << seed;
  }
}

TEST(PairwiseModelTest, boundsAlikeWithoutElimination) {
  PairwiseModel::Options options;
  options.tableLimit = options.improvementLimit = 0;
  unsigned met = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    RandomModel random(seed, /*layers=*/2 + seed % 4);
    int64_t expected = random.bruteForce();
    if (expected == Forbidden)
      continue;
    PairwiseModel::Result result = random.model->minimizeAlike(
        random.kinds, options, /*hint=*/nullptr, /*known=*/expected + 7);
    // What costs as much as what is known, or less, is not ruled out.
    int64_t atMost = random.model
                         ->minimizeAlike(random.kinds, options, nullptr,
                                         /*known=*/expected)
                         .lowerBound;
    // Nor is it later, with less known: what was dropped stays so.
    int64_t later = random.model
                        ->minimizeAlike(random.kinds, options, nullptr,
                                        /*known=*/expected + 100)
                        .lowerBound;
    EXPECT_LE(later, expected) << "seed " << seed;
    EXPECT_LE(atMost, expected) << "seed " << seed;
    EXPECT_LE(result.lowerBound, expected) << "seed " << seed;
    met += atMost > 0 && result.lowerBound == expected;
  }
  // Most of these have no cycles that a bound could miss.
  EXPECT_GE(met, 400u);
}

// Segments of any size never go above the least cost, nor below the bound of
// the messages alone, and raise it where cycles are loose.
TEST(PairwiseModelTest, boundsBySegments) {
  unsigned raised = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    unsigned layers = 2 + seed % 4;
    int64_t expected = RandomModel(seed, layers).bruteForce();
    if (expected == Forbidden)
      continue;
    PairwiseModel::Options options;
    options.tableLimit = options.improvementLimit = 0;
    auto bound = [&](int64_t segmentLimit) {
      options.segmentLimit = segmentLimit;
      RandomModel random(seed, layers);
      return random.model
          ->minimizeAlike(random.kinds, options, /*hint=*/nullptr,
                          /*known=*/expected + 50)
          .lowerBound;
    };
    int64_t messages = bound(0);
    for (int64_t limit : {1, 30, 300, 1 << 20}) {
      EXPECT_LE(bound(limit), expected) << "seed " << seed;
      EXPECT_GE(bound(limit), messages) << "seed " << seed;
    }
    raised += bound(1 << 20) > messages;
  }
  EXPECT_GE(raised, 10u);
}

// Three variables of two values, each pair of which costs 100 where they are
// equal: one pair is, but all pairs can agree on halves.
TEST(PairwiseModelTest, segmentsSolveOddCycles) {
  std::vector<int64_t> equal{100, 0, 0, 100};
  std::vector<unsigned> columns{0, 1};
  auto bound = [&](int64_t segmentLimit) {
    PairwiseModel model({2, 2, 2});
    for (auto [row, col] : {std::pair(0u, 1u), {1u, 2u}, {0u, 2u}})
      model.addGroup(row, equal, 2, PairwiseModel::Reader{col, columns});
    PairwiseModel::Options options;
    options.tableLimit = options.improvementLimit = 0;
    options.segmentLimit = segmentLimit;
    return model
        .minimizeAlike({0, 1, 2}, options, /*hint=*/nullptr, /*known=*/1000)
        .lowerBound;
  };
  EXPECT_EQ(bound(0), 0);
  // Too few for the four assignments of two of them.
  EXPECT_EQ(bound(3), 0);
  EXPECT_EQ(bound(100), 100);
}

// Three readers, each of which has two of three copies that cost 200: two
// copies are enough for them, and no less, but each may pay for half of two.
TEST(PairwiseModelTest, segmentsChargeForWholeCopies) {
  std::vector<int64_t> costs{200, 200, 200};
  std::vector<unsigned> columns[] = {{0, 1}, {1, 2}, {2, 0}};
  auto bound = [&](unsigned rows, int64_t segmentLimit) {
    std::vector<int64_t> table;
    for (unsigned row = 0; row < rows; ++row)
      llvm::append_range(table, costs);
    PairwiseModel model({rows, 2, 2, 2});
    model.addGroup(0, table, 3,
                   {{1, columns[0]}, {2, columns[1]}, {3, columns[2]}});
    PairwiseModel::Options options;
    options.tableLimit = options.improvementLimit = 0;
    options.segmentLimit = segmentLimit;
    return model
        .minimizeAlike({0, 1, 2, 3}, options, /*hint=*/nullptr, /*known=*/1000)
        .lowerBound;
  };
  // What is copied may have a choice or not.
  for (unsigned rows : {1, 2}) {
    EXPECT_EQ(bound(rows, 0), 300);
    EXPECT_EQ(bound(rows, 100), 400);
  }
}

// Ten pairs of variables and one more that is a neighbour of all: two of each
// three are equal, which costs 100, and messages agree on halves, however
// little is asked for. With one value of the one that all have in common they
// don't.
TEST(PairwiseModelTest, closesGapByTryingValues) {
  constexpr unsigned kPairs = 10;
  std::vector<int64_t> equal{100, 0, 0, 100};
  std::vector<unsigned> columns{0, 1};
  llvm::SmallVector<unsigned> kinds(1 + 2 * kPairs);
  std::iota(kinds.begin(), kinds.end(), 0);
  PairwiseModel::Options options;
  options.tableLimit = options.improvementLimit = 0;
  for (unsigned most : {1, 2}) {
    PairwiseModel model(llvm::SmallVector<unsigned>(kinds.size(), 2));
    for (unsigned var = 1; var < kinds.size(); var += 2)
      for (auto [row, col] :
           {std::pair(0u, var), {0u, var + 1}, {var, var + 1}})
        model.addGroup(row, equal, 2, PairwiseModel::Reader{col, columns});
    constexpr int64_t known = 100 * kPairs;
    EXPECT_EQ(
        model.minimizeAlike(kinds, options, /*hint=*/nullptr, known).lowerBound,
        0);
    // Both values have to be tried.
    EXPECT_EQ(
        model.closeGap(kinds, options, most, /*bound=*/0, known).lowerBound,
        most == 2 ? known : 0);
  }
}

// The bound never is above the least cost, and nothing that is found costs
// less, whether little or much is known.
TEST(PairwiseModelTest, closesGap) {
  unsigned raised = 0, improved = 0, closed = 0;
  for (unsigned seed = 0; seed < 6000; ++seed) {
    RandomModel random(seed, /*layers=*/seed % 2 ? 9 : 3);
    if (random.numAssignments() > 1024)
      continue;
    int64_t expected = random.bruteForce();
    if (expected == Forbidden)
      continue;
    PairwiseModel::Options options;
    options.tableLimit = options.improvementLimit = 0;
    options.segmentLimit = seed % 3 ? 0 : 1 << 20;
    int64_t known = expected + int64_t(seed % 30);
    int64_t before =
        random.model->minimizeAlike(random.kinds, options, nullptr, known)
            .lowerBound;
    if (before >= expected)
      continue;
    // An elimination at the end may find what is cheaper.
    options.tableLimit = seed % 5 ? 0 : 1 << 20;
    PairwiseModel::Result result =
        random.model->closeGap(random.kinds, options, 100, before, known);
    EXPECT_LE(result.lowerBound, expected) << "seed " << seed;
    EXPECT_GE(result.lowerBound, before) << "seed " << seed;
    raised += result.lowerBound > before;
    closed += result.lowerBound == expected;
    if (result.assignment.empty()) {
      EXPECT_EQ(result.minimum, known) << "seed " << seed;
      continue;
    }
    ++improved;
    EXPECT_EQ(random.model->costOf(result.assignment), result.minimum)
        << "seed " << seed;
    EXPECT_GE(result.minimum, expected) << "seed " << seed;
  }
  EXPECT_GE(raised, 100u);
  EXPECT_GE(improved, 40u);
  EXPECT_GE(closed, 60u);
}

// Three readers share each cost of 10, so that the share of one is no whole
// number: nothing of it is lost.
TEST(PairwiseModelTest, boundsLoseNothingByRounding) {
  constexpr unsigned kGroups = 50;
  std::vector<int64_t> costs{10, 10};
  std::vector<unsigned> columns{0, 0};
  llvm::SmallVector<unsigned> kinds;
  for (unsigned var = 0; var < 4 * kGroups; ++var)
    kinds.push_back(var % 4);
  PairwiseModel model(llvm::SmallVector<unsigned>(kinds.size(), 2));
  for (unsigned row = 0; row < kinds.size(); row += 4)
    model.addGroup(
        row, costs, 1,
        {{row + 1, columns}, {row + 2, columns}, {row + 3, columns}});
  PairwiseModel::Options options;
  options.tableLimit = options.improvementLimit = 0;
  PairwiseModel::Result alone = model.minimize(options);
  EXPECT_EQ(alone.lowerBound, 10 * kGroups);
  PairwiseModel::Result alike = model.minimizeAlike(
      kinds, options, /*hint=*/nullptr, /*known=*/20 * kGroups);
  EXPECT_EQ(alike.lowerBound, 10 * kGroups);
}

// Passes that go on too far are taken back: with more of them, no bound is
// less, but for what rounding may lose.
TEST(PairwiseModelTest, passesNeverLowerTheBound) {
  unsigned raised = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    unsigned layers = 3 + seed % 3;
    int64_t expected = RandomModel(seed, layers).bruteForce();
    if (expected == Forbidden)
      continue;
    int64_t before = 0;
    for (unsigned passes = 1; passes <= 24; ++passes) {
      RandomModel random(seed, layers);
      llvm::SmallVector<unsigned> kinds(random.kinds.size());
      std::iota(kinds.begin(), kinds.end(), 0);
      PairwiseModel::Options options;
      options.tableLimit = options.improvementLimit = 0;
      options.leastProgress = 0;
      options.passes = passes;
      int64_t bound = random.model
                          ->minimizeAlike(kinds, options, /*hint=*/nullptr,
                                          /*known=*/expected + 50)
                          .lowerBound;
      EXPECT_GE(bound + 1, before) << "seed " << seed << ", " << passes;
      EXPECT_LE(bound, expected) << "seed " << seed << ", " << passes;
      raised += passes > 2 && bound > before;
      before = bound;
    }
  }
  EXPECT_GE(raised, 10u);
}
