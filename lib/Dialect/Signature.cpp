//===- Signature.cpp - Attributes of arguments and results ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/Signature.h"

using namespace mlir;

static DictionaryAttr with(DictionaryAttr attributes, StringRef name,
                           Attribute value) {
  if (!value)
    return attributes;
  NamedAttrList list(attributes);
  list.set(name, value);
  return list.getDictionary(value.getContext());
}

void mlir::tofu::setArgAttrs(FunctionOpInterface function, StringRef name,
                             ArrayRef<Attribute> values) {
  SmallVector<DictionaryAttr> all;
  for (auto [i, value] : llvm::enumerate(values))
    all.push_back(with(function.getArgAttrDict(i), name, value));
  function_interface_impl::setAllArgAttrDicts(function,
                                              ArrayRef<DictionaryAttr>(all));
}

void mlir::tofu::setResultAttrs(FunctionOpInterface function, StringRef name,
                                ArrayRef<Attribute> values) {
  SmallVector<DictionaryAttr> all;
  for (auto [i, value] : llvm::enumerate(values))
    all.push_back(with(function.getResultAttrDict(i), name, value));
  function_interface_impl::setAllResultAttrDicts(function,
                                                 ArrayRef<DictionaryAttr>(all));
}
