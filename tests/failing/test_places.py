# SPDX-License-Identifier: Apache-2.0
"""Outputs at places where they cannot be, or must not: the inputs under any name, folders, pipes, devices, links. Nothing
is harmed, and what can be written appears."""

import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile

from scene import ARGUMENTS, INPUTS, Checks, Scene, patient, run, sanitized


def arguments(output, *more):
    return [str(output) if argument == "out.dlc" else argument for argument in ARGUMENTS] + [str(m) for m in more]


def snapshot(folder):
    """What is in a folder: kind, content and links."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        content = os.readlink(path) if stat.S_ISLNK(mode) else path.read_bytes() if stat.S_ISREG(mode) else None
        found[str(path.relative_to(folder))] = (stat.S_IFMT(mode), content)
    return found


def refused(scene, label, args, status, words, command="onnx-to-dlc", **more):
    """The command fails, says why, and changes nothing."""
    before = snapshot(scene.inputs)
    done = run(scene.inputs, command, *args, timeout=patient(60), **more)
    scene.checks.equal(f"{label}: status {done.stderr}", done.returncode, status)
    scene.checks.check(f"{label}: words", words in done.stderr, done.stderr)
    scene.checks.check(f"{label}: nothing is changed", snapshot(scene.inputs) == before)


def spellings(scene, name):
    """Other names of an input; those of links are made."""
    folder = scene.inputs
    os.link(folder / name, folder / "hard.dlc")
    os.symlink(name, folder / "soft.dlc")
    os.symlink("soft.dlc", folder / "soft2.dlc")
    os.symlink(".", folder / "here")
    return [name, f"./{name}", f".//{name}", f"../inputs/{name}", f"here/{name}", folder / name, "hard.dlc", "soft.dlc",
            "soft2.dlc"]


def remove_links(scene):
    for name in ("hard.dlc", "soft.dlc", "soft2.dlc", "here"):
        (scene.inputs / name).unlink()


def inputs_as_outputs(scene):
    for name in INPUTS:
        for spelling in spellings(scene, name):
            refused(scene, f"{name} as {spelling}", arguments(spelling), 2, "the output is ")
            refused(scene, f"depfile: {name} as {spelling}", arguments("out.dlc", "--depfile", spelling), 2,
                    "the depfile is ")
        remove_links(scene)


def depfile_as_output(scene):
    os.symlink("out.dlc", scene.inputs / "link.dlc")
    for depfile in ("out.dlc", "./out.dlc", "../inputs/out.dlc", "link.dlc"):
        refused(scene, f"depfile {depfile}", arguments("out.dlc", "--depfile", depfile), 2, "the depfile is ")
    (scene.inputs / "link.dlc").unlink()


def tools_outputs(scene):
    (scene.inputs / "net.dlc").write_bytes(scene.container)
    for spelling in spellings(scene, "net.dlc"):
        for command, args in (("dlc-info", ["-i", "net.dlc", "--save", spelling]),
                              ("dlc-info", ["-i", "net.dlc", "--tensor", "matrix", "--dump", spelling]),
                              ("dlc-viewer", ["-i", "net.dlc", "-s", spelling]),
                              ("dlc-diff", ["-i1", "net.dlc", "-i2", "net.dlc", "-s", spelling])):
            refused(scene, f"{command} to {spelling}", args, 2, "the output is a file that is read", command)
    remove_links(scene)
    for spelling in spellings(scene, "ops.json"):
        refused(scene, f"udo-check to {spelling}", ["ops.json", "--convert", "xml", "-o", spelling], 2,
                "the output is a file that is read", "udo-check")
    remove_links(scene)
    (scene.inputs / "net.dlc").unlink()


def impossible(scene):
    folder = scene.inputs
    os.mkfifo(folder / "pipe")
    (folder / "full").mkdir()
    (folder / "full" / "file").write_text("text")
    os.symlink("circle", folder / "circle")
    os.symlink("nowhere/out.dlc", folder / "lost.dlc")
    for place, words in (("full", "not a regular file"), ("full/", "not a regular file"), ("pipe", "not a regular file"),
                         ("/dev/null", "not a regular file"), ("/dev/full", "not a regular file"), (".", "not a regular"),
                         ("nowhere/out.dlc", "No such file"), ("out.dlc/", "No such file"),
                         ("model.onnx/out.dlc", "Not a directory"), ("circle", "Too many levels of symbolic links"),
                         ("lost.dlc", "No such file"), (f"{'n' * 256}", "File name too long"),
                         (f"{'n/' * 2100}out.dlc", "File name too long"), ("", "has no name")):
        refused(scene, f"output {place[:20]!r}", arguments(place), 2 if place == "" else 1, words)
    by_descriptor(scene)
    shutil.rmtree(folder / "full")
    for name in ("pipe", "circle", "lost.dlc"):
        (folder / name).unlink()


def by_descriptor(scene):
    """Links to what a process has open are no names: a file that has been removed would be made anew, as "NAME
    (deleted)"."""
    folder = scene.inputs
    for name in ("open.dlc", "removed.dlc"):
        (folder / name).write_bytes(b"as it was")
    os.symlink("/proc/self/fd/2", folder / "linked.dlc")
    with open(folder / "open.dlc", "ab") as kept, open(folder / "removed.dlc", "ab") as removed:
        (folder / "removed.dlc").unlink()
        for label, number in (("a file", kept.fileno()), ("a removed file", removed.fileno())):
            for place in (f"/proc/self/fd/{number}", f"/dev/fd/{number}"):
                refused(scene, f"output {place} is {label}", arguments(place), 1, "not a regular file",
                        pass_fds=[number])
        refused(scene, "output is a link to standard error", arguments("linked.dlc"), 1, "not a regular file")
    scene.checks.equal("the open file", (folder / "open.dlc").read_bytes(), b"as it was")
    scene.checks.equal("removed files do not come back", sorted(path.name for path in folder.glob("removed*")), [])
    for name in ("open.dlc", "linked.dlc"):
        (folder / name).unlink()


def appears(scene, label, place, faults=None):
    done = run(scene.inputs, "onnx-to-dlc", *arguments(place), faults=faults)
    scene.checks.equal(f"{label}: status {done.stderr}", done.returncode, 0)
    path = scene.inputs / place
    scene.checks.equal(f"{label}: is a file", path.exists() and stat.S_ISREG(path.stat().st_mode), True)
    found = path.read_bytes() if path.exists() else b""
    # The graph goes by the stem of the output's name.
    scene.checks.check(f"{label}: container", found[:4] == b"PK\x03\x04" and
                       (pathlib.Path(place).stem != "out" or found == scene.container), len(found))
    names = {name for name in os.listdir(path.resolve().parent) if name.endswith(".part")}
    scene.checks.equal(f"{label}: nothing else", names, set())


def possible(scene):
    folder = scene.inputs
    for faults in (None, {"NAMED": 1}):
        for _ in range(2):  # anew, then over what is there
            appears(scene, "longest name", "n" * 251 + ".dlc", faults)
            appears(scene, "longest name of umlauts", "ü" * 125 + ".dlc", faults)
        (folder / "deep").mkdir()
        os.symlink("deep/out.dlc", folder / "out.dlc")
        for label in ("through a link to nothing", "through a link"):
            appears(scene, label, "out.dlc", faults)
            scene.checks.equal(f"{label}: stays a link", os.readlink(folder / "out.dlc"), "deep/out.dlc")
        os.chmod(folder / "deep" / "out.dlc", 0o444)
        appears(scene, "over a read-only file", "deep/out.dlc", faults)
        shutil.rmtree(folder / "deep")
        scene.set_older(False)


def read_only_folder(scene):
    folder = scene.inputs
    scene.set_older(True)
    # Whoever may write anyway (root) is made somebody else.
    prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    if prefix and not shutil.which("setpriv"):
        scene.checks.skip("read-only folder", "no setpriv to become another user with")
        return
    scene.folder.chmod(0o755)
    folder.chmod(0o555)
    before = snapshot(folder)
    for place in ("out.dlc", "new.dlc"):
        done = run(folder, "onnx-to-dlc", *arguments(place), prefix=prefix)
        scene.checks.equal(f"read-only folder, {place}: status", done.returncode, 1)
        scene.checks.check(f"read-only folder, {place}: words", "Permission denied" in done.stderr, done.stderr)
        scene.checks.check(f"read-only folder, {place}: untouched", snapshot(folder) == before)
    folder.chmod(0o755)
    scene.set_older(False)


def without_proc(scene):
    """Unnamed files get their names through /proc; without it, there are temporary ones."""
    if sanitized():
        scene.checks.skip("without /proc", "LeakSanitizer needs it")
        return
    hide = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs tmpfs /proc && exec "$@"', "sh"]
    if not shutil.which("unshare") or subprocess.run([*hide, "true"], capture_output=True, check=False).returncode != 0:
        scene.checks.skip("without /proc", "file systems cannot be mounted here")
        return
    for older in (False, True):
        scene.set_older(older)
        done = scene.convert(prefix=hide)
        scene.checks.equal(f"without /proc: status {done.stderr}", done.returncode, 0)
        scene.check_folder("without /proc", True, older)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(checks, folder)
        for part in (inputs_as_outputs, depfile_as_output, tools_outputs, impossible, possible, read_only_folder,
                     without_proc):
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                scene.set_older(False)
                part(scene)
    checks.finish()


main()
