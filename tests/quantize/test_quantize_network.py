# SPDX-License-Identifier: Apache-2.0
"""A network that dlc-quantize makes: its encodings and stored integers against NumPy's, by the definitions of docs/quantizing.md,
and its results on each backend against a simulation in NumPy of the same integers, which must be equal."""

import tempfile

from quantizing import FLOAT, INT64, INTEGERS, Bench, Model, around, integers, np, read_container, stored, whole
from simulating import BITS, Fixed, product
from checks import Checks


def network(rng):
    """x → Conv → Relu → Conv → + → × constant → Concat with the Relu → MaxPool → Reshape → Gemm → MatMul → y; 1×1 convolutions."""
    m = Model(opset=13)
    for name, shape in (("w1", [5, 3, 1, 1]), ("b1", [5]), ("w2", [5, 5, 1, 1]), ("b2", [5]), ("k", [1]), ("g", [6, 40]),
                        ("gb", [6]), ("u", [6, 4])):
        m.tensor(name, FLOAT, shape, rng.uniform(-1, 1.3, shape).astype("f4").ravel().tolist())
    m.tensor("shape", INT64, [2], [1, 40])
    m.input("x", FLOAT, [1, 3, 4, 4])
    m.node("Conv", ["x", "w1", "b1"], ["c"])
    m.node("Relu", ["c"], ["r"])
    m.node("Conv", ["r", "w2", "b2"], ["d"])
    m.node("Add", ["d", "r"], ["s"])
    m.node("Mul", ["s", "k"], ["t"])
    m.node("Concat", ["t", "r"], ["a"], axis=1)
    m.node("MaxPool", ["a"], ["p"], kernel_shape=[2, 2], strides=[2, 2])
    m.node("Reshape", ["p", "shape"], ["f"])
    m.node("Gemm", ["f", "g", "gb"], ["h"], transB=1)
    m.node("MatMul", ["h", "u"], ["y"])
    m.output("y", FLOAT, [1, 4])
    return m


def matrix(name, array):
    """Weights with output channels last."""
    return array.reshape(array.shape[2:]) if name in ("w1", "w2") else array.T if array.ndim == 2 else array


def windows(array):
    """The greatest of each window of 2 × 2, as rows of the Reshape in the model's order of axes."""
    return array.reshape(2, 2, 2, 2, 10).max(axis=(1, 3)).transpose(2, 0, 1).reshape(1, 40)


DENSE = {"w1": "w1", "w2": "w2", "g": "g_permute", "u": "u"}  # as the container calls them


def simulate(container, x):
    """The integers of y, of an input [16, 3]."""
    def new(name, q=0):
        return Fixed(container.tensors[name], q)

    def layer(value, weights, bias, name):
        w, out = new(DENSE[weights], None), new(name)
        w.q = matrix(weights, w.q)
        out.q = product(value, w, new(bias, None) if bias else None, out)
        return out

    def rounded(name, values):
        out = new(name)
        out.q = out.rounded(values)
        return out

    relu = rounded("r", np.maximum(layer(rounded("x", x), "w1", "b1", "c").real(), 0))
    total = rounded("s", layer(relu, "w2", "b2", "d").real() + relu.real())
    scaled = rounded("t", total.real() * new("k", None).real())
    both = rounded("a", np.concatenate([scaled.real(), relu.real()], axis=-1))
    return layer(layer(new("f", windows(both.q)), "g", "gb", "h"), "u", None, "y").q.ravel()


def ranges(container, lines):
    """{name: (least, greatest)} of the float network with the reals of the container's constants."""
    c = {name: matrix(name, Fixed(container.tensors[DENSE.get(name, name)]).real().astype("f8"))
         for name in ("w1", "b1", "w2", "b2", "k", "g", "gb", "u")}
    seen = {}
    for x in lines:
        relu = np.maximum(x @ c["w1"] + c["b1"], 0)
        conv = relu @ c["w2"] + c["b2"]
        scaled = (conv + relu) * c["k"]
        both = np.concatenate([scaled, relu], axis=-1)
        dense = windows(both) @ c["g"] + c["gb"]
        found = {"x": x, "r": relu, "d": conv, "s": conv + relu, "t": scaled, "a": both, "h": dense, "y": dense @ c["u"]}
        for name, values in found.items():
            seen.setdefault(name, []).extend([values.min(), values.max()])
    return {name: (min(values), max(values)) for name, values in seen.items()}


def constants(b, container, model, options):
    """Encodings and integers of the options."""
    channels = {"w1": "--use_per_channel_quantization", "w2": "--use_per_channel_quantization",
                "g": "--use_per_row_quantization", "u": "--use_per_row_quantization"}
    bits = int(options[options.index("--weights_bitwidth") + 1]) if "--weights_bitwidth" in options else 8
    for name, option in channels.items():
        tensor, array = container.tensors[DENSE[name]], matrix(name, model[DENSE[name]])
        expected, kind = [whole(bits, array.min(), array.max())], f"UFXP_{bits}"
        if option in options:
            expected, kind = [around(bits, np.abs(column).max()) for column in array.T], f"SFXP_{bits}"
        b.checks.equal(f"{name} encodings", (tensor.dtype, tensor.encodings), (kind, expected))
        fixed = Fixed(tensor)
        expected = integers(array, bits, np.ravel(fixed.scales), fixed.offset, fixed.signed)
        b.checks.check(f"{name} integers", np.array_equal(matrix(name, fixed.q), expected))
    for name in ("b1", "b2", "gb"):
        tensor, array = container.tensors[name], model[name]
        wide = "--bias_bitwidth" in options
        expected = around(32, np.abs(array).max()) if wide else whole(8, array.min(), array.max())
        b.checks.equal(f"{name} encoding", (tensor.dtype, tensor.encodings), ("SFXP_32" if wide else "UFXP_8", [expected]))
        expected = integers(array, 32 if wide else 8, *expected, wide)
        b.checks.check(f"{name} integers", np.array_equal(stored(tensor), expected))


def activations(b, container, lines):
    tensors = container.tensors
    bits = BITS[tensors["x"].dtype]
    for name, (low, high) in ranges(container, lines).items():
        scale, offset = whole(bits, low, high)
        found = tensors[name].encodings[0]
        # A least value of which the offset is half way between two integers could come out either way.
        b.checks.check(f"range of {name}", abs(found[0] / scale - 1) < 1e-5 and found[1] == offset, (found, scale, offset))
    for name, like in (("c", "r"), ("p", "a"), ("p.nchw", "a"), ("f", "a")):
        b.checks.equal(f"{name} has the encoding of {like}", tensors[name].encodings, tensors[like].encodings)
    b.checks.equal("types of what is computed", {t.dtype for t in tensors.values() if t.kind != "STATIC"}, {f"UFXP_{bits}"})


def one(b, seed, *options):
    rng = np.random.default_rng(seed)
    b.convert(network(rng))
    lines = [rng.uniform(-1, 2, (16, 3)).astype("f4") for _ in range(3)]
    b.inputs(*lines)
    model = {name: np.frombuffer(tensor.data, "<f4").reshape(tensor.dims)
             for name, tensor in read_container(b.path("m.dlc")).tensors.items() if tensor.data is not None}
    quantized = b.quantize(*options)
    constants(b, quantized, model, options)
    activations(b, quantized, lines)
    expected = [simulate(quantized, line).tolist() for line in lines]
    for backend in ("reference", "cpu"):
        found = b.results(b.path("q.dlc"), "--use_native_output_files", "--backend", *dict.fromkeys((backend, "reference")))
        kind = INTEGERS[quantized.tensors["y"].dtype]
        b.checks.equal(f"integers of {backend}", [line["y.raw"].view(kind).tolist() for line in found], expected)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(checks, folder)
        one(b, 1)
        one(b, 2, "--bias_bitwidth", "32")
        one(b, 3, "--bias_bitwidth", "32", "--use_per_channel_quantization", "--use_per_row_quantization")
        one(b, 4, "--act_bitwidth", "16", "--bias_bitwidth", "32",
            "--use_per_channel_quantization")
        one(b, 5, "--act_bitwidth", "16", "--weights_bitwidth", "16")
        one(b, 6, "--weights_bitwidth", "4", "--bias_bitwidth", "32", "--use_per_channel_quantization")
    checks.finish()


main()
