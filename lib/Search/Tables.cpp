//===- Tables.cpp - Sums over dense tables --------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::tofu::search;

int64_t *mlir::tofu::search::addEntries(int64_t *sum, const int64_t *table,
                                        llvm::ArrayRef<Loop> loops) {
  if (loops.empty()) {
    *sum += *table;
    return sum + 1;
  }
  auto [size, stride] = loops.front();
  if (loops.size() > 1) {
    for (int64_t i = 0; i < size; ++i)
      sum = addEntries(sum, table + i * stride, loops.drop_front());
    return sum;
  }
  if (stride == 0) {
    for (int64_t i = 0; i < size; ++i)
      sum[i] += *table;
    return sum + size;
  }
  for (int64_t i = 0; i < size; ++i)
    sum[i] += table[i * stride];
  return sum + size;
}

/// Appends `loop`, as part of the last one if the two are one walk: inner loops
/// should be long.
static void append(llvm::SmallVectorImpl<Loop> &loops, Loop loop) {
  if (loop.size == 1)
    return;
  if (!loops.empty() && loops.back().stride == loop.stride * loop.size)
    loops.back() = {loops.back().size * loop.size, loop.stride};
  else
    loops.push_back(loop);
}

int64_t mlir::tofu::search::strideOf(unsigned var,
                                     llvm::ArrayRef<unsigned> scope,
                                     llvm::ArrayRef<unsigned> domains) {
  int64_t stride = 1;
  for (unsigned other : llvm::reverse(scope)) {
    if (other == var)
      return stride;
    stride *= domains[other];
  }
  return 0;
}

llvm::SmallVector<Loop, 8> mlir::tofu::search::loopsOver(
    llvm::ArrayRef<unsigned> vars, llvm::ArrayRef<unsigned> scope,
    llvm::ArrayRef<unsigned> domains, int64_t numFirst) {
  llvm::SmallVector<Loop, 8> loops;
  for (auto [i, var] : llvm::enumerate(vars))
    append(loops, {i == 0 && numFirst > 0 ? numFirst : domains[var],
                   strideOf(var, scope, domains)});
  return loops;
}
