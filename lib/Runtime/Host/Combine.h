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

/// into[i] = into[i] combined with from[i], for `size` elements.
using CombineFunction = void (*)(void *into, const void *from, int64_t size);

/// The function for a TofuCombiner on a TofuElementType, both in range; null if
/// the type has no such combiner.
CombineFunction getCombineFunction(int64_t combiner, int64_t type);

/// "sum", "maxnum", ...
const char *combinerName(int64_t combiner);

} // namespace mlir::tofu::host

#endif // TOFU_LIB_RUNTIME_HOST_COMBINE_H
