# SPDX-License-Identifier: Apache-2.0
"""Widths of dlc-quantize: 8 and 16 bits in one graph with a Convert between them, products whose second operand has 8 bits, and ops of
Int_32; types, encodings and results of both backends against a simulation in NumPy."""

import json
import tempfile

from quantizing import FLOAT, INT64, INTEGERS, Bench, Model, around, chain, f32, layers, np, read_container, stored, whole
from simulating import Fixed, product
from checks import Checks

LINE = np.array([[-2.0, 0.5, 3.0], [1.0, -0.25, 2.5]], "f4")
BETWEEN = ("Quantize", "Dequantize", "Convert", "Cast")


def ops(container):
    return [op.type if op.type in BETWEEN else op.name for op in container.ops]


def types(container, *names):
    return {name: container.tensors[name].dtype for name in names or container.tensors}


def overrides(b, **widths):
    entries = {name.replace("_", "/"): [width if isinstance(width, dict) else {"bitwidth": width, "dtype": "int"}] for name, width in widths.items()}
    b.path("e.json").write_text(json.dumps({"activation_encodings": entries, "param_encodings": {}}))
    return ("--quantization_overrides", b.path("e.json"))


def gives(b, name, container, output, expected):
    for backend in ("reference", "cpu"):
        found = b.results(b.path("q.dlc"), "--use_native_output_files", "--backend", *dict.fromkeys((backend, "reference")))
        kind = INTEGERS[container.tensors[output].dtype]
        b.checks.equal(f"{name} of {backend}", found[0][f"{output}.raw"].view(kind).tolist(), np.ravel(expected).tolist())


class Step:
    """Computes with tensors of the container."""

    def __init__(self, container):
        self.tensors = container.tensors

    def constant(self, name):
        return Fixed(self.tensors[name])

    def rounded(self, name, values):
        out = Fixed(self.tensors[name], 0)
        out.q = out.rounded(np.asarray(values))
        return out


def sigmoid(x):
    return (1 / (1 + np.exp(-x.real().astype("f8")))).astype("f4")


def one_wide_tensor(b):
    """What has 16 bits is computed from 16 bits, and read in 8 by what gives 8; the constant is there in both."""
    b.convert(chain())
    b.inputs(LINE)
    q = b.quantize(*overrides(b, p=16))
    b.checks.equal("ops", ops(q), ["Convert", "first", "Convert", "middle", "last"])
    b.checks.equal("types", types(q), {"x": "UFXP_8", "x.converted": "UFXP_16", "k": "UFXP_16", "p": "UFXP_16", "p.converted": "UFXP_8",
                                       "s": "UFXP_8", "k.converted": "UFXP_8", "y": "UFXP_8"})
    t = q.tensors
    scale, offset = t["x"].encodings[0]
    b.checks.equal("x in 16 bits", t["x.converted"].encodings, [(f32(scale / 257), 257 * offset)])
    b.checks.equal("k in 8 bits", (t["k.converted"].encodings, stored(t["k.converted"]).tolist()), ([whole(8, -1.5, 2)], [255, 0, 164]))
    b.checks.equal("k in 16 bits", t["k"].encodings, [whole(16, -1.5, 2)])
    values = LINE * Fixed(t["k"]).real()
    b.checks.equal("both widths have the range", (t["p"].encodings, t["p.converted"].encodings),
                   ([whole(16, values.min(), values.max())], [whole(8, values.min(), values.max())]))
    s = Step(q)
    x = s.rounded("x", LINE)
    wide = s.rounded("x.converted", x.real())
    b.checks.equal("nothing is lost", (wide.q + wide.offset).tolist(), (257 * (x.q + x.offset)).tolist())
    p = s.rounded("p", wide.real() * s.constant("k").real())
    middle = s.rounded("s", sigmoid(s.rounded("p.converted", p.real())))
    gives(b, "results", q, "y", s.rounded("y", middle.real() * s.constant("k.converted").real()).q)
    params = next(op for op in q.ops if op.type == "Convert").params
    b.checks.equal("params", {name: p.value for name, p in params.items() if name.startswith("dynamic")},
                   {"dynamic_input_data": False, "dynamic_output_data": False})


def by_name(b):
    """--widen: what the node reads and gives."""
    b.convert(chain())
    b.inputs(LINE)
    for name in ("middle", "Sigmoid"):
        q = b.quantize("--widen", name)
        b.checks.equal(name, (ops(q), types(q, "x", "p", "s", "y")),
                       (["Convert", "first", "middle", "Convert", "last"], {"x": "UFXP_8", "p": "UFXP_16", "s": "UFXP_16", "y": "UFXP_8"}))
    q = b.quantize("--widen", "first,middle", "--widen", "last")
    b.checks.equal("all", (ops(q), set(types(q).values())), (["first", "middle", "last"], {"UFXP_16"}))
    q = b.quantize(*overrides(b, p={"bitwidth": 8, "min": -8, "max": 8}), "--widen", "middle")
    b.checks.equal("what is given stays", types(q, "p", "s"), {"p": "UFXP_8", "s": "UFXP_16"})
    done = b.run("--widen", "midle")
    b.checks.check("no such node", done.returncode == 2 and "did you mean middle?" in done.stderr, done.stderr)


def layer_by_name(b):
    """A layer behind a Relu: the layer before gives 16 bits, and biases have the scale of what is read."""
    rng = np.random.default_rng(3)
    b.convert(layers(rng))
    x = rng.uniform(-1, 1, (1, 4, 4, 3)).astype("f4")
    b.inputs(x)
    q = b.quantize("--widen", "back", "--widen_weights", "back", "--bias_scale", "product")
    b.checks.equal("ops", ops(q), ["Convert", "front", "relu", "back"])
    b.checks.equal("types", types(q, "x", "v", "h", "r", "w", "y"), {"x": "UFXP_8", "v": "UFXP_8", **dict.fromkeys("hrwy", "UFXP_16")})
    t = q.tensors
    b.checks.equal("scale of the bias", t["b"].encodings, [(f32(t["x.converted"].encodings[0][0] * t["v"].encodings[0][0]), 0)])
    s = Step(q)
    value = s.rounded("x.converted", s.rounded("x", x.reshape(16, 3)).real())

    def layer(value, weights, bias, name):
        w, out = s.constant(weights), Fixed(t[name], 0)
        w.q = w.q.reshape(w.q.shape[2:])
        out.q = product(value, w, s.constant(bias), out)
        return out

    relu = s.rounded("r", np.maximum(layer(value, "v", "b", "h").real(), 0))
    gives(b, "results", q, "y", layer(relu, "w", "c", "y").q)
    q = b.quantize("--widen", "front")
    b.checks.equal("through the Relu", (ops(q), types(q, "x", "h", "r", "y")),
                   (["front", "relu", "Convert", "back"], {**dict.fromkeys("xhr", "UFXP_16"), "y": "UFXP_8"}))


def products(b):
    """A MatMul of two computed operands."""
    m = Model(opset=13)
    m.input("l", FLOAT, [4, 5])
    m.input("r", FLOAT, [5, 3])
    m.node("MatMul", ["l", "r"], ["y"], name="matmul")
    m.output("y", FLOAT, [4, 3])
    b.convert(m)
    rng = np.random.default_rng(4)
    lines = {"l": rng.uniform(-1, 2, (4, 5)).astype("f4"), "r": rng.uniform(-3, 1, (5, 3)).astype("f4")}
    b.inputs(lines)
    q = b.quantize("--act_bitwidth", "16")
    b.checks.equal("the second has 8 bits", (ops(q), types(q)),
                   (["Convert", "matmul"], {"l": "UFXP_16", "r": "UFXP_16", "r.converted": "UFXP_8", "y": "UFXP_16"}))
    b.checks.equal("of the same range", q.tensors["r.converted"].encodings, [whole(8, lines["r"].min(), lines["r"].max())])
    s = Step(q)
    out = Fixed(q.tensors["y"], 0)
    right = s.rounded("r.converted", s.rounded("r", lines["r"]).real())
    gives(b, "results", q, "y", product(s.rounded("l", lines["l"]), right, None, out))
    for name, options in (("by option", ["--matmul_second_bitwidth", "16"]), ("zero in the middle", ["--act_quantizer_schema", "symmetric"])):
        q = b.quantize("--act_bitwidth", "16", *options)
        b.checks.equal(name, (ops(q), set(types(q).values())), (["matmul"], {"UFXP_16"}))
    b.checks.equal("8 bits", ops(b.quantize()), ["matmul"])


def sums():
    """x → × k → t, (t + z) + c → w → × k → y"""
    m = Model(opset=13)
    m.tensor("k", FLOAT, [3], [4.0, -3.0, 8.0])
    m.tensor("c", FLOAT, [3], [1.75, -1.75, 100.0])
    m.input("x", FLOAT, [2, 3])
    m.input("z", FLOAT, [2, 3])
    m.node("Mul", ["x", "k"], ["t"], name="first")
    m.node("Add", ["t", "z"], ["u"], name="sum")
    m.node("Add", ["u", "c"], ["w"], name="other")
    m.node("Mul", ["w", "k"], ["y"], name="last")
    m.output("y", FLOAT, [2, 3])
    return m


def integers_of_32_bits(b):
    """What reads and gives tensors of 32 bits computes in Int_32: floats are cut off."""
    b.convert(sums())
    line = {"x": LINE, "z": LINE * 7}
    b.inputs(line)
    q = b.quantize(*overrides(b, t=32, z=32, u=32, w=32))
    b.checks.equal("ops", ops(q), ["first", "Dequantize", "Cast", "Dequantize", "Cast", "sum", "other", "Cast", "Quantize", "last"])
    b.checks.equal("types", types(q, "t", "t.real", "t.int32", "z", "z.int32", "u", "c", "w", "w.real", "w.quantized", "y"),
                   {"t": "UFXP_8", "t.real": "FLOAT_32", "t.int32": "INT_32", "z": "UFXP_8", "z.int32": "INT_32", "u": "INT_32", "c": "INT_32",
                    "w": "INT_32", "w.real": "FLOAT_32", "w.quantized": "UFXP_8", "y": "UFXP_8"})
    b.checks.equal("the constant", np.frombuffer(q.tensors["c"].data, "<i4").tolist(), [1, -1, 100])
    s = Step(q)
    t = s.rounded("t", s.rounded("x", line["x"]).real() * s.constant("k").real())
    whole_sum = np.trunc(t.real()) + np.trunc(s.rounded("z", line["z"]).real()) + [1, -1, 100]
    expected = s.rounded("y", s.rounded("w.quantized", whole_sum).real() * s.constant("k").real())
    gives(b, "results", q, "y", expected.q)
    q = b.quantize(*overrides(b, w=32, y=32))
    b.checks.equal("an end of the graph", (ops(q)[-3:], types(q, "y", "y.int32"), q.tensors["y"].kind),
                   (["last", "Cast", "Quantize"], {"y": "UFXP_8", "y.int32": "INT_32"}, "APP_READ"))
    b.results(b.path("q.dlc"))
    q = b.quantize(*overrides(b, w=32, y=32), "--preserve_io_datatype", "y")
    b.checks.equal("a float end", (ops(q)[-2:], types(q, "y")), (["last", "Cast"], {"y": "FLOAT_32"}))


def constants_of_32_bits(b):
    b.convert(chain())
    b.inputs(LINE)
    q = b.quantize(*overrides(b, k=32))
    b.checks.equal("a constant", (types(q, "k"), q.tensors["k"].encodings), ({"k": "SFXP_32"}, [around(32, 2)]))
    b.results(b.path("q.dlc"))
    rng = np.random.default_rng(3)
    b.convert(layers(rng))
    b.inputs(rng.uniform(-1, 1, (1, 4, 4, 3)))
    w = np.frombuffer(read_container(b.path("m.dlc")).tensors["w"].data, "<f4")
    q = b.quantize(*overrides(b, w=32))
    b.checks.equal("weights", (types(q, "w"), q.tensors["w"].encodings), ({"w": "SFXP_32"}, [around(32, np.abs(w).max())]))
    b.checks.equal("their integers", stored(q.tensors["w"]).ravel().tolist(),
                   np.clip(np.rint(w.astype("f8") / q.tensors["w"].encodings[0][0]), 1 - 2 ** 31, 2 ** 31 - 1).tolist())
    b.results(b.path("q.dlc"))


def errors(b):
    b.convert(sums())
    b.inputs({"x": LINE, "z": LINE})
    for name, entries in (("not all of an op", {"t": 32, "u": 32}), ("an input alone", {"z": 32})):
        b.path("q.dlc").unlink(missing_ok=True)
        done = b.run(*overrides(b, **entries))
        b.checks.check(name, done.returncode == 1 and "e.json:1" in done.stderr and "computes in Int_32" in done.stderr, done.stderr)
        b.checks.check(f"{name} writes nothing", not b.path("q.dlc").exists())
    rng = np.random.default_rng(3)
    b.convert(layers(rng))
    b.inputs(rng.uniform(-1, 1, (1, 4, 4, 3)))
    done = b.run(*overrides(b, r=32, y=32))
    b.checks.check("weights", done.returncode == 1 and "none with weights does" in done.stderr and "tensor y" in done.stderr, done.stderr)
    b.convert(chain())
    b.inputs(LINE)
    done = b.run(*overrides(b, p=32, s=32))
    b.checks.check("no op of integers", done.returncode == 1 and "node 'middle'" in done.stderr and "Sigmoid does not compute in Int_32" in done.stderr, done.stderr)
    b.checks.check("it writes nothing", not b.path("q.dlc").exists())


def without_effect(b):
    """Names whose nodes have nothing that the option changes."""
    m = Model(opset=13)
    m.tensor("k", FLOAT, [3], [2.0, -1.5, 0.75])
    m.input("x", FLOAT, [2, 3])
    m.input("i", INT64, [2])
    m.node("Sigmoid", ["x"], ["s"], name="curve")
    m.node("Mul", ["s", "k"], ["y"], name="scaled")
    m.node("Add", ["i", "i"], ["j"], name="counts")
    m.output("y", FLOAT, [2, 3])
    m.output("j", INT64, [2])
    b.convert(m)
    b.inputs({"x": LINE, "i": np.array([1, 2])})
    for option, name, has_effect in (("--widen_weights", "curve", False), ("--widen", "counts", False), ("--keep_float", "counts", False),
                                     ("--widen", "curve", True), ("--keep_float", "scaled", True)):
        done = b.run(option, name)
        b.checks.equal(f"{option} {name}", (done.returncode, f"warning: {option} {name} has no effect" in done.stderr), (0, not has_effect))


def least_floats(b):
    """Masks of the least float: the nearest scale of 16 bits would make its reals infinite."""
    least = np.finfo("f4").min
    m = Model(opset=13)
    m.tensor("mask", FLOAT, [3], [0.0, least, 0.0])
    m.input("x", FLOAT, [2, 3])
    m.node("Add", ["x", "mask"], ["y"], name="masked")
    m.output("y", FLOAT, [2, 3])
    b.convert(m)
    b.inputs(LINE)
    for bits in (8, 16):
        b.quantize("--act_bitwidth", str(bits))
        y = b.results(b.path("q.dlc"))[0]["y.raw"].view("f4").reshape(2, 3)
        b.checks.equal(f"unmasked in {bits} bits", y[:, ::2].tolist(), [[0, 0]] * 2)
        b.checks.check(f"masked in {bits} bits", np.all(np.isfinite(y[:, 1]) & (y[:, 1] < 0.999999 * least)), y)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for case in (one_wide_tensor, by_name, layer_by_name, products, integers_of_32_bits, constants_of_32_bits, least_floats,
                     without_effect, errors):
            case(Bench(checks, folder))
    checks.finish()


main()
