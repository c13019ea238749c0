//===- Meeting.cpp - How processes find each other ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rank 0 listens, all others connect and say who they are. When all have come,
// or that has failed, rank 0 answers, which ends the meeting.
//
//===----------------------------------------------------------------------===//

#include "Meeting.h"
#include "Wire.h"
#include "World.h"

#include <algorithm>
#include <cstring>

using namespace mlir::tofu;
using namespace mlir::tofu::tcp;
using Protocol = asio::ip::tcp;
using Clock = std::chrono::steady_clock;

/// Between attempts to connect.
static constexpr std::chrono::milliseconds kPause(50);

static Clock::duration toDuration(double seconds) {
  constexpr double kMost = 1e8; // Years, which all clocks can count.
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::min(seconds, kMost)));
}

static Opening makeOpening(int size) {
  Opening opening = {};
  std::memcpy(opening.magic, kMagic, sizeof(kMagic));
  opening.version = TOFU_BACKEND_VERSION;
  opening.size = size;
  return opening;
}

static bool hasMagic(const Opening &opening) {
  return !std::memcmp(opening.magic, kMagic, sizeof(kMagic));
}

template <typename T>
static std::string toBytes(const T &words) {
  return std::string(reinterpret_cast<const char *>(&words), sizeof(words));
}

static std::string describe(const Environment &environment) {
  std::string port = std::to_string(environment.port);
  if (environment.host.empty())
    return "port " + port;
  // Addresses of IPv6 have colons of their own.
  if (environment.host.find(':') != std::string::npos)
    return "[" + environment.host + "]:" + port;
  return environment.host + ":" + port;
}

static std::string describeVersions(int others) {
  return "is of another version of Tofu: its backend has version " +
         std::to_string(others) + ", this one's " +
         std::to_string(TOFU_BACKEND_VERSION);
}

//===----------------------------------------------------------------------===//
// Rank 0
//===----------------------------------------------------------------------===//

namespace {

/// Who has connected, and who that is once it has said it.
struct Guest {
  explicit Guest(Protocol::socket socket) : socket(std::move(socket)) {}

  Protocol::socket socket;
  Opening opening = {};
  Hello hello = {};
  bool hasSaidHello = false;
};

class Listener {
public:
  Listener(asio::io_context &io, const Environment &environment,
           double timeoutSeconds)
      : io(io), acceptor(io), environment(environment),
        timeoutSeconds(timeoutSeconds),
        deadline(Clock::now() + toDuration(timeoutSeconds)) {}

  std::string run(Meeting &meeting);

private:
  std::string listen();
  void accept();
  void receive(std::shared_ptr<Guest> guest);
  void admit(std::shared_ptr<Guest> guest);
  std::string findFault(const Guest &guest) const;
  void fail(const std::string &text);
  void answer(const std::shared_ptr<Guest> &guest, int localRank,
              int localSize);
  std::string describeMissing() const;
  void dismiss(Meeting &meeting);

  asio::io_context &io;
  Protocol::acceptor acceptor;
  const Environment &environment;
  double timeoutSeconds;
  Clock::time_point deadline;
  /// The processes of the job that have come, by rank; all who have connected.
  std::map<int, std::shared_ptr<Guest>> guests;
  std::vector<std::shared_ptr<Guest>> connected;
  /// How many come in all, and have come.
  int expected = 0, come = 0;
  std::string reason;
};

} // namespace

/// The first of the host's addresses that it can listen on.
std::string Listener::listen() {
  asio::error_code code;
  std::vector<Protocol::endpoint> endpoints;
  auto port = static_cast<unsigned short>(environment.port);
  if (environment.host.empty())
    endpoints = {{Protocol::v6(), port}, {Protocol::v4(), port}};
  else
    for (const auto &entry : Protocol::resolver(io).resolve(
             environment.host, std::to_string(port), code))
      endpoints.push_back(entry.endpoint());
  for (const Protocol::endpoint &endpoint : endpoints) {
    acceptor.close(code);
    acceptor.open(endpoint.protocol(), code);
    if (!code)
      acceptor.set_option(Protocol::acceptor::reuse_address(true), code);
    if (!code && endpoint.protocol() == Protocol::v6())
      acceptor.set_option(asio::ip::v6_only(!environment.host.empty()), code);
    if (!code)
      acceptor.bind(endpoint, code);
    if (!code)
      acceptor.listen(Protocol::socket::max_listen_connections, code);
    if (!code)
      return {};
  }
  return "process 0 can't listen at " + describe(environment) + ": " +
         code.message() +
         "; MASTER_ADDR must be an address of its machine, and MASTER_PORT a "
         "free port there";
}

void Listener::accept() {
  acceptor.async_accept([this](asio::error_code code, Protocol::socket socket) {
    if (code == asio::error::operation_aborted)
      return;
    // What has gone again is no reason to end.
    if (code && code != asio::error::connection_aborted)
      return fail("process 0 can't accept connections at " +
                  describe(environment) + ": " + code.message());
    if (!code)
      receive(std::make_shared<Guest>(std::move(socket)));
    accept();
  });
}

/// Those who don't say who they are don't keep others waiting.
void Listener::receive(std::shared_ptr<Guest> guest) {
  connected.push_back(guest);
  auto atHello = [this, guest](asio::error_code code, size_t) {
    if (!code)
      admit(guest);
  };
  auto atOpening = [this, guest, atHello](asio::error_code code, size_t) {
    if (code || !hasMagic(guest->opening))
      return;
    // What follows may be other than what this version sends.
    if (guest->opening.version != TOFU_BACKEND_VERSION)
      return admit(guest);
    asio::async_read(guest->socket, asio::buffer(&guest->hello, sizeof(Hello)),
                     atHello);
  };
  asio::async_read(guest->socket,
                   asio::buffer(&guest->opening, sizeof(Opening)), atOpening);
}

/// What is wrong with one who has come; empty if nothing is.
std::string Listener::findFault(const Guest &guest) const {
  if (guest.opening.version != TOFU_BACKEND_VERSION)
    return "a process that has come to process 0 " +
           describeVersions(guest.opening.version);
  std::string who = "process " + std::to_string(guest.hello.rank);
  if (guest.opening.size != environment.size)
    return who + " is one of " + std::to_string(guest.opening.size) +
           ", and process 0 one of " + std::to_string(environment.size) +
           ": start all with the same number of processes";
  if (guest.hello.rank < 1 || guest.hello.rank >= environment.size)
    return who + " has come to process 0, where there are " +
           std::to_string(environment.size);
  if (guests.count(guest.hello.rank))
    return "there are two processes with the number " +
           std::to_string(guest.hello.rank);
  return {};
}

void Listener::admit(std::shared_ptr<Guest> guest) {
  guest->hasSaidHello = true;
  ++come;
  expected = std::max(expected, guest->opening.size - 1);
  std::string fault = findFault(*guest);
  if (!fault.empty())
    fail(fault);
  else
    guests[guest->hello.rank] = guest;
  if (!reason.empty())
    answer(guest, 0, 0);
}

/// Waits a while yet, to tell those who come.
void Listener::fail(const std::string &text) {
  if (!reason.empty())
    return;
  reason = text;
  deadline = std::min(deadline, Clock::now() + kGrace);
  for (auto &[rank, guest] : guests)
    answer(guest, 0, 0);
}

void Listener::answer(const std::shared_ptr<Guest> &guest, int localRank,
                      int localSize) {
  Answer answer = {localRank, localSize, static_cast<int32_t>(reason.size())};
  auto bytes = std::make_shared<std::string>(
      toBytes(makeOpening(environment.size)) + toBytes(answer) + reason);
  // What can't be sent shows when the job uses the connection.
  asio::async_write(guest->socket, asio::buffer(*bytes),
                    [guest, bytes](asio::error_code, size_t) {});
}

std::string Listener::describeMissing() const {
  std::string list;
  for (int rank = 1; rank < environment.size; ++rank)
    if (!guests.count(rank))
      list += (list.empty() ? "" : ", ") + std::to_string(rank);
  std::string text = "timed out after " + host::formatSeconds(timeoutSeconds) +
                     " waiting for processes " + list + " to come to " +
                     describe(environment);
  if (std::any_of(connected.begin(), connected.end(),
                  [](const auto &guest) { return !guest->hasSaidHello; }))
    text += ", where something has connected that is no process of Tofu";
  return text;
}

/// Numbers the processes of each machine, where launchers don't.
void Listener::dismiss(Meeting &meeting) {
  std::map<std::string, int> seen, counts;
  auto getHost = [](const Hello &hello) {
    return std::string(hello.host, strnlen(hello.host, sizeof(hello.host)));
  };
  std::string here = asio::ip::host_name();
  here.resize(std::min(here.size(), sizeof(Hello::host)));
  ++counts[here];
  for (auto &[rank, guest] : guests)
    ++counts[getHost(guest->hello)];
  meeting.localRank = environment.localRank.value_or(seen[here]++);
  meeting.localSize = environment.localSize.value_or(counts[here]);
  for (auto &[rank, guest] : guests) {
    const Hello &hello = guest->hello;
    int next = seen[getHost(hello)]++;
    answer(guest, hello.localRank >= 0 ? hello.localRank : next,
           hello.localSize >= 0 ? hello.localSize : counts[getHost(hello)]);
  }
}

std::string Listener::run(Meeting &meeting) {
  expected = environment.size - 1;
  reason = listen();
  if (!reason.empty())
    return reason;
  accept();
  while (come < expected && Clock::now() < deadline && !io.stopped())
    io.run_one_until(deadline);
  if (reason.empty() && come < expected)
    fail(describeMissing());
  // Before any of them may come to the next meeting.
  asio::error_code ignored;
  acceptor.close(ignored);
  if (reason.empty())
    dismiss(meeting);
  for (const auto &guest : connected)
    if (!guest->hasSaidHello)
      guest->socket.close(ignored);
  io.restart();
  io.run_until(Clock::now() + kGrace);
  for (auto &[rank, guest] : guests)
    meeting.sockets.emplace(rank, std::move(guest->socket));
  return reason;
}

//===----------------------------------------------------------------------===//
// The others
//===----------------------------------------------------------------------===//

namespace {

class Visitor {
public:
  Visitor(asio::io_context &io, const Environment &environment,
          double timeoutSeconds)
      : io(io), socket(io), timer(io), environment(environment),
        timeout(toDuration(timeoutSeconds)), timeoutSeconds(timeoutSeconds),
        deadline(Clock::now() + timeout) {}

  std::string run(Meeting &meeting);

private:
  void connect();
  void tryAgain(asio::error_code code);
  void sayHello();
  void receiveOpening();
  void receiveAnswer();
  void receiveReason();
  void finish(const std::string &text);
  bool isClosed(asio::error_code code);

  asio::io_context &io;
  Protocol::socket socket;
  asio::steady_timer timer;
  const Environment &environment;
  Clock::duration timeout;
  double timeoutSeconds;
  Clock::time_point deadline;
  bool isConnected = false, isDone = false;
  std::string outgoing, refusal, reason;
  Opening opening = {};
  Answer answered = {};
};

} // namespace

void Visitor::finish(const std::string &text) {
  reason = text;
  isDone = true;
}

void Visitor::tryAgain(asio::error_code code) {
  refusal = code.message();
  timer.expires_after(kPause);
  timer.async_wait([this](asio::error_code code) {
    if (!code)
      connect();
  });
}

void Visitor::connect() {
  asio::error_code code;
  auto endpoints = Protocol::resolver(io).resolve(
      environment.host, std::to_string(environment.port), code);
  if (code)
    return tryAgain(code);
  asio::async_connect(
      socket, endpoints,
      [this](asio::error_code code, const Protocol::endpoint &) {
        if (isDone || code == asio::error::operation_aborted)
          return;
        asio::error_code ignored;
        // A port that nobody listens on may be given to this very socket.
        if (!code &&
            socket.local_endpoint(ignored) == socket.remote_endpoint(ignored)) {
          socket.close(ignored);
          code = asio::error::connection_refused;
        }
        if (code)
          return tryAgain(code);
        // Rank 0 waits as long, and says for whom.
        isConnected = true;
        deadline = Clock::now() + timeout + kGrace;
        sayHello();
      });
}

void Visitor::sayHello() {
  Hello hello = {};
  hello.rank = environment.rank;
  hello.localRank = environment.localRank.value_or(-1);
  hello.localSize = environment.localSize.value_or(-1);
  std::string here = asio::ip::host_name();
  std::memcpy(hello.host, here.data(),
              std::min(here.size(), sizeof(hello.host)));
  outgoing = toBytes(makeOpening(environment.size)) + toBytes(hello);
  asio::async_write(socket, asio::buffer(outgoing),
                    [this](asio::error_code code, size_t) {
                      if (!isClosed(code))
                        receiveOpening();
                    });
}

bool Visitor::isClosed(asio::error_code code) {
  if (code && !isDone && code != asio::error::operation_aborted)
    finish("what listens at " + describe(environment) +
           " has closed the connection (" + code.message() +
           "): process 0 has ended, or another program has that port");
  return isDone || code;
}

void Visitor::receiveOpening() {
  asio::async_read(socket, asio::buffer(&opening, sizeof(opening)),
                   [this](asio::error_code code, size_t) {
                     if (isClosed(code))
                       return;
                     if (!hasMagic(opening))
                       finish("what listens at " + describe(environment) +
                              " is no process of Tofu: set MASTER_PORT to a "
                              "free port of process 0's machine");
                     else if (opening.version != TOFU_BACKEND_VERSION)
                       finish("process 0 " + describeVersions(opening.version));
                     else
                       receiveAnswer();
                   });
}

void Visitor::receiveAnswer() {
  asio::async_read(socket, asio::buffer(&answered, sizeof(answered)),
                   [this](asio::error_code code, size_t) {
                     if (!isClosed(code))
                       receiveReason();
                   });
}

void Visitor::receiveReason() {
  auto bytes = std::clamp<int64_t>(answered.reasonBytes, 0, kMostBytes);
  auto text = std::make_shared<std::string>(bytes, '\0');
  asio::async_read(socket, asio::buffer(*text),
                   [this, text](asio::error_code code, size_t) {
                     if (!isClosed(code))
                       finish(*text);
                   });
}

std::string Visitor::run(Meeting &meeting) {
  connect();
  while (!isDone && Clock::now() < deadline)
    io.run_one_until(deadline);
  if (!isDone)
    finish("timed out after " + host::formatSeconds(timeoutSeconds) +
           (isConnected ? " waiting for an answer of process 0 at "
                        : " trying to connect to process 0 at ") +
           describe(environment) +
           (isConnected || refusal.empty() ? "" : ": " + refusal));
  if (!reason.empty()) {
    asio::error_code ignored;
    timer.cancel();
    socket.close(ignored);
  }
  // The handlers that are left have nothing to do.
  io.restart();
  io.run_until(Clock::now() + kGrace);
  if (!reason.empty())
    return reason;
  meeting.localRank = answered.localRank;
  meeting.localSize = answered.localSize;
  meeting.sockets.emplace(0, std::move(socket));
  return {};
}

std::string tcp::meet(asio::io_context &io, const Environment &environment,
                      double timeoutSeconds, Meeting &meeting) {
  return environment.rank == 0
             ? Listener(io, environment, timeoutSeconds).run(meeting)
             : Visitor(io, environment, timeoutSeconds).run(meeting);
}
