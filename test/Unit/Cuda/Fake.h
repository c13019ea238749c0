//===- Fake.h - GPUs that are not there -------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_UNIT_CUDA_FAKE_H
#define TOFU_TEST_UNIT_CUDA_FAKE_H

#include <atomic>
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <functional>
#include <nccl.h>
#include <string>
#include <vector>

namespace mlir::tofu::test {

/// A kernel of a program, for which its image stands. All arguments are words.
struct FakeKernel {
  void (*run)(void **arguments, dim3 grid, dim3 block);
  int numArguments;
};

/// Does it in the order of the stream, or makes it part of the graph for which
/// that is captured.
void enqueue(cudaStream_t stream, const std::function<void()> &work);
bool isCapturing(cudaStream_t stream);
/// The same of a copy, which may wait (delaysCopies).
void enqueueCopy(cudaStream_t stream, const std::function<void()> &copy);

/// What the next copy gives that is put on a stream.
inline std::atomic<cudaError_t> onCopy{cudaSuccess};

/// The versions of the driver, which is 0 where there is none, and of the
/// libraries: those of the headers, unless a test says otherwise.
inline std::atomic<int> driverVersion{CUDART_VERSION},
    runtimeVersion{CUDART_VERSION}, ncclVersion{NCCL_VERSION_CODE},
    cublasLtVersion{CUBLAS_VERSION};

/// What all functions of CUDA, NCCL and cuBLASLt say of an error: null if they
/// know none of that number.
inline std::atomic<const char *> errorText{"an error"};

/// What the next call that counts GPUs, and the next one that makes a handle of
/// cuBLASLt, give.
inline std::atomic<cudaError_t> onCount{cudaSuccess};
inline std::atomic<cublasStatus_t> onCreateBlas{CUBLAS_STATUS_SUCCESS};

/// Lets a copy that is put on a stream wait until somebody waits for it, or
/// something else is put there.
inline std::atomic<bool> delaysCopies{false};

/// Copies that were put on streams so far, which are refused unless one side is
/// pinned memory, and the most bytes of one of them.
inline std::atomic<int> numHostCopies{0};
inline std::atomic<size_t> mostHostBytes{0};

/// What the next call gives that makes a graph ready.
inline std::atomic<cudaError_t> onUpload{cudaSuccess};

/// Allocations of graphs that are there.
int countLiveGraphMemory();

/// Launches of graphs so far.
inline std::atomic<int> numGraphLaunches{0};

/// How many GPUs there seem to be.
inline std::atomic<int> numFakeGpus{1};

/// Whether GPUs can access each other's memory.
inline std::atomic<bool> canReachPeers{true};

/// Messages of NCCL that were received so far.
inline std::atomic<int> numNcclMessages{0};

/// What was wrong with messages so far: sends and receives of two ranks must
/// match, group by group and in order. Forgets it.
std::vector<std::string> takeNcclFaults();

/// What the next call gives that makes an identifier, and the next one that
/// begins to end a communicator.
inline std::atomic<ncclResult_t> onUniqueId{ncclSuccess},
    onFinalize{ncclSuccess};

/// What the next call gives that frees memory of a stream, and the next one
/// that selects a GPU.
inline std::atomic<cudaError_t> onFree{cudaSuccess}, onSelect{cudaSuccess};

/// For how many polls each call of NCCL stays in progress, at least.
inline std::atomic<int> numNcclPolls{2};

/// Communicators that there are.
inline std::atomic<int> numNcclCommunicators{0};

/// Lets a call of a rank fail after it has returned: that with the number `job`
/// from here on, counted from 0, of those that make or split communicators and
/// those that end groups.
void failNccl(int rank, int job);
/// The same for one that doesn't end before its communicator is aborted.
void hangNccl(int rank, int job);

/// Calls of NCCL's collectives so far, and those of them that became part of a
/// graph.
inline std::atomic<int> numNcclCalls{0}, numCapturedNcclCalls{0};

/// Products that cuBLASLt has done so far.
inline std::atomic<int> numProducts{0};

/// Products with an epilogue among them.
inline std::atomic<int> numProductsWithEpilogue{0};

/// Lets cuBLASLt find no algorithm for a product with an epilogue.
inline std::atomic<bool> lacksEpilogues{false};

/// Copies on their own, and gathers of several, of the backend so far.
inline std::atomic<int> numCopies{0}, numGathers{0};

/// Contractions that the backend's own kernel has done so far.
inline std::atomic<int> numContractions{0};

/// Epilogues that a kernel of their own has done so far.
inline std::atomic<int> numEpilogues{0};

} // namespace mlir::tofu::test

#endif // TOFU_TEST_UNIT_CUDA_FAKE_H
