//===- Views.h - Strided memory in the host backend -------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_HOST_VIEWS_H
#define TOFU_LIB_RUNTIME_HOST_VIEWS_H

#include "Tofu/Runtime/Boxes.h"
#include "Tofu/Runtime/Runtime.h"

namespace mlir::tofu::host {

/// Largest rank of a tensor; keeps the loops' state on the stack.
constexpr int64_t kMaxRank = 32;

/// Bytes of an element of a type that is in range.
int64_t elementBytes(int64_t type);

/// "f32", "bf16", ...
const char *elementTypeName(int64_t type);

/// Elements in memory; strides in elements.
struct View {
  char *data = nullptr;
  int64_t rank = 0;
  int64_t sizes[kMaxRank];
  int64_t strides[kMaxRank];

  /// The view that a memref descriptor of the program describes.
  static View ofMemref(int64_t rank, const void *descriptor,
                       int64_t elementBytes);

  /// A tensor of up to kMaxRank dims; strides in elements.
  static View strided(const void *data, int64_t rank, const int64_t *sizes,
                      const int64_t *strides);
  /// The same in memory without gaps, the last dim innermost.
  static View packed(void *data, int64_t rank, const int64_t *sizes);

  /// Row-major memory that holds `box`.
  static View ofBox(char *data, const Box &box);

  /// The part `box` of this view, which holds `whole`.
  View part(const Box &whole, const Box &box, int64_t elementBytes) const;

  int64_t volume() const;

  /// True if the elements are in order without gaps.
  bool isContiguous() const;
};

/// Copies elements between views of the same sizes that don't overlap.
void copy(const View &to, const View &from, int64_t elementBytes);

} // namespace mlir::tofu::host

#endif // TOFU_LIB_RUNTIME_HOST_VIEWS_H
