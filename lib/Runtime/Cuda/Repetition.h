//===- Repetition.h - Runs that are captured and replayed -------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first run of a program is watched: it loads kernels, makes communicators,
// chooses algorithms, and shows whether anything stands in the way of a graph.
// If nothing does on any device, the second run is captured, and launched as
// the graph that all later ones launch as well. Addresses in it stay valid:
// those of inputs, globals and constants are what they were, and memory of the
// program is the graph's own.
//
// Nothing is done twice or not at all. If what can't be captured turns up in
// the second run, the graph so far is launched, and the rest of the run is as
// usual. If a graph can't be made at all, nothing has been done, and the
// program is called again.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_CUDA_REPETITION_H
#define TOFU_LIB_RUNTIME_CUDA_REPETITION_H

#include "World.h"

#include <cuda_runtime_api.h>
#include <map>

namespace mlir::tofu::cuda {

/// Memory of a device.
enum class MemoryKind { Input, Program, Global, Constant };
struct Block {
  int64_t bytes;
  MemoryKind kind;
  /// Whether it is a graph's, which has perhaps not been launched yet.
  bool isCaptured = false;
};

/// What runs count, and what replays add to it.
struct Counts {
  TofuContractStats contractions{};
  std::vector<TofuCollectiveStats> collectives;
};

/// The repeated runs of one device.
struct Repetition {
  /// Runs that have begun.
  int64_t runs = 0;
  /// The first thing that can't be captured, and where; empty if there is none.
  std::string obstacle;
  bool isCapturing = false;
  /// Whether a part of the run has been launched before its end.
  bool isInterrupted = false;
  cudaGraphExec_t graph = nullptr;

  /// Bytes that the program has written to the device's memory in the first
  /// run, or the captured one, each time from an aligned address on.
  int64_t writtenBytes = 0;
  /// The last collective, for messages.
  const char *lastLocation = nullptr;
  /// Blocks that the program has left, such as results.
  std::map<void *, Block> left;
  /// Before the captured run; afterwards what it has added.
  Counts counts;
  int64_t peakProgram = 0, peak = 0, peakScratch = 0;
};

} // namespace mlir::tofu::cuda

#endif // TOFU_LIB_RUNTIME_CUDA_REPETITION_H
