//===- NestEmitter.h - Loops, loads and stores of one operation -*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_NESTEMITTER_H
#define TOFU_LIB_CONVERSION_NESTEMITTER_H

#include "LoopNest.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::tofu {

/// Loops that are emitted as one, outermost first, and how many of these, from
/// the innermost on, hand the values of the outputs on in registers.
struct NestPlan {
  SmallVector<SmallVector<unsigned>> groups;
  unsigned numAccumulating = 0;

  bool isAccumulating(unsigned group) const {
    return group >= groups.size() - numAccumulating;
  }
};

/// The loops in `order`, those over contiguous memory as one.
NestPlan planLoops(linalg::LinalgOp op, ArrayRef<unsigned> order);

/// True if the loops outside of the accumulation come to each element of the
/// outputs just once.
bool visitsOutputsOnce(linalg::LinalgOp op, const NestPlan &plan);

/// `first` if it is a fill of what the operation right after it starts from.
linalg::FillOp getStart(linalg::LinalgOp first, linalg::LinalgOp second);

/// Emits the loops of one operation on buffers.
class NestEmitter {
public:
  /// `sizes` are those of the loops. The accumulation starts from the value of
  /// `fill`, if there is one.
  NestEmitter(OpBuilder &builder, linalg::LinalgOp op, linalg::FillOp fill,
              NestPlan plan, ArrayRef<OpFoldResult> sizes, bool reassociate);

  /// Emits the loops from `group` inwards; those around it have their
  /// iteration by `setIteration`.
  void emitLoops(unsigned group);

  /// Emits one iteration; returns what it yields.
  SmallVector<Value> emitBody(ValueRange accumulators) {
    return emitBody(accumulators, loadInputs());
  }
  /// The same of inputs that were loaded before, with the same iteration.
  SmallVector<Value> emitBody(ValueRange accumulators, ArrayRef<Value> inputs);
  /// Null for those that the body doesn't look at.
  SmallVector<Value> loadInputs();

  /// Emits that many iterations of `group`, from its present one on, and stores
  /// what they yield: loads come before all else, and stores after it.
  /// `getInitials` gives what the outputs of an iteration start from.
  void emitNeighbours(unsigned group, int64_t number,
                      llvm::function_ref<SmallVector<Value>()> getInitials);
  /// Emits that many iterations of `group`, each of which goes on with what the
  /// one before yields; loads come before all else. Returns what the last one
  /// yields.
  SmallVector<Value> accumulateNeighbours(unsigned group, int64_t number,
                                          ValueRange accumulators);

  Value getBound(unsigned group) const { return bounds[group]; }
  void setBound(unsigned group, Value bound) { bounds[group] = bound; }
  /// Iteration `first` plus `more`. Addresses are that of the first plus a
  /// constant, from which LLVM sees that they are neighbours.
  void setIteration(unsigned group, Value first, int64_t more = 0);

  /// Takes a number apart into the iterations of groups, the last one fastest.
  void setIterations(Value number, ArrayRef<unsigned> groups);

  /// The number of iterations of groups together.
  Value getProduct(ArrayRef<unsigned> groups);

  Value getIteration(unsigned group) const {
    return firsts[plan.groups[group].back()];
  }

  /// What the accumulation of an output starts from.
  Value getInitial(unsigned output);
  /// The same of all outputs; null for those that the body doesn't look at.
  SmallVector<Value> getInitials();
  void storeOutput(unsigned output, Value value);

  Value getZero() const { return zero; }
  Value getOne() const { return one; }

private:
  /// Reads or writes of one operand: all strides known, or by its indices.
  struct Access {
    OpOperand *operand;
    Value buffer;
    Strides strides;
    bool isFlat;
  };

  Access makeAccess(OpOperand &operand);
  Value makeFlat(Value buffer, AffineMap map, const Strides &strides);
  OpFoldResult getSpan(const Strides &strides);
  SmallVector<SmallVector<Value>>
  loadNeighbours(unsigned group, int64_t number,
                 llvm::function_ref<SmallVector<Value>()> load);
  SmallVector<Value> emitAccumulation(unsigned group, ValueRange accumulators);
  void limitUnrolling(scf::ForOp loop, unsigned group);
  void cloneBody(IRMapping &mapping);
  Value load(Access &access);
  void store(Access &access, Value value);
  SmallVector<Value> getIndices(Access &access);

  OpBuilder &builder;
  Location loc;
  linalg::LinalgOp op;
  linalg::FillOp fill;
  NestPlan plan;
  SmallVector<OpFoldResult> sizes;
  bool reassociate;
  Value zero, one;
  SmallVector<Value> bounds;
  /// Induction variable of each loop that is the last of its group, and what
  /// it is the sum of.
  SmallVector<Value> ivs, firsts;
  SmallVector<int64_t> more;
  SmallVector<Access> accesses;
  SmallVector<Operation *> combiners;
};

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_NESTEMITTER_H
