# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: edit.py BUNDLE COPY STATEMENT   Copies a bundle; its manifest is `m` in the Python statement."""
import json
import os
import shutil
import sys

bundle, copy, statement = sys.argv[1:]
shutil.rmtree(copy, ignore_errors=True)
shutil.copytree(bundle, copy)
path = os.path.join(copy, "manifest.json")
with open(path) as file:
    m = json.load(file)
exec(statement)
with open(path, "w") as file:
    json.dump(m, file)
