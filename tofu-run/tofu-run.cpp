//===- tofu-run.cpp - Run a tensor program on many devices ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compiler.h"
#include "Execution.h"
#include "Options.h"
#include "Program.h"
#include "Report.h"

#include "Tofu/InitAll.h"
#include "Tofu/Runtime/LoadBackend.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

#include <chrono>

using namespace mlir;
using namespace mlir::tofu;

/// At most so many elements of a result are printed.
static constexpr int64_t kMostPrinted = 100;

static raw_ostream &error() {
  return llvm::WithColor::error(llvm::errs(), "tofu-run");
}

static ExitCode fail(ExitCode code, const Twine &message) {
  error() << message << "\n";
  return code;
}

static ExitCode fail(ExitCode code, llvm::Error reason) {
  return fail(code, llvm::toString(std::move(reason)));
}

namespace {

/// The stages of one invocation, which share what the earlier ones found.
class Runner {
public:
  Runner(const RunOptions &options, MLIRContext &context,
         llvm::SourceMgr &sources, StringRef libraryFolder)
      : options(options), context(context), sources(sources),
        libraryFolder(libraryFolder) {}

  ExitCode run();

private:
  ExitCode loadBackends();
  ExitCode load();
  ExitCode checkNumbers();
  ExitCode readInputs();
  ExitCode readExpected();
  ExitCode execute();
  ExitCode compareWithExpected();
  ExitCode compareWithUnpartitioned();
  ExitCode writeOutputs();
  ExitCode writeRecord();
  ExitCode report();

  bool compareResult(unsigned i, const HostTensor &expected, StringRef with);
  Tolerance getTolerance(TofuElementType type) const;

  const RunOptions &options;
  MLIRContext &context;
  llvm::SourceMgr &sources;
  StringRef libraryFolder;

  ChosenBackend backend, serialBackend;
  Libraries libraries;
  Program program;
  std::optional<Program> unpartitioned;
  std::vector<HostTensor> inputs, expected;
  Execution execution;
  CompileTimes times;
  std::vector<ComparisonReport> comparisons;
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
    return fail(ExitCode::Usage, message);
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module) {
    printInputFormatHint(llvm::errs());
    return ExitCode::Usage;
  }
  StopWatch watch(times.partitionSeconds);
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

static std::string countText(size_t count, StringRef what) {
  return (Twine(count) + " " + what + (count == 1 ? "" : "s")).str();
}

ExitCode Runner::checkNumbers() {
  std::string function = "@" + program.function;
  size_t arguments = program.inputs().size();
  size_t results = program.results.size();
  bool makesInputs = options.check && options.inputs.empty();
  if (options.inputs.size() != arguments && !makesInputs)
    return fail(
        ExitCode::Usage,
        function + " has " + countText(arguments, "argument") + ", " +
            countText(options.inputs.size(), "--input") +
            " given; say --input= once for each, in order" +
            (options.inputs.empty() ? ", such as --input=random:0" : ""));
  if (!options.expected.empty() && options.expected.size() != results)
    return fail(ExitCode::Usage,
                function + " has " + countText(results, "result") + ", " +
                    countText(options.expected.size(), "--expected_output") +
                    " given");
  if (options.outputs.size() > results)
    return fail(ExitCode::Usage,
                function + " has " + countText(results, "result") + ", " +
                    countText(options.outputs.size(), "--output") + " given");
  return ExitCode::Good;
}

ExitCode Runner::readInputs() {
  for (auto [i, port] : llvm::enumerate(program.inputs())) {
    std::string text = options.inputs.empty() ? "random:0" : options.inputs[i];
    llvm::Expected<HostTensor> input = parseTensor(text, port->type, i);
    if (!input)
      return fail(ExitCode::Usage, "input " + Twine(i) + ": " +
                                       llvm::toString(input.takeError()));
    inputs.push_back(std::move(*input));
  }
  return ExitCode::Good;
}

ExitCode Runner::readExpected() {
  for (auto [i, text] : llvm::enumerate(options.expected)) {
    llvm::Expected<HostTensor> tensor =
        parseTensor(text, program.results[i].type, i);
    if (!tensor)
      return fail(ExitCode::Usage, "expected output " + Twine(i) + ": " +
                                       llvm::toString(tensor.takeError()));
    expected.push_back(std::move(*tensor));
  }
  return ExitCode::Good;
}

//===----------------------------------------------------------------------===//
// The run and after
//===----------------------------------------------------------------------===//

static llvm::Expected<Execution>
compileAndExecute(const Program &program, const ChosenBackend &backend,
                  const Libraries &libraries, ArrayRef<HostTensor> inputs,
                  const RunOptions &options, ExecutionOptions executionOptions,
                  double &compileSeconds) {
  auto compiled = [&] {
    StopWatch watch(compileSeconds);
    return Compiled::create(*program.module, program.function, backend,
                            libraries, options.optimizationLevel);
  }();
  if (!compiled)
    return compiled.takeError();
  executionOptions.timeoutSeconds = options.timeoutSeconds;
  return tofu::execute(program, *compiled, *backend.backend, inputs,
                       executionOptions);
}

ExitCode Runner::execute() {
  ExecutionOptions executionOptions;
  executionOptions.iterations = options.iterations;
  executionOptions.warmup = options.warmup;
  auto executed =
      compileAndExecute(program, backend, libraries, inputs, options,
                        executionOptions, times.compileSeconds);
  if (!executed)
    return fail(ExitCode::Runtime, executed.takeError());
  execution = std::move(*executed);
  return ExitCode::Good;
}

Tolerance Runner::getTolerance(TofuElementType type) const {
  Tolerance tolerance = Tolerance::getDefault(type);
  tolerance.relative = options.relativeTolerance.value_or(tolerance.relative);
  tolerance.absolute = options.absoluteTolerance.value_or(tolerance.absolute);
  return tolerance;
}

/// Compares a result; prints how it differs.
bool Runner::compareResult(unsigned i, const HostTensor &want, StringRef with) {
  const HostTensor &got = execution.results[i].whole;
  if (got.getShape() != want.getShape()) {
    error() << "result " << i << ": is " << got.getTensorType().str()
            << ", the " << with << " is " << want.getTensorType().str() << "\n";
    return false;
  }
  Difference difference = compare(got, want, getTolerance(got.getType()));
  comparisons.push_back({i, with.str(), difference, got.getNumElements()});
  if (difference.numDifferent == 0)
    return true;
  raw_ostream &os = error();
  os << "result " << i << "[";
  llvm::interleaveComma(got.getIndex(difference.first), os);
  os << "]: got " << got.getText(difference.first) << ", the " << with
     << " has " << want.getText(difference.first) << "; "
     << difference.numDifferent << " of " << got.getNumElements()
     << " elements differ, the largest difference is "
     << llvm::format("%.3g", difference.largest) << "\n";
  return false;
}

ExitCode Runner::compareWithExpected() {
  bool good = true;
  for (auto [i, tensor] : llvm::enumerate(expected))
    good &= compareResult(i, tensor, "expected output");
  return good ? ExitCode::Good : ExitCode::Mismatch;
}

ExitCode Runner::compareWithUnpartitioned() {
  if (!unpartitioned)
    return ExitCode::Good;
  double compileSeconds = 0;
  ExecutionOptions executionOptions;
  if (unpartitioned->hasState)
    executionOptions.iterations = options.warmup + options.iterations;
  // Kernels of a GPU are compared with loops.
  auto executed =
      compileAndExecute(*unpartitioned, serialBackend, libraries, inputs,
                        options, executionOptions, compileSeconds);
  if (!executed)
    return fail(ExitCode::Runtime,
                "unpartitioned: " + llvm::toString(executed.takeError()));
  bool good = true;
  for (unsigned i = 0; i < execution.results.size(); ++i)
    good &= compareResult(i, executed->results[i].whole, "unpartitioned run");
  if (llvm::Error difference = checkReplicas(program, execution)) {
    error() << llvm::toString(std::move(difference)) << "\n";
    good = false;
  }
  return good ? ExitCode::Good : ExitCode::Mismatch;
}

/// "dir/y.npy" for device 2: "dir/y.2.npy".
static std::string getDevicePath(StringRef path, size_t device) {
  SmallString<128> result = path;
  StringRef extension = llvm::sys::path::extension(path);
  llvm::sys::path::replace_extension(result, Twine(device) + extension);
  return result.str().str();
}

ExitCode Runner::writeOutputs() {
  for (auto [i, output] : llvm::enumerate(options.outputs)) {
    StringRef path = StringRef(output).drop_front();
    const GatheredResult &result = execution.results[i];
    if (llvm::Error failure = writeNpy(path, result.whole))
      return fail(ExitCode::Runtime, std::move(failure));
    if (!options.outputPerDevice)
      continue;
    for (auto [device, shard] : llvm::enumerate(result.shards))
      if (llvm::Error failure = writeNpy(getDevicePath(path, device), shard))
        return fail(ExitCode::Runtime, std::move(failure));
  }
  return ExitCode::Good;
}

ExitCode Runner::writeRecord() {
  if (options.record.empty())
    return ExitCode::Good;
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file =
      openOutputFile(options.record, &message);
  if (!file)
    return fail(ExitCode::Usage, message);
  file->os() << execution.record;
  file->keep();
  return ExitCode::Good;
}

/// Results are printed if nothing else is done with them.
ExitCode Runner::report() {
  RunReport report = {options, program, execution, times, comparisons};
  if (!options.quiet) {
    if (options.outputs.empty() && expected.empty() && !options.check)
      for (auto [i, result] : llvm::enumerate(execution.results))
        llvm::outs() << "result " << i << ": "
                     << toText(result.whole, kMostPrinted) << "\n";
    printReport(llvm::outs(), report);
  }
  if (options.json.empty())
    return ExitCode::Good;
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file =
      openOutputFile(options.json, &message);
  if (!file)
    return fail(ExitCode::Usage, message);
  file->os() << llvm::formatv("{0:2}\n", llvm::json::Value(toJson(report)));
  file->keep();
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
  if (!options.record.empty() && !backend.backend->record)
    return fail(ExitCode::Usage,
                "--record: backend " + options.backend + " keeps no record");
  return ExitCode::Good;
}

ExitCode Runner::run() {
  if (ExitCode code = loadBackends(); code != ExitCode::Good)
    return code;
  llvm::Expected<Libraries> found = Libraries::load(options.libraries);
  if (!found)
    return fail(ExitCode::Usage, found.takeError());
  libraries = std::move(*found);
  for (auto stage : {&Runner::load, &Runner::checkNumbers, &Runner::readInputs,
                     &Runner::readExpected, &Runner::execute})
    if (ExitCode code = (this->*stage)(); code != ExitCode::Good)
      return code;

  // A mismatch keeps nothing from being written, but decides the exit code.
  ExitCode result = ExitCode::Good;
  for (auto stage :
       {&Runner::compareWithExpected, &Runner::compareWithUnpartitioned,
        &Runner::writeOutputs, &Runner::writeRecord, &Runner::report})
    result = std::max(result, (this->*stage)());
  return result;
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
  std::string libraryFolder = getLibraryFolder(argv[0]);
  return static_cast<int>(
      Runner(*options, context, sources, libraryFolder).run());
}
