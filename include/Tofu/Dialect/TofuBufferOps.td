//===- TofuBufferOps.td - Operations near the runtime ------*- tablegen -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a program consists of below the partitioned form: each operation is one
// call of the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_DIALECT_TOFUBUFFEROPS_TD
#define TOFU_DIALECT_TOFUBUFFEROPS_TD

include "Tofu/Dialect/TofuAttributes.td"
include "Tofu/Dialect/TofuBufferEnums.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tofu_CollectiveBufferOp : Op<Tofu_Dialect, "collective"> {
  let summary = "moves and combines data between devices, from buffer to buffer";
  let description = [{
    Any of the collectives on tensors after bufferization. The devices hold the
    boxes `from` of a value of the given global shape in `source` and end with
    the boxes `to` in `dest`. The two don't overlap. All devices reach it, in the
    same order.

    ```mlir
    tofu.collective all_gather %a, %b in [66, 4]
        from #tofu.layout<@mesh, [{x}, {} ]> to #tofu.layout<@mesh, [{}, {} ]>
        : memref<?x4xf32>, memref<66x4xf32>
    ```
  }];
  let arguments = (ins
    Tofu_CollectiveKind:$kind,
    Arg<AnyStridedMemRef, "what this device gives", [MemRead]>:$source,
    Arg<AnyStridedMemRef, "what this device gets", [MemWrite]>:$dest,
    Variadic<Index>:$dynamic_sizes, DenseI64ArrayAttr:$global_shape,
    Tofu_PlacementAttrInterface:$from, Tofu_PlacementAttrInterface:$to);
  let assemblyFormat = [{
    $kind $source `,` $dest `from` $from `to` $to `in`
    custom<DynamicIndexList>($dynamic_sizes, $global_shape) attr-dict
    `:` type($source) `,` type($dest)
  }];
  let extraClassDeclaration = [{
    ::mlir::tofu::GlobalShape getShape() {
      return {getGlobalShape(), getDynamicSizes()};
    }
  }];
  let hasVerifier = 1;
}

def Tofu_TensorOrMemRef : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>;

def Tofu_ContractOp : Op<Tofu_Dialect, "contract", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "sums products of two operands, by the runtime's library";
  let description = [{
    `out = lhs * rhs`, or `out += lhs * rhs` with `accumulate`. The maps go from
    the loop dims to the indices of `lhs`, `rhs` and `out`; each result is a dim
    or the constant 0, or in an input a sum of positive multiples of dims, as of
    a convolution; no dim comes twice in one map. A dim of `lhs` and `rhs` that
    is missing in `out` is summed over, one in all three is a batch dim. Without
    `accumulate`, what `out` held is not read. Inputs are converted to the type
    of `out` before they are multiplied.

    ```mlir
    %2 = tofu.contract %0, %1 into %c
        maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n, k) -> (m, n)>]
        : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
    ```
  }];
  let arguments = (ins Tofu_TensorOrMemRef:$lhs, Tofu_TensorOrMemRef:$rhs,
                       Tofu_TensorOrMemRef:$out,
                       AffineMapArrayAttr:$maps, UnitAttr:$accumulate);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    (`accumulate` $accumulate^)? $lhs `,` $rhs `into` $out `maps` $maps attr-dict
    `:` type($lhs) `,` type($rhs) `,` type($out) (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }

    /// The map of `lhs`, `rhs` or `out`.
    ::mlir::AffineMap getMap(unsigned operand) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[operand]).getValue();
    }
  }];
}

#endif // TOFU_DIALECT_TOFUBUFFEROPS_TD
