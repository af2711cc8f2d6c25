# SPDX-License-Identifier: Apache-2.0
"""Masked scores: what a mask hides from Softmax has no part in the range, which reaches below the scores by as much as makes
Softmax give nothing; results are near those of float. Infinities of constants stand for the farthest reals."""

import tempfile

from quantizing import FLOAT, Bench, Model, np, read_container, whole
from checks import Checks, run

BOOL = 9
ROW = 8
ORDER = ("--io_layout", "model")
HIDDEN = np.triu(np.ones((ROW, ROW), bool), 1)
FARTHEST = float(np.finfo("f4").max)


def masked(form, value, read_twice=False, moved=False):
    """x, masked → Softmax → y: of a causal attention."""
    m = Model(opset=13)
    m.input("x", FLOAT, [2, ROW, ROW])
    if form == "Add":
        m.tensor("mask", FLOAT, [ROW, ROW], np.where(HIDDEN, value, 0).ravel().tolist())
        m.node("Add", ["x", "mask"], ["s"])
    elif form == "Sub":
        m.tensor("mask", FLOAT, [ROW, ROW], np.where(HIDDEN, -value, 0).ravel().tolist())
        m.node("Sub", ["x", "mask"], ["s"])
    else:
        m.tensor("hidden", BOOL, [ROW, ROW], raw=HIDDEN.astype("u1").tobytes())
        m.tensor("mask", FLOAT, [], [value])
        m.node("Where", ["hidden", "mask", "x"], ["s"])
    if moved:
        m.tensor("dims", 7, [3], [1, 2 * ROW, ROW])
        m.node("Reshape", ["s", "dims"], ["r"])
    m.node("Softmax", ["r" if moved else "s"], ["y"], axis=-1)
    m.output("y", FLOAT, [1, 2 * ROW, ROW] if moved else [2, ROW, ROW])
    if read_twice:
        m.output("s", FLOAT, [2, ROW, ROW])
    return m


def given(rng):
    return [rng.normal(0, 3, (2, ROW, ROW)).astype("f4") for _ in range(3)]


def softmax(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def expected(inputs, bits):
    seen = np.stack(inputs)[:, :, ~HIDDEN]
    margin = np.log(ROW) + np.log(2) * (bits + 1)
    return whole(bits, min(seen.min(), 0) - margin, seen.max())


def near(found, wanted):
    return abs(found[0] / wanted[0] - 1) < 1e-6 and found[1] == wanted[1]


def check(b, name, inputs, form, value, **more):
    b.convert(masked(form, value, **more), "m.dlc", *ORDER)
    b.inputs(*inputs)
    for bits in (8, 16):
        q = b.quantize("--act_bitwidth", bits)
        b.checks.check(f"{name} range {bits}", near(q.tensors["s"].encodings[0], expected(inputs, bits)),
                       (q.tensors["s"].encodings, expected(inputs, bits)))
        for backend in ((), ("--backend", "reference")):
            results = b.results(b.path("q.dlc"), *backend)
            y = np.stack([found["y.raw"].reshape(2, ROW, ROW) for found in results])
            exact = np.stack([softmax(np.where(HIDDEN, -np.inf, x.astype("f8"))) for x in inputs])
            b.checks.check(f"{name} results {bits} {backend}", np.abs(y - exact).max() < 8 / 2 ** (bits - 2), np.abs(y - exact).max())
            b.checks.check(f"{name} nothing {bits} {backend}", (y[..., HIDDEN] <= 1.01 / 2 ** bits).all(), y[..., HIDDEN].max())


def masks(b, inputs):
    for value in (-np.inf, -FARTHEST, -65504.0, -1e4):
        for form in ("Add", "Sub", "Where"):
            check(b, f"{form} {value}", inputs, form, float(value))
    check(b, "moved", inputs, "Add", -np.inf, moved=True)


def run_time(b, inputs):
    """A mask that is computed."""
    m = Model(opset=13)
    m.input("x", FLOAT, [2, ROW, ROW])
    m.input("keep", FLOAT, [ROW, ROW])
    m.tensor("one", FLOAT, [], [1.0])
    m.tensor("least", FLOAT, [], [-FARTHEST])
    m.node("Sub", ["one", "keep"], ["hide"])
    m.node("Mul", ["hide", "least"], ["mask"])
    m.node("Add", ["x", "mask"], ["s"])
    m.node("Softmax", ["s"], ["y"], axis=-1)
    m.output("y", FLOAT, [2, ROW, ROW])
    b.convert(m, "m.dlc", *ORDER)
    keep = np.where(HIDDEN, 0, 1).astype("f4")
    b.inputs(*({"x": x, "keep": keep} for x in inputs))
    q = b.quantize()
    b.checks.check("a computed mask", near(q.tensors["s"].encodings[0], expected(inputs, 8)), q.tensors["s"].encodings)
    b.inputs(*({"x": x, "keep": keep * 0 + 1} for x in inputs))
    seen = np.stack(inputs)
    done = b.run()
    b.checks.equal("nothing masked status", done.returncode, 0)
    found = read_container(b.path("q.dlc")).tensors["s"].encodings[0]
    b.checks.check("nothing masked", near(found, whole(8, seen.min(), seen.max())), found)


def others(b, inputs):
    """What is no mask, or is not for Softmax alone, has its range of all values."""
    seen = np.stack(inputs)
    for name, value, more in (("a bias", -100.0, {}), ("scores that are a result, too", -1e4, {"read_twice": True})):
        b.convert(masked("Where", value, **more), "m.dlc", *ORDER)
        b.inputs(*inputs)
        found = b.quantize().tensors["s"].encodings[0]
        b.checks.check(name, near(found, whole(8, value, seen[:, :, ~HIDDEN].max())), found)


def calibrators(b, inputs):
    """Of the scores alone, too; parts of the list give what the whole gives."""
    b.convert(masked("Where", -np.inf), "m.dlc", *ORDER)
    b.inputs(*inputs)
    for word in ("mse", "sqnr", "percentile", "entropy"):
        scale, _ = b.quantize("--act_quantizer_calibration", word).tensors["s"].encodings[0]
        b.checks.check(f"scale by {word}", scale <= expected(inputs, 8)[0] * 1.000001, scale)
        whole_bytes = b.path("q.dlc").read_bytes()
        for i in range(2):
            b.run("--act_quantizer_calibration", word, "--shard", f"{i}/2", "--statistics", b.path(f"s{i}"))
        b.run("--act_quantizer_calibration", word, "--merge", b.path("s0"), b.path("s1"), listed=False)
        b.checks.equal(f"parts by {word}", b.path("q.dlc").read_bytes() == whole_bytes, True)


def improved(b, inputs):
    """Weights and biases are made better by a go over what is computed of infinities, too."""
    m = Model(opset=13)
    w = np.random.default_rng(8).uniform(-1, 1, (ROW, ROW)).astype("f4")
    m.tensor("w", FLOAT, [ROW, ROW], w.ravel().tolist())
    m.input("x", FLOAT, [2, ROW, ROW])
    m.input("keep", FLOAT, [ROW, ROW])
    m.tensor("half", FLOAT, [], [0.5])
    m.tensor("shown", FLOAT, [], [0.0])
    m.tensor("masked", FLOAT, [], [float("-inf")])
    m.node("Greater", ["keep", "half"], ["is_kept"])
    m.node("Where", ["is_kept", "shown", "masked"], ["mask"])
    m.node("MatMul", ["x", "w"], ["p"])
    m.node("Add", ["p", "mask"], ["s"])
    m.node("Softmax", ["s"], ["y"], axis=-1)
    m.output("y", FLOAT, [2, ROW, ROW])
    b.convert(m, "m.dlc", *ORDER)
    keep = np.where(HIDDEN, 0, 1).astype("f4")
    b.inputs(*({"x": x, "keep": keep} for x in inputs))
    exact = np.stack([softmax(np.where(HIDDEN, -np.inf, x.astype("f8") @ w)) for x in inputs])
    for words in ("cle", "bc", "adaround", "adaround,bc"):
        b.quantize("--optimizations", words, "--bias_bitwidth", "32")
        y = np.stack([found["y.raw"].reshape(2, ROW, ROW) for found in b.results(b.path("q.dlc"))])
        b.checks.check(f"results by {words}", np.abs(y - exact).max() < 0.125, np.abs(y - exact).max())
        b.checks.check(f"nothing by {words}", (y[..., HIDDEN] <= 1.01 / 256).all(), y[..., HIDDEN].max())


def symmetric(b, inputs):
    """As many integers below zero as above: the farthest has a float all the same."""
    for value in (-np.inf, -FARTHEST, np.inf):
        b.convert(masked("Sub" if value > 0 else "Where", -abs(value)), "m.dlc", *ORDER)
        b.inputs(*inputs)
        q = b.quantize("--act_quantizer_schema", "symmetric")
        scale, offset = q.tensors["mask"].encodings[0]
        b.checks.equal(f"offset of {value}", offset, -128)
        b.checks.check(f"farthest of {value}", np.isfinite(np.float32(128 * scale)) and 128 * scale > 0.999 * FARTHEST, scale)
        done = run("dlc-info", "-i", b.path("q.dlc"), "--verify")
        b.checks.equal(f"container of {value}", done.returncode, 0)
        exact = np.stack([softmax(np.where(HIDDEN, -np.inf, x.astype("f8"))) for x in inputs])
        y = np.stack([found["y.raw"].reshape(2, ROW, ROW) for found in b.results(b.path("q.dlc"))])
        b.checks.check(f"results of {value}", np.abs(y - exact).max() < 0.25, np.abs(y - exact).max())


def bounds(b, inputs):
    """An infinity that bounds nothing, and one among weights, which no integers stand for."""
    m = Model(opset=13)
    m.tensor("most", FLOAT, [1], [float("inf")])
    m.input("x", FLOAT, [2, ROW, ROW])
    m.node("Min", ["x", "most"], ["y"])
    m.output("y", FLOAT, [2, ROW, ROW])
    b.convert(m, "m.dlc", *ORDER)
    b.inputs(*inputs)
    b.quantize()
    step = whole(8, np.stack(inputs).min(), np.stack(inputs).max())[0]
    for x, found in zip(inputs, b.results(b.path("q.dlc"))):
        b.checks.check("Min with infinity", np.abs(found["y.raw"] - x.ravel()).max() <= step, np.abs(found["y.raw"] - x.ravel()).max())
    m = Model(opset=13)
    m.tensor("w", FLOAT, [ROW, 2], [float("inf")] + [1.0] * (2 * ROW - 1))
    m.input("x", FLOAT, [2, ROW, ROW])
    m.node("MatMul", ["x", "w"], ["y"])
    m.output("y", FLOAT, [2, ROW, 2])
    b.convert(m, "m.dlc", *ORDER)
    done = b.run()
    b.checks.check("weights", done.returncode == 1 and "holds an infinity as element" in done.stderr, done.stderr)


def main():
    checks = Checks()
    inputs = given(np.random.default_rng(5))
    with tempfile.TemporaryDirectory() as folder:
        for case in (masks, run_time, others, calibrators, improved, symmetric, bounds):
            case(Bench(checks, folder), inputs)
    checks.finish()


main()
