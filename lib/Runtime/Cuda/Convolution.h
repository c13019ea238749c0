//===- Convolution.h - Convolutions of the CUDA backend ---------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_CUDA_CONVOLUTION_H
#define TOFU_LIB_RUNTIME_CUDA_CONVOLUTION_H

#include "Contraction.h"
#include "Device.h"

namespace mlir::tofu::cuda {

/// What became of a contraction. A refused one has been left as it was.
enum class Outcome { Done, Refused, Failed };

/// Runs a contraction of floats that isn't joined and has terms as a
/// convolution of cuDNN, with its epilogue in the same call, if it is one and
/// the library takes it. If it fails, so has the device.
Outcome runConvolution(Device &device, cudaStream_t stream,
                       const host::Contraction &contraction,
                       const char *location);

/// The version of cuDNN, or why there is none, for people.
std::string describeCudnn();

} // namespace mlir::tofu::cuda

#endif // TOFU_LIB_RUNTIME_CUDA_CONVOLUTION_H
