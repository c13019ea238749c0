//===- old_nccl.cpp - An NCCL that is too old for the CUDA backend --------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// It has the functions that 2.12 had, of those that the backend calls, and
// nobody should call them.
//
//===----------------------------------------------------------------------===//

#define FAILS(name)                                                            \
  extern "C" int name() { return 1; }

FAILS(ncclAllGather)
FAILS(ncclAllReduce)
FAILS(ncclBroadcast)
FAILS(ncclCommAbort)
FAILS(ncclCommDestroy)
FAILS(ncclCommGetAsyncError)
FAILS(ncclGetUniqueId)
FAILS(ncclGroupEnd)
FAILS(ncclGroupStart)
FAILS(ncclRecv)
FAILS(ncclReduceScatter)
FAILS(ncclSend)
extern "C" const char *ncclGetErrorString(int) { return nullptr; }
extern "C" int ncclGetVersion(int *version) {
  *version = 21207;
  return 0;
}
