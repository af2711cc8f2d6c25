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
    content = (folder / "out.dlc").read_bytes()
    if content == b"older container":
        checks.check(f"{number.name}: no depfile of a container that is not there", True)
        found = {path.name for path in folder.iterdir()} - {"out.d"}  # which may have come in the last moment
    else:
        checks.check(f"{number.name}: complete", read_container(folder / "out.dlc", data=False))
        found = {path.name for path in folder.iterdir()} - {"out.d"}
    if number == signal.SIGKILL:
        found = {name for name in found if not name.endswith(".part")}
    checks.equal(f"{number.name}: files", found, {"large.onnx", "out.dlc"})


def ignored(checks, folder):
    """As under nohup: the signal is none of its business."""
    running = convert(folder, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    running.send_signal(signal.SIGHUP)
    checks.equal("an ignored SIGHUP: status", running.wait(), 0)
    read_container(folder / "out.dlc", data=False)
