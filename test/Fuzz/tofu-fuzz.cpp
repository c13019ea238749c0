//===- tofu-fuzz.cpp - Random programs by random plans --------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A case is a number: it says the program, and how it is cut. fuzz.py runs many
// of them, survives crashes, and makes failing programs small.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"
#include "Runner.h"

#include "Tofu/InitAll.h"
#include "Tofu/Runtime/LoadBackend.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace mlir::tofu;
using namespace mlir::tofu::fuzz;
namespace cl = llvm::cl;

static cl::OptionCategory category("tofu-fuzz");
static cl::opt<uint64_t> seed("seed", cl::cat(category),
                              cl::desc("Print the program of that seed"));
static cl::opt<uint64_t> first("first", cl::cat(category), cl::init(0),
                               cl::desc("The first case to run"));
static cl::opt<uint64_t> count("count", cl::cat(category), cl::init(0),
                               cl::desc("How many cases to run"));
static cl::opt<uint64_t> describe("describe", cl::cat(category),
                                  cl::desc("Print what a case is"));
static cl::opt<uint64_t>
    plans("plans", cl::cat(category), cl::init(4),
          cl::desc("Cases with the same program (default: 4)"));
static cl::opt<unsigned>
    optimizationLevel("opt-level", cl::cat(category), cl::init(0),
                      cl::desc("Of generated code, 0 to 3 (default: 0)"));
static cl::opt<std::string>
    backendName("backend", cl::cat(category), cl::init("host"),
                cl::desc("What cut programs run on, as for tofu-run"));
static cl::opt<bool>
    checkBytes("bytes", cl::cat(category),
               cl::desc("Moving more bytes than the plan says is a failure"));

/// Every so many cases run twice.
static constexpr uint64_t kTwice = 16;

/// Lines for fuzz.py: the case before it runs, as it may crash, and then how
/// it went.
static std::string getLibrary() {
  return getLibraryFolder() + "/libtofu_test_functions.so";
}

static bool runCases(const ChosenBackend &serial, const ChosenBackend &backend,
                     const Libraries &libraries) {
  DialectRegistry registry;
  registerAllDialectsAndExtensions(registry);
  std::optional<Runner> runner;
  bool good = true;
  for (uint64_t i = first; i < first + count; ++i) {
    llvm::outs() << "case " << i << "\n";
    llvm::outs().flush();
    if (!runner || i % plans == 0)
      runner.emplace(registry, serial, backend, libraries,
                     generateProgram(i / plans), optimizationLevel);
    Cut cut = makeCut(i);
    Verdict verdict = runner->run(cut, {i % kTwice == 0, checkBytes});
    good &= verdict.outcome != Outcome::Failed;
    switch (verdict.outcome) {
    case Outcome::Good:
      llvm::outs() << "good\n";
      break;
    case Outcome::OutOfScope:
      llvm::outs() << "skipped " << verdict.message << "\n";
      break;
    case Outcome::Failed:
      llvm::outs() << "failed " << verdict.message << "\n";
      break;
    }
    llvm::outs().flush();
  }
  return good;
}

int main(int argc, char **argv) {
  llvm::InitLLVM initLLVM(argc, argv);
  registerPassManagerCLOptions();
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Random programs by random plans\n");
  if (seed.getNumOccurrences())
    llvm::outs() << generateProgram(seed);
  if (describe.getNumOccurrences()) {
    std::string text = generateProgram(describe / plans);
    llvm::outs() << "// " << makeCut(describe).str();
    if (backendName != "host")
      llvm::outs() << " --backend=" << backendName;
    for (const std::string &input : getInputs(text))
      llvm::outs() << " --input=" << input;
    if (StringRef(text).contains("ml_program.global_store"))
      llvm::outs() << " --warmup=1";
    if (StringRef(text).contains("func.func private"))
      llvm::outs() << " --shared-libs=" << getLibrary();
    llvm::outs() << "\n" << text;
  }
  if (!count)
    return EXIT_SUCCESS;
  ChosenBackend serial, cut;
  for (auto [name, chosen] : {std::pair(StringRef("host"), &serial),
                              std::pair(StringRef(backendName), &cut)}) {
    llvm::Expected<ChosenBackend> found =
        chooseBackend(name, getLibraryFolder());
    if (!found) {
      llvm::errs() << llvm::toString(found.takeError()) << "\n";
      return EXIT_FAILURE;
    }
    *chosen = *found;
  }
  llvm::Expected<Libraries> libraries = Libraries::load(getLibrary());
  if (!libraries) {
    llvm::errs() << llvm::toString(libraries.takeError()) << "\n";
    return EXIT_FAILURE;
  }
  return runCases(serial, cut, *libraries) ? EXIT_SUCCESS : EXIT_FAILURE;
}
