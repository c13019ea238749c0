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

#include <functional>
#include <map>
#include <random>

namespace mlir::tofu::search {

class GraphBuilder {
public:
  PartitionGraph graph;

  unsigned value(llvm::ArrayRef<int64_t> shape) {
    Value value;
    value.shape.assign(shape.begin(), shape.end());
    graph.values.push_back(std::move(value));
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

/// Sizes of a transformer's training step.
struct Transformer {
  int64_t layers = 12, batch = 8, sequence = 1024, width = 768, heads = 12;
};

/// Builds the training step of a transformer, forwards and backwards, with
/// Adam's updates. Real programs spell softmax, normalisation and GELU out as
/// some ten operators each; so does this.
class TransformerBuilder {
public:
  explicit TransformerBuilder(const Transformer &sizes) : sizes(sizes) {}

  PartitionGraph build() {
    unsigned x = b.value({sizes.batch, sizes.sequence, sizes.width});
    for (int64_t layer = 0; layer < sizes.layers; ++layer) {
      x = residual(x, &TransformerBuilder::attention);
      x = residual(x, &TransformerBuilder::feedForward);
    }
    unsigned dx = b.elementwise({x}, "loss");
    for (auto step = backward.rbegin(); step != backward.rend(); ++step)
      dx = (*step)(dx);
    return std::move(b.graph);
  }

private:
  using Backward = std::function<unsigned(unsigned)>;

  unsigned chain(unsigned x, unsigned length, llvm::StringRef name) {
    for (unsigned i = 0; i < length; ++i)
      x = b.elementwise({x}, name);
    return x;
  }

  void update(unsigned weight, unsigned gradient) {
    unsigned mean = b.value(b.shape(weight)),
             variance = b.value(b.shape(weight));
    unsigned m = b.elementwise({mean, gradient}, "adam");
    unsigned v = b.elementwise({variance, gradient}, "adam");
    unsigned step = chain(b.elementwise({m, v}, "adam"), 8, "adam");
    b.carry(m, mean);
    b.carry(v, variance);
    b.carry(b.elementwise({weight, step}, "adam"), weight);
  }

  /// x + f(normalised x), and back.
  unsigned residual(unsigned x, unsigned (TransformerBuilder::*f)(unsigned)) {
    backward.push_back([=](unsigned dx) {
      return b.elementwise({dx, skipped.pop_back_val()}, "residual");
    });
    unsigned y = (this->*f)(normalise(x));
    backward.push_back([=](unsigned dy) {
      skipped.push_back(dy);
      return dy;
    });
    return b.elementwise({x, y}, "residual");
  }

  /// (x - mean) / deviation, and back.
  unsigned normalise(unsigned x) {
    unsigned mean = b.einsum({{x, "bsw"}}, "bs", "mean");
    unsigned centred = b.einsum({{x, "bsw"}, {mean, "bs"}}, "bsw", "centre");
    unsigned deviation =
        chain(b.einsum({{centred, "bsw"}}, "bs", "variance"), 4, "root");
    unsigned y =
        b.einsum({{centred, "bsw"}, {deviation, "bs"}}, "bsw", "scale");
    backward.push_back([=](unsigned dy) {
      unsigned sum = b.einsum({{dy, "bsw"}, {y, "bsw"}}, "bs", "scale");
      unsigned part = b.einsum({{y, "bsw"}, {sum, "bs"}}, "bsw", "scale");
      return chain(b.elementwise({dy, part}, "scale"), 6, "scale");
    });
    return y;
  }

  /// x W for x[b, s, k], W[k, n].
  unsigned linear(unsigned x, int64_t n) {
    unsigned w = b.value({b.shape(x)[2], n});
    unsigned bias = b.value({n});
    unsigned y = b.einsum({{x, "bsk"}, {w, "kn"}}, "bsn", "linear");
    backward.push_back([=](unsigned dy) {
      update(w, b.einsum({{x, "bsk"}, {dy, "bsn"}}, "kn", "gradient"));
      update(bias, b.einsum({{dy, "bsn"}}, "n", "gradient"));
      return b.einsum({{dy, "bsn"}, {w, "kn"}}, "bsk", "backward");
    });
    return b.einsum({{y, "bsn"}, {bias, "n"}}, "bsn", "bias");
  }

  unsigned elementwiseLayer(unsigned x, unsigned length, llvm::StringRef name) {
    backward.push_back([=](unsigned dy) {
      return chain(b.elementwise({dy, x}, name), length, name);
    });
    return chain(x, length, name);
  }

  unsigned feedForward(unsigned x) {
    unsigned y = elementwiseLayer(linear(x, 4 * sizes.width), 12, "gelu");
    return linear(y, sizes.width);
  }

  /// One projection to heads, as a value [b, h, s, d].
  unsigned project(unsigned x) {
    int64_t depth = sizes.width / sizes.heads;
    unsigned w = b.value({sizes.width, sizes.heads, depth});
    unsigned y = b.einsum({{x, "bsk"}, {w, "khd"}}, "bhsd", "project");
    gradients.push_back([=](unsigned dy) {
      update(w, b.einsum({{x, "bsk"}, {dy, "bhsd"}}, "khd", "gradient"));
      return b.einsum({{dy, "bhsd"}, {w, "khd"}}, "bsk", "backward");
    });
    return y;
  }

  unsigned attention(unsigned x) {
    gradients.clear();
    unsigned q = project(x), k = project(x), v = project(x);
    unsigned scores = chain(
        b.einsum({{q, "bhsd"}, {k, "bhtd"}}, "bhst", "scores"), 3, "mask");
    unsigned most = b.einsum({{scores, "bhst"}}, "bhs", "maximum");
    unsigned powers =
        chain(b.einsum({{scores, "bhst"}, {most, "bhs"}}, "bhst", "softmax"), 2,
              "softmax");
    unsigned sum = b.einsum({{powers, "bhst"}}, "bhs", "softmax");
    unsigned weights =
        b.einsum({{powers, "bhst"}, {sum, "bhs"}}, "bhst", "softmax");
    unsigned mixed = b.einsum({{weights, "bhst"}, {v, "bhtd"}}, "bhsd", "mix");
    auto back = gradients;
    backward.push_back([=](unsigned dy) {
      unsigned dmixed = b.einsum({{dy, "bsd"}}, "bsd", "copy");
      unsigned dheads = b.value(b.shape(mixed));
      b.graph.operators.push_back(split(dmixed, dheads));
      unsigned dv =
          b.einsum({{weights, "bhst"}, {dheads, "bhsd"}}, "bhtd", "mix");
      unsigned dweights =
          b.einsum({{dheads, "bhsd"}, {v, "bhtd"}}, "bhst", "mix");
      unsigned inner =
          b.einsum({{dweights, "bhst"}, {weights, "bhst"}}, "bhs", "softmax");
      unsigned dscores = chain(
          b.einsum({{dweights, "bhst"}, {inner, "bhs"}}, "bhst", "softmax"), 4,
          "softmax");
      unsigned dq =
          b.einsum({{dscores, "bhst"}, {k, "bhtd"}}, "bhsd", "scores");
      unsigned dk =
          b.einsum({{dscores, "bhst"}, {q, "bhsd"}}, "bhtd", "scores");
      unsigned dx = b.elementwise({back[0](dq), back[1](dk)}, "add");
      return b.elementwise({dx, back[2](dv)}, "add");
    });
    unsigned joined = b.value({sizes.batch, sizes.sequence, sizes.width});
    Operator op = split(joined, mixed);
    std::swap(op.operands[0].value, op.results[0].value);
    std::swap(op.operands[0].index, op.results[0].index);
    b.graph.operators.push_back(op);
    return linear(joined, sizes.width);
  }

  /// From [b, s, h * depth + d] to [b, h, s, d].
  Operator split(unsigned joined, unsigned heads) {
    Operator op;
    op.name = "split";
    llvm::ArrayRef<int64_t> shape = b.shape(heads);
    for (int64_t size : shape)
      op.dims.push_back({size});
    LinearExpr column{{{1, shape[3]}, {3, 1}}, 0, false};
    op.operands.push_back(
        {joined, {LinearExpr::ofDim(0), LinearExpr::ofDim(2), column}, -1});
    Result result{heads, {}};
    for (unsigned dim = 0; dim < 4; ++dim)
      result.index.push_back(LinearExpr::ofDim(dim));
    op.results.push_back(result);
    return op;
  }

  Transformer sizes;
  GraphBuilder b;
  /// What to call for the gradients, last first; those of the projections of
  /// the attention at hand; gradients that go around a layer.
  std::vector<Backward> backward, gradients;
  llvm::SmallVector<unsigned> skipped;
};

/// A program of `numOps` operators on small values of uneven sizes: products in
/// all transpositions, some with an initial value, sums, broadcasts, windows
/// that overlap, and additions that let partials through. With `elementwise`,
/// operators that the search joins as well.
inline PartitionGraph randomProgram(std::mt19937 &random, unsigned numOps,
                                    bool elementwise) {
  GraphBuilder b;
  const int64_t sizes[] = {3, 4, 6, 7, 10};
  auto size = [&] { return sizes[random() % 5]; };
  std::vector<unsigned> matrices{b.value({size(), size()})};
  auto pick = [&] { return matrices[random() % matrices.size()]; };
  while (b.graph.operators.size() < numOps) {
    unsigned x = pick();
    int64_t rows = b.shape(x)[0], columns = b.shape(x)[1];
    switch (random() % (elementwise ? 7 : 5)) {
    case 0:
      matrices.push_back(
          b.einsum({{x, "mk"}, {b.value({columns, size()}), "kn"}}, "mn"));
      b.graph.operators.back().linear = {1, 2};
      break;
    case 1:
      matrices.push_back(
          b.einsum({{x, "km"}, {b.value({rows, size()}), "kn"}}, "nm"));
      break;
    case 2: {
      unsigned bias = b.value({rows});
      matrices.push_back(b.einsum({{x, "ab"}, {bias, "a"}}, "ba", "add"));
      b.graph.operators.back().linear = {3};
      break;
    }
    case 3: {
      // A product that adds to an initial value.
      unsigned init = b.value({rows, columns});
      unsigned w = b.value({columns, columns});
      matrices.push_back(b.einsum({{x, "mk"}, {w, "kn"}}, "mn"));
      b.graph.operators.back().operands.push_back(
          {init, b.graph.operators.back().results[0].index, 0});
      break;
    }
    case 4: {
      // out[m] = sum over i of in[2 m + i - 1, 0], of windows that overlap.
      unsigned out = b.einsum({{x, "mn"}}, "nm", "window");
      Operator &op = b.graph.operators.back();
      op.dims.push_back({3, DimKind::Reduction});
      op.operands[0].index[0] = {{{1, 2}, {2, 1}}, -1, false};
      op.dims[1].size = std::max<int64_t>(rows / 2, 1);
      b.graph.values[out].shape[1] = op.dims[1].size;
      matrices.push_back(out);
      break;
    }
    case 5:
      matrices.push_back(b.elementwise({x}));
      b.graph.operators.back().linear = {1};
      break;
    default:
      matrices.push_back(b.elementwise({x, b.value({rows, columns})}));
      b.graph.operators.back().linear = {3};
    }
  }
  return b.graph;
}

} // namespace mlir::tofu::search

#endif // TOFU_TEST_SEARCH_PROGRAMS_H
