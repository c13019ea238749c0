//===- FuzzProgram.cpp - Any text as a program
//------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fresh.h"
#include "Tofu/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

/// Searching programs of this size and less takes no time.
static constexpr size_t kMostText = 4096;

namespace {

/// The passes that take programs to the partitioned stage.
struct Passes {
  Passes()
      : context(getAllDialects()), toPartition(&context),
        toLowerPlan(&context) {
    context.allowUnregisteredDialects();
    tofu::TofuPartitionOptions options;
    options.devices = 6;
    tofu::addTofuPartitionPipeline(toPartition, options);
    tofu::addTofuLowerPlanPipeline(toLowerPlan);
  }

  QuietContext context;
  PassManager toPartition, toLowerPlan;
};

} // namespace

/// `text` without what MLIR's lexer skips in front of it: space, zeros,
/// comments.
static StringRef skipSpace(StringRef text) {
  for (;;) {
    text = text.ltrim(StringRef(" \t\n\r\0", 5));
    if (!text.starts_with("//"))
      return text;
    text = text.drop_until([](char c) { return c == '\n' || c == '\r'; });
  }
}

/// Calls `isGood` with what follows each `word` in `text`, without the space in
/// front of it; true if it always gives true.
static bool allAfter(StringRef text, StringRef word,
                     function_ref<bool(StringRef)> isGood) {
  for (size_t at = text.find(word); at != StringRef::npos;
       at = text.find(word, at + 1))
    if (!isGood(skipSpace(text.drop_front(at + word.size()))))
      return false;
  return true;
}

/// True if `text` has no `= ...` in front, or `= [...]` with good elements.
static bool hasGoodList(StringRef text, function_ref<bool(StringRef)> isGood) {
  if (!text.consume_front("="))
    return true;
  text = skipSpace(text);
  size_t end = text.find(']');
  if (!text.starts_with("[") || end == StringRef::npos)
    return false;
  SmallVector<StringRef> elements;
  if (StringRef list = text.slice(1, end); !list.trim().empty())
    list.split(elements, ',');
  return llvm::all_of(
      elements, [&](StringRef element) { return isGood(element.trim()); });
}

/// True if parsers of LLVM 22 may crash on `text`, which isn't ours to mend:
/// that of linalg.generic where an iterator type is no string; those of
/// linalg.reduce, transpose and broadcast where a dim is no number; and those
/// of the short forms of linalg.map and reduce, where an operand is no tensor.
static bool crashesUpstream(StringRef text) {
  auto isStrings = [](StringRef rest) {
    return hasGoodList(rest, [](StringRef element) {
      return element.size() > 1 && element.consume_front("\"") &&
             element.consume_back("\"") && !element.contains('"');
    });
  };
  auto isNumbers = [](StringRef rest) {
    return hasGoodList(rest, [](StringRef element) {
      int64_t number;
      return !element.getAsInteger(10, number);
    });
  };
  auto isLong = [](StringRef rest) { return !rest.starts_with("{"); };
  return !allAfter(text, "iterator_types", isStrings) ||
         !allAfter(text, "dimensions", isNumbers) ||
         !allAfter(text, "permutation", isNumbers) ||
         !allAfter(text, "linalg.map", isLong) ||
         !allAfter(text, "linalg.reduce", isLong);
}

static bool isPlanned(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        bool has = op->hasAttr("tofu.strategy") || op->hasAttr("tofu.layouts");
        return has ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  if (size > kMostText || crashesUpstream(text))
    return -1;
  auto &passes = getFresh<Passes>();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(&passes.context));
  // What doesn't parse is not worth changing further.
  if (!module)
    return -1;
  PassManager &pm =
      isPlanned(*module) ? passes.toLowerPlan : passes.toPartition;
  (void)pm.run(*module);
  return 0;
}
