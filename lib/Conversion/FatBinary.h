//===- FatBinary.h - Kernels for several chips in one image -----*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_FATBINARY_H
#define TOFU_LIB_CONVERSION_FATBINARY_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::tofu {

/// What one chip runs.
struct ChipImage {
  StringRef chip; ///< sm_90
  bool isPtx;     ///< text, which later chips run too, or else machine code
  StringRef data;
};

/// One image, of which a driver takes what fits its chip. By `fatbinary` of the
/// CUDA toolkit that the environment names, or in PATH; the error says what is
/// wrong with it.
llvm::Expected<std::string> makeFatBinary(ArrayRef<ChipImage> images);

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_FATBINARY_H
