//===- FatBinary.cpp - Kernels for several chips in one image -------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FatBinary.h"

#include "mlir/Target/LLVM/NVVM/Utils.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <list>

using namespace mlir;
using namespace mlir::tofu;

namespace {

/// Files that go with this object.
class TemporaryFiles {
public:
  /// The path of a new, empty file.
  llvm::Expected<std::string> create(StringRef extension) {
    SmallString<128> path;
    if (std::error_code code =
            llvm::sys::fs::createTemporaryFile("tofu-kernels", extension, path))
      return llvm::createStringError("no temporary file: " + code.message());
    removers.emplace_back(path);
    return path.str().str();
  }

  llvm::Expected<std::string> write(StringRef extension, StringRef data) {
    llvm::Expected<std::string> path = create(extension);
    if (!path)
      return path;
    std::error_code code;
    llvm::raw_fd_ostream os(*path, code);
    os << data;
    os.close();
    if (!os.has_error())
      return path;
    code = os.error();
    os.clear_error();
    return llvm::createStringError(*path + ": " + code.message());
  }

private:
  std::list<llvm::FileRemover> removers;
};

} // namespace

static llvm::Expected<std::string> findTool() {
  SmallString<128> folder = NVVM::getCUDAToolkitPath();
  llvm::sys::path::append(folder, "bin");
  llvm::ErrorOr<std::string> tool =
      llvm::sys::findProgramByName("fatbinary", {folder.str()});
  if (!tool)
    tool = llvm::sys::findProgramByName("fatbinary");
  if (tool)
    return *tool;
  return llvm::createStringError(
      "kernels for several chips need fatbinary of the CUDA toolkit, which was "
      "not found: CUDA_HOME must name a toolkit");
}

static std::string readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// Runs the tool; an error has what it printed.
static llvm::Error runTool(StringRef tool, ArrayRef<StringRef> arguments,
                           StringRef log) {
  std::string message;
  std::optional<StringRef> redirects[] = {StringRef(), log, log};
  if (!llvm::sys::ExecuteAndWait(tool, arguments, /*Env=*/std::nullopt,
                                 redirects, /*SecondsToWait=*/0,
                                 /*MemoryLimit=*/0, &message))
    return llvm::Error::success();
  std::string printed = StringRef(readFile(log)).trim().str();
  return llvm::createStringError(tool + " can't join the kernels' images: " +
                                 (message.empty() ? printed : message));
}

llvm::Expected<std::string> tofu::makeFatBinary(ArrayRef<ChipImage> images) {
  llvm::Expected<std::string> tool = findTool();
  if (!tool)
    return tool;
  TemporaryFiles files;
  llvm::Expected<std::string> whole = files.create("fatbin");
  if (!whole)
    return whole;
  llvm::Expected<std::string> log = files.create("log");
  if (!log)
    return log;
  std::vector<std::string> options = {*tool, "--64", "--create=" + *whole};
  for (const ChipImage &image : images) {
    auto path = files.write(image.isPtx ? "ptx" : "cubin", image.data);
    if (!path)
      return path;
    std::string number = image.chip.drop_front(strlen("sm_")).str();
    options.push_back(
        "--image3=kind=" + std::string(image.isPtx ? "ptx" : "elf") +
        ",sm=" + number + ",file=" + *path);
  }
  SmallVector<StringRef> arguments(options.begin(), options.end());
  if (llvm::Error error = runTool(*tool, arguments, *log))
    return error;
  return readFile(*whole);
}
