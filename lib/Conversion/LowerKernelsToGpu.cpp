//===- LowerKernelsToGpu.cpp - From loop nests to grids of threads --------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All kernels have the same form. The loops that tell the elements of the
// outputs apart become the grid: one number for each element. Each element is
// the work of one thread, or of several that share its reductions and combine
// what they have in workgroup memory, always in the same order; blocks that
// share them leave what they have for another kernel. Neighbouring threads have
// neighbouring elements, of the outputs or of what is reduced, whichever lie
// next to each other in memory. Where there are many, a thread has several that
// are accessed together.
//
//===----------------------------------------------------------------------===//

#include "GpuKernels.h"
#include "GuardAssertions.h"
#include "RuntimeCalls.h"
#include "ThreadPlan.h"
#include "Tofu/Conversion/Passes.h"
#include "Tofu/Dialect/Tofu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_LOWERKERNELSTOGPU
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

/// Emits the body of one kernel.
class KernelEmitter {
public:
  /// `op` is in the kernel, and so are the `sizes` of its loops.
  KernelEmitter(OpBuilder &builder, linalg::LinalgOp op, linalg::FillOp fill,
                const ThreadPlan &plan, ArrayRef<OpFoldResult> sizes,
                ArrayRef<BlockArgument> shared,
                ArrayRef<BlockArgument> partials, bool reassociate)
      : builder(builder), loc(op.getLoc()), op(op), plan(plan), shared(shared),
        partials(partials),
        nest(builder, op, fill, plan.nest, sizes, reassociate),
        combiners(getFreeCombiners(op)) {}

  void emit();

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  void emitShared(Value inside, Value part);
  SmallVector<Value> emitShare(Value inside, Value part);
  Value combine(unsigned output, Value a, Value b) {
    return cloneCombiner(builder, op, combiners[output], output, a, b);
  }

  OpBuilder &builder;
  Location loc;
  linalg::LinalgOp op;
  const ThreadPlan &plan;
  /// Memory of the block for each output, and for what blocks have of it.
  ArrayRef<BlockArgument> shared, partials;
  NestEmitter nest;
  SmallVector<Operation *> combiners;
  SmallVector<unsigned> gridGroups, innerGroups;
  /// The number of the thread in its block, and among those of its element;
  /// where to leave what the block has of the element.
  Value thread, sharer, partialIndex;
};

} // namespace

void KernelEmitter::emit() {
  for (unsigned group = 0; group < plan.nest.groups.size(); ++group)
    (group < plan.numGridGroups ? gridGroups : innerGroups).push_back(group);
  Value block =
      gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x).getResult();
  thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x).getResult();
  Value part;
  if (plan.blocksPerElement > 1) {
    Value blocks = constant(plan.blocksPerElement);
    part = arith::RemUIOp::create(builder, loc, block, blocks);
    block = arith::DivUIOp::create(builder, loc, block, blocks);
  }

  int64_t elements = plan.elementsPerBlock();
  Value inBlock = thread;
  sharer = nest.getZero();
  if (plan.threadsPerElement > 1) {
    Value divisor =
        constant(plan.sharersAreNeighbours ? plan.threadsPerElement : elements);
    Value quotient = arith::DivUIOp::create(builder, loc, thread, divisor);
    Value remainder = arith::RemUIOp::create(builder, loc, thread, divisor);
    std::tie(inBlock, sharer) = plan.sharersAreNeighbours
                                    ? std::pair(quotient, remainder)
                                    : std::pair(remainder, quotient);
  }
  if (plan.elementsPerThread > 1)
    inBlock = arith::MulIOp::create(builder, loc, inBlock,
                                    constant(plan.elementsPerThread));
  if (plan.isChecked)
    nest.setBound(
        gridGroups.back(),
        cast<Value>(roundDown(builder, loc, nest.getBound(gridGroups.back()),
                              plan.elementsPerThread)));
  Value first = arith::MulIOp::create(builder, loc, block, constant(elements));
  Value element = arith::AddIOp::create(builder, loc, first, inBlock);
  Value inside =
      compare(arith::CmpIPredicate::ult, element, nest.getProduct(gridGroups));
  nest.setIterations(element, gridGroups);
  if (part)
    partialIndex = arith::AddIOp::create(
        builder, loc,
        arith::MulIOp::create(builder, loc, element,
                              constant(plan.blocksPerElement)),
        part);
  if (plan.threadsPerElement > 1)
    return emitShared(inside, part);
  auto branch = scf::IfOp::create(builder, loc, inside, /*hasElse=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  // The number of a thread's elements divides that of the innermost loops, so
  // all are inside of the grid if the first one is.
  if (plan.elementsPerThread > 1)
    return nest.emitNeighbours(gridGroups.back(), plan.elementsPerThread,
                               [&] { return nest.getInitials(); });
  nest.emitLoops(plan.numGridGroups);
}

/// Emits a thread's part of the reductions of its element; nothing if it is
/// outside of the grid. `part` is the number of the block among those of the
/// element, if there are several.
SmallVector<Value> KernelEmitter::emitShare(Value inside, Value part) {
  Value length = arith::SelectOp::create(
      builder, loc, inside, nest.getProduct(innerGroups), nest.getZero());
  SmallVector<Value> neutral;
  for (Operation *combiner : combiners)
    neutral.push_back(createNeutralShare(builder, loc, combiner));
  Value first = sharer;
  if (part)
    first = arith::AddIOp::create(
        builder, loc, first,
        arith::MulIOp::create(builder, loc, part,
                              constant(plan.threadsPerElement)));
  auto loop = scf::ForOp::create(
      builder, loc, first, length,
      constant(plan.threadsPerElement * plan.blocksPerElement), neutral);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  nest.setIterations(loop.getInductionVar(), innerGroups);
  scf::YieldOp::create(builder, loc, nest.emitBody(loop.getRegionIterArgs()));
  for (unsigned group : innerGroups)
    nest.setIteration(group, nest.getZero());
  return loop.getResults();
}

void KernelEmitter::emitShared(Value inside, Value part) {
  for (auto [share, memory] : llvm::zip_equal(emitShare(inside, part), shared))
    memref::StoreOp::create(builder, loc, share, memory, thread);
  int64_t step = plan.sharersAreNeighbours ? 1 : plan.elementsPerBlock();
  combineShares(builder, op, combiners, shared, {thread, sharer, step},
                plan.threadsPerElement);
  Value isFirst = compare(arith::CmpIPredicate::eq, sharer, nest.getZero());
  Value stores = arith::AndIOp::create(builder, loc, isFirst, inside);
  auto branch = scf::IfOp::create(builder, loc, stores, /*hasElse=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  for (auto [output, memory] : llvm::enumerate(shared)) {
    Value whole = memref::LoadOp::create(builder, loc, memory, thread);
    if (part)
      memref::StoreOp::create(builder, loc, whole, partials[output],
                              partialIndex);
    else
      nest.storeOutput(output, combine(output, nest.getInitial(output), whole));
  }
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

namespace {

/// Moves one operation to a kernel and puts its launch in its place.
class Launcher {
public:
  Launcher(linalg::LinalgOp op, linalg::FillOp fill, bool reassociate)
      : op(op), fill(fill), reassociate(reassociate), loc(op.getLoc()),
        host(op), plan(planThreads(op, reassociate)) {}

  /// True if the kernel can start from the fill's value.
  bool takesFill() const { return visitsOutputsOnce(op, plan.nest); }

  LogicalResult launch(SymbolTable &symbols, StringRef name);

  /// What is still to be done after the launch: combines what blocks have. Null
  /// if nothing is.
  linalg::GenericOp combinePartials();
  void freePartials();

private:
  void collectArguments();
  void collectSizes();
  SmallVector<Type> getSharedTypes();
  void makePartials();
  LogicalResult buildKernel(gpu::GPUFuncOp kernel, Assertions &assertions);
  LogicalResult launchEither(SymbolTable &symbols, StringRef name);
  LogicalResult launchKernel(SymbolTable &symbols, StringRef name);
  Value getNumBlocks();
  Value makeFlag();
  void checkFlag(Value flag, Assertions &assertions);

  linalg::LinalgOp op;
  linalg::FillOp fill;
  bool reassociate;
  Location loc;
  OpBuilder host;
  ThreadPlan plan;
  SmallVector<OpFoldResult> sizes;
  SetVector<Value> arguments, constants;
  /// For each output, what blocks have of its elements.
  SmallVector<Value> partials;
};

} // namespace

void Launcher::collectSizes() {
  for (Range range : op.createLoopRanges(host, loc)) {
    OpFoldResult size = range.size;
    if (std::optional<int64_t> known = getConstantIntValue(size))
      size = host.getIndexAttr(*known);
    sizes.push_back(size);
  }
}

void Launcher::collectArguments() {
  SetVector<Value> values;
  for (Operation *part : {fill.getOperation(), op.getOperation()}) {
    if (!part)
      continue;
    values.insert(part->operand_begin(), part->operand_end());
    getUsedValuesDefinedAbove(part->getRegions(), values);
  }
  for (OpFoldResult size : sizes)
    if (auto value = dyn_cast<Value>(size))
      values.insert(value);
  for (Value value : values)
    (isConstantInKernel(value) ? constants : arguments).insert(value);
}

SmallVector<Type> Launcher::getSharedTypes() {
  SmallVector<Type> types;
  if (plan.threadsPerElement == 1)
    return types;
  for (BlockArgument arg : op.getRegionOutputArgs())
    types.push_back(getSharedType(arg.getType()));
  return types;
}

/// Fills the empty kernel, whose last arguments are the partial results, or the
/// flag, if there is one.
LogicalResult Launcher::buildKernel(gpu::GPUFuncOp kernel,
                                    Assertions &assertions) {
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  IRMapping mapping;
  mapping.map(arguments.getArrayRef(),
              kernel.getBody().getArguments().take_front(arguments.size()));
  for (Value constant : constants)
    builder.clone(*constant.getDefiningOp(), mapping);
  auto kernelOp = cast<linalg::LinalgOp>(builder.clone(*op, mapping));
  builder.setInsertionPoint(kernelOp);
  if (plan.isChecked)
    assumeNeighbours(builder, kernelOp, plan.nest.groups.back(),
                     plan.elementsPerThread);
  if (plan.elementsPerThread > 1)
    assumeAlignment(builder, kernelOp, plan.nest.groups.back().back(),
                    plan.elementsPerThread);
  linalg::FillOp kernelFill;
  if (fill) {
    for (auto [init, kernelInit] :
         llvm::zip_equal(op.getDpsInits(), kernelOp.getDpsInits()))
      mapping.map(init, kernelInit);
    kernelFill = cast<linalg::FillOp>(builder.clone(*fill, mapping));
  }
  builder.setInsertionPointAfter(kernelOp);
  SmallVector<OpFoldResult> kernelSizes;
  for (OpFoldResult size : sizes) {
    auto value = dyn_cast<Value>(size);
    kernelSizes.push_back(value ? mapping.lookup(value) : size);
  }
  gpu::ReturnOp::create(builder, loc);
  ArrayRef<BlockArgument> others =
      kernel.getBody().getArguments().drop_front(arguments.size());
  if (!assertions.empty() &&
      failed(assertions.guard(*kernelOp.getBlock(), others.front())))
    return failure();
  builder.setInsertionPoint(kernelOp);
  KernelEmitter(builder, kernelOp, kernelFill, plan, kernelSizes,
                kernel.getWorkgroupAttributions(), others, reassociate)
      .emit();
  kernelOp->erase();
  if (kernelFill)
    kernelFill->erase();
  return success();
}

/// Enough blocks for all elements.
Value Launcher::getNumBlocks() {
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(host, loc, value);
  };
  int64_t perBlock = plan.elementsPerBlock();
  Value elements = constant(1);
  for (ArrayRef<unsigned> group :
       ArrayRef(plan.nest.groups).take_front(plan.numGridGroups))
    for (unsigned loop : group)
      elements = host.createOrFold<arith::MulIOp>(
          loc, elements,
          getValueOrCreateConstantIndexOp(host, loc, sizes[loop]));
  Value roundedUp =
      host.createOrFold<arith::AddIOp>(loc, elements, constant(perBlock - 1));
  Value blocks =
      host.createOrFold<arith::DivUIOp>(loc, roundedUp, constant(perBlock));
  return host.createOrFold<arith::MulIOp>(loc, blocks,
                                          constant(plan.blocksPerElement));
}

/// Memory for what each block has of each element, in the order of the grid.
void Launcher::makePartials() {
  if (plan.blocksPerElement == 1)
    return;
  int64_t elements = plan.blocksPerElement;
  for (ArrayRef<unsigned> group :
       ArrayRef(plan.nest.groups).take_front(plan.numGridGroups))
    for (unsigned loop : group)
      elements *= *getConstantIntValue(sizes[loop]);
  for (BlockArgument arg : op.getRegionOutputArgs())
    partials.push_back(memref::AllocOp::create(
        host, loc, MemRefType::get({elements}, arg.getType())));
}

linalg::GenericOp Launcher::combinePartials() {
  if (partials.empty())
    return {};
  // The loops of the grid, outermost first, and one over the blocks.
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> whole(1);
  SmallVector<AffineExpr> dims(op.getNumLoops(), host.getAffineConstantExpr(0));
  for (ArrayRef<unsigned> group :
       ArrayRef(plan.nest.groups).take_front(plan.numGridGroups))
    for (unsigned loop : group) {
      dims[loop] = host.getAffineDimExpr(shape.size());
      shape.push_back(*getConstantIntValue(sizes[loop]));
    }
  shape.push_back(plan.blocksPerElement);
  for (size_t dim = 0; dim < shape.size(); ++dim)
    whole.front().push_back(dim);
  SmallVector<utils::IteratorType> iterators(shape.size(),
                                             utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  SmallVector<AffineMap> maps(partials.size(),
                              host.getMultiDimIdentityMap(shape.size()));
  SmallVector<Value> inputs, outputs;
  for (auto [partial, init] :
       llvm::zip_equal(partials, op.getDpsInitsMutable())) {
    inputs.push_back(
        memref::ExpandShapeOp::create(host, loc, shape, partial, whole));
    outputs.push_back(init.get());
    maps.push_back(op.getMatchingIndexingMap(&init).replaceDimsAndSymbols(
        dims, {}, shape.size(), 0));
  }
  SmallVector<Operation *> combiners = getFreeCombiners(op);
  return linalg::GenericOp::create(
      host, loc, inputs, outputs, maps, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        SmallVector<Value> results;
        for (auto [i, combiner] : llvm::enumerate(combiners))
          results.push_back(cloneCombiner(builder, op, combiner, i,
                                          args[combiners.size() + i], args[i]));
        linalg::YieldOp::create(builder, loc, results);
      });
}

void Launcher::freePartials() {
  for (Value partial : partials)
    memref::DeallocOp::create(host, loc, partial);
}

/// Memory in which threads leave the number of an assertion that failed.
Value Launcher::makeFlag() {
  auto type = MemRefType::get({}, host.getI32Type());
  Value flag = memref::AllocOp::create(host, loc, type);
  Value none = arith::ConstantIntOp::create(host, loc, 0, 32);
  memref::StoreOp::create(host, loc, none, flag);
  return flag;
}

void Launcher::checkFlag(Value flag, Assertions &assertions) {
  Value failed = memref::LoadOp::create(host, loc, flag);
  memref::DeallocOp::create(host, loc, flag);
  assertions.check(host, failed);
}

LogicalResult Launcher::launch(SymbolTable &symbols, StringRef name) {
  collectSizes();
  collectArguments();
  makePartials();
  return plan.isChecked ? launchEither(symbols, name)
                        : launchKernel(symbols, name);
}

/// Threads have neighbours if sizes allow for it.
LogicalResult Launcher::launchEither(SymbolTable &symbols, StringRef name) {
  Value haveNeighbours = createNeighbourCheck(host, op, plan.nest.groups.back(),
                                              plan.elementsPerThread, sizes);
  auto branch =
      scf::IfOp::create(host, loc, haveNeighbours, /*withElseRegion=*/true);
  host.setInsertionPoint(branch.thenYield());
  if (failed(launchKernel(symbols, name)))
    return failure();
  plan.elementsPerThread = 1;
  plan.isChecked = false;
  host.setInsertionPoint(branch.elseYield());
  return launchKernel(symbols, name);
}

LogicalResult Launcher::launchKernel(SymbolTable &symbols, StringRef name) {
  Assertions assertions(op);
  SmallVector<Value> operands(arguments.getArrayRef());
  llvm::append_range(operands, partials);
  if (!assertions.empty())
    operands.push_back(makeFlag());

  gpu::GPUFuncOp kernel =
      createKernel(loc, symbols, name, operands, getSharedTypes());
  if (failed(buildKernel(kernel, assertions)))
    return failure();
  createLaunch(host, loc, kernel, getNumBlocks(), operands);
  if (!assertions.empty())
    checkFlag(operands.back(), assertions);
  return success();
}

namespace {

struct LowerKernelsToGpu
    : public tofu::impl::LowerKernelsToGpuBase<LowerKernelsToGpu> {
  using LowerKernelsToGpuBase::LowerKernelsToGpuBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> ofRows;
    SmallVector<linalg::LinalgOp> ops;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(TofuDialect::kRowLoops))
        ofRows.push_back(function);
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!llvm::is_contained(ofRows, op->getParentOfType<func::FuncOp>()))
        ops.push_back(op);
    });
    if (ops.empty() && ofRows.empty())
      return;
    Builder builder(&getContext());
    getOperation()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                            builder.getUnitAttr());
    OpBuilder atStart = OpBuilder::atBlockBegin(getOperation().getBody());
    auto module =
        gpu::GPUModuleOp::create(atStart, getOperation().getLoc(), "kernels");
    SymbolTable(getOperation()).insert(module);
    SymbolTable symbols(module);
    for (func::FuncOp function : ofRows) {
      if (failed(lowerRows(function, symbols, reassociate)))
        return signalPassFailure();
      ++numKernels;
    }
    for (unsigned i = 0; i < ops.size(); ++i) {
      linalg::FillOp fill =
          i + 1 < ops.size() ? getStart(ops[i], ops[i + 1]) : linalg::FillOp();
      i += fill ? 1 : 0;
      if (failed(lower(ops[i], fill, symbols)))
        return signalPassFailure();
    }
  }

private:
  LogicalResult lower(linalg::LinalgOp op, linalg::FillOp fill,
                      SymbolTable &symbols) {
    if (!op.hasPureBufferSemantics())
      return op->emitOpError("is not on buffers");
    auto function = op->getParentOfType<func::FuncOp>();
    if (!function)
      return op->emitOpError("is not in a function");
    if (fill && !Launcher(op, fill, reassociate).takesFill()) {
      if (failed(lower(fill, {}, symbols)))
        return failure();
      fill = {};
    }
    Launcher launcher(op, fill, reassociate);
    if (failed(launcher.launch(symbols, function.getName())))
      return failure();
    if (linalg::GenericOp rest = launcher.combinePartials()) {
      launcher.freePartials();
      if (failed(lower(rest, fill, symbols)))
        return failure();
      fill = {};
    }
    op->erase();
    if (fill)
      fill->erase();
    ++numKernels;
    return success();
  }
};

} // namespace
