//===- NoCudnn.cpp - Where the backend is built without cuDNN -------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Convolution.h"

using namespace mlir::tofu;
using namespace mlir::tofu::cuda;

Outcome cuda::runConvolution(Device &, cudaStream_t, const host::Contraction &,
                             const char *) {
  return Outcome::Refused;
}

std::string cuda::describeCudnn() { return "built without cuDNN"; }
