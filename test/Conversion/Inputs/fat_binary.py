# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists the fat binaries in a file: the LLVM dialect as text, or machine code.

usage: fat_binary.py FILE [IMAGE]

For each part of the first image the kind and the chip, as its headers have
them; the image is written to IMAGE.
"""

import re
import struct
import sys

# 0xBA55ED50, version 1, headers of 16 bytes, and the size of what follows.
MAGIC = struct.pack("<IHH", 0xBA55ED50, 1, 16)
KINDS = {1: "ptx", 2: "elf"}


def read(path):
    """The bytes of a file; in the LLVM dialect, those that its strings stand for."""
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith(b"\x7fELF"):
        return data
    return re.sub(rb"\\([0-9A-F]{2}|\\)", lambda match: b"\\" if match[1] == b"\\" else bytes([int(match[1], 16)]), data)


def main():
    data = read(sys.argv[1])
    begin = data.find(MAGIC)
    if begin < 0:
        sys.exit("no fat binary")
    end = begin + 16 + struct.unpack_from("<Q", data, begin + 8)[0]
    if len(sys.argv) > 2:
        with open(sys.argv[2], "wb") as file:
            file.write(data[begin:end])
    part = begin + 16
    while part < end:
        kind, _, header, size = struct.unpack_from("<HHIQ", data, part)
        print(KINDS[kind], f"sm_{struct.unpack_from('<I', data, part + 28)[0]}")
        part += header + size


main()
