//===- DeviceCall.h - A device's call of the program ------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUN_DEVICECALL_H
#define TOFU_RUN_DEVICECALL_H

#include "Compiler.h"
#include "Program.h"

namespace mlir::tofu {

/// The arguments and results of one device, in its memory and in the form that
/// the compiled program takes.
class DeviceCall {
public:
  DeviceCall(const TofuBackend &backend, TofuContext *context,
             const Program &program);
  ~DeviceCall();
  DeviceCall(const DeviceCall &) = delete;
  DeviceCall &operator=(const DeviceCall &) = delete;

  /// Gives the next argument. One that the program may overwrite is copied
  /// again by each `prepare`; the tensor then is owned by the caller and must
  /// stay.
  llvm::Error addArgument(const Port &port, const HostTensor &shard);

  /// Makes everything ready for a call.
  void prepare();

  /// Calls the program, on the device's thread.
  void run(const Compiled &compiled) { compiled.call(packed.data()); }

  /// Copies result `i` of the last call to the host.
  llvm::Expected<HostTensor> getResult(unsigned i) const;

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

  void layOutResults(const Program &program);
  void pack();
  llvm::Expected<HostTensor> copyMemref(const int64_t *words,
                                        const Port &port) const;

  const TofuBackend &backend;
  TofuContext *context;
  SmallVector<void *> memory;
  SmallVector<Donated> donated;

  /// Each argument as the C interface has it: a descriptor or a scalar, in
  /// 64-bit words.
  SmallVector<SmallVector<int64_t>> arguments;
  SmallVector<bool> isTensor;
  SmallVector<ResultField> results;
  SmallVector<int64_t> record;
  bool returnsScalar = false;

  /// What `packed` points to: addresses of the record and of descriptors.
  SmallVector<void *> pointers;
  SmallVector<void *> packed;
};

} // namespace mlir::tofu

#endif // TOFU_RUN_DEVICECALL_H
