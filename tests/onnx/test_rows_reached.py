# SPDX-License-Identifier: Apache-2.0
"""Each row of the table of ONNX operators is reached by a model: for every row, models with the operator's smallest sensible
node are converted, at the row's first and last opset version and at versions between where attributes became inputs."""

import concurrent.futures
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import onnx_writer as onnx  # noqa: E402
from checks import SOURCE, Checks  # noqa: E402
from onnx_writer import BOOL, FLOAT, INT32, INT64, INT8, UINT8  # noqa: E402
from prestarted import run  # noqa: E402

ROW = re.compile(r'^ONNX_ROW\("([^"]*)", "([^"]+)", (\d+), (\d+|LATEST), ')
NEWEST = 28
VERSIONS = (2, 6, 8, 11, 13, 18, 21)
IMAGE = [2, 3, 4, 4]


class Input:
    """A graph input, or with values a constant."""

    def __init__(self, dims, data_type=FLOAT, values=None):
        self.dims, self.data_type, self.values = dims, data_type, values


X, ROWS = Input(IMAGE), Input([2, 3, 4])


def const(values, data_type=INT64, dims=None):
    return Input([len(values)] if dims is None else dims, data_type, values)


def floats(count, dims=None):
    return const([0.5 + i / 8 for i in range(count)], FLOAT, dims)


class Node:
    """One node: its inputs ("" for an absent one), types of its outputs, attributes."""

    def __init__(self, *inputs, outputs=(FLOAT,), **attributes):
        self.inputs, self.outputs, self.attributes = inputs, outputs, attributes


def as_attribute(version, since, name, values, *inputs, **more):
    """A node whose list `name` is an attribute before version `since`, and an input from then on."""
    if version < since:
        return Node(*inputs, **{name: values}, **more)
    return Node(*inputs, const(values), **more)


def clip(version):
    if version < 11:
        return Node(X, min=0.0, max=6.0)
    return Node(X, const([0.0], FLOAT, []), const([6.0], FLOAT, []))


def pad(version):
    return as_attribute(version, 11, "paddings" if version < 2 else "pads", [0, 0, 1, 1, 0, 0, 1, 1], X)


def resize(version):
    scales = floats(0) if version < 13 else ""
    if version < 11:
        return Node(X, const([1.0, 1.0, 2.0, 2.0], FLOAT))
    return Node(X, scales, const([1.0, 1.0, 2.0, 2.0], FLOAT))


def upsample(version):
    scales = [1.0, 1.0, 2.0, 2.0]
    if version < 7:
        return Node(X, height_scale=2.0, width_scale=2.0)
    return Node(X, scales=scales) if version < 9 else Node(X, const(scales, FLOAT))


def slice_(version):
    if version < 10:
        return Node(X, starts=[1], ends=[3], axes=[2])
    return Node(X, const([1]), const([3]), const([2]))


def top_k(version):
    if version < 10:
        return Node(X, k=2, axis=1, outputs=(FLOAT, INT64))
    return Node(X, const([2]), axis=1, outputs=(FLOAT, INT64))


def tile(version):
    if version < 6:
        return Node(X, const([2.0], FLOAT, []), const([1.0], FLOAT, []))
    return Node(X, const([1, 2, 1, 1]))


def one_hot(_):
    return Node(Input([4], INT64), const([5], INT64, []), const([0.0, 1.0], FLOAT))


def recurrent(gates, outputs):
    shapes = ([1, gates * 4, 3], [1, gates * 4, 4])
    return lambda _: Node(Input([5, 2, 3]), *(floats(shape[1] * shape[2], shape) for shape in shapes),
                          outputs=(FLOAT,) * outputs)


def mel_weight_matrix(_):
    return Node(*(const([n], INT64, []) for n in (4, 16, 8192)), *(const([f], FLOAT, []) for f in (0.0, 4096.0)))


def window(_):
    return Node(const([6], INT64, []))


def optimizer(states, **attributes):
    return lambda _: Node(Input([]), Input([], INT64), *(X,) * states, outputs=(FLOAT,) * (states - 1), **attributes)


# Before version 7 broadcasting and inference had attributes of their own.
def gemm(version):
    broadcast = {"broadcast": 1} if version < 7 else {}
    return Node(Input([2, 3]), floats(12, [3, 4]), floats(4), **broadcast)


def batch_normalization(version):
    inference = {"is_test": 1} if version < 7 else {}
    return Node(X, floats(3), floats(3), floats(3), floats(3), **inference)


ROWS_OF_4 = Input([2, 4])
TREE = {"nodes_treeids": [0] * 3, "nodes_nodeids": [0, 1, 2], "nodes_featureids": [3, 0, 0], "nodes_values": [0.5, 0.0, 0.0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0]}


def weights(prefix):
    return {f"{prefix}_treeids": [0, 0], f"{prefix}_nodeids": [1, 2], f"{prefix}_ids": [0, 0], f"{prefix}_weights": [0.5, 2.0]}


def tree_ensemble(_):
    return Node(ROWS_OF_4, tree_roots=[0], nodes_featureids=[3], nodes_modes=onnx.tensor("m", UINT8, [1], [0]),
                nodes_splits=onnx.tensor("s", FLOAT, [1], [0.5]), nodes_truenodeids=[0], nodes_trueleafs=[1], nodes_falsenodeids=[1],
                nodes_falseleafs=[1], leaf_targetids=[0, 0], leaf_weights=onnx.tensor("w", FLOAT, [2], [0.5, 2.0]))


BYTES, SCALE, ZERO = Input(IMAGE, UINT8), const([0.5], FLOAT, []), const([3], UINT8, [])
BY = SCALE, ZERO

UNARY = """Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu GlobalAveragePool GlobalLpPool
GlobalMaxPool HardSigmoid HardSwish Hardmax
Identity LeakyRelu Log LogSoftmax LpNormalization MeanVarianceNormalization Mish Neg
Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Swish Tan Tanh
ThresholdedRelu Flatten Transpose""".split()
BINARY = "Add Div Max Mean Min Mul Pow Sub Sum SwiGLU".split()
REDUCE = "L1 L2 LogSum LogSumExp Max Mean Min Prod SumSquare".split()

NODES = {
    **{op: lambda _: Node(X) for op in UNARY},
    **{op: lambda _: Node(X, X) for op in BINARY},
    **{op: lambda _: Node(X, X, outputs=(BOOL,)) for op in ("Greater", "GreaterOrEqual", "Less", "LessOrEqual")},
    **{op: lambda _: Node(Input(IMAGE, BOOL), Input(IMAGE, BOOL), outputs=(BOOL,)) for op in ("And", "Or", "Xor")},
    **{f"Reduce{op}": lambda v: as_attribute(v, 18, "axes", [1], X) for op in REDUCE},
    **{op: lambda _: Node(X, axis=1, outputs=(INT64,)) for op in ("ArgMax", "ArgMin")},
    **{op: lambda _: Node(X, outputs=(BOOL,)) for op in ("IsInf", "IsNaN")},
    **{op: lambda _: Node(X, outputs=(INT64,)) for op in ("Shape", "Size")},
    **{op: lambda _: Node(X, kernel_shape=[2, 2]) for op in ("AveragePool", "LpPool", "MaxPool")},
    **{op: lambda _: Node(X, const([0] * 12, dims=[1, 3, 2, 2]), floats(12, [1, 3, 2, 2]))
       for op in ("Scatter", "ScatterElements")},
    "AffineGrid": lambda _: Node(Input([2, 2, 3]), const([2, 3, 4, 5])),
    **{f"Bitwise{op}": lambda _: Node(Input(IMAGE, INT32), Input(IMAGE, INT32), outputs=(INT32,))
       for op in ("And", "Or", "Xor")},
    **{op: lambda _: Node(X, Input([2, 4, 4], INT64))
       for op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")},
    **{op: optimizer(states) for op, states in (("Adagrad", 3), ("Adam", 4))},
    "ArrayFeatureExtractor": lambda _: Node(X, const([3, 0])),
    "Attention": lambda _: Node(X, X, X, is_causal=1),
    "BatchNormalization": batch_normalization,
    "BitCast": lambda _: Node(Input(IMAGE, INT8), to=UINT8, outputs=(UINT8,)),
    "BitShift": lambda _: Node(Input(IMAGE, UINT8), Input(IMAGE, UINT8), direction="LEFT", outputs=(UINT8,)),
    "BitwiseNot": lambda _: Node(Input(IMAGE, INT32), outputs=(INT32,)),
    "BlackmanWindow": window,
    "Affine": lambda _: Node(X, alpha=0.5, beta=2.0),
    "Cast": lambda v: Node(X, to="INT32" if v < 6 else INT32, outputs=(INT32,)),
    "CastLike": lambda _: Node(X, Input(IMAGE, INT32), outputs=(INT32,)),
    "CausalConvWithState": lambda _: Node(Input([2, 3, 4]), floats(6, [3, 1, 2]), outputs=(FLOAT, FLOAT)),
    "Clip": clip,
    "Compress": lambda _: Node(X, const([True, False, True], BOOL), axis=1),
    "Concat": lambda _: Node(X, X, axis=1),
    "Constant": lambda _: Node(value=onnx.tensor("t", FLOAT, [2], [1.0, 2.0])),
    "ConstantOfShape": lambda _: Node(const([2, 3])),
    "ConstantFill": lambda _: Node(shape=[2, 3]),
    "Conv": lambda _: Node(X, floats(108, [4, 3, 3, 3])),
    "ConvInteger": lambda _: Node(BYTES, const([1] * 108, UINT8, [4, 3, 3, 3]), outputs=(INT32,)),
    "ConvTranspose": lambda _: Node(X, floats(108, [3, 4, 3, 3])),
    "Col2Im": lambda _: Node(Input([1, 4, 9]), const([4, 4]), const([2, 2])),
    "Crop": lambda _: Node(X, border=[0, 1, 1, 1]),
    "CenterCropPad": lambda _: Node(X, const([5, 2]), axes=[2, 3]),
    "CumProd": lambda _: Node(X, const([1], INT64, [])),
    "CumSum": lambda _: Node(X, const([1], INT64, [])),
    "DeformConv": lambda _: Node(X, floats(24, [2, 3, 2, 2]), Input([2, 8, 3, 3])),
    "DFT": lambda _: Node(Input([2, 6, 3, 1])),
    "DequantizeLinear": lambda _: Node(BYTES, SCALE, ZERO),
    "DepthToSpace": lambda _: Node(Input([1, 4, 3, 3]), blocksize=2),
    "Dropout": lambda v: Node(X, is_test=1) if v < 7 else Node(X),
    "Det": lambda _: Node(X),
    "DynamicQuantizeLinear": lambda _: Node(X, outputs=(UINT8, FLOAT, UINT8)),
    "DynamicSlice": lambda _: Node(X, const([1]), const([3]), const([2])),
    "Einsum": lambda _: Node(X, equation="...ij->...ji"),
    "Equal": lambda _: Node(Input(IMAGE, INT32), Input(IMAGE, INT32), outputs=(BOOL,)),
    "Expand": lambda _: Node(Input([3, 1]), const([2, 3, 4])),
    "EyeLike": lambda _: Node(Input([3, 3])),
    "FlexAttention": lambda _: Node(X, X, X),
    "GRU": recurrent(3, 2),
    "Gather": lambda _: Node(X, const([0, 2]), axis=1),
    "GatherElements": lambda _: Node(X, const([0] * 12, dims=[1, 3, 2, 2])),
    "GatherND": lambda _: Node(X, const([1, 2], dims=[1, 2])),
    "Gemm": gemm,
    "GridSample": lambda _: Node(X, Input([2, 3, 3, 2])),
    "GivenTensorFill": lambda _: Node(shape=[2], values=[1.0, 2.0]),
    "GroupNormalization": lambda _: Node(X, floats(3), floats(3), num_groups=3),
    "HammingWindow": window,
    "HannWindow": window,
    "ImageScaler": lambda _: Node(X, bias=[1.0, 2.0, 3.0]),
    "InstanceNormalization": lambda _: Node(X, floats(3), floats(3)),
    "LRN": lambda _: Node(X, size=3),
    "LSTM": recurrent(4, 3),
    "LayerNormalization": lambda _: Node(X, floats(4)),
    "LinearAttention": lambda _: Node(*[Input([2, 3, 4])] * 3, outputs=(FLOAT, FLOAT), update_rule="linear",
                                      q_num_heads=2, kv_num_heads=2),
    "MatMulInteger": lambda _: Node(BYTES, const([1] * 20, UINT8, [4, 5]), outputs=(INT32,)),
    "MatMul": lambda _: Node(X, floats(20, [4, 5])),
    "MaxRoiPool": lambda _: Node(X, Input([3, 5]), pooled_shape=[2, 2]),
    "MaxUnpool": lambda _: Node(X, Input(IMAGE, INT64), kernel_shape=[2, 2]),
    "MelWeightMatrix": mel_weight_matrix,
    "Mod": lambda _: Node(X, X, fmod=1),
    "Momentum": optimizer(3, alpha=0.9, beta=0.5, mode="standard", norm_coefficient=0.0),
    "NonMaxSuppression": lambda _: Node(floats(8, [1, 2, 4]), floats(2, [1, 1, 2]), const([2]), outputs=(INT64,)),
    "NonZero": lambda _: Node(const([0, 1, 2]), outputs=(INT64,)),
    "Not": lambda _: Node(Input(IMAGE, BOOL), outputs=(BOOL,)),
    "OneHot": one_hot,
    "PRelu": lambda _: Node(X, floats(1)),
    "Pad": pad,
    "ParametricSoftplus": lambda _: Node(X, alpha=2.0, beta=0.5),
    "QLinearConv": lambda _: Node(BYTES, SCALE, ZERO, const([1] * 108, UINT8, [4, 3, 3, 3]), SCALE, ZERO, SCALE, ZERO,
                                  outputs=(UINT8,)),
    "QLinearMatMul": lambda _: Node(BYTES, SCALE, ZERO, const([1] * 20, UINT8, [4, 5]), SCALE, ZERO, SCALE, ZERO,
                                    outputs=(UINT8,)),
    "QuantizeLinear": lambda _: Node(X, SCALE, ZERO, outputs=(UINT8,)),
    "RMSNormalization": lambda _: Node(X, floats(4)),
    "RNN": recurrent(1, 2),
    "Range": lambda _: Node(*(const([n], INT64, []) for n in (0, 6, 2)), outputs=(INT64,)),
    "ReduceSum": lambda v: as_attribute(v, 13, "axes", [1], X),
    "Reshape": lambda v: as_attribute(v, 5, "shape", [2, -1], X),
    "Resize": resize,
    "ReverseSequence": lambda _: Node(X, const([1, 2, 2]), time_axis=0, batch_axis=1),
    "RoiAlign": lambda _: Node(X, Input([3, 4]), Input([3], INT64)),
    "RotaryEmbedding": lambda _: Node(X, Input([2, 4, 2]), Input([2, 4, 2])),
    "STFT": lambda _: Node(Input([2, 16, 1]), const([4], INT64, []), "", const([8], INT64, [])),
    "Scale": lambda _: Node(X, scale=2.0),
    "ScaledTanh": lambda _: Node(X, alpha=2.0, beta=0.5),
    "ScatterND": lambda _: Node(X, const([1, 2], dims=[1, 2]), floats(16, [1, 4, 4])),
    "Slice": slice_,
    "SpaceToDepth": lambda _: Node(X, blocksize=2),
    "Split": lambda v: as_attribute(v, 13, "split", [1, 2], X, axis=1, outputs=(FLOAT, FLOAT)),
    "Squeeze": lambda v: as_attribute(v, 13, "axes", [0], Input([1, 3, 4])),
    "TensorScatter": lambda _: Node(X, Input([2, 3, 2, 4])),
    "Tile": tile,
    "TfIdfVectorizer": lambda _: Node(Input([2, 6], INT32), mode="TF", min_gram_length=1, max_gram_length=1,
                                      max_skip_count=0, ngram_counts=[0], ngram_indexes=[0, 1], pool_int64s=[5, 7]),
    "TopK": top_k,
    "Trilu": lambda _: Node(X),
    "Unique": lambda _: Node(const([2, 1, 2]), outputs=(INT64,)),
    "Unsqueeze": lambda v: as_attribute(v, 13, "axes", [0], Input([3, 4])),
    "Upsample": upsample,
    "Where": lambda _: Node(Input(IMAGE, BOOL), X, X),
    # Classical machine learning.
    "FeatureVectorizer": lambda _: Node(ROWS_OF_4, ROWS_OF_4, inputdimensions=[4, 3]),
    "Imputer": lambda _: Node(ROWS_OF_4, imputed_value_floats=[0.5]),
    "LabelEncoder": lambda _: Node(ROWS_OF_4, keys_floats=[0.5], values_floats=[2.0]),
    "LinearClassifier": lambda _: Node(ROWS_OF_4, coefficients=[0.5] * 8, intercepts=[0.5] * 2, classlabels_ints=[3, 4],
                                       outputs=(INT64, FLOAT)),
    "LinearRegressor": lambda _: Node(ROWS_OF_4, coefficients=[0.5] * 4),
    "Normalizer": lambda _: Node(ROWS_OF_4, norm="L2"),
    "OneHotEncoder": lambda _: Node(ROWS_OF_4, cats_int64s=[1, 2]),
    "SVMClassifier": lambda _: Node(ROWS_OF_4, coefficients=[0.5, -0.5], support_vectors=[0.5] * 8, vectors_per_class=[1, 1], rho=[0.5],
                                    classlabels_ints=[3, 4], outputs=(INT64, FLOAT)),
    "SVMRegressor": lambda _: Node(ROWS_OF_4, coefficients=[0.5] * 4, rho=[0.5]),
    "Scaler": lambda _: Node(ROWS_OF_4, offset=[0.5], scale=[2.0]),
    "TreeEnsemble": tree_ensemble,
    "TreeEnsembleClassifier": lambda _: Node(ROWS_OF_4, **TREE, **weights("class"), classlabels_int64s=[3, 4], outputs=(INT64, FLOAT)),
    "TreeEnsembleRegressor": lambda _: Node(ROWS_OF_4, **TREE, **weights("target")),
    # Operators of ONNX Runtime.
    "Binarizer": lambda _: Node(X),
    "BipolarQuant": lambda _: Node(X, const([0.5], FLOAT, [])),
    **{op: lambda _: Node(X, *(const([v], FLOAT, []) for v in (0.5, 0.0, 8.0)), signed=1, narrow=0) for op in ("IntQuant", "Quant")},
    "Trunc": lambda _: Node(X, *(const([v], FLOAT, []) for v in (0.5, 0.0, 8.0, 4.0))),
    "GatherBlockQuantized": lambda _: Node(const([1] * 32, UINT8, [2, 16]), Input([3], INT64), floats(2, [2, 1])),
    "com.microsoft::Attention": lambda _: Node(ROWS, floats(48, [4, 12]), num_heads=2),
    **{op: lambda _: Node(BYTES, *BY, *BY, outputs=(UINT8,)) for op in ("QLinearLeakyRelu", "QLinearSigmoid",
                                                                     "QLinearGlobalAveragePool")},
    **{op: lambda _: Node(BYTES, *BY, BYTES, *BY, *BY, outputs=(UINT8,)) for op in ("QLinearAdd", "QLinearMul")},
    "QGemm": lambda _: Node(Input([3, 4], UINT8), *BY, const([1] * 20, UINT8, [4, 5]), *BY, "", *BY, outputs=(UINT8,)),
    "QLinearAveragePool": lambda _: Node(BYTES, *BY, *BY, outputs=(UINT8,), kernel_shape=[2, 2]),
    "QLinearConcat": lambda _: Node(*BY, BYTES, *BY, BYTES, *BY, outputs=(UINT8,), axis=1),
    "QLinearReduceMean": lambda _: Node(BYTES, *BY, *BY, outputs=(UINT8,), axes=[1]),
    "QLinearSoftmax": lambda _: Node(BYTES, *BY, *BY, outputs=(UINT8,), axis=1, opset=13),
    "QLinearWhere": lambda _: Node(Input(IMAGE, BOOL), BYTES, *BY, BYTES, *BY, *BY, outputs=(UINT8,)),
    "MatMulNBits": lambda _: Node(ROWS, const([1] * 40, UINT8, [5, 1, 8]), floats(5, [5, 1]), K=4, N=5, bits=4, block_size=16),
    "DynamicQuantizeLSTM": lambda _: Node(Input([3, 2, 4]), *(const([1] * 12 * n, INT8, [1, n, 12]) for n in (4, 3)), *[""] * 5,
                                          *[floats(1, [1]), const([0], INT8, [1])] * 2, hidden_size=3),
    "DynamicQuantizeMatMul": lambda _: Node(ROWS, const([1] * 20, INT8, [4, 5]), const([0.5], FLOAT, [])),
    "CDist": lambda _: Node(Input([3, 4]), floats(8, [2, 4]), metric="euclidean"),
    "MatMulBnb4": lambda _: Node(ROWS, const([1] * 10, UINT8), floats(2), K=4, N=5, block_size=16, quant_type=1),
    "QAttention": lambda _: Node(Input([1, 2, 4], UINT8), const([1] * 48, INT8, [4, 12]), floats(12), *[const([0.5], FLOAT, [])] * 2,
                                 num_heads=2),
    "QEmbedLayerNormalization": lambda _: Node(Input([2, 3], INT32), "", const([1] * 24, UINT8, [6, 4]), const([1] * 12, UINT8, [3, 4]), "",
                                               *[const([1] * 4, UINT8)] * 2, "", *[BY[0]] * 2, "", *[BY[0]] * 2, *[BY[1]] * 2, "",
                                               *[BY[1]] * 2, outputs=(FLOAT, INT32)),
    "MatMulIntegerToFloat": lambda _: Node(Input([3, 4], UINT8), const([1] * 20, INT8, [4, 5]), *[const([0.5], FLOAT, [])] * 2),
    "BiasAdd": lambda _: Node(ROWS, floats(4), ROWS),
    "BiasGelu": lambda _: Node(X, floats(4)),
    "BiasSoftmax": lambda _: Node(X, X, axis=3, is_inner_broadcast=0),
    "BiasSplitGelu": lambda _: Node(ROWS, floats(4)),
    "EmbedLayerNormalization": lambda _: Node(Input([2, 3], INT32), "", floats(24, [6, 4]), floats(12, [3, 4]), "", floats(4),
                                              floats(4), outputs=(FLOAT, INT32)),
    "ExpandDims": lambda _: Node(X, const([1], INT32, [])),
    **{op: lambda _: Node(X) for op in ("FastGelu", "QuickGelu")},
    "FusedConv": lambda _: Node(X, floats(108, [4, 3, 3, 3]), activation="Relu"),
    "FusedGemm": lambda _: Node(Input([2, 3]), floats(12, [3, 4]), floats(4), activation="Relu"),
    **{op: lambda _: Node(X, floats(20, [4, 5]), alpha=2.0) for op in ("FusedMatMul", "TransposeMatMul")},
    "GroupNorm": lambda _: Node(X, floats(4), floats(4), groups=2, activation=0),
    "GroupQueryAttention": lambda _: Node(ROWS, ROWS, ROWS, "", "", const([2, 2], INT32), const([3], INT32, []), num_heads=1,
                                          kv_num_heads=1),
    "Inverse": lambda _: Node(X),
    "MultiHeadAttention": lambda _: Node(ROWS, ROWS, ROWS, num_heads=2),
    "NhwcConv": lambda _: Node(X, floats(144, [4, 4, 3, 3])),
    "NhwcMaxPool": lambda _: Node(BYTES, outputs=(UINT8,), kernel_shape=[2, 2]),
    "com.microsoft::Pad": lambda _: Node(X, const([0, 0, 1, 1, 0, 0, 1, 1])),
    "com.microsoft::RotaryEmbedding": lambda _: Node(X, const([0]), Input([5, 2]), Input([5, 2])),
    "com.microsoft::Unique": lambda _: Node(floats(3), outputs=(FLOAT, INT64, INT64)),
    "SimplifiedLayerNormalization": lambda _: Node(X, floats(4)),
    "SkipGroupNorm": lambda _: Node(X, floats(4), floats(4), X, groups=2, activation=1),
    **{op: lambda _: Node(ROWS, ROWS, floats(4)) for op in ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")},
}


def body(inputs, outputs, *nodes):
    g = onnx.Model()
    for name, data_type, dims in inputs:
        g.input(name, data_type, dims)
    for op, sources, targets in nodes:
        g.node(op, sources, targets)
    for name, data_type in outputs:
        g.output(name, data_type, None)
    return g


MADE = ("SequenceConstruct", ["x", "x"], ["s"], {})
JOINED = ("ConcatFromSequence", ["t"], ["y"], {"axis": 0})
TRIP = [("i", INT64, []), ("go", BOOL, []), ("s", FLOAT, [2, 3])]
ROW_OF_X = [("s", FLOAT, [3]), ("e", FLOAT, [3])]
SUM = body(ROW_OF_X, [("t", FLOAT), ("u", FLOAT)], ("Add", ["s", "e"], ["t"]), ("Neg", ["t"], ["u"]))
SCAN = {"body": SUM, "num_scan_inputs": 1}

# Operators that need others around them: nodes from x, 2 x 3, to y. `one`, `yes` and `row` are constants.
CHAINS = {
    "ConcatFromSequence": [MADE, ("ConcatFromSequence", ["s"], ["y"], {"axis": 0})],
    "If": [("If", ["yes"], ["y"], {name: body([], [("v", FLOAT)], ("Neg", ["x"], ["v"]))
                                   for name in ("then_branch", "else_branch")})],
    "Loop": [("Loop", ["one", "yes", "x"], ["y"],
              {"body": body(TRIP, [("go", BOOL), ("t", FLOAT)], ("Neg", ["s"], ["t"]))})],
    "Optional": [("Optional", ["x"], ["o"], {}), ("OptionalGetElement", ["o"], ["y"], {})],
    "OptionalHasElement": [("Optional", ["x"], ["o"], {}), ("OptionalHasElement", ["o"], ["h"], {}),
                           ("Where", ["h", "x", "x"], ["y"], {})],
    "Scan": [("Scan", ["row", "x"], ["r", "y"], SCAN)],
    "SequenceAt": [MADE, ("SequenceAt", ["s", "one"], ["y"], {})],
    "SequenceEmpty": [("SequenceEmpty", [], ["s"], {}), ("SequenceInsert", ["s", "x"], ["t"], {}), JOINED],
    "SequenceErase": [MADE, ("SequenceErase", ["s"], ["t"], {}), JOINED],
    "SequenceInsert": [MADE, ("SequenceInsert", ["s", "x"], ["t"], {}), JOINED],
    "SequenceMap": [MADE, ("SequenceMap", ["s"], ["t"], {
        "body": body([("e", FLOAT, [2, 3])], [("v", FLOAT)], ("Neg", ["e"], ["v"]))}), JOINED],
    "SplitToSequence": [("SplitToSequence", ["x"], ["t"], {}), JOINED],
}
CHAINS["OptionalGetElement"] = CHAINS["Optional"]
CHAINS["SequenceConstruct"] = CHAINS["SequenceAt"]
CHAINS["SequenceLength"] = [MADE, ("SequenceLength", ["s"], ["n"], {}), ("Cast", ["n"], ["f"], {"to": FLOAT}),
                            ("Add", ["x", "f"], ["y"], {})]
# Opset 8 scans behind a batch axis.
SCAN_8 = [("Unsqueeze", ["x"], ["b"], {"axes": [0]}), ("Scan", ["", "batch_row", "b"], ["r", "y"], SCAN)]


def rows():
    """(domain, op, versions to try) of each row."""
    for line in (SOURCE / "converters" / "onnx" / "lower" / "onnx_rows.def").read_text().splitlines():
        match = ROW.match(line)
        if match:
            lo = int(match.group(3))
            hi = NEWEST if match.group(4) == "LATEST" else int(match.group(4))
            between = (version for version in VERSIONS if lo < version < hi)
            yield match.group(1), match.group(2), sorted({lo, hi, *between})


def write_chain(op, version, path):
    m = onnx.Model(opset=version)
    m.input("x", FLOAT, [2, 3])
    m.tensor("one", INT64, [], [1])
    m.tensor("yes", BOOL, [], [1])
    m.tensor("row", FLOAT, [3], [0.0, 0.0, 0.0])
    m.tensor("batch_row", FLOAT, [1, 3], [0.0, 0.0, 0.0])
    for kind, sources, targets, attributes in SCAN_8 if (op, version) == ("Scan", 8) else CHAINS[op]:
        m.node(kind, sources, targets, **attributes)
    m.output("y", FLOAT, None)
    m.save(path)


def add_node(m, domain, key, version, prefix):
    """The node with inputs and outputs of its own, whose names start with the prefix."""
    node, names = NODES[key](version), []
    for i, value in enumerate(node.inputs):
        names.append(value and f"{prefix}in{i}")
        if value and value.values is None:
            m.input(names[-1], value.data_type, value.dims)
        elif value:
            m.tensor(names[-1], value.data_type, value.dims, value.values)
    outputs = [f"{prefix}out{i}" for i in range(len(node.outputs))]
    m.node(key.rpartition("::")[2], names, outputs, domain=domain, **node.attributes)
    for name, data_type in zip(outputs, node.outputs):
        m.output(name, data_type, None)


def refusal(trials, domain, version):
    """What onnx-to-dlc says of one model of the operators, or None."""
    with tempfile.TemporaryDirectory() as folder:
        model = f"{folder}/m.onnx"
        if trials[0] in CHAINS:
            write_chain(trials[0], version, model)
        else:
            m = onnx.Model(opset=NEWEST if domain else version)
            m.opsets += [(domain, version if domain == "ai.onnx.ml" else 1)] if domain else []
            for op in trials:
                add_node(m, domain, op, version, f"{op}.")
            m.save(model)
        done = run("onnx-to-dlc", "-i", model, "-o", f"{folder}/m.dlc")
        return done.stderr if done.returncode else None


def try_version(group):
    """[(label, message or None)] of operators: all nodes in one model and, when it is refused, each in one of its own."""
    (domain, version), ops = group
    plain = [op for op in ops if op in NODES]
    together = refusal(plain, domain, version) if plain else None
    found = [(f"{op} {version}", together and refusal([op], domain, version)) for op in plain]
    if together and not any(message for _, message in found):
        found.append((f"all operators of version {version} in one model", together))
    return found + [(f"{op} {version}", refusal([op], domain, version)) for op in ops if op in CHAINS]


def main():
    checks, groups = Checks(), {}
    for domain, op, versions in rows():
        key = f"{domain}::{op}" if f"{domain}::{op}" in NODES else op  # where two domains have an operator of that name
        checks.check(f"there is a model for {key}", key in NODES or key in CHAINS)
        for version in versions:
            groups.setdefault((domain, version), []).append(key)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for results in pool.map(try_version, groups.items()):
            for label, message in results:
                checks.check(label, message is None, message or "")
    checks.check("there are rows", checks.passed > 1000, checks.passed)
    checks.finish()


main()
