# SPDX-License-Identifier: Apache-2.0
"""Disks that are full, and limits of file size: at 20 points each. Then there is an error, and what was there before."""

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

from scene import ARGUMENTS, OLDER, Checks, Scene, run

POINTS = 20


def sizes(scene):
    """From nothing to just too little, and one that is enough."""
    total = len(scene.container)
    return [total * i // POINTS for i in range(POINTS)] + [total - 1, 2 * total]


def check_failed(scene, label, done, older, reason):
    if scene.checks.check(f"{label}: status", done.returncode == 1, f"{done.returncode} {done.stderr}"):
        scene.checks.check(f"{label}: reason", reason in done.stderr and "out.dlc: error: " in done.stderr, done.stderr)
    scene.check_folder(label, False, older)


def counted(scene):
    """The library for faults counts bytes; headers that are written twice count twice."""
    for faults in ({}, {"NAMED": 1}):
        for older in (False, True):
            for size in sizes(scene):
                label = f"{size} bytes of space{' over an older file' if older else ''}{', named' if faults else ''}"
                scene.set_older(older)
                done = scene.convert({**faults, "SPACE": size})
                if size > len(scene.container):
                    scene.checks.equal(f"{label}: status {done.stderr}", done.returncode, 0)
                    scene.check_folder(label, True, older)
                else:
                    check_failed(scene, label, done, older, "No space left on device")


def limited(scene):
    """RLIMIT_FSIZE, as `ulimit -f` sets it: SIGXFSZ must not end the command without a word."""
    for older in (False, True):
        for size in sizes(scene):
            label = f"files of at most {size} bytes{' over an older file' if older else ''}"
            scene.set_older(older)
            limit = (size, size)
            done = scene.convert(preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
            if size > len(scene.container):
                scene.checks.equal(f"{label}: status {done.stderr}", done.returncode, 0)
                scene.check_folder(label, True, older)
            else:
                check_failed(scene, label, done, older, "File too large")


# ---- a real file system without space, in a name space where it may be mounted ----

def mount(folder, size):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)


def convert_onto_disk(scene, size, older):
    """The inputs stay where they are; only the output is on the small disk."""
    label = f"disk of {size} bytes{' with an older file' if older else ''}"
    disk = scene.folder / "disk"
    mount(disk, size)
    out = disk / "out.dlc"
    if older:
        out.write_bytes(OLDER)
    done = run(scene.inputs, "onnx-to-dlc", *["../disk/out.dlc" if a == "out.dlc" else a for a in ARGUMENTS])
    found = out.read_bytes() if out.exists() else None
    names = {path.name for path in disk.iterdir()} - {"out.dlc"}
    subprocess.run(["umount", disk], check=True)
    scene.checks.equal(f"{label}: nothing is left", names, set())
    if done.returncode == 0:
        scene.checks.check(f"{label}: output", found == scene.container)
    else:
        scene.checks.equal(f"{label}: status", done.returncode, 1)
        scene.checks.check(f"{label}: reason", "No space left on device" in done.stderr, done.stderr)
        scene.checks.check(f"{label}: output", found == (OLDER if older else None))
    return done.returncode


def on_disks(scene):
    page = os.sysconf("SC_PAGESIZE")
    (scene.folder / "disk").mkdir()
    for older in (False, True):
        enough = (len(scene.container) // page + 4) * page
        statuses = [convert_onto_disk(scene, page * (1 + enough // page * i // POINTS), older) for i in range(POINTS)]
        scene.checks.equal("small disks", statuses, [1] * POINTS)
        scene.checks.equal("a disk that is large enough", convert_onto_disk(scene, 2 * enough, older), 0)


def in_own_name_space(scene):
    """Runs on_disks where mounting is allowed: as another process with a name space of its own."""
    tools = ("unshare", "mount", "umount")
    probe = ["unshare", "-rm", "sh", "-c", f"mount -t tmpfs tmpfs '{scene.folder}'"]
    if not all(map(shutil.which, tools)) or subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        scene.checks.skip("disks without space", "file systems cannot be mounted here")
        return
    done = subprocess.run(["unshare", "-rm", sys.executable, __file__, "--inside", scene.folder / "inside"],
                          capture_output=True, text=True, check=False)
    scene.checks.check(f"disks without space: {done.stdout.splitlines()[-1:]}", done.returncode == 0,
                       done.stdout + done.stderr)


def main():
    checks = Checks()
    if sys.argv[1:2] == ["--inside"]:
        folder = pathlib.Path(sys.argv[2])
        folder.mkdir()
        on_disks(Scene(checks, folder))
        checks.finish()
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(checks, folder)
        in_own_name_space(scene)
        counted(scene)
        limited(scene)
    checks.finish()


main()
