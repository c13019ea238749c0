//===- Proof.cpp - Proofs about boxes, by integer sets --------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A claim is first proved dim by dim, where that is enough, because there are
// few different questions along one dim. Only if that fails is it put as a
// whole, which decides it and gives the first element that speaks against it.
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Proof.h"

#include "mlir/Analysis/Presburger/PresburgerRelation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::presburger;
using namespace mlir::tofu::search;

using Point = llvm::SmallVector<int64_t, 4>;

//===----------------------------------------------------------------------===//
// Sets
//===----------------------------------------------------------------------===//

static void addBounds(IntegerRelation &set, unsigned variable,
                      Interval interval) {
  set.addBound(BoundType::LB, variable, interval.lo);
  set.addBound(BoundType::UB, variable, interval.hi - 1);
}

static PresburgerSet toSet(llvm::ArrayRef<Interval> box) {
  IntegerPolyhedron set(PresburgerSpace::getSetSpace(box.size()));
  for (auto [dim, interval] : llvm::enumerate(box))
    addBounds(set, dim, interval);
  return PresburgerSet(set);
}

static Box wholeBox(llvm::ArrayRef<int64_t> shape) {
  Box box;
  for (int64_t size : shape)
    box.push_back({0, size});
  return box;
}

/// The lexicographically first point of `set`, as its first `rank` variables.
static std::optional<Point> firstPoint(const IntegerRelation &set,
                                       unsigned rank) {
  auto least = set.findIntegerLexMin();
  if (!least.isBounded())
    return std::nullopt;
  Point point;
  for (unsigned i = 0; i < rank; ++i)
    point.push_back(int64_t((*least)[i]));
  return point;
}

static std::optional<Point> firstPoint(const PresburgerRelation &set) {
  std::optional<Point> first;
  for (const IntegerRelation &disjunct : set.getAllDisjuncts()) {
    auto point = firstPoint(disjunct, set.getSpace().getNumSetDimVars());
    if (point && (!first || *point < *first))
      first = point;
  }
  return first;
}

/// `set` without `box`, without the bounds that became idle: they would pile
/// up.
static PresburgerSet without(const PresburgerSet &set,
                             llvm::ArrayRef<Interval> box) {
  PresburgerSet rest = PresburgerSet::getEmpty(set.getSpace());
  // Its disjuncts are a part of it.
  PresburgerSet difference = set.subtract(toSet(box));
  for (const IntegerRelation &disjunct : difference.getAllDisjuncts()) {
    IntegerRelation tight = disjunct;
    tight.removeTrivialRedundancy();
    rest.unionInPlace(tight);
  }
  return rest;
}

/// The first point of `a` that isn't in `b`.
static std::optional<Point> firstBeyond(llvm::ArrayRef<Interval> a,
                                        llvm::ArrayRef<Interval> b) {
  return firstPoint(toSet(a).subtract(toSet(b)));
}

/// Adds `variable` = `expr`, whose dim i is variable `first` + i.
static void addIndex(IntegerRelation &set, unsigned variable,
                     const LinearExpr &expr, unsigned first) {
  llvm::SmallVector<int64_t> equality(set.getNumCols());
  equality[variable] = -1;
  for (auto [dim, coefficient] : expr.terms)
    equality[first + dim] += coefficient;
  equality.back() = expr.constant;
  set.addEquality(equality);
}

/// Points (element of the tensor, iteration) at which `part` reads by `index`.
static IntegerPolyhedron toReads(llvm::ArrayRef<Interval> part,
                                 llvm::ArrayRef<LinearExpr> index,
                                 llvm::ArrayRef<int64_t> shape) {
  unsigned rank = shape.size();
  IntegerPolyhedron set(PresburgerSpace::getSetSpace(rank + part.size()));
  for (auto [dim, interval] : llvm::enumerate(part))
    addBounds(set, rank + dim, interval);
  for (auto [dim, expr] : llvm::enumerate(index)) {
    addBounds(set, dim, {0, shape[dim]});
    if (!expr.whole)
      addIndex(set, dim, expr, rank);
  }
  return set;
}

/// The first element that `part` reads outside of `held`.
static std::optional<Point> firstUnheld(llvm::ArrayRef<Interval> part,
                                        llvm::ArrayRef<LinearExpr> index,
                                        llvm::ArrayRef<int64_t> shape,
                                        llvm::ArrayRef<Interval> held) {
  IntegerPolyhedron reads = toReads(part, index, shape);
  std::optional<Point> first;
  auto visit = [&](unsigned dim, BoundType type, int64_t bound) {
    IntegerPolyhedron beyond = reads;
    beyond.addBound(type, dim, bound);
    auto point = firstPoint(beyond, shape.size());
    if (point && (!first || *point < *first))
      first = point;
  };
  for (auto [dim, interval] : llvm::enumerate(held)) {
    visit(dim, BoundType::UB, interval.lo - 1);
    visit(dim, BoundType::LB, interval.hi);
  }
  return first;
}

/// The indices of one dim that `expr` takes over `part`, with its terms'
/// iteration dims as local variables.
static PresburgerRelation toImage(llvm::ArrayRef<Interval> part,
                                  const LinearExpr &expr, int64_t size) {
  if (expr.whole)
    return toSet(Interval{0, size});
  IntegerPolyhedron set(PresburgerSpace::getSetSpace(1, 0, part.size()));
  for (auto [dim, interval] : llvm::enumerate(part))
    addBounds(set, 1 + dim, interval);
  addBounds(set, 0, {0, size});
  addIndex(set, 0, expr, 1);
  return PresburgerRelation(set).computeReprWithOnlyDivLocals();
}

//===----------------------------------------------------------------------===//
// Questions along one dim
//===----------------------------------------------------------------------===//

namespace {
/// An index expression with the intervals of just its own dims.
struct DimAccess {
  LinearExpr expr;
  Box part;

  DimAccess(const LinearExpr &full, llvm::ArrayRef<Interval> iteration)
      : expr(full) {
    for (auto [i, term] : llvm::enumerate(expr.terms)) {
      part.push_back(iteration[term.dim]);
      term.dim = i;
    }
  }

  /// Appends what a fact about it depends on.
  void append(std::vector<int64_t> &fact) const {
    fact.push_back(expr.whole);
    fact.push_back(expr.constant);
    for (auto [term, interval] : llvm::zip_equal(expr.terms, part))
      fact.insert(fact.end(), {term.coefficient, interval.lo, interval.hi});
  }
};
} // namespace

template <typename Prove>
bool Prover::isProved(Fact fact, Prove prove) {
  if (facts.count(fact))
    return true;
  if (!prove())
    return false;
  facts.insert(std::move(fact));
  return true;
}

//===----------------------------------------------------------------------===//
// Covers
//===----------------------------------------------------------------------===//

static int64_t getStride(const Mesh &mesh, unsigned axis) {
  int64_t stride = 1;
  for (unsigned inner = axis + 1; inner < mesh.numAxes(); ++inner)
    stride *= mesh.sizes[inner];
  return stride;
}

/// The devices whose coordinates outside of `axes` are 0.
static llvm::SmallVector<int64_t> getFirsts(const Mesh &mesh,
                                            llvm::ArrayRef<unsigned> axes) {
  llvm::SmallVector<int64_t> devices{0};
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis) {
    if (!llvm::is_contained(axes, axis))
      continue;
    llvm::SmallVector<int64_t> more;
    for (int64_t device : devices)
      for (int64_t i = 0; i < mesh.sizes[axis]; ++i)
        more.push_back(device + i * getStride(mesh, axis));
    devices = std::move(more);
  }
  return devices;
}

static bool isSameSet(Interval a, Interval b) {
  return a == b || (!a.size() && !b.size());
}

/// The axes along which the boxes differ in `dim`.
static Axes getCuttingAxes(llvm::ArrayRef<Box> boxes, unsigned dim,
                           const Mesh &mesh) {
  Axes axes;
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis) {
    int64_t stride = getStride(mesh, axis);
    for (int64_t d = stride, e = boxes.size(); d < e; ++d)
      if (d / stride % mesh.sizes[axis] &&
          !isSameSet(boxes[d][dim], boxes[d - stride][dim])) {
        axes.push_back(axis);
        break;
      }
  }
  return axes;
}

/// Takes the boxes of `devices` out of the whole one by one: each must still be
/// there (if it is to be covered once), and in the end nothing may be left.
static Verdict takeOut(llvm::ArrayRef<Box> boxes,
                       llvm::ArrayRef<int64_t> devices,
                       llvm::ArrayRef<int64_t> shape, bool once) {
  PresburgerSet rest = toSet(wholeBox(shape));
  for (auto [i, device] : llvm::enumerate(devices)) {
    std::optional<Point> gone;
    if (once)
      gone = firstPoint(toSet(boxes[device]).subtract(rest));
    if (gone) {
      Box there;
      for (int64_t at : *gone)
        there.push_back({at, at + 1});
      for (int64_t before : devices.take_front(i))
        if (overlap(boxes[before], there))
          return Flaw{Flaw::Kind::Doubled, *gone, before, device};
      return Flaw{Flaw::Kind::Extra, *gone, device};
    }
    rest = without(rest, boxes[device]);
  }
  if (auto point = firstPoint(rest))
    return Flaw{Flaw::Kind::Missing, *point};
  return std::nullopt;
}

/// Proves a cover dim by dim, where each axis cuts at most one dim. Gives the
/// axes that cut any. False if it isn't proved.
bool Prover::coverByDims(llvm::ArrayRef<Box> boxes,
                         llvm::ArrayRef<int64_t> shape, const Mesh &mesh,
                         Axes &used, bool once) {
  for (auto [dim, size] : llvm::enumerate(shape)) {
    Axes axes = getCuttingAxes(boxes, dim, mesh);
    for (unsigned axis : axes)
      if (llvm::is_contained(used, axis))
        return false;
    used.append(axes.begin(), axes.end());
    Fact fact{int64_t(once ? Claim::CoverOnce : Claim::Cover), size};
    llvm::SmallVector<Box> parts;
    llvm::SmallVector<int64_t> numbers;
    for (int64_t device : getFirsts(mesh, axes)) {
      Interval interval = boxes[device][dim];
      fact.insert(fact.end(), {interval.lo, interval.hi});
      numbers.push_back(parts.size());
      parts.push_back({interval});
    }
    if (!isProved(std::move(fact), [&, size = size] {
          return !takeOut(parts, numbers, size, once);
        }))
      return false;
  }
  return true;
}

Verdict Prover::coverOnce(llvm::ArrayRef<Box> boxes,
                          llvm::ArrayRef<int64_t> shape, const Mesh &mesh,
                          llvm::ArrayRef<unsigned> axes) {
  llvm::SmallVector<int64_t> firsts = getFirsts(mesh, axes);
  Axes others;
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
    if (!llvm::is_contained(axes, axis))
      others.push_back(axis);
  for (int64_t offset : getFirsts(mesh, others))
    for (int64_t first : firsts) {
      const Box &mine = boxes[first + offset], &like = boxes[first];
      if (mine == like)
        continue;
      if (auto point = firstBeyond(like, mine))
        return Flaw{Flaw::Kind::Missing, *point, first + offset};
      if (auto point = firstBeyond(mine, like))
        return Flaw{Flaw::Kind::Extra, *point, first + offset};
    }
  Axes used;
  bool proved = coverByDims(boxes, shape, mesh, used, /*once=*/true);
  // An axis that cuts nothing repeats the work instead of sharing it.
  if (proved && llvm::all_of(axes, [&](unsigned axis) {
        return mesh.sizes[axis] == 1 || llvm::is_contained(used, axis);
      }))
    return std::nullopt;
  return takeOut(boxes, firsts, shape, /*once=*/true);
}

Verdict Prover::cover(llvm::ArrayRef<Box> boxes, llvm::ArrayRef<int64_t> shape,
                      const Mesh &mesh) {
  Axes used;
  if (coverByDims(boxes, shape, mesh, used, /*once=*/false))
    return std::nullopt;
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, boxes.size()));
  return takeOut(boxes, all, shape, /*once=*/false);
}

//===----------------------------------------------------------------------===//
// What is held, read and made
//===----------------------------------------------------------------------===//

Verdict Prover::within(llvm::ArrayRef<Box> inner, llvm::ArrayRef<Box> outer) {
  for (int64_t device = 0, e = inner.size(); device < e; ++device) {
    const Box &in = inner[device], &out = outer[device];
    bool proved = llvm::all_of(llvm::zip_equal(in, out), [&](auto pair) {
      auto [a, b] = pair;
      return isProved({int64_t(Claim::Within), a.lo, a.hi, b.lo, b.hi},
                      [&, a = a, b = b] { return !firstBeyond(a, b); });
    });
    if (proved)
      continue;
    if (auto point = firstBeyond(in, out))
      return Flaw{Flaw::Kind::Missing, *point, device};
  }
  return std::nullopt;
}

Verdict Prover::withinUnion(llvm::ArrayRef<Box> inner,
                            llvm::ArrayRef<Box> outer,
                            llvm::ArrayRef<int64_t> shape, const Mesh &mesh) {
  Axes used;
  if (coverByDims(outer, shape, mesh, used, /*once=*/false))
    return std::nullopt;
  llvm::SmallVector<Box> done;
  for (int64_t device = 0, e = inner.size(); device < e; ++device) {
    if (llvm::is_contained(done, inner[device]))
      continue;
    PresburgerSet rest = toSet(inner[device]);
    for (const Box &box : outer)
      if (overlap(box, inner[device]))
        rest = without(rest, box);
    if (auto point = firstPoint(rest))
      return Flaw{Flaw::Kind::Missing, *point, -1, device};
    done.push_back(inner[device]);
  }
  return std::nullopt;
}

Verdict Prover::readsWithin(llvm::ArrayRef<Box> parts,
                            llvm::ArrayRef<LinearExpr> index,
                            llvm::ArrayRef<int64_t> shape,
                            llvm::ArrayRef<Box> held) {
  for (int64_t device = 0, e = parts.size(); device < e; ++device) {
    if (!volume(parts[device]))
      continue;
    auto isDimHeld = [&](unsigned dim) {
      DimAccess access(index[dim], parts[device]);
      Interval box = held[device][dim];
      Fact fact{int64_t(Claim::Reads), shape[dim], box.lo, box.hi};
      access.append(fact);
      return isProved(std::move(fact), [&] {
        return !firstUnheld(access.part, access.expr, shape[dim], box);
      });
    };
    if (llvm::all_of(llvm::seq<unsigned>(0, shape.size()), isDimHeld))
      continue;
    // Along one dim an index may count that is out of bounds along another.
    if (auto point = firstUnheld(parts[device], index, shape, held[device]))
      return Flaw{Flaw::Kind::Missing, *point, device};
  }
  return std::nullopt;
}

/// True if a part does no work: it is empty along a dim that isn't reduced.
static bool isIdle(llvm::ArrayRef<IterationDim> dims,
                   llvm::ArrayRef<Interval> part) {
  return llvm::any_of(llvm::zip_equal(dims, part), [](auto pair) {
    auto &[dim, interval] = pair;
    return dim.kind != DimKind::Reduction && !interval.size();
  });
}

Verdict Prover::makes(llvm::ArrayRef<IterationDim> dims,
                      llvm::ArrayRef<Box> parts,
                      llvm::ArrayRef<LinearExpr> index,
                      llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Box> made) {
  for (int64_t device = 0, e = parts.size(); device < e; ++device) {
    Point corner;
    for (Interval interval : made[device])
      corner.push_back(interval.lo);
    if (isIdle(dims, parts[device])) {
      if (volume(made[device]))
        return Flaw{Flaw::Kind::Missing, corner, device};
      continue;
    }
    for (unsigned dim = 0; dim < shape.size(); ++dim) {
      DimAccess access(index[dim], parts[device]);
      Interval box = made[device][dim];
      std::optional<Point> missing, extra;
      Fact fact{int64_t(Claim::Makes), shape[dim], box.lo, box.hi};
      access.append(fact);
      if (isProved(std::move(fact), [&] {
            PresburgerRelation image =
                toImage(access.part, access.expr, shape[dim]);
            PresburgerSet claimed = toSet(box);
            missing = firstPoint(claimed.subtract(image));
            extra = firstPoint(image.subtract(claimed));
            return !missing && !extra;
          }))
        continue;
      corner[dim] = (missing ? *missing : *extra).front();
      return Flaw{missing ? Flaw::Kind::Missing : Flaw::Kind::Extra, corner,
                  device};
    }
  }
  return std::nullopt;
}
