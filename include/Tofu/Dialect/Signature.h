//===- Signature.h - Attributes of arguments and results --------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_DIALECT_SIGNATURE_H
#define TOFU_DIALECT_SIGNATURE_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::tofu {

/// Sets attribute `name` of every argument, or result, that `values` has one
/// for; null leaves it as it is. All at once, since setting that of one copies
/// the list of all.
void setArgAttrs(FunctionOpInterface function, StringRef name,
                 ArrayRef<Attribute> values);
void setResultAttrs(FunctionOpInterface function, StringRef name,
                    ArrayRef<Attribute> values);

} // namespace mlir::tofu

#endif // TOFU_DIALECT_SIGNATURE_H
