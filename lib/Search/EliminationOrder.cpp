//===- EliminationOrder.cpp - Which variable goes next --------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EliminationOrder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::tofu::search;

void EliminationOrder::connect(llvm::ArrayRef<unsigned> scope) {
  for (unsigned var : scope) {
    Neighbours &near = neighbours[var];
    for (unsigned other : scope) {
      auto at = llvm::lower_bound(near, other);
      if (other != var && (at == near.end() || *at != other))
        near.insert(at, other);
    }
  }
}

int64_t EliminationOrder::tableSize(unsigned var) const {
  int64_t size = domains[var];
  for (unsigned other : neighbours[var]) {
    if (size > int64_t(1) << 40)
      break;
    size *= domains[other];
  }
  return size;
}

void EliminationOrder::start() {
  for (unsigned var = 0; var < domains.size(); ++var)
    if (domains[var] > 1)
      queue.insert({sizes[var] = tableSize(var), var});
}

llvm::SmallVector<unsigned> EliminationOrder::rest() const {
  llvm::SmallVector<unsigned> vars;
  for (auto [size, var] : queue)
    vars.push_back(var);
  llvm::sort(vars);
  return vars;
}

void EliminationOrder::remove(unsigned var, bool fill) {
  queue.erase({sizes[var], var});
  Neighbours near = std::move(neighbours[var]);
  neighbours[var].clear();
  for (unsigned other : near)
    neighbours[other].erase(llvm::lower_bound(neighbours[other], var));
  if (fill)
    connect(near);
  for (unsigned other : near) {
    queue.erase({sizes[other], other});
    queue.insert({sizes[other] = tableSize(other), other});
  }
}
