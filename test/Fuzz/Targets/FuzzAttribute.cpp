//===- FuzzAttribute.cpp - Any text as an attribute of a plan
//---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fresh.h"
#include "Tofu/Dialect/Placement.h"
#include "Tofu/Dialect/Tofu.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::tofu;

/// Only ours: what else may stand in an attribute is not ours to mend.
static DialectRegistry getDialects() {
  DialectRegistry registry;
  registry.insert<TofuDialect>();
  return registry;
}

namespace {

struct Context : QuietContext {
  Context() : QuietContext(getDialects()) {}
};

} // namespace

/// The boxes on a mesh that the attribute may be for.
static void useAsPlacement(PlacementAttrInterface placement) {
  search::Mesh mesh{{"x", "y"}, {2, 3}};
  auto complain = [&]() -> InFlightDiagnostic {
    return emitError(UnknownLoc::get(placement.getContext()));
  };
  static const SmallVector<int64_t> shapes[] = {{}, {7}, {5, 4}};
  for (ArrayRef<int64_t> shape : shapes)
    if (succeeded(placement.verifyPlacement(complain, shape, mesh)))
      placement.getPlacement(shape, mesh).boxes(shape, mesh);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  MLIRContext &context = getFresh<Context>();
  Attribute attribute = parseAttribute(text, &context);
  // What doesn't parse is not worth changing further.
  if (!attribute)
    return -1;
  std::string printed;
  llvm::raw_string_ostream(printed) << attribute;
  // What is printed must be what was read.
  if (isa<TofuDialect>(attribute.getDialect()) &&
      parseAttribute(printed, &context) != attribute)
    __builtin_trap();
  if (auto placement = dyn_cast<PlacementAttrInterface>(attribute))
    useAsPlacement(placement);
  if (auto semantics = dyn_cast<SemanticsAttr>(attribute))
    (void)semantics.getOperator();
  return 0;
}
