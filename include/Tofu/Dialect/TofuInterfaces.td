//===- TofuInterfaces.td - Interfaces ----------------------*- tablegen -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_DIALECT_TOFUINTERFACES_TD
#define TOFU_DIALECT_TOFUINTERFACES_TD

include "mlir/IR/OpBase.td"

def Tofu_PartitionableOpInterface : OpInterface<"PartitionableOpInterface"> {
  let cppNamespace = "::mlir::tofu";
  let description = [{
    An operation whose work can be cut over devices: it says what it reads and
    writes, and builds itself anew on the local pieces.
  }];
  let methods = [
    InterfaceMethod<[{
        The operation's semantics: one access per ranked tensor operand, then per
        captured ranked tensor, and one per result. A null attribute if it cannot
        be described; `why` then says why. With semantics, `why` may say which dim
        stays whole because it could not be analysed, and why.
      }],
      "::mlir::tofu::SemanticsAttr", "computeSemantics",
      (ins "::std::string &":$why)>,
    InterfaceMethod<[{
        Builds the operation on the pieces that one device has, under the
        strategy of `piece`, and gives the local results. Emits an error and fails
        if it cannot.
      }],
      "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "createLocal",
      (ins "::mlir::tofu::LocalPiece &":$piece)>,
    InterfaceMethod<[{
        For an operation whose semantics has `region` as a combiner: builds
        operations that combine its partial results, `parts`, which are numbered
        along a new first dim, and gives the results. Emits an error and fails if
        it cannot.
      }],
      "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "createMerge",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$parts), "", [{
        return $_op->emitOpError("does not combine its results itself");
      }]>
  ];
}

#endif // TOFU_DIALECT_TOFUINTERFACES_TD
