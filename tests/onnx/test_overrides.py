# SPDX-License-Identifier: Apache-2.0
"""Encodings of a file (--quantization_overrides): what tensors carry, by the file's forms, where they go when layers are made
of nodes, and what a file is refused for. Ranges are those that public texts give as examples, or computed here."""

import json
import pathlib
import tempfile

from one_node import np
from checks import Checks
from onnx_writer import FLOAT, INT64, Model
from prestarted import run
from quantized_models import f4, spread

try:
    from dlc_reader import read_container
except ImportError:
    read_container = None


def whole(bits, scale, offset, low=0):
    """One encoding of unsigned integers, or of signed ones that begin at low: as dlc_reader gives encodings."""
    ends = (low + offset) * scale, (low + offset + 2 ** bits - 1) * scale
    return (f32(scale), offset), (bits, False), tuple(map(f32, ends))


def around(bits, scale):
    last = 2 ** (bits - 1) - 1
    return (f32(scale), 0), (bits, True), (f32(-last * scale), f32(last * scale))


def f32(value):
    return float(np.float32(value))


def carried(path):
    """Name → (encodings, axis) of the tensors that have some; all must be overrides of floats."""
    tensors = read_container(path).tensors
    with_some = {name: t for name, t in tensors.items() if t.encoding != 0x7FFFFFFF}
    assert all(t.overridden and t.dtype == "FLOAT_32" for t in with_some.values())
    return {name: (list(zip(t.encodings, t.encoding_forms, t.encoding_ranges)), t.axis) for name, t in with_some.items()}


class Network:
    """x → Conv → Relu → mean → Gemm → MatMul → y."""

    def __init__(self, folder):
        rng, m = np.random.default_rng(8), Model(opset=13)
        self.folder = folder
        for name, shape in (("w", [5, 3, 3, 3]), ("b", [5]), ("v", [4, 5]), ("u", [4, 6])):
            m.tensor(name, FLOAT, shape, spread(rng, *shape, low=-1, high=1).ravel().tolist())
        m.input("x", FLOAT, [1, 3, 4, 4])
        m.node("Conv", ["x", "w", "b"], ["c"], pads=[1] * 4, name="conv")
        m.node("Relu", ["c"], ["r"], name="relu")
        m.node("GlobalAveragePool", ["r"], ["g"], name="mean")
        m.node("Flatten", ["g"], ["f"], name="flatten")
        m.node("Gemm", ["f", "v"], ["h"], transB=1, name="gemm")
        m.node("MatMul", ["h", "u"], ["y"], name="matmul")
        m.output("y", FLOAT, [1, 6])
        m.save(folder / "m.onnx")
        (folder / "x.raw").write_bytes(spread(rng, 1, 4, 4, 3).tobytes())
        (folder / "list.txt").write_text("x.raw\n")

    def convert(self, encodings, *options):
        file = self.folder / "e.json"
        file.write_text(encodings if isinstance(encodings, str) else json.dumps(encodings))
        if "-i" not in options:
            options = ["-i", "m.onnx", *options]
        return run("onnx-to-dlc", "--quiet", "-o", "m.dlc", "--quantization_overrides", "e.json", *options, cwd=self.folder)

    def numbers(self, name):
        done = run("net-run", "--container", name, "--input_list", "list.txt", "--output_dir", "out", cwd=self.folder)
        assert done.returncode == 0, done.stderr
        return (self.folder / "out/Result_0/y.raw").read_bytes()


def channels(bits, scales, symmetric):
    low = -2 ** (bits - 1)
    return [{"bitwidth": bits, "is_symmetric": symmetric, "min": low * s, "max": -(low + 1) * s, "offset": low, "scale": s}
            for s in scales]


FIVE, FOUR, SIX = [0.01, 0.02, 0.005, 0.03, 0.0125], [0.01, 0.02, 0.03, 0.04], [0.5, 0.25, 0.125, 1.0, 2.0, 4.0]
# Published examples of ranges: (least, greatest) → (scale, offset) of 8 bits.
RANGES = {(-1.8, 0.5): (2.3 / 255, -200), (-5.1, 5.1): (0.04, -128), (5.0, 10.0): (10 / 255, 0), (-20.0, -6.0): (20 / 255, -255),
          (0.0, 0.0): (1e-4 / 255, 0)}


def test_ranges(checks, network):
    for number, ((least, greatest), (scale, offset)) in enumerate(RANGES.items()):
        entry = [{"bitwidth": 8, "min": least, "max": greatest, **({"dtype": "int"} if number % 2 else {})}]
        done = network.convert({"activation_encodings": {"x": entry, "r": entry[0]}, "param_encodings": {}})
        if checks.equal(f"{least} to {greatest}: status", (done.returncode, done.stderr), (0, "")):
            expected = [whole(8, scale, offset)], None
            found = carried(network.folder / "m.dlc")
            checks.equal(f"{least} to {greatest}: tensors", sorted(found), ["r", "x"])
            for name, (entries, axis) in found.items():
                close = np.allclose(np.ravel(entries[0][0] + entries[0][2]), np.ravel(expected[0][0][0] + expected[0][0][2]), 1e-6, 1e-9)
                checks.check(f"{least} to {greatest}: {name}", close and axis is None and entries[0][1] == (8, False), entries)


def test_forms(checks, network):
    """The same encodings in each form; names are the model's, axes those that the container stores."""
    plain = run("onnx-to-dlc", "-i", "m.onnx", "-o", "plain.dlc", cwd=network.folder)
    checks.equal("plain", plain.returncode, 0)
    first = {"version": "0.6.1", "quantizer_args": {"quant_scheme": "post_training_tf"},
             "activation_encodings": {"x": [{"bitwidth": 8, "dtype": "int", "is_symmetric": "False", "offset": -100, "scale": 0.02,
                                             "min": -2.0, "max": 3.1}],
                                      "r": [{"bitwidth": 16, "dtype": "int", "is_symmetric": "False", "offset": 0, "scale": 0.001,
                                             "min": 0, "max": 65.535}],
                                      "y": [{"bitwidth": 32, "dtype": "float"}]},
             "param_encodings": {"w": channels(8, FIVE, "True"), "b": channels(32, [1e-6], "True"),
                                 "v": channels(4, FOUR, "True"), "u": channels(8, SIX, "True")}}
    second = {"version": "1.0.0", "excluded_layers": [],
              "activation_encodings": [
                  {"name": "x", "enc_type": "PER_TENSOR", "dtype": "INT", "bw": 8, "is_sym": False, "scale": [0.02], "offset": [-100]},
                  {"name": "r", "enc_type": "PER_TENSOR", "dtype": "INT", "bw": 16, "is_sym": False, "scale": [0.001], "offset": [0]},
                  {"name": "y", "enc_type": "PER_TENSOR", "dtype": "FLOAT", "bw": 32}],
              "param_encodings": [
                  {"name": name, "enc_type": "PER_TENSOR" if name == "b" else "PER_CHANNEL", "dtype": "INT", "bw": bits,
                   "is_sym": True, "scale": scales, "offset": [-2 ** (bits - 1)] * len(scales)}
                  for name, bits, scales in (("w", 8, FIVE), ("b", 32, [1e-6]), ("v", 4, FOUR), ("u", 8, SIX))]}
    third = {"version": "2.0.0", "encodings": [
        {"name": "x", "output_dtype": "uint8", "y_scale": 0.02, "y_zero_point": 100},
        {"name": "r", "output_dtype": "uint16", "y_scale": 0.001}, {"name": "y", "output_dtype": "float32"},
        {"name": "w", "output_dtype": "int8", "y_scale": FIVE, "axis": 0},
        {"name": "b", "output_dtype": "int32", "y_scale": 1e-6},
        {"name": "v", "output_dtype": "int4", "y_scale": FOUR, "y_zero_point": [0] * 4, "axis": -2},
        {"name": "u", "output_dtype": "int8", "y_scale": SIX, "axis": 1}]}

    def constants(bits, scales):
        """By ONNX's rules there is one more integer below zero."""
        below = 2 ** (bits - 1)
        return [((f32(s), 0), (bits, True), (f32(-below * s), f32((below - 1) * s))) for s in scales]

    activations = {"x": ([whole(8, 0.02, -100)], None), "r": ([whole(16, 0.001, 0)], None)}
    # Both products are FullyConnected, whose weights are [out, in].
    stored = {"w": (8, FIVE, 3), "b": (32, [1e-6], None), "v_permute": (4, FOUR, 0), "u": (8, SIX, 0)}
    for label, file, form in (("0.6.1", first, None), ("1.0.0", second, None), ("2.0.0", third, constants)):
        done = network.convert(file)
        if not checks.equal(f"{label}: status", (done.returncode, done.stderr), (0, "")):
            continue
        found = carried(network.folder / "m.dlc")
        expected = {name: (form(bits, scales) if form else [around(bits, s) for s in scales], axis)
                    for name, (bits, scales, axis) in stored.items()}
        for name, (entries, axis) in {**activations, **expected}.items():
            got, got_axis = found.pop(name, ([], "none"))
            flat = [np.array([e[0] + e[2] for e in some]) for some in (got, entries)]
            checks.check(f"{label}: {name}", got_axis == axis and [e[1] for e in got] == [e[1] for e in entries] and
                         flat[0].shape == flat[1].shape and np.allclose(*flat, 1e-6, 0), f"{got} along {got_axis}, not {entries}")
        checks.equal(f"{label}: others", found, {})
        checks.equal(f"{label}: numbers", network.numbers("m.dlc"), network.numbers("plain.dlc"))


def test_asymmetric(checks, network):
    """Signed integers whose zero is another are the unsigned ones of the same reals."""
    done = network.convert({"version": "2.0.0", "encodings": [{"name": "x", "output_dtype": "int8", "y_scale": [0.5], "y_zero_point": [5]}]})
    checks.equal("status", (done.returncode, done.stderr), (0, ""))
    checks.equal("x", carried(network.folder / "m.dlc"), {"x": ([whole(8, 0.5, -133)], None)})


def test_partial(checks, network):
    """What is not in the container, and what it cannot say, is named in one warning each."""
    done = network.convert({"activation_encodings": {"c": [{"bitwidth": 8, "min": -1, "max": 1}], "h": [{"bitwidth": 16, "dtype": "int"}],
                                                     "g": [{"bitwidth": 8, "min": 0, "max": 1}]}})
    checks.equal("status", done.returncode, 0)
    checks.check("widths", "e.json: warning: 1 of the encodings give a width and no range" in done.stderr, done.stderr)
    checks.equal("tensors", sorted(carried(network.folder / "m.dlc")), ["c", "g"])
    dead = Model(opset=13)
    dead.input("x", FLOAT, [2])
    dead.input("n", INT64, [2])
    dead.node("Relu", ["x"], ["y"])
    dead.node("Neg", ["x"], ["z"])
    dead.node("Cast", ["n"], ["m"], to=FLOAT)
    dead.node("Add", ["y", "m"], ["sum"])
    dead.output("sum", FLOAT, [2])
    dead.save(network.folder / "dead.onnx")
    done = network.convert({"activation_encodings": {name: [{"bitwidth": 8, "min": 0, "max": 1}] for name in ("y", "z")}}, "-i", "dead.onnx")
    checks.check("lost", done.returncode == 0 and "warning: 1 of the 2 encodings are of tensors that the container does not have" in
                 done.stderr and done.stderr.rstrip().endswith(": z"), done.stderr)
    done = network.convert({"activation_encodings": {"n": [{"bitwidth": 8, "min": 0, "max": 1}]}}, "-i", "dead.onnx")
    checks.check("integers", done.returncode == 1 and "e.json:1:32: error: tensor n is none of floats" in done.stderr, done.stderr)


def test_batch_normalization(checks, network):
    m, gamma = Model(opset=13), [2.0, 0.5, 1.0, 4.0]
    m.input("x", FLOAT, [1, 2, 3, 3])
    m.tensor("w", FLOAT, [4, 2, 1, 1], f4(range(8)).tolist())
    for name, values in (("gamma", gamma), ("zero", [0] * 4), ("one", [1] * 4)):
        m.tensor(name, FLOAT, [4], values)
    m.node("Conv", ["x", "w"], ["c"])
    m.node("BatchNormalization", ["c", "gamma", "zero", "zero", "one"], ["y"], epsilon=0.0)
    m.output("y", FLOAT, [1, 4, 3, 3])
    m.save(network.folder / "bn.onnx")
    for label, given in (("one scale", channels(8, [0.25], "False")), ("a scale each", channels(8, [0.25] * 4, "True"))):
        done = network.convert({"param_encodings": {"w": given}}, "-i", "bn.onnx")
        checks.equal(f"{label}: status", (done.returncode, done.stderr), (0, ""))
        entries, axis = carried(network.folder / "m.dlc").get("w", ([], None))
        checks.equal(f"{label}: scales", ([e[0][0] for e in entries], axis), ([0.25 * g for g in gamma], 3))


E8 = {"bitwidth": 8, "min": 0, "max": 1}
# What is wrong → (the file, its messages).
WRONG = {
    "names": ({"activation_encodings": {"xx": [E8], "conv": [E8], "x": [E8]}},
              ["1:33: error: the model has no tensor xx", "hint: did you mean x?", "the model has no tensor conv"]),
    "two encodings": ({"activation_encodings": {"w": [E8]}, "param_encodings": {"w": [{**E8, "max": 2}]}},
                      ["tensor w has two encodings", "note: this is the other one"]),
    "order of a range": ({"activation_encodings": {"x": [{**E8, "min": 2}]}}, ["error: min is above max"]),
    "half a range": ({"activation_encodings": {"x": [{"bitwidth": 8, "min": 0}]}}, ["error: max is missing"]),
    "no width": ({"activation_encodings": {"x": [{"min": 0, "max": 1}]}}, ["error: the number bitwidth is missing"]),
    "another width": ({"activation_encodings": {"x": [{**E8, "bitwidth": 7}]}}, ["error: containers have no integers of 7 bits"]),
    "half floats": ({"activation_encodings": {"x": [{"bitwidth": 16, "dtype": "float"}]}}, ["tensor x cannot be a float of 16 bits alone: --float_bitwidth is for all"]),
    "kinds": ({"param_encodings": {"w": [E8, {**E8, "bitwidth": 4}]}}, ["error: the encodings of one tensor differ in kind or width"]),
    "channels": ({"param_encodings": {"w": [E8] * 7}}, ["tensor w has the shape [5,3,3,3], in which no axis, or more than one, may be that of 7 encodings"]),
    "channels of what is computed": ({"activation_encodings": {"c": [E8] * 5}}, ["tensor c is computed: it can have one encoding"]),
    "nothing": ({"activation_encodings": {"x": []}}, ["tensor x has no encoding"]),
    "another file": ({"layers": []}, ["error: this is no file of encodings"]),
    "blocks": ({"version": "1.0.0", "param_encodings": [{"name": "w", "enc_type": "LPBQ", "dtype": "INT", "bw": 8, "is_sym": True,
                                                          "scale": [1], "offset": [-128]}]}, ["encodings of type LPBQ are not supported"]),
    "a list without a name": ({"version": "1.0.0", "param_encodings": [{"bw": 8}]}, ["an encoding of a list is an object with a name"]),
    "a scale": ({"version": "2.0.0", "encodings": [{"name": "x", "output_dtype": "uint8", "y_scale": -1}]},
                ["number 0 is no scale above zero"]),
    "a zero point": ({"version": "2.0.0", "encodings": [{"name": "x", "output_dtype": "uint8", "y_scale": 1, "y_zero_point": 256}]},
                     ["zero point 256 is none of the type"]),
    "an axis": ({"version": "2.0.0", "encodings": [{"name": "w", "output_dtype": "int8", "y_scale": [1] * 3, "axis": 4}]},
                ["tensor w has the shape [5,3,3,3], in which no axis, or more than one, may be that of 3 encodings"]),
    "text": ('{"activation_encodings": {"x": [}', ["e.json:1:33: error: "]),
}


def test_refusals(checks, network):
    for label, (file, messages) in WRONG.items():
        (network.folder / "m.dlc").unlink(missing_ok=True)
        done = network.convert(file)
        checks.check(f"{label}: status", done.returncode == 1 and not (network.folder / "m.dlc").exists(), done.returncode)
        for message in messages:
            checks.check(f"{label}: {message}", message in done.stderr, done.stderr)
    done = network.convert({"activation_encodings": {"x": [E8]}}, "--qdq", "fixed")
    checks.check("fixed", done.returncode == 2 and "which --qdq fixed does not leave" in done.stderr, done.stderr)
    done = network.convert({"activation_encodings": {"x": [E8]}}, "--keep_quant_nodes")
    checks.check("kept nodes", done.returncode == 2 and "--quantization_overrides leaves no quantizing op" in done.stderr, done.stderr)
    done = run("onnx-to-dlc", "-i", "m.onnx", "-o", "m.dlc", "--quantization_overrides", "none.json", cwd=network.folder)
    checks.check("no file", done.returncode == 1 and "none.json" in done.stderr, done.stderr)
    network.convert({"activation_encodings": {"x": [E8]}}, "--depfile", "m.d")
    checks.check("depfile", "e.json" in (network.folder / "m.d").read_text())


def main():
    checks = Checks()
    if read_container is None:
        checks.skip("encodings", "the reader of containers is not there")
        checks.finish()
    with tempfile.TemporaryDirectory() as folder:
        network = Network(pathlib.Path(folder))
        for test in (test_ranges, test_forms, test_asymmetric, test_partial, test_batch_normalization, test_refusals):
            test(checks, network)
    checks.finish()


main()
