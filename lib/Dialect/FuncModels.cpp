//===- FuncModels.cpp - Semantics of calls --------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call of a function that is outside of the program is an operator of the
// user's, and the declaration carries its semantics.
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/BufferOps.h"
#include "Tofu/Dialect/Combiners.h"
#include "Tofu/Dialect/Models.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::tofu;

static SemanticsAttr computeCall(func::CallOp op, std::string &why) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, op.getCalleeAttr());
  if (!callee || !callee.isExternal()) {
    why = "its callee has a body that can't be inlined";
    return {};
  }
  auto semantics =
      callee->getAttrOfType<SemanticsAttr>(TofuDialect::kSemantics);
  if (!semantics)
    why = "the declaration of its callee has no tofu.semantics";
  return semantics;
}

//===----------------------------------------------------------------------===//
// Local pieces
//===----------------------------------------------------------------------===//

/// The dims of which some devices may have a part while others have none: those
/// that are cut, if their size is unknown.
static llvm::SmallBitVector findSometimesEmpty(const LocalPiece &piece) {
  llvm::SmallBitVector empty(piece.semantics.getDims().size());
  SmallVector<int64_t> shape;
  for (auto [dim, axes] :
       llvm::zip_equal(piece.semantics.getDims(), piece.strategy.getDims())) {
    bool isUnknown = ShapedType::isDynamic(dim.getSize());
    if (isUnknown && !axes.empty())
      empty.set(shape.size());
    shape.push_back(isUnknown ? 0 : dim.getSize());
  }
  MLIRContext *context = piece.op->getContext();
  auto space = LayoutAttr::get(
      context, piece.strategy.getMesh(), piece.strategy.getDims(),
      AxesAttr::get(context, ArrayRef<StringAttr>()), Combiner::None);
  for (const search::Box &part :
       space.getPlacement(shape, piece.mesh).boxes(shape, piece.mesh))
    for (auto [dim, interval] : llvm::enumerate(part))
      if (shape[dim] && interval.size() == 0)
        empty.set(dim);
  return empty;
}

/// True if this device has a part of all of `dims`, or nobody has.
static Value createHasPart(LocalPiece &piece,
                           const llvm::SmallBitVector &dims) {
  OpBuilder &builder = piece.builder;
  Location loc = piece.op->getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  GlobalShape shape = piece.iterationShape();
  Value all;
  for (unsigned dim : dims.set_bits()) {
    Value size =
        getValueOrCreateConstantIndexOp(builder, loc, piece.iterationSize(dim));
    Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                       size, zero);
    if (ShapedType::isDynamic(shape.sizes[dim])) {
      Value whole = getValueOrCreateConstantIndexOp(
          builder, loc, shape.getSize(builder.getContext(), dim));
      Value none = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         whole, zero);
      some = arith::OrIOp::create(builder, loc, some, none);
    }
    all =
        all ? arith::AndIOp::create(builder, loc, all, some).getResult() : some;
  }
  return all;
}

/// An input in the place of an operand that isn't read.
static Value createUnread(LocalPiece &piece, RankedTensorType type) {
  return tensor::EmptyOp::create(piece.builder, piece.op->getLoc(),
                                 SmallVector<int64_t>(type.getRank(), 0),
                                 type.getElementType());
}

static SmallVector<Value> createInputs(LocalPiece &piece) {
  SmallVector<Value> inputs;
  auto *next = piece.operands.begin();
  for (Value operand : piece.op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type) {
      inputs.push_back(piece.mapping.lookupOrDefault(operand));
      continue;
    }
    Value local = *next++;
    inputs.push_back(local ? local : createUnread(piece, type));
  }
  return inputs;
}

/// Memory for the results. Where a part of a reduction may be empty, it holds
/// what such a part contributes.
static FailureOr<SmallVector<Value>>
createOuts(LocalPiece &piece, const llvm::SmallBitVector &sometimesEmpty) {
  bool reduces = llvm::any_of(sometimesEmpty.set_bits(), [&](unsigned dim) {
    return piece.semantics.getDims()[dim].getKind() == DimKind::Reduction;
  });
  SmallVector<Value> outs;
  for (unsigned i = 0; i < piece.op->getNumResults(); ++i) {
    Value &out = outs.emplace_back(piece.emptyResult(i));
    if (!reduces)
      continue;
    Location loc = piece.op->getLoc();
    Combiner combiner =
        piece.semantics.getCombiner(piece.strategy.resolve(piece.mesh), i);
    Type element = cast<RankedTensorType>(out.getType()).getElementType();
    Value neutral = createNeutralScalar(piece.builder, loc, element, combiner);
    if (!neutral)
      return piece.op->emitOpError()
             << "result " << i << ": " << element
             << " has no neutral element of " << stringifyCombiner(combiner);
    out = linalg::FillOp::create(piece.builder, loc, neutral, out).getResult(0);
  }
  return outs;
}

/// The call on this device's part; a device without one calls nothing.
static FailureOr<SmallVector<Value>> createLocalCall(LocalPiece &piece) {
  auto op = cast<func::CallOp>(piece.op);
  std::string why;
  if (!computeCall(op, why))
    return op.emitOpError() << "can't be cut: " << why;
  llvm::SmallBitVector sometimesEmpty = findSometimesEmpty(piece);
  SmallVector<Value> inputs = createInputs(piece);
  FailureOr<SmallVector<Value>> outs = createOuts(piece, sometimesEmpty);
  if (failed(outs))
    return failure();
  Value hasPart =
      sometimesEmpty.any() ? createHasPart(piece, sometimesEmpty) : Value();
  auto call =
      CallOp::create(piece.builder, op.getLoc(), TypeRange(ValueRange(*outs)),
                     op.getCalleeAttr(), inputs, *outs, hasPart);
  return SmallVector<Value>(call.getResults());
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
struct CallModel
    : public PartitionableOpInterface::ExternalModel<CallModel, func::CallOp> {
  SemanticsAttr computeSemantics(Operation *op, std::string &why) const {
    return computeCall(cast<func::CallOp>(op), why);
  }
  FailureOr<SmallVector<Value>> createLocal(Operation *,
                                            LocalPiece &piece) const {
    return createLocalCall(piece);
  }
};
} // namespace

void mlir::tofu::registerFuncModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, func::FuncDialect *) {
    func::CallOp::attachInterface<CallModel>(*context);
  });
}
