//===- Passes.h - Partitioning passes and pipelines -------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TRANSFORMS_PASSES_H
#define TOFU_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir {
class ModuleOp;
class OpPassManager;
} // namespace mlir

namespace mlir::tofu {

#define GEN_PASS_DECL
#include "Tofu/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Tofu/Transforms/Passes.h.inc"

/// Options of the pipeline `tofu-partition`; those of `tofu-plan`.
struct TofuPartitionOptions : public PassPipelineOptions<TofuPartitionOptions> {
  Option<int64_t> devices{
      *this, "devices",
      llvm::cl::desc("Number of devices; one axis per prime factor, largest "
                     "first. 0: as the mesh says"),
      llvm::cl::init(0)};
  Option<std::string> mesh{
      *this, "mesh",
      llvm::cl::desc("Axes of the mesh, slowest link first, such as x=2,y=4")};
  Option<std::string> algorithm{
      *this, "algorithm",
      llvm::cl::desc(
          "How to search: recursive, kbest, propagate, data-parallel, "
          "megatron, "
          "icml18, equal-chop, all-row-greedy, spartan, random, any"),
      llvm::cl::init("recursive")};
  Option<std::string> objective{
      *this, "objective",
      llvm::cl::desc("What the plan is to be least in: bytes or time"),
      llvm::cl::init("bytes")};
  Option<std::string> machine{
      *this, "machine",
      llvm::cl::desc("What times are of: p2.8xlarge, dgx-h100, h100x8x16 or "
                     "host; by default the module's machine")};
  Option<uint64_t> seed{
      *this, "seed", llvm::cl::desc("Of algorithm=random and any: which plan"),
      llvm::cl::init(0)};
  Option<bool> replication{
      *this, "replication",
      llvm::cl::desc("Values may be whole although they could be cut"),
      llvm::cl::init(false)};
  Option<bool> partials{*this, "partials",
                        llvm::cl::desc("Values may stay partial results"),
                        llvm::cl::init(false)};
  Option<std::string> charge{
      *this, "charge", llvm::cl::desc("Count a moved value once or per-use"),
      llvm::cl::init("once")};
  Option<int64_t> sizeHint{
      *this, "size-hint",
      llvm::cl::desc("Elements to plan for along dims of unknown size"),
      llvm::cl::init(1024)};
  Option<std::string> memoryPerDevice{
      *this, "memory-per-device",
      llvm::cl::desc("Bytes that no device may exceed, such as 16GiB")};
  Option<std::string> json{*this, "json",
                           llvm::cl::desc("File to write the plan to")};
  Option<std::string> load{*this, "load",
                           llvm::cl::desc("File to read the plan from")};
  Option<bool> print{*this, "print",
                     llvm::cl::desc("Print the plan as a table"),
                     llvm::cl::init(false)};
  Option<std::string> explain{
      *this, "explain",
      llvm::cl::desc("Print every strategy of the operation at a line, name or "
                     "number, and its cost")};
  Option<std::string> diff{
      *this, "diff",
      llvm::cl::desc("File with another plan: print what differs")};
  Option<std::string> graphviz{
      *this, "graphviz",
      llvm::cl::desc("File to write the plan to as a graph for Graphviz")};
};

/// Adds the passes from a source program to a partitioned one. Runs on a
/// module.
void addTofuPartitionPipeline(OpPassManager &pm,
                              const TofuPartitionOptions &options);

/// Adds those from a planned program to a partitioned one.
void addTofuLowerPlanPipeline(OpPassManager &pm);

/// Registers the pipeline as `tofu-partition`.
void registerTofuPartitionPipeline();

} // namespace mlir::tofu

#endif // TOFU_TRANSFORMS_PASSES_H
