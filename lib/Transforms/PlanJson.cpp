//===- PlanJson.cpp - Plans as files --------------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanJson.h"

#include "Tofu/Dialect/Signature.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::tofu;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string toText(Attribute attr) {
  std::string text;
  llvm::raw_string_ostream os(text);
  attr.print(os);
  return text;
}

static std::string toText(Location loc) {
  std::string text;
  llvm::raw_string_ostream os(text);
  loc.print(os);
  return text;
}

static json::Array toJson(ArrayRef<int64_t> numbers) {
  json::Array array;
  for (int64_t number : numbers)
    array.push_back(number);
  return array;
}

static json::Array layoutsOf(Operation *op) {
  json::Array array;
  if (auto layouts = op->getAttrOfType<ArrayAttr>(TofuDialect::kLayouts))
    for (Attribute layout : layouts)
      array.push_back(toText(layout));
  return array;
}

double mlir::tofu::toSeconds(int64_t picoseconds) {
  return double(picoseconds) * 1e-12;
}

static json::Object toJson(const PlannedOperator &planned,
                           const search::Bytes &bytes) {
  json::Object object{{"operator", getOperatorName(planned.op)},
                      {"location", toText(planned.op->getLoc())},
                      {"layouts", layoutsOf(planned.op)},
                      {"operand_bytes", toJson(bytes.operands)},
                      {"result_bytes", toJson(bytes.results)}};
  if (Attribute strategy = planned.op->getAttr(TofuDialect::kStrategy))
    object["strategy"] = toText(strategy);
  return object;
}

json::Array mlir::tofu::toJson(const search::Mesh &mesh) {
  json::Array axes;
  for (auto [name, size] : llvm::zip_equal(mesh.names, mesh.sizes))
    axes.push_back(json::Object{{"name", name}, {"size", size}});
  return axes;
}

/// Layouts of arguments or results; null for what is no tensor.
static json::Array boundaryLayouts(unsigned count,
                                   function_ref<Attribute(unsigned)> get) {
  json::Array layouts;
  for (unsigned i = 0; i < count; ++i) {
    Attribute layout = get(i);
    layouts.push_back(layout ? json::Value(toText(layout))
                             : json::Value(nullptr));
  }
  return layouts;
}

json::Object mlir::tofu::toJson(const PlanGraph &graph,
                                const search::Plan &plan,
                                const search::PeakMemory &peak, bool isTimed) {
  func::FuncOp function = graph.function;
  json::Array operators;
  for (auto [planned, bytes] :
       llvm::zip_equal(graph.operators, plan.operatorBytes))
    operators.push_back(::toJson(planned, bytes));
  for (auto [i, time] : llvm::enumerate(plan.operatorTimes))
    (*operators[i].getAsObject())["seconds"] = toSeconds(time);
  json::Array branches;
  for (Operation *op : graph.branches)
    branches.push_back(json::Object{
        {"operator", op->getName().getStringRef().str()},
        {"location", toText(op->getLoc())},
        {"layouts", toText(op->getAttr(TofuDialect::kLayouts))},
        {"arg_layouts", toText(op->getAttr(TofuDialect::kArgLayouts))}});
  json::Array globals;
  for (const PlannedGlobal &global : graph.globals) {
    ml_program::GlobalOp op = global.op;
    globals.push_back(json::Object{{"name", op.getSymName().str()},
                                   {"layout", toText(getGlobalLayout(op))}});
  }
  json::Object object{
      {"name", function.getName().str()},
      {"hash", graph.getHash()},
      {"total_bytes", plan.totalBytes},
      {"peak_bytes_per_device", peak.bytes},
      {"peak_operator",
       peak.op ? json::Value(int64_t(*peak.op)) : json::Value(nullptr)},
      {"arguments", boundaryLayouts(function.getNumArguments(),
                                    [&](unsigned i) {
                                      return function.getArgAttr(
                                          i, TofuDialect::kLayout);
                                    })},
      {"results", boundaryLayouts(function.getNumResults(),
                                  [&](unsigned i) {
                                    return function.getResultAttr(
                                        i, TofuDialect::kLayout);
                                  })},
      {"operators", std::move(operators)},
      {"branches", std::move(branches)},
      {"globals", std::move(globals)},
      {"carried_bytes", ::toJson(plan.carriedBytes)}};
  if (!isTimed)
    return object;
  object["total_seconds"] = toSeconds(plan.totalTime);
  object["compute_seconds"] = toSeconds(plan.workTime);
  json::Array carried;
  for (int64_t time : plan.carriedTimes)
    carried.push_back(toSeconds(time));
  object["carried_seconds"] = std::move(carried);
  return object;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

LogicalResult mlir::tofu::fromJson(search::Mesh &mesh, const json::Array &axes,
                                   function_ref<void(const Twine &)> complain) {
  for (const json::Value &value : axes) {
    const json::Object *axis = value.getAsObject();
    std::optional<llvm::StringRef> name =
        axis ? axis->getString("name") : std::nullopt;
    std::optional<int64_t> size =
        axis ? axis->getInteger("size") : std::nullopt;
    if (!name || !size || *size < 1) {
      complain("an axis needs a name and a size of at least 1");
      return failure();
    }
    mesh.names.push_back(name->str());
    mesh.sizes.push_back(*size);
  }
  return success();
}

/// How deep objects and arrays are nested in `text`.
static unsigned getDepth(StringRef text) {
  unsigned depth = 0, most = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"')
      inString = !inString;
    else if (inString)
      i += c == '\\';
    else if (c == '[' || c == '{')
      most = std::max(most, ++depth);
    else if (depth && (c == ']' || c == '}'))
      --depth;
  }
  return most;
}

llvm::Expected<json::Value> mlir::tofu::parseJson(StringRef text) {
  constexpr unsigned kMostDepth = 64;
  if (getDepth(text) > kMostDepth)
    return llvm::createStringError("nested too deeply");
  return json::parse(text);
}

/// Parses an attribute of kind `AttrTy`; a file is no place for a crash.
template <typename AttrTy>
static AttrTy parse(MLIRContext *context, std::optional<llvm::StringRef> text) {
  // Layouts and strategies have two brackets, and one per dim.
  constexpr int64_t kMostBrackets = 256;
  if (!text || llvm::count_if(*text, [](char c) {
                 return c == '[' || c == '{' || c == '<' || c == '(';
               }) > kMostBrackets)
    return {};
  // The parser's own diagnostics have no place to point at.
  ScopedDiagnosticHandler silence(context, [](Diagnostic &) {});
  return dyn_cast_or_null<AttrTy>(parseAttribute(*text, context));
}

namespace {
/// Everything a file says of one function, checked before any of it is set.
struct ParsedPlan {
  SmallVector<LayoutAttr> arguments, results;
  SmallVector<StrategyAttr> strategies;
  SmallVector<SmallVector<LayoutAttr>> layouts;
  SmallVector<std::pair<ArrayAttr, ArrayAttr>> branches;
  SmallVector<LayoutAttr> globals;
};

class PlanReader {
public:
  PlanReader(PlanGraph &graph, const json::Object &plan,
             function_ref<void(const Twine &)> complain)
      : graph(graph), plan(plan), complain(complain),
        context(graph.function.getContext()) {}

  LogicalResult read(ParsedPlan &parsed) {
    return success(
        succeeded(readBoundary("arguments", graph.function.getArgumentTypes(),
                               parsed.arguments)) &&
        succeeded(readBoundary("results", graph.function.getResultTypes(),
                               parsed.results)) &&
        succeeded(readOperators(parsed)) && succeeded(readBranches(parsed)) &&
        succeeded(readGlobals(parsed)));
  }

private:
  LogicalResult fail(const Twine &what) {
    complain(what);
    return failure();
  }

  LogicalResult readLayout(const json::Value &value, Type type,
                           const Twine &what, LayoutAttr &layout) {
    if (!isa<RankedTensorType>(type))
      return success();
    layout = parse<LayoutAttr>(context, value.getAsString());
    return layout ? success() : fail(what + " has no layout");
  }

  LogicalResult readBoundary(StringRef key, TypeRange types,
                             SmallVectorImpl<LayoutAttr> &layouts) {
    const json::Array *list = plan.getArray(key);
    if (!list || list->size() != types.size())
      return fail(key + ": " + Twine(list ? list->size() : 0) +
                  " layouts, the function has " + Twine(types.size()));
    for (auto [i, type] : llvm::enumerate(types))
      if (failed(readLayout((*list)[i], type, key + " " + Twine(i),
                            layouts.emplace_back())))
        return failure();
    return success();
  }

  LogicalResult readOperators(ParsedPlan &parsed) {
    const json::Array *list = plan.getArray("operators");
    if (!list || list->size() != graph.operators.size())
      return fail("operators: " + Twine(list ? list->size() : 0) +
                  ", the function has " + Twine(graph.operators.size()));
    for (auto [i, planned] : llvm::enumerate(graph.operators)) {
      const json::Object *object = (*list)[i].getAsObject();
      std::string what = ("operator " + Twine(i)).str();
      if (!object)
        return fail(what + " is no object");
      StrategyAttr &strategy = parsed.strategies.emplace_back();
      if (planned.semantics) {
        strategy = parse<StrategyAttr>(context, object->getString("strategy"));
        if (!strategy ||
            strategy.getDims().size() != planned.semantics.getDims().size())
          return fail(what + " has no strategy of its dims");
      }
      const json::Array *layouts = object->getArray("layouts");
      Operation *op = planned.op;
      if (!layouts || layouts->size() != op->getNumResults())
        return fail(what + ": other layouts than results");
      auto &parsedLayouts = parsed.layouts.emplace_back();
      for (auto [r, type] : llvm::enumerate(op->getResultTypes()))
        if (failed(readLayout((*layouts)[r], type, what,
                              parsedLayouts.emplace_back())))
          return failure();
    }
    return success();
  }

  LogicalResult readBranches(ParsedPlan &parsed) {
    const json::Array *list = plan.getArray("branches");
    if ((list ? list->size() : 0) != graph.branches.size())
      return fail("branches: " + Twine(list ? list->size() : 0) +
                  ", the function has " + Twine(graph.branches.size()));
    for (unsigned i = 0; i < graph.branches.size(); ++i) {
      const json::Object *object = (*list)[i].getAsObject();
      ArrayAttr layouts, argLayouts;
      if (object) {
        layouts = parse<ArrayAttr>(context, object->getString("layouts"));
        argLayouts =
            parse<ArrayAttr>(context, object->getString("arg_layouts"));
      }
      if (!layouts || !argLayouts)
        return fail("branch " + Twine(i) + " has no layouts");
      parsed.branches.push_back({layouts, argLayouts});
    }
    return success();
  }

  LogicalResult readGlobals(ParsedPlan &parsed) {
    const json::Array *list = plan.getArray("globals");
    if ((list ? list->size() : 0) != graph.globals.size())
      return fail("globals: " + Twine(list ? list->size() : 0) +
                  ", the function has " + Twine(graph.globals.size()));
    for (auto [i, global] : llvm::enumerate(graph.globals)) {
      const json::Object *object = (*list)[i].getAsObject();
      LayoutAttr layout;
      if (object &&
          object->getString("name") == llvm::StringRef(global.op.getSymName()))
        layout = parse<LayoutAttr>(context, object->getString("layout"));
      if (!layout)
        return fail("global @" + global.op.getSymName() + " has no layout");
      parsed.globals.push_back(layout);
    }
    return success();
  }

  PlanGraph &graph;
  const json::Object &plan;
  function_ref<void(const Twine &)> complain;
  MLIRContext *context;
};
} // namespace

static void setAttributes(PlanGraph &graph, const ParsedPlan &parsed) {
  func::FuncOp function = graph.function;
  auto asAttributes = [](ArrayRef<LayoutAttr> layouts) {
    return SmallVector<Attribute>(layouts.begin(), layouts.end());
  };
  setArgAttrs(function, TofuDialect::kLayout, asAttributes(parsed.arguments));
  setResultAttrs(function, TofuDialect::kLayout, asAttributes(parsed.results));
  for (auto [op, layouts] : llvm::zip_equal(graph.branches, parsed.branches)) {
    op->setAttr(TofuDialect::kLayouts, layouts.first);
    op->setAttr(TofuDialect::kArgLayouts, layouts.second);
  }
  for (auto [global, layout] : llvm::zip_equal(graph.globals, parsed.globals))
    global.op->setAttr(TofuDialect::kLayout, layout);
  for (auto [planned, strategy, layouts] :
       llvm::zip_equal(graph.operators, parsed.strategies, parsed.layouts)) {
    if (strategy)
      planned.op->setAttr(TofuDialect::kStrategy, strategy);
    SmallVector<Attribute> attrs;
    for (LayoutAttr layout : layouts)
      attrs.push_back(layout ? Attribute(layout)
                             : UnitAttr::get(function.getContext()));
    planned.op->setAttr(TofuDialect::kLayouts,
                        ArrayAttr::get(function.getContext(), attrs));
  }
}

LogicalResult mlir::tofu::fromJson(PlanGraph &graph, const json::Object &plan,
                                   function_ref<void(const Twine &)> complain) {
  std::optional<llvm::StringRef> hash = plan.getString("hash");
  if (!hash || *hash != graph.getHash()) {
    complain("the plan is of another program");
    return failure();
  }
  ParsedPlan parsed;
  if (failed(PlanReader(graph, plan, complain).read(parsed)))
    return failure();
  setAttributes(graph, parsed);
  return success();
}
