//===- FakeCuda.cpp - The CUDA runtime on the host ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever is put on a stream is done at once, but for graphs, which may wait
// for other devices. What is captured is done when its graph is launched.
//
//===----------------------------------------------------------------------===//

#include "Fake.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

using mlir::tofu::test::numFakeGpus;

/// Addresses for handles that nobody looks into.
static char handle;

template <typename Handle>
static cudaError_t make(Handle *result) {
  *result = reinterpret_cast<Handle>(&handle);
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count) {
  *count = numFakeGpus;
  return mlir::tofu::test::onCount.exchange(cudaSuccess);
}
cudaError_t cudaDriverGetVersion(int *version) {
  *version = mlir::tofu::test::driverVersion;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = mlir::tofu::test::runtimeVersion;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
  *properties = {};
  std::snprintf(properties->name, sizeof(properties->name), "Fake %d", device);
  properties->major = 9;
  properties->totalGlobalMem = size_t(80) << 30;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return device < numFakeGpus ? mlir::tofu::test::onSelect.exchange(cudaSuccess)
                              : cudaErrorInvalidDevice;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) {
  *can = mlir::tofu::test::canReachPeers;
  return cudaSuccess;
}
const char *cudaGetErrorName(cudaError_t) {
  return mlir::tofu::test::errorText ? "cudaErrorOfTest" : nullptr;
}
const char *cudaGetErrorString(cudaError_t) {
  return mlir::tofu::test::errorText;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int) {
  return make(pool);
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc *,
                                 size_t) {
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) {
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Streams, events and graphs
//===----------------------------------------------------------------------===//

namespace {

/// Memory of a graph: what it has allocated stays until it is freed.
struct GraphMemory {
  void *address;
  size_t bytes;
  int owner;
  bool isLive = false;
  /// The graphs that free it.
  std::set<int> freedBy = {};

  /// Its graph frees it, and then no other one does, or others do.
  bool takesFree(int by) const {
    return !freedBy.count(by) && !freedBy.count(owner) &&
           (by != owner || freedBy.empty());
  }

  /// What nobody has written doesn't look like anything.
  void set(bool live) {
    isLive = live;
    std::memset(address, 0x7f, bytes);
  }
  ~GraphMemory() { std::free(address); }
};

/// How far a stream is with each stream of a capture.
using Clock = std::map<cudaStream_t, int64_t>;

} // namespace

/// Captures so far.
static std::atomic<int> numCaptures{0};

struct CUgraph_st {
  int number = ++numCaptures;
  std::vector<std::function<void()>> nodes;
  /// What it allocates, and what it frees of other graphs.
  std::vector<std::shared_ptr<GraphMemory>> memory, freed;
};

struct CUgraphExec_st {
  std::shared_ptr<CUgraph_st> graph;
};

namespace {

struct Capture {
  std::shared_ptr<CUgraph_st> graph = std::make_shared<CUgraph_st>();
  cudaStream_t origin;
  std::thread::id thread;
  bool isInvalid = false, isOver = false;
  /// What each stream has done.
  Clock last;
};

/// A graph that runs.
struct Replay {
  std::thread thread;
  std::atomic<bool> isDone{false};
  ~Replay() { thread.join(); }
};

} // namespace

struct CUstream_st {
  std::shared_ptr<Capture> capture;
  Clock clock;
  std::shared_ptr<Replay> running;
  /// Copies that wait.
  std::vector<std::function<void()>> delayed;
};

struct CUevent_st {
  std::shared_ptr<Capture> capture;
  Clock clock;
  std::shared_ptr<Replay> running;
  cudaStream_t delaying = nullptr;
};

/// Of captures and what belongs to graphs.
static std::mutex captureMutex;
static std::map<void *, std::shared_ptr<GraphMemory>> graphMemory;
static thread_local std::weak_ptr<Capture> captureOfThread;

using Lock = std::lock_guard<std::mutex>;

bool mlir::tofu::test::isCapturing(cudaStream_t stream) {
  Lock lock(captureMutex);
  return stream && stream->capture;
}

static void advance(cudaStream_t stream) {
  stream->clock[stream] = ++stream->capture->last[stream];
}

static cudaError_t invalidate(Capture &capture, cudaError_t error) {
  capture.isInvalid = true;
  return error;
}

/// Adds to the graph if the stream is captured.
static bool addNode(cudaStream_t stream, const std::function<void()> &node) {
  Lock lock(captureMutex);
  if (!stream || !stream->capture)
    return false;
  stream->capture->graph->nodes.push_back(node);
  advance(stream);
  return true;
}

/// Waits for the end; others may hold it as well.
static void finish(std::shared_ptr<Replay> &running) {
  while (running && !running->isDone)
    std::this_thread::yield();
  running.reset();
}

/// Does the copies that wait. False if none does.
static bool copyDelayed(cudaStream_t stream) {
  if (!stream || stream->delayed.empty())
    return false;
  finish(stream->running);
  for (auto &copy : std::exchange(stream->delayed, {}))
    copy();
  return true;
}

void mlir::tofu::test::enqueue(cudaStream_t stream,
                               const std::function<void()> &work) {
  if (addNode(stream, work))
    return;
  copyDelayed(stream);
  if (stream)
    finish(stream->running);
  work();
}

void mlir::tofu::test::enqueueCopy(cudaStream_t stream,
                                   const std::function<void()> &copy) {
  if (delaysCopies && !isCapturing(stream))
    stream->delayed.push_back(copy);
  else
    enqueue(stream, copy);
}

/// What isn't put on a stream can't be captured, and ends a capture of the
/// thread. With cudaStreamCaptureModeRelaxed the real one takes some of it.
static cudaError_t checkThread() {
  Lock lock(captureMutex);
  std::shared_ptr<Capture> capture = captureOfThread.lock();
  if (!capture || capture->isOver)
    return cudaSuccess;
  return invalidate(*capture, cudaErrorStreamCaptureUnsupported);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  {
    Lock lock(captureMutex);
    if (stream->capture)
      return invalidate(*stream->capture, cudaErrorStreamCaptureUnsupported);
  }
  if (copyDelayed(stream) || (stream->running && !stream->running->isDone))
    return cudaErrorNotReady;
  stream->running.reset();
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  cudaError_t status;
  while ((status = cudaStreamQuery(stream)) == cudaErrorNotReady)
    std::this_thread::yield();
  return status;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (!event)
    return cudaErrorInvalidResourceHandle;
  Lock lock(captureMutex);
  event->capture = stream->capture;
  event->clock = stream->clock;
  event->running = stream->running;
  event->delaying = stream->delayed.empty() ? nullptr : stream;
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (copyDelayed(std::exchange(event->delaying, nullptr)) ||
      (event->running && !event->running->isDone))
    return cudaErrorNotReady;
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  cudaError_t status;
  while ((status = cudaEventQuery(event)) == cudaErrorNotReady)
    std::this_thread::yield();
  return status;
}

/// A stream becomes part of the capture in which the event was recorded.
static cudaError_t waitInCapture(cudaStream_t stream, cudaEvent_t event) {
  if (!event->capture)
    return invalidate(*stream->capture, cudaErrorStreamCaptureIsolation);
  if (event->capture->isOver)
    return cudaErrorCapturedEvent;
  if (stream->capture && stream->capture != event->capture) {
    invalidate(*event->capture, cudaSuccess);
    return invalidate(*stream->capture, cudaErrorStreamCaptureMerge);
  }
  stream->capture = event->capture;
  for (auto [other, position] : event->clock)
    stream->clock[other] = std::max(stream->clock[other], position);
  advance(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned) {
  if (!event)
    return cudaErrorInvalidResourceHandle;
  // Several devices may wait for it at the same time.
  std::shared_ptr<Replay> running;
  {
    Lock lock(captureMutex);
    if (stream->capture || event->capture)
      return waitInCapture(stream, event);
    running = event->running;
  }
  copyDelayed(event->delaying);
  finish(running);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  Lock lock(captureMutex);
  if (stream->capture)
    return cudaErrorIllegalState;
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream;
  stream->clock.clear();
  captureOfThread = stream->capture;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  Lock lock(captureMutex);
  *graph = nullptr;
  std::shared_ptr<Capture> capture = stream->capture;
  if (!capture || capture->origin != stream)
    return cudaErrorStreamCaptureUnmatched;
  cudaError_t error =
      capture->isInvalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  for (auto [other, position] : capture->last) {
    if (error == cudaSuccess && stream->clock[other] < position)
      error = cudaErrorStreamCaptureUnjoined;
    other->capture.reset();
    if (other != stream)
      other->clock.clear();
  }
  stream->capture.reset();
  stream->clock.clear();
  capture->isOver = true;
  if (error == cudaSuccess)
    *graph = new CUgraph_st(*capture->graph);
  capture->graph.reset();
  return error;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *,
                              size_t *count) {
  *count = graph->nodes.size();
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t stream) {
  return mlir::tofu::test::isCapturing(stream)
             ? cudaErrorStreamCaptureUnsupported
             : mlir::tofu::test::onUpload.exchange(cudaSuccess);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *result, cudaGraph_t graph,
                                 unsigned long long) {
  *result = new CUgraphExec_st{std::make_shared<CUgraph_st>(*graph)};
  return cudaSuccess;
}

/// Its memory stays known, as it may still run.
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return cudaSuccess;
}

/// On a thread of its own, as it may wait for other devices.
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  if (mlir::tofu::test::isCapturing(stream))
    return cudaErrorStreamCaptureUnsupported;
  copyDelayed(stream);
  finish(stream->running);
  for (auto &memory : graph->graph->memory)
    if (memory->isLive)
      return cudaErrorInvalidValue;
  for (auto &memory : graph->graph->freed)
    if (!memory->isLive)
      return cudaErrorInvalidValue;
  auto replay = std::make_shared<Replay>();
  replay->thread = std::thread(
      [pointer = replay.get(), nodes = graph->graph->nodes]() mutable {
        for (auto &node : nodes)
          node();
        nodes.clear();
        pointer->isDone = true;
      });
  stream->running = replay;
  ++mlir::tofu::test::numGraphLaunches;
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static cudaError_t reserve(void **memory, size_t bytes) {
  *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaMalloc(void **memory, size_t bytes) {
  cudaError_t status = checkThread();
  return status == cudaSuccess ? reserve(memory, bytes) : status;
}

static std::mutex pinnedMutex;
static std::map<char *, size_t> pinned;

static bool isPinned(const void *memory, size_t bytes) {
  Lock lock(pinnedMutex);
  auto *begin = static_cast<char *>(const_cast<void *>(memory));
  auto after = pinned.upper_bound(begin);
  if (after == pinned.begin())
    return false;
  auto [block, size] = *std::prev(after);
  return begin + bytes <= block + size;
}

cudaError_t cudaMallocHost(void **memory, size_t bytes) {
  cudaError_t status = cudaMalloc(memory, bytes);
  Lock lock(pinnedMutex);
  if (status == cudaSuccess)
    pinned[static_cast<char *>(*memory)] = bytes;
  return status;
}
cudaError_t cudaFree(void *memory) {
  cudaError_t status = checkThread();
  if (status == cudaSuccess)
    std::free(memory);
  return status;
}
cudaError_t cudaFreeHost(void *memory) {
  {
    Lock lock(pinnedMutex);
    pinned.erase(static_cast<char *>(memory));
  }
  return cudaFree(memory);
}

/// A graph's memory has its address when it is captured.
cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream) {
  if (!mlir::tofu::test::isCapturing(stream))
    return reserve(memory, bytes);
  if (cudaError_t status = reserve(memory, bytes))
    return status;
  std::shared_ptr<GraphMemory> made;
  {
    Lock lock(captureMutex);
    made.reset(new GraphMemory{*memory, bytes, stream->capture->graph->number});
    graphMemory[*memory] = made;
    stream->capture->graph->memory.push_back(made);
  }
  addNode(stream, [made] { made->set(true); });
  return cudaSuccess;
}

int mlir::tofu::test::countLiveGraphMemory() {
  Lock lock(captureMutex);
  return std::count_if(graphMemory.begin(), graphMemory.end(),
                       [](auto &entry) { return entry.second->isLive; });
}

static std::shared_ptr<GraphMemory> findGraphMemory(void *memory) {
  Lock lock(captureMutex);
  auto it = graphMemory.find(memory);
  return it == graphMemory.end() ? nullptr : it->second;
}

/// A graph frees only memory of graphs.
static cudaError_t freeInGraph(std::shared_ptr<GraphMemory> memory,
                               cudaStream_t stream) {
  {
    Lock lock(captureMutex);
    CUgraph_st &graph = *stream->capture->graph;
    if (!memory || !memory->takesFree(graph.number))
      return cudaErrorInvalidValue;
    memory->freedBy.insert(graph.number);
    if (memory->owner != graph.number)
      graph.freed.push_back(memory);
  }
  addNode(stream, [memory] { memory->set(false); });
  return cudaSuccess;
}

static cudaError_t freeInOrder(void *memory, cudaStream_t stream) {
  std::shared_ptr<GraphMemory> ofGraph = findGraphMemory(memory);
  if (mlir::tofu::test::isCapturing(stream))
    return freeInGraph(ofGraph, stream);
  copyDelayed(stream);
  finish(stream->running);
  if (!ofGraph)
    std::free(memory);
  else if (!ofGraph->isLive)
    return cudaErrorInvalidValue;
  else
    ofGraph->set(false);
  return cudaSuccess;
}

/// What a test says of it is of what came before, perhaps.
cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream) {
  cudaError_t said = mlir::tofu::test::onFree.exchange(cudaSuccess);
  cudaError_t status = freeInOrder(memory, stream);
  return said == cudaSuccess ? status : said;
}

/// Between host and device. A graph looks at the memory when it runs.
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind, cudaStream_t stream) {
  using namespace mlir::tofu::test;
  if (cudaError_t status = onCopy.exchange(cudaSuccess))
    return status;
  if (!isPinned(to, bytes) && !isPinned(from, bytes))
    return cudaErrorInvalidValue;
  ++numHostCopies;
  mostHostBytes = std::max(mostHostBytes.load(), bytes);
  enqueueCopy(stream, [=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Kernels of programs are functions of the host here, which images name.
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                cudaJitOption *, void **, unsigned,
                                cudaLibraryOption *, void **, unsigned) {
  *library = reinterpret_cast<cudaLibrary_t>(const_cast<void *>(code));
  return cudaSuccess;
}
cudaError_t cudaLibraryUnload(cudaLibrary_t) { return cudaSuccess; }
cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library,
                                 const char *name) {
  if (std::strcmp(name, "known"))
    return cudaErrorSymbolNotFound;
  *kernel = reinterpret_cast<cudaKernel_t>(library);
  return cudaSuccess;
}
/// Arguments are words, which a graph remembers.
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block,
                             void **arguments, size_t, cudaStream_t stream) {
  auto *known = static_cast<const mlir::tofu::test::FakeKernel *>(kernel);
  std::vector<int64_t> words;
  for (int i = 0; i < known->numArguments; ++i)
    words.push_back(*static_cast<const int64_t *>(arguments[i]));
  mlir::tofu::test::enqueue(stream, [=]() mutable {
    std::vector<void *> addresses;
    for (int64_t &word : words)
      addresses.push_back(&word);
    known->run(addresses.data(), grid, block);
  });
  return cudaSuccess;
}
