//===- Ilp.cpp - A pairwise model as an integer linear program ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In CPLEX's LP format, which glpsol, CBC and others read. x_V_S says that
// variable V has value S. In group G, c_G_F says that some reader has column F,
// and p_G_L_F that row value L pays for it:
//
//   sum_S x_V_S = 1,  c_G_F >= sum over the S of column F of x_V_S (each
//   reader), sum_L p_G_L_F >= c_G_F,  p_G_L_F <= x_row_L;  forbidden pairs have
//   no p.
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/PairwiseModel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::tofu::search;

/// One term per line: readers limit the length of lines.
static void writeSum(llvm::raw_ostream &os, llvm::StringRef sign,
                     llvm::ArrayRef<std::string> names) {
  for (const std::string &name : names)
    os << " " << sign << " " << name << "\n";
}

void PairwiseModel::writeIlp(llvm::raw_ostream &os) const {
  auto choice = [](unsigned var, unsigned value) {
    return llvm::formatv("x_{0}_{1}", var, value).str();
  };
  auto payment = [](unsigned group, unsigned row, unsigned column) {
    return llvm::formatv("p_{0}_{1}_{2}", group, row, column).str();
  };
  std::string objective, constraints;
  llvm::raw_string_ostream costs(objective), rules(constraints);
  auto charge = [&](int64_t cost, const std::string &what) {
    if (cost > 0)
      costs << " + " << cost << " " << what << "\n";
  };
  for (unsigned var = 0; var < domains.size(); ++var) {
    std::vector<std::string> values;
    for (unsigned value = 0; value < domains[var]; ++value)
      values.push_back(choice(var, value));
    writeSum(rules, "+", values);
    rules << " = 1\n";
  }
  for (auto [g, group] : llvm::enumerate(groups)) {
    for (unsigned l = 0; l < domains[group.row]; ++l) {
      int64_t own = ownCost(group, l);
      charge(own < Forbidden ? own : 0, choice(group.row, l));
      if (own >= Forbidden)
        rules << " " << choice(group.row, l) << " = 0\n";
    }
    for (unsigned column = 0; column < group.numColumns; ++column) {
      std::string copy = llvm::formatv("c_{0}_{1}", g, column);
      bool isRead = false;
      for (unsigned i = 0; i < group.numEdges; ++i) {
        const Edge &edge = edges[group.firstEdge + i];
        std::vector<std::string> needing;
        for (auto [value, mine] : llvm::enumerate(edge.columnOf))
          if (mine == column)
            needing.push_back(choice(edge.col, value));
        if (needing.empty())
          continue;
        isRead = true;
        rules << " " << copy << "\n";
        writeSum(rules, "-", needing);
        rules << " >= 0\n";
      }
      if (!isRead)
        continue;
      std::vector<std::string> payments;
      for (unsigned l = 0; l < domains[group.row]; ++l) {
        int64_t cost = group.table[size_t(l) * group.numColumns + column];
        for (llvm::ArrayRef<unsigned> columns : group.own)
          if (columns[l] == column)
            cost = 0;
        if (cost >= Forbidden)
          continue;
        payments.push_back(payment(g, l, column));
        charge(cost, payments.back());
        rules << " " << payments.back() << " - " << choice(group.row, l)
              << " <= 0\n";
      }
      writeSum(rules, "+", payments);
      rules << " - " << copy << " >= 0\n";
    }
  }
  os << "\\ A plan of least bytes.\nMinimize\n bytes:\n";
  os << (objective.empty() ? " 0 x_0_0\n" : objective);
  os << "Subject To\n" << constraints << "Binary\n";
  for (unsigned var = 0; var < domains.size(); ++var)
    for (unsigned value = 0; value < domains[var]; ++value)
      os << " " << choice(var, value) << "\n";
  os << "End\n";
}
