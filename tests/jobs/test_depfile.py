# SPDX-License-Identifier: Apache-2.0
"""The depfile: every file that a conversion reads, spelled so that the real make and ninja see a change of each of them;
what it does to the container when it cannot be written."""

import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import onnx_writer as onnx  # noqa: E402
from checks import Checks, command, run  # noqa: E402

MAKE, NINJA = shutil.which("make"), shutil.which("ninja")
ODD = ["two words", "a  b", "hash#tag", "dollar$sign", "$(HOME)", "$$", "colon:inside", ":first", "100%", "%d%", "comma,x",
       "tilde~", "~first", "at@", "{braces}", "[1]", "(2) copy", "plus+", "bang!", "Größe", "-dash", "..dots", "a=b"]
IMPOSSIBLE = ["quote\"", "quote'", "and&", "star*", "semi;", "less<", "more>", "what?", "back\\slash", "hat^", "tick`", "bar|",
              "tab\t", "line\nbreak", "return\r"]


def external(m, message, location):
    """The elements of a tensor message in a file of its own."""
    message.integer(14, 1)
    message.message(13, onnx.Message().data(1, "location").data(2, location))
    return message


def header(name, data_type, dims):
    t = onnx.Message()
    for dim in dims:
        t.integer(1, dim)
    return t.integer(2, data_type).data(8, name)


def full_model(folder):
    """A model that makes the conversion read files of all kinds; returns their names."""
    m = onnx.Model(opset=13, domains=["d"])
    m.input("x", onnx.FLOAT, [4])
    m.input("shape", onnx.INT64, [2])
    m.input("factor", onnx.FLOAT, [2, 2])
    m.graph.message(5, external(m, header("c", onnx.FLOAT, [4]), "constant.bin"))
    values = external(m, header("s", onnx.FLOAT, [1]), "sparse.bin")
    sparse = onnx.Message().message(1, values).message(2, onnx.tensor("", onnx.INT64, [1], [2])).integer(3, 4)
    m.graph.message(15, sparse)
    m.graph.message(5, external(m, header("unused", onnx.FLOAT, [4]), "unused.bin"))
    m.node("Add", ["x", "c"], ["a"])
    m.node("Add", ["a", "s"], ["b"])
    m.node("Thing", ["b"], ["t"], domain="d")
    m.node("Reshape", ["t", "shape"], ["r"])
    m.node("Mul", ["r", "factor"], ["y"])
    m.output("y", onnx.FLOAT, [2, 2])
    m.save(folder / "model.onnx")
    (folder / "constant.bin").write_bytes(struct.pack("<4f", 1, 2, 3, 4))
    (folder / "unused.bin").write_bytes(struct.pack("<4f", 1, 2, 3, 4))
    (folder / "sparse.bin").write_bytes(struct.pack("<f", 5))
    (folder / "shape.raw").write_bytes(struct.pack("<2q", 2, 2))
    factor = b"".join(external(m, header("factor", onnx.FLOAT, [2, 2]), "factor.bin").parts)
    (folder / "factor.pb").write_bytes(factor)
    (folder / "factor.bin").write_bytes(struct.pack("<4f", 1, 2, 3, 4))
    tensor = '{"data_type": "FLOAT_32"%s}'
    (folder / "ops.json").write_text(
        '{"UdoPackage_0": {"UDO_PACKAGE_NAME": "P", "Operators": [{"type": "Thing", "inputs": [%s], "outputs": [%s],'
        ' "core_types": ["CPU"]}]}}' % (tensor % "", tensor % ', "shape": "same_as in0"'))
    (folder / "rights.txt").write_text("all rights")
    return ["model.onnx", "ops.json", "shape.raw", "factor.pb", "constant.bin", "sparse.bin", "unused.bin", "factor.bin",
            "rights.txt"]


FULL = ["-i", "model.onnx", "-udo", "ops.json", "--freeze_input", "shape=shape.raw", "--freeze_input", "factor=factor.pb",
        "--copyright_file", "rights.txt", "-o", "out.dlc", "--depfile", "out.d"]


def complete(checks, folder):
    names = full_model(folder)
    done = run("onnx-to-dlc", *FULL, cwd=folder)
    if not checks.equal(f"complete: status {done.stderr}", done.returncode, 0):
        return
    rule = (folder / "out.d").read_text().replace("\\\n", "").split()
    listed = [name.removeprefix("./") for name in rule]
    checks.equal("complete: target", listed[0], "out.dlc:")
    checks.equal("complete: every file once", sorted(listed[1:]), sorted(names))
    for name in names:  # each is needed indeed
        if name != "unused.bin":
            (folder / name).rename(folder / "away")
            checks.check(f"without {name}", run("onnx-to-dlc", *FULL, cwd=folder).returncode == 1)
            (folder / "away").rename(folder / name)


def save_model(path):
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [2])
    m.node("Relu", ["x"], ["y"])
    m.output("y", onnx.FLOAT, [2])
    m.save(path)


def spelled(name):
    """As a rule of make has it."""
    return "".join({"$": "$$"}.get(c, "\\" + c if c in " #:" else c) for c in name)


def make_sees(folder, target, source):
    """Whether make, told by the depfile alone, finds the target up to date and then, its source changed, not."""
    (folder / "Makefile").write_text(f"all:\n{spelled(target)}:\n\t@echo made\ninclude out.d\n")
    os.utime(folder / target, (2000, 2000))
    os.utime(folder / source, (1000, 1000))
    fresh = subprocess.run([MAKE, "-q", "--", target], cwd=folder, capture_output=True, check=False).returncode
    os.utime(folder / source, (3000, 3000))
    stale = subprocess.run([MAKE, "-q", "--", target], cwd=folder, capture_output=True, check=False).returncode
    return (fresh, stale) == (0, 1)


def ninja_sees(folder, target, source, deps):
    """The same of ninja, which converts itself: how often after nothing, nothing, and a changed source."""
    name = "".join("$" + c if c in "$ :" else c for c in target)
    (folder / "build.ninja").write_text(
        f"rule dlc\n  command = sh ./convert\n  depfile = out.d\n{'  deps = gcc' if deps else ''}\nbuild {name}: dlc\n")
    (folder / "convert").write_text('echo x >>count\n"$CONVERTER" -q -i "$SOURCE" -o "$TARGET" --depfile out.d\n')
    for leftover in (".ninja_log", ".ninja_deps", "count", target):
        (folder / leftover).unlink(missing_ok=True)
    environment = {**os.environ, "CONVERTER": command("onnx-to-dlc"), "SOURCE": f"./{source}", "TARGET": f"./{target}"}
    counts = []
    os.utime(folder / source, (1000, 1000))
    for change in (False, False, True):
        if change:
            os.utime(folder / source)
        done = subprocess.run([NINJA], cwd=folder, capture_output=True, text=True, env=environment, check=False)
        if done.returncode:
            return done.stdout
        counts.append((folder / "count").read_text().count("x"))
    return counts


def spellings(checks, folder):
    save_model(folder / "plain.onnx")
    for name in ODD:
        for role, source, target in (("input", f"{name}.onnx", "plain.dlc"), ("target", "plain.onnx", f"{name}.dlc")):
            if role == "input":
                shutil.copy(folder / "plain.onnx", folder / source)
            done = run("onnx-to-dlc", "-i", f"./{source}", "-o", f"./{target}", "--depfile", "out.d", cwd=folder)
            label = f"{role} {name!r}"
            if not checks.equal(f"{label}: status {done.stderr}", done.returncode, 0):
                continue
            warned = "make does not take this name" in done.stderr
            misread = "=" in name or role == "target" and "%" in name
            checks.equal(f"{label}: warned", warned, misread)
            if MAKE and not misread:
                checks.check(f"{label}: make", make_sees(folder, target, source), (folder / "out.d").read_text())
            for deps in (True, False):
                if NINJA:
                    checks.equal(f"{label}: ninja, deps {deps}", ninja_sees(folder, target, source, deps), [1, 1, 2])


def impossible(checks, folder):
    save_model(folder / "plain.onnx")
    for name in IMPOSSIBLE:
        for source, target in ((f"{name}.onnx", "p.dlc"), ("plain.onnx", f"{name}.dlc")):
            if source != "plain.onnx":
                shutil.copy(folder / "plain.onnx", folder / source)
            (folder / "old.d").write_text("older")
            done = run("onnx-to-dlc", "-i", source, "-o", target, "--depfile", "old.d", cwd=folder)
            checks.equal(f"{name!r}: status", done.returncode, 1)
            checks.check(f"{name!r}: words", "a depfile cannot hold this name" in done.stderr, done.stderr)
            checks.check(f"{name!r}: no container", not (folder / target).exists())
            checks.equal(f"{name!r}: the older depfile", (folder / "old.d").read_text(), "older")
            checks.equal(f"{name!r}: without a depfile",
                         run("onnx-to-dlc", "-i", source, "-o", target, cwd=folder).returncode, 0)
            (folder / target).unlink()
    for name in ("blank ", "colon:"):
        done = run("onnx-to-dlc", "-i", "plain.onnx", "-o", name, "--depfile", "old.d", cwd=folder)
        checks.equal(f"{name!r}: status", done.returncode, 1)


def failures(checks, folder):
    """The container does not appear when the depfile cannot, and the other way round."""
    save_model(folder / "plain.onnx")
    (folder / "folder").mkdir()
    for label, depfile, status in (("no folder", "nowhere/out.d", 1), ("a folder", "folder", 1), ("the output", "p.dlc", 2),
                                   ("the output, spelled otherwise", "folder/../p.dlc", 2), ("the model", "plain.onnx", 2)):
        done = run("onnx-to-dlc", "-i", "plain.onnx", "-o", "p.dlc", "--depfile", depfile, cwd=folder)
        checks.equal(f"depfile is {label}: status", done.returncode, status)
        checks.check(f"depfile is {label}: an error", "error: " in done.stderr, done.stderr)
        checks.equal(f"depfile is {label}: files", sorted(path.name for path in folder.iterdir()), ["folder", "plain.onnx"])
    done = run("onnx-to-dlc", "-i", "plain.onnx", "-o", "nowhere/p.dlc", "--depfile", "p.d", cwd=folder)
    checks.equal("no container: status", done.returncode, 1)
    checks.check("no container: no depfile", not (folder / "p.d").exists())
    done = run("onnx-to-dlc", "-i", "plain.onnx", "-o", "p.dlc", "--depfile", "p.d", "--dry_run", cwd=folder)
    checks.equal("a dry run writes nothing", sorted(path.name for path in folder.iterdir()), ["folder", "plain.onnx"])
    (folder / "rights.txt").write_text("rights")
    done = run("onnx-to-dlc", "-i", "plain.onnx", "-o", "rights.txt", "--copyright_file", "rights.txt", cwd=folder)
    checks.equal("output is the copyright text", (done.returncode, (folder / "rights.txt").read_text()), (2, "rights"))


def main():
    checks = Checks()
    for name, tool in (("make", MAKE), ("ninja", NINJA)):
        if not tool:
            checks.skip(name, "not installed")
    for part in (complete, spellings, impossible, failures):
        with tempfile.TemporaryDirectory() as folder:
            part(checks, pathlib.Path(folder))
    checks.finish()


main()
