//===- IndexKey.h - Index expressions in keys -------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_INDEXKEY_H
#define TOFU_LIB_SEARCH_INDEXKEY_H

#include "Tofu/Search/Geometry.h"

namespace mlir::tofu::search {

/// Appends what an index says about costs.
inline void appendIndex(llvm::SmallVectorImpl<int64_t> &key,
                        llvm::ArrayRef<LinearExpr> index) {
  key.push_back(index.size());
  for (const LinearExpr &expr : index) {
    key.append({expr.whole, expr.constant, int64_t(expr.terms.size())});
    for (auto [dim, coefficient] : expr.terms)
      key.append({int64_t(dim), coefficient});
  }
}

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_INDEXKEY_H
