//===- GenericCopy.h - Copies as operations on elements ---------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_GENERICCOPY_H
#define TOFU_LIB_CONVERSION_GENERICCOPY_H

#include "mlir/IR/Builders.h"

namespace mlir::tofu {

/// Copies the elements of a buffer to another one.
void createGenericCopy(OpBuilder &builder, Location loc, Value from, Value to);

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_GENERICCOPY_H
