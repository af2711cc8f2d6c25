# SPDX-License-Identifier: Apache-2.0
"""udo-check on plugins: the guide's examples are sound; defects of kernels and callbacks are found, each by its code."""

import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from plugin_shop import GUIDE, PACKAGES, Checks, compile_package, config, run  # noqa: E402

SOUND = {name: operands for name, operands in GUIDE.items() if name not in ("Asin", "Highest")}
# defect: (code, words)
DEFECTS = {
    "writes behind": ("kernel-out-of-bounds", "accesses memory behind output 0"),
    "writes input": ("kernel-writes-input", "writes into input 0"),
    "slices differ": ("plugin-slices-differ", "in 2 slices, one after the other than whole, in one slice"),
    "destructive lies": ("plugin-in-place-differs", "in the memory of its input than whole"),
    "tiles differ": ("plugin-tiles-differ", "cut into tiles than whole"),
    "predicate lies": ("plugin-not-pure", "predicate of kernel Faulty::copy of op Faulty::Op gives another answer when it is called again"),
    "precomputed differs": ("plugin-precomputed-differs", "with what it computed before than whole"),
    "unreachable": ("plugin-kernel-unreachable", "has kernel Faulty::second behind kernel Faulty::copy"),
    "never matches": ("plugin-signature-unmatched", "has kernel Faulty::copy, whose input 0 is QUInt8"),
    "wrong counts": ("plugin-signature-unmatched", "which takes 2 inputs, and the config describes 1"),
    "kernel crash": ("kernel-crash", "is ended by signal 11"),
    "kernel exit": ("kernel-exits", "status 3"),
    "kernel error": ("plugin-kernel-failed", "gives status 17"),
    "tile gap": ("plugin-tile", "tiles would leave a gap or overlap"),
    "rewrite NULL": ("plugin-rewrite-op", "returns NULL"),
    "cost NaN": ("plugin-cost", "gives nan, which is no cost"),
    "name twice": ("plugin-kernel-name", "has the function_name of another kernel"),
}


def check(configs, library, package, *options, defect=""):
    done = run("udo-check", *map(str, configs), "--op_packages", f"{library}:{package}InterfaceProvider:HTP", "--json", *options,
               env={**os.environ, "DEFECT": defect})
    return done, json.loads(done.stdout) if done.stdout else None


def sound(checks, folder):
    library = compile_package(PACKAGES / "guide.c", folder / "libguide.so")
    done, report = check([config(folder, "Guide", SOUND)], library, "Guide")
    checks.equal("the guide's examples", (done.returncode, done.stderr), (0, ""))
    tried = {op["type"]: op for op in report["kernels"]}
    checks.equal("all ops are tried", set(tried), set(SOUND))
    checks.check("on several inputs", all(op["inputs_tried"] - op["inputs_refused"] >= 4 for op in tried.values()), tried)


def defects(checks, folder):
    library = compile_package(PACKAGES / "faulty.c", folder / "libfaulty.so")
    file = config(folder, "Faulty", {"Op": (1, 1, ())})
    done, report = check([file], library, "Faulty")
    checks.check("without a defect", done.returncode == 0, done.stderr)
    for defect, (code, words) in DEFECTS.items():
        done, _ = check([file], library, "Faulty", defect=defect)
        found = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
        mine = [d["message"] for d in found if d["code"] == code]
        checks.check(f"{defect}: found", done.returncode == 1 and mine and words in mine[0], done.stderr)
    done, _ = check([file], library, "Faulty", "--timeout", "1", defect="kernel hang")
    checks.check("kernel hang: found", done.returncode == 1 and "kernel-hangs" in done.stderr, done.stderr)
    done = run("udo-check", str(file), "--op_packages", "nothing")
    checks.check("usage", done.returncode == 2 and "names no function that provides the package" in done.stderr, done.stderr)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for case in (sound, defects):
            case(checks, pathlib.Path(folder))
    checks.finish()


main()
