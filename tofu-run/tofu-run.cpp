//===- tofu-run.cpp - Runs a program on k devices -------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "Runner.h"
#include "Tofu/Dialect/Tofu.h"
#include "Tofu/InitAll.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace mlir::tofu;
namespace cl = llvm::cl;

namespace {
enum ExitCode { kGood = 0, kMismatch = 1, kUsage = 2, kRuntime = 3 };

/// The command line. Upstream's own options stay hidden.
struct Options {
  cl::OptionCategory category{"tofu-run options"};
  cl::opt<std::string> file{cl::Positional, cl::Required,
                            cl::desc("PROGRAM.mlir (- is standard input)"),
                            cl::cat(category)};
  cl::opt<int64_t> devices{
      "devices", cl::desc("Number of devices (default: the program's mesh, or 1)"),
      cl::init(0), cl::cat(category)};
  cl::opt<std::string> backend{
      "backend", cl::desc("What the devices are: host (default), threads of "
                          "this process"),
      cl::init("host"), cl::cat(category)};
  cl::opt<std::string> function{
      "function", cl::desc("Function to run (default: the only public one)"),
      cl::cat(category)};
  cl::alias functionShort{"e", cl::desc("Same as --function"),
                          cl::aliasopt(function), cl::cat(category)};
  cl::list<std::string> inputs{
      "input",
      cl::desc("Input, in order: @FILE.npy, TYPE=NUMBERS such as 2x3xf32=1 2 3 "
               "4 5 6 (one number fills all), or random:SEED[:LO:HI] (floats in "
               "[LO, HI), by default [-1, 1); integers 0 and 1)"),
      cl::cat(category)};
  cl::list<std::string> outputs{
      "output", cl::desc("File for each result, in order: @FILE.npy, gathered"),
      cl::cat(category)};
  cl::opt<bool> outputPerDevice{
      "output-per-device",
      cl::desc("Also write what each device has, to FILE.DEVICE.npy"),
      cl::cat(category)};
  cl::list<std::string> expected{
      "expected_output", cl::desc("What each result must be, in order: as --input"),
      cl::cat(category)};
  cl::opt<bool> check{
      "check",
      cl::desc("Run the program unpartitioned too and compare; inputs that are "
               "not given are random:0"),
      cl::cat(category)};
  cl::opt<double> rtol{
      "rtol", cl::desc("Relative tolerance (default: 1e-4; f16 and bf16 1e-2)"),
      cl::init(-1), cl::cat(category)};
  cl::opt<double> atol{"atol", cl::desc("Absolute tolerance (default: 1e-5)"),
                       cl::init(-1), cl::cat(category)};
  cl::opt<int64_t> iterations{"iters", cl::desc("Timed iterations (default: 1)"),
                              cl::init(1), cl::cat(category)};
  cl::opt<int64_t> warmup{
      "warmup", cl::desc("Iterations before those (default: 0)"), cl::init(0),
      cl::cat(category)};
  cl::opt<double> timeout{
      "timeout",
      cl::desc("Seconds that a device waits in a collective (default: 300)"),
      cl::init(300), cl::cat(category)};
  cl::opt<std::string> plan{"plan", cl::desc("File to read the plan from"),
                            cl::cat(category)};
  cl::opt<bool> printPlan{"print-plan", cl::desc("Print the plan as a table"),
                          cl::cat(category)};
  cl::opt<std::string> json{
      "json", cl::desc("File for the report (- is standard output)"),
      cl::cat(category)};
  cl::opt<bool> quiet{"quiet", cl::desc("Print results of checks only"),
                      cl::cat(category)};
};

/// One invocation of the tool.
class Tool {
public:
  Tool(const Options &options, const char *toolPath)
      : options(options), toolPath(toolPath) {}

  int run();

private:
  int fail(ExitCode code, const Twine &message) {
    llvm::errs() << "error: " << message << "\n";
    return code;
  }

  int parse();
  int chooseDevices(func::FuncOp function);
  int makeInputs();
  int compareWith(ArrayRef<Array> want, ArrayRef<Array> got, StringRef what);
  int compareExpected(const RunReport &report);
  int runSerial(const RunReport &report);
  int writeOutputs(const RunReport &report);
  int writeReport(const RunReport &report);
  RunOptions getRunOptions() const;

  const Options &options;
  const char *toolPath;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Stage stage = Stage::Source;
  int64_t devices = 1;
  const TofuBackend *backend = nullptr;
  std::unique_ptr<Program> program;
  std::vector<Array> inputs, expected;
  llvm::json::Object json;
};
} // namespace

int Tool::parse() {
  DialectRegistry registry;
  registerAllDialectsAndExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  context.appendDialectRegistry(registry);
  auto sources = std::make_shared<llvm::SourceMgr>();
  std::string error;
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(options.file);
  if (!file)
    return fail(kUsage, options.file + ": " + file.getError().message());
  sources->AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(*sources, &context);
  module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module) {
    printInputFormatHint(llvm::errs());
    return kUsage;
  }
  func::FuncOp function = findFunction(*module, options.function);
  if (!function)
    return kUsage;
  stage = getStage(function);
  return chooseDevices(function);
}

int Tool::chooseDevices(func::FuncOp function) {
  int64_t meshDevices = getMeshDevices(*module);
  if (options.devices < 0 || options.devices > 1024)
    return fail(kUsage, "--devices must be between 1 and 1024, not " +
                            Twine(options.devices));
  devices = options.devices ? int64_t(options.devices)
                            : std::max<int64_t>(meshDevices, 1);
  if (stage != Stage::Source && devices != meshDevices)
    return fail(kUsage, "--devices is " + Twine(devices) +
                            ", the program's plan is for " + Twine(meshDevices));
  if (stage != Stage::Source && !options.plan.empty())
    return fail(kUsage, "--plan is for a program without a plan");
  if (stage != Stage::Source && options.check)
    return fail(kUsage, "--check needs the source program; compare a planned or "
                        "partitioned one with --expected_output");
  if (options.iterations < 1 || options.warmup < 0)
    return fail(kUsage, "--iters must be at least 1, --warmup at least 0");
  return kGood;
}

/// Reads inputs, or expected outputs, for the given boundaries.
static llvm::Error readArrays(const std::vector<std::string> &texts,
                              const std::vector<Boundary> &boundaries,
                              StringRef what, std::vector<Array> &arrays) {
  for (auto [i, text] : llvm::enumerate(texts)) {
    llvm::Expected<Array> array =
        makeInput(text, boundaries[i].type, boundaries[i].shape);
    if (!array)
      return llvm::createStringError(
          llvm::inconvertibleErrorCode(),
          llvm::formatv("{0} {1}: {2}", what, i,
                        llvm::toString(array.takeError()))
              .str()
              .c_str());
    arrays.push_back(std::move(*array));
  }
  return llvm::Error::success();
}

int Tool::makeInputs() {
  const Signature &signature = program->signature;
  std::vector<std::string> texts(options.inputs.begin(),
                                 options.inputs.end());
  if (texts.empty() && options.check)
    texts.assign(signature.arguments.size(), "random:0");
  if (texts.size() != signature.arguments.size())
    return fail(kUsage, Twine(texts.size()) + " inputs, the function has " +
                            Twine(signature.arguments.size()) + " arguments");
  std::vector<std::string> wanted(options.expected.begin(),
                                  options.expected.end());
  if (!wanted.empty() && wanted.size() != signature.results.size())
    return fail(kUsage, Twine(wanted.size()) +
                            " expected outputs, the function has " +
                            Twine(signature.results.size()) + " results");
  if (!options.outputs.empty() &&
      options.outputs.size() != signature.results.size())
    return fail(kUsage, Twine(options.outputs.size()) +
                            " outputs, the function has " +
                            Twine(signature.results.size()) + " results");
  if (llvm::Error error =
          readArrays(texts, signature.arguments, "input", inputs))
    return fail(kUsage, llvm::toString(std::move(error)));
  if (llvm::Error error = readArrays(wanted, signature.results,
                                     "expected output", expected))
    return fail(kUsage, llvm::toString(std::move(error)));
  return kGood;
}

int Tool::compareWith(ArrayRef<Array> want, ArrayRef<Array> got,
                      StringRef what) {
  int code = kGood;
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(got, want))) {
    auto &[result, reference] = pair;
    Tolerance tolerance = Tolerance::getDefault(result.type);
    if (options.rtol >= 0)
      tolerance.relative = options.rtol;
    if (options.atol >= 0)
      tolerance.absolute = options.atol;
    std::string difference =
        result.shape == reference.shape
            ? compareArrays(result, reference, tolerance)
            : getTypeText(result.type, result.shape) + " instead of " +
                  getTypeText(reference.type, reference.shape);
    if (difference.empty())
      continue;
    llvm::errs() << "error: result " << i << " is not as " << what << ": "
                 << difference << "\n";
    code = kMismatch;
  }
  return code;
}

int Tool::compareExpected(const RunReport &report) {
  if (expected.empty())
    return kGood;
  int code = compareWith(expected, report.results, "expected");
  if (code == kGood)
    llvm::outs() << "expected: " << expected.size() << " results agree\n";
  json["expected"] = code == kGood;
  return code;
}

int Tool::runSerial(const RunReport &report) {
  if (!options.check)
    return kGood;
  TofuPartitionOptions none;
  auto serial = Program::compile(*module, options.function, /*serial=*/true,
                                 none, *backend);
  if (!serial)
    return kRuntime;
  RunOptions runOptions;
  runOptions.timeoutSeconds = options.timeout;
  llvm::Expected<RunReport> reference =
      runProgram(*serial, *backend, inputs, runOptions);
  if (!reference)
    return fail(kRuntime, "serial run: " + llvm::toString(reference.takeError()));
  int code = compareWith(reference->results, report.results, "in the serial run");
  int64_t peak = 0;
  for (const DeviceReport &device : report.devices)
    peak = std::max(peak, device.memory.peakBytes);
  int64_t serialPeak = reference->devices[0].memory.peakBytes;
  if (code == kGood)
    llvm::outs() << "check: " << report.results.size() << " results on "
                 << devices << " devices agree with the serial run\n";
  if (!options.quiet)
    llvm::outs() << llvm::formatv(
        "peak memory per device: {0} bytes, {1:f3} of the serial run's {2}\n",
        peak, double(peak) / double(std::max<int64_t>(serialPeak, 1)),
        serialPeak);
  json["check"] = code == kGood;
  json["serial"] = toJson(*reference, 1);
  return code;
}

int Tool::writeOutputs(const RunReport &report) {
  for (auto [i, text] : llvm::enumerate(options.outputs)) {
    StringRef path = text;
    path.consume_front("@");
    if (llvm::Error error = writeNpy(path, report.results[i]))
      return fail(kRuntime, llvm::toString(std::move(error)));
    if (!options.outputPerDevice)
      continue;
    StringRef stem = path;
    stem.consume_back(".npy");
    for (auto [d, parts] : llvm::enumerate(report.parts))
      if (llvm::Error error = writeNpy(
              (stem + "." + Twine(d) + ".npy").str(), parts[i]))
        return fail(kRuntime, llvm::toString(std::move(error)));
  }
  return kGood;
}

int Tool::writeReport(const RunReport &report) {
  if (!options.quiet)
    printReport(llvm::outs(), report, options.iterations);
  if (options.json.empty())
    return kGood;
  llvm::json::Object run = toJson(report, options.iterations);
  for (auto &entry : run)
    json[entry.first] = std::move(entry.second);
  json["num_devices"] = devices;
  json["backend"] = options.backend.getValue();
  json["compile_seconds"] = program->seconds;
  std::error_code error;
  llvm::raw_fd_ostream os(options.json, error);
  if (error)
    return fail(kUsage, options.json + ": " + error.message());
  os << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(json)));
  return kGood;
}

RunOptions Tool::getRunOptions() const {
  RunOptions run;
  run.devices = devices;
  run.iterations = options.iterations;
  run.warmup = options.warmup;
  run.timeoutSeconds = options.timeout;
  run.keepParts = options.outputPerDevice;
  return run;
}

int Tool::run() {
  if (int code = parse())
    return code;
  llvm::Expected<const TofuBackend *> loaded =
      loadBackend(options.backend, toolPath);
  if (!loaded)
    return fail(kUsage, llvm::toString(loaded.takeError()));
  backend = *loaded;

  TofuPartitionOptions partition;
  partition.devices = devices;
  partition.load = options.plan.getValue();
  partition.print = options.printPlan.getValue();
  program = Program::compile(*module, options.function, /*serial=*/false,
                             partition, *backend);
  if (!program)
    return kRuntime;
  if (int code = makeInputs())
    return code;
  llvm::Expected<RunReport> report =
      runProgram(*program, *backend, inputs, getRunOptions());
  if (!report)
    return fail(kRuntime, llvm::toString(report.takeError()));

  if (!options.quiet)
    llvm::outs() << llvm::formatv("compiled in {0:f2} s\n", program->seconds);
  int code = compareExpected(*report);
  if (int serial = runSerial(*report))
    code = std::max(code, serial);
  if (int written = writeOutputs(*report))
    code = std::max(code, written);
  if (int reported = writeReport(*report))
    code = std::max(code, reported);
  return code;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  Options options;
  cl::HideUnrelatedOptions(options.category);
  // LLVM's own exit code for a wrong command line is 1, which is a mismatch.
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "Runs a program on k devices: source, planned or partitioned\n\n"
          "Exit codes: 0 good, 1 a result is wrong, 2 usage, 3 failed to run\n",
          &llvm::errs()))
    return kUsage;
  return Tool(options, argv[0]).run();
}
