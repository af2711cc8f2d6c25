#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints raw float32 numbers beside expected ones. The status is 0 when all differ by less than 1e-5 of the largest.
usage: near.py FOUND.raw EXPECTED.txt"""

import pathlib
import struct
import sys

NEAR = 1e-5


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    data = pathlib.Path(sys.argv[1]).read_bytes()
    found = struct.unpack(f"<{len(data) // 4}f", data)
    expected = [float(number) for number in pathlib.Path(sys.argv[2]).read_text().split()]
    if len(found) != len(expected):
        sys.exit(f"near.py: {sys.argv[1]} has {len(found)} numbers, {sys.argv[2]} {len(expected)}")
    for a, b in zip(found, expected):
        print(f"{a:12.6f} {b:12.6f}")
    if all(abs(a - b) < NEAR * max(map(abs, expected)) for a, b in zip(found, expected)):
        print("the same numbers")
    else:
        sys.exit(f"near.py: more than {NEAR} of the largest number apart")


main()
