//===- BufferOps.cpp - Operations near the runtime ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/BufferOps.h"
#include "Tofu/Dialect/Placement.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::tofu;

#include "Tofu/Dialect/TofuBufferEnums.cpp.inc"

//===----------------------------------------------------------------------===//
// CollectiveBufferOp
//===----------------------------------------------------------------------===//

/// Checks a buffer against the boxes that the devices have of the value.
static LogicalResult verifyBuffer(CollectiveBufferOp op, StringRef name,
                                  MemRefType type,
                                  PlacementAttrInterface placement) {
  ArrayRef<int64_t> shape = op.getGlobalShape();
  if (type.getRank() != static_cast<int64_t>(shape.size()))
    return op.emitOpError() << name << " has " << type.getRank()
                            << " dims, the value has " << shape.size();
  MeshOp mesh = lookupMesh(op, placement.getMesh());
  if (!mesh)
    return op.emitOpError() << "unknown mesh: " << placement.getMesh();
  return placement.verifyPlacement(
      [&] { return op.emitOpError() << name << ": "; }, shape, mesh.getMesh());
}

static PartialRule getPartialRule(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllReduce:
  case CollectiveKind::ReduceScatter:
    return PartialRule::Combines;
  case CollectiveKind::AllGather:
  case CollectiveKind::AllToAll:
    return PartialRule::Keeps;
  case CollectiveKind::Fetch:
    return PartialRule::Any;
  }
  llvm_unreachable("unknown kind of collective");
}

LogicalResult CollectiveBufferOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto dest = cast<MemRefType>(getDest().getType());
  if (source.getElementType() != dest.getElementType())
    return emitOpError() << "source holds " << source.getElementType()
                         << ", dest holds " << dest.getElementType();
  if (failed(verifyShape(*this, getShape())))
    return failure();
  if (failed(verifyBuffer(*this, "source", source, getFrom())) ||
      failed(verifyBuffer(*this, "dest", dest, getTo())))
    return failure();
  if (getFrom().getMesh() != getTo().getMesh())
    return emitOpError() << "from is on " << getFrom().getMesh() << ", to on "
                         << getTo().getMesh();
  return verifyPartialAxes(
      [&]() -> InFlightDiagnostic { return emitOpError(); },
      getPartialRule(getKind()), "source", getFrom(), "dest", getTo());
}

//===----------------------------------------------------------------------===//
// ContractOp
//===----------------------------------------------------------------------===//

/// Takes down the dims of an index, each of which may appear once in a map.
static bool addDims(AffineExpr expr, bool takesSums,
                    llvm::SmallBitVector &seen) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    bool isNew = !seen.test(dim.getPosition());
    seen.set(dim.getPosition());
    return isNew;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || !takesSums)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return addDims(binary.getLHS(), takesSums, seen) &&
           addDims(binary.getRHS(), takesSums, seen);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && factor &&
         factor.getValue() > 0 && isa<AffineDimExpr>(binary.getLHS()) &&
         addDims(binary.getLHS(), takesSums, seen);
}

/// Checks the form of each result of a map.
static LogicalResult verifyMap(ContractOp op, unsigned operand) {
  AffineMap map = op.getMap(operand);
  int64_t rank = cast<ShapedType>(op->getOperand(operand).getType()).getRank();
  if (map.getNumResults() != rank)
    return op.emitOpError()
           << "map " << operand << " has " << map.getNumResults()
           << " results, operand has " << rank << " dims";
  if (map.getNumDims() != op.getMap(0).getNumDims() || map.getNumSymbols())
    return op.emitOpError()
           << "map " << operand << " is not over the dims of map 0";
  llvm::SmallBitVector seen(map.getNumDims());
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (constant ? constant.getValue() != 0
                 : !addDims(expr, /*takesSums=*/operand < 2, seen))
      return op.emitOpError() << "result " << i << " of map " << operand
                              << " is neither 0 nor made of dims of its own: "
                              << AffineMapAttr::get(map);
  }
  return success();
}

/// Checks what follows the sums.
static LogicalResult verifyEpilogue(ContractOp op) {
  Type type = getElementTypeOrSelf(op.getOut());
  if (op.hasEpilogue() && !isa<FloatType>(type))
    return op.emitOpError() << "has an epilogue, which elements of type "
                            << type << " don't have";
  if (!op.getBias())
    return success();
  if (getElementTypeOrSelf(op.getBias()) != type)
    return op.emitOpError()
           << "bias holds " << getElementTypeOrSelf(op.getBias())
           << ", out holds " << type;
  for (AffineExpr expr : op.getMap(3).getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr);
        dim && !op.getMap(2).isFunctionOfDim(dim.getPosition()))
      return op.emitOpError() << "bias is indexed by d" << dim.getPosition()
                              << ", which out is not";
  return success();
}

LogicalResult ContractOp::verify() {
  unsigned numMaps = getBias() ? 4 : 3;
  if (getMaps().size() != numMaps)
    return emitOpError() << "has " << getMaps().size() << " maps instead of "
                         << numMaps;
  for (unsigned operand = 0; operand < numMaps; ++operand)
    if (failed(verifyMap(*this, operand)))
      return failure();
  if (failed(verifyEpilogue(*this)))
    return failure();
  Type lhs = getElementTypeOrSelf(getLhs()),
       rhs = getElementTypeOrSelf(getRhs());
  if (lhs != rhs)
    return emitOpError() << "lhs holds " << lhs << ", rhs holds " << rhs;
  bool onTensors = isa<TensorType>(getOut().getType());
  if (getNumResults() != onTensors)
    return emitOpError() << "has " << getNumResults() << " results, needs "
                         << onTensors;
  if (onTensors && getOut().getType() != getResult(0).getType())
    return emitOpError() << "out is " << getOut().getType() << ", result is "
                         << getResult(0).getType();
  return success();
}

void ContractOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool isOut = operand.getOperandNumber() == 2;
    if (!isOut || getAccumulate())
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (isOut)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

//===----------------------------------------------------------------------===//
// CallOp
//===----------------------------------------------------------------------===//

/// True if a part may have another size than the whole along a dim with this
/// index.
static bool maySizeVary(SemanticsAttr semantics, AffineExpr index) {
  if (!index)
    return false;
  for (auto [i, dim] : llvm::enumerate(semantics.getDims()))
    if (dim.getKind() != DimKind::Unsplittable && index.isFunctionOfDim(i))
      return true;
  return false;
}

/// True if what is `given` can be passed as what is `declared`, which `access`
/// describes if anything does.
static bool canPass(Type declared, Type given, SemanticsAttr semantics,
                    AccessAttr access) {
  auto from = dyn_cast<ShapedType>(declared), to = dyn_cast<ShapedType>(given);
  if (!from || !to)
    return declared == given;
  if (from.getElementType() != to.getElementType() || !from.hasRank() ||
      !to.hasRank() || from.getRank() != to.getRank())
    return false;
  if (access && !access.getRead())
    return true;
  for (auto [dim, sizes] :
       llvm::enumerate(llvm::zip_equal(from.getShape(), to.getShape()))) {
    auto [want, have] = sizes;
    bool same = want == have || ShapedType::isDynamic(want) ||
                ShapedType::isDynamic(have);
    bool varies = access && dim < access.getIndex().size() &&
                  maySizeVary(semantics, access.getIndex()[dim]);
    if (!same && !varies)
      return false;
  }
  return true;
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getCalleeAttr());
  if (!callee)
    return emitOpError() << "unknown function: " << getCalleeAttr();
  if (!callee.isExternal())
    return emitOpError() << getCalleeAttr() << " has a body";
  if (callee.getNumArguments() != getInputs().size() ||
      callee.getNumResults() != getOuts().size())
    return emitOpError() << "has " << getInputs().size() << " inputs and "
                         << getOuts().size() << " outs, " << getCalleeAttr()
                         << " has " << callee.getNumArguments()
                         << " arguments and " << callee.getNumResults()
                         << " results";
  auto semantics =
      callee->getAttrOfType<SemanticsAttr>(TofuDialect::kSemantics);
  auto verify = [&](StringRef what, TypeRange declared, TypeRange given,
                    ArrayRef<AccessAttr> accesses) -> LogicalResult {
    for (auto [i, want, have] : llvm::enumerate(declared, given)) {
      // Semantics are about tensors only.
      AccessAttr access;
      if (isa<RankedTensorType, MemRefType>(want) && !accesses.empty()) {
        access = accesses.front();
        accesses = accesses.drop_front();
      }
      if (!canPass(want, have, semantics, access))
        return emitOpError() << what << ' ' << i << " is " << have << ", "
                             << getCalleeAttr() << " declares " << want;
    }
    return success();
  };
  ArrayRef<AccessAttr> operands, results;
  if (semantics) {
    operands = semantics.getOperands();
    results = semantics.getResults();
  }
  return success(succeeded(verify("input", callee.getArgumentTypes(),
                                  getInputs().getTypes(), operands)) &&
                 succeeded(verify("out", callee.getResultTypes(),
                                  getOuts().getTypes(), results)));
}

//===----------------------------------------------------------------------===//
// GlobalMemoryOp
//===----------------------------------------------------------------------===//

LogicalResult GlobalMemoryOp::verify() {
  auto type = cast<MemRefType>(getMemory().getType());
  if (!type.getLayout().isIdentity())
    return emitOpError() << "memory must be dense, not " << type;
  if (type.getNumDynamicDims() != getSizes().size())
    return emitOpError() << "has " << getSizes().size() << " sizes, " << type
                         << " has " << type.getNumDynamicDims()
                         << " dims of unknown size";
  return success();
}

#define GET_OP_CLASSES
#include "Tofu/Dialect/TofuBufferOps.cpp.inc"
