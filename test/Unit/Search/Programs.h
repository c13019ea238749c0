//===- Programs.h - Graphs to search in -------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds graphs by hand, with the index of a tensor spelled as a string of
// iteration dims: product(a, "mk", b, "kn", "mn").
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_SEARCH_PROGRAMS_H
#define TOFU_TEST_SEARCH_PROGRAMS_H

#include "Tofu/Search/PartitionGraph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <map>

namespace mlir::tofu::search {

class GraphBuilder {
public:
  PartitionGraph graph;

  unsigned value(llvm::ArrayRef<int64_t> shape) {
    Value value;
    value.shape.assign(shape.begin(), shape.end());
    graph.values.push_back(value);
    return graph.values.size() - 1;
  }

  llvm::ArrayRef<int64_t> shape(unsigned value) const {
    return graph.values[value].shape;
  }

  /// An operator that reads `operands`, each indexed by one letter per dim, and
  /// gives a new value indexed by `resultDims`; letters that are not in there
  /// are sums. Dims are numbered in the order of the result, then of the
  /// operands.
  unsigned einsum(llvm::ArrayRef<std::pair<unsigned, llvm::StringRef>> operands,
                  llvm::StringRef resultDims, llvm::StringRef name = "einsum") {
    std::map<char, int64_t> sizes;
    std::string letters = resultDims.str();
    for (auto [operand, dims] : operands)
      for (auto [letter, size] : llvm::zip_equal(dims, shape(operand))) {
        sizes[letter] = size;
        if (!llvm::StringRef(letters).contains(letter))
          letters.push_back(letter);
      }
    Operator op;
    op.name = name.str();
    for (auto [i, letter] : llvm::enumerate(letters)) {
      IterationDim dim;
      dim.size = sizes[letter];
      if (i >= resultDims.size())
        dim.kind = DimKind::Reduction;
      op.dims.push_back(dim);
    }
    auto index = [&](llvm::StringRef dims) {
      llvm::SmallVector<LinearExpr, 4> exprs;
      for (char letter : dims)
        exprs.push_back(LinearExpr::ofDim(letters.find(letter)));
      return exprs;
    };
    for (auto [operand, dims] : operands)
      op.operands.push_back({operand, index(dims), -1});
    llvm::SmallVector<int64_t> resultShape;
    for (char letter : resultDims)
      resultShape.push_back(sizes[letter]);
    unsigned result = value(resultShape);
    op.results.push_back({result, index(resultDims)});
    graph.operators.push_back(std::move(op));
    return result;
  }

  /// An operator without reduction on operands of one shape.
  unsigned elementwise(llvm::ArrayRef<unsigned> operands,
                       llvm::StringRef name = "elementwise") {
    std::string dims =
        std::string("abcdefgh").substr(0, shape(operands.front()).size());
    llvm::SmallVector<std::pair<unsigned, llvm::StringRef>> indexed;
    for (unsigned operand : operands)
      indexed.push_back({operand, dims});
    return einsum(indexed, dims, name);
  }

  void carry(unsigned from, unsigned to) {
    graph.carried.push_back({from, to});
  }
};

/// The training step of a chain of matrix products of the given widths:
/// y = x W, dW = x^T dy, dx = dy W^T (not for the first layer), W' = W - dW,
/// which is carried to W.
inline PartitionGraph mlpChain(int64_t batch, llvm::ArrayRef<int64_t> widths) {
  GraphBuilder b;
  size_t layers = widths.size() - 1;
  llvm::SmallVector<unsigned> x{b.value({batch, widths[0]})}, w;
  for (size_t l = 0; l < layers; ++l) {
    w.push_back(b.value({widths[l], widths[l + 1]}));
    x.push_back(b.einsum({{x[l], "mk"}, {w[l], "kn"}}, "mn", "forward"));
  }
  unsigned dy = b.value({batch, widths[layers]});
  for (size_t l = layers; l-- > 0;) {
    unsigned dw = b.einsum({{x[l], "km"}, {dy, "kn"}}, "mn", "gradient");
    b.carry(b.elementwise({w[l], dw}, "update"), w[l]);
    if (l > 0)
      dy = b.einsum({{dy, "mk"}, {w[l], "nk"}}, "mn", "backward");
  }
  return b.graph;
}

} // namespace mlir::tofu::search

#endif // TOFU_TEST_SEARCH_PROGRAMS_H
