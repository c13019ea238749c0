//===- Epilogue.h - What becomes of a contraction's elements ----*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the host, and for kernels of a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_HOST_EPILOGUE_H
#define TOFU_LIB_RUNTIME_HOST_EPILOGUE_H

#include "Tofu/Runtime/Half.h"
#include "Tofu/Runtime/Runtime.h"

#include <cmath>

namespace mlir::tofu::host {

/// `x` after a TofuActivation.
template <typename T>
TOFU_HOST_DEVICE T activate(int64_t activation, T x) {
  switch (activation) {
  case TOFU_ACTIVATION_RELU:
    return x > 0 ? x : T(0);
  case TOFU_ACTIVATION_RELU_NAN:
    return x <= 0 ? T(0) : x;
  case TOFU_ACTIVATION_GELU_TANH: {
    const T scale = T(0.79788456080286535588); // sqrt(2 / pi)
    return T(0.5) * x *
           (T(1) + std::tanh(scale * (x + T(0.044715) * x * x * x)));
  }
  default:
    return x;
  }
}

} // namespace mlir::tofu::host

#endif // TOFU_LIB_RUNTIME_HOST_EPILOGUE_H
