//===- LoadBackend.cpp - Backends as shared libraries ---------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/LoadBackend.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir::tofu;

llvm::Expected<const TofuBackend *>
mlir::tofu::loadBackend(llvm::StringRef name, llvm::StringRef directory) {
  auto fail = [&](const llvm::Twine &reason) {
    return llvm::createStringError("backend " + name + ": " + reason);
  };
  bool isName = !name.empty() && llvm::all_of(name, [](char c) {
    return llvm::isAlnum(c) || c == '_';
  });
  if (!isName)
    return fail("not the name of a backend");
  llvm::SmallString<128> path = directory;
  llvm::sys::path::append(path, "libtofu_runtime_" + name + ".so");
  if (!llvm::sys::fs::exists(path))
    return fail("not in this build, there is no " + path);

  std::string error;
  auto library =
      llvm::sys::DynamicLibrary::getPermanentLibrary(path.c_str(), &error);
  if (!library.isValid())
    return fail("can't be loaded: " + error);
  void *symbol = library.getAddressOfSymbol("tofuGetBackend");
  if (!symbol)
    return fail(path + " has no tofuGetBackend");
  const TofuBackend *backend =
      reinterpret_cast<const TofuBackend *(*)(void)>(symbol)();
  if (backend && backend->version == TOFU_BACKEND_VERSION)
    return backend;
  return fail(path + " is of another version of Tofu");
}
