//===- Combine.h - Combining partial results --------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_HOST_COMBINE_H
#define TOFU_LIB_RUNTIME_HOST_COMBINE_H

#include <cstdint>

namespace mlir::tofu::host {

/// How partial results combine.
struct Combiner {
  /// into[i] = into[i] combined with from[i], for `size` elements.
  void (*combine)(void *into, const void *from, int64_t size);
  /// Writes the element that changes nothing.
  void (*writeNeutral)(void *into);
};

/// That of a TofuCombiner on a TofuElementType, both in range; nulls if the
/// type has no such combiner.
Combiner getCombiner(int64_t combiner, int64_t type);

/// "sum", "maxnum", ...
const char *combinerName(int64_t combiner);

} // namespace mlir::tofu::host

#endif // TOFU_LIB_RUNTIME_HOST_COMBINE_H
