//===- PlanPins.h - What a program says of its plan beforehand --*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_TRANSFORMS_PLANPINS_H
#define TOFU_LIB_TRANSFORMS_PLANPINS_H

#include "PlanGraph.h"

#include "llvm/ADT/EquivalenceClasses.h"

namespace mlir::tofu {

/// Something that is asked of the plan: by which operation, in words, and how
/// firmly.
struct Ask {
  Operation *op;
  std::string what;
  int64_t priority;

  /// Tells the user that `other` contradicts this. Fails if it is as firm.
  LogicalResult overrule(const Ask &other, const Twine &how) const;
};

struct PinnedLayout {
  Ask ask;
  search::Layout layout;
};

struct ForbiddenDim {
  Ask ask;
  unsigned dim;
};

/// What the functions of a module ask of the globals that they have in common.
/// A global has one layout, so what one function asks of it holds for all, and
/// the first plan settles it.
class SharedGlobals {
public:
  struct Asked {
    func::FuncOp function; ///< null for what is in none that is planned
    SmallVector<PinnedLayout, 0> layouts;
    SmallVector<ForbiddenDim, 0> dims;
  };
  struct Settled {
    LayoutAttr layout;
    bool isChosen; ///< by a search, not by the program
    func::FuncOp function;
  };

  /// Notes what `asked.function` asks of `global`.
  void ask(Operation *global, Asked asked) {
    insert(global);
    asks[global].push_back(std::move(asked));
  }
  ArrayRef<Asked> getAsks(Operation *global) const;

  /// Some function wants the two to lie alike.
  void tie(Operation *a, Operation *b) { globals.unionSets(a, b); }
  void insert(Operation *global) { globals.insert(global); }
  /// The global and all that are tied to it.
  SmallVector<Operation *> getTied(Operation *global) const;

  void settle(Operation *global, Settled settled) {
    settledGlobals.try_emplace(globals.getOrInsertLeaderValue(global), settled);
  }
  /// Null if no plan has given `global` a layout yet.
  const Settled *getSettled(Operation *global) const;

private:
  llvm::EquivalenceClasses<Operation *> globals;
  DenseMap<Operation *, SmallVector<Asked, 0>> asks;
  DenseMap<Operation *, Settled> settledGlobals; ///< by leader
};

/// Reads layouts and strategies that are there already, and what is forbidden
/// or tied, into `graph`, which is to be planned on the mesh. Where they
/// contradict each other the one of the lower priority gives way, with a
/// remark; equal ones are an error.
LogicalResult readPins(PlanGraph &graph, const search::Mesh &mesh,
                       FlatSymbolRefAttr meshSymbol,
                       const SharedGlobals &shared);

/// Notes what the function of `graph` asks of globals.
LogicalResult readGlobalPins(PlanGraph &graph, const search::Mesh &mesh,
                             FlatSymbolRefAttr meshSymbol,
                             SharedGlobals &shared);

/// Removes the attributes that a plan has made good on.
void dropConstraints(func::FuncOp function);

} // namespace mlir::tofu

#endif // TOFU_LIB_TRANSFORMS_PLANPINS_H
