//===- TofuBufferOps.td - Operations near the runtime ------*- tablegen -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a program consists of below the partitioned form: each operation is one
// call of the runtime, or of a function of the user's.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_DIALECT_TOFUBUFFEROPS_TD
#define TOFU_DIALECT_TOFUBUFFEROPS_TD

include "Tofu/Dialect/TofuAttributes.td"
include "Tofu/Dialect/TofuBufferEnums.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
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

    An epilogue gives floats a `bias`, which is added to the sums, and then an
    activation: `relu` is `x > 0 ? x : 0`, so 0 for NaN as of `arith.maxnumf`;
    `relu_nan` is `x <= 0 ? 0 : x`, so NaN for NaN as of `arith.maximumf`;
    `gelu_tanh` is `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))`.
    The bias has elements of the type of `out` and a map of its own, the fourth:
    its indices are dims of `out` or 0. The epilogue is computed in f64 for f64,
    else in f32.

    ```mlir
    %2 = tofu.contract %0, %1 into %c
        maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n, k) -> (m, n)>]
        : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
    %3 = tofu.contract %0, %1 into %c bias %d activation gelu_tanh
        maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (n)>]
        : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32>, tensor<6xf32> -> tensor<8x6xf32>
    ```
  }];
  let arguments = (ins Tofu_TensorOrMemRef:$lhs, Tofu_TensorOrMemRef:$rhs,
                       Tofu_TensorOrMemRef:$out,
                       Optional<Tofu_TensorOrMemRef>:$bias,
                       AffineMapArrayAttr:$maps, UnitAttr:$accumulate,
                       DefaultValuedAttr<Tofu_Activation,
                           "::mlir::tofu::Activation::None">:$activation);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    (`accumulate` $accumulate^)? $lhs `,` $rhs `into` $out (`bias` $bias^)?
    (`activation` $activation^)? `maps` $maps attr-dict `:` type($lhs) `,`
    type($rhs) `,` type($out) (`,` type($bias)^)? (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }

    bool hasEpilogue() {
      return getBias() || getActivation() != ::mlir::tofu::Activation::None;
    }

    /// The map of `lhs`, `rhs`, `out` or `bias`.
    ::mlir::AffineMap getMap(unsigned operand) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[operand]).getValue();
    }
  }];
}

def Tofu_CallOp : Op<Tofu_Dialect, "call", [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a function that is outside of the program";
  let description = [{
    The callee is a declaration. It writes all of its results to `outs`, which
    have their sizes; what `outs` held is not read. If the declaration has
    `tofu.semantics`, dims that can be cut may have any size here; the rest is as
    declared. On tensors the results are `outs` after the call. If there is a
    condition and it is false, nothing is called and `outs` stay as they are.

    ```mlir
    func.func private @cholesky(tensor<16x8x8xf32>) -> tensor<16x8x8xf32> attributes {
      tofu.semantics = #tofu.semantics<[b = 16], (mat[b, :, :]) -> (out[b, :, :])>
    }
    %0 = tensor.empty() : tensor<4x8x8xf32>
    %1 = tofu.call @cholesky(%a : tensor<4x8x8xf32>) into(%0 : tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs,
                       Variadic<Tofu_TensorOrMemRef>:$outs,
                       Optional<I1>:$condition);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $callee `(` ($inputs^ `:` type($inputs))? `)`
    `into` `(` ($outs^ `:` type($outs))? `)` (`if` $condition^)? attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
}

def Tofu_GlobalMemoryOp : Op<Tofu_Dialect, "global_memory"> {
  let summary = "the memory in which this device keeps its part of a global";
  let description = [{
    The same memory for the same name, in all functions and in all runs of a
    device's context. `is_new` is true the first time: then the memory holds
    nothing yet.

    ```mlir
    %memory, %is_new = tofu.global_memory "state"(%size) : memref<?x4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<Index>:$sizes);
  let results = (outs AnyStridedMemRef:$memory, I1:$is_new);
  let assemblyFormat = [{
    $name (`(` $sizes^ `)`)? attr-dict `:` type($memory)
  }];
  let hasVerifier = 1;
}

#endif // TOFU_DIALECT_TOFUBUFFEROPS_TD
