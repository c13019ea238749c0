/*===- Program.h - A compiled program as a library ---------------*- C -*-===*\
|*                                                                            *|
|* Part of the Tofu project, under the Apache License v2.0 with LLVM          *|
|* Exceptions.                                                                *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* What the shared library of a bundle exports. It calls functions of         *|
|* Runtime.h, and those that the user provides, by addresses that whoever     *|
|* loads it fills in first, so several backends can be in one process.        *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef TOFU_RUNTIME_PROGRAM_H
#define TOFU_RUNTIME_PROGRAM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Changes whenever a struct of this file does. */
#define TOFU_PROGRAM_VERSION 1

/** A function that the program calls. */
typedef struct TofuImport {
  const char *name;
  void **address; /**< where its address must be before the program is called */
} TofuImport;

typedef struct TofuProgram {
  int64_t version;       /**< TOFU_PROGRAM_VERSION */
  uint64_t manifestHash; /**< FNV-1a of the manifest that it belongs to */
  /** The entry point of Runtime.h, given the addresses of its C arguments, and
   *  where a lone scalar result is to go. */
  void (*entry)(void **arguments);
  int64_t numImports;
  const TofuImport *imports;
} TofuProgram;

/** The one symbol that the library exports. */
extern const TofuProgram tofuProgram;

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* TOFU_RUNTIME_PROGRAM_H */
