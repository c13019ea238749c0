//===- EliminationTest.cpp - Exact minima against enumeration -------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Elimination.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <random>
#include <set>

using namespace mlir::tofu::search;

namespace {

/// Terms that can be evaluated by hand.
struct Problem {
  llvm::SmallVector<unsigned> domains;
  std::vector<std::pair<llvm::SmallVector<unsigned>, std::vector<int64_t>>>
      terms;

  int64_t cost(const Assignment &assignment) const {
    int64_t sum = 0;
    for (const auto &[scope, table] : terms) {
      size_t at = 0;
      for (unsigned var : scope)
        at = at * domains[var] + assignment[var];
      sum = addCosts(sum, table[at]);
    }
    return sum;
  }

  Elimination elimination() const {
    Elimination solver(domains);
    for (const auto &[scope, table] : terms)
      solver.add(scope, table);
    return solver;
  }

  /// The minimum and all assignments that reach it.
  std::pair<int64_t, std::set<Assignment>> enumerate() const {
    int64_t least = Forbidden;
    std::set<Assignment> best;
    Assignment assignment(domains.size(), 0);
    while (true) {
      int64_t sum = cost(assignment);
      if (sum < least)
        best.clear();
      least = std::min(least, sum);
      if (sum == least)
        best.insert(assignment);
      size_t var = 0;
      while (var < domains.size() && ++assignment[var] == domains[var])
        assignment[var++] = 0;
      if (var == domains.size())
        return {least, best};
    }
  }
};

} // namespace

static Problem randomProblem(std::mt19937 &random, unsigned variables,
                             unsigned terms, unsigned forbiddenPercent) {
  Problem problem;
  for (unsigned i = 0; i < variables; ++i)
    problem.domains.push_back(1 + random() % 4);
  for (unsigned i = 0; i < terms; ++i) {
    llvm::SmallVector<unsigned> all, scope;
    for (unsigned var = 0; var < variables; ++var)
      all.push_back(var);
    std::shuffle(all.begin(), all.end(), random);
    unsigned arity = random() % 4;
    scope.assign(all.begin(), all.begin() + std::min(arity, variables));
    size_t size = 1;
    for (unsigned var : scope)
      size *= problem.domains[var];
    std::vector<int64_t> table;
    for (size_t j = 0; j < size; ++j)
      table.push_back(random() % 100 < forbiddenPercent ? Forbidden
                                                        : random() % 4);
    problem.terms.push_back({scope, table});
  }
  return problem;
}

TEST(Elimination, AgreesWithEnumeration) {
  std::mt19937 random(3);
  for (int i = 0; i < 400; ++i) {
    Problem problem = randomProblem(random, 1 + random() % 8, random() % 14,
                                    i % 3 == 0 ? 10 : 0);
    auto [least, best] = problem.enumerate();
    Elimination solver = problem.elimination();
    ASSERT_EQ(solver.solve({}), least < Forbidden);
    ASSERT_TRUE(solver.exact());
    if (least == Forbidden)
      continue;
    EXPECT_EQ(solver.minimum(), least);
    auto found = solver.optima(100000);
    EXPECT_EQ(std::set<Assignment>(found.begin(), found.end()), best);
    EXPECT_EQ(found.size(), best.size());
    for (unsigned seed = 0; seed < 3; ++seed)
      EXPECT_TRUE(best.count(solver.optimum(
          [&](unsigned var, unsigned value) { return (var ^ value) * seed; })));
  }
}

TEST(Elimination, PreferenceBreaksTies) {
  Elimination solver({3, 3});
  std::vector<int64_t> equal{5, 9, 9, 9, 5, 9, 9, 9, 5};
  solver.add({0, 1}, equal);
  ASSERT_TRUE(solver.solve({}));
  auto first = [](unsigned, unsigned value) { return value; };
  auto last = [](unsigned, unsigned value) { return 2 - value; };
  EXPECT_EQ(solver.optimum(first), (Assignment{0, 0}));
  EXPECT_EQ(solver.optimum(last), (Assignment{2, 2}));
  EXPECT_EQ(solver.optima(2).size(), 2u);
  EXPECT_EQ(solver.optima(10).size(), 3u);
}

TEST(Elimination, CoreIsNeverWorseThanItsHint) {
  std::mt19937 random(4);
  Elimination::Options tight;
  tight.tableLimit = tight.coreLimit = 4;
  tight.neighbourhoodLimit = 64;
  tight.neighbourhoods = 100;
  unsigned optimal = 0, inexact = 0;
  for (int i = 0; i < 100; ++i) {
    Problem problem = randomProblem(random, 8, 16, 0);
    auto [least, best] = problem.enumerate();
    Elimination solver = problem.elimination();
    Assignment hint;
    for (unsigned domain : problem.domains)
      hint.push_back(random() % domain);
    ASSERT_TRUE(solver.solve(tight, &hint));
    EXPECT_GE(solver.minimum(), least);
    EXPECT_LE(solver.minimum(), problem.cost(hint));
    EXPECT_EQ(problem.cost(solver.optima(1).front()), solver.minimum());
    inexact += !solver.exact();
    optimal += solver.minimum() == least;
  }
  EXPECT_GT(inexact, 50u);
  EXPECT_GT(optimal, 80u);
}

TEST(Elimination, BeamMeetsConstraints) {
  // A ring of variables that must all be equal, in a table that is too small.
  Elimination::Options tight;
  tight.tableLimit = tight.coreLimit = 4;
  std::vector<int64_t> equal{0,         Forbidden, Forbidden, Forbidden, 0,
                             Forbidden, Forbidden, Forbidden, 0};
  std::vector<int64_t> costs{7, 1, 7};
  Elimination solver(llvm::SmallVector<unsigned>(6, 3));
  for (unsigned var = 0; var < 6; ++var)
    solver.add({var, (var + 1) % 6}, equal);
  solver.add({4}, costs);
  ASSERT_TRUE(solver.solve(tight));
  EXPECT_FALSE(solver.exact());
  EXPECT_EQ(solver.minimum(), 1);
}

TEST(Elimination, LargeTablesAgreeWithEnumeration) {
  // Tables that are summed up in several blocks, the last one of which is
  // smaller than the others.
  std::mt19937 random(7);
  unsigned n = 37;
  Problem problem;
  problem.domains.assign(3, n);
  for (llvm::SmallVector<unsigned> scope :
       {llvm::SmallVector<unsigned>{0, 1}, {2, 1}, {1, 2, 0}, {2}}) {
    size_t size = 1;
    for (size_t i = 0; i < scope.size(); ++i)
      size *= n;
    std::vector<int64_t> table;
    for (size_t i = 0; i < size; ++i)
      table.push_back(random() % 9 == 0 ? Forbidden : random() % 100000);
    problem.terms.push_back({scope, std::move(table)});
  }
  Elimination solver = problem.elimination();
  ASSERT_TRUE(solver.solve({}));
  EXPECT_TRUE(solver.exact());
  auto [least, best] = problem.enumerate();
  EXPECT_EQ(solver.minimum(), least);
  EXPECT_EQ(best.count(solver.optima(1).front()), 1u);
}

TEST(Elimination, RepeatedPartsAreBuiltOnce) {
  // A star of equal leaves. Each leaf makes a table of 3 x 2 entries, and the
  // hub in the end one of 2.
  std::vector<int64_t> equal{5, 1, 4, 2, 3, 6}, other{7, 8, 9, 1, 2, 3};
  unsigned leaves = 10;
  auto star = [&](bool isUneven) {
    llvm::SmallVector<unsigned> domains(leaves, 3);
    domains.push_back(2);
    Elimination solver(domains);
    for (unsigned leaf = 0; leaf < leaves; ++leaf)
      solver.add({leaf, leaves}, isUneven && leaf == 4 ? other : equal);
    return solver;
  };
  Elimination even = star(false), uneven = star(true);
  EXPECT_EQ(even.plan().total, 10 * 6 + 2);
  EXPECT_EQ(even.distinctWork(Forbidden), 6 + 2);
  EXPECT_EQ(uneven.distinctWork(Forbidden), 2 * 6 + 2);
  // By the hub's value, leaves choose from (5, 4, 3) or (1, 2, 6), the other
  // one from (7, 9, 2) or (8, 1, 3).
  ASSERT_TRUE(even.solve({}));
  EXPECT_EQ(even.minimum(), std::min(10 * 3, 10 * 1));
  ASSERT_TRUE(uneven.solve({}));
  EXPECT_EQ(uneven.minimum(), std::min(9 * 3 + 2, 9 * 1 + 1));
}

TEST(Elimination, LongChainsAndWideStars) {
  // 20,000 variables in a chain, each tied to one hub.
  unsigned n = 20000;
  Elimination solver(llvm::SmallVector<unsigned>(n + 1, 4));
  std::vector<int64_t> table;
  for (int i = 0; i < 16; ++i)
    table.push_back(i % 5);
  for (unsigned var = 0; var < n; ++var) {
    solver.add({var, n}, table);
    if (var)
      solver.add({var - 1, var}, table);
  }
  ASSERT_TRUE(solver.solve({}));
  EXPECT_TRUE(solver.exact());
  EXPECT_LE(solver.width(), 2u);
  EXPECT_EQ(solver.minimum(), 0);
}
