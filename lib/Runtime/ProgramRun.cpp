//===- ProgramRun.cpp - A run, from inputs to report ----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/ProgramRun.h"

#include "Text.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

using namespace mlir::tofu;

/// At most so many elements of a result are printed.
static constexpr int64_t kMostPrinted = 100;

std::string RunnerOptions::findFault() const {
  auto isBad = [](std::optional<double> tolerance) {
    return tolerance && !(*tolerance >= 0);
  };
  if (iterations < 1)
    return "--iters must be at least 1";
  if (warmup < 0)
    return "--warmup must not be negative";
  if (isBad(relativeTolerance) || isBad(absoluteTolerance))
    return "--rtol and --atol must not be negative";
  if (gpus && *gpus < 1)
    return "--gpus must be at least 1";
  if (!(timeoutSeconds > 0))
    return "--timeout must be positive";
  for (const std::string &output : outputs)
    if (output.size() < 2 || output.front() != '@')
      return "--output=" + output + ": write @FILE.npy";
  if (outputPerDevice && outputs.empty())
    return "--output-per-device needs --output";
  return "";
}

std::string mlir::tofu::getLibraryFolder() {
  std::string self(4096, '\0');
  ssize_t size = ::readlink("/proc/self/exe", self.data(), self.size());
  self.resize(std::max<ssize_t>(size, 0));
  std::string bin = self.substr(0, self.rfind('/'));
  return bin.substr(0, bin.rfind('/')) + "/" TOFU_LIBRARY_FOLDER;
}

ExitCode mlir::tofu::listDevices(const std::string &tool,
                                 const TofuBackend &backend) {
  char error[256] = "";
  const char *list = backend.listDevices(error, sizeof(error));
  if (!list) {
    std::fprintf(stderr, "%s: error: %s\n", tool.c_str(), error);
    return ExitCode::Runtime;
  }
  std::fputs(list, stdout);
  return ExitCode::Good;
}

ExitCode ProgramRun::fail(ExitCode code, const std::string &message) const {
  std::fprintf(stderr, "%s: error: %s\n", tool.c_str(), message.c_str());
  return code;
}

//===----------------------------------------------------------------------===//
// Before the run
//===----------------------------------------------------------------------===//

static std::string countText(size_t count, const std::string &what) {
  return join(count, " ", what, count == 1 ? "" : "s");
}

ExitCode ProgramRun::checkNumbers(const Signature &program,
                                  bool makesInputs) const {
  size_t arguments = program.inputs().size();
  size_t results = program.results.size();
  auto wrong = [&](size_t has, const char *what, size_t given,
                   const char *option, const std::string &advice = "") {
    return fail(ExitCode::Usage,
                join("@", program.function, " has ", countText(has, what), ", ",
                     countText(given, option), " given", advice));
  };
  if (options.inputs.size() != arguments &&
      !(makesInputs && options.inputs.empty()))
    return wrong(
        arguments, "argument", options.inputs.size(), "--input",
        join("; say --input= once for each, in order",
             options.inputs.empty() ? ", such as --input=random:0" : ""));
  if (!options.expected.empty() && options.expected.size() != results)
    return wrong(results, "result", options.expected.size(),
                 "--expected_output");
  if (options.outputs.size() > results)
    return wrong(results, "result", options.outputs.size(), "--output");
  return ExitCode::Good;
}

ExitCode ProgramRun::checkRecord(const TofuBackend &backend) const {
  if (options.record.empty() || backend.record)
    return ExitCode::Good;
  return fail(ExitCode::Usage,
              "--record: backend " + options.backend + " keeps no record");
}

ExitCode ProgramRun::readInputs(const Signature &program) {
  std::vector<const Port *> ports = program.inputs();
  for (size_t i = 0; i < ports.size(); ++i) {
    std::string text = options.inputs.empty() ? "random:0" : options.inputs[i];
    OrFailure<HostTensor> input = parseTensor(text, ports[i]->type, i);
    if (!input)
      return fail(ExitCode::Usage, join("input ", i, ": ", input.reason()));
    inputs.push_back(std::move(*input));
  }
  return ExitCode::Good;
}

ExitCode ProgramRun::readExpected(const Signature &program) {
  for (size_t i = 0; i < options.expected.size(); ++i) {
    OrFailure<HostTensor> tensor =
        parseTensor(options.expected[i], program.results[i].type, i);
    if (!tensor)
      return fail(ExitCode::Usage,
                  join("expected output ", i, ": ", tensor.reason()));
    expected.push_back(std::move(*tensor));
  }
  return ExitCode::Good;
}

ExitCode ProgramRun::readTensors(const Signature &program, bool makesInputs) {
  if (ExitCode code = checkNumbers(program, makesInputs);
      code != ExitCode::Good)
    return code;
  if (ExitCode code = readInputs(program); code != ExitCode::Good)
    return code;
  return readExpected(program);
}

//===----------------------------------------------------------------------===//
// The run and after
//===----------------------------------------------------------------------===//

ExitCode ProgramRun::execute(const Signature &program, ProgramEntry entry,
                             const TofuBackend &backend) {
  ExecutionOptions executionOptions;
  executionOptions.iterations = options.iterations;
  executionOptions.warmup = options.warmup;
  executionOptions.timeoutSeconds = options.timeoutSeconds;
  executionOptions.gpus = options.gpus.value_or(0);
  executionOptions.tool = tool;
  OrFailure<Execution> executed =
      mlir::tofu::execute(program, entry, backend, inputs, executionOptions);
  if (!executed && executed.reason().empty())
    return ExitCode::Runtime;
  if (!executed)
    return fail(ExitCode::Runtime, executed.reason());
  execution = std::move(*executed);
  return ExitCode::Good;
}

Tolerance ProgramRun::getTolerance(TofuElementType type) const {
  Tolerance tolerance = Tolerance::getDefault(type);
  tolerance.relative = options.relativeTolerance.value_or(tolerance.relative);
  tolerance.absolute = options.absoluteTolerance.value_or(tolerance.absolute);
  return tolerance;
}

bool ProgramRun::mayBeRounded(unsigned i, const HostTensor &want) const {
  const HostTensor &got = execution.results[i].whole;
  return !options.relativeTolerance && !options.absoluteTolerance &&
         isFloat(got.getType()) && got.getShape() == want.getShape() &&
         compare(got, want, getTolerance(got.getType())).numDifferent;
}

void ProgramRun::noteRounding(unsigned i, const std::string &with,
                              double difference, double error) const {
  if (!options.quiet)
    std::fprintf(
        stderr,
        "%s: note: result %u differs from the %s by up to %.3g, which "
        "rounding explains: that differs from the same in f64 by up to "
        "%.3g\n",
        tool.c_str(), i, with.c_str(), difference, error);
}

bool ProgramRun::compareResult(unsigned i, const HostTensor &want,
                               const std::string &with,
                               const HostTensor *exact) {
  const HostTensor &got = execution.results[i].whole;
  if (got.getShape() != want.getShape()) {
    fail(ExitCode::Mismatch,
         join("result ", i, ": is ", got.getTensorType().str(), ", the ", with,
              " is ", want.getTensorType().str()));
    return false;
  }
  Tolerance tolerance = getTolerance(got.getType());
  std::optional<Rounding> rounding;
  if (exact && exact->getShape() == want.getShape() && mayBeRounded(i, want))
    rounding = Rounding::find(want, *exact, tolerance);
  double error = rounding ? rounding->error : 0;
  Difference difference =
      compare(got, want, tolerance, rounding ? &*rounding : nullptr);
  comparisons.push_back({i, with, difference, got.getNumElements(), error});
  if (difference.numDifferent == 0) {
    if (rounding)
      noteRounding(i, with, difference.largest, error);
    return true;
  }
  fail(ExitCode::Mismatch,
       join("result ", i, "[", joinIntegers(got.getIndex(difference.first)),
            "]: got ", got.getText(difference.first), ", the ", with, " has ",
            want.getText(difference.first), "; ", difference.numDifferent,
            " of ", got.getNumElements(),
            " elements differ, the largest difference is ",
            format("%.3g", difference.largest)));
  return false;
}

ExitCode ProgramRun::compareWithExpected() {
  bool good = true;
  for (size_t i = 0; i < expected.size(); ++i)
    good &= compareResult(i, expected[i], "expected output");
  return good ? ExitCode::Good : ExitCode::Mismatch;
}

/// "dir/y.npy" for device 2: "dir/y.2.npy".
static std::string getDevicePath(const std::string &path, size_t device) {
  size_t slash = path.rfind('/');
  size_t name = slash == std::string::npos ? 0 : slash + 1;
  size_t dot = path.rfind('.');
  if (dot == std::string::npos || dot < name)
    dot = path.size();
  return join(path.substr(0, dot), ".", device, path.substr(dot));
}

ExitCode ProgramRun::writeOutputs() const {
  for (size_t i = 0; i < options.outputs.size(); ++i) {
    std::string path = options.outputs[i].substr(1);
    const GatheredResult &result = execution.results[i];
    if (MaybeFailure failure = writeNpy(path, result.whole))
      return fail(ExitCode::Runtime, failure->reason);
    if (!options.outputPerDevice)
      continue;
    for (size_t device = 0; device < result.shards.size(); ++device)
      if (MaybeFailure failure =
              writeNpy(getDevicePath(path, device), result.shards[device]))
        return fail(ExitCode::Runtime, failure->reason);
  }
  return ExitCode::Good;
}

ExitCode ProgramRun::writeRecord() const {
  if (options.record.empty())
    return ExitCode::Good;
  if (MaybeFailure failure = writeFile(options.record, execution.record))
    return fail(ExitCode::Usage, failure->reason);
  return ExitCode::Good;
}

static void print(const std::string &text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

ExitCode ProgramRun::report(const Signature &program, bool printsResults,
                            std::vector<Preparation> preparations) const {
  RunReport report = {options.file,   options.backend, options.iterations,
                      options.warmup, program,         execution,
                      preparations,   comparisons};
  if (!options.quiet) {
    if (printsResults && options.outputs.empty() && expected.empty())
      for (size_t i = 0; i < execution.results.size(); ++i)
        print(join("result ", i, ": ",
                   toText(execution.results[i].whole, kMostPrinted), "\n"));
    print(toTable(report));
    std::fflush(stdout);
  }
  if (options.json.empty())
    return ExitCode::Good;
  if (MaybeFailure failure = writeFile(options.json, toJson(report)))
    return fail(ExitCode::Usage, failure->reason);
  return ExitCode::Good;
}

ExitCode ProgramRun::finish(const Signature &program, bool printsResults,
                            std::vector<Preparation> preparations) {
  if (!execution.isHere)
    return ExitCode::Good;
  if (options.verbose && !execution.notice.empty())
    std::fprintf(stderr, "%s: note: %s\n", tool.c_str(),
                 execution.notice.c_str());
  ExitCode result = compareWithExpected();
  result = std::max(result, writeOutputs());
  result = std::max(result, writeRecord());
  return std::max(result,
                  report(program, printsResults, std::move(preparations)));
}
