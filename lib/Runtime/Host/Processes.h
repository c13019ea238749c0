//===- Processes.h - Devices in processes of their own ----------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What backends need whose devices are in several processes, one in each: who
// they are, whether one of them has failed, and a few bytes from one to
// another. One implementation is in the library of the MPI backend, so that
// others don't need MPI where they don't use it, and one in Tcp/Job.h.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_HOST_PROCESSES_H
#define TOFU_LIB_RUNTIME_HOST_PROCESSES_H

#include "Tofu/Runtime/Backend.h"

#include <string>

namespace mlir::tofu::host {

/// The processes of a job. All that is not marked is called by all of them, in
/// the same order; during a run by the device's thread, else by the runner's.
class Processes {
public:
  virtual ~Processes() = default;

  /// This process, which has the device of that number. By this one alone.
  virtual int rank() const = 0;
  virtual int numProcesses() const = 0;
  /// The same among the processes of this machine.
  virtual int localRank() const = 0;
  virtual int numLocal() const = 0;

  /// Whether rank 0 is another process, which prints what is wrong. By this one
  /// alone.
  virtual bool isSilent() { return rank() != 0; }

  /// Whether another process has said in `agree` that it has failed. By this
  /// one alone.
  virtual bool isNotified() = 0;

  /// What all processes say of a run of which this one says `status`, with its
  /// error if it has failed. The error is left empty where another process
  /// prints it.
  virtual TofuStatus agree(std::string &error, TofuStatus status) = 0;

  /// The text of the first process that has one which isn't empty.
  virtual std::string findFirst(const std::string &text) = 0;

  /// Gives all the bytes of rank 0.
  virtual void broadcast(void *memory, int64_t bytes) = 0;

  /// Brings bytes from a rank to rank 0; the reason if that fails. Of others it
  /// need not be called.
  virtual std::string bring(int64_t device, void *memory, int64_t bytes,
                            double timeoutSeconds) = 0;
};

} // namespace mlir::tofu::host

extern "C" {
/// What the library of the MPI backend exports for others: the processes that a
/// launcher of MPI has started. Null with the reason in `error` if MPI can't be
/// started.
mlir::tofu::host::Processes *tofuStartProcesses(char *error,
                                                int64_t errorBytes);
}

#endif // TOFU_LIB_RUNTIME_HOST_PROCESSES_H
