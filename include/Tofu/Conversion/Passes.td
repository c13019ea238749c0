//===- Passes.td - Conversion passes -----------------------*- tablegen -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the order in which the pipeline `tofu-to-host` runs them.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_CONVERSION_PASSES_TD
#define TOFU_CONVERSION_PASSES_TD

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

def LowerGlobals : Pass<"tofu-lower-globals", "::mlir::ModuleOp"> {
  let summary = "Keep globals in the memory of the device";
  let description = [{
    The memory is taken where a function begins, and filled the first time: with
    this device's part of the initial value, which stands once in the module. A
    global without one begins with zeros. What is loaded from a global that is
    stored to is a copy.

    Before: tensors and scalars in `ml_program.global`. After: no operations of
    that dialect.

    ```mlir
    ml_program.global private mutable @state(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
    func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = ml_program.global_load @state : tensor<4xf32>
      ml_program.global_store @state = %a : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    // becomes
    func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      %memory, %is_new = tofu.global_memory "state" : memref<4xf32>
      scf.if %is_new { linalg.fill ins(%one : f32) outs(%memory : memref<4xf32>) }
      %copy = memref.alloc() : memref<4xf32>
      memref.copy %memory, %copy : memref<4xf32> to memref<4xf32>
      %0 = bufferization.to_tensor %copy restrict writable : memref<4xf32> to tensor<4xf32>
      bufferization.materialize_in_destination %a in restrict writable %memory
          : (tensor<4xf32>, memref<4xf32>) -> ()
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let statistics = [
    Statistic<"numGlobals", "num-globals", "Number of globals lowered">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tofu::TofuDialect"
  ];
}

def ExpandReshapes : Pass<"tofu-expand-reshapes", "::mlir::func::FuncOp"> {
  let summary = "Rewrite expansions to several dims of unknown size";
  let description = [{
    Upstream's lowering of `memref.expand_shape` finds the one unknown size of a
    group by division. Where a group has several, as a reshape that is cut along
    two of its dims, the sizes that the operation says are taken.

    Before: buffers. After: the same; each `memref.expand_shape` has at most one
    dim of unknown size in a group.

    ```mlir
    %1 = memref.expand_shape %0 [[0, 1]] output_shape [%m, %n]
        : memref<?xf32> into memref<?x?xf32>
    // becomes
    %base, %offset, %size, %stride = memref.extract_strided_metadata %0
        : memref<?xf32> -> memref<f32>, index, index, index
    %1 = memref.reinterpret_cast %base to offset: [0], sizes: [%m, %n],
        strides: [%n, 1] : memref<f32> to memref<?x?xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::memref::MemRefDialect"
  ];
}

def GeneralizeCopies : Pass<"tofu-generalize-copies", "::mlir::func::FuncOp"> {
  let summary = "Rewrite copies of buffers to generics";
  let description = [{
    So that they are lowered, shared and vectorized like other loop nests; LLVM
    makes memcpy of those that are contiguous.

    Before: buffers. After: the same, without `memref.copy`.

    ```mlir
    memref.copy %a, %b : memref<4xf32> to memref<4xf32>
    // becomes
    linalg.generic ... ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) { ... yield %in }
    ```
  }];
  let statistics = [
    Statistic<"numCopies", "num-copies", "Number of copies rewritten">
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def ReuseBuffers : Pass<"tofu-reuse-buffers", "::mlir::func::FuncOp"> {
  let summary = "Compute results into inputs that are used for the last time";
  let description = [{
    A generic that reads an element of an input only where it writes the same
    element of a new buffer can write into the input's memory, if that is an
    allocation or a donated argument, of the same type, and nobody needs it
    later.

    Before: buffers, nothing freed. After: the same with fewer allocations.

    ```mlir
    %b = memref.alloc() : memref<4xf32>
    linalg.generic ... ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)  // last use of %a
    // becomes
    linalg.generic ... ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
    ```
  }];
  let statistics = [
    Statistic<"numReused", "num-reused", "Number of allocations saved">
  ];
}

def FreeBuffers : Pass<"tofu-free-buffers", "::mlir::func::FuncOp"> {
  let summary = "Free each buffer after its last use";
  let description = [{
    The last use in the block of the allocation, by any view of it. What the
    function returns is not freed: the device context frees it at the end of the
    run.

    Where a loop or branch hands on a buffer that was made in it, whoever gets the
    buffer frees it: the next iteration when it is done with it, or what comes
    after. What is handed on must then have no other user; what has (an argument
    of the function, a constant, a buffer that is handed on twice) is copied
    before.

    Before: buffers, nothing freed. After: the same with `memref.dealloc`.

    ```mlir
    %a = memref.alloc() : memref<4xf32>
    %last = scf.for ... iter_args(%b = %a) -> memref<4xf32> {
      %c = memref.alloc() : memref<4xf32>
      linalg.generic ... ins(%b) outs(%c)
      memref.dealloc %b : memref<4xf32>     // added
      scf.yield %c : memref<4xf32>
    }
    linalg.generic ... ins(%last) outs(%d)
    memref.dealloc %last : memref<4xf32>    // added
    ```
  }];
  let statistics = [
    Statistic<"numFreed", "num-freed", "Number of buffers freed">,
    Statistic<"numCopied", "num-copied",
              "Number of buffers copied to be handed on">,
    Statistic<"numEscaping", "num-escaping",
              "Number of buffers that leave their block">
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def ExpandWindows : Pass<"tofu-expand-windows", "::mlir::func::FuncOp"> {
  let summary = "View the windows of a convolution as dims of their own";
  let description = [{
    An input that is indexed by a sum of dims becomes a view of the same memory
    with a dim for each of them, whose elements overlap: then a convolution is a
    contraction like any other. The leading dim of the output becomes a batch
    dim, by a view of the other input with stride 0 along it.

    Before: `tofu.contract` on buffers. After: the same with maps of dims only.

    ```mlir
    tofu.contract %in, %w into %out
        maps [affine_map<(x, f, i) -> (x * 2 + i)>, affine_map<(x, f, i) -> (i, f)>,
              affine_map<(x, f, i) -> (x, f)>]
        : memref<9xf32>, memref<3x8xf32>, memref<4x8xf32>
    // becomes
    %windows = memref.reinterpret_cast %in to offset: [0], sizes: [4, 3], strides: [2, 1]
        : memref<9xf32> to memref<4x3xf32, strided<[2, 1]>>
    tofu.contract %windows, %w into %out
        maps [affine_map<(x, f, i) -> (x, i)>, affine_map<(x, f, i) -> (i, f)>,
              affine_map<(x, f, i) -> (x, f)>]
        : memref<4x3xf32, strided<[2, 1]>>, memref<3x8xf32>, memref<4x8xf32>
    ```
  }];
  let options = [
    Option<"minBatchWork", "min-batch-work", "int64_t", "262144",
           "Multiply-adds of one product from which the leading dim becomes a "
           "batch dim; smaller products leave the library's speed unused">
  ];
  let statistics = [
    Statistic<"numExpanded", "num-expanded", "Number of contractions rewritten">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::memref::MemRefDialect"
  ];
}

def GuardDivisions : Pass<"tofu-guard-divisions", "::mlir::func::FuncOp"> {
  let summary = "Assert that integers can be divided";
  let description = [{
    Before a division of integers whose divisor isn't a constant comes an
    assertion that it is not zero, and that the least number is not divided by -1:
    a program that does that fails with the place where it did.

    Before: any function. After: the same with assertions.

    ```mlir
    %0 = arith.divui %a, %b : i32
    // becomes
    %1 = arith.cmpi ne, %b, %c0_i32 : i32
    cf.assert %1, "integer division by zero"
    %0 = arith.divui %a, %b : i32
    ```
  }];
  let statistics = [
    Statistic<"numGuarded", "num-guarded", "Number of divisions guarded">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect"
  ];
}

def OutlineKernels : Pass<"tofu-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Move loop nests to functions, equal ones to the same";
  let description = [{
    Each linalg operation on buffers, together with the fill that it starts
    from, becomes a call of a private function. Arguments that share no memory
    with others are marked `llvm.noalias`. A function whose arguments are all of
    static shape takes bare pointers.

    Before: linalg on buffers. After: linalg only in private functions.

    ```mlir
    linalg.generic ... ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
    // becomes
    call @kernel(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
    func.func private @kernel(%0: memref<4xf32> {llvm.noalias},
                              %1: memref<4xf32> {llvm.noalias})
    ```

    With `rows`, operations over the same rows become one function: a row is one
    point of parallel loops that all of them have, and what one makes of a row
    the others read of the same row only, so that it can be done row by row. At
    least one is a reduction that threads can share; the others are reductions,
    element-wise operations on the elements of a row, or such on one value per row.
    All this is found from indexing maps and iterator types, also through reshapes
    that add or drop dims of size 1. The function says in `tofu.row_loops` which
    loops of its first operation go over the rows. Memory with one value per row
    that nothing else uses is allocated in it: it stands for values that are never
    written. Rows are left alone where so few are so long that threads of several
    blocks had better share them.

    ```mlir
    %m = memref.alloc() : memref<64xf32>
    linalg.fill ins(%least : f32) outs(%m : memref<64xf32>)
    linalg.generic ... ins(%a : memref<64x100xf32>) outs(%m : memref<64xf32>)      // max
    linalg.generic ... ins(%a, %m) outs(%b : memref<64x100xf32>)                   // a - max
    memref.dealloc %m : memref<64xf32>
    // becomes
    call @kernel(%a, %b) : (memref<64x100xf32>, memref<64x100xf32>) -> ()
    func.func private @kernel(%a: memref<64x100xf32>, %b: memref<64x100xf32>)
        attributes {tofu.row_loops = array<i64: 0>} {
      %m = memref.alloc() : memref<64xf32>
      linalg.fill ins(%least : f32) outs(%m : memref<64xf32>)
      linalg.generic ... ins(%a : memref<64x100xf32>) outs(%m : memref<64xf32>)
      linalg.generic ... ins(%a, %m) outs(%b : memref<64x100xf32>)
      return
    }
    ```
  }];
  let options = [
    Option<"rows", "rows", "bool", "false",
           "Make one function of operations over the same rows, as "
           "tofu-lower-kernels-to-gpu takes them">,
    Option<"reassociate", "reassociate", "bool", "true",
           "As for tofu-lower-kernels-to-gpu">
  ];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "Number of functions made">,
    Statistic<"numRowKernels", "num-row-kernels",
              "Number of groups of operations that became one">,
    Statistic<"numShared", "num-shared",
              "Number of operations that use a function made before">
  ];
  let dependentDialects = [
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def LowerKernels : Pass<"tofu-lower-kernels", "::mlir::func::FuncOp"> {
  let summary = "Lower linalg on buffers to loops that LLVM vectorizes";
  let description = [{
    The innermost loop walks through contiguous memory or sums up; loops over
    contiguous memory, of whatever sizes, become one; results that stay in place over the innermost
    loops are kept in registers; a fill becomes their first value; booleans are
    accessed as bytes.

    Before: linalg on buffers. After: scf loops with loads and stores.

    ```mlir
    linalg.generic ... ins(%a : memref<4x8xf32>) outs(%b : memref<4xf32>)  // sum
    // becomes
    scf.for %i = %c0 to %c4 step %c1 {
      %0 = memref.load %b[%i]
      %1 = scf.for %j = %c0 to %c8 step %c1 iter_args(%s = %0) -> (f32) {
        %2 = memref.load %a_flat[%i * 8 + %j]
        %3 = arith.addf %s, %2 fastmath<reassoc, contract>
        scf.yield %3
      }
      memref.store %1, %b[%i]
    }
    ```
  }];
  let options = [
    Option<"reassociate", "reassociate", "bool", "true",
           "Let sums and products in registers be computed in vector lanes: "
           "several times faster, and other roundings than in program order">
  ];
  let statistics = [
    Statistic<"numLowered", "num-lowered", "Number of loop nests made">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def LowerKernelsToGpu
    : Pass<"tofu-lower-kernels-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Lower linalg on buffers to launches of kernels";
  let description = [{
    Each element of the outputs gets a thread, in blocks of 256; neighbouring
    threads have neighbouring elements. Where elements are many and lie side by
    side in all operands, a thread gets as many as 16 bytes hold, or half of these, or
    a quarter, where sizes are multiples of that only, and loads all of them before it
    computes and stores any. Where that depends on sizes, strides or offsets that
    aren't known, there are two kernels, and the host looks at these and launches one:
    of as many as 16 bytes hold for each thread, or of one. Long reductions whose parts may be combined
    in any order are shared by several threads of a block, which combine in
    workgroup memory, always in the same order: all of a block where the
    reduction runs through contiguous memory, else 8. Those of few elements
    are shared by several blocks, each of which leaves a partial result in memory
    that another kernel combines. Other loops, such as
    reductions that no combiner describes, stay loops of a thread. The number of
    blocks is computed by the host, from sizes that only the program knows too.

    A function with `tofu.row_loops` becomes one kernel (`tofu-outline-kernels`). The
    threads of a row, up to all of a block, do one operation after the other. A
    value per row stays in registers; each thread of the row has it. Shares of f32 and
    i32 are combined by shuffles within warps, and then in workgroup memory if there
    are several of these. Elements of
    rows are read again by each operation that needs them: the block has read them
    just before, so they mostly come from the caches, and rows may have any length.
    Where eight threads or more have a row whose elements lie side by side, each gets
    as many of them at a time as above, but never so many that threads go without. A
    failed assertion leaves its number in memory, which the host looks at.

    Before: linalg on buffers. After: `gpu.launch_func` in their place, a
    `gpu.module` with the kernels.

    ```mlir
    linalg.generic ... ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
    // becomes
    %size = memref.dim %a, %c0 : memref<?xf32>
    %blocks = ceildiv(%size, 256)
    gpu.launch_func @kernels::@kernel blocks in (%blocks, %c1, %c1)
        threads in (%c256, %c1, %c1) args(%a : memref<?xf32>, %b : memref<?xf32>, %size : index)
    // and
    gpu.func @kernel(%a: memref<?xf32>, %b: memref<?xf32>, %size: index) kernel {
      %i = block_id * 256 + thread_id
      scf.if %i < %size {
        %0 = memref.load %a[%i]
        ...
        memref.store %1, %b[%i]
      }
      gpu.return
    }
    ```
  }];
  let options = [
    Option<"reassociate", "reassociate", "bool", "true",
           "Let threads share sums and products of floats; results differ by "
           "rounding, not between runs">
  ];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "Number of kernels made">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::complex::ComplexDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def RunKernelsOnHost
    : Pass<"tofu-run-kernels-on-host", "::mlir::ModuleOp"> {
  let summary = "Turn kernels into functions that loop over threads";
  let description = [{
    Block after block; within a block, all threads up to a barrier before any goes
    on, and to a `gpu.shuffle` before any looks at what another thread has. So the
    arithmetic of kernels can be checked without a device.

    Before: kernels as `tofu-convert-to-runtime` leaves them, with barriers outside
    of control flow only, and shuffles likewise, of whole warps of 32 and the modes down
    and idx. After: functions of the host that their records name,
    no `gpu.module`.

    ```mlir
    gpu.func @kernel(%a: !llvm.ptr) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %i = gpu.thread_id x
      "before"(%i) : (index) -> ()
      gpu.barrier
      "after"(%i) : (index) -> ()
      gpu.return
    }
    // becomes
    llvm.func internal @kernel_on_host(%arguments: !llvm.ptr, %shape: !llvm.ptr) {
      ... loads %a, and %blocks along x, y and z
      scf.for %block = %c0 to %blocks step %c1 {
        scf.for %i = %c0 to %c256 step %c1 { "before"(%i) }
        scf.for %i = %c0 to %c256 step %c1 { "after"(%i) }
      }
      llvm.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "Number of functions made">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def SerializeKernels
    : Pass<"tofu-serialize-kernels", "::mlir::ModuleOp"> {
  let summary = "Compile kernels to PTX or machine code";
  let description = [{
    By LLVM's NVPTX backend, and for machine code by `ptxas` of the CUDA toolkit
    that CUDA_ROOT, CUDA_HOME or CUDA_PATH names. Mathematical functions come from
    the toolkit's libdevice: it is an error if kernels need one and there is none.
    A multiprocessor must have room for four blocks of a kernel, and a thread may
    have as many registers as that leaves: more than `ptxas` gives it otherwise,
    which for some kernels wouldn't do.

    Machine code for several chips is one image, by the toolkit's `fatbinary`, with
    PTX of the latest for those that are later. The driver takes what fits.

    Before: kernels in the LLVM and NVVM dialects. After: constants with the images,
    which the kernels' records name, no `gpu.module`.

    ```mlir
    gpu.module @kernels {
      llvm.func @kernel(%a: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel, record = @kernel_record}
    }
    // becomes
    llvm.mlir.global internal constant @kernels_image("... .visible .entry kernel( ...")
    llvm.mlir.global internal constant @kernel_record() : !llvm.struct<(i64, ptr, ptr, i64, ptr, i64, ptr)> {
      ... version, "kernel", @kernels_image, its size, null, what it takes
    }
    ```
  }];
  let options = [
    ListOption<"chip", "chip", "std::string",
           "sm_80, sm_90 (the default) or sm_100; several for machine code. The version of "
           "PTX is the first that has it">,
    Option<"format", "format", "std::string", [{"ptx"}],
           "ptx, which the driver compiles, or cubin, which needs the toolkit">
  ];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "Number of kernels compiled">
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"
  ];
}

def AddContext : Pass<"tofu-add-context", "::mlir::ModuleOp"> {
  let summary = "Add the device context to functions and calls";
  let description = [{
    Public functions, and private ones that call the runtime or a function that
    does, get it as a first argument. Attributes of arguments and results that
    mean nothing to LLVM go.

    Before: buffers. After: the same, with the context.

    ```mlir
    func.func @f(%a: memref<4xf32> {tofu.layout = ...})
    // becomes
    func.func @f(%context: !llvm.ptr, %a: memref<4xf32>)
    ```
  }];
  let options = [
    Option<"deviceMemory", "device-memory", "bool", "false",
           "As for tofu-convert-to-runtime">
  ];
  let statistics = [
    Statistic<"numFunctions", "num-functions", "Number of functions changed">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ConvertToNccl : Pass<"convert-tofu-to-nccl", "::mlir::ModuleOp"> {
  let summary = "Convert collectives to calls of NCCL's form on a stream of their own";
  let description = [{
    A collective whose devices form groups of the same size, in which parts of
    the same size lie without gaps one after the other, becomes
    `tofuEvenCollective`: all_reduce, all_gather, reduce_scatter or broadcast,
    whatever its kind was. All others become `tofuCollective`, which packs, sends,
    receives, unpacks and combines in a fixed order: uneven parts, halos, types and
    combiners that NCCL lacks or computes otherwise, and sums of floats whose
    replicas are in several groups, as two groups may add in different orders.

    They go to the communication stream. It waits for the last operation on the
    compute stream that a collective depends on; the compute stream waits for a
    collective before the first operation that depends on it. An event is recorded
    right after what is waited for, and one event serves all that it covers.
    Buffers are freed where the compute stream has waited for their last
    collective. Neighbouring collectives that don't depend on each other are
    grouped. Where a block ends, and before branches and loops with collectives,
    the compute stream waits for all collectives.

    Before: buffers, functions with a context. After: the same without
    `tofu.collective`.

    ```mlir
    gpu.launch_func @kernels::@a ... args(%a : memref<4xf32>)
    gpu.launch_func @kernels::@b ... args(%b : memref<4xf32>)
    tofu.collective all_gather %a, %c ...
    gpu.launch_func @kernels::@c ... args(%c : memref<8xf32>)
    // becomes
    gpu.launch_func @kernels::@a ... args(%a : memref<4xf32>)
    llvm.call @tofuRecord(%context, %compute, %0)
    gpu.launch_func @kernels::@b ... args(%b : memref<4xf32>)
    llvm.call @tofuWait(%context, %communication, %0)
    llvm.call @tofuEvenCollective(%context, %communication, %table, %location, %a_address, %c_address)
    llvm.call @tofuRecord(%context, %communication, %1)
    llvm.call @tofuWait(%context, %compute, %1)
    gpu.launch_func @kernels::@c ... args(%c : memref<8xf32>)
    ```
  }];
  let statistics = [
    Statistic<"numEven", "num-even", "Number of collectives of NCCL's form">,
    Statistic<"numUneven", "num-uneven", "Number of other collectives">,
    Statistic<"numGroups", "num-groups", "Number of groups of several">,
    Statistic<"numEvents", "num-events", "Number of events">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ConvertToRuntime : Pass<"tofu-convert-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Convert what the runtime does to calls of its C ABI";
  let description = [{
    Allocations, deallocations, memory of globals, contractions, collectives, the
    device number, failed assertions and launches of kernels (Tofu/Runtime/Runtime.h). Tables,
    messages and locations become constants of the module. Meshes go.

    Kernels get the address of a buffer, and of its offset, sizes and strides those
    that are not known.

    Before: buffers, functions with a context. After: the same with calls.

    ```mlir
    %a = memref.alloc() : memref<4xf32>
    // becomes
    %0 = llvm.call @tofuAlloc(%context, %bytes) : (!llvm.ptr, i64) -> !llvm.ptr
    ... a descriptor made of %0
    %a = builtin.unrealized_conversion_cast %descriptor : !llvm.struct<...> to memref<4xf32>
    ```
  }];
  let options = [
    Option<"deviceMemory", "device-memory", "bool", "false",
           "Let the runtime read and write single elements, and copy constants: "
           "the host may have no access to the device's memory">
  ];
  let statistics = [
    Statistic<"numCalls", "num-calls", "Number of operations converted">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def ConvertCalls : Pass<"tofu-convert-calls", "::mlir::ModuleOp"> {
  let summary = "Convert calls of functions outside of the program to C";
  let description = [{
    The C interface of MLIR: the callee @f is the symbol `_mlir_ciface_f`, which
    takes the addresses of memref descriptors, and scalars by value. Results go
    to buffers whose descriptors come last.

    Before: buffers. After: the same, without `tofu.call`.

    ```mlir
    tofu.call @cholesky(%a : memref<4x8x8xf32>) into(%r : memref<4x8x8xf32>)
    // becomes
    llvm.store %a_descriptor, %0 : !llvm.struct<...>, !llvm.ptr
    llvm.store %r_descriptor, %1 : !llvm.struct<...>, !llvm.ptr
    llvm.call @_mlir_ciface_cholesky(%0, %1) : (!llvm.ptr, !llvm.ptr) -> ()
    ```
  }];
  let statistics = [
    Statistic<"numCalls", "num-calls", "Number of calls converted">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def LowerEntryPoints : Pass<"tofu-lower-entry-points", "::mlir::ModuleOp"> {
  let summary = "Give public functions the C interface that runners call";
  let description = [{
    That of `llvm.emit_c_interface`: buffers come as addresses of descriptors,
    results go to memory of the caller whose address is the first argument (a
    lone scalar is returned). The function itself gets the interface and the
    name of the wrapper; it is copied if the module calls it.

    Before: public functions on buffers. After: public functions on pointers and
    scalars.

    ```mlir
    func.func @f(%context: !llvm.ptr, %a: memref<4xf32>) -> memref<4xf32>
    // becomes
    func.func @_mlir_ciface_f(%results: !llvm.ptr, %context: !llvm.ptr, %a: !llvm.ptr)
    ```
  }];
  let statistics = [
    Statistic<"numEntryPoints", "num-entry-points", "Number of functions changed">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ExpandMath : Pass<"tofu-expand-math"> {
  let summary = "Expand functions of numbers to arithmetic";
  let description = [{
    Calls of the C library cannot be vectorized; polynomials can.

    Before: any form. After: no exp, log, tanh and erf of f32, no rsqrt.

    ```mlir
    %0 = math.rsqrt %a : f32
    // becomes
    %1 = math.sqrt %a : f32
    %0 = arith.divf %one, %1 : f32
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def VerifyLowered : Pass<"tofu-verify-lowered"> {
  let summary = "Verify that only the LLVM dialect is left";
  let description = [{
    One error for each operation that none of the passes before could lower.

    Before: any form. After: the LLVM dialect, or failure.
  }];
}

def SplitFunctions : Pass<"tofu-split-functions", "::mlir::ModuleOp"> {
  let summary = "Split long blocks into functions";
  let description = [{
    LLVM takes more than linear time for a block. A long one becomes calls of
    functions that share a frame in memory.

    Before: the LLVM dialect. After: the same, with shorter blocks.

    ```mlir
    llvm.func @f(%a: !llvm.ptr) { ... 10,000 operations ... llvm.return }
    // becomes
    llvm.func @f(%a: !llvm.ptr) {
      %frame = llvm.alloca ...
      llvm.store %a, %frame : !llvm.ptr, !llvm.ptr
      llvm.call @f_part(%frame) : (!llvm.ptr) -> ()
      llvm.call @f_part_0(%frame) : (!llvm.ptr) -> ()
      ...
      llvm.return
    }
    ```
  }];
  let options = [
    Option<"maxOps", "max-ops", "unsigned", "1000",
           "Operations of a part; blocks up to twice as long stay as they are. "
           "Larger parts cost LLVM more, smaller ones load more from the frame">
  ];
  let statistics = [
    Statistic<"numParts", "num-parts", "Number of functions made">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // TOFU_CONVERSION_PASSES_TD
