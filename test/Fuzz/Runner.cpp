//===- Runner.cpp - Runs a program by many plans --------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner.h"

#include "Generator.h"
#include "Random.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstring>

using namespace mlir;
using namespace mlir::tofu;
using namespace mlir::tofu::fuzz;

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

std::string Cut::str() const {
  std::string text =
      mesh.empty() ? "--devices=" + std::to_string(devices) : "--mesh=" + mesh;
  return text + " --partition-options='" + options + "'";
}

Cut fuzz::makeCut(uint64_t seed) {
  Random random(seed);
  // A mesh with an axis of size one is good as well.
  static const std::vector<std::pair<int64_t, std::string>> kMeshes = {
      {8, "x=2,y=2,z=2"}, {8, "x=4,y=2"}, {8, "x=8"},
      {6, "x=2,y=3"},     {4, "x=4"},     {4, "x=1,y=4"}};
  static const std::vector<std::string> kBaselines = {
      "data-parallel", "megatron",       "icml18",
      "equal-chop",    "all-row-greedy", "spartan"};
  static const std::vector<std::string> kMachines = {"p2.8xlarge", "dgx-h100",
                                                     "h100x8x16"};
  Cut cut;
  if (random.chance(25))
    std::tie(cut.devices, cut.mesh) = random.pick(kMeshes);
  else
    cut.devices = random.between(1, 8);
  int64_t kind = random.below(20);
  if (kind < 15)
    cut.options =
        (kind < 10 ? "algorithm=random seed=" : "algorithm=any seed=") +
        std::to_string(random.below(1000000));
  else if (kind < 16)
    cut.options = "algorithm=" + random.pick(kBaselines);
  else if (kind < 17)
    cut.options = "algorithm=kbest";
  else
    cut.options = "algorithm=recursive";
  if (random.chance(50))
    cut.options += " replication=true";
  if (random.chance(50))
    cut.options += " partials=true";
  // Searches that weigh time, which may also replicate work. Machines have
  // groups of devices, of which a mesh must not take a part, and too little
  // memory for what would be of the usual size where that isn't known.
  if (kind >= 16 && llvm::isPowerOf2_64(cut.devices) && random.chance(60))
    cut.options +=
        " objective=time size-hint=16 machine=" + random.pick(kMachines);
  return cut;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

std::vector<std::string> fuzz::getInputs(StringRef text) {
  std::vector<std::string> inputs;
  while (text.consume_front(kInputComment)) {
    auto [type, rest] = text.split('\n');
    inputs.push_back((type + "=random:" + Twine(inputs.size())).str());
    text = rest;
  }
  return inputs;
}

Runner::Runner(const DialectRegistry &registry,
               const ChosenBackend &serialBackend, const ChosenBackend &backend,
               const Libraries &libraries, std::string text,
               unsigned optimizationLevel)
    : serialBackend(serialBackend), backend(backend), libraries(libraries),
      optimizationLevel(optimizationLevel),
      context(registry, MLIRContext::Threading::DISABLED) {
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      diagnostics += diagnostic.str() + "; ";
    return success();
  });
  inputTexts = getInputs(text);
  module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module) {
    outOfScope = "does not parse: " + diagnostics;
    return;
  }
  llvm::Expected<Execution> execution = runSerially();
  if (execution)
    serial = std::move(*execution);
  else
    outOfScope = llvm::toString(execution.takeError()) + " " + diagnostics;
}

static OwningOpRef<ModuleOp> cloneModule(ModuleOp module) {
  return OwningOpRef<ModuleOp>(module.clone());
}

/// What a program keeps from run to run shows in the second one.
static ExecutionOptions getOptions(const Program &program) {
  ExecutionOptions options;
  options.timeoutSeconds = 60;
  options.warmup = program.hasState ? 1 : 0;
  return options;
}

llvm::Expected<Execution> Runner::runSerially() {
  RunOptions options;
  FailureOr<Program> program = makeUnpartitioned(cloneModule(*module), options);
  if (failed(program))
    return llvm::createStringError("no serial program");
  for (auto [i, port] : llvm::enumerate(program->arguments)) {
    llvm::Expected<HostTensor> input = toExpected(parseTensor(
        i < inputTexts.size() ? inputTexts[i] : "random:0", port.type, i));
    if (!input)
      return input.takeError();
    inputs.push_back(std::move(*input));
  }
  auto compiled =
      Compiled::create(*program, serialBackend, libraries, optimizationLevel);
  if (!compiled)
    return compiled.takeError();
  return toExpected(execute(*program, compiled->getEntry(),
                            *serialBackend.backend, inputs,
                            getOptions(*program)));
}

/// True if several results of one operation move. If the operation combines
/// them itself, they are merged in one place, and each device merges a box: the
/// plan counts each result alone, element by element.
static bool movesTogether(const llvm::json::Object &plan) {
  auto isSuch = [](const llvm::json::Value &value) {
    const llvm::json::Object *op = value.getAsObject();
    const llvm::json::Array *bytes =
        op ? op->getArray("result_bytes") : nullptr;
    return bytes && bytes->size() > 1 &&
           llvm::any_of(*bytes, [](const llvm::json::Value &count) {
             return count.getAsInteger().value_or(0) > 0;
           });
  };
  const llvm::json::Array *functions = plan.getArray("functions");
  return functions && llvm::any_of(*functions, [&](const auto &function) {
           const llvm::json::Object *object = function.getAsObject();
           const llvm::json::Array *operators =
               object ? object->getArray("operators") : nullptr;
           return operators && llvm::any_of(*operators, isSuch);
         });
}

/// Reads the count of the plan; the largest number where it is not known.
static llvm::Expected<int64_t> readTotal(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return llvm::createStringError("no plan was written");
  llvm::Expected<llvm::json::Value> plan =
      llvm::json::parse((*file)->getBuffer());
  if (!plan)
    return plan.takeError();
  const llvm::json::Object *object = plan->getAsObject();
  std::optional<int64_t> total =
      object ? object->getInteger("total_bytes") : std::nullopt;
  if (!total)
    return llvm::createStringError("the plan has no total");
  return movesTogether(*object) ? std::numeric_limits<int64_t>::max() : *total;
}

llvm::Expected<Program> Runner::partition(const Cut &cut,
                                          int64_t &plannedBytes) {
  SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("tofu-fuzz", "json", path))
    return llvm::createStringError("no temporary file");
  RunOptions options;
  if (cut.mesh.empty())
    options.devices = cut.devices;
  options.mesh = cut.mesh;
  options.partitionOptions = cut.options + " json=" + path.str().str();
  FailureOr<Program> program = makeProgram(cloneModule(*module), options);
  llvm::Expected<int64_t> total = readTotal(path);
  llvm::sys::fs::remove(path);
  if (failed(program)) {
    llvm::consumeError(total.takeError());
    return llvm::createStringError("is not partitioned");
  }
  if (!total)
    return total.takeError();
  // Those of unknown sizes are for other ones.
  plannedBytes =
      inputTexts.empty() ? *total : std::numeric_limits<int64_t>::max();
  return std::move(*program);
}

llvm::Error Runner::compareResults(const Execution &execution) {
  for (auto [i, result] : llvm::enumerate(execution.results)) {
    const HostTensor &got = result.whole, &want = serial->results[i].whole;
    if (got.getShape() != want.getShape())
      return llvm::createStringError("result " + Twine(i) + ": other shape");
    Difference difference =
        compare(got, want, Tolerance::getDefault(got.getType()));
    if (difference.numDifferent)
      return llvm::createStringError(
          "result " + Twine(i) + ": element " + Twine(difference.first) +
          " is " + got.getText(difference.first) + ", serially " +
          want.getText(difference.first) + "; " +
          Twine(difference.numDifferent) + " of " +
          Twine(got.getNumElements()) + " differ");
  }
  return llvm::Error::success();
}

static int64_t countReceived(const Execution &execution) {
  int64_t bytes = 0;
  for (const DeviceReport &device : execution.devices)
    for (const TofuCollectiveStats &stats : device.collectives)
      bytes += stats.receivedBytes;
  return bytes;
}

static bool haveSameBits(const Execution &a, const Execution &b) {
  return llvm::all_of(llvm::zip_equal(a.results, b.results), [](auto pair) {
    const HostTensor &x = std::get<0>(pair).whole, &y = std::get<1>(pair).whole;
    return x.getNumBytes() == 0 ||
           !std::memcmp(x.getData(), y.getData(), x.getNumBytes());
  });
}

llvm::Error Runner::runCut(const Cut &cut, Checks checks) {
  int64_t plannedBytes = 0;
  llvm::Expected<Program> program = partition(cut, plannedBytes);
  if (!program)
    return program.takeError();
  auto compiled =
      Compiled::create(*program, backend, libraries, optimizationLevel);
  if (!compiled)
    return compiled.takeError();
  ExecutionOptions options = getOptions(*program);
  auto execution = execute(*program, compiled->getEntry(), *backend.backend,
                           inputs, options);
  if (!execution)
    return toError(execution.failure());
  if (llvm::Error error = compareResults(*execution))
    return error;
  if (MaybeFailure failure = checkReplicas(*program, *execution))
    return toError(*failure);
  // Collectives that are found to be alike, or to move what is there, go.
  int64_t received = countReceived(*execution);
  if (checks.bytes && received > plannedBytes)
    return llvm::createStringError("devices received " + Twine(received) +
                                   " bytes, the plan says " +
                                   Twine(plannedBytes));
  if (!checks.twice)
    return llvm::Error::success();
  auto again = execute(*program, compiled->getEntry(), *backend.backend, inputs,
                       options);
  if (!again)
    return toError(again.failure());
  if (!haveSameBits(*execution, *again))
    return llvm::createStringError("a second run gives other bits");
  return llvm::Error::success();
}

Verdict Runner::run(const Cut &cut, Checks checks) {
  if (!outOfScope.empty())
    return {Outcome::OutOfScope, outOfScope};
  diagnostics.clear();
  llvm::Error error = runCut(cut, checks);
  if (!error)
    return {};
  return {Outcome::Failed,
          llvm::toString(std::move(error)) + " " + diagnostics};
}
