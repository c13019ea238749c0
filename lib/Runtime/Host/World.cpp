//===- World.cpp - Devices as threads of one process ----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "World.h"

#include <chrono>
#include <csignal>
#include <cstdio>

using namespace mlir::tofu;
using namespace mlir::tofu::host;

// oneDNN's OpenMP library, if it has one; the setting is per thread.
extern "C" __attribute__((weak)) void omp_set_num_threads(int);

/// Programs keep small buffers on the stack.
static constexpr size_t kStackBytes = 64 << 20;

/// How long a run that has failed waits for a device that computes.
static constexpr std::chrono::seconds kGrace(5);

double host::now() {
  using Seconds = std::chrono::duration<double>;
  return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string host::formatSeconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g s", seconds);
  return text;
}

/// The device whose program this thread runs.
static thread_local TofuContext *running = nullptr;

/// What was done about a division that fails before there were devices.
static struct sigaction otherwise;

/// Processors that interrupt a program which divides an integer by zero do so
/// at that place: it holds no lock of the runtime.
static void failDivision(int, siginfo_t *, void *) {
  TofuContext *context = running;
  if (!context) {
    // Comes back to the division, and so to whom it may concern.
    sigaction(SIGFPE, &otherwise, nullptr);
    return;
  }
  context->world->fail(context->device, nullptr,
                       "integer division by zero, or of the least number by "
                       "-1");
  host::leave(context);
}

static void watchDivisions() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = failDivision;
    // It ends elsewhere than where it was called.
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGFPE, &action, &otherwise);
  });
}

void host::leave(TofuContext *context) { std::longjmp(context->start, 1); }

TofuWorld::TofuWorld(const TofuWorldOptions &options,
                     std::optional<int64_t> only)
    : contexts(options.numDevices), mover(&getHostMover()),
      rendezvous(only ? 1 : options.numDevices),
      timeoutSeconds(options.timeoutSeconds) {
  for (int64_t device = 0; device < options.numDevices; ++device) {
    if (only && *only != device)
      continue;
    auto context = std::make_unique<TofuContext>();
    context->world = this;
    context->device = device;
    context->number = numHere();
    here.push_back(context.get());
    contexts[device] = std::move(context);
  }
}

bool TofuWorld::start() {
  watchDivisions();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  for (TofuContext *context : here) {
    if (pthread_create(&context->thread, &attributes, runThread, context))
      break;
    ++started;
  }
  pthread_attr_destroy(&attributes);
  return started == numHere();
}

TofuWorld::~TofuWorld() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    shuttingDown = true;
  }
  workChanged.notify_all();
  for (int64_t number = 0; number < started; ++number)
    pthread_join(here[number]->thread, nullptr);
}

void *TofuWorld::runThread(void *argument) {
  auto *context = static_cast<TofuContext *>(argument);
  context->world->serve(*context);
  return nullptr;
}

void TofuWorld::serve(TofuContext &context) {
  if (omp_set_num_threads)
    omp_set_num_threads(1);
  for (int64_t next = 1;; ++next) {
    {
      std::unique_lock<std::mutex> lock(mutex);
      workChanged.wait(lock, [&] { return shuttingDown || runNumber == next; });
      if (shuttingDown)
        return;
    }
    rendezvous.meetAgain();
    runBody(context);
    rendezvous.retire(context.number);
    std::lock_guard<std::mutex> lock(mutex);
    if (++finished == numHere())
      deviceFinished.notify_all();
  }
}

/// Has no objects with destructors, as `leave` ends here.
void TofuWorld::runBody(TofuContext &context) {
  running = &context;
  if (setjmp(context.start) == 0)
    body(&context, context.device, user);
  running = nullptr;
}

bool TofuWorld::waitForDevices(std::unique_lock<std::mutex> &lock) {
  auto areDone = [&] { return finished == numHere(); };
  deviceFinished.wait(lock, [&] { return areDone() || isAborted(); });
  return deviceFinished.wait_for(lock, kGrace, areDone);
}

TofuStatus TofuWorld::run(TofuBody newBody, void *newUser) {
  std::unique_lock<std::mutex> lock(mutex);
  aborted = false;
  error.clear();
  rendezvous.restart();
  for (TofuContext *context : here)
    context->sequence = 0;
  body = newBody;
  user = newUser;
  finished = 0;
  ++runNumber;
  workChanged.notify_all();
  if (!waitForDevices(lock))
    return TOFU_STUCK;
  if (!isAborted())
    return TOFU_OK;
  // Some devices may have changed them, others not.
  for (TofuContext *context : here)
    context->memory.releaseGlobals();
  return TOFU_FAILED;
}

void TofuWorld::fail(int64_t device, const char *location,
                     const std::string &message) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (isAborted())
      return;
    error = "device " + std::to_string(device);
    if (location && *location)
      error += std::string(", ") + location;
    error += ": " + message;
    aborted.store(true, std::memory_order_release);
  }
  deviceFinished.notify_all();
  rendezvous.wakeAll();
}

void TofuWorld::abort() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    aborted.store(true, std::memory_order_release);
  }
  deviceFinished.notify_all();
  rendezvous.wakeAll();
}
