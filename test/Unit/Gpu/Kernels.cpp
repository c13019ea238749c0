//===- Kernels.cpp - Kernels of tests, for GPUs and the host --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"

using namespace mlir::tofu::test;

/// PTX that ends in zero, as programs have it.
__asm__(".pushsection .rodata\n"
        ".global tofuTestImage\n"
        "tofuTestImage:\n"
        ".incbin \"" TOFU_TEST_IMAGE "\"\n"
        ".byte 0\n"
        ".global tofuTestImageEnd\n"
        "tofuTestImageEnd:\n"
        ".popsection\n");
extern "C" const char tofuTestImage[], tofuTestImageEnd[];

template <typename T>
static T getArgument(void **arguments, int index) {
  return *static_cast<T *>(arguments[index]);
}

static void addOnHost(void **arguments, const int64_t *) {
  auto *to = getArgument<int64_t *>(arguments, 0),
       *a = getArgument<int64_t *>(arguments, 1),
       *b = getArgument<int64_t *>(arguments, 2);
  for (int64_t i = 0; i < getArgument<int64_t>(arguments, 3); ++i)
    to[i] = a[i] + b[i];
}

static void numberOnHost(void **arguments, const int64_t *shape) {
  auto *to = getArgument<int64_t *>(arguments, 0);
  std::vector<int64_t> sizes = {shape[2], shape[1], shape[0],
                                shape[5], shape[4], shape[3]};
  forEachIndex(sizes, [&](const std::vector<int64_t> &i) {
    *to++ = i[2] + 10 * i[1] + 100 * i[0] + 1000 * i[5] + 10000 * i[4] +
            100000 * i[3];
  });
}

static const int64_t addArguments[] = {
    8, TOFU_READS | TOFU_WRITES, 8, TOFU_READS, 8, TOFU_READS, 8, 0, 8, 0};
static const int64_t numberArguments[] = {8, TOFU_WRITES};

static TofuKernel makeKernel(const char *name, TofuHostKernel onHost,
                             int64_t numArguments, const int64_t *arguments) {
  return {TOFU_TABLE_VERSION,
          name,
          tofuTestImage,
          tofuTestImageEnd - tofuTestImage,
          onHost,
          numArguments,
          arguments};
}
const TofuKernel mlir::tofu::test::addKernel =
    makeKernel("add", addOnHost, 5, addArguments);
const TofuKernel mlir::tofu::test::numberKernel =
    makeKernel("number", numberOnHost, 1, numberArguments);

void mlir::tofu::test::launchAdd(TofuContext *context, TofuStream *stream,
                                 void *to, const void *a, const void *b,
                                 int64_t count, int64_t nanoseconds) {
  const int64_t shape[6] = {(count + 255) / 256, 1, 1, 256, 1, 1};
  void *arguments[] = {&to, &a, &b, &count, &nanoseconds};
  getRuntime().launch(context, stream, &addKernel, "here", shape, arguments);
}
