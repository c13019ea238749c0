//===- Report.cpp - What a run took and where -----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {

/// Of a list of seconds.
struct Spread {
  double min = 0, average = 0, max = 0, p99 = 0;
};

/// One collective of the program, over all devices, per iteration.
struct CollectiveSummary {
  TofuCollectiveKind kind;
  StringRef location;
  double calls = 0;                    ///< of each device
  double receivedBytes = 0;            ///< summed over devices
  double dataBytes = 0;                ///< largest of a device
  double seconds = 0, waitSeconds = 0; ///< average over devices
  /// Bytes per second as nccl-tests count them: of the data, and of what a
  /// device must receive whatever the algorithm.
  double algorithmBandwidth = 0, busBandwidth = 0;
};

} // namespace

static StringRef getName(TofuCollectiveKind kind) {
  static const StringLiteral names[] = {"all_reduce",     "all_gather",
                                        "reduce_scatter", "all_to_all",
                                        "fetch",          "broadcast"};
  static_assert(std::size(names) == TOFU_NUM_COLLECTIVE_KINDS,
                "one name per kind");
  return names[kind];
}

static Spread getSpread(std::vector<double> seconds) {
  Spread spread;
  if (seconds.empty())
    return spread;
  llvm::sort(seconds);
  spread.min = seconds.front();
  spread.max = seconds.back();
  for (double each : seconds)
    spread.average += each / seconds.size();
  size_t rank = std::ceil(0.99 * seconds.size());
  spread.p99 = seconds[rank - 1];
  return spread;
}

/// The sum of a field over the collectives of a device.
template <typename Field>
static double sumCollectives(const DeviceReport &device, Field field) {
  double sum = 0;
  for (const TofuCollectiveStats &stats : device.collectives)
    sum += stats.*field;
  return sum;
}

/// The collectives of the program, in the order in which they were met.
static std::vector<CollectiveSummary> summarize(const RunReport &report) {
  llvm::MapVector<std::pair<int, StringRef>, CollectiveSummary> found;
  double iterations = report.options.iterations;
  double devices = report.execution.devices.size();
  for (const DeviceReport &device : report.execution.devices) {
    for (const TofuCollectiveStats &stats : device.collectives) {
      CollectiveSummary &sum = found[{stats.kind, stats.location}];
      sum.kind = stats.kind;
      sum.location = stats.location;
      sum.calls += stats.calls / iterations / devices;
      sum.receivedBytes += stats.receivedBytes / iterations;
      sum.dataBytes = std::max(sum.dataBytes, stats.dataBytes / iterations);
      sum.seconds += stats.seconds / iterations / devices;
      sum.waitSeconds += stats.waitSeconds / iterations / devices;
    }
  }
  std::vector<CollectiveSummary> list;
  for (auto &[key, sum] : found) {
    if (sum.seconds > 0) {
      sum.algorithmBandwidth = sum.dataBytes / sum.seconds;
      sum.busBandwidth = sum.receivedBytes / devices / sum.seconds;
    }
    list.push_back(sum);
  }
  return list;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string formatTime(double seconds) {
  if (seconds >= 1)
    return llvm::formatv("{0:f2} s", seconds);
  if (seconds >= 1e-3)
    return llvm::formatv("{0:f2} ms", seconds * 1e3);
  return llvm::formatv("{0:f1} us", seconds * 1e6);
}

static std::string formatBytes(double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit)
    bytes /= 1024;
  return unit ? llvm::formatv("{0:f1} {1}", bytes, units[unit]).str()
              : llvm::formatv("{0:f0} B", bytes).str();
}

static void printDevices(raw_ostream &os, const RunReport &report) {
  os << llvm::formatv(
      "{0,-8}{1,12}{2,12}{3,12}{4,12}{5,12}{6,12}{7,12}{8,12}\n", "device",
      "min", "avg", "max", "p99", "compute", "collectives", "received",
      "peak memory");
  double iterations = report.options.iterations;
  for (auto [i, device] : llvm::enumerate(report.execution.devices)) {
    Spread spread = getSpread(device.seconds);
    double collectives =
        sumCollectives(device, &TofuCollectiveStats::seconds) / iterations;
    double received =
        sumCollectives(device, &TofuCollectiveStats::receivedBytes) /
        iterations;
    os << llvm::formatv(
        "{0,-8}{1,12}{2,12}{3,12}{4,12}{5,12}{6,12}{7,12}{8,12}\n", i,
        formatTime(spread.min), formatTime(spread.average),
        formatTime(spread.max), formatTime(spread.p99),
        formatTime(spread.average - collectives), formatTime(collectives),
        formatBytes(received), formatBytes(device.memory.peakBytes));
  }
}

/// Bytes and time per kind.
static void printKinds(raw_ostream &os,
                       ArrayRef<CollectiveSummary> collectives) {
  double calls[TOFU_NUM_COLLECTIVE_KINDS] = {};
  double bytes[TOFU_NUM_COLLECTIVE_KINDS] = {};
  double seconds[TOFU_NUM_COLLECTIVE_KINDS] = {};
  double total = 0;
  for (const CollectiveSummary &each : collectives) {
    calls[each.kind] += each.calls;
    bytes[each.kind] += each.receivedBytes;
    seconds[each.kind] += each.seconds;
    total += each.receivedBytes;
  }
  for (int kind = 0; kind < TOFU_NUM_COLLECTIVE_KINDS; ++kind)
    if (calls[kind])
      os << llvm::formatv("{0,-16}{1,6:f0} calls {2,12:f0} bytes {3,12}\n",
                          getName(static_cast<TofuCollectiveKind>(kind)),
                          calls[kind], bytes[kind], formatTime(seconds[kind]));
  os << llvm::formatv("received by all devices: {0:f0} bytes\n", total);
}

static void printSlowest(raw_ostream &os,
                         std::vector<CollectiveSummary> collectives) {
  constexpr size_t kMost = 5;
  llvm::sort(collectives, [](const auto &a, const auto &b) {
    return std::tie(b.seconds, a.location) < std::tie(a.seconds, b.location);
  });
  if (collectives.size() > kMost)
    collectives.resize(kMost);
  for (const CollectiveSummary &each : collectives)
    os << llvm::formatv("  {0,-16}{1,12} ({2} waiting) algbw {3,12}/s busbw "
                        "{4,12}/s  {5}\n",
                        getName(each.kind), formatTime(each.seconds),
                        formatTime(each.waitSeconds),
                        formatBytes(each.algorithmBandwidth),
                        formatBytes(each.busBandwidth), each.location);
}

void tofu::printReport(raw_ostream &os, const RunReport &report) {
  const RunOptions &options = report.options;
  int64_t devices = report.program.numDevices();
  os << "@" << report.program.function << " on " << devices << " "
     << options.backend << (devices == 1 ? " device, " : " devices, ")
     << options.iterations
     << (options.iterations == 1 ? " iteration\n" : " iterations\n");
  printDevices(os, report);
  TofuContractStats sum{};
  for (const DeviceReport &device : report.execution.devices) {
    sum.flops += device.contractions.flops;
    sum.seconds += device.contractions.seconds;
  }
  if (sum.seconds > 0)
    os << llvm::formatv("contractions: {0:f1} GFLOP/s per device, {1:f0}% of "
                        "the time\n",
                        sum.flops / sum.seconds * 1e-9, [&] {
                          double all = 0;
                          for (auto &device : report.execution.devices)
                            for (double seconds : device.seconds)
                              all += seconds;
                          return all ? 100 * sum.seconds / all : 0;
                        }());
  std::vector<CollectiveSummary> collectives = summarize(report);
  if (collectives.empty())
    return;
  printKinds(os, collectives);
  printSlowest(os, collectives);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Object toJson(const DeviceReport &device,
                                 double iterations) {
  Spread spread = getSpread(device.seconds);
  double collectives =
      sumCollectives(device, &TofuCollectiveStats::seconds) / iterations;
  return llvm::json::Object{
      {"seconds", llvm::json::Object{{"min", spread.min},
                                     {"avg", spread.average},
                                     {"max", spread.max},
                                     {"p99", spread.p99}}},
      {"compute_seconds", spread.average - collectives},
      {"collective_seconds", collectives},
      {"wait_seconds",
       sumCollectives(device, &TofuCollectiveStats::waitSeconds) / iterations},
      {"received_bytes",
       sumCollectives(device, &TofuCollectiveStats::receivedBytes) /
           iterations},
      {"contraction_seconds", device.contractions.seconds / iterations},
      {"contraction_flops", device.contractions.flops / iterations},
      {"input_bytes", device.memory.inputBytes},
      {"peak_program_bytes", device.memory.peakProgramBytes},
      {"peak_bytes", device.memory.peakBytes},
      {"scratch_bytes", device.memory.scratchBytes}};
}

static llvm::json::Object toJson(const CollectiveSummary &sum) {
  return llvm::json::Object{{"kind", getName(sum.kind)},
                            {"location", sum.location},
                            {"calls", sum.calls},
                            {"received_bytes", sum.receivedBytes},
                            {"seconds", sum.seconds},
                            {"wait_seconds", sum.waitSeconds},
                            {"algbw", sum.algorithmBandwidth},
                            {"busbw", sum.busBandwidth}};
}

/// JSON has no infinity.
static llvm::json::Value toJson(double value) {
  if (std::isfinite(value))
    return value;
  return nullptr;
}

llvm::json::Object tofu::toJson(const RunReport &report) {
  double iterations = report.options.iterations;
  llvm::json::Array devices, collectives, comparisons;
  for (const DeviceReport &device : report.execution.devices)
    devices.push_back(::toJson(device, iterations));
  double received = 0;
  llvm::json::Object perKind;
  for (const CollectiveSummary &sum : summarize(report)) {
    collectives.push_back(::toJson(sum));
    received += sum.receivedBytes;
    llvm::json::Value &kind = perKind[getName(sum.kind)];
    kind = kind.getAsNumber().value_or(0) + sum.receivedBytes;
  }
  for (const ComparisonReport &comparison : report.comparisons)
    comparisons.push_back(llvm::json::Object{
        {"result", comparison.result},
        {"with", comparison.with},
        {"elements", comparison.numElements},
        {"different", comparison.difference.numDifferent},
        {"largest_difference", ::toJson(comparison.difference.largest)}});
  return llvm::json::Object{
      {"program", report.options.file},
      {"function", report.program.function},
      {"backend", report.options.backend},
      {"devices", report.program.numDevices()},
      {"iterations", report.options.iterations},
      {"warmup", report.options.warmup},
      {"partition_seconds", report.times.partitionSeconds},
      {"compile_seconds", report.times.compileSeconds},
      {"received_bytes", received},
      {"received_bytes_per_kind", std::move(perKind)},
      {"per_device", std::move(devices)},
      {"collectives", std::move(collectives)},
      {"comparisons", std::move(comparisons)}};
}
