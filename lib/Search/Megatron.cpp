//===- Megatron.cpp - Weights by columns, then by rows --------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What Megatron-LM's authors chose for transformers, found in any program: the
// hidden dim of a feed-forward block and the heads of attention are dims that
// one product with a weight gives and another one sums over. Dims are told
// apart by what they meet: two are the same if some operator runs over both at
// once, so that the dims within a block and those between blocks are different.
//
//===----------------------------------------------------------------------===//

#include "Clock.h"
#include "FollowedDims.h"
#include "Tofu/Search/Alternatives.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

using namespace mlir::tofu::search;

namespace {

/// All dims of operators and values, those that are the same together.
class DimClasses {
public:
  using Dims = std::vector<unsigned>;

  explicit DimClasses(const PartitionGraph &graph) : graph(graph) {
    for (const Operator &op : graph.operators)
      addDims(op.dims.size());
    for (const Value &value : graph.values)
      addDims(value.shape.size());
    for (auto [i, op] : llvm::enumerate(graph.operators)) {
      for (const Operand &operand : op.operands)
        join(i, operand.value, operand.index);
      for (const Result &result : op.results)
        join(i, result.value, result.index);
    }
    for (auto [from, to, after] : graph.carried)
      joinValues(from, to);
    for (const auto &values : graph.tied)
      for (unsigned value : values)
        joinValues(values.front(), value);
  }

  /// The class of an iteration dim, and of a tensor dim.
  unsigned ofOperator(unsigned op, unsigned dim) const {
    return classes.getLeaderValue(first[op] + dim);
  }
  unsigned ofValue(unsigned value, unsigned dim) const {
    return classes.getLeaderValue(first[graph.operators.size() + value] + dim);
  }

  FollowedDim follow(unsigned wanted) const {
    FollowedDim followed;
    for (unsigned i = 0; i < graph.operators.size(); ++i)
      followed.operators.push_back(findInOperator(i, wanted));
    for (unsigned i = 0; i < graph.values.size(); ++i)
      followed.values.push_back(findInValue(i, wanted));
    return followed;
  }

  /// How many dims of operators and values a class has.
  size_t sizeOf(unsigned wanted) const {
    return std::distance(classes.findLeader(wanted), classes.member_end());
  }

private:
  int findInOperator(unsigned index, unsigned wanted) const {
    const Operator &op = graph.operators[index];
    for (unsigned dim = 0; dim < op.dims.size(); ++dim)
      if (op.dims[dim].kind != DimKind::Unsplittable &&
          op.dims[dim].after < 0 && ofOperator(index, dim) == wanted)
        return dim;
    return -1;
  }

  int findInValue(unsigned index, unsigned wanted) const {
    const Value &value = graph.values[index];
    if (value.constant)
      return -1;
    for (unsigned dim = 0; dim < value.shape.size(); ++dim)
      if (ofValue(index, dim) == wanted)
        return dim;
    return -1;
  }

  void addDims(unsigned count) {
    first.push_back(next);
    for (unsigned dim = 0; dim < count; ++dim)
      classes.insert(next++);
  }

  void join(unsigned op, unsigned value, llvm::ArrayRef<LinearExpr> index) {
    for (auto [dim, expr] : llvm::enumerate(index))
      if (int loop = leadingDim(expr); loop >= 0)
        classes.unionSets(first[op] + loop,
                          first[graph.operators.size() + value] + dim);
  }

  void joinValues(unsigned a, unsigned b) {
    unsigned numOps = graph.operators.size();
    for (unsigned dim = 0; dim < graph.values[a].shape.size(); ++dim)
      classes.unionSets(first[numOps + a] + dim, first[numOps + b] + dim);
  }

  const PartitionGraph &graph;
  llvm::EquivalenceClasses<unsigned> classes;
  std::vector<unsigned> first; ///< per operator, then per value
  unsigned next = 0;
};

/// Chooses the dims that weights are cut along.
class WeightCuts {
public:
  WeightCuts(const PartitionGraph &graph, const FollowedDim &batch)
      : graph(graph), dims(graph), weights(graph.values.size(), -1) {
    findWeights(batch);
    for (unsigned op = 0; op < graph.operators.size(); ++op)
      visitProduct(op);
    for (auto [value, dim] : llvm::enumerate(batch.values))
      if (dim >= 0)
        candidates.erase(dims.ofValue(value, dim));
  }

  /// No weight is cut twice: dims within one block go first, as they have the
  /// fewest members; what runs between blocks is then whole.
  std::vector<FollowedDim> choose() {
    std::vector<std::pair<size_t, unsigned>> order;
    for (auto &[dim, candidate] : candidates)
      if (candidate.isPair())
        order.push_back({dims.sizeOf(dim), dim});
    llvm::sort(order);
    std::set<unsigned> taken;
    std::vector<FollowedDim> chosen;
    for (auto [size, dim] : order) {
      const Candidate &candidate = candidates[dim];
      auto isTaken = [&](unsigned weight) { return taken.count(weight) > 0; };
      if (llvm::any_of(candidate.columns, isTaken) ||
          llvm::any_of(candidate.rows, isTaken))
        continue;
      taken.insert(candidate.columns.begin(), candidate.columns.end());
      taken.insert(candidate.rows.begin(), candidate.rows.end());
      chosen.push_back(dims.follow(dim));
    }
    return chosen;
  }

private:
  /// The weights of whose products this dim is in the result, and those that it
  /// is summed over with.
  struct Candidate {
    std::set<unsigned> columns, rows;
    bool isSquare = false; ///< two dims of one weight

    bool isPair() const {
      return !isSquare && !columns.empty() && !rows.empty();
    }
  };

  /// Notes of every value that is made of arguments without a batch the first
  /// of them.
  void findWeights(const FollowedDim &batch) {
    std::vector<bool> produced(graph.values.size());
    for (const Operator &op : graph.operators)
      for (const Result &result : op.results)
        produced[result.value] = true;
    for (auto [i, value] : llvm::enumerate(graph.values))
      if (!produced[i] && !value.constant && batch.values[i] < 0)
        weights[i] = i;
    for (const Operator &op : graph.operators) {
      if (op.operands.empty() || !llvm::all_of(op.operands, [&](auto &operand) {
            return weights[operand.value] >= 0;
          }))
        continue;
      for (const Result &result : op.results)
        weights[result.value] = weights[op.operands.front().value];
    }
  }

  /// Notes the dims of the weights of a product of data with them. Only the
  /// first product with a weight counts: backwards, columns and rows are the
  /// other way round.
  void visitProduct(unsigned index) {
    const Operator &op = graph.operators[index];
    bool sums = llvm::any_of(op.dims, [](const IterationDim &dim) {
      return dim.kind == DimKind::Reduction && dim.additive;
    });
    bool hasData = llvm::any_of(op.operands, [&](const Operand &operand) {
      return operand.initOf < 0 && weights[operand.value] < 0;
    });
    if (!sums || !hasData)
      return;
    for (const Operand &operand : op.operands)
      if (operand.initOf < 0 && weights[operand.value] >= 0 &&
          used.insert(weights[operand.value]).second)
        visitWeight(index, operand);
  }

  void visitWeight(unsigned index, const Operand &operand) {
    const Operator &op = graph.operators[index];
    std::set<unsigned> seen;
    for (const LinearExpr &expr : operand.index) {
      int dim = leadingDim(expr);
      if (dim < 0)
        continue;
      unsigned of = dims.ofOperator(index, dim);
      Candidate &candidate = candidates[of];
      candidate.isSquare |= !seen.insert(of).second;
      bool isRow = op.dims[dim].kind == DimKind::Reduction;
      (isRow ? candidate.rows : candidate.columns)
          .insert(weights[operand.value]);
    }
  }

  const PartitionGraph &graph;
  DimClasses dims;
  std::vector<int> weights; ///< per value: the argument, or -1
  std::set<int> used;       ///< weights that a product was met with
  std::map<unsigned, Candidate> candidates;
};

} // namespace

static bool isNowhere(const FollowedDim &dim) {
  return llvm::all_of(dim.values, [](int at) { return at < 0; });
}

SearchResult mlir::tofu::search::searchMegatron(const PartitionGraph &graph,
                                                const Mesh &mesh,
                                                const SearchOptions &options) {
  Clock clock;
  FollowedDim batch = findBatch(graph, mesh, options.charge);
  std::vector<FollowedDim> weightDims = WeightCuts(graph, batch).choose();
  if (weightDims.empty()) {
    SearchResult result = searchDataParallel(graph, mesh, options);
    result.remarks.push_back("no two products with weights share a dim that "
                             "could be cut within a block: the plan is that of "
                             "data parallelism");
    result.seconds = clock.seconds();
    return result;
  }
  Axes axes = axesThatSplit(mesh);
  std::vector<FollowedCut> cuts;
  if (axes.size() > 1 && !isNowhere(batch)) {
    cuts.push_back({std::move(batch), {axes.front()}});
    axes.erase(axes.begin());
  }
  for (FollowedDim &dim : weightDims)
    cuts.push_back({std::move(dim), axes});
  SearchResult result;
  result.plan = planOf(graph, mesh, cuts);
  countBytes(graph, result.plan, options.charge);
  result.seconds = clock.seconds();
  return result;
}
