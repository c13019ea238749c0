//===- Report.cpp - What a run took and where -----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/Report.h"

#include "Text.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {

/// Of a list of seconds.
struct Spread {
  double min = 0, average = 0, max = 0, p99 = 0, median = 0;
};

/// One collective of the program, over all devices, per iteration.
struct CollectiveSummary {
  TofuCollectiveKind kind;
  std::string location;
  double calls = 0;                    ///< of each device
  double receivedBytes = 0;            ///< summed over devices
  double dataBytes = 0;                ///< largest of a device
  double seconds = 0, waitSeconds = 0; ///< average over devices
  /// Bytes per second as nccl-tests count them: of the data, and of what a
  /// device must receive whatever the algorithm.
  double algorithmBandwidth = 0, busBandwidth = 0;
};

} // namespace

static const char *getName(TofuCollectiveKind kind) {
  static const char *const names[] = {"all_reduce",     "all_gather",
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
  std::sort(seconds.begin(), seconds.end());
  spread.min = seconds.front();
  spread.max = seconds.back();
  for (double each : seconds)
    spread.average += each / seconds.size();
  size_t rank = std::ceil(0.99 * seconds.size());
  spread.p99 = seconds[rank - 1];
  size_t half = seconds.size() / 2;
  spread.median = seconds.size() % 2 ? seconds[half]
                                     : (seconds[half - 1] + seconds[half]) / 2;
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
  std::map<std::pair<int, std::string>, size_t> numbers;
  std::vector<CollectiveSummary> list;
  double iterations = report.iterations;
  double devices = report.execution.devices.size();
  for (const DeviceReport &device : report.execution.devices) {
    for (const TofuCollectiveStats &stats : device.collectives) {
      auto [number, isNew] =
          numbers.try_emplace({stats.kind, stats.location}, list.size());
      if (isNew)
        list.emplace_back();
      CollectiveSummary &sum = list[number->second];
      sum.kind = stats.kind;
      sum.location = stats.location;
      sum.calls += stats.calls / iterations / devices;
      sum.receivedBytes += stats.receivedBytes / iterations;
      sum.dataBytes = std::max(sum.dataBytes, stats.dataBytes / iterations);
      sum.seconds += stats.seconds / iterations / devices;
      sum.waitSeconds += stats.waitSeconds / iterations / devices;
    }
  }
  for (CollectiveSummary &sum : list) {
    if (sum.seconds > 0) {
      sum.algorithmBandwidth = sum.dataBytes / sum.seconds;
      sum.busBandwidth = sum.receivedBytes / devices / sum.seconds;
    }
  }
  return list;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string formatTime(double seconds) {
  if (seconds >= 1)
    return format("%.2f s", seconds);
  if (seconds >= 1e-3)
    return format("%.2f ms", seconds * 1e3);
  return format("%.1f us", seconds * 1e6);
}

static std::string formatBytes(double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit)
    bytes /= 1024;
  return format(unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

/// A line of the table of devices.
static std::string formatRow(const std::string &first,
                             const std::vector<std::string> &others) {
  std::string line = format("%-8s", first.c_str());
  for (const std::string &text : others)
    line += format("%12s", text.c_str());
  return line + "\n";
}

static std::string formatDevices(const RunReport &report) {
  std::string table =
      formatRow("device", {"min", "avg", "max", "p99", "compute", "collectives",
                           "received", "peak memory"});
  double iterations = report.iterations;
  for (size_t i = 0; i < report.execution.devices.size(); ++i) {
    const DeviceReport &device = report.execution.devices[i];
    Spread spread = getSpread(device.seconds);
    double collectives =
        sumCollectives(device, &TofuCollectiveStats::seconds) / iterations;
    double received =
        sumCollectives(device, &TofuCollectiveStats::receivedBytes) /
        iterations;
    table += formatRow(std::to_string(i),
                       {formatTime(spread.min), formatTime(spread.average),
                        formatTime(spread.max), formatTime(spread.p99),
                        formatTime(spread.average - collectives),
                        formatTime(collectives), formatBytes(received),
                        formatBytes(device.memory.peakBytes)});
  }
  return table;
}

/// Bytes and time per kind.
static std::string
formatKinds(const std::vector<CollectiveSummary> &collectives) {
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
  std::string text;
  for (int kind = 0; kind < TOFU_NUM_COLLECTIVE_KINDS; ++kind)
    if (calls[kind])
      text +=
          format("%-16s%6.0f calls %12.0f bytes %12s\n",
                 getName(static_cast<TofuCollectiveKind>(kind)), calls[kind],
                 bytes[kind], formatTime(seconds[kind]).c_str());
  return text + format("received by all devices: %.0f bytes\n", total);
}

static std::string formatSlowest(std::vector<CollectiveSummary> collectives) {
  constexpr size_t kMost = 5;
  std::sort(collectives.begin(), collectives.end(),
            [](const CollectiveSummary &a, const CollectiveSummary &b) {
              return std::tie(b.seconds, a.location) <
                     std::tie(a.seconds, b.location);
            });
  if (collectives.size() > kMost)
    collectives.resize(kMost);
  std::string text;
  for (const CollectiveSummary &each : collectives)
    text +=
        format("  %-16s%12s (%s waiting) algbw %12s/s busbw %12s/s  %s\n",
               getName(each.kind), formatTime(each.seconds).c_str(),
               formatTime(each.waitSeconds).c_str(),
               formatBytes(each.algorithmBandwidth).c_str(),
               formatBytes(each.busBandwidth).c_str(), each.location.c_str());
  return text;
}

static std::string formatContractions(const RunReport &report) {
  double flops = 0, seconds = 0, all = 0;
  for (const DeviceReport &device : report.execution.devices) {
    flops += device.contractions.flops;
    seconds += device.contractions.seconds;
    for (double each : device.seconds)
      all += each;
  }
  if (!(seconds > 0))
    return "";
  return format("contractions: %.1f GFLOP/s per device, %.0f%% of the time\n",
                flops / seconds * 1e-9, all ? 100 * seconds / all : 0);
}

static std::string countText(int64_t count, const std::string &what) {
  return join(count, " ", what, count == 1 ? "" : "s");
}

std::string mlir::tofu::toTable(const RunReport &report) {
  std::string text =
      join("@", report.program.function, " on ",
           countText(report.program.numDevices, report.backend + " device"),
           ", ", countText(report.iterations, "iteration"), "\n",
           formatDevices(report), formatContractions(report));
  std::vector<CollectiveSummary> collectives = summarize(report);
  if (!collectives.empty())
    text += formatKinds(collectives) + formatSlowest(collectives);
  return text;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

using Json = nlohmann::json;

/// JSON has no infinity; whole numbers need no fraction.
static Json toNumber(double value) {
  if (!std::isfinite(value))
    return nullptr;
  if (std::fabs(value) < 1e15 && value == std::trunc(value))
    return static_cast<int64_t>(value);
  return value;
}

static Json toJson(const DeviceReport &device, double iterations) {
  Spread spread = getSpread(device.seconds);
  double collectives =
      sumCollectives(device, &TofuCollectiveStats::seconds) / iterations;
  double waiting =
      sumCollectives(device, &TofuCollectiveStats::waitSeconds) / iterations;
  double received =
      sumCollectives(device, &TofuCollectiveStats::receivedBytes) / iterations;
  Json seconds = {{"min", toNumber(spread.min)},
                  {"avg", toNumber(spread.average)},
                  {"max", toNumber(spread.max)},
                  {"p99", toNumber(spread.p99)},
                  {"median", toNumber(spread.median)}};
  return {
      {"seconds", seconds},
      {"compute_seconds", toNumber(spread.average - collectives)},
      {"collective_seconds", toNumber(collectives)},
      {"wait_seconds", toNumber(waiting)},
      {"received_bytes", toNumber(received)},
      {"contraction_seconds",
       toNumber(device.contractions.seconds / iterations)},
      {"contraction_flops", toNumber(device.contractions.flops / iterations)},
      {"input_bytes", device.memory.inputBytes},
      {"peak_program_bytes", device.memory.peakProgramBytes},
      {"peak_bytes", device.memory.peakBytes},
      {"scratch_bytes", device.memory.scratchBytes}};
}

static Json toJson(const CollectiveSummary &sum) {
  return {{"kind", getName(sum.kind)},
          {"location", sum.location},
          {"calls", toNumber(sum.calls)},
          {"received_bytes", toNumber(sum.receivedBytes)},
          {"seconds", toNumber(sum.seconds)},
          {"wait_seconds", toNumber(sum.waitSeconds)},
          {"algbw", toNumber(sum.algorithmBandwidth)},
          {"busbw", toNumber(sum.busBandwidth)}};
}

static Json toJson(const ComparisonReport &comparison) {
  return {{"result", comparison.result},
          {"with", comparison.with},
          {"elements", comparison.numElements},
          {"different", comparison.difference.numDifferent},
          {"largest_difference", toNumber(comparison.difference.largest)},
          {"rounding_error", toNumber(comparison.roundingError)}};
}

std::string mlir::tofu::toJson(const RunReport &report) {
  Json devices = Json::array(), collectives = Json::array(),
       comparisons = Json::array();
  for (const DeviceReport &device : report.execution.devices)
    devices.push_back(::toJson(device, report.iterations));
  double received = 0;
  std::map<std::string, double> perKind;
  for (const CollectiveSummary &sum : summarize(report)) {
    collectives.push_back(::toJson(sum));
    received += sum.receivedBytes;
    perKind[getName(sum.kind)] += sum.receivedBytes;
  }
  Json kinds = Json::object();
  for (const auto &[kind, bytes] : perKind)
    kinds[kind] = toNumber(bytes);
  for (const ComparisonReport &comparison : report.comparisons)
    comparisons.push_back(::toJson(comparison));
  Json json = {{"program", report.file},
               {"function", report.program.function},
               {"backend", report.backend},
               {"devices", report.program.numDevices},
               {"iterations", report.iterations},
               {"warmup", report.warmup},
               {"received_bytes", toNumber(received)},
               {"received_bytes_per_kind", kinds},
               {"per_device", devices},
               {"collectives", collectives},
               {"comparisons", comparisons}};
  for (const Preparation &preparation : report.preparations)
    json[preparation.name] = preparation.seconds;
  // What isn't UTF-8 in a name must not end the process.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}
