//===- CappedEliminationTest.cpp - Tests of minima below a cap ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Search/CappedElimination.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>
#include <set>

using namespace mlir::tofu::search;

namespace {

constexpr size_t kManyRows = 1 << 20;
constexpr double kLong = 1e9; ///< seconds

/// A problem, with what it costs by definition.
struct RandomProblem {
  struct Pair {
    unsigned row, col;
    std::vector<int64_t> costs;
  };
  struct Term {
    std::optional<unsigned> row;
    unsigned numColumns;
    std::vector<CappedElimination::Reader> readers;
  };

  explicit RandomProblem(unsigned seed) : random(seed) {
    unsigned vars = upTo(2, 7);
    for (unsigned var = 0; var < vars; ++var) {
      domains.push_back(upTo(1, 4));
      unary.push_back(costs(domains.back()));
    }
    for (unsigned i = 0, e = upTo(1, 2 * vars); i < e; ++i) {
      auto [row, col] = twoVariables();
      pairs.push_back({row, col, costs(domains[row] * domains[col])});
    }
    for (unsigned i = 0, e = upTo(0, 3); i < e; ++i)
      addTerm();
    problem.emplace(domains);
    for (unsigned var = 0; var < vars; ++var)
      problem->add(var, unary[var]);
    for (const Pair &pair : pairs)
      problem->add(pair.row, pair.col, pair.costs);
    for (const Term &term : terms)
      problem->add(term.row, term.numColumns, term.readers);
  }

  int64_t bruteForce() const {
    int64_t least = Forbidden;
    Assignment values(domains.size(), 0);
    for (;;) {
      least = std::min(least, costOf(values));
      unsigned var = 0;
      while (var < values.size() && ++values[var] == domains[var])
        values[var++] = 0;
      if (var == values.size())
        return least;
    }
  }

  std::optional<CappedElimination> problem;

private:
  unsigned upTo(unsigned least, unsigned most) {
    return std::uniform_int_distribution<unsigned>(least, most)(random);
  }

  /// Many are equal, and some forbidden.
  std::vector<int64_t> costs(size_t size) {
    std::vector<int64_t> result;
    for (size_t i = 0; i < size; ++i) {
      unsigned kind = upTo(0, 9);
      result.push_back(kind < 4 ? 0 : kind < 9 ? upTo(0, 20) : Forbidden);
    }
    return result;
  }

  std::pair<unsigned, unsigned> twoVariables() {
    unsigned row = upTo(0, domains.size() - 1);
    unsigned col = upTo(0, domains.size() - 2);
    return {row, col + (col >= row)};
  }

  void addTerm() {
    Term term;
    term.numColumns = upTo(1, 3);
    auto [row, reader] = twoVariables();
    if (upTo(0, 2) > 0)
      term.row = row;
    size_t rows = term.row ? domains[row] : 1;
    for (unsigned i = 0, e = upTo(1, 3); i < e; ++i) {
      CappedElimination::Reader &mine = term.readers.emplace_back();
      mine.var = reader;
      for (unsigned value = 0; value < domains[reader]; ++value)
        mine.columnOf.push_back(upTo(0, term.numColumns - 1));
      mine.shares = costs(rows * term.numColumns);
      // Some read twice.
      do
        reader = upTo(0, domains.size() - 1);
      while (reader == row);
    }
    terms.push_back(std::move(term));
  }

  int64_t costOf(const Assignment &values) const {
    int64_t sum = 0;
    for (unsigned var = 0; var < values.size(); ++var)
      sum = addCosts(sum, unary[var][values[var]]);
    for (const Pair &pair : pairs)
      sum = addCosts(
          sum,
          pair.costs[values[pair.row] * domains[pair.col] + values[pair.col]]);
    for (const Term &term : terms) {
      size_t row = term.row ? values[*term.row] : 0;
      std::set<unsigned> taken;
      for (const CappedElimination::Reader &reader : term.readers)
        taken.insert(reader.columnOf[values[reader.var]]);
      for (unsigned column : taken)
        for (const CappedElimination::Reader &reader : term.readers)
          if (reader.columnOf[values[reader.var]] != column)
            sum = addCosts(sum, reader.shares[row * term.numColumns + column]);
    }
    return sum;
  }

  std::mt19937 random;
  llvm::SmallVector<unsigned> domains;
  std::vector<std::vector<int64_t>> unary;
  std::vector<Pair> pairs;
  std::vector<Term> terms;
};

TEST(CappedEliminationTest, findsMinimaUpToTheCap) {
  unsigned above = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomProblem random(seed);
    int64_t expected = random.bruteForce();
    for (int64_t cap : {0, 3, 10, 20, 40, 1000}) {
      std::optional<int64_t> found =
          random.problem->minimum(cap, kManyRows, kLong);
      ASSERT_TRUE(found) << "seed " << seed;
      EXPECT_EQ(*found, std::min(expected, cap + 1))
          << "seed " << seed << ", cap " << cap;
      above += expected > cap;
    }
  }
  EXPECT_GE(above, 1000u);
}

// With few rows it finds the same or says that it can't.
TEST(CappedEliminationTest, keepsToItsLimit) {
  unsigned known = 0, unknown = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    RandomProblem random(seed);
    int64_t expected = random.bruteForce();
    for (size_t limit : {1, 4, 16}) {
      std::optional<int64_t> found = random.problem->minimum(40, limit, kLong);
      known += found.has_value();
      unknown += !found;
      if (found)
        EXPECT_EQ(*found, std::min<int64_t>(expected, 41)) << "seed " << seed;
    }
  }
  EXPECT_GE(known, 500u);
  EXPECT_GE(unknown, 500u);
}

// 100 variables of 100 values in a ring where neighbours pay for how far apart
// they are. Two that are opposite are held 4 apart, so that 4 is paid on each
// way: a table of three variables would have a million entries, but few of them
// are below the cap.
TEST(CappedEliminationTest, keepsFewOfManyValues) {
  constexpr unsigned kVariables = 100, kValues = 100;
  constexpr size_t kFewRows = 50000;
  CappedElimination problem(llvm::SmallVector<unsigned>(kVariables, kValues));
  std::vector<int64_t> costs;
  for (int row = 0; row < int(kValues); ++row)
    for (int col = 0; col < int(kValues); ++col)
      costs.push_back(std::abs(row - col));
  for (unsigned var = 0; var < kVariables; ++var)
    problem.add(var, (var + 1) % kVariables, costs);
  for (auto [var, held] : {std::pair(0u, 50u), {50u, 54u}}) {
    std::vector<int64_t> others(kValues, 1000);
    others[held] = 0;
    problem.add(var, others);
  }
  EXPECT_EQ(problem.minimum(/*cap=*/10, kFewRows, kLong), 8);
  EXPECT_EQ(problem.minimum(/*cap=*/8, kFewRows, kLong), 8);
  EXPECT_EQ(problem.minimum(/*cap=*/5, kFewRows, kLong), 6);
}

} // namespace
