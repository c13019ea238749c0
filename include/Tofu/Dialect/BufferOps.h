//===- BufferOps.h - Operations near the runtime ----------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_DIALECT_BUFFEROPS_H
#define TOFU_DIALECT_BUFFEROPS_H

#include "Tofu/Dialect/Tofu.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"

#include "Tofu/Dialect/TofuBufferEnums.h.inc"
#define GET_OP_CLASSES
#include "Tofu/Dialect/TofuBufferOps.h.inc"

#endif // TOFU_DIALECT_BUFFEROPS_H
