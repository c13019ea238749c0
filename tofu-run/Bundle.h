//===- Bundle.h - Writing a compiled program --------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUN_BUNDLE_H
#define TOFU_RUN_BUNDLE_H

#include "Compiler.h"

namespace mlir::tofu {

/// Makes the folder of a bundle, if it isn't there, and removes the plan of an
/// earlier one: no other may take its place.
std::error_code makeBundleFolder(StringRef folder);

/// Writes the bundle (Tofu/Runtime/Bundle.h) of a program that was not lowered
/// yet, and is by this, to a folder, which must be there.
llvm::Error writeBundle(Program &program, const ChosenBackend &backend,
                        const RunOptions &options);

} // namespace mlir::tofu

#endif // TOFU_RUN_BUNDLE_H
