# SPDX-License-Identifier: Apache-2.0
"""Inputs that become shorter, change, are replaced or removed while a command reads them, before each of its calls (some
of them without ODLC_LONG=1). What has gone wrong is said, and nothing else, for it explains the rest."""

import os
import shutil
import struct
import sys
import tempfile

from scene import INPUTS, SIDE, Checks, Scene, onnx, run, share_of

WORDS = {"cut": "became shorter while it was read", "touch": "changed while it was read",
         "replace": "was replaced while it was read"}
# Of the calls before which something happens, without ODLC_LONG=1: where files with weights are cut, elsewhere, in readers.
CUT_STEP, STEP, READER_STEP = 5, 25, 4
ACTIONS = {"cut": "cut:{size}", "touch": "touch", "replace": "replace"}


def opened_at(calls, name):
    """Number of the call by which a command has got to know the file: the fstat after its opening."""
    number = next(i for i, (call, path) in enumerate(calls) if call in ("open", "openat2") and
                  os.path.basename(path) == name)
    return number + 1 + next(i for i, (call, _) in enumerate(calls[number:]) if call == "fstat")


def faults_for(scene, folder, name, action, number):
    """Puts the file and what would replace it in place."""
    for copy in (folder / name, folder / "other"):
        copy.unlink(missing_ok=True)
        shutil.copyfile(scene.spare / name, copy)
    size = (folder / name).stat().st_size // 3
    return {"AT": number, "DO": ACTIONS[action].format(size=size), "FILE": name, "OTHER": "other"}


def tells(scene, label, done, name, action):
    """One error, and it says what has happened to which file."""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("  hint: ")]
    return scene.checks.check(label, done.returncode in (1, 2) and len(lines) == 1 and WORDS[action] in lines[0]
                              and "error" in lines[0] and name in lines[0], f"{done.returncode} {done.stderr}")


def while_converting(scene, name, action, step):
    calls = scene.calls()
    first, told = opened_at(calls, name), 0
    committed = 1 + next(i for i, (call, _) in enumerate(calls) if call == "linkat")
    for number in share_of(range(first + 1, committed), step, f"calls before which {name} changes"):
        label = f"{name}: {action} at call {number}"
        scene.set_older(False)
        done = scene.convert(faults_for(scene, scene.inputs, name, action, number))
        (scene.inputs / "other").unlink(missing_ok=True)
        if done.returncode == 0:
            # The inputs were looked at for the last time; what was read before is whole.
            scene.checks.check(f"{label}: late", number > committed - 2 * len(INPUTS) - 2, f"of {committed}")
        else:
            told += tells(scene, label, done, name, action)
        scene.check_folder(label, done.returncode == 0, False)
    scene.checks.check(f"{name}: {action}: was told", told > 0, told)
    scene.restore(name)


def converter(scene):
    for name in INPUTS:
        for action in WORDS:
            weights = name in ("model.onnx", "weights.bin")
            while_converting(scene, name, action, CUT_STEP if weights and action == "cut" else STEP)


def removed(scene):
    """A file that has no name any more is read as it was."""
    for name in INPUTS:
        number = opened_at(scene.calls(), name) + 1
        scene.set_older(False)
        done = scene.convert({"AT": number, "DO": "remove", "FILE": name})
        scene.checks.equal(f"{name} removed: status {done.stderr}", done.returncode, 0)
        scene.restore(name)
        scene.check_folder(f"{name} removed", True, False)


def without_output(scene):
    """Dry runs and udo-check read as conversions do."""
    for command, args in (("onnx-to-dlc", ["-i", "model.onnx", "-udo", "ops.json", "--freeze_input", "shape=shape.raw", "--dry_run"]),
                          ("udo-check", ["ops.json", "--model", "model.onnx", "--freeze_input", "shape=shape.raw"])):
        report_and_cut(scene, scene.inputs, command, args, "model.onnx")
        report_and_cut(scene, scene.inputs, command, args, "ops.json")


# ---- the readers of containers ----

def report_and_cut(scene, folder, command, args, name, saved=None, expected=None):
    """A command without faults, then with one file cut at each of its calls after it has opened it. The file that it
    saves is the right one or not there."""
    report = scene.folder / "calls.txt"
    done = run(folder, command, *args, faults={"REPORT": report})
    scene.checks.check(f"{command} without faults", done.returncode == 0, done.stderr)
    calls = [tuple(line.split(" ", 1)) for line in report.read_text().splitlines()]
    if saved:
        scene.checks.check(f"{command} saves", expected is None or saved.read_bytes() == expected)
        expected = saved.read_bytes()
    numbers = range(opened_at(calls, name) + 1, len(calls) + 1)
    for number in share_of(numbers, READER_STEP, f"calls of {command}"):
        label = f"{command}: {name} cut at call {number} {calls[number - 1][0]}"
        if saved:
            saved.unlink(missing_ok=True)
        done = run(folder, command, *args, faults=faults_for(scene, folder, name, "cut", number))
        if done.returncode != 0:
            tells(scene, label, done, name, "cut")
            whole = saved is None or not saved.exists() or saved.read_bytes() == expected
            scene.checks.check(f"{label}: nothing wrong is saved", whole)
        elif saved:
            scene.checks.check(f"{label}: saved", saved.read_bytes() == expected)
        else:
            late = [call for call, _ in calls[number - 1:]]
            scene.checks.check(f"{label}: late", set(late) <= {"close", "fstat", "stat"}, late)
    shutil.copyfile(scene.spare / name, folder / name)
    (folder / "other").unlink(missing_ok=True)


def matrix_model(path):
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [1, SIDE])
    m.tensor("w", onnx.FLOAT, [SIDE, SIDE], raw=struct.pack("<f", 0.5) * SIDE * SIDE)
    m.node("MatMul", ["x", "w"], ["y"])
    m.output("y", onnx.FLOAT, [1, SIDE])
    m.save(path)


def executed(scene):
    folder = scene.folder / "executed"
    folder.mkdir()
    matrix_model(folder / "run.onnx")
    done = run(folder, "onnx-to-dlc", "-i", "run.onnx")
    scene.checks.equal(f"matrix: {done.stderr}", done.returncode, 0)
    (folder / "x.raw").write_bytes(struct.pack("<f", 1.0) * SIDE)
    (folder / "list.txt").write_text("x:=x.raw\n")
    expected = struct.pack("<f", 0.5 * SIDE) * SIDE
    for name in ("run.dlc", "x.raw", "list.txt"):
        shutil.copyfile(folder / name, scene.spare / name)
        report_and_cut(scene, folder, "net-run", ["--container", "run.dlc", "--input_list", "list.txt"], name,
                       folder / "output" / "Result_0" / "y.raw", expected)


def readers(scene):
    folder = scene.folder / "containers"
    folder.mkdir()
    for path in (folder, scene.spare):
        (path / "net.dlc").write_bytes(scene.container)
    for command, args in (("dlc-info", ["-i", "net.dlc"]), ("dlc-info", ["-i", "net.dlc", "--json"]),
                          ("dlc-info", ["-i", "net.dlc", "--verify"]),
                          ("dlc-info", ["-i", "net.dlc", "--save", "table.csv"]),
                          ("dlc-info", ["-i", "net.dlc", "--tensor", "matrix", "--dump", "matrix.npy"]),
                          ("dlc-viewer", ["-i", "net.dlc", "-s", "page.html"]),
                          ("dlc-viewer", ["-i", "net.dlc", "--dot"]),
                          ("dlc-diff", ["-i1", "net.dlc", "-i2", "net.dlc"])):
        saved = folder / args[-1] if args[-2] in ("--save", "--dump", "-s") else None
        report_and_cut(scene, folder, command, args, "net.dlc", saved)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(checks, folder)
        for part in (converter, removed, without_output, readers, executed):
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                part(scene)
    checks.finish()


main()
