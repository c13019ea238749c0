//===- DeviceCall.h - A device's call of the program ------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUNTIME_DEVICECALL_H
#define TOFU_RUNTIME_DEVICECALL_H

#include "Tofu/Runtime/Backend.h"
#include "Tofu/Runtime/Signature.h"

namespace mlir::tofu {

/// Machine code of a program, for any device: calls the entry point that
/// Runtime.h describes with the C arguments at these addresses, and puts a lone
/// scalar result where the last one says.
using ProgramEntry = void (*)(void **arguments);

/// The arguments and results of one device, in its memory and in the form that
/// the compiled program takes.
class DeviceCall {
public:
  DeviceCall(const TofuBackend &backend, TofuWorld *world, TofuContext *context,
             const Signature &program);
  ~DeviceCall();
  DeviceCall(const DeviceCall &) = delete;
  DeviceCall &operator=(const DeviceCall &) = delete;

  /// Gives the next argument. One that the program may overwrite is copied
  /// again by each `prepare`; the tensor then is owned by the caller and must
  /// stay.
  MaybeFailure addArgument(const Port &port, const HostTensor &shard);

  /// Makes everything ready for a call.
  MaybeFailure prepare();

  /// Calls the program, on the device's thread.
  void run(ProgramEntry entry) { entry(packed.data()); }

  /// Copies result `i` of the last call to the host.
  OrFailure<HostTensor> getResult(unsigned i) const;

private:
  /// Where a result lies in the record that the program fills.
  struct ResultField {
    Port port;
    int64_t offset;
  };
  struct Donated {
    void *memory;
    const HostTensor *shard;
  };

  /// What the backend says of a copy that failed.
  Failure getFailure() const;
  void layOutResults(const Signature &program);
  void pack();
  OrFailure<HostTensor> copyMemref(const int64_t *words,
                                   const Port &port) const;

  const TofuBackend &backend;
  TofuWorld *world;
  TofuContext *context;
  std::vector<void *> memory;
  std::vector<Donated> donated;

  /// Each argument as the C interface has it: a descriptor or a scalar, in
  /// 64-bit words.
  std::vector<std::vector<int64_t>> arguments;
  std::vector<bool> isTensor;
  std::vector<ResultField> results;
  std::vector<int64_t> record;
  bool returnsScalar = false;

  /// What `packed` points to: addresses of the record and of descriptors.
  std::vector<void *> pointers;
  std::vector<void *> packed;
};

} // namespace mlir::tofu

#endif // TOFU_RUNTIME_DEVICECALL_H
