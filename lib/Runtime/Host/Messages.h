//===- Messages.h - Collectives without shared memory -----------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where devices can't access each other's memory, data go in messages. In the
// first step what moves goes to whom it is for, and the parts of partial
// results to whom combines them; in the second what was combined. Of each pair
// of devices one sends the other at most one message in a step: the boxes that
// the other one's route names, in that order, without padding. Partial results
// combine in the order of the sources.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_HOST_MESSAGES_H
#define TOFU_LIB_RUNTIME_HOST_MESSAGES_H

#include "World.h"

namespace mlir::tofu::host {

/// Boxes for a device, or from one, each row-major.
struct Message {
  int64_t peer = 0, elements = 0;
  std::vector<Box> boxes;
};

/// The messages of one device, by the numbers of the peers. None is empty.
struct MessageStep {
  std::vector<Message> sends, receives;
};

/// Those of a collective.
struct Messages {
  MessageStep gather; ///< what moves, and what is to be combined
  MessageStep spread; ///< what was combined
};

/// All devices derive theirs from the same table, so they agree.
Messages findMessages(const Table &table, int64_t self);

/// A copy between views of the same sizes that don't overlap.
struct ViewCopy {
  View to, from;
};

/// What moves data in the memory of one device, and between devices. What
/// returns false or null has failed the device.
class Transport {
public:
  virtual ~Transport() = default;

  virtual char *allocate(int64_t bytes) = 0;
  virtual void release(char *memory) = 0;

  /// In any order: none of them needs another one.
  virtual bool copy(const std::vector<ViewCopy> &copies) = 0;
  /// to = to combined with from.
  virtual bool combine(const View &to, const View &from) = 0;

  /// Sends and receives all messages of a step, each one after the other in
  /// `outgoing` and `incoming`.
  virtual bool exchange(const MessageStep &step, const char *outgoing,
                        char *incoming) = 0;
};

/// Moves and combines the data of the collective whose views the context has
/// published, all but neutral elements. False if the device must leave.
bool moveByMessages(TofuContext &context, const Collective &collective,
                    Transport &transport);

} // namespace mlir::tofu::host

#endif // TOFU_LIB_RUNTIME_HOST_MESSAGES_H
