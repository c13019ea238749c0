//===- RowGroups.h - Operations that one kernel does row by row -*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row is what all operations of a group have of one point of some parallel
// loops, which all of them have: what one of them makes of a row the others
// need of the same row only. So threads that have a row can do one operation
// after the other. Softmax is such a group, and so is a normalization.
//
// Tensors are named by themselves and buffers by themselves; reshapes that only
// add or drop dims of size 1 are looked through.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_ROWGROUPS_H
#define TOFU_LIB_CONVERSION_ROWGROUPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::tofu {

/// One operation of a group.
struct RowMember {
  linalg::LinalgOp op;
  /// For each output the fill that it starts from, on buffers; mostly null.
  SmallVector<linalg::FillOp> fills;
  /// Its loop for each dim of the rows, and the others but those of size 1.
  SmallVector<unsigned> rowLoops, innerLoops;
  /// True if its inner loops are reductions, so that it has a value per row;
  /// otherwise a value per row if there are none.
  bool reduces = false;

  bool hasValuePerRow() const { return reduces || innerLoops.empty(); }
};

/// How a group uses one tensor or buffer.
struct RowSlot {
  /// For each of its dims that aren't of size 1 the dim of the rows that
  /// indexes it; -1 for others.
  SmallVector<int> dims;
  /// False if it is used in several ways, or not row by row.
  bool isByRow = true;
  bool isRead = false, isWritten = false;
  /// True if the group writes it before it reads it, and each row has one
  /// value.
  bool isMadePerRow = false;
};

/// The tensor or buffer that `value` is a view of, by reshapes that add or drop
/// dims of size 1.
Value skipUnitReshapes(Value value);

/// How threads share the rows of a group.
struct RowPlan {
  /// The dims of the rows, the one in which neighbouring rows differ last.
  SmallVector<unsigned> dims;
  /// Threads of a block that share a row; true if these are neighbours.
  int64_t threadsPerRow = 1;
  bool sharersAreNeighbours = false;
  /// The number of rows, and of elements of the longest; nothing if unknown.
  std::optional<int64_t> numRows, length;
};

/// Operations over the same rows, in order.
class RowGroup {
public:
  /// A group without members. `reassociate`: sums and products of floats may be
  /// computed in any order.
  RowGroup(unsigned numRowDims, bool reassociate)
      : reassociate(reassociate), numRowDims(numRowDims) {}

  /// Adds `op`, which comes after all members, if it fits. `fills` has the fill
  /// that each output starts from; nothing on tensors.
  bool add(linalg::LinalgOp op, ArrayRef<linalg::FillOp> fills = {});

  /// Adds the first member; `rows` are its loops over the dims of the rows.
  bool addFirst(linalg::LinalgOp op, ArrayRef<unsigned> rows,
                ArrayRef<linalg::FillOp> fills = {});

  RowPlan plan() const;
  /// True if one kernel for the group is better than several.
  bool helps() const;

  ArrayRef<RowMember> getMembers() const { return members; }
  /// By what skipUnitReshapes gives.
  const llvm::MapVector<Value, RowSlot> &getSlots() const { return slots; }

private:
  bool addMember(RowMember member);
  bool findRowLoops(RowMember &member) const;
  bool classify(RowMember &member) const;

  bool reassociate;
  unsigned numRowDims;
  SmallVector<RowMember, 0> members;
  llvm::MapVector<Value, RowSlot> slots;
};

/// What lies around the members of groups of a block, on tensors or on buffers.
class RowSurroundings {
public:
  virtual ~RowSurroundings() = default;
  /// True if members before `op` can't be done after it.
  virtual bool separates(const RowGroup &group, Operation &op) = 0;
  /// True if `op` may be a member as far as memory is concerned; `fills` gets
  /// the fills that its outputs start from.
  virtual bool fits(const RowGroup &group, linalg::LinalgOp op,
                    SmallVectorImpl<linalg::FillOp> &fills) = 0;
};

/// True if what `op` reads and writes are its operands and what it captures,
/// and the order of it and of members that use other memory makes no
/// difference.
bool canPassRows(Operation &op);

/// The groups of a block that help. No two share a member, and all members of
/// one can be done where its last member is.
SmallVector<RowGroup, 0> findRowGroups(Block &block, bool reassociate,
                                       RowSurroundings &surroundings);

/// The same of operations on tensors.
SmallVector<RowGroup, 0> findRowGroupsOnTensors(Block &block, bool reassociate);

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_ROWGROUPS_H
