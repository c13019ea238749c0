//===- Job.h - The processes of a job of MPI --------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each process has the device of its rank. The device's thread calls MPI during
// a run, the runner's between runs, never both.
//
// Failure. Whoever fails ends its run, and tells all others in a notice, for
// which they look while they wait for messages. At the end of a run all
// processes agree on who has failed, and after a failure receive what is still
// under way, so that MPI can be used again.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_MPI_JOB_H
#define TOFU_LIB_RUNTIME_MPI_JOB_H

#include "Messages.h"
#include "Processes.h"

#include <mpi.h>

namespace mlir::tofu::mpi {

class Job : public host::Processes {
public:
  /// Starts MPI, once for all worlds of the process. The reason if that fails.
  static std::string start();

  /// After `start`.
  Job();
  ~Job() override;

  int rank() const override { return self; }
  int numProcesses() const override { return count; }
  int localRank() const override { return localSelf; }
  int numLocal() const override { return localCount; }

  /// Sends and receives a device's messages of a collective. False if it must
  /// leave.
  bool exchange(TofuContext &context, const host::Collective &collective,
                const host::MessageStep &step, const char *outgoing,
                char *incoming);

  bool isNotified() override;
  TofuStatus agree(std::string &error, TofuStatus status) override;
  std::string findFirst(const std::string &text) override;
  void broadcast(void *memory, int64_t bytes) override;
  std::string bring(int64_t device, void *memory, int64_t bytes,
                    double timeoutSeconds) override;

private:
  /// A message under way, or a piece of one.
  struct Transfer {
    MPI_Request request;
    int64_t peer, bytes;
    bool isReceive;
  };

  void begin(Transfer &transfer, int code);
  void send(int64_t peer, const char *data, int64_t bytes, int tag);
  void receive(int64_t peer, char *data, int64_t bytes, int tag);
  /// Whether all transfers are done, which then are forgotten; the error of MPI
  /// or of a message that has another size.
  bool test(std::string &error);
  bool wait(TofuContext &context, const host::Collective &collective);
  std::string describeWait() const;
  void sendToOthers(int tag);
  std::string listSilent() const;
  bool waitForAgreement(bool isFailing);
  std::string share(int winner, const std::string &mine);
  void cancelReceives();
  void drain();

  MPI_Comm communicator = MPI_COMM_NULL;
  int self = 0, count = 1, localSelf = 0, localCount = 1;
  std::vector<Transfer> transfers;
  /// Why one of them could not begin.
  std::string fault;
  /// Of the agreement, which may outlive the call.
  MPI_Request agreement = MPI_REQUEST_NULL;
  int vote = 0, winner = 0;
};

/// The job of a world of this backend.
Job &getJob(TofuWorld &world);

/// Collectives by messages of MPI.
const host::Mover &getMover();

} // namespace mlir::tofu::mpi

#endif // TOFU_LIB_RUNTIME_MPI_JOB_H
