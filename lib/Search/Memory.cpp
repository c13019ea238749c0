//===- Memory.cpp - What a plan takes of each device's memory -------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Memory.h"

#include "Tofu/Search/CostModel.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir::tofu::search;

namespace {

/// What a device holds from one moment to another, both included: its box of a
/// family.
struct Buffer {
  CostModel::Family family;
  int64_t elementBytes;
  unsigned from, to;
};

/// Finds all buffers of a plan. Moments are numbered: 0 is before all
/// operators; operator i runs at 2i + 1, and its results are moved to where
/// they belong at 2i + 2; the last one is after all.
class BufferFinder {
public:
  BufferFinder(const PartitionGraph &graph, const Plan &plan, Charge charge,
               CostModel &model)
      : graph(graph), plan(plan), charge(charge), model(model),
        lastMoment(2 * graph.operators.size() + 1), held(graph.values.size()),
        copies(graph.values.size()) {}

  std::vector<Buffer> find() {
    for (auto [i, value] : llvm::enumerate(graph.values))
      addArgument(held[i], value, plan.layouts[i]);
    for (unsigned i = 0; i < graph.operators.size(); ++i)
      addOperator(i);
    for (const Carried &carried : graph.carried)
      addCarried(carried);
    for (auto [i, value] : llvm::enumerate(graph.values)) {
      if (value.constant)
        continue;
      held[i].to = std::max(held[i].to, momentAfter(value.heldTo));
      buffers.push_back(held[i]);
      CostModel::Shards shards = model.layoutShards(value, plan.layouts[i]);
      for (const Copy &copy : copies[i])
        if (!model.isView(shards, copy.need))
          buffers.push_back(
              {copy.need.family, held[i].elementBytes, copy.from, copy.to});
    }
    return std::move(buffers);
  }

private:
  /// A form in which a value is read.
  struct Copy {
    CostModel::Shards need;
    unsigned from, to;
  };

  /// The moment when `count` operators have run.
  unsigned momentAfter(unsigned count) const {
    return count >= kEnd ? lastMoment : 2 * count;
  }

  /// As if no operator produced the value.
  void addArgument(Buffer &buffer, const Value &value, const Layout &layout) {
    buffer.family = model.family(Placement::ofLayout(value.shape, layout.dims),
                                 value.shape);
    buffer.elementBytes =
        value.elementBytes / std::max<int64_t>(value.times, 1);
    buffer.from = buffer.to =
        value.heldFrom ? momentAfter(value.heldFrom) + 1 : 0;
  }

  void addOperator(unsigned number) {
    const Operator &op = graph.operators[number];
    const Strategy &strategy = plan.strategies[number];
    unsigned now = 2 * number + 1;
    for (auto [i, operand] : llvm::enumerate(op.operands)) {
      const Layout *resultLayout =
          operand.initOf >= 0 ? &plan.layouts[op.results[operand.initOf].value]
                              : nullptr;
      // What a cut reduction starts from is added to what it gives.
      bool isLate = needsResultLayout(op, i, strategy);
      addUse(operand.value,
             model.operandShards(op, i, strategy, graph.values[operand.value],
                                 resultLayout),
             now + isLate);
    }
    for (unsigned i = 0; i < op.results.size(); ++i)
      addResult(op, i, strategy, now);
  }

  void addResult(const Operator &op, unsigned i, const Strategy &strategy,
                 unsigned now) {
    unsigned number = op.results[i].value;
    const Value &value = graph.values[number];
    Buffer &mine = held[number];
    CostModel::Shards made = model.resultShards(op, i, strategy, value);
    bool isMoved = made.family != mine.family ||
                   !without(made.partial, plan.layouts[number].partial).empty();
    if (isMoved)
      buffers.push_back({made.family, mine.elementBytes, now, now + 1});
    mine.from = mine.to = now + isMoved;
  }

  void addCarried(const Carried &carried) {
    addUse(carried.from,
           model.carriedShards(graph.values[carried.from],
                               plan.layouts[carried.to]),
           momentAfter(carried.after));
  }

  void addUse(unsigned value, const CostModel::Shards &need, unsigned now) {
    held[value].to = std::max(held[value].to, now);
    if (charge == Charge::Once)
      for (Copy &copy : copies[value])
        if (copy.need == need) {
          copy.from = std::min(copy.from, now);
          copy.to = std::max(copy.to, now);
          return;
        }
    copies[value].push_back({need, now, now});
  }

  const PartitionGraph &graph;
  const Plan &plan;
  Charge charge;
  CostModel &model;
  unsigned lastMoment;
  std::vector<Buffer> buffers, held;              ///< of all kinds; per value
  std::vector<llvm::SmallVector<Copy, 1>> copies; ///< per value
};

/// Devices whose boxes are of one size in every family are alike, and there are
/// few that aren't.
class DeviceClasses {
public:
  DeviceClasses(const std::vector<Buffer> &buffers, CostModel &model)
      : classOf(model.getMesh().numDevices(), 0) {
    for (const Buffer &buffer : buffers) {
      auto [mine, isNew] = sizes.try_emplace(buffer.family);
      if (isNew)
        mine->second = model.volumes(buffer.family);
      if (isNew && mine->second.size() > 1)
        split(mine->second);
    }
    for (auto [device, number] : llvm::enumerate(classOf))
      if (number == first.size())
        first.push_back(device);
    for (auto &[family, each] : sizes) {
      llvm::SmallVector<int64_t> ofDevice = std::move(each);
      each.clear();
      for (int64_t device : first)
        each.push_back(ofDevice.size() > 1 ? ofDevice[device]
                                           : ofDevice.front());
    }
  }

  /// The first device of each class.
  llvm::ArrayRef<int64_t> getDevices() const { return first; }

  /// Elements of a family's box, by class.
  llvm::ArrayRef<int64_t> getSizes(CostModel::Family family) const {
    return sizes.find(family)->second;
  }

private:
  void split(llvm::ArrayRef<int64_t> volumes) {
    std::map<std::pair<unsigned, int64_t>, unsigned> numbers;
    for (auto [number, volume] : llvm::zip_equal(classOf, volumes))
      number =
          numbers.try_emplace({number, volume}, numbers.size()).first->second;
  }

  std::vector<unsigned> classOf; ///< per device
  llvm::SmallVector<int64_t> first;
  llvm::DenseMap<CostModel::Family, llvm::SmallVector<int64_t>> sizes;
};

} // namespace

PeakMemory mlir::tofu::search::estimatePeak(const PartitionGraph &graph,
                                            const Plan &plan, Charge charge,
                                            CostModel &model) {
  std::vector<Buffer> buffers = BufferFinder(graph, plan, charge, model).find();
  DeviceClasses classes(buffers, model);
  unsigned numMoments = 2 * graph.operators.size() + 2;
  std::vector<llvm::SmallVector<const Buffer *, 2>> starting(numMoments),
      ending(numMoments);
  for (const Buffer &buffer : buffers) {
    starting[buffer.from].push_back(&buffer);
    ending[buffer.to].push_back(&buffer);
  }

  PeakMemory peak;
  std::vector<int64_t> now(classes.getDevices().size(), 0);
  auto add = [&](const Buffer &buffer, int64_t sign) {
    for (auto [bytes, size] :
         llvm::zip_equal(now, classes.getSizes(buffer.family)))
      bytes += sign * size * buffer.elementBytes;
  };
  for (unsigned moment = 0; moment < numMoments; ++moment) {
    for (const Buffer *buffer : starting[moment])
      add(*buffer, 1);
    for (auto [bytes, device] : llvm::zip_equal(now, classes.getDevices())) {
      if (bytes <= peak.bytes)
        continue;
      peak = {bytes, device, std::nullopt};
      if (moment > 0 && moment + 1 < numMoments)
        peak.op = (moment - 1) / 2;
    }
    for (const Buffer *buffer : ending[moment])
      add(*buffer, -1);
  }
  return peak;
}

PeakMemory mlir::tofu::search::estimatePeak(const PartitionGraph &graph,
                                            const Plan &plan, Charge charge) {
  CostModel model(plan.mesh);
  return estimatePeak(graph, plan, charge, model);
}
