//===- Bundle.cpp - A compiled program and what it takes ------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/Bundle.h"

#include "Text.h"
#include "Tofu/Runtime/Program.h"

#include "nlohmann/json.hpp"

#include <dlfcn.h>

using namespace mlir::tofu;
using Json = nlohmann::ordered_json;

/// Changes whenever what the JSON says does.
static constexpr int64_t kFormat = 1;

/// More devices than that are a mistake.
static constexpr int64_t kMostDevices = 4096;

static constexpr const char *kForms[] = {"host-loops", "host-kernels",
                                         "device-kernels"};

#if defined(__x86_64__)
/// All machines with the GPUs that kernels are made for have it.
const char *const mlir::tofu::kBundleCpu = "x86-64-v3";
#else
const char *const mlir::tofu::kBundleCpu = "generic";
#endif

bool mlir::tofu::supportsCpu(const std::string &cpu) {
#if defined(__x86_64__)
  if (cpu == "x86-64-v3")
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
#endif
  return cpu == "generic";
}

uint64_t mlir::tofu::hashManifest(const std::string &text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : text)
    hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Null for a size that isn't known.
static Json toJson(const std::vector<int64_t> &shape) {
  Json json = Json::array();
  for (int64_t size : shape)
    json.push_back(size == HostTensorType::kDynamic ? Json() : Json(size));
  return json;
}

static Json toJson(const Port &port, const std::string &layout) {
  Json json = {{"type", getName(port.type.type)},
               {"shape", ::toJson(port.type.shape)}};
  if (!port.isTensor)
    json["scalar"] = true;
  else
    json["local_shape"] = ::toJson(port.localType.shape);
  if (!layout.empty())
    json["layout"] = layout;
  if (!port.geometry.empty())
    json["geometry"] = port.geometry;
  if (port.isDonated)
    json["donated"] = true;
  if (port.sizeOf)
    json["size_of"] = {port.sizeOf->first, port.sizeOf->second};
  return json;
}

static std::string toLine(const Json &json) {
  // What isn't UTF-8 in a name must not end the process.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A line for each member, and for each of several arguments or results.
static std::string toLines(const Json &object) {
  std::string text = "{";
  for (const auto &[name, value] : object.items()) {
    text += join(text.size() > 1 ? ",\n" : "\n", " ", toLine(name), ": ");
    if (!value.is_array() || value.empty()) {
      text += toLine(value);
      continue;
    }
    const char *before = "[\n  ";
    for (const Json &port : value) {
      text += before + toLine(port);
      before = ",\n  ";
    }
    text += "]";
  }
  return text + "\n}\n";
}

std::string mlir::tofu::toJson(const Manifest &manifest) {
  const Signature &program = manifest.program;
  Json arguments = Json::array(), results = Json::array();
  const std::string *layout = manifest.layouts.data();
  for (const Port &port : program.arguments)
    arguments.push_back(::toJson(port, *layout++));
  for (const Port &port : program.results)
    results.push_back(::toJson(port, *layout++));
  Json json = {{"tofu_bundle", kFormat},
               {"tofu_version", TOFU_VERSION},
               {"runtime_version", TOFU_TABLE_VERSION},
               {"program", manifest.file},
               {"function", program.function},
               {"backend", manifest.backend},
               {"form", kForms[manifest.form]},
               {"cpu", manifest.cpu},
               {"devices", program.numDevices},
               {"mesh", manifest.mesh}};
  if (manifest.hasPlan)
    json["plan"] = kPlanFile;
  json["keeps_state"] = program.hasState;
  json["arguments"] = arguments;
  json["results"] = results;
  return toLines(json);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Takes what it expects from JSON; remembers the first thing that is wrong.
class Reader {
public:
  /// The member, or null and a fault if there is none.
  const Json &get(const Json &object, const char *name) {
    static const Json kNull;
    if (object.is_object() && object.contains(name))
      return object[name];
    fault(join("no '", name, "'"));
    return kNull;
  }
  std::string getText(const Json &object, const char *name) {
    const Json &json = get(object, name);
    if (json.is_string())
      return json.get<std::string>();
    fault(join("'", name, "' is no text"));
    return "";
  }
  int64_t getInteger(const Json &object, const char *name, int64_t least,
                     int64_t most) {
    return toInteger(get(object, name), name, least, most);
  }
  int64_t toInteger(const Json &json, const char *name, int64_t least,
                    int64_t most) {
    // Larger ones become unsigned.
    if (json.is_number_integer() &&
        (!json.is_number_unsigned() || json.get<uint64_t>() <= INT64_MAX)) {
      int64_t value = json.get<int64_t>();
      if (value >= least && value <= most)
        return value;
    }
    fault(join("'", name, "' is no integer from ", least, " to ", most));
    return least;
  }
  /// A flag, false where it isn't given.
  bool getFlag(const Json &object, const char *name) {
    if (!object.is_object() || !object.contains(name))
      return false;
    if (!object[name].is_boolean())
      fault(join("'", name, "' is neither true nor false"));
    return object[name] == true;
  }
  const Json &getArray(const Json &object, const char *name) {
    static const Json kEmpty = Json::array();
    const Json &json = get(object, name);
    if (json.is_array())
      return json;
    fault(join("'", name, "' is no array"));
    return kEmpty;
  }
  std::vector<int64_t> getShape(const Json &object, const char *name) {
    std::vector<int64_t> shape;
    for (const Json &size : getArray(object, name))
      shape.push_back(size.is_null() ? HostTensorType::kDynamic
                                     : toInteger(size, name, 0, INT64_MAX));
    return shape;
  }

  void fault(const std::string &text) {
    if (first.empty())
      first = where + text;
  }

  std::string where; ///< "argument 0: "
  std::string first;
};

} // namespace

static Port readPort(Reader &reader, const Json &json, int64_t numDevices) {
  Port port;
  std::string type = reader.getText(json, "type");
  if (std::optional<TofuElementType> element = parseElementType(type))
    port.type.type = *element;
  else
    reader.fault("no type '" + type + "'");
  port.isTensor = !reader.getFlag(json, "scalar");
  port.type.shape = reader.getShape(json, "shape");
  port.localType = port.type;
  if (port.isTensor)
    port.localType.shape = reader.getShape(json, "local_shape");
  port.isDonated = reader.getFlag(json, "donated");
  if (port.localType.shape.size() != port.type.shape.size())
    reader.fault("'local_shape' has another rank than 'shape'");
  if (!port.isTensor && (!port.type.shape.empty() || port.isDonated))
    reader.fault("a scalar has a shape, or is donated");
  if (!json.is_object() || !json.contains("geometry"))
    return port;
  for (const Json &word : reader.getArray(json, "geometry"))
    port.geometry.push_back(
        reader.toInteger(word, "geometry", INT64_MIN, INT64_MAX));
  if (!host::Geometry::isValid(port.geometry, port.type.shape, numDevices))
    reader.fault("'geometry' is none of this shape on these devices");
  return port;
}

/// The argument and dim that an argument is the size of, if it is.
static void readSizeOf(Reader &reader, const Json &json, Signature &program,
                       Port &port) {
  if (!json.is_object() || !json.contains("size_of"))
    return;
  const Json &pair = reader.getArray(json, "size_of");
  if (pair.size() != 2)
    return reader.fault("'size_of' is no argument and dim");
  auto most = static_cast<int64_t>(program.arguments.size()) - 1;
  int64_t argument = reader.toInteger(pair[0], "size_of", 0, most);
  if (!reader.first.empty())
    return;
  const Port &other = program.arguments[argument];
  auto rank = static_cast<int64_t>(other.type.shape.size());
  int64_t dim = reader.toInteger(pair[1], "size_of", 0, rank - 1);
  if (other.sizeOf || port.isTensor)
    reader.fault("'size_of' is for scalars, and for sizes of inputs");
  port.sizeOf = {unsigned(argument), unsigned(dim)};
}

static void readPorts(Reader &reader, const Json &json, Signature &program) {
  for (const Json &argument : reader.getArray(json, "arguments")) {
    reader.where = join("argument ", program.arguments.size(), ": ");
    Port port = readPort(reader, argument, program.numDevices);
    readSizeOf(reader, argument, program, port);
    program.arguments.push_back(std::move(port));
  }
  reader.where = "";
  for (const Json &result : reader.getArray(json, "results")) {
    reader.where = join("result ", program.results.size(), ": ");
    program.results.push_back(readPort(reader, result, program.numDevices));
  }
  reader.where = "";
}

static TofuProgramForm readForm(Reader &reader, const Json &json) {
  std::string name = reader.getText(json, "form");
  for (size_t form = 0; form < std::size(kForms); ++form)
    if (kForms[form] == name)
      return static_cast<TofuProgramForm>(form);
  reader.fault("no form '" + name + "'");
  return TOFU_HOST_LOOPS;
}

/// What is wrong with the versions, if the JSON has them.
static void checkVersions(Reader &reader, const Json &json) {
  auto check = [&](const char *name, int64_t version) {
    int64_t has = reader.getInteger(json, name, 0, INT64_MAX);
    if (reader.first.empty() && has != version)
      reader.fault(
          join("'", name, "' is ", has, ", this runner needs ", version));
  };
  check("tofu_bundle", kFormat);
  check("runtime_version", TOFU_TABLE_VERSION);
}

OrFailure<Manifest> mlir::tofu::parseManifest(const std::string &text,
                                              const std::string &name) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return Failure{name + ": is no JSON"};
  Reader reader;
  Manifest manifest;
  Signature &program = manifest.program;
  checkVersions(reader, json);
  if (reader.first.empty()) {
    manifest.file = reader.getText(json, "program");
    manifest.backend = reader.getText(json, "backend");
    manifest.form = readForm(reader, json);
    manifest.cpu = reader.getText(json, "cpu");
    program.function = reader.getText(json, "function");
    program.numDevices = reader.getInteger(json, "devices", 1, kMostDevices);
    program.hasState = reader.getFlag(json, "keeps_state");
    readPorts(reader, json, program);
  }
  if (!reader.first.empty())
    return Failure{name + ": " + reader.first};
  return manifest;
}

OrFailure<Manifest> mlir::tofu::readManifest(const std::string &folder,
                                             std::string &text) {
  std::string path = folder + "/" + kManifestFile;
  OrFailure<std::string> contents = readFile(path);
  if (!contents)
    return contents.failure();
  text = std::move(*contents);
  return parseManifest(text, path);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static void *findSymbol(const std::string &name, const TofuBackend &backend,
                        const std::vector<void *> &libraries) {
  for (int64_t i = 0; i < backend.numSymbols; ++i)
    if (backend.symbols[i].name == name)
      return backend.symbols[i].address;
  for (void *library : libraries)
    if (void *address = ::dlsym(library, name.c_str()))
      return address;
  return nullptr;
}

static MaybeFailure resolve(const TofuProgram &program,
                            const TofuBackend &backend,
                            const std::vector<void *> &libraries) {
  for (int64_t i = 0; i < program.numImports; ++i) {
    const TofuImport &import = program.imports[i];
    *import.address = findSymbol(import.name, backend, libraries);
    if (*import.address)
      continue;
    std::string_view name = import.name;
    if (consumeFront(name, "_mlir_ciface_"))
      return Failure{join("function @", name,
                          " is nowhere: no library of --shared-libs defines ",
                          import.name)};
    return Failure{join("backend ", backend.name, " has no ", name)};
  }
  return std::nullopt;
}

OrFailure<ProgramEntry> mlir::tofu::loadProgram(
    const std::string &folder, const std::string &manifestText,
    const TofuBackend &backend, const std::vector<void *> &libraries) {
  std::string path = folder + "/" + kProgramFile;
  // A name without a slash would be looked for elsewhere; this one has one.
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Failure{join("can't load ", path, ": ", ::dlerror())};
  auto *program =
      static_cast<const TofuProgram *>(::dlsym(library, "tofuProgram"));
  if (!program)
    return Failure{path + " is no program of a bundle"};
  if (program->version != TOFU_PROGRAM_VERSION)
    return Failure{path + " is of another version of Tofu"};
  if (program->manifestHash != hashManifest(manifestText))
    return Failure{join(path, " belongs to another ", kManifestFile)};
  if (MaybeFailure failure = resolve(*program, backend, libraries))
    return *failure;
  return ProgramEntry(program->entry);
}
