//===- FailingMpi.cpp - Calls of MPI that fail ----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MPI lets others define its functions. In the process of rank 1 the one that
// TOFU_TEST_MPI names fails.
//
//===----------------------------------------------------------------------===//

#include <cstdlib>
#include <cstring>
#include <mpi.h>

static bool fails(const char *name) {
  const char *named = std::getenv("TOFU_TEST_MPI");
  int rank = 0;
  return named && !std::strcmp(named, name) &&
         PMPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && rank == 1;
}

int MPI_Irecv(void *memory, int count, MPI_Datatype type, int source, int tag,
              MPI_Comm communicator, MPI_Request *request) {
  if (fails("MPI_Irecv"))
    return MPI_ERR_OTHER;
  return PMPI_Irecv(memory, count, type, source, tag, communicator, request);
}

int MPI_Iallreduce(const void *from, void *to, int count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm communicator, MPI_Request *request) {
  if (fails("MPI_Iallreduce"))
    return MPI_ERR_OTHER;
  return PMPI_Iallreduce(from, to, count, type, op, communicator, request);
}
