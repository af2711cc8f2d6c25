# SPDX-License-Identifier: Apache-2.0
"""As test_quantize_ops.py, the ops that take more than one node, operands of other shapes, or TensorFlow to come into a container; and
that each op which the product knows is in one of these networks, or is one of OUTSIDE."""

import re
import tempfile

import test_quantize_ops as usual
from quantizing import FLOAT, INT64, Bench, Model, np, read_container
from checks import SOURCE, Checks, run
from tf_writer import Graph, tensor_name
from test_quantize_ops import PRODUCTS, Row

# What no network has: why.
OUTSIDE = {
    **dict.fromkeys(("ElementWiseAnd", "ElementWiseOr", "ElementWiseXor", "ElementWiseNot"), "bools have no encodings"),
    **dict.fromkeys(("Quantize", "Dequantize"), "dlc-quantize makes them, at floats alone: test_quantize_floats.py"),
    "Convert": "dlc-quantize makes it, between widths: test_quantize_widths.py",
    **dict.fromkeys(("Relu1", "Relu6", "ElementWiseReciprocal", "ResizeBilinear", "ResizeNearestNeighbor"),
                    "no operator of a framework becomes it: ReluMinMax, ElementWiseDivide and Resize are here; tests/op computes it"),
    "ElementWiseFloorDiv": "of integers, which stay; of floats it is a division and a Floor",
    "NonZero": "positions of what is not zero, in a number that follows from the values: tests/op/test_find.c",
    "NonMaxSuppression": "positions of boxes: tests/op/test_find.c",
}


# ---- NumPy ----

def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def by_index(op, values):
    return dict(zip((i for i, name in enumerate(op.inputs) if name), (np.asarray(v, "f8") for v in values)))


def lstm(op, *values):
    at = by_index(op, values)
    x, (h, c) = at[0], np.zeros((2, at[0].shape[1], at[16].shape[0]))
    found = []
    for step in x:
        i, f, g, o = (step @ at[w].T + h @ at[r].T + at[b] for w, r, b in ((16, 17, 21), (1, 4, 7), (2, 5, 8), (3, 6, 9)))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        found.append(h)
    return [np.stack(found), c, h]


def gru(op, *values):
    at = by_index(op, values)
    h = np.zeros((at[0].shape[1], at[1].shape[0]))
    found = []
    for step in at[0]:
        update, reset = (sigmoid(step @ at[1 + g].T + h @ at[4 + g].T + at[7 + g] + at[10 + g]) for g in (0, 1))
        new = np.tanh(step @ at[3].T + at[9] + (reset * h) @ at[6].T + at[12])
        h = (1 - update) * new + update * h
        found.append(h)
    return [np.stack(found), h[None]]


def pixel(x, row, column):
    """Interpolated between four, of an image [h, w, c] with zeros around."""
    top, left = int(np.floor(row)), int(np.floor(column))
    total = 0
    for r in (top, top + 1):
        for c in (left, left + 1):
            if 0 <= r < x.shape[0] and 0 <= c < x.shape[1]:
                total = total + x[r, c] * (1 - abs(row - r)) * (1 - abs(column - c))
    return total + np.zeros(x.shape[-1])


def grid_sample(_, x, grid):
    """Corners at the middles of the outermost pixels."""
    size = np.array(x.shape[1:3])
    return np.array([[[pixel(x[0], *((at[::-1] + 1) / 2 * (size - 1))) for at in row] for row in grid[0]]])


def roi_align(_, x, boxes, batch):
    found = np.zeros((len(boxes), 2, 2, x.shape[-1]))
    for k, (left, top, right, bottom) in enumerate(boxes.astype("f8") - 0.5):
        height, width = (bottom - top) / 2, (right - left) / 2
        for i in range(2):
            for j in range(2):
                found[k, i, j] = np.mean([pixel(x[batch[k]], top + height * (i + (a + .5) / 2), left + width * (j + (b + .5) / 2))
                                          for a in range(2) for b in range(2)], axis=0)
    return found


def roi_pool(_, x, boxes, batch):
    found = np.zeros((len(boxes), 2, 2, x.shape[-1]))
    for k, box in enumerate(np.floor(boxes.astype("f8") + 0.5).astype(int)):
        left, top, right, bottom = box
        height, width = (bottom - top + 1) / 2, (right - left + 1) / 2
        for i in range(2):
            for j in range(2):
                rows = slice(int(top + np.floor(i * height)), int(top + np.ceil((i + 1) * height)))
                columns = slice(int(left + np.floor(j * width)), int(left + np.ceil((j + 1) * width)))
                found[k, i, j] = x[batch[k], rows, columns].max((0, 1))
    return found


def col2im(_, x):
    """Blocks of 2 × 2 side by side, of an image of 4 × 4."""
    return x.reshape(2, 2, 2, 2, 2).transpose(3, 1, 4, 2, 0).reshape(1, 4, 4, 2)


def crops(_, x, boxes, batch):
    found = []
    for box, index in zip(boxes.astype("f8"), batch):
        size = np.array(x.shape[1:3]) - 1
        rows, columns = (np.linspace(box[k], box[k + 2], 3) * size[k] for k in (0, 1))
        found.append([[pixel(x[index], r, c) for c in columns] for r in rows])
    return np.array(found)


def patches(_, x):
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // 2, w // 2, 4 * c)


def space_to_batch(_, x):
    return np.concatenate([x[:, i::2, j::2] for i in (0, 1) for j in (0, 1)])


def batch_to_space(_, x):
    n, h, w, c = x.shape
    return x.reshape(2, 2, n // 4, h, w, c).transpose(2, 3, 0, 4, 1, 5).reshape(n // 4, 2 * h, 2 * w, c)


def spread(x, w):
    """Transposed, of 2 × 2 × 2 with strides of 2."""
    n, d, h, wide, _ = x.shape
    out = np.einsum("ndhwc,zyxco->ndzhywxo", x, w)
    return out.reshape(n, 2 * d, 2 * h, 2 * wide, -1)


# ---- networks ----

ROWS = {
    "RMSNormalization": Row("RMSNormalization", ["a", "gain"], lambda _, x, g, *rest: x / np.sqrt(np.square(x).mean(-1, keepdims=True) + 1e-5) * g),
    "LSTM.forward": Row("LSTM", ["q", "lw", "lr", "lb"], lstm, hidden_size=3),
    "GRU.forward": Row("GRU", ["q", "gw", "gr", "gb"], gru, hidden_size=3),
    "GridSample": Row("GridSample", ["i", "grid"], grid_sample, align_corners=1, mode="linear"),
    "RoiAlign": Row("RoiAlign", ["i", "boxes", "batch"], roi_align, output_height=2, output_width=2, sampling_ratio=2),
    "MaxRoiPool": Row("MaxRoiPool", ["i", "regions"], roi_pool, pooled_shape=[2, 2]),
    "Col2Im": Row("Col2Im", ["k", "sides", "block"], col2im, strides=[2, 2]),
    "Cast": Row("Cast", ["a"], lambda _, x: np.trunc(x), kind=6, to=6),
    "OneHot": Row("OneHot", ["position", "six", "ends"], lambda _, i: np.where(np.arange(6) == i[..., None], 2.0, -0.5)),
}
PRODUCTS["ConvTranspose3"] = (["v", "w3"], {"strides": [2, 2, 2]}, spread)
SHAPES = {"a": [4, 6], "q": [5, 2, 4], "i": [1, 4, 6, 6], "grid": [1, 3, 3, 2], "k": [1, 8, 4], "v": [1, 2, 4, 4, 4]}


def onnx_network(rng):
    m = Model(opset=23, ir_version=10)
    for name, shape in (("gain", [6]), ("lw", [1, 12, 4]), ("lr", [1, 12, 3]), ("lb", [1, 24]), ("gw", [1, 9, 4]), ("gr", [1, 9, 3]),
                        ("gb", [1, 18]), ("w3", [2, 3, 2, 2, 2])):
        m.tensor(name, FLOAT, shape, rng.uniform(-1, 1.5, shape).astype("f4").ravel().tolist())
    for name, values in (("boxes", [[0.4, 0.7, 4.2, 5.1], [1.1, 2.3, 3.4, 3.9]]), ("regions", [[0, 0, 1, 3, 4], [0, 2, 2, 5, 3]]), ("ends", [-0.5, 2.0])):
        m.tensor(name, FLOAT, np.shape(values), np.ravel(values).astype("f4").tolist())
    for name, values in (("batch", [0, 0]), ("sides", [4, 4]), ("block", [2, 2]), ("six", 6), ("parts", [1, 2, 2, 6, 6]), ("whole", [1, 4, 6, 6])):
        m.tensor(name, INT64, np.shape(values), np.ravel(values).tolist())
    for name, shape in SHAPES.items():
        m.input(name, FLOAT, shape)
    m.node("ArgMax", ["a"], ["position"], name="position", axis=1, keepdims=0)
    for name, row in ROWS.items():
        m.node(row.op, row.inputs, [f"{name}_0"], name=name.removesuffix(".forward"), **row.attributes)
        m.output(f"{name}_0", row.kind, None)
    inputs, attributes, _ = PRODUCTS["ConvTranspose3"]
    m.node("ConvTranspose", inputs, ["ConvTranspose3_0"], name="ConvTranspose3", **attributes)
    m.node("Reshape", ["i", "parts"], ["shuffle_0"])
    m.node("Transpose", ["shuffle_0"], ["shuffle_1"], perm=[0, 2, 1, 3, 4])
    m.node("Reshape", ["shuffle_1", "whole"], ["shuffle_2"])
    for name in ("ConvTranspose3_0", "shuffle_2"):
        m.output(name, FLOAT, None)
    return m


SHUFFLE = Row("Reshape", [], lambda _, x: x.reshape(1, 6, 6, 2, 2).swapaxes(3, 4).reshape(x.shape))
TF_ROWS = {
    "FloorMod": Row("FloorMod", ["a", "p"], lambda _, a, p: np.mod(a, p)),
    "SquaredDifference": Row("SquaredDifference", ["a", "b"], lambda _, a, b: np.square(a - b)),
    "NotEqual": Row("NotEqual", ["a", "b"], lambda _, a, b: a != b), "Rsqrt": Row("Rsqrt", ["p"], lambda _, x: 1 / np.sqrt(x)),
    "CropAndResize": Row("CropAndResize", ["i", "boxes", "batch", "size"], crops),
    "ExtractImagePatches": Row("ExtractImagePatches", ["i"], patches, ksizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding="VALID"),
    "SpaceToBatchND": Row("SpaceToBatchND", ["i", "block", "around"], space_to_batch),
    "BatchToSpaceND": Row("BatchToSpaceND", ["n", "block", "around"], batch_to_space),
}
TF_SHAPES = {"a": [4, 6], "b": [4, 6], "p": [4, 6], "i": [1, 6, 6, 4], "n": [4, 3, 3, 4]}


def tf_network():
    g = Graph()
    given = {name: g.placeholder(name, np.float32, shape) for name, shape in TF_SHAPES.items()}
    for name, values in (("boxes", np.float32([[0.1, 0.2, 0.9, 0.7], [0.3, 0, 0.6, 1]])), ("batch", np.int32([0, 0])), ("size", np.int32([3, 3])),
                         ("block", np.int32([2, 2])), ("around", np.zeros((2, 2), np.int32))):
        given[name] = g.const(name, values)
    for name, row in TF_ROWS.items():
        g.node(row.op, [given[i] for i in row.inputs], name=name, **row.attributes)
    return g


# ---- what is checked ----

def drawn(rng, dims):
    line = {name: rng.uniform(-2, 2, shape) for name, shape in dims.items()}
    for name in line:
        if name.startswith("p"):
            line[name] = rng.uniform(0.3, 2, dims[name])
        elif name == "grid":
            line[name] = rng.uniform(-1.1, 1.1, dims[name])
    return line


def inputs_of(container):
    return {t.name: t.dims for t in container.tensors.values() if t.kind == "APP_WRITE"}


def compare(b, rows, *options):
    rng = np.random.default_rng(31)
    c = read_container(b.path("m.dlc"))
    b.inputs(*(drawn(rng, inputs_of(c)) for _ in range(3)))
    c = b.quantize(*options)
    b.checks.equal("every node is an op", set(rows) - {op.name for op in c.ops}, set())
    for backend in ("reference", "cpu"):
        values = usual.values_of(b, c, backend)
        for op in c.ops:
            if op.name in rows or op.name in PRODUCTS:
                usual.check_op(b, f"{backend} {' '.join(options)}", c, op, values, rows)
    return c


def types_of(container):
    """Names of ops as src/op/op_ids.def has them: types, or what a param of them says."""
    found = set()
    for op in container.ops:
        found |= {op.type, *(str(param.value) for name, param in op.params.items() if name.endswith("_type") and param.tensor is None)}
    return found


def convert_tensorflow(b):
    tf_network().save(b.path("m.pb"))
    done = run("tensorflow-to-dlc", "--quiet", "-i", b.path("m.pb"), "-o", b.path("m.dlc"),
               *(word for name in TF_ROWS for word in ("--out_node", name)))
    b.checks.equal("the graph converts", (done.returncode, done.stderr), (0, ""))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(checks, folder)
        rng = np.random.default_rng(30)
        b.convert(usual.network(rng, [*usual.ROWS, *(name for name in PRODUCTS if name != "ConvTranspose3")]))
        seen = types_of(read_container(b.path("m.dlc")))
        for options in ((), ("--act_bitwidth", "16", "--bias_bitwidth", "32", "--use_per_channel_quantization")):
            b.convert(onnx_network(np.random.default_rng(32)), "m.dlc", "--target_release", "2.47")
            seen |= types_of(compare(b, {**ROWS, "channel_shuffle_shuffle_2": SHUFFLE}, *options))
            convert_tensorflow(b)
            seen |= types_of(compare(b, TF_ROWS, *options))
        known = set(re.findall(r"OP_ID\((\w+)\)", (SOURCE / "src" / "op" / "op_ids.def").read_text()))
        checks.check("ops are known", len(known) > 100, len(known))
        checks.equal("ops that no network has", known - seen - set(OUTSIDE), set())
        checks.equal("ops outside that a network has", seen & set(OUTSIDE), set())
    checks.finish()


if __name__ == "__main__":
    main()
