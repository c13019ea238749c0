//===- LoadBackend.cpp - Backends as shared libraries ---------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/LoadBackend.h"

#include "Text.h"

#include <algorithm>
#include <cctype>
#include <dlfcn.h>
#include <unistd.h>

using namespace mlir::tofu;

static bool isName(const std::string &name) {
  auto isGood = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), isGood);
}

OrFailure<const TofuBackend *>
mlir::tofu::loadBackend(const std::string &name, const std::string &directory) {
  auto fail = [&](const std::string &reason) {
    return Failure{"backend " + name + ": " + reason};
  };
  if (!isName(name))
    return fail("not the name of a backend");
  std::string path = directory + "/libtofu_runtime_" + name + ".so";
  if (::access(path.c_str(), F_OK))
    return fail("not in this build, there is no " + path);
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(join("can't be loaded: ", ::dlerror()));
  void *symbol = ::dlsym(library, "tofuGetBackend");
  if (!symbol)
    return fail(path + " has no tofuGetBackend");
  const TofuBackend *backend =
      reinterpret_cast<const TofuBackend *(*)(void)>(symbol)();
  if (backend && backend->version == TOFU_BACKEND_VERSION)
    return backend;
  return fail(path + " is of another version of Tofu");
}
