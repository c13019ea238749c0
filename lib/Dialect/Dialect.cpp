//===- Dialect.cpp - The tofu dialect -------------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect's registration, and the verification of the discardable
// attributes that hold the plan.
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/BufferOps.h"
#include "Tofu/Dialect/Placement.h"
#include "Tofu/Dialect/Tofu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::tofu;

#include "Tofu/Dialect/TofuDialect.cpp.inc"
#include "Tofu/Dialect/TofuInterfaces.cpp.inc"

void TofuDialect::initialize() {
  registerAttributes();
  registerOps();
}

void TofuDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "Tofu/Dialect/TofuOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Tofu/Dialect/TofuBufferOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Semantics
//===----------------------------------------------------------------------===//

/// Checks an access against a tensor: its rank, and that it stays within.
static LogicalResult verifyAccess(function_ref<InFlightDiagnostic()> emitError,
                                  const search::Operator &op,
                                  ArrayRef<search::LinearExpr> index,
                                  ArrayRef<int64_t> shape, bool covers) {
  if (index.size() != shape.size())
    return emitError() << "semantics has " << index.size()
                       << " dims, tensor has " << shape.size();
  SmallVector<search::Interval> all;
  for (const search::IterationDim &dim : op.dims)
    all.push_back({0, dim.size});
  for (auto [dim, expr] : llvm::enumerate(index)) {
    if (ShapedType::isDynamic(shape[dim]))
      continue;
    search::Interval image = search::image(expr, all, shape[dim]);
    if (covers && image.size() != shape[dim])
      return emitError() << "dim " << dim << " is written in ["
                         << image.lo << ", " << image.hi << "), its size is "
                         << shape[dim];
  }
  return success();
}

static LogicalResult verifySemantics(Operation *op, SemanticsAttr semantics) {
  SmallVector<Value> operands = getTensorOperands(op);
  if (semantics.getOperands().size() != operands.size())
    return op->emitOpError()
           << "semantics has " << semantics.getOperands().size()
           << " operands, operation has " << operands.size() << " tensors";
  if (semantics.getResults().size() != op->getNumResults())
    return op->emitOpError()
           << "semantics has " << semantics.getResults().size()
           << " results, operation has " << op->getNumResults();
  FailureOr<search::Operator> described = semantics.getOperator();
  if (failed(described))
    return success();
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (!semantics.getOperands()[i].getRead())
      continue;
    auto emitError = [&, i = i]() -> InFlightDiagnostic {
      return op->emitOpError() << "operand " << i << ": ";
    };
    if (failed(verifyAccess(emitError, *described, described->operands[i].index,
                            cast<RankedTensorType>(operand.getType()).getShape(),
                            /*covers=*/false)))
      return failure();
  }
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    auto emitError = [&, i = i]() -> InFlightDiagnostic {
      return op->emitOpError() << "result " << i << ": ";
    };
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      return emitError() << "semantics of " << result.getType()
                         << ", which is no ranked tensor";
    if (failed(verifyAccess(emitError, *described, described->results[i].index,
                            type.getShape(), /*covers=*/true)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

static LogicalResult verifyStrategy(Operation *op, StrategyAttr strategy) {
  MeshOp mesh = lookupMesh(op, strategy.getMesh());
  if (!mesh)
    return op->emitOpError() << "unknown mesh: " << strategy.getMesh();
  auto semantics = op->getAttrOfType<SemanticsAttr>(TofuDialect::kSemantics);
  if (!semantics)
    return op->emitOpError() << "a strategy needs semantics";
  if (semantics.getDims().size() != strategy.getDims().size())
    return op->emitOpError() << "strategy has " << strategy.getDims().size()
                             << " dims, semantics has "
                             << semantics.getDims().size();
  for (int64_t operand : strategy.getPartialOperands())
    if (operand < 0 || operand >= int64_t(semantics.getOperands().size()))
      return op->emitOpError() << "no operand " << operand;
  for (auto [i, dim] : llvm::enumerate(semantics.getDims()))
    if (dim.getKind() == DimKind::Unsplittable &&
        !strategy.getDims()[i].empty())
      return op->emitOpError()
             << "dim " << dim.getName().getValue() << " is unsplittable";
  // A strategy uses axes as a layout does.
  MLIRContext *context = op->getContext();
  bool partial = !strategy.getPartial().empty();
  auto asLayout = LayoutAttr::get(
      context, strategy.getMesh(), strategy.getDims(), strategy.getPartial(),
      partial ? Combiner::Sum : Combiner::None);
  auto emitError = [&]() -> InFlightDiagnostic {
    return op->emitOpError() << "strategy: ";
  };
  SmallVector<int64_t> shape(strategy.getDims().size());
  return asLayout.verifyPlacement(emitError, shape, mesh.getMesh());
}

static LogicalResult verifyLayout(Operation *op, const Twine &what, Type type,
                                  Attribute attr) {
  auto layout = dyn_cast<LayoutAttr>(attr);
  if (!layout)
    return op->emitOpError() << what << " has no #tofu.layout";
  // Below tensors, a layout still says what a buffer or a pointer holds.
  if (type.isIntOrIndexOrFloat() || isa<UnrankedTensorType>(type))
    return op->emitOpError() << what << " has a layout, but is no ranked tensor";
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success();
  MeshOp mesh = lookupMesh(op, layout.getMesh());
  if (!mesh)
    return op->emitOpError() << "unknown mesh: " << layout.getMesh();
  std::string prefix = (what + ": ").str();
  return layout.verifyPlacement(
      [&]() -> InFlightDiagnostic { return op->emitOpError() << prefix; },
      tensor.getShape(), mesh.getMesh());
}

static LogicalResult verifyLayouts(Operation *op, Attribute attr) {
  auto layouts = dyn_cast<ArrayAttr>(attr);
  if (!layouts)
    return op->emitOpError() << "layouts must be an array";
  if (layouts.size() != op->getNumResults())
    return op->emitOpError() << layouts.size() << " layouts for "
                             << op->getNumResults() << " results";
  for (auto [i, layout] : llvm::enumerate(layouts))
    if (!isa<UnitAttr>(layout) &&
        failed(verifyLayout(op, "result " + Twine(i),
                            op->getResult(i).getType(), layout)))
      return failure();
  return success();
}

LogicalResult TofuDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  StringRef name = attr.getName();
  auto misplaced = [&](StringRef wanted) {
    return op->emitOpError() << name << " must be a " << wanted;
  };
  if (name == kSemantics) {
    auto semantics = dyn_cast<SemanticsAttr>(attr.getValue());
    if (!semantics)
      return misplaced("#tofu.semantics");
    if (isa<FunctionOpInterface>(op))
      return success();
    return verifySemantics(op, semantics);
  }
  if (name == kStrategy) {
    auto strategy = dyn_cast<StrategyAttr>(attr.getValue());
    return strategy ? verifyStrategy(op, strategy)
                    : misplaced("#tofu.strategy");
  }
  if (name == kLayouts)
    return verifyLayouts(op, attr.getValue());
  return op->emitOpError() << "unknown attribute: " << name;
}

static LogicalResult verifyBoundary(Operation *op, const Twine &what, Type type,
                                    NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name == TofuDialect::kLayout)
    return verifyLayout(op, what, type, attr.getValue());
  if (name == TofuDialect::kGlobalType) {
    auto global = dyn_cast<TypeAttr>(attr.getValue());
    if (global && isa<RankedTensorType>(global.getValue()))
      return success();
    return op->emitOpError() << what << ": " << name
                             << " must be a ranked tensor type";
  }
  if (name == TofuDialect::kCarriedTo) {
    if (isa<IntegerAttr>(attr.getValue()))
      return success();
    return op->emitOpError() << what << ": " << name << " must be an integer";
  }
  return op->emitOpError() << what << ": unknown attribute: " << name;
}

LogicalResult TofuDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned i,
                                                    NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || i >= function.getNumArguments())
    return op->emitOpError() << attr.getName() << " stands on functions only";
  return verifyBoundary(op, "argument " + Twine(i),
                        function.getArgumentTypes()[i], attr);
}

LogicalResult TofuDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                       unsigned i,
                                                       NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || i >= function.getNumResults())
    return op->emitOpError() << attr.getName() << " stands on functions only";
  return verifyBoundary(op, "result " + Twine(i), function.getResultTypes()[i],
                        attr);
}
