//===- Memory.h - Memory of a device in the host backend --------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_HOST_MEMORY_H
#define TOFU_LIB_RUNTIME_HOST_MEMORY_H

#include "Tofu/Runtime/Backend.h"

#include <string>
#include <unordered_map>

namespace mlir::tofu::host {

constexpr int64_t kAlignment = 64;

/// Counted, aligned blocks. Blocks that are given back are kept for requests of
/// the same size, because the system hands out large blocks as untouched pages,
/// whose first use costs more than most operators; but never beyond the most
/// that the device has had in use, so the count stays true.
class Memory {
public:
  /// Whose memory a block is.
  enum class Kind : int64_t { Input, Program, Global };

  /// What a program keeps from run to run.
  struct Global {
    void *memory = nullptr;
    int64_t bytes = 0;
  };

  ~Memory();

  /// Null if `bytes` is negative or the system has no more.
  void *allocate(int64_t bytes, Kind kind);

  /// False if `memory` is no live block of this device.
  bool release(void *memory);

  /// Releases all blocks of the program but its globals.
  void releaseProgram();

  /// The program's global of that name, or none.
  const Global *findGlobal(const std::string &name) const;

  /// A new global; its memory is null if the system has no more.
  void *makeGlobal(const std::string &name, int64_t bytes);

  void releaseGlobals();

  /// Sets the peaks to the present.
  void resetPeaks();

  TofuMemoryStats stats() const;
  int64_t bytesInUse() const { return bytesOf(Kind::Input) + programBytes(); }

private:
  struct Block;

  Block *takeKept(int64_t capacity);
  void giveUpKept(int64_t mostBytes);
  void count(Kind kind, int64_t bytes);
  int64_t bytesOf(Kind kind) const { return inUse[static_cast<int64_t>(kind)]; }
  int64_t programBytes() const {
    return bytesOf(Kind::Program) + bytesOf(Kind::Global);
  }

  Block *programBlocks = nullptr;
  std::unordered_map<int64_t, Block *> kept;
  int64_t keptBytes = 0;
  int64_t inUse[3] = {0, 0, 0};
  std::unordered_map<std::string, Global> globals;
  int64_t peakProgram = 0, peak = 0, highest = 0;
};

/// Buffers of the runtime's own kernels, which grow and stay.
class Scratch {
public:
  static constexpr int kNumBuffers = 6;

  Scratch() = default;
  ~Scratch();

  /// Buffer `index` with at least `bytes` bytes of undefined contents; null if
  /// the system has no more.
  void *get(int index, int64_t bytes);

  int64_t bytes() const;

private:
  void *buffers[kNumBuffers] = {};
  int64_t sizes[kNumBuffers] = {};
};

} // namespace mlir::tofu::host

#endif // TOFU_LIB_RUNTIME_HOST_MEMORY_H
