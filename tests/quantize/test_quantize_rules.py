# SPDX-License-Identifier: Apache-2.0
"""Encodings that rules of dlc-quantize fix: ranges of functions, scales of biases, steps of weights; and options without
effect."""

import tempfile

from quantizing import FLOAT, Bench, Model, around, f32, np, read_container, stored, whole
from checks import Checks


def functions():
    m = Model(opset=13)
    m.input("x", FLOAT, [2, 4])
    for op in ("Sigmoid", "Tanh", "Softmax"):
        m.node(op, ["x"], [op.lower()])
        m.output(op.lower(), FLOAT, [2, 4])
    return m


def layers(rng):
    """x → Conv → Flatten → Gemm → y"""
    m = Model(opset=13)
    for name, shape in (("w", [4, 3, 1, 1]), ("b", [4]), ("g", [5, 16]), ("c", [5])):
        m.tensor(name, FLOAT, shape, rng.uniform(-1, 1, shape).astype("f4").ravel().tolist())
    m.input("x", FLOAT, [1, 3, 2, 2])
    m.node("Conv", ["x", "w", "b"], ["v"])
    m.node("Flatten", ["v"], ["f"])
    m.node("Gemm", ["f", "g", "c"], ["y"], transB=1)
    m.output("y", FLOAT, [1, 5])
    return m


CHANNELS = ("--use_per_channel_quantization", "--use_per_row_quantization")


def ranges(b):
    b.convert(functions())
    b.inputs(np.random.default_rng(1).uniform(-1, 1, (2, 4)))
    seen = b.quantize().tensors
    b.checks.check("observed without the option", all(seen[name].encodings[0][0] < 1 / 256 for name in ("sigmoid", "softmax")))
    for bits in (8, 16):
        q = b.quantize("--fixed_ranges", "--act_bitwidth", bits).tensors
        half = 2 ** (bits - 1)
        b.checks.equal(f"{bits} bits", [q[name].encodings for name in ("sigmoid", "softmax", "tanh")],
                       [[(1 / (2 * half), 0)], [(1 / (2 * half), 0)], [(1 / half, -half)]])
        b.results(b.path("q.dlc"))


def floats_of(b, name):
    tensor = read_container(b.path("m.dlc")).tensors[name]
    return np.frombuffer(tensor.data, "<f4").reshape(tensor.dims)


def biases(b):
    """The integers are rint(b / (input scale × weights scale)), and results of both backends those of exact sums."""
    rng = np.random.default_rng(2)
    b.convert(layers(rng))
    x = rng.uniform(-1, 1, (1, 2, 2, 3)).astype("f4")
    b.inputs(x)
    for options in ((), CHANNELS):
        q = b.quantize("--bias_scale", "product", *options).tensors
        for bias, weights, source in (("b", "w", "x"), ("c", "g_permute", "f")):
            scales = [f32(q[source].encodings[0][0] * scale) for scale, _ in q[weights].encodings]
            b.checks.equal(f"{bias} {options}", (q[bias].dtype, q[bias].encodings), ("SFXP_32", [(scale, 0) for scale in scales]))
            b.checks.equal(f"integers of {bias} {options}", stored(q[bias]).tolist(),
                           np.rint(floats_of(b, bias).astype("f8") / scales).tolist())
        expected = simulate(q, x)
        for backend in ("reference", "cpu"):
            found = b.results(b.path("q.dlc"), "--use_native_output_files", "--backend", *dict.fromkeys((backend, "reference")))
            b.checks.equal(f"results of {backend} {options}", found[0]["y.raw"].tolist(), expected)
    plain = b.quantize("--bias_scale", "range", "--bias_bitwidth", "32").tensors["b"]
    b.checks.equal("by the range", plain.encodings, [around(32, np.abs(floats_of(b, "b")).max())])


def simulate(q, x):
    def part(name, values=None):
        tensor = q[name]
        array = (stored(tensor) if values is None else values).astype("f8")
        scales = np.array([scale for scale, _ in tensor.encodings])
        shape = [1] * array.ndim
        shape[tensor.axis or 0] = len(scales)
        return (array + tensor.encodings[0][1]) * (scales.reshape(shape) if len(scales) > 1 else scales[0])

    def rounded(values, name):
        scale, offset = q[name].encodings[0]
        return np.clip(np.rint(values / scale) - offset, 0, 255)

    first = rounded(part("x", rounded(x.reshape(4, 3), "x")) @ part("w").reshape(3, 4) + part("b"), "v")
    flat = part("f", first.T.reshape(1, 16))
    return rounded(flat @ part("g_permute").T + part("c"), "y").ravel().tolist()


def rows(b):
    q = b.quantize("--enable_per_row_quantized_bias", *CHANNELS).tensors
    c = floats_of(b, "c")
    b.checks.equal("a scale per row", (q["c"].dtype, q["c"].axis, q["c"].encodings),
                   ("SFXP_8", 0, [around(8, abs(value)) for value in c]))
    b.checks.equal("convolutions have one", q["b"].encodings, [whole(8, floats_of(b, "b").min(), floats_of(b, "b").max())])
    b.results(b.path("q.dlc"))


def steps(b):
    for bits, low, high in ((8, -0x80, 0x7F), (16, -0x8000, 0x7F7F)):
        text = f"-{-low:#x} {high:#x}"
        q = b.quantize("--restrict_quantization_steps", text, "--weights_bitwidth", bits, *CHANNELS).tensors
        g, tensor = floats_of(b, "g_permute"), q["g_permute"]
        expected = 2 * np.abs(g).max(axis=1) / (high - low)
        far = np.abs(np.array([scale for scale, _ in tensor.encodings]) / expected - 1).max()
        b.checks.check(f"scales of {text}", far < 1e-6 and {o for _, o in tensor.encodings} == {0}, far)
        scales = np.array([scale for scale, _ in tensor.encodings]).reshape(-1, 1)
        b.checks.equal(f"integers of {text}", stored(tensor).tolist(), np.clip(np.rint(g.astype("f8") / scales), low, high).tolist())
        b.checks.equal(f"type of {text}", tensor.dtype, f"SFXP_{bits}")
        b.results(b.path("q.dlc"))
        q = b.quantize("--restrict_quantization_steps", text, "--weights_bitwidth", bits, "--use_symmetric_quantize_weights").tensors
        w, tensor = floats_of(b, "w"), q["w"]
        scale, offset = tensor.encodings[0]
        b.checks.check(f"symmetric {text}", offset == low and abs(scale * (high - low) / (2 * np.abs(w).max()) - 1) < 1e-6, tensor.encodings)
        b.checks.equal(f"symmetric integers {text}", stored(tensor).tolist(), (np.clip(np.rint(w.astype("f8") / scale), low, high) - low).tolist())
    for text, options in (("-0x80 0x7F", ()), ("-0x8000 0x7F7F", CHANNELS)):
        done = b.run("--restrict_quantization_steps", text, *options)
        b.checks.check(f"no effect of {text}", done.returncode == 0 and "no effect on 2 weights" in done.stderr, done.stderr)
    for text in ("", "5", "1 2", "-5 -3", "a b", "-0x80 0x7F x"):
        done = b.run("--restrict_quantization_steps", text)
        b.checks.check(f"refused: {text}", done.returncode == 2 and f"'{text}'" in done.stderr, done.stderr)


def ignored(b):
    names = ("use_dynamic_16_bit_weights", "include_data_invariant_ops", "calc_static_encodings", "disable_relu_squashing",
             "adjust_bias_encoding", "use_encoding_optimizations")
    before = b.quantize()
    done = b.run(*(f"--{name}" for name in names))
    b.checks.equal("one note", (done.returncode, done.stderr.count("\n")), (0, 1))
    after = read_container(b.path("q.dlc"))
    b.checks.equal("no effect", {n: t.encodings for n, t in after.tensors.items()}, {n: t.encodings for n, t in before.tensors.items()})


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for case in (ranges, biases, rows, steps, ignored):
            case(Bench(checks, folder))
    checks.finish()


main()
