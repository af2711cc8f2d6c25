# SPDX-License-Identifier: Apache-2.0
"""Ops that dlc-quantize leaves in float: which tensors stay floats, what stands between, and the numbers, against NumPy's."""

import json
import tempfile

from quantizing import FLOAT, Bench, chain, integers, layers, np, read_container, stored, whole
from checks import Checks


def ops(container):
    return [op.type if op.type in ("Quantize", "Dequantize", "Cast") else op.name for op in container.ops]


def types(container):
    return {name: tensor.dtype for name, tensor in container.tensors.items()}


def encode(values, tensor):
    scale, offset = tensor.encodings[0]
    return integers((values.astype("f4") / np.float64(scale)).astype("f4"), 8, 1, offset, False)


def decode(array, tensor):
    scale, offset = tensor.encodings[0]
    return ((array + offset) * np.float64(scale)).astype("f4")


LINE = np.array([[-2.0, 0.5, 3.0], [1.0, -0.25, 2.5]], "f4")


def numbers(b):
    """The middle in float32, between integers: y is integer by integer what NumPy says."""
    b.convert(chain())
    b.inputs(LINE, LINE / 2)
    q = b.quantize("--keep_float", "middle")
    b.checks.equal("ops", ops(q), ["first", "Dequantize", "middle", "Quantize", "last"])
    b.checks.equal("types", types(q), {"x": "UFXP_8", "k": "UFXP_8", "p": "UFXP_8", "p.real": "FLOAT_32", "s": "FLOAT_32",
                                       "s.quantized": "UFXP_8", "y": "UFXP_8"})
    t = q.tensors
    k = decode(stored(t["k"]).astype("f8"), t["k"])
    p = decode(encode(decode(encode(LINE, t["x"]), t["x"]) * k, t["p"]), t["p"])
    s = decode(encode((1 / (1 + np.exp(-p.astype("f8")))).astype("f4"), t["s.quantized"]), t["s.quantized"])
    expected = encode(s * k, t["y"]).ravel().tolist()
    for backend in ("reference", "cpu"):
        found = b.results(b.path("q.dlc"), "--use_native_output_files", "--backend", *dict.fromkeys((backend, "reference")))
        b.checks.equal(f"integers of {backend}", found[0]["y.raw"].tolist(), expected)


def borders(b):
    """First and last ops in float: their ends of the graph stay floats, and the constant is there in both forms."""
    b.convert(chain())
    b.inputs(LINE)
    q = b.quantize("--keep_float", "first")
    b.checks.equal("first", (ops(q), types(q)["x"], types(q)["k"], types(q)["k.real"]),
                   (["first", "Quantize", "middle", "last"], "FLOAT_32", "UFXP_8", "FLOAT_32"))
    b.checks.equal("floats of k", np.frombuffer(q.tensors["k.real"].data, "<f4").tolist(), [2.0, -1.5, 0.75])
    q = b.quantize("--keep_float", "last,first")
    b.checks.equal("both", (ops(q), {name: kind for name, kind in types(q).items() if name in "xky"}),
                   (["first", "Quantize", "middle", "Dequantize", "last"], dict.fromkeys("xky", "FLOAT_32")))
    q = b.quantize("--keep_float", "first", "middle", "last")
    b.checks.equal("all", (ops(q), set(types(q).values())), (["first", "middle", "last"], {"FLOAT_32"}))
    q = b.quantize("--keep_float", "ElementWiseMultiply")
    b.checks.equal("by type", ops(q), ["first", "Quantize", "middle", "Dequantize", "last"])


def halves(b):
    b.convert(chain())
    b.inputs(LINE)
    q = b.quantize("--keep_float", "last", "--float_bitwidth", "16")
    b.checks.equal("types", types(q), {**dict.fromkeys("xkps", "UFXP_8"), "s.half": "FLOAT_16", "k.half": "FLOAT_16", "y": "FLOAT_16"})
    b.results(b.path("q.dlc"))


def half_container(b):
    """A container of Float_16: its numbers are what is quantized, and what stays float stays of 16 bits."""
    rng = np.random.default_rng(9)
    b.convert(layers(rng), "m.dlc", "--float_bitwidth", "16")
    b.inputs(rng.uniform(-1, 1, (1, 4, 4, 3)))
    q = b.quantize()
    w = np.frombuffer(read_container(b.path("m.dlc")).tensors["w"].data, "<f2").astype("f4")
    b.checks.equal("all", ({t.dtype for t in q.tensors.values()}, q.tensors["w"].encodings), ({"UFXP_8"}, [whole(8, w.min(), w.max())]))
    b.results(b.path("q.dlc"))
    q = b.quantize("--keep_float", "back", "--preserve_io_datatype")
    b.checks.equal("halves", {name: types(q)[name] for name in ("x", "x.quantized", "v", "r", "r.half", "w", "c", "y")},
                   {**dict.fromkeys(("x", "r.half", "w", "c", "y"), "FLOAT_16"), **dict.fromkeys(("x.quantized", "v", "r"), "UFXP_8")})
    b.results(b.path("q.dlc"))
    q = b.quantize("--preserve_io_datatype", "y")
    b.checks.equal("a kept result", (types(q)["y"], ops(q)[-1]), ("FLOAT_16", "Dequantize"))
    b.results(b.path("q.dlc"))


def io(b):
    b.convert(chain())
    b.inputs(LINE)
    for option, kept in ((["--preserve_io_datatype"], "xy"), (["--preserve_io_datatype", "x"], "x"),
                         (["--preserve_io_datatype", "y"], "y")):
        q = b.quantize(*option)
        expected = ["Quantize"] * ("x" in kept) + ["first", "middle", "last"] + ["Dequantize"] * ("y" in kept)
        b.checks.equal(f"{kept} kept", (ops(q), {name: types(q)[name] for name in "xy"}),
                       (expected, {name: "FLOAT_32" if name in kept else "UFXP_8" for name in "xy"}))
        b.checks.equal(f"{kept}: interface", [q.tensors[name].kind for name in "xy"], ["APP_WRITE", "APP_READ"])
    b.quantize()
    plain = b.results(b.path("q.dlc"))
    b.quantize("--preserve_io_datatype")
    same = b.results(b.path("q.dlc"))
    b.checks.equal("the same numbers", [line["y.raw"].tolist() for line in same], [line["y.raw"].tolist() for line in plain])


def given(b):
    """Floats of a file: one of a layer's tensors makes all three float."""
    rng = np.random.default_rng(4)
    b.convert(layers(rng))
    b.inputs(rng.uniform(-1, 1, (1, 4, 4, 3)))
    file = b.path("e.json")
    for name in ("w", "c", "y"):
        section = "activation_encodings" if name == "y" else "param_encodings"
        file.write_text(json.dumps({"activation_encodings": {}, "param_encodings": {},
                                    section: {name: [{"bitwidth": 32, "dtype": "float"}]}}))
        q = b.quantize("--quantization_overrides", file)
        found = {key: kind for key, kind in types(q).items() if key in ("w", "c", "y", "v", "b", "r", "r.real")}
        b.checks.equal(f"{name} a float", found, {**dict.fromkeys(("w", "c", "y", "r.real"), "FLOAT_32"),
                                                  **dict.fromkeys(("v", "b", "r"), "UFXP_8")})
    file.write_text(json.dumps({"activation_encodings": {"y": [{"bitwidth": 16, "dtype": "float"}]}, "param_encodings": {}}))
    q = b.quantize("--quantization_overrides", file)
    b.checks.equal("of 16 bits", {types(q)[key] for key in ("w", "c", "y", "r.half")}, {"FLOAT_16"})
    q = b.quantize("--quantization_overrides", file, "--float_bias_bitwidth", "32")
    b.checks.equal("but the bias", [types(q)[key] for key in ("w", "c", "y")], ["FLOAT_16", "FLOAT_32", "FLOAT_16"])
    b.results(b.path("q.dlc"))
    q = b.quantize("--quantization_overrides", file, "--keep_weights_quantized")
    b.checks.equal("but the weights", [types(q)[key] for key in ("w", "c", "y")], ["UFXP_8", "FLOAT_16", "FLOAT_16"])
    b.results(b.path("q.dlc"))


def excluded(b):
    """excluded_layers of the form 1.0.0."""
    b.convert(chain())
    b.inputs(LINE)
    file = b.path("e.json")
    file.write_text(json.dumps({"version": "1.0.0", "activation_encodings": [], "param_encodings": [], "excluded_layers": ["middle"]}))
    q = b.quantize("--quantization_overrides", file)
    b.checks.equal("ops", ops(q), ["first", "Dequantize", "middle", "Quantize", "last"])
    file.write_text(file.read_text().replace('"middle"', '"middle", "backbone.0"'))
    done = b.run("--quantization_overrides", file)
    b.checks.check("others are warned of", done.returncode == 0 and "1 of the excluded_layers" in done.stderr, done.stderr)
    file.write_text(file.read_text().replace('"backbone.0"', "5"))
    done = b.run("--quantization_overrides", file)
    b.checks.check("no name", done.returncode == 1 and "e.json" in done.stderr and "no string" in done.stderr, done.stderr)


def weights(b):
    """Encodings for weights that stay floats are those of the quantized ones."""
    rng = np.random.default_rng(5)
    b.convert(layers(rng))
    b.inputs(rng.uniform(-1, 1, (1, 4, 4, 3)))
    fixed = b.quantize().tensors
    q = b.quantize("--no_weight_quantization").tensors
    for name in ("v", "b", "w", "c"):
        b.checks.equal(name, (q[name].dtype, q[name].encodings), ("FLOAT_32", fixed[name].encodings))
        b.checks.equal(f"data of {name}", q[name].data, read_container(b.path("m.dlc")).tensors[name].data)
    b.checks.equal("the rest", {q[name].dtype for name in ("x", "h", "r", "y")}, {"UFXP_8"})
    b.results(b.path("q.dlc"))


def dumped(b):
    """Encodings of a container with floats, given again with the same options, make the same container."""
    b.convert(chain())
    b.inputs(LINE)
    options = ("--keep_float", "middle", "--preserve_io_datatype")
    first = b.quantize(*options, "--dump_encodings", b.path("d.json"))
    b.checks.equal("names", set(json.loads(b.path("d.json").read_text())["activation_encodings"]), set("xpsy"))
    second = b.quantize(*options, "--quantization_overrides", b.path("d.json"), listed=False)
    b.checks.equal("types again", types(second), types(first))
    b.checks.equal("offsets again", {n: [o for _, o in t.encodings] for n, t in second.tensors.items()},
                   {n: [o for _, o in t.encodings] for n, t in first.tensors.items()})


def fallback(b):
    """Without encodings of what the Sigmoid gives, what gives and reads it is float; so is an input that nothing reads."""
    m = chain()
    m.input("idle", FLOAT, [2])
    b.convert(m)
    b.inputs(LINE)
    file = b.path("e.json")
    some = [{"bitwidth": 8, "min": -4, "max": 4}]
    file.write_text(json.dumps({"activation_encodings": dict.fromkeys(("x", "p"), some), "param_encodings": {}}))
    for option in ("--float_fallback", "--enable_float_fallback"):
        q = b.quantize(option, "--quantization_overrides", file, listed=False)
        b.checks.equal(f"ops of {option}", ops(q), ["first", "Dequantize", "middle", "last"])
        b.checks.equal("types", {name: types(q)[name] for name in "xpsy"},
                       {"x": "UFXP_8", "p": "UFXP_8", "s": "FLOAT_32", "y": "FLOAT_32"})
    done = b.run("--float_fallback", "--quantization_overrides", file)
    b.checks.check("no list with it", done.returncode == 2 and "exclude" in done.stderr, done.stderr)
    done = b.run("--float_fallback", listed=False)
    b.checks.check("nothing given", done.returncode == 1 and "no encoding" in done.stderr, done.stderr)
    done = b.run("--keep_float", "midle", "--preserve_io_datatype", "p")
    b.checks.check("unknown names", done.returncode == 2 and "did you mean middle?" in done.stderr, done.stderr)
    done = b.run("--preserve_io_datatype", "p")
    b.checks.check("no end of the graph", done.returncode == 2 and "no output p" in done.stderr, done.stderr)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for case in (numbers, borders, halves, half_container, io, given, excluded, weights, dumped, fallback):
            case(Bench(checks, folder))
    checks.finish()


main()
