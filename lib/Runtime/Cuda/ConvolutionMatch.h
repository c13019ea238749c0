//===- ConvolutionMatch.h - What is a convolution ---------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction whose windows slide over an operand, as a library for
// convolutions has it: images x, filters w, and y, whose elements are the sums
// over the windows. One of w and y is the result, and the others are given:
//
//   y[n, k, p] = sum over c and r of x[n, c, stride * p + dilation * r]
//                                  * w[k, c, r]
//   w[k, c, r] = sum over n and p of the same x * y[n, k, p]
//
// The gradient to x is a convolution of the first kind too: with the filter
// reversed, over an image that the program has spread and padded. Those of the
// first kind may have an epilogue, with a bias for each k.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_CUDA_CONVOLUTIONMATCH_H
#define TOFU_LIB_RUNTIME_CUDA_CONVOLUTIONMATCH_H

#include "Contraction.h"

namespace mlir::tofu::cuda {

/// The most spatial dims that a convolution may have.
constexpr size_t kMaxSpatialDims = 3;

/// An operand as a tensor of a convolution; strides in elements.
struct ConvolutionTensor {
  host::Operand operand;
  /// x: N, C, spatial dims. y: N, K, spatial dims. w: K, C, spatial dims.
  /// With groups C of x and K of w and y count those of all groups.
  std::vector<int64_t> sizes, strides;

  int64_t volume() const;
};

struct Convolution {
  /// Whether w is the result; otherwise y is.
  bool isFilterGradient;
  /// Whether the result is y, and a bias, if there is one, a vector without
  /// gaps along its channels.
  bool takesEpilogue;
  /// Whether it has neither windows nor images, but an epilogue.
  bool isProduct;
  ConvolutionTensor x, w, y;
  /// For each spatial dim, of which there are at least two.
  std::vector<int64_t> stride, dilation;

  const ConvolutionTensor &result() const { return isFilterGradient ? w : y; }
};

/// The ways to see a contraction as a convolution without padding, best first;
/// none if it isn't one. It must not be joined (Contraction::join), which hides
/// that some channels or rows are neighbours of a window.
std::vector<Convolution>
matchConvolutions(const host::Contraction &contraction);

} // namespace mlir::tofu::cuda

#endif // TOFU_LIB_RUNTIME_CUDA_CONVOLUTIONMATCH_H
