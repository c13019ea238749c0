//===- CommandLine.cpp - Options of runners -------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/CommandLine.h"

#include "Text.h"

#include <cstdio>
#include <cstdlib>

using namespace mlir::tofu;

void CommandLine::addPositional(std::string name, std::string &value,
                                const bool *unless) {
  positionalName = std::move(name);
  positional = &value;
  optional = unless;
}

void CommandLine::addOption(std::string name, std::string valueName,
                            std::string help,
                            std::function<bool(const std::string &)> take) {
  options.push_back({std::move(name), std::move(valueName), std::move(help),
                     std::move(take)});
}

void CommandLine::add(std::string name, std::string help, bool &flag) {
  addOption(name, "", help,
            [&flag](const std::string &) { return flag = true; });
}

void CommandLine::add(std::string name, std::string valueName, std::string help,
                      std::string &value) {
  addOption(name, valueName, help, [&value](const std::string &text) {
    value = text;
    return true;
  });
}

/// Takes a number to where it goes, if it is one.
template <typename Parsed, typename Value>
static bool assign(std::optional<Parsed> parsed, Value &value) {
  if (parsed)
    value = *parsed;
  return parsed.has_value();
}

void CommandLine::add(std::string name, std::string valueName, std::string help,
                      int64_t &value) {
  addOption(name, valueName, help, [&value](const std::string &text) {
    return assign(parseInteger<int64_t>(text), value);
  });
}

void CommandLine::add(std::string name, std::string valueName, std::string help,
                      double &value) {
  addOption(name, valueName, help, [&value](const std::string &text) {
    return assign(parseFloat(text), value);
  });
}

void CommandLine::add(std::string name, std::string valueName, std::string help,
                      std::optional<int64_t> &value) {
  addOption(name, valueName, help, [&value](const std::string &text) {
    return assign(parseInteger<int64_t>(text), value);
  });
}

void CommandLine::add(std::string name, std::string valueName, std::string help,
                      std::optional<double> &value) {
  addOption(name, valueName, help, [&value](const std::string &text) {
    return assign(parseFloat(text), value);
  });
}

void CommandLine::add(std::string name, std::string valueName, std::string help,
                      std::vector<std::string> &values, bool splits) {
  addOption(name, valueName, help, [&values, splits](const std::string &text) {
    if (!splits) {
      values.push_back(text);
      return true;
    }
    for (std::string_view piece : split(text, ",", /*skipsEmpty=*/true))
      values.emplace_back(piece);
    return true;
  });
}

void CommandLine::printHelp() const {
  std::string usage = positional ? " <" + positionalName + ">" : std::string();
  std::printf("%s\nusage: %s%s [options]\n\n", overview.c_str(), tool.c_str(),
              usage.c_str());
  for (const Option &option : options) {
    std::string text = "--" + option.name;
    if (!option.valueName.empty())
      text += "=<" + option.valueName + ">";
    std::printf("  %-28s %s\n", text.c_str(), option.help.c_str());
  }
}

void CommandLine::fail(const std::string &message) const {
  std::fprintf(stderr, "%s: error: %s; try --help\n", tool.c_str(),
               message.c_str());
  std::exit(2);
}

void CommandLine::parseOption(int argc, char **argv, int &i) {
  std::string_view text = argv[i];
  text.remove_prefix(text[1] == '-' ? 2 : 1);
  size_t equals = text.find('=');
  std::string name(text.substr(0, equals));
  if (name == "help" || name == "h") {
    printHelp();
    std::exit(0);
  }
  if (name == "version") {
    std::printf("%s %s\n", tool.c_str(), TOFU_VERSION);
    std::exit(0);
  }
  for (const Option &option : options) {
    if (option.name != name)
      continue;
    bool isFlag = option.valueName.empty(), hasValue = equals != text.npos;
    if (isFlag && hasValue)
      fail("--" + name + " takes no value");
    if (!isFlag && !hasValue && i + 1 == argc)
      fail("--" + name + " needs a value");
    std::string value;
    if (hasValue)
      value = text.substr(equals + 1);
    else if (!isFlag)
      value = argv[++i];
    if (!option.take(value))
      fail("--" + name + ": '" + value + "' is no number");
    return;
  }
  fail("no option --" + name);
}

void CommandLine::parse(int argc, char **argv) {
  bool hasPositional = false;
  for (int i = 1; i < argc; ++i) {
    std::string_view text = argv[i];
    if (text.size() > 1 && text[0] == '-') {
      parseOption(argc, argv, i);
      continue;
    }
    if (!positional || hasPositional)
      fail(join("what is '", text, "'"));
    *positional = text;
    hasPositional = true;
  }
  if (positional && !hasPositional && (!optional || !*optional))
    fail("say which " + positionalName);
}
