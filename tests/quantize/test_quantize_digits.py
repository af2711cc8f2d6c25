# SPDX-License-Identifier: Apache-2.0
"""A network that reads digits (examples/digits), quantized by the commands of docs/quantizing.md: how many of 400 images that it has
never seen are read right, and how far its scores are from those in float."""

import importlib.util
import os
import subprocess
import sys
import tempfile

from quantizing import Bench, np
from checks import BUILD, SOURCE, Checks

FOLDER = SOURCE / "examples" / "digits"
TUTORIAL = "## A network from end to end"
CHANNELS = ["--use_per_channel_quantization", "--use_per_row_quantization"]
# (name, options, the most points that may be lost, the least ratio of signal to error of all scores, dB): a point or more below what
# was measured. With 16 bits, what is left of the error is values beyond the ranges that the calibration images have.
CASES = (("8 bits", [], .5, 25), ("8 bits, channels", CHANNELS, .5, 25), ("16 bits", ["--bitwidth", "16"], .25, 28),
         ("bc", ["--weights_bitwidth", "4", "--optimizations", "bc"], 1.5, 12.5),
         ("adaround", ["--weights_bitwidth", "4", "--optimizations", "adaround"], 1.5, 14),
         ("cle and bc", ["--weights_bitwidth", "4", "--optimizations", "cle", "bc"], 2.5, 14.5),
         ("cle", ["--weights_bitwidth", "4", "--optimizations", "cle"], 3, 12.5),
         ("all", ["--weights_bitwidth", "4", "--apply_algorithms", "cle,adaround,bc"], 1.5, 16),
         ("both", ["--weights_bitwidth", "4", "--optimizations", "bc", "adaround"], 1.5, 14),
         ("adaround, channels", ["--weights_bitwidth", "4", "--algorithms", "adaround", *CHANNELS], 1.5, 17))


def module():
    spec = importlib.util.spec_from_file_location("digits", FOLDER / "digits.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def tutorial(b):
    """The indented lines after the title, run as they stand."""
    text = (SOURCE / "docs" / "quantizing.md").read_text().split(TUTORIAL)[1].split("\n## ")[0]
    commands = [line[4:] for line in text.splitlines() if line.startswith("    ")]
    b.checks.check("the page has commands", len(commands) >= 6, commands)
    b.path("bin").mkdir()
    b.path("bin/python3").symlink_to(sys.executable)
    tools = os.pathsep.join(map(str, (b.path("bin"), BUILD / "src/tools", BUILD / "converters")))
    environment = {**os.environ, "OPENDLC": str(SOURCE), "PATH": tools + os.pathsep + os.environ["PATH"]}
    done = subprocess.run(["sh", "-e", "-c", "\n".join(commands)], cwd=b.folder, env=environment, capture_output=True, text=True)
    b.checks.equal("the page's commands", done.returncode, 0)
    return done.stdout


def scores(folder):
    return np.stack([np.fromfile(folder / f"Result_{i}" / "scores.raw", "<f4") for i in range(400)]).astype("f8")


def right(digits, folder):
    return round(100 * digits.score(folder), 2)


def ratio(signal, other):
    return 10 * np.log10(np.square(signal).sum() / np.square(signal - other).sum())


def try_options(b, digits, name, options, most, least):
    run_in(b, "dlc-quantize", "--input_dlc", "digits.dlc", "--input_list", "calibration.txt", "--output_dlc", "q.dlc",
           "--bias_bitwidth", "32", *options)
    run_in(b, "net-run", "--container", "q.dlc", "--input_list", "test.txt", "--output_dir", "out_q")
    before, found = b.path("out_float"), b.path("out_q")
    b.checks.check(f"{name}: points", right(digits, before) - right(digits, found) <= most, right(digits, found))
    b.checks.check(f"{name}: decibels", ratio(scores(before), scores(found)) >= least, ratio(scores(before), scores(found)))


def run_in(b, tool, *arguments):
    path = BUILD / "src" / "tools" / tool
    done = subprocess.run([path, *arguments], cwd=b.folder, capture_output=True, text=True)
    b.checks.equal(f"{tool} {arguments}", (done.returncode, done.stderr), (0, ""))


def main():
    checks = Checks()
    digits = module()
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(checks, folder)
        printed = tutorial(b)
        floats = right(digits, b.path("out_float"))
        checks.check("floats", 97 <= floats <= 99, floats)
        for name in ("out_float", "out_4", "out_4_rounded"):
            checks.check(f"{name} is printed", f"{name}: {right(digits, b.path(name)):.2f} %" in printed, printed)
        nearest, rounded = right(digits, b.path("out_4")), right(digits, b.path("out_4_rounded"))
        checks.check("4 bits, nearest, hurt", floats - nearest >= 2, (floats, nearest))
        checks.check("4 bits, rounded, do not", floats - rounded <= 1.5, (floats, rounded))
        for case in CASES:
            try_options(b, digits, *case)
    checks.finish()


main()
