//===- Runner.cpp - A program on the devices of a backend -----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <chrono>
#include <cstring>
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::tofu;

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 message.str().c_str());
}

//===----------------------------------------------------------------------===//
// Backends
//===----------------------------------------------------------------------===//

llvm::Expected<const TofuBackend *>
mlir::tofu::loadBackend(llvm::StringRef name, const char *toolPath) {
  static int anchor;
  std::string tool = llvm::sys::fs::getMainExecutable(toolPath, &anchor);
  llvm::SmallString<128> path(llvm::sys::path::parent_path(tool));
  llvm::sys::path::append(path, "..", "lib",
                          "libtofu_runtime_" + name + ".so");
  if (!llvm::sys::fs::exists(path))
    return makeError("backend " + name + " is not in this build: no " + path);
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return makeError("backend " + name + " can't be loaded: " + dlerror());
  auto *get = reinterpret_cast<decltype(&tofuGetBackend)>(
      dlsym(library, "tofuGetBackend"));
  const TofuBackend *backend = get ? get() : nullptr;
  if (!backend || backend->version != TOFU_BACKEND_VERSION)
    return makeError("backend " + name + " is of another version: " + path);
  return backend;
}

//===----------------------------------------------------------------------===//
// Buffers of one device
//===----------------------------------------------------------------------===//

namespace {
/// MLIR's descriptor of a strided buffer, as words.
struct Descriptor {
  std::vector<int64_t> words;

  Descriptor(void *data, llvm::ArrayRef<int64_t> sizes) {
    words.resize(3 + 2 * sizes.size());
    words[0] = words[1] = reinterpret_cast<int64_t>(data);
    int64_t stride = 1;
    for (size_t dim = sizes.size(); dim-- > 0;) {
      words[3 + dim] = sizes[dim];
      words[3 + sizes.size() + dim] = stride;
      stride *= sizes[dim];
    }
  }
};

/// Where a result is in the memory that the function stores results to.
struct ResultField {
  int64_t offset = 0, rank = 0;
};

/// What the body of a device reads; it leaves through longjmp if it fails, so
/// nothing in there may own memory.
struct DeviceCall {
  Program::Function function;
  const TofuBackend *backend;
  void **arguments;
  double seconds;
};
} // namespace

static void runDevice(TofuContext *context, int64_t device, void *user) {
  DeviceCall &call = static_cast<DeviceCall *>(user)[device];
  auto start = std::chrono::steady_clock::now();
  call.function(call.arguments);
  call.backend->synchronize(context);
  call.seconds = std::chrono::duration<double>(
                     std::chrono::steady_clock::now() - start)
                     .count();
}

static int64_t alignTo(int64_t offset, int64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

/// The layout of the literal struct of all results, in LLVM's natural
/// alignment.
static std::vector<ResultField> getFields(const Signature &signature,
                                          int64_t &bytes) {
  std::vector<ResultField> fields;
  bytes = 0;
  for (const Boundary &result : signature.results) {
    int64_t rank = result.shape.size();
    int64_t size = result.isScalar ? getElementBytes(result.type)
                                   : 8 * (3 + 2 * rank);
    bytes = alignTo(bytes, result.isScalar ? size : 8);
    fields.push_back({bytes, rank});
    bytes += size;
  }
  bytes = alignTo(bytes, 8);
  return fields;
}

namespace {
/// Inputs, results and argument addresses of one device.
class Device {
public:
  Device(const Program &program, const TofuBackend &backend,
         TofuContext *context, int64_t number)
      : program(program), backend(backend), context(context), number(number) {
    fields = getFields(program.signature, resultBytes);
    results.resize(resultBytes / 8 + 1);
  }

  ~Device() {
    for (void *memory : memories)
      if (memory)
        backend.release(context, memory);
  }
  Device(const Device &) = delete;

  /// Puts this device's parts of the inputs into its memory.
  llvm::Error setInputs(const std::vector<Array> &inputs) {
    for (auto [boundary, input] :
         llvm::zip_equal(program.signature.arguments, inputs)) {
      if (boundary.isScalar) {
        memories.push_back(nullptr);
        parts.emplace_back();
        scalars.push_back(input.data);
        descriptors.emplace_back(nullptr, llvm::ArrayRef<int64_t>());
        continue;
      }
      search::Box box = getBox(boundary, input.shape);
      std::vector<char> part(search::volume(box) *
                             getElementBytes(boundary.type));
      copyBoxOut(input, box, part.data());
      void *memory = backend.allocate(context, part.size());
      if (!memory)
        return makeError("device " + llvm::Twine(number) + ": no memory for " +
                         llvm::Twine(part.size()) + " bytes of inputs");
      memories.push_back(memory);
      backend.copyIn(context, memory, part.data(), part.size());
      llvm::SmallVector<int64_t> sizes;
      for (search::Interval interval : box)
        sizes.push_back(interval.size());
      descriptors.emplace_back(memory, sizes);
      scalars.emplace_back();
      // Only what the program may overwrite is needed again.
      parts.push_back(boundary.isDonated ? std::move(part)
                                         : std::vector<char>());
    }
    bindArguments();
    return llvm::Error::success();
  }

  /// Copies donated inputs afresh.
  void restoreDonated() {
    for (auto [i, boundary] : llvm::enumerate(program.signature.arguments))
      if (boundary.isDonated && !boundary.isScalar)
        backend.copyIn(context, memories[i], parts[i].data(), parts[i].size());
  }

  void **getArguments() { return arguments.data(); }

  /// Copies result `i` out; its sizes must be those of this device's box.
  llvm::Expected<Array> getResult(unsigned i) {
    const Boundary &boundary = program.signature.results[i];
    const char *field =
        reinterpret_cast<const char *>(results.data()) + fields[i].offset;
    if (boundary.isScalar) {
      Array array(boundary.type, {});
      std::memcpy(array.data.data(), field, array.data.size());
      return array;
    }
    const auto *words = reinterpret_cast<const int64_t *>(field);
    int64_t rank = fields[i].rank;
    llvm::ArrayRef<int64_t> sizes(words + 3, rank), strides(words + 3 + rank,
                                                            rank);
    if (!boundary.boxes.empty())
      for (auto [dim, interval] : llvm::enumerate(boundary.boxes[number]))
        if (interval.size() != sizes[dim])
          return makeError("device " + llvm::Twine(number) + ": result " +
                           llvm::Twine(i) + " has size " +
                           llvm::Twine(sizes[dim]) + " in dim " +
                           llvm::Twine(dim) + ", its box has " +
                           llvm::Twine(interval.size()));
    return copyStrided(boundary.type, reinterpret_cast<const char *>(words[1]),
                       words[2], sizes, strides);
  }

private:
  search::Box getBox(const Boundary &boundary, llvm::ArrayRef<int64_t> shape) {
    if (!boundary.boxes.empty())
      return boundary.boxes[number];
    search::Box box;
    for (int64_t size : shape)
      box.push_back({0, size});
    return box;
  }

  /// The packed interface takes the address of each argument: of a pointer to a
  /// descriptor, or of a scalar.
  void bindArguments() {
    const Signature &signature = program.signature;
    bool loneScalar =
        signature.results.size() == 1 && signature.results[0].isScalar;
    resultPointer = results.data();
    pointers.resize(signature.arguments.size());
    if (!signature.results.empty() && !loneScalar)
      arguments.push_back(&resultPointer);
    arguments.push_back(&context);
    for (auto [i, boundary] : llvm::enumerate(signature.arguments)) {
      pointers[i] = descriptors[i].words.data();
      arguments.push_back(boundary.isScalar
                              ? static_cast<void *>(scalars[i].data())
                              : static_cast<void *>(&pointers[i]));
    }
    if (loneScalar)
      arguments.push_back(results.data());
  }

  Array copyStrided(TofuElementType type, const char *data, int64_t offset,
                    llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> strides) {
    Array array(type, sizes);
    int64_t bytes = getElementBytes(type);
    int64_t rank = sizes.size(), row = rank ? sizes.back() : 1;
    if (array.size() == 0)
      return array;
    bool dense = !rank || strides.back() == 1 || row == 1;
    if (!dense)
      row = 1;
    llvm::SmallVector<int64_t> at(rank);
    for (int64_t i = 0, e = array.size() / row; i < e; ++i) {
      int64_t from = offset;
      for (int64_t dim = 0; dim < rank; ++dim)
        from += at[dim] * strides[dim];
      backend.copyOut(context, array.data.data() + i * row * bytes,
                      data + from * bytes, row * bytes);
      for (int64_t dim = dense ? rank - 1 : rank; dim-- > 0;) {
        if (++at[dim] < sizes[dim])
          break;
        at[dim] = 0;
      }
    }
    return array;
  }

  const Program &program;
  const TofuBackend &backend;
  TofuContext *context;
  int64_t number;
  std::vector<void *> memories;
  std::vector<std::vector<char>> parts, scalars;
  std::vector<Descriptor> descriptors;
  std::vector<void *> pointers, arguments;
  std::vector<ResultField> fields;
  int64_t resultBytes = 0;
  std::vector<int64_t> results;
  void *resultPointer = nullptr;
};

//===----------------------------------------------------------------------===//
// All devices
//===----------------------------------------------------------------------===//

class Run {
public:
  Run(const Program &program, const TofuBackend &backend,
      const RunOptions &options)
      : program(program), backend(backend), options(options) {}

  ~Run() {
    devices.clear();
    if (world && !stuck)
      backend.destroyWorld(world);
  }
  Run(const Run &) = delete;

  llvm::Expected<RunReport> run(const std::vector<Array> &inputs) {
    if (llvm::Error error = setUp(inputs))
      return std::move(error);
    RunReport report;
    report.devices.resize(options.devices);
    for (int64_t i = -options.warmup; i < options.iterations; ++i) {
      if (i == 0)
        for (int64_t d = 0; d < options.devices; ++d)
          backend.resetStats(backend.context(world, d));
      if (llvm::Error error = runOnce(i >= 0 ? &report : nullptr))
        return std::move(error);
      if (i + 1 == options.iterations)
        if (llvm::Error error = gather(report))
          return std::move(error);
      for (int64_t d = 0; d < options.devices; ++d)
        backend.reset(backend.context(world, d));
    }
    readStats(report);
    return report;
  }

private:
  llvm::Error setUp(const std::vector<Array> &inputs) {
    TofuWorldOptions worldOptions = {options.devices, options.timeoutSeconds};
    char error[256] = "";
    world = backend.createWorld(&worldOptions, error, sizeof(error));
    if (!world)
      return makeError(error);
    for (int64_t d = 0; d < options.devices; ++d) {
      devices.push_back(std::make_unique<Device>(
          program, backend, backend.context(world, d), d));
      if (llvm::Error failed = devices.back()->setInputs(inputs))
        return failed;
    }
    return llvm::Error::success();
  }

  llvm::Error runOnce(RunReport *report) {
    std::vector<DeviceCall> calls;
    for (auto &device : devices) {
      device->restoreDonated();
      calls.push_back(
          {program.function, &backend, device->getArguments(), 0.0});
    }
    TofuStatus status = backend.run(world, runDevice, calls.data());
    if (status != TOFU_OK) {
      stuck = status == TOFU_STUCK;
      return makeError(backend.error(world));
    }
    if (report)
      for (auto [device, call] : llvm::zip_equal(report->devices, calls))
        device.seconds.push_back(call.seconds);
    return llvm::Error::success();
  }

  llvm::Error gather(RunReport &report) {
    report.parts.resize(devices.size());
    for (auto [i, boundary] : llvm::enumerate(program.signature.results)) {
      std::vector<Array> parts;
      for (auto &device : devices) {
        llvm::Expected<Array> part = device->getResult(i);
        if (!part)
          return part.takeError();
        parts.push_back(std::move(*part));
      }
      if (llvm::Error error = checkReplicas(i, boundary, parts))
        return error;
      report.results.push_back(gather(boundary, parts));
      for (auto [list, part] : llvm::zip_equal(report.parts, parts))
        if (options.keepParts)
          list.push_back(std::move(part));
    }
    return llvm::Error::success();
  }

  static Array gather(const Boundary &boundary,
                      const std::vector<Array> &parts) {
    if (boundary.boxes.empty())
      return parts.front();
    Array whole(boundary.type, boundary.shape);
    for (auto [box, part] : llvm::zip_equal(boundary.boxes, parts))
      copyBoxIn(whole, box, part.data.data());
    return whole;
  }

  llvm::Error checkReplicas(unsigned i, const Boundary &boundary,
                            const std::vector<Array> &parts) {
    for (size_t d = 1; d < parts.size(); ++d)
      for (size_t e = 0; e < d; ++e) {
        if (!boundary.boxes.empty() && boundary.boxes[d] != boundary.boxes[e])
          continue;
        if (parts[d].data == parts[e].data)
          break;
        return makeError("result " + llvm::Twine(i) + ": devices " +
                         llvm::Twine(e) + " and " + llvm::Twine(d) +
                         " have different copies of the same elements");
      }
    return llvm::Error::success();
  }

  void readStats(RunReport &report) {
    for (auto [d, device] : llvm::enumerate(report.devices)) {
      TofuContext *context = backend.context(world, d);
      backend.memoryStats(context, &device.memory);
      backend.contractStats(context, &device.contractions);
      int64_t count = backend.collectiveStats(context, nullptr, 0);
      device.collectives.resize(count);
      backend.collectiveStats(context, device.collectives.data(), count);
    }
  }

  const Program &program;
  const TofuBackend &backend;
  const RunOptions &options;
  TofuWorld *world = nullptr;
  bool stuck = false;
  std::vector<std::unique_ptr<Device>> devices;
};
} // namespace

llvm::Expected<RunReport>
mlir::tofu::runProgram(const Program &program, const TofuBackend &backend,
                       const std::vector<Array> &inputs,
                       const RunOptions &options) {
  return Run(program, backend, options).run(inputs);
}
