//===- Tables.h - Sums over dense tables ------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_TABLES_H
#define TOFU_LIB_SEARCH_TABLES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace mlir::tofu::search {

/// One loop of a walk over a dense table that reads another one: its length and
/// the stride in the table that is read.
struct Loop {
  int64_t size, stride;
};

/// How far values of `var` are apart in a table over `scope`; 0 if it isn't one
/// of its variables.
int64_t strideOf(unsigned var, llvm::ArrayRef<unsigned> scope,
                 llvm::ArrayRef<unsigned> domains);

/// Loops over the values of `vars`, in this order, that read a table over
/// `scope`. Neighbouring loops that are one walk are merged. `numFirst`, if
/// given, is how many values of the first variable to take.
llvm::SmallVector<Loop, 8> loopsOver(llvm::ArrayRef<unsigned> vars,
                                     llvm::ArrayRef<unsigned> scope,
                                     llvm::ArrayRef<unsigned> domains,
                                     int64_t numFirst = 0);

/// Adds to `sum`, a dense table whose dims are `loops` from slowest to fastest,
/// the entries of `table` that they read. Returns the end of `sum`.
int64_t *addEntries(int64_t *sum, const int64_t *table,
                    llvm::ArrayRef<Loop> loops);

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_TABLES_H
