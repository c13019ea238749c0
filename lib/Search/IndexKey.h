//===- IndexKey.h - Index expressions in keys -------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_INDEXKEY_H
#define TOFU_LIB_SEARCH_INDEXKEY_H

#include "Tofu/Search/CostModel.h"

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

/// All that the time of an operator's work depends on, besides its strategy.
inline llvm::SmallVector<int64_t, 16> workSignature(const PartitionGraph &graph,
                                                    const Operator &op) {
  llvm::SmallVector<int64_t, 16> key{op.flops, int64_t(op.precision), op.times,
                                     int64_t(op.dims.size()),
                                     int64_t(op.operands.size())};
  for (const IterationDim &dim : op.dims)
    key.push_back(dim.size);
  auto add = [&](unsigned number, llvm::ArrayRef<LinearExpr> index) {
    const Value &value = graph.values[number];
    key.append({value.elementBytes, value.times});
    key.append(value.shape.begin(), value.shape.end());
    appendIndex(key, index);
  };
  for (auto [i, operand] : llvm::enumerate(op.operands)) {
    key.push_back(isReadBefore(op, i));
    add(operand.value, operand.index);
  }
  for (const Result &result : op.results)
    add(result.value, result.index);
  return key;
}

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_INDEXKEY_H
