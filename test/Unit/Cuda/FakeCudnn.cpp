//===- FakeCudnn.cpp - Convolutions by definition -------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library of the name of cuDNN that computes what its descriptors say, on the
// host. It is strict about them: attributes have the right type and number, all
// that one needs is there before it is finalized, sizes fit each other, and x,
// w and y are in the same order. Its list of engines begins with ones that must
// not be taken, which compute something else. It fuses what cuDNN 9.19 does.
//
//===----------------------------------------------------------------------===//

#include "FakeCudnn.h"
#include "FakeCudnnOperation.h"

#include <cstdio>
#include <mutex>

using namespace mlir::tofu;
using namespace mlir::tofu::test::cudnn;
using test::FakeCudnn;

static FakeCudnn fake;

FakeCudnn *test::tofuGetFakeCudnn() { return &fake; }

/// Of what the fake notes. Devices have threads.
static std::mutex notes;

static void count(int &counter, int by) {
  std::lock_guard<std::mutex> lock(notes);
  counter += by;
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

namespace {

/// What the library's engines are, in the order of the list.
enum Engine {
  kTensorCore,
  kRandom,
  kDownConverting,
  kHuge,
  kGood,
  kNumEngines
};

} // namespace

static bool isFilterGradientOp(const Object &object) {
  return object.type ==
         CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
}

static const Object &getTensor(const Object &object, char which) {
  bool isGradient = isFilterGradientOp(object);
  switch (which) {
  case 'x':
    return object.getObject(isGradient
                                ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X
                                : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X);
  case 'w':
    return object.getObject(isGradient
                                ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW
                                : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W);
  default:
    return object.getObject(isGradient
                                ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY
                                : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
  }
}

Operation::Operation(const Object &object)
    : isFilterGradient(isFilterGradientOp(object)), x(getTensor(object, 'x')),
      w(getTensor(object, 'w')), y(getTensor(object, 'y')) {
  const Object &window = object.getObject(
      isFilterGradient ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC
                       : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
  computeType = window.get<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
  stride = window.getAll<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  dilation = window.getAll<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  auto name = isFilterGradient
                  ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA
                  : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA;
  beta = computeType == CUDNN_DATA_DOUBLE ? object.get<double>(name)
                                          : object.get<float>(name);
}

Step::Step(const Object &object)
    : from(object.getObject(CUDNN_ATTR_OPERATION_POINTWISE_XDESC)),
      to(object.getObject(CUDNN_ATTR_OPERATION_POINTWISE_YDESC)) {
  const Object &how =
      object.getObject(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  mode = how.get<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
  computeType = how.get<cudnnDataType_t>(CUDNN_ATTR_POINTWISE_MATH_PREC);
  keepsNaN = how.has({CUDNN_ATTR_POINTWISE_NAN_PROPAGATION}) &&
             how.get<cudnnNanPropagation_t>(
                 CUDNN_ATTR_POINTWISE_NAN_PROPAGATION) == CUDNN_PROPAGATE_NAN;
  if (object.has({CUDNN_ATTR_OPERATION_POINTWISE_BDESC}))
    addend = Tensor(object.getObject(CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
}

bool Step::fits(const Tensor &result) const {
  if ((mode == CUDNN_POINTWISE_ADD) != addend.has_value())
    return false;
  if (!addend)
    return true;
  if (addend->isVirtual || addend->type != result.type)
    return false;
  if (addsTensor())
    return addend->strides == result.strides;
  std::vector<int64_t> sizes(result.sizes.size(), 1);
  sizes[1] = result.sizes[1];
  return addend->sizes == sizes && addend->strides[1] == 1;
}

bool Operation::add(const Step &step) {
  Tensor &last = isFilterGradient ? w : y;
  if (!last.isVirtual || last.type != computeType || step.from.id != last.id ||
      step.computeType != computeType || step.to.sizes != last.sizes)
    return false;
  last = step.to;
  steps.push_back(step);
  return true;
}

/// The dims of more than one element, from the outermost in memory.
static std::vector<size_t> getOrder(const Tensor &tensor) {
  std::multimap<int64_t, size_t, std::greater<>> byStride;
  for (size_t dim = 0; dim < tensor.sizes.size(); ++dim)
    byStride.insert({tensor.strides[dim], dim});
  std::vector<size_t> order;
  for (auto [stride, dim] : byStride)
    if (tensor.sizes[dim] > 1)
      order.push_back(dim);
  return order;
}

/// True if the dims of the tensor are in that order, innermost without a gap.
static bool isInOrder(const Tensor &tensor, bool channelsLast) {
  size_t rank = tensor.sizes.size();
  std::vector<size_t> expected = {0};
  if (!channelsLast)
    expected.push_back(1);
  for (size_t dim = 2; dim < rank; ++dim)
    expected.push_back(dim);
  if (channelsLast)
    expected.push_back(1);
  std::vector<size_t> large;
  for (size_t dim : expected)
    if (tensor.sizes[dim] > 1)
      large.push_back(dim);
  return getOrder(tensor) == large && tensor.strides[expected.back()] == 1;
}

static bool isPacked(const Tensor &tensor) {
  int64_t volume = 1, last = 0;
  for (size_t dim = 0; dim < tensor.sizes.size(); ++dim) {
    volume *= tensor.sizes[dim];
    last += (tensor.sizes[dim] - 1) * tensor.strides[dim];
  }
  return last == volume - 1;
}

/// True if the sizes are those of a convolution.
static bool fits(const Operation &operation) {
  const Tensor &x = operation.x, &w = operation.w, &y = operation.y;
  size_t rank = x.sizes.size();
  if (w.sizes.size() != rank || y.sizes.size() != rank || rank < 4 ||
      rank > 5 || operation.stride.size() != rank - 2 ||
      operation.dilation.size() != rank - 2)
    return false;
  int64_t groups = x.sizes[1] / w.sizes[1];
  if (x.sizes[0] != y.sizes[0] || w.sizes[0] != y.sizes[1] ||
      x.sizes[1] != groups * w.sizes[1] || w.sizes[0] % groups)
    return false;
  for (size_t i = 0; i < rank - 2; ++i) {
    int64_t window = operation.dilation[i] * (w.sizes[i + 2] - 1) + 1;
    if (x.sizes[i + 2] < window ||
        (x.sizes[i + 2] - window) / operation.stride[i] + 1 != y.sizes[i + 2])
      return false;
  }
  return true;
}

static bool takesTypes(const Operation &operation) {
  cudnnDataType_t input = operation.x.type;
  const Tensor &other = operation.isFilterGradient ? operation.y : operation.w;
  bool isDouble = input == CUDNN_DATA_DOUBLE;
  return other.type == input && !other.isVirtual && !operation.x.isVirtual &&
         (operation.result().type == input ||
          (operation.result().type == CUDNN_DATA_FLOAT && !isDouble)) &&
         operation.computeType ==
             (isDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
}

static bool takesLayouts(const Operation &operation) {
  const Tensor *all[] = {&operation.x, &operation.w, &operation.y};
  for (bool channelsLast : {false, true}) {
    bool isGood = channelsLast || operation.steps.empty() ||
                  (operation.isBiasOrRelu() && !operation.widens());
    for (const Tensor *tensor : all)
      isGood = isGood && isInOrder(*tensor, channelsLast) &&
               (!fake.refusesGaps || isPacked(*tensor));
    if (isGood)
      return true;
  }
  return false;
}

/// True if a dim steps over less than all of a dim inside, with the gap after
/// its last element: cuDNN takes that for an overlap.
static bool hasOverlap(const Tensor &tensor) {
  std::vector<size_t> order = getOrder(tensor);
  for (size_t i = 1; i < order.size(); ++i)
    if (tensor.strides[order[i - 1]] <
        tensor.strides[order[i]] * tensor.sizes[order[i]])
      return true;
  return false;
}

static cudnnStatus_t finalizeOperation(const Object &object) {
  Operation operation(object);
  bool isGood = fits(operation) && takesTypes(operation) &&
                !hasOverlap(operation.x) && !hasOverlap(operation.w) &&
                !hasOverlap(operation.y);
  return isGood ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

static bool hasAllAttributes(const Object &object) {
  switch (object.type) {
  case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
    return object.has(
        {CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_ATTR_TENSOR_DIMENSIONS,
         CUDNN_ATTR_TENSOR_STRIDES, CUDNN_ATTR_TENSOR_UNIQUE_ID,
         CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_ATTR_TENSOR_IS_VIRTUAL});
  case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
    return object.has({CUDNN_ATTR_CONVOLUTION_COMP_TYPE,
                       CUDNN_ATTR_CONVOLUTION_CONV_MODE,
                       CUDNN_ATTR_CONVOLUTION_DILATIONS,
                       CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                       CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
                       CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
                       CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS});
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    return object.has({CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y});
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
    return object.has({CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY});
  case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
    return object.has(
        {CUDNN_ATTR_POINTWISE_MODE, CUDNN_ATTR_POINTWISE_MATH_PREC});
  case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
    return object.has({CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
                       CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                       CUDNN_ATTR_OPERATION_POINTWISE_YDESC});
  case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
    return object.has(
        {CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_ATTR_OPERATIONGRAPH_OPS});
  case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
    return object.has(
        {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_ATTR_ENGINEHEUR_MODE});
  case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
    return object.has({CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
                       CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG});
  case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
    return object.has({CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
                       CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                       CUDNN_ATTR_VARIANT_PACK_WORKSPACE});
  default:
    return false;
  }
}

static int64_t getBytes(cudnnBackendAttributeType_t type) {
  switch (type) {
  case CUDNN_TYPE_INT64:
  case CUDNN_TYPE_DOUBLE:
  case CUDNN_TYPE_HANDLE:
  case CUDNN_TYPE_VOID_PTR:
  case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    return 8;
  case CUDNN_TYPE_BOOLEAN:
    return sizeof(bool);
  default:
    return 4;
  }
}

static cudnnBackendAttributeType_t getType(cudnnBackendAttributeName_t name) {
  switch (name) {
  case CUDNN_ATTR_TENSOR_DATA_TYPE:
  case CUDNN_ATTR_CONVOLUTION_COMP_TYPE:
  case CUDNN_ATTR_POINTWISE_MATH_PREC:
    return CUDNN_TYPE_DATA_TYPE;
  case CUDNN_ATTR_TENSOR_IS_VIRTUAL:
    return CUDNN_TYPE_BOOLEAN;
  case CUDNN_ATTR_POINTWISE_MODE:
    return CUDNN_TYPE_POINTWISE_MODE;
  case CUDNN_ATTR_POINTWISE_NAN_PROPAGATION:
    return CUDNN_TYPE_NAN_PROPOGATION;
  case CUDNN_ATTR_CONVOLUTION_CONV_MODE:
    return CUDNN_TYPE_CONVOLUTION_MODE;
  case CUDNN_ATTR_ENGINEHEUR_MODE:
    return CUDNN_TYPE_HEUR_MODE;
  case CUDNN_ATTR_OPERATIONGRAPH_HANDLE:
  case CUDNN_ATTR_EXECUTION_PLAN_HANDLE:
    return CUDNN_TYPE_HANDLE;
  case CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS:
  case CUDNN_ATTR_VARIANT_PACK_WORKSPACE:
    return CUDNN_TYPE_VOID_PTR;
  case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA:
  case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA:
  case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA:
  case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA:
    return CUDNN_TYPE_FLOAT;
  case CUDNN_ATTR_TENSOR_DIMENSIONS:
  case CUDNN_ATTR_TENSOR_STRIDES:
  case CUDNN_ATTR_TENSOR_UNIQUE_ID:
  case CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT:
  case CUDNN_ATTR_CONVOLUTION_DILATIONS:
  case CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES:
  case CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS:
  case CUDNN_ATTR_CONVOLUTION_POST_PADDINGS:
  case CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS:
  case CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS:
    return CUDNN_TYPE_INT64;
  default:
    return CUDNN_TYPE_BACKEND_DESCRIPTOR;
  }
}

static void note(const Operation &operation) {
  std::lock_guard<std::mutex> lock(notes);
  ++(operation.isFilterGradient ? fake.numFilterGradients : fake.numForward);
  fake.numEpilogues += operation.hasEpilogue();
  const Tensor &x = operation.x;
  fake.groups = x.sizes[1] / operation.w.sizes[1];
  fake.isChannelsLast = isInOrder(x, true);
  std::fill(std::begin(fake.sizesOfX), std::end(fake.sizesOfX), 0);
  std::copy(x.sizes.begin(), x.sizes.end(), fake.sizesOfX);
}

//===----------------------------------------------------------------------===//
// The library's functions
//===----------------------------------------------------------------------===//

size_t cudnnGetVersion() { return fake.version; }
const char *cudnnGetErrorString(cudnnStatus_t) { return fake.errorText; }
void cudnnGetLastErrorString(char *message, size_t size) {
  std::snprintf(message, size, "%s", fake.errorText ? "it says" : "");
}
/// A handle holds the stream that it was given.
cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  if (fake.onCreate != CUDNN_STATUS_SUCCESS)
    return fake.onCreate;
  *handle = reinterpret_cast<cudnnHandle_t>(new cudaStream_t());
  count(fake.numHandles, 1);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete reinterpret_cast<cudaStream_t *>(handle);
  count(fake.numHandles, -1);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  *reinterpret_cast<cudaStream_t *>(handle) = stream;
  return stream ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *result) {
  auto *object = new Object();
  object->type = type;
  *result = object;
  count(fake.numDescriptors, 1);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t raw) {
  delete static_cast<Object *>(raw);
  count(fake.numDescriptors, -1);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t raw,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type,
                                       int64_t count, const void *values) {
  auto &object = *static_cast<Object *>(raw);
  cudnnBackendAttributeType_t wanted = getType(name);
  bool isScale = wanted == CUDNN_TYPE_FLOAT && type == CUDNN_TYPE_DOUBLE;
  if (object.isFinal || (type != wanted && !isScale))
    return CUDNN_STATUS_BAD_PARAM;
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
    for (int64_t i = 0; i < count; ++i)
      if (!static_cast<Object *const *>(values)[i]->isFinal)
        return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  const char *bytes = static_cast<const char *>(values);
  object.values[name].assign(bytes, bytes + count * getBytes(type));
  return CUDNN_STATUS_SUCCESS;
}

/// A convolution, alone or with what is done to its sums.
static std::optional<Operation> getOperation(const Object &graph) {
  auto all = graph.getAll<const Object *>(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  Operation operation(*all.at(0));
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i]->type != CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR ||
        !operation.add(Step(*all[i])))
      return std::nullopt;
  if (operation.result().isVirtual)
    return std::nullopt;
  for (const Step &step : operation.steps)
    if (!step.fits(operation.result()))
      return std::nullopt;
  return operation;
}

static void makePlan(Object &plan) {
  const Object &config =
      plan.getObject(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  plan.engine = config.engine;
  plan.operation = std::make_shared<Operation>(*getOperation(config));
  count(fake.numPlans, 1);
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t raw) {
  auto &object = *static_cast<Object *>(raw);
  if (object.isFinal || !hasAllAttributes(object))
    return CUDNN_STATUS_BAD_PARAM;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  if (object.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR ||
      isFilterGradientOp(object))
    status = finalizeOperation(object);
  if (object.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
    makePlan(object);
  object.isFinal = status == CUDNN_STATUS_SUCCESS;
  return status;
}

/// True if it doesn't do it. It writes another type than it reads only by what
/// it fuses, and then doesn't add to the result.
static bool isRefused(const Operation &operation) {
  if (fake.refusesAll || !takesLayouts(operation) ||
      (operation.widens() && operation.steps.empty()))
    return true;
  if (operation.beta && (fake.refusesToAdd || !operation.steps.empty()))
    return true;
  bool isGeneral = !operation.steps.empty() && !operation.isBiasOrRelu();
  // A tensor is added before a bias, or not at all.
  if (operation.addsTensor() && (isGeneral || operation.widens()))
    return true;
  return operation.hasEpilogue() &&
         (fake.refusesEpilogues || operation.isFilterGradient ||
          (isGeneral && operation.computeType == CUDNN_DATA_DOUBLE));
}

/// Engines in the first list are those that must not be taken; the good one
/// comes last of the second, as it may be left to that, unless it is one for
/// bias and relu.
static cudnnStatus_t listEngines(const Object &heuristics, int64_t wanted,
                                 int64_t *count, void *values) {
  const Object &graph =
      heuristics.getObject(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  std::optional<Operation> operation = getOperation(graph);
  if (!operation)
    return CUDNN_STATUS_BAD_PARAM;
  bool isFallback = heuristics.get<cudnnBackendHeurMode_t>(
                        CUDNN_ATTR_ENGINEHEUR_MODE) == CUDNN_HEUR_MODE_FALLBACK;
  bool isGoodFirst = operation->isBiasOrRelu() && !operation->widens();
  int first = isFallback ? kHuge : 0,
      end = isFallback || isGoodFirst ? kNumEngines : kHuge;
  bool isRefused = ::isRefused(*operation);
  *count = isRefused ? 0 : end - first;
  if (!values)
    return CUDNN_STATUS_SUCCESS;
  if (wanted < *count)
    return CUDNN_STATUS_BAD_PARAM;
  for (int64_t i = 0; i < *count; ++i) {
    Object &config = *static_cast<Object **>(values)[i];
    if (config.type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
      return CUDNN_STATUS_BAD_PARAM;
    config.engine = first + i;
    config.isFinal = true;
    config.values = {{CUDNN_ATTR_OPERATIONGRAPH_OPS,
                      graph.values.at(CUDNN_ATTR_OPERATIONGRAPH_OPS)}};
  }
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t listNotes(int engine, int64_t wanted, int64_t *count,
                               void *values) {
  std::vector<cudnnBackendNumericalNote_t> notes = {
      CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP};
  if (engine == kTensorCore)
    notes.push_back(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
  if (engine == kRandom)
    notes.push_back(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
  if (engine == kDownConverting)
    notes.push_back(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
  *count = notes.size();
  if (wanted < *count)
    return CUDNN_STATUS_BAD_PARAM;
  std::memcpy(values, notes.data(), notes.size() * sizeof(notes[0]));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(const cudnnBackendDescriptor_t raw,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t,
                                       int64_t wanted, int64_t *count,
                                       void *values) {
  auto &object = *static_cast<Object *>(raw);
  switch (name) {
  case CUDNN_ATTR_ENGINEHEUR_RESULTS:
    return listEngines(object, wanted, count, values);
  case CUDNN_ATTR_ENGINECFG_ENGINE: {
    Object &engine = **static_cast<Object **>(values);
    engine.engine = object.engine;
    engine.isFinal = true;
    *count = 1;
    return CUDNN_STATUS_SUCCESS;
  }
  case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
    return listNotes(object.engine, wanted, count, values);
  case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
    *static_cast<int64_t *>(values) =
        object.engine == kHuge ? int64_t(1) << 40 : fake.workspaceBytes;
    *count = 1;
    return CUDNN_STATUS_SUCCESS;
  default:
    return CUDNN_STATUS_BAD_PARAM;
  }
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                  cudnnBackendDescriptor_t rawPlan,
                                  cudnnBackendDescriptor_t rawPack) {
  const auto &plan = *static_cast<const Object *>(rawPlan);
  const auto &pack = *static_cast<const Object *>(rawPack);
  if (!handle || !plan.isFinal || !pack.isFinal)
    return CUDNN_STATUS_BAD_PARAM;
  if (fake.onExecute != CUDNN_STATUS_SUCCESS)
    return fake.onExecute;
  const Operation &operation = *plan.operation;
  auto ids = pack.getAll<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  auto data = pack.getAll<char *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  std::map<int64_t, char *> memory;
  for (size_t i = 0; i < ids.size(); ++i)
    memory[ids[i]] = data.at(i);
  std::vector<const Tensor *> tensors = {&operation.x, &operation.w,
                                         &operation.y};
  for (const Step &step : operation.steps)
    if (step.addend)
      tensors.push_back(&*step.addend);
  if (memory.size() != tensors.size())
    return CUDNN_STATUS_BAD_PARAM;
  for (const Tensor *tensor : tensors)
    if (!memory[tensor->id] ||
        reinterpret_cast<uintptr_t>(memory[tensor->id]) % tensor->alignment)
      return CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER;
  int64_t workspaceBytes = fake.workspaceBytes;
  auto workspace = workspaceBytes
                       ? pack.get<char *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE)
                       : nullptr;
  if (workspaceBytes && !workspace)
    return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  // All others must not be taken.
  bool isTensorCore =
      plan.engine == kTensorCore && operation.x.type != CUDNN_DATA_FLOAT;
  bool isRight = plan.engine == kGood || isTensorCore;
  auto work = [=, held = plan.operation]() mutable {
    if (workspace)
      std::memset(workspace, 0x77, workspaceBytes);
    if (isRight && held->steps.empty())
      convolve(*held, memory[held->x.id], memory[held->w.id],
               memory[held->y.id]);
    else if (isRight)
      convolveInSteps(*held, memory, /*keepsNaN=*/isTensorCore);
  };
  if (fake.enqueue)
    fake.enqueue(*reinterpret_cast<cudaStream_t *>(handle), work);
  else
    work();
  note(operation);
  return CUDNN_STATUS_SUCCESS;
}
