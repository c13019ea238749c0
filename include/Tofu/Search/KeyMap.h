//===- KeyMap.h - Maps by sequences of numbers ------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The search knows many things by keys, sequences of numbers that say all that
// they depend on.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_KEYMAP_H
#define TOFU_SEARCH_KEYMAP_H

#include "llvm/ADT/Hashing.h"

#include <unordered_map>

namespace mlir::tofu::search {

struct KeyHash {
  template <typename Sequence>
  size_t operator()(const Sequence &key) const {
    return llvm::hash_combine_range(key.begin(), key.end());
  }
  size_t operator()(unsigned key) const { return llvm::hash_value(key); }
};

/// By keys, in no order. References to entries stay valid.
template <typename Key, typename T>
using KeyMap = std::unordered_map<Key, T, KeyHash>;

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_KEYMAP_H
