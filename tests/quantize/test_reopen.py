# SPDX-License-Identifier: Apache-2.0
"""A container that the converters wrote, read as a graph and written again, is the same file, byte by byte. usage: test_reopen.py
REOPEN"""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SHARED, SOURCE, Checks, leave_out, run  # noqa: E402

MODELS = SHARED / "corpus" / "onnx"
# Of each, whose containers differ in what they hold: layers, fixed-point tensors, float16, and newer spellings of ops.
CASES = (("first/mnist", ()), ("first/yunet", ()), ("first/rfb320", ("--target_release", "2.30")),
         ("second/qdq-mobilenet-part", ()), ("second/retinaface-mnet025", ("--float_bitwidth", "16")),
         ("second/self-attention-mnist", ()))


def same(checks, name, reopen, container):
    again = container.with_suffix(".again")
    done = subprocess.run([reopen, container, again], capture_output=True, text=True, check=False)
    if checks.equal(f"{name} status", (done.returncode, done.stderr), (0, "")):
        checks.check(f"{name} is the same", container.read_bytes() == again.read_bytes())


def main():
    checks, reopen = Checks(), sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for sample in ("nr64", "netp"):
            found = next(iter(SOURCE.glob(f"testdata/**/{sample}.dlc")), None)
            if found:
                (folder / found.name).write_bytes(found.read_bytes())
                same(checks, sample, reopen, folder / found.name)
        for model, options in CASES:
            source = next(iter((MODELS / model).glob("*.onnx")), None)
            if not source:
                leave_out(1, len(CASES), "models of ../shared")
                continue
            container = folder / f"{model.replace('/', '-')}.dlc"
            done = run("onnx-to-dlc", "--quiet", "-i", source, "-o", container, *options)
            checks.equal(f"{model} converts", done.returncode, 0)
            same(checks, model, reopen, container)
        done = subprocess.run([reopen, SOURCE / "README.md", folder / "x.dlc"], capture_output=True, check=False)
        checks.equal("what is no container", (done.returncode, (folder / "x.dlc").exists()), (1, False))
    checks.finish()


main()
