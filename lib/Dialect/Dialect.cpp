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
#include "Tofu/Dialect/Combiners.h"
#include "Tofu/Dialect/Models.h"
#include "Tofu/Dialect/Placement.h"
#include "Tofu/Dialect/Tofu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/TypeUtilities.h"
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

using EmitError = function_ref<InFlightDiagnostic()>;

static LogicalResult verifyRank(EmitError emitError, AccessAttr access,
                                int64_t rank) {
  if (access.getRead() && access.getIndex().size() != size_t(rank))
    return emitError() << "semantics has " << access.getIndex().size()
                       << " dims, tensor has " << rank;
  return success();
}

static bool isNumber(Type type) {
  return type.isIntOrIndexOrFloat() || isa<ComplexType>(type);
}

/// True if `expr` takes every value between its least and its largest once.
static bool isDense(const search::LinearExpr &expr,
                    const search::Operator &op) {
  SmallVector<std::pair<int64_t, int64_t>> scales;
  for (auto [dim, coefficient] : expr.terms)
    if (op.dims[dim].size > 1)
      scales.push_back({std::abs(coefficient), op.dims[dim].size});
  llvm::sort(scales);
  int64_t reach = 1;
  for (auto [scale, size] : scales) {
    if (scale != reach)
      return false;
    reach *= size;
  }
  return true;
}

/// Checks that a result's index takes every index of the tensor once.
static LogicalResult verifyCovers(EmitError emitError,
                                  const search::Operator &op,
                                  ArrayRef<search::LinearExpr> index,
                                  ArrayRef<int64_t> shape) {
  SmallVector<search::Interval> all;
  for (const search::IterationDim &dim : op.dims)
    all.push_back({0, dim.size});
  for (auto [dim, expr] : llvm::enumerate(index)) {
    if (ShapedType::isDynamic(shape[dim]))
      continue;
    search::Interval image = search::image(expr, all, shape[dim]);
    if (image.size() != shape[dim])
      return emitError() << "dim " << dim << " is written in [" << image.lo
                         << ", " << image.hi << "), its size is " << shape[dim];
    if (!expr.whole && shape[dim] && !isDense(expr, op))
      return emitError() << "dim " << dim
                         << " is not written at each index once";
  }
  return success();
}

static LogicalResult verifyResult(EmitError emitError, AccessAttr access,
                                  const search::Operator *op, unsigned i,
                                  Type type) {
  if (!isa<RankedTensorType, MemRefType>(type))
    return emitError() << "semantics of " << type
                       << ", which is no ranked tensor";
  auto tensor = cast<ShapedType>(type);
  if (failed(verifyRank(emitError, access, tensor.getRank())))
    return failure();
  return op ? verifyCovers(emitError, *op, op->results[i].index,
                           tensor.getShape())
            : success();
}

namespace {
/// What semantics describe: the tensors that an operation or a function takes
/// and gives.
struct Described {
  Operation *op;
  StringRef kind;
  SmallVector<Type> tensors;
  TypeRange results;
};
} // namespace

/// Checks that parts of the results can be combined, with the initial values.
static LogicalResult verifyReduction(const Described &of,
                                     SemanticsAttr semantics) {
  for (auto [i, access] : llvm::enumerate(semantics.getOperands())) {
    if (access.getInitOf() < 0)
      continue;
    auto initial = cast<ShapedType>(of.tensors[i]),
         result = cast<ShapedType>(of.results[access.getInitOf()]);
    if (initial.getShape() != result.getShape() ||
        initial.getElementType() != result.getElementType())
      return of.op->emitOpError()
             << "operand " << i << ": is " << initial
             << ", the result that it is the initial value of is " << result;
  }
  for (IterationDimAttr dim : semantics.getDims()) {
    // An operation that combines its results itself knows how.
    bool isOwn = dim.combinesBy(Combiner::Region) && hasModel(of.op);
    if (dim.getKind() != DimKind::Reduction || isOwn)
      continue;
    for (auto [i, type] : llvm::enumerate(of.results)) {
      Type element = getElementTypeOrSelf(type);
      if (isNumber(element) && !getNeutral(element, dim.getCombiner(i)))
        return of.op->emitOpError()
               << "result " << i << ": values of " << element << " have no "
               << stringifyCombiner(dim.getCombiner(i));
    }
  }
  return success();
}

/// A result that is a number is the same on all devices.
static LogicalResult verifyNumber(const Described &of, SemanticsAttr semantics,
                                  unsigned i) {
  if (!semantics.getResults()[i].getIndex().empty())
    return of.op->emitOpError() << "result " << i << ": semantics has "
                                << semantics.getResults()[i].getIndex().size()
                                << " dims, a number has none";
  for (IterationDimAttr dim : semantics.getDims())
    if (dim.getKind() != DimKind::Unsplittable)
      return of.op->emitOpError()
             << "result " << i << " is a number, which every device needs; dim "
             << dim.getName().getValue() << " must be unsplittable";
  return success();
}

static LogicalResult verifySemantics(const Described &of,
                                     SemanticsAttr semantics) {
  Operation *op = of.op;
  if (semantics.getOperands().size() != of.tensors.size())
    return op->emitOpError()
           << "semantics has " << semantics.getOperands().size()
           << " operands, " << of.kind << " has " << of.tensors.size()
           << " tensors";
  if (semantics.getResults().size() != of.results.size())
    return op->emitOpError()
           << "semantics has " << semantics.getResults().size() << " results, "
           << of.kind << " has " << of.results.size();
  for (auto [i, type] : llvm::enumerate(of.tensors)) {
    auto emitError = [&, i = i]() -> InFlightDiagnostic {
      return op->emitOpError() << "operand " << i << ": ";
    };
    if (failed(verifyRank(emitError, semantics.getOperands()[i],
                          cast<ShapedType>(type).getRank())))
      return failure();
  }
  // What is covered can be told of known sizes only.
  FailureOr<search::Operator> described = semantics.hasDynamicDims()
                                              ? FailureOr<search::Operator>()
                                              : semantics.getOperator();
  for (auto [i, type] : llvm::enumerate(of.results)) {
    if (isNumber(type) && !isa<FunctionOpInterface>(op)) {
      if (failed(verifyNumber(of, semantics, i)))
        return failure();
      continue;
    }
    auto emitError = [&, i = i]() -> InFlightDiagnostic {
      return op->emitOpError() << "result " << i << ": ";
    };
    if (failed(verifyResult(emitError, semantics.getResults()[i],
                            succeeded(described) ? &*described : nullptr, i,
                            type)))
      return failure();
  }
  return verifyReduction(of, semantics);
}

/// Checks the index of an operand of which only what is read is at hand: it
/// must lie in the tensor and start where that does.
static LogicalResult verifyReads(EmitError emitError,
                                 const search::Operator &op,
                                 ArrayRef<search::LinearExpr> index,
                                 ArrayRef<int64_t> shape) {
  if (llvm::any_of(op.dims, [](const auto &dim) { return dim.size == 0; }))
    return success();
  auto isUnknown = [&](const search::LinearExpr::Term &term) {
    return ShapedType::isDynamic(op.dims[term.dim].size);
  };
  for (auto [dim, expr] : llvm::enumerate(index)) {
    if (expr.whole || llvm::any_of(expr.terms, isUnknown) ||
        ShapedType::isDynamic(shape[dim]))
      continue;
    int64_t first = expr.constant, last = expr.constant;
    for (auto [loop, coefficient] : expr.terms) {
      int64_t reach = coefficient * (op.dims[loop].size - 1);
      (reach < 0 ? first : last) += reach;
    }
    if (first < 0 || last >= shape[dim])
      return emitError() << "dim " << dim << " is read in [" << first << ", "
                         << last + 1 << "), its size is " << shape[dim];
    if (first > 0)
      return emitError() << "dim " << dim << " is read from " << first
                         << " on; a part gets what it reads only, so that must "
                            "start at 0";
  }
  return success();
}

/// True if `dim` alone is an index somewhere, so that the size of a part of it
/// is the size of a tensor's dim.
static bool isSizeOfSome(SemanticsAttr semantics, unsigned dim) {
  AffineExpr expr = getAffineDimExpr(dim, semantics.getContext());
  auto has = [&](AccessAttr access) {
    return access.getRead() && llvm::is_contained(access.getIndex(), expr);
  };
  return llvm::any_of(semantics.getOperands(), has) ||
         llvm::any_of(semantics.getResults(), has);
}

/// Checks the semantics of what nobody has taught Tofu: it computes its part
/// from the parts of its operands alone, and is told nothing else.
static LogicalResult verifyOpaque(const Described &of,
                                  SemanticsAttr semantics) {
  FailureOr<search::Operator> described = semantics.getOperator();
  if (failed(described))
    return success();
  for (auto [i, type] : llvm::enumerate(of.tensors)) {
    if (!semantics.getOperands()[i].getRead())
      continue;
    auto emitError = [&, i = i]() -> InFlightDiagnostic {
      return of.op->emitOpError() << "operand " << i << ": ";
    };
    if (failed(verifyReads(emitError, *described, described->operands[i].index,
                           cast<ShapedType>(type).getShape())))
      return failure();
  }
  for (auto [i, dim] : llvm::enumerate(semantics.getDims()))
    if (dim.getKind() != DimKind::Unsplittable && dim.getSize() > 1 &&
        !isSizeOfSome(semantics, i))
      return of.op->emitOpError()
             << "dim " << dim.getName().getValue()
             << " may be cut, but is nowhere an index by itself, so that the "
                "size of a part can't be told; make it unsplittable";
  return success();
}

static LogicalResult verifySemantics(Operation *op, SemanticsAttr semantics) {
  SmallVector<Value> tensors = getTensorOperands(op);
  Described of{op, "operation", llvm::to_vector(TypeRange(ValueRange(tensors))),
               op->getResultTypes()};
  if (failed(verifySemantics(of, semantics)))
    return failure();
  return hasModel(op) ? success() : verifyOpaque(of, semantics);
}

/// A declaration describes its calls. Below tensors, buffers stand for them.
static LogicalResult verifySemantics(FunctionOpInterface function,
                                     SemanticsAttr semantics) {
  if (!function.isExternal())
    return function.emitOpError()
           << "has a body, by which its calls are cut; semantics stand on "
              "declarations";
  Described of{function, "function", {}, function.getResultTypes()};
  for (Type type : function.getArgumentTypes())
    if (isa<RankedTensorType, MemRefType>(type))
      of.tensors.push_back(type);
  return success(succeeded(verifySemantics(of, semantics)) &&
                 succeeded(verifyOpaque(of, semantics)));
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// Checks that what is cut after another dim has a box per part.
static LogicalResult verifyAfter(Operation *op, SemanticsAttr semantics,
                                 StrategyAttr strategy,
                                 const search::Mesh &mesh) {
  FailureOr<search::Operator> described = semantics.getOperator();
  search::Strategy cuts = strategy.resolve(mesh);
  for (auto [i, dim] : llvm::enumerate(semantics.getDims()))
    if (dim.getAfter() && !cuts.dims[i].empty() &&
        !search::isSplittable(described->dims, i, cuts.dims, mesh))
      return op->emitOpError()
             << "dim " << dim.getName().getValue() << " is cut, but dim "
             << dim.getAfter().getValue()
             << " before it has several indices in a part";
  return success();
}

static LogicalResult verifyStrategy(Operation *op, StrategyAttr strategy) {
  MeshOp mesh = lookupMesh(op, strategy.getMesh());
  if (!mesh)
    return op->emitOpError() << "unknown mesh: " << strategy.getMesh();
  auto semantics = op->getAttrOfType<SemanticsAttr>(TofuDialect::kSemantics);
  if (!semantics)
    return op->emitOpError() << "a strategy needs semantics";
  if (semantics.getDims().size() != strategy.getDims().size())
    return op->emitOpError()
           << "strategy has " << strategy.getDims().size()
           << " dims, semantics has " << semantics.getDims().size();
  if (failed(semantics.getOperator()))
    return op->emitOpError() << "a strategy needs linear indices";
  for (int64_t operand : strategy.getPartialOperands())
    if (operand < 0 || operand >= 64 ||
        operand >= int64_t(semantics.getOperands().size()))
      return op->emitOpError() << "no operand " << operand;
  if (strategy.getPartial().empty() != strategy.getPartialOperands().empty())
    return op->emitOpError() << "partial axes go with partial operands";
  for (auto [i, dim] : llvm::enumerate(semantics.getDims())) {
    if (strategy.getDims()[i].empty())
      continue;
    if (dim.getKind() == DimKind::Unsplittable)
      return op->emitOpError()
             << "dim " << dim.getName().getValue() << " is unsplittable";
    if (ShapedType::isDynamic(dim.getSize()) &&
        !findDimOfSize(op, semantics, i))
      return op->emitOpError()
             << "dim " << dim.getName().getValue()
             << " is cut, but no tensor dim of unknown size is as large";
  }
  if (failed(verifyAfter(op, semantics, strategy, mesh.getMesh())))
    return failure();
  // A strategy uses axes as a layout does.
  MLIRContext *context = op->getContext();
  bool partial = !strategy.getPartial().empty();
  auto asLayout = LayoutAttr::get(context, strategy.getMesh(),
                                  strategy.getDims(), strategy.getPartial(),
                                  partial ? Combiner::Sum : Combiner::None);
  auto emitError = [&]() -> InFlightDiagnostic {
    return op->emitOpError() << "strategy: ";
  };
  SmallVector<int64_t> shape(strategy.getDims().size());
  return asLayout.verifyPlacement(emitError, shape, mesh.getMesh());
}

/// True if boxes may be computed on a mesh: it may be verified after its users.
static bool isSound(MeshOp op) {
  search::Mesh mesh = op.getMesh();
  int64_t devices = 1;
  for (int64_t size : mesh.sizes)
    if (size < 1 || size > MeshOp::kMostDevices ||
        (devices *= size) > MeshOp::kMostDevices)
      return false;
  return mesh.names.size() == mesh.sizes.size();
}

/// Checks a layout of `global`, of which a device holds a `local`.
static LogicalResult verifyLayoutOf(EmitError emitError, LayoutAttr layout,
                                    RankedTensorType global,
                                    RankedTensorType local, MeshOp mesh) {
  if (failed(
          layout.verifyPlacement(emitError, global.getShape(), mesh.getMesh())))
    return failure();
  if (global == local || !isSound(mesh))
    return success();
  RankedTensorType boxes = getLocalType(global, layout, mesh.getMesh());
  if (boxes.getElementType() != local.getElementType() ||
      failed(verifyCompatibleShape(boxes, local)))
    return emitError() << "type is " << local << ", boxes of " << global
                       << " have type " << boxes;
  return success();
}

/// Checks the layout of a value of `type`; `global` is its type before
/// localization, if it has been localized.
static LogicalResult verifyLayout(Operation *op, const Twine &what, Type type,
                                  Attribute attr,
                                  RankedTensorType global = {}) {
  auto layout = dyn_cast<LayoutAttr>(attr);
  if (!layout)
    return op->emitOpError() << what << " has no #tofu.layout";
  // Below tensors, a layout still says what a buffer or a pointer holds.
  if (isNumber(type) || isa<UnrankedTensorType>(type))
    return op->emitOpError()
           << what << " has a layout, but is no ranked tensor";
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success();
  MeshOp mesh = lookupMesh(op, layout.getMesh());
  if (!mesh)
    return op->emitOpError() << "unknown mesh: " << layout.getMesh();
  std::string prefix = (what + ": ").str();
  return verifyLayoutOf(
      [&]() -> InFlightDiagnostic { return op->emitOpError() << prefix; },
      layout, global ? global : tensor, tensor, mesh);
}

/// Checks layouts of results or arguments, units for what is no tensor.
static LogicalResult verifyLayouts(Operation *op, StringRef of, TypeRange types,
                                   Attribute attr) {
  auto layouts = dyn_cast<ArrayAttr>(attr);
  if (!layouts)
    return op->emitOpError() << "layouts must be an array";
  if (layouts.size() != types.size())
    return op->emitOpError() << layouts.size() << " layouts for "
                             << types.size() << ' ' << of << 's';
  for (auto [i, layout] : llvm::enumerate(layouts))
    if (!isa<UnitAttr>(layout) &&
        failed(verifyLayout(op, of + " " + Twine(i), types[i], layout)))
      return failure();
  return success();
}

static LogicalResult verifyArgLayouts(Operation *op, Attribute attr) {
  auto regions = dyn_cast<ArrayAttr>(attr);
  if (!regions || regions.size() != op->getNumRegions())
    return op->emitOpError() << TofuDialect::kArgLayouts
                             << " must be an array of one array per region";
  for (auto [region, layouts] : llvm::zip_equal(op->getRegions(), regions)) {
    TypeRange types = region.empty()
                          ? TypeRange()
                          : TypeRange(region.front().getArgumentTypes());
    if (failed(verifyLayouts(op, "argument", types, layouts)))
      return failure();
  }
  return success();
}

/// Checks the layout, or the type before localization, of what a function or a
/// global holds; `global` is the attribute with that type, if there is one.
static LogicalResult verifyHeld(Operation *op, const Twine &what, Type type,
                                NamedAttribute attr, TypeAttr global) {
  auto before = global ? dyn_cast<RankedTensorType>(global.getValue())
                       : RankedTensorType();
  if (attr.getName() == TofuDialect::kGlobalType) {
    if (before)
      return success();
    return op->emitOpError() << what << ": " << TofuDialect::kGlobalType
                             << " must be a ranked tensor type";
  }
  auto layout = dyn_cast<LayoutAttr>(attr.getValue());
  if (layout && !layout.getPartial().empty())
    return op->emitOpError()
           << what << " is partial; "
           << (isa<FunctionOpInterface>(op) ? "a function takes and gives"
                                            : "a global holds")
           << " whole values";
  return verifyLayout(op, what, type, attr.getValue(), before);
}

/// Checks what is asked of the plan. `isDim` says whether an element of
/// tofu.forbid is a dim.
static LogicalResult verifyAsked(Operation *op, const Twine &what,
                                 NamedAttribute attr,
                                 function_ref<bool(Attribute)> isDim) {
  StringRef name = attr.getName();
  if (name == TofuDialect::kTie) {
    auto tie = dyn_cast<StringAttr>(attr.getValue());
    return tie && !tie.empty()
               ? success()
               : op->emitOpError() << what << name << " must be a name";
  }
  if (name == TofuDialect::kPriority)
    return isa<IntegerAttr>(attr.getValue())
               ? success()
               : op->emitOpError() << what << name << " must be an integer";
  auto dims = dyn_cast<ArrayAttr>(attr.getValue());
  if (!dims)
    return op->emitOpError() << what << name << " must be an array of dims";
  for (Attribute dim : dims)
    if (!isDim(dim))
      return op->emitOpError() << what << name << ": no dim " << dim;
  return success();
}

static bool isAsked(StringRef name) {
  return name == TofuDialect::kForbid || name == TofuDialect::kTie ||
         name == TofuDialect::kPriority;
}

/// Whether `attr` is the number of one of `count` dims.
static bool isNumberBelow(Attribute attr, int64_t count) {
  auto number = dyn_cast<IntegerAttr>(attr);
  return number && number.getValue().isNonNegative() &&
         number.getValue().getActiveBits() < 63 && number.getInt() < count;
}

/// Until an operation has semantics, nobody knows its dims.
static bool isDimOf(Operation *op, Attribute attr) {
  auto semantics = op->getAttrOfType<SemanticsAttr>(TofuDialect::kSemantics);
  if (!semantics)
    return isa<StringAttr, IntegerAttr>(attr);
  if (isa<IntegerAttr>(attr))
    return isNumberBelow(attr, semantics.getDims().size());
  return llvm::any_of(semantics.getDims(), [&](IterationDimAttr dim) {
    return dim.getName() == attr;
  });
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
    auto function = dyn_cast<FunctionOpInterface>(op);
    return function ? verifySemantics(function, semantics)
                    : verifySemantics(op, semantics);
  }
  if (name == kStrategy) {
    auto strategy = dyn_cast<StrategyAttr>(attr.getValue());
    return strategy ? verifyStrategy(op, strategy)
                    : misplaced("#tofu.strategy");
  }
  if (name == kLayouts)
    return verifyLayouts(op, "result", op->getResultTypes(), attr.getValue());
  if (name == kArgLayouts)
    return verifyArgLayouts(op, attr.getValue());
  if (name == kLayout || name == kGlobalType) {
    auto global = dyn_cast<ml_program::GlobalOp>(op);
    if (!global)
      return op->emitOpError() << name
                               << " stands on arguments and results of "
                                  "functions and on globals only";
    return verifyHeld(op, "value", global.getType(), attr,
                      op->getAttrOfType<TypeAttr>(kGlobalType));
  }
  if (name == kRowLoops) {
    if (!isa<FunctionOpInterface>(op))
      return op->emitOpError() << name << " stands on functions only";
    return isa<DenseI64ArrayAttr>(attr.getValue())
               ? success()
               : op->emitOpError() << name << " must be an array<i64: ...>";
  }
  if (isAsked(name) && !isa<FunctionOpInterface, ml_program::GlobalOp>(op))
    return verifyAsked(op, "", attr,
                       [&](Attribute dim) { return isDimOf(op, dim); });
  return op->emitOpError() << "unknown attribute: " << name;
}

/// Checks that an argument of `type` may be the size of another one.
static LogicalResult verifySizeOf(FunctionOpInterface function,
                                  const Twine &what, Type type,
                                  Attribute attr) {
  Operation *op = function;
  auto sizeOf = dyn_cast<DenseI64ArrayAttr>(attr);
  if (!sizeOf || sizeOf.size() != 2)
    return op->emitOpError() << what << ": " << TofuDialect::kSizeOf
                             << " must be the numbers of an argument and of a "
                                "dim of it";
  // Lowered, it is a plain integer.
  if (!type.isIntOrIndex())
    return op->emitOpError()
           << what << " is " << type << ", the size of a dim is an index";
  int64_t arg = sizeOf[0], dim = sizeOf[1];
  if (arg < 0 || arg >= int64_t(function.getNumArguments()))
    return op->emitOpError() << what << " is a size of argument " << arg
                             << ", function has " << function.getNumArguments();
  auto global =
      function.getArgAttrOfType<TypeAttr>(arg, TofuDialect::kGlobalType);
  auto tensor = global ? dyn_cast<RankedTensorType>(global.getValue())
                       : RankedTensorType();
  if (!tensor || dim < 0 || dim >= tensor.getRank() ||
      !tensor.isDynamicDim(dim))
    return op->emitOpError()
           << what << " is the size of dim " << dim << " of argument " << arg
           << ", which has no such dim of unknown size";
  return success();
}

/// Checks an attribute of an argument or a result of `function`; `global` is
/// the attribute with its type before localization, if there is one.
static LogicalResult verifyBoundary(FunctionOpInterface function,
                                    const Twine &what, Type type,
                                    NamedAttribute attr, TypeAttr global) {
  StringRef name = attr.getName();
  Operation *op = function;
  if (name == TofuDialect::kLayout || name == TofuDialect::kGlobalType)
    return verifyHeld(op, what, type, attr, global);
  if (name == TofuDialect::kSizeOf)
    return verifySizeOf(function, what, type, attr.getValue());
  if (name == TofuDialect::kCarriedTo) {
    auto result = dyn_cast<IntegerAttr>(attr.getValue());
    if (!result)
      return op->emitOpError() << what << ": " << name << " must be an integer";
    if (isa<RankedTensorType>(type) &&
        result.getValue().uge(function.getNumResults()))
      return op->emitOpError() << what << " is carried to result " << result
                               << ", function has " << function.getNumResults();
    return success();
  }
  if (isAsked(name)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return verifyAsked(op, what + ": ", attr, [&](Attribute dim) {
      return isNumberBelow(dim, tensor ? tensor.getRank() : 0);
    });
  }
  return op->emitOpError() << what << ": unknown attribute: " << name;
}

LogicalResult TofuDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned i,
                                                    NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || i >= function.getNumArguments())
    return op->emitOpError() << attr.getName() << " stands on functions only";
  return verifyBoundary(function, "argument " + Twine(i),
                        function.getArgumentTypes()[i], attr,
                        function.getArgAttrOfType<TypeAttr>(i, kGlobalType));
}

LogicalResult TofuDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                       unsigned i,
                                                       NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || i >= function.getNumResults())
    return op->emitOpError() << attr.getName() << " stands on functions only";
  return verifyBoundary(function, "result " + Twine(i),
                        function.getResultTypes()[i], attr,
                        function.getResultAttrOfType<TypeAttr>(i, kGlobalType));
}
