//===- JobTest.cpp - Tests of processes that find each other by a port ----===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Processes are threads here, but for those that end without a word.
//
//===----------------------------------------------------------------------===//

#include "Job.h"
#include "Wire.h"

#include "gtest/gtest.h"

#include <arpa/inet.h>
#include <atomic>
#include <csignal>
#include <cstring>
#include <map>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir::tofu;
using host::Processes;
using Shared = std::shared_ptr<Processes>;

namespace {

/// A connection to an address of this machine, or a port that listens there.
class Socket {
public:
  Socket() : descriptor(::socket(AF_INET, SOCK_STREAM, 0)) {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  }
  ~Socket() { ::close(descriptor); }

  /// The port that the system gives.
  int listen() {
    socklen_t bytes = sizeof(address);
    ::bind(descriptor, reinterpret_cast<sockaddr *>(&address), bytes);
    ::listen(descriptor, 8);
    ::getsockname(descriptor, reinterpret_cast<sockaddr *>(&address), &bytes);
    return ntohs(address.sin_port);
  }
  /// Tries until somebody listens.
  void connect(int port) {
    address.sin_port = htons(port);
    while (::connect(descriptor, reinterpret_cast<sockaddr *>(&address),
                     sizeof(address))) {
      ::close(descriptor);
      descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
      std::this_thread::yield();
    }
  }
  void send(const std::string &bytes) {
    ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  int accept() { return ::accept(descriptor, nullptr, nullptr); }

private:
  int descriptor;
  sockaddr_in address = {};
};

int findFreePort() { return Socket().listen(); }

constexpr double kSeconds = 60;

tcp::Environment makeEnvironment(int rank, int size, int port) {
  tcp::Environment environment;
  environment.rank = rank;
  environment.size = size;
  environment.host = "127.0.0.1";
  environment.port = port;
  return environment;
}

void runThreads(int first, int end, const std::function<void(int)> &body) {
  std::vector<std::thread> threads;
  for (int rank = first; rank < end; ++rank)
    threads.emplace_back(body, rank);
  for (std::thread &thread : threads)
    thread.join();
}

/// Calls `body` for each rank on a thread of its own, once all have come.
void runJob(int size, const std::function<void(Processes &)> &body) {
  int port = findFreePort();
  runThreads(0, size, [&](int rank) {
    Shared processes;
    ASSERT_EQ(tcp::join(makeEnvironment(rank, size, port), kSeconds, processes),
              "");
    ASSERT_EQ(processes->rank(), rank);
    ASSERT_EQ(processes->numProcesses(), size);
    body(*processes);
  });
}

/// What the processes of several jobs say when they try to be one.
std::vector<std::string>
getReasons(const std::vector<tcp::Environment> &environments,
           double seconds = kSeconds) {
  std::vector<std::string> reasons(environments.size());
  runThreads(0, static_cast<int>(environments.size()), [&](int number) {
    Shared processes;
    reasons[number] = tcp::join(environments[number], seconds, processes);
    EXPECT_EQ(processes, nullptr);
  });
  return reasons;
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

//===----------------------------------------------------------------------===//
// The environment
//===----------------------------------------------------------------------===//

using Variables = std::map<std::string, std::string>;

std::string read(const Variables &variables,
                 std::optional<tcp::Environment> &environment) {
  auto get = [&](const char *name) {
    auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  };
  return tcp::readEnvironment(get, environment);
}

TEST(Environment, OfTorch) {
  std::optional<tcp::Environment> environment;
  Variables variables = {{"RANK", "5"},
                         {"WORLD_SIZE", "8"},
                         {"LOCAL_RANK", "1"},
                         {"LOCAL_WORLD_SIZE", "4"},
                         {"MASTER_ADDR", "first"},
                         {"MASTER_PORT", "29500"},
                         {"SLURM_PROCID", "0"},
                         {"SLURM_NTASKS", "2"}};
  EXPECT_EQ(read(variables, environment), "");
  ASSERT_TRUE(environment);
  EXPECT_EQ(environment->rank, 5);
  EXPECT_EQ(environment->size, 8);
  EXPECT_EQ(environment->localRank, 1);
  EXPECT_EQ(environment->localSize, 4);
  EXPECT_EQ(environment->host, "first");
  EXPECT_EQ(environment->port, 29500);
  // The agent of torchrun has the port.
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  EXPECT_EQ(read(variables, environment), "");
  EXPECT_EQ(environment->port, 29500);
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ(read(variables, environment), "");
  EXPECT_EQ(environment->port, 29501);
  variables["MASTER_PORT"] = "65535";
  EXPECT_EQ(read(variables, environment), "");
  EXPECT_EQ(environment->port, 65534);
}

TEST(Environment, OfSlurm) {
  std::optional<tcp::Environment> environment;
  Variables variables = {
      {"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "1"}};
  EXPECT_EQ(read(variables, environment), "");
  EXPECT_FALSE(environment);
  variables["MASTER_PORT"] = "7000";
  variables["MASTER_ADDR"] = "::1";
  EXPECT_EQ(read(variables, environment), "");
  ASSERT_TRUE(environment);
  EXPECT_EQ(environment->rank, 3);
  EXPECT_EQ(environment->size, 4);
  EXPECT_EQ(environment->localRank, 1);
  EXPECT_EQ(environment->localSize, std::nullopt);
  EXPECT_EQ(environment->host, "::1");
  EXPECT_EQ(environment->port, 7000);
}

TEST(Environment, OfNoJob) {
  std::optional<tcp::Environment> environment;
  EXPECT_EQ(read({}, environment), "");
  EXPECT_FALSE(environment);
  EXPECT_EQ(read({{"RANK", "1"}}, environment), "");
  EXPECT_FALSE(environment);
  EXPECT_EQ(read({{"RANK", "0"}, {"WORLD_SIZE", "1"}}, environment), "");
  EXPECT_FALSE(environment);
}

TEST(Environment, Wrong) {
  std::optional<tcp::Environment> environment;
  std::string start = "the environment of this process isn't that of a job: ";
  Variables variables = {{"RANK", "1"}, {"WORLD_SIZE", "2"}};
  EXPECT_EQ(read(variables, environment), start + "MASTER_PORT is not set");
  variables["MASTER_PORT"] = "70000";
  EXPECT_EQ(read(variables, environment),
            start + "MASTER_PORT=70000 is not a number from 1 to 65535");
  variables["MASTER_PORT"] = "7000";
  EXPECT_EQ(read(variables, environment), start + "MASTER_ADDR is not set");
  // Of rank 0 it isn't asked.
  variables["RANK"] = "0";
  EXPECT_EQ(read(variables, environment), "");
  EXPECT_TRUE(environment);
  variables["RANK"] = "2";
  EXPECT_EQ(read(variables, environment),
            start + "RANK=2 is not a number from 0 to 1");
  EXPECT_FALSE(environment);
  variables["WORLD_SIZE"] = "two";
  EXPECT_TRUE(contains(read(variables, environment), "WORLD_SIZE=two is not"));
}

//===----------------------------------------------------------------------===//
// Meeting
//===----------------------------------------------------------------------===//

TEST(Meeting, LocalRanks) {
  for (int size : {2, 3, 5})
    runJob(size, [&](Processes &processes) {
      EXPECT_EQ(processes.localRank(), processes.rank());
      EXPECT_EQ(processes.numLocal(), size);
      EXPECT_EQ(processes.isSilent(), processes.rank() != 0);
    });
  // As launchers say it.
  int port = findFreePort();
  runThreads(0, 2, [&](int rank) {
    tcp::Environment environment = makeEnvironment(rank, 2, port);
    environment.localRank = 1 - rank;
    environment.localSize = 7;
    Shared processes;
    ASSERT_EQ(tcp::join(environment, kSeconds, processes), "");
    EXPECT_EQ(processes->localRank(), 1 - rank);
    EXPECT_EQ(processes->numLocal(), 7);
    processes->findFirst("");
  });
}

/// By name, and with the first one on all addresses.
TEST(Meeting, Hosts) {
  for (const char *host : {"localhost", ""}) {
    int port = findFreePort();
    runThreads(0, 3, [&](int rank) {
      tcp::Environment environment = makeEnvironment(rank, 3, port);
      environment.host = rank == 0 ? host : "localhost";
      Shared processes;
      ASSERT_EQ(tcp::join(environment, kSeconds, processes), "");
      EXPECT_EQ(processes->findFirst("of " + std::to_string(rank)), "of 0");
    });
  }
  tcp::Environment environment = makeEnvironment(0, 2, findFreePort());
  // An address for documentation, which no machine has.
  environment.host = "192.0.2.1";
  EXPECT_TRUE(contains(getReasons({environment})[0],
                       "process 0 can't listen at 192.0.2.1:"));
}

/// One job after the other, on the same port.
TEST(Meeting, Again) {
  int port = findFreePort();
  runThreads(0, 3, [&](int rank) {
    for (int job = 0; job < 5; ++job) {
      Shared processes;
      ASSERT_EQ(tcp::join(makeEnvironment(rank, 3, port), kSeconds, processes),
                "");
      std::string mine = rank == job % 3 ? std::to_string(job) : "";
      EXPECT_EQ(processes->findFirst(mine), std::to_string(job));
    }
  });
}

TEST(Meeting, OneDoesNotCome) {
  int port = findFreePort();
  auto reasons =
      getReasons({makeEnvironment(0, 4, port), makeEnvironment(2, 4, port)}, 1);
  std::string want = "timed out after 1 s waiting for processes 1, 3 to come "
                     "to 127.0.0.1:" +
                     std::to_string(port);
  EXPECT_EQ(reasons, std::vector<std::string>({want, want}));
  EXPECT_TRUE(contains(getReasons({makeEnvironment(1, 2, port)}, 0.2)[0],
                       "timed out after 0.2 s trying to connect to process 0"));
}

TEST(Meeting, SizesDiffer) {
  int port = findFreePort();
  auto reasons =
      getReasons({makeEnvironment(0, 2, port), makeEnvironment(1, 3, port),
                  makeEnvironment(2, 3, port)});
  EXPECT_TRUE(contains(reasons[0], "is one of 3, and process 0 one of 2: start "
                                   "all with the same number of processes"));
  EXPECT_EQ(reasons[1], reasons[0]);
  EXPECT_EQ(reasons[2], reasons[0]);
}

TEST(Meeting, SameNumberTwice) {
  int port = findFreePort();
  auto reasons =
      getReasons({makeEnvironment(0, 3, port), makeEnvironment(1, 3, port),
                  makeEnvironment(1, 3, port)});
  for (const std::string &reason : reasons)
    EXPECT_EQ(reason, "there are two processes with the number 1");
}

std::string makeOpening(int version, int size) {
  tcp::Opening opening = {};
  std::memcpy(opening.magic, tcp::kMagic, sizeof(opening.magic));
  opening.version = version;
  opening.size = size;
  return std::string(reinterpret_cast<char *>(&opening), sizeof(opening));
}

TEST(Meeting, VersionsDiffer) {
  int port = findFreePort();
  Socket other;
  std::thread thread([&] {
    other.connect(port);
    other.send(makeOpening(TOFU_BACKEND_VERSION + 1, 2));
  });
  std::string reason = getReasons({makeEnvironment(0, 2, port)})[0];
  thread.join();
  std::string versions =
      " is of another version of Tofu: its backend has version " +
      std::to_string(TOFU_BACKEND_VERSION + 1) + ", this one's " +
      std::to_string(TOFU_BACKEND_VERSION);
  EXPECT_EQ(reason, "a process that has come to process 0" + versions);
  // The other way round.
  Socket listener;
  port = listener.listen();
  thread = std::thread([&] {
    int accepted = listener.accept();
    std::string opening = makeOpening(TOFU_BACKEND_VERSION + 1, 2);
    ::send(accepted, opening.data(), opening.size(), MSG_NOSIGNAL);
    char byte;
    while (::read(accepted, &byte, 1) > 0)
      ;
    ::close(accepted);
  });
  EXPECT_EQ(getReasons({makeEnvironment(1, 2, port)})[0],
            "process 0" + versions);
  thread.join();
}

/// Others that connect, talk or stay silent don't disturb.
TEST(Meeting, GarbageComes) {
  int port = findFreePort();
  Socket talks, silent, partly;
  std::thread zero([&] {
    Shared processes;
    ASSERT_EQ(tcp::join(makeEnvironment(0, 2, port), kSeconds, processes), "");
    EXPECT_EQ(processes->findFirst(""), "last");
  });
  silent.connect(port);
  talks.connect(port);
  talks.send("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
  partly.connect(port);
  partly.send(makeOpening(TOFU_BACKEND_VERSION, 2));
  {
    Socket gone;
    gone.connect(port);
  }
  Shared processes;
  ASSERT_EQ(tcp::join(makeEnvironment(1, 2, port), kSeconds, processes), "");
  EXPECT_EQ(processes->findFirst("last"), "last");
  zero.join();
}

TEST(Meeting, GarbageOnly) {
  int port = findFreePort();
  Socket talks;
  std::thread thread([&] {
    talks.connect(port);
    talks.send("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
  });
  std::string reason = getReasons({makeEnvironment(0, 2, port)}, 1)[0];
  thread.join();
  EXPECT_EQ(reason, "timed out after 1 s waiting for processes 1 to come to "
                    "127.0.0.1:" +
                        std::to_string(port) +
                        ", where something has connected that is no process "
                        "of Tofu");
}

/// Another program has the port.
TEST(Meeting, GarbageListens) {
  Socket listener;
  int port = listener.listen();
  EXPECT_TRUE(contains(getReasons({makeEnvironment(0, 2, port)})[0],
                       "process 0 can't listen at 127.0.0.1:"));
  std::string answer = "220 mail.example ESMTP at your service\r\n";
  std::thread thread([&] {
    int accepted = listener.accept();
    ::send(accepted, answer.data(), answer.size(), MSG_NOSIGNAL);
    char byte;
    while (::read(accepted, &byte, 1) > 0)
      ;
    ::close(accepted);
    ::close(listener.accept());
  });
  EXPECT_TRUE(contains(getReasons({makeEnvironment(1, 2, port)})[0],
                       "is no process of Tofu: set MASTER_PORT to a free"));
  EXPECT_TRUE(contains(getReasons({makeEnvironment(1, 2, port)})[0],
                       "has closed the connection"));
  thread.join();
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

TEST(Job, Messages) {
  runJob(4, [](Processes &processes) {
    int rank = processes.rank();
    EXPECT_EQ(processes.findFirst(""), "");
    EXPECT_EQ(processes.findFirst("of " + std::to_string(rank)), "of 0");
    EXPECT_EQ(processes.findFirst(rank > 1 ? std::to_string(rank) : ""), "2");
    int64_t words[2] = {rank, rank + 1};
    processes.broadcast(words, sizeof(words));
    EXPECT_EQ(words[0], 0);
    EXPECT_EQ(words[1], 1);
    // More than a piece, of each device, one after the other.
    for (int device = 0; device < 4; ++device) {
      std::vector<char> data((3 << 20) + device, char('a' + rank));
      EXPECT_EQ(processes.bring(device, data.data(), data.size(), kSeconds),
                "");
      if (rank == 0)
        EXPECT_EQ(data,
                  std::vector<char>((3 << 20) + device, char('a' + device)));
    }
  });
}

TEST(Job, BroughtSizesDiffer) {
  runJob(2, [](Processes &processes) {
    char data[4];
    std::string reason =
        processes.bring(1, data, processes.rank() ? 3 : 4, kSeconds);
    if (processes.rank() == 0)
      EXPECT_EQ(reason, "device 1 has sent 3 bytes in the place of 4");
    processes.findFirst("");
  });
}

/// Each fails in turn: rank 0 has its error, and the job goes on.
TEST(Job, OneFails) {
  runJob(3, [](Processes &processes) {
    int rank = processes.rank();
    for (int run = 0; run < 30; ++run) {
      std::string error, first = "run " + std::to_string(run);
      TofuStatus status = TOFU_OK;
      if (rank == run % 3) {
        error = first;
        status = TOFU_FAILED;
      } else {
        while (!processes.isNotified())
          std::this_thread::yield();
        status = TOFU_FAILED;
      }
      EXPECT_EQ(processes.agree(error, status), TOFU_FAILED);
      EXPECT_EQ(error, rank == 0 ? first : "");
      error.clear();
      EXPECT_EQ(processes.agree(error, TOFU_OK), TOFU_OK);
      EXPECT_FALSE(processes.isNotified());
      // None fails again before all have seen that.
      EXPECT_EQ(processes.findFirst(""), "");
    }
  });
}

/// A device that never comes back ends all processes.
TEST(Job, OneIsStuck) {
  runJob(3, [](Processes &processes) {
    std::string error;
    TofuStatus status = TOFU_FAILED;
    if (processes.rank() == 1)
      error = "device 1: no more";
    if (processes.rank() == 2)
      status = TOFU_STUCK;
    EXPECT_EQ(processes.agree(error, status), TOFU_STUCK);
    EXPECT_EQ(error, processes.rank() == 0 ? "device 1: no more" : "");
  });
}

/// Neither do those end that others wait for; all have the same time.
TEST(Job, OneDoesNotEnd) {
  std::atomic<bool> isOver{false};
  runJob(3, [&](Processes &processes) {
    std::string error;
    if (processes.rank() == 0) {
      error = "device 0: no more";
      EXPECT_EQ(processes.agree(error, TOFU_FAILED), TOFU_STUCK);
      EXPECT_EQ(error, "device 0: no more");
      isOver = true;
      return;
    }
    // As if computing, until the first one has given up.
    while (!isOver)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(processes.isNotified());
    EXPECT_EQ(processes.findFirst(""), "device 0: no more");
  });
}

/// A process that is killed while others wait for it; those end, and who is
/// left says so.
void killOne(int killed) {
  int port = findFreePort();
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  pid_t child = ::fork();
  if (child == 0) {
    Shared processes;
    std::string reason =
        tcp::join(makeEnvironment(killed, 3, port), kSeconds, processes);
    ::write(ready[1], reason.empty() ? "+" : "-", 1);
    for (;;)
      ::pause();
  }
  std::thread killer([&] {
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_EQ(byte, '+');
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  });
  std::string want = "device " + std::to_string(killed) +
                     ": its process has ended, or can't be reached any more";
  runThreads(0, 3, [&](int rank) {
    if (rank == killed)
      return;
    Shared processes;
    ASSERT_EQ(tcp::join(makeEnvironment(rank, 3, port), kSeconds, processes),
              "");
    while (!processes->isNotified())
      std::this_thread::yield();
    std::string error;
    EXPECT_EQ(processes->agree(error, TOFU_FAILED), TOFU_STUCK);
    EXPECT_EQ(error, rank == 0 || killed == 0 ? want : "");
    EXPECT_EQ(processes->isSilent(), rank != 0 && killed != 0);
    // It stays so.
    EXPECT_TRUE(processes->isNotified());
    EXPECT_EQ(processes->findFirst(""), want);
    char data[4];
    processes->broadcast(data, sizeof(data));
  });
  killer.join();
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(Job, OneIsKilled) { killOne(2); }
TEST(Job, FirstIsKilled) { killOne(0); }

/// Who has said what it had to may go.
TEST(Job, OneLeaves) {
  int port = findFreePort();
  runThreads(0, 3, [&](int rank) {
    Shared processes;
    ASSERT_EQ(tcp::join(makeEnvironment(rank, 3, port), kSeconds, processes),
              "");
    char data = static_cast<char>(rank);
    EXPECT_EQ(processes->bring(1, &data, 1, kSeconds), "");
    if (rank == 1)
      return;
    data = static_cast<char>(rank);
    EXPECT_EQ(processes->bring(2, &data, 1, kSeconds), "");
    EXPECT_EQ(data, 2);
    EXPECT_FALSE(processes->isNotified());
  });
}

TEST(Job, OneDoesNotSend) {
  int port = findFreePort();
  Shared silent;
  std::thread one([&] {
    ASSERT_EQ(tcp::join(makeEnvironment(1, 2, port), kSeconds, silent), "");
  });
  Shared processes;
  ASSERT_EQ(tcp::join(makeEnvironment(0, 2, port), 0.5, processes), "");
  one.join();
  EXPECT_EQ(processes->findFirst(""),
            "timed out after 0.5 s waiting for device 1");
  EXPECT_TRUE(processes->isNotified());
}

} // namespace
