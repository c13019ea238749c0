//===- Environment.cpp - What launchers say of a job ----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Environment.h"

#include <charconv>
#include <cstring>

using namespace mlir::tofu;
using namespace mlir::tofu::tcp;

/// Reads numbers, and keeps the reason of the first that isn't one.
namespace {

class Reader {
public:
  explicit Reader(const GetVariable &get) : get(get) {}

  int read(const char *name, int least, int most) {
    const char *text = get(name);
    if (!text) {
      complain(std::string(name) + " is not set");
      return least;
    }
    int value = 0;
    const char *end = text + std::strlen(text);
    auto [stop, code] = std::from_chars(text, end, value);
    if (code == std::errc() && stop == end && value >= least && value <= most)
      return value;
    complain(std::string(name) + "=" + text + " is not a number from " +
             std::to_string(least) + " to " + std::to_string(most));
    return least;
  }

  std::optional<int> readOptional(const char *name, int least, int most) {
    if (!get(name))
      return std::nullopt;
    return read(name, least, most);
  }

  void complain(const std::string &text) {
    if (reason.empty())
      reason = "the environment of this process isn't that of a job: " + text;
  }

  std::string reason;

private:
  const GetVariable &get;
};

/// How a launcher calls what it says.
struct Names {
  const char *rank, *size, *localRank, *localSize;
};

} // namespace

static constexpr int kMostProcesses = 1 << 20;
static constexpr int kMostPorts = 65535;

static constexpr Names kTorch = {"RANK", "WORLD_SIZE", "LOCAL_RANK",
                                 "LOCAL_WORLD_SIZE"};
static constexpr Names kSlurm = {"SLURM_PROCID", "SLURM_NTASKS",
                                 "SLURM_LOCALID", nullptr};

/// Whose variables are there. Slurm's are in every step, so it is the port that
/// says that the processes are to find each other by it.
static const Names *findLauncher(const GetVariable &get) {
  if (get(kTorch.rank) && get(kTorch.size))
    return &kTorch;
  if (get(kSlurm.rank) && get(kSlurm.size) && get("MASTER_PORT"))
    return &kSlurm;
  return nullptr;
}

/// Under torchrun its agent already listens on the port, for a store of its
/// own; then it is the next one.
static int readPort(Reader &reader, const GetVariable &get) {
  int port = reader.read("MASTER_PORT", 1, kMostPorts);
  const char *agent = get("TORCHELASTIC_USE_AGENT_STORE");
  if (!agent || std::strcmp(agent, "True"))
    return port;
  return port < kMostPorts ? port + 1 : port - 1;
}

std::string tcp::readEnvironment(const GetVariable &get,
                                 std::optional<Environment> &environment) {
  environment.reset();
  const Names *names = findLauncher(get);
  if (!names)
    return {};
  Reader reader(get);
  Environment found;
  found.size = reader.read(names->size, 1, kMostProcesses);
  if (found.size == 1)
    return reader.reason;
  found.rank = reader.read(names->rank, 0, found.size - 1);
  found.port = readPort(reader, get);
  if (const char *host = get("MASTER_ADDR"))
    found.host = host;
  else if (found.rank != 0)
    reader.complain("MASTER_ADDR is not set");
  found.localRank = reader.readOptional(names->localRank, 0, found.size - 1);
  if (names->localSize)
    found.localSize = reader.readOptional(names->localSize, 1, found.size);
  if (reader.reason.empty())
    environment = found;
  return reader.reason;
}
