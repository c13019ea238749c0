//===- Signature.h - What a program takes and gives -------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUNTIME_SIGNATURE_H
#define TOFU_RUNTIME_SIGNATURE_H

#include "Tofu/Runtime/Geometry.h"
#include "Tofu/Runtime/HostTensor.h"

namespace mlir::tofu {

/// An argument or a result.
struct Port {
  HostTensorType type;      ///< of the whole tensor
  HostTensorType localType; ///< of a device's part; kDynamic where they differ
  bool isTensor = true;
  bool isDonated = false; ///< the program may overwrite it
  /// The words of a geometry (Runtime.h) with one placement: what each device
  /// has. None: all of it, on every device.
  std::vector<int64_t> geometry;
  /// An argument and a dim of it: this one is its size, and no input.
  std::optional<std::pair<unsigned, unsigned>> sizeOf;
};

/// What is needed to feed a program on all its devices.
struct Signature {
  std::string function;
  int64_t numDevices = 1;
  std::vector<Port> arguments, results;
  bool hasState = false; ///< a run leaves something for the next one

  /// The arguments that inputs are for, in order.
  std::vector<const Port *> inputs() const;

  /// The shape of a whole tensor of which the devices have parts of the given
  /// shapes.
  std::vector<int64_t>
  findShape(const Port &port,
            const std::vector<std::vector<int64_t>> &parts) const;

  /// The box of a tensor of `shape` that each device has of a port.
  std::vector<host::Box> getBoxes(const Port &port,
                                  const std::vector<int64_t> &shape) const;
};

} // namespace mlir::tofu

#endif // TOFU_RUNTIME_SIGNATURE_H
