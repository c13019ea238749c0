//===- Models.cpp - What the models of upstream operations share ----------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/Models.h"

#include "Tiling.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::tofu;

AffineExpr SemanticsBuilder::addDim(int64_t size, DimKind kind,
                                    ArrayRef<Combiner> combiners) {
  auto name = StringAttr::get(context, "d" + Twine(dims.size()));
  dims.push_back(IterationDimAttr::get(context, name, size, kind, combiners,
                                       StringAttr(), /*covering=*/false));
  return getAffineDimExpr(dims.size() - 1, context);
}

AffineExpr SemanticsBuilder::addDimAfter(AffineExpr outer, int64_t size) {
  AffineExpr expr = addDim(size);
  IterationDimAttr &dim = dims.back();
  dim = IterationDimAttr::get(
      context, dim.getName(), size, dim.getKind(), dim.getCombiners(),
      dims[cast<AffineDimExpr>(outer).getPosition()].getName(),
      /*covering=*/false);
  return expr;
}

AffineExpr SemanticsBuilder::addCoveringDim() {
  AffineExpr expr = addDim(ShapedType::kDynamic);
  IterationDimAttr &dim = dims.back();
  dim = IterationDimAttr::get(context, dim.getName(), dim.getSize(),
                              dim.getKind(), dim.getCombiners(), dim.getAfter(),
                              /*covering=*/true);
  return expr;
}

static AccessAttr getAccess(MLIRContext *context, const Twine &name,
                            ArrayRef<AffineExpr> index,
                            int64_t initOf = AccessAttr::kNoInit,
                            bool read = true) {
  return AccessAttr::get(context, StringAttr::get(context, name), index, initOf,
                         read);
}

void SemanticsBuilder::addOperand(ArrayRef<AffineExpr> index) {
  operands.push_back(getAccess(context, "in" + Twine(operands.size()), index));
}

void SemanticsBuilder::addInit(ArrayRef<AffineExpr> index, unsigned result) {
  operands.push_back(getAccess(context, "out" + Twine(result), index, result));
}

void SemanticsBuilder::addUnread() {
  operands.push_back(getAccess(context, "_", {}, AccessAttr::kNoInit, false));
}

void SemanticsBuilder::addWhole(int64_t rank) {
  addOperand(SmallVector<AffineExpr>(rank));
}

void SemanticsBuilder::addResult(ArrayRef<AffineExpr> index) {
  results.push_back(getAccess(context, "out" + Twine(results.size()), index));
}

SemanticsAttr SemanticsBuilder::build() {
  return SemanticsAttr::get(context, dims, operands, results, linear);
}

SemanticsAttr mlir::tofu::computeSemantics(Operation *op, std::string &why) {
  if (auto partitionable = dyn_cast<PartitionableOpInterface>(op))
    return partitionable.computeSemantics(why);
  if (auto tiling = dyn_cast<TilingInterface>(op))
    return computeTilingSemantics(tiling, why);
  why = "it has no semantics";
  return {};
}

bool mlir::tofu::hasModel(Operation *op) {
  return isa<PartitionableOpInterface, TilingInterface>(op);
}

FailureOr<SmallVector<Value>> mlir::tofu::createLocal(LocalPiece &piece) {
  if (auto partitionable = dyn_cast<PartitionableOpInterface>(piece.op))
    return partitionable.createLocal(piece);
  return createLocalTile(piece);
}

FailureOr<unsigned> mlir::tofu::getPartsDim(Operation *op, unsigned i,
                                            unsigned dim) {
  if (isa<PartitionableOpInterface>(op))
    return 0;
  if (auto partial = dyn_cast<PartialReductionOpInterface>(op))
    return getPartsDim(partial, i, dim);
  return op->emitOpError("does not combine its results itself");
}

FailureOr<SmallVector<Value>> mlir::tofu::createMerge(OpBuilder &builder,
                                                      Operation *op,
                                                      ValueRange parts,
                                                      unsigned dim) {
  if (auto partitionable = dyn_cast<PartitionableOpInterface>(op))
    return partitionable.createMerge(builder, parts);
  auto partial = dyn_cast<PartialReductionOpInterface>(op);
  if (!partial)
    return op->emitOpError("does not combine its results itself");
  llvm::SetVector<unsigned> dims;
  dims.insert(dim);
  FailureOr<MergeResult> merged =
      partial.mergeReductions(builder, op->getLoc(), parts, dims);
  if (failed(merged))
    return op->emitOpError("can't be put together from parts");
  return merged->replacements;
}

LogicalResult mlir::tofu::requireAllRead(const LocalPiece &piece) {
  for (auto [i, operand] : llvm::enumerate(piece.operands))
    if (!operand)
      return piece.op->emitOpError()
             << "operand " << i
             << " is not read by its semantics, but by the operation";
  return success();
}

Operation *mlir::tofu::cloneLocal(LocalPiece &piece, ArrayRef<Value> operands,
                                  TypeRange resultTypes) {
  Operation *op = piece.op;
  IRMapping mapping = piece.mapping;
  SmallVector<Value> tensors = getTensorOperands(op);
  for (auto [global, local] : llvm::zip_equal(tensors, piece.operands))
    if (local)
      mapping.map(global, local);
  Operation *clone = op->cloneWithoutRegions(mapping);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), clone->getRegions()))
    from.cloneInto(&to, mapping);
  clone->setOperands(operands);
  for (auto [result, type] : llvm::zip_equal(clone->getResults(), resultTypes))
    result.setType(type);
  for (StringRef name :
       {TofuDialect::kSemantics, TofuDialect::kStrategy, TofuDialect::kLayouts})
    clone->removeDiscardableAttr(name);
  piece.builder.insert(clone);
  return clone;
}
