//===- Reference.cpp - Costs by listing elements --------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>
#include <map>

namespace mlir::tofu::search::reference {

/// Deals `items` out to `parts` in runs that differ by at most one, longer ones
/// first.
static std::vector<int64_t> dealt(const std::vector<int64_t> &items,
                                  int64_t parts, int64_t which) {
  std::vector<int64_t> lengths(parts, 0), mine;
  for (size_t i = 0; i < items.size(); ++i)
    ++lengths[i % parts];
  size_t at = 0;
  for (int64_t p = 0; p < which; ++p)
    at += lengths[p];
  for (int64_t i = 0; i < lengths[which]; ++i)
    mine.push_back(items[at + i]);
  return mine;
}

std::vector<int64_t> part(int64_t size, const Axes &axes, const Mesh &mesh,
                          llvm::ArrayRef<int64_t> coordinates) {
  std::vector<int64_t> items;
  for (int64_t i = 0; i < size; ++i)
    items.push_back(i);
  for (unsigned axis : axes)
    items = dealt(items, mesh.sizes[axis], coordinates[axis]);
  return items;
}

/// All combinations of one item per list.
static std::vector<Element>
product(const std::vector<std::vector<int64_t>> &lists) {
  std::vector<Element> all{{}};
  for (const auto &list : lists) {
    std::vector<Element> longer;
    for (const Element &element : all)
      for (int64_t item : list) {
        longer.push_back(element);
        longer.back().push_back(item);
      }
    all = std::move(longer);
  }
  return all;
}

static Elements toSet(const std::vector<Element> &elements) {
  return Elements(elements.begin(), elements.end());
}

std::vector<Elements> layoutElements(llvm::ArrayRef<int64_t> shape,
                                     llvm::ArrayRef<Axes> dims,
                                     const Mesh &mesh) {
  std::vector<Elements> result;
  for (int64_t device = 0; device < mesh.numDevices(); ++device) {
    std::vector<std::vector<int64_t>> lists;
    for (auto [size, axes] : llvm::zip_equal(shape, dims))
      lists.push_back(part(size, axes, mesh, mesh.coordinates(device)));
    result.push_back(toSet(product(lists)));
  }
  return result;
}

std::vector<Elements> imageElements(const Operator &op,
                                    llvm::ArrayRef<Axes> dims,
                                    llvm::ArrayRef<LinearExpr> index,
                                    llvm::ArrayRef<int64_t> shape,
                                    const Mesh &mesh) {
  std::vector<Elements> result;
  for (int64_t device = 0; device < mesh.numDevices(); ++device) {
    // Per tensor dim, all values that its index takes, and those between them.
    std::vector<std::vector<int64_t>> lists;
    for (auto [expr, size] : llvm::zip_equal(index, shape)) {
      std::vector<std::vector<int64_t>> iterations;
      for (auto [dim, coefficient] : expr.terms)
        iterations.push_back(
            part(op.dims[dim].size, dims[dim], mesh, mesh.coordinates(device)));
      int64_t lo = size, hi = 0;
      for (const Element &at : product(iterations)) {
        int64_t value = expr.constant;
        for (auto [i, term] : llvm::enumerate(expr.terms))
          value += term.coefficient * at[i];
        lo = std::min(lo, expr.whole ? 0 : value);
        hi = std::max(hi, expr.whole ? size : value + 1);
      }
      std::vector<int64_t> list;
      for (int64_t i = 0; i < size; ++i)
        if (i >= lo && i < hi)
          list.push_back(i);
      lists.push_back(list);
    }
    result.push_back(toSet(product(lists)));
  }
  return result;
}

/// The coordinates of a device along some axes.
static std::vector<int64_t> along(const Axes &axes, const Mesh &mesh,
                                  int64_t device) {
  std::vector<int64_t> result;
  for (unsigned axis : axes)
    result.push_back(mesh.coordinates(device)[axis]);
  return result;
}

static Axes difference(const Axes &a, const Axes &b) {
  Axes rest;
  for (unsigned axis : a)
    if (!llvm::is_contained(b, axis))
      rest.push_back(axis);
  return rest;
}

/// What `devices` receive of one element: if the `receivers` among them are to
/// have it, and it is there in `addends` parts, on each holder one.
static int64_t receivedOfOne(const std::set<int64_t> &receivers,
                             const std::set<int64_t> &holders,
                             llvm::ArrayRef<int64_t> devices, int64_t addends) {
  auto isIn = [](const std::set<int64_t> &set, int64_t device) {
    return int64_t(set.count(device));
  };
  if (addends == 1)
    return llvm::count_if(receivers,
                          [&](int64_t d) { return !isIn(holders, d); });
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t adder : devices)
    least =
        std::min<int64_t>(least, addends - isIn(holders, adder) +
                                     receivers.size() - isIn(receivers, adder));
  return least;
}

int64_t received(const Held &from, const Held &to, const Mesh &mesh) {
  Axes combined = difference(from.partial, to.partial),
       added = difference(to.partial, from.partial),
       kept = difference(from.partial, combined);
  int64_t addends = 1;
  for (unsigned axis : combined)
    addends *= mesh.sizes[axis];
  std::map<std::vector<int64_t>, std::vector<int64_t>> families;
  for (int64_t device = 0; device < mesh.numDevices(); ++device)
    families[along(kept, mesh, device)].push_back(device);
  int64_t sum = 0;
  for (const auto &[coordinates, devices] : families) {
    Elements needed;
    for (int64_t device : devices)
      needed.insert(to.elements[device].begin(), to.elements[device].end());
    for (const Element &element : needed) {
      std::set<int64_t> holders;
      std::map<std::vector<int64_t>, std::set<int64_t>> receivers;
      for (int64_t device : devices) {
        if (from.elements[device].count(element))
          holders.insert(device);
        if (to.elements[device].count(element))
          receivers[along(added, mesh, device)].insert(device);
      }
      int64_t least = std::numeric_limits<int64_t>::max();
      for (const auto &[slot, some] : receivers)
        least = std::min(least, receivedOfOne(some, holders, devices, addends));
      sum += least;
    }
  }
  return sum;
}

int64_t bytesPerUse(const PartitionGraph &graph, const Plan &plan) {
  const Mesh &mesh = plan.mesh;
  int64_t total = 0;
  auto lies = [&](unsigned value, const Layout &layout) {
    return layoutElements(graph.values[value].shape, layout.dims, mesh);
  };
  for (auto [op, strategy] :
       llvm::zip_equal(graph.operators, plan.strategies)) {
    Axes reduced;
    for (auto [dim, axes] : llvm::zip_equal(op.dims, strategy.dims))
      if (dim.kind == DimKind::Reduction)
        reduced.append(axes.begin(), axes.end());
    for (auto [i, operand] : llvm::enumerate(op.operands)) {
      const Value &value = graph.values[operand.value];
      if (value.constant)
        continue;
      const Layout &layout = plan.layouts[operand.value];
      Axes kept = strategy.partialOperands >> i & 1 ? strategy.partial : Axes();
      std::vector<Elements> need =
          imageElements(op, strategy.dims, operand.index, value.shape, mesh);
      if (operand.initOf >= 0 && !reduced.empty()) {
        const Layout &result = plan.layouts[op.results[operand.initOf].value];
        need = lies(operand.value, result);
        kept = difference(kept, difference(kept, result.partial));
      }
      total += value.elementBytes *
               received({lies(operand.value, layout), layout.partial},
                        {need, kept}, mesh);
    }
    for (const Result &result : op.results) {
      const Value &value = graph.values[result.value];
      const Layout &layout = plan.layouts[result.value];
      Axes partial = reduced;
      partial.append(strategy.partial.begin(), strategy.partial.end());
      llvm::sort(partial);
      total += value.elementBytes *
               received({imageElements(op, strategy.dims, result.index,
                                       value.shape, mesh),
                         partial},
                        {lies(result.value, layout), layout.partial}, mesh);
    }
  }
  for (const Carried &carried : graph.carried)
    total += graph.values[carried.from].elementBytes *
             received({lies(carried.from, plan.layouts[carried.from]),
                       plan.layouts[carried.from].partial},
                      {lies(carried.from, plan.layouts[carried.to]), {}}, mesh);
  return total;
}

} // namespace mlir::tofu::search::reference
