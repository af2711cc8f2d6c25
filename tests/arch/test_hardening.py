# SPDX-License-Identifier: Apache-2.0
"""Commands and library of release builds: what the compiler and the linker can do against faults is on."""

import json
import platform
import re
import shutil
import subprocess
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import BUILD, COMMAND_FOLDERS, Checks, command  # noqa: E402

READELF = shutil.which("readelf")
# One of these is called by everything that copies bytes or prints.
FORTIFIED = {"__memcpy_chk", "__snprintf_chk", "__fprintf_chk"}


def read(path, *options):
    return subprocess.run([READELF, "-W", *options, path], capture_output=True, text=True, check=True).stdout


def is_release():
    options = {o["name"]: o["value"] for o in json.loads((BUILD / "meson-info" / "intro-buildoptions.json").read_text())}
    return options["buildtype"] in ("release", "minsize") and options["b_sanitize"] == "none"


def check_file(checks, name, path, is_program):
    segments = [line.split() for line in read(path, "-l").splitlines() if line.startswith("  ")]
    flags = {words[0]: "".join(words[6:-1]) for words in segments if len(words) > 7 and words[0].isupper()}
    loaded = ["".join(words[6:-1]) for words in segments if words[0] == "LOAD"]
    dynamic, symbols = read(path, "-d"), set(re.findall(r"\b(\w+)(?:@|$)", read(path, "--dyn-syms"), re.MULTILINE))
    checks.check(f"{name}: relocations become read-only", "GNU_RELRO" in flags, flags)
    checks.equal(f"{name}: stack", flags.get("GNU_STACK"), "RW")
    checks.check(f"{name}: nothing is both written and executed", loaded and not any("W" in f and "E" in f for f in loaded), loaded)
    checks.check(f"{name}: symbols are bound at once", re.search(r"BIND_NOW|Flags:.*\bNOW\b", dynamic), dynamic)
    checks.check(f"{name}: no relocations of code", "TEXTREL" not in dynamic, dynamic)
    checks.check(f"{name}: no paths for libraries", not re.search(r"R(UN)?PATH", dynamic), dynamic)
    checks.check(f"{name}: shared or position-independent", "Type:" in (head := read(path, "-h")) and "DYN" in head, head)
    if is_program:
        checks.check(f"{name}: position-independent", re.search(r"Flags:.*\bPIE\b", dynamic), dynamic)
    checks.check(f"{name}: stacks are guarded", "__stack_chk_fail" in symbols, symbols)
    checks.check(f"{name}: copies are checked", FORTIFIED & symbols, symbols)


def main():
    checks = Checks()
    if not READELF:
        checks.skip("hardening", "readelf is not there")
        checks.finish()
    if not is_release():
        checks.skip("hardening", "this is no release build, or one with sanitizers")
        checks.finish()
    for name in COMMAND_FOLDERS:
        check_file(checks, name, command(name), True)
    check_file(checks, "library", next(BUILD.glob("libopendlc.so.*.*.*[0-9]")), False)
    if platform.machine() == "x86_64":  # programs have it only where the system's own objects do, too
        notes = read(BUILD / "converters" / "driver" / "libodlc-driver.a.p" / "convert_model.c.o", "-n")
        checks.check("jumps are checked", re.search(r"IBT.*SHSTK", notes), notes)
    checks.finish()


main()
