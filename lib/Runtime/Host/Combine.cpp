//===- Combine.cpp - Combining partial results ----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Combine.h"

#include "CombineElements.h"

using namespace mlir::tofu;
using namespace mlir::tofu::host;

const char *host::combinerName(int64_t combiner) {
  static const char *const names[] = {"none",   "sum",    "prod",  "min",
                                      "max",    "and",    "or",    "xor",
                                      "minnum", "maxnum", "minui", "maxui"};
  static_assert(sizeof(names) / sizeof(*names) == TOFU_NUM_COMBINERS,
                "one name per combiner");
  return names[combiner];
}

template <typename Element, typename Operator>
static void combine(void *into, const void *from, int64_t size) {
  using Memory = typename Element::Memory;
  auto *__restrict a = static_cast<Memory *>(into);
  const auto *__restrict b = static_cast<const Memory *>(from);
  for (int64_t i = 0; i < size; ++i)
    a[i] = Element::store(
        Operator::apply(Element::load(a[i]), Element::load(b[i])));
}

template <typename Element, typename Operator>
static void writeNeutral(void *into) {
  using Computed = decltype(Element::load({}));
  *static_cast<typename Element::Memory *>(into) =
      Element::store(Operator::template neutral<Computed>());
}

namespace {

struct MakeCombiner {
  using Result = Combiner;

  template <typename Element, typename Operator>
  Combiner operator()(Element, Operator) const {
    return {combine<Element, Operator>, writeNeutral<Element, Operator>};
  }
};

} // namespace

Combiner host::getCombiner(int64_t combiner, int64_t type) {
  return visitCombiner(combiner, type, MakeCombiner());
}
