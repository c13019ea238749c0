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

static const char *getName(int operand) {
  static const char *const names[] = {"A", "B", "C", "the bias"};
  return names[operand];
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

/// Checks the fixed part of a table.
static bool checkHeader(const int64_t *words, const ContractionMemrefs &memrefs,
                        std::string &error) {
  if (words[TOFU_CONTRACT_VERSION] != TOFU_TABLE_VERSION) {
    error = "table has version " +
            std::to_string(words[TOFU_CONTRACT_VERSION]) +
            ", the runtime reads " + std::to_string(TOFU_TABLE_VERSION);
    return false;
  }
  for (int operand = 0; operand < 3; ++operand) {
    int64_t said = words[TOFU_CONTRACT_RANK_A + operand];
    if (said == memrefs[operand].rank)
      continue;
    error = std::string(getName(operand)) + " has rank " +
            std::to_string(memrefs[operand].rank) + ", the table says " +
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
            " iterations by " + getName(operand) + " and " +
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
    for (int i = 0; joins && i < 4; ++i)
      joins = joined.back().strides[i] == loop.strides[i] * loop.size;
    if (!joins) {
      joined.push_back(loop);
      continue;
    }
    joined.back().size *= loop.size;
    std::copy_n(loop.strides, 4, joined.back().strides);
  }
  loops = std::move(joined);
}

/// Sorts the loops by role: summed if not in C, else by the inputs they index.
static void assignRoles(Contraction &contraction,
                        const std::vector<FoundLoop> &loops) {
  constexpr unsigned inA = 1, inB = 2, inC = 4;
  for (const FoundLoop &found : loops) {
    unsigned operands = found.operands & (inA | inB | inC);
    bool isResult = operands & inC;
    if (found.loop.size == 0)
      (isResult ? contraction.hasNoResult : contraction.hasNoTerms) = true;
    if (found.loop.size == 1)
      continue;
    ContractionLoops &role = !isResult                 ? contraction.inner
                             : operands == (inA | inC) ? contraction.rows
                             : operands == (inB | inC) ? contraction.columns
                                                       : contraction.batch;
    role.push_back(found.loop);
  }
}

/// Adds the dims of one operand, whose words begin at `index`, and goes on to
/// those of the next.
static bool addDims(std::vector<FoundLoop> &loops, const int64_t *&index,
                    int operand, const View &view, std::string &error) {
  for (int64_t dim = 0; dim < view.rank; ++dim)
    if (!addDim(loops, *index++, operand, view.sizes[dim], view.strides[dim],
                error))
      return false;
  return true;
}

/// Reads what comes after the words of C.
static bool readEpilogue(Contraction &contraction,
                         std::vector<FoundLoop> &loops, const int64_t *words,
                         const Memref &bias, std::string &error) {
  contraction.activation = *words++;
  if (contraction.activation < 0 ||
      contraction.activation >= TOFU_NUM_ACTIVATIONS) {
    error = "unknown activation in table: " +
            std::to_string(contraction.activation);
    return false;
  }
  if (!isFloat(contraction.outputType)) {
    error = std::string("no epilogue for ") +
            elementTypeName(contraction.outputType);
    return false;
  }
  if (!bias.descriptor)
    return true;
  View view = View::ofMemref(bias.rank, bias.descriptor,
                             elementBytes(contraction.outputType));
  contraction.bias = view.data;
  if (!addDims(loops, words, kBias, view, error))
    return false;
  for (size_t i = 0; i < loops.size(); ++i) {
    bool isInC = loops[i].operands & (1u << kC);
    if (isInC || !(loops[i].operands & (1u << kBias)))
      continue;
    error = "loop " + std::to_string(i) + " indexes the bias, but not C";
    return false;
  }
  return true;
}

bool Contraction::read(const int64_t *words, const ContractionMemrefs &memrefs,
                       std::string &error) {
  if (!checkHeader(words, memrefs, error))
    return false;
  auto readType = [&](int word) {
    return words[word] == TOFU_INDEX ? TOFU_I64 : words[word];
  };
  inputType = readType(TOFU_CONTRACT_INPUT_TYPE);
  outputType = readType(TOFU_CONTRACT_OUTPUT_TYPE);
  accumulate = words[TOFU_CONTRACT_ACCUMULATE] != 0;
  std::vector<FoundLoop> loops(words[TOFU_CONTRACT_LOOPS]);
  const int64_t *index = words + TOFU_CONTRACT_HEADER;
  for (int operand = 0; operand < 3; ++operand) {
    View view =
        View::ofMemref(memrefs[operand].rank, memrefs[operand].descriptor,
                       elementBytes(operand == kC ? outputType : inputType));
    data[operand] = view.data;
    if (!addDims(loops, index, operand, view, error))
      return false;
  }
  if (memrefs.size() > 3 &&
      !readEpilogue(*this, loops, index, memrefs[kBias], error))
    return false;
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

Contraction Contraction::withoutEpilogue() const {
  Contraction result = *this;
  result.bias = nullptr;
  result.activation = TOFU_ACTIVATION_NONE;
  return result;
}

double Contraction::flops() const {
  return 2.0 * numIterations(batch) * numIterations(rows) *
         numIterations(columns) * numIterations(inner);
}
