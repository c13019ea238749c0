//===- PartitionGraph.h - What the search sees of a program -----*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operators with their semantics, values, and how they meet. Nothing in here
// knows MLIR: the passes build a graph from the annotated program and write the
// plan back.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_PARTITIONGRAPH_H
#define TOFU_SEARCH_PARTITIONGRAPH_H

#include "Tofu/Search/Geometry.h"
#include "Tofu/Search/Machine.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::tofu::search {

/// What an iteration dim is to its operator.
enum class DimKind {
  Parallel,     ///< parts give parts of the results
  Reduction,    ///< parts give partial results
  Unsplittable, ///< never cut
};

struct IterationDim {
  int64_t size = 1;
  DimKind kind = DimKind::Parallel;
  /// For a reduction: partial results add up, so that a value may stay a
  /// sum-partial. Others (a maximum, say) are combined where they arise.
  bool additive = true;
  /// If not negative: parts of this dim are boxes only where that one, which
  /// comes before it, is cut into parts of one index, as for the second of two
  /// dims that a reshape joins. Else it stays whole.
  int after = -1;
};

/// An operand that moves: what the operator reads of a value as a function of
/// its iteration space.
struct Operand {
  unsigned value = 0;
  llvm::SmallVector<LinearExpr, 4> index;
  /// If not negative: this operand is the initial value of that result of a
  /// reduction. Where a reduction dim is cut, the parts start from the neutral
  /// element and the initial value is combined once, after the parts, in the
  /// layout of the result: then it is needed as the result's value lies.
  /// Otherwise it is needed as `index` says.
  int initOf = -1;
};

struct Result {
  unsigned value = 0;
  llvm::SmallVector<LinearExpr, 4> index;
};

/// How the work of one operator is cut.
struct Strategy {
  llvm::SmallVector<Axes, 4> dims; ///< per iteration dim, outermost first
  /// Axes over which the operands `partialOperands` come in, and all results
  /// go out, as sum-partials; the work is not cut over them.
  Axes partial;
  uint64_t partialOperands = 0;

  bool operator==(const Strategy &o) const {
    return dims == o.dims && partial == o.partial &&
           partialOperands == o.partialOperands;
  }
};

/// How a value lies on the mesh.
struct Layout {
  llvm::SmallVector<Axes, 4> dims; ///< per tensor dim, outermost first
  Axes partial;                    ///< axes over which it is a sum-partial

  bool operator==(const Layout &o) const {
    return dims == o.dims && partial == o.partial;
  }
};

struct Operator {
  std::string name; ///< for messages and the plan's table
  llvm::SmallVector<IterationDim, 4> dims;
  llvm::SmallVector<Operand, 4> operands;
  llvm::SmallVector<Result, 1> results;
  /// Sets of operands (bit i: operands[i]) in which, taken together, every
  /// result is linear and homogeneous: a sum-partial over an axis in just
  /// these operands passes through as a sum-partial result.
  llvm::SmallVector<uint64_t, 2> linear;
  /// How it must be cut, if that is given.
  std::optional<Strategy> pinned;
  int64_t priority = 0; ///< of the pin: the higher spreads first
  /// For times: arithmetic operations per point of the iteration space, a
  /// multiply-add being two, what they are done in, and how often the operator
  /// runs, in a loop.
  int64_t flops = 1;
  Precision precision = Precision::Single;
  int64_t times = 1;
};

/// As a number of operators: after all of them.
constexpr unsigned kEnd = ~0u;

struct Value {
  llvm::SmallVector<int64_t, 4> shape;
  /// Of one element, as often as it moves: `times`, in a loop.
  int64_t elementBytes = 4;
  int64_t times = 1;
  /// Of one element, where it lies.
  double bytesOnce() const {
    return times ? double(elementBytes) / double(times) : 0;
  }
  /// A constant: every device has all of it, at no cost, whatever is cut.
  bool constant = false;
  /// Never left partial: it crosses a function boundary, say.
  bool neverPartial = false;
  /// How it must lie, if that is given.
  std::optional<Layout> pinned;
  int64_t priority = 0; ///< of the pin: the higher spreads first
  /// Dims (bit i: dim i) that must not be cut.
  uint64_t forbidden = 0;
  /// Operators that run before it is there, if none of them produces it, and
  /// before it may go, if its last use is earlier: it is used again the next
  /// time around a loop, say, or is not the program's to free.
  unsigned heldFrom = 0, heldTo = 0;
};

/// The dims of a value: those that must not be cut are unsplittable.
llvm::SmallVector<IterationDim, 4> dimsOf(const Value &value);

/// A value that must end up in the layout of another one, such as the updated
/// weight of a training step in that of the weight. `from` is needed in the
/// layout of `to`, like an operand.
struct Carried {
  unsigned from = 0, to = 0;
  unsigned after = kEnd; ///< operators that run before it moves
};

/// Operators are in program order; a value is produced by at most one of them
/// (none: an argument or a constant). The values of a class in `tied` have one
/// layout, never partial; a value is in one class at most.
struct PartitionGraph {
  std::vector<Operator> operators;
  std::vector<Value> values;
  std::vector<Carried> carried;
  std::vector<llvm::SmallVector<unsigned, 2>> tied;
};

/// Whether dim `i` of an operator may be cut where its dims are cut as given:
/// it is not unsplittable, nor after a dim that still has several indices in a
/// part.
bool isSplittable(llvm::ArrayRef<IterationDim> dims, unsigned i,
                  llvm::ArrayRef<Axes> cuts, const Mesh &mesh);

/// What one operator, or one carried value, receives: bytes over all devices.
struct Bytes {
  llvm::SmallVector<int64_t, 4> operands, results;
};

struct Plan {
  Mesh mesh;
  std::vector<Strategy> strategies; ///< per operator
  std::vector<Layout> layouts;      ///< per value
  int64_t totalBytes = 0;
  std::vector<Bytes> operatorBytes;  ///< per operator; with `carriedBytes`
  std::vector<int64_t> carriedBytes; ///< they sum to `totalBytes`
  /// In picoseconds, if they have been counted. Per operator, its work and what
  /// it receives; with `carriedTimes` they sum to `totalTime`.
  int64_t totalTime = 0, workTime = 0;
  std::vector<int64_t> operatorTimes, carriedTimes;
};

/// Where operand `i` of `op` is needed under `strategy`, but for an initial
/// value of a cut reduction.
Placement operandPlacement(const Operator &op, unsigned i,
                           const Strategy &strategy);

/// What `op` produces of result `i` under `strategy`.
Placement resultPlacement(const Operator &op, unsigned i,
                          const Strategy &strategy);

/// Axes that cut a reduction dim of `op` under `strategy`, in mesh order.
Axes reductionAxes(const Operator &op, const Strategy &strategy);

/// Axes over which the results of `op` are partial under `strategy`: those
/// that cut a reduction dim, and those that pass through. In mesh order.
Axes partialAxes(const Operator &op, const Strategy &strategy);

/// Those of `partialAxes` over which the partial results add up: over these a
/// result may stay partial.
Axes sumPartialAxes(const Operator &op, const Strategy &strategy);

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_PARTITIONGRAPH_H
