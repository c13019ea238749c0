//===- Report.cpp - Where time and bytes went -----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <numeric>

using namespace mlir;
using namespace mlir::tofu;

namespace {
/// Times of one device per iteration, in milliseconds.
struct Times {
  double min = 0, avg = 0, max = 0, p99 = 0, median = 0;
};

struct KindTotals {
  int64_t calls = 0, received = 0, data = 0;
  double seconds = 0; ///< of the slowest device
};
} // namespace

static constexpr std::array<llvm::StringLiteral, TOFU_NUM_COLLECTIVE_KINDS>
    kKindNames = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                  "fetch"};

static Times getTimes(std::vector<double> seconds) {
  if (seconds.empty())
    return {};
  llvm::sort(seconds);
  auto at = [&](double part) {
    size_t i = static_cast<size_t>(part * (seconds.size() - 1) + 0.5);
    return 1e3 * seconds[i];
  };
  double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return {at(0), 1e3 * sum / seconds.size(), at(1), at(0.99), at(0.5)};
}

static KindTotals getTotals(const RunReport &report, int kind) {
  KindTotals totals;
  for (const DeviceReport &device : report.devices) {
    KindTotals mine;
    for (const TofuCollectiveStats &stats : device.collectives) {
      if (stats.kind != kind)
        continue;
      mine.calls += stats.calls;
      mine.data += stats.dataBytes;
      mine.seconds += stats.seconds;
      totals.received += stats.receivedBytes;
    }
    totals.calls = std::max(totals.calls, mine.calls);
    totals.data = std::max(totals.data, mine.data);
    totals.seconds = std::max(totals.seconds, mine.seconds);
  }
  return totals;
}

/// What nccl-tests multiply the algorithm's bandwidth by, to get that of the
/// links.
static double getBusFactor(int kind, int64_t devices) {
  double k = static_cast<double>(devices);
  return (kind == TOFU_ALL_REDUCE ? 2 : 1) * (k - 1) / k;
}

static double sumSeconds(const DeviceReport &device,
                         double TofuCollectiveStats::*field) {
  double sum = 0;
  for (const TofuCollectiveStats &stats : device.collectives)
    sum += stats.*field;
  return sum;
}

static int64_t sumReceived(const DeviceReport &device) {
  int64_t sum = 0;
  for (const TofuCollectiveStats &stats : device.collectives)
    sum += stats.receivedBytes;
  return sum;
}

int64_t mlir::tofu::getReceivedBytes(const RunReport &report,
                                     int64_t iterations) {
  int64_t sum = 0;
  for (const DeviceReport &device : report.devices)
    sum += sumReceived(device);
  return sum / std::max<int64_t>(iterations, 1);
}

void mlir::tofu::printReport(llvm::raw_ostream &os, const RunReport &report,
                             int64_t iterations) {
  os << "time per iteration in ms, over " << iterations
     << (iterations == 1 ? " iteration" : " iterations")
     << "; bytes per iteration\n";
  os << llvm::formatv("  {0,-6} {1,9} {2,9} {3,9} {4,9} {5,12} {6,11} {7,9} "
                      "{8,13} {9,13}\n",
                      "device", "min", "avg", "max", "p99", "contractions",
                      "collectives", "waiting", "received", "peak memory");
  double count = static_cast<double>(std::max<int64_t>(iterations, 1));
  for (auto [d, device] : llvm::enumerate(report.devices)) {
    Times times = getTimes(device.seconds);
    os << llvm::formatv(
        "  {0,-6} {1,9:f3} {2,9:f3} {3,9:f3} {4,9:f3} {5,12:f3} {6,11:f3} "
        "{7,9:f3} {8,13} {9,13}\n",
        d, times.min, times.avg, times.max, times.p99,
        1e3 * device.contractions.seconds / count,
        1e3 * sumSeconds(device, &TofuCollectiveStats::seconds) / count,
        1e3 * sumSeconds(device, &TofuCollectiveStats::waitSeconds) / count,
        sumReceived(device) / static_cast<int64_t>(count),
        device.memory.peakBytes);
  }
  for (int kind = 0; kind < TOFU_NUM_COLLECTIVE_KINDS; ++kind) {
    KindTotals totals = getTotals(report, kind);
    if (!totals.calls)
      continue;
    double algbw = totals.seconds > 0 ? totals.data / totals.seconds / 1e9 : 0;
    os << llvm::formatv(
        "  {0,-14} {1,6} calls {2,13} bytes received, algbw {3:f2} GB/s, busbw "
        "{4:f2} GB/s\n",
        kKindNames[kind], totals.calls / iterations,
        totals.received / iterations, algbw,
        algbw * getBusFactor(kind, report.devices.size()));
  }
  os << "  total received: " << getReceivedBytes(report, iterations)
     << " bytes\n";
}

static llvm::json::Object toJson(const DeviceReport &device, double count) {
  Times times = getTimes(device.seconds);
  return llvm::json::Object{
      {"min_ms", times.min},
      {"avg_ms", times.avg},
      {"median_ms", times.median},
      {"max_ms", times.max},
      {"p99_ms", times.p99},
      {"contraction_ms", 1e3 * device.contractions.seconds / count},
      {"collective_ms",
       1e3 * sumSeconds(device, &TofuCollectiveStats::seconds) / count},
      {"wait_ms",
       1e3 * sumSeconds(device, &TofuCollectiveStats::waitSeconds) / count},
      {"received_bytes", sumReceived(device) / static_cast<int64_t>(count)},
      {"input_bytes", device.memory.inputBytes},
      {"peak_program_bytes", device.memory.peakProgramBytes},
      {"peak_bytes", device.memory.peakBytes}};
}

llvm::json::Object mlir::tofu::toJson(const RunReport &report,
                                      int64_t iterations) {
  double count = static_cast<double>(std::max<int64_t>(iterations, 1));
  llvm::json::Array devices;
  for (const DeviceReport &device : report.devices)
    devices.push_back(::toJson(device, count));
  llvm::json::Object kinds;
  for (int kind = 0; kind < TOFU_NUM_COLLECTIVE_KINDS; ++kind) {
    KindTotals totals = getTotals(report, kind);
    if (totals.calls)
      kinds[kKindNames[kind]] = llvm::json::Object{
          {"calls", totals.calls / iterations},
          {"received_bytes", totals.received / iterations},
          {"ms", 1e3 * totals.seconds / count}};
  }
  return llvm::json::Object{
      {"iterations", iterations},
      {"received_bytes", getReceivedBytes(report, iterations)},
      {"collectives", std::move(kinds)},
      {"devices", std::move(devices)}};
}
