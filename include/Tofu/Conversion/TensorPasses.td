//===- TensorPasses.td - Passes on tensors -----------------*- tablegen -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function, few and large operations, contractions set apart.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_CONVERSION_TENSORPASSES_TD
#define TOFU_CONVERSION_TENSORPASSES_TD

include "mlir/Pass/PassBase.td"

def AddDestinations : Pass<"tofu-add-destinations", "::mlir::ModuleOp"> {
  let summary = "Give functions outside of the program memory for their results";
  let description = [{
    A call of a declaration that takes or gives tensors becomes a `tofu.call`,
    which says where the results go. Partitioned programs have such calls
    already where they were cut.

    Before: tensors. After: the same, declarations with tensors are called by
    `tofu.call` only.

    ```mlir
    %0 = call @cholesky(%a) : (tensor<16x8x8xf32>) -> tensor<16x8x8xf32>
    // becomes
    %e = tensor.empty() : tensor<16x8x8xf32>
    %0 = tofu.call @cholesky(%a : tensor<16x8x8xf32>) into(%e : tensor<16x8x8xf32>)
        -> tensor<16x8x8xf32>
    ```
  }];
  let statistics = [
    Statistic<"numCalls", "num-calls", "Number of calls converted">
  ];
  let dependentDialects = [
    "::mlir::tensor::TensorDialect", "::mlir::tofu::TofuDialect"
  ];
}

def ProtectArguments
    : Pass<"tofu-protect-arguments", "::mlir::func::FuncOp"> {
  let summary = "Mark tensor arguments that the caller did not give up";
  let description = [{
    Bufferization would otherwise write a result into the memory of an argument
    that is used for the last time. An argument with `tf.aliasing_output` may be
    overwritten; all others of a public function are marked.

    Before: any function. After: the same, with attributes.

    ```mlir
    func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32> {tf.aliasing_output = 0 : i32})
    // becomes
    func.func @f(%a: tensor<4xf32> {bufferization.writable = false},
                 %b: tensor<4xf32> {tf.aliasing_output = 0 : i32})
    ```
  }];
  let statistics = [
    Statistic<"numProtected", "num-protected", "Number of arguments marked">
  ];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def GeneralizeOps : Pass<"tofu-generalize-ops", "::mlir::func::FuncOp"> {
  let summary = "Rewrite operators to generics, fills and slices";
  let description = [{
    Takes softmax and its like, packing, `tensor.pad` and `tensor.concat` apart,
    and makes every named linalg operation but fills a `linalg.generic`, so that
    later passes know one form. Slices with strides or of unknown size drop dims by
    a reshape of their own: in a buffer it is unclear which ones are dropped.

    Before: linalg on tensors. After: of linalg only generics and fills; no pad,
    no concat.

    ```mlir
    %0 = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
    // becomes
    %e = tensor.empty() : tensor<5xf32>
    %1 = tensor.insert_slice %a into %e[0] [2] [1] : tensor<2xf32> into tensor<5xf32>
    %0 = tensor.insert_slice %b into %1[2] [3] [1] : tensor<3xf32> into tensor<5xf32>
    ```
  }];
  let statistics = [
    Statistic<"numGeneralized", "num-generalized",
              "Number of named operations made generic">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def RaiseContractions
    : Pass<"tofu-raise-contractions", "::mlir::func::FuncOp"> {
  let summary = "Find the contractions that a library computes";
  let description = [{
    Any structured operation on tensors that multiplies two floating-point
    inputs and adds to its output, with rows, columns and sums among its loops,
    becomes `tofu.contract`, a convolution too; what it is called does not
    matter. With `depthwise`, so does a convolution of each channel by itself, which
    has a batch dim in the place of rows or columns. Operations that
    only move or widen the elements of an input become part of it. An output
    that is a fill with zero is not filled.

    Before: linalg on tensors. After: the same, with `tofu.contract`.

    ```mlir
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
    %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>)
                       outs(%f : tensor<8x6xf32>) -> tensor<8x6xf32>
    // becomes
    %0 = tofu.contract %a, %b into %e
        maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n, k) -> (m, n)>]
        : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
    ```
  }];
  let options = [
    Option<"minWork", "min-work", "int64_t", "4096",
           "Multiply-adds below which a contraction is left alone: a call costs "
           "as much as some thousands of them in a loop">,
    Option<"depthwise", "depthwise", "bool", "false",
           "Take convolutions of each channel by itself as well: cuDNN has them, "
           "while libraries of matrix products are no better at them than loops">
  ];
  let statistics = [
    Statistic<"numRaised", "num-raised", "Number of contractions found">
  ];
  let dependentDialects = ["::mlir::tofu::TofuDialect"];
}

def MoveReshapes : Pass<"tofu-move-reshapes", "::mlir::func::FuncOp"> {
  let summary = "Move reshapes out of chains of element-wise generics";
  let description = [{
    A reshape between element-wise generics keeps them from being fused. The
    generic of lower rank is computed in the higher rank; its other operands are
    reshaped instead, which is a view in the end. So is a `tofu.contract` whose
    result is all that is expanded for element-wise generics, which may become its
    epilogue, unless a loop that would be split is part of a window; and what
    collapses its result goes behind the generic that reads it.

    Before: generics, contractions and reshapes on tensors. After: the same.

    ```mlir
    %1 = linalg.generic ... ins(%a : tensor<8xf32>) ...
    %2 = tensor.expand_shape %1 [[0, 1]] : tensor<8xf32> into tensor<2x4xf32>
    %3 = linalg.generic ... ins(%2 : tensor<2x4xf32>) ...
    // becomes
    %0 = tensor.expand_shape %a [[0, 1]] : tensor<8xf32> into tensor<2x4xf32>
    %1 = linalg.generic ... ins(%0 : tensor<2x4xf32>) ...
    %3 = linalg.generic ... ins(%1 : tensor<2x4xf32>) ...
    ```
  }];
  let statistics = [
    Statistic<"numMoved", "num-moved", "Number of reshapes moved">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::tofu::TofuDialect"
  ];
}

def FuseElementwise : Pass<"tofu-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse element-wise generics into the generics that use them";
  let description = [{
    A producer goes into its consumer if no work is repeated by it but what is
    nearly free: the consumer is its only user and reads each element once, or
    the producer is cheap. A producer that only repeats elements, or widens them,
    goes into each of its users. Where the first user reads just what the producer
    computes, the fused operation gives both results, unless that user is such a
    producer itself. Inputs that are the same number everywhere become scalars. A result of a generic that another one only writes
    over is a `tensor.empty` there, so that it keeps nothing alive.

    With `rows`, operations that one kernel will do row by row
    (`tofu-outline-kernels`) take producers among them as well, each the same
    one, if no other operation reads it: `exp(x - max)` in a softmax is computed
    for the sum and again for the quotient.

    Before: generics on tensors. After: fewer and larger ones.

    ```mlir
    %1 = linalg.generic ... ins(%a) { %e = math.exp %in ... yield %e }
    %2 = linalg.generic ... ins(%1, %b) { %s = arith.addf %in, %in_0 ... yield %s }
    // becomes
    %2 = linalg.generic ... ins(%a, %b) { %e = math.exp %in
                                          %s = arith.addf %e, %in_0 ... yield %s }
    ```
  }];
  let options = [
    Option<"maxOperands", "max-operands", "unsigned", "24",
           "Operands of a fused operation: each is a pointer that the innermost "
           "loop keeps in a register">,
    Option<"maxBodyCost", "max-body-cost", "int64_t", "400",
           "Cost of the body of a fused operation, in additions: bounds compile "
           "time">,
    Option<"cheapCost", "cheap-cost", "int64_t", "2",
           "Cost up to which computing an element anew beats storing it, in "
           "additions">,
    Option<"rows", "rows", "bool", "false",
           "Compute anew what tofu-outline-kernels with this option will have in "
           "the same kernel">,
    Option<"maxRepeatedCost", "max-repeated-cost", "int64_t", "96",
           "Cost of what is computed anew for one element that such a kernel "
           "doesn't write, in additions">,
    Option<"reassociate", "reassociate", "bool", "true",
           "As for tofu-outline-kernels">
  ];
  let statistics = [
    Statistic<"numFused", "num-fused", "Number of producers fused">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect"
  ];
}

def FuseEpilogues : Pass<"tofu-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Make bias and activation part of the contraction before them";
  let description = [{
    An element-wise generic that is all that reads the result of a
    `tofu.contract` becomes its epilogue, if all that it does is one of, in this
    order: to add a bias; to apply relu or gelu; to round f32 to the f16 or bf16
    that the inputs hold, unless there is a bias or gelu, which sums must not be
    rounded before. What it computes is told by its body's arithmetic. A partial
    result has no epilogue: other operations combine it first.

    | taken as | body |
    | --- | --- |
    | `relu` | `arith.maxnumf` with 0; a select between x and 0 by a comparison of the two that gives 0 for NaN, such as `x > 0 ? x : 0`, ordered |
    | `relu_nan` | `arith.maximumf` with 0; such a select that gives NaN for NaN |
    | `gelu_tanh` | any sums and products with one `math.tanh` that have the coefficients of the form with tanh, to the precision of the type |

    Only what libraries compute alike is taken. Of products the bias must run along
    the innermost dims of the result, all rows or all columns, as a library adds a
    vector to each row, or have its shape, and relu is `relu`. Of convolutions,
    which have one input with windows, the bias must run along all dims that index
    the filters, in this order, and relu is `relu_nan`; f32 and f64 have relu only
    after a bias and no gelu, and so have short types where the result is added to
    what is there. With `nnan` relu is of either kind.

    A product of f32 or f64 that is added to what may not be written to, or is read
    later on, has that as its bias, so that it needn't be copied.

    Before: generics and contractions on tensors, fused by
    `tofu-fuse-elementwise`, without common subexpressions. After: fewer generics.

    ```mlir
    %1 = tofu.contract %a, %b into %e maps [...] : ...
    %2 = linalg.generic ... ins(%1, %c) { %s = arith.addf %in, %in_0
                                          %m = arith.maxnumf %s, %zero ... yield %m }
    // becomes
    %2 = tofu.contract %a, %b into %e bias %c activation relu maps [...] : ...
    ```
  }];
  let statistics = [
    Statistic<"numFused", "num-fused", "Number of generics that became epilogues">,
    Statistic<"numSeparated", "num-separated",
              "Number of sums that aren't where their first addend is">
  ];
  let dependentDialects = [
    "::mlir::tensor::TensorDialect", "::mlir::tofu::TofuDialect"
  ];
}

def FoldScales : Pass<"tofu-fold-scales", "::mlir::func::FuncOp"> {
  let summary = "Scale an input of a contraction instead of its result";
  let description = [{
    Where an element-wise generic is all that reads the result x of a
    `tofu.contract`, and makes `s * x + b` of it, or relu or gelu of that, with s
    and b the same along all but the dims that a library's bias runs along
    (`tofu-fuse-epilogues`), s scales the input of the contraction that these dims
    index, and b becomes the bias. So it is with normalizations by known means and
    variances behind convolutions: s and b come in any order, as sums,
    differences, products and quotients with x.

    | done if | since |
    | --- | --- |
    | the input has fewer elements than the result, and sizes are known | that input is read and written once more, but the result isn't |
    | all is f32, or all is f64; if nothing is scaled, all is of one type of floats | a scaled input of a short type would be rounded |
    | a library may have the epilogue | otherwise a kernel stays anyway |

    Where one of the sums is with an input r of the result's shape, after which
    there are only sums, the contraction is added to that, `(r + s * x) + b`, with or
    without a scale; with none there must be a bias that is an input as it is. The
    result is where r was, so r must be of the same type and dims, and needed by
    nothing else any more: neither something that comes later, nor the caller, nor
    the contraction itself. Where r is `t * y + c` of another contraction's result y
    as well, that becomes a contraction with a bias, which comes first.

    It changes roundings, and overflow, as other orders of sums do.

    Before: generics and contractions on tensors, fused by
    `tofu-fuse-elementwise`. After: the same, but for small generics that compute s,
    b and the scaled input.

    ```mlir
    %1 = tofu.contract %a, %w into %e maps [...] : ...
    %2 = linalg.generic ... ins(%1, %mean, %s) { %d = arith.subf %in, %in_0
                                                 %p = arith.mulf %d, %in_1 ... yield %p }
    // becomes
    %s_b:2 = linalg.generic ... ins(%mean, %s) {...}
    %v = linalg.generic ... ins(%w, %s_b#0) { %p = arith.mulf %in, %in_0 ... yield %p }
    %2 = tofu.contract %a, %v into %e bias %s_b#1 maps [...] : ...

    %2 = linalg.generic ... ins(%1, %c, %r) { %s = arith.addf %in, %in_0
                                              %t = arith.addf %s, %in_1 ... yield %t }
    // becomes
    %2 = tofu.contract accumulate %a, %b into %r bias %c maps [...] : ...
    ```
  }];
  let statistics = [
    Statistic<"numFolded", "num-folded",
              "Number of results no longer scaled, or added to something">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::tofu::TofuDialect"
  ];
}

def UnshareEmpties : Pass<"tofu-unshare-empties", "::mlir::func::FuncOp"> {
  let summary = "Give each use of an empty tensor its own";
  let description = [{
    Canonicalization and CSE leave one `tensor.empty` for thousands of uses, and
    one-shot bufferization then takes quadratic time. Fills that are written to
    are multiplied likewise: a shared one would be copied for each use.

    Before: linalg on tensors. After: the same, each `tensor.empty` with one use.

    ```mlir
    %e = tensor.empty() : tensor<4xf32>
    %0 = linalg.generic ... outs(%e : tensor<4xf32>)
    %1 = linalg.generic ... outs(%e : tensor<4xf32>)
    // becomes
    %e = tensor.empty() : tensor<4xf32>
    %0 = linalg.generic ... outs(%e : tensor<4xf32>)
    %f = tensor.empty() : tensor<4xf32>
    %1 = linalg.generic ... outs(%f : tensor<4xf32>)
    ```
  }];
  let statistics = [
    Statistic<"numCopies", "num-copies", "Number of empties and fills added">
  ];
}

#endif // TOFU_CONVERSION_TENSORPASSES_TD
