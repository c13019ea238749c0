//===- Contraction.cpp - The loops of a contraction -----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"

#include <algorithm>
#include <utility>

using namespace mlir::tofu;
using namespace mlir::tofu::host;

int64_t host::numIterations(const ContractionLoops &loops) {
  int64_t product = 1;
  for (const ContractionLoop &loop : loops)
    product *= loop.size;
  return product;
}

std::optional<int64_t> host::joinedStride(const ContractionLoops &loops,
                                          Operand operand) {
  for (size_t i = 1; i < loops.size(); ++i)
    if (loops[i - 1].strides[operand] !=
        loops[i].strides[operand] * loops[i].size)
      return std::nullopt;
  return loops.empty() ? 0 : loops.back().strides[operand];
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static bool isFloat(int64_t type) { return type <= TOFU_BF16; }

static bool isMultiplied(int64_t type) {
  return type != TOFU_I1 && type <= TOFU_INDEX;
}

static bool checkTypes(int64_t input, int64_t output, std::string &error) {
  for (int64_t type : {input, output}) {
    if (type >= 0 && type < TOFU_NUM_ELEMENT_TYPES)
      continue;
    error = "unknown element type in table: " + std::to_string(type);
    return false;
  }
  if (isMultiplied(input) && isMultiplied(output) &&
      isFloat(input) == isFloat(output))
    return true;
  error = std::string("no contraction of ") + elementTypeName(input) + " to " +
          elementTypeName(output);
  return false;
}

bool host::checkContractionHeader(const int64_t *words,
                                  const int64_t (&ranks)[3],
                                  std::string &error) {
  if (words[TOFU_CONTRACT_VERSION] != TOFU_TABLE_VERSION) {
    error = "table has version " +
            std::to_string(words[TOFU_CONTRACT_VERSION]) +
            ", the runtime reads " + std::to_string(TOFU_TABLE_VERSION);
    return false;
  }
  for (int operand = 0; operand < 3; ++operand) {
    int64_t said = words[TOFU_CONTRACT_RANK_A + operand];
    if (said == ranks[operand])
      continue;
    error = std::string(1, "ABC"[operand]) + " has rank " +
            std::to_string(ranks[operand]) + ", the table says " +
            std::to_string(said);
    return false;
  }
  int64_t loops = words[TOFU_CONTRACT_LOOPS];
  if (loops < 0 || loops > kMaxRank) {
    error = "contraction has " + std::to_string(loops) + " loops";
    return false;
  }
  return checkTypes(words[TOFU_CONTRACT_INPUT_TYPE],
                    words[TOFU_CONTRACT_OUTPUT_TYPE], error);
}

namespace {

/// A loop and the operands that it indexes, as bits.
struct FoundLoop {
  ContractionLoop loop{-1, {0, 0, 0}};
  unsigned operands = 0;
};

} // namespace

/// Adds one dim of one operand to the loops that the table names.
static bool addDim(std::vector<FoundLoop> &loops, int64_t index, int operand,
                   int64_t size, int64_t stride, std::string &error) {
  if (index < -1 || index >= static_cast<int64_t>(loops.size())) {
    error = "table names loop " + std::to_string(index) + " of " +
            std::to_string(loops.size());
    return false;
  }
  if (index == -1) {
    error = "a dim that is read at index 0 has no elements";
    return size > 0;
  }
  FoundLoop &found = loops[index];
  if (found.loop.size >= 0 && found.loop.size != size) {
    error = "loop " + std::to_string(index) + " has " + std::to_string(size) +
            " iterations by " + "ABC"[operand] + " and " +
            std::to_string(found.loop.size) + " by another operand";
    return false;
  }
  found.loop.size = size;
  found.loop.strides[operand] += stride;
  found.operands |= 1u << operand;
  return true;
}

void host::orderAndJoin(ContractionLoops &loops, Operand operand) {
  sortFew(loops.begin(), loops.end(),
          [&](const ContractionLoop &a, const ContractionLoop &b) {
            return std::abs(a.strides[operand]) > std::abs(b.strides[operand]);
          });
  ContractionLoops joined;
  for (const ContractionLoop &loop : loops) {
    bool joins = !joined.empty();
    for (int i = 0; joins && i < 3; ++i)
      joins = joined.back().strides[i] == loop.strides[i] * loop.size;
    if (!joins) {
      joined.push_back(loop);
      continue;
    }
    joined.back().size *= loop.size;
    std::copy_n(loop.strides, 3, joined.back().strides);
  }
  loops = std::move(joined);
}

/// Sorts the loops by role: summed if not in C, else by the inputs they index.
static void assignRoles(Contraction &contraction,
                        const std::vector<FoundLoop> &loops) {
  constexpr unsigned inA = 1, inB = 2, inC = 4;
  for (const FoundLoop &found : loops) {
    bool isResult = found.operands & inC;
    if (found.loop.size == 0)
      (isResult ? contraction.hasNoResult : contraction.hasNoTerms) = true;
    if (found.loop.size == 1)
      continue;
    ContractionLoops &role = !isResult                       ? contraction.inner
                             : found.operands == (inA | inC) ? contraction.rows
                             : found.operands == (inB | inC)
                                 ? contraction.columns
                                 : contraction.batch;
    role.push_back(found.loop);
  }
}

bool Contraction::read(const int64_t *words, const View (&views)[3],
                       std::string &error) {
  auto readType = [&](int word) {
    return words[word] == TOFU_INDEX ? TOFU_I64 : words[word];
  };
  inputType = readType(TOFU_CONTRACT_INPUT_TYPE);
  outputType = readType(TOFU_CONTRACT_OUTPUT_TYPE);
  accumulate = words[TOFU_CONTRACT_ACCUMULATE] != 0;
  std::vector<FoundLoop> loops(words[TOFU_CONTRACT_LOOPS]);
  const int64_t *index = words + TOFU_CONTRACT_HEADER;
  for (int operand = 0; operand < 3; ++operand) {
    const View &view = views[operand];
    data[operand] = view.data;
    for (int64_t dim = 0; dim < view.rank; ++dim)
      if (!addDim(loops, *index++, operand, view.sizes[dim], view.strides[dim],
                  error))
        return false;
  }
  for (size_t i = 0; i < loops.size(); ++i) {
    if (loops[i].operands)
      continue;
    error = "loop " + std::to_string(i) + " indexes no operand";
    return false;
  }
  assignRoles(*this, loops);
  return true;
}

void Contraction::join() {
  orderAndJoin(batch, kC);
  orderAndJoin(rows, kC);
  orderAndJoin(columns, kC);
  orderAndJoin(inner, kA);
}

Contraction Contraction::transposed() const {
  Contraction result = *this;
  std::swap(result.data[kA], result.data[kB]);
  std::swap(result.rows, result.columns);
  for (ContractionLoops *loops :
       {&result.batch, &result.rows, &result.columns, &result.inner})
    for (ContractionLoop &loop : *loops)
      std::swap(loop.strides[kA], loop.strides[kB]);
  return result;
}

double Contraction::flops() const {
  return 2.0 * numIterations(batch) * numIterations(rows) *
         numIterations(columns) * numIterations(inner);
}
