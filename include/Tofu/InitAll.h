//===- InitAll.h - Registration of everything in Tofu -----------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_INITALL_H
#define TOFU_INITALL_H

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir {
class DialectRegistry;

namespace tofu {

/// Adds Tofu's dialect to `registry`.
void registerAllTofuDialects(DialectRegistry &registry);

/// Adds Tofu's external models of interfaces on upstream operations, which
/// become active when their dialects are loaded.
void registerAllTofuExtensions(DialectRegistry &registry);

/// Registers Tofu's passes and pipelines with the global pass registry. Call it
/// once per process.
void registerAllTofuPasses();

/// Registers all of upstream's dialects and extensions beside Tofu's.
void registerAllDialectsAndExtensions(DialectRegistry &registry);

/// Prints the line that tools add to the error of an input that did not parse.
/// MLIR's text format changes between releases, so a file from another release
/// is the likely cause.
void printInputFormatHint(llvm::raw_ostream &os);

} // namespace tofu
} // namespace mlir

#endif // TOFU_INITALL_H
