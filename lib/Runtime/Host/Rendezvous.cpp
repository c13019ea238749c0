//===- Rendezvous.cpp - Where device threads meet -------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rendezvous.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace mlir::tofu;
using namespace mlir::tofu::host;

static constexpr uint32_t kCountBits = 12;
static constexpr uint32_t kCountMask = (1u << kCountBits) - 1;
static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t),
              "a futex is a plain word");

/// How often those who wait look at their reasons to leave.
static constexpr long kSleepNanoseconds = 20'000'000;

static uint32_t roundOf(uint32_t word) { return word >> kCountBits; }

Rendezvous::Rendezvous(int64_t numDevices)
    : states(numDevices), numDevices(numDevices) {
  // Waiting in a loop pays only while each thread has a core to itself.
  bool hasCores = std::thread::hardware_concurrency() >= numDevices;
  spins = hasCores ? 4000 : 0;
}

/// Counts the device in. True if it was the last, which ends the round.
bool Rendezvous::arrive(uint32_t &round) {
  uint32_t seen = word.load(std::memory_order_relaxed), next;
  do {
    round = roundOf(seen);
    bool isLast = (seen & kCountMask) + 1 == numDevices;
    next = isLast ? (round + 1) << kCountBits : seen + 1;
  } while (!word.compare_exchange_weak(seen, next, std::memory_order_acq_rel));
  return roundOf(next) != round;
}

/// Takes back `arrive`; false if the round is over.
bool Rendezvous::withdraw(uint32_t round) {
  uint32_t seen = word.load(std::memory_order_relaxed);
  do {
    if (roundOf(seen) != round)
      return false;
  } while (
      !word.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel));
  return true;
}

bool Rendezvous::isOver(uint32_t round) const {
  // The round number wraps like the word's upper bits do.
  return roundOf(word.load(std::memory_order_acquire)) != round;
}

bool Rendezvous::spin(uint32_t round) const {
  for (int i = 0; i < spins; ++i) {
    if (isOver(round))
      return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  // With more threads than cores, those who are still to come need this one.
  for (int i = 0; i < 2; ++i) {
    sched_yield();
    if (isOver(round))
      return true;
  }
  return false;
}

void Rendezvous::sleep(uint32_t round) {
  uint32_t seen = word.load(std::memory_order_acquire);
  if (roundOf(seen) != round)
    return;
  struct timespec limit = {0, kSleepNanoseconds};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, &limit, nullptr, 0);
}

void Rendezvous::wakeAll() {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

bool Rendezvous::isDeserted() const {
  return std::any_of(states.begin(), states.end(), [](const State &state) {
    return state.retired.load(std::memory_order_acquire);
  });
}

Rendezvous::Outcome Rendezvous::meet(int64_t device, double seconds,
                                     const std::atomic<bool> &abort) {
  using Clock = std::chrono::steady_clock;
  uint32_t round;
  states[device].waiting = true;
  if (arrive(round)) {
    states[device].waiting = false;
    wakeAll();
    return Outcome::Met;
  }
  Clock::time_point start = Clock::now();
  Outcome outcome = Outcome::Met;
  while (outcome == Outcome::Met && !spin(round)) {
    std::chrono::duration<double> waited = Clock::now() - start;
    if (abort.load(std::memory_order_acquire))
      outcome = Outcome::Aborted;
    else if (isDeserted())
      outcome = Outcome::Deserted;
    else if (waited.count() > seconds)
      outcome = Outcome::TimedOut;
    else
      sleep(round);
  }
  if (outcome != Outcome::Met && !withdraw(round))
    outcome = Outcome::Met;
  // Those who give up stay marked as having come, for the message.
  states[device].waiting = outcome != Outcome::Met;
  return outcome;
}

void Rendezvous::meetAgain() {
  uint32_t round;
  if (arrive(round))
    return wakeAll();
  while (!spin(round))
    sleep(round);
}

void Rendezvous::retire(int64_t device) {
  states[device].retired.store(true, std::memory_order_release);
  wakeAll();
}

void Rendezvous::restart() {
  word = 0;
  for (State &state : states) {
    state.waiting = false;
    state.retired = false;
  }
}
