//===- TofuBufferEnums.td - Enums of the buffer level ------*- tablegen -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_DIALECT_TOFUBUFFERENUMS_TD
#define TOFU_DIALECT_TOFUBUFFERENUMS_TD

include "mlir/IR/EnumAttr.td"

def Tofu_CollectiveKind : I32EnumAttr<"CollectiveKind",
    "kind of a collective; the order is that of the runtime's tables", [
    I32EnumAttrCase<"AllReduce", 0, "all_reduce">,
    I32EnumAttrCase<"AllGather", 1, "all_gather">,
    I32EnumAttrCase<"ReduceScatter", 2, "reduce_scatter">,
    I32EnumAttrCase<"AllToAll", 3, "all_to_all">,
    I32EnumAttrCase<"Fetch", 4, "fetch">
  ]> {
  let cppNamespace = "::mlir::tofu";
}

def Tofu_Activation : I32EnumAttr<"Activation",
    "what becomes of the elements of a contraction; the order is that of the runtime's tables", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Relu", 1, "relu">,
    I32EnumAttrCase<"GeluTanh", 2, "gelu_tanh">,
    I32EnumAttrCase<"ReluNan", 3, "relu_nan">
  ]> {
  let cppNamespace = "::mlir::tofu";
}

#endif // TOFU_DIALECT_TOFUBUFFERENUMS_TD
