# SPDX-License-Identifier: Apache-2.0
"""udo-check on plugins: the guide's examples are sound; defects of kernels and callbacks are found, each by its code."""

import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from plugin_shop import GUIDE, Checks, config, package, plant, run  # noqa: E402

SOUND = {name: operands for name, operands in GUIDE.items() if name not in ("Asin", "Highest")}
# defect: (code, words)
DEFECTS = {
    "writes behind": ("kernel-out-of-bounds", "accesses memory behind output 0"),
    "writes input": ("kernel-writes-input", "writes into input 0"),
    "slices differ": ("plugin-slices-differ", "in 2 slices, one after the other than whole, in one slice"),
    "destructive lies": ("plugin-in-place-differs", "in the memory of its input than whole"),
    "tiles differ": ("plugin-tiles-differ", "cut into tiles than whole"),
    "rewrite remembers": ("plugin-not-pure", "is prepared in another way when other ops were prepared before (input ["),
    "legalized remembers": ("plugin-not-pure", "shape_legalized of op Faulty::Op gives another answer when it is called again"),
    "tile remembers": ("plugin-not-pure", "build_tile of op Faulty::Op gives another answer when it is called again"),
    "late remembers": ("plugin-not-pure", "late_rewrite of op Faulty::Op gives another answer when it is called again"),
    "predicate remembers": ("plugin-not-pure", "predicate of kernel Faulty::copy of op Faulty::Op gives another answer when it is called"),
    "cost remembers": ("plugin-not-pure", "cost_function of kernel Faulty::copy of op Faulty::Op gives another answer when it is called"),
    "predicate lies": ("plugin-not-pure", "predicate of kernel Faulty::copy of op Faulty::Op gives another answer when it is called again"),
    "precomputed differs": ("plugin-precomputed-differs", "with what it computed before than whole"),
    "unreachable": ("plugin-kernel-unreachable", "has kernel Faulty::second behind kernel Faulty::copy"),
    "never matches": ("plugin-signature-unmatched", "has kernel Faulty::copy, whose input 0 is QUInt8"),
    "wrong counts": ("plugin-signature-unmatched", "which takes 2 inputs, and the config describes 1"),
    "kernel crash": ("kernel-crash", "is ended by signal 11"),
    "kernel exit": ("kernel-exits", "status 3"),
    "kernel error": ("plugin-kernel-failed", "gives status 17"),
    "tile gap": ("plugin-tile", "tiles would leave a gap or overlap"),
    "tile outputs": ("plugin-tile-kernel", "tiles cannot be executed, and others are taken in their place: "),
    "rewrite NULL": ("plugin-rewrite-op", "returns NULL"),
    "cost NaN": ("plugin-cost", "gives nan, which is no cost"),
    "name twice": ("plugin-kernel-name", "has the function_name of another kernel"),
}


def check(folder, configs, name, *options, defect=""):
    plant(folder, defect)
    done = run("udo-check", *map(str, configs), "--op_packages", f"{package(name.lower())}:{name}InterfaceProvider:HTP", "--json",
               *options, cwd=folder)
    return done, json.loads(done.stdout) if done.stdout else None


def sound(checks, folder):
    done, report = check(folder, [config(folder, "Guide", SOUND)], "Guide")
    checks.equal("the guide's examples", (done.returncode, done.stderr), (0, ""))
    tried = {op["type"]: op for op in report["kernels"]}
    checks.equal("all ops are tried", set(tried), set(SOUND))
    checks.check("on several inputs", all(op["inputs_tried"] - op["inputs_refused"] >= 4 for op in tried.values()), tried)


# type of elements: (of the config, what findings call it)
TYPES = {"u8": ("FIXED_8", "ufxp8"), "s8": ("FIXED_8", "sfxp8"), "u16": ("FIXED_16", "ufxp16"), "s16": ("FIXED_16", "sfxp16"),
         "s32": ("INT_32", None), "f32": ("FLOAT_32", None), "f16": ("FLOAT_16", None)}


def types(checks, folder):
    """Kernels for quantized tensors, of 8 and 16 bits and both signs, and for all other types are executed: a wrong one of
    each is found, and no other."""
    file = folder / "any.json"
    operator = {"type": "Twice", "core_types": ["CPU"], "inputs": [{"name": "in"}], "outputs": [{"name": "out", "shape": "same_as in0"}]}
    file.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Types", "Operators": [operator]}}))
    done, report = check(folder, [file], "Types")
    checks.equal("types: sound", (done.returncode, done.stderr), (0, ""))
    tried = report["kernels"][0]
    # A tensor of rank 5 fits no Flat4.
    checks.equal("types: shapes and types", (tried["inputs_tried"], tried["inputs_refused"]), (6 + 3 * 6, 1))
    for name, (word, told) in TYPES.items():
        only = folder / f"{name}.json"
        for operand in operator["inputs"] + operator["outputs"]:
            operand["data_type"] = word
        only.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Types", "Operators": [operator]}}))
        done, _ = check(folder, [only], "Types", defect=f"first {name}")
        codes = {d["code"]: d["message"] for d in map(json.loads, done.stderr.splitlines())}
        checks.check(f"{name}: found", done.returncode == 1 and "plugin-tiles-differ" in codes, done.stderr)
        checks.check(f"{name}: with that type", told is None or f" of {told})" in codes.get("plugin-tiles-differ", ""), codes)


def blocks(checks, folder):
    """Kernels that take blocks alone are tried; a kernel that writes to a constant is found."""
    operator = {"type": "Blocked", "core_types": ["CPU"], "inputs": [{"name": "x"}, {"name": "y", "static": True}],
                "outputs": [{"name": "out", "shape": "same_as in0"}]}
    file = folder / "blocks.json"
    file.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Types", "Operators": [operator]}}))
    done, report = check(folder, [file], "Types")
    tried = report["kernels"][0]
    checks.equal("blocks: sound", (done.returncode, done.stderr), (0, ""))
    # Floats of six shapes are refused; of bytes, [1,5], [2,3,4] and [16,128] are not.
    checks.equal("blocks: are tried", (tried["inputs_tried"], tried["inputs_refused"]), (6 + 3, 6))
    done, _ = check(folder, [file], "Types", defect="writes constant")
    checks.check("blocks: writes constant", done.returncode == 1 and "kernel-writes-input" in done.stderr and "writes into %" in done.stderr,
                 done.stderr)


def defects(checks, folder):
    file = config(folder, "Faulty", {"Op": (1, 1, ())})
    done, _ = check(folder, [file], "Faulty")
    checks.check("without a defect", done.returncode == 0, done.stderr)
    for defect, (code, words) in DEFECTS.items():
        done, _ = check(folder, [file], "Faulty", defect=defect)
        found = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
        mine = [d["message"] for d in found if d["code"] == code]
        checks.check(f"{defect}: found", done.returncode == 1 and mine and words in mine[0], done.stderr)
    done, _ = check(folder, [file], "Faulty", "--timeout", "1", defect="kernel hang")
    checks.check("kernel hang: found", done.returncode == 1 and "kernel-hangs" in done.stderr, done.stderr)
    done = run("udo-check", str(file), "--op_packages", "nothing")
    checks.check("usage", done.returncode == 2 and "names no function that provides the package" in done.stderr, done.stderr)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for case in (sound, types, blocks, defects):
            case(checks, pathlib.Path(folder))
    checks.finish()


main()
