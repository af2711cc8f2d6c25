#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the calibration of a MobileNet: inputs in a second, and the peak of memory, by calibrators; and that of ONNX Runtime's
min-max calibrator on the same inputs, where the Python that runs this has it.
usage: run.py [--smoke] [--build FOLDER] [--lines N] [--few N]

Memory is measured with a few lines and with all of them. --smoke: a small network and few lines."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "execute"), str(HERE.parent), str(HERE.parents[1] / "tests" / "support")]
from measure import DEFAULT_BUILD, machine  # noqa: E402

FILES = 20  # that lines name in turn
RIVAL = """
import sys, time
import numpy as np
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, create_calibrator
model, augmented, listed, name, *dims = sys.argv[1:]
class Reader(CalibrationDataReader):
    def __init__(self):
        self.lines = iter(open(listed).read().split())
    def get_next(self):
        path = next(self.lines, None)
        return path and {name: np.fromfile(path, "<f4").reshape([int(n) for n in dims])}
calibrator = create_calibrator(model, augmented_model_path=augmented, calibrate_method=CalibrationMethod.MinMax)
calibrator.set_execution_providers(["CPUExecutionProvider"])
began = time.monotonic()
calibrator.collect_data(Reader())
calibrator.compute_data()
print(time.monotonic() - began)
"""


def used(command, **more):
    """(seconds, peak in bytes, output) of a command that succeeds."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    output, error = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit(f"{command[0]} failed: {error}")
    return time.monotonic() - began, usage.ru_maxrss * 1024, output


class Work:
    """A container, its model, and lists of inputs."""

    def __init__(self, folder, divisor):
        import networks
        import numpy as np
        from checks import command
        from dlc_reader import read_container
        from onnx_reader import graph_inputs, graph_of
        self.command, self.folder = command, pathlib.Path(folder)
        networks.write_float("mobilenet", folder, divisor)
        self.model, self.container = self.folder / "model.onnx", self.folder / "m.dlc"
        subprocess.run([command("onnx-to-dlc"), "-q", "-i", self.model, "-o", self.container], check=True)
        self.input = graph_inputs(graph_of(self.model))[0]
        dims = next(t.dims for t in read_container(self.container).tensors.values() if t.kind == "APP_WRITE")
        self.dims, rng = list(dims), np.random.default_rng(1)
        for i in range(FILES):
            rng.standard_normal(dims).astype("<f4").tofile(self.folder / f"in{i}.raw")

    def listed(self, lines):
        path = self.folder / "list.txt"
        path.write_text("".join(f"{self.folder / f'in{i % FILES}.raw'}\n" for i in range(lines)))
        return path

    def ours(self, lines, *options):
        return used([self.command("dlc-quantize"), "--input_dlc", self.container, "--input_list", self.listed(lines),
                     "--output_dlc", self.folder / "q.dlc", *options])

    def rival(self, lines):
        name, dims = self.input.name, [self.dims[i] for i in (0, 3, 1, 2)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        return used([sys.executable, "-c", RIVAL, self.model, self.folder / "augmented.onnx", self.listed(lines), name,
                     *map(str, dims)], env=environment)


def has_rival():
    done = subprocess.run([sys.executable, "-c", "import onnx, onnxruntime.quantization"], capture_output=True, check=False)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--build", default=DEFAULT_BUILD, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--lines", type=int, default=300)
    parser.add_argument("--few", type=int, default=30)
    options = parser.parse_args()
    if options.smoke:
        options.lines, options.few = 6, 2
    os.environ["ODLC_BUILD_ROOT"] = str(options.build)
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("run.py: python3-numpy is not there")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        print(machine(folder))
        print(f"{'':24} inputs/s    MB with {options.few} and {options.lines} inputs")
        work = Work(folder, 4 if options.smoke else 1)
        for label, more in (("min-max", []), ("mse", ["--act_quantizer_calibration", "mse"]),
                            ("entropy", ["--act_quantizer_calibration", "entropy"])):
            begin, few, _ = work.ours(options.few, *more)
            end, many, _ = work.ours(options.lines, *more)
            print(f"{label:24} {(options.lines - options.few) / (end - begin):8.1f}    {few / 1e6:.0f}, {many / 1e6:.0f}", flush=True)
        if has_rival() and not options.smoke:
            _, few, _ = work.rival(options.few)
            _, many, seconds = work.rival(options.lines)
            print(f"{'ONNX Runtime min-max':24} {options.lines / float(seconds):8.1f}    {few / 1e6:.0f}, {many / 1e6:.0f}")


main()
