//===- ContractionOperations.cpp - Windows and contractions ---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operations.h"
#include "Reducers.h"

#include <algorithm>
#include <cmath>

using namespace mlir::tofu::fuzz;

/// Largest iteration space of an operation.
static constexpr int64_t kMostWork = 100000;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Slides over dims of a value; with weights, or only along it.
void mlir::tofu::fuzz::addWindow(Program &program) {
  Random &random = program.random;
  size_t primary = program.pick([](const Value &value) {
    return !value.shape.empty() && value.isUsable() && !isHalf(value.element) &&
           numElements(value.shape) < 600;
  });
  const Value input = program[primary];
  Structured op(program);
  Map map, weightMap;
  Shape weightShape;
  std::vector<int64_t> kept;
  double count = 1;
  bool reduces = random.chance(70);
  for (int64_t size : input.shape) {
    bool slides = size >= 3 && (weightMap.empty() || random.chance(40));
    if (!slides) {
      kept.push_back(op.addDim(size));
      map.push_back(dimText(kept.back()));
      continue;
    }
    int64_t window = random.between(1, std::min<int64_t>(size, 3));
    int64_t dilation =
        window > 1 && size > 2 * window ? random.between(1, 2) : 1;
    int64_t reach = dilation * (window - 1) + 1;
    int64_t stride = random.between(1, 2);
    int64_t numPlaces = (size - reach) / stride + 1;
    int64_t place = op.addDim(numPlaces);
    int64_t offset = op.addDim(window, reduces);
    kept.push_back(place);
    if (!reduces)
      kept.push_back(offset);
    else
      count *= double(window);
    map.push_back(dimText(place) + " * " + std::to_string(stride) + " + " +
                  dimText(offset) + " * " + std::to_string(dilation));
    weightMap.push_back(dimText(offset));
    weightShape.push_back(window);
  }
  if (weightMap.empty())
    return;
  if (random.chance(30)) {
    weightMap.push_back(dimText(op.addDim(random.between(1, 5))));
    kept.push_back(op.sizes().size() - 1);
    weightShape.push_back(op.sizes().back());
  }
  if (numElements(op.sizes()) > kMostWork)
    return;
  size_t weight = program.getOperand(input.element, weightShape);
  std::vector<Scalar> leaves = {op.addInput(primary, map),
                                op.addInput(weight, weightMap)};
  if (reduces) {
    addResults(program, op, op.body.express(leaves, input.element), count,
               kept);
    return;
  }
  auto [resultMap, shape] = makeMap(random, kept, op.sizes());
  op.addResult(program.addEmpty(input.element, shape), input.element, shape,
               resultMap);
  op.yield(op.body.express(leaves, input.element));
  op.finish();
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// Element type that products of `element` are added up in.
static std::string sumElement(const std::string &element) {
  return isHalf(element) ? "f32" : element;
}

void mlir::tofu::fuzz::addContraction(Program &program) {
  Random &random = program.random;
  size_t primary = program.pick([](const Value &value) {
    return !value.shape.empty() && value.isUsable() && value.element != "i1";
  });
  const Value input = program[primary];
  Structured op(program);
  std::vector<int64_t> left, right, kept;
  double count = 1;
  int64_t sure = random.below(input.shape.size());
  for (size_t i = 0; i < input.shape.size(); ++i) {
    int64_t kind = int64_t(i) == sure ? 0 : random.below(3);
    int64_t dim = op.addDim(input.shape[i], kind == 0);
    left.push_back(dim);
    if (kind == 0)
      count *= double(input.shape[i]);
    if (kind != 2)
      right.push_back(dim);
    if (kind != 0)
      kept.push_back(dim);
  }
  for (int64_t i = random.below(3); i > 0; --i) {
    int64_t dim = op.addDim(random.between(1, 9));
    right.push_back(dim);
    kept.push_back(dim);
  }
  if (numElements(op.sizes()) > kMostWork)
    return;
  if (random.chance(50))
    random.shuffle(right);
  Map leftMap;
  for (int64_t dim : left)
    leftMap.push_back(dimText(dim));
  auto [rightMap, shape] = makeMap(random, right, op.sizes());
  size_t other = program.getOperand(input.element, shape);
  Scalar x = op.addInput(primary, leftMap), y = op.addInput(other, rightMap);
  if (random.chance(50))
    std::swap(x, y);
  std::string element = sumElement(input.element);
  op.body.convert(x, element);
  op.body.convert(y, element);
  bool real = isReal(element);
  std::string times = real ? "arith.mulf " : "arith.muli ";
  Quality quality = {x.quality.bound * y.quality.bound,
                     x.quality.error * y.quality.bound +
                         y.quality.error * x.quality.bound,
                     x.quality.integral && y.quality.integral};
  Scalar product = op.body.add(times + x.name + ", " + y.name + " : " + element,
                               element, quality);
  // Mostly sums; other combiners are no contractions, but fine as reductions.
  if (random.chance(8)) {
    addResults(program, op, product, count, kept);
    return;
  }
  Reducer sum = {real ? "arith.addf" : "arith.addi",
                 real ? "0.0 : " + element : "0 : " + element,
                 real ? "1.0 : " + element : "2 : " + element};
  auto [map, resultShape] = makeMap(random, kept, op.sizes());
  auto [init, initQuality] = makeInit(program, element, resultShape, sum);
  Scalar out = op.addResult(init, element, resultShape, map);
  op.yield(op.body.add(
      sum.op + " " + out.name + ", " + product.name + " : " + element, element,
      reduce(sum.op, element, count, quality, initQuality)));
  program.tame(op.finish().front());
}

/// A named operation with two inputs that sums up products.
static void addProducts(Program &program, const std::string &op, size_t left,
                        const Shape &rightShape, const Shape &resultShape,
                        double count) {
  const Value x = program[left];
  size_t right = program.getOperand(x.element, rightShape);
  const Value y = program[right];
  std::string element = sumElement(x.element);
  bool real = isReal(element);
  Reducer sum = {real ? "arith.addf" : "arith.addi",
                 real ? "0.0 : " + element : "0 : " + element,
                 real ? "1.0 : " + element : "2 : " + element};
  auto [init, quality] = makeInit(program, element, resultShape, sum);
  Quality product = {x.quality.bound * y.quality.bound,
                     x.quality.error * y.quality.bound +
                         y.quality.error * x.quality.bound,
                     x.quality.integral && y.quality.integral};
  std::string xName = program.use(left), yName = program.use(right);
  std::string type = typeText(element, resultShape);
  program.tame(program.add(
      op + " ins(" + xName + ", " + yName + " : " + x.type() + ", " + y.type() +
          ") outs(" + init + " : " + type + ") -> " + type,
      element, resultShape, reduce(sum.op, element, count, product, quality)));
}

void mlir::tofu::fuzz::addNamedContraction(Program &program) {
  Random &random = program.random;
  size_t left = program.pick([](const Value &value) {
    size_t rank = value.shape.size();
    return rank >= 1 && rank <= 3 && value.isUsable() && value.element != "i1";
  });
  Shape s = program[left].shape;
  int64_t n = random.between(1, 12);
  if (s.size() == 1) {
    if (random.chance(30))
      return addProducts(program, "linalg.dot", left, s, {}, double(s[0]));
    return addProducts(program, "linalg.vecmat", left, {s[0], n}, {n},
                       double(s[0]));
  }
  if (s.size() == 2) {
    static const std::string kMaps[] = {
        "linalg.matmul",
        "linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, "
        "affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, "
        "d1)>]",
        "linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, "
        "affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, "
        "d1)>]"};
    switch (random.below(4)) {
    case 0:
      return addProducts(program, kMaps[0], left, {s[1], n}, {s[0], n},
                         double(s[1]));
    case 1:
      return addProducts(program, kMaps[1], left, {n, s[1]}, {s[0], n},
                         double(s[1]));
    case 2:
      return addProducts(program, kMaps[2], left, {s[0], n}, {s[1], n},
                         double(s[0]));
    default:
      return addProducts(program, "linalg.matvec", left, {s[1]}, {s[0]},
                         double(s[1]));
    }
  }
  if (random.chance(30))
    return addProducts(program, "linalg.batch_reduce_matmul", left,
                       {s[0], s[2], n}, {s[1], n}, double(s[0] * s[2]));
  return addProducts(program, "linalg.batch_matmul", left, {s[0], s[2], n},
                     {s[0], s[1], n}, double(s[2]));
}

//===----------------------------------------------------------------------===//
// Convolutions and pooling
//===----------------------------------------------------------------------===//

namespace {
/// Named convolutions by their axes: n batch, h and w space, c input channels,
/// f output channels, g groups, m multiplier.
struct Convolution {
  const char *name, *input, *filter, *output;
};
} // namespace

static const std::vector<Convolution> kConvolutions = {
    {"conv_1d_nwc_wcf", "nwc", "wcf", "nwf"},
    {"conv_1d_ncw_fcw", "ncw", "fcw", "nfw"},
    {"conv_2d", "hw", "hw", "hw"},
    {"conv_2d_nhwc_hwcf", "nhwc", "hwcf", "nhwf"},
    {"conv_2d_nhwc_fhwc", "nhwc", "fhwc", "nhwf"},
    {"conv_2d_nchw_fchw", "nchw", "fchw", "nfhw"},
    {"conv_2d_ngchw_fgchw", "ngchw", "fgchw", "ngfhw"},
    {"conv_2d_ngchw_gfchw", "ngchw", "gfchw", "ngfhw"},
    {"depthwise_conv_1d_nwc_wc", "nwc", "wc", "nwc"},
    {"depthwise_conv_2d_nhwc_hwc", "nhwc", "hwc", "nhwc"},
    {"depthwise_conv_2d_nchw_chw", "nchw", "chw", "nchw"},
    {"depthwise_conv_2d_nhwc_hwcm", "nhwc", "hwcm", "nhwcm"},
    {"pooling_nhwc_sum", "nhwc", "hw", "nhwc"},
    {"pooling_nchw_sum", "nchw", "hw", "nchw"},
    {"pooling_nhwc_max", "nhwc", "hw", "nhwc"},
    {"pooling_nchw_max", "nchw", "hw", "nchw"},
    {"pooling_nhwc_min", "nhwc", "hw", "nhwc"},
};

void mlir::tofu::fuzz::addConvolution(Program &program) {
  Random &random = program.random;
  const Convolution &kind = random.pick(kConvolutions);
  std::string name = kind.name, axes = kind.input;
  bool pools = name[0] == 'p';
  auto isSpace = [](char axis) { return axis == 'h' || axis == 'w'; };

  int64_t sizes[128] = {}, windows[128] = {}, strides[128] = {},
          dilations[128] = {}, places[128] = {};
  for (char axis : std::string("nhwcfgm"))
    sizes[int(axis)] = random.between(1, isSpace(axis) ? 9 : 4);
  Shape inputShape;
  for (char axis : axes)
    inputShape.push_back(sizes[int(axis)]);
  // An old value of that rank does as well.
  size_t input = program.pick([&](const Value &value) {
    return value.element == "f32" && value.isUsable() &&
           value.shape.size() == axes.size() && numElements(value.shape) < 800;
  });
  if (input == program.size() || random.chance(30))
    input = program.addArgument("f32", inputShape);
  inputShape = program[input].shape;
  for (size_t i = 0; i < axes.size(); ++i)
    sizes[int(axes[i])] = inputShape[i];

  double count = 1;
  std::vector<std::string> strideTexts, dilationTexts;
  for (char c : axes) {
    int axis = c;
    if (!isSpace(c))
      continue;
    windows[axis] = random.between(1, std::min<int64_t>(3, sizes[axis]));
    dilations[axis] =
        windows[axis] * 2 < sizes[axis] ? random.between(1, 2) : 1;
    strides[axis] = random.between(1, 3);
    places[axis] = (sizes[axis] - dilations[axis] * (windows[axis] - 1) - 1) /
                       strides[axis] +
                   1;
    strideTexts.push_back(std::to_string(strides[axis]));
    dilationTexts.push_back(std::to_string(dilations[axis]));
    count *= double(windows[axis]);
  }
  Shape filterShape, outputShape;
  for (char c : std::string(kind.filter)) {
    filterShape.push_back(isSpace(c) ? windows[int(c)] : sizes[int(c)]);
    if (c == 'c' && std::string(kind.output).find('c') == std::string::npos)
      count *= double(sizes[int(c)]);
  }
  for (char c : std::string(kind.output))
    outputShape.push_back(isSpace(c) ? places[int(c)] : sizes[int(c)]);
  std::string attributes = "linalg." + name;
  if (name != "conv_2d")
    attributes += " {strides = dense<[" + join(strideTexts) + "]> : tensor<" +
                  std::to_string(strideTexts.size()) +
                  "xi64>, dilations = dense<[" + join(dilationTexts) +
                  "]> : tensor<" + std::to_string(strideTexts.size()) +
                  "xi64>}";
  else
    for (size_t i = 0; i < axes.size(); ++i)
      outputShape[i] = sizes[int(axes[i])] - windows[int(axes[i])] + 1;
  if (!pools)
    return addProducts(program, attributes, input, filterShape, outputShape,
                       count);

  bool adds = name.find("sum") != std::string::npos;
  bool max = name.find("max") != std::string::npos;
  Reducer reducer = {adds ? "arith.addf" : "arith.maximumf",
                     adds  ? "0.0 : f32"
                     : max ? "-1000.0 : f32"
                           : "1000.0 : f32",
                     "0.5 : f32"};
  auto [init, quality] = makeInit(program, "f32", outputShape, reducer);
  std::string window = program.addEmpty("f32", filterShape);
  std::string x = program.use(input), type = typeText("f32", outputShape);
  program.tame(program.add(
      attributes + " ins(" + x + ", " + window + " : " + program[input].type() +
          ", " + typeText("f32", filterShape) + ") outs(" + init + " : " +
          type + ") -> " + type,
      "f32", outputShape,
      reduce(reducer.op, "f32", count, program[input].quality, quality)));
}
