//===- Passes.td - Conversion passes -----------------------*- tablegen -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the order in which the pipeline `tofu-to-host` runs them.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_CONVERSION_PASSES_TD
#define TOFU_CONVERSION_PASSES_TD

include "Tofu/Conversion/TensorPasses.td"
include "Tofu/Conversion/BufferPasses.td"
include "Tofu/Conversion/KernelPasses.td"
include "Tofu/Conversion/RuntimePasses.td"

#endif // TOFU_CONVERSION_PASSES_TD
