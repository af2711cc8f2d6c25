# SPDX-License-Identifier: Apache-2.0
"""Conversions that are ended by signals: before every system call (each 17th trial without ODLC_LONG=1), between two names
of the output, and at random moments of a large one. The container is complete, as it was before, or not there, and no
temporary file is left unless the signal is SIGKILL."""

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

from scene import ARGUMENTS, Checks, Scene, command, onnx, share_of

PART = re.compile(r"out\.dlc\.\d+-\d+\.part")
MEGABYTES, MOMENTS = 50, 50
STEP = 17  # of the trials without ODLC_LONG=1; odd, so that both signals are among them

# Who runs the tests may ignore some, as nohup and shells in the background do.
for ignored_signal in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGXCPU):
    signal.signal(ignored_signal, signal.SIG_DFL)


def ends(scene, faults, older, number, ending):
    """The signal comes before that call."""
    label = f"{'over an older file, ' if older else ''}{'named, ' if faults else ''}{ending.name} at call {number}"
    scene.set_older(older)
    done = scene.convert({**faults, "AT": number, "DO": f"signal:{int(ending)}"})
    scene.checks.equal(f"{label}: ended by it", done.returncode, -ending)
    names = [path.name for path in scene.inputs.iterdir()]
    parts = [name for name in names if PART.fullmatch(name)] if ending == signal.SIGKILL else []
    scene.checks.check(f"{label}: at most one temporary file", len(parts) <= 1, parts)
    scene.check_folder(label, None, older, parts)
    return bool(parts)


def every_call(scene):
    left = 0
    for faults in ({}, {"NAMED": 1}):
        for older in (False, True):
            count = len(scene.calls(faults, older))
            trials = [(number, ending) for number in range(1, count + 1) for ending in (signal.SIGTERM, signal.SIGKILL)]
            for number, ending in share_of(trials, STEP):
                left += ends(scene, faults, older, number, ending)
            for number in range(count - 20, count + 1, 3):
                for ending in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU):
                    ends(scene, faults, older, number, ending)
    scene.checks.check("SIGKILL found temporary files to leave", left > 0, left)


def between_names(scene):
    """The signal comes when the output has one name already: beside an older file it still has to be renamed."""
    for faults in ({}, {"NAMED": 1}):
        for older in (False, True):
            calls = [name for name, _ in scene.calls(faults, older)]
            placed = [number for number, name in enumerate(calls, 1) if name in ("linkat", "rename")]
            label = f"{'over an older file' if older else 'new'}{', named' if faults else ''}"
            scene.checks.check(f"{label}: the output gets a name", placed, calls)
            for number in placed:
                for ending in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                    scene.set_older(older)
                    done = scene.convert({**faults, "AT": number, "DO": f"after:{int(ending)}"})
                    what = f"{label}: {ending.name} after {calls[number - 1]}"
                    scene.checks.equal(f"{what}: ended by it", done.returncode, -ending)
                    scene.check_folder(what, None if calls[number - 1] == "linkat" else True, older)


def ignored(scene):
    """nohup: what is ignored stays so."""
    scene.set_older(False)
    number = len(scene.calls()) // 2
    scene.set_older(False)
    done = scene.convert({"AT": number, "DO": f"signal:{int(signal.SIGHUP)}"}, prefix=["nohup"], stdin=subprocess.DEVNULL)
    scene.checks.equal(f"nohup: status {done.stderr}", done.returncode, 0)
    scene.check_folder("nohup", True, False)


def large_model(path):
    """Matrices of 4 MB each."""
    side = 1024
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [1, side])
    values = ["x", *(f"t{i}" for i in range(MEGABYTES // 4))]
    for source, target in zip(values, values[1:]):
        m.tensor(f"{target}.w", onnx.FLOAT, [side, side], raw=os.urandom(4 * side * side))
        m.node("MatMul", [source, f"{target}.w"], [target])
    m.output(values[-1], onnx.FLOAT, [1, side])
    m.save(path)


def random_moments(scene, seed):
    print(f"seed {seed}")
    noise = random.Random(seed)
    large_model(scene.inputs / "model.onnx")
    arguments = [command("onnx-to-dlc"), *ARGUMENTS[:4]]
    began = time.monotonic()
    scene.checks.equal("large model", subprocess.run(arguments, cwd=scene.inputs, check=False, stderr=subprocess.DEVNULL
                                                     ).returncode, 0)
    duration = time.monotonic() - began
    scene.container = scene.out.read_bytes()
    outcomes = {"complete": 0, "as before": 0}
    for i in range(MOMENTS):
        older = i % 2 == 1
        scene.set_older(older)
        running = subprocess.Popen(arguments, cwd=scene.inputs, stderr=subprocess.DEVNULL)
        moment = noise.uniform(0, duration)
        time.sleep(moment)
        running.kill()
        status = running.wait()
        label = f"killed after {moment:.4f} s{' over an older file' if older else ''}"
        scene.checks.check(f"{label}: status", status in (0, -signal.SIGKILL), status)
        parts = [path.name for path in scene.inputs.iterdir() if PART.fullmatch(path.name)] if status else []
        complete = scene.check_folder(label, True if status == 0 else None, older, parts)
        outcomes["complete" if complete else "as before"] += 1
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()))
    scene.checks.check("some came in time", outcomes["as before"] > 0, outcomes)


def main():
    checks = Checks()
    seed = sys.argv[1] if len(sys.argv) > 1 else str(time.time_ns())
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(checks, folder)
        between_names(scene)
        every_call(scene)
        ignored(scene)
        random_moments(scene, seed)
    checks.finish()


main()
