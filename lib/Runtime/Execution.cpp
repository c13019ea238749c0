//===- Execution.cpp - Running a program on all devices -------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/Execution.h"

#include "Text.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace mlir::tofu;

static double now() {
  using Seconds = std::chrono::duration<double>;
  return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static std::string shapeText(const std::vector<int64_t> &shape) {
  return "[" + joinIntegers(shape) + "]";
}

static std::vector<int64_t> getSizes(const host::Box &box) {
  std::vector<int64_t> sizes;
  for (host::Interval interval : box)
    sizes.push_back(interval.size());
  return sizes;
}

//===----------------------------------------------------------------------===//
// A run
//===----------------------------------------------------------------------===//

namespace {

/// One run to find out how to repeat it, one to prepare that, one that gains.
constexpr int64_t kLeastRuns = 3;

/// The devices of one execution, and what they are given.
class Session {
public:
  Session(const Signature &program, ProgramEntry entry,
          const TofuBackend &backend, int64_t runs)
      : program(program), entry(entry), backend(backend),
        repeats(backend.repeat && runs >= kLeastRuns) {}
  ~Session();

  MaybeFailure start(const ExecutionOptions &execution);
  MaybeFailure cutInputs(const std::vector<HostTensor> &inputs);
  MaybeFailure runOnce(const std::string &tool);
  void freeProgramMemory();
  void resetStats();
  MaybeFailure collect(Execution &execution);
  MaybeFailure gather(Execution &execution);

  std::vector<std::vector<double>> seconds; ///< per device, per run

private:
  MaybeFailure cutInput(const Port &port, const HostTensor &input);
  MaybeFailure giveSize(const Port &port,
                        const std::vector<HostTensor> &inputs);
  static void runDevice(TofuContext *context, int64_t device, void *user);
  static void callProgram(TofuContext *context, int64_t device, void *user);
  void describeDevice(size_t device, DeviceReport &report,
                      std::vector<std::string> &locations);
  MaybeFailure bringReport(size_t device, DeviceReport &report,
                           std::vector<std::string> &locations);
  MaybeFailure getShard(unsigned i, size_t device, HostTensor &shard);
  MaybeFailure gatherResult(unsigned i, GatheredResult &result);

  /// Brings what the process of a device has to that of device 0.
  MaybeFailure bring(size_t device, void *memory, int64_t bytes);
  /// The same for as many elements as that process has.
  template <typename Elements>
  MaybeFailure bringAll(size_t device, Elements &elements);

  /// Whether this is the process of device 0, which gathers what all have.
  bool isHome() const { return calls.front() != nullptr; }

  const Signature &program;
  ProgramEntry entry;
  const TofuBackend &backend;
  /// Whether the backend may do something else than call the program each time.
  bool repeats;
  TofuWorld *world = nullptr;
  /// By device; null for those of other processes.
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

MaybeFailure Session::start(const ExecutionOptions &execution) {
  TofuWorldOptions options = {program.numDevices, execution.timeoutSeconds,
                              execution.gpus};
  char error[256] = "";
  world = backend.createWorld(&options, error, sizeof(error));
  if (!world)
    return Failure{error};
  for (int64_t device = 0; device < program.numDevices; ++device) {
    TofuContext *context = backend.context(world, device);
    calls.push_back(
        context ? std::make_unique<DeviceCall>(backend, world, context, program)
                : nullptr);
  }
  lastSeconds.resize(calls.size());
  seconds.resize(calls.size());
  return std::nullopt;
}

MaybeFailure Session::cutInput(const Port &port, const HostTensor &input) {
  std::vector<host::Box> boxes = program.getBoxes(port, input.getShape());
  for (size_t device = 0; device < calls.size(); ++device) {
    if (!calls[device])
      continue;
    std::vector<int64_t> sizes = getSizes(boxes[device]);
    if (!port.localType.accepts({port.type.type, sizes}))
      return Failure{join("device ", device, " has ", shapeText(sizes),
                          " by its layout, the program takes ",
                          port.localType.str())};
    const HostTensor *shard = &input;
    if (sizes != input.getShape()) {
      OrFailure<HostTensor> part = input.slice(boxes[device]);
      if (!part)
        return part.failure();
      shards.push_back(std::make_unique<HostTensor>(std::move(*part)));
      shard = shards.back().get();
    }
    if (MaybeFailure failure = calls[device]->addArgument(port, *shard))
      return failure;
    if (shard != &input && !port.isDonated)
      shards.pop_back();
  }
  return std::nullopt;
}

/// Gives all devices the size of a dim of an input.
MaybeFailure Session::giveSize(const Port &port,
                               const std::vector<HostTensor> &inputs) {
  auto [argument, dim] = *port.sizeOf;
  size_t number = std::count_if(
      program.arguments.begin(), program.arguments.begin() + argument,
      [](const Port &before) { return !before.sizeOf; });
  OrFailure<HostTensor> size = HostTensor::create(port.type.type, {});
  if (!size)
    return size.failure();
  size->setInteger(0, inputs[number].getShape()[dim]);
  for (auto &call : calls) {
    if (!call)
      continue;
    if (MaybeFailure failure = call->addArgument(port, *size))
      return failure;
  }
  return std::nullopt;
}

MaybeFailure Session::cutInputs(const std::vector<HostTensor> &inputs) {
  const HostTensor *next = inputs.data();
  for (size_t i = 0; i < program.arguments.size(); ++i) {
    const Port &port = program.arguments[i];
    if (MaybeFailure failure =
            port.sizeOf ? giveSize(port, inputs) : cutInput(port, *next++))
      return Failure{join("argument ", i, ": ", failure->reason)};
  }
  return std::nullopt;
}

void Session::callProgram(TofuContext *, int64_t device, void *user) {
  auto *self = static_cast<Session *>(user);
  self->calls[device]->run(self->entry);
}

/// On the device's thread. Owns nothing, as a failure leaves by longjmp.
void Session::runDevice(TofuContext *context, int64_t device, void *user) {
  auto *self = static_cast<Session *>(user);
  double start = now();
  if (self->repeats)
    self->backend.repeat(context, callProgram, user);
  else
    callProgram(context, device, user);
  self->backend.synchronize(context);
  self->lastSeconds[device] = now() - start;
}

MaybeFailure Session::runOnce(const std::string &tool) {
  for (auto &call : calls) {
    if (!call)
      continue;
    if (MaybeFailure failure = call->prepare())
      return failure;
  }
  TofuStatus status = backend.run(world, runDevice, this);
  if (status == TOFU_STUCK) {
    // Another process may say it.
    if (const char *error = backend.error(world); *error)
      std::fprintf(stderr, "%s: error: %s\n", tool.c_str(), error);
    std::_Exit(static_cast<int>(ExitCode::Runtime));
  }
  if (status == TOFU_FAILED)
    return Failure{backend.error(world)};
  for (size_t device = 0; device < seconds.size(); ++device)
    seconds[device].push_back(lastSeconds[device]);
  return std::nullopt;
}

void Session::freeProgramMemory() {
  for (size_t device = 0; device < calls.size(); ++device)
    if (calls[device])
      backend.reset(backend.context(world, device));
}

void Session::resetStats() {
  for (size_t device = 0; device < calls.size(); ++device)
    if (calls[device])
      backend.resetStats(backend.context(world, device));
  for (std::vector<double> &list : seconds)
    list.clear();
}

//===----------------------------------------------------------------------===//
// What devices of other processes have
//===----------------------------------------------------------------------===//

MaybeFailure Session::bring(size_t device, void *memory, int64_t bytes) {
  char error[256] = "";
  if (!bytes || !backend.bring ||
      backend.bring(world, device, memory, bytes, error, sizeof(error)))
    return std::nullopt;
  return Failure{join("device ", device, ": ", error)};
}

template <typename Elements>
MaybeFailure Session::bringAll(size_t device, Elements &elements) {
  int64_t size = elements.size();
  if (MaybeFailure failure = bring(device, &size, sizeof(size)))
    return failure;
  if (isHome())
    elements.resize(size);
  else if (!calls[device])
    return std::nullopt;
  return bring(device, elements.data(), size * sizeof(elements[0]));
}

/// Of a device of this process.
void Session::describeDevice(size_t device, DeviceReport &report,
                             std::vector<std::string> &locations) {
  TofuContext *context = backend.context(world, device);
  report.seconds = seconds[device];
  backend.memoryStats(context, &report.memory);
  backend.contractStats(context, &report.contractions);
  int64_t count = backend.collectiveStats(context, nullptr, 0);
  report.collectives.resize(count);
  backend.collectiveStats(context, report.collectives.data(), count);
  for (const TofuCollectiveStats &stats : report.collectives)
    locations.push_back(stats.location);
}

MaybeFailure Session::bringReport(size_t device, DeviceReport &report,
                                  std::vector<std::string> &locations) {
  if (MaybeFailure failure = bringAll(device, report.seconds))
    return failure;
  if (MaybeFailure failure = bringAll(device, report.collectives))
    return failure;
  if (MaybeFailure failure =
          bring(device, &report.memory, sizeof(report.memory)))
    return failure;
  if (MaybeFailure failure =
          bring(device, &report.contractions, sizeof(report.contractions)))
    return failure;
  if (calls[device] || isHome())
    locations.resize(report.collectives.size());
  for (std::string &location : locations)
    if (MaybeFailure failure = bringAll(device, location))
      return failure;
  return std::nullopt;
}

MaybeFailure Session::collect(Execution &execution) {
  execution.isHere = isHome();
  if (repeats)
    execution.notice = backend.notice(world);
  if (backend.record)
    if (const char *record = backend.record(world))
      execution.record = record;
  for (size_t device = 0; device < calls.size(); ++device) {
    DeviceReport &report = execution.devices.emplace_back();
    std::vector<std::string> locations;
    if (calls[device])
      describeDevice(device, report, locations);
    if (MaybeFailure failure = bringReport(device, report, locations))
      return failure;
    for (size_t i = 0; i < locations.size(); ++i) {
      execution.locations.push_back(
          std::make_unique<std::string>(std::move(locations[i])));
      report.collectives[i].location = execution.locations.back()->c_str();
    }
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// A device's part of a result, in the process of device 0 and in its own.
MaybeFailure Session::getShard(unsigned i, size_t device, HostTensor &shard) {
  const HostTensorType &type = program.results[i].type;
  std::vector<int64_t> shape(type.shape.size());
  if (calls[device]) {
    OrFailure<HostTensor> own = calls[device]->getResult(i);
    if (!own)
      return own.failure();
    shard = std::move(*own);
    shape = shard.getShape();
  }
  if (MaybeFailure failure =
          bring(device, shape.data(), shape.size() * sizeof(int64_t)))
    return failure;
  if (!calls[device] && isHome()) {
    OrFailure<HostTensor> other = HostTensor::create(type.type, shape);
    if (!other)
      return other.failure();
    shard = std::move(*other);
  }
  return bring(device, shard.getData(), shard.getNumBytes());
}

MaybeFailure Session::gatherResult(unsigned i, GatheredResult &result) {
  const Port &port = program.results[i];
  for (size_t device = 0; device < calls.size(); ++device)
    if (MaybeFailure failure =
            getShard(i, device, result.shards.emplace_back()))
      return failure;
  if (!isHome())
    return std::nullopt;
  std::vector<std::vector<int64_t>> parts;
  for (const HostTensor &shard : result.shards)
    parts.push_back(shard.getShape());
  std::vector<int64_t> shape = program.findShape(port, parts);
  OrFailure<HostTensor> whole = HostTensor::create(port.type.type, shape);
  if (!whole)
    return whole.failure();
  std::vector<host::Box> boxes = program.getBoxes(port, shape);
  // Backwards, so that the first of several replicas is what remains.
  for (size_t device = boxes.size(); device-- > 0;) {
    const HostTensor &shard = result.shards[device];
    if (getSizes(boxes[device]) != shard.getShape())
      return Failure{join("device ", device, " has ",
                          shapeText(shard.getShape()), ", its layout says ",
                          shapeText(getSizes(boxes[device])))};
    whole->insert(boxes[device], shard);
  }
  result.whole = std::move(*whole);
  return std::nullopt;
}

MaybeFailure Session::gather(Execution &execution) {
  for (unsigned i = 0; i < program.results.size(); ++i)
    if (MaybeFailure failure =
            gatherResult(i, execution.results.emplace_back()))
      return Failure{join("result ", i, ": ", failure->reason)};
  return std::nullopt;
}

OrFailure<Execution> mlir::tofu::execute(const Signature &program,
                                         ProgramEntry entry,
                                         const TofuBackend &backend,
                                         const std::vector<HostTensor> &inputs,
                                         const ExecutionOptions &options) {
  Session session(program, entry, backend, options.warmup + options.iterations);
  if (MaybeFailure failure = session.start(options))
    return *failure;
  if (MaybeFailure failure = session.cutInputs(inputs))
    return *failure;
  for (int64_t i = 0; i < options.warmup + options.iterations; ++i) {
    // Results are in the program's memory, so it is freed before a run.
    session.freeProgramMemory();
    if (i == options.warmup)
      session.resetStats();
    if (MaybeFailure failure = session.runOnce(options.tool))
      return *failure;
  }
  Execution execution;
  if (MaybeFailure failure = session.collect(execution))
    return *failure;
  if (MaybeFailure failure = session.gather(execution))
    return *failure;
  return execution;
}

MaybeFailure mlir::tofu::checkReplicas(const Signature &program,
                                       const Execution &execution) {
  for (size_t i = 0; i < execution.results.size(); ++i) {
    const GatheredResult &result = execution.results[i];
    std::vector<host::Box> boxes =
        program.getBoxes(program.results[i], result.whole.getShape());
    for (size_t device = 1; device < boxes.size(); ++device) {
      size_t first =
          std::find(boxes.begin(), boxes.end(), boxes[device]) - boxes.begin();
      const HostTensor &a = result.shards[first];
      const HostTensor &b = result.shards[device];
      if (a.getNumBytes() &&
          std::memcmp(a.getData(), b.getData(), a.getNumBytes()))
        return Failure{join("result ", i, ": devices ", first, " and ", device,
                            " have different bits of the same box")};
    }
  }
  return std::nullopt;
}
