//===- tofu-run.cpp - Run a tensor program on many devices ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle.h"
#include "Compiler.h"
#include "Options.h"
#include "Program.h"

#include "Tofu/InitAll.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

#include <chrono>

using namespace mlir;
using namespace mlir::tofu;

namespace {

/// The stages of one invocation, which share what the earlier ones found.
class Runner {
public:
  Runner(const RunOptions &options, MLIRContext &context,
         llvm::SourceMgr &sources)
      : options(options), context(context), sources(sources),
        steps("tofu-run", options) {}

  ExitCode run();

private:
  ExitCode loadBackends();
  ExitCode load();
  ExitCode readInputs();
  ExitCode execute();
  OrFailure<Execution>
  executeUnpartitioned(const Program &program,
                       const std::vector<HostTensor> &inputs) const;
  /// None if that isn't possible: then there is nothing to say about rounding.
  std::optional<Execution> executeInF64(const Program &wide) const;
  ExitCode compareWithUnpartitioned();
  ExitCode finish();
  ExitCode emitBundle();

  ExitCode fail(ExitCode code, llvm::Error reason) const {
    return steps.fail(code, llvm::toString(std::move(reason)));
  }

  const RunOptions &options;
  MLIRContext &context;
  llvm::SourceMgr &sources;
  std::string libraryFolder = getLibraryFolder();

  ChosenBackend backend, serialBackend;
  Libraries libraries;
  Program program;
  std::optional<Program> unpartitioned;
  ProgramRun steps;
  double partitionSeconds = 0, compileSeconds = 0;
};

/// Adds the seconds of its life to a sum.
class StopWatch {
public:
  explicit StopWatch(double &sum) : sum(sum), start(Clock::now()) {}
  ~StopWatch() {
    sum += std::chrono::duration<double>(Clock::now() - start).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  double &sum;
  Clock::time_point start;
};

} // namespace

//===----------------------------------------------------------------------===//
// Before the run
//===----------------------------------------------------------------------===//

ExitCode Runner::load() {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file =
      openInputFile(options.file, &message);
  if (!file)
    return steps.fail(ExitCode::Usage, message);
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module) {
    printInputFormatHint(llvm::errs());
    return ExitCode::Usage;
  }
  StopWatch watch(partitionSeconds);
  if (options.check) {
    FailureOr<Program> made =
        makeUnpartitioned(OwningOpRef<ModuleOp>(module->clone()), options);
    if (failed(made))
      return ExitCode::Usage;
    unpartitioned = std::move(*made);
  }
  FailureOr<Program> made = makeProgram(std::move(module), options);
  if (failed(made))
    return ExitCode::Usage;
  program = std::move(*made);
  return ExitCode::Good;
}

ExitCode Runner::readInputs() {
  return steps.readTensors(program, /*makesInputs=*/options.check);
}

//===----------------------------------------------------------------------===//
// The run and after
//===----------------------------------------------------------------------===//

static llvm::Expected<Compiled> compile(const Program &program,
                                        const ChosenBackend &backend,
                                        const Libraries &libraries,
                                        const RunOptions &options) {
  return Compiled::create(program, backend, libraries,
                          options.optimizationLevel);
}

ExitCode Runner::execute() {
  auto compiled = [&] {
    StopWatch watch(compileSeconds);
    return compile(program, backend, libraries, options);
  }();
  if (!compiled)
    return fail(ExitCode::Runtime, compiled.takeError());
  return steps.execute(program, compiled->getEntry(), *backend.backend);
}

OrFailure<Execution>
Runner::executeUnpartitioned(const Program &program,
                             const std::vector<HostTensor> &inputs) const {
  // Kernels of a GPU are compared with loops.
  auto compiled = compile(program, serialBackend, libraries, options);
  if (!compiled)
    return Failure{llvm::toString(compiled.takeError())};
  ExecutionOptions executionOptions;
  executionOptions.timeoutSeconds = options.timeoutSeconds;
  executionOptions.tool = "tofu-run";
  if (program.hasState)
    executionOptions.iterations = options.warmup + options.iterations;
  return tofu::execute(program, compiled->getEntry(), *serialBackend.backend,
                       inputs, executionOptions);
}

std::optional<Execution> Runner::executeInF64(const Program &wide) const {
  std::vector<HostTensor> inputs;
  for (const HostTensor &input : steps.getInputs()) {
    OrFailure<HostTensor> widened = input.widen();
    if (!widened)
      return std::nullopt;
    inputs.push_back(std::move(*widened));
  }
  ScopedDiagnosticHandler silence(&context,
                                  [](Diagnostic &) { return success(); });
  auto executed = executeUnpartitioned(wide, inputs);
  if (!executed)
    return std::nullopt;
  return std::move(*executed);
}

ExitCode Runner::compareWithUnpartitioned() {
  if (!unpartitioned || !steps.getExecution().isHere)
    return ExitCode::Good;
  FailureOr<Program> wide = widen(*unpartitioned);
  auto executed = executeUnpartitioned(*unpartitioned, steps.getInputs());
  if (!executed)
    return steps.fail(ExitCode::Runtime, "unpartitioned: " + executed.reason());
  bool mayBeRounded = false;
  for (unsigned i = 0; i < executed->results.size(); ++i)
    mayBeRounded |= steps.mayBeRounded(i, executed->results[i].whole);
  std::optional<Execution> exact;
  if (mayBeRounded && succeeded(wide))
    exact = executeInF64(*wide);
  bool good = true;
  for (unsigned i = 0; i < executed->results.size(); ++i)
    good &=
        steps.compareResult(i, executed->results[i].whole, "unpartitioned run",
                            exact ? &exact->results[i].whole : nullptr);
  if (MaybeFailure difference = checkReplicas(program, steps.getExecution())) {
    steps.fail(ExitCode::Mismatch, difference->reason);
    good = false;
  }
  return good ? ExitCode::Good : ExitCode::Mismatch;
}

ExitCode Runner::finish() {
  // What passes have printed comes first.
  llvm::outs().flush();
  return steps.finish(program, /*printsResults=*/!options.check,
                      {{"partition_seconds", partitionSeconds},
                       {"compile_seconds", compileSeconds}});
}

ExitCode Runner::emitBundle() {
  if (llvm::Error error = writeBundle(program, backend, options))
    return fail(ExitCode::Runtime, std::move(error));
  return ExitCode::Good;
}

/// The unpartitioned program always runs as loops of the host.
ExitCode Runner::loadBackends() {
  for (auto [name, chosen] : {std::pair(StringRef(options.backend), &backend),
                              std::pair(StringRef("host"), &serialBackend)}) {
    llvm::Expected<ChosenBackend> found = chooseBackend(name, libraryFolder);
    if (!found)
      return fail(ExitCode::Usage, found.takeError());
    *chosen = *found;
  }
  if (!options.chips.empty())
    backend.chips = options.chips;
  return steps.checkRecord(*backend.backend);
}

ExitCode Runner::run() {
  if (ExitCode code = loadBackends(); code != ExitCode::Good)
    return code;
  if (options.listDevices)
    return tofu::listDevices("tofu-run", *backend.backend);
  llvm::Expected<Libraries> found = Libraries::load(options.libraries);
  if (!found)
    return fail(ExitCode::Usage, found.takeError());
  libraries = std::move(*found);
  if (!options.bundle.empty())
    if (std::error_code code = makeBundleFolder(options.bundle))
      return steps.fail(ExitCode::Usage,
                        options.bundle + ": " + code.message());
  if (ExitCode code = load(); code != ExitCode::Good)
    return code;
  if (!options.bundle.empty())
    return emitBundle();
  for (auto stage : {&Runner::readInputs, &Runner::execute})
    if (ExitCode code = (this->*stage)(); code != ExitCode::Good)
      return code;

  ExitCode result = compareWithUnpartitioned();
  return std::max(result, finish());
}

/// False, and prints why, if a library can't be loaded.
static bool loadDialects(ArrayRef<std::string> libraries,
                         DialectRegistry &registry) {
  for (const std::string &library : libraries) {
    llvm::Expected<DialectPlugin> plugin = DialectPlugin::load(library);
    if (!plugin) {
      llvm::WithColor::error(llvm::errs(), "tofu-run")
          << llvm::toString(plugin.takeError()) << "\n";
      return false;
    }
    plugin->registerDialectRegistryCallbacks(registry);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// main
//===----------------------------------------------------------------------===//

int main(int argc, char **argv) {
  llvm::InitLLVM initLLVM(argc, argv);
  std::optional<RunOptions> options = parseCommandLine(argc, argv);
  if (!options)
    return static_cast<int>(ExitCode::Usage);
  DialectRegistry registry;
  registerAllDialectsAndExtensions(registry);
  if (!loadDialects(options->dialectPlugins, registry))
    return static_cast<int>(ExitCode::Usage);
  MLIRContext context(registry);
  // An error may be about the whole program.
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  return static_cast<int>(Runner(*options, context, sources).run());
}
