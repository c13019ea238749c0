//===- TofuAttributes.td - Attributes ----------------------*- tablegen -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_DIALECT_TOFUATTRIBUTES_TD
#define TOFU_DIALECT_TOFUATTRIBUTES_TD

include "Tofu/Dialect/TofuDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/Interfaces.td"

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

def Tofu_Combiner : I32EnumAttr<"Combiner",
    "how partial results are combined; the order is that of the runtime's tables, which know no region: there the operation itself combines its results", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Sum", 1, "sum">,
    I32EnumAttrCase<"Prod", 2, "prod">,
    I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"Max", 4, "max">,
    I32EnumAttrCase<"And", 5, "and">,
    I32EnumAttrCase<"Or", 6, "or">,
    I32EnumAttrCase<"Xor", 7, "xor">,
    I32EnumAttrCase<"MinNum", 8, "minnum">,
    I32EnumAttrCase<"MaxNum", 9, "maxnum">,
    I32EnumAttrCase<"MinUI", 10, "minui">,
    I32EnumAttrCase<"MaxUI", 11, "maxui">,
    I32EnumAttrCase<"Region", 12, "region">
  ]> {
  let cppNamespace = "::mlir::tofu";
  let genSpecializedAttr = 0;
}

def Tofu_DimKind : I32EnumAttr<"DimKind", "what an iteration dim is to its operator", [
    I32EnumAttrCase<"Parallel", 0, "parallel">,
    I32EnumAttrCase<"Reduction", 1, "reduction">,
    I32EnumAttrCase<"Unsplittable", 2, "unsplittable">
  ]> {
  let cppNamespace = "::mlir::tofu";
  let genSpecializedAttr = 0;
}

//===----------------------------------------------------------------------===//
// Base classes
//===----------------------------------------------------------------------===//

class Tofu_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Tofu_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Tofu_PlacementAttrInterface : AttrInterface<"PlacementAttrInterface"> {
  let cppNamespace = "::mlir::tofu";
  let description = [{
    Which box of a tensor each device of a mesh has, and over which axes what
    it has is a partial result.
  }];
  let methods = [
    InterfaceMethod<"The symbol of the mesh.",
      "::mlir::FlatSymbolRefAttr", "getMesh">,
    InterfaceMethod<"The combiner of the partial results, or none.",
      "::mlir::tofu::Combiner", "getCombiner">,
    InterfaceMethod<"The axes over which the tensor is a partial result.",
      "::llvm::ArrayRef<::mlir::StringAttr>", "getPartialAxes">,
    InterfaceMethod<"The same boxes with another set of partial axes.",
      "::mlir::Attribute", "withPartial",
      (ins "::llvm::ArrayRef<::mlir::StringAttr>":$axes,
           "::mlir::tofu::Combiner":$combiner)>,
    InterfaceMethod<[{
        The boxes as a function of the mesh coordinates, for a tensor of the
        given shape; sizes that aren't known are unknown there too. Call
        `verifyPlacement` first.
      }],
      "::mlir::tofu::search::Placement", "getPlacement",
      (ins "::llvm::ArrayRef<int64_t>":$shape,
           "const ::mlir::tofu::search::Mesh &":$mesh)>,
    InterfaceMethod<[{
        Checks axes and ranks against a mesh and a tensor's shape.
      }],
      "::llvm::LogicalResult", "verifyPlacement",
      (ins "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError,
           "::llvm::ArrayRef<int64_t>":$shape,
           "const ::mlir::tofu::search::Mesh &":$mesh)>
  ];
}

//===----------------------------------------------------------------------===//
// Semantics
//===----------------------------------------------------------------------===//

def Tofu_IterationDimAttr : Tofu_Attr<"IterationDim", "iteration_dim"> {
  let summary = "One dim of an operator's iteration space";
  let description = [{
    A name, a size (`?` where it is known only when the program runs), and what a
    cut of it means: parts of a parallel dim give parts of the results, parts of
    a reduction give partial results for the combiner, of which there is one for
    all results or one for each, an unsplittable dim stays whole. A dim `after` an earlier one may be cut where the parts of that have
    one index each, like the second of two dims that a reshape joins.

    A dim of unknown size fills the tensor dims that it indexes: the largest
    value of such an index is the tensor's last. One that can be cut is by itself
    the index of some tensor dim of unknown size, and so as large as that. A
    dim of size `? covering` covers the others: there are as many as reach all of
    the tensor, as of tiles of which the last one may be cut off.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$size,
                        "::mlir::tofu::DimKind":$kind,
                        ArrayRefParameter<"::mlir::tofu::Combiner">:$combiners,
                        OptionalParameter<"::mlir::StringAttr">:$after,
                        "bool":$covering);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// How partial results number `result` combine; none if this is no
    /// reduction.
    ::mlir::tofu::Combiner getCombiner(unsigned result) const {
      if (getCombiners().empty())
        return ::mlir::tofu::Combiner::None;
      return getCombiners()[getCombiners().size() == 1 ? 0 : result];
    }

    /// True if all partial results combine by `combiner`.
    bool combinesBy(::mlir::tofu::Combiner combiner) const {
      return getCombiners() == ::llvm::ArrayRef(combiner);
    }
  }];
}

def Tofu_AccessAttr : Tofu_Attr<"Access", "access"> {
  let summary = "What an operator reads or writes of one tensor";
  let description = [{
    The index of each tensor dim as an affine expression of the iteration dims;
    a null expression is the whole dim (`:`). An operand with `initOf` ≥ 0 is the
    initial value of that result; one that is not `read` matters by its type only.
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        ArrayRefParameter<"::mlir::AffineExpr">:$index,
                        "int64_t":$initOf, "bool":$read);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kNoInit = -1;
  }];
}

def Tofu_SemanticsAttr : Tofu_Attr<"Semantics", "semantics"> {
  let summary = "What an operator reads and writes of each tensor (TDL)";
  let description = [{
    The tensor description language of the Tofu paper (section 4.1) as an
    attribute: the iteration dims, each with its size and, for a reduction, its
    combiner, or in parentheses that of each result; then for each tensor operand
    and each result the index of every dim. `:` is a whole dim that cannot be cut, `_` an operand whose contents are
    not read, `init` marks the initial value of a result.

    Operands are the operation's ranked tensor operands in their order, then the
    ranked tensors that its regions capture, in order of first use. Results are
    tensors, or numbers, which have no dims: all devices get them, so that no dim
    may be cut.

    ```mlir
    // A matmul that adds to its initial value.
    #tofu.semantics<[m = 128, n = 512, k = 256 : sum],
                    (A[m, k], B[k, n], init C[m, n]) -> (C[m, n])>
    // The sum and the greatest element of each row.
    #tofu.semantics<[m = 128, k = 256 : (sum, max)],
                    (A[m, k], init s[m], init g[m]) -> (s[m], g[m])>
    // A batch of black boxes.
    #tofu.semantics<[b = 16], (mat[b, :, :]) -> (out[b, :, :])>
    // One element as a number.
    #tofu.semantics<[], (in[3, 0]) -> (out[])>
    ```

    `linear` lists sets of operands in which, taken together, every result is
    linear and homogeneous: a partial sum in just these passes through.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::tofu::IterationDimAttr">:$dims,
    ArrayRefParameter<"::mlir::tofu::AccessAttr">:$operands,
    ArrayRefParameter<"::mlir::tofu::AccessAttr">:$results,
    ArrayRefParameter<"int64_t">:$linear);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The operator as the search sees it, but for the values: operand i of the
    /// semantics is operand i here, whether it is read or not. Sizes of dims that
    /// are not known stay so. Fails on an index that is not linear.
    ::llvm::FailureOr<::mlir::tofu::search::Operator> getOperator() const;

    /// The sizes of the iteration dims, unknown ones too.
    ::llvm::SmallVector<int64_t> getShape() const;

    /// True if a dim's size is not known.
    bool hasDynamicDims() const;

    /// The combiner of result `result` in the reductions that `strategy` cuts,
    /// or none.
    ::mlir::tofu::Combiner getCombiner(const ::mlir::tofu::search::Strategy &strategy,
                                       unsigned result) const;

    /// True if `strategy` cuts a reduction that the operation's own region
    /// combines.
    bool combinesByRegion(const ::mlir::tofu::search::Strategy &strategy) const;
  }];
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

def Tofu_AxesAttr : Tofu_Attr<"Axes", "axes"> {
  let summary = "Ordered mesh axes, outermost first";
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names);
  let assemblyFormat = "`<` custom<AxisNames>($names) `>`";
  let extraClassDeclaration = [{
    bool empty() const { return getNames().empty(); }

    /// The axes by their index in `mesh`; unknown ones are left out (verifiers
    /// reject them).
    ::mlir::tofu::search::Axes resolve(const ::mlir::tofu::search::Mesh &mesh) const;

    static AxesAttr get(::mlir::MLIRContext *context, ::llvm::ArrayRef<unsigned> axes,
                        const ::mlir::tofu::search::Mesh &mesh);
  }];
}

def Tofu_LayoutAttr : Tofu_Attr<"Layout", "layout",
    [DeclareAttrInterfaceMethods<Tofu_PlacementAttrInterface,
       ["getPartialAxes", "withPartial", "getPlacement", "verifyPlacement"]>]> {
  let summary = "How a value lies on the mesh";
  let description = [{
    For each tensor dim the axes that split it, outermost first; axes that are
    not named replicate the value. After the dims, a combiner with the axes over
    which the value is still a partial result.

    ```mlir
    #tofu.layout<@mesh, [{x}, {} ]>            // rows over x
    #tofu.layout<@mesh, [{x, y}, {} ]>         // rows over x, each part over y
    #tofu.layout<@mesh, [{}, {x} ], sum {y}>   // columns over x, to be summed over y
    ```
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh,
                        ArrayRefParameter<"::mlir::tofu::AxesAttr">:$dims,
                        "::mlir::tofu::AxesAttr":$partial,
                        "::mlir::tofu::Combiner":$combiner);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The layout that keeps a tensor of `rank` dims whole on every device.
    static LayoutAttr getWhole(::mlir::FlatSymbolRefAttr mesh, int64_t rank);

    static LayoutAttr get(::mlir::FlatSymbolRefAttr mesh,
                          const ::mlir::tofu::search::Layout &layout,
                          ::mlir::tofu::Combiner combiner,
                          const ::mlir::tofu::search::Mesh &meshInfo);
  }];
}

def Tofu_BoxesAttr : Tofu_Attr<"Boxes", "boxes",
    [DeclareAttrInterfaceMethods<Tofu_PlacementAttrInterface,
       ["getPartialAxes", "withPartial", "getPlacement", "verifyPlacement"]>]> {
  let summary = "A box per device that is no layout";
  let description = [{
    What a strategy needs of an operand, or produces of a result, where the cut
    of the iteration space is no balanced cut of the tensor: halos, slices that
    are not aligned, reshapes. Iteration dims with sizes and the axes that cut
    them, then a linear index expression per tensor dim (`:` is the whole dim).
    A device has the smallest box that covers the indices of its part. A dim of
    size `?` fills the tensor: it is as large as the first index that it is in
    allows. One of size `? covering` covers it: the last of its indices may reach
    beyond the end.

    ```mlir
    // 60 rows as 3 groups of 20; the groups are cut over x
    #tofu.boxes<@mesh, [g = 3 {x}, i = 20], [g * 20 + i]>
    // any number of groups
    #tofu.boxes<@mesh, [g = ? {x}, i = 20], [g * 20 + i]>
    // and the last one may be smaller
    #tofu.boxes<@mesh, [g = ? covering {x}, i = 20], [g * 20 + i]>
    ```
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh,
                        ArrayRefParameter<"::mlir::StringAttr">:$dimNames,
                        ArrayRefParameter<"int64_t">:$dimSizes,
                        ArrayRefParameter<"::mlir::tofu::AxesAttr">:$dimAxes,
                        ArrayRefParameter<"::mlir::AffineExpr">:$index,
                        "::mlir::tofu::AxesAttr":$partial,
                        "::mlir::tofu::Combiner":$combiner);
  let hasCustomAssemblyFormat = 1;
}

def Tofu_StrategyAttr : Tofu_Attr<"Strategy", "strategy"> {
  let summary = "How the work of an operator is cut";
  let description = [{
    For each iteration dim of the operator's semantics the axes that split it,
    outermost first; axes that are not named replicate the work. `partial {z} in
    [0, 2]` lets partial sums over z in operands 0 and 2 pass through.

    ```mlir
    #tofu.strategy<@mesh, [{x}, {}, {y} ]>   // m over x, k over y
    ```
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh,
                        ArrayRefParameter<"::mlir::tofu::AxesAttr">:$dims,
                        "::mlir::tofu::AxesAttr":$partial,
                        ArrayRefParameter<"int64_t">:$partialOperands);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::mlir::tofu::search::Strategy resolve(const ::mlir::tofu::search::Mesh &mesh) const;

    static StrategyAttr get(::mlir::FlatSymbolRefAttr mesh,
                            const ::mlir::tofu::search::Strategy &strategy,
                            const ::mlir::tofu::search::Mesh &meshInfo);
  }];
}

#endif // TOFU_DIALECT_TOFUATTRIBUTES_TD
