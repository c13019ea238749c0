//===- Signature.cpp - What a program takes and gives ---------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/Signature.h"

using namespace mlir::tofu;

std::vector<const Port *> Signature::inputs() const {
  std::vector<const Port *> inputs;
  for (const Port &port : arguments)
    if (!port.sizeOf)
      inputs.push_back(&port);
  return inputs;
}

/// The geometry of a port with a placement, for a tensor of `shape`.
static host::Geometry readGeometry(const Port &port,
                                   const std::vector<int64_t> &shape) {
  std::vector<int64_t> sizes;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (port.type.shape[dim] == HostTensorType::kDynamic)
      sizes.push_back(shape[dim]);
  host::Geometry geometry(port.geometry.data(), sizes.data());
  geometry.readPlacement();
  return geometry;
}

std::vector<int64_t>
Signature::findShape(const Port &port,
                     const std::vector<std::vector<int64_t>> &parts) const {
  std::vector<int64_t> shape = parts.front();
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (port.type.shape[dim] != HostTensorType::kDynamic)
      shape[dim] = port.type.shape[dim];
    else if (!port.geometry.empty())
      shape[dim] = readGeometry(port, parts.front()).addParts(dim, parts);
  }
  return shape;
}

std::vector<host::Box>
Signature::getBoxes(const Port &port, const std::vector<int64_t> &shape) const {
  std::vector<host::Box> boxes;
  if (port.geometry.empty()) {
    host::Box whole;
    for (int64_t size : shape)
      whole.push_back({0, size});
    boxes.assign(numDevices, whole);
    return boxes;
  }
  host::Geometry geometry = readGeometry(port, shape);
  for (int64_t device = 0; device < numDevices; ++device)
    boxes.push_back(geometry.getBox(device));
  return boxes;
}
