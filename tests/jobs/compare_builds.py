#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Builds of different compilers and settings make the same containers, with any number of threads.
usage: compare_builds.py BUILD BUILD...

The models are the example, one with megabytes of constants that are permuted, scaled and converted on the way, and those of
../shared/corpus, ONNX's and TensorFlow's, if they are there. A model that is refused must be refused by all, with the same
words."""

import hashlib
import pathlib
import random
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "reference")]
import onnx_writer as onnx  # noqa: E402
from checks import SHARED, SOURCE, Checks  # noqa: E402
from corpus_runs import RUNS  # noqa: E402

THREADS = (1, 2)
CHANNELS = 384


def constants_model(path):
    noise = random.Random(1)
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [1, CHANNELS, 8, 8])
    m.tensor("w", onnx.FLOAT, [CHANNELS, CHANNELS, 3, 3], raw=finite(noise.randbytes(4 * 9 * CHANNELS * CHANNELS)))
    m.node("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    for name in ("scale", "shift", "mean", "variance"):
        m.tensor(name, onnx.FLOAT, [CHANNELS], [noise.uniform(0.1, 3) for _ in range(CHANNELS)])
    m.node("BatchNormalization", ["c", "scale", "shift", "mean", "variance"], ["n"])
    m.node("Flatten", ["n"], ["f"])
    size = CHANNELS * 64
    m.tensor("g", onnx.FLOAT, [128, size], raw=finite(noise.randbytes(4 * 128 * size)))
    m.node("Gemm", ["f", "g"], ["y"], transB=1)
    m.tensor("d", onnx.DOUBLE, [1, 128], [noise.gauss(0, 1) for _ in range(128)])
    m.node("Cast", ["d"], ["e"], to=onnx.FLOAT)
    m.tensor("table", onnx.INT64, [100000], [noise.randrange(-1000, 1000) for _ in range(100000)])
    m.input("which", onnx.INT64, [128])
    m.node("Gather", ["table", "which"], ["t"])
    m.node("Add", ["y", "e"], ["out"])
    m.output("out", onnx.FLOAT, [1, 128])
    m.output("t", onnx.INT64, [128])
    m.save(path)


def finite(data):
    """Random bytes as floats between about 1e-10 and 1e10, of both signs."""
    words = bytearray(data)
    for i in range(3, len(words), 4):
        words[i] = words[i] & 0x80 | 0x30 + words[i] % 0x1F
    return bytes(words)


def wanted_conversions(folder):
    """(command, arguments) each."""
    constants_model(folder / "constants.onnx")
    example = SOURCE / "examples"
    yield "onnx-to-dlc", ["-i", example / "example.onnx", "--udo_config_paths", example / "ops.json"]
    yield "onnx-to-dlc", ["-i", folder / "constants.onnx"]
    for path in sorted((SHARED / "corpus" / "onnx").rglob("*.onnx")):
        yield "onnx-to-dlc", ["-i", path]
    for run in RUNS if (SHARED / "corpus" / "tf").exists() else []:
        yield "tensorflow-to-dlc", ["-i", SHARED / "corpus" / "tf" / run.model, *run.options()]


def convert(build, command, args, output, threads):
    """What came out: status, messages, and a hash of the container."""
    output.unlink(missing_ok=True)
    done = subprocess.run([pathlib.Path(build) / "converters" / command, "-o", output, "--threads", str(threads), *args],
                          capture_output=True, text=True, check=False)
    content = hashlib.sha256(output.read_bytes()).hexdigest() if output.exists() else None
    return done.returncode, done.stderr, content


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: compare_builds.py BUILD BUILD...")
    checks, made = Checks(), 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        conversions = list(wanted_conversions(folder))
        if len(conversions) == 2:
            checks.skip("real models", f"{SHARED / 'corpus'} is not there")
        for command, args in conversions:
            results = {}
            for build in sys.argv[1:]:
                for threads in THREADS:
                    found = convert(build, command, args, folder / "out.dlc", threads)
                    results.setdefault(found, []).append(f"{build} with {threads} threads")
            made += next(iter(results))[2] is not None
            checks.check(f"{command} {' '.join(map(str, args))}: all the same", len(results) == 1, results)
        checks.check("most models convert", made > len(conversions) / 2, f"{made} of {len(conversions)}")
    checks.finish()


if __name__ == "__main__":
    main()
