//===- SearchTime.cpp - How long the search takes -------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Time of the searches over the size of the program, in the training step of a
// transformer on 8 devices. Arguments: layers, tied plans. Counters: operators,
// bytes of the plan, whether all steps were exact, seconds of a step on
// average.
//
//===----------------------------------------------------------------------===//

#include "../Unit/Search/Programs.h"
#include "Tofu/Search/Search.h"

#include "benchmark/benchmark.h"

using namespace mlir::tofu::search;

using Search = SearchResult(const PartitionGraph &, const Mesh &,
                            const SearchOptions &);

static void run(benchmark::State &state, Search *search,
                const SearchOptions &defaults) {
  Transformer sizes;
  sizes.layers = state.range(0);
  PartitionGraph graph = TransformerBuilder(sizes).build();
  Mesh mesh = Mesh::factored(8);
  SearchOptions options = defaults;
  options.tiedPlans = state.range(1);
  SearchResult result;
  for (auto _ : state)
    result = search(graph, mesh, options);
  state.counters["operators"] = graph.operators.size();
  state.counters["bytes"] = result.plan.totalBytes;
  state.counters["exact"] = result.exact;
  state.counters["seconds_per_step"] = result.seconds / mesh.numAxes();
}

static void recursive(benchmark::State &state) {
  run(state, searchRecursive, {});
}

static void recursiveWithReplication(benchmark::State &state) {
  SearchOptions options;
  options.replication = true;
  run(state, searchRecursive, options);
}

static void kBest(benchmark::State &state) { run(state, searchKBest, {}); }

BENCHMARK(recursive)
    ->ArgsProduct({{1, 4, 12, 48}, {1, 16}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(recursiveWithReplication)
    ->ArgsProduct({{12, 48}, {16}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(kBest)
    ->ArgsProduct({{1, 12, 48}, {16}})
    ->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
