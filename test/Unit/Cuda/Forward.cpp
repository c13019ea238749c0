//===- Forward.cpp - Calls of the CUDA backend's functions ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/Backend.h"

#include <cstring>

/// The backend's function of a name.
template <typename Function>
static Function *find(const char *name) {
  const TofuBackend *backend = tofuGetBackend();
  for (int64_t i = 0; i < backend->numSymbols; ++i)
    if (!std::strcmp(backend->symbols[i].name, name))
      return reinterpret_cast<Function *>(backend->symbols[i].address);
  return nullptr;
}

extern "C" {

void forwardCollective(TofuContext *context, TofuStream *stream,
                       const int64_t *table, const char *location,
                       int64_t srcRank, void *src, int64_t dstRank, void *dst) {
  find<decltype(tofuCollective)>("tofuCollective")(
      context, stream, table, location, srcRank, src, dstRank, dst);
}

void forwardEvenCollective(TofuContext *context, TofuStream *stream,
                           const int64_t *table, const char *location,
                           const void *src, void *dst) {
  find<decltype(tofuEvenCollective)>("tofuEvenCollective")(
      context, stream, table, location, src, dst);
}

void forwardContract(TofuContext *context, TofuStream *stream,
                     const int64_t *table, const char *location, int64_t aRank,
                     void *a, int64_t bRank, void *b, int64_t cRank, void *c) {
  find<decltype(tofuContract)>("tofuContract")(context, stream, table, location,
                                               aRank, a, bRank, b, cRank, c);
}

void forwardContractWithEpilogue(TofuContext *context, TofuStream *stream,
                                 const int64_t *table, const char *location,
                                 int64_t aRank, void *a, int64_t bRank, void *b,
                                 int64_t cRank, void *c, int64_t biasRank,
                                 void *bias) {
  find<decltype(tofuContractWithEpilogue)>("tofuContractWithEpilogue")(
      context, stream, table, location, aRank, a, bRank, b, cRank, c, biasRank,
      bias);
}

} // extern "C"
