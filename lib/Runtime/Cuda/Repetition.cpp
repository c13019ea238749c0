//===- Repetition.cpp - Runs that are captured and replayed ---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "Errors.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace mlir::tofu;
using namespace mlir::tofu::cuda;

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

static Counts getCounts(const TofuContext &context) {
  Counts counts{context.contractions, {}};
  for (auto &collective : context.collectives)
    counts.collectives.push_back(collective->stats);
  return counts;
}

/// Adds `sign` times what `by` counts, but no time: a replay takes none of the
/// host's.
static void add(Counts &counts, const Counts &by, int sign) {
  counts.contractions.calls += sign * by.contractions.calls;
  counts.contractions.flops += sign * by.contractions.flops;
  for (size_t i = 0; i < by.collectives.size(); ++i) {
    TofuCollectiveStats &stats = counts.collectives[i];
    stats.calls += sign * by.collectives[i].calls;
    stats.receivedBytes += sign * by.collectives[i].receivedBytes;
    stats.dataBytes += sign * by.collectives[i].dataBytes;
  }
}

static void setCounts(TofuContext &context, const Counts &counts) {
  context.contractions = counts.contractions;
  for (size_t i = 0; i < counts.collectives.size(); ++i)
    context.collectives[i]->stats = counts.collectives[i];
}

/// The collectives met by then are the first ones.
static Counts findAdded(const TofuContext &context, const Counts &before) {
  Counts added = getCounts(context);
  add(added, before, -1);
  return added;
}

//===----------------------------------------------------------------------===//
// Capture
//===----------------------------------------------------------------------===//

/// What the host writes begins at addresses that suit any type.
static int64_t align(int64_t bytes) { return (bytes + 15) / 16 * 16; }

/// No graph uses what there was before.
bool Device::keepMemory(int64_t bytes) {
  if (bytes <= keptBytes)
    return true;
  cudaFreeHost(kept);
  kept = nullptr;
  keptBytes = 0;
  if (!check(cudaMallocHost(&kept, bytes), nullptr, "pinned memory"))
    return false;
  keptBytes = bytes;
  return true;
}

/// The communication stream becomes part of the capture at once: what doesn't
/// wait for anything must be captured as well.
bool Device::beginCapture() {
  // None can be allocated while a graph is captured.
  if (!keepMemory(std::exchange(repetition.writtenBytes, 0)))
    return false;
  repetition.counts = getCounts(*context);
  repetition.peakProgram = std::exchange(peakProgram, getProgramBytes());
  repetition.peak =
      std::exchange(peak, peakProgram + getBytes(MemoryKind::Input));
  repetition.peakScratch = std::exchange(peakScratch, scratchBytes);
  // Libraries may load what they need meanwhile, and a failure ends the capture
  // on another thread.
  cudaStream_t compute = streams[TOFU_COMPUTE];
  if (!check(cudaStreamBeginCapture(compute, cudaStreamCaptureModeRelaxed),
             nullptr, "a graph"))
    return false;
  repetition.isCapturing = true;
  return check(cudaEventRecord(forked, compute), nullptr, "a graph") &&
         check(cudaStreamWaitEvent(streams[TOFU_COMMUNICATION], forked, 0),
               nullptr, "a graph");
}

/// Ends the capture, makes a graph of it, and launches that.
cudaError_t Device::launchCaptured() {
  cudaStream_t compute = streams[TOFU_COMPUTE],
               communication = streams[TOFU_COMMUNICATION];
  cudaEventRecord(forked, communication);
  cudaStreamWaitEvent(compute, forked, 0);
  repetition.isCapturing = false;
  cudaGraph_t captured = nullptr;
  cudaError_t status = cudaStreamEndCapture(compute, &captured);
  // The graph has memory of its own; what runs before it had is given back.
  cudaMemPool_t pool = nullptr;
  if (cudaDeviceGetDefaultMemPool(&pool, gpu) == cudaSuccess)
    cudaMemPoolTrimTo(pool, 0);
  if (status == cudaSuccess)
    status = cudaGraphInstantiate(&repetition.graph, captured, 0);
  if (captured)
    cudaGraphDestroy(captured);
  if (status == cudaSuccess)
    status = cudaGraphLaunch(repetition.graph, compute);
  return status;
}

bool Device::obstruct(const char *location, const std::string &what) {
  if (repetition.obstacle.empty())
    repetition.obstacle = describePlace(location) + what;
  if (!repetition.isCapturing)
    return true;
  repetition.isInterrupted = true;
  if (!check(launchCaptured(), location, "a graph"))
    return false;
  // Whoever waits for what was recorded within the graph waits for all of it.
  cudaStream_t compute = streams[TOFU_COMPUTE];
  for (cudaEvent_t event : events)
    if (event && !check(cudaEventRecord(event, compute), location, "a graph"))
      return false;
  return check(cudaEventRecord(forked, compute), location, "a graph") &&
         check(cudaStreamWaitEvent(streams[TOFU_COMMUNICATION], forked, 0),
               location, "a graph");
}

bool Device::obstructCapture(const char *what) {
  return !repetition.isCapturing || obstruct(nullptr, what);
}

bool Device::obstructNccl(const char *location) {
  return shared->processes ||
         obstruct(location, "graphs with NCCL may hang where a process has "
                            "several GPUs; mpirun gives each one a process");
}

std::string Device::describePlace(const char *location) const {
  std::string place = "device " + std::to_string(context->device);
  if (location && *location)
    place += std::string(", ") + location;
  return place + ": ";
}

/// Nothing of what was captured has happened.
void Device::forgetCaptured() {
  for (auto it = blocks.begin(); it != blocks.end();) {
    auto block = it++;
    if (!block->second.isCaptured)
      continue;
    getBytes(block->second.kind) -= block->second.bytes;
    blocks.erase(block);
  }
}

bool Device::endCapture() {
  bool isMade = repetition.isInterrupted || keepGraph(launchCaptured());
  raisePeaks();
  return isMade;
}

/// Remembers what a launched graph leaves and counts.
bool Device::keepGraph(cudaError_t status) {
  if (status != cudaSuccess) {
    cudaGetLastError();
    repetition.obstacle =
        describePlace(nullptr) + "CUDA makes no graph: " + describe(status);
    forgetCaptured();
    setCounts(*context, repetition.counts);
    return false;
  }
  repetition.lastLocation = lastLocation;
  repetition.counts = findAdded(*context, repetition.counts);
  for (auto &[memory, block] : blocks)
    if (block.isCaptured)
      repetition.left[memory] = block;
  std::swap(repetition.peakProgram, peakProgram);
  std::swap(repetition.peak, peak);
  std::swap(repetition.peakScratch, peakScratch);
  return true;
}

/// Peaks are the higher ones of before and of the captured run.
void Device::raisePeaks() {
  peakProgram = std::max(peakProgram, repetition.peakProgram);
  peak = std::max(peak, repetition.peak);
  peakScratch = std::max(peakScratch, repetition.peakScratch);
}

//===----------------------------------------------------------------------===//
// Replay
//===----------------------------------------------------------------------===//

bool Device::replay() {
  lastLocation = repetition.lastLocation;
  if (!check(cudaGraphLaunch(repetition.graph, streams[TOFU_COMPUTE]), nullptr,
             "a graph"))
    return false;
  for (auto &[memory, block] : repetition.left) {
    blocks[memory] = block;
    getBytes(block.kind) += block.bytes;
  }
  Counts counts = getCounts(*context);
  add(counts, repetition.counts, 1);
  setCounts(*context, counts);
  raisePeaks();
  return true;
}

void Device::dropGraph() {
  if (repetition.isCapturing) {
    cudaGraph_t captured = nullptr;
    cudaStreamEndCapture(streams[TOFU_COMPUTE], &captured);
    if (captured)
      cudaGraphDestroy(captured);
    forgetCaptured();
    cudaGetLastError();
  }
  if (repetition.graph)
    cudaGraphExecDestroy(repetition.graph);
  repetition = {};
}

bool Device::copyFromHost(void *to, const void *from, int64_t bytes,
                          cudaStream_t stream, const char *location,
                          const char *what) {
  int64_t begin = std::exchange(repetition.writtenBytes,
                                repetition.writtenBytes + align(bytes));
  if (repetition.isCapturing && repetition.writtenBytes > keptBytes &&
      !obstruct(location, "the host writes more than in the first run"))
    return false;
  if (!repetition.isCapturing)
    return staging.copyIn(to, from, bytes, stream,
                          makeProgress(location, what));
  void *copied = static_cast<char *>(kept) + begin;
  std::memcpy(copied, from, bytes);
  return check(cudaMemcpyAsync(to, copied, bytes, cudaMemcpyDefault, stream),
               location, what);
}
