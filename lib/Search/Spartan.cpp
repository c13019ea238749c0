//===- Spartan.cpp - The largest value first ------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Clock.h"
#include "Tofu/Search/Alternatives.h"
#include "Tofu/Search/CostModel.h"
#include "Tofu/Search/Search.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <numeric>

using namespace mlir::tofu::search;

namespace {

class Spartan {
public:
  Spartan(const PartitionGraph &graph, const Mesh &mesh)
      : graph(graph), model(mesh), layouts(graph.values.size()),
        chosen(graph.values.size()), operators(graph.operators.size()),
        users(graph.values.size()), carried(graph.values.size()) {
    for (auto [i, op] : llvm::enumerate(graph.operators)) {
      for (const Operand &operand : op.operands)
        addUser(operand.value, i);
      for (const Result &result : op.results)
        addUser(result.value, i);
    }
    for (const Carried &pair : graph.carried) {
      carried[pair.from].push_back(pair);
      if (pair.to != pair.from)
        carried[pair.to].push_back(pair);
    }
  }

  Plan make() {
    for (const auto &values : largestFirst())
      choose(values);
    Plan plan;
    plan.mesh = model.getMesh();
    for (auto [i, op] : llvm::enumerate(graph.operators)) {
      decide(i);
      const OperatorCuts &cuts = *operators[i].cuts;
      plan.strategies.push_back({cuts.dims[*operators[i].chosen], {}, 0});
    }
    for (auto [value, held, at] :
         llvm::zip_equal(graph.values, layouts, chosen)) {
      Layout &layout = plan.layouts.emplace_back();
      layout.dims.resize(value.shape.size());
      if (at)
        layout.dims = held->dims[*at];
    }
    return plan;
  }

private:
  using Values = llvm::SmallVector<unsigned, 2>;

  /// The layouts that values of one shape may have, and the boxes of each.
  struct ValueCuts {
    std::vector<DimCuts> dims;
    std::vector<CostModel::Family> families;
  };

  /// The strategies of an operator; of each the axes that leave partial
  /// results, the boxes that it needs and those that it produces.
  struct OperatorCuts {
    std::vector<DimCuts> dims;
    std::vector<Axes> partial;
    std::vector<llvm::SmallVector<CostModel::Family, 4>> needs, results;
  };

  struct OperatorState {
    std::unique_ptr<OperatorCuts> cuts; ///< made when first asked for
    std::optional<size_t> chosen;
  };

  void addUser(unsigned value, unsigned op) {
    if (users[value].empty() || users[value].back() != op)
      users[value].push_back(op);
  }

  /// All values but constants, those that are tied together.
  std::vector<Values> largestFirst() const {
    std::vector<Values> all(graph.tied.begin(), graph.tied.end());
    std::vector<bool> tied(graph.values.size());
    for (const Values &values : all)
      for (unsigned value : values)
        tied[value] = true;
    for (unsigned value = 0; value < graph.values.size(); ++value)
      if (!tied[value])
        all.push_back({value});
    llvm::erase_if(all, [&](const Values &values) {
      return graph.values[values.front()].constant;
    });
    llvm::sort(all, [&](const Values &a, const Values &b) {
      return std::pair(-bytesOf(a.front()), a.front()) <
             std::pair(-bytesOf(b.front()), b.front());
    });
    return all;
  }

  int64_t bytesOf(unsigned value) const {
    int64_t bytes = graph.values[value].elementBytes;
    for (int64_t size : graph.values[value].shape)
      bytes *= size;
    return bytes;
  }

  const ValueCuts &cutsOf(const Value &value) {
    std::vector<DimCuts> dims = listCuts(value, model.getMesh());
    auto [it, isNew] = known.try_emplace({value.shape, dims});
    ValueCuts &cuts = it->second;
    if (!isNew)
      return cuts;
    cuts.dims = std::move(dims);
    for (const DimCuts &dims : cuts.dims)
      cuts.families.push_back(
          model.family(Placement::ofLayout(value.shape, dims), value.shape));
    return cuts;
  }

  const OperatorCuts &cutsOf(unsigned index) {
    std::unique_ptr<OperatorCuts> &cuts = operators[index].cuts;
    if (cuts)
      return *cuts;
    cuts = std::make_unique<OperatorCuts>();
    const Operator &op = graph.operators[index];
    const Mesh &mesh = model.getMesh();
    cuts->dims = op.pinned ? std::vector<DimCuts>{op.pinned->dims}
                           : listCuts(op.dims, axesThatSplit(mesh), mesh);
    for (const DimCuts &dims : cuts->dims) {
      Strategy strategy{dims, {}, 0};
      cuts->partial.push_back(partialAxes(op, strategy));
      auto &needs = cuts->needs.emplace_back(),
           &results = cuts->results.emplace_back();
      for (auto [i, operand] : llvm::enumerate(op.operands))
        needs.push_back(model.family(operandPlacement(op, i, strategy),
                                     graph.values[operand.value].shape));
      for (auto [i, result] : llvm::enumerate(op.results))
        results.push_back(model.family(resultPlacement(op, i, strategy),
                                       graph.values[result.value].shape));
    }
    return *cuts;
  }

  CostModel::Family heldBy(unsigned value) const {
    return layouts[value]->families[*chosen[value]];
  }

  /// Bytes for what operator `index` receives under its strategy `at` of the
  /// values that are chosen.
  int64_t bytesOf(unsigned index, size_t at) {
    const Operator &op = graph.operators[index];
    const OperatorCuts &cuts = *operators[index].cuts;
    int64_t bytes = 0;
    for (auto [i, operand] : llvm::enumerate(op.operands)) {
      if (!chosen[operand.value])
        continue;
      CostModel::Family need = cuts.needs[at][i];
      // An initial value is combined where the result lies.
      if (operand.initOf >= 0 && !cuts.partial[at].empty()) {
        unsigned result = op.results[operand.initOf].value;
        if (!chosen[result])
          continue;
        need = heldBy(result);
      }
      bytes += graph.values[operand.value].elementBytes *
               model.elements({heldBy(operand.value), {}}, {need, {}});
    }
    for (auto [i, result] : llvm::enumerate(op.results))
      if (chosen[result.value])
        bytes += graph.values[result.value].elementBytes *
                 model.elements({cuts.results[at][i], cuts.partial[at]},
                                {heldBy(result.value), {}});
    return bytes;
  }

  /// The strategy of operator `index` that receives the fewest bytes of the
  /// values that are chosen, and these bytes.
  std::pair<size_t, int64_t> findBest(unsigned index) {
    std::pair<size_t, int64_t> best{0, 0};
    for (size_t at = 0; at < cutsOf(index).dims.size(); ++at)
      if (int64_t bytes = bytesOf(index, at); at == 0 || bytes < best.second)
        best = {at, bytes};
    return best;
  }

  void decide(unsigned index) {
    if (!operators[index].chosen)
      operators[index].chosen = findBest(index).first;
  }

  /// Bytes around `value`, which is chosen.
  int64_t bytesAround(unsigned value) {
    int64_t bytes = 0;
    for (unsigned index : users[value])
      bytes += operators[index].chosen
                   ? bytesOf(index, *operators[index].chosen)
                   : findBest(index).second;
    for (auto [from, to, after] : carried[value])
      if (chosen[from] && chosen[to])
        bytes += graph.values[from].elementBytes *
                 model.elements({heldBy(from), {}}, {heldBy(to), {}});
    return bytes;
  }

  /// Cuts `values`, which are tied, and then the operators that meet in them.
  void choose(llvm::ArrayRef<unsigned> values) {
    const ValueCuts &cuts = cutsOf(graph.values[values.front()]);
    for (unsigned value : values)
      layouts[value] = &cuts;
    std::pair<size_t, int64_t> best{0, 0};
    for (size_t at = 0; at < cuts.dims.size(); ++at) {
      for (unsigned value : values)
        chosen[value] = at;
      int64_t bytes = 0;
      for (unsigned value : values)
        bytes += bytesAround(value);
      if (at == 0 || bytes < best.second)
        best = {at, bytes};
    }
    for (unsigned value : values)
      chosen[value] = best.first;
    for (unsigned value : values)
      for (unsigned index : users[value])
        decide(index);
  }

  const PartitionGraph &graph;
  CostModel model;
  /// By shape and layouts.
  std::map<std::pair<llvm::SmallVector<int64_t, 4>, std::vector<DimCuts>>,
           ValueCuts>
      known;
  /// Per value: what it may become, and which of it it does.
  std::vector<const ValueCuts *> layouts;
  std::vector<std::optional<size_t>> chosen;
  std::vector<OperatorState> operators;
  /// Per value: the operators that read or produce it, the carried pairs that
  /// it is in.
  std::vector<llvm::SmallVector<unsigned, 4>> users;
  std::vector<llvm::SmallVector<Carried, 1>> carried;
};

} // namespace

SearchResult mlir::tofu::search::searchSpartan(const PartitionGraph &graph,
                                               const Mesh &mesh,
                                               const SearchOptions &options) {
  Clock clock;
  SearchResult result;
  result.plan = Spartan(graph, mesh).make();
  obey(graph, result.plan);
  countBytes(graph, result.plan, options.charge);
  result.seconds = clock.seconds();
  return result;
}
