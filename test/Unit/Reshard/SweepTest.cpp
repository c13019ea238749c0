//===- SweepTest.cpp - Every layout to every other ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Takes values from every layout to every other one by the planner's steps, on
// the host runtime, and compares the values, the elements that the planner says
// and the runtime counts, and a lower bound of these that is computed here,
// element by element, from who holds and who needs what.
//
// The bound, of one element. A message tells one device one number. Let p be
// the number of addends, D the devices that need the element, H those that hold
// it or an addend of it.
//
// Combined results (or p = 1). Without addends, each device of D that is not in
// H hears a message. With p > 1 see ReshardPlanner.h: p - 2 + |D| messages, one
// more if D and H are disjoint.
//
// Partial results. Let D_k be the devices that end with partial result k; all
// of them end with the same number, and all results together depend on all
// addends. Choose for each addend a result that depends on it. An addend is
// sent by one that holds it, unless all devices of its result hold it; a device
// holds one addend, so these senders are different ones. A device of a result
// that was chosen for an addend which the device does not hold hears a message.
// So there are at least as many messages as senders, and as listeners. A result
// that was chosen more than once makes listeners of all its devices, and at
// most one of its addends need not be sent, since a device holds one addend.
// The bound is the larger of the two numbers in the choice where it is least.
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/Backend.h"
#include "Tofu/Runtime/Runtime.h"
#include "Tofu/Search/ReshardPlanner.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <cstdio>
#include <limits>
#include <map>
#include <numeric>

using namespace mlir::tofu::search;

namespace {

using Shape = llvm::SmallVector<int64_t>;

struct TestLayout {
  llvm::SmallVector<Axes> dims;
  Axes partial;
  llvm::SmallVector<Box> boxes;

  Holding holding() const { return {boxes, partial}; }

  std::string describe() const {
    std::string text = "[";
    for (const Axes &axes : dims) {
      text += "{";
      for (unsigned axis : axes)
        text += "xyz"[axis];
      text += "}";
    }
    text += "]";
    for (unsigned axis : partial)
      text += std::string(" sum ") + "xyz"[axis];
    return text;
  }
};

Mesh meshOf(llvm::ArrayRef<int64_t> sizes) {
  Mesh mesh;
  mesh.sizes.assign(sizes.begin(), sizes.end());
  for (size_t i = 0; i < sizes.size(); ++i)
    mesh.names.push_back(std::string(1, "xyz"[i]));
  return mesh;
}

/// Every way to let each axis do nothing, cut a dim, or leave partial sums;
/// axes that cut the same dim in the order of the mesh, or in reverse.
std::vector<TestLayout> allLayouts(const Shape &shape, const Mesh &mesh) {
  std::vector<TestLayout> layouts;
  int64_t choices = shape.size() + 2, count = 1;
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
    count *= choices;
  for (bool reverse : {false, true})
    for (int64_t number = 0; number < count; ++number) {
      TestLayout layout;
      layout.dims.resize(shape.size());
      int64_t rest = number;
      for (unsigned axis = 0; axis < mesh.numAxes(); ++axis) {
        int64_t choice = rest % choices;
        rest /= choices;
        if (choice < int64_t(shape.size()))
          layout.dims[choice].push_back(axis);
        else if (choice == int64_t(shape.size()))
          layout.partial.push_back(axis);
      }
      bool ordersAxes = llvm::any_of(
          layout.dims, [](const Axes &axes) { return axes.size() > 1; });
      if (reverse && !ordersAxes)
        continue;
      if (reverse)
        for (Axes &axes : layout.dims)
          std::reverse(axes.begin(), axes.end());
      layout.boxes = Placement::ofLayout(shape, layout.dims).boxes(shape, mesh);
      layouts.push_back(std::move(layout));
    }
  return layouts;
}

/// The number of a device in its coordinates of `axes`.
int64_t numberIn(llvm::ArrayRef<unsigned> axes, const Mesh &mesh,
                 int64_t device) {
  llvm::SmallVector<int64_t> coordinates = mesh.coordinates(device);
  int64_t number = 0;
  for (unsigned axis : axes)
    number = number * mesh.sizes[axis] + coordinates[axis];
  return number;
}

int64_t countIn(llvm::ArrayRef<unsigned> axes, const Mesh &mesh) {
  int64_t count = 1;
  for (unsigned axis : axes)
    count *= mesh.sizes[axis];
  return count;
}

bool holds(const Box &box, llvm::ArrayRef<int64_t> index) {
  for (size_t dim = 0; dim < box.size(); ++dim)
    if (index[dim] < box[dim].lo || index[dim] >= box[dim].hi)
      return false;
  return true;
}

/// Calls `visit` with each index of a box, row-major.
template <typename Visit>
void forEachIndex(const Box &box, Visit visit) {
  if (volume(box) == 0)
    return;
  Shape index;
  for (Interval interval : box)
    index.push_back(interval.lo);
  for (;;) {
    visit(index);
    size_t dim = box.size();
    while (dim > 0 && ++index[dim - 1] == box[dim - 1].hi) {
      --dim;
      index[dim] = box[dim].lo;
    }
    if (dim == 0)
      return;
  }
}

Box wholeOf(const Shape &shape) {
  Box whole;
  for (int64_t size : shape)
    whole.push_back({0, size});
  return whole;
}

//===----------------------------------------------------------------------===//
// The bound
//===----------------------------------------------------------------------===//

/// The bound of an element with partial results after it, as at the top of this
/// file. `alone` has for each addend how many devices of a result don't hold
/// it, in the result where these are the fewest; `replicas` devices end with
/// each of the `results`.
int64_t boundToPartial(std::vector<int64_t> alone, int64_t replicas,
                       int64_t results) {
  // Addends that make the most listeners share a result: the first `together`
  // do, in `shared` results.
  llvm::sort(alone, std::greater<int64_t>());
  int64_t addends = alone.size();
  int64_t sent =
      llvm::count_if(alone, [](int64_t devices) { return devices > 0; });
  int64_t least =
      std::max(sent, std::accumulate(alone.begin(), alone.end(), int64_t(0)));
  for (int64_t shared = 1; shared <= results; ++shared)
    for (int64_t together = 2 * shared; together <= addends; ++together) {
      int64_t listeners = std::accumulate(alone.begin() + together, alone.end(),
                                          shared * replicas);
      int64_t senders = std::max(
          sent, together - shared + std::max<int64_t>(sent - together, 0));
      least = std::min(least, std::max(listeners, senders));
    }
  return least;
}

int64_t boundOfElement(llvm::ArrayRef<int64_t> index, const TestLayout &from,
                       const TestLayout &to, const Mesh &mesh) {
  int64_t devices = mesh.numDevices(), addends = countIn(from.partial, mesh),
          results = countIn(to.partial, mesh);
  // By result the devices that need it; by addend those that hold it.
  std::vector<std::vector<int64_t>> needers(results);
  std::vector<bool> isHeld(devices);
  std::vector<int64_t> addend(devices);
  int64_t needed = 0, both = 0;
  for (int64_t device = 0; device < devices; ++device) {
    isHeld[device] = holds(from.boxes[device], index);
    addend[device] = numberIn(from.partial, mesh, device);
    if (!holds(to.boxes[device], index))
      continue;
    needers[numberIn(to.partial, mesh, device)].push_back(device);
    ++needed;
    both += isHeld[device];
  }
  if (results == 1)
    return addends == 1 ? needed - both
                        : addends - 2 + needed + (both == 0 ? 1 : 0);
  std::vector<int64_t> alone;
  for (int64_t a = 0; a < addends; ++a) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const std::vector<int64_t> &some : needers)
      least = std::min<int64_t>(least, llvm::count_if(some, [&](int64_t d) {
                                  return !isHeld[d] || addend[d] != a;
                                }));
    alone.push_back(least);
  }
  return boundToPartial(std::move(alone), needed / results, results);
}

int64_t boundOf(const Shape &shape, const TestLayout &from,
                const TestLayout &to, const Mesh &mesh) {
  int64_t sum = 0;
  forEachIndex(wholeOf(shape), [&](const Shape &index) {
    sum += boundOfElement(index, from, to, mesh);
  });
  return sum;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// What one device holds: its box, row-major.
using Values = std::vector<int64_t>;

/// Addend number `addend` of an element: any number, but not a simple one.
int64_t addendAt(llvm::ArrayRef<int64_t> index, int64_t addend) {
  uint64_t hash = 0x9e3779b97f4a7c15 * (addend + 1);
  for (int64_t i : index)
    hash = (hash ^ i) * 0xff51afd7ed558ccd + 1;
  return hash >> 40;
}

std::vector<Values> makeValues(const TestLayout &layout, const Mesh &mesh) {
  std::vector<Values> all(mesh.numDevices());
  for (int64_t device = 0; device < mesh.numDevices(); ++device)
    forEachIndex(layout.boxes[device], [&](const Shape &index) {
      all[device].push_back(
          addendAt(index, numberIn(layout.partial, mesh, device)));
    });
  return all;
}

/// What a device holds already of what it needs.
Values sliceOf(const Values &values, const Box &have, const Box &want) {
  Values slice;
  size_t at = 0;
  forEachIndex(have, [&](const Shape &index) {
    if (holds(want, index))
      slice.push_back(values[at]);
    ++at;
  });
  return slice;
}

/// True if the partial results of each element sum to what its addends sum to,
/// and replicas are the same.
bool areRight(const Shape &shape, const TestLayout &from, const TestLayout &to,
              const Mesh &mesh, const std::vector<Values> &results) {
  // By element and partial result.
  std::map<std::pair<Shape, int64_t>, int64_t> known;
  std::map<Shape, int64_t> sums;
  for (int64_t device = 0; device < mesh.numDevices(); ++device) {
    size_t at = 0;
    bool same = results[device].size() == size_t(volume(to.boxes[device]));
    if (!same)
      return false;
    forEachIndex(to.boxes[device], [&](const Shape &index) {
      int64_t value = results[device][at++];
      auto [it, isNew] =
          known.try_emplace({index, numberIn(to.partial, mesh, device)}, value);
      if (isNew)
        sums[index] += value;
      same &= it->second == value;
    });
    if (!same)
      return false;
  }
  for (auto [index, sum] : sums) {
    for (int64_t a = 0; a < countIn(from.partial, mesh); ++a)
      sum -= addendAt(index, a);
    if (sum)
      return false;
  }
  // All layouts hold every element somewhere.
  return int64_t(sums.size()) == volume(wholeOf(shape));
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

TofuCollectiveKind kindOf(StepKind kind) {
  switch (kind) {
  case StepKind::AllReduce:
    return TOFU_ALL_REDUCE;
  case StepKind::AllGather:
    return TOFU_ALL_GATHER;
  case StepKind::ReduceScatter:
    return TOFU_REDUCE_SCATTER;
  case StepKind::AllToAll:
    return TOFU_ALL_TO_ALL;
  default:
    return TOFU_FETCH;
  }
}

Axes without(const Axes &axes, const Axes &others) {
  Axes rest;
  for (unsigned axis : axes)
    if (!llvm::is_contained(others, axis))
      rest.push_back(axis);
  return rest;
}

/// A pair of layouts, on its way.
struct Pair {
  const TestLayout *to = nullptr;
  int64_t planned = 0; ///< elements that the planner counts
  bool communicates = false;
  std::vector<int64_t> table;
  std::string location;
  llvm::SmallVector<Box> held;
  std::vector<Values> source, result;
};

std::vector<int64_t> makeTable(const Shape &shape, const Mesh &mesh,
                               StepKind kind, const Axes &before,
                               llvm::ArrayRef<Box> held, const TestLayout &to) {
  Axes combined = without(before, to.partial),
       added = without(to.partial, before), kept = without(before, combined);
  int64_t devices = mesh.numDevices(), addends = countIn(combined, mesh),
          slots = countIn(added, mesh);
  bool combines = addends * slots > 1;
  std::vector<int64_t> table = {TOFU_TABLE_VERSION,
                                kindOf(kind),
                                combines ? TOFU_COMBINE_SUM : TOFU_COMBINE_NONE,
                                TOFU_I64,
                                int64_t(shape.size()),
                                devices,
                                addends,
                                slots};
  for (const Axes *axes : {&kept, &combined, &added})
    for (int64_t device = 0; device < devices; ++device)
      table.push_back(numberIn(*axes, mesh, device));
  for (llvm::ArrayRef<Box> boxes : {held, llvm::ArrayRef<Box>(to.boxes)})
    for (const Box &box : boxes)
      for (Interval interval : box)
        table.insert(table.end(), {interval.lo, interval.hi});
  return table;
}

/// Does the local steps, and prepares the collective if there is one.
Pair plan(const Shape &shape, const Mesh &mesh, const TestLayout &from,
          const TestLayout &to, const std::vector<Values> &values) {
  Pair pair;
  pair.to = &to;
  pair.held = from.boxes;
  pair.result = values;
  Axes partial = from.partial;
  for (const ReshardStep &step :
       planReshard(from.holding(), to.holding(), mesh)) {
    EXPECT_FALSE(pair.communicates) << "a second collective";
    pair.planned += step.elements;
    if (step.kind == StepKind::Slice) {
      for (int64_t device = 0; device < mesh.numDevices(); ++device)
        pair.result[device] =
            sliceOf(pair.result[device], pair.held[device], to.boxes[device]);
    } else {
      pair.communicates = true;
      pair.table = makeTable(shape, mesh, step.kind, partial, pair.held, to);
      pair.source = std::move(pair.result);
      pair.result.clear();
      for (const Box &box : to.boxes)
        pair.result.emplace_back(volume(box), -1);
    }
    if (!pair.communicates)
      pair.held = to.boxes;
    partial = step.partial;
  }
  return pair;
}

/// A memref descriptor of a row-major box.
struct Memref {
  void *data, *aligned;
  int64_t offset = 0, sizesAndStrides[6];

  Memref(Values &values, const Box &box)
      : data(values.data()), aligned(values.data()) {
    int64_t stride = 1;
    for (size_t dim = box.size(); dim-- > 0;) {
      sizesAndStrides[dim] = box[dim].size();
      sizesAndStrides[box.size() + dim] = stride;
      stride *= box[dim].size();
    }
  }
};

/// A world of devices that runs all pairs of one source at once.
class World {
public:
  explicit World(int64_t devices) : devices(devices) {
    TofuWorldOptions options = {devices, 60, 0};
    char error[200] = "";
    world = backend->createWorld(&options, error, sizeof(error));
  }
  ~World() { backend->destroyWorld(world); }

  void run(std::vector<Pair> &pairs) {
    TofuStatus status = backend->run(
        world,
        [](TofuContext *context, int64_t device, void *user) {
          for (Pair &pair : *static_cast<std::vector<Pair> *>(user)) {
            if (!pair.communicates)
              continue;
            Memref src(pair.source[device], pair.held[device]),
                dst(pair.result[device], pair.to->boxes[device]);
            int64_t rank = pair.held[device].size();
            tofuCollective(context, nullptr, pair.table.data(),
                           pair.location.c_str(), rank, &src, rank, &dst);
          }
        },
        &pairs);
    ASSERT_EQ(status, TOFU_OK) << backend->error(world);
  }

  /// Elements received by location, summed over the devices.
  std::map<std::string, int64_t> countReceived(size_t most) const {
    std::map<std::string, int64_t> received;
    std::vector<TofuCollectiveStats> stats(most);
    for (int64_t device = 0; device < devices; ++device) {
      TofuContext *context = backend->context(world, device);
      int64_t count =
          backend->collectiveStats(context, stats.data(), stats.size());
      for (int64_t i = 0; i < count; ++i)
        received[stats[i].location] += stats[i].receivedBytes / 8;
    }
    return received;
  }

private:
  const TofuBackend *backend = tofuGetBackend();
  TofuWorld *world;
  int64_t devices;
};

//===----------------------------------------------------------------------===//
// The sweep
//===----------------------------------------------------------------------===//

/// What happens to partial results, and how the pairs of that form fare.
struct Row {
  int64_t pairs = 0, above = 0, received = 0, bound = 0, worst = 0;
  std::string example;
};

std::string formOf(const TestLayout &from, const TestLayout &to) {
  Axes combined = without(from.partial, to.partial),
       added = without(to.partial, from.partial);
  std::string form;
  auto append = [&](bool is, const char *text) {
    if (is)
      form += (form.empty() ? "" : ", ") + std::string(text);
  };
  append(combined.size() < from.partial.size(), "kept");
  append(!combined.empty(), "combined");
  append(!added.empty(), "made partial");
  return form.empty() ? "moved" : form;
}

class Sweep {
public:
  /// Plans all pairs and runs one of `every`.
  Sweep(llvm::ArrayRef<int64_t> sizes, int64_t every)
      : mesh(meshOf(sizes)), every(every) {}

  void run(const Shape &shape) {
    std::vector<TestLayout> layouts = allLayouts(shape, mesh);
    for (const TestLayout &from : layouts) {
      runFrom(shape, from, layouts);
      if (testing::Test::HasFailure())
        return;
    }
  }

  /// Prints the table, and adds it to the test's JSON.
  void report() const {
    std::printf("%-26s %7s %7s %10s %10s %6s  %s\n", "partial results", "pairs",
                "above", "received", "bound", "worst", "example");
    for (const auto &[form, row] : rows) {
      std::printf("%-26s %7lld %7lld %10lld %10lld %6.2f  %s\n", form.c_str(),
                  (long long)row.pairs, (long long)row.above,
                  (long long)row.received, (long long)row.bound,
                  row.worst / 100.0, row.example.c_str());
      testing::Test::RecordProperty(
          form, std::to_string(row.above) + " of " + std::to_string(row.pairs) +
                    " above, received " + std::to_string(row.received) +
                    ", bound " + std::to_string(row.bound));
    }
  }

  std::map<std::string, Row> rows;

private:
  void runFrom(const Shape &shape, const TestLayout &from,
               const std::vector<TestLayout> &layouts) {
    std::vector<Values> values = makeValues(from, mesh);
    std::vector<Pair> pairs;
    for (const TestLayout &to : layouts) {
      SCOPED_TRACE(from.describe() + " to " + to.describe());
      enter(shape, from, to,
            receivedElements(from.holding(), to.holding(), mesh));
      if (count++ % every)
        continue;
      pairs.push_back(plan(shape, mesh, from, to, values));
      pairs.back().location = std::to_string(pairs.size());
    }
    World world(mesh.numDevices());
    world.run(pairs);
    std::map<std::string, int64_t> received = world.countReceived(pairs.size());
    for (const Pair &pair : pairs) {
      SCOPED_TRACE(from.describe() + " to " + pair.to->describe());
      EXPECT_TRUE(areRight(shape, from, *pair.to, mesh, pair.result));
      EXPECT_EQ(pair.planned,
                receivedElements(from.holding(), pair.to->holding(), mesh));
      EXPECT_EQ(received[pair.location], pair.planned);
    }
  }

  void enter(const Shape &shape, const TestLayout &from, const TestLayout &to,
             int64_t received) {
    int64_t bound = boundOf(shape, from, to, mesh);
    Row &row = rows[formOf(from, to)];
    ++row.pairs;
    row.received += received;
    row.bound += bound;
    EXPECT_GE(received, bound);
    if (received == bound)
      return;
    ++row.above;
    int64_t percent = bound ? 100 * received / bound : 0;
    if (percent <= row.worst)
      return;
    row.worst = percent;
    row.example = from.describe() + " to " + to.describe() + ": " +
                  std::to_string(received) + " for " + std::to_string(bound);
  }

  Mesh mesh;
  int64_t every, count = 0;
};

void sweep(llvm::ArrayRef<int64_t> sizes, const std::vector<Shape> &shapes,
           int64_t every = 1) {
  Sweep sweep(sizes, every);
  for (const Shape &shape : shapes) {
    sweep.run(shape);
    if (testing::Test::HasFailure())
      return;
  }
  sweep.report();
  // Only addends that stay apart, or make other partial results, may take more
  // than the bound.
  for (const char *form : {"moved", "combined", "made partial"})
    EXPECT_EQ(sweep.rows[form].above, 0) << form;
}

/// Even, uneven, with empty parts, without elements.
const std::vector<Shape> kShapes = {{},     {12},      {5},       {1},
                                    {0},    {4, 6},    {5, 3},    {5, 1},
                                    {0, 4}, {2, 6, 4}, {3, 5, 2}, {5, 4, 1}};
const std::vector<Shape> kFlatShapes = {{},     {8},    {5},   {1},
                                        {4, 2}, {5, 3}, {5, 1}};
const std::vector<Shape> kDeepShapes = {{2, 4, 2}, {3, 5, 2}, {5, 4, 1}};

TEST(Sweep, Mesh2) { sweep({2}, kShapes); }
TEST(Sweep, Mesh3) { sweep({3}, kShapes); }
TEST(Sweep, Mesh2x2) { sweep({2, 2}, kShapes); }
TEST(Sweep, Mesh2x3) { sweep({2, 3}, kShapes); }
// A prime stride, so that all forms are met.
TEST(Sweep, Mesh2x2x2) { sweep({2, 2, 2}, kFlatShapes, 11); }

// Switched off as they take most of a minute together, too long for every run
// of the suite: to be run by hand when the planner or the runtime's collectives
// change (docs/Testing.md).
TEST(Sweep, DISABLED_Mesh3x2) { sweep({3, 2}, kShapes); }
TEST(Sweep, DISABLED_Mesh2x2x2Flat) { sweep({2, 2, 2}, kFlatShapes); }
TEST(Sweep, DISABLED_Mesh2x2x2Deep) { sweep({2, 2, 2}, kDeepShapes); }

} // namespace
