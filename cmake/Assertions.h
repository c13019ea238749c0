//===- Assertions.h - Assertions against an LLVM without --------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Included before all else where assertions are on. Statistics are of another
// class with assertions than without: the libraries' constructors would leave
// ours half initialized. So they are declared as the libraries have them.
//
//===----------------------------------------------------------------------===//

#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
#include <cassert>
