//===- RegionReduction.cpp - Reductions combined by their body ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegionReduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// Evaluating bodies that compare and select
//
// Such a body depends on the order of its arguments only, not on their values.
// Any three numbers are in the order of three of -1, 0 and 1, so what holds for
// these, NaN, both zeros and the initial value holds for all.
//===----------------------------------------------------------------------===//

namespace {

struct Scalar {
  bool isFloat = false;
  double real = 0;
  int64_t integer = 0;

  static Scalar of(double real) { return {true, real, 0}; }
  static Scalar of(int64_t integer) { return {false, 0, integer}; }

  /// Bit for bit, but for the payload of NaN.
  bool operator==(const Scalar &o) const {
    if (!isFloat)
      return integer == o.integer;
    if (std::isnan(real) || std::isnan(o.real))
      return std::isnan(real) && std::isnan(o.real);
    return real == o.real && std::signbit(real) == std::signbit(o.real);
  }
};

using Scalars = DenseMap<Value, Scalar>;
/// What a reduction has so far: one scalar per result.
using State = SmallVector<Scalar, 2>;

} // namespace

static bool compare(arith::CmpFPredicate predicate, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return false;
  case arith::CmpFPredicate::AlwaysTrue:
    return true;
  case arith::CmpFPredicate::OEQ:
    return a == b;
  case arith::CmpFPredicate::OGT:
    return a > b;
  case arith::CmpFPredicate::OGE:
    return a >= b;
  case arith::CmpFPredicate::OLT:
    return a < b;
  case arith::CmpFPredicate::OLE:
    return a <= b;
  case arith::CmpFPredicate::ONE:
    return !unordered && a != b;
  case arith::CmpFPredicate::ORD:
    return !unordered;
  case arith::CmpFPredicate::UEQ:
    return unordered || a == b;
  case arith::CmpFPredicate::UGT:
    return unordered || a > b;
  case arith::CmpFPredicate::UGE:
    return unordered || a >= b;
  case arith::CmpFPredicate::ULT:
    return unordered || a < b;
  case arith::CmpFPredicate::ULE:
    return unordered || a <= b;
  case arith::CmpFPredicate::UNE:
    return unordered || a != b;
  case arith::CmpFPredicate::UNO:
    return unordered;
  }
  return false;
}

/// Nothing for comparisons of unsigned numbers, which order the sample in
/// another way.
static std::optional<bool> compare(arith::CmpIPredicate predicate, int64_t a,
                                   int64_t b) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  default:
    return std::nullopt;
  }
}

/// The greater of two floats; with `least`, the lesser. +0 is above -0.
static double pick(double a, double b, bool least) {
  if (a == b)
    return std::signbit(a) == least ? a : b;
  return (a < b) == least ? a : b;
}

/// Where one is NaN it wins, or with `number` the other one.
static double pick(double a, double b, bool least, bool number) {
  if (!std::isnan(a) && !std::isnan(b))
    return pick(a, b, least);
  return std::isnan(a) == number ? b : a;
}

static std::optional<Scalar> evaluate(Operation *op, ArrayRef<Scalar> in) {
  auto real = [&](bool least, bool number) -> std::optional<Scalar> {
    return Scalar::of(pick(in[0].real, in[1].real, least, number));
  };
  auto whole = [](int64_t value) -> std::optional<Scalar> {
    return Scalar::of(value);
  };
  return llvm::TypeSwitch<Operation *, std::optional<Scalar>>(op)
      .Case<arith::CmpFOp>([&](arith::CmpFOp cmp) {
        return whole(compare(cmp.getPredicate(), in[0].real, in[1].real));
      })
      .Case<arith::CmpIOp>([&](arith::CmpIOp cmp) -> std::optional<Scalar> {
        auto holds = compare(cmp.getPredicate(), in[0].integer, in[1].integer);
        return holds ? whole(*holds) : std::nullopt;
      })
      .Case<arith::SelectOp>([&](auto) -> std::optional<Scalar> {
        return in[0].integer ? in[1] : in[2];
      })
      .Case<arith::MaximumFOp>([&](auto) { return real(false, false); })
      .Case<arith::MinimumFOp>([&](auto) { return real(true, false); })
      .Case<arith::MaxNumFOp>([&](auto) { return real(false, true); })
      .Case<arith::MinNumFOp>([&](auto) { return real(true, true); })
      .Case<arith::MaxSIOp>(
          [&](auto) { return whole(std::max(in[0].integer, in[1].integer)); })
      .Case<arith::MinSIOp>(
          [&](auto) { return whole(std::min(in[0].integer, in[1].integer)); })
      .Case<arith::AndIOp>(
          [&](auto) { return whole(in[0].integer & in[1].integer); })
      .Case<arith::OrIOp>(
          [&](auto) { return whole(in[0].integer | in[1].integer); })
      .Case<arith::XOrIOp>(
          [&](auto) { return whole(in[0].integer ^ in[1].integer); })
      .Default([](Operation *) { return std::nullopt; });
}

/// True for operations that `evaluate` knows, and that make nothing new of the
/// numbers that they get.
static bool comparesAndSelects(Operation *op) {
  // Of one bit, which signed comparisons take for -1, there are but two.
  bool isBit = op->getNumOperands() && op->getOperand(0).getType().isInteger(1);
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return isBit;
  if (isa<arith::CmpIOp, arith::MaxSIOp, arith::MinSIOp>(op) && isBit)
    return false;
  return isa<arith::CmpFOp, arith::CmpIOp, arith::SelectOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
             arith::MaxSIOp, arith::MinSIOp>(op);
}

static std::optional<Scalar> evaluate(Value value, Scalars &known) {
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  APInt flag;
  if (value.getType().isInteger(1) && matchPattern(value, m_ConstantInt(&flag)))
    return Scalar::of(int64_t(flag.getZExtValue()));
  Operation *def = value.getDefiningOp();
  if (!def || !comparesAndSelects(def))
    return std::nullopt;
  SmallVector<Scalar, 3> operands;
  for (Value operand : def->getOperands()) {
    std::optional<Scalar> scalar = evaluate(operand, known);
    if (!scalar)
      return std::nullopt;
    operands.push_back(*scalar);
  }
  std::optional<Scalar> result = evaluate(def, operands);
  if (result)
    known[value] = *result;
  return result;
}

//===----------------------------------------------------------------------===//
// What holds for all
//===----------------------------------------------------------------------===//

/// Numbers in every order that there is.
static SmallVector<Scalar> getSample(Type type) {
  if (isa<FloatType>(type))
    return {Scalar::of(-1.0), Scalar::of(-0.0), Scalar::of(0.0),
            Scalar::of(1.0), Scalar::of(std::nan(""))};
  if (type.isInteger(1))
    return {Scalar::of(int64_t(0)), Scalar::of(int64_t(1))};
  if (type.isIntOrIndex())
    return {Scalar::of(int64_t(-1)), Scalar::of(int64_t(0)),
            Scalar::of(int64_t(1))};
  return {};
}

/// The one number that `init` has everywhere; nothing if it isn't known.
static std::optional<Scalar> getInitial(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.getInputs()[0];
  APFloat real(0.0);
  if (matchPattern(init, m_ConstantFloat(&real))) {
    bool losesInfo;
    real.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
    return Scalar::of(real.convertToDouble());
  }
  APInt integer;
  if (matchPattern(init, m_ConstantInt(&integer)) &&
      integer.getSignificantBits() <= 64)
    return Scalar::of(integer.getBitWidth() == 1
                          ? int64_t(integer.getZExtValue())
                          : integer.getSExtValue());
  return std::nullopt;
}

namespace {

/// What a body makes of any two states of a sample, and what follows from that.
class Table {
public:
  /// Fails if the body does more than compare and select, or has too many
  /// results.
  LogicalResult fill(linalg::LinalgOp op, ArrayRef<Value> elements);

  /// True if a reduction may be put together from parts that begin anew.
  bool splits() const;
  /// True if elements may be taken in in any order.
  bool commutes() const;

private:
  LogicalResult addStates(linalg::LinalgOp op);
  std::optional<State> combine(linalg::LinalgOp op, ArrayRef<Value> elements,
                               const State &sofar, const State &element);
  unsigned at(unsigned sofar, unsigned element) const {
    return table[sofar * states.size() + element];
  }
  llvm::SmallBitVector getReachable(unsigned begin) const;

  SmallVector<State> states;
  SmallVector<unsigned> table;
  /// States that a reduction may begin with.
  SmallVector<unsigned> first;
};

} // namespace

LogicalResult Table::addStates(linalg::LinalgOp op) {
  constexpr size_t kMostStates = 128;
  SmallVector<std::optional<Scalar>> initial;
  states = {State()};
  for (OpOperand &init : op.getDpsInitsMutable()) {
    SmallVector<Scalar> sample =
        getSample(getElementTypeOrSelf(init.get().getType()));
    initial.push_back(getInitial(init.get()));
    if (initial.back() && !llvm::is_contained(sample, *initial.back()))
      sample.push_back(*initial.back());
    SmallVector<State> longer;
    for (const State &state : states)
      for (Scalar scalar : sample) {
        longer.push_back(state);
        longer.back().push_back(scalar);
      }
    states = std::move(longer);
    if (states.empty() || states.size() > kMostStates)
      return failure();
  }
  for (auto [i, state] : llvm::enumerate(states))
    if (llvm::all_of(llvm::zip_equal(state, initial), [](auto pair) {
          auto &[scalar, known] = pair;
          return !known || scalar == *known;
        }))
      first.push_back(i);
  return success();
}

std::optional<State> Table::combine(linalg::LinalgOp op,
                                    ArrayRef<Value> elements,
                                    const State &sofar, const State &element) {
  Operation *yield = op.getBlock()->getTerminator();
  State result;
  for (unsigned i = 0; i < elements.size(); ++i) {
    Scalars known;
    for (unsigned j = 0; j < elements.size(); ++j) {
      known[op.getRegionOutputArgs()[j]] = sofar[j];
      known[elements[j]] = element[j];
    }
    // Two results may take the same value in.
    known[elements[i]] = element[i];
    std::optional<Scalar> value = evaluate(yield->getOperand(i), known);
    if (!value)
      return std::nullopt;
    result.push_back(*value);
  }
  return result;
}

LogicalResult Table::fill(linalg::LinalgOp op, ArrayRef<Value> elements) {
  if (failed(addStates(op)))
    return failure();
  for (const State &sofar : states)
    for (const State &element : states) {
      std::optional<State> result = combine(op, elements, sofar, element);
      auto *it = result ? llvm::find(states, *result) : states.end();
      if (it == states.end())
        return failure();
      table.push_back(it - states.begin());
    }
  return success();
}

/// The states that a reduction which begins with `begin` may come to.
llvm::SmallBitVector Table::getReachable(unsigned begin) const {
  llvm::SmallBitVector reachable(states.size());
  SmallVector<unsigned> todo = {begin};
  while (!todo.empty()) {
    unsigned state = todo.pop_back_val();
    if (reachable.test(state))
      continue;
    reachable.set(state);
    for (unsigned element = 0; element < states.size(); ++element)
      todo.push_back(at(state, element));
  }
  return reachable;
}

/// A part that begins with b and takes in y last has come to p + y. If
/// a + (p + y) is (a + p) + y, and a + b is a where the part is empty, then
/// taking the part in is taking its elements in.
bool Table::splits() const {
  llvm::SmallBitVector all(states.size());
  for (unsigned begin : first) {
    llvm::SmallBitVector reachable = getReachable(begin);
    for (unsigned a : reachable.set_bits())
      if (at(a, begin) != a)
        return false;
    all |= reachable;
  }
  for (unsigned a : all.set_bits())
    for (unsigned p : all.set_bits())
      for (unsigned y = 0; y < states.size(); ++y)
        if (at(a, at(p, y)) != at(at(a, p), y))
          return false;
  return true;
}

bool Table::commutes() const {
  for (unsigned a = 0; a < states.size(); ++a)
    for (unsigned x = 0; x < states.size(); ++x)
      for (unsigned y = 0; y < x; ++y)
        if (at(at(a, x), y) != at(at(a, y), x))
          return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// The values in the body, of the type of each result, that don't depend on
/// what it has so far.
static SmallVector<SmallVector<Value>> getCandidates(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  DenseSet<Value> dependent(op.getRegionOutputArgs().begin(),
                            op.getRegionOutputArgs().end());
  SmallVector<Value> free(op.getRegionInputArgs());
  for (Operation &inner : body->without_terminator()) {
    bool depends = llvm::any_of(inner.getOperands(), [&](Value operand) {
      return dependent.contains(operand);
    });
    for (Value result : inner.getResults()) {
      if (depends)
        dependent.insert(result);
      else if (!matchPattern(result, m_Constant()))
        free.push_back(result);
    }
  }
  SmallVector<SmallVector<Value>> candidates;
  for (Value sofar : op.getRegionOutputArgs())
    candidates.push_back(llvm::filter_to_vector(
        free, [&](Value value) { return value.getType() == sofar.getType(); }));
  return candidates;
}

std::optional<RegionReduction>
mlir::tofu::matchRegionReduction(linalg::LinalgOp op, std::string &why) {
  constexpr unsigned kMostChoices = 64;
  why = "its body is no known combiner, and does more than compare and select";
  SmallVector<SmallVector<Value>> candidates = getCandidates(op);
  SmallVector<unsigned> choice(candidates.size());
  for (unsigned tries = 0; tries < kMostChoices; ++tries) {
    RegionReduction reduction;
    for (auto [values, chosen] : llvm::zip_equal(candidates, choice)) {
      if (values.empty())
        return std::nullopt;
      reduction.elements.push_back(values[chosen]);
    }
    Table table;
    if (succeeded(table.fill(op, reduction.elements))) {
      if (table.splits()) {
        reduction.commutes = table.commutes();
        return reduction;
      }
      why = "parts of it, with NaN and zeros of both signs, don't combine to "
            "what it computes";
    }
    // The next choice, as an odometer.
    unsigned i = 0;
    while (i < choice.size() && ++choice[i] == candidates[i].size())
      choice[i++] = 0;
    if (i == choice.size())
      break;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// Copies what `value` is made of, but for what `mapping` has.
static Value copy(OpBuilder &builder, Value value, IRMapping &mapping,
                  Block *body) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != body)
    return value;
  for (Value operand : def->getOperands())
    mapping.map(operand, copy(builder, operand, mapping, body));
  builder.clone(*def, mapping);
  return mapping.lookup(value);
}

/// Index of result `i` over the loops of a merge: the parts, then the loops of
/// `op` that index results, `loops`.
static SmallVector<AffineExpr> getMergeIndex(linalg::LinalgOp op, unsigned i,
                                             ArrayRef<AffineExpr> loops,
                                             bool addsUnitDim) {
  SmallVector<AffineExpr> index;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(i));
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    index.push_back(dim ? loops[dim.getPosition()] : expr);
  }
  if (addsUnitDim)
    index.push_back(getAffineDimExpr(1, op.getContext()));
  return index;
}

/// The body of a merge: takes each partial result as an element.
static void createMergeBody(OpBuilder &b, Location loc, linalg::LinalgOp op,
                            const RegionReduction &reduction, ValueRange args) {
  SmallVector<Value> yielded;
  unsigned n = reduction.elements.size();
  for (unsigned i = 0; i < n; ++i) {
    IRMapping mapping;
    for (unsigned j = 0; j < n; ++j) {
      mapping.map(op.getRegionOutputArgs()[j], args[n + j]);
      mapping.map(reduction.elements[j], args[j]);
    }
    mapping.map(reduction.elements[i], args[i]);
    yielded.push_back(copy(b, op.getBlock()->getTerminator()->getOperand(i),
                           mapping, op.getBlock()));
  }
  linalg::YieldOp::create(b, loc, yielded);
}

FailureOr<SmallVector<Value>> mlir::tofu::createLinalgMerge(OpBuilder &builder,
                                                            linalg::LinalgOp op,
                                                            ValueRange parts) {
  std::string why;
  std::optional<RegionReduction> reduction = matchRegionReduction(op, why);
  if (!reduction)
    return op->emitOpError() << "can't be put together from parts: " << why;
  MLIRContext *context = op.getContext();
  Location loc = op.getLoc();
  SmallVector<Value> inits(op.getDpsInits());
  auto rankOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getRank();
  };
  bool addsUnitDim = rankOf(parts[0]) == rankOf(inits[0]) + 2;
  SmallVector<AffineExpr> loops(op.getNumLoops());
  SmallVector<utils::IteratorType> iterators = {utils::IteratorType::reduction};
  for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::parallel) {
      loops[i] = getAffineDimExpr(iterators.size(), context);
      iterators.push_back(kind);
    }
  if (addsUnitDim) {
    iterators.push_back(utils::IteratorType::parallel);
    for (Value &init : inits)
      init = tensor::ExpandShapeOp::create(
          builder, loc, cast<RankedTensorType>(init.getType()).clone({1}), init,
          ArrayRef<ReassociationIndices>());
  }
  SmallVector<AffineMap> maps, outputs;
  for (unsigned i = 0; i < inits.size(); ++i) {
    SmallVector<AffineExpr> index = getMergeIndex(op, i, loops, addsUnitDim);
    outputs.push_back(AffineMap::get(iterators.size(), 0, index, context));
    index.insert(index.begin(), getAffineDimExpr(0, context));
    maps.push_back(AffineMap::get(iterators.size(), 0, index, context));
  }
  maps.append(outputs);
  auto merge = linalg::GenericOp::create(
      builder, loc, TypeRange(ValueRange(inits)), parts, inits, maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        createMergeBody(b, loc, op, *reduction, args);
      });
  SmallVector<Value> results(merge.getResults());
  if (addsUnitDim)
    for (Value &result : results)
      result = tensor::CollapseShapeOp::create(
          builder, loc, result, ArrayRef<ReassociationIndices>());
  return results;
}
