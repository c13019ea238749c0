//===- Ops.h - Operations on tensors, written as sums over loops -*- C++ -*-==//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What layers are written with. Loops are named by letters. How an operation
// reads a tensor is written as in the Tofu paper's descriptions, one index per
// dim, each a sum of loops with factors: {x, "n 2y+i 2x+j c"}.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_BENCHMARK_MODELS_OPS_H
#define TOFU_TEST_BENCHMARK_MODELS_OPS_H

#include "Scalar.h"

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::tofu::models {

/// A tensor, and by which loops it is read.
struct Read {
  Read(Value tensor, const Twine &indices)
      : tensor(tensor), indices(indices.str()) {}

  Value tensor;
  std::string indices;
};

/// How many turns a loop has that no tensor says by itself.
struct LoopSize {
  char loop;
  int64_t size;
};

/// One element from those read.
using Body = llvm::function_ref<Scalar(ArrayRef<Scalar>)>;

/// Builds operations at the end of a block. Numbers are of one type.
class Ops {
public:
  Ops(MLIRContext *context, FloatType type)
      : builder(UnknownLoc::get(context), context), type(type) {}

  void setInsertionPointToEnd(Block *block) {
    builder.setInsertionPointToEnd(block);
  }
  /// Operations built from now on are those of the layer `name`.
  void setName(const Twine &name);

  RankedTensorType tensorOf(ArrayRef<int64_t> shape) const {
    return RankedTensorType::get(shape, type);
  }

  /// Element by element; `result` names a loop for each dim of the result.
  Value map(ArrayRef<Read> reads, StringRef result, Body body,
            ArrayRef<LoopSize> sizes = {});
  /// The sum, or the greatest, over the loops that `result` does not name.
  Value sum(ArrayRef<Read> reads, StringRef result, Body body,
            ArrayRef<LoopSize> sizes = {});
  Value greatest(Read read, StringRef result);
  /// The sum of products over them.
  Value contract(Read a, Read b, StringRef result,
                 ArrayRef<LoopSize> sizes = {});

  Value matmul(Value a, Value b);
  /// x [n, h, w, c] and kernel [i, j, c, f], without padding.
  Value conv2d(Value x, Value kernel, int64_t stride);
  Value maxPool2d(Value x, int64_t window, int64_t stride);

  Value add(Value a, Value b);
  Value addBias(Read x, Read bias);
  Value scale(Value x, double factor);
  /// Over the loops of `logits` that `rows` does not name.
  Value softmax(Read logits, StringRef rows);
  Value empty(ArrayRef<int64_t> shape);
  Value fill(ArrayRef<int64_t> shape, double number);
  /// `value` around x, `low` and `high` elements of the dims 1 and 2.
  Value padImage(Value x, int64_t low, int64_t high, double value);
  /// Zeros of `size` rows and columns, but x at every `stride`-th, from
  /// `offset` on.
  Value spread(Value x, int64_t size, int64_t offset, int64_t stride);
  /// x at the place `at` of its dim `dim`, without that dim.
  Value take(Value x, int64_t dim, int64_t at);

private:
  Value reduce(ArrayRef<Read> reads, StringRef result, double start,
               ArrayRef<LoopSize> sizes, Body body,
               llvm::function_ref<Scalar(Scalar, Scalar)> combine);

  ImplicitLocOpBuilder builder;
  FloatType type;
};

ArrayRef<int64_t> shapeOf(Value tensor);
int64_t sizeOf(Value tensor, unsigned dim);
/// As many letters as the tensor has dims: how to read it as it lies.
std::string inOrder(Value tensor);

} // namespace mlir::tofu::models

#endif // TOFU_TEST_BENCHMARK_MODELS_OPS_H
