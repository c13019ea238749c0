//===- CommandLine.h - Options of runners -----------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUNTIME_COMMANDLINE_H
#define TOFU_RUNTIME_COMMANDLINE_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mlir::tofu {

/// Options as --name=value, --name value, or with one dash; a flag as --name.
/// Where values go must stay until they are read.
class CommandLine {
public:
  CommandLine(std::string tool, std::string overview)
      : tool(std::move(tool)), overview(std::move(overview)) {}

  /// It must be given, unless the flag is set.
  void addPositional(std::string name, std::string &value,
                     const bool *unless = nullptr);
  void add(std::string name, std::string help, bool &flag);
  void add(std::string name, std::string valueName, std::string help,
           std::string &value);
  void add(std::string name, std::string valueName, std::string help,
           int64_t &value);
  void add(std::string name, std::string valueName, std::string help,
           double &value);
  void add(std::string name, std::string valueName, std::string help,
           std::optional<int64_t> &value);
  void add(std::string name, std::string valueName, std::string help,
           std::optional<double> &value);
  /// May be given several times; `splits` at commas as well.
  void add(std::string name, std::string valueName, std::string help,
           std::vector<std::string> &values, bool splits = false);

  /// Ends the process for --help and --version, and with exit code 2 where
  /// something is wrong.
  void parse(int argc, char **argv);

private:
  struct Option {
    std::string name, valueName, help;
    /// Takes a value; false if it is none.
    std::function<bool(const std::string &)> take;
  };

  void addOption(std::string name, std::string valueName, std::string help,
                 std::function<bool(const std::string &)> take);
  void printHelp() const;
  [[noreturn]] void fail(const std::string &message) const;
  /// Reads the option at `i`, and its value, which may be the next argument.
  void parseOption(int argc, char **argv, int &i);

  std::string tool, overview, positionalName;
  std::string *positional = nullptr;
  const bool *optional = nullptr;
  std::vector<Option> options;
};

} // namespace mlir::tofu

#endif // TOFU_RUNTIME_COMMANDLINE_H
