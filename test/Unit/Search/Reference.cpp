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

static int64_t missing(const Elements &have, const Elements &want) {
  return llvm::count_if(want, [&](const Element &e) { return !have.count(e); });
}

/// `base`, each device's elements cut along `dim` by `axis` once more.
static std::vector<Elements> cutFurther(llvm::ArrayRef<Elements> base,
                                        unsigned axis, unsigned dim,
                                        const Mesh &mesh) {
  std::vector<Elements> result;
  for (auto [device, elements] : llvm::enumerate(base)) {
    std::set<int64_t> indices;
    for (const Element &element : elements)
      indices.insert(element[dim]);
    auto mine = dealt({indices.begin(), indices.end()}, mesh.sizes[axis],
                      mesh.coordinates(device)[axis]);
    Elements kept;
    for (const Element &element : elements)
      if (llvm::is_contained(mine, element[dim]))
        kept.insert(element);
    result.push_back(kept);
  }
  return result;
}

/// Every device gets all addends of its elements of `via`, then what it lacks.
static int64_t receivedVia(llvm::ArrayRef<Elements> from,
                           llvm::ArrayRef<Elements> via,
                           llvm::ArrayRef<Elements> to, const Mesh &mesh,
                           const Axes &partial) {
  int64_t addends = 1, count = 0;
  for (unsigned axis : partial)
    addends *= mesh.sizes[axis];
  for (size_t device = 0; device < from.size(); ++device) {
    for (const Element &element : via[device])
      count += addends - (from[device].count(element) ? 1 : 0);
    count += missing(via[device], to[device]);
  }
  return count;
}

/// Tries to cut `via` by the first of `axes` along each dim.
static int64_t leastVia(llvm::ArrayRef<Elements> from,
                        const std::vector<Elements> &via,
                        llvm::ArrayRef<Elements> to, const Mesh &mesh,
                        const Axes &partial, llvm::ArrayRef<unsigned> axes,
                        unsigned rank) {
  if (axes.empty())
    return receivedVia(from, via, to, mesh, partial);
  int64_t least = std::numeric_limits<int64_t>::max();
  for (unsigned dim = 0; dim < rank; ++dim)
    least =
        std::min(least, leastVia(from, cutFurther(via, axes.front(), dim, mesh),
                                 to, mesh, partial, axes.drop_front(), rank));
  return least;
}

static bool cuts(llvm::ArrayRef<Elements> elements, unsigned axis,
                 const Mesh &mesh) {
  for (int64_t a = 0; a < int64_t(elements.size()); ++a)
    for (int64_t b = 0; b < a; ++b) {
      auto x = mesh.coordinates(a), y = mesh.coordinates(b);
      x[axis] = y[axis];
      if (x == y && elements[a] != elements[b])
        return true;
    }
  return false;
}

int64_t received(llvm::ArrayRef<Elements> from, llvm::ArrayRef<Elements> to,
                 const Mesh &mesh, const Axes &partial) {
  if (partial.empty()) {
    int64_t count = 0;
    for (auto [have, want] : llvm::zip_equal(from, to))
      count += missing(have, want);
    return count;
  }
  unsigned rank = from.front().begin()->size();
  std::vector<Elements> produced(from.begin(), from.end());
  int64_t least = leastVia(from, produced, to, mesh, partial, partial, rank);
  for (auto [have, want] : llvm::zip_equal(from, to))
    if (missing(have, want))
      return least;
  Axes open;
  for (unsigned axis : partial)
    if (!cuts(to, axis, mesh))
      open.push_back(axis);
  std::vector<Elements> wanted(to.begin(), to.end());
  return std::min(least, leastVia(from, wanted, to, mesh, partial, open, rank));
}

static Axes difference(const Axes &a, const Axes &b) {
  Axes rest;
  for (unsigned axis : a)
    if (!llvm::is_contained(b, axis))
      rest.push_back(axis);
  return rest;
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
      total +=
          value.elementBytes * received(lies(operand.value, layout), need, mesh,
                                        difference(layout.partial, kept));
    }
    for (const Result &result : op.results) {
      const Value &value = graph.values[result.value];
      const Layout &layout = plan.layouts[result.value];
      Axes partial = reduced;
      partial.append(strategy.partial.begin(), strategy.partial.end());
      llvm::sort(partial);
      total += value.elementBytes *
               received(imageElements(op, strategy.dims, result.index,
                                      value.shape, mesh),
                        lies(result.value, layout), mesh,
                        difference(partial, layout.partial));
    }
  }
  for (const Carried &carried : graph.carried)
    total += graph.values[carried.from].elementBytes *
             received(lies(carried.from, plan.layouts[carried.from]),
                      lies(carried.from, plan.layouts[carried.to]), mesh,
                      plan.layouts[carried.from].partial);
  return total;
}

} // namespace mlir::tofu::search::reference
