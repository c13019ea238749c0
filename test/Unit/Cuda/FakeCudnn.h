//===- FakeCudnn.h - What tests say to, and ask of, the fake ----*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_UNIT_CUDA_FAKECUDNN_H
#define TOFU_TEST_UNIT_CUDA_FAKECUDNN_H

#include <cstddef>
#include <cstdint>
#include <cudnn_graph.h>
#include <functional>

namespace mlir::tofu::test {

/// The state of the library that stands in for cuDNN.
struct FakeCudnn {
  size_t version = CUDNN_VERSION;
  /// What it says of an error; null if it knows none of that number.
  const char *errorText = "an error";
  /// What a call gives.
  cudnnStatus_t onCreate = CUDNN_STATUS_SUCCESS;
  cudnnStatus_t onExecute = CUDNN_STATUS_SUCCESS;
  /// What it refuses: all; tensors with gaps; to add to the result; bias and
  /// activation.
  bool refusesAll = false, refusesGaps = false, refusesToAdd = false,
       refusesEpilogues = false;
  /// What its engine needs, and writes to.
  int64_t workspaceBytes = 0;
  /// How it puts work on a stream; null if work is done when it is called for.
  void (*enqueue)(cudaStream_t stream,
                  const std::function<void()> &work) = nullptr;

  // What it has done so far. Descriptors and handles are those alive.
  int numForward = 0, numFilterGradients = 0, numPlans = 0, numDescriptors = 0,
      numHandles = 0;
  /// Convolutions with bias or activation among them.
  int numEpilogues = 0;
  /// The groups and the sizes of x of the last one, and whether its channels
  /// are last in memory.
  int64_t groups = 0, sizesOfX[5] = {};
  bool isChannelsLast = false;

  int numConvolutions() const { return numForward + numFilterGradients; }
};

/// A symbol of the library.
extern "C" FakeCudnn *tofuGetFakeCudnn();

} // namespace mlir::tofu::test

#endif // TOFU_TEST_UNIT_CUDA_FAKECUDNN_H
