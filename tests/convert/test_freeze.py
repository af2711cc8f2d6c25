# SPDX-License-Identifier: Apache-2.0
"""--freeze_input: graph inputs that become constants."""

import struct
import tempfile

from conversion import Workshop, onnx
from checks import Checks

SHAPE = (3, 2)


def reshaped():
    """y = x, in the shape that the model takes as an input."""
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [2, 3])
    m.input("shape", onnx.INT64, ["rank"])
    m.node("Reshape", ["x", "shape"], ["y"], name="change")
    m.output("y", onnx.FLOAT, None)
    return m


def npy(path, descr, shape, data, order="False", version=1):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    path.write_bytes(b"\x93NUMPY" + bytes([version, 0]) + size + header + data)
    return path


def int64(*values):
    return struct.pack(f"<{len(values)}q", *values)


def pb(path, values):
    path.write_bytes(b"".join(onnx.tensor("anything", onnx.INT64, [len(values)], values).parts))
    return path


def forms(w):
    folder, x = w.folder, [1, 2, 3, 4, 5, 6]
    raw = folder / "shape.raw"
    raw.write_bytes(int64(*SHAPE))
    files = {
        "npy": npy(folder / "a.npy", "<i8", "(2,)", int64(*SHAPE)),
        "npy by content": npy(folder / "a.data", "<i8", "(2,)", int64(*SHAPE)),
        "npy 2": npy(folder / "b.npy", "<i8", "(2,)", int64(*SHAPE), version=2),
        "npy 3": npy(folder / "c.npy", "<i8", "(2,)", int64(*SHAPE), version=3),
        "pb": pb(folder / "a.pb", SHAPE),
        "raw": raw,
    }
    for label, file in files.items():
        dims = ["-d", "shape", "2"] if label == "raw" else []
        container = w.gives(label, reshaped(), {"x": x}, {"y": x}, "--freeze_input", f"shape={file}", *dims)
        if container:
            w.checks.equal(f"{label}: dims", container.tensors["y"].dims, list(SHAPE))
            w.checks.check(f"{label}: no input any more", "shape" not in container.tensors)
    depfile = folder / "dep"
    w.convert("depfile", reshaped(), "--freeze_input", f"shape={raw}", "-d", "shape", "2", "--depfile", depfile)
    w.checks.check("the depfile names the value", "shape.raw" in depfile.read_text(), depfile.read_text())


def orders(w):
    """A matrix in Fortran order means the same as in C order."""
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [2, 3])
    m.input("k", onnx.FLOAT, [2, 3])
    m.node("Add", ["x", "k"], ["y"])
    m.output("y", onnx.FLOAT, [2, 3])
    c_order = npy(w.folder / "k.npy", "<f4", "(2, 3)", struct.pack("<6f", 10, 20, 30, 40, 50, 60))
    fortran = npy(w.folder / "f.npy", "<f4", "(2, 3)", struct.pack("<6f", 10, 40, 20, 50, 30, 60), order="True")
    for label, file in (("C order", c_order), ("Fortran order", fortran)):
        w.gives(label, m, {"x": [1, 2, 3, 4, 5, 6]}, {"y": [11, 22, 33, 44, 55, 66]}, "--freeze_input", f"k={file}")
    # All inputs known: the results are known, too.
    x = npy(w.folder / "x.npy", "<f4", "(2, 3)", struct.pack("<6f", 1, 2, 3, 4, 5, 6))
    w.gives("everything", m, {}, {"y": [11, 22, 33, 44, 55, 66]}, "--freeze_input", f"k={c_order}", "--freeze_input",
            f"x={x}")


def refusals(w):
    folder, m = w.folder, reshaped()
    good = npy(folder / "good.npy", "<i8", "(2,)", int64(*SHAPE))
    w.fails("asked for", 1, ["input 1 (shape) is not a constant", "--freeze_input shape=FILE"], m, "-d", "shape", "2")
    w.fails("unknown name", 2, ["no input shap", "did you mean shape?"], m, "--freeze_input", f"shap={good}")
    w.fails("no name", 2, ["NAME=FILE"], m, "--freeze_input", f"={good}")
    w.fails("no file", 2, ["NAME=FILE"], m, "--freeze_input", "shape=")
    w.fails("missing file", 1, ["none.npy"], m, "--freeze_input", f"shape={folder / 'none.npy'}")
    w.fails("twice", 2, ["no input shape"], m, *["--freeze_input", f"shape={good}"] * 2)
    for label, file, words in (
            ("other type", npy(folder / "i4.npy", "<i4", "(2,)", bytes(8)), ["int32", "int64"]),
            ("other rank", npy(folder / "rank.npy", "<i8", "(1, 2)", bytes(16)), ["[1,2]"]),
            ("big-endian", npy(folder / "big.npy", ">i8", "(2,)", bytes(16)), ["little-endian"]),
            ("too short", npy(folder / "short.npy", "<i8", "(2,)", bytes(15)), ["another size"]),
            ("huge", npy(folder / "huge.npy", "<i8", "(99999999999999, 99999999999)", b""), ["impossible shape"]),
            ("negative", npy(folder / "negative.npy", "<i8", "(-2,)", b""), ["broken shape"]),
            ("no shape", npy(folder / "noshape.npy", "<i8", "2", b""), ["no shape"]),
            ("version 4", npy(folder / "v4.npy", "<i8", "(2,)", bytes(16), version=4), ["unknown version"])):
        messages = w.fails(label, 1 if label not in ("other type", "other rank") else 2, words, m, "--freeze_input",
                           f"shape={file}")
        w.checks.check(f"{label}: names the file", file.name in messages, messages)
    truncated = folder / "cut.npy"
    for size in range(6, 12):
        truncated.write_bytes(good.read_bytes()[:size])
        w.fails(f"cut at {size}", 1, ["cut.npy"], m, "--freeze_input", f"shape={truncated}")
    broken = folder / "broken.pb"
    broken.write_bytes(b"\x0a\xff\xff")
    w.fails("broken pb", 1, ["broken.pb"], m, "--freeze_input", f"shape={broken}")
    raw = folder / "r.raw"
    raw.write_bytes(bytes(12))
    w.fails("raw of another size", 2, ["12 bytes", "[2] of int64 take 16"], m, "--freeze_input", f"shape={raw}", "-d",
            "shape", "2")
    w.fails("raw of open dims", 2, ["--input_dim"], m, "--freeze_input", f"shape={raw}")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        w = Workshop(checks, folder)
        for part in (forms, orders, refusals):
            part(w)
    checks.finish()


main()
