//===- Remade.h - Values that every device makes itself ---------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TRANSFORMS_REMADE_H
#define TOFU_TRANSFORMS_REMADE_H

#include "Tofu/Dialect/Placement.h"

namespace mlir::tofu {

/// True if `value` is the same everywhere in the tensor, or undefined: an empty
/// tensor, a fill, a splat, or what an operator copies, broadcasts or
/// transposes of one. Every device makes what it needs of it; it has no place
/// in the plan and costs no bytes.
bool isRemade(Value value);

/// True if `value` is a constant, remade or not: all devices have all of it.
bool isConstantTensor(Value value);

/// Makes this device's box of a remade value of the given shape. Scalars come
/// from `mapping`.
Value remake(OpBuilder &builder, Location loc, Value value,
             const GlobalShape &shape, PlacementAttrInterface placement,
             const search::Mesh &mesh, const IRMapping &mapping);

/// True if `value` is remade from the neutral element of `combiner`.
bool isNeutral(Value value, Combiner combiner);

} // namespace mlir::tofu

#endif // TOFU_TRANSFORMS_REMADE_H
