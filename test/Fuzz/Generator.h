//===- Generator.h - Random tensor programs ---------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Well-formed programs by seed, over all that the partitioner takes. Values are
// tame: the generator tracks how large each may be and how much of it depends
// on the order of additions, so that a run in parts may be compared with a
// serial one at the usual tolerances.
//
// Each operation of the function is a statement: it starts with four spaces and
// a percent sign, and ends with a comment that has its results' types. That is
// what the reducer goes by.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_FUZZ_GENERATOR_H
#define TOFU_TEST_FUZZ_GENERATOR_H

#include <cstdint>
#include <string>

namespace mlir::tofu::fuzz {

/// The text of a module whose only public function is @main. Before that, a
/// comment per argument has its type, if some of these have unknown sizes.
std::string generateProgram(uint64_t seed);

/// Such a program with tensors of unknown sizes.
std::string generateDynamicProgram(uint64_t seed);

/// What comments that say the type of an argument begin with.
inline constexpr const char kInputComment[] = "// input: ";

} // namespace mlir::tofu::fuzz

#endif // TOFU_TEST_FUZZ_GENERATOR_H
