# SPDX-License-Identifier: Apache-2.0
"""NonMaxSuppression and NonZero: what they find in known data, and at run time in the first rows of the most that there can
be. A double loop says which boxes stay, NumPy what is not zero. What becomes of the rows behind is said of each node."""

import pathlib
import random
import tempfile

from one_node import CODES, Const, dlc_tools, gives, np, refuses, write_model
from checks import Checks
from onnx_writer import FLOAT, INT64, Model

try:
    from dlc_reader import read_container
    from model_case import CONTAINER_TYPES, result, run_on, with_filler
    from prestarted import run
except ImportError:
    pass


# ---- what is expected ----


def overlap(a, b):
    """The part of both boxes' area that they share, in float32."""
    def ends(box, i):
        return min(box[i], box[i + 2]), max(box[i], box[i + 2])

    sizes = []
    for i in range(2):
        (low, high), (other_low, other_high) = ends(a, i), ends(b, i)
        sizes.append((min(high, other_high) - max(low, other_low), high - low, other_high - other_low))
    if sizes[0][0] <= 0 or sizes[1][0] <= 0:
        return np.float32(0)
    shared, area, other = (sizes[0][k] * sizes[1][k] for k in range(3))
    return shared / (area + other - shared)


def suppressed(boxes, scores, most, iou, threshold):
    """Rows [batch, class, box] as the operator's definition has them."""
    rows = []
    for batch, of_batch in enumerate(scores):
        for kind, of_class in enumerate(of_batch):
            left = [i for i in range(len(of_class)) if threshold is None or of_class[i] > threshold]
            kept = []
            for i in sorted(left, key=lambda i: (-of_class[i], i)):
                if len(kept) < most and all(overlap(boxes[batch][i], boxes[batch][k]) <= iou for k in kept):
                    kept.append(i)
            rows += [[batch, kind, i] for i in kept]
    return np.array(rows, "i8").reshape(-1, 3)


def by_center(boxes):
    """What has these centers and sizes, which are exact in float32."""
    return np.concatenate([(boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]], 2).astype("f4")


# ---- known data ----


def test_known_boxes(checks):
    boxes = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1],
                       [0, 100, 1, 101]]], "f4")
    scores = np.array([[[0.9, 0.75, 0.6, 0.95, 0.5, 0.3]]], "f4")

    def nms(expected, boxes, scores, *more, **attributes):
        inputs = [Const(boxes, "f4"), Const(scores, "f4"), *more]
        gives(checks, "NonMaxSuppression", 11, inputs, np.array(expected).reshape(-1, 3), **attributes)

    most, half = Const([3]), Const([0.5], "f4")
    nms([[0, 0, 3], [0, 0, 0], [0, 0, 5]], boxes, scores, most, half)
    nms([[0, 0, 3], [0, 0, 0]], boxes, scores, Const(9), half, Const([0.4], "f4"))
    nms([[0, 0, 3], [0, 0, 0]], boxes, scores, Const(9), half, Const([0.5], "f4"))
    nms([[0, 0, 3], [0, 0, 0]], boxes, scores, Const([2]), half)
    nms([[0, 0, 3], [0, 0, 0], [0, 0, 5]], boxes[:, :, [2, 3, 0, 1]], scores, most, half)
    nms([[0, 0, 3], [0, 0, 0], [0, 0, 5]], by_center(boxes), scores, most, half, center_point_box=1)
    twice = np.concatenate([scores, scores[..., ::-1]], 1)
    nms([[0, 0, 3], [0, 0, 0], [0, 1, 2], [0, 1, 5]], boxes, twice, Const([2]), half)
    batches = np.concatenate([boxes, boxes])
    nms([[0, 0, 3], [1, 0, 2]], batches, np.concatenate([scores, scores[..., ::-1]]), Const([1]), half)
    nms([[0, 0, 0], [0, 0, 1], [0, 0, 2]], np.zeros((1, 3, 4)), np.ones((1, 1, 3)), most, half)


# ---- run time ----


def finds(checks, name, op, inputs, expected, room, if_none, **attributes):
    """The first rows are the expected ones, the rest is filler, and an op with a count counts them."""
    with tempfile.TemporaryDirectory() as temporary:
        folder, dlc = pathlib.Path(temporary), pathlib.Path(temporary) / "model.dlc"
        given = write_model(folder / "model.onnx", 13, op, inputs, attributes, [expected])
        done = run("onnx-to-dlc", "-i", folder / "model.onnx", "-o", dlc, "--debug", "--preserve_io", "layout")
        if not checks.check(f"convert {name}", done.returncode == 0, done.stderr):
            return
        shape = "[" + ",".join(map(str, room)) + "]"
        checks.check(f"note of {name}", "worst-case shape [" in done.stderr and "filler" in done.stderr or
                     f"worst-case shape {shape}; out0_count says how many rows are valid" in done.stderr, done.stderr)
        plain = run("onnx-to-dlc", "-i", folder / "model.onnx", "-o", dlc, "--preserve_io", "layout")
        checks.check(f"note of {name} without --debug", "worst-case shape [" in plain.stderr, plain.stderr)
        checks.equal(f"others read {name}", dlc_tools.refusal_of_some(dlc), None)
        container = read_container(dlc, data=False)
        outputs = [tensor for tensor in ("out0", "out0_count") if tensor in container.tensors]
        done = run_on({key: value.astype(CONTAINER_TYPES[container.tensors[key].dtype]) for key, value in given.items()}, dlc,
                      folder, outputs)
        if not checks.check(f"execute {name}", done.returncode == 0, done.stderr):
            return
        checks.equal(f"type and room of {name}", [container.tensors["out0"].dtype, container.tensors["out0"].dims], ["INT_32", room])
        filled = expected if list(expected.shape) == room else with_filler(expected, room, if_none)
        checks.equal(f"rows of {name}", result(folder, container, "out0").tolist(), filled.tolist())
        checks.equal(f"count of {name}", op == "NonZero", "out0_count" not in outputs)
        if "out0_count" in outputs:
            count = container.tensors["out0_count"]
            checks.equal(f"type of the count of {name}", [count.dtype, count.dims], ["UINT_32", [1]])
            checks.equal(f"count of {name}", result(folder, container, "out0_count").tolist(), [len(expected)])


def random_boxes(r, batches, count):
    """Corners on a grid, so that areas and thresholds are met exactly, and either corner comes first."""
    boxes = np.array([[[r.randrange(9) / 2 for _ in range(4)] for _ in range(count)] for _ in range(batches)], "f4")
    return boxes


def test_boxes_at_run_time(checks):
    for seed in range(40):
        r = random.Random(seed)
        batches, classes, count = r.randint(1, 3), r.randint(1, 3), r.randint(1, 12)
        boxes = random_boxes(r, batches, count)
        scores = np.array([[[r.randrange(-2, 6) / 4 for _ in range(count)] for _ in range(classes)] for _ in range(batches)], "f4")
        most, iou = r.choice([1, 2, count, 1000]), r.choice([0, 0.25, 0.5, 1])
        threshold = r.choice([None, 0, 0.5, -1, 2])
        centered = r.randrange(2)
        low_first = np.concatenate([np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])], 2)
        expected = suppressed(boxes, scores, most, np.float32(iou), threshold)
        inputs = [by_center(low_first) if centered else boxes, scores, Const([most]), Const([iou], "f4")]
        inputs += [] if threshold is None else [Const([threshold], "f4")]
        finds(checks, f"boxes {seed}", "NonMaxSuppression", inputs, expected,
              [batches * classes * min(most, count), 3], 0, center_point_box=centered)


def test_odd_boxes(checks):
    """By hand: NaNs, infinities, boxes without area, negative sizes."""
    nan, inf = np.nan, np.inf
    boxes = np.array([[[0, 0, 2, 2], [0, 0, 2, 2], [0, 0, nan, 2], [1, 1, 1, 1], [0, 0, 2, 2]]], "f4")
    most, half = Const([9]), Const([0.5], "f4")
    for name, scores, threshold, rows in (
            ("scores", [5, 4, 3, 2, 1], None, [0, 2, 3]),
            ("scores with a NaN", [nan, 4, 3, 2, 1], None, [1, 2, 3]),
            ("infinite scores", [-inf, -inf, inf, -inf, 1], None, [2, 4, 3]),
            ("infinite scores above a threshold", [-inf, -inf, inf, -inf, 1], -9, [2, 4]),
            ("no score", [nan] * 5, None, [])):
        more = [] if threshold is None else [Const([threshold], "f4")]
        finds(checks, name, "NonMaxSuppression", [boxes, np.array([[scores]], "f4"), most, half, *more],
              np.array([[0, 0, row] for row in rows], "i8").reshape(-1, 3), [5, 3], 0)
    sizes = np.array([[[1, 1, -2, -2], [1, 1, 2, 2], [1, 1, 2, 2]]], "f4")
    finds(checks, "a negative size", "NonMaxSuppression", [sizes, np.array([[[3, 2, 1]]], "f4"), most, half],
          np.array([[0, 0, 0], [0, 0, 1]]), [3, 3], 0, center_point_box=1)


def test_elements_at_run_time(checks):
    r = random.Random(7)
    for shape in ([5], [2, 3], [2, 1, 4], [1, 2, 2, 2]):
        for dtype in sorted(set(CODES) - {"f8", "u8", "i8"}):
            values = np.array([r.choice([0, 0, 1, 3]) for _ in range(int(np.prod(shape)))]).reshape(shape).astype(dtype)
            for x in (values, np.zeros(shape, dtype), np.ones(shape, dtype)):
                finds(checks, f"elements of {shape} {dtype}", "NonZero", [x], np.array(np.nonzero(x), "i8"),
                      [len(shape), x.size], -1)
    finds(checks, "a NaN and a negative zero", "NonZero", [np.array([-0.0, np.nan, 0], "f4")], np.array([[1]]), [1, 3], -1)
    for value in (0, 2):
        finds(checks, "a scalar", "NonZero", [np.array(value, "f4")], np.zeros((1, value // 2), "i8"), [1, 1], -1)


def test_refused(checks):
    boxes, scores = np.zeros((1, 2, 4), "f4"), np.zeros((1, 1, 2), "f4")
    for place, what in ((2, "max_output_boxes_per_class"), (3, "iou_threshold"), (4, "score_threshold")):
        inputs = [boxes, scores, Const([1]), Const([0.5], "f4"), Const([0.5], "f4")]
        inputs[place] = inputs[place].array
        refuses(checks, f"input {place} ({what}) is not a constant", "NonMaxSuppression", 11, inputs)
        refuses(checks, f"--freeze_input in{place}=FILE", "NonMaxSuppression", 11, inputs)
    for iou in (-0.1, 1.5, np.nan):
        refuses(checks, "is not in [0, 1]", "NonMaxSuppression", 11, [boxes, scores, Const([1]), Const([iou], "f4")])


# ---- behind them ----


class Behind:
    """A model that finds rows of boxes, [10,4] "rows", and whose other nodes make y of them."""

    def __init__(self, *nodes):
        m = self.model = Model(opset=13)
        m.input("boxes", FLOAT, [1, 20, 4])
        m.input("scores", FLOAT, [1, 2, 20])
        m.input("image", FLOAT, [1, 3, 8, 8])
        m.tensor("most", INT64, [1], [5])
        m.tensor("half", FLOAT, [1], [0.5])
        for name, dims, values in (("zero", [], [0]), ("one", [], [1]), ("two", [], [2]), ("minus", [], [-1]), ("at0", [1], [0]),
                                   ("at1", [1], [1]), ("at2", [1], [2]), ("at5", [1], [5]), ("rest", [1], [-1]), ("flat", [1], [40]),
                                   ("pairs", [2], [1, 2]), ("pads", [4], [0, 0, 1, 0])):
            m.tensor(name, INT64, dims, values)
        m.tensor("w", FLOAT, [4, 3], [1.0] * 12)
        m.tensor("kernel", FLOAT, [2, 3, 1, 1], [1.0] * 6)
        m.tensor("ones", FLOAT, [1], [1.0])
        m.node("NonMaxSuppression", ["boxes", "scores", "most", "half"], ["found"], name="nms")
        m.node("Gather", ["found", "two"], ["which"], axis=1)
        m.node("Squeeze", ["boxes", "at0"], ["list"])
        m.node("Gather", ["list", "which"], ["rows"], axis=0)
        for op, inputs, output, attributes in nodes:
            m.node(op, inputs.split(), output.split(), name=f"{op} {output}", **attributes)
        m.output("y", FLOAT, None)

    def converted(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            self.model.save(folder / "m.onnx")
            return run("onnx-to-dlc", "-i", folder / "m.onnx", "-o", folder / "m.dlc")


def n(op, inputs, output, **attributes):
    return op, inputs, output, attributes


SIZE = [n("Shape", "rows", "shape"), n("Gather", "shape zero", "size")]
APART = {
    "the rows": [n("Identity", "rows", "y")],
    "a function": [n("Relu", "rows", "y")],
    "a sum with themselves": [n("Add", "rows rows", "y")],
    "reductions of columns": [n("ReduceMean", "rows", "y", axes=[1])],
    "the largest column": [n("ArgMax", "rows", "a", axis=1, keepdims=0), n("Cast", "a", "y", to=FLOAT)],
    "a product": [n("MatMul", "rows w", "y")],
    "columns side by side": [n("Concat", "rows rows", "y", axis=1)],
    "parts of columns": [n("Split", "rows", "y z", axis=1)],
    "a softmax of columns": [n("Softmax", "rows", "y", axis=1)],
    "other orders and shapes": [n("Transpose", "rows", "t", perm=[1, 0]), n("Unsqueeze", "t at0", "y")],
    "the first rows": [n("Slice", "rows at0 at5 at0", "y")],
    "picked columns": [n("Gather", "rows pairs", "y", axis=1)],
    "regions": [n("Gather", "found zero", "of", axis=1), n("RoiAlign", "image rows of", "r", output_height=2, output_width=2),
                n("Conv", "r kernel", "c"), n("GlobalAveragePool", "c", "y")],
    "a list of all": [n("Reshape", "rows rest", "y")],
    "a shape with their number": [*SIZE, n("Unsqueeze", "size at0", "s"), n("Concat", "s rest", "to", axis=0), n("Reshape", "rows to", "y")],
    "numbers of rows": [*SIZE, n("Range", "zero size one", "r"), n("Cast", "r", "f", to=FLOAT), n("Unsqueeze", "f at1", "u"),
                        n("Add", "rows u", "y")],
    "a column's number": [n("Shape", "rows", "shape"), n("Gather", "shape one", "c"), n("Cast", "c", "f", to=FLOAT),
                          n("Div", "rows f", "y")],
    "a shape of columns": [n("Shape", "rows", "shape"), n("Slice", "shape at1 at2 at0", "s"), n("Cast", "s", "f", to=FLOAT),
                           n("Mul", "rows f", "y")],
}
TOGETHER = {
    "a mean of rows": ("ReduceMean", [n("ReduceMean", "rows", "y", axes=[0])]),
    "a mean of all": ("ReduceMean", [n("ReduceMean", "rows", "y")]),
    "the best row": ("ArgMax", [n("ArgMax", "rows", "a", axis=0), n("Cast", "a", "y", to=FLOAT)]),
    "a softmax of rows": ("Softmax", [n("Softmax", "rows", "y", axis=0)]),
    "running sums": ("CumSum", [n("CumSum", "rows zero", "y")]),
    "best rows": ("TopK", [n("TopK", "rows at5", "y z", axis=0)]),
    "rows end to end": ("Concat", [n("Concat", "rows rows", "y", axis=0)]),
    "padded rows": ("Pad", [n("Pad", "rows pads", "y")]),
    "the last row": ("Gather", [n("Gather", "rows minus", "y", axis=0)]),
    "later rows": ("Slice", [n("Slice", "rows at5 flat at0", "y")]),
    "a product of them": ("MatMul", [n("Transpose", "rows", "t", perm=[1, 0]), n("MatMul", "t rows", "y")]),
    "what is not zero": ("NonZero", [n("NonZero", "rows", "z"), n("Cast", "z", "y", to=FLOAT)]),
    "sums of what has their number": ("ReduceSum", [n("Shape", "rows", "s"), n("Expand", "ones s", "e"), n("ReduceSum", "e at0", "y")]),
    "sums of zeros of their number": ("ReduceSum", [n("Shape", "rows", "s"), n("ConstantOfShape", "s", "z"), n("Add", "z image1", "a"),
                                                    n("ReduceSum", "a at0", "y")]),
}
SIZES = {
    "a mean by hand": ("Div", [*SIZE, n("Cast", "size", "f", to=FLOAT), n("Div", "rows f", "y")]),
    "their number": ("the graph output y", [*SIZE, n("Cast", "size", "y", to=FLOAT)]),
    "the number of elements": ("the graph output y", [n("Size", "rows", "s"), n("Cast", "s", "y", to=FLOAT)]),
    "a sum of sizes": ("Mul", [*SIZE, n("Add", "size two", "a"), n("Cast", "a", "f", to=FLOAT), n("Mul", "rows f", "y")]),
    "as many as there are": ("input 1 (K)", [*SIZE, n("Unsqueeze", "size at0", "k"), n("TopK", "rows k", "y z", axis=0)]),
}


def test_rows_behind(checks):
    for name, nodes in APART.items():
        done = Behind(*nodes).converted()
        checks.check(f"{name}: status", done.returncode == 0, done.stderr)
        checks.check(f"{name}: no warning", "warning" not in done.stderr, done.stderr)
    for name, (node, nodes) in TOGETHER.items():
        model = Behind(*nodes)
        model.model.tensor("image1", FLOAT, [1, 4], [1.0] * 4)
        done = model.converted()
        checks.check(f"{name}: status", done.returncode == 0, done.stderr)
        lines = [line for line in done.stderr.splitlines() if "warning" in line]
        checks.check(f"{name}: one warning at the node", len(lines) == 1 and f"node '{node} " in lines[0] and
                     "behind those that were found, which are filler" in lines[0], done.stderr)


def test_sizes_behind(checks):
    for name, (node, nodes) in SIZES.items():
        done = Behind(*nodes).converted()
        checks.equal(f"{name}: status", done.returncode, 1)
        lines = [line for line in done.stderr.splitlines() if "error" in line]
        checks.check(f"{name}: error", len(lines) == 1 and node in lines[0] and
                     "size that depends on how much an op finds while the model runs" in lines[0], done.stderr)


def main():
    checks = Checks()
    if np is None:
        checks.skip("finding operators", "python3-numpy is not there")
        checks.finish()
    for test in (test_known_boxes, test_boxes_at_run_time, test_odd_boxes, test_elements_at_run_time, test_refused, test_rows_behind,
                 test_sizes_behind):
        test(checks)
    checks.finish()


main()
