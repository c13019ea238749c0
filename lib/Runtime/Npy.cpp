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

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstring>

using namespace mlir::tofu;

static constexpr llvm::StringLiteral kMagic = "\x93NUMPY";

namespace {

struct Header {
  std::string descr;
  bool isFortranOrder = false;
  llvm::SmallVector<int64_t> shape;
};

/// Reads the dictionary. Members return false on what isn't one.
class HeaderParser {
public:
  explicit HeaderParser(llvm::StringRef text) : rest(text) {}

  bool parse(Header &header);

private:
  bool consume(char c) {
    rest = rest.ltrim();
    return rest.consume_front(llvm::StringRef(&c, 1));
  }
  bool parseString(llvm::StringRef &value);
  bool parseBool(bool &value);
  bool parseShape(llvm::SmallVectorImpl<int64_t> &shape);
  bool parseEntry(Header &header);

  llvm::StringRef rest;
  unsigned numEntries = 0;
};

} // namespace

bool HeaderParser::parseString(llvm::StringRef &value) {
  rest = rest.ltrim();
  char quote = rest.empty() ? 0 : rest.front();
  if (quote != '\'' && quote != '"')
    return false;
  size_t end = rest.find(quote, 1);
  if (end == llvm::StringRef::npos)
    return false;
  value = rest.slice(1, end);
  rest = rest.drop_front(end + 1);
  return true;
}

bool HeaderParser::parseBool(bool &value) {
  rest = rest.ltrim();
  value = rest.consume_front("True");
  return value || rest.consume_front("False");
}

bool HeaderParser::parseShape(llvm::SmallVectorImpl<int64_t> &shape) {
  if (!consume('('))
    return false;
  while (!consume(')')) {
    rest = rest.ltrim();
    int64_t size;
    if (rest.consumeInteger(10, size) || size < 0)
      return false;
    shape.push_back(size);
    // Python 2 wrote long integers.
    rest.consume_front("L");
    if (!consume(',') && !rest.ltrim().starts_with(")"))
      return false;
  }
  return true;
}

bool HeaderParser::parseEntry(Header &header) {
  llvm::StringRef key, value;
  if (!parseString(key) || !consume(':'))
    return false;
  ++numEntries;
  if (key == "fortran_order")
    return parseBool(header.isFortranOrder);
  if (key == "shape")
    return parseShape(header.shape);
  if (key != "descr" || !parseString(value))
    return false;
  header.descr = value.str();
  return true;
}

bool HeaderParser::parse(Header &header) {
  if (!consume('{'))
    return false;
  while (!consume('}')) {
    if (!parseEntry(header))
      return false;
    if (!consume(',') && !rest.ltrim().starts_with("}"))
      return false;
  }
  return numEntries == 3 && !header.descr.empty() && rest.trim().empty();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Kinds of numbers, as NumPy's letters, that are read as `type`.
static llvm::StringRef getKinds(TofuElementType type) {
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

static bool isReadAs(llvm::StringRef descr, TofuElementType type) {
  int64_t bytes;
  return descr.size() >= 3 && llvm::StringRef("<>|=").contains(descr.front()) &&
         getKinds(type).contains(descr[1]) &&
         !descr.drop_front(2).getAsInteger(10, bytes) &&
         bytes == getElementBytes(type);
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
  llvm::ArrayRef<int64_t> shape = to.getShape();
  llvm::SmallVector<int64_t> index(shape.size()), strides(shape.size());
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
static std::optional<llvm::StringRef> takeHeader(llvm::StringRef &contents) {
  if (!contents.consume_front(kMagic) || contents.size() < 4)
    return std::nullopt;
  uint8_t version = contents[0];
  contents = contents.drop_front(2);
  size_t lengthBytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3 || contents.size() < lengthBytes)
    return std::nullopt;
  size_t length = version == 1
                      ? llvm::support::endian::read16le(contents.data())
                      : llvm::support::endian::read32le(contents.data());
  contents = contents.drop_front(lengthBytes);
  if (contents.size() < length)
    return std::nullopt;
  llvm::StringRef header = contents.take_front(length);
  contents = contents.drop_front(length);
  return header;
}

llvm::Expected<HostTensor> mlir::tofu::parseNpy(llvm::StringRef contents,
                                                const HostTensorType &type,
                                                llvm::StringRef name) {
  auto fail = [&](const llvm::Twine &reason) {
    return llvm::createStringError(name + ": " + reason);
  };
  std::optional<llvm::StringRef> text = takeHeader(contents);
  Header header;
  if (!text || !HeaderParser(*text).parse(header))
    return fail("not an .npy file, or cut off");
  if (!isReadAs(header.descr, type.type))
    return fail("has elements of type '" + header.descr + "', expected " +
                getName(type.type));
  HostTensorType found = {type.type, header.shape};
  if (!type.accepts(found))
    return fail("has " + found.str() + ", expected " + type.str());
  llvm::Expected<HostTensor> tensor =
      HostTensor::create(type.type, header.shape);
  if (!tensor)
    return fail(llvm::toString(tensor.takeError()));
  if (static_cast<uint64_t>(tensor->getNumBytes()) > contents.size())
    return fail("has " + llvm::Twine(contents.size()) +
                " bytes of elements, its shape needs " +
                llvm::Twine(tensor->getNumBytes()));

  if (header.isFortranOrder)
    copyFromFortranOrder(*tensor, contents.data());
  else
    std::memcpy(tensor->getData(), contents.data(), tensor->getNumBytes());
  constexpr bool isBig = llvm::endianness::native == llvm::endianness::big;
  if (header.descr.front() == (isBig ? '<' : '>'))
    reverseBytes(*tensor);
  if (type.type == TOFU_I1)
    for (int64_t i = 0; i < tensor->getNumElements(); ++i)
      tensor->setInteger(i, tensor->getData()[i] != 0);
  return tensor;
}

llvm::Expected<HostTensor> mlir::tofu::readNpy(llvm::StringRef path,
                                               const HostTensorType &type) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError(path + ": " + buffer.getError().message());
  return parseNpy((*buffer)->getBuffer(), type, path);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string getDescr(TofuElementType type) {
  int64_t bytes = getElementBytes(type);
  constexpr bool isBig = llvm::endianness::native == llvm::endianness::big;
  std::string order(1, bytes == 1 ? '|' : isBig ? '>' : '<');
  char kind = type == TOFU_BF16        ? 'u'
              : type == TOFU_I1        ? 'b'
              : getNumParts(type) == 2 ? 'c'
              : isFloat(type)          ? 'f'
                                       : 'i';
  return order + kind + std::to_string(bytes);
}

llvm::Error mlir::tofu::writeNpy(llvm::StringRef path,
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

  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  if (code)
    return llvm::createStringError(path + ": " + code.message());
  os << kMagic << '\x01' << '\0' << static_cast<char>(header.size() & 0xff)
     << static_cast<char>(header.size() >> 8) << header;
  os.write(tensor.getData(), tensor.getNumBytes());
  os.close();
  if (!os.has_error())
    return llvm::Error::success();
  code = os.error();
  os.clear_error();
  return llvm::createStringError(path + ": " + code.message());
}
