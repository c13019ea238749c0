//===- Combiners.h - How partial results combine ----------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_DIALECT_COMBINERS_H
#define TOFU_DIALECT_COMBINERS_H

#include "Tofu/Dialect/Tofu.h"

namespace mlir::tofu {

/// The combiner that an operation on two numbers is; `None` for others.
Combiner getCombiner(Operation *op);

/// A constant of a number type: an IntegerAttr, a FloatAttr or, for complex
/// numbers, an ArrayAttr of both parts. Null for other types.
Value createConstantScalar(OpBuilder &builder, Location loc, Type type,
                           Attribute number);

/// The neutral element of `combiner`, which combining with changes nothing; in
/// the form that `createConstantScalar` takes. Null for types that have none.
Attribute getNeutral(Type type, Combiner combiner);

/// A tensor of the given shape filled with the neutral element. Null for
/// element types that have none.
Value createNeutral(OpBuilder &builder, Location loc, Type elementType,
                    const GlobalShape &shape, Combiner combiner);

/// The neutral element as a scalar; null if there is none.
Value createNeutralScalar(OpBuilder &builder, Location loc, Type type,
                          Combiner combiner);

/// Combines two scalars.
Value createCombine(OpBuilder &builder, Location loc, Combiner combiner,
                    Value a, Value b);

} // namespace mlir::tofu

#endif // TOFU_DIALECT_COMBINERS_H
