//===- GpuBaselines.cpp - What the libraries alone take of a GPU ----------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// usage: gpu-baselines GEMM_SIZE BYTES
//
// Prints medians as JSON, in seconds: a product of square f32 matrices of that
// size by cuBLASLt; a copy of so many bytes within a GPU; and, with several
// GPUs, NCCL's all_reduce of so many bytes on all of them.
//
//===----------------------------------------------------------------------===//

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
  std::fprintf(stderr, "gpu-baselines: error: %s: %s\n", what, why);
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
  if (argc != 3 || std::atoll(argv[1]) < 1 || std::atoll(argv[2]) < 4) {
    std::fprintf(stderr, "usage: gpu-baselines GEMM_SIZE BYTES\n");
    return 2;
  }
  uint64_t size = std::atoll(argv[1]), bytes = std::atoll(argv[2]);
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus), "no GPU can be used");
  if (!gpus)
    fail("no GPU can be used", "there is none");
  std::printf("{\"gpus\": %d, \"gemm_seconds\": %.9g, \"copy_seconds\": %.9g",
              gpus, measureGemm(size), measureCopy(bytes));
  if (gpus > 1)
    std::printf(", \"all_reduce_seconds\": %.9g",
                measureAllReduce(gpus, bytes));
  std::printf("}\n");
  return 0;
}
