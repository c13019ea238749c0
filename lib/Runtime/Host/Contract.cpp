//===- Contract.cpp - Contractions as matrix products ---------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two ways to matrices. Directly: one loop of each role is the product, all
// others go around it; good if that product is all there is, or large. Packed:
// per batch element, what is no matrix of the computed type is copied into one.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Gemm.h"
#include "World.h"

#include <algorithm>
#include <array>
#include <utility>

using namespace mlir::tofu;
using namespace mlir::tofu::host;

/// Multiply-adds of a product from which the library is near its speed; below,
/// copying into one larger product is cheaper than many calls.
static constexpr int64_t kLargeProduct = 32 * 32 * 32;

/// Addresses of A, B and C.
using Addresses = std::array<char *, 3>;
using ElementBytes = std::array<int64_t, 3>;

/// Calls `visit` with the addresses of each iteration of `loops`, in order,
/// while it returns true.
template <typename Visit>
static bool forEachIteration(const ContractionLoops &loops, size_t at,
                             const ElementBytes &bytes, Addresses data,
                             Visit &&visit) {
  if (at == loops.size())
    return visit(data);
  for (int64_t i = 0; i < loops[at].size; ++i) {
    if (!forEachIteration(loops, at + 1, bytes, data, visit))
      return false;
    for (int operand = 0; operand < 3; ++operand)
      data[operand] += loops[at].strides[operand] * bytes[operand];
  }
  return true;
}

/// The operand as a matrix with those rows and columns, if its memory is one.
static std::optional<Matrix> asMatrix(const ContractionLoops &rows,
                                      const ContractionLoops &columns,
                                      Operand operand, bool takesTransposed) {
  std::optional<int64_t> rowStride = joinedStride(rows, operand);
  std::optional<int64_t> columnStride = joinedStride(columns, operand);
  if (!rowStride || !columnStride)
    return std::nullopt;
  int64_t numRows = numIterations(rows), numColumns = numIterations(columns);
  int64_t rowLead = rows.empty() ? numColumns : *rowStride;
  if ((columns.empty() || *columnStride == 1) && rowLead >= numColumns)
    return Matrix{nullptr, rowLead, false};
  int64_t columnLead = columns.empty() ? numRows : *columnStride;
  if (takesTransposed && (rows.empty() || *rowStride == 1) &&
      columnLead >= numRows)
    return Matrix{nullptr, columnLead, true};
  return std::nullopt;
}

static View viewOf(char *data, const ContractionLoops &rows,
                   const ContractionLoops &columns, Operand operand) {
  View view;
  view.data = data;
  for (const ContractionLoops *loops : {&rows, &columns})
    for (const ContractionLoop &loop : *loops) {
      view.sizes[view.rank] = loop.size;
      view.strides[view.rank++] = loop.strides[operand];
    }
  return view;
}

/// The view with the same sizes that lies without gaps in `data`.
static View contiguous(char *data, const View &like) {
  Box box;
  for (int64_t dim = 0; dim < like.rank; ++dim)
    box.push_back({0, like.sizes[dim]});
  return View::ofBox(data, box);
}

namespace {

/// Where its matrices lie, if a contraction is products of what is in memory.
struct Direct {
  ContractionLoops rows, columns, inner, around, aroundInner;
  Matrix a, b;
  int64_t lead;

  int64_t work() const {
    return numIterations(rows) * numIterations(columns) * numIterations(inner);
  }
  bool isWhole() const { return around.empty() && aroundInner.empty(); }
};

class Executor {
public:
  Executor(TofuContext &context, const Contraction &contraction)
      : context(context), contraction(contraction),
        computeType(
            getComputeType(contraction.inputType, contraction.outputType)) {
    bytes[kA] = bytes[kB] = elementBytes(contraction.inputType);
    bytes[kC] = elementBytes(contraction.outputType);
  }

  /// False with the reason in `error`.
  bool run(std::string &error);

private:
  void clearResult();
  std::optional<Direct> findDirect() const;
  std::optional<Direct> tryDirect(const Direct &loops) const;
  bool runDirect(const Direct &direct);
  bool runPacked();
  bool runPackedProduct(const Addresses &data);
  std::optional<Matrix> getInput(Operand operand, char *data,
                                 const ContractionLoops &rows,
                                 const ContractionLoops &columns);
  bool storeResult(const View &to, const char *computed);
  char *scratch(int index, int64_t size) {
    return static_cast<char *>(context.scratch.get(index, size));
  }

  TofuContext &context;
  const Contraction &contraction;
  const int64_t computeType;
  ElementBytes bytes;
  /// What the packed A and B were copied from.
  std::array<const char *, 2> packedFrom = {nullptr, nullptr};
};

} // namespace

void Executor::clearResult() {
  int64_t zero = 0;
  Addresses data = {contraction.data[kA], contraction.data[kB],
                    contraction.data[kC]};
  forEachIteration(contraction.batch, 0, bytes, data, [&](Addresses at) {
    View to = viewOf(at[kC], contraction.rows, contraction.columns, kC);
    View from = to;
    from.data = reinterpret_cast<char *>(&zero);
    std::fill_n(from.strides, from.rank, 0);
    copy(to, from, bytes[kC]);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Direct
//===----------------------------------------------------------------------===//

std::optional<Direct> Executor::tryDirect(const Direct &loops) const {
  bool transposes = takesTransposed(computeType);
  auto a = asMatrix(loops.rows, loops.inner, kA, transposes);
  auto b = asMatrix(loops.inner, loops.columns, kB, transposes);
  auto c = asMatrix(loops.rows, loops.columns, kC, false);
  if (!a || !b || !c)
    return std::nullopt;
  Direct direct = loops;
  direct.a = *a;
  direct.b = *b;
  direct.lead = c->lead;
  return direct;
}

/// Takes loop `index` for the product, if there is one, and leaves the others.
static ContractionLoops takeLoop(const ContractionLoops &loops, size_t index,
                                 ContractionLoops &others) {
  ContractionLoops taken;
  for (size_t i = 0; i < loops.size(); ++i)
    (i == index ? taken : others).push_back(loops[i]);
  return taken;
}

/// The largest product that one loop of each role makes.
std::optional<Direct> Executor::findDirect() const {
  if (contraction.inputType != computeType ||
      contraction.outputType != computeType)
    return std::nullopt;
  auto count = [](const ContractionLoops &loops) {
    return std::max<size_t>(loops.size(), 1);
  };
  std::optional<Direct> best;
  for (size_t row = 0; row < count(contraction.rows); ++row)
    for (size_t column = 0; column < count(contraction.columns); ++column)
      for (size_t inner = 0; inner < count(contraction.inner); ++inner) {
        Direct loops;
        loops.around = contraction.batch;
        loops.rows = takeLoop(contraction.rows, row, loops.around);
        loops.columns = takeLoop(contraction.columns, column, loops.around);
        loops.inner = takeLoop(contraction.inner, inner, loops.aroundInner);
        std::optional<Direct> direct = tryDirect(loops);
        if (direct && (!best || direct->work() > best->work()))
          best = std::move(direct);
      }
  return best;
}

bool Executor::runDirect(const Direct &direct) {
  int64_t rows = numIterations(direct.rows);
  int64_t columns = numIterations(direct.columns);
  int64_t inner = numIterations(direct.inner);
  Matrix a = direct.a, b = direct.b;
  Addresses data = {contraction.data[kA], contraction.data[kB],
                    contraction.data[kC]};
  return forEachIteration(direct.around, 0, bytes, data, [&](Addresses at) {
    bool accumulate = contraction.accumulate;
    return forEachIteration(
        direct.aroundInner, 0, bytes, at, [&](Addresses atInner) {
          a.data = atInner[kA];
          b.data = atInner[kB];
          return multiply(computeType, rows, columns, inner, a, b,
                          std::exchange(accumulate, true), atInner[kC],
                          direct.lead);
        });
  });
}

//===----------------------------------------------------------------------===//
// Packed
//===----------------------------------------------------------------------===//

// Buffers of the context's scratch memory: for A, B and C one with elements as
// they are, one with computed ones.
static int rawBuffer(Operand operand) { return 2 * operand; }
static int computedBuffer(Operand operand) { return 2 * operand + 1; }

/// A or B as a matrix of the computed type: in place if it is one, else packed.
std::optional<Matrix> Executor::getInput(Operand operand, char *data,
                                         const ContractionLoops &rows,
                                         const ContractionLoops &columns) {
  bool converts = contraction.inputType != computeType;
  if (!converts) {
    auto matrix =
        asMatrix(rows, columns, operand, takesTransposed(computeType));
    if (matrix)
      return Matrix{data, matrix->lead, matrix->isTransposed};
  }
  View view = viewOf(data, rows, columns, operand);
  int64_t size = view.volume(), lead = numIterations(columns);
  bool isNew = packedFrom[operand] != data;
  packedFrom[operand] = data;
  if (isNew && !view.isContiguous()) {
    char *raw = scratch(rawBuffer(operand), size * bytes[operand]);
    if (!raw)
      return std::nullopt;
    copy(contiguous(raw, view), view, bytes[operand]);
    data = raw;
  } else if (!view.isContiguous()) {
    data = scratch(rawBuffer(operand), size * bytes[operand]);
  }
  if (!converts)
    return Matrix{data, lead, false};
  char *computed =
      scratch(computedBuffer(operand), size * elementBytes(computeType));
  if (computed && isNew)
    convert(computeType, computed, contraction.inputType, data, size);
  return computed ? std::optional<Matrix>({computed, lead, false})
                  : std::nullopt;
}

/// Rounds and copies a computed result to where it belongs.
bool Executor::storeResult(const View &to, const char *computed) {
  int64_t size = to.volume();
  if (to.isContiguous()) {
    convert(contraction.outputType, to.data, computeType, computed, size);
    return true;
  }
  char *raw = scratch(rawBuffer(kC), size * bytes[kC]);
  if (!raw)
    return false;
  convert(contraction.outputType, raw, computeType, computed, size);
  copy(to, contiguous(raw, to), bytes[kC]);
  return true;
}

bool Executor::runPackedProduct(const Addresses &data) {
  const Contraction &loops = contraction;
  int64_t rows = numIterations(loops.rows);
  int64_t columns = numIterations(loops.columns);
  int64_t inner = numIterations(loops.inner);
  auto a = getInput(kA, data[kA], loops.rows, loops.inner);
  auto b = getInput(kB, data[kB], loops.inner, loops.columns);
  if (!a || !b)
    return false;
  auto c = asMatrix(loops.rows, loops.columns, kC, false);
  if (c && loops.outputType == computeType)
    return multiply(computeType, rows, columns, inner, *a, *b, loops.accumulate,
                    data[kC], c->lead);

  View view = viewOf(data[kC], loops.rows, loops.columns, kC);
  int64_t size = rows * columns;
  char *computed =
      scratch(computedBuffer(kC), size * elementBytes(computeType));
  if (!computed)
    return false;
  if (loops.accumulate) {
    char *raw = scratch(rawBuffer(kC), size * bytes[kC]);
    if (!raw)
      return false;
    copy(contiguous(raw, view), view, bytes[kC]);
    convert(computeType, computed, loops.outputType, raw, size);
  }
  return multiply(computeType, rows, columns, inner, *a, *b, loops.accumulate,
                  computed, columns) &&
         storeResult(view, computed);
}

bool Executor::runPacked() {
  Addresses data = {contraction.data[kA], contraction.data[kB],
                    contraction.data[kC]};
  return forEachIteration(contraction.batch, 0, bytes, data,
                          [&](Addresses at) { return runPackedProduct(at); });
}

//===----------------------------------------------------------------------===//
// The contraction
//===----------------------------------------------------------------------===//

bool Executor::run(std::string &error) {
  if (contraction.hasNoResult)
    return true;
  if (contraction.hasNoTerms) {
    if (!contraction.accumulate)
      clearResult();
    return true;
  }
  error = "a matrix product failed, for want of memory or within the library";
  std::optional<Direct> direct = findDirect();
  if (direct && (direct->isWhole() || direct->work() >= kLargeProduct))
    return runDirect(*direct);
  return runPacked();
}

/// Products are written row by row: with columns of neighbours, transpose.
static bool wantsTransposed(const Contraction &contraction) {
  return !asMatrix(contraction.rows, contraction.columns, kC, false) &&
         asMatrix(contraction.columns, contraction.rows, kC, false);
}

bool host::runContraction(TofuContext &context, const int64_t *words,
                          const char *location,
                          const ContractionMemrefs &memrefs) {
  double start = now();
  std::string error;
  Contraction contraction;
  bool isGood = contraction.read(words, memrefs, error);
  if (isGood) {
    contraction.join();
    if (wantsTransposed(contraction))
      contraction = contraction.transposed();
    isGood = Executor(context, contraction).run(error);
  }
  if (!isGood) {
    context.world->fail(context.device, location, error);
    return false;
  }
  if (contraction.hasEpilogue() && !contraction.hasNoResult)
    applyEpilogue(contraction);
  ++context.contractions.calls;
  context.contractions.flops += contraction.flops();
  context.contractions.seconds += now() - start;
  return true;
}
