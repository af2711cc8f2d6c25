#!/usr/bin/python3
"""Seeds for fuzz_dlc from real containers, where they are to be had: tests/fuzz/make_seeds.py FOLDER

Large weights teach a fuzzer nothing and make it slow. So an entry over 64 KiB other than the model is left out; version
3 does not need its params, and containers without their weights are inputs like any other. testdata/ has one whole
small container of each version."""

import pathlib
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import mutations
from checks import SHARED

LARGE = 1 << 16


def main():
    folder = pathlib.Path(sys.argv[1])
    for path in sorted((SHARED / "corpus" / "dlc").glob("*.dlc")):
        data = path.read_bytes()
        with zipfile.ZipFile(folder / path.name, "w") as seed:
            for entry in mutations.entries_of(data):
                if entry.size <= LARGE or entry.name == "model":
                    seed.writestr(zipfile.ZipInfo(entry.name), data[entry.start:entry.start + entry.size])


main()
