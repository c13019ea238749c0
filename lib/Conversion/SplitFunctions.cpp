//===- SplitFunctions.cpp - Long straight lines of code in parts ----------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program that is left once its kernels are functions is one block of
// thousands of calls, on which LLVM's register allocator and instruction
// selection take quadratic time. Values that go from part to part live in a
// frame in memory.
//
//===----------------------------------------------------------------------===//

#include "Tofu/Conversion/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_SPLITFUNCTIONS
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

/// True if the operation is made anew in each part that uses it: constants, and
/// descriptors, which are large and often only taken apart again.
static bool isRemade(Operation *op) {
  return op && isa<LLVM::ConstantOp, LLVM::AddressOfOp, LLVM::ZeroOp,
                   LLVM::PoisonOp, LLVM::UndefOp, LLVM::InsertValueOp>(op);
}

/// Calls `visit` with the values that `value` is made of by operations that are
/// made anew.
static void forEachLeaf(Value value, function_ref<void(Value)> visit) {
  Operation *def = value.getDefiningOp();
  if (!isRemade(def))
    return visit(value);
  for (Value operand : def->getOperands())
    forEachLeaf(operand, visit);
}

/// Replaces what is taken out of a descriptor by what was put in.
static void forwardFields(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto extract = dyn_cast<LLVM::ExtractValueOp>(op);
    SmallVector<OpFoldResult> folded;
    if (!extract || failed(extract->fold(folded)) || folded.empty())
      continue;
    if (auto value = dyn_cast<Value>(folded.front())) {
      extract.replaceAllUsesWith(value);
      extract.erase();
    }
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isRemade(&op) && op.use_empty())
      op.erase();
}

namespace {

/// Splits one block into calls of new functions.
class BlockSplitter {
public:
  BlockSplitter(Block &block, SymbolTable &symbols, const DataLayout &layout,
                unsigned maxOps)
      : block(block), symbols(symbols), layout(layout), maxOps(maxOps),
        builder(block.getParentOp()->getContext()),
        loc(block.getParentOp()->getLoc()),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())) {}

  /// Returns the number of parts.
  unsigned split();

private:
  using Part = SmallVector<Operation *>;

  void collectParts();
  void findCrossings();
  void hoistAllocas();
  void makeFrame();
  void outline(const Part &part);
  void erase();
  Value getPlace(OpBuilder &at, Value frame, Value value);
  void storeTo(OpBuilder &at, Value frame, Value value);
  Value remake(OpBuilder &at, Value frame, Value value, IRMapping &mapping);

  Block &block;
  SymbolTable &symbols;
  const DataLayout &layout;
  unsigned maxOps;
  OpBuilder builder;
  Location loc;
  Type pointer;
  SmallVector<Part> parts;
  DenseMap<Operation *, unsigned> partOf;
  /// Values that a part uses and another, or what is before the parts, defines,
  /// with their offsets in the frame in bytes.
  llvm::MapVector<Value, int64_t> crossings;
  int64_t frameSize = 0;
  Value frame;
};

} // namespace

void BlockSplitter::collectParts() {
  for (Operation &op : block.without_terminator()) {
    if (isRemade(&op) || isa<LLVM::AllocaOp>(op))
      continue;
    if (parts.empty() || parts.back().size() >= maxOps)
      parts.emplace_back();
    parts.back().push_back(&op);
    partOf[&op] = parts.size() - 1;
  }
}

void BlockSplitter::findCrossings() {
  auto findIn = [&](Operation *user) {
    auto here = partOf.find(user);
    for (Value operand : user->getOperands())
      forEachLeaf(operand, [&](Value leaf) {
        auto there = partOf.find(leaf.getDefiningOp());
        bool isLocal = here == partOf.end() ? there == partOf.end()
                                            : there != partOf.end() &&
                                                  here->second == there->second;
        if (isLocal || !crossings.insert({leaf, frameSize}).second)
          return;
        frameSize += llvm::alignTo(
            layout.getTypeSize(leaf.getType()).getFixedValue(), 8);
      });
  };
  for (const Part &part : parts)
    llvm::for_each(part, findIn);
  findIn(block.getTerminator());
}

/// Moves places on the stack to where the first part begins, so that all parts
/// can have them.
void BlockSplitter::hoistAllocas() {
  Operation *first = parts.front().front();
  for (auto alloca : llvm::make_early_inc_range(block.getOps<LLVM::AllocaOp>()))
    if (first->isBeforeInBlock(alloca)) {
      Operation *size = alloca.getArraySize().getDefiningOp();
      if (first->isBeforeInBlock(size))
        size->moveBefore(first);
      alloca->moveBefore(first);
    }
}

/// Allocates the frame and stores what is known before the first part.
void BlockSplitter::makeFrame() {
  Block &entry = block.getParent()->front();
  OpBuilder atEntry = OpBuilder::atBlockBegin(&entry);
  Value count = LLVM::ConstantOp::create(
      atEntry, loc, builder.getI64Type(),
      builder.getI64IntegerAttr(std::max<int64_t>(frameSize, 1)));
  frame = LLVM::AllocaOp::create(atEntry, loc, pointer, builder.getI8Type(),
                                 count, /*alignment=*/8);
  builder.setInsertionPoint(parts.front().front());
  for (auto [value, offset] : crossings) {
    if (!partOf.contains(value.getDefiningOp()))
      storeTo(builder, frame, value);
  }
}

Value BlockSplitter::getPlace(OpBuilder &at, Value base, Value value) {
  int32_t offset = static_cast<int32_t>(crossings.find(value)->second);
  return LLVM::GEPOp::create(at, loc, pointer, at.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

void BlockSplitter::storeTo(OpBuilder &at, Value base, Value value) {
  LLVM::StoreOp::create(at, loc, value, getPlace(at, base, value));
}

/// `value` at a place outside of its part, from the frame and anew.
Value BlockSplitter::remake(OpBuilder &at, Value base, Value value,
                            IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *def = value.getDefiningOp();
  if (isRemade(def)) {
    for (Value operand : def->getOperands())
      remake(at, base, operand, mapping);
    at.clone(*def, mapping);
  } else if (crossings.contains(value)) {
    mapping.map(value, LLVM::LoadOp::create(at, loc, value.getType(),
                                            getPlace(at, base, value)));
  }
  return mapping.lookupOrDefault(value);
}

/// Copies a part to a function of its own and calls that.
void BlockSplitter::outline(const Part &part) {
  auto parent = cast<LLVM::LLVMFuncOp>(block.getParentOp());
  builder.setInsertionPoint(part.front());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), {pointer});
  OpBuilder inside(builder.getContext());
  auto function =
      LLVM::LLVMFuncOp::create(inside, loc, (parent.getName() + "_part").str(),
                               type, LLVM::Linkage::Internal);
  function.setPassthroughAttr(
      builder.getStrArrayAttr({"noinline", "noimplicitfloat"}));
  symbols.insert(function);
  LLVM::CallOp::create(builder, loc, function, ValueRange{frame});

  Block *body = function.addEntryBlock(inside);
  Value base = body->getArgument(0);
  inside.setInsertionPointToStart(body);
  IRMapping mapping;
  for (Operation *op : part) {
    for (Value operand : op->getOperands())
      remake(inside, base, operand, mapping);
    inside.clone(*op, mapping);
    for (Value result : op->getResults())
      if (crossings.contains(result))
        LLVM::StoreOp::create(inside, loc, mapping.lookup(result),
                              getPlace(inside, base, result));
  }
  LLVM::ReturnOp::create(inside, loc, ValueRange());
}

unsigned BlockSplitter::split() {
  collectParts();
  if (parts.size() < 2)
    return 0;
  findCrossings();
  if (frameSize > std::numeric_limits<int32_t>::max())
    return 0;
  hoistAllocas();
  makeFrame();
  for (const Part &part : parts)
    outline(part);
  Operation *end = block.getTerminator();
  builder.setInsertionPoint(end);
  IRMapping mapping;
  for (OpOperand &operand : end->getOpOperands())
    operand.set(remake(builder, frame, operand.get(), mapping));
  erase();
  return parts.size();
}

/// Erases what is in the parts now, and what was only used by it.
void BlockSplitter::erase() {
  SmallVector<Operation *> ops = llvm::map_to_vector(
      block.without_terminator(), [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(ops))
    if (partOf.contains(op) || (isRemade(op) && op->use_empty()))
      op->erase();
}

/// True if a place on the stack has a size that is computed.
static bool hasDynamicAlloca(Block &block) {
  return llvm::any_of(block.getOps<LLVM::AllocaOp>(), [](LLVM::AllocaOp op) {
    return !matchPattern(op.getArraySize(), m_Constant());
  });
}

namespace {

struct SplitFunctions : public tofu::impl::SplitFunctionsBase<SplitFunctions> {
  using SplitFunctionsBase::SplitFunctionsBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    DataLayout layout(getOperation());
    SmallVector<Block *> blocks;
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (function.getBody().hasOneBlock() &&
          function.front().getOperations().size() > 2 * maxOps)
        blocks.push_back(&function.front());
    for (Block *block : blocks) {
      forwardFields(*block);
      if (!hasDynamicAlloca(*block))
        numParts += BlockSplitter(*block, symbols, layout, maxOps).split();
    }
  }
};

} // namespace
