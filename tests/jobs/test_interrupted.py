# SPDX-License-Identifier: Apache-2.0
"""Signals end a conversion as they end any program, so that shells, make and ninja see it; nothing is left behind, and what
ignores a signal goes on."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import Checks, command  # noqa: E402
from dlc_reader import read_container  # noqa: E402
from job_models import large_model  # noqa: E402

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
# Who runs the tests may ignore some, as nohup and shells in the background do.
for ignored_signal in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGXCPU):
    signal.signal(ignored_signal, signal.SIG_DFL)
# The search for leaks at the end of a program made with sanitizers hangs when a signal meets it.
os.environ["ASAN_OPTIONS"] = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "detect_leaks=0")))
DELAYS = [0.03, 0.02, 0.05, 0.015, 0.08, 0.01, 0.12, 0.005, 0.2] * 4


def convert(folder, **settings):
    args = ["-i", "large.onnx", "-o", "out.dlc", "--depfile", "out.d"]
    return subprocess.Popen([command("onnx-to-dlc"), *args], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            **settings)


def ends(checks, folder, number):
    """The signal meets the conversion at some moment when it is at work."""
    for delay in DELAYS:
        for path in folder.iterdir():
            if path.name != "large.onnx":
                path.unlink()
        (folder / "out.dlc").write_bytes(b"older container")
        running = convert(folder)
        time.sleep(delay)
        running.send_signal(signal.SIGSTOP)
        running.send_signal(number)
        running.send_signal(signal.SIGCONT)
        if running.wait() != 0:
            break
    checks.equal(f"{number.name}: status", running.returncode, -number)
    # The depfile comes in the last moment but one.
    found = {path.name for path in folder.iterdir()} - {"out.d"}
    if number == signal.SIGKILL:
        found = {name for name in found if not name.endswith(".part")}
    checks.equal(f"{number.name}: files", found, {"large.onnx", "out.dlc"})
    untouched = (folder / "out.dlc").read_bytes() == b"older container"
    checks.check(f"{number.name}: untouched or complete", untouched or read_container(folder / "out.dlc", data=False))


def ignored(checks, folder):
    """As under nohup: the signal is none of its business."""
    running = convert(folder, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    running.send_signal(signal.SIGHUP)
    checks.equal("an ignored SIGHUP: status", running.wait(), 0)
    read_container(folder / "out.dlc", data=False)


def builders(checks, folder):
    """Make and ninja are interrupted with the command, as by a key: they say so, and remove nothing that is whole."""
    words = f"{command('onnx-to-dlc')} -q -i large.onnx -o out.dlc"
    (folder / "Makefile").write_text(f"out.dlc: large.onnx\n\t{words}\n")
    (folder / "build.ninja").write_text(f"rule dlc\n  command = {words}\nbuild out.dlc: dlc large.onnx\n")
    for program, status, said in (("make", (2, -signal.SIGINT), "Interrupt"), ("ninja", (130, 2, -signal.SIGINT), "interrupted by user")):
        if not shutil.which(program):
            checks.skip(program, "not installed")
            continue
        for delay in DELAYS:
            (folder / "out.dlc").unlink(missing_ok=True)
            running = subprocess.Popen([program], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                       start_new_session=True)
            time.sleep(delay + 0.02)
            os.killpg(running.pid, signal.SIGINT)
            output = running.communicate()[0]
            # In some moments they say something else: make 4.3 when it has waited for the command already, ninja when
            # the command has ended.
            if running.returncode != 0 and said in output:
                break
        checks.check(f"{program}: status {running.returncode}", running.returncode in status, output)
        checks.check(f"{program}: says so", said in output, output)
        left = {path.name for path in folder.iterdir() if not path.name.startswith(".ninja")} - {"out.dlc"}
        checks.equal(f"{program}: files", left, {"large.onnx", "Makefile", "build.ninja"})


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        large_model(folder / "large.onnx", 64)
        for number in SIGNALS:
            ends(checks, folder, number)
        ignored(checks, folder)
        for leftover in ("out.dlc", "out.d"):
            (folder / leftover).unlink()
        builders(checks, folder)
    checks.finish()


main()
