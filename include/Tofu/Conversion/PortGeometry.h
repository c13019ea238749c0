//===- PortGeometry.h - What devices have of arguments ----------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_CONVERSION_PORTGEOMETRY_H
#define TOFU_CONVERSION_PORTGEOMETRY_H

#include "Tofu/Dialect/Tofu.h"

namespace mlir::tofu {

/// The words of a geometry (Tofu/Runtime/Runtime.h) with one placement: that of
/// a tensor of `shape` on the devices of a mesh.
std::vector<int64_t> makePortGeometry(PlacementAttrInterface placement,
                                      ArrayRef<int64_t> shape,
                                      const search::Mesh &mesh);

} // namespace mlir::tofu

#endif // TOFU_CONVERSION_PORTGEOMETRY_H
