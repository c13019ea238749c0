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
// If nothing does on any device, the second run is captured: it becomes steps,
// which that run does at its end and all later ones do as well. Addresses in
// graphs stay valid: those of inputs, globals and constants are what they were,
// and memory of the program is the graphs' own.
//
// A device that has a process to itself has one graph, with its calls of NCCL.
// Where a process has several GPUs, what brings data from one to another stays
// outside: NCCL's documentation warns that captured collectives may deadlock
// there, and streams that wait for streams of other devices would make one
// graph of all devices, to which only one thread at a time may add. Then what
// the compute stream does from one event or collective to the next is a graph,
// and these are done between graphs, as the program does them.
//
// Nothing is done twice or not at all. If what can't be captured turns up in
// the second run, the steps so far are done, and the rest of the run is as
// usual. If a graph can't be made at all, nothing has been done, and the
// program is called again.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_CUDA_REPETITION_H
#define TOFU_LIB_RUNTIME_CUDA_REPETITION_H

#include "World.h"

#include <cuda_runtime_api.h>
#include <functional>
#include <map>
#include <memory>
#include <utility>

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

/// A part of a run that is done again.
struct RunStep {
  RunStep() = default;
  RunStep(RunStep &&other) { *this = std::move(other); }
  RunStep &operator=(RunStep &&other) {
    std::swap(captured, other.captured);
    std::swap(graph, other.graph);
    allocated = std::move(other.allocated);
    freed = std::move(other.freed);
    move = std::move(other.move);
    return *this;
  }
  ~RunStep() {
    // That a graph can't be destroyed is an error of what ran before.
    if (graph)
      cudaGraphExecDestroy(graph);
    if (captured)
      cudaGraphDestroy(captured);
  }

  /// A graph, and what it was made of: addresses of its memory are that one's.
  cudaGraph_t captured = nullptr;
  cudaGraphExec_t graph = nullptr;
  /// Memory of the program that it allocates, and then what it frees.
  std::vector<std::pair<void *, Block>> allocated;
  std::vector<void *> freed;
  /// In the place of a graph. False if the device must leave.
  std::function<bool()> move;
};

/// The repeated runs of one device.
struct Repetition {
  /// Runs that have begun.
  int64_t runs = 0;
  /// The first thing that can't be captured, and where; empty if there is none.
  std::string obstacle;
  bool isCapturing = false;
  /// Whether a part of the run has been done before its end.
  bool isInterrupted = false;
  /// Whether something stays outside of graphs, as the first run shows.
  bool isInPieces = false;
  /// Whether the steps are those of a whole run.
  bool isReady = false;
  /// Whoever does them holds them, as a failure drops them here.
  std::shared_ptr<std::vector<RunStep>> steps =
      std::make_shared<std::vector<RunStep>>();
  /// What is captured at the moment, and why no graph can be made of the run.
  RunStep piece;
  cudaError_t status = cudaSuccess;

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
