//===- Indices.h - Indices of a tensor --------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_UNIT_RUNTIME_INDICES_H
#define TOFU_TEST_UNIT_RUNTIME_INDICES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mlir::tofu::test {

/// Calls `visit` with each index of a tensor of those sizes, row-major.
template <typename Visit>
void forEachIndex(const std::vector<int64_t> &sizes, Visit visit) {
  std::vector<int64_t> index(sizes.size());
  for (int64_t size : sizes)
    if (size == 0)
      return;
  for (;;) {
    visit(index);
    size_t dim = sizes.size();
    while (dim > 0 && ++index[dim - 1] == sizes[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}

} // namespace mlir::tofu::test

#endif // TOFU_TEST_UNIT_RUNTIME_INDICES_H
