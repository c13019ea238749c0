//===- Table.h - Collectives as the program describes them ------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A collective's table (Runtime.h), read and checked, and the route that its
// data take: what each device combines, what it gets from whom, and how many
// elements that is by the cost model's count.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_HOST_TABLE_H
#define TOFU_LIB_RUNTIME_HOST_TABLE_H

#include "Tofu/Runtime/Boxes.h"

#include <optional>
#include <string>

namespace mlir::tofu::host {

/// "all_reduce", ...
const char *kindName(int64_t kind);

/// A collective of k devices.
struct Table {
  int64_t kind = 0, combiner = 0, type = 0, rank = 0, devices = 0,
          numAddends = 1, numSlots = 1;
  std::vector<int64_t> families, addends, slots;
  std::vector<Box> from, to;

  bool combines() const { return numAddends > 1; }
  bool hasPartials() const { return numAddends > 1 || numSlots > 1; }

  /// Reads the fixed part of a table, then the rest. False with the reason in
  /// `error` if it makes no sense, or doesn't fit a world of `numDevices`.
  bool readHeader(const int64_t *words, int64_t numDevices, std::string &error);
  bool readDevices(const int64_t *words, std::string &error);

  /// The number of words of a table whose fixed part is sound.
  static int64_t numWords(const int64_t *words);
};

/// A box that comes from a device.
struct Transfer {
  int64_t device;
  Box box;
};

/// A box that a device combines.
struct Share {
  Box box;
  std::vector<int64_t> sources;   ///< one per addend, in that order
  std::vector<int64_t> receivers; ///< who gets the combined elements
};

/// What one device does in a collective.
struct Route {
  /// Where values are combined: the device's shares. Otherwise: what it gets.
  std::vector<Share> shares;
  std::vector<Transfer> transfers;
  /// What the device holds the neutral element of.
  std::vector<Box> neutral;
  /// Elements that this device receives.
  int64_t received = 0;
  /// True if any device of the world receives anything.
  bool exchanges = false;
};

/// The route of device `self`. All devices derive theirs from the same table,
/// so they agree. False with the reason in `error` if a device needs elements
/// that no device holds all addends of.
bool findRoute(const Table &table, int64_t self, Route &route,
               std::string &error);

} // namespace mlir::tofu::host

#endif // TOFU_LIB_RUNTIME_HOST_TABLE_H
