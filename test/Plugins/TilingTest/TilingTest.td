//===- TilingTest.td - Operations that only say how they are tiled --------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILING_TEST_TD
#define TILING_TEST_TD

include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def TilingTest_Dialect : Dialect {
  let name = "tiling_test";
  let cppNamespace = "::tiling_test";
  let summary = "A dialect that knows nothing of partitioning";
}

defvar tilingMethods = ["getLoopIteratorTypes", "getIterationDomain",
                        "getTiledImplementation", "getResultTilePosition"];

class TilingTest_Op<string mnemonic, list<Trait> traits>
    : Op<TilingTest_Dialect, mnemonic, !listconcat(traits,
        [Pure, DeclareOpInterfaceMethods<TilingInterface, tilingMethods>,
         DeclareOpInterfaceMethods<AggregatedOpInterface, ["decomposeOperation"]>])>;

def BlurOp : TilingTest_Op<"blur", []> {
  let summary = "out[i, j] = in[i, j] + in[i + 1, j] + in[i + 2, j]";
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
}

def MirrorOp : TilingTest_Op<"mirror", []> {
  let summary = "out[i] = in[n - 1 - i]";
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
}

def NormsOp : TilingTest_Op<"norms",
    [DestinationStyleOpInterface,
     DeclareOpInterfaceMethods<PartialReductionOpInterface,
       ["generateInitialTensorForPartialReduction", "tileToPartialReduction",
        "mergeReductions", "getPartialResultTilePosition"]>]> {
  let summary = "out[i] = init[i] + sum over j of in[i, j]²";
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$init);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = [{
    $input `into` $init attr-dict `:` type($input) `into` type($init) `->` type($output)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

#endif // TILING_TEST_TD
