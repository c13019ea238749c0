//===- OperandSet.h - Sets of operands as bits ------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_OPERANDSET_H
#define TOFU_LIB_SEARCH_OPERANDSET_H

#include <cstdint>

namespace mlir::tofu::search {

/// Whether operand `i` is in `set`; those that have no bit are in no set.
inline bool hasOperand(uint64_t set, uint64_t i) {
  return i < 64 && (set >> i & 1);
}

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_OPERANDSET_H
