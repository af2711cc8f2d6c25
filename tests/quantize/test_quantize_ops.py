# SPDX-License-Identifier: Apache-2.0
"""Each op that dlc-quantize makes fixed-point: what it gives on both backends, integer by integer, against NumPy, which computes it from
the integers that it reads. The ops are branches of one network; operands are in the container's order of axes."""

import math
import tempfile

from quantizing import FLOAT, INT64, Bench, Model, np, read_container, stored
from simulating import BITS, Fixed
from checks import Checks, run, share_of

KINDS = {"UFXP_8": "u1", "UFXP_16": "<u2", "SFXP_8": "i1", "INT_32": "<i4", "BOOL_8": "u1", "FLOAT_32": "<f4"}


class Row:
    """A node: its inputs by name, and its results of the reals of those that the op has in the container."""

    def __init__(self, op, inputs, function, results=1, kind=FLOAT, **attributes):
        self.op, self.inputs, self.function, self.results, self.kind, self.attributes = op, inputs, function, results, kind, attributes


def ints(op, name):
    return np.frombuffer(op.params[name].tensor.data, "<i4").tolist()


def along(function, **more):
    """Of the axes that the op names."""
    return lambda op, x: function(x.astype("f8"), axis=tuple(ints(op, "axes")), keepdims=True, **more)


def erf(x):
    return np.vectorize(math.erf)(x)


def softmax(_, x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def normed(x, axes, epsilon):
    mean = x.mean(axes, keepdims=True)
    return (x - mean) / np.sqrt(np.square(x - mean).mean(axes, keepdims=True) + epsilon)


def group_norm(_, x, scale, bias):
    n, h, w, c = x.shape
    return normed(x.reshape(n, h, w, 2, c // 2), (1, 2, 4), 1e-5).reshape(x.shape) * scale + bias


def lrn(_, x):
    squares = np.pad(np.square(x), ((0, 0),) * 3 + ((1, 1),))
    around = sum(squares[..., k:k + x.shape[-1]] for k in range(3))
    return x / (1 + 0.3 / 3 * around) ** 0.75


def windows(x, size):
    """[…, taps, channels] of windows side by side."""
    n, h, w, c = x.shape
    return x.reshape(n, h // size, size, w // size, size, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // size, w // size, size * size, c)


def blocks(x):
    """The same of 2 × 2 × 2 in three axes."""
    n, d, h, w, c = x.shape
    parts = x.reshape(n, d // 2, 2, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 5, 2, 4, 6, 7)
    return parts.reshape(n, d // 2, h // 2, w // 2, 8, c)


def depth_to_space(_, x):
    n, h, w, c = x.shape
    return x.reshape(n, h, w, 2, 2, c // 4).transpose(0, 1, 3, 2, 4, 5).reshape(n, 2 * h, 2 * w, c // 4)


def space_to_depth(_, x):
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // 2, w // 2, 4 * c)


def linear(_, x):
    """Twice the size, of the centres of pixels."""
    for axis in (1, 2):
        count = x.shape[axis]
        at = np.clip((np.arange(2 * count) + 0.5) / 2 - 0.5, 0, count - 1)
        low = np.minimum(np.floor(at).astype(int), count - 2)
        part = (at - low).reshape([-1 if k == axis else 1 for k in range(4)])
        x = np.take(x, low, axis) * (1 - part) + np.take(x, low + 1, axis) * part
    return x


def scattered(x, index, values):
    out = x.copy()
    for row in range(index.shape[0]):
        out[row, index[row]] = values[row]
    return out


def unary(op, function, low=-2.0, **attributes):
    return Row(op, ["p" if low >= 0 else "a"], lambda _, x: function(x), **attributes)


A = "a"  # [4, 6] from -2 to 2; b likewise; p the same shape, positive; i [1, 4, 6, 6], stored channels-last
ROWS = {
    **{op: Row(op, ["a", "b"], f) for op, f in (("Add", lambda _, a, b: a + b), ("Sub", lambda _, a, b: a - b),
       ("Mul", lambda _, a, b: a * b), ("Min", lambda _, a, b: np.minimum(a, b)), ("Max", lambda _, a, b: np.maximum(a, b)))},
    "Div": Row("Div", ["a", "p"], lambda _, a, p: a / p), "Pow": Row("Pow", ["p", "b"], lambda _, p, b: p ** b),
    "PRelu": Row("PRelu", ["a", "slope"], lambda _, a, s: np.where(a < 0, a * s, a)),
    **{op: Row(op, ["a", "b"], f, kind=9) for op, f in (("Greater", lambda _, a, b: a > b), ("GreaterOrEqual", lambda _, a, b: a >= b),
       ("Less", lambda _, a, b: a < b), ("LessOrEqual", lambda _, a, b: a <= b), ("Equal", lambda _, a, b: a == b))},
    "Where": Row("Where", ["condition", "a", "b"], lambda _, c, a, b: np.where(c, a, b)),
    **{op: unary(op, f) for op, f in (("Abs", np.abs), ("Neg", np.negative), ("Sign", np.sign), ("Ceil", np.ceil), ("Floor", np.floor),
       ("Round", np.rint), ("Cos", np.cos), ("Sin", np.sin), ("Atan", np.arctan), ("Exp", np.exp), ("Tanh", np.tanh),
       ("Sigmoid", lambda x: 1 / (1 + np.exp(-x))), ("Softplus", lambda x: np.log1p(np.exp(x))),
       ("Elu", lambda x: np.where(x < 0, np.expm1(x), x)), ("Relu", lambda x: np.maximum(x, 0)),
       ("HardSwish", lambda x: x * np.clip(x / 6 + 0.5, 0, 1)))},
    "HardSigmoid": unary("HardSigmoid", lambda x: np.clip(np.float32(0.2) * x + 0.5, 0, 1)),
    "Gelu": unary("Gelu", lambda x: x / 2 * (1 + erf(x / math.sqrt(2)))),
    "Relu6": Row("Clip", ["a", "zero", "six"], lambda _, x, *rest: np.clip(x, 0, 6)),
    "Mod": Row("Mod", ["a", "p"], lambda _, a, p: np.fmod(a, p), fmod=1),
    "BatchNormalization": Row("BatchNormalization", ["i", "g4", "s4", "mean", "variance"], lambda _, x, g, s, *rest: x * g + s),
    "MaxPool3": Row("MaxPool", ["v"], lambda _, x: blocks(x).max(4), kernel_shape=[2] * 3, strides=[2] * 3),
    "AveragePool3": Row("AveragePool", ["v"], lambda _, x: blocks(x).mean(4), kernel_shape=[2] * 3, strides=[2] * 3),
    "Clip": Row("Clip", ["a", "low", "high"], lambda _, x, *rest: np.clip(x, -0.5, 1)),
    **{op: unary(op, f, low=0) for op, f in (("Log", np.log), ("Sqrt", np.sqrt))},
    "Reciprocal": Row("Reciprocal", ["p"], lambda _, one, x: one / x),
    "Asin": Row("Asin", ["s"], lambda _, x: np.arcsin(x)),
    **{op: Row(op, ["a", "axis"], along(f)) for op, f in
       (("ReduceMax", np.max), ("ReduceMin", np.min), ("ReduceMean", np.mean), ("ReduceProd", np.prod), ("ReduceSum", np.sum))},
    "ReduceSumSquare": Row("ReduceSumSquare", ["a", "axis"], along(lambda x, **more: np.square(x).sum(**more))),
    "CumSum": Row("CumSum", ["a", "last"], lambda _, x: np.cumsum(x, 1)),
    "ArgMax": Row("ArgMax", ["a"], lambda _, x: x.argmax(1, keepdims=True), kind=INT64, axis=1),
    "ArgMin": Row("ArgMin", ["a"], lambda _, x: x.argmin(1, keepdims=True), kind=INT64, axis=1),
    "Softmax": Row("Softmax", ["a"], softmax), "LogSoftmax": Row("LogSoftmax", ["a"], lambda _, x: np.log(softmax(_, x))),
    "LayerNormalization": Row("LayerNormalization", ["a", "gain", "shift"], lambda _, x, g, s: normed(x, -1, 1e-5) * g + s),
    "LpNormalization": Row("LpNormalization", ["a"], lambda _, x: x / np.sqrt(np.square(x).sum(-1, keepdims=True)), p=2),
    "InstanceNormalization": Row("InstanceNormalization", ["i", "g4", "s4"], lambda _, x, g, s: normed(x, (1, 2), 1e-5) * g + s),
    "LRN": Row("LRN", ["i"], lrn, size=3, alpha=0.3, beta=0.75),
    "MaxPool": Row("MaxPool", ["i"], lambda _, x: windows(x, 2).max(3), kernel_shape=[2, 2], strides=[2, 2]),
    "AveragePool": Row("AveragePool", ["i"], lambda _, x: windows(x, 2).mean(3), kernel_shape=[2, 2], strides=[2, 2]),
    "LpPool": Row("LpPool", ["i"], lambda _, x: np.sqrt(np.square(windows(x, 2)).sum(3)), kernel_shape=[2, 2], strides=[2, 2]),
    "DepthToSpace": Row("DepthToSpace", ["i"], depth_to_space, blocksize=2, mode="DCR"),
    "SpaceToDepth": Row("SpaceToDepth", ["i"], space_to_depth, blocksize=2),
    "Resize": Row("Resize", ["i", "", "scales"], linear, mode="linear"),
    "Upsample": Row("Resize", ["i", "", "scales"], lambda _, x: x.repeat(2, 1).repeat(2, 2), mode="nearest",
                    coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    "Concat": Row("Concat", ["a", "p"], lambda _, a, p: np.concatenate([a, p], 1), axis=1),
    "Split": Row("Split", ["a"], lambda _, x: np.split(x, 2, 1), results=2, axis=1, num_outputs=2),
    "Tile": Row("Tile", ["a", "repeats"], lambda _, x: np.tile(x, (1, 2))), "Transpose": Row("Transpose", ["a"], lambda _, x: x.T, perm=[1, 0]),
    "Reshape": Row("Reshape", ["a", "shape"], lambda _, x: x.reshape(6, 4)),
    "Pad": Row("Pad", ["a", "pads"], lambda _, x: np.pad(x, ((1, 0), (0, 2)))),
    "Slice": Row("Slice", ["a", "starts", "ends", "axis"], lambda _, x: x[:, 1:5]),
    "Gather": Row("Gather", ["a", "index"], lambda _, x, i: np.take(x, i, 1), axis=1),
    "GatherElements": Row("GatherElements", ["a", "each"], lambda _, x, i: np.take_along_axis(x, i, 1), axis=1),
    "GatherND": Row("GatherND", ["a", "places"], lambda _, x, i: x[i[:, 0], i[:, 1]]),
    "ScatterElements": Row("ScatterElements", ["a", "each", "b2"], lambda _, x, i, v: scattered(x, i, v), axis=1),
    "ScatterND": Row("ScatterND", ["a", "places", "v2"], lambda _, x, i, v: np.where(np.isin(np.arange(24).reshape(4, 6), i @ [6, 1]), 0, x) +
                     np.bincount(i @ [6, 1], v, 24).reshape(4, 6)),
    "TopK": Row("TopK", ["a", "two"], lambda _, x: [-np.sort(-x, 1)[:, :2], np.argsort(-x, 1, "stable")[:, :2]], results=2),
}
ROWS["GroupNormalization"] = Row("GroupNormalization", ["i", "g4", "s4"], group_norm, num_groups=2)


# ---- products: exact sums of integers ----

def correlate(x, w, groups=1):
    """Sums of windows of 3 × 3 with nothing around, of x [n, h, w, c] and w [3, 3, c / groups, out]."""
    n, h, wide, c = x.shape
    out = np.zeros((n, h - 2, wide - 2, w.shape[-1]), "i8")
    for row in range(3):
        for column in range(3):
            part = x[:, row:row + h - 2, column:column + wide - 2]
            for k in range(w.shape[-1]):
                first = k * groups // w.shape[-1] * (c // groups)
                out[..., k] += part[..., first:first + c // groups] @ w[row, column, :, k]
    return out


def spread(x, w):
    """Transposed, of 2 × 2 with strides of 2, of w [2, 2, out, in] or of the order that fits."""
    n, h, wide, _ = x.shape
    out = np.zeros((n, 2 * h, 2 * wide, w.shape[-2] if w.shape[-1] == x.shape[-1] else w.shape[-1]), "i8")
    for row in range(2):
        for column in range(2):
            part = w[row, column].T if w.shape[-1] == x.shape[-1] and w.shape[-1] != w.shape[-2] else w[row, column]
            out[:, row::2, column::2] = x @ part
    return out


PRODUCTS = {
    "Conv": (["i", "w", "c"], {}, lambda x, w: correlate(x, w)),
    "Depthwise": (["i", "dw", "g4"], {"group": 4}, lambda x, w: correlate(x, w.reshape(3, 3, 1, 4), 4)),
    "ConvTranspose": (["i", "tw"], {"strides": [2, 2]}, spread),
    "Conv3": (["v", "vw"], {}, lambda x, w: np.einsum("ndhwzyxc,zyxco->ndhwo", np.lib.stride_tricks.sliding_window_view(x, (2, 2, 2), (1, 2, 3)).transpose(
        0, 1, 2, 3, 5, 6, 7, 4), w)),
    "Gemm": (["a", "gw", "gain"], {"transB": 1}, lambda x, w: x @ w.T),
    "MatMul": (["a", "mw"], {}, lambda x, w: x @ (w if len(w) == x.shape[-1] else w.T)),
    "MatMulOfTwo": (["a", "t"], {}, lambda x, w: x @ w),
}


def product(op, c, values):
    x, w = (Fixed(c.tensors[name], values[name]) for name in op.inputs[:2])
    out = Fixed(c.tensors[op.outputs[0]], 0)
    total = PRODUCTS[op.name][2](x.q.astype("i8") + x.offset, w.q.astype("i8") + w.offset) * x.scale * np.ravel(w.scales)
    if len(op.inputs) > 2 and op.inputs[2]:
        bias = Fixed(c.tensors[op.inputs[2]], values[op.inputs[2]])
        total = total + (bias.q.astype("f8") + bias.offset) * bias.scale
    return out.saturated(np.rint(total / out.scale) - out.offset)


# ---- the network ----

def network(rng, names):
    m = Model(opset=23, ir_version=10)
    constants = {"slope": [6], "gain": [6], "shift": [6], "g4": [4], "s4": [4], "v2": [3], "b2": [4, 2], "w": [5, 4, 3, 3], "c": [5],
                 "dw": [4, 1, 3, 3], "tw": [4, 3, 2, 2], "gw": [6, 6], "mw": [6, 3], "vw": [3, 2, 2, 2, 2]}
    for name, shape in constants.items():
        m.tensor(name, FLOAT, shape, rng.uniform(-1, 1.5, shape).astype("f4").ravel().tolist())
    for name, values in (("scales", [1.0, 1.0, 2.0, 2.0]), ("low", -0.5), ("high", 1.0), ("zero", 0.0), ("six", 6.0),
                         ("mean", [0.1, 0.2, -0.3, 0.0]), ("variance", [1.0, 0.5, 2.0, 0.25])):
        m.tensor(name, FLOAT, np.shape(values), np.ravel(values).tolist())
    for name, values in (("axis", [1]), ("last", 1), ("repeats", [1, 2]), ("shape", [6, 4]), ("pads", [1, 0, 0, 2]), ("starts", [1]), ("ends", [5]),
                         ("index", [4, 0, 5]), ("each", [[0, 5], [1, 2], [3, 0], [5, 4]]), ("places", [[0, 1], [3, 5], [2, 2]]), ("two", [2])):
        m.tensor(name, INT64, np.shape(values), np.ravel(values).tolist())
    m.tensor("condition", 9, [4, 6], rng.integers(0, 2, 24).tolist())
    for name, shape in SHAPES.items():
        m.input(name, FLOAT, shape)
    for name in names:
        row = ROWS.get(name)
        if row:
            outputs = [f"{name}_{k}" for k in range(row.results)]
            m.node(row.op, row.inputs, outputs, name=name, **row.attributes)
        else:
            inputs, attributes, _ = PRODUCTS[name]
            outputs = [f"{name}_0"]
            m.node({"Depthwise": "Conv", "Conv3": "Conv", "MatMulOfTwo": "MatMul"}.get(name, name), inputs, outputs, name=name, **attributes)
        for k, output in enumerate(outputs):
            m.output(output, INT64 if name == "TopK" and k == 1 else row.kind if row else FLOAT, None)
    return m


SHAPES = {"a": [4, 6], "b": [4, 6], "p": [4, 6], "s": [4, 6], "t": [6, 3], "i": [1, 4, 6, 6], "v": [1, 2, 4, 4, 4]}


def line_of(rng, dims):
    line = {name: rng.uniform(-2, 2, dims[name]) for name in SHAPES}
    line["p"], line["s"] = rng.uniform(0.3, 2, dims["p"]), rng.uniform(-0.98, 0.98, dims["s"])
    return line


def values_of(b, container, backend):
    """{tensor: its elements} of constants and of all that is computed from the first line."""
    found = {}
    computed = []
    for name, tensor in container.tensors.items():
        if tensor.data is None:
            computed.append(name)
        elif tensor.dtype in BITS:
            found[name] = stored(tensor)
        elif tensor.dtype in KINDS:
            found[name] = np.frombuffer(tensor.data, KINDS[tensor.dtype]).reshape(tensor.dims)
    b.path("inner.txt").write_text("%" + " ".join(computed) + "\n" + b.path("list.txt").read_text().splitlines()[0] + "\n")
    done = run("net-run", "--container", b.path("q.dlc"), "--input_list", b.path("inner.txt"), "--output_dir", b.path("inner"),
               "--use_native_output_files", "--backend", *dict.fromkeys((backend, "reference")))
    b.checks.equal("net-run", (done.returncode, done.stderr), (0, ""))
    for path in b.path("inner").rglob("*.raw"):
        tensor = container.tensors.get(path.name[:-4])
        if tensor and path.name[:-4] in computed:
            found[path.name[:-4]] = np.fromfile(path, KINDS[tensor.dtype]).reshape(tensor.dims)
    return found


def reals(c, name, values):
    tensor = c.tensors[name]
    return Fixed(tensor, values[name]).real().astype("f8") if tensor.dtype in BITS else values[name]


def check_op(b, label, c, op, values, rows=ROWS):
    if op.name in PRODUCTS:
        results = [product(op, c, values)]
    else:
        results = rows[op.name].function(op, *(reals(c, name, values) for name in op.inputs if name))
        results = results if isinstance(results, list) else [results]
    for name, expected in zip(op.outputs, results):
        tensor = c.tensors[name]
        if tensor.dtype in BITS and op.name not in PRODUCTS:
            expected = Fixed(tensor, 0).rounded(np.asarray(expected))
        differ = values[name].reshape(np.shape(expected)).astype("i8") != expected
        b.checks.check(f"{label}: {name}", not differ.any(), (values[name].ravel()[:6].tolist(), np.ravel(expected)[:6].tolist()))
        b.checks.check(f"{name} is of integers", tensor.dtype != "FLOAT_32", tensor.dtype)


def ops(b, *options):
    rng = np.random.default_rng(30)
    names = [*ROWS, *PRODUCTS]
    b.convert(network(rng, names))
    dims = {t.name: t.dims for t in read_container(b.path("m.dlc")).tensors.values() if t.kind == "APP_WRITE"}
    b.inputs(*(line_of(rng, dims) for _ in range(3)))
    c = b.quantize(*options)
    for op in c.ops:
        op.name = op.name.removesuffix(".int32")
    b.checks.equal("every node is an op", set(names) - {op.name for op in c.ops}, set())
    for backend in ("reference", "cpu"):
        values = values_of(b, c, backend)
        for op in c.ops:
            if op.name in ROWS or op.name in PRODUCTS:
                check_op(b, f"{backend} {' '.join(options)}", c, op, values)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for options in share_of(((), ("--act_bitwidth", "16", "--bias_bitwidth", "32"), ("--use_per_channel_quantization", "--use_per_row_quantization",
                                 "--bias_bitwidth", "32"), ("--act_quantizer_schema", "symmetric")), 2, "options of fixed-point ops"):
            ops(Bench(checks, folder), *options)
    checks.finish()


if __name__ == "__main__":
    main()
