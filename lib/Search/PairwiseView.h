//===- PairwiseView.h - A pairwise model by what looks alike ----*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_PAIRWISEVIEW_H
#define TOFU_LIB_SEARCH_PAIRWISEVIEW_H

#include "PairwiseNumerics.h"
#include "Tofu/Search/PairwiseModel.h"

#include "llvm/ADT/DenseMap.h"

#include <map>

namespace mlir::tofu::search {

/// The model as seen from some distance.
class PairwiseModel::View {
public:
  /// Variables of one class look alike. Takes over the messages of a view whose
  /// classes these ones refine, if there is one.
  View(const PairwiseModel &model, std::vector<unsigned> classes,
       View *coarser);

  unsigned numClasses() const { return classes.size(); }
  double bound() const { return sumOfLeast; }

  /// A bound of whole numbers, where something costs `upper`. If that leaves
  /// too much open, it is raised by exact solutions of parts of the model,
  /// whose tables have at most so many entries each.
  int64_t integerBound(const Options &options, const Assignment &plan,
                       int64_t upper, double seconds) const;

  /// Raises the bound. Values that are in nothing as cheap as `upper` are
  /// dropped.
  void raise(const Options &options, double seconds, double upper,
             unsigned &passes);

  /// Whether nothing is left, so that nothing is cheaper.
  bool isEmpty() const { return empty; }

  /// The values that are left of a variable of the model, and by how much the
  /// bound speaks against each.
  void tell(unsigned var, Values &active, std::vector<double> &excess);

  void passOn(Folding &folding) const;

  const std::vector<unsigned> &getClasses() const { return classOf; }

private:
  class Segments;
  class Momentum;

  /// Readers of one class and with the same columns in groups that look alike.
  struct EdgeClass {
    unsigned group, rowClass, colClass;
    llvm::ArrayRef<unsigned> columnOf;
    double perGroup = 0;           ///< edges in each of the groups
    const double *share = nullptr; ///< see PairwiseModel::Edge
    std::vector<double> ownShare;
    std::vector<double> toRow, toCol; ///< of each edge
  };
  struct GroupClass {
    const Group *example;
    double count = 0;
    unsigned firstEdge = 0, numEdges = 0;
  };
  /// An end of an edge.
  struct End {
    unsigned edge;
    bool isRow;
    bool operator<(const End &o) const {
      return std::pair(edge, isRow) < std::pair(o.edge, o.isRow);
    }
  };
  /// Variables of one class with edges of the same classes.
  struct Type {
    double members = 0;
    std::vector<std::pair<End, double>> ends; ///< and how often
    std::vector<double> own;                  ///< costs without messages
    Values active;
    double ahead[2] = {0, 0}; ///< edges before and after it
    double least = 0;         ///< of its costs, when last seen
  };
  /// An end of edges of a class, and which of its types have it, by position.
  struct SharedEnd : End {
    llvm::SmallVector<unsigned, 2> types;
  };
  struct Class {
    unsigned domain = 0;
    llvm::SmallVector<unsigned, 2> types;
    std::vector<SharedEnd> before, after;
    Values active; ///< of any of the types
  };

  /// The costs as they are distributed now, in whole numbers of units: a bound,
  /// and what they are above it.
  struct WholeCosts {
    Units units;
    int64_t bound = 0;
    std::vector<std::vector<int64_t>> ofType; ///< by value; the least is 0
    std::vector<int64_t> leastOfEdge;         ///< by class
  };
  WholeCosts wholeCosts(Units units) const;
  int64_t overcharge(const GroupClass &group, Units units) const;

  bool pass(double upper, Momentum &momentum);
  void makeGroups();
  void makeTypes();
  void share(const GroupClass &group);
  void inheritEdges(View &coarser);
  void inheritValues(const View &coarser);
  unsigned numberOf(llvm::ArrayRef<unsigned> columns);
  bool isBefore(const End &end) const;
  std::vector<double> &messages(const End &end) {
    return end.isRow ? edges[end.edge].toRow : edges[end.edge].toCol;
  }
  void rebalance(const GroupClass &group);
  void collect(const End &end);
  void addUp(const Type &type, std::vector<double> &costs);
  double leastOf(const Type &type, llvm::ArrayRef<double> costs) const;
  void prune(Class &mine, double upper);
  void moveOn(const Class &mine, llvm::ArrayRef<SharedEnd> ends);
  bool visit(unsigned number, bool forwards, double upper);

  const PairwiseModel &model;
  std::vector<unsigned> classOf, typeOf; ///< by variable of the model
  std::vector<unsigned> groupOf;         ///< by group of the model
  std::vector<unsigned> edgeOf;          ///< by edge of the model
  std::vector<Class> classes;
  std::vector<Type> types;
  std::vector<GroupClass> groups;
  std::vector<EdgeClass> edges;
  std::map<const int64_t *, std::vector<double>> wholeTables;
  llvm::DenseMap<const unsigned *, unsigned> columnNumbers;
  double sumOfLeast = 0;
  bool empty = false;
  std::vector<std::vector<double>> costs; ///< scratch: of a class's types
  std::vector<double> columns, scratch;
  SharedColumns shared;
};

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_PAIRWISEVIEW_H
