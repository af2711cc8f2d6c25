# SPDX-License-Identifier: Apache-2.0
"""Nodes that say something impossible, or ask for what containers cannot hold: each is refused, with the reason. What
the cases of other tests already refuse is not repeated here."""

import pathlib
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support")]
from checks import Checks  # noqa: E402
from prestarted import run  # noqa: E402

try:
    import numpy as np
    from tf_writer import DType, Graph
except ImportError as error:
    if error.name != "numpy":
        raise
    without = Checks()
    without.skip("refusals", "python3-numpy is not there")
    without.finish()


class Const:
    """An input that the model knows."""

    def __init__(self, values, dtype="i4"):
        self.array = np.array(values, dtype)


def floats(*shape):
    return np.zeros(shape, "f4")


def ints(*shape):
    return np.zeros(shape, "i4")


IMAGE = (1, 6, 6, 2)
LIST = {"element_dtype": DType("float32")}

BLOCKS = [
    ("the input [1,2] does not have 4 axes", "SpaceToDepth", [floats(1, 2)], {"block_size": 2}),
    ("paddings has 2 elements instead of 4", "SpaceToBatchND",
     [floats(1, 4, 4, 1), Const([2, 2]), Const([[0, 0]])], {}),
    ("paddings has -1, which is out of range", "SpaceToBatchND",
     [floats(1, 4, 4, 1), Const([2, 2]), Const([[0, 0], [0, -1]])], {}),
    ("a block of 0 elements is not possible", "SpaceToBatchND",
     [floats(1, 4, 4, 1), Const([2, 0]), Const([[0, 0], [0, 0]])], {}),
    ("the input [1,4] does not have 2 axes behind the batch", "SpaceToBatchND",
     [floats(1, 4), Const([2, 2]), Const([[0, 0], [0, 0]])], {}),
]

CASTS = [
    ("the elements of [3] do not make up int32", "Bitcast", [Const([1, 2, 3], "i2")], {"type": DType("int32")}),
    ("the bits of bool are none of float32", "Bitcast", [np.zeros(3, "?")], {"type": DType("float32")}),
    ("a shift by float32", "LeftShift", [floats(2), floats(2)], {}),
    ("the values [2,3] and [3] differ in shape", "Select", [np.zeros((2, 3), "?"), floats(2, 3), floats(3)], {}),
]

CONSTANTS = [
    ("the elements are strings", "Empty", [Const([2])], {"dtype": DType("string")}),
    ("input 1 is no list", "ListDiff", [Const([1, 2]), Const(1)], {}),
    ("the dims are not those of a tensor", "UnravelIndex", [Const([1]), Const([2, -1])], {}),
]

LAYERS = [
    ("a filter [0,3,2,4] is not possible", "Conv2D", [floats(*IMAGE), floats(0, 3, 2, 4)],
     {"strides": [1, 1, 1, 1], "padding": "SAME"}),
    ("the input [1,2] does not have 4 or 5 axes", "FusedBatchNormV3", [floats(1, 2)] + [floats(2)] * 4,
     {"is_training": False}),
    ("the input [1,2] does not have 4 axes", "BatchNormWithGlobalNormalization", [floats(1, 2)] + [floats(2)] * 4,
     {"variance_epsilon": 0.1, "scale_after_normalization": True}),
    ("explicit_paddings has -1, which is out of range", "Conv2D", [floats(*IMAGE), floats(3, 3, 2, 4)],
     {"strides": [1, 1, 1, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, -1, 0, 0, 0, 0, 0]}),
    ("the filter [3,3,3] does not fit the input", "Dilation2D", [floats(*IMAGE), floats(3, 3, 3)],
     {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}),
    ("depth_radius is -1", "LRN", [floats(*IMAGE)], {"depth_radius": -1}),
    ("size has 3 elements instead of 2", "ResizeBilinear", [floats(*IMAGE), Const([2, 2, 2])], {}),
    ("crop_size has 1 elements instead of 2", "CropAndResize",
     [floats(*IMAGE), Const([[0, 0, 1, 1]], "f4"), Const([0]), Const([2])], {}),
]

LISTS = [
    ("a list cannot have -1 items", "TensorListReserve", [Const([2]), Const(-1)], LIST),
    ("a tensor without dimensions cannot be taken apart", "TensorListFromTensor", [floats(), Const([])],
     LIST),
    ("the parts do not add up to an axis of 4", "TensorListSplit", [floats(4, 2), Const([2]), Const([1, 2], "i8")],
     LIST),
    ("the parts do not add up to an axis of 4", "TensorListSplit", [floats(4, 2), Const([2]), Const([3, 2], "i8")],
     LIST),
    ("3 places for 2 items", "TensorListScatterV2", [floats(2, 2), Const([0, 1, 2]), Const([2]), Const(4)],
     LIST),
]

MATRICES = [
    ("k is not one diagonal, or the lowest and the highest of several", "MatrixDiagPartV2",
     [floats(3, 3), Const([1, 0]), Const(0, "f4")], {}),
    ("the input [3] is not a matrix", "MatrixDiagPartV2", [floats(3), Const(0), Const(0, "f4")], {}),
    ("the padding value is not one number", "MatrixDiagPartV2", [floats(3, 3), Const(0), Const([0, 1], "f4")], {}),
    ("num_rows is not a number of rows or columns, or -1", "MatrixDiagV2",
     [floats(3), Const(0), Const(-2), Const(-1), Const(0, "f4")], {}),
    ("the diagonal is a scalar", "MatrixDiagV2", [floats(), Const(0), Const(-1), Const(-1), Const(0, "f4")], {}),
    ("[2] are not 1 diagonals of 3 elements", "MatrixSetDiagV2", [floats(3, 3), floats(2), Const(0)], {}),
    ("num_lower is not one number", "MatrixBandPart", [floats(3, 3), Const([1, 2], "i8"), Const(1, "i8")], {}),
]

SHAPES = [
    ("3 axes are more than rank 2 has", "Sum", [floats(2, 3), Const([0, 1, 0])], {}),
    ("dimension has 2 elements instead of one", "ArgMax", [floats(2, 3), Const([0, 1])], {}),
    ("num_segments is not a number of segments", "UnsortedSegmentSum", [floats(3), ints(3), Const(-1)], {}),
    ("ids [2] do not number the rows of [3]", "UnsortedSegmentSum", [floats(3), ints(2), Const(4)], {}),
    ("axis is not one number", "ConcatV2", [floats(2), floats(2), Const([0, 1])], {}),
    ("a slice of 17 entries", "StridedSlice", [floats(2), Const([0] * 17), Const([1] * 17), Const([1] * 17)], {}),
    ("the input has 8 axes, and one more is needed", "Bucketize", [floats(*[1] * 8)], {"boundaries": [0.0, 1.0]}),
    ("it has 1 inputs, and 2 outputs", "IdentityN", [floats(2)], {"T": [DType("float32")]}, "node", "node:1"),
]

QUANTIZED = [
    ("the range from 2 to 1 is none", "QuantizeAndDequantizeV2", [floats(3), Const(2, "f4"), Const(1, "f4")],
     {"range_given": True}),
    ("num_bits is not one number", "QuantizeAndDequantizeV3",
     [floats(3), Const(0, "f4"), Const(1, "f4"), Const([8, 8])], {"range_given": True}),
    ("the input is a scalar", "FakeQuantWithMinMaxVarsPerChannel", [floats(), Const([0], "f4"), Const([1], "f4")], {}),
]

RANDOM = [
    ("int32 numbers between 0 and 1", "RandomUniform", [Const([2])], {"dtype": DType("int32")}),
]

# Nodes that are not as TensorFlow's own definitions say: it refuses them with reasons like these.
SIGNATURES = [
    ("the node has 2 inputs, but Neg has 1", "Neg", [floats(2), floats(2)], {}),
    ("the node has 1 input, but AddV2 has 2", "AddV2", [floats(2)], {"T": np.float32}),
    ("the node has 2 inputs, but AddN has 3", "AddN", [floats(2), floats(2)], {"N": 3}),
    ("the node has 3 inputs, but ConcatV2 has 4", "ConcatV2", [floats(2), floats(2), Const(0)], {"N": 3}),
    ("attribute Tidx is not a type", "Sum", [floats(2), Const([0])], {"Tidx": 1}),
    ("attribute alpha is not a float", "LeakyRelu", [floats(2)], {"alpha": 1}),
    ("attribute keep_dims is not a bool", "Sum", [floats(2), Const([0])], {"keep_dims": 1}),
    ("attribute squeeze_dims is not a list of integers", "Squeeze", [floats(1, 2)], {"squeeze_dims": [0.0]}),
    ("attribute strides is not a list of integers", "Conv2D", [floats(*IMAGE), floats(3, 3, 2, 4)],
     {"strides": 1, "padding": "SAME"}),
    ("attribute padding is not a string", "Conv2D", [floats(*IMAGE), floats(3, 3, 2, 4)],
     {"strides": [1, 1, 1, 1], "padding": 1}),
]

FAMILIES = [SIGNATURES, BLOCKS, CASTS, CONSTANTS, LAYERS, LISTS, MATRICES, SHAPES, QUANTIZED, RANDOM]


def graph_of(op, inputs, attributes):
    """The operator as the only node behind its inputs."""
    g = Graph()
    values = []
    for i, value in enumerate(inputs):
        if isinstance(value, Const):
            values.append(g.const(f"c{i}", value.array))
        else:
            values.append(g.placeholder(f"x{i}", value.dtype, value.shape))
    g.node(op, values, name="node", **attributes)
    return g


def refuses(checks, folder, message, op, inputs, attributes, *outputs):
    model = folder / "model.pb"
    graph_of(op, inputs, attributes).save(model)
    named = [option for name in outputs or ["node"] for option in ("--out_node", name)]
    done = run("tensorflow-to-dlc", "-i", model, "-o", folder / "out.dlc", *named)
    checks.equal(f"{op}: status", done.returncode, 1)
    checks.check(f"{op}: reason", message in done.stderr, f"{message!r} not in {done.stderr!r}")


def reports_all(checks, folder):
    """What is wrong with nodes is said at once; an attribute that nobody knows is left out, as TensorFlow does."""
    g, model = Graph(), folder / "model.pb"
    x = g.placeholder("x", np.float32, [2])
    y = g.node("LeakyRelu", [x, x], name="first", T=np.float32, alpha=1, slope=0.5, _note=1)
    g.node("Neg", [y, x], name="second", T=np.float32)
    g.save(model)
    done = run("tensorflow-to-dlc", "-i", model, "-o", folder / "out.dlc", "--out_node", "second")
    checks.equal("all at once: status", done.returncode, 1)
    for message in ("'first': LeakyRelu: the node has 2 inputs, but LeakyRelu has 1", "'second': Neg: the node has 2 inputs",
                    "error: node 'first', 'alpha': LeakyRelu: attribute alpha is not a float",
                    "warning: node 'first', 'slope': LeakyRelu does not have the attribute slope: it is left out"):
        checks.check(f"all at once: {message}", message in done.stderr, done.stderr)
    checks.check("notes of tools are no attributes", "_note" not in done.stderr, done.stderr)


def leaves_out(checks, folder):
    """One warning for all nodes of an operator, and the numbers of nodes without the attribute."""
    g, model = Graph(), folder / "model.pb"
    x = g.placeholder("x", np.float32, [2])
    for i in range(3):
        x = g.node("LeakyRelu", [x], name=f"n{i}", alpha=0.5, slope=0.25)
    g.save(model)
    done = run("tensorflow-to-dlc", "-i", model, "-o", folder / "out.dlc", "--out_node", "n2")
    checks.equal("left out: status", done.returncode, 0)
    checks.equal("left out: warnings", done.stderr.count("does not have the attribute slope"), 1)
    given = folder / "x.raw"
    np.array([-8, 8], "f4").tofile(given)
    (folder / "list.txt").write_text(f"x:0:={given}\n")
    done = run("net-run", "--container", folder / "out.dlc", "--input_list", folder / "list.txt", "--output_dir", folder / "out")
    checks.equal("left out: execution", done.returncode, 0)
    found = [np.fromfile(file, "f4").tolist() for file in (folder / "out").rglob("*.raw")]
    checks.equal("left out: numbers", found, [[-1.0, 8.0]])


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        reports_all(checks, pathlib.Path(name))
        leaves_out(checks, pathlib.Path(name))
        for rows in FAMILIES:
            for row in rows:
                refuses(checks, pathlib.Path(name), *row)
    checks.finish()


main()
