//===- Pipelines.cpp - From source to partitioned -------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tofu;

void mlir::tofu::addTofuLowerPlanPipeline(OpPassManager &pm) {
  pm.addPass(createInsertReshardsPass());
  pm.addPass(createLocalizePass());
  pm.addPass(createLowerReshardsPass());
  pm.addPass(createOptimizeCollectivesPass());
}

void mlir::tofu::addTofuPartitionPipeline(OpPassManager &pm,
                                          const TofuPartitionOptions &options) {
  pm.addPass(createAnnotatePass());
  PlanPassOptions plan;
  plan.devices = options.devices;
  plan.mesh = options.mesh;
  plan.algorithm = options.algorithm;
  plan.seed = options.seed;
  plan.replication = options.replication;
  plan.objective = options.objective;
  plan.machine = options.machine;
  plan.partials = options.partials;
  plan.charge = options.charge;
  plan.sizeHint = options.sizeHint;
  plan.memoryPerDevice = options.memoryPerDevice;
  plan.json = options.json;
  plan.load = options.load;
  plan.print = options.print;
  plan.explain = options.explain;
  plan.diff = options.diff;
  plan.graphviz = options.graphviz;
  pm.addPass(createPlanPass(plan));
  addTofuLowerPlanPipeline(pm);
}

void mlir::tofu::registerTofuPartitionPipeline() {
  PassPipelineRegistration<TofuPartitionOptions>(
      "tofu-partition",
      "Partition a program over devices: annotate, plan, and rewrite it to "
      "what "
      "one device computes, with collectives",
      addTofuPartitionPipeline);
}
