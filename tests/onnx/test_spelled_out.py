# SPDX-License-Identifier: Apache-2.0
"""Operators that a model spells out, one model each: which ops the container has, and that it computes the same. What is nearly
such a pattern stays as it is. The table of docs/graphs-and-passes.md has the same rows."""

import math

from one_node import np
from checks import Checks
from test_products import Network, noise

PLAIN = {"Transpose", "Reshape"}  # where layouts meet, and around layers
NEWER = ("--target_release", "2.47")


class Steps(Network):
    """A network that is written as an expression: a method an operator, each gives the name of its result."""

    def __init__(self, shape=(2, 3, 4), seed=1):
        self.x = noise(seed, *shape) * 3
        super().__init__(x=self.x)
        self.made = 0

    def named(self, kind):
        self.made += 1
        return f"{kind}{self.made}"

    def number(self, value):
        return self.floats(self.named("number"), np.asarray(value, "f4"))

    def step(self, op, *operands, domain="", **attributes):
        names = [operand if isinstance(operand, str) else self.number(operand) for operand in operands]
        out = self.named("step")
        self.node(op, names, [out], domain=domain, **attributes) if domain else self.node(op, names, [out], **attributes)
        return out

    def list(self, *values):
        return self.ints(self.named("list"), list(values))


def written(checks, label, m, last, y, options=()):
    """The container of what ends with the step; numbers are compared with y."""
    m.node("Identity", [last], ["y"])
    return m.gives(checks, label, ("--preserve_io", "layout", *options), y=np.asarray(y, "f4"))


def kinds_of(container):
    return container and sorted(op.type for op in container.ops if op.type not in PLAIN)


def found(checks, label, m, last, y, options=()):
    """Types of the container's ops, sorted."""
    return kinds_of(written(checks, label, m, last, y, options))


def becomes(checks, label, m, last, y, *types, options=()):
    """The container, or None."""
    container = written(checks, label, m, last, y, options)
    checks.equal(f"{label}: ops", kinds_of(container), sorted(types))
    return container


def transposes(container):
    return sum(op.type == "Transpose" for op in container.ops)


def stays(checks, label, m, last, y, *gone, options=()):
    """None of these types is there: what is nearly the pattern is not taken for the operator."""
    types = found(checks, label, m, last, y, options)
    checks.check(f"{label}: ops", types and not set(gone) & set(types), types)


def erf(x):
    return np.vectorize(math.erf)(x.astype("f8"))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_gelu(checks):
    for root, is_gelu in ((math.sqrt(2), True), (1.5, False)):
        m = Steps()
        last = m.step("Mul", m.step("Mul", "x", m.step("Add", m.step("Erf", m.step("Div", "x", root)), 1)), 0.5)
        y = m.x * (1 + erf(m.x / root)) / 2
        types = found(checks, f"Gelu by {root:.3f}", m, last, y)
        checks.equal(f"Gelu by {root:.3f}: ops", types == ["Neuron"], is_gelu)
    for options, types in (((), ["Eltwise_Binary", "Eltwise_Binary", "Neuron"]), (("--approximate_gelu",), ["Neuron"])):
        m = Steps()
        last = m.step("Mul", "x", m.step("Sigmoid", m.step("Mul", "x", 1.702)))
        y = m.x * sigmoid(1.702 * m.x) if not options else m.x * (1 + erf(m.x / math.sqrt(2))) / 2
        becomes(checks, f"Gelu by sigmoid {options}", m, last, y, *types, options=options)
    m = Steps()
    cube = m.step("Mul", m.step("Mul", m.step("Mul", "x", "x"), "x"), 0.044715)
    inner = m.step("Tanh", m.step("Mul", m.step("Add", "x", cube), math.sqrt(2 / math.pi)))
    last = m.step("Mul", m.step("Mul", "x", 0.5), m.step("Add", inner, 1))
    becomes(checks, "Gelu by tanh", m, last, m.x * (1 + erf(m.x / math.sqrt(2))) / 2, "Neuron", options=("--approximate_gelu",))


def test_activations(checks):
    m = Steps()
    last = m.step("Div", m.step("Mul", "x", m.step("Clip", m.step("Add", "x", 3), 0, 6)), 6)
    becomes(checks, "HardSwish", m, last, m.x * np.clip(m.x + 3, 0, 6) / 6, "Neuron")
    m = Steps()
    last = m.step("Mul", "x", m.step("Clip", m.step("Add", m.step("Div", "x", 6), 0.5), 0, 1))
    becomes(checks, "HardSwish by bounds of 0 and 1", m, last, m.x * np.clip(m.x + 3, 0, 6) / 6, "Neuron")
    m = Steps()
    last = m.step("Div", m.step("Mul", "x", m.step("Clip", m.step("Add", "x", 2), 0, 6)), 6)
    stays(checks, "nearly HardSwish", m, last, m.x * np.clip(m.x + 2, 0, 6) / 6, "HardSwish")
    m = Steps()
    becomes(checks, "HardSigmoid", m, m.step("Clip", m.step("Add", m.step("Mul", "x", 0.2), 0.5), 0, 1), np.clip(0.2 * m.x + 0.5, 0, 1), "Neuron")
    for added, types in ((1, ["ElementWiseSoftplus"]), (2, ["ElementWiseUnary"])):
        m = Steps()
        last = m.step("Log", m.step("Add", m.step("Exp", "x"), added))
        kinds = found(checks, f"Softplus with {added}", m, last, np.log(np.exp(m.x) + added))
        checks.equal(f"Softplus with {added}: ops", kinds and len(kinds), 1 if added == 1 else 3)
    m = Steps()
    last = m.step("Sub", m.step("Relu", "x"), m.step("Mul", m.step("Relu", m.step("Neg", "x")), 0.3))
    becomes(checks, "Prelu", m, last, np.where(m.x > 0, m.x, 0.3 * m.x), "Prelu")
    m = Steps()
    last = m.step("Sub", m.step("Relu", "x"), m.step("Mul", m.step("Relu", "x"), 0.3))
    stays(checks, "nearly Prelu", m, last, 0.7 * np.maximum(m.x, 0), "Prelu")
    m = Steps()
    becomes(checks, "Prelu by a maximum", m, m.step("Max", "x", m.step("Mul", "x", 0.1)), np.maximum(m.x, 0.1 * m.x), "Prelu")
    m = Steps()
    becomes(checks, "Relu6", m, m.step("Clip", "x", 0, 6), np.clip(m.x, 0, 6), "Neuron")
    m = Steps()
    last = m.step("Min", m.step("Max", "x", 0), 6)
    becomes(checks, "bounds one by one", m, last, np.clip(m.x, 0, 6), "Neuron")
    for first, second, bounds in (("Max", "Min", (-1, 1.5)), ("Min", "Max", (0.75, -0.25))):
        m = Steps()
        low, high = sorted(bounds)
        last = m.step(second, bounds[1], m.step(first, "x", bounds[0]))
        becomes(checks, f"bounds by {first} and {second}", m, last, np.clip(m.x, low, high), "Neuron")
    m = Steps()
    inner = m.step("Where", m.step("Less", "x", -0.5), -0.5, "x")
    last = m.step("Where", m.step("Greater", inner, 0.5), 0.5, inner)
    becomes(checks, "bounds by choices", m, last, np.clip(m.x, -0.5, 0.5), "Neuron")
    m = Steps()
    last = m.step("Min", m.step("Max", "x", 1), -1)
    becomes(checks, "bounds that exclude each other", m, last, np.full_like(m.x, -1), "Eltwise_Binary", "Eltwise_Binary")
    m = Steps()
    last = m.step("Where", m.step("Greater", "x", -0.5), "x", -0.5)
    becomes(checks, "a choice that gives a number for NaN", m, last, np.maximum(m.x, -0.5), "Eltwise_Binary", "Eltwise_Ternary")


def test_without_an_operator(checks):
    """The list of operators has no Swish, no Mish, and no norm whose epsilon is outside of the root."""
    m = Steps()
    becomes(checks, "Swish", m, m.step("Mul", "x", m.step("Sigmoid", "x")), m.x * sigmoid(m.x), "Neuron", "Eltwise_Binary")
    m = Steps()
    last = m.step("Mul", "x", m.step("Tanh", m.step("Log", m.step("Add", m.step("Exp", "x"), 1))))
    types = found(checks, "Mish", m, last, m.x * np.tanh(np.log(1 + np.exp(m.x))))
    checks.equal("Mish: ops", types and len(types), 3)
    m = Steps((2, 3, 4, 5))
    last = m.step("MeanVarianceNormalization", "x", axes=[0, 2, 3])
    mean, deviation = (f(m.x, axis=(0, 2, 3), keepdims=True) for f in (np.mean, np.std))
    stays(checks, "mean-variance normalization", m, last, (m.x - mean) / (deviation + 1e-9), "LayerNorm", "InstanceNorm", "L2Norm")


def normalized(m, axes, inside=True, epsilon=1e-3):
    """The steps, and NumPy's result."""
    apart = m.step("Sub", "x", m.step("ReduceMean", "x", axes=axes, keepdims=1))
    variance = m.step("ReduceMean", m.step("Mul", apart, apart), axes=axes, keepdims=1)
    root = m.step("Sqrt", m.step("Add", variance, epsilon)) if inside else m.step("Add", m.step("Sqrt", variance), epsilon)
    d = m.x - m.x.mean(axis=tuple(axes), keepdims=True)
    v = (d * d).mean(axis=tuple(axes), keepdims=True)
    return m.step("Div", apart, root), d / (np.sqrt(v + epsilon) if inside else np.sqrt(v) + epsilon)


def test_norms(checks):
    gamma, beta = noise(5, 4), noise(6, 4)
    for inside in (True, False):
        m = Steps()
        last, y = normalized(m, [2], inside)
        last = m.step("Add", m.step("Mul", last, gamma), beta)
        types = found(checks, f"LayerNorm {inside=}", m, last, y * gamma + beta)
        checks.equal(f"LayerNorm {inside=}: ops", types == ["LayerNorm"], inside)
    for options, is_found in (((), False), (NEWER, True)):
        m = Steps()
        root = m.step("Sqrt", m.step("Add", m.step("ReduceMean", m.step("Mul", "x", "x"), axes=[2], keepdims=1), 1e-3))
        y = m.x / np.sqrt((m.x * m.x).mean(axis=2, keepdims=True) + 1e-3) * gamma
        types = found(checks, f"RmsNorm {options}", m, m.step("Mul", m.step("Div", "x", root), gamma), y, options)
        checks.equal(f"RmsNorm {options}: ops", types == ["RmsNorm"], is_found)
    m = Steps((2, 4, 3, 5))
    last, y = normalized(m, [2, 3])
    weights = [noise(seed, 4, 1, 1) for seed in (5, 6)]
    last = m.step("Add", m.step("Mul", last, weights[0]), weights[1])
    becomes(checks, "InstanceNorm", m, last, y * weights[0] + weights[1], "InstanceNorm")
    m = Steps((2, 4, 3, 5))
    groups = m.step("InstanceNormalization", m.step("Reshape", "x", m.list(2, 2, -1)), np.ones(2), np.zeros(2), epsilon=1e-3)
    last = m.step("Add", m.step("Mul", m.step("Reshape", groups, m.list(2, 4, 3, 5)), weights[0]), weights[1])
    parts = m.x.reshape(2, 2, -1)
    parts = (parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + 1e-3)
    becomes(checks, "GroupNorm", m, last, parts.reshape(m.x.shape) * weights[0] + weights[1], "GroupNorm")
    m = Steps((6, 4))
    groups = m.step("InstanceNormalization", m.step("Reshape", "x", m.list(6, 2, 2)), np.ones(2), np.zeros(2), epsilon=1e-3)
    parts = m.x.reshape(6, 2, 2)
    parts = (parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + 1e-3)
    last = m.step("Mul", m.step("Reshape", groups, m.list(6, 4)), gamma)
    becomes(checks, "GroupNorm without a bias", m, last, parts.reshape(m.x.shape) * gamma, "GroupNorm")
    m = Steps()
    mean = m.step("ReduceMean", "x", axes=[2], keepdims=1)
    squares = m.step("Sub", m.step("ReduceMean", m.step("Mul", "x", "x"), axes=[2], keepdims=1), m.step("Mul", mean, mean))
    last = m.step("Div", m.step("Sub", "x", mean), m.step("Sqrt", m.step("Add", squares, 0.25)))
    y = (m.x - m.x.mean(2, keepdims=True)) / np.sqrt(m.x.var(2, keepdims=True) + 0.25)
    becomes(checks, "LayerNorm by moments", m, last, y, "LayerNorm")
    m = Steps()
    last = m.step("Div", "x", m.step("Sqrt", m.step("Add", m.step("ReduceMean", m.step("Mul", "x", "x"), axes=[2], keepdims=1), 0.25)))
    y = m.x / np.sqrt((m.x * m.x).mean(2, keepdims=True) + 0.25)
    becomes(checks, "RmsNorm without weights", m, last, y, "RmsNorm", options=NEWER)
    m = Steps()
    squares = m.step("ReduceSum", m.step("Mul", "x", "x"), m.list(2), keepdims=1)
    y = m.x / np.sqrt(np.maximum((m.x * m.x).sum(2, keepdims=True), 1e-6))
    becomes(checks, "L2Norm", m, m.step("Div", "x", m.step("Sqrt", m.step("Max", squares, 1e-6))), y, "L2Norm")


def test_softmax(checks):
    for axis in (2, 1):
        m = Steps()
        e, s = np.exp(m.x), np.exp(m.x).sum(axis, keepdims=True)
        power = m.step("Exp", "x")
        becomes(checks, f"Softmax along {axis}", m, m.step("Div", power, m.step("ReduceSum", power, m.list(axis), keepdims=1)), e / s, "Softmax")
        m = Steps()
        total = m.step("ReduceSum", m.step("Exp", "x"), m.list(axis), keepdims=1)
        becomes(checks, f"LogSoftmax along {axis}", m, m.step("Sub", "x", m.step("Log", total)), m.x - np.log(s), "LogSoftmax")
        for kind in ("LogSoftmax", "Softmax"):
            m = Steps()
            last = m.step("Sub", "x", m.step("ReduceLogSumExp", "x", axes=[axis], keepdims=1))
            last = m.step("Exp", last) if kind == "Softmax" else last
            y = e / s if kind == "Softmax" else m.x - np.log(s)
            becomes(checks, f"{kind} by ReduceLogSumExp along {axis}", m, last, y, kind)
    m = Steps()
    power = m.step("Exp", "x")
    last = m.step("Div", power, m.step("ReduceSum", m.step("Exp", m.step("Neg", "x")), m.list(2), keepdims=1))
    stays(checks, "nearly Softmax", m, last, np.exp(m.x) / np.exp(-m.x).sum(2, keepdims=True), "Softmax")


def test_attention(checks):
    """The scale of the scores is the Softmax's; the keys' Transpose stays, as in the vendor's containers."""
    m = Steps((1, 2, 5, 4))
    scores = m.step("Mul", m.step("MatMul", "x", m.step("Transpose", "x", perm=[0, 1, 3, 2])), 0.5)
    last = m.step("MatMul", m.step("Softmax", scores, axis=-1), "x")
    e = np.exp(m.x @ m.x.transpose(0, 1, 3, 2) / 2)
    container = becomes(checks, "attention", m, last, e / e.sum(-1, keepdims=True) @ m.x, "MatMul", "Softmax", "MatMul")
    checks.equal("attention: Transposes", container and transposes(container), 1)


def channels(x, w):
    return np.einsum("nchw,oc->nohw", x, w[:, :, 0, 0])


def test_image_attention(checks):
    """Attention among an image's places, by convolutions around it: of the model's two Transposes the one stays whose operand is in
    its own order."""
    m = Steps((1, 3, 4, 2))
    q, k, v, out = (noise(seed, 3, 3, 1, 1) for seed in (5, 6, 7, 8))
    places = [m.step("Reshape", m.step("Conv", "x", w), m.list(1, 3, 8)) for w in (q, k, v)]
    scores = m.step("Softmax", m.step("MatMul", m.step("Transpose", places[0], perm=[0, 2, 1]), places[1]), axis=-1)
    mixed = m.step("MatMul", places[2], m.step("Transpose", scores, perm=[0, 2, 1]))
    last = m.step("Conv", m.step("Reshape", mixed, m.list(1, 3, 4, 2)), out)
    a, b, c = (channels(m.x, w).reshape(1, 3, 8) for w in (q, k, v))
    e = np.exp(a.transpose(0, 2, 1) @ b)
    y = channels((c @ (e / e.sum(-1, keepdims=True)).transpose(0, 2, 1)).reshape(1, 3, 4, 2), out)
    container = becomes(checks, "attention in images", m, last, y, "Conv2d", "Conv2d", "Conv2d", "MatMul", "Softmax", "MatMul", "Conv2d")
    checks.equal("attention in images: Transposes", container and transposes(container), 3)  # of x, of y, and of the scores


def test_branches(checks):
    """Branches that are stacked and summed, and convolutions of rows: what moves axes costs no Transpose."""
    m = Steps((1, 3, 4, 2))
    one, other = noise(5, 3, 3, 1, 1), noise(6, 3, 3, 1, 1)
    parts = [m.step("Reshape", m.step("Conv", "x", w), m.list(1, 1, 3, 4, 2)) for w in (one, other)]
    last = m.step("Conv", m.step("ReduceSum", m.step("Concat", *parts, axis=1), m.list(1), keepdims=0), one)
    y = channels(channels(m.x, one) + channels(m.x, other), one)
    container = becomes(checks, "branches", m, last, y, "Conv2d", "Conv2d", "Concat", "Reduce", "Conv2d")
    checks.equal("branches: Transposes", container and transposes(container), 2)  # of x and of y
    m = Steps((1, 3, 5))
    rows = m.step("Neg", m.step("Conv", "x", noise(5, 4, 3, 1)))
    y = -np.einsum("ncl,oc->nol", m.x, noise(5, 4, 3, 1)[:, :, 0]).transpose(0, 2, 1)
    container = becomes(checks, "rows", m, m.step("Transpose", rows, perm=[0, 2, 1]), y, "Conv2d", "Eltwise_Unary")
    checks.equal("rows: Transposes", container and transposes(container), 1)  # of x


def test_layers(checks):
    m = Steps((3, 4))
    w, b = noise(5, 4, 6), noise(6, 6)
    becomes(checks, "a product and a bias", m, m.step("Add", m.step("MatMul", "x", w), b), m.x @ w + b, "FullyConnected")
    m = Steps((1, 3, 5, 4))
    w, factor, bias = noise(5, 2, 3, 1, 1), noise(6, 2, 1, 1), noise(7, 2, 1, 1)
    y = np.einsum("nchw,oc->nohw", m.x, w[:, :, 0, 0]) * factor + bias
    becomes(checks, "a convolution, weighted", m, m.step("Add", m.step("Mul", m.step("Conv", "x", w), factor), bias), y, "Conv2d")
    for value, types in ((0, ["Conv2d", "Conv2d"]), (2, ["Conv2d", "Conv2d", "Pad"])):
        m = Steps((1, 3, 5, 4))
        first = m.step("Conv", "x", noise(8, 3, 3, 1, 1))
        last = m.step("Conv", m.step("Pad", first, m.list(0, 0, 1, 0, 0, 0, 0, 1), value), w)
        inner = np.einsum("nchw,oc->nohw", m.x, noise(8, 3, 3, 1, 1)[:, :, 0, 0])
        around = np.pad(inner, ((0, 0), (0, 0), (1, 0), (0, 1)), constant_values=value)
        y = np.einsum("nchw,oc->nohw", around, w[:, :, 0, 0])
        becomes(checks, f"a convolution, padded with {value}", m, last, y, *types)


def test_moved(checks):
    m = Steps((1, 6, 4, 2))
    last = m.step("Reshape", m.step("Transpose", m.step("Reshape", "x", m.list(1, 2, 3, 4, 2)), perm=[0, 2, 1, 3, 4]), m.list(1, 6, 4, 2))
    becomes(checks, "ChannelShuffle", m, last, m.x.reshape(1, 2, 3, 4, 2).transpose(0, 2, 1, 3, 4).reshape(m.x.shape), "ChannelShuffle")
    m = Steps((1, 3, 4, 2))
    last = m.step("Transpose", m.step("Reshape", "x", m.list(1, 3, 2, 2, 1, 2)), perm=[0, 3, 5, 1, 2, 4])
    y = m.x.reshape(1, 3, 2, 2, 1, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 12, 2, 1)
    becomes(checks, "SpaceToDepth", m, m.step("Reshape", last, m.list(1, 12, 2, 1)), y, "SpaceToDepth")
    m = Steps((1, 12, 2, 1))
    last = m.step("Transpose", m.step("Reshape", "x", m.list(1, 2, 2, 3, 2, 1)), perm=[0, 3, 4, 1, 5, 2])
    y = m.x.reshape(1, 2, 2, 3, 2, 1).transpose(0, 3, 4, 1, 5, 2).reshape(1, 3, 4, 2)
    becomes(checks, "DepthToSpace", m, m.step("Reshape", last, m.list(1, 3, 4, 2)), y, "DepthToSpace")
    m = Steps()
    last = m.step("Reshape", m.step("Reshape", m.step("Neg", "x"), m.list(6, 4)), m.list(24))
    m.node("Identity", [last], ["y"])
    container = m.gives(checks, "Reshape of Reshape", y=-m.x.reshape(24))
    checks.equal("Reshape of Reshape: ops", container and [op.type for op in container.ops], ["Eltwise_Unary", "Reshape"])
    m = Steps()
    inner = m.step("Concat", "x", m.step("Neg", "x"), axis=1)
    becomes(checks, "Concat of Concat", m, m.step("Concat", inner, "x", axis=1), np.concatenate([m.x, -m.x, m.x], 1), "Eltwise_Unary", "Concat")
    for options, types in (((), ["StridedSlice", "StridedSlice"]), (("--split_slices",), ["Split"])):
        m = Steps()
        one, other = (m.step("Slice", "x", m.list(begin), m.list(end), m.list(2)) for begin, end in ((0, 2), (2, 4)))
        y = m.x[..., :2] - m.x[..., 2:]
        becomes(checks, f"Split {options}", m, m.step("Sub", one, other), y, *types, "Eltwise_Binary", options=options)


def main():
    checks = Checks()
    if np is None:
        checks.skip("operators that are spelled out", "python3-numpy is not there")
        checks.finish()
    for test in (test_gelu, test_activations, test_without_an_operator, test_norms, test_softmax, test_attention, test_image_attention, test_branches, test_layers, test_moved):
        test(checks)
    checks.finish()


main()
