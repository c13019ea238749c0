//===- Array.h - Tensors in the host's memory -------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUN_ARRAY_H
#define TOFU_RUN_ARRAY_H

#include "Tofu/Runtime/Runtime.h"
#include "Tofu/Search/Geometry.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace mlir::tofu {

/// The runtime's name for an element type, if it has one.
std::optional<TofuElementType> getElementType(Type type);

/// Bytes of one element in memory.
int64_t getElementBytes(TofuElementType type);

/// f32, i64 and so on.
llvm::StringRef getElementName(TofuElementType type);

bool isFloat(TofuElementType type);

/// A whole tensor, row-major. A scalar has no dims.
struct Array {
  TofuElementType type = TOFU_F32;
  llvm::SmallVector<int64_t> shape;
  std::vector<char> data;

  Array() = default;
  Array(TofuElementType type, llvm::ArrayRef<int64_t> shape);

  int64_t size() const;
  /// Element `i` in row-major order, as a double or as an integer.
  double getFloat(int64_t i) const;
  int64_t getInteger(int64_t i) const;
  void setFloat(int64_t i, double value);
  void setInteger(int64_t i, int64_t value);
  /// For messages.
  std::string getText(int64_t i) const;
  /// The index of element `i`, such as [1, 2].
  std::string getIndexText(int64_t i) const;
};

/// The type as in messages: 2x3xf32.
std::string getTypeText(TofuElementType type, llvm::ArrayRef<int64_t> shape);

/// Copies a box out of, or into, a whole tensor; `part` is row-major.
void copyBoxOut(const Array &whole, llvm::ArrayRef<search::Interval> box,
                char *part);
void copyBoxIn(Array &whole, llvm::ArrayRef<search::Interval> box,
               const char *part);

/// Reads an array from a .npy file (format 1 to 3, little endian, C or Fortran
/// order). `type` says what the bytes are where the file can't: bf16 is stored
/// as two bytes. Fails on any other type or shape; a negative size in `shape`
/// takes what the file has.
llvm::Expected<Array> readNpy(llvm::StringRef path, TofuElementType type,
                              llvm::ArrayRef<int64_t> shape);

/// Writes an array as .npy, format 1.0.
llvm::Error writeNpy(llvm::StringRef path, const Array &array);

/// An input as the command line gives it: `@FILE.npy`, `2x3xf32=1 2 3 …` (one
/// number fills all), or `random:SEED[:LO:HI]`, for an argument of this type.
llvm::Expected<Array> makeInput(llvm::StringRef text, TofuElementType type,
                                llvm::ArrayRef<int64_t> shape);

struct Tolerance {
  double relative, absolute;

  /// 1e-4 and 1e-5; 1e-2 relative for two-byte floats.
  static Tolerance getDefault(TofuElementType type);
};

/// How two arrays of one type differ; empty text if they agree. NaN agrees with
/// NaN, integers exactly.
std::string compareArrays(const Array &got, const Array &want,
                          Tolerance tolerance);

} // namespace mlir::tofu

#endif // TOFU_RUN_ARRAY_H
