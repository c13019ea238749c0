//===- Ops.cpp - Operations on tensors, written as sums over loops --------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::tofu;
using namespace mlir::tofu::models;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

ArrayRef<int64_t> models::shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

int64_t models::sizeOf(Value tensor, unsigned dim) {
  return shapeOf(tensor)[dim];
}

std::string models::inOrder(Value tensor) {
  size_t rank = shapeOf(tensor).size();
  return std::string("a b c d e f").substr(0, rank ? 2 * rank - 1 : 0);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

/// The loops of an operation, those of the result first, in their order.
class Loops {
public:
  Loops(MLIRContext *context, ArrayRef<Read> reads, StringRef result,
        ArrayRef<LoopSize> sizes);

  SmallVector<int64_t> getResultShape() const {
    return SmallVector<int64_t>(sizes.begin(), sizes.begin() + numResults);
  }
  SmallVector<AffineMap> getMaps() const;
  SmallVector<utils::IteratorType> getIterators() const;

private:
  void addLetters(StringRef text);
  AffineExpr parse(StringRef index) const;
  AffineMap getMap(StringRef indices) const;

  MLIRContext *context;
  ArrayRef<Read> reads;
  StringRef result;
  std::string letters;
  size_t numResults;
  SmallVector<int64_t> sizes;
};

} // namespace

static SmallVector<StringRef> split(StringRef indices) {
  SmallVector<StringRef> parts;
  indices.split(parts, ' ', -1, /*KeepEmpty=*/false);
  return parts;
}

Loops::Loops(MLIRContext *context, ArrayRef<Read> reads, StringRef result,
             ArrayRef<LoopSize> known)
    : context(context), reads(reads), result(result) {
  addLetters(result);
  numResults = letters.size();
  for (const Read &read : reads)
    addLetters(read.indices);
  sizes.resize(letters.size());
  for (const Read &read : reads)
    for (auto [index, size] :
         llvm::zip_equal(split(read.indices), shapeOf(read.tensor)))
      if (index.size() == 1 && llvm::isAlpha(index[0]))
        sizes[letters.find(index[0])] = size;
  for (LoopSize loop : known)
    sizes[letters.find(loop.loop)] = loop.size;
}

void Loops::addLetters(StringRef text) {
  for (char c : text)
    if (llvm::isAlpha(c) && letters.find(c) == std::string::npos)
      letters.push_back(c);
}

/// Reads a sum such as 2y+i or 2-i.
AffineExpr Loops::parse(StringRef index) const {
  AffineExpr total = getAffineConstantExpr(0, context);
  while (!index.empty()) {
    int64_t factor = index.consume_front("-") ? -1 : 1;
    index.consume_front("+");
    int64_t number = 1;
    index.consumeInteger(10, number);
    if (index.empty() || !llvm::isAlpha(index[0])) {
      total = total + factor * number;
      continue;
    }
    total = total +
            getAffineDimExpr(letters.find(index[0]), context) * factor * number;
    index = index.drop_front();
  }
  return total;
}

AffineMap Loops::getMap(StringRef indices) const {
  SmallVector<AffineExpr> exprs;
  for (StringRef index : split(indices))
    exprs.push_back(parse(index));
  return AffineMap::get(letters.size(), 0, exprs, context);
}

SmallVector<AffineMap> Loops::getMaps() const {
  SmallVector<AffineMap> maps;
  for (const Read &read : reads)
    maps.push_back(getMap(read.indices));
  maps.push_back(getMap(result));
  return maps;
}

SmallVector<utils::IteratorType> Loops::getIterators() const {
  SmallVector<utils::IteratorType> kinds(letters.size(),
                                         utils::IteratorType::reduction);
  std::fill_n(kinds.begin(), numResults, utils::IteratorType::parallel);
  return kinds;
}

//===----------------------------------------------------------------------===//
// Sums over loops
//===----------------------------------------------------------------------===//

void Ops::setName(const Twine &name) {
  builder.setLoc(NameLoc::get(builder.getStringAttr(name)));
}

Value Ops::empty(ArrayRef<int64_t> shape) {
  return tensor::EmptyOp::create(builder, shape, type);
}

Value Ops::fill(ArrayRef<int64_t> shape, double number) {
  Value value =
      arith::ConstantOp::create(builder, builder.getFloatAttr(type, number));
  return linalg::FillOp::create(builder, value, empty(shape)).getResult(0);
}

static SmallVector<Value> tensorsOf(ArrayRef<Read> reads) {
  return llvm::map_to_vector(reads, [](const Read &r) { return r.tensor; });
}

static Value makeGeneric(ImplicitLocOpBuilder &b, const Loops &loops,
                         ArrayRef<Read> reads, Value init, Body body) {
  auto buildBody = [&](OpBuilder &inner, Location loc, ValueRange args) {
    ImplicitLocOpBuilder builder(loc, inner);
    SmallVector<Scalar> scalars;
    for (Value arg : args)
      scalars.emplace_back(builder, arg);
    linalg::YieldOp::create(builder, body(scalars).getValue());
  };
  return linalg::GenericOp::create(b, init.getType(), tensorsOf(reads), init,
                                   loops.getMaps(), loops.getIterators(),
                                   buildBody)
      .getResult(0);
}

Value Ops::map(ArrayRef<Read> reads, StringRef result, Body body,
               ArrayRef<LoopSize> sizes) {
  Loops loops(builder.getContext(), reads, result, sizes);
  return makeGeneric(
      builder, loops, reads, empty(loops.getResultShape()),
      [&](ArrayRef<Scalar> args) { return body(args.drop_back()); });
}

Value Ops::reduce(ArrayRef<Read> reads, StringRef result, double start,
                  ArrayRef<LoopSize> sizes, Body body,
                  llvm::function_ref<Scalar(Scalar, Scalar)> combine) {
  Loops loops(builder.getContext(), reads, result, sizes);
  return makeGeneric(builder, loops, reads, fill(loops.getResultShape(), start),
                     [&](ArrayRef<Scalar> args) {
                       return combine(args.back(), body(args.drop_back()));
                     });
}

Value Ops::sum(ArrayRef<Read> reads, StringRef result, Body body,
               ArrayRef<LoopSize> sizes) {
  return reduce(reads, result, 0, sizes, body,
                [](Scalar total, Scalar more) { return total + more; });
}

static Scalar first(ArrayRef<Scalar> in) { return in[0]; }

Value Ops::greatest(Read read, StringRef result) {
  return reduce(read, result, -kInfinity, {}, first,
                [](Scalar most, Scalar other) { return max(most, other); });
}

Value Ops::contract(Read a, Read b, StringRef result,
                    ArrayRef<LoopSize> sizes) {
  return sum(
      {a, b}, result, [](ArrayRef<Scalar> in) { return in[0] * in[1]; }, sizes);
}

//===----------------------------------------------------------------------===//
// Named operations
//===----------------------------------------------------------------------===//

Value Ops::matmul(Value a, Value b) {
  Value zero = fill({sizeOf(a, 0), sizeOf(b, 1)}, 0);
  return linalg::MatmulOp::create(builder, zero.getType(), ValueRange{a, b},
                                  zero)
      .getResult(0);
}

/// Windows of `window` that fit into `size`, one every `stride`.
static int64_t countWindows(int64_t size, int64_t window, int64_t stride) {
  return (size - window) / stride + 1;
}

static SmallVector<int64_t> getWindowsShape(Value x, int64_t window,
                                            int64_t stride, int64_t channels) {
  return {sizeOf(x, 0), countWindows(sizeOf(x, 1), window, stride),
          countWindows(sizeOf(x, 2), window, stride), channels};
}

Value Ops::conv2d(Value x, Value kernel, int64_t stride) {
  Value zero =
      fill(getWindowsShape(x, sizeOf(kernel, 0), stride, sizeOf(kernel, 3)), 0);
  return linalg::Conv2DNhwcHwcfOp::create(
             builder, zero.getType(), ValueRange{x, kernel}, zero,
             builder.getI64TensorAttr({stride, stride}),
             builder.getI64TensorAttr({1, 1}))
      .getResult(0);
}

Value Ops::maxPool2d(Value x, int64_t window, int64_t stride) {
  Value least =
      fill(getWindowsShape(x, window, stride, sizeOf(x, 3)), -kInfinity);
  return linalg::PoolingNhwcMaxOp::create(
             builder, least.getType(), ValueRange{x, empty({window, window})},
             least, builder.getI64TensorAttr({stride, stride}),
             builder.getI64TensorAttr({1, 1}))
      .getResult(0);
}

Value Ops::add(Value a, Value b) {
  std::string dims = inOrder(a);
  return map({{a, dims}, {b, dims}}, dims,
             [](ArrayRef<Scalar> in) { return in[0] + in[1]; });
}

Value Ops::addBias(Read x, Read bias) {
  return map({x, bias}, x.indices,
             [](ArrayRef<Scalar> in) { return in[0] + in[1]; });
}

Value Ops::scale(Value x, double factor) {
  std::string dims = inOrder(x);
  return map({{x, dims}}, dims,
             [&](ArrayRef<Scalar> in) { return in[0] * factor; });
}

Value Ops::softmax(Read logits, StringRef rows) {
  Value most = greatest(logits, rows);
  const std::string &dims = logits.indices;
  Value powers = map({logits, {most, rows}}, dims,
                     [](ArrayRef<Scalar> in) { return exp(in[0] - in[1]); });
  Value total = sum({{powers, dims}}, rows, first);
  return map({{powers, dims}, {total, rows}}, dims,
             [](ArrayRef<Scalar> in) { return in[0] / in[1]; });
}

//===----------------------------------------------------------------------===//
// Parts of tensors
//===----------------------------------------------------------------------===//

Value Ops::padImage(Value x, int64_t low, int64_t high, double value) {
  if (low == 0 && high == 0)
    return x;
  SmallVector<int64_t> shape(shapeOf(x));
  shape[1] += low + high;
  shape[2] += low + high;
  auto attrs = [&](int64_t n) {
    return getAsIndexOpFoldResult(builder.getContext(), {0, n, n, 0});
  };
  Value number =
      arith::ConstantOp::create(builder, builder.getFloatAttr(type, value));
  return tensor::PadOp::create(builder, tensorOf(shape), x, attrs(low),
                               attrs(high), number);
}

Value Ops::spread(Value x, int64_t size, int64_t offset, int64_t stride) {
  ArrayRef<int64_t> shape = shapeOf(x);
  auto attrs = [&](ArrayRef<int64_t> numbers) {
    return getAsIndexOpFoldResult(builder.getContext(), numbers);
  };
  Value zero = fill({shape[0], size, size, shape[3]}, 0);
  return tensor::InsertSliceOp::create(
      builder, x, zero, attrs({0, offset, offset, 0}), attrs(shape),
      attrs({1, stride, stride, 1}));
}

Value Ops::take(Value x, int64_t dim, int64_t at) {
  SmallVector<int64_t> sizes(shapeOf(x)), offsets(sizes.size(), 0),
      strides(sizes.size(), 1);
  SmallVector<int64_t> shape(sizes);
  shape.erase(shape.begin() + dim);
  offsets[dim] = at;
  sizes[dim] = 1;
  auto attrs = [&](ArrayRef<int64_t> numbers) {
    return getAsIndexOpFoldResult(builder.getContext(), numbers);
  };
  return tensor::ExtractSliceOp::create(builder, tensorOf(shape), x,
                                        attrs(offsets), attrs(sizes),
                                        attrs(strides));
}
