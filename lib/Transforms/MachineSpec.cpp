//===- MachineSpec.cpp - The machine that a module is for -----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineSpec.h"

#include "Tofu/Dialect/Tofu.h"

#include "mlir/Dialect/DLTI/DLTI.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tofu;

static constexpr StringLiteral kSpec = "dlti.target_system_spec";

bool mlir::tofu::hasMachine(ModuleOp module) { return module->hasAttr(kSpec); }

/// A positive number, of any type.
static std::optional<double> getNumber(Attribute attr) {
  double number = 0;
  if (auto real = dyn_cast_or_null<FloatAttr>(attr))
    number = real.getValueAsDouble();
  else if (auto integer = dyn_cast_or_null<IntegerAttr>(attr))
    number = integer.getValue().roundToDouble(
        !integer.getType().isUnsignedInteger());
  if (!(number > 0) || !std::isfinite(number))
    return std::nullopt;
  return number;
}

namespace {
/// Reads the entries of one device.
class SpecReader {
public:
  SpecReader(ModuleOp module, TargetDeviceSpecInterface device)
      : module(module), device(device) {}

  FailureOr<search::Machine> read() {
    search::Machine machine;
    machine.name = kSpec.str();
    double &f64 = machine.flops[size_t(search::Precision::Double)],
           &f32 = machine.flops[size_t(search::Precision::Single)],
           &f16 = machine.flops[size_t(search::Precision::Half)];
    if (failed(readNumber("flops_f32", f32)))
      return failure();
    f64 = f16 = f32;
    double memoryBytes = 0;
    if (failed(readNumber("memory_bandwidth", machine.memoryBandwidth)) ||
        failed(readNumber("flops_f64", f64, /*isOptional=*/true)) ||
        failed(readNumber("flops_f16", f16, /*isOptional=*/true)) ||
        failed(readNumber("memory_bytes", memoryBytes, /*isOptional=*/true)) ||
        failed(readLevels(machine)))
      return failure();
    constexpr double kMostBytes = 1e18;
    machine.memoryBytes = int64_t(std::min(memoryBytes, kMostBytes));
    return machine;
  }

private:
  InFlightDiagnostic error() { return module.emitError() << kSpec << ": "; }

  Attribute lookup(StringRef key) {
    FailureOr<Attribute> value =
        device.query(StringAttr::get(module.getContext(), key));
    return succeeded(value) ? *value : Attribute();
  }

  LogicalResult readNumber(StringRef key, double &number,
                           bool isOptional = false) {
    Attribute attr = lookup(key);
    if (!attr && isOptional)
      return success();
    if (!attr)
      return error() << "the device has no \"" << key << '"';
    std::optional<double> value = getNumber(attr);
    if (!value)
      return error() << '"' << key << "\" must be a positive number, not "
                     << attr;
    number = *value;
    return success();
  }

  /// A number for each level of the machine, or one alone.
  LogicalResult readNumbers(StringRef key, SmallVector<double> &numbers) {
    Attribute attr = lookup(key);
    if (!attr)
      return error() << "the device has no \"" << key << '"';
    SmallVector<Attribute> all{attr};
    if (auto array = dyn_cast<ArrayAttr>(attr))
      all.assign(array.begin(), array.end());
    for (Attribute each : all) {
      std::optional<double> value = getNumber(each);
      if (!value)
        return error() << '"' << key
                       << "\" must be a positive number, or one for each "
                          "level, not "
                       << attr;
      numbers.push_back(*value);
    }
    return success();
  }

  LogicalResult readLevels(search::Machine &machine) {
    SmallVector<double> latencies, bandwidths, devices;
    if (failed(readNumbers("link_latency", latencies)) ||
        failed(readNumbers("link_bandwidth", bandwidths)))
      return failure();
    if (!lookup("link_devices") && bandwidths.size() == 1)
      devices.push_back(MeshOp::kMostDevices);
    else if (failed(readNumbers("link_devices", devices)))
      return failure();
    if (bandwidths.empty() || latencies.size() != bandwidths.size() ||
        devices.size() != bandwidths.size())
      return error() << "\"link_devices\", \"link_latency\" and "
                        "\"link_bandwidth\" are of "
                     << devices.size() << ", " << latencies.size() << " and "
                     << bandwidths.size() << " levels";
    for (unsigned i = 0; i < devices.size(); ++i) {
      if (devices[i] != std::floor(devices[i]) ||
          devices[i] > MeshOp::kMostDevices)
        return error() << "\"link_devices\" must be whole numbers of at most "
                       << MeshOp::kMostDevices;
      machine.levels.push_back(
          {int64_t(devices[i]), {latencies[i], bandwidths[i]}});
      if (machine.numDevices() > MeshOp::kMostDevices)
        return error() << "\"link_devices\" make more than "
                       << MeshOp::kMostDevices << " devices";
    }
    return success();
  }

  ModuleOp module;
  TargetDeviceSpecInterface device;
};
} // namespace

FailureOr<search::Machine> mlir::tofu::readMachine(ModuleOp module) {
  auto spec = module->getAttrOfType<TargetSystemSpecAttr>(kSpec);
  if (!spec)
    return module.emitError() << kSpec << " must be a #" << kSpec;
  ArrayRef<DataLayoutEntryInterface> entries = spec.getEntries();
  if (entries.size() != 1)
    return module.emitError() << kSpec << ": the devices of a plan are equal, "
                              << "and there are " << entries.size();
  auto device = dyn_cast<TargetDeviceSpecInterface>(entries.front().getValue());
  if (!device)
    return module.emitError() << kSpec << ": the device has no entries";
  return SpecReader(module, device).read();
}
