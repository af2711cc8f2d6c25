# SPDX-License-Identifier: Apache-2.0
"""Every system call of a conversion fails once (each 17th trial without ODLC_LONG=1), in each way: with EIO, with ENOSPC,
by an interruption, by half of the bytes. Either the container is the right one and the status 0, or there is an error and what was there before."""

import errno
import tempfile

from scene import Checks, Scene, share_of

WAYS = {"EIO": f"errno:{errno.EIO}", "ENOSPC": f"errno:{errno.ENOSPC}", "EINTR": f"errno:{errno.EINTR}",
        "half": "short"}
STEP = 17  # no multiple of the number of ways
MOVES = {"read", "write", "pread", "pwrite", "copy_file_range"}


def try_call(scene, faults, older, number, call, way):
    label = f"{'over an older file, ' if older else ''}{'named, ' if faults else ''}call {number} {call} {way}"
    scene.set_older(older)
    done = scene.convert({**faults, "AT": number, "DO": WAYS[way]})
    if not scene.checks.check(f"{label}: status", done.returncode in (0, 1), f"{done.returncode} {done.stderr}"):
        return
    if done.returncode == 1:
        scene.checks.check(f"{label}: says why", ": error: " in done.stderr, done.stderr)
    if call in MOVES and way in ("EINTR", "half"):
        scene.checks.equal(f"{label}: goes on", done.returncode, 0)
    if call in {"write", "pwrite", "copy_file_range"} and way in ("EIO", "ENOSPC"):
        reason = {"EIO": "Input/output error", "ENOSPC": "No space left on device"}[way]
        scene.checks.check(f"{label}: reason", done.returncode == 1 and reason in done.stderr, done.stderr)
    scene.check_folder(label, done.returncode == 0, older)


def every_call(scene, faults, older):
    calls = [name for name, _ in scene.calls(faults, older)]
    print(f"{len(calls)} calls{' over an older file' if older else ''}{', named' if faults else ''}: "
          + ", ".join(f"{calls.count(name)} {name}" for name in sorted(set(calls))))
    trials = [(number, call, way) for number, call in enumerate(calls, 1) for way in WAYS if way != "half" or call in MOVES]
    for number, call, way in share_of(trials, STEP):
        try_call(scene, faults, older, number, call, way)


def storm(scene):
    """Interruptions and half moves all the time do not change the bytes."""
    for faults in ({"OFTEN": 1}, {"OFTEN": 1, "NAMED": 1}, {"TIMER": 100}, {"OFTEN": 1, "TIMER": 50}):
        for older in (False, True):
            scene.set_older(older)
            done = scene.convert(faults)
            scene.checks.equal(f"storm {faults}: status {done.stderr}", done.returncode, 0)
            scene.check_folder(f"storm {faults}", True, older)


def at_closing(scene):
    """Network file systems and quotas may refuse bytes only when a file is closed: in time, for it has no name yet."""
    for faults in ({}, {"NAMED": 1}):
        for older in (False, True):
            calls = [name for name, _ in scene.calls(faults, older)]
            copied = max(i for i, name in enumerate(calls) if name == "dup")
            scene.checks.equal("a copy of the descriptor is closed", calls[copied + 1], "close")
            for way, status in (("EIO", 1), ("ENOSPC", 1), ("EINTR", 0)):
                scene.set_older(older)
                done = scene.convert({**faults, "AT": copied + 2, "DO": WAYS[way]})
                scene.checks.equal(f"closing gives {way}: status {done.stderr}", done.returncode, status)
                scene.check_folder(f"closing gives {way}", status == 0, older)


def named(scene):
    """The temporary file of file systems without unnamed ones is noticed by these tests."""
    calls = scene.calls({"NAMED": 1})
    opened = [path for name, path in calls if name == "open" and path.endswith(".part")]
    scene.checks.equal("one temporary file", len(opened), 1)
    scene.checks.check("its name", opened and opened[0].startswith("out.dlc."), opened)
    scene.checks.check("it is renamed", ("rename", "out.dlc") in calls, calls)
    calls = scene.calls()
    scene.checks.check("otherwise there is none", not any(path.endswith(".part") for _, path in calls), calls)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(checks, folder)
        named(scene)
        storm(scene)
        at_closing(scene)
        for faults in ({}, {"NAMED": 1}):
            for older in (False, True):
                every_call(scene, faults, older)
    checks.finish()


main()
