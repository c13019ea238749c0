//===- TensorText.cpp - Tensors on the command line -----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/HostTensor.h"

#include "Text.h"

#include <cmath>

using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

namespace {

/// Numbers that are the same on every machine (SplitMix64).
class Random {
public:
  Random(uint64_t seed, uint64_t stream)
      : state(seed * 0x9e3779b97f4a7c15 ^ stream * 0xd1342543de82ef95) {}

  uint64_t next() {
    uint64_t bits = state += 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
  }

  /// In [0, 1), with 53 bits.
  double nextUnit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
  uint64_t state;
};

/// What "random:seed" or "random:seed:lo:hi" says.
struct RandomSpec {
  uint64_t seed = 0;
  bool hasRange = false;
  double lo = 0, hi = 0;
};

} // namespace

static std::optional<RandomSpec>
parseRandomParts(const std::vector<std::string_view> &parts) {
  if (parts.size() != 2 && parts.size() != 4)
    return std::nullopt;
  std::optional<uint64_t> seed = parseInteger<uint64_t>(parts[1]);
  if (!seed)
    return std::nullopt;
  RandomSpec spec;
  spec.seed = *seed;
  if (parts.size() == 2)
    return spec;
  std::optional<double> lo = parseFloat(parts[2]), hi = parseFloat(parts[3]);
  if (!lo || !hi || !std::isfinite(*lo) || !std::isfinite(*hi) || *lo >= *hi)
    return std::nullopt;
  spec.hasRange = true;
  spec.lo = *lo;
  spec.hi = *hi;
  return spec;
}

static OrFailure<RandomSpec> parseRandomSpec(std::string_view text) {
  if (std::optional<RandomSpec> spec = parseRandomParts(split(text, ":")))
    return *spec;
  return Failure{join("'", text,
                      "': random input is random:SEED or "
                      "random:SEED:LOW:HIGH with LOW below HIGH")};
}

static void fillRandomly(HostTensor &tensor, const RandomSpec &spec,
                         uint64_t stream) {
  Random random(spec.seed, stream);
  if (isFloat(tensor.getType())) {
    double lo = spec.hasRange ? spec.lo : -1, hi = spec.hasRange ? spec.hi : 1;
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      for (int64_t part = 0; part < getNumParts(tensor.getType()); ++part)
        tensor.setFloat(i, lo + (hi - lo) * random.nextUnit(), part);
    return;
  }
  int64_t lo = spec.hasRange ? std::ceil(spec.lo) : 0;
  int64_t hi = spec.hasRange ? std::ceil(spec.hi) : 2;
  uint64_t count = std::max<int64_t>(hi - lo, 1);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setInteger(i, lo + static_cast<int64_t>(random.next() % count));
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

/// "2x3xf32"; sizes are known.
static std::optional<HostTensorType> parseTensorType(std::string_view text) {
  HostTensorType type;
  while (!text.empty() && isDigit(text.front())) {
    int64_t size;
    if (!consumeInteger(text, size) || !consumeFront(text, "x"))
      return std::nullopt;
    type.shape.push_back(size);
  }
  std::optional<TofuElementType> element = parseElementType(text);
  if (!element)
    return std::nullopt;
  type.type = *element;
  return type;
}

/// A number without a sign, as C writes it: 16, 0x10, 0b10000, 020.
static std::optional<uint64_t> parseUnsigned(std::string_view text) {
  int radix = 10;
  if (consumeFront(text, "0x") || consumeFront(text, "0X"))
    radix = 16;
  else if (consumeFront(text, "0b") || consumeFront(text, "0B"))
    radix = 2;
  else if (consumeFront(text, "0o") ||
           (text.size() > 1 && consumeFront(text, "0")))
    radix = 8;
  uint64_t value;
  const char *end = text.data() + text.size();
  auto [next, error] = std::from_chars(text.data(), end, value, radix);
  if (error != std::errc() || next != end)
    return std::nullopt;
  return value;
}

/// The integer that the text is, if it has that many bits. Both signs of each
/// width: 255 and -1 are the same i8.
static std::optional<int64_t> parseElement(std::string_view text,
                                           int64_t bits) {
  bool isNegative = consumeFront(text, "-");
  std::optional<uint64_t> value = parseUnsigned(text);
  uint64_t most =
      isNegative ? uint64_t(1) << (bits - 1) : ~uint64_t(0) >> (64 - bits);
  if (!value || *value > most)
    return std::nullopt;
  return static_cast<int64_t>(isNegative ? -*value : *value);
}

/// Sets one part of element `i`.
static bool setElement(HostTensor &tensor, int64_t i, int64_t part,
                       std::string_view text) {
  TofuElementType type = tensor.getType();
  if (isFloat(type)) {
    std::optional<double> value = parseFloat(text);
    if (value)
      tensor.setFloat(i, *value, part);
    return value.has_value();
  }
  if (type == TOFU_I1 && (text == "true" || text == "false")) {
    tensor.setInteger(i, text == "true");
    return true;
  }
  int64_t bits = type == TOFU_I1 ? 1 : 8 * getElementBytes(type);
  std::optional<int64_t> value = parseElement(text, bits);
  if (value)
    tensor.setInteger(i, *value);
  return value.has_value();
}

static MaybeFailure fillFromList(HostTensor &tensor, std::string_view list) {
  int64_t parts = getNumParts(tensor.getType());
  std::vector<std::string_view> numbers =
      split(list, parts > 1 ? " \t\n\r,[]()" : " \t\n\r,[]",
            /*skipsEmpty=*/true);
  int64_t size = tensor.getNumElements() * parts;
  int64_t given = numbers.size();
  if (given != size && given != parts)
    return Failure{join(given,
                        parts > 1 ? " parts of elements are given, "
                                  : " elements are given, ",
                        tensor.getTensorType().str(), " has ", size)};
  for (int64_t i = 0; i < size; ++i) {
    std::string_view text = numbers[i % given];
    if (!setElement(tensor, i / parts, i % parts, text))
      return Failure{join("'", text, "' is no ", parts > 1 ? "part of " : "",
                          getName(tensor.getType()))};
  }
  return std::nullopt;
}

static OrFailure<HostTensor>
makeRandom(std::string_view text, const HostTensorType &type, uint64_t stream) {
  OrFailure<RandomSpec> spec = parseRandomSpec(text);
  if (!spec)
    return spec.failure();
  if (!type.isStatic())
    return Failure{join("'", text, "': a tensor of ", type.str(),
                        " needs its sizes, as in 2x3xf32=", text)};
  OrFailure<HostTensor> tensor = HostTensor::create(type.type, type.shape);
  if (tensor)
    fillRandomly(*tensor, *spec, stream);
  return tensor;
}

OrFailure<HostTensor> mlir::tofu::parseTensor(std::string_view text,
                                              const HostTensorType &type,
                                              uint64_t stream) {
  if (consumeFront(text, "@"))
    return readNpy(text, type);
  if (startsWith(text, "random:"))
    return makeRandom(text, type, stream);
  std::string_view typeText = text.substr(0, text.find('=')), list = text;
  list.remove_prefix(std::min(typeText.size() + 1, text.size()));
  std::optional<HostTensorType> given = parseTensorType(typeText);
  if (!given || typeText.size() == text.size())
    return Failure{join("'", text,
                        "' is no tensor: say @FILE.npy, random:SEED, or a type "
                        "with elements such as 2x2xf32=1 2 3 4")};
  if (!type.accepts(*given))
    return Failure{join("'", text, "' has type ", given->str(), ", expected ",
                        type.str())};
  if (startsWith(list, "random:"))
    return makeRandom(list, *given, stream);
  OrFailure<HostTensor> tensor = HostTensor::create(given->type, given->shape);
  if (!tensor)
    return tensor;
  if (MaybeFailure failure = fillFromList(*tensor, list))
    return *failure;
  return tensor;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

std::string mlir::tofu::toText(const HostTensor &tensor, int64_t most) {
  std::string text = tensor.getTensorType().str() + "=";
  const std::vector<int64_t> &shape = tensor.getShape();
  int64_t row = shape.size() > 1 ? shape.back() : 0;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    if (row && i % row == 0)
      text += i ? "][" : "[";
    else if (i)
      text += " ";
    if (i == most)
      return text + "...";
    text += tensor.getText(i);
  }
  return row && tensor.getNumElements() ? text + "]" : text;
}
