//===- LowerGlobals.cpp - Globals in the memory of the device -------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Conversion/Passes.h"
#include "Tofu/Dialect/BufferOps.h"
#include "Tofu/Dialect/Combiners.h"
#include "Tofu/Dialect/Placement.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_LOWERGLOBALS
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

/// Of constants, in bytes: as memory of the runtime.
static constexpr int64_t kAlignment = 64;

namespace {

/// Lowers one global and all that loads and stores it.
class GlobalLowering {
public:
  GlobalLowering(ml_program::GlobalOp global, SymbolTable &symbols)
      : global(global), symbols(symbols), loc(global.getLoc()),
        builder(global.getContext()) {}

  void addUser(Operation *op) { users.push_back(op); }

  /// Fails, with an error, if the memory has no size, or nothing that it could
  /// begin with.
  LogicalResult verify();
  void lower();

private:
  MemRefType getMemoryType();
  Value createMemory(func::FuncOp function);
  SmallVector<OpFoldResult> getSizes();
  void initialize(Value memory);
  Value getConstantPart();
  void replace(Operation *user, Value memory);
  void replaceLoad(Operation *load, Value memory);
  void replaceStore(ml_program::GlobalStoreOp store, Value memory);

  /// The type of the whole; of a scalar, that of a tensor without dims.
  RankedTensorType getWholeType() {
    auto before = global->getAttrOfType<TypeAttr>(TofuDialect::kGlobalType);
    Type type = before ? before.getValue() : global.getType();
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? tensor : RankedTensorType::get({}, type);
  }

  /// How the whole lies on the devices; null if each has all of it.
  LayoutAttr getLayout() {
    return global->hasAttr(TofuDialect::kGlobalType)
               ? global->getAttrOfType<LayoutAttr>(TofuDialect::kLayout)
               : LayoutAttr();
  }

  bool isStored() {
    return llvm::any_of(users, llvm::IsaPred<ml_program::GlobalStoreOp>);
  }

  ml_program::GlobalOp global;
  SymbolTable &symbols;
  Location loc;
  OpBuilder builder;
  SmallVector<Operation *> users;
  memref::GlobalOp constant;
};

} // namespace

LogicalResult GlobalLowering::verify() {
  Type type = global.getType();
  bool isNumber = type.isIntOrIndexOrFloat() || isa<ComplexType>(type);
  if (!isNumber && !isa<RankedTensorType>(type))
    return global.emitOpError()
           << "must be a ranked tensor or a number to run, not " << type;
  if (!getWholeType().hasStaticShape())
    return global.emitOpError()
           << "has a size that is not known: " << getWholeType();
  Attribute value = global.getValueAttr();
  if (isa_and_nonnull<ml_program::ExternAttr>(value))
    return global.emitOpError()
           << "is defined outside of the program; give it a value to run it";
  auto typed = dyn_cast_or_null<TypedAttr>(value);
  if (!value || isa<ArrayAttr>(value))
    return success();
  Type wanted = isNumber ? type : Type(getWholeType());
  if (!typed || typed.getType() != wanted)
    return global.emitOpError()
           << "initial value is " << value << ", must be of type " << wanted;
  return success();
}

MemRefType GlobalLowering::getMemoryType() {
  auto local = dyn_cast<RankedTensorType>(global.getType());
  return MemRefType::get(local ? local.getShape() : ArrayRef<int64_t>(),
                         getWholeType().getElementType());
}

/// The sizes of what this device has.
SmallVector<OpFoldResult> GlobalLowering::getSizes() {
  RankedTensorType whole = getWholeType();
  LayoutAttr layout = getLayout();
  if (!layout)
    return getAsIndexOpFoldResult(builder.getContext(), whole.getShape());
  search::Mesh mesh = lookupMesh(global, layout.getMesh()).getMesh();
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < whole.getRank(); ++dim)
    sizes.push_back(
        getShardSize(builder, loc, dim, layout, whole.getShape(), mesh));
  return sizes;
}

/// The global's memory, with its initial value the first time, at the start of
/// `function`.
Value GlobalLowering::createMemory(func::FuncOp function) {
  builder.setInsertionPointToStart(&function.front());
  MemRefType type = getMemoryType();
  SmallVector<Value> sizes;
  for (auto [size, known] : llvm::zip_equal(getSizes(), type.getShape()))
    if (ShapedType::isDynamic(known))
      sizes.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  auto memory = GlobalMemoryOp::create(builder, loc, type, builder.getI1Type(),
                                       global.getSymNameAttr(), sizes);
  auto branch = scf::IfOp::create(builder, loc, memory.getIsNew(),
                                  /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  initialize(memory.getMemory());
  return memory.getMemory();
}

static Attribute getZero(Builder &builder, Type type) {
  auto complex = dyn_cast<ComplexType>(type);
  if (!complex)
    return builder.getZeroAttr(type);
  Attribute part = builder.getZeroAttr(complex.getElementType());
  return builder.getArrayAttr({part, part});
}

void GlobalLowering::initialize(Value memory) {
  RankedTensorType whole = getWholeType();
  Attribute number = global.getValueAttr();
  if (auto elements = dyn_cast_or_null<ElementsAttr>(number)) {
    auto splat = dyn_cast<SplatElementsAttr>(elements);
    if (!splat && whole.getNumElements() > 0) {
      memref::CopyOp::create(builder, loc, getConstantPart(), memory);
      return;
    }
    number = splat ? splat.getSplatValue<Attribute>() : Attribute();
  }
  Type element = whole.getElementType();
  Value scalar = createConstantScalar(
      builder, loc, element, number ? number : getZero(builder, element));
  linalg::FillOp::create(builder, loc, scalar, memory);
}

/// This device's part of the initial value, which is a constant of the module.
Value GlobalLowering::getConstantPart() {
  RankedTensorType whole = getWholeType();
  auto type = MemRefType::get(whole.getShape(), whole.getElementType());
  if (!constant) {
    OpBuilder atGlobal(global);
    constant = memref::GlobalOp::create(
        atGlobal, loc, (global.getSymName() + "_initial").str(),
        builder.getStringAttr("private"), type, global.getValueAttr(),
        /*constant=*/true, builder.getI64IntegerAttr(kAlignment));
    symbols.insert(constant, global->getIterator());
  }
  Value data =
      memref::GetGlobalOp::create(builder, loc, type, constant.getSymName());
  LayoutAttr layout = getLayout();
  if (!layout || whole.getRank() == 0)
    return data;
  search::Mesh mesh = lookupMesh(global, layout.getMesh()).getMesh();
  SmallVector<OpFoldResult> offsets;
  for (int64_t dim = 0; dim < whole.getRank(); ++dim)
    offsets.push_back(
        getShardOffset(builder, loc, dim, layout, whole.getShape(), mesh));
  SmallVector<OpFoldResult> strides(whole.getRank(), builder.getIndexAttr(1));
  return memref::SubViewOp::create(builder, loc, data, offsets, getSizes(),
                                   strides);
}

/// What is loaded stays as it is when the memory is stored to.
void GlobalLowering::replaceLoad(Operation *load, Value memory) {
  Value result = load->getResult(0);
  if (!isa<RankedTensorType>(result.getType())) {
    result.replaceAllUsesWith(
        memref::LoadOp::create(builder, load->getLoc(), memory));
    return;
  }
  bool copies = isStored();
  if (copies) {
    auto held = memory.getDefiningOp<GlobalMemoryOp>();
    Value copy = memref::AllocOp::create(builder, load->getLoc(),
                                         getMemoryType(), held.getSizes());
    memref::CopyOp::create(builder, load->getLoc(), memory, copy);
    memory = copy;
  }
  result.replaceAllUsesWith(bufferization::ToTensorOp::create(
      builder, load->getLoc(), result.getType(), memory, /*restrict=*/true,
      /*writable=*/copies));
}

void GlobalLowering::replaceStore(ml_program::GlobalStoreOp store,
                                  Value memory) {
  if (isa<RankedTensorType>(store.getValue().getType()))
    bufferization::MaterializeInDestinationOp::create(
        builder, store.getLoc(), Type(), store.getValue(), memory,
        /*restrict=*/true, /*writable=*/true);
  else
    memref::StoreOp::create(builder, store.getLoc(), store.getValue(), memory);
}

void GlobalLowering::replace(Operation *user, Value memory) {
  builder.setInsertionPoint(user);
  if (auto store = dyn_cast<ml_program::GlobalStoreOp>(user))
    replaceStore(store, memory);
  else
    replaceLoad(user, memory);
}

void GlobalLowering::lower() {
  DenseMap<Operation *, Value> memories;
  for (Operation *user : users) {
    auto function = user->getParentOfType<func::FuncOp>();
    Value &memory = memories[function];
    if (!memory)
      memory = createMemory(function);
    replace(user, memory);
  }
  for (Operation *user : users)
    user->erase();
  symbols.erase(global);
}

namespace {

struct LowerGlobals : public tofu::impl::LowerGlobalsBase<LowerGlobals> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::MapVector<Operation *, GlobalLowering> lowerings;
    for (auto global : getOperation().getOps<ml_program::GlobalOp>())
      lowerings.insert({global, GlobalLowering(global, symbols)});
    getOperation().walk([&](Operation *op) {
      auto global = op->getAttrOfType<SymbolRefAttr>("global");
      if (!global || !op->getParentOfType<func::FuncOp>() ||
          !isa<ml_program::GlobalLoadOp, ml_program::GlobalLoadConstOp,
               ml_program::GlobalStoreOp>(op))
        return;
      auto it = lowerings.find(symbols.lookup(global.getLeafReference()));
      if (it != lowerings.end())
        it->second.addUser(op);
    });
    for (auto &[op, lowering] : lowerings)
      if (failed(lowering.verify()))
        return signalPassFailure();
    for (auto &[op, lowering] : lowerings) {
      lowering.lower();
      ++numGlobals;
    }
  }
};

} // namespace
