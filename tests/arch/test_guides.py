# SPDX-License-Identifier: Apache-2.0
"""The guides that add an operator and a backend, followed step by step in a copy of the sources: what they write compiles, and
net-run computes by it."""

import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks, run  # noqa: E402
from onnx_writer import FLOAT, Model  # noqa: E402

COPIED = ("converters", "docs", "include", "meson.build", "meson_options.txt", "proto", "scripts", "src")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks_of(guide):
    """Code blocks by the file that the sentence before each one names first."""
    text = (SOURCE / "docs" / guide).read_text()
    found = {}
    for block in BLOCK.finditer(text):
        sentence = text[:block.start()].rstrip().rsplit("\n\n", 1)[-1]
        found[re.search(r"`([\w./]+)`", sentence).group(1)] = block.group(2)
    return found


def copy_sources(folder):
    for name in COPIED:
        source = SOURCE / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copy(source, folder / name)


def follow(folder, blocks):
    """Writes new files, and adds lines to existing ones: to a table at its end, to a list of meson's before it closes."""
    for name, text in blocks.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.name == "meson.build":
            list_end = re.compile(r"^[})]$", re.MULTILINE)
            text = list_end.sub(lambda end, more=text: more + end.group(), path.read_text(), count=1)
        elif path.exists():
            text = path.read_text() + text
        path.write_text(text)


def build(checks, folder, targets):
    """With the toy and the reference alone, which compute."""
    for command in (["meson", "setup", "build", "-Dtests=false", "-Dcpu=disabled", "-Dgpu=disabled", "-Doptimization=0",
                     "-Ddebug=false", "-Dwerror=true"], ["ninja", "-C", "build", *targets]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if not checks.equal(" ".join(command[:2]), done.returncode, 0):
            print(done.stdout[-4000:])
            return False
    return True


def write_model(path):
    """y = (a + b) + c, where c is a constant: the first sum is the toy's, the second is not."""
    m = Model(opset=13)
    m.input("a", FLOAT, [4])
    m.input("b", FLOAT, [4])
    m.tensor("c", FLOAT, [4], [100, 200, 300, 400])
    m.node("Add", ["a", "b"], ["sum"], name="first")
    m.node("Add", ["sum", "c"], ["y"], name="second")
    m.output("y", FLOAT, [4])
    m.save(path)


def run_toy(checks, folder):
    write_model(folder / "m.onnx")
    checks.equal("conversion", run("onnx-to-dlc", "-i", folder / "m.onnx", "-o", folder / "m.dlc").returncode, 0)
    (folder / "a.raw").write_bytes(struct.pack("<4f", 1, 2, 3, 4))
    (folder / "b.raw").write_bytes(struct.pack("<4f", 10, 20, 30, 40))
    (folder / "list.txt").write_text("a:=a.raw b:=b.raw\n")
    done = subprocess.run([folder / "build" / "src" / "tools" / "net-run", "--container", "m.dlc", "--input_list",
                           "list.txt", "--backend", "toy,reference", "--explain"],
                          cwd=folder, capture_output=True, text=True, check=False)
    checks.equal("net-run", (done.returncode, done.stderr), (0, ""))
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    checks.equal("who computes", lines[1:3], ["toy ElementWiseAdd first", "reference ElementWiseAdd second"])
    checks.check("why not", "toy does not take second (ElementWiseAdd): it is no sum of float32 tensors of one shape" in lines,
                 done.stdout)
    y = struct.unpack("<4f", (folder / "output" / "Result_0" / "y.raw").read_bytes())
    checks.equal("numbers", y, (111, 222, 333, 444))


def run_cube(checks, folder):
    """y = 2 · x³ with x of float32, and with a constant, which is computed when the model is converted."""
    m = Model(opset=13, domains=("your.domain",))
    m.input("x", FLOAT, [4])
    m.tensor("c", FLOAT, [4], [1, 2, 3, 4])
    m.node("Cube", ["x"], ["cubes"], name="of_input", domain="your.domain", gain=2.0)
    m.node("Cube", ["c"], ["known"], name="of_constant", domain="your.domain")
    m.node("Add", ["cubes", "known"], ["y"], name="sum")
    m.output("y", FLOAT, [4])
    m.save(folder / "cube.onnx")
    done = subprocess.run([folder / "build" / "converters" / "onnx-to-dlc", "-i", "cube.onnx", "-o", "cube.dlc"], cwd=folder,
                          capture_output=True, text=True, check=False)
    checks.check("conversion of a Cube", done.returncode == 0 and "2 ops from 3 nodes" in done.stderr, done.stderr)
    (folder / "x.raw").write_bytes(struct.pack("<4f", 1, -2, 3, 0.5))
    (folder / "cube.txt").write_text("x:=x.raw\n")
    done = subprocess.run([folder / "build" / "src" / "tools" / "net-run", "--container", "cube.dlc", "--input_list", "cube.txt",
                           "--explain", "--output_dir", "cube", "--backend", "reference"], cwd=folder, capture_output=True, text=True, check=False)
    checks.equal("net-run of a Cube", (done.returncode, done.stderr), (0, ""))
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    checks.equal("nodes left", lines[1:3], ["reference Cube of_input", "reference ElementWiseAdd sum"])
    y = struct.unpack("<4f", (folder / "cube" / "Result_0" / "y.raw").read_bytes())
    checks.equal("cubes", y, (2 + 1, -16 + 8, 54 + 27, 0.25 + 64))


def main():
    checks = Checks()
    operator = blocks_of("adding-an-op.md")
    lower = "converters/onnx/lower"
    checks.equal("files of the guide to operators", sorted(operator),
                 [f"{lower}/meson.build", f"{lower}/onnx_cube.c", f"{lower}/onnx_rows.def", "src/kernel/kernel_cube.c",
                  "src/kernel/kernels.def", "src/kernel/meson.build", "src/op/families.def", "src/op/meson.build",
                  "src/op/op_cube.c", "src/op/op_ids.def", "src/op/param_ids.def"])
    blocks = blocks_of("adding-a-backend.md")
    checks.equal("files of the guide", sorted(blocks),
                 ["src/api/backends.def", "src/backend/meson.build", "src/backend/toy/toy.c"])
    checks.check("a toy has 60 lines", sum(text.count("\n") for text in blocks.values()) <= 60)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        copy_sources(folder)
        follow(folder, operator)
        follow(folder, blocks)
        if build(checks, folder, ["src/tools/net-run", "converters/onnx-to-dlc"]):
            run_toy(checks, folder)
            run_cube(checks, folder)
    checks.finish()


main()
