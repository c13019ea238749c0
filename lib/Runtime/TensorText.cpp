//===- TensorText.cpp - Tensors on the command line -----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/HostTensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <random>

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

static llvm::Expected<RandomSpec> parseRandomSpec(llvm::StringRef text) {
  RandomSpec spec;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ':');
  bool isGood = (parts.size() == 2 || parts.size() == 4) &&
                !parts[1].getAsInteger(10, spec.seed);
  if (isGood && parts.size() == 4) {
    spec.hasRange = true;
    isGood = llvm::to_float(parts[2], spec.lo) &&
             llvm::to_float(parts[3], spec.hi) && std::isfinite(spec.lo) &&
             std::isfinite(spec.hi) && spec.lo < spec.hi;
  }
  if (isGood)
    return spec;
  return llvm::createStringError(
      "'" + text +
      "': random input is random:SEED or random:SEED:LOW:HIGH "
      "with LOW below HIGH");
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
static std::optional<HostTensorType> parseTensorType(llvm::StringRef text) {
  HostTensorType type;
  while (!text.empty() && llvm::isDigit(text.front())) {
    int64_t size;
    if (text.consumeInteger(10, size) || !text.consume_front("x"))
      return std::nullopt;
    type.shape.push_back(size);
  }
  std::optional<TofuElementType> element = parseElementType(text);
  if (!element)
    return std::nullopt;
  type.type = *element;
  return type;
}

/// Sets one part of element `i`.
static bool setElement(HostTensor &tensor, int64_t i, int64_t part,
                       llvm::StringRef text) {
  TofuElementType type = tensor.getType();
  if (isFloat(type)) {
    double value;
    if (!llvm::to_float(text, value))
      return false;
    tensor.setFloat(i, value, part);
    return true;
  }
  if (type == TOFU_I1 && (text == "true" || text == "false")) {
    tensor.setInteger(i, text == "true");
    return true;
  }
  // Both signs of each width: 255 and -1 are the same i8.
  int64_t bits = type == TOFU_I1 ? 1 : 8 * getElementBytes(type);
  if (text.starts_with("-")) {
    int64_t value;
    if (text.getAsInteger(0, value) || !llvm::isIntN(bits, value))
      return false;
    tensor.setInteger(i, value);
    return true;
  }
  uint64_t value;
  if (text.getAsInteger(0, value) || !llvm::isUIntN(bits, value))
    return false;
  tensor.setInteger(i, static_cast<int64_t>(value));
  return true;
}

static llvm::Error fillFromList(HostTensor &tensor, llvm::StringRef list) {
  int64_t parts = getNumParts(tensor.getType());
  llvm::SmallVector<llvm::StringRef> numbers;
  llvm::SplitString(list, numbers, parts > 1 ? " \t\n\r,[]()" : " \t\n\r,[]");
  int64_t size = tensor.getNumElements() * parts;
  int64_t given = numbers.size();
  if (given != size && given != parts)
    return llvm::createStringError(llvm::Twine(given) +
                                   (parts > 1 ? " parts of elements are given, "
                                              : " elements are given, ") +
                                   tensor.getTensorType().str() + " has " +
                                   llvm::Twine(size));
  for (int64_t i = 0; i < size; ++i) {
    llvm::StringRef text = numbers[i % given];
    if (!setElement(tensor, i / parts, i % parts, text))
      return llvm::createStringError("'" + text + "' is no " +
                                     (parts > 1 ? "part of " : "") +
                                     getName(tensor.getType()));
  }
  return llvm::Error::success();
}

static llvm::Expected<HostTensor>
makeRandom(llvm::StringRef text, const HostTensorType &type, uint64_t stream) {
  llvm::Expected<RandomSpec> spec = parseRandomSpec(text);
  if (!spec)
    return spec.takeError();
  if (!type.isStatic())
    return llvm::createStringError("'" + text + "': a tensor of " + type.str() +
                                   " needs its sizes, as in 2x3xf32=" + text);
  llvm::Expected<HostTensor> tensor = HostTensor::create(type.type, type.shape);
  if (tensor)
    fillRandomly(*tensor, *spec, stream);
  return tensor;
}

llvm::Expected<HostTensor> mlir::tofu::parseTensor(llvm::StringRef text,
                                                   const HostTensorType &type,
                                                   uint64_t stream) {
  if (text.consume_front("@"))
    return readNpy(text, type);
  if (text.starts_with("random:"))
    return makeRandom(text, type, stream);
  auto [typeText, list] = text.split('=');
  std::optional<HostTensorType> given = parseTensorType(typeText);
  if (!given || typeText.size() == text.size())
    return llvm::createStringError(
        "'" + text +
        "' is no tensor: say @FILE.npy, random:SEED, or a type "
        "with elements such as 2x2xf32=1 2 3 4");
  if (!type.accepts(*given))
    return llvm::createStringError("'" + text + "' has type " + given->str() +
                                   ", expected " + type.str());
  if (list.starts_with("random:"))
    return makeRandom(list, *given, stream);
  llvm::Expected<HostTensor> tensor =
      HostTensor::create(given->type, given->shape);
  if (!tensor)
    return tensor;
  if (llvm::Error error = fillFromList(*tensor, list))
    return std::move(error);
  return tensor;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

std::string mlir::tofu::toText(const HostTensor &tensor, int64_t most) {
  std::string text = tensor.getTensorType().str() + "=";
  llvm::ArrayRef<int64_t> shape = tensor.getShape();
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
