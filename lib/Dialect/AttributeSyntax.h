//===- AttributeSyntax.h - What attributes have in common -------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_DIALECT_ATTRIBUTESYNTAX_H
#define TOFU_LIB_DIALECT_ATTRIBUTESYNTAX_H

#include "Tofu/Dialect/Tofu.h"

namespace mlir::tofu::syntax {

/// `{x, y}`
ParseResult parseAxisNames(AsmParser &parser,
                           SmallVectorImpl<StringAttr> &names);
void printAxisNames(AsmPrinter &printer, ArrayRef<StringAttr> names);
ParseResult parseAxes(AsmParser &parser, AxesAttr &axes);

/// `[{x}, {}]`
ParseResult parseAxesList(AsmParser &parser, SmallVectorImpl<AxesAttr> &list);
void printAxesList(AsmPrinter &printer, ArrayRef<AxesAttr> list);

/// The name of a combiner, other than none.
ParseResult parseCombiner(AsmParser &parser, Combiner &combiner);

/// `, sum {y}`, if it is there.
ParseResult parsePartial(AsmParser &parser, AxesAttr &partial,
                         Combiner &combiner);
void printPartial(AsmPrinter &printer, AxesAttr partial, Combiner combiner);

/// Iteration dims by their names.
using NamedDims = SmallVector<std::pair<StringRef, AffineExpr>>;

/// Names the dims by their positions; two may not share a name.
ParseResult nameDims(AsmParser &parser, ArrayRef<StringAttr> names,
                     NamedDims &dims);

/// Index expressions in brackets; `:` is a null one.
ParseResult parseIndex(AsmParser &parser, const NamedDims &dims,
                       SmallVectorImpl<AffineExpr> &index);
void printIndex(AsmPrinter &printer, ArrayRef<AffineExpr> index,
                ArrayRef<StringAttr> names);

/// `NAME = SIZE`; `?` is a size that isn't known, `? covering` one of a dim
/// that covers the tensor.
ParseResult parseNamedSize(AsmParser &parser, StringAttr &name, int64_t &size);
void printNamedSize(AsmPrinter &printer, StringAttr name, int64_t size);

} // namespace mlir::tofu::syntax

namespace mlir::tofu {

/// Index expressions over dims of the given sizes; fails if one isn't linear,
/// or too large.
FailureOr<SmallVector<search::LinearExpr, 4>>
toLinear(ArrayRef<AffineExpr> index, ArrayRef<int64_t> sizes);

} // namespace mlir::tofu

#endif // TOFU_LIB_DIALECT_ATTRIBUTESYNTAX_H
