//===- Rendezvous.h - Where device threads meet -----------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_HOST_RENDEZVOUS_H
#define TOFU_LIB_RUNTIME_HOST_RENDEZVOUS_H

#include <atomic>
#include <cstdint>
#include <vector>

namespace mlir::tofu::host {

/// A barrier that devices can leave as long as it is not complete. That is what
/// makes failures safe: once all have met, nobody leaves before the next
/// meeting, so what each has shown to the others stays valid in between.
class Rendezvous {
public:
  enum class Outcome { Met, Aborted, TimedOut, Deserted };

  explicit Rendezvous(int64_t numDevices);

  /// Waits until all devices have come, at most `seconds`. Leaves with Aborted
  /// when `abort` is raised, and with Deserted when a device that has not come
  /// has ended its program.
  Outcome meet(int64_t device, double seconds, const std::atomic<bool> &abort);

  /// Waits without end. Only for devices that have met at `meet` just before.
  void meetAgain();

  /// Says that the device will not come any more.
  void retire(int64_t device);

  /// Lets those who wait look at their reasons to leave.
  void wakeAll();

  /// Back to the beginning. Nobody may be waiting.
  void restart();

  /// Whether `device` is waiting here, or was at the end of the last run.
  bool hasCome(int64_t device) const { return states[device].waiting; }
  bool hasRetired(int64_t device) const { return states[device].retired; }

private:
  struct alignas(64) State {
    std::atomic<bool> waiting{false}, retired{false};
  };

  bool arrive(uint32_t &round);
  bool withdraw(uint32_t round);
  bool isOver(uint32_t round) const;
  bool spin(uint32_t round) const;
  bool isDeserted() const;
  void sleep(uint32_t round);

  /// The number of the round in the upper bits, and how many have come. One
  /// word, so that a round is either complete or left, never both.
  std::atomic<uint32_t> word{0};
  std::vector<State> states;
  uint32_t numDevices;
  int spins;
};

} // namespace mlir::tofu::host

#endif // TOFU_LIB_RUNTIME_HOST_RENDEZVOUS_H
