#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmark's own arithmetic and launcher, against commands and figures whose numbers are known.
usage: test_bench.py   (ODLC_BUILD_ROOT: the build that holds the launcher)"""

import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "execute"), str(HERE.parent / "tests" / "support")]
import models  # noqa: E402
import others  # noqa: E402
import report  # noqa: E402
import verdicts as executed  # noqa: E402
from checks import BUILD, Checks  # noqa: E402
import pieces  # noqa: E402
from limits import INFO, OURS, PERMUTED, Limits  # noqa: E402
from measure import Meter, Run, medians, paired  # noqa: E402
from onnx_writer import Model, Repeated, chunks  # noqa: E402

MIB = 1 << 20
BUSY = "import time\nwhile time.process_time() < 0.3: pass"


def test_launcher(checks, meter):
    checks.equal("status", meter.run(["sh", "-c", "exit 7"]).status, 7)
    checks.equal("signal", meter.run(["sh", "-c", "kill -TERM $$"]).status, 143)
    checks.equal("unknown command", meter.run(["/nowhere/command"]).status, 127)
    late = meter.run(["sh", "-c", "sleep 60 & wait"], seconds=1)
    checks.check("ended after a second", late.late and late.status == 137 and 0.9 < late.wall < 30, str(late))
    busy = meter.run([sys.executable, "-c", "while True: pass"], cpu_seconds=1)
    checks.check("ended after a second of CPU time", busy.late and busy.status == 152 and 0.4 < busy.cpu < 3, str(busy))
    asleep = meter.run(["sleep", "0.3"])
    checks.check("elapsed time", asleep.wall >= 0.3 and asleep.cpu < 0.2 and not asleep.late, str(asleep))
    checks.check("CPU time", meter.run([sys.executable, "-c", BUSY]).cpu >= 0.3)
    kept = meter.run(["sh", "-c", "echo out; echo error >&2"])
    checks.equal("output", (kept.output, kept.error), ("out\n", "error\n"))


def test_end(checks, meter, folder):
    """A command does not survive its launcher."""
    shell = ["sh", "-c", "echo $$; exec sleep 60"]
    launch = [meter.launcher, "60", "60", folder / "report", *shell]
    with subprocess.Popen(launch, stdout=subprocess.PIPE, text=True) as launcher:
        started = pathlib.Path("/proc", launcher.stdout.readline().strip(), "stat")
        launcher.kill()
    deadline = time.monotonic() + 20
    while is_alive(started) and time.monotonic() < deadline:
        time.sleep(0.01)
    checks.check("a command does not survive its launcher", not is_alive(started))


def is_alive(stat):
    try:
        return stat.read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_peak(checks, meter):
    """A command's memory is counted, and that of the process that measures is not."""
    ballast = bytearray(200 * MIB)
    for i in range(0, len(ballast), 4096):
        ballast[i] = 1
    small, large = meter.run(["true"]), meter.run([sys.executable, "-c", "print(len(b'1' * (100 << 20)))"])
    checks.check("small command", 0 < small.peak < 16 * MIB, str(small))
    checks.check("large command", 100 * MIB <= large.peak < 180 * MIB, str(large))


def test_ratios(checks):
    runs = [Run(2.0, 4.0, 10), Run(9.0, 5.0, 30), Run(3.0, 6.0, 20)]
    copies = [Run(1.0, 4.0, 1), Run(3.0, 1.0, 1), Run(3.0, 2.0, 1)]
    checks.equal("medians", medians(runs), Run(3.0, 5.0, 30))
    checks.equal("CPU ratio", tuple(paired(runs, copies, "cpu")), (2.0, 1.0, 3.0))
    checks.equal("elapsed ratio", tuple(paired(runs, copies, "wall")), (3.0, 1.0, 5.0))
    checks.equal("bytes a node", report.bytes_a_node(32_000_000 + 500 * 600, 500), 600)
    rows = report.table({"cp": copies, OURS: runs}, {"other": "fails"}, 0)
    expected = [OURS, "3", "3.000", "5.000", "2.00 (1.00..3.00)", "3.00 (1.00..5.00)", "0.0"]
    checks.equal("row", rows[2], expected)
    checks.check("rows as text and Markdown", "2.00 (1.00..3.00)" in report.as_text(rows)
                 and "| other |  | fails |" in report.as_markdown(rows))


def measured(name, cpu, peak=10_000_000, wall=1.0, nodes=0, more=None, failures=None):
    """A model with one round, in which cp took a second."""
    runs = {"cp": [Run(1.0, 1.0, 1)], OURS: [Run(cpu, wall, peak)], **(more or {})}
    return types.SimpleNamespace(name=name, nodes=nodes, runs=runs, failures=failures or {})


def verdicts(*found):
    return {text: held for held, text, *_ in Limits(found).rows}


def test_limits(checks):
    checks.equal("a good copy", verdicts(measured("transformer", 1.1)),
                 {"transformer: CPU time ÷ cp's": True, "transformer: elapsed time ÷ cp's": True,
                  "transformer: peak MB": True})
    bad = verdicts(measured("transformer", 2.31, 32_000_001, 2.4))
    checks.check("a bad copy", not any(bad.values()) and len(bad) == 3, str(bad))
    bare = [verdicts(measured("resnet50", 1.0, more={PERMUTED: [Run(cpu, 1.0, 1)]})) for cpu in (0.92, 0.9)]
    checks.equal("a permuting copy", [found["resnet50: CPU time ÷ a bare permuting copy's"] for found in bare], [True, False])
    checks.equal("only its memory is limited", verdicts(measured("single3", 9.0)), {"single3: peak MB": True})
    small = measured("chain10k", 0.01, nodes=10_000)
    chains = {cpu: verdicts(small, measured("chain1m", cpu, 632_000_000, nodes=1_000_000)) for cpu in (1.5, 1.7)}
    exponents = [chains[cpu]["10k to 1M nodes: exponent of CPU time"] for cpu in (1.5, 1.7)]
    checks.equal("exponent", exponents, [True, False])
    checks.check("bytes of a million nodes", chains[1.5]["chain1m: peak bytes a node over 32 MB"])
    checks.equal("a node too large", verdicts(measured("udo", 1.0, 32_000_000 + 601 * 1000, nodes=1000)),
                 {"udo: peak bytes a node over 32 MB": False})
    slow = verdicts(measured("chain100k", 0.26, nodes=100_000))
    checks.equal("seconds of 100,000 nodes", slow["chain100k: CPU s"], False)
    udo = [verdicts(measured("native", 1.0, nodes=1000), measured("udo", cpu, nodes=1000)) for cpu in (1.15, 1.16)]
    checks.equal("UDOs", [found["5 % UDOs: CPU time ÷ native's"] for found in udo], [True, False])
    rival = {"onnx2ncnn": [Run(0.9, 1.0, 1)], "pnnx": [Run(0.1, 1.0, 1)]}
    checks.equal("rivals", verdicts(measured("conv20k", 1.0, nodes=1000, more=rival)),
                 {"conv20k: peak bytes a node over 32 MB": True, "conv20k: CPU time ÷ onnx2ncnn's": False})
    opened = types.SimpleNamespace(name="external5", nodes=0, runs={INFO: [Run(0.01, 0.06, 5_000_000)]}, failures={})
    checks.equal("opening", list(verdicts(opened).values()), [False, True])
    failed = Limits([types.SimpleNamespace(name="single3", nodes=0, runs={}, failures={OURS: "fails with status 1"})])
    checks.check("a failed conversion", not failed.hold() and failed.lines(False).startswith("DOES NOT HOLD  single3"))


def test_others(checks):
    run = Run(1.0, 2.0, 3)
    failure = others.failure
    checks.equal("right", failure(run, 50, 100, "/f"), None)
    checks.equal("nothing written", failure(run, 0, 100, "/f"), "status 0, but no output")
    checks.equal("weights lost", failure(run, 30_000_000, 1e8, "/f"), "status 0, but only 30.0 MB written")
    checks.equal("late", failure(run._replace(late=True, status=137), 0, 0, "/f"), "ended after 1 s of CPU time, 2 s")
    checks.equal("failed", failure(run._replace(status=1, error="a\n/f/m.onnx is bad\n"), 0, 0, "/f"),
                 "fails with status 1: /m.onnx is bad")
    printed = run._replace(output='x\n{"cpu": 0.5, "wall": 0.25}\n')
    checks.equal("what it printed", others.inner(printed)[:3], (0.5, 0.25, 3))
    checks.equal("printed nothing", others.inner(run), run)


def test_models(checks, folder):
    m = Model()
    m.node("Add", ["a", "b"], ["c"], name="n")
    written = b"".join(chunks(m.graph.parts))
    checks.check("a node, quickly", written.endswith(b"".join(models.encode_node("Add", ["a", "b"], "c", "n"))))
    for name in ("external3", "udo"):
        models.write_model(name, folder / name, 100 if name == "udo" else 16)
    chain = (folder / "udo" / "model.onnx").read_bytes()
    checks.equal("5 % of 1,000 nodes", (chain.count(b"com.example"), chain.count(b"alpha")), (51, 50))
    weights = folder / "external3" / "weights.bin"
    checks.check("weights start at pages", weights.stat().st_size % models.ALIGNMENT == 0)
    # The first tensors are scale and shift of the first norm: 128 numbers each.
    noise, gap = models.make_noise(), bytes(models.ALIGNMENT - 512)
    with open(weights, "rb") as file:
        first, second = file.read(models.ALIGNMENT), file.read(models.ALIGNMENT)
    place = 4 * models.STRIDE
    checks.check("weights are noise", first == noise[:512] + gap and second == noise[place:place + 512] + gap)
    checks.check("repeated from a place on", b"".join(Repeated(b"abc", 8, 2).chunks()) == b"cabcabca"
                 and b"".join(Repeated(b"abc", 2, 1).chunks()) == b"bc" and not list(Repeated(b"abc", 0).chunks()))


def test_permuted(checks, folder):
    """The bare copy, of a filter of 3 × 2 channels and 2 × 2 places, a factor of 2 × 3 and a bias, against plain loops."""
    m, filters, factor = Model(), list(range(24)), [100.0, 101, 102, 103, 104, 105]
    m.tensor("w", models.FLOAT, [3, 2, 2, 2], raw=struct.pack("<24f", *filters))
    m.tensor("f", models.FLOAT, [2, 3], raw=struct.pack("<6f", *factor))
    m.tensor("b", models.FLOAT, [3], raw=struct.pack("<3f", 7, 8, 9))
    m.node("Conv", ["x", "w", "b"], ["y"])
    m.node("MatMul", ["y", "f"], ["z"])
    m.save(folder / "small.onnx")
    with open(folder / "small.onnx", "rb") as file:
        listed = list(pieces.pieces(file.read()))
    checks.equal("pieces", [piece[1:] for piece in listed], [(3, 8, 4), (2, 3, 1), (1, 3, 1)])
    (folder / "pieces").write_text("".join(" ".join(map(str, piece)) + "\n" for piece in listed), encoding="ascii")
    command = [BUILD / "bench" / "permuted", folder / "small.onnx", folder / "pieces", folder / "copy"]
    checks.equal("status", subprocess.run(command, check=False).returncode, 0)
    hwio = [filters[(o * 2 + i) * 4 + place] for place in range(4) for i in range(2) for o in range(3)]
    wanted = hwio + [factor[row * 3 + column] for column in range(3) for row in range(2)] + [7, 8, 9]
    copied = (folder / "copy").read_bytes()[:4 * len(wanted)]
    checks.equal("permuted", list(struct.unpack(f"<{len(wanted)}f", copied)), [float(value) for value in wanted])


def test_failing_converter(checks, folder):
    """A conversion that fails is reported, and the status is not 0."""
    build = folder / "build"
    for path in ("converters", "bench"):
        (build / path).mkdir(parents=True)
    for name in ("usage", "unpack", "permuted"):
        os.symlink(BUILD / "bench" / name, build / "bench" / name)
    converter = build / "converters" / "onnx-to-dlc"
    converter.write_text("#!/bin/sh\necho no luck >&2\nexit 3\n", encoding="utf-8")
    converter.chmod(0o755)
    done = subprocess.run([sys.executable, HERE / "run.py", "--smoke", "--alone", "--build", build, "--folder",
                           folder / "scratch", "resnet50"], capture_output=True, text=True, check=False)
    checks.equal("status", done.returncode, 1)
    checks.check("reason", "fails with status 3: no luck" in done.stdout, done.stdout + done.stderr)
    checks.equal("nothing is left", os.listdir(folder / "scratch"), [])
    shutil.rmtree(build)


def execution(name, ours, theirs, error=0.0, memory=1, start=1.0):
    """A network in which each execution took as long, on one thread."""
    sides = (executed.Figures([ours] * 3, [start], memory), executed.Figures([theirs] * 3, [1.0], 1))
    return executed.Row(name, executed.kind_of(name), 1, *sides, error)


def test_executions(checks):
    checks.equal("kinds", [executed.kind_of(name) for name in ("yolo", "yolo-8bit", "transformer", "squeezenet-fp16")],
                 [executed.CONVOLUTIONAL, executed.BYTES, executed.OTHER, executed.HALF])
    checks.equal("ratio round by round", tuple(executed.paired([1.0, 4.0, 9.0], [1.0, 1.0, 3.0])), (3.0, 1.0, 4.0))
    good = [execution("yolo", 0.4, 1.0), execution("resnet50", 1.2, 1.0), execution("transformer", 1.1, 1.0)]
    found = {limit.text: limit for limit in executed.limits(good)}
    checks.check("geometric mean of 0.4 and 1.2", abs(found["1 thread, convolutional: mean ratio"].value - 0.6928) < 1e-4)
    checks.check("of all", abs(found["1 thread, float32: mean ratio"].value - 0.8082) < 1e-4)
    checks.check("a mean hides no network", found["1 thread, float32: largest ratio (resnet50)"].value == 1.2)
    checks.check("all hold", all(limit.holds for limit in found.values()), str(found))
    bad = [execution("yolo", 1.4, 1.0, 0.01, 3, 1.5), execution("yolo-8bit", 1.1, 1.0, 0.05)]
    checks.equal("what does not hold", [limit.text for limit in executed.errors(bad) + executed.limits(bad) if not limit.holds],
                 ["convolutional: largest error (yolo)", "1 thread, convolutional: mean ratio", "1 thread, 8 bits: mean ratio",
                  "1 thread, float32: mean ratio", "1 thread, float32: largest ratio (yolo)",
                  "1 thread: mean ratio of starts", "1 thread: largest ratio of peak memory (yolo)"])
    lines = executed.table(bad, True).splitlines()
    checks.check("a row", "| yolo | 1.4 | 1 | 1.40 (1.40..1.40) | 1.5 | 1 | 1.50 | 0.0 | 0.0 | 3.00 | 1e-02 |" in lines, lines)


def main():
    checks, meter = Checks(), Meter(BUILD)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        test_launcher(checks, meter)
        test_end(checks, meter, folder)
        test_peak(checks, meter)
        test_ratios(checks)
        test_limits(checks)
        test_others(checks)
        test_executions(checks)
        test_models(checks, folder)
        test_permuted(checks, folder)
        test_failing_converter(checks, folder)
    checks.finish()


main()
