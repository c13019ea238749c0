//===- Npy.cpp - NumPy's file format --------------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Format: "\x93NUMPY", two bytes of version, the length of the header (2 bytes
// in version 1, else 4; little endian), the header as a Python dictionary with
// the keys descr, fortran_order and shape, then the elements.
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/HostTensor.h"

#include "Text.h"

#include <algorithm>
#include <cstring>

using namespace mlir::tofu;

static constexpr std::string_view kMagic = "\x93NUMPY";
static constexpr bool kIsBigEndian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

namespace {

struct Header {
  std::string descr;
  bool isFortranOrder = false;
  std::vector<int64_t> shape;
};

/// Reads the dictionary. Members return false on what isn't one.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}

  bool parse(Header &header);

private:
  void skipSpace() {
    rest.remove_prefix(
        std::min(rest.find_first_not_of(" \t\n\v\f\r"), rest.size()));
  }
  bool isNext(char c) {
    skipSpace();
    return !rest.empty() && rest.front() == c;
  }
  bool consume(char c) {
    if (!isNext(c))
      return false;
    rest.remove_prefix(1);
    return true;
  }
  bool parseString(std::string_view &value);
  bool parseBool(bool &value);
  bool parseShape(std::vector<int64_t> &shape);
  bool parseEntry(Header &header);

  std::string_view rest;
  unsigned numEntries = 0;
};

} // namespace

bool HeaderParser::parseString(std::string_view &value) {
  skipSpace();
  char quote = rest.empty() ? 0 : rest.front();
  if (quote != '\'' && quote != '"')
    return false;
  size_t end = rest.find(quote, 1);
  if (end == std::string_view::npos)
    return false;
  value = rest.substr(1, end - 1);
  rest.remove_prefix(end + 1);
  return true;
}

bool HeaderParser::parseBool(bool &value) {
  skipSpace();
  value = consumeFront(rest, "True");
  return value || consumeFront(rest, "False");
}

bool HeaderParser::parseShape(std::vector<int64_t> &shape) {
  if (!consume('('))
    return false;
  while (!consume(')')) {
    skipSpace();
    int64_t size;
    if (!consumeInteger(rest, size) || size < 0)
      return false;
    shape.push_back(size);
    // Python 2 wrote long integers.
    consumeFront(rest, "L");
    if (!consume(',') && !isNext(')'))
      return false;
  }
  return true;
}

bool HeaderParser::parseEntry(Header &header) {
  std::string_view key, value;
  if (!parseString(key) || !consume(':'))
    return false;
  ++numEntries;
  if (key == "fortran_order")
    return parseBool(header.isFortranOrder);
  if (key == "shape")
    return parseShape(header.shape);
  if (key != "descr" || !parseString(value))
    return false;
  header.descr = value;
  return true;
}

bool HeaderParser::parse(Header &header) {
  if (!consume('{'))
    return false;
  while (!consume('}')) {
    if (!parseEntry(header))
      return false;
    if (!consume(',') && !isNext('}'))
      return false;
  }
  skipSpace();
  return numEntries == 3 && !header.descr.empty() && rest.empty();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Kinds of numbers, as NumPy's letters, that are read as `type`.
static std::string_view getKinds(TofuElementType type) {
  switch (type) {
  case TOFU_BF16:
    return "uV";
  case TOFU_I1:
    return "biu";
  case TOFU_COMPLEX_F32:
  case TOFU_COMPLEX_F64:
    return "c";
  default:
    return isFloat(type) ? "f" : "iu";
  }
}

static bool isReadAs(std::string_view descr, TofuElementType type) {
  auto contains = [](std::string_view text, char c) {
    return text.find(c) != std::string_view::npos;
  };
  return descr.size() >= 3 && contains("<>|=", descr[0]) &&
         contains(getKinds(type), descr[1]) &&
         parseInteger<int64_t>(descr.substr(2)) == getElementBytes(type);
}

/// Reverses the bytes of each number; complex elements have two.
static void reverseBytes(HostTensor &tensor) {
  int64_t parts = getNumParts(tensor.getType());
  int64_t bytes = getElementBytes(tensor.getType()) / parts;
  for (int64_t i = 0; i < tensor.getNumElements() * parts; ++i)
    std::reverse(tensor.getData() + i * bytes,
                 tensor.getData() + (i + 1) * bytes);
}

/// Copies elements that are stored with the first index fastest.
static void copyFromFortranOrder(HostTensor &to, const char *from) {
  int64_t bytes = getElementBytes(to.getType());
  const std::vector<int64_t> &shape = to.getShape();
  std::vector<int64_t> index(shape.size()), strides(shape.size());
  int64_t stride = 1;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    strides[dim] = stride;
    stride *= shape[dim];
  }
  int64_t offset = 0;
  for (int64_t i = 0; i < to.getNumElements(); ++i) {
    std::memcpy(to.getData() + i * bytes, from + offset * bytes, bytes);
    for (size_t dim = shape.size(); dim-- > 0;) {
      offset += strides[dim];
      if (++index[dim] < shape[dim])
        break;
      offset -= strides[dim] * shape[dim];
      index[dim] = 0;
    }
  }
}

/// The header's text, which is taken off `contents`.
static std::optional<std::string_view> takeHeader(std::string_view &contents) {
  if (!consumeFront(contents, kMagic) || contents.size() < 4)
    return std::nullopt;
  uint8_t version = contents[0];
  contents.remove_prefix(2);
  size_t lengthBytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3 || contents.size() < lengthBytes)
    return std::nullopt;
  size_t length = 0;
  for (size_t i = lengthBytes; i-- > 0;)
    length = length << 8 | static_cast<uint8_t>(contents[i]);
  contents.remove_prefix(lengthBytes);
  if (contents.size() < length)
    return std::nullopt;
  std::string_view header = contents.substr(0, length);
  contents.remove_prefix(length);
  return header;
}

OrFailure<HostTensor> mlir::tofu::parseNpy(std::string_view contents,
                                           const HostTensorType &type,
                                           std::string_view name) {
  auto fail = [&](const std::string &reason) {
    return Failure{join(name, ": ", reason)};
  };
  std::optional<std::string_view> text = takeHeader(contents);
  Header header;
  if (!text || !HeaderParser(*text).parse(header))
    return fail("not an .npy file, or cut off");
  if (!isReadAs(header.descr, type.type))
    return fail("has elements of type '" + header.descr + "', expected " +
                getName(type.type));
  HostTensorType found = {type.type, header.shape};
  if (!type.accepts(found))
    return fail("has " + found.str() + ", expected " + type.str());
  OrFailure<HostTensor> tensor = HostTensor::create(type.type, header.shape);
  if (!tensor)
    return fail(tensor.reason());
  if (static_cast<uint64_t>(tensor->getNumBytes()) > contents.size())
    return fail(join("has ", contents.size(),
                     " bytes of elements, its shape needs ",
                     tensor->getNumBytes()));

  if (header.isFortranOrder)
    copyFromFortranOrder(*tensor, contents.data());
  else
    std::memcpy(tensor->getData(), contents.data(), tensor->getNumBytes());
  if (header.descr.front() == (kIsBigEndian ? '<' : '>'))
    reverseBytes(*tensor);
  if (type.type == TOFU_I1)
    for (int64_t i = 0; i < tensor->getNumElements(); ++i)
      tensor->setInteger(i, tensor->getData()[i] != 0);
  return tensor;
}

OrFailure<HostTensor> mlir::tofu::readNpy(std::string_view path,
                                          const HostTensorType &type) {
  OrFailure<std::string> contents = readFile(std::string(path));
  if (!contents)
    return contents.failure();
  return parseNpy(*contents, type, path);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string getDescr(TofuElementType type) {
  int64_t bytes = getElementBytes(type);
  std::string order(1, bytes == 1 ? '|' : kIsBigEndian ? '>' : '<');
  char kind = type == TOFU_BF16        ? 'u'
              : type == TOFU_I1        ? 'b'
              : getNumParts(type) == 2 ? 'c'
              : isFloat(type)          ? 'f'
                                       : 'i';
  return order + kind + std::to_string(bytes);
}

MaybeFailure mlir::tofu::writeNpy(const std::string &path,
                                  const HostTensor &tensor) {
  std::string header = "{'descr': '" + getDescr(tensor.getType()) +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t size : tensor.getShape())
    header += std::to_string(size) + ", ";
  header += "), }";
  // Elements start at a multiple of 64 bytes, after a line break.
  size_t before = kMagic.size() + 4;
  header.append(63 - (before + header.size()) % 64, ' ');
  header += '\n';

  std::string contents(kMagic);
  contents += {'\x01', '\0', static_cast<char>(header.size() & 0xff),
               static_cast<char>(header.size() >> 8)};
  contents += header;
  if (tensor.getNumBytes())
    contents.append(tensor.getData(), tensor.getNumBytes());
  return writeFile(path, contents);
}
