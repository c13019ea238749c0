//===- Job.cpp - Processes that find each other by a port -----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All messages go to rank 0 or come from it. A thread of each process sends and
// receives them, so that word of a failure gets through rank 0 while that
// computes, and a process that ends is noticed at once.
//
// Failure. Whoever fails tells rank 0 at once, which tells all others. At the
// end of a run rank 0 takes the votes of all and says what has become of it. A
// job of which a process has gone, or a message hasn't come in time, is broken
// and stays so: all that is asked of it then gives the reason.
//
//===----------------------------------------------------------------------===//

#include "Job.h"
#include "Meeting.h"
#include "Wire.h"
#include "World.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <netinet/tcp.h>
#include <thread>

using namespace mlir::tofu;
using namespace mlir::tofu::tcp;
using Protocol = asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using Lock = std::unique_lock<std::mutex>;

/// Seconds without a sign of life after which a machine is taken for gone.
static constexpr int kSilenceSeconds = 60;

/// How many messages of large data wait to be sent at once.
static constexpr int64_t kMostPending = 8;

/// Of a process whose connection is closed.
static constexpr const char *kLost =
    ": its process has ended, or can't be reached any more";

namespace {

struct Message {
  Kind kind;
  std::string bytes;
};

/// Another process.
struct Peer {
  explicit Peer(int rank, Protocol::socket socket)
      : rank(rank), socket(std::move(socket)) {}

  const int rank;
  // Of the thread that sends and receives.
  Protocol::socket socket;
  Header header = {};
  std::string incoming;
  std::deque<std::string> outgoing;
  // Of all threads, with the mutex.
  std::deque<Message> arrived;
  int64_t pending = 0; ///< messages to be sent
  bool isLost = false, hasLeft = false;
};

class Job : public host::Processes {
public:
  Job(const Environment &environment, double timeoutSeconds)
      : self(environment.rank), count(environment.size),
        timeout(timeoutSeconds) {}
  ~Job() override;

  /// The reason if that fails.
  std::string start(const Environment &environment);

  int rank() const override { return self; }
  int numProcesses() const override { return count; }
  int localRank() const override { return localSelf; }
  int numLocal() const override { return localCount; }
  bool isSilent() override;
  bool isNotified() override { return hasFailure; }
  TofuStatus agree(std::string &error, TofuStatus status) override;
  std::string findFirst(const std::string &text) override;
  void broadcast(void *memory, int64_t bytes) override;
  std::string bring(int64_t device, void *memory, int64_t bytes,
                    double timeoutSeconds) override;

private:
  // On the thread that sends and receives.
  void read(Peer &peer);
  void readBytes(Peer &peer);
  void write(Peer &peer);
  void dispatch(Peer &peer);
  void lose(Peer &peer);

  // With the mutex.
  void send(Peer &peer, Kind kind, const std::string &bytes);
  void sendToAll(Kind kind, const std::string &bytes,
                 const Peer *but = nullptr);
  void hear(const std::string &text);
  void follow(const std::string &verdict);
  void breakUp(const std::string &text);
  bool take(Lock &lock, Peer &peer, Kind kind, std::string &bytes,
            double seconds);
  bool takeVote(Lock &lock, Peer &peer, Kind kind, bool isFailing,
                Clock::duration grace, std::string &bytes);
  TofuStatus settle(Lock &lock, std::string &error, TofuStatus status);
  TofuStatus followVerdict(Lock &lock, std::string &error, TofuStatus status);
  void flush(Lock &lock);
  std::string sendPieces(Lock &lock, const char *memory, int64_t bytes,
                         double seconds);
  std::string takePieces(Lock &lock, Peer &peer, char *memory, int64_t bytes,
                         double seconds);

  const int self, count;
  const double timeout;
  int localSelf = 0, localCount = 1;
  asio::io_context io;
  std::thread thread;
  /// Of rank 0 all others; of these rank 0.
  std::deque<Peer> peers;

  std::mutex mutex;
  std::condition_variable changed;
  /// What has failed first in this run, and why the job is broken.
  std::string failure, broken;
  /// Whether there is either.
  std::atomic<bool> hasFailure{false};
  bool isClosing = false;
};

} // namespace

static std::string describe(const Peer &peer) {
  return "device " + std::to_string(peer.rank);
}

static auto toDuration(double seconds) {
  return std::chrono::duration<double>(std::min(seconds, 1e8));
}

//===----------------------------------------------------------------------===//
// Beginning and end
//===----------------------------------------------------------------------===//

/// Small messages go at once, and machines that have gone are noticed.
static void setOptions(Protocol::socket &socket) {
  asio::error_code ignored;
  socket.set_option(Protocol::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  auto set = [&](int option, int value) {
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, option, &value,
                 sizeof(value));
  };
  set(TCP_KEEPIDLE, kSilenceSeconds / 2);
  set(TCP_KEEPINTVL, kSilenceSeconds / 6);
  set(TCP_KEEPCNT, 3);
  set(TCP_USER_TIMEOUT, kSilenceSeconds * 1000);
}

std::string Job::start(const Environment &environment) {
  Meeting meeting;
  std::string reason = meet(io, environment, timeout, meeting);
  if (!reason.empty())
    return reason;
  localSelf = meeting.localRank;
  localCount = meeting.localSize;
  for (auto &[rank, socket] : meeting.sockets) {
    setOptions(socket);
    peers.emplace_back(rank, std::move(socket));
    read(peers.back());
  }
  io.restart();
  thread = std::thread([this] {
    // There may be nothing to do for a while when all others have gone.
    auto guard = asio::make_work_guard(io);
    io.run();
  });
  return {};
}

Job::~Job() {
  if (!thread.joinable())
    return;
  {
    Lock lock(mutex);
    isClosing = true;
    sendToAll(Kind::Bye, "");
    flush(lock);
  }
  io.stop();
  thread.join();
}

std::string tcp::join(const Environment &environment, double timeoutSeconds,
                      std::shared_ptr<host::Processes> &processes) {
  try {
    auto job = std::make_shared<Job>(environment, timeoutSeconds);
    std::string reason = job->start(environment);
    if (reason.empty())
      processes = job;
    return reason;
  } catch (const std::exception &exception) {
    return std::string("processes can't be joined: ") + exception.what();
  }
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void Job::read(Peer &peer) {
  asio::async_read(peer.socket, asio::buffer(&peer.header, sizeof(Header)),
                   [this, &peer](asio::error_code code, size_t) {
                     if (code || peer.header.bytes > kMostBytes)
                       lose(peer);
                     else
                       readBytes(peer);
                   });
}

void Job::readBytes(Peer &peer) {
  peer.incoming.resize(peer.header.bytes);
  asio::async_read(peer.socket, asio::buffer(peer.incoming),
                   [this, &peer](asio::error_code code, size_t) {
                     if (code)
                       return lose(peer);
                     dispatch(peer);
                     read(peer);
                   });
}

void Job::write(Peer &peer) {
  asio::async_write(peer.socket, asio::buffer(peer.outgoing.front()),
                    [this, &peer](asio::error_code code, size_t) {
                      if (code)
                        return lose(peer);
                      peer.outgoing.pop_front();
                      {
                        Lock lock(mutex);
                        peer.pending -= !peer.isLost;
                      }
                      changed.notify_all();
                      if (!peer.outgoing.empty())
                        write(peer);
                    });
}

void Job::dispatch(Peer &peer) {
  auto kind = static_cast<Kind>(peer.header.kind);
  {
    Lock lock(mutex);
    if (kind == Kind::Notice) {
      hear(peer.incoming);
      if (self == 0)
        sendToAll(Kind::Notice, peer.incoming, &peer);
    } else if (kind == Kind::Bye) {
      peer.hasLeft = true;
    } else {
      if (kind == Kind::Verdict)
        follow(peer.incoming);
      peer.arrived.push_back({kind, std::move(peer.incoming)});
    }
  }
  changed.notify_all();
}

/// What fails from now on does so in the next run, if there is one.
void Job::follow(const std::string &verdict) {
  if (!verdict.empty() && verdict[0] == TOFU_STUCK)
    return breakUp(verdict.substr(1));
  if (!broken.empty())
    return;
  failure.clear();
  hasFailure = false;
}

void Job::lose(Peer &peer) {
  {
    Lock lock(mutex);
    if (peer.isLost)
      return;
    peer.isLost = true;
    peer.pending = 0;
    asio::error_code ignored;
    peer.socket.close(ignored);
    if (!peer.hasLeft && !isClosing) {
      std::string text = describe(peer) + kLost;
      breakUp(text);
      if (self == 0)
        sendToAll(Kind::Notice, text, &peer);
    }
  }
  changed.notify_all();
}

void Job::send(Peer &peer, Kind kind, const std::string &bytes) {
  if (peer.isLost)
    return;
  Header header = {static_cast<uint32_t>(kind),
                   static_cast<uint32_t>(bytes.size())};
  if (bytes.size() > kMostBytes)
    header.bytes = kMostBytes;
  std::string message(reinterpret_cast<const char *>(&header), sizeof(header));
  message.append(bytes, 0, header.bytes);
  ++peer.pending;
  asio::post(io, [this, &peer, message = std::move(message)]() mutable {
    peer.outgoing.push_back(std::move(message));
    if (peer.outgoing.size() == 1 && peer.socket.is_open())
      write(peer);
  });
}

void Job::sendToAll(Kind kind, const std::string &bytes, const Peer *but) {
  for (Peer &peer : peers)
    if (&peer != but)
      send(peer, kind, bytes);
}

void Job::hear(const std::string &text) {
  if (failure.empty())
    failure = text;
  hasFailure = true;
}

void Job::breakUp(const std::string &text) {
  hear(text);
  if (broken.empty())
    broken = text;
}

/// False, and the job broken, if the next message of the peer isn't one of that
/// kind or doesn't come in time.
bool Job::take(Lock &lock, Peer &peer, Kind kind, std::string &bytes,
               double seconds) {
  bool isHere = changed.wait_for(lock, toDuration(seconds), [&] {
    return !peer.arrived.empty() || peer.isLost || !broken.empty();
  });
  if (!peer.arrived.empty() && peer.arrived.front().kind == kind) {
    bytes = std::move(peer.arrived.front().bytes);
    peer.arrived.pop_front();
    return true;
  }
  if (!isHere)
    breakUp("timed out after " + host::formatSeconds(seconds) +
            " waiting for " + describe(peer));
  else if (peer.arrived.empty())
    breakUp(describe(peer) + kLost);
  else
    breakUp(describe(peer) + " has sent something else than it should");
  return false;
}

/// Until the last message that matters has gone.
void Job::flush(Lock &lock) {
  changed.wait_for(lock, kGrace, [&] {
    return std::all_of(peers.begin(), peers.end(),
                       [](const Peer &peer) { return peer.pending == 0; });
  });
}

//===----------------------------------------------------------------------===//
// The end of a run
//===----------------------------------------------------------------------===//

/// Who leaves in good order has printed what there was.
bool Job::isSilent() {
  Lock lock(mutex);
  return self != 0 && (peers.front().hasLeft || !peers.front().isLost);
}

/// As long as none has failed, others may compute. False if the peer doesn't
/// end after a failure, or has gone.
bool Job::takeVote(Lock &lock, Peer &peer, Kind kind, bool isFailing,
                   Clock::duration grace, std::string &bytes) {
  auto isOver = [&] { return !peer.arrived.empty() || peer.isLost; };
  changed.wait(lock, [&] { return isOver() || isFailing || hasFailure; });
  changed.wait_for(lock, grace, isOver);
  return !peer.arrived.empty() && take(lock, peer, kind, bytes, 0);
}

TofuStatus Job::settle(Lock &lock, std::string &error, TofuStatus status) {
  TofuStatus all = status;
  Clock::duration grace = kGrace;
  for (Peer &peer : peers) {
    std::string vote;
    if (takeVote(lock, peer, Kind::Vote, all != TOFU_OK, grace, vote) &&
        !vote.empty()) {
      all = std::max(all, static_cast<TofuStatus>(vote[0]));
      if (vote.size() > 1)
        hear(vote.substr(1));
      continue;
    }
    // All have had that time by now.
    all = TOFU_STUCK;
    grace = {};
    hear(describe(peer) +
         (peer.isLost ? kLost : " doesn't end after another one has failed"));
  }
  if (!broken.empty())
    all = TOFU_STUCK;
  if (all == TOFU_STUCK)
    hear("a device doesn't end after another one has failed");
  error = failure;
  std::string verdict = std::string(1, static_cast<char>(all)) + error;
  follow(verdict);
  sendToAll(Kind::Verdict, verdict);
  if (all == TOFU_STUCK)
    flush(lock);
  return all;
}

/// Rank 0 waits for its own device, and then for the others' votes.
TofuStatus Job::followVerdict(Lock &lock, std::string &error,
                              TofuStatus status) {
  Peer &first = peers.front();
  send(first, Kind::Vote, std::string(1, static_cast<char>(status)) + error);
  std::string verdict;
  if (takeVote(lock, first, Kind::Verdict, status != TOFU_OK, 3 * kGrace,
               verdict) &&
      !verdict.empty()) {
    error.clear();
    return static_cast<TofuStatus>(verdict[0]);
  }
  hear(describe(first) + " doesn't end after another one has failed");
  breakUp(failure);
  error = failure;
  return TOFU_STUCK;
}

TofuStatus Job::agree(std::string &error, TofuStatus status) {
  Lock lock(mutex);
  if (status != TOFU_OK && !error.empty()) {
    hear(error);
    sendToAll(Kind::Notice, error);
  }
  return self == 0 ? settle(lock, error, status)
                   : followVerdict(lock, error, status);
}

//===----------------------------------------------------------------------===//
// Between runs
//===----------------------------------------------------------------------===//

std::string Job::findFirst(const std::string &text) {
  Lock lock(mutex);
  std::string first = text;
  if (self != 0) {
    send(peers.front(), Kind::Text, text);
    return take(lock, peers.front(), Kind::Text, first, timeout) ? first
                                                                 : broken;
  }
  for (Peer &peer : peers) {
    std::string other;
    if (!take(lock, peer, Kind::Text, other, timeout))
      other = broken;
    if (first.empty())
      first = other;
  }
  sendToAll(Kind::Text, first);
  return first;
}

/// A job that is broken shows it in the next run.
void Job::broadcast(void *memory, int64_t bytes) {
  Lock lock(mutex);
  auto *data = static_cast<char *>(memory);
  if (self == 0)
    return sendToAll(Kind::Bytes, std::string(data, bytes));
  std::string text;
  if (!take(lock, peers.front(), Kind::Bytes, text, timeout))
    return;
  if (static_cast<int64_t>(text.size()) == bytes)
    std::memcpy(memory, text.data(), bytes);
  else
    breakUp("device 0 has sent " + std::to_string(text.size()) +
            " bytes in the place of " + std::to_string(bytes));
}

/// Not all at once, so that there are few copies.
std::string Job::sendPieces(Lock &lock, const char *memory, int64_t bytes,
                            double seconds) {
  Peer &first = peers.front();
  for (int64_t at = 0; at < bytes; at += kMostBytes) {
    bool isFree = changed.wait_for(lock, toDuration(seconds), [&] {
      return first.pending < kMostPending || first.isLost;
    });
    if (!isFree)
      breakUp("timed out after " + host::formatSeconds(seconds) +
              " sending to device 0");
    if (!broken.empty())
      return broken;
    if (first.isLost)
      return describe(first) + kLost;
    send(first, Kind::Piece,
         std::string(memory + at, std::min<int64_t>(bytes - at, kMostBytes)));
  }
  return {};
}

std::string Job::takePieces(Lock &lock, Peer &peer, char *memory, int64_t bytes,
                            double seconds) {
  for (int64_t at = 0; at < bytes;) {
    std::string piece;
    if (!take(lock, peer, Kind::Piece, piece, seconds))
      return broken;
    int64_t size = piece.size();
    if (size != std::min<int64_t>(bytes - at, kMostBytes)) {
      breakUp(describe(peer) + " has sent " + std::to_string(at + size) +
              " bytes in the place of " + std::to_string(bytes));
      return broken;
    }
    std::memcpy(memory + at, piece.data(), size);
    at += size;
  }
  return {};
}

std::string Job::bring(int64_t device, void *memory, int64_t bytes,
                       double timeoutSeconds) {
  if (device == 0 || (self != 0 && self != device))
    return {};
  Lock lock(mutex);
  auto *data = static_cast<char *>(memory);
  if (self != 0)
    return sendPieces(lock, data, bytes, timeoutSeconds);
  // By rank, from 1.
  return takePieces(lock, peers[device - 1], data, bytes, timeoutSeconds);
}
