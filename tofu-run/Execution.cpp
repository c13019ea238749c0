//===- Execution.cpp - Running a program on all devices -------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution.h"

#include "DeviceCall.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"

#include <chrono>
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace mlir::tofu;

std::string mlir::tofu::getLibraryFolder(const char *argv0) {
  std::string self = llvm::sys::fs::getMainExecutable(
      argv0, reinterpret_cast<void *>(&getLibraryFolder));
  SmallString<128> path = llvm::sys::path::parent_path(self);
  llvm::sys::path::append(path, "..", TOFU_LIBRARY_FOLDER);
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  return path.str().str();
}

static double now() {
  using Seconds = std::chrono::duration<double>;
  return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(shape, os);
  os << "]";
  return text;
}

static SmallVector<int64_t> getSizes(ArrayRef<search::Interval> box) {
  return llvm::map_to_vector(
      box, [](search::Interval interval) { return interval.size(); });
}

//===----------------------------------------------------------------------===//
// A run
//===----------------------------------------------------------------------===//

namespace {

/// The devices of one execution, and what they are given.
class Session {
public:
  Session(const Program &program, const Compiled &compiled,
          const TofuBackend &backend)
      : program(program), compiled(compiled), backend(backend) {}
  ~Session();

  llvm::Error start(double timeoutSeconds);
  llvm::Error cutInputs(ArrayRef<HostTensor> inputs);
  llvm::Error runOnce();
  void freeProgramMemory();
  void resetStats();
  void collect(Execution &execution);
  llvm::Error gather(Execution &execution);

  std::vector<std::vector<double>> seconds; ///< per device, per run

private:
  llvm::Error cutInput(const Port &port, const HostTensor &input);
  llvm::Error giveSize(const Port &port, ArrayRef<HostTensor> inputs);
  static void runDevice(TofuContext *context, int64_t device, void *user);
  llvm::Error gatherResult(unsigned i, GatheredResult &result);

  const Program &program;
  const Compiled &compiled;
  const TofuBackend &backend;
  TofuWorld *world = nullptr;
  std::vector<std::unique_ptr<DeviceCall>> calls;
  std::vector<double> lastSeconds;
  /// Pieces of inputs, as long as devices copy from them.
  std::vector<std::unique_ptr<HostTensor>> shards;
};

} // namespace

Session::~Session() {
  calls.clear();
  if (world)
    backend.destroyWorld(world);
}

llvm::Error Session::start(double timeoutSeconds) {
  TofuWorldOptions options = {program.numDevices(), timeoutSeconds};
  char error[256] = "";
  world = backend.createWorld(&options, error, sizeof(error));
  if (!world)
    return llvm::createStringError(Twine(error));
  for (int64_t device = 0; device < program.numDevices(); ++device)
    calls.push_back(std::make_unique<DeviceCall>(
        backend, backend.context(world, device), program));
  lastSeconds.resize(calls.size());
  seconds.resize(calls.size());
  return llvm::Error::success();
}

llvm::Error Session::cutInput(const Port &port, const HostTensor &input) {
  SmallVector<search::Box> boxes = program.getBoxes(port, input.getShape());
  for (auto [device, call] : llvm::enumerate(calls)) {
    SmallVector<int64_t> sizes = getSizes(boxes[device]);
    if (!port.localType.accepts({port.type.type, sizes}))
      return llvm::createStringError(
          "device " + Twine(device) + " has " + shapeText(sizes) +
          " by its layout, the program takes " + port.localType.str());
    const HostTensor *shard = &input;
    if (sizes != input.getShape()) {
      llvm::Expected<HostTensor> part = input.slice(boxes[device]);
      if (!part)
        return part.takeError();
      shards.push_back(std::make_unique<HostTensor>(std::move(*part)));
      shard = shards.back().get();
    }
    if (llvm::Error error = call->addArgument(port, *shard))
      return error;
    if (shard != &input && !port.isDonated)
      shards.pop_back();
  }
  return llvm::Error::success();
}

/// Gives all devices the size of a dim of an input.
llvm::Error Session::giveSize(const Port &port, ArrayRef<HostTensor> inputs) {
  auto [argument, dim] = *port.sizeOf;
  unsigned number =
      llvm::count_if(ArrayRef(program.arguments).take_front(argument),
                     [](const Port &before) { return !before.sizeOf; });
  llvm::Expected<HostTensor> size = HostTensor::create(port.type.type, {});
  if (!size)
    return size.takeError();
  size->setInteger(0, inputs[number].getShape()[dim]);
  for (auto &call : calls)
    if (llvm::Error error = call->addArgument(port, *size))
      return error;
  return llvm::Error::success();
}

llvm::Error Session::cutInputs(ArrayRef<HostTensor> inputs) {
  const HostTensor *next = inputs.begin();
  for (auto [i, port] : llvm::enumerate(program.arguments))
    if (llvm::Error error =
            port.sizeOf ? giveSize(port, inputs) : cutInput(port, *next++))
      return llvm::createStringError("argument " + Twine(i) + ": " +
                                     llvm::toString(std::move(error)));
  return llvm::Error::success();
}

/// On the device's thread. Owns nothing, as a failure leaves by longjmp.
void Session::runDevice(TofuContext *context, int64_t device, void *user) {
  auto *self = static_cast<Session *>(user);
  double start = now();
  self->calls[device]->run(self->compiled);
  self->backend.synchronize(context);
  self->lastSeconds[device] = now() - start;
}

llvm::Error Session::runOnce() {
  for (auto &call : calls)
    call->prepare();
  TofuStatus status = backend.run(world, runDevice, this);
  if (status == TOFU_STUCK) {
    llvm::WithColor::error(llvm::errs(), "tofu-run")
        << backend.error(world) << "\n";
    llvm::errs().flush();
    std::_Exit(static_cast<int>(ExitCode::Runtime));
  }
  if (status == TOFU_FAILED)
    return llvm::createStringError(Twine(backend.error(world)));
  for (auto [list, last] : llvm::zip_equal(seconds, lastSeconds))
    list.push_back(last);
  return llvm::Error::success();
}

void Session::freeProgramMemory() {
  for (size_t device = 0; device < calls.size(); ++device)
    backend.reset(backend.context(world, device));
}

void Session::resetStats() {
  for (size_t device = 0; device < calls.size(); ++device)
    backend.resetStats(backend.context(world, device));
  for (std::vector<double> &list : seconds)
    list.clear();
}

void Session::collect(Execution &execution) {
  if (backend.record)
    execution.record = backend.record(world);
  for (size_t device = 0; device < calls.size(); ++device) {
    TofuContext *context = backend.context(world, device);
    DeviceReport &report = execution.devices.emplace_back();
    report.seconds = seconds[device];
    backend.memoryStats(context, &report.memory);
    backend.contractStats(context, &report.contractions);
    int64_t count = backend.collectiveStats(context, nullptr, 0);
    report.collectives.resize(count);
    backend.collectiveStats(context, report.collectives.data(), count);
    for (TofuCollectiveStats &stats : report.collectives) {
      execution.locations.push_back(
          std::make_unique<std::string>(stats.location));
      stats.location = execution.locations.back()->c_str();
    }
  }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

llvm::Error Session::gatherResult(unsigned i, GatheredResult &result) {
  const Port &port = program.results[i];
  for (auto &call : calls) {
    llvm::Expected<HostTensor> shard = call->getResult(i);
    if (!shard)
      return shard.takeError();
    result.shards.push_back(std::move(*shard));
  }
  SmallVector<SmallVector<int64_t>> parts;
  for (const HostTensor &shard : result.shards)
    parts.emplace_back(shard.getShape());
  SmallVector<int64_t> shape = program.findShape(port, parts);
  auto whole = HostTensor::create(port.type.type, shape);
  if (!whole)
    return whole.takeError();
  SmallVector<search::Box> boxes = program.getBoxes(port, shape);
  // Backwards, so that the first of several replicas is what remains.
  for (size_t device = boxes.size(); device-- > 0;) {
    const HostTensor &shard = result.shards[device];
    if (getSizes(boxes[device]) != shard.getShape())
      return llvm::createStringError(
          "device " + Twine(device) + " has " + shapeText(shard.getShape()) +
          ", its layout says " + shapeText(getSizes(boxes[device])));
    whole->insert(boxes[device], shard);
  }
  result.whole = std::move(*whole);
  return llvm::Error::success();
}

llvm::Error Session::gather(Execution &execution) {
  for (unsigned i = 0; i < program.results.size(); ++i) {
    llvm::Error error = gatherResult(i, execution.results.emplace_back());
    if (error)
      return llvm::createStringError("result " + Twine(i) + ": " +
                                     llvm::toString(std::move(error)));
  }
  return llvm::Error::success();
}

llvm::Expected<Execution> tofu::execute(const Program &program,
                                        const Compiled &compiled,
                                        const TofuBackend &backend,
                                        ArrayRef<HostTensor> inputs,
                                        const ExecutionOptions &options) {
  Session session(program, compiled, backend);
  if (llvm::Error error = session.start(options.timeoutSeconds))
    return std::move(error);
  if (llvm::Error error = session.cutInputs(inputs))
    return std::move(error);
  for (int64_t i = 0; i < options.warmup + options.iterations; ++i) {
    // Results are in the program's memory, so it is freed before a run.
    session.freeProgramMemory();
    if (i == options.warmup)
      session.resetStats();
    if (llvm::Error error = session.runOnce())
      return std::move(error);
  }
  Execution execution;
  session.collect(execution);
  if (llvm::Error error = session.gather(execution))
    return std::move(error);
  return execution;
}

llvm::Error tofu::checkReplicas(const Program &program,
                                const Execution &execution) {
  for (auto [i, result] : llvm::enumerate(execution.results)) {
    SmallVector<search::Box> boxes =
        program.getBoxes(program.results[i], result.whole.getShape());
    for (size_t device = 1; device < boxes.size(); ++device) {
      size_t first = llvm::find(boxes, boxes[device]) - boxes.begin();
      const HostTensor &a = result.shards[first];
      const HostTensor &b = result.shards[device];
      if (a.getNumBytes() &&
          std::memcmp(a.getData(), b.getData(), a.getNumBytes()))
        return llvm::createStringError("result " + Twine(i) + ": devices " +
                                       Twine(first) + " and " + Twine(device) +
                                       " have different bits of the same box");
    }
  }
  return llvm::Error::success();
}
