//===- Options.cpp - Command line of tofu-run -----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tofu;
namespace cl = llvm::cl;

static constexpr llvm::StringLiteral kOverview =
    "Runs a tensor program on the devices of a backend.\n\n"
    "  tofu-run model.mlir --devices=4 --input=@x.npy --output=@y.npy\n"
    "  tofu-run model.mlir --devices=4 --check\n\n"
    "The program may be at any stage before the LLVM dialect: source, planned\n"
    "or partitioned. Tensors are written as @FILE.npy, as a type with "
    "elements\n"
    "such as 2x2xf32=1 2 3 4 (one element stands for all), or as random:SEED\n"
    "or random:SEED:LOW:HIGH (by default floats in [-1, 1), integers 0 or "
    "1).\n\n"
    "Exit code: 0 good, 1 results differ from what is expected, 2 the command\n"
    "line or the program makes no sense, 3 it failed when compiled or run.\n";

namespace {

enum class EmitKind { Nothing, Bundle };

/// The options as LLVM parses them; they live while the command line is read.
struct CommandLine {
  cl::OptionCategory category{"tofu-run"};
  cl::opt<std::string> file{cl::Positional, cl::desc("<program.mlir>"),
                            cl::cat(category)};
  cl::opt<std::string> function{
      "function", cl::cat(category), cl::value_desc("name"),
      cl::desc("Function to run (default: the only public one)")};
  cl::alias functionAlias{"e", cl::desc("Alias for --function"),
                          cl::aliasopt(function), cl::cat(category)};
  cl::opt<std::string> backend{
      "backend", cl::cat(category), cl::init("host"), cl::value_desc("name"),
      cl::desc("What the devices are: host (threads; the default), gpu-on-host "
               "(the same, running kernels made for a GPU), recording (that "
               "with streams, which are checked), or another "
               "libtofu_runtime_NAME.so beside this one")};
  cl::list<std::string> chips{
      "chip", cl::CommaSeparated, cl::cat(category), cl::value_desc("chips"),
      cl::desc("What kernels for a GPU are compiled for: sm_80 (the default; "
               "later chips run it as well), sm_90 or sm_100; several, such as "
               "sm_80,sm_90, as machine code, which needs the CUDA toolkit")};
  cl::list<std::string> dialectPlugins{
      "load-dialect-plugin", cl::cat(category), cl::value_desc("library"),
      cl::desc("Shared library with further dialects, as mlir-opt takes it")};

  cl::list<std::string> libraries{
      "shared-libs", cl::CommaSeparated, cl::cat(category),
      cl::value_desc("files"),
      cl::desc("Shared libraries with functions that the program declares and "
               "calls, as _mlir_ciface_NAME")};

  cl::opt<int64_t> devices{
      "devices", cl::cat(category), cl::value_desc("k"),
      cl::desc("Number of devices (default: as the program's mesh says, else "
               "1)")};
  cl::opt<int64_t> gpus{
      "gpus", cl::cat(category), cl::value_desc("n"),
      cl::desc("Spread the devices over so many GPUs, the first ones of each "
               "machine (default: over all). Several devices may share one")};
  cl::opt<std::string> mesh{
      "mesh", cl::cat(category), cl::value_desc("axes"),
      cl::desc("Axes of the mesh, slowest link first, such as x=2,y=4")};
  cl::opt<std::string> plan{"plan", cl::cat(category), cl::value_desc("file"),
                            cl::desc("Plan to use instead of searching")};
  cl::opt<bool> printPlan{"print-plan", cl::cat(category),
                          cl::desc("Print the plan before running")};
  cl::opt<std::string> partitionOptions{
      "partition-options", cl::cat(category), cl::value_desc("options"),
      cl::desc("Further options of the pipeline tofu-partition, such as "
               "'replication=true charge=per-use'")};

  cl::list<std::string> inputs{
      "input", cl::cat(category), cl::value_desc("tensor"),
      cl::desc("Argument of the function, in order; once for each")};
  cl::list<std::string> outputs{
      "output", cl::cat(category), cl::value_desc("@file"),
      cl::desc("Where to write a result, gathered from the devices, in order")};
  cl::opt<bool> outputPerDevice{
      "output-per-device", cl::cat(category),
      cl::desc("Write what each device has of a result too: FILE.0.npy, ...")};
  cl::list<std::string> expected{"expected_output", cl::cat(category),
                                 cl::value_desc("tensor"),
                                 cl::desc("What a result must be, in order")};
  cl::alias expectedAlias{"expected-output",
                          cl::desc("Alias for --expected_output"),
                          cl::aliasopt(expected), cl::cat(category)};
  cl::opt<double> relativeTolerance{
      "rtol", cl::cat(category), cl::value_desc("r"),
      cl::desc("Results may differ by ATOL + RTOL * |expected| (default: 1e-4; "
               "f16 and bf16 1e-2; integers 0)")};
  cl::opt<double> absoluteTolerance{
      "atol", cl::cat(category), cl::value_desc("a"),
      cl::desc("See --rtol (default: 1e-5; integers 0)")};
  cl::opt<bool> check{
      "check", cl::cat(category),
      cl::desc("Also run the program on one device, unpartitioned, and "
               "compare; inputs that are not given are random:0")};

  cl::opt<int64_t> iterations{"iters", cl::cat(category), cl::init(1),
                              cl::value_desc("n"),
                              cl::desc("Timed runs (default: 1)")};
  cl::opt<int64_t> warmup{"warmup", cl::cat(category), cl::init(0),
                          cl::value_desc("n"),
                          cl::desc("Runs before those (default: 0)")};
  cl::opt<unsigned> optimizationLevel{
      "opt-level", cl::cat(category), cl::init(3), cl::value_desc("n"),
      cl::desc("Optimization level of generated code, 0 to 3 (default: 3)")};
  cl::opt<double> timeout{
      "timeout", cl::cat(category), cl::init(300), cl::value_desc("seconds"),
      cl::desc("How long a device waits for others in a collective (default: "
               "300)")};
  cl::opt<std::string> json{"json", cl::cat(category), cl::value_desc("file"),
                            cl::desc("Write the report as JSON ('-': to "
                                     "standard output)")};
  cl::opt<std::string> record{
      "record", cl::cat(category), cl::value_desc("file"),
      cl::desc("Write what the devices did in the last run as JSON, where the "
               "backend keeps a record: recording")};
  cl::opt<EmitKind> emit{
      "emit", cl::cat(category), cl::init(EmitKind::Nothing),
      cl::desc("Write the compiled program instead of running it"),
      cl::values(clEnumValN(EmitKind::Bundle, "bundle",
                            "a folder that tofu-run-bundle runs, on machines "
                            "without LLVM"))};
  cl::opt<std::string> output{"o", cl::cat(category), cl::value_desc("folder"),
                              cl::desc("Where to write it")};
  cl::opt<bool> listDevices{
      "list-devices", cl::cat(category),
      cl::desc("Print what the devices of --backend can be made of, and run "
               "nothing")};
  cl::opt<bool> quiet{
      "quiet", cl::cat(category),
      cl::desc("Print neither results nor the report, only what is wrong")};
  cl::opt<bool> verbose{
      "verbose", cl::cat(category),
      cl::desc("Print why runs of --iters could not be replayed as a graph of "
               "CUDA")};

  RunOptions get() const;
};

} // namespace

static std::vector<std::string> getAll(const cl::list<std::string> &list) {
  return std::vector<std::string>(list.begin(), list.end());
}

template <typename T>
static std::optional<T> getIfGiven(const cl::opt<T> &option) {
  if (option.getNumOccurrences() == 0)
    return std::nullopt;
  return option.getValue();
}

RunOptions CommandLine::get() const {
  RunOptions options;
  options.file = file;
  options.function = function;
  options.backend = backend;
  options.chips = getAll(chips);
  options.libraries = getAll(libraries);
  options.devices = getIfGiven(devices);
  options.gpus = getIfGiven(gpus);
  options.mesh = mesh;
  options.plan = plan;
  options.partitionOptions = partitionOptions;
  options.printPlan = printPlan;
  options.dialectPlugins = getAll(dialectPlugins);
  options.inputs = getAll(inputs);
  options.outputs = getAll(outputs);
  options.expected = getAll(expected);
  options.outputPerDevice = outputPerDevice;
  options.relativeTolerance = getIfGiven(relativeTolerance);
  options.absoluteTolerance = getIfGiven(absoluteTolerance);
  options.check = check;
  options.iterations = iterations;
  options.warmup = warmup;
  options.optimizationLevel = optimizationLevel;
  options.timeoutSeconds = timeout;
  options.json = json;
  options.record = record;
  options.quiet = quiet;
  options.verbose = verbose;
  options.listDevices = listDevices;
  if (emit == EmitKind::Bundle)
    options.bundle = output;
  return options;
}

/// What is wrong with the values, or nothing.
static std::string findFault(const RunOptions &options) {
  if (options.file.empty() && !options.listDevices)
    return "no program; see --help";
  if (options.devices && *options.devices < 1)
    return "--devices must be at least 1";
  if (options.optimizationLevel > 3)
    return "--opt-level must be 0, 1, 2 or 3";
  if (options.bundle.empty())
    return options.findFault();
  if (options.check || !options.inputs.empty() || !options.outputs.empty() ||
      !options.expected.empty() || !options.json.empty() ||
      !options.record.empty())
    return "--emit=bundle runs nothing: give inputs and outputs to "
           "tofu-run-bundle";
  return "";
}

std::optional<RunOptions> tofu::parseCommandLine(int argc, char **argv) {
  CommandLine commandLine;
  registerPassManagerCLOptions();
  cl::HideUnrelatedOptions(commandLine.category);
  if (!cl::ParseCommandLineOptions(argc, argv, kOverview, &llvm::errs()))
    return std::nullopt;
  RunOptions options = commandLine.get();
  std::string fault = findFault(options);
  bool emits = commandLine.emit != EmitKind::Nothing;
  if (emits == commandLine.output.empty())
    fault = emits ? "--emit needs -o" : "-o needs --emit=bundle";
  if (fault.empty())
    return options;
  llvm::WithColor::error(llvm::errs(), "tofu-run") << fault << "\n";
  return std::nullopt;
}
