//===- Views.cpp - Strided memory in the host backend ---------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Views.h"

#include <algorithm>
#include <complex>
#include <cstring>

using namespace mlir::tofu;
using namespace mlir::tofu::host;

int64_t host::elementBytes(int64_t type) {
  static const int64_t bytes[] = {4, 8, 2, 2, 1, 1, 2, 4, 8, 8, 8, 16};
  static_assert(sizeof(bytes) / sizeof(*bytes) == TOFU_NUM_ELEMENT_TYPES,
                "one size per element type");
  return bytes[type];
}

const char *host::elementTypeName(int64_t type) {
  static const char *const names[] = {
      "f32", "f64", "f16", "bf16",  "i1",           "i8",
      "i16", "i32", "i64", "index", "complex<f32>", "complex<f64>"};
  static_assert(sizeof(names) / sizeof(*names) == TOFU_NUM_ELEMENT_TYPES,
                "one name per element type");
  return names[type];
}

View View::ofMemref(int64_t rank, const void *descriptor,
                    int64_t elementBytes) {
  // {allocated, aligned, offset, sizes[rank], strides[rank]}
  const auto *words = static_cast<const int64_t *>(descriptor);
  View view;
  std::memcpy(&view.data, &words[1], sizeof(view.data));
  view.data += words[2] * elementBytes;
  view.rank = rank;
  std::copy_n(words + 3, rank, view.sizes);
  std::copy_n(words + 3 + rank, rank, view.strides);
  return view;
}

View View::strided(const void *data, int64_t rank, const int64_t *sizes,
                   const int64_t *strides) {
  View view;
  view.data = static_cast<char *>(const_cast<void *>(data));
  view.rank = rank;
  std::copy_n(sizes, rank, view.sizes);
  std::copy_n(strides, rank, view.strides);
  return view;
}

View View::packed(void *data, int64_t rank, const int64_t *sizes) {
  int64_t strides[kMaxRank], stride = 1;
  for (int64_t dim = rank; dim-- > 0; stride *= sizes[dim])
    strides[dim] = stride;
  return strided(data, rank, sizes, strides);
}

View View::ofBox(char *data, const Box &box) {
  View view;
  view.data = data;
  view.rank = box.size();
  int64_t stride = 1;
  for (size_t dim = box.size(); dim-- > 0;) {
    view.sizes[dim] = box[dim].size();
    view.strides[dim] = stride;
    stride *= box[dim].size();
  }
  return view;
}

View View::part(const Box &whole, const Box &box, int64_t elementBytes) const {
  View view = *this;
  for (int64_t dim = 0; dim < rank; ++dim) {
    view.data += (box[dim].lo - whole[dim].lo) * strides[dim] * elementBytes;
    view.sizes[dim] = box[dim].size();
  }
  return view;
}

int64_t View::volume() const {
  int64_t product = 1;
  for (int64_t dim = 0; dim < rank; ++dim)
    product *= sizes[dim];
  return product;
}

bool View::isContiguous() const {
  int64_t stride = 1;
  for (int64_t dim = rank; dim-- > 0;) {
    if (sizes[dim] != 1 && strides[dim] != stride)
      return false;
    stride *= sizes[dim];
  }
  return true;
}

namespace {

/// One loop of a copy; steps in bytes.
struct Loop {
  int64_t size, to, from;
};

} // namespace

/// The loops of a copy, outermost first: dims of size 1 left out, neighbours
/// joined where both sides allow. Returns their number.
static int64_t makeLoops(const View &to, const View &from, int64_t bytes,
                         Loop *loops) {
  int64_t n = 0;
  for (int64_t dim = 0; dim < to.rank; ++dim)
    if (to.sizes[dim] != 1)
      loops[n++] = {to.sizes[dim], to.strides[dim] * bytes,
                    from.strides[dim] * bytes};
  // The innermost loop writes neighbours, whatever the order of the dims.
  sortFew(loops, loops + n, [](const Loop &a, const Loop &b) {
    return std::abs(a.to) > std::abs(b.to);
  });
  int64_t joined = 0;
  for (int64_t i = 0; i < n; ++i) {
    Loop &outer = loops[joined ? joined - 1 : 0], inner = loops[i];
    if (joined && outer.to == inner.to * inner.size &&
        outer.from == inner.from * inner.size)
      outer = {outer.size * inner.size, inner.to, inner.from};
    else
      loops[joined++] = inner;
  }
  return joined;
}

template <typename T>
static void copyRow(char *to, const char *from, const Loop &loop) {
  for (int64_t i = 0; i < loop.size; ++i)
    std::memcpy(to + i * loop.to, from + i * loop.from, sizeof(T));
}

static void copyInnermost(char *to, const char *from, const Loop &loop,
                          int64_t bytes) {
  if (loop.to == bytes && loop.from == bytes) {
    std::memcpy(to, from, loop.size * bytes);
    return;
  }
  switch (bytes) {
  case 1:
    return copyRow<uint8_t>(to, from, loop);
  case 2:
    return copyRow<uint16_t>(to, from, loop);
  case 4:
    return copyRow<uint32_t>(to, from, loop);
  case 8:
    return copyRow<uint64_t>(to, from, loop);
  default:
    return copyRow<std::complex<double>>(to, from, loop);
  }
}

void host::copy(const View &to, const View &from, int64_t bytes) {
  if (to.volume() == 0)
    return;
  Loop loops[kMaxRank];
  int64_t n = makeLoops(to, from, bytes, loops);
  if (n == 0)
    loops[n++] = {1, bytes, bytes};
  // All loops but the last as an odometer.
  const Loop &inner = loops[n - 1];
  int64_t index[kMaxRank] = {};
  char *toRow = to.data;
  const char *fromRow = from.data;
  for (;;) {
    copyInnermost(toRow, fromRow, inner, bytes);
    int64_t at = n - 2;
    for (; at >= 0; --at) {
      toRow += loops[at].to;
      fromRow += loops[at].from;
      if (++index[at] < loops[at].size)
        break;
      toRow -= loops[at].to * loops[at].size;
      fromRow -= loops[at].from * loops[at].size;
      index[at] = 0;
    }
    if (at < 0)
      return;
  }
}
