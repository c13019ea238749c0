//===- Epilogue.cpp - What becomes of a contraction's elements ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Epilogue.h"
#include "CombineElements.h"
#include "Contraction.h"

using namespace mlir::tofu;
using namespace mlir::tofu::host;

/// Goes through `loops` from number `at` on; `bias` may be null.
template <typename Element, typename Memory = typename Element::Memory>
static void apply(int64_t activation, const ContractionLoops &loops, size_t at,
                  Memory *c, const Memory *bias) {
  bool isInnermost = at + 1 == loops.size();
  const ContractionLoop &loop = loops[at];
  for (int64_t i = 0; i < loop.size; ++i) {
    if (isInnermost) {
      auto value = Element::load(*c);
      if (bias)
        value += Element::load(*bias);
      *c = Element::store(activate(activation, value));
    } else {
      apply<Element>(activation, loops, at + 1, c, bias);
    }
    c += loop.strides[kC];
    if (bias)
      bias += loop.strides[kBias];
  }
}

template <typename Element>
static void applyAs(const Contraction &contraction,
                    const ContractionLoops &loops) {
  using Memory = typename Element::Memory;
  apply<Element>(contraction.activation, loops, 0,
                 reinterpret_cast<Memory *>(contraction.data[kC]),
                 reinterpret_cast<const Memory *>(contraction.bias));
}

void host::applyEpilogue(const Contraction &contraction) {
  // One element has no loops.
  ContractionLoops loops = {{1, {}}};
  for (const ContractionLoops *role :
       {&contraction.batch, &contraction.rows, &contraction.columns})
    loops.insert(loops.end(), role->begin(), role->end());
  switch (contraction.outputType) {
  case TOFU_F32:
    return applyAs<Plain<float, float>>(contraction, loops);
  case TOFU_F64:
    return applyAs<Plain<double, double>>(contraction, loops);
  case TOFU_F16:
    return applyAs<Half>(contraction, loops);
  default:
    return applyAs<BFloat>(contraction, loops);
  }
}
