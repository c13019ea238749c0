//===- PlanGraph.h - Between a function and its graph -----------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_TRANSFORMS_PLANGRAPH_H
#define TOFU_LIB_TRANSFORMS_PLANGRAPH_H

#include "Branches.h"
#include "GlobalSizes.h"
#include "Globals.h"
#include "Tofu/Dialect/Placement.h"
#include "Tofu/Search/Memory.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tofu {

/// What the plan calls an operation: its name, with that of a function that it
/// calls.
std::string getOperatorName(Operation *op);

/// An operator of the graph and the operation that it stands for.
struct PlannedOperator {
  Operation *op = nullptr;
  SemanticsAttr semantics; ///< null: every device does all of the operation
  /// For each operand of the graph's operator its number among the operands of
  /// the semantics, or among the tensors that the operation uses.
  SmallVector<unsigned> operands;
};

/// Which result of a function must keep the layout of which argument: argument
/// numbers by result number (`tf.aliasing_output`, `tofu.carried_to`).
DenseMap<unsigned, unsigned> getCarried(func::FuncOp function);

/// A global, and what stands for it in the graph.
struct PlannedGlobal {
  ml_program::GlobalOp op;
  unsigned value = 0;
  SmallVector<unsigned> loads; ///< values that lie as it does
  /// What must come to lie so, and how many operators run before.
  SmallVector<std::pair<Value, unsigned>> stored;
};

/// The annotated function as the search sees it. Constants and remade values
/// are left out, and so are values of sizes that only they themselves tell,
/// which stay whole. Other unknown sizes are those that follow if arguments
/// have `sizeHint` elements along each dim of unknown size.
class PlanGraph {
public:
  PlanGraph(func::FuncOp function, int64_t sizeHint);

  func::FuncOp function;
  int64_t sizeHint;
  bool hasUnknownSizes = false;
  search::PartitionGraph graph;
  std::vector<PlannedOperator> operators; ///< as in `graph`
  std::vector<Value> values;              ///< as in `graph`; null for globals
  /// Branches and loops, whose operations are among the operators.
  std::vector<Operation *> branches;
  /// What the function loads and stores, in the order of the first access.
  std::vector<PlannedGlobal> globals;

  /// The number of `value` in the graph.
  std::optional<unsigned> lookup(Value value) const;

  /// Writes `plan` into the function's attributes.
  void write(const search::Plan &plan, FlatSymbolRefAttr mesh);

  /// Reads the plan back from the attributes.
  search::Plan read(const search::Mesh &mesh) const;

  /// The first result of the function whose layout isn't what it must be: that
  /// of its value, or of the argument that it is tied to.
  std::optional<unsigned> findUntied(const search::Plan &plan,
                                     FlatSymbolRefAttr mesh) const;

  DenseMap<unsigned, unsigned> getCarried() const {
    return tofu::getCarried(function);
  }

  /// A layout of value `value`, whole if it is null, and a strategy of operator
  /// `i`, whose operands the attribute numbers as the semantics do.
  search::Layout readLayout(unsigned value, LayoutAttr layout,
                            const search::Mesh &mesh) const;
  search::Strategy toGraph(unsigned i, search::Strategy strategy) const;

  /// A hash of what the plan depends on: operations, types, how they are
  /// connected, semantics.
  std::string getHash() const;

private:
  std::optional<unsigned> addValue(Value value);
  void addOperator(Operation *op);
  void addOperations(Block &block);
  void addBranch(Operation *op);
  void addRegion(Region &region);
  void holdForLoop(unsigned count, unsigned start, unsigned firstCarried);
  void addAccess(const GlobalAccess &access);
  PlannedGlobal &getPlanned(ml_program::GlobalOp global);
  void addGlobals();
  void tieInputs(ArrayRef<Handover> handovers);
  void addCarried();
  LayoutAttr getLayout(unsigned value, const search::Plan &plan,
                       FlatSymbolRefAttr mesh) const;
  LayoutAttr getLayout(Value value, const search::Plan &plan,
                       FlatSymbolRefAttr mesh) const;
  /// Per result of the function; null for what is no tensor.
  SmallVector<LayoutAttr> getResultLayouts(const search::Plan &plan,
                                           FlatSymbolRefAttr mesh) const;
  search::Strategy toSemantics(unsigned i, search::Strategy strategy) const;

  SizeHints hints;
  DenseMap<Value, unsigned> numbers;
};

/// True if the plan of `function` is made on its own: it has a body of one
/// block and is not private.
bool isPlanned(func::FuncOp function);

/// Calls `visit` with all that loads or stores a global, which is given, in
/// `module` without being planned: it takes all of it.
void forEachUnplannedAccess(
    ModuleOp module,
    function_ref<void(Operation *, ml_program::GlobalOp)> visit);

/// The mesh that the plan of `function` is on, from its layouts and strategies;
/// null if it has no plan. Fails, with an error, if they name several.
FailureOr<MeshOp> getPlanMesh(func::FuncOp function);

} // namespace mlir::tofu

#endif // TOFU_LIB_TRANSFORMS_PLANGRAPH_H
