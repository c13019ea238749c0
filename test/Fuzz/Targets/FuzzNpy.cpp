//===- FuzzNpy.cpp - Any bytes as an npy file
//-------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/HostTensor.h"

using namespace mlir::tofu;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view contents(reinterpret_cast<const char *>(data), size);
  int64_t any = HostTensorType::kDynamic;
  for (TofuElementType element : {TOFU_F32, TOFU_F64, TOFU_BF16, TOFU_I1})
    for (auto shape : {std::vector<int64_t>{any, any},
                       std::vector<int64_t>{2, 3}, std::vector<int64_t>{}})
      (void)parseNpy(contents, {element, shape}, "fuzz.npy");
  return 0;
}
