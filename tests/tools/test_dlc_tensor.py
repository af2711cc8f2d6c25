# SPDX-License-Identifier: Apache-2.0
"""dlc-info --tensor and --dump on tensors of every type, against numpy."""

import json
import pathlib
import re
import struct
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import dlc_writer as w  # noqa: E402
import schema  # noqa: E402
from checks import SHARED, Checks, run  # noqa: E402

CONTAINERS = SHARED / "corpus" / "dlc"
SPECIAL = np.array([[1.5, np.nan, -np.inf, 0.0], [-0.0, np.inf, 3.25, -7.0], [np.nan, 1e-40, 2.0, 0.1]], "<f4")

# name → type in the container, array as it is stored
PLAIN = {
    "f32": (w.FLOAT_32, SPECIAL),
    "f16": (w.FLOAT_16, np.array([[0.1, -65504, 6e-8], [1, 2, np.inf]], "<f2")),
    "i8": (w.INT_8, np.array([-128, 127, 0, 5, -1], "i1")),
    "i16": (w.INT_16, np.array([[-32768], [32767]], "<i2")),
    "i32": (w.INT_32, np.array([[[-(2**31), 2**31 - 1]]], "<i4")),
    "i64": (w.INT_64, np.array([-(2**40), 2**50], "<i8")),
    "u8": (w.UINT_8, np.arange(24, dtype="u1").reshape(2, 3, 4)),
    "u16": (w.UINT_16, np.array([0, 65535], "<u2")),
    "u32": (w.UINT_32, np.array([0, 2**32 - 1], "<u4")),
    "u64": (w.UINT_64, np.array([3, 2**52], "<u8")),
    "bool": (w.BOOL_8, np.array([True, False, True])),
    "empty": (w.FLOAT_32, np.zeros((0, 3), "<f4")),
    "large": (w.FLOAT_32, np.linspace(-3, 11, 10007, dtype="<f4")),
}
# name → type, stored array, encodings, axis
FIXED = {
    "q8": (w.UFXP_8, np.arange(0, 240, 20, dtype="u1").reshape(3, 4), [(8, -12.8, 12.7, 0.1, -128)], None),
    "s8": (w.SFXP_8, np.array([-128, -1, 0, 127], "i1"), [(8, -1.0, 1.0, 0.0078125, 0)], None),
    "q4": (w.UFXP_4, np.array([0, 3, 15], "u1"), [(4, 0.0, 7.5, 0.5, 0)], None),
    "q16": (w.UFXP_16, np.array([[0, 65535]], "<u2"), [(16, 0.0, 65.535, 0.001, 0)], None),
    "s16": (w.SFXP_16, np.array([-32768, 99], "<i2"), [(16, -32.768, 32.767, 0.001, 0)], None),
    "axis1": (w.SFXP_8, np.arange(-12, 12, dtype="i1").reshape(2, 3, 4),
              [(8, -1.0, 1.0, 0.5, 0), (8, -1.0, 1.0, 0.25, 3), (8, -1.0, 1.0, 2.0, -1)], 1),
    "axis2": (w.UFXP_8, np.arange(6, dtype="u1").reshape(1, 3, 2), [(8, 0.0, 255.0, 1.0, 0), (8, -20.0, 490.0, 2.0, -10)], 2),
}


def build(path):
    graph = w.Graph("tensors")
    graph.tensor("x", w.APP_WRITE, w.FLOAT_32, [2])
    names = ["x"]
    for name, (dtype, array) in PLAIN.items():
        graph.tensor(name, w.STATIC, dtype, list(array.shape), data=array.tobytes())
        names.append(name)
    for name, (dtype, array, encodings, axis) in FIXED.items():
        graph.tensor(name, w.STATIC, dtype, list(array.shape), encodings if axis is not None else encodings[0], axis,
                     data=array.tobytes())
        names.append(name)
    graph.tensor("words", w.STATIC, w.TEXT, [2], data=b"one\0two\0")
    graph.tensor("y", w.APP_READ, w.FLOAT_32, [2])
    graph.op("all", "All", [*names, "words"], ["y"],
             [w.text("packageName", "Pack"), w.Numbers("weights", [2, 2], [1, 2, 3, 4])])
    w.write_container(path, graph)


def real_of(array, encodings, axis):
    scales = np.array([np.float32(e[3]) for e in encodings], np.float64)
    offsets = np.array([e[4] for e in encodings], np.float64)
    if axis is not None:
        shape = [1] * array.ndim
        shape[axis] = -1
        scales, offsets = scales.reshape(shape), offsets.reshape(shape)
    return (array.astype(np.float64) + offsets) * scales


def dump(folder, path, name, *more):
    target = folder / "out.npy"
    target.unlink(missing_ok=True)
    done = run("dlc-info", "-i", path, "--tensor", name, "--dump", target, "--json", *more)
    report = json.loads(done.stdout) if done.returncode == 0 else None
    return done, report, np.load(target) if target.exists() else None


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def expect_statistics(checks, name, found, values):
    values = values.astype(np.float64)
    finite = values[np.isfinite(values)]
    checks.equal(f"{name}: counts", (found["zeros"], found["nans"], found["infinities"]),
                 (int((values == 0).sum()), int(np.isnan(values).sum()), int(np.isinf(values).sum())))
    if not finite.size:
        checks.check(f"{name}: no minimum", "min" not in found)
        return
    checks.equal(f"{name}: range", (found["min"], found["max"]), (finite.min(), finite.max()))
    for key, wanted in (("mean", finite.mean()), ("std", finite.std())):
        checks.check(f"{name}: {key}", abs(found[key] - wanted) <= 1e-12 * max(1, np.abs(finite).max()),
                     f"{found[key]} for {wanted}")
    first = [float(v) for v in found["first"]]
    checks.check(f"{name}: first values", np.array_equal(np.array(first), values.ravel()[:16], equal_nan=True), first)


def plain(checks, folder, path):
    for name, (_, array) in PLAIN.items():
        done, report, dumped = dump(folder, path, name)
        checks.equal(f"{name}: status", (done.returncode, done.stderr), (0, ""))
        checks.equal(f"{name}: schema", schema.faults(report), [])
        checks.equal(f"{name}: dims", report["tensor"]["dims"], list(array.shape))
        checks.equal(f"{name}: users", (report["read_by"], report["written_by"]), (["all"], []))
        checks.check(f"{name}: dump", same(dumped, array), dumped)
        expect_statistics(checks, name, report["statistics"][0], array)
        checks.equal(f"{name}: one kind of statistics", len(report["statistics"]), 1)
        _, _, real = dump(folder, path, name, "--real")
        checks.check(f"{name}: real", same(real, array.astype("<f4")), real)


def fixed(checks, folder, path):
    for name, (_, array, encodings, axis) in FIXED.items():
        done, report, dumped = dump(folder, path, name)
        checks.equal(f"{name}: status", (done.returncode, done.stderr), (0, ""))
        checks.equal(f"{name}: schema", schema.faults(report), [])
        checks.check(f"{name}: dump is as stored", same(dumped, array), dumped)
        wanted = real_of(array, encodings, axis)
        checks.equal(f"{name}: kinds", [s["of"] for s in report["statistics"]], ["stored", "real"])
        expect_statistics(checks, f"{name} stored", report["statistics"][0], array)
        expect_statistics(checks, f"{name} real", report["statistics"][1], wanted)
        _, _, real = dump(folder, path, name, "--real")
        checks.check(f"{name}: real dump", same(real, wanted.astype("<f4")), real)


def text(checks, path):
    done = run("dlc-info", "-i", path, "--tensor", "axis2")
    lines = done.stdout.splitlines()
    for line in ("Tensor: axis2", "Graph: tensors", "Tensor type: STATIC", "Data type: uFxp_8", "Tensor dimension: [1,3,2]",
                 "Elements: 6", "Read by: all", "Data: 6 bytes of uFxp_8",
                 "Encoding[1]: bitwidth 8, min -20.000000000000, max 490.000000000000, scale 2.000000000000, "
                 "offset -10.000000000000",
                 "First stored values: 0, 1, 2, 3, 4, 5", "First real values: 0, -18, 2, -14, 4, -10"):
        checks.check(f"text has '{line}'", line in lines, done.stdout)
    table = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines if line.startswith("|")]
    checks.equal("statistics", table, [["Values", "Min", "Max", "Mean", "Std", "Zeros", "NaN", "Inf"],
                                       ["stored", "0", "5", "2.5", "1.70782513", "1", "0", "0"],
                                       ["real", "-18", "4", "-6", "8.40634681", "1", "0", "0"]])
    lines = run("dlc-info", "-i", path, "--tensor", "f32").stdout.splitlines()
    checks.check("special values", "First stored values: 1.5, nan, -inf, 0, -0, inf, 3.25, -7, nan, 1e-40, 2, 0.1" in
                 [re.sub(r"9\.9+\d*e-41", "1e-40", line) for line in lines], lines)
    lines = run("dlc-info", "-i", path, "--tensor", "words").stdout.splitlines()
    checks.check("strings", "First stored values: one, two" in lines, lines)
    lines = run("dlc-info", "-i", path, "--tensor", "x").stdout.splitlines()
    checks.check("no data", "Data: none" in lines, lines)


def others(checks, folder, path):
    _, report, dumped = dump(folder, path, "all_weights")
    checks.equal("tensor of an attribute", (report["parameter_of"], dumped.tolist(), dumped.dtype.str),
                 ("all", [[1, 2], [3, 4]], "<u4"))
    for name, words in (("words", "strings"), ("x", "no data")):
        done, _, dumped = dump(folder, path, name)
        checks.equal(f"dump of {name}", (done.returncode, dumped), (1, None))
        checks.check(f"dump of {name}: reason", words in done.stderr, done.stderr)
    done = run("dlc-info", "-i", path, "--tensor", "unheard of")
    checks.equal("unknown tensor", (done.returncode, done.stdout), (1, ""))
    done = run("dlc-info", "-i", path, "--tensor", "axes1")
    checks.check("suggestion", "did you mean 'axis1'?" in done.stderr, done.stderr)
    for arguments in (["--dump", "x.npy"], ["--real"], ["--tensor", "q8", "--real"], ["--tensor", "q8", "-s", "x.csv"]):
        checks.equal(f"usage {arguments}", run("dlc-info", "-i", path, *arguments).returncode, 2)
    done = run("dlc-info", "-i", path, "--tensor", "q8", "--dump", folder / "no" / "x.npy")
    checks.equal("dump into a missing folder", (done.returncode, done.stdout), (1, ""))


def encodings(checks, path):
    few = run("dlc-info", "-i", path).stdout
    many = run("dlc-info", "-i", path, "-d").stdout
    long = run("dlc-info", "-i", path, "--all_encodings").stdout
    checks.equal("the older name", run("dlc-info", "-i", path, "--display_all_encodings").stdout, long)
    checks.equal("all encodings", (few.count("axis1 encoding["), many.count("axis1 encoding["), long == many), (0, 3, True))
    line = "axis1 encodings : 3 along axis 1, bitwidth 8, scale 0.25 to 2, offset -1 to 3, min -1, max 1"
    checks.check("on one line", line in few, few)
    checks.check("not when all are there", "axis1 encodings" not in many)


def real_containers(checks, folder):
    _, report, dumped = dump(folder, CONTAINERS / "zipformer-decoder.v4.0.dlc", "decoder.conv.weight")
    expect_statistics(checks, "conv weight", report["statistics"][0], dumped)
    layer = "StatefulPartitionedCall/sequential/input/Conv2D"
    _, report, dumped = dump(folder, CONTAINERS / "selu-udo.v3.dlc", f"{layer}:weights_0")
    checks.equal("weights of version 3", (dumped.shape, report["parameter_of"]), ((3, 3, 1, 28), layer))
    _, report, dumped = dump(folder, CONTAINERS / "add2_uint8.v2.dlc", "add/y", "--real")
    lines = run("dlc-info", "-i", CONTAINERS / "block_32_quantized.v4.1.dlc", "--tensor", "rhs").stdout.splitlines()
    checks.check("halves in the room of floats", "Data: 131072 bytes of Float_16" in lines, lines)
    checks.equal("constant of add2", (dumped.dtype.str, dumped.tolist()), ("<f4", [2.0]))


def header(checks, folder, path):
    """What numpy.load forgives: the version, and data that begin at a multiple of 64."""
    dump(folder, path, "u8")
    raw = (folder / "out.npy").read_bytes()
    length = struct.unpack_from("<H", raw, 8)[0]
    checks.equal("npy header", (raw[:8], (10 + length) % 64, raw[9 + length:10 + length]), (b"\x93NUMPY\x01\x00", 0, b"\n"))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = folder / "tensors.dlc"
        build(path)
        plain(checks, folder, path)
        fixed(checks, folder, path)
        text(checks, path)
        others(checks, folder, path)
        encodings(checks, path)
        header(checks, folder, path)
        if CONTAINERS.is_dir():
            real_containers(checks, folder)
        else:
            checks.skip("real containers", f"{CONTAINERS} is not there")
    checks.finish()


main()
