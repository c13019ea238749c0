//===- Machine.h - What devices and links can do ----------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The facts that times are made of: how fast a device computes and reads its
// memory, and how fast the links of each level of a machine are.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_MACHINE_H
#define TOFU_SEARCH_MACHINE_H

#include "Tofu/Search/Geometry.h"

#include "llvm/ADT/StringRef.h"

#include <array>
#include <vector>

namespace mlir::tofu::search {

/// By which element types devices differ in speed. All that is not f64, f16 or
/// bf16 is taken to be as fast as f32.
enum class Precision { Double, Single, Half };

/// What it takes to send something to another device.
struct Link {
  double latency = 0;   ///< seconds before the first byte is there (alpha)
  double bandwidth = 1; ///< bytes per second, device and direction (beta)
};

/// A level of a machine: groups of devices of the level within, and the links
/// between devices of different groups.
struct MachineLevel {
  int64_t devices = 1; ///< groups of the next level; devices, of the innermost
  Link link;
};

/// A machine of equal devices.
struct Machine {
  std::string name;
  std::array<double, 3> flops{1, 1, 1}; ///< per second, by Precision
  double memoryBandwidth = 1;           ///< bytes per second
  int64_t memoryBytes = 0;              ///< of a device; 0: not known
  std::vector<MachineLevel> levels;     ///< outermost first

  int64_t numDevices() const;

  /// The machine of that name; nothing if there is none.
  static std::optional<Machine> named(llvm::StringRef name);
  /// All names.
  static llvm::ArrayRef<llvm::StringRef> getNames();
};

/// What the devices of a mesh, and the links along its axes, can do.
struct Rates {
  std::array<double, 3> flops{1, 1, 1};
  double memoryBandwidth = 1;
  llvm::SmallVector<Link, 4> axes; ///< per axis of the mesh
  int64_t numDevices = 1;

  /// The link that a byte, and the one that a message, crosses in the least
  /// time.
  double bestBandwidth() const;
  double leastLatency() const;
};

/// Lays `mesh` out on `machine`: device numbers are those of its devices, so
/// the last axis of the mesh lies innermost. Each axis must lie within a level,
/// with no part of a group left over, or be made of whole groups; it has the
/// slowest link of the levels that it spans. A mesh may be smaller than the
/// machine. If it doesn't fit: nothing, and `why` says so.
std::optional<Rates> layOut(const Machine &machine, const Mesh &mesh,
                            std::string &why);

/// The orders of the prime factors of `devices`, at most `limit`, as meshes:
/// the largest factor first, then those that differ the least from that.
std::vector<Mesh> orderFactors(int64_t devices, unsigned limit);

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_MACHINE_H
