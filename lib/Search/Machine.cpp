//===- Machine.cpp - What devices and links can do ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Threading.h"

#include <algorithm>

using namespace mlir::tofu::search;

static constexpr double kMicro = 1e-6, kGiga = 1e9, kTera = 1e12;
static constexpr int64_t kGigaByte = 1000000000;

//===----------------------------------------------------------------------===//
// Known machines
//===----------------------------------------------------------------------===//

/// Amazon EC2 p2.8xlarge, on which the Tofu paper was evaluated: 8 GPUs with
/// 12 GB each, 21 GB/s from peer to peer over PCIe (section 7).
static Machine getP2() {
  Machine machine;
  machine.name = "p2.8xlarge";
  // NVIDIA Tesla K80 board specification, per GPU, of which a board has two:
  // 2.91 and 8.74 TFLOP/s with both at boost, 480 GB/s. It has no f16 units.
  machine.flops = {1.45 * kTera, 4.37 * kTera, 4.37 * kTera};
  machine.memoryBandwidth = 240 * kGiga;
  machine.memoryBytes = 12 * kGigaByte;
  // The latency is no data sheet's: what a small copy between two GPUs takes
  // over PCIe switches, about 10 us.
  machine.levels = {{8, {10 * kMicro, 21 * kGiga}}};
  return machine;
}

/// NVIDIA H100 SXM5 80 GB data sheet: 34 TFLOP/s f64, 67 TFLOP/s f32, 989
/// TFLOP/s f16 and bf16 (dense), 3.35 TB/s.
static Machine getH100() {
  Machine machine;
  machine.flops = {34 * kTera, 67 * kTera, 989 * kTera};
  machine.memoryBandwidth = 3.35 * kTera;
  machine.memoryBytes = 80 * kGigaByte;
  return machine;
}

/// NVLink 4 (H100 data sheet): 900 GB/s in both directions together. The
/// latency is that of a small NCCL collective within a node, about 3 us.
static MachineLevel getNVLink() { return {8, {3 * kMicro, 450 * kGiga}}; }

/// DGX H100: 8 GPUs, all connected through NVSwitch.
static Machine getDgx() {
  Machine machine = getH100();
  machine.name = "dgx-h100";
  machine.levels = {getNVLink()};
  return machine;
}

/// 16 DGX H100 on a network of 8 x 400 Gb/s per node (DGX H100 data sheet: 8
/// ConnectX-7), which is 50 GB/s per GPU. The latency is that of a small
/// message over InfiniBand through GPUDirect, about 5 us.
static Machine getCluster() {
  Machine machine = getH100();
  machine.name = "h100x8x16";
  machine.levels = {{16, {5 * kMicro, 50 * kGiga}}, getNVLink()};
  return machine;
}

/// The cores of this machine, as the host runtime uses them. Round numbers for
/// a server's core, none of them measured: 50 GFLOP/s f32 (3 GHz, 8 lanes, one
/// multiply-add per cycle), half of it for f64; f16 is computed in f32. 10 GB/s
/// of memory per core, which is also what a copy to another core takes; 2 us
/// for threads to meet. The cores share the memory, so how much each has is not
/// known.
static Machine getHost() {
  Machine machine;
  machine.name = "host";
  machine.flops = {25 * kGiga, 50 * kGiga, 50 * kGiga};
  machine.memoryBandwidth = 10 * kGiga;
  int64_t cores = llvm::hardware_concurrency().compute_thread_count();
  machine.levels = {{std::max<int64_t>(cores, 1), {2 * kMicro, 10 * kGiga}}};
  return machine;
}

static constexpr llvm::StringRef kNames[] = {"p2.8xlarge", "dgx-h100",
                                             "h100x8x16", "host"};

llvm::ArrayRef<llvm::StringRef> Machine::getNames() { return kNames; }

std::optional<Machine> Machine::named(llvm::StringRef name) {
  for (Machine (*get)() : {getP2, getDgx, getCluster, getHost})
    if (Machine machine = get(); machine.name == name)
      return machine;
  return std::nullopt;
}

int64_t Machine::numDevices() const {
  int64_t product = 1;
  for (const MachineLevel &level : levels)
    product *= level.devices;
  return product;
}

//===----------------------------------------------------------------------===//
// Meshes on machines
//===----------------------------------------------------------------------===//

double Rates::bestBandwidth() const {
  double best = 0;
  for (const Link &link : axes)
    best = std::max(best, link.bandwidth);
  return best;
}

double Rates::leastLatency() const {
  double least = axes.empty() ? 0 : axes.front().latency;
  for (const Link &link : axes)
    least = std::min(least, link.latency);
  return least;
}

/// The link along an axis whose devices are `inner` apart and span `outer`
/// devices, in a mesh of `total`; nothing if it leaves parts of groups over.
static std::optional<Link> linkOf(const Machine &machine, int64_t inner,
                                  int64_t outer, int64_t total) {
  std::optional<Link> slowest;
  int64_t group = 1; // devices within a group of the level
  for (const MachineLevel &level : llvm::reverse(machine.levels)) {
    int64_t all = group * level.devices;
    // Whether the axis crosses from group to group of this level, in one.
    bool crosses = outer > group && inner < all;
    if (crosses) {
      if (inner < group && (group % inner || outer % group))
        return std::nullopt;
      // Who stays within one group of the next level straddles none.
      if (outer < all && all < total && all % outer)
        return std::nullopt;
      if (!slowest)
        slowest = level.link;
      slowest->latency = std::max(slowest->latency, level.link.latency);
      slowest->bandwidth = std::min(slowest->bandwidth, level.link.bandwidth);
    }
    group = all;
  }
  return slowest;
}

std::optional<Rates> mlir::tofu::search::layOut(const Machine &machine,
                                                const Mesh &mesh,
                                                std::string &why) {
  int64_t total = mesh.numDevices();
  if (total > machine.numDevices()) {
    why = llvm::formatv("the mesh has {0} devices, the machine {1}", total,
                        machine.numDevices());
    return std::nullopt;
  }
  Rates rates;
  rates.flops = machine.flops;
  rates.memoryBandwidth = machine.memoryBandwidth;
  rates.numDevices = total;
  rates.axes.resize(mesh.numAxes());
  int64_t inner = 1;
  for (unsigned axis = mesh.numAxes(); axis-- > 0;) {
    int64_t outer = inner * mesh.sizes[axis];
    // Nothing moves along an axis of one device; it has a link like any other,
    // so that the best ones are those of axes that there are.
    std::optional<Link> link = outer == inner
                                   ? machine.levels.front().link
                                   : linkOf(machine, inner, outer, total);
    if (!link) {
      why = llvm::formatv(
          "axis {0} of the mesh doesn't divide the levels of the machine "
          "evenly: its devices are {1} apart, and span {2}",
          mesh.names[axis], inner, outer);
      return std::nullopt;
    }
    rates.axes[axis] = *link;
    inner = outer;
  }
  return rates;
}

std::vector<Mesh> mlir::tofu::search::orderFactors(int64_t devices,
                                                   unsigned limit) {
  std::vector<Mesh> meshes{Mesh::factored(devices)};
  Mesh next = meshes.front();
  while (meshes.size() < limit &&
         std::prev_permutation(next.sizes.begin(), next.sizes.end()))
    meshes.push_back(next);
  return meshes;
}
