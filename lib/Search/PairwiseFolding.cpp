//===- PairwiseFolding.cpp - Variables that look alike as one ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The folded model of a pairwise model.
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/PairwiseModel.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace mlir::tofu::search;

/// Numbers for variables such that those of one number look alike as far as
/// `radius` groups away: repeated layers, seen from inside.
std::vector<unsigned> PairwiseModel::classify(llvm::ArrayRef<unsigned> kinds,
                                              unsigned radius) const {
  std::vector<uint64_t> colours, next;
  for (unsigned kind : kinds)
    colours.push_back(llvm::hash_combine(kind));
  auto address = [](const void *pointer) {
    return uint64_t(reinterpret_cast<uintptr_t>(pointer));
  };
  for (unsigned round = 0; round < radius; ++round) {
    std::vector<llvm::SmallVector<uint64_t, 8>> seen(domains.size());
    llvm::SmallVector<uint64_t, 8> readers;
    for (const Group &group : groups) {
      readers.clear();
      auto edgesOf =
          llvm::ArrayRef(edges).slice(group.firstEdge, group.numEdges);
      for (const Edge &edge : edgesOf)
        readers.push_back(llvm::hash_combine(address(edge.columnOf.data()),
                                             colours[edge.col]));
      llvm::sort(readers);
      uint64_t hash = llvm::hash_combine(
          address(group.table.data()), colours[group.row], group.own.size(),
          llvm::hash_combine_range(readers.begin(), readers.end()));
      seen[group.row].push_back(hash);
      for (const Edge &edge : edgesOf)
        seen[edge.col].push_back(
            llvm::hash_combine(hash, address(edge.columnOf.data())));
    }
    next.clear();
    for (unsigned var = 0; var < domains.size(); ++var) {
      llvm::sort(seen[var]);
      next.push_back(llvm::hash_combine(
          colours[var],
          llvm::hash_combine_range(seen[var].begin(), seen[var].end())));
    }
    colours = std::move(next);
  }
  // A map has no place for the two largest keys.
  llvm::DenseMap<uint64_t, unsigned> numbers;
  std::vector<unsigned> classes;
  for (uint64_t colour : colours)
    classes.push_back(
        numbers.try_emplace(colour >> 1, numbers.size()).first->second);
  return classes;
}

/// Makes the folded model: groups of the same classes are one, as often as
/// there are.
struct PairwiseModel::Folder {
  Folder(const PairwiseModel &whole, Folding &folding)
      : whole(whole), folding(folding) {
    for (unsigned var = 0; var < whole.domains.size(); ++var)
      if (folding.classOf[var] == sizes.size())
        sizes.push_back(whole.domains[var]);
    folding.model = std::make_unique<PairwiseModel>(sizes);
  }

  void run() {
    for (const Group &group : whole.groups) {
      auto [known, isNew] = shapes.try_emplace(shapeOf(group), Known{&group});
      ++known->second.count;
      shapeOfGroup.push_back(&*known);
      if (isNew)
        inOrder.push_back(&*known);
    }
    for (Entry *entry : inOrder)
      addGroup(*entry);
    for (auto [group, entry] : llvm::zip_equal(whole.groups, shapeOfGroup))
      addEdges(group, *entry);
  }

private:
  /// A class and the number of its columns.
  using Columns = std::pair<unsigned, unsigned>;
  struct Shape {
    unsigned row;
    const int64_t *table;
    std::vector<Columns> readers;
    bool operator<(const Shape &o) const {
      return std::tie(row, table, readers) <
             std::tie(o.row, o.table, o.readers);
    }
  };
  struct Known {
    const Group *example;
    int64_t count = 0;
    unsigned firstEdge = 0;
  };
  using Entry = std::pair<const Shape, Known>;

  /// Columns have numbers in the order of the groups: addresses would give
  /// another order each time.
  unsigned numberOf(llvm::ArrayRef<unsigned> columns) {
    auto [number, isNew] =
        columnNumbers.try_emplace(columns.data(), columnsByNumber.size());
    if (isNew)
      columnsByNumber.push_back(columns.data());
    return number->second;
  }

  llvm::ArrayRef<Edge> edgesOf(const Group &group) const {
    return llvm::ArrayRef(whole.edges).slice(group.firstEdge, group.numEdges);
  }

  Shape shapeOf(const Group &group) {
    Shape shape{folding.classOf[group.row], group.table.data(), {}};
    for (const Edge &edge : edgesOf(group))
      shape.readers.push_back(
          {folding.classOf[edge.col], numberOf(edge.columnOf)});
    for (llvm::ArrayRef<unsigned> columns : group.own)
      shape.readers.push_back({shape.row, numberOf(columns)});
    llvm::sort(shape.readers);
    shape.readers.erase(llvm::unique(shape.readers), shape.readers.end());
    return shape;
  }

  void addGroup(Entry &entry) {
    auto &[shape, known] = entry;
    std::vector<int64_t> *&table = scaled[{shape.table, known.count}];
    if (!table) {
      table = &folding.tables.emplace_back(known.example->table);
      for (int64_t &cost : *table)
        cost = cost < Forbidden / known.count ? cost * known.count : Forbidden;
    }
    llvm::SmallVector<Reader> readers;
    for (auto [var, columns] : shape.readers)
      readers.push_back(
          {var, llvm::ArrayRef(columnsByNumber[columns], sizes[var])});
    known.firstEdge = folding.model->edges.size();
    folding.model->addGroup(shape.row, *table, known.example->numColumns,
                            readers);
  }

  /// Notes which edge of the folded model each edge of a group is.
  void addEdges(const Group &group, const Entry &entry) {
    auto &[shape, known] = entry;
    for (const Edge &edge : edgesOf(group)) {
      Columns mine{folding.classOf[edge.col], numberOf(edge.columnOf)};
      int number = known.firstEdge;
      for (const Columns &reader : shape.readers) {
        if (reader == mine)
          break;
        number += reader.first != shape.row;
      }
      folding.edges.push_back(mine.first == shape.row ? -1 : number);
    }
  }

  const PairwiseModel &whole;
  Folding &folding;
  llvm::SmallVector<unsigned> sizes; ///< of the classes' domains
  llvm::DenseMap<const unsigned *, unsigned> columnNumbers;
  std::vector<const unsigned *> columnsByNumber;
  std::map<Shape, Known> shapes;
  std::vector<Entry *> inOrder;
  std::vector<const Entry *> shapeOfGroup;
  std::map<std::pair<const int64_t *, int64_t>, std::vector<int64_t> *> scaled;
};

PairwiseModel::Folding PairwiseModel::fold(llvm::ArrayRef<unsigned> kinds,
                                           unsigned radius) const {
  return fold(classify(kinds, radius));
}

PairwiseModel::Folding
PairwiseModel::fold(std::vector<unsigned> classes) const {
  Folding folding;
  folding.classOf = std::move(classes);
  Folder(*this, folding).run();
  return folding;
}

Assignment PairwiseModel::Folding::fold(const Assignment &assignment) const {
  Assignment folded(model->numVariables());
  for (unsigned var = classOf.size(); var-- > 0;)
    folded[classOf[var]] = assignment[var];
  return folded;
}

Assignment PairwiseModel::Folding::unfold(const Assignment &folded) const {
  Assignment assignment;
  for (unsigned number : classOf)
    assignment.push_back(folded[number]);
  return assignment;
}
