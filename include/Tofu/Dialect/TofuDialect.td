//===- TofuDialect.td - The tofu dialect -------------------*- tablegen -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_DIALECT_TOFUDIALECT_TD
#define TOFU_DIALECT_TOFUDIALECT_TD

include "mlir/IR/DialectBase.td"

def Tofu_Dialect : Dialect {
  let name = "tofu";
  let cppNamespace = "::mlir::tofu";
  let summary = "Partitioning tensor programs over devices";
  let description = [{
    Describes what operators read and write (`#tofu.semantics`), how values lie
    on a mesh of devices (`tofu.mesh`, `#tofu.layout`), how the work of an
    operator is cut (`#tofu.strategy`), and the data that moves in between
    (`tofu.reshard`, and the collectives that it becomes).

    While a program is planned, the plan lives in discardable attributes:

    | attribute | on | meaning |
    | --- | --- | --- |
    | `tofu.semantics` | any operation, declarations | its `#tofu.semantics`, that of the calls |
    | `tofu.strategy` | any operation | its `#tofu.strategy` |
    | `tofu.layouts` | any operation | an array with the `#tofu.layout` of each result |
    | `tofu.arg_layouts` | branches and loops | per region, an array with the `#tofu.layout` of each argument |
    | `tofu.layout` | function arguments and results, `ml_program.global` | their `#tofu.layout` |
    | `tofu.global_type` | function arguments and results, `ml_program.global` | the type before localization |
    | `tofu.size_of` | function arguments | the numbers of an argument and of a dim of it: this is the size of the whole |
    | `tofu.carried_to` | function arguments | the number of the result that keeps this argument's layout |

    What is there before a program is planned, of these, is kept by the plan. More
    can be asked of it:

    | attribute | on | meaning |
    | --- | --- | --- |
    | `tofu.forbid` | operations, function arguments and results | an array of dims that are not cut, by number; iteration dims also by name |
    | `tofu.tie` | the same | a name: what has it has one layout; operations stand for their results |
    | `tofu.priority` | the same | a number, 0 if it is not there: where what is asked contradicts itself, the lower gives way |
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect"
  ];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Names of the discardable attributes that hold the plan.
    static constexpr llvm::StringLiteral kSemantics = "tofu.semantics";
    static constexpr llvm::StringLiteral kStrategy = "tofu.strategy";
    static constexpr llvm::StringLiteral kLayouts = "tofu.layouts";
    static constexpr llvm::StringLiteral kArgLayouts = "tofu.arg_layouts";
    static constexpr llvm::StringLiteral kLayout = "tofu.layout";
    static constexpr llvm::StringLiteral kGlobalType = "tofu.global_type";
    static constexpr llvm::StringLiteral kSizeOf = "tofu.size_of";
    static constexpr llvm::StringLiteral kCarriedTo = "tofu.carried_to";
    /// Names of those that constrain it.
    static constexpr llvm::StringLiteral kForbid = "tofu.forbid";
    static constexpr llvm::StringLiteral kTie = "tofu.tie";
    static constexpr llvm::StringLiteral kPriority = "tofu.priority";
    /// On a function with operations that one kernel does row by row: the loops
    /// of the first one that go over the rows, as an array of their numbers.
    static constexpr llvm::StringLiteral kRowLoops = "tofu.row_loops";

    void registerAttributes();
    void registerOps();
  }];
}

#endif // TOFU_DIALECT_TOFUDIALECT_TD
