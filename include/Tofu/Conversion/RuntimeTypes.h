//===- RuntimeTypes.h - Element types as the runtime has them ---*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_CONVERSION_RUNTIMETYPES_H
#define TOFU_CONVERSION_RUNTIMETYPES_H

#include "Tofu/Runtime/Runtime.h"

#include "mlir/IR/Types.h"

#include <optional>

namespace mlir::tofu {

/// The runtime's name for an element type; nothing if it has none.
std::optional<TofuElementType> getRuntimeType(Type type);

} // namespace mlir::tofu

#endif // TOFU_CONVERSION_RUNTIMETYPES_H
