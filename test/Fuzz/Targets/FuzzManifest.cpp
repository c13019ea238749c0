//===- FuzzManifest.cpp - Any text as the manifest of a bundle ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/Bundle.h"

using namespace mlir::tofu;

/// Cuts a value of the port, if it is small, as a runner would.
static void cut(const Signature &program, const Port &port) {
  std::vector<int64_t> shape = port.type.shape;
  for (int64_t &size : shape)
    if (size == HostTensorType::kDynamic)
      size = 7;
  for (const host::Box &box : program.getBoxes(port, shape))
    for (size_t dim = 0; dim < box.size(); ++dim)
      if (box[dim].lo < 0 || box[dim].hi > shape[dim])
        __builtin_trap();
  (void)program.findShape(
      port, std::vector<std::vector<int64_t>>(program.numDevices, shape));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  OrFailure<Manifest> manifest = parseManifest(text, "fuzz.json");
  if (!manifest)
    return 0;
  for (const Port &port : manifest->program.arguments)
    cut(manifest->program, port);
  for (const Port &port : manifest->program.results)
    cut(manifest->program, port);
  return 0;
}
