//===- Tofu.h - The tofu dialect --------------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_DIALECT_TOFU_H
#define TOFU_DIALECT_TOFU_H

#include "Tofu/Search/Geometry.h"
#include "Tofu/Search/PartitionGraph.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "Tofu/Dialect/TofuDialect.h.inc"
#include "Tofu/Dialect/TofuEnums.h.inc"

namespace mlir::tofu {
class LocalPiece;

/// The sizes of a whole tensor. Those that are known only when the program runs
/// are `ShapedType::kDynamic`, with their values in order.
struct GlobalShape {
  GlobalShape() = default;
  GlobalShape(ArrayRef<int64_t> sizes, ValueRange values = {})
      : sizes(sizes), values(values) {}

  static GlobalShape get(ArrayRef<OpFoldResult> mixed);

  bool isStatic() const { return values.empty(); }
  bool operator==(const GlobalShape &o) const {
    return sizes == o.sizes && values == o.values;
  }

  /// The size of a dim: an index attribute or a value.
  OpFoldResult getSize(MLIRContext *context, unsigned dim) const;

  SmallVector<int64_t> sizes;
  SmallVector<Value> values;
};
} // namespace mlir::tofu

#include "Tofu/Dialect/TofuAttrInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "Tofu/Dialect/TofuAttributes.h.inc"

#include "Tofu/Dialect/TofuInterfaces.h.inc"
#define GET_OP_CLASSES
#include "Tofu/Dialect/TofuOps.h.inc"

#endif // TOFU_DIALECT_TOFU_H
