//===- Meeting.h - How processes find each other ----------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_TCP_MEETING_H
#define TOFU_LIB_RUNTIME_TCP_MEETING_H

#include "Environment.h"

#include <asio.hpp>
#include <map>

namespace mlir::tofu::tcp {

/// How long a job that has failed waits for processes to say so.
constexpr std::chrono::seconds kGrace(5);

/// What a process has once all have come.
struct Meeting {
  /// By rank: of rank 0 to all others, of these to rank 0.
  std::map<int, asio::ip::tcp::socket> sockets;
  int localRank = 0, localSize = 1;
};

/// The reason if not all come in time, or if they aren't of one job. Runs the
/// handlers of `io`, and leaves none. May throw what Asio does where the system
/// has no more sockets.
std::string meet(asio::io_context &io, const Environment &environment,
                 double timeoutSeconds, Meeting &meeting);

} // namespace mlir::tofu::tcp

#endif // TOFU_LIB_RUNTIME_TCP_MEETING_H
