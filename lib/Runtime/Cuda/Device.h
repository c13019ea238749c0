//===- Device.h - A device of the CUDA backend ------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device is a thread of this process with streams on a GPU, in that GPU's
// primary context. Several devices may share a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_CUDA_DEVICE_H
#define TOFU_LIB_RUNTIME_CUDA_DEVICE_H

#include "Kernels.h"
#include "Processes.h"
#include "Repetition.h"
#include "Staging.h"
#include "World.h"

#include <cublasLt.h>
#include <map>
#include <nccl.h>

namespace mlir::tofu::cuda {

/// Kernels of programs, loaded once for all GPUs.
class KernelCache {
public:
  /// The kernel, or null with the error. Images live as long as the program.
  cudaKernel_t find(const TofuKernel *kernel, cudaError_t &error);
  /// Whether it has been found before.
  bool has(const TofuKernel *kernel);
  ~KernelCache();

private:
  std::mutex mutex;
  std::map<const void *, cudaLibrary_t> libraries;
  std::map<const TofuKernel *, cudaKernel_t> kernels;
};

/// What the devices of a world have in common.
struct Shared {
  KernelCache kernels;
  /// Whether each device has a GPU to itself, which is what NCCL takes.
  bool usesNccl = false;
  /// Whether GPUs can access each other's memory.
  bool reachesPeers = false;
  ncclUniqueId id;
  /// Why there is none for the next run.
  std::string idError;
  /// Where each device has a process; else null.
  std::shared_ptr<host::Processes> processes;
  /// Why runs aren't replayed.
  std::string notice;
};

/// The processes of the job that this one is part of; none if it is alone. The
/// reason if they can't be found, or don't come in time.
std::string findProcesses(double timeoutSeconds,
                          std::shared_ptr<host::Processes> &processes);

/// An even collective that waits for the end of its group.
struct PendingEven {
  std::vector<int64_t> words;
  const char *location;
  const void *src;
  void *dst;
};

struct Device {
  using Kind = MemoryKind;

  Device(TofuContext *context, int gpu, std::shared_ptr<Shared> shared)
      : context(context), gpu(gpu), shared(std::move(shared)) {}
  ~Device();

  /// Makes streams and handles. False, with the reason, if that fails.
  bool open(std::string &error);

  /// Makes the GPU that of the calling thread.
  [[nodiscard]] cudaError_t select() const { return cudaSetDevice(gpu); }
  /// The same before what ends or frees: if this fails, so does that, and the
  /// next run says it, as it selects the GPU again.
  void selectToFree() const { (void)select(); }

  /// False, with the device failed, if `error` is one.
  bool check(cudaError_t error, const char *location, const char *what);
  bool check(ncclResult_t result, const char *location, const char *what);
  bool fail(const char *location, const std::string &message);

  /// Memory in the order of the compute stream. Null if there is none.
  void *allocate(int64_t bytes, Kind kind);
  bool holds(void *memory, Kind kind) const;
  /// Of a block that it holds.
  cudaError_t release(void *memory);
  void releaseAll(Kind kind);

  int64_t &getBytes(Kind kind) { return bytesOf[static_cast<int>(kind)]; }
  int64_t getProgramBytes() {
    return getBytes(Kind::Program) + getBytes(Kind::Global);
  }

  /// Copies what the program has written, and may change afterwards, in the
  /// order of a stream. A graph copies it again.
  bool copyFromHost(void *to, const void *from, int64_t bytes,
                    cudaStream_t stream, const char *location,
                    const char *what);
  /// How copies of a run go on, until the device must leave.
  CopyProgress makeProgress(const char *location, const char *what);

  /// Memory of the runtime's own in the order of a stream, null if there is
  /// none.
  cudaError_t allocateScratch(void *&memory, int64_t bytes,
                              cudaStream_t stream);
  cudaError_t releaseScratch(void *memory);
  /// That of the collective at hand. Null, with the device failed, if there is
  /// none.
  void *allocateStaging(int64_t bytes, const char *location, const char *what);
  void releaseStaging(void *memory);

  cudaStream_t getStream(const TofuStream *stream) const;
  cudaEvent_t getEvent(int64_t number);

  /// Whether the device must leave, for a failure of its own or of another one.
  bool isAborted() const;

  /// Waits, and looks at what may have gone wrong meanwhile.
  bool waitFor(cudaStream_t stream);
  bool waitFor(cudaEvent_t event);
  bool synchronize();

  /// Says that what comes next can't be captured: in every run, or if it comes
  /// while one is captured. False if the device must leave.
  bool obstruct(const char *location, const std::string &what);
  bool obstructCapture(const char *what);
  /// The same of what goes to a stream that isn't captured.
  bool obstructStream(cudaStream_t stream, const char *location);

  /// Does what belongs to streams and events, or does it in its turn when the
  /// run is captured in pieces. False if the device must leave.
  bool order(std::function<bool()> move);
  /// The same of a collective, which only a device with a process to itself
  /// captures.
  bool orderCollective(const char *location, std::function<bool()> move);

  /// Captures what is put on streams from here on.
  bool beginCapture();
  /// False if no graph can be made of what was captured: then nothing has been
  /// done.
  bool endCapture();
  /// Does what was captured, for the first time.
  bool doCaptured();
  /// Does it again.
  bool replay();
  /// Ends capture and forgets graphs, before their communicators end.
  void dropGraphs();

  /// The communicators, which all devices make in the same order. None blocks:
  /// a call may go on after it has returned, and takes no other one meanwhile.
  bool openCommunicator();
  ncclComm_t findCommunicator(const std::vector<int64_t> &words,
                              const char *location);
  /// Waits until NCCL has done what it was asked for, which returned `begun`.
  /// False, with all communicators aborted, if it can't, if the device must
  /// leave or if the others don't come.
  bool settle(ncclResult_t begun, const std::vector<ncclComm_t> &used,
              const char *location, const char *what);
  ncclResult_t getAsyncError();
  /// Ends what is under way, and waits for no other device.
  void abortCommunicators();
  /// Where all has gone well: begins to flush, and waits for the end of that.
  /// If it fails, they are aborted.
  void finalizeCommunicators();
  void destroyCommunicators();

  TofuContext *context;
  int gpu;
  std::shared_ptr<Shared> shared;
  cudaStream_t streams[TOFU_NUM_STREAMS] = {};
  std::vector<cudaEvent_t> events;
  /// For collectives of boxes: the stream of the one at hand, and, where peers
  /// are reached, where it was when it began and when it had moved its data.
  cudaStream_t moving = nullptr;
  cudaEvent_t arrived = nullptr, moved = nullptr;
  /// Where one of the streams has come to, for the other one.
  cudaEvent_t forked = nullptr;
  Repetition repetition;

  std::map<void *, Block> blocks;
  int64_t bytesOf[4] = {}, peakProgram = 0, peak = 0;
  /// The runtime's own memory.
  std::map<void *, std::pair<int64_t, cudaStream_t>> scratch;
  int64_t scratchBytes = 0, peakScratch = 0;
  std::map<std::string, std::pair<void *, int64_t>> globals;
  std::map<const void *, void *> constants;
  Staging staging;
  /// Pinned memory of the host with what graphs copy from it.
  void *kept = nullptr;
  int64_t keptBytes = 0;

  cublasLtHandle_t blas = nullptr;
  void *workspace = nullptr;
  std::map<std::vector<int64_t>, cublasLtMatmulAlgo_t> algorithms;
  /// What Convolution.cpp keeps, once there has been one.
  std::shared_ptr<void> convolutions;

  ncclComm_t communicator = nullptr;
  std::map<std::vector<int64_t>, ncclComm_t> communicators;
  /// Where the program last called NCCL in this run.
  const char *lastLocation = nullptr;
  /// What NCCL says of the beginning of communicators' ends.
  ncclResult_t finalized = ncclSuccess;
  bool isGrouping = false;
  std::vector<PendingEven> pending;

private:
  bool waitUntilDone(const std::function<cudaError_t()> &query,
                     const char *what);
  bool keepMemory(int64_t bytes);
  bool beginPiece();
  void endPiece();
  cudaError_t finishCapture();
  bool doSteps();
  void findLiveMemory(const std::vector<RunStep> &steps, size_t numDone);
  bool keepGraphs(cudaError_t status);
  void forgetCaptured();
  void raisePeaks();
  std::string describePlace(const char *location) const;
};

/// Bytes of memory that the library for matrix products may use.
constexpr int64_t kWorkspaceBytes = 32 << 20;

inline Device &getDevice(TofuContext &context) {
  return *static_cast<Device *>(context.extension.get());
}

/// The loops of a copy between views of the same sizes, neighbours joined.
Region makeRegion(const host::View &to, const host::View &from);
Copy makeCopy(const host::View &to, const host::View &from);

/// Copies, and kernels that combine, on the streams of the devices, from and to
/// the memory of all.
const host::Mover &getPeerMover();

/// The same by messages of NCCL. Devices that have come to different
/// collectives don't know: they wait until the timeout.
const host::Mover &getMessageMover();

/// The one of these that fits the device.
inline const host::Mover &getMover(const Device &device) {
  return device.shared->reachesPeers ? getPeerMover() : getMessageMover();
}

/// Issues even collectives by NCCL, together.
bool runEven(Device &device, cudaStream_t stream,
             const std::vector<PendingEven> &collectives);

/// C = A * B, or with an epilogue (Runtime.h).
bool runContraction(Device &device, cudaStream_t stream, const int64_t *words,
                    const char *location,
                    const host::ContractionMemrefs &memrefs);

} // namespace mlir::tofu::cuda

#endif // TOFU_LIB_RUNTIME_CUDA_DEVICE_H
