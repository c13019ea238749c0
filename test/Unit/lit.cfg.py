# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os

import lit.formats

config.name = "Tofu-Unit"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.suffixes = []
config.test_source_root = config.test_exec_root = os.path.join(config.tofu_binary_dir, "test", "Unit")
config.environment["ASAN_OPTIONS"] = "allow_user_poisoning=0:detect_leaks=0:allocator_may_return_null=1"
