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

/// No graph uses what there was before; if it can't be freed, it is lost.
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

/// The communication stream becomes part of a whole capture at once: what
/// doesn't wait for anything must be captured as well.
bool Device::beginPiece() {
  // Libraries may load what they need meanwhile, and a failure ends the capture
  // on another thread. Captures of other devices' threads are their own.
  cudaStream_t compute = streams[TOFU_COMPUTE];
  if (!check(cudaStreamBeginCapture(compute, cudaStreamCaptureModeRelaxed),
             nullptr, "a graph"))
    return false;
  repetition.isCapturing = true;
  return repetition.isInPieces ||
         (check(cudaEventRecord(forked, compute), nullptr, "a graph") &&
          check(cudaStreamWaitEvent(streams[TOFU_COMMUNICATION], forked, 0),
                nullptr, "a graph"));
}

/// A piece without nodes is none.
void Device::endPiece() {
  cudaStream_t compute = streams[TOFU_COMPUTE];
  cudaError_t &status = repetition.status;
  auto note = [&](cudaError_t next) {
    status = status == cudaSuccess ? next : status;
  };
  if (!repetition.isInPieces) {
    note(cudaEventRecord(forked, streams[TOFU_COMMUNICATION]));
    note(cudaStreamWaitEvent(compute, forked, 0));
  }
  repetition.isCapturing = false;
  RunStep piece = std::exchange(repetition.piece, {});
  note(cudaStreamEndCapture(compute, &piece.captured));
  size_t numNodes = 0;
  if (piece.captured)
    note(cudaGraphGetNodes(piece.captured, nullptr, &numNodes));
  if (numNodes)
    repetition.steps->push_back(std::move(piece));
}

bool Device::beginCapture() {
  // None can be allocated while a graph is captured.
  if (!keepMemory(std::exchange(repetition.writtenBytes, 0)))
    return false;
  repetition.counts = getCounts(*context);
  repetition.peakProgram = std::exchange(peakProgram, getProgramBytes());
  repetition.peak =
      std::exchange(peak, peakProgram + getBytes(MemoryKind::Input));
  repetition.peakScratch = std::exchange(peakScratch, scratchBytes);
  return beginPiece();
}

bool Device::order(std::function<bool()> move) {
  if (!repetition.isCapturing || !repetition.isInPieces)
    return move();
  endPiece();
  repetition.steps->emplace_back();
  repetition.steps->back().move = std::move(move);
  return beginPiece();
}

bool Device::orderCollective(const char *location, std::function<bool()> move) {
  if (shared->processes)
    return move();
  if (!repetition.isCapturing)
    repetition.isInPieces = true;
  else if (!repetition.isInPieces &&
           !obstruct(location, "there was no collective in the first run"))
    return false;
  return order(std::move(move));
}

/// Ends the capture and makes its graphs, with the memory that they need.
cudaError_t Device::finishCapture() {
  endPiece();
  cudaError_t status = repetition.status;
  // Graphs have memory of their own; what runs before had is given back, if it
  // can be: that isn't needed.
  cudaMemPool_t pool = nullptr;
  if (cudaDeviceGetDefaultMemPool(&pool, gpu) == cudaSuccess)
    cudaMemPoolTrimTo(pool, 0);
  for (RunStep &step : *repetition.steps) {
    if (step.captured && status == cudaSuccess)
      status = cudaGraphInstantiate(&step.graph, step.captured, 0);
    if (step.graph && status == cudaSuccess)
      status = cudaGraphUpload(step.graph, streams[TOFU_COMPUTE]);
  }
  return status;
}

bool Device::obstruct(const char *location, const std::string &what) {
  if (repetition.obstacle.empty())
    repetition.obstacle = describePlace(location) + what;
  if (!repetition.isCapturing)
    return true;
  repetition.isInterrupted = true;
  if (!check(finishCapture(), location, "a graph") || !doSteps())
    return false;
  // In pieces, events have been recorded where they are.
  if (repetition.isInPieces)
    return true;
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

bool Device::obstructStream(cudaStream_t stream, const char *location) {
  bool isCaptured = !repetition.isInPieces || stream == streams[TOFU_COMPUTE];
  return !repetition.isCapturing || isCaptured ||
         obstruct(location, "the stream of collectives does something else");
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
  bool isMade = repetition.isInterrupted || keepGraphs(finishCapture());
  raisePeaks();
  return isMade;
}

/// Remembers what the graphs leave and count.
bool Device::keepGraphs(cudaError_t status) {
  if (status != cudaSuccess) {
    cudaGetLastError();
    repetition.obstacle =
        describePlace(nullptr) + "CUDA makes no graph: " + describe(status);
    repetition.steps->clear();
    forgetCaptured();
    setCounts(*context, repetition.counts);
    return false;
  }
  repetition.isReady = true;
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

/// What the steps that were done have allocated and not freed.
void Device::findLiveMemory(const std::vector<RunStep> &steps, size_t numDone) {
  forgetCaptured();
  for (size_t i = 0; i < numDone; ++i) {
    const RunStep &step = steps[i];
    for (auto &[memory, block] : step.allocated) {
      blocks[memory] = block;
      getBytes(block.kind) += block.bytes;
    }
    for (void *memory : step.freed) {
      getBytes(blocks[memory].kind) -= blocks[memory].bytes;
      blocks.erase(memory);
    }
  }
}

bool Device::doSteps() {
  std::shared_ptr<const std::vector<RunStep>> steps = repetition.steps;
  for (size_t i = 0; i < steps->size(); ++i) {
    const RunStep &step = (*steps)[i];
    bool isGood =
        step.graph ? check(cudaGraphLaunch(step.graph, streams[TOFU_COMPUTE]),
                           nullptr, "a graph")
                   : step.move();
    if (isGood && !isAborted())
      continue;
    findLiveMemory(*steps, isGood ? i + 1 : i);
    return false;
  }
  return true;
}

bool Device::doCaptured() { return repetition.isInterrupted || doSteps(); }

bool Device::replay() {
  lastLocation = repetition.lastLocation;
  if (!doSteps())
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

/// What can't be ended is invalid already, or shows in the next run.
void Device::dropGraphs() {
  if (repetition.isCapturing) {
    cudaGraph_t captured = nullptr;
    cudaStreamEndCapture(streams[TOFU_COMPUTE], &captured);
    if (captured)
      cudaGraphDestroy(captured);
    forgetCaptured();
    cudaGetLastError();
  }
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
