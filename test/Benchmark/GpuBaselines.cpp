//===- GpuBaselines.cpp - What the libraries alone take of a GPU ----------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// usage: gpu-baselines GEMM_SIZE BYTES IMAGES CHANNELS
//
// Prints medians as JSON, in seconds: a product of square f32 matrices of that
// size by cuBLASLt; a copy of so many bytes within a GPU; a convolution of f32
// images of 58 x 58 pixels with windows of 3 x 3 and as many filters as
// channels by cuDNN, all NHWC, or why there is none; and, with several GPUs,
// NCCL's all_reduce of so many bytes on all of them.
//
//===----------------------------------------------------------------------===//

#ifdef TOFU_HAS_CUDNN
#include "Cudnn.h"
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <vector>

static constexpr int kWarmup = 5, kRuns = 21;
static constexpr size_t kWorkspace = 32 << 20;

[[noreturn]] static void fail(const char *what, const char *why) {
  std::fprintf(stderr, "gpu-baselines: error: %s: %s\n", what,
               why ? why : "an error without a text");
  std::exit(3);
}

static void check(cudaError_t status, const char *what) {
  if (status != cudaSuccess)
    fail(what, cudaGetErrorString(status));
}

static void check(cublasStatus_t status, const char *what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail(what, cublasLtGetStatusString(status));
}

static void check(ncclResult_t status, const char *what) {
  if (status != ncclSuccess)
    fail(what, ncclGetErrorString(status));
}

static void *allocate(size_t bytes) {
  void *memory = nullptr;
  check(cudaMalloc(&memory, bytes), "memory");
  check(cudaMemset(memory, 0, bytes), "memory");
  return memory;
}

/// The median of the seconds that `work` takes, which waits for its end.
template <typename Work>
static double measure(Work work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (int run = -kWarmup; run < kRuns; ++run) {
    Clock::time_point start = Clock::now();
    work();
    if (run >= 0)
      seconds.push_back(
          std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[kRuns / 2];
}

static double measureGemm(uint64_t size) {
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t operation;
  cublasLtMatrixLayout_t layout;
  cublasLtMatmulPreference_t preference;
  check(cublasLtCreate(&handle), "cuBLASLt");
  check(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F),
        "cuBLASLt");
  check(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, size, size, size),
        "cuBLASLt");
  check(cublasLtMatmulPreferenceCreate(&preference), "cuBLASLt");
  size_t workspaceBytes = kWorkspace;
  check(cublasLtMatmulPreferenceSetAttribute(
            preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
            &workspaceBytes, sizeof(workspaceBytes)),
        "cuBLASLt");
  cublasLtMatmulHeuristicResult_t found;
  int count = 0;
  check(cublasLtMatmulAlgoGetHeuristic(handle, operation, layout, layout,
                                       layout, layout, preference, 1, &found,
                                       &count),
        "cuBLASLt");
  if (!count)
    fail("cuBLASLt", "no algorithm for this product");
  size_t bytes = size * size * sizeof(float);
  void *a = allocate(bytes), *b = allocate(bytes), *c = allocate(bytes);
  void *workspace = allocate(kWorkspace);
  float one = 1, zero = 0;
  double seconds = measure([&] {
    check(cublasLtMatmul(handle, operation, &one, a, layout, b, layout, &zero,
                         c, layout, c, layout, &found.algo, workspace,
                         kWorkspace, nullptr),
          "cuBLASLt");
    check(cudaDeviceSynchronize(), "product");
  });
  for (void *memory : {a, b, c, workspace})
    check(cudaFree(memory), "memory");
  return seconds;
}

static double measureCopy(size_t bytes) {
  void *from = allocate(bytes), *to = allocate(bytes);
  double seconds = measure([&] {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), "copy");
    check(cudaDeviceSynchronize(), "copy");
  });
  check(cudaFree(from), "memory");
  check(cudaFree(to), "memory");
  return seconds;
}

#ifdef TOFU_HAS_CUDNN
using mlir::tofu::cuda::Cudnn;
using mlir::tofu::cuda::CudnnDescriptor;

static void checkCudnn(bool isGood, const char *what) {
  if (isGood)
    return;
  char reason[256] = "";
  Cudnn::get().getLastErrorString(reason, sizeof(reason));
  fail(what, reason);
}

/// Dims and strides as cuDNN has them, channels before pixels; in memory they
/// come last.
static CudnnDescriptor makeTensor(int64_t id, int64_t images, int64_t channels,
                                  int64_t pixels) {
  const std::vector<int64_t> sizes = {images, channels, pixels, pixels},
                             strides = {pixels * pixels * channels, 1,
                                        pixels * channels, channels};
  CudnnDescriptor tensor(Cudnn::get(), CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE,
             CUDNN_DATA_FLOAT);
  tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, sizes);
  tensor.set(CUDNN_ATTR_TENSOR_STRIDES, strides);
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  tensor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 16);
  checkCudnn(tensor.finalize(), "cuDNN's tensor");
  return tensor;
}

/// The first plan of the library's list that keeps f32: without tensor cores,
/// and without transforms.
static CudnnDescriptor makePlan(cudnnHandle_t handle,
                                const CudnnDescriptor &graph) {
  const Cudnn &library = Cudnn::get();
  CudnnDescriptor heuristics(library, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE,
                 CUDNN_HEUR_MODE_A);
  checkCudnn(heuristics.finalize(), "cuDNN's heuristics");
  for (const CudnnDescriptor &config : getConfigs(library, heuristics)) {
    CudnnDescriptor plan(library, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    if (isExact(library, config, /*isFloat32=*/true) && plan.finalize())
      return plan;
  }
  fail("cuDNN", "no engine for this convolution");
}

static double measureConvolution(int64_t images, int64_t channels) {
  constexpr int64_t size = 58, window = 3, out = size - window + 1;
  const Cudnn &library = Cudnn::get();
  cudnnHandle_t handle = nullptr;
  checkCudnn(library.create(&handle) == CUDNN_STATUS_SUCCESS, "cuDNN");
  CudnnDescriptor x = makeTensor(0, images, channels, size),
                  w = makeTensor(1, channels, channels, window),
                  y = makeTensor(2, images, channels, out);
  const std::vector<int64_t> ones = {1, 1}, zeros = {0, 0};
  CudnnDescriptor slide(library, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  slide.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
            CUDNN_DATA_FLOAT);
  slide.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
            CUDNN_CROSS_CORRELATION);
  slide.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 2);
  slide.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, ones);
  slide.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, ones);
  slide.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, zeros);
  slide.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, zeros);
  checkCudnn(slide.finalize(), "cuDNN's convolution");
  CudnnDescriptor operation(
      library, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, slide);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                CUDNN_TYPE_FLOAT, 1.0f);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT,
                0.0f);
  checkCudnn(operation.finalize(), "cuDNN's operation");
  CudnnDescriptor graph(library, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  checkCudnn(graph.finalize(), "cuDNN's graph");
  CudnnDescriptor plan = makePlan(handle, graph);
  std::vector<int64_t> workspace = plan.getValues<int64_t>(
      CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1);
  checkCudnn(!workspace.empty(), "cuDNN's plan");
  void *data[] = {
      allocate(4 * images * size * size * channels),
      allocate(4 * channels * window * window * channels),
      allocate(4 * images * out * out * channels),
      allocate(std::max<int64_t>(workspace[0], 1)),
  };
  const int64_t ids[] = {0, 1, 2};
  CudnnDescriptor pack(library, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids);
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, data);
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, data[3]);
  checkCudnn(pack.finalize(), "cuDNN's arguments");
  double seconds = measure([&] {
    checkCudnn(library.execute(handle, plan.get(), pack.get()) ==
                   CUDNN_STATUS_SUCCESS,
               "convolution");
    check(cudaDeviceSynchronize(), "convolution");
  });
  for (void *memory : data)
    check(cudaFree(memory), "memory");
  library.destroy(handle);
  return seconds;
}

/// A member of the report.
static void printConvolution(int64_t images, int64_t channels) {
  const Cudnn &library = Cudnn::get();
  std::string reason =
      library.isUsable() ? library.checkVersion() : library.whyNot;
  std::replace(reason.begin(), reason.end(), '"', '\'');
  if (reason.empty())
    std::printf(", \"convolution_seconds\": %.9g",
                measureConvolution(images, channels));
  else
    std::printf(", \"no_convolution\": \"%s\"", reason.c_str());
}
#else
static void printConvolution(int64_t, int64_t) {
  std::printf(", \"no_convolution\": \"built without cuDNN\"");
}
#endif

/// As nccl-tests do: in place, on all GPUs of one process.
static double measureAllReduce(int gpus, size_t bytes) {
  std::vector<ncclComm_t> communicators(gpus);
  check(ncclCommInitAll(communicators.data(), gpus, nullptr), "NCCL");
  std::vector<cudaStream_t> streams(gpus);
  std::vector<void *> memory(gpus);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    check(cudaSetDevice(gpu), "GPU");
    check(cudaStreamCreate(&streams[gpu]), "stream");
    memory[gpu] = allocate(bytes);
  }
  double seconds = measure([&] {
    check(ncclGroupStart(), "NCCL");
    for (int gpu = 0; gpu < gpus; ++gpu)
      check(ncclAllReduce(memory[gpu], memory[gpu], bytes / sizeof(float),
                          ncclFloat, ncclSum, communicators[gpu], streams[gpu]),
            "all_reduce");
    check(ncclGroupEnd(), "all_reduce");
    for (int gpu = 0; gpu < gpus; ++gpu) {
      check(cudaSetDevice(gpu), "GPU");
      check(cudaStreamSynchronize(streams[gpu]), "all_reduce");
    }
  });
  check(cudaSetDevice(0), "GPU");
  return seconds;
}

int main(int argc, char **argv) {
  bool isGood = argc == 5 && std::atoll(argv[2]) >= 4;
  for (int i = 1; i < argc; ++i)
    isGood = isGood && std::atoll(argv[i]) >= 1;
  if (!isGood) {
    std::fprintf(stderr,
                 "usage: gpu-baselines GEMM_SIZE BYTES IMAGES CHANNELS\n");
    return 2;
  }
  uint64_t size = std::atoll(argv[1]), bytes = std::atoll(argv[2]);
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus), "no GPU can be used");
  if (!gpus)
    fail("no GPU can be used", "there is none");
  std::printf("{\"gpus\": %d, \"gemm_seconds\": %.9g, \"copy_seconds\": %.9g",
              gpus, measureGemm(size), measureCopy(bytes));
  printConvolution(std::atoll(argv[3]), std::atoll(argv[4]));
  if (gpus > 1)
    std::printf(", \"all_reduce_seconds\": %.9g",
                measureAllReduce(gpus, bytes));
  std::printf("}\n");
  return 0;
}
