//===- Passes.td - Partitioning passes ---------------------*- tablegen -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TRANSFORMS_PASSES_TD
#define TOFU_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AnnotatePass : Pass<"tofu-annotate", "::mlir::ModuleOp"> {
  let summary = "Describes what every operation reads and writes";
  let description = [{
    Inlines calls, drops results of `linalg.generic` that nobody uses, gives
    those that can only be cut apart operations of their own, and rewrites operations of the tensor dialect that are structured ones in short
    (`generate`, `gather`, `bitcast`, `insert`, `reshape`). Then it gives every
    operation on tensors its `#tofu.semantics`, a call of a declaration that of
    the declaration. An operation that already has some keeps it. What has none
    is replicated later on; a remark per kind of operation says why.

    Precondition: a source program. Postcondition: an annotated one.

    ```mlir
    %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>)
                       outs(%c : tensor<8x6xf32>) -> tensor<8x6xf32>
    ```
    becomes
    ```mlir
    %0 = linalg.matmul {tofu.semantics = #tofu.semantics<
             [d0 = 8, d1 = 6, d2 = 4 : sum],
             (in0[d0, d2], in1[d2, d1], init out0[d0, d1]) -> (out0[d0, d1])>}
         ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>)
         outs(%c : tensor<8x6xf32>) -> tensor<8x6xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::tofu::TofuDialect"
  ];
  let statistics = [
    Statistic<"numDescribed", "described", "Operations with semantics">,
    Statistic<"numReplicated", "replicated", "Operations without">
  ];
}

def PlanPass : Pass<"tofu-plan", "::mlir::ModuleOp"> {
  let summary = "Searches for the plan that moves the fewest bytes, or is fastest";
  let description = [{
    Chooses a strategy for every operation and a layout for every value, so that
    devices receive the fewest bytes, or take the least time, and writes them as
    attributes. Public functions are planned, one after the other; where they use
    the same globals, these lie as the first of the plans has them.

    What the program says beforehand is kept: `tofu.layout`, `tofu.layouts` and
    `tofu.strategy` that are there already pin what they stand on, `tofu.forbid`
    keeps dims whole, `tofu.tie` has values lie alike. Where they contradict each
    other, the one of the lower `tofu.priority` gives way, with a remark; if that
    is the same, it is an error.

    Precondition: an annotated program. Postcondition: a planned one: a
    `tofu.mesh`, `tofu.strategy` and `tofu.layouts` on operations, `tofu.layout`
    on arguments and results of functions.

    The plan's file and table say what it takes of each device's memory: the most
    that one holds while the operations run in the program's order, each with
    buffers of its own. Arguments are held throughout, as they are the caller's.

    A module may describe its machine. `link_` entries have a number for each
    level of the machine, outermost first, or one if it has one level; then
    `link_devices` may be left out. Times are in seconds, all else per second or
    bytes; `flops_f64` and `flops_f16` (also of bf16) are `flops_f32` if they
    are not there, and `memory_bytes` is then not known:

    ```mlir
    module attributes {dlti.target_system_spec = #dlti.target_system_spec<
      "GPU" = #dlti.target_device_spec<
        "flops_f32" = 6.7e13, "flops_f64" = 3.4e13, "flops_f16" = 9.89e14,
        "memory_bandwidth" = 3.35e12, "memory_bytes" = 80000000000,
        "link_devices" = [2, 8], "link_latency" = [5.0e-6, 3.0e-6],
        "link_bandwidth" = [5.0e10, 4.5e11]>>} {…}
    ```

    ```mlir
    tofu.mesh @mesh[a0 = 2]
    func.func @f(%x: tensor<8x4xf32>
                     {tofu.layout = #tofu.layout<@mesh, [{a0}, {} ]>}) …
    ```
  }];
  let dependentDialects = ["::mlir::tofu::TofuDialect"];
  let options = [
    Option<"devices", "devices", "int64_t", "0",
           "Number of devices; one axis per prime factor. In which order is "
           "tried where they differ: of at most six that the machine takes, the "
           "one with the cheapest plan, or else the largest first. The program's "
           "own tofu.mesh is taken if it has as many. 0: as the mesh says">,
    Option<"mesh", "mesh", "std::string", "\"\"",
           "Axes of the mesh, slowest link first, such as x=2,y=4; by default "
           "the program's own tofu.mesh, or one made from devices">,
    Option<"algorithm", "algorithm", "std::string", "\"kbest\"",
           "How to search. kbest: all axes together, until the plan is within 1 % "
           "of a lower bound, small programs and those whose layers are alike "
           "until they meet; exact: all programs until they meet; recursive: the "
           "Tofu paper's, one exact step per axis; propagate: no search, what the "
           "program pins is spread through it. To compare with: data-parallel: cut "
           "the batch only; megatron: cut pairs of products as well, weights by columns, then "
           "by rows; icml18: kbest without cut reductions; equal-chop: one dim "
           "of each for all axes; all-row-greedy: all values by their first "
           "dims; spartan: value by value, the largest first. For tests: "
           "random: any plan of the plan space, by seed; any: any valid plan, "
           "in the space or not, by seed">,
    Option<"objective", "objective", "std::string", "\"bytes\"",
           "What the plan is to be least in. bytes: received, summed over "
           "devices, as in the Tofu paper, for which nothing need be known of "
           "the machine; time: of the work and of what is received, one after "
           "the other, for which work may be replicated">,
    Option<"machine", "machine", "std::string", "\"\"",
           "The devices and links that times are of, and the memory that plans "
           "keep to: p2.8xlarge, dgx-h100, h100x8x16 or host (plausible figures, "
           "not measured). By default no times are counted, or with "
           "objective=time those of the module's dlti.target_system_spec">,
    Option<"seed", "seed", "uint64_t", "0",
           "Of algorithm=random and any: another number gives another plan">,
    Option<"replication", "replication", "bool", "false",
           "Values may be whole on all devices of an axis although they could "
           "be cut; off by default, as in the Tofu paper: memory is 1/k">,
    Option<"partials", "partials", "bool", "false",
           "Values may stay partial results; off by default, as in the paper">,
    Option<"charge", "charge", "std::string", "\"once\"",
           "once: a value that several operations need alike is charged once, "
           "as it moves; per-use: for each use, as the papers count">,
    Option<"sizeHint", "size-hint", "int64_t", "1024",
           "Elements that arguments are taken to have along each dim of unknown "
           "size. The plan and its bytes are for these; the program then runs for "
           "all sizes">,
    Option<"memoryPerDevice", "memory-per-device", "std::string", "\"\"",
           "Bytes, or a number of KiB, MiB or GiB, that no device may exceed at any "
           "moment of a function, such as 16GiB; by default what the machine has, "
           "or any number if none is given. Of the "
           "plans that are found, the cheapest that fits is chosen; that none does "
           "is an error">,
    Option<"timeBudget", "time-budget", "double", "0",
           "Seconds after which kbest and exact come to an end, with the best plan "
           "so far and its bound; 0: none">,
    Option<"dumpIlp", "dump-ilp", "std::string", "\"\"",
           "File to write the search to as an integer linear program, in LP format, "
           "as glpsol and CBC read it; - is standard output">,
    Option<"json", "json", "std::string", "\"\"",
           "File to write the plan to; - is standard output">,
    Option<"load", "load", "std::string", "\"\"",
           "File to read the plan from instead of searching; refused if it is "
           "of another program">,
    Option<"print", "print", "bool", "false",
           "Print the plan as a table to standard error, with the runner-up of "
           "each operation's strategy and what it would cost">,
    Option<"explain", "explain", "std::string", "\"\"",
           "Print every strategy of an operation and what it would cost, the "
           "rest of the plan given. By the name, file or line of its location, "
           "or by its number: matmul1, model.py:12, :12 or 3">,
    Option<"diff", "diff", "std::string", "\"\"",
           "File with another plan of the program, as json writes it: print "
           "what differs">,
    Option<"graphviz", "graphviz", "std::string", "\"\"",
           "File to write the plan to as a graph for Graphviz; - is standard "
           "output">
  ];
  let statistics = [
    Statistic<"numBytes", "bytes", "Bytes received, summed over devices">,
    Statistic<"numVariables", "variables",
              "Operators and values after chains are joined">,
    Statistic<"numClasses", "classes",
              "Different ones of these, with repeated layers folded">
  ];
}

def InsertReshardsPass : Pass<"tofu-insert-reshards", "::mlir::ModuleOp"> {
  let summary = "Inserts a reshard wherever a value lies other than it is needed";
  let description = [{
    After each operation whose result is produced other than its layout says, and
    before each that needs an operand other than it lies, one `tofu.reshard` per
    value and need. A cut reduction with an initial value that isn't neutral
    starts from the neutral element, and the initial value is combined once,
    after the parts; if the result stays partial, on the devices that are first
    along the partial axes.

    Precondition: a planned program. Postcondition: one in which every operand
    lies as it is needed.

    ```mlir
    %1 = tofu.reshard %0 from #tofu.layout<@mesh, [{a0}, {} ]>
         to #tofu.layout<@mesh, [{}, {a0} ]> in [8, 6] : tensor<8x6xf32> -> tensor<8x6xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tofu::TofuDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numReshards", "reshards", "Reshards inserted">
  ];
}

def VerifyPlanPass : Pass<"tofu-verify-plan", "::mlir::ModuleOp"> {
  let summary = "Proves that a plan computes the program";
  let description = [{
    Takes the boxes that later passes will use as claims, and proves them from
    the semantics with integer sets (MLIR's Presburger library):

    - the parts of an operation cover its iteration space: parts of devices that
      differ along an axis of the strategy are disjoint, others are equal;
    - what a part reads of each operand lies in what its device holds, and is
      partial over the axes that the strategy lets through and no others;
    - what the parts make of each result is what the devices then hold, each
      element once but for replicas and partial results;
    - a reduction that is cut starts from what may be combined repeatedly;
    - a reshard starts from where its input lies, and what it moves to is held
      somewhere; a value stays a partial result of one combiner;
    - all of each argument and result has a place; a result that replaces an
      argument lies as it does;
    - all functions have a global in one layout; what has no plan takes it whole.

    The error names the first element for which it is not so, and the devices.

    Precondition: a planned program with its reshards; with `resharded=false` one
    without. Postcondition: the same program.

    ```mlir
    // Device 0 of x = 2 computes elements 0 to 3, for which it reads 0 to 5.
    %1 = tofu.reshard %0 from #tofu.layout<@mesh, [{x} ]>
         to #tofu.boxes<@mesh, [r = 8 {x}, w = 2], [r + w]> in [10] : tensor<10xf32> -> tensor<10xf32>
    %2 = linalg.conv_1d {tofu.semantics = #tofu.semantics<[r = 8, w = 3 : sum],
             (in0[r + w], in1[w], init out0[r]) -> (out0[r])>, …} ins(%1, %w : …) …
    // error: operand 0: device 0 doesn't hold (5), which it reads
    ```
  }];
  let options = [
    Option<"resharded", "resharded", "bool", "true",
           "Each value must lie where it is used as it is needed, as after "
           "tofu-insert-reshards. false: it must be possible to bring it there, "
           "as after tofu-plan">,
    Option<"sizeHint", "size-hint", "int64_t", "1024",
           "Elements that arguments are taken to have along each dim of unknown "
           "size: the proof is of these sizes">
  ];
  let statistics = [
    Statistic<"numProved", "proved", "Operations proved">,
    Statistic<"numAlike", "alike", "Operations like one proved before">
  ];
}

def LocalizePass : Pass<"tofu-localize", "::mlir::ModuleOp"> {
  let summary = "Rewrites the program to what one device computes";
  let description = [{
    Every tensor becomes the box of it that a device has: static where the boxes
    are equally large on all devices, else with sizes computed from the device's
    number. Constants that are the same everywhere are remade in local size. For
    each dim of unknown size of an argument that is cut, the function gets one
    more argument, the size of the whole (`tofu.size_of`); other unknown sizes
    are computed from these. Calls of
    declarations with semantics become `tofu.call`.

    Precondition: a planned program with its reshards. Postcondition: one function
    for all devices; arguments and results keep `tofu.layout` and get
    `tofu.global_type`.

    ```mlir
    func.func @f(%x: tensor<4x4xf32> {tofu.global_type = tensor<8x4xf32>,
                     tofu.layout = #tofu.layout<@mesh, [{a0}, {} ]>}) …
    ```
  }];
  let dependentDialects = ["::mlir::tofu::TofuDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numLocal", "local", "Operations that compute a part">,
    Statistic<"numWhole", "whole", "Operations that every device repeats">
  ];
}

def LowerReshardsPass : Pass<"tofu-lower-reshards", "::mlir::ModuleOp"> {
  let summary = "Makes each reshard its cheapest collectives";
  let description = [{
    What a device already holds is a slice. Partial results are combined by
    all_reduce or reduce_scatter, parts put together by all_gather, axes moved
    between dims by all_to_all; all else is a fetch, from any boxes to any,
    partial before or after. There is at most one collective per reshard, and it
    moves the least bytes that are possible. With unknown sizes it is one that is
    right for all sizes.

    Precondition: a localized program. Postcondition: a partitioned one, without
    `tofu.reshard`.

    ```mlir
    %1 = tofu.all_to_all %0 from #tofu.layout<@mesh, [{a0}, {} ]>
         to #tofu.layout<@mesh, [{}, {a0} ]> in [8, 6] : tensor<4x6xf32> -> tensor<8x3xf32>
    %2 = tofu.fetch %1 from #tofu.layout<@mesh, [{}, {a0} ]>
         to #tofu.layout<@mesh, [{}, {} ], sum {a0}> in [8, 6] : tensor<8x3xf32> -> tensor<8x6xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tofu::TofuDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numCollectives", "collectives", "Collectives created">,
    Statistic<"numSlices", "slices", "Reshards that move nothing">
  ];
}

def OptimizeCollectivesPass
    : Pass<"tofu-optimize-collectives", "::mlir::ModuleOp"> {
  let summary = "Removes collectives that are not needed";
  let description = [{
    Removes unused collectives and ones that repeat an earlier one, and lets a
    move of a moved value fetch from where the value was, if that moves fewer
    bytes.

    Precondition and postcondition: a partitioned program.

    ```mlir
    %1 = tofu.all_gather %0 from #tofu.layout<@mesh, [{a0} ]> to …
    %2 = tofu.all_gather %0 from #tofu.layout<@mesh, [{a0} ]> to …  // is %1
    ```
  }];
  let dependentDialects = ["::mlir::tofu::TofuDialect"];
  let statistics = [
    Statistic<"numRemoved", "removed", "Collectives removed">
  ];
}

def WidenFloatsPass : Pass<"tofu-widen-floats", "::mlir::ModuleOp"> {
  let summary = "Computes in f64 what the program computes in shorter floats";
  let description = [{
    All values and constants, arguments and results too, have f64 in the place of
    shorter floats; casts between floats that are alike then go. So it is the same
    program, but for rounding: `tofu-run --check` learns from it how far rounding
    takes the program.

    It is an error if the program looks at the bits of short floats, calls functions
    elsewhere that take some, or keeps some as bytes (`dense_resource`).

    Precondition and postcondition: a source program.

    ```mlir
    func.func @main(%x: tensor<4xbf16>) -> tensor<4xf32> {
      %0 = arith.extf %x : tensor<4xbf16> to tensor<4xf32>
      %1 = math.exp %0 : tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> {
      %0 = math.exp %x : tensor<4xf64>
      return %0 : tensor<4xf64>
    }
    ```
  }];
}

#endif // TOFU_TRANSFORMS_PASSES_TD
