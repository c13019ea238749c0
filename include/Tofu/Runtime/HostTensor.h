//===- HostTensor.h - Tensors in host memory --------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a runner reads, cuts for the devices, gathers and compares.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUNTIME_HOSTTENSOR_H
#define TOFU_RUNTIME_HOSTTENSOR_H

#include "Tofu/Runtime/Boxes.h"
#include "Tofu/Runtime/OrFailure.h"
#include "Tofu/Runtime/Runtime.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlir::tofu {

/// Bytes of an element in memory.
int64_t getElementBytes(TofuElementType type);

/// Whether elements are floats, or complex numbers of floats.
bool isFloat(TofuElementType type);

/// How many numbers make up an element: two in complex ones.
int64_t getNumParts(TofuElementType type);

/// "f32", "i1", "index", ...
const char *getName(TofuElementType type);

/// The type with that name, if there is one.
std::optional<TofuElementType> parseElementType(std::string_view name);

/// Type and shape, with `kDynamic` for a size that is not known.
struct HostTensorType {
  static constexpr int64_t kDynamic = -1;

  TofuElementType type = TOFU_F32;
  std::vector<int64_t> shape;

  /// "2x?xf32"; a scalar is "f32".
  std::string str() const;

  /// Whether a tensor of `other`, all of whose sizes are known, is of this
  /// type.
  bool accepts(const HostTensorType &other) const;

  bool isStatic() const;
};

/// A row-major tensor. Its elements are undefined until they are written.
class HostTensor {
public:
  HostTensor() = default;

  /// Fails if the shape is negative or takes more memory than there is.
  static OrFailure<HostTensor> create(TofuElementType type,
                                      std::vector<int64_t> shape);

  TofuElementType getType() const { return type.type; }
  const HostTensorType &getTensorType() const { return type; }
  const std::vector<int64_t> &getShape() const { return type.shape; }
  int64_t getNumElements() const { return numElements; }
  int64_t getNumBytes() const {
    return numElements * getElementBytes(type.type);
  }
  char *getData() { return data.get(); }
  const char *getData() const { return data.get(); }

  /// Element `i` in memory order, widened: floats to double, the others with
  /// their sign (i1: 0 or 1). Of a complex number, part 0 is the real one and
  /// part 1 the imaginary one.
  double getFloat(int64_t i, int64_t part = 0) const;
  int64_t getInteger(int64_t i) const;
  void setFloat(int64_t i, double value, int64_t part = 0);
  void setInteger(int64_t i, int64_t value);

  /// Element `i` as text that reads back as the same bits.
  std::string getText(int64_t i) const;

  /// A copy of the elements in `box`, which lies within the shape.
  OrFailure<HostTensor> slice(const host::Box &box) const;

  /// The same numbers, floats as f64.
  OrFailure<HostTensor> widen() const;

  /// Overwrites the elements in `box` with `part`, which has its sizes.
  void insert(const host::Box &box, const HostTensor &part);

  /// The indices of element `i`.
  std::vector<int64_t> getIndex(int64_t i) const;

private:
  HostTensorType type;
  int64_t numElements = 0;
  std::unique_ptr<char[]> data;
};

/// Element-wise |got - expected| <= absolute + relative * |expected|. Of
/// complex numbers this holds for both parts, where |expected| is the larger
/// one.
struct Tolerance {
  double relative = 0, absolute = 0;

  /// 1e-4 and 1e-5; for f16 and bf16 1e-2 and 1e-5; none for integers.
  static Tolerance getDefault(TofuElementType type);
};

/// How far rounding takes a result, as a run of the same program in f64 tells.
struct Rounding {
  const HostTensor *exact = nullptr; ///< what that run has
  double error = 0;                  ///< largest |rounded - exact|

  /// Of a result that was `rounded` while it was computed. None if it isn't of
  /// floats, or if so little is left of it that nothing can be told from
  /// rounding: an error of more than 10 times the relative tolerance of the
  /// largest |exact|.
  static std::optional<Rounding>
  find(const HostTensor &rounded, const HostTensor &exact, Tolerance tolerance);
};

/// How two tensors differ.
struct Difference {
  int64_t numDifferent = 0;
  /// The first element that differs too much, in memory order.
  int64_t first = 0;
  /// Largest |got - expected| of all elements; NaN and infinity against
  /// anything else count as infinite.
  double largest = 0;
};

/// Compares tensors of the same type. NaN equals NaN. With `rounding`, that of
/// what is expected, an element is good as well if it is within the tolerance
/// and twice the error from what is exact.
Difference compare(const HostTensor &got, const HostTensor &expected,
                   Tolerance tolerance, const Rounding *rounding = nullptr);

/// Reads an .npy file as a tensor of that type and shape; a dynamic size takes
/// what the file has. Any byte order; C and Fortran order; the file's element
/// type must be the one asked for, where signed and unsigned integers of the
/// same width are one, and bf16 is a 2-byte void or unsigned integer.
OrFailure<HostTensor> readNpy(std::string_view path,
                              const HostTensorType &type);

/// As `readNpy`, from the contents of a file; `name` is for messages.
OrFailure<HostTensor> parseNpy(std::string_view contents,
                               const HostTensorType &type,
                               std::string_view name);

/// Writes an .npy file; bf16 as unsigned integers of 2 bytes.
MaybeFailure writeNpy(const std::string &path, const HostTensor &tensor);

/// Makes a tensor of the given type (a dynamic size takes any) from text:
///   @file.npy                   a file
///   2x3xf32=1 2 3 4 5 6         elements, or one for all; brackets and commas
///                               are spaces, and so are parentheses around the
///                               two parts of complex numbers
///   2x3xf32=random:7            as below, for dims that the type doesn't know
///   random:7, random:7:-2:2     floats in [-1, 1), integers in {0, 1}; or from
///                               the range [-2, 2), with the seed 7
/// Random numbers depend on seed and `stream` only.
OrFailure<HostTensor> parseTensor(std::string_view text,
                                  const HostTensorType &type, uint64_t stream);

/// The tensor in the form that `parseTensor` reads, at most `most` elements of
/// it.
std::string toText(const HostTensor &tensor, int64_t most);

} // namespace mlir::tofu

#endif // TOFU_RUNTIME_HOSTTENSOR_H
