//===- FakeProcesses.cpp - Threads that seem to be processes --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the place of what finds the processes of MPI.
//
//===----------------------------------------------------------------------===//

#include "FakeProcesses.h"
#include "Device.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <thread>

using namespace mlir::tofu;

namespace {

/// Where all processes meet.
class Hub {
public:
  explicit Hub(int count) : texts(count) {}

  int size() const { return static_cast<int>(texts.size()); }

  /// What all say.
  std::vector<std::string> gather(int rank, std::string text) {
    std::unique_lock<std::mutex> lock(mutex);
    texts[rank] = std::move(text);
    int64_t mine = round;
    if (++come == size()) {
      come = 0;
      gathered = texts;
      ++round;
      changed.notify_all();
    }
    // The next round doesn't end before all have left this one.
    changed.wait(lock, [&] { return round != mine; });
    return gathered;
  }

  /// Leaves a text for rank 0, which takes them in this order.
  void post(int64_t rank, std::string text) {
    std::lock_guard<std::mutex> lock(mutex);
    posted[rank].push_back(std::move(text));
    changed.notify_all();
  }
  std::string take(int64_t rank) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return !posted[rank].empty(); });
    std::string text = std::move(posted[rank].front());
    posted[rank].pop_front();
    return text;
  }

  std::atomic<bool> hasFailure{false};

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> texts, gathered;
  std::map<int64_t, std::deque<std::string>> posted;
  int come = 0;
  int64_t round = 0;
};

class ThreadProcesses : public host::Processes {
public:
  ThreadProcesses(std::shared_ptr<Hub> hub, int self)
      : hub(std::move(hub)), self(self) {}

  int rank() const override { return self; }
  int numProcesses() const override { return hub->size(); }
  int localRank() const override { return self; }
  int numLocal() const override { return hub->size(); }
  bool isNotified() override { return hub->hasFailure; }

  TofuStatus agree(std::string &error, TofuStatus status) override {
    if (!error.empty())
      hub->hasFailure = true;
    std::string first = findFirst(error);
    hub->hasFailure = false;
    hub->gather(self, "");
    error = self == 0 ? first : "";
    return first.empty() ? TOFU_OK : TOFU_FAILED;
  }
  std::string findFirst(const std::string &text) override {
    for (const std::string &each : hub->gather(self, text))
      if (!each.empty())
        return each;
    return {};
  }
  void broadcast(void *memory, int64_t bytes) override {
    std::string first =
        hub->gather(self, std::string(static_cast<char *>(memory), bytes))[0];
    std::memcpy(memory, first.data(), bytes);
  }
  std::string bring(int64_t device, void *memory, int64_t bytes,
                    double) override {
    auto *bytesHere = static_cast<char *>(memory);
    if (device && device == self)
      hub->post(device, std::string(bytesHere, bytes));
    else if (device && self == 0)
      std::memcpy(memory, hub->take(device).data(), bytes);
    return {};
  }

private:
  std::shared_ptr<Hub> hub;
  int self;
};

} // namespace

static thread_local std::shared_ptr<Hub> hubOfThread;
static thread_local int rankOfThread = 0;

std::string cuda::findProcesses(double,
                                std::shared_ptr<host::Processes> &processes) {
  if (hubOfThread)
    processes = std::make_shared<ThreadProcesses>(hubOfThread, rankOfThread);
  return {};
}

void test::runProcesses(int count, const std::function<void(int)> &body) {
  auto hub = std::make_shared<Hub>(count);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([=] {
      hubOfThread = hub;
      rankOfThread = rank;
      body(rank);
    });
  for (std::thread &thread : threads)
    thread.join();
}
