//===- Staging.cpp - Calls on tensors in the memory of the host -----------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tests of the host runtime have their tensors in the memory of the host.
// Here their calls bring all of a tensor to the device, gaps too, and what the
// call has written back. Blocks lie as far from the alignment of memory as on
// the host. Calls may fail, and then leave by longjmp: frames own nothing.
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "Gpu.h"

#include <algorithm>

using namespace mlir::tofu::test;

namespace {

/// Events that tests don't use.
enum { kBrought = 62, kDone };

constexpr int64_t kMaxRank = 40;

/// Memory of the host, and of the device for it.
struct Block {
  char *host = nullptr;
  int64_t bytes = 0;
  char *base = nullptr, *device = nullptr;

  char *move(const void *address) const {
    return device + (static_cast<const char *>(address) - host);
  }
  bool overlaps(const Block &other) const {
    return host < other.host + other.bytes && other.host < host + bytes;
  }
  void join(const Block &other) {
    char *end = std::max(host + bytes, other.host + other.bytes);
    host = std::min(host, other.host);
    bytes = end - host;
  }
  void bring(TofuContext *context) {
    base = static_cast<char *>(getRuntime().alloc(context, bytes + 64));
    device = base + reinterpret_cast<uintptr_t>(host) % 64;
    getRuntime().write(context, nullptr, device, host, bytes);
  }
  void fetch(TofuContext *context) {
    getRuntime().read(context, nullptr, host, device, bytes);
  }
  void free(TofuContext *context) { getRuntime().free(context, base); }
};

/// A memref descriptor whose memory is moved.
struct Operand {
  int64_t words[3 + 2 * kMaxRank] = {};
  Block block;

  /// False if there is no such tensor.
  bool describe(int64_t rank, const void *memref, int64_t type) {
    if (rank < 0 || rank > kMaxRank || type < 0 ||
        type >= TOFU_NUM_ELEMENT_TYPES)
      return false;
    std::memcpy(words, memref, (3 + 2 * rank) * sizeof(int64_t));
    int64_t first = words[2], last = words[2];
    bool isEmpty = false;
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t size = words[3 + dim];
      isEmpty |= size <= 0;
      int64_t steps = (size - 1) * words[3 + rank + dim];
      (steps < 0 ? first : last) += steps;
    }
    block.host = getAligned() + first * bytesOf(type);
    block.bytes = isEmpty ? 0 : (last - first + 1) * bytesOf(type);
    return true;
  }
  void move(const Block &where) {
    char *moved = where.move(getAligned());
    std::memcpy(&words[0], &moved, sizeof(moved));
    std::memcpy(&words[1], &moved, sizeof(moved));
  }
  char *getAligned() const {
    char *aligned;
    std::memcpy(&aligned, &words[1], sizeof(aligned));
    return aligned;
  }
};

} // namespace

/// What was brought, in the order of the compute stream, is there for `stream`.
static void begin(TofuContext *context, TofuStream *stream) {
  getRuntime().record(context, nullptr, kBrought);
  getRuntime().wait(context, stream, kBrought);
}
static void end(TofuContext *context, TofuStream *stream) {
  getRuntime().record(context, stream, kDone);
  getRuntime().wait(context, nullptr, kDone);
}

/// A source and a destination, which may be the same memory.
static void bring(TofuContext *context, TofuStream *stream, Block &src,
                  Block &dst) {
  bool isShared = src.overlaps(dst);
  if (isShared)
    dst.join(src);
  dst.bring(context);
  if (isShared)
    src = dst;
  else
    src.bring(context);
  begin(context, stream);
}
static void fetch(TofuContext *context, TofuStream *stream, Block &src,
                  Block &dst) {
  end(context, stream);
  dst.fetch(context);
  if (src.base != dst.base)
    src.free(context);
  dst.free(context);
}

/// A bias may be missing.
static void contract(TofuContext *context, TofuStream *stream,
                     const int64_t *table, const char *location,
                     const int64_t (&ranks)[4], void *const (&memrefs)[4],
                     bool hasEpilogue) {
  const Runtime &runtime = getRuntime();
  auto call = [&](void *a, void *b, void *c, void *bias) {
    if (hasEpilogue)
      runtime.contractWithEpilogue(context, stream, table, location, ranks[0],
                                   a, ranks[1], b, ranks[2], c, ranks[3], bias);
    else
      runtime.contract(context, stream, table, location, ranks[0], a, ranks[1],
                       b, ranks[2], c);
  };
  Operand operands[4];
  bool isGood = true;
  for (int i = 0; i < 4; ++i) {
    int64_t type =
        table[i < 2 ? TOFU_CONTRACT_INPUT_TYPE : TOFU_CONTRACT_OUTPUT_TYPE];
    isGood &= !memrefs[i] || operands[i].describe(ranks[i], memrefs[i], type);
  }
  if (!isGood)
    return call(memrefs[0], memrefs[1], memrefs[2], memrefs[3]);
  for (int i = 0; i < 4; ++i) {
    if (!memrefs[i])
      continue;
    operands[i].block.bring(context);
    operands[i].move(operands[i].block);
  }
  begin(context, stream);
  call(operands[0].words, operands[1].words, operands[2].words,
       memrefs[3] ? operands[3].words : nullptr);
  end(context, stream);
  operands[2].block.fetch(context);
  for (int i = 0; i < 4; ++i)
    if (memrefs[i])
      operands[i].block.free(context);
}

extern "C" {

void tofuFail(TofuContext *context, const char *message, const char *location) {
  getRuntime().fail(context, message, location);
}

void stageCollective(TofuContext *context, TofuStream *stream,
                     const int64_t *table, const char *location,
                     int64_t srcRank, void *src, int64_t dstRank, void *dst) {
  Operand from, to;
  int64_t type = table[TOFU_COLLECTIVE_TYPE];
  if (!from.describe(srcRank, src, type) || !to.describe(dstRank, dst, type))
    return getRuntime().collective(context, stream, table, location, srcRank,
                                   src, dstRank, dst);
  bring(context, stream, from.block, to.block);
  from.move(from.block);
  to.move(to.block);
  getRuntime().collective(context, stream, table, location, srcRank, from.words,
                          dstRank, to.words);
  fetch(context, stream, from.block, to.block);
}

void stageEvenCollective(TofuContext *context, TofuStream *stream,
                         const int64_t *table, const char *location,
                         const void *src, void *dst) {
  int64_t type = table[TOFU_EVEN_TYPE], count = table[TOFU_EVEN_COUNT],
          kind = table[TOFU_EVEN_KIND];
  if (type < 0 || type >= TOFU_NUM_ELEMENT_TYPES || count < 1 ||
      count > INT32_MAX)
    return getRuntime().evenCollective(context, stream, table, location, src,
                                       dst);
  int64_t bytes = count * bytesOf(type);
  const int64_t *groups = table + TOFU_EVEN_HEADER;
  auto countGroup = [&] {
    return std::count(groups, groups + table[TOFU_EVEN_DEVICES], groups[0]);
  };
  Block from, to;
  from.host = static_cast<char *>(const_cast<void *>(src));
  to.host = static_cast<char *>(dst);
  from.bytes = bytes * (kind == TOFU_REDUCE_SCATTER ? countGroup() : 1);
  to.bytes = bytes * (kind == TOFU_ALL_GATHER ? countGroup() : 1);
  bring(context, stream, from, to);
  getRuntime().evenCollective(context, stream, table, location, from.move(src),
                              to.move(dst));
  fetch(context, stream, from, to);
}

void stageContract(TofuContext *context, TofuStream *stream,
                   const int64_t *table, const char *location, int64_t aRank,
                   void *a, int64_t bRank, void *b, int64_t cRank, void *c) {
  contract(context, stream, table, location, {aRank, bRank, cRank, 0},
           {a, b, c, nullptr}, /*hasEpilogue=*/false);
}

void stageContractWithEpilogue(TofuContext *context, TofuStream *stream,
                               const int64_t *table, const char *location,
                               int64_t aRank, void *a, int64_t bRank, void *b,
                               int64_t cRank, void *c, int64_t biasRank,
                               void *bias) {
  contract(context, stream, table, location, {aRank, bRank, cRank, biasRank},
           {a, b, c, bias}, /*hasEpilogue=*/true);
}

} // extern "C"
