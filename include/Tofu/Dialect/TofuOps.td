//===- TofuOps.td - Operations -----------------------------*- tablegen -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_DIALECT_TOFUOPS_TD
#define TOFU_DIALECT_TOFUOPS_TD

include "Tofu/Dialect/TofuAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tofu_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tofu_Dialect, mnemonic, traits>;

def Tofu_MeshOp : Tofu_Op<"mesh", [Symbol]> {
  let summary = "names the axes over which devices are arranged";
  let description = [{
    The product of the sizes is the number of devices. Device numbers are
    row-major in the coordinates, last axis fastest. The first axis is the first
    step of the search, and the slowest link.

    ```mlir
    tofu.mesh @mesh[x = 2, y = 3]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$axis_names,
                       DenseI64ArrayAttr:$axis_sizes);
  let assemblyFormat = [{
    $sym_name custom<MeshAxes>($axis_names, $axis_sizes) attr-dict
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
                                 "const ::mlir::tofu::search::Mesh &":$mesh)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The largest number of devices of a mesh.
    static constexpr int64_t kMostDevices = 4096;
    /// The largest number of axes: sets of them are bits of a word.
    static constexpr size_t kMostAxes = 32;

    ::mlir::tofu::search::Mesh getMesh();
  }];
}

def Tofu_DeviceIdOp : Tofu_Op<"device_id", [Pure]> {
  let summary = "reads the number of the device that runs this";
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

/// A list of sizes, some of which may be values, and its builder.
class Tofu_ShapedBuilder<dag before, string initialize, dag after = (ins)>
    : OpBuilder<!con((ins "::mlir::Type":$type), before,
                     (ins "const ::mlir::tofu::GlobalShape &":$shape), after), [{
        build($_builder, $_state, type, }] # initialize # [{);
      }]>;

class Tofu_ShardBoundOp<string mnemonic, string what>
    : Tofu_Op<mnemonic, [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "reads the " # what # " of this device's box along one dim";
  let description = [{
    The box is that of the placement, in a tensor of the given shape. Folds to a
    constant if it is the same on all devices. Sizes that are known only when
    the program runs are values.

    ```mlir
    %n = tofu.}] # mnemonic # [{ 0 of #tofu.layout<@mesh, [{x}, {} ]> in [66, 4] : index
    %m = tofu.}] # mnemonic # [{ 0 of #tofu.layout<@mesh, [{x}, {} ]> in [%rows, 4] : index
    ```
  }];
  let arguments = (ins I64Attr:$dim, Tofu_PlacementAttrInterface:$placement,
                       Variadic<Index>:$dynamic_sizes,
                       DenseI64ArrayAttr:$global_shape);
  let results = (outs Index:$result);
  let assemblyFormat = [{
    $dim `of` $placement `in`
    custom<DynamicIndexList>($dynamic_sizes, $global_shape) attr-dict `:`
    type($result)
  }];
  let builders = [Tofu_ShapedBuilder<
      (ins "uint64_t":$dim, "::mlir::tofu::PlacementAttrInterface":$placement),
      "dim, placement, shape.values, shape.sizes">];
  let extraClassDeclaration = [{
    ::mlir::tofu::GlobalShape getShape() {
      return {getGlobalShape(), getDynamicSizes()};
    }
  }];
  let hasFolder = 1;
}

def Tofu_ShardOffsetOp : Tofu_ShardBoundOp<"shard_offset", "first global index">;
def Tofu_ShardSizeOp : Tofu_ShardBoundOp<"shard_size", "number of elements">;

class Tofu_MoveOp<string mnemonic, list<Trait> traits = []>
    : Tofu_Op<mnemonic, !listconcat(traits,
        [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>])> {
  let arguments = (ins AnyRankedTensor:$input, Variadic<Index>:$dynamic_sizes,
                       DenseI64ArrayAttr:$global_shape,
                       Tofu_PlacementAttrInterface:$from,
                       Tofu_PlacementAttrInterface:$to);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `from` $from `to` $to `in`
    custom<DynamicIndexList>($dynamic_sizes, $global_shape) attr-dict `:`
    type($input) `->` type($result)
  }];
  let builders = [Tofu_ShapedBuilder<
      (ins "::mlir::Value":$input), "input, shape.values, shape.sizes, from, to",
      (ins "::mlir::tofu::PlacementAttrInterface":$from,
           "::mlir::tofu::PlacementAttrInterface":$to)>];
  let extraClassDeclaration = [{
    ::mlir::tofu::GlobalShape getShape() {
      return {getGlobalShape(), getDynamicSizes()};
    }
  }];
  let hasFolder = 1;
}

def Tofu_ReshardOp : Tofu_MoveOp<"reshard"> {
  let summary = "changes where a value lies";
  let description = [{
    The value of the given global shape lies as `from` says and is to lie as `to`
    says. Partial results over axes that `to` isn't partial over are combined; over
    axes that only `to` is partial over, one device keeps each element and the
    others get the combiner's neutral element. Operand
    and result have the global type in a planned program, and local types after
    localization. Global sizes that are known only when the program runs are
    values: `in [%rows, 4]`.

    ```mlir
    %1 = tofu.reshard %0 from #tofu.layout<@mesh, [{x}, {} ]>
         to #tofu.layout<@mesh, [{}, {x} ]> in [66, 4] : tensor<66x4xf32> -> tensor<66x4xf32>
    ```
  }];
}

def Tofu_StackOp : Tofu_Op<"stack",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "numbers partial results along a new dim";
  let description = [{
    Of a value that is a partial result which its operation combines itself
    (`region`): each device's part becomes one index of a new dim, which the
    partial axes cut. Nothing moves. On global types only: localization makes it
    a reshape.

    ```mlir
    %1 = tofu.stack %0 at 0 from #tofu.layout<@mesh, [{x} ], region {y}>
         to #tofu.layout<@mesh, [{y}, {x} ]> : tensor<66xf32> -> tensor<2x66xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim,
                       Tofu_LayoutAttr:$from, Tofu_LayoutAttr:$to);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `at` $dim `from` $from `to` $to attr-dict `:`
    type($input) `->` type($result)
  }];
}

class Tofu_CollectiveOp<string mnemonic, string what, string more>
    : Tofu_MoveOp<mnemonic> {
  let summary = what;
  let description = [{
    On local types only. All devices reach it, in the same order. `from` and `to`
    say which box of a tensor of the given global shape each device gives and
    gets. }] # more # [{
  }];
}

defvar combines = "It combines partial results over the axes that only `from` is partial over.";
defvar moves = "Partial results stay so.";

def Tofu_AllReduceOp : Tofu_CollectiveOp<"all_reduce",
  "combines partial results; every member of a group gets all of it", combines>;
def Tofu_AllGatherOp : Tofu_CollectiveOp<"all_gather",
  "puts the parts of a group together on every member", moves>;
def Tofu_ReduceScatterOp : Tofu_CollectiveOp<"reduce_scatter",
  "combines partial results; every member of a group gets its part", combines>;
def Tofu_AllToAllOp : Tofu_CollectiveOp<"all_to_all",
  "moves axes from some dims to others: every member sends a part to every other", moves>;
def Tofu_FetchOp : Tofu_CollectiveOp<"fetch",
  "gathers any box of a tensor from the devices that hold it",
  "It does what a `tofu.reshard` from and to these placements says.">;

#endif // TOFU_DIALECT_TOFUOPS_TD
