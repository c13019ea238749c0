//===- Geometry.h - Boxes of values of any size -----------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The words of a geometry (Runtime.h), read with the sizes that come. The cuts
// are those of the compiler's Tofu/Search/Geometry.h.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUNTIME_GEOMETRY_H
#define TOFU_RUNTIME_GEOMETRY_H

#include "Tofu/Runtime/Boxes.h"

namespace mlir::tofu::host {

/// A value's sizes and mesh, and one placement of it after the other.
class Geometry {
public:
  /// Reads the value's sizes; those that the words leave open are `sizes`.
  Geometry(const int64_t *words, const int64_t *sizes);

  int64_t numDevices() const;
  const std::vector<int64_t> &getShape() const { return shape; }

  /// Moves on to the next placement: the first, to begin with.
  void readPlacement();

  /// The box that a device has by the placement read last.
  Box getBox(int64_t device) const;

  /// How large dim `dim` of the value is, if that placement cuts the value and
  /// the devices have parts of these shapes.
  int64_t addParts(std::size_t dim,
                   const std::vector<std::vector<int64_t>> &parts) const;

  /// Whether the words are a geometry of a value of `shape`, where negative
  /// sizes are unknown, on so many devices, with one placement.
  static bool isValid(const std::vector<int64_t> &words,
                      const std::vector<int64_t> &shape, int64_t numDevices);

private:
  struct Term {
    int64_t dim, coefficient;
  };
  struct Index {
    bool isWhole;
    int64_t constant;
    std::vector<Term> terms;
  };
  struct Dim {
    int64_t size;
    std::vector<int64_t> axes;
  };

  std::vector<int64_t> getCoordinates(int64_t device) const;
  int64_t fill(std::size_t dim) const;
  Interval cut(const Dim &dim, int64_t device) const;
  Interval image(const Index &index, const std::vector<Interval> &parts,
                 int64_t size) const;

  std::vector<int64_t> axisSizes, shape;
  const int64_t *next;
  std::vector<Dim> dims;
  std::vector<Index> indices;
};

} // namespace mlir::tofu::host

#endif // TOFU_RUNTIME_GEOMETRY_H
