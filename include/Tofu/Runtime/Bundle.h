//===- Bundle.h - A compiled program and what it takes ----------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A bundle is a folder with the files below. It runs where neither LLVM nor the
// program's source is.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUNTIME_BUNDLE_H
#define TOFU_RUNTIME_BUNDLE_H

#include "Tofu/Runtime/DeviceCall.h"

namespace mlir::tofu {

inline constexpr const char *kManifestFile = "manifest.json";
inline constexpr const char *kProgramFile = "program.so";
inline constexpr const char *kPlanFile = "plan.json"; ///< if it was planned

/// What a manifest says.
struct Manifest {
  Signature program;
  std::string file;    ///< the source, for reports
  std::string backend; ///< what it was lowered for
  TofuProgramForm form = TOFU_HOST_LOOPS;
  std::string cpu;                  ///< the least that the host's code needs
  std::string mesh;                 ///< "x=2,y=4", for people
  std::vector<std::string> layouts; ///< of arguments, then results; for people
  bool hasPlan = false;
};

/// The processor that bundles are compiled for.
extern const char *const kBundleCpu;

/// Whether this machine runs code for that processor.
bool supportsCpu(const std::string &cpu);

/// The manifest as JSON, and read from it. What is read is consistent.
std::string toJson(const Manifest &manifest);
OrFailure<Manifest> parseManifest(const std::string &text,
                                  const std::string &name);

/// FNV-1a.
uint64_t hashManifest(const std::string &text);

/// Reads the manifest of the bundle in `folder`; `text` becomes its text.
OrFailure<Manifest> readManifest(const std::string &folder, std::string &text);

/// Loads the bundle's program, whose manifest has that text, and gives it the
/// functions of the backend and of libraries.
OrFailure<ProgramEntry> loadProgram(const std::string &folder,
                                    const std::string &manifestText,
                                    const TofuBackend &backend,
                                    const std::vector<void *> &libraries);

} // namespace mlir::tofu

#endif // TOFU_RUNTIME_BUNDLE_H
