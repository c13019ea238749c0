//===- DegreeSpace.cpp - Plans by how many parts dims have ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DegreeSpace.h"

#include "OperandSet.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir::tofu::search;

static bool anyPair(llvm::ArrayRef<uint8_t> a, llvm::ArrayRef<uint8_t> b,
                    bool (*test)(uint8_t, uint8_t)) {
  for (auto [x, y] : llvm::zip_equal(a, b))
    if (test(x, y))
      return true;
  return false;
}

AxisClasses::AxisClasses(const Mesh &mesh) {
  for (int64_t axisSize : mesh.sizes) {
    if (axisSize == 1) {
      classOf.push_back(-1);
      continue;
    }
    auto at = llvm::find(sizes, axisSize);
    classOf.push_back(at - sizes.begin());
    if (at == sizes.end()) {
      sizes.push_back(axisSize);
      count.push_back(0);
    }
    ++count[classOf.back()];
  }
}

int64_t DegreeSpace::degree(const AxisCounts &counts) const {
  int64_t parts = 1;
  for (auto [size, count] : llvm::zip_equal(classes.sizes, counts))
    for (unsigned i = 0; i < count; ++i)
      parts *= size;
  return parts;
}

DegreeSpace::DegreeSpace(const PartitionGraph &graph, const PlanSpace &space,
                         const Mesh &mesh, const SearchOptions &options)
    : PairwiseSpace(graph, space, options), classes(mesh),
      numDevices(mesh.numDevices()) {
  makeDomains();
  llvm::SmallVector<unsigned> sizes, ids;
  for (const Domain *domain : domainOf) {
    sizes.push_back(domain->states.size());
    ids.push_back(domain->id);
  }
  makeModel(sizes, ids);
}

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

AxisCounts DegreeSpace::wholeAxes(const State &state) const {
  AxisCounts whole(classes.count.begin(), classes.count.end());
  for (unsigned c = 0; c < classes.size(); ++c) {
    whole[c] -= state.partial[c];
    for (const AxisCounts &counts : state.dims)
      whole[c] -= counts[c];
  }
  return whole;
}

/// Whether some plan may have these degrees; what is not ruled out by degrees
/// is allowed.
bool DegreeSpace::isAllowed(llvm::ArrayRef<IterationDim> dims,
                            const State &state,
                            const AxisCounts &mayBeWhole) const {
  AxisCounts whole = wholeAxes(state);
  for (auto [i, dim] : llvm::enumerate(dims)) {
    int64_t parts = degree(state.dims[i]);
    if (parts > 1 && (dim.kind == DimKind::Unsplittable || dim.size < parts))
      return false;
    for (int outer = dim.after; parts > 1 && outer >= 0;
         outer = dims[outer].after)
      if (dims[outer].size > degree(state.dims[outer]))
        return false;
    if (dim.kind == DimKind::Unsplittable || dim.after >= 0)
      continue;
    for (unsigned c = 0; c < classes.size(); ++c)
      if (whole[c] > mayBeWhole[c] && dim.size >= parts * classes.sizes[c])
        return false;
  }
  return true;
}

/// Appends all ways to have `left` more axes, class by class and dim by dim.
void DegreeSpace::enumerate(const PlanSpace::Kind &kind,
                            const AxisCounts &mayBeWhole,
                            Domain &domain) const {
  State state;
  state.dims.assign(kind.dims.size(), AxisCounts(classes.size(), 0));
  state.partial.assign(classes.size(), 0);
  unsigned numDims = kind.dims.size();
  llvm::SmallVector<uint64_t, 2> sets(kind.linear.begin(), kind.linear.end());
  bool mayBePartial = kind.mayBePartial || !sets.empty();
  // Slots of a class: the dims, then `partial`; what is left is whole.
  std::function<void(unsigned, unsigned, unsigned)> fill = [&](unsigned c,
                                                               unsigned slot,
                                                               unsigned left) {
    if (c == classes.size()) {
      if (!isAllowed(kind.dims, state, mayBeWhole))
        return;
      bool isPartial =
          llvm::any_of(state.partial, [](unsigned n) { return n > 0; });
      if (!isPartial || sets.empty())
        domain.states.push_back(state);
      else
        for (uint64_t set : sets) {
          domain.states.push_back(state);
          domain.states.back().partialOperands = set;
        }
      return;
    }
    if (slot > numDims)
      return fill(c + 1, 0, c + 1 < classes.size() ? classes.count[c + 1] : 0);
    uint8_t &count = slot < numDims ? state.dims[slot][c] : state.partial[c];
    bool may = slot < numDims ? kind.dims[slot].kind != DimKind::Unsplittable
                              : mayBePartial;
    // What is cut comes first: of what costs the same, it takes less memory.
    for (unsigned n = (may ? left : 0) + 1; n-- > 0;) {
      count = n;
      if (slot < numDims && n > 0 &&
          kind.dims[slot].size < degree(state.dims[slot]))
        continue;
      fill(c, slot + 1, left - n);
    }
    count = 0;
  };
  fill(0, 0, classes.size() ? classes.count[0] : 0);
}

const DegreeSpace::Domain *
DegreeSpace::domainFor(const PlanSpace::Kind &kind, unsigned kindNumber,
                       const AxisCounts &mayBeWhole) {
  Key key{int64_t(kindNumber)};
  key.append(mayBeWhole.begin(), mayBeWhole.end());
  const Domain *&known = domainsByKey[key];
  if (known)
    return known;
  Domain &domain = domains.emplace_back();
  domain.id = domains.size() - 1;
  if (kind.pinned)
    domain.states.push_back(stateOf(*kind.pinned));
  else
    enumerate(kind, mayBeWhole, domain);
  domain.mostWhole.assign(classes.size(), 0);
  for (const State &each : domain.states) {
    AxisCounts whole = wholeAxes(each);
    for (unsigned c = 0; c < classes.size(); ++c)
      domain.mostWhole[c] = std::max(domain.mostWhole[c], whole[c]);
  }
  return known = &domain;
}

void DegreeSpace::makeDomains() {
  domainOf.assign(space.numVariables(), nullptr);
  AxisCounts none(classes.size(), 0),
      all(classes.count.begin(), classes.count.end());
  auto make = [&](unsigned var, const AxisCounts &mayBeWhole) {
    const PlanSpace::Kind &kind = space.getKind(var);
    domainOf[var] =
        domainFor(kind, space.kindOf(var), kind.mayBeWhole ? all : mayBeWhole);
  };
  for (unsigned var = 0; var < space.numVariables(); ++var)
    if (space.producerOf(var) < 0)
      make(var, none);
  for (unsigned var = 0; var < space.numVariables(); ++var)
    if (int producer = space.producerOf(var); producer >= 0)
      make(var, domainOf[producer]->mostWhole);
}

/// The degrees of `cuts`.
DegreeSpace::State DegreeSpace::stateOf(const Cuts &cuts) const {
  auto count = [&](llvm::ArrayRef<unsigned> axes) {
    AxisCounts counts(classes.size(), 0);
    for (unsigned axis : axes)
      if (classes.classOf[axis] >= 0)
        ++counts[classes.classOf[axis]];
    return counts;
  };
  State state;
  for (const Axes &axes : cuts.dims)
    state.dims.push_back(count(axes));
  state.partial = count(cuts.partial);
  state.partialOperands = cuts.partialOperands;
  return state;
}

std::optional<unsigned> DegreeSpace::find(unsigned var,
                                          const Cuts &cuts) const {
  State wanted = stateOf(cuts);
  for (auto [i, state] : llvm::enumerate(domainOf[var]->states))
    if (state.dims == wanted.dims && state.partial == wanted.partial &&
        state.partialOperands == wanted.partialOperands)
      return i;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Profiles
//===----------------------------------------------------------------------===//

/// The parts of `whole` cut by `counts`, one class after the other.
std::vector<Interval> DegreeSpace::partsOf(int64_t size,
                                           const AxisCounts &counts) const {
  std::vector<Interval> parts{{0, size}};
  for (unsigned c = 0; c < classes.size(); ++c)
    for (unsigned i = 0; i < counts[c]; ++i) {
      std::vector<Interval> finer;
      for (Interval part : parts)
        for (int64_t index = 0; index < classes.sizes[c]; ++index)
          finer.push_back(balancedPart(part, classes.sizes[c], index));
      parts = std::move(finer);
    }
  return parts;
}

std::vector<Interval> DegreeSpace::partsOf(const Profile &profile) const {
  return profile.plain ? partsOf(profile.size, profile.counts) : profile.parts;
}

static int64_t unionOf(std::vector<Interval> parts) {
  llvm::sort(parts, [](Interval a, Interval b) { return a.lo < b.lo; });
  int64_t sum = 0, end = 0;
  for (Interval part : parts) {
    int64_t lo = std::max(part.lo, end);
    if (part.hi > lo) {
      sum += part.hi - lo;
      end = part.hi;
    }
  }
  return sum;
}

unsigned DegreeSpace::internProfile(Profile profile) {
  Key key{profile.size, profile.plain};
  key.append(profile.counts.begin(), profile.counts.end());
  for (Interval part : profile.parts)
    key.append({part.lo, part.hi});
  auto [number, isNew] = profileNumbers.try_emplace(key, profiles.size());
  if (!isNew)
    return number->second;
  profile.numParts = degree(profile.counts);
  profile.sum = profile.together = profile.size;
  if (!profile.plain) {
    profile.sum = 0;
    for (Interval part : profile.parts)
      profile.sum += part.size();
    profile.together = unionOf(profile.parts);
  }
  profiles.push_back(std::move(profile));
  return number->second;
}

unsigned DegreeSpace::plainProfile(int64_t size, const AxisCounts &counts) {
  Profile profile;
  profile.size = size;
  profile.counts = counts;
  return internProfile(std::move(profile));
}

unsigned DegreeSpace::profileOf(const LinearExpr &index,
                                llvm::ArrayRef<IterationDim> dims,
                                const State &state, int64_t size) {
  AxisCounts none(classes.size(), 0);
  if (index.whole)
    return plainProfile(size, none);
  if (index.terms.size() == 1 && index.isDim(index.terms[0].dim) &&
      dims[index.terms[0].dim].size == size)
    return plainProfile(size, state.dims[index.terms[0].dim]);
  Profile profile;
  profile.size = size;
  profile.plain = false;
  profile.counts = none;
  // All combinations of the parts of the dims.
  llvm::SmallVector<Interval, 4> iteration;
  for (const IterationDim &dim : dims)
    iteration.push_back({0, dim.size});
  std::vector<llvm::SmallVector<Interval, 4>> combinations{iteration};
  for (auto [dim, coefficient] : index.terms) {
    for (unsigned c = 0; c < classes.size(); ++c)
      profile.counts[c] += state.dims[dim][c];
    std::vector<llvm::SmallVector<Interval, 4>> more;
    for (auto &combination : combinations)
      for (Interval part : partsOf(dims[dim].size, state.dims[dim])) {
        more.push_back(combination);
        more.back()[dim] = part;
      }
    combinations = std::move(more);
  }
  for (auto &combination : combinations)
    profile.parts.push_back(image(index, combination, size));
  Interval all{0, size};
  if (profile.parts.size() == 1 && profile.parts.front() == all)
    return plainProfile(size, none);
  return internProfile(std::move(profile));
}

const DegreeSpace::Overlap &DegreeSpace::newOverlap(unsigned needed,
                                                    unsigned held) {
  if (needed >= overlapsOf.size())
    overlapsOf.resize(profiles.size());
  std::vector<const Overlap *> &mine = overlapsOf[needed];
  if (held >= mine.size())
    mine.resize(profiles.size());
  mine[held] =
      &overlaps.emplace_back(computeOverlap(profiles[needed], profiles[held]));
  return *mine[held];
}

DegreeSpace::Overlap DegreeSpace::computeOverlap(const Profile &need,
                                                 const Profile &hold) const {
  Overlap overlap;
  AxisCounts all = need.counts;
  for (unsigned c = 0; c < classes.size(); ++c)
    all[c] = std::max(all[c], hold.counts[c]);
  overlap.parts = degree(all);
  if (need.plain && hold.plain) {
    overlap.sum = need.size;
    // Parts of one cut lie in those of the other, unless each has axes of sizes
    // that the other lacks: then small parts may lie anywhere in large ones.
    int64_t finest = std::max(need.numParts, hold.numParts);
    overlap.most = (need.size + finest - 1) / finest;
    overlap.uniform = overlap.sum == overlap.most * overlap.parts;
    return overlap;
  }
  size_t free = overlap.parts / need.numParts;
  std::vector<Interval> heldParts = partsOf(hold);
  int64_t fewest = need.size;
  for (Interval part : partsOf(need)) {
    std::vector<int64_t> inBoth;
    for (Interval other : heldParts)
      inBoth.push_back(
          Interval{std::max(part.lo, other.lo), std::min(part.hi, other.hi)}
              .size());
    llvm::sort(inBoth, std::greater<int64_t>());
    inBoth.resize(free, 0);
    for (int64_t elements : inBoth)
      overlap.sum += elements;
    overlap.most = std::max(overlap.most, inBoth.front());
    fewest = std::min(fewest, inBoth.back());
  }
  overlap.uniform = fewest == overlap.most;
  return overlap;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Elements of what devices need that they hold already, at most, where each of
/// `devices` has one of the combinations along every dim.
int64_t DegreeSpace::shared(const Family &needed, const Family &held,
                            int64_t devices) {
  // Where several dims are uneven, large parts may meet large ones: then only
  // one of these counts by its mean, the one for which that says most.
  int best = -1;
  double largest = 0;
  llvm::SmallVector<const Overlap *, 8> dims;
  for (auto [need, hold] : llvm::zip_equal(needed.profiles, held.profiles)) {
    const Overlap &overlap = overlapOf(need, hold);
    dims.push_back(&overlap);
    if (overlap.uniform)
      continue;
    double ratio = double(overlap.most) * overlap.parts /
                   std::max<int64_t>(overlap.sum, 1);
    if (ratio <= largest)
      continue;
    best = dims.size() - 1;
    largest = ratio;
  }
  __int128 elements = devices;
  int64_t parts = 1;
  for (auto [i, overlap] : llvm::enumerate(dims)) {
    bool byMean = overlap->uniform || int(i) == best;
    elements *= byMean ? overlap->sum : overlap->most;
    parts *= byMean ? overlap->parts : 1;
  }
  // Divisions of so many bits are slow.
  bool isSmall = elements <= std::numeric_limits<int64_t>::max();
  return isSmall ? int64_t(elements) / parts : int64_t(elements / parts);
}

/// What devices receive if they hold nothing of what they need.
DegreeSpace::Needs DegreeSpace::needsOf(const Family &needed) const {
  Needs needs;
  needs.kept = degree(needed.partial);
  __int128 elements = numDevices / needs.kept;
  for (unsigned number : needed.profiles) {
    elements *= profiles[number].sum;
    needs.together *= profiles[number].together;
  }
  for (unsigned number : needed.profiles)
    elements /= profiles[number].numParts;
  needs.elements = int64_t(elements);
  return needs;
}

/// The least elements that devices receive to get from `held` to `needed`,
/// which is `needs`.
int64_t DegreeSpace::elements(const Family &needed, const Needs &needs,
                              const Family &held) {
  if (needed.unknown || held.unknown)
    return 0;
  // Over kept axes nothing happens; combined ones make addends.
  int64_t kept = needs.kept, addends = degree(held.partial) / kept;
  for (auto [more, less] : llvm::zip_equal(needed.partial, held.partial))
    if (more > less)
      return 0;
  int64_t there = shared(needed, held, numDevices / kept);
  if (addends == 1)
    return kept * std::max<int64_t>(needs.elements - there, 0);
  // An element takes addends - 1 and one less than the devices that need it,
  // and one more where none of these holds an addend.
  return kept * ((addends - 2) * needs.together + needs.elements +
                 needs.together - std::min(there, needs.together));
}

DegreeSpace::Family DegreeSpace::familyOf(llvm::ArrayRef<LinearExpr> index,
                                          llvm::ArrayRef<IterationDim> dims,
                                          const State &state,
                                          llvm::ArrayRef<int64_t> shape) {
  Family family;
  llvm::SmallVector<unsigned, 8> uses(dims.size(), 0);
  for (auto [expr, size] : llvm::zip_equal(index, shape)) {
    family.profiles.push_back(profileOf(expr, dims, state, size));
    for (auto [dim, coefficient] : expr.terms)
      if (++uses[dim] > 1 && degree(state.dims[dim]) > 1)
        family.unknown = true;
  }
  family.partial.assign(classes.size(), 0);
  return family;
}

DegreeSpace::Family DegreeSpace::layoutOf(const State &state,
                                          llvm::ArrayRef<int64_t> shape) {
  Family family;
  for (auto [counts, size] : llvm::zip_equal(state.dims, shape))
    family.profiles.push_back(plainProfile(size, counts));
  family.partial = state.partial;
  return family;
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// What a use needs at a value of its variable.
DegreeSpace::Family DegreeSpace::needOf(const Use &use, unsigned value,
                                        llvm::ArrayRef<int64_t> shape) {
  Needed needed = neededBy(use, value);
  const State &state = getState(needed.var, needed.value);
  Family need;
  if (needed.asLayout) {
    need = layoutOf(state, shape);
    need.partial.assign(classes.size(), 0);
    need.unknown = needed.mayBePartial;
    return need;
  }
  need =
      familyOf(use.op->operands[use.operand].index, use.op->dims, state, shape);
  if (hasOperand(state.partialOperands, use.operand))
    need.partial = state.partial;
  return need;
}

bool DegreeSpace::cutsReduction(unsigned op, unsigned value) const {
  return degree(reductionAxes(graph.operators[op],
                              getState(space.variableOfOperator(op), value),
                              /*additive=*/false)) > 1;
}

AxisCounts DegreeSpace::reductionAxes(const Operator &op, const State &state,
                                      bool additive) const {
  AxisCounts counts(classes.size(), 0);
  for (auto [dim, cuts] : llvm::zip_equal(op.dims, state.dims))
    if (dim.kind == DimKind::Reduction && (dim.additive || !additive))
      for (unsigned c = 0; c < classes.size(); ++c)
        counts[c] += cuts[c];
  return counts;
}

DegreeSpace::Key DegreeSpace::keyOf(const Family &family) {
  Key key{family.unknown};
  for (const AxisCounts *counts :
       {&family.partial, &family.sumPartial, &family.whole})
    key.append(counts->begin(), counts->end());
  if (!family.unknown)
    key.append(family.profiles.begin(), family.profiles.end());
  return key;
}

void DegreeSpace::fillReads(Columns &group, unsigned row, const Value &value,
                            llvm::ArrayRef<Use> uses) {
  Numbering<Key> numbers;
  std::vector<std::pair<Family, Needs>> columns;
  for (const Use &use : uses) {
    std::vector<unsigned> &mine = group.columnsOf.emplace_back();
    for (unsigned each = 0; each < domainSize(use.var); ++each) {
      Family need = needOf(use, each, value.shape);
      auto [number, isNew] = numbers(keyOf(need));
      mine.push_back(number);
      if (!isNew)
        continue;
      Needs needs = needsOf(need);
      columns.push_back({std::move(need), needs});
    }
  }
  group.numColumns = columns.size();
  auto isLess = [](uint8_t a, uint8_t b) { return a < b; };
  // Who pins a strategy may have it take whole values as partial sums.
  bool takesWhole = llvm::any_of(
      uses, [](const Use &use) { return use.op && use.op->pinned; });
  for (const State &layout : domainOf[row]->states) {
    Family held = layoutOf(layout, value.shape);
    for (const auto &[need, needs] : columns)
      group.table.push_back(!takesWhole &&
                                    anyPair(held.partial, need.partial, isLess)
                                ? Forbidden
                                : costOf(value, elements(need, needs, held)));
  }
}

/// What `op` makes of a result in a state of its variable.
DegreeSpace::Family DegreeSpace::madeBy(const Operator &op,
                                        const Result &result,
                                        const State &state,
                                        llvm::ArrayRef<int64_t> shape) {
  Family made = familyOf(result.index, op.dims, state, shape);
  made.partial = reductionAxes(op, state, /*additive=*/false);
  made.sumPartial = reductionAxes(op, state, /*additive=*/true);
  for (unsigned c = 0; c < classes.size(); ++c) {
    made.partial[c] += state.partial[c];
    made.sumPartial[c] += state.partial[c];
  }
  made.whole = wholeAxes(state);
  return made;
}

void DegreeSpace::fillWrites(Columns &group, unsigned row, unsigned opNumber,
                             unsigned resultNumber) {
  const Operator &op = graph.operators[opNumber];
  const Result &result = op.results[resultNumber];
  const Value &value = graph.values[result.value];
  unsigned col = space.variableOfOperator(opNumber);
  Numbering<Key> numbers;
  Numbering<AxisCounts> wholeNumbers;
  std::vector<std::pair<Family, unsigned>> made; ///< and what is whole
  std::vector<AxisCounts> wholes;
  std::vector<unsigned> &mine = group.columnsOf.emplace_back();
  for (const State &state : domainOf[col]->states) {
    Family family = madeBy(op, result, state, value.shape);
    auto [number, isNew] = numbers(keyOf(family));
    mine.push_back(number);
    if (!isNew)
      continue;
    auto [whole, isNewWhole] = wholeNumbers(family.whole);
    if (isNewWhole)
      wholes.push_back(family.whole);
    made.push_back({std::move(family), whole});
  }
  group.numColumns = made.size();
  auto isMore = [](uint8_t a, uint8_t b) { return a > b; };
  llvm::SmallVector<IterationDim> dims = dimsOf(value);
  // What may be whole depends on what the operator leaves whole.
  bool mayBeWhole = options.replication || value.pinned;
  std::vector<bool> allowed(wholes.size(), true);
  for (const State &state : domainOf[row]->states) {
    Family layout = layoutOf(state, value.shape);
    Needs needs = needsOf(layout);
    if (!mayBeWhole)
      for (auto [number, whole] : llvm::enumerate(wholes))
        allowed[number] = isAllowed(dims, state, whole);
    for (const auto &[family, whole] : made)
      group.table.push_back(
          !allowed[whole] || anyPair(state.partial, family.sumPartial, isMore)
              ? Forbidden
              : costOf(value, elements(layout, needs, family)));
  }
}

/// What it costs, at least, that devices receive so many elements.
int64_t DegreeSpace::costOf(const Value &value, int64_t elements) const {
  int64_t bytes = value.elementBytes * elements;
  if (options.objective == Objective::Bytes || elements <= 0)
    return bytes;
  const Rates &rates = *options.rates;
  return asFewerPicoseconds(double(value.times) * rates.leastLatency() +
                            double(bytes) / double(numDevices) /
                                rates.bestBandwidth());
}

/// Elements of the largest box of a family, at least.
double DegreeSpace::largestPart(const Family &family) const {
  if (family.unknown)
    return 0;
  double product = 1;
  for (unsigned number : family.profiles) {
    const Profile &profile = profiles[number];
    int64_t largest = 0;
    if (profile.plain)
      largest = (profile.size + profile.numParts - 1) / profile.numParts;
    // Where axes of several sizes cut a dim, their order moves the parts.
    else if (classes.size() == 1)
      for (Interval part : profile.parts)
        largest = std::max(largest, part.size());
    product *= double(largest);
  }
  return product;
}

/// The time of the largest part, from below: of no dim is the largest part
/// smaller than all of it through the number of parts.
void DegreeSpace::fillWork(Columns &group, unsigned number) {
  const Operator &op = graph.operators[number];
  for (const State &state :
       domainOf[space.variableOfOperator(number)]->states) {
    double points = 1, bytes = 0;
    for (auto [dim, counts] : llvm::zip_equal(op.dims, state.dims)) {
      int64_t parts = degree(counts);
      points *= double((dim.size + parts - 1) / parts);
    }
    auto add = [&](unsigned which, llvm::ArrayRef<LinearExpr> index) {
      const Value &value = graph.values[which];
      bytes += value.bytesOnce() *
               largestPart(familyOf(index, op.dims, state, value.shape));
    };
    for (auto [i, operand] : llvm::enumerate(op.operands))
      if (!isReadBefore(op, i))
        add(operand.value, operand.index);
    for (const Result &result : op.results)
      add(result.value, result.index);
    group.table.push_back(
        asFewerPicoseconds(workSeconds(op, points, bytes, *options.rates)));
  }
}

//===----------------------------------------------------------------------===//
// Arrangements
//===----------------------------------------------------------------------===//

/// All cuts of these degrees whose axes are in mesh order.
std::vector<Cuts> DegreeSpace::arrangements(unsigned var, unsigned value,
                                            const Mesh &mesh) const {
  if (const std::optional<Cuts> &pinned = space.getKind(var).pinned)
    return {*pinned};
  State left = getState(var, value);
  AxisCounts whole = wholeAxes(left);
  Cuts cuts;
  cuts.dims.resize(left.dims.size());
  cuts.partialOperands = left.partialOperands;
  std::vector<Cuts> all;
  auto take = [&](unsigned axis, uint8_t &count, Axes *axes, auto &next) {
    if (!count)
      return;
    --count;
    if (axes)
      axes->push_back(axis);
    next(next, axis + 1);
    if (axes)
      axes->pop_back();
    ++count;
  };
  auto place = [&](auto &self, unsigned axis) -> void {
    if (axis == mesh.numAxes()) {
      all.push_back(cuts);
      return;
    }
    int c = classes.classOf[axis];
    if (c < 0)
      return self(self, axis + 1);
    for (unsigned dim = 0; dim < left.dims.size(); ++dim)
      take(axis, left.dims[dim][c], &cuts.dims[dim], self);
    take(axis, left.partial[c], &cuts.partial, self);
    take(axis, whole[c], nullptr, self);
  };
  place(place, 0);
  return all;
}

size_t DegreeSpace::numArrangements(unsigned var, unsigned value) const {
  const State &state = getState(var, value);
  AxisCounts whole = wholeAxes(state);
  auto factorial = [](unsigned n) {
    size_t product = 1;
    for (unsigned i = 2; i <= n; ++i)
      product *= i;
    return product;
  };
  size_t all = 1;
  for (unsigned c = 0; c < classes.size(); ++c) {
    size_t ways = factorial(classes.count[c]) / factorial(whole[c]) /
                  factorial(state.partial[c]);
    for (const AxisCounts &counts : state.dims)
      ways /= factorial(counts[c]);
    all *= ways;
  }
  return all;
}

DegreeSpace::RestKey DegreeSpace::keyOfRest(const State &left,
                                            const Cuts &cuts) {
  RestKey key{int64_t(left.partialOperands), int64_t(cuts.partial.size())};
  key.append(cuts.partial.begin(), cuts.partial.end());
  key.append(left.partial.begin(), left.partial.end());
  for (auto [axes, counts] : llvm::zip_equal(cuts.dims, left.dims)) {
    key.push_back(axes.size());
    key.append(axes.begin(), axes.end());
    key.append(counts.begin(), counts.end());
  }
  return key;
}

std::vector<Cuts> DegreeSpace::placements(const State &left, const Cuts &cuts,
                                          unsigned axis) const {
  std::vector<Cuts> all;
  unsigned c = classes.classOf[axis];
  unsigned wanted = left.partial[c];
  for (auto [dim, counts] : llvm::enumerate(left.dims)) {
    wanted += counts[c];
    if (!counts[c])
      continue;
    all.push_back(cuts);
    all.back().dims[dim].push_back(axis);
  }
  if (left.partial[c]) {
    all.push_back(cuts);
    all.back().partial.push_back(axis);
  }
  // Whole, if the axes after it are enough for what is to come.
  unsigned after =
      llvm::count(llvm::ArrayRef(classes.classOf).drop_front(axis + 1), int(c));
  if (wanted <= after)
    all.push_back(cuts);
  return all;
}

void DegreeSpace::take(State &left, const Cuts &before, const Cuts &after,
                       unsigned axis) const {
  unsigned c = classes.classOf[axis];
  for (unsigned dim = 0; dim < left.dims.size(); ++dim)
    left.dims[dim][c] -= after.dims[dim].size() - before.dims[dim].size();
  left.partial[c] -= after.partial.size() - before.partial.size();
}
