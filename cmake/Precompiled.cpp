//===- Precompiled.cpp - Owner of the precompiled header ------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Intentionally empty: a precompiled header belongs to a target, and a target
// has a source.
//
//===----------------------------------------------------------------------===//
