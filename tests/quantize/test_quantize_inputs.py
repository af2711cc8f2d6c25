# SPDX-License-Identifier: Apache-2.0
"""Inputs of dlc-quantize: several, integers, native files, unused ones; memory does not grow with their number, and a signal
leaves nothing behind."""

import json
import os
import signal
import subprocess
import tempfile
import time

from quantizing import FLOAT, INT64, Bench, Model, np, whole
from checks import Checks, command

IMAGE = (1, 64, 64, 3)


def table():
    """ids → Gather of a table → × x → y, and an input that nothing reads."""
    m = Model(opset=13)
    m.tensor("t", FLOAT, [3, 2], [0.0, 1.0, 2.0, 3.0, -4.0, 11.9375])
    m.input("ids", INT64, [2])
    m.input("x", FLOAT, [2, 2])
    m.node("Gather", ["t", "ids"], ["g"], axis=0)
    m.node("Mul", ["g", "x"], ["y"])
    m.output("y", FLOAT, [2, 2])
    return m


def image():
    m = Model(opset=13)
    m.tensor("w", FLOAT, [8, 3, 3, 3], np.random.default_rng(2).uniform(-1, 1, 216).tolist())
    m.input("x", FLOAT, [IMAGE[0], IMAGE[3], *IMAGE[1:3]])
    m.node("Conv", ["x", "w"], ["c"], pads=[1] * 4)
    m.node("Relu", ["c"], ["y"])
    m.output("y", FLOAT, [1, 8, *IMAGE[1:3]])
    return m


def kinds(b):
    b.convert(table())
    ids, x = np.array([2, 1]), np.array([[1.0, -2.0], [0.5, 1.0]])
    b.inputs({"ids": ids, "x": x})
    expected = [whole(8, -23.875, 3)]
    q = b.quantize()
    b.checks.equal("ids stay", q.tensors["ids"].dtype, "INT_32")
    b.checks.equal("y", q.tensors["y"].encodings, expected)
    b.checks.equal("table and what is picked of it", (q.tensors["t"].encodings, q.tensors["g"].encodings), ([whole(8, -4, 11.9375)],) * 2)
    b.path("e.json").write_text(json.dumps({"activation_encodings": {"g": [{"bitwidth": 16}]}, "param_encodings": {}}))
    wide = b.quantize("--quantization_overrides", b.path("e.json")).tensors
    b.checks.equal("a width of what is picked", (wide["t"].dtype, wide["g"].dtype, wide["g"].encodings),
                   ("UFXP_16", "UFXP_16", [whole(16, -4, 11.9375)]))
    ids.astype("<i4").tofile(b.path("in0_0.raw"))
    b.checks.equal("native", b.quantize("--use_native_input_files").tensors["y"].encodings, expected)
    for name, array in (("ids", ids), ("x", x)):  # 64-bit integers, and doubles
        np.save(b.path(f"{name}.npy"), array)
    b.path("list.txt").write_text(f"ids:={b.path('ids.npy')} x:={b.path('x.npy')}\n")
    b.checks.equal(".npy", b.quantize().tensors["y"].encodings, expected)
    np.save(b.path("x.npy"), x.ravel())
    done = b.run()
    b.checks.check("dimensions of .npy", done.returncode == 1 and "tensor 'x' is [2,2], and the array [4]" in done.stderr, done.stderr)
    b.inputs({"ids": ids + 0.5, "x": x})
    done = b.run()
    b.checks.check("no integer", done.returncode == 1 and "value 0 of input ids is 2.5" in done.stderr, done.stderr)
    b.inputs({"ids": ids + 7, "x": x})
    b.checks.equal("an index that is none", b.run().returncode, 1)


def peak(b, lines):
    """Kilobytes of memory of a run with so many lines; a sanitizer is not to keep what was freed."""
    b.path("list.txt").write_text("".join(f"{b.path('in0_0.raw')}\n" for _ in range(lines)))
    process = subprocess.Popen([command("dlc-quantize"), "--input_dlc", b.path("m.dlc"), "--input_list", b.path("list.txt"),
                                "--output_dlc", b.path("q.dlc")], stdout=subprocess.DEVNULL,
                               env={**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=0:thread_local_quarantine_size_kb=0"})
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    b.checks.equal(f"{lines} lines", process.returncode, 0)
    return used.ru_maxrss


def memory(b):
    b.convert(image())
    b.inputs(np.random.default_rng(2).random(IMAGE))
    few, many = peak(b, 10), peak(b, 2000)
    b.checks.check("memory of 10 and of 2000 lines", many < few + 2048, (few, many))


def signals(b):
    b.path("q.dlc").unlink()
    before = set(b.folder.iterdir())
    for delay in (0.0, 0.01, 0.02, 0.04, 0.08):
        process = subprocess.Popen([command("dlc-quantize"), "--input_dlc", b.path("m.dlc"), "--input_list",
                                    b.path("list.txt"), "--output_dlc", b.path("q.dlc")], stdout=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        if process.wait() == 0:
            b.path("q.dlc").unlink()
        b.checks.equal(f"what a signal leaves after {delay} s", set(b.folder.iterdir()), before)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(checks, folder)
        for case in (kinds, memory, signals):
            case(b)
    checks.finish()


main()
