//===- Wire.h - What processes send each other ------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers are as in memory: machines of another byte order have another
// version.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_TCP_WIRE_H
#define TOFU_LIB_RUNTIME_TCP_WIRE_H

#include <cstdint>

namespace mlir::tofu::tcp {

/// How both sides begin, in all versions.
struct Opening {
  char magic[8];
  int32_t version; ///< kVersion
  int32_t size;    ///< of the job
};

/// What follows from a process that has come.
struct Hello {
  int32_t rank;
  int32_t localRank; ///< -1 where the launcher doesn't say it, as `localSize`
  int32_t localSize;
  char host[64]; ///< the machine's name
};

/// What follows from rank 0 once all have come, or once that has failed: with
/// the reason.
struct Answer {
  int32_t localRank;
  int32_t localSize;
  int32_t reasonBytes;
};

/// From then on.
enum class Kind : uint32_t {
  Notice,  ///< the reason of a failure, at once, to all
  Vote,    ///< a status, and the error
  Verdict, ///< the status of all, and the error
  Text,    ///< of findFirst, to and from rank 0
  Bytes,   ///< of broadcast
  Piece,   ///< of bring
  Bye      ///< the last message
};

struct Header {
  uint32_t kind;
  uint32_t bytes; ///< that follow, at most kMostBytes
};

constexpr char kMagic[8] = {'T', 'o', 'f', 'u', 'J', 'o', 'b', '1'};
constexpr uint32_t kMostBytes = 1 << 20;

} // namespace mlir::tofu::tcp

#endif // TOFU_LIB_RUNTIME_TCP_WIRE_H
