//===- Convolution.cpp - Convolutions of the CUDA backend -----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is made once for each shape, and kept. The library's tensors have
// strides, but its engines are for images and filters in the same order,
// channels last or channels before the spatial dims. What is in another order,
// such as the filters of most programs, is copied. If the library refuses a
// convolution as it lies in memory, it is asked once more with all in copies
// without gaps.
//
// Replicas must have the same bits, and results those of the serial program but
// for rounding. So engines that add in an order that changes, that round inputs
// or sums to fewer bits, or that compute by transforms aren't used.
//
// An epilogue is element-wise operations of the same graph. Engines fuse few of
// them: in any layout a bias and relu after it, and before the bias what the
// result holds, as one more tensor in the same memory, each element of which is
// read by what then writes it; gelu and relu alone for f16 and bf16, where
// channels are last.
//
//===----------------------------------------------------------------------===//

#include "Convolution.h"
#include "ConvolutionMatch.h"
#include "Cudnn.h"
#include "Errors.h"

#include <algorithm>
#include <array>
#include <numeric>

using namespace mlir::tofu;
using namespace mlir::tofu::cuda;
using host::Contraction;
using host::ContractionLoop;
using host::ContractionLoops;
using host::View;

/// Engines that need more than this, and than copies of all tensors into
/// another layout and back, are passed over.
static constexpr int64_t kMostWorkspaceBytes = 256 << 20;

/// Of copies. Engines don't ask for more.
static constexpr int64_t kAlignment = 16;

/// What tensors are called in a graph: x, w and y are 0, 1 and 2, and what one
/// operation hands to the next has numbers from here on.
static constexpr int64_t kBiasId = 3, kAddendId = 4, kFirstVirtualId = 5;

namespace {

/// A tensor as the library gets it.
struct PlannedTensor {
  ConvolutionTensor original, given;
  bool isCopied;
};

/// A convolution that the library takes.
struct Plan {
  CudnnDescriptor execution;
  int64_t workspaceBytes = 0;
  /// x, w and y.
  std::array<PlannedTensor, 3> tensors;
  /// Their dims, from the outermost in memory.
  std::vector<size_t> order;
  size_t result = 2;
  /// Whether the library adds to what the result holds. Otherwise, if it is to
  /// be added, it is from a copy.
  bool addsToResult = false;
};

/// What a device keeps of the library.
struct Convolutions {
  ~Convolutions() {
    plans.clear();
    if (handle)
      library.destroy(handle);
  }

  const Cudnn &library = Cudnn::get();
  cudnnHandle_t handle = nullptr;
  std::string error;
  /// Null for what the library refuses.
  std::map<std::vector<int64_t>, std::unique_ptr<Plan>> plans;
};

/// The runtime's own memory, in the order of a stream, for the time of a call.
class Scratch {
public:
  Scratch(Device &device, cudaStream_t stream)
      : device(device), stream(stream) {}
  ~Scratch() {
    for (void *block : blocks)
      device.check(device.releaseScratch(block), nullptr, "memory");
  }

  /// Null if there is none.
  void *allocate(int64_t bytes) {
    void *block = nullptr;
    if (device.allocateScratch(block, bytes, stream) == cudaSuccess)
      blocks.push_back(block);
    else
      cudaGetLastError();
    return block;
  }

private:
  Device &device;
  cudaStream_t stream;
  std::vector<void *> blocks;
};

} // namespace

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// The dims of a tensor from the outermost one in memory.
static std::vector<size_t> getOrder(size_t rank, bool channelsLast) {
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (channelsLast)
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

static bool hasChannelsLast(const Convolution &convolution) {
  // Where a tensor has one channel, the others tell.
  for (const ConvolutionTensor *tensor :
       {&convolution.x, &convolution.y, &convolution.w}) {
    if (tensor->sizes[1] == 1)
      continue;
    for (size_t dim = 2; dim < tensor->sizes.size(); ++dim)
      if (tensor->sizes[dim] != 1 && tensor->strides[dim] < tensor->strides[1])
        return false;
    return true;
  }
  return false;
}

/// Gives dims of one element the strides that they have where nothing is
/// between them and the dim inside.
static void fillStrides(ConvolutionTensor &tensor,
                        const std::vector<size_t> &order) {
  int64_t next = 1;
  for (size_t i = order.size(); i-- > 0;) {
    size_t dim = order[i];
    if (tensor.sizes[dim] == 1)
      tensor.strides[dim] = next;
    next = tensor.strides[dim] * tensor.sizes[dim];
  }
}

static ConvolutionTensor pack(const ConvolutionTensor &tensor,
                              const std::vector<size_t> &order) {
  ConvolutionTensor packed = tensor;
  int64_t next = 1;
  for (size_t i = order.size(); i-- > 0;) {
    packed.strides[order[i]] = next;
    next *= tensor.sizes[order[i]];
  }
  return packed;
}

static bool isOrdered(const ConvolutionTensor &tensor,
                      const std::vector<size_t> &order) {
  for (size_t i = 1; i < order.size(); ++i)
    if (tensor.strides[order[i - 1]] < tensor.strides[order[i]])
      return false;
  return tensor.strides[order.back()] == 1;
}

/// Which of x, w and y are copied: first as few as may do, then all that isn't
/// without gaps. The result may have to be a copy, as it is to be added to.
static std::vector<std::array<bool, 3>>
getCopies(const std::array<PlannedTensor, 3> &tensors,
          const std::vector<size_t> &order, size_t result,
          bool copiesResultFirst, bool copiesResult) {
  std::array<bool, 3> few, all;
  for (size_t i = 0; i < 3; ++i) {
    const ConvolutionTensor &original = tensors[i].original;
    few[i] = !isOrdered(original, order);
    all[i] = original.strides != pack(original, order).strides;
  }
  few[result] = few[result] || copiesResultFirst;
  all[result] = all[result] || copiesResult;
  return few == all ? std::vector{few} : std::vector{few, all};
}

/// The tensor in `data`, its dims in `order`.
static View viewOf(const ConvolutionTensor &tensor, void *data,
                   const std::vector<size_t> &order) {
  View view;
  view.data = static_cast<char *>(data);
  for (size_t dim : order) {
    view.sizes[view.rank] = tensor.sizes[dim];
    view.strides[view.rank++] = tensor.strides[dim];
  }
  return view;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static cudnnDataType_t getType(int64_t type) {
  switch (type) {
  case TOFU_F64:
    return CUDNN_DATA_DOUBLE;
  case TOFU_F16:
    return CUDNN_DATA_HALF;
  case TOFU_BF16:
    return CUDNN_DATA_BFLOAT16;
  default:
    return CUDNN_DATA_FLOAT;
  }
}

static bool isFull(int64_t type) {
  return type == TOFU_F32 || type == TOFU_F64;
}

/// The operation for an activation; nothing if the library has none that gives
/// the same.
///
/// What becomes of NaN in CUDNN_POINTWISE_RELU_FWD is said by an attribute that
/// is deprecated without a substitute. The code of 9.19's kernels for sm_80 and
/// sm_90 says that all keep it if asked to; if not, implicit matrix products
/// and what is compiled at run time keep it as well, and others don't. So
/// TOFU_ACTIVATION_RELU, which is 0 for NaN, isn't the library's.
static std::optional<cudnnPointwiseMode_t> getMode(int64_t activation) {
  switch (activation) {
  case TOFU_ACTIVATION_RELU_NAN:
    return CUDNN_POINTWISE_RELU_FWD;
  case TOFU_ACTIVATION_GELU_TANH:
    return CUDNN_POINTWISE_GELU_APPROX_TANH_FWD;
  default:
    return std::nullopt;
  }
}

/// True if the library may have the epilogue.
static bool takesEpilogue(const Contraction &contraction) {
  return !contraction.activation || getMode(contraction.activation);
}

/// True if what the result holds is added by a step of the epilogue.
static bool addsInEpilogue(const Contraction &contraction) {
  return contraction.accumulate && contraction.hasEpilogue();
}

/// Images and filters of one type; sums in f32 may stay in it.
static bool takesTypes(int64_t input, int64_t output) {
  return input == output || (output == TOFU_F32 && input != TOFU_F64);
}

static int64_t getAlignment(const void *memory) {
  int64_t address = reinterpret_cast<intptr_t>(memory) | kAlignment;
  return address & -address;
}

/// All that a plan depends on.
static std::vector<int64_t> getKey(const Contraction &contraction) {
  std::vector<int64_t> key = {contraction.inputType, contraction.outputType,
                              contraction.accumulate, contraction.activation};
  for (const char *data : contraction.data)
    key.push_back(getAlignment(data));
  key.push_back(contraction.bias ? getAlignment(contraction.bias) : 0);
  for (const ContractionLoops *loops :
       {&contraction.batch, &contraction.rows, &contraction.columns,
        &contraction.inner}) {
    key.push_back(loops->size());
    for (const ContractionLoop &loop : *loops) {
      key.push_back(loop.size);
      key.insert(key.end(), loop.strides, loop.strides + 4);
    }
  }
  return key;
}

namespace {

/// An operation on the sums, and a tensor that it has besides.
struct Step {
  cudnnPointwiseMode_t mode;
  enum { Nothing, Addend, Bias } operand = Nothing;
};

/// Makes the plan of one contraction.
class Planner {
public:
  Planner(Convolutions &convolutions, const Contraction &contraction)
      : library(convolutions.library), handle(convolutions.handle),
        contraction(contraction),
        widens(contraction.inputType != contraction.outputType),
        computeType(contraction.outputType == TOFU_F64 ? CUDNN_DATA_DOUBLE
                                                       : CUDNN_DATA_FLOAT) {}

  /// Null if the library takes it in no way.
  std::unique_ptr<Plan> plan();

private:
  std::unique_ptr<Plan> plan(const Convolution &convolution);
  std::unique_ptr<Plan>
  planWithEpilogue(const std::vector<Convolution> &convolutions);
  int64_t getBytes(const ConvolutionTensor &tensor) const {
    return host::elementBytes(tensor.operand == host::kC
                                  ? contraction.outputType
                                  : contraction.inputType);
  }
  bool finish(Plan &plan, const Convolution &convolution);
  bool makeTensor(CudnnDescriptor &descriptor, const PlannedTensor &tensor,
                  int64_t id);
  bool makeVirtual(CudnnDescriptor &descriptor, const PlannedTensor &tensor,
                   int64_t id);
  bool makeBias(CudnnDescriptor &descriptor, const Plan &plan);
  bool makeWindow(CudnnDescriptor &window, const Convolution &convolution);
  bool makeOperation(CudnnDescriptor &operation, const Plan &plan,
                     const Convolution &convolution,
                     const std::array<const CudnnDescriptor *, 3> &tensors,
                     const CudnnDescriptor &window);
  bool chooseEngine(Plan &plan, const CudnnDescriptor &graph,
                    cudnnBackendHeurMode_t mode);
  bool tryEngine(Plan &plan, const CudnnDescriptor &config);
  std::vector<Step> getSteps() const;
  bool makePointwise(CudnnDescriptor &pointwise, cudnnPointwiseMode_t mode);
  bool makePointwiseOperation(CudnnDescriptor &operation,
                              const CudnnDescriptor &pointwise,
                              const CudnnDescriptor &from,
                              const CudnnDescriptor *addend,
                              const CudnnDescriptor &to);
  CudnnDescriptor make(cudnnBackendDescriptorType_t type) const {
    return CudnnDescriptor(library, type);
  }

  const Cudnn &library;
  cudnnHandle_t handle;
  const Contraction &contraction;
  /// Results of another type than the inputs are those of an operation on the
  /// sums, which the library fuses with a convolution, if channels are last.
  const bool widens;
  /// Of sums, and of what is done to them.
  const cudnnDataType_t computeType;
};

} // namespace

bool Planner::makeTensor(CudnnDescriptor &descriptor,
                         const PlannedTensor &tensor, int64_t id) {
  const ConvolutionTensor &given = tensor.given;
  int64_t type = given.operand == host::kC ? contraction.outputType
                                           : contraction.inputType;
  int64_t alignment = tensor.isCopied
                          ? kAlignment
                          : getAlignment(contraction.data[given.operand]);
  descriptor = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  return descriptor
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, getType(type))
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, given.sizes)
      .set(CUDNN_ATTR_TENSOR_STRIDES, given.strides)
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment)
      .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, false)
      .finalize();
}

/// What one operation hands to the next, like `tensor`; it is never in memory.
bool Planner::makeVirtual(CudnnDescriptor &descriptor,
                          const PlannedTensor &tensor, int64_t id) {
  descriptor = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  return descriptor
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, computeType)
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, tensor.given.sizes)
      .set(CUDNN_ATTR_TENSOR_STRIDES, tensor.given.strides)
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment)
      .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, true)
      .finalize();
}

/// A vector along the channels of the result.
bool Planner::makeBias(CudnnDescriptor &descriptor, const Plan &plan) {
  ConvolutionTensor bias = plan.tensors[plan.result].given;
  for (size_t dim = 0; dim < bias.sizes.size(); ++dim)
    bias.sizes[dim] = dim == 1 ? bias.sizes[dim] : 1;
  bias = pack(bias, plan.order);
  descriptor = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  return descriptor
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE,
           getType(contraction.outputType))
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, bias.sizes)
      .set(CUDNN_ATTR_TENSOR_STRIDES, bias.strides)
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, kBiasId)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, getAlignment(contraction.bias))
      .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, false)
      .finalize();
}

bool Planner::makeWindow(CudnnDescriptor &window,
                         const Convolution &convolution) {
  const std::vector<int64_t> noPadding(convolution.stride.size(), 0);
  window = make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  return window
      .set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, computeType)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
           CUDNN_CROSS_CORRELATION)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS,
           static_cast<int64_t>(convolution.stride.size()))
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, convolution.stride)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, convolution.dilation)
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, noPadding)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, noPadding)
      .finalize();
}

bool Planner::makeOperation(
    CudnnDescriptor &operation, const Plan &plan,
    const Convolution &convolution,
    const std::array<const CudnnDescriptor *, 3> &tensors,
    const CudnnDescriptor &window) {
  auto setScale = [&](cudnnBackendAttributeName_t name, float scale) {
    if (computeType == CUDNN_DATA_DOUBLE)
      operation.set(name, CUDNN_TYPE_DOUBLE, static_cast<double>(scale));
    else
      operation.set(name, CUDNN_TYPE_FLOAT, scale);
  };
  if (convolution.isFilterGradient) {
    operation =
        make(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, window)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, *tensors[0])
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, *tensors[1])
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, *tensors[2]);
    setScale(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, 1);
    setScale(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
             plan.addsToResult);
  } else {
    operation = make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, window)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, *tensors[0])
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, *tensors[1])
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, *tensors[2]);
    setScale(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1);
    setScale(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
             plan.addsToResult && !addsInEpilogue(contraction));
  }
  return operation.finalize();
}

/// What is done to the sums, in this order.
std::vector<Step> Planner::getSteps() const {
  std::vector<Step> steps;
  if (addsInEpilogue(contraction))
    steps.push_back({CUDNN_POINTWISE_ADD, Step::Addend});
  if (contraction.bias)
    steps.push_back({CUDNN_POINTWISE_ADD, Step::Bias});
  if (std::optional<cudnnPointwiseMode_t> mode =
          getMode(contraction.activation))
    steps.push_back({*mode});
  if (steps.empty() && widens)
    steps.push_back({CUDNN_POINTWISE_IDENTITY});
  return steps;
}

bool Planner::makePointwise(CudnnDescriptor &pointwise,
                            cudnnPointwiseMode_t mode) {
  pointwise = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  pointwise.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, computeType);
  if (mode == CUDNN_POINTWISE_RELU_FWD)
    pointwise.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION,
                  CUDNN_TYPE_NAN_PROPOGATION, CUDNN_PROPAGATE_NAN);
  return pointwise.finalize();
}

/// What is added may be null.
bool Planner::makePointwiseOperation(CudnnDescriptor &operation,
                                     const CudnnDescriptor &pointwise,
                                     const CudnnDescriptor &from,
                                     const CudnnDescriptor *addend,
                                     const CudnnDescriptor &to) {
  operation = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
  if (addend)
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *addend);
  return operation.finalize();
}

bool Planner::tryEngine(Plan &plan, const CudnnDescriptor &config) {
  if (!isExact(library, config, contraction.inputType == TOFU_F32))
    return false;
  CudnnDescriptor execution = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  if (!execution
           .set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle)
           .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config)
           .finalize())
    return false;
  std::vector<int64_t> workspace = execution.getValues<int64_t>(
      CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1);
  int64_t most = kMostWorkspaceBytes;
  for (const PlannedTensor &tensor : plan.tensors)
    most += 2 * tensor.given.volume() * getBytes(tensor.given);
  if (workspace.empty() || workspace[0] > most)
    return false;
  plan.workspaceBytes = workspace[0];
  plan.execution = std::move(execution);
  return true;
}

/// Takes the first engine of the library's list that will do.
bool Planner::chooseEngine(Plan &plan, const CudnnDescriptor &graph,
                           cudnnBackendHeurMode_t mode) {
  CudnnDescriptor heuristics = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  if (!heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
           .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode)
           .finalize())
    return false;
  std::vector<CudnnDescriptor> configs = getConfigs(library, heuristics);
  return std::any_of(configs.begin(), configs.end(),
                     [&](auto &config) { return tryEngine(plan, config); });
}

/// What objects are made from lives until the plan is made.
bool Planner::finish(Plan &plan, const Convolution &convolution) {
  CudnnDescriptor tensors[3], addend, bias, window, operation;
  std::array<const CudnnDescriptor *, 3> operands;
  for (int i = 0; i < 3; ++i) {
    operands[i] = &tensors[i];
    if (!makeTensor(tensors[i], plan.tensors[i], i))
      return false;
  }
  if ((contraction.bias && !makeBias(bias, plan)) ||
      !makeTensor(addend, plan.tensors[plan.result], kAddendId))
    return false;
  const CudnnDescriptor *others[] = {nullptr, &addend, &bias};
  const std::vector<Step> steps = getSteps();
  const size_t count = steps.size();
  std::vector<CudnnDescriptor> sums(count), pointwise(count), done(count);
  for (size_t i = 0; i < count; ++i)
    if (!makeVirtual(sums[i], plan.tensors[plan.result], kFirstVirtualId + i))
      return false;
  if (count)
    operands[plan.result] = &sums[0];
  if (!makeWindow(window, convolution) ||
      !makeOperation(operation, plan, convolution, operands, window))
    return false;
  std::vector<cudnnBackendDescriptor_t> operations = {operation.get()};
  for (size_t i = 0; i < count; ++i) {
    if (!makePointwise(pointwise[i], steps[i].mode) ||
        !makePointwiseOperation(
            done[i], pointwise[i], sums[i], others[steps[i].operand],
            i + 1 < count ? sums[i + 1] : tensors[plan.result]))
      return false;
    operations.push_back(done[i].get());
  }
  CudnnDescriptor graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (!graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle)
           .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                operations.size(), operations.data())
           .finalize())
    return false;
  // What is listed to fall back on runs, but may be slow: instead of that, the
  // convolution is done without its epilogue.
  return chooseEngine(plan, graph, CUDNN_HEUR_MODE_A) ||
         (!contraction.hasEpilogue() &&
          chooseEngine(plan, graph, CUDNN_HEUR_MODE_FALLBACK));
}

std::unique_ptr<Plan> Planner::plan(const Convolution &convolution) {
  auto plan = std::make_unique<Plan>();
  plan->order = getOrder(convolution.x.sizes.size(),
                         widens || hasChannelsLast(convolution));
  const std::vector<size_t> &order = plan->order;
  plan->result = convolution.isFilterGradient ? 1 : 2;
  const ConvolutionTensor *tensors[] = {&convolution.x, &convolution.w,
                                        &convolution.y};
  for (int i = 0; i < 3; ++i) {
    plan->tensors[i].original = *tensors[i];
    fillStrides(plan->tensors[i].original, order);
  }
  // A sum of f16 is rounded once, so what is there must be a part of it, and so
  // it must where something comes after the sum.
  bool mayAdd = contraction.accumulate && isFull(contraction.outputType) &&
                !contraction.hasEpilogue();
  for (const std::array<bool, 3> &copies : getCopies(
           plan->tensors, order, plan->result, mayAdd && widens, mayAdd)) {
    for (int i = 0; i < 3; ++i) {
      PlannedTensor &tensor = plan->tensors[i];
      tensor.isCopied = copies[i];
      tensor.given = copies[i] ? pack(tensor.original, order) : tensor.original;
    }
    plan->addsToResult =
        contraction.accumulate && !(mayAdd && copies[plan->result]);
    if (finish(*plan, convolution))
      return plan;
  }
  return nullptr;
}

/// An epilogue isn't worth that a convolution is seen in a worse way, nor that
/// the library copies what a product of matrices has as it is: it keeps
/// channels before pixels for f32 and f64, and last for shorter floats.
std::unique_ptr<Plan>
Planner::planWithEpilogue(const std::vector<Convolution> &convolutions) {
  if (convolutions.empty() || !convolutions.front().takesEpilogue)
    return nullptr;
  const Convolution &best = convolutions.front();
  if (best.isProduct && hasChannelsLast(best) == isFull(contraction.inputType))
    return nullptr;
  return plan(best);
}

std::unique_ptr<Plan> Planner::plan() {
  std::vector<Convolution> convolutions = matchConvolutions(contraction);
  if (contraction.hasEpilogue())
    return planWithEpilogue(convolutions);
  for (const Convolution &convolution : convolutions)
    if (std::unique_ptr<Plan> found = plan(convolution))
      return found;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Without a handle if there is no library to use. One of another version is an
/// error: whoever put it there means it to be used.
static Convolutions &getConvolutions(Device &device) {
  if (!device.convolutions) {
    auto made = std::make_shared<Convolutions>();
    if (made->library.isUsable())
      made->error = made->library.checkVersion();
    if (made->library.isUsable() && made->error.empty() &&
        made->library.create(&made->handle) != CUDNN_STATUS_SUCCESS)
      made->handle = nullptr;
    device.convolutions = made;
  }
  return *static_cast<Convolutions *>(device.convolutions.get());
}

static std::unique_ptr<Plan> &findPlan(Convolutions &convolutions,
                                       const Contraction &contraction) {
  std::vector<int64_t> key = getKey(contraction);
  auto known = convolutions.plans.find(key);
  if (known == convolutions.plans.end())
    known = convolutions.plans
                .emplace(key, Planner(convolutions, contraction).plan())
                .first;
  return known->second;
}

static cudnnStatus_t execute(Convolutions &convolutions, cudaStream_t stream,
                             const Contraction &contraction, const Plan &plan,
                             void *(&data)[3], void *workspace) {
  std::vector<int64_t> ids = {0, 1, 2};
  std::vector<const void *> all(data, data + 3);
  if (contraction.bias) {
    ids.push_back(kBiasId);
    all.push_back(contraction.bias);
  }
  if (addsInEpilogue(contraction)) {
    ids.push_back(kAddendId);
    all.push_back(data[plan.result]);
  }
  const int64_t count = ids.size();
  CudnnDescriptor pack(convolutions.library,
                       CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count,
           ids.data())
      .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count,
           all.data())
      .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
  if (!pack.finalize())
    return CUDNN_STATUS_BAD_PARAM;
  cudnnStatus_t status =
      convolutions.library.setStream(convolutions.handle, stream);
  if (status != CUDNN_STATUS_SUCCESS)
    return status;
  return convolutions.library.execute(convolutions.handle, plan.execution.get(),
                                      pack.get());
}

static std::string describe(const Cudnn &library, cudnnStatus_t status) {
  char last[256] = "";
  library.getLastErrorString(last, sizeof(last));
  return withDetail("a convolution: cuDNN: " +
                        getText(library.getErrorString(status), status),
                    last);
}

/// Copies what the library reads, runs it, and brings back the result.
static Outcome run(Device &device, Convolutions &convolutions,
                   cudaStream_t stream, const Contraction &contraction,
                   const Plan &plan, const char *location) {
  Scratch scratch(device, stream);
  void *data[3], *workspace = nullptr;
  int64_t bytes[3];
  View original[3], given[3];
  bool hasMemory = true;
  for (size_t i = 0; i < 3; ++i) {
    const PlannedTensor &tensor = plan.tensors[i];
    bytes[i] = host::elementBytes(i == plan.result ? contraction.outputType
                                                   : contraction.inputType);
    data[i] = contraction.data[tensor.original.operand];
    original[i] = viewOf(tensor.original, data[i], plan.order);
    if (tensor.isCopied)
      data[i] = scratch.allocate(tensor.given.volume() * bytes[i]);
    hasMemory = hasMemory && data[i];
    given[i] = viewOf(tensor.given, data[i], plan.order);
  }
  if (plan.workspaceBytes)
    workspace = scratch.allocate(plan.workspaceBytes);
  if (!hasMemory || (plan.workspaceBytes && !workspace))
    return Outcome::Refused;
  auto copy = [&](size_t i, const View &to, const View &from) {
    return device.check(
        launchCopy(stream, makeRegion(to, from), to.data, from.data, bytes[i]),
        location, "a copy for a convolution");
  };
  for (size_t i = 0; i < 3; ++i) {
    bool isRead = i != plan.result || plan.addsToResult;
    if (plan.tensors[i].isCopied && isRead && !copy(i, given[i], original[i]))
      return Outcome::Failed;
  }
  cudnnStatus_t status =
      execute(convolutions, stream, contraction, plan, data, workspace);
  if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED)
    return Outcome::Refused;
  if (status != CUDNN_STATUS_SUCCESS) {
    device.fail(location, describe(convolutions.library, status));
    return Outcome::Failed;
  }
  size_t result = plan.result;
  if (!plan.tensors[result].isCopied)
    return Outcome::Done;
  const View &to = original[result], &from = given[result];
  bool isGood =
      contraction.accumulate && !plan.addsToResult
          ? device.check(launchCombine(stream, makeRegion(to, from), to.data,
                                       from.data, TOFU_COMBINE_SUM,
                                       contraction.outputType),
                         location, "a sum for a convolution")
          : copy(result, to, from);
  return isGood ? Outcome::Done : Outcome::Failed;
}

Outcome cuda::runConvolution(Device &device, cudaStream_t stream,
                             const Contraction &contraction,
                             const char *location) {
  // Memory comes in the order of the compute stream, where programs have their
  // contractions.
  if (!takesTypes(contraction.inputType, contraction.outputType) ||
      !takesEpilogue(contraction) || stream != device.streams[TOFU_COMPUTE])
    return Outcome::Refused;
  Convolutions &convolutions = getConvolutions(device);
  if (!convolutions.error.empty()) {
    device.fail(location, "a convolution: " + convolutions.error);
    return Outcome::Failed;
  }
  if (!convolutions.handle)
    return Outcome::Refused;
  const std::unique_ptr<Plan> &plan = findPlan(convolutions, contraction);
  return plan ? run(device, convolutions, stream, contraction, *plan, location)
              : Outcome::Refused;
}

std::string cuda::describeCudnn() {
  const Cudnn &library = Cudnn::get();
  return library.isUsable() ? "cuDNN " + library.getVersionText()
                            : "no cuDNN: " + library.whyNot;
}
