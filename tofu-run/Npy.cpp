//===- Npy.cpp - NumPy's file format --------------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// numpy.lib.format: a magic string, a version, the length of a header, the
// header, which is a Python dictionary with 'descr', 'fortran_order' and
// 'shape', then the elements.
//
//===----------------------------------------------------------------------===//

#include "Array.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace mlir;
using namespace mlir::tofu;

static constexpr llvm::StringLiteral kMagic("\x93NUMPY");

template <typename... Args>
static llvm::Error makeError(const char *format, Args &&...args) {
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      llvm::formatv(format, std::forward<Args>(args)...).str().c_str());
}

namespace {
struct Header {
  llvm::StringRef descr;
  bool fortran = false;
  llvm::SmallVector<int64_t> shape;
};
} // namespace

/// What comes after 'KEY': in the dictionary.
static llvm::StringRef findValue(llvm::StringRef dictionary,
                                 llvm::StringRef key) {
  size_t at = dictionary.find(("'" + key + "'").str());
  if (at == llvm::StringRef::npos)
    return {};
  llvm::StringRef rest = dictionary.drop_front(at + key.size() + 2).ltrim();
  return rest.consume_front(":") ? rest.ltrim() : llvm::StringRef();
}

static bool parseShape(llvm::StringRef text,
                       llvm::SmallVectorImpl<int64_t> &shape) {
  size_t end = text.find(')');
  if (!text.starts_with("(") || end == llvm::StringRef::npos)
    return false;
  llvm::SmallVector<llvm::StringRef> sizes;
  text.slice(1, end).split(sizes, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef size : sizes) {
    if (size.trim().empty())
      continue;
    int64_t number;
    if (size.trim().getAsInteger(10, number) || number < 0)
      return false;
    shape.push_back(number);
  }
  return true;
}

/// Splits a file into its header and its elements.
static llvm::Expected<Header> parseHeader(llvm::StringRef file,
                                          llvm::StringRef &elements) {
  if (!file.starts_with(kMagic) || file.size() < 10)
    return makeError("not a .npy file");
  unsigned version = static_cast<unsigned char>(file[6]);
  size_t lengthBytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3 || file.size() < 8 + lengthBytes)
    return makeError("unknown version of .npy: {0}", version);
  uint64_t length =
      version == 1 ? llvm::support::endian::read16le(file.data() + 8)
                   : llvm::support::endian::read32le(file.data() + 8);
  if (file.size() - 8 - lengthBytes < length)
    return makeError("the file ends within its header");
  llvm::StringRef dictionary = file.substr(8 + lengthBytes, length);
  elements = file.drop_front(8 + lengthBytes + length);
  Header header;
  llvm::StringRef descr = findValue(dictionary, "descr");
  llvm::StringRef order = findValue(dictionary, "fortran_order");
  if (!descr.consume_front("'") || descr.find('\'') == llvm::StringRef::npos ||
      !(order.starts_with("True") || order.starts_with("False")) ||
      !parseShape(findValue(dictionary, "shape"), header.shape))
    return makeError("malformed header of a .npy file");
  header.descr = descr.take_until([](char c) { return c == '\''; });
  header.fortran = order.starts_with("True");
  return header;
}

/// The descriptions that an element type may have in a file.
static bool matchesType(llvm::StringRef descr, TofuElementType type) {
  if (descr.starts_with(">"))
    return false;
  llvm::StringRef kind = descr.drop_front(
      descr.starts_with("<") || descr.starts_with("|") || descr.starts_with("=")
          ? 1
          : 0);
  std::string bytes = std::to_string(getElementBytes(type));
  switch (type) {
  case TOFU_F32:
  case TOFU_F64:
  case TOFU_F16:
    return kind == "f" + bytes;
  case TOFU_BF16:
    return kind == "u2" || kind == "V2";
  case TOFU_I1:
    return kind == "b1" || kind == "?";
  default:
    return kind == "i" + bytes || kind == "u" + bytes;
  }
}

static bool matchesShape(llvm::ArrayRef<int64_t> got,
                         llvm::ArrayRef<int64_t> want) {
  if (got.size() != want.size())
    return false;
  for (auto [a, b] : llvm::zip_equal(got, want))
    if (b >= 0 && a != b)
      return false;
  return true;
}

/// Turns first-index-fastest order into last-index-fastest.
static void transposeFromFortran(const char *from, Array &array) {
  int64_t bytes = getElementBytes(array.type);
  for (int64_t i = 0, e = array.size(); i < e; ++i) {
    int64_t rest = i, offset = 0;
    llvm::SmallVector<int64_t> index(array.shape.size());
    for (size_t dim = array.shape.size(); dim-- > 0;) {
      index[dim] = rest % array.shape[dim];
      rest /= array.shape[dim];
    }
    for (size_t dim = array.shape.size(); dim-- > 0;)
      offset = offset * array.shape[dim] + index[dim];
    std::memcpy(array.data.data() + i * bytes, from + offset * bytes, bytes);
  }
}

llvm::Expected<Array> mlir::tofu::readNpy(llvm::StringRef path,
                                          TofuElementType type,
                                          llvm::ArrayRef<int64_t> shape) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return makeError("{0}: {1}", path, file.getError().message());
  llvm::StringRef elements;
  llvm::Expected<Header> header = parseHeader((*file)->getBuffer(), elements);
  if (!header)
    return makeError("{0}: {1}", path, llvm::toString(header.takeError()));
  if (!matchesType(header->descr, type) || !matchesShape(header->shape, shape))
    return makeError("{0}: has {1} of type {2}, the program wants {3}", path,
                     llvm::formatv("[{0:$[, ]}]",
                                   llvm::make_range(header->shape.begin(),
                                                    header->shape.end()))
                         .str(),
                     header->descr, getTypeText(type, shape));
  // Sizes come from the file: their product must be that of its bytes.
  uint64_t expected = getElementBytes(type);
  for (int64_t n : header->shape) {
    if (n && expected > elements.size() / static_cast<uint64_t>(n))
      return makeError("{0}: the file ends within its elements", path);
    expected *= n;
  }
  if (expected > elements.size())
    return makeError("{0}: the file ends within its elements", path);
  Array array;
  array.type = type;
  array.shape = header->shape;
  array.data.resize(expected);
  if (header->fortran)
    transposeFromFortran(elements.data(), array);
  else
    std::memcpy(array.data.data(), elements.data(), expected);
  return array;
}

static std::string getDescr(TofuElementType type) {
  std::string bytes = std::to_string(getElementBytes(type));
  if (type == TOFU_I1)
    return "|b1";
  if (type == TOFU_BF16)
    return "<u2";
  if (isFloat(type))
    return "<f" + bytes;
  return (bytes == "1" ? "|i" : "<i") + bytes;
}

llvm::Error mlir::tofu::writeNpy(llvm::StringRef path, const Array &array) {
  std::string shape;
  for (int64_t n : array.shape)
    shape += std::to_string(n) + ",";
  std::string header =
      llvm::formatv("{{'descr': '{0}', 'fortran_order': False, 'shape': ({1}), }",
                    getDescr(array.type), shape)
          .str();
  // The elements begin at a multiple of 64 bytes.
  header.append(63 - (kMagic.size() + 4 + header.size()) % 64, ' ');
  header += '\n';
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error)
    return makeError("{0}: {1}", path, error.message());
  char prefix[4] = {1, 0};
  llvm::support::endian::write16le(prefix + 2, header.size());
  os << kMagic << llvm::StringRef(prefix, 4) << header
     << llvm::StringRef(array.data.data(), array.data.size());
  os.close();
  if (!os.has_error())
    return llvm::Error::success();
  std::string message = os.error().message();
  os.clear_error();
  return makeError("{0}: {1}", path, message);
}
