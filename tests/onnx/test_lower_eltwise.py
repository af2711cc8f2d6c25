# SPDX-License-Identifier: Apache-2.0
"""ONNX elementwise, activation, reduction and normalisation operators, each as a model of one node that is converted
and executed; NumPy says what must come out. What cannot be converted must be refused with the reason."""

import math

from one_node import Const, gives, np, refuses
from checks import Checks
from onnx_writer import BOOL, FLOAT, FLOAT16, INT8, INT32, UINT8

INF = float("inf")
NEAR = 2e-6  # of the largest value: a few roundings of float32


def grid(*shape, low=-3.0, high=3.0, dtype="f4"):
    """Evenly spread values, in an order that is not sorted."""
    count = math.prod(shape)
    order = np.arange(count) * 7919 % count if count % 7919 else np.arange(count)
    return (low + (high - low) * order / max(count - 1, 1)).reshape(shape).astype(dtype)


def test_binary(checks):
    x, y = grid(2, 3, 4), grid(3, 1, low=0.5)
    n, m = np.array([7, -7, 7, -7, 6], "i4"), np.array([2, 2, -2, -2, 3], "i4")
    gives(checks, "Add", 14, [x, y], x + y)
    gives(checks, "Sub", 7, [y, x], y - x)
    gives(checks, "Mul", 13, [x, Const(2.5, "f4")], x * np.float32(2.5))
    gives(checks, "Div", 7, [x, y], x / y)
    gives(checks, "Div", 14, [n, m], np.array([3, -3, -3, 3, 2], "i4"))
    gives(checks, "Mod", 13, [n, m], np.array([1, 1, -1, -1, 0], "i4"))
    gives(checks, "Mod", 13, [n, m], np.array([1, -1, 1, -1, 0], "i4"), fmod=1)
    gives(checks, "Mod", 13, [x, y], np.fmod(x, y), within=NEAR, fmod=1)
    gives(checks, "Pow", 15, [np.abs(x), y], np.abs(x) ** y, within=NEAR)
    gives(checks, "Pow", 12, [n, Const([2.0], "f4")], n * n)
    gives(checks, "And", 7, [x > 0, y > 1], (x > 0) & (y > 1))
    gives(checks, "Xor", 7, [x > 0, y > 1], (x > 0) ^ (y > 1))
    gives(checks, "Equal", 11, [n, np.abs(n)], n == np.abs(n))
    gives(checks, "GreaterOrEqual", 12, [x, y], x >= y)
    gives(checks, "Where", 9, [x > 0, x, y], np.where(x > 0, x, y))
    refuses(checks, "do not broadcast", "Add", 13, [x, grid(2)])
    refuses(checks, "types float32 and int32 differ", "Add", 13, [grid(5), n])


def test_legacy_broadcast(checks):
    x, y = grid(2, 3, 4, 5), grid(3, 4)
    gives(checks, "Add", 6, [x, y], x + y[:, :, None], broadcast=1, axis=1)
    gives(checks, "Mul", 6, [x, y], x * y[:, :, None], broadcast=1, axis=-3)
    gives(checks, "Sub", 6, [x, grid(4, 5)], x - grid(4, 5), broadcast=1)
    gives(checks, "PRelu", 6, [x, grid(3)], np.where(x < 0, x * grid(3)[:, None, None], x))
    refuses(checks, "without broadcast = 1", "Add", 6, [x, y])
    refuses(checks, "does not fit into [2,3,4,5] from axis 3 on", "Add", 6, [x, y], broadcast=1, axis=3)


def test_variadic(checks):
    x, y, z = grid(2, 3), grid(3, low=-1.0), grid(2, 1, low=-2.0)
    gives(checks, "Max", 13, [x, y, z], np.maximum(np.maximum(x, y), z))
    gives(checks, "Min", 8, [x, y], np.minimum(x, y))
    gives(checks, "Sum", 8, [x, y, z], x + y + z, within=NEAR)
    gives(checks, "Mean", 8, [x, y, z], (x + y + z) / 3, within=NEAR)
    gives(checks, "Max", 13, [x], x)


def test_unary(checks):
    x, unit = grid(3, 5), grid(3, 5, low=-0.9, high=0.9)
    for op, value, version in (("Abs", np.abs, 13), ("Neg", np.negative, 13), ("Ceil", np.ceil, 13), ("Exp", np.exp, 7),
                               ("Floor", np.floor, 13), ("Round", np.round, 11), ("Sign", np.sign, 13),
                               ("Sin", np.sin, 7), ("Cos", np.cos, 7), ("Tan", np.tan, 7), ("Atan", np.arctan, 7),
                               ("Sinh", np.sinh, 9), ("Cosh", np.cosh, 9), ("Tanh", np.tanh, 13),
                               ("Asinh", np.arcsinh, 9)):
        gives(checks, op, version, [x], value(x), within=NEAR)
    for op, value in (("Asin", np.arcsin), ("Acos", np.arccos), ("Atanh", np.arctanh)):
        gives(checks, op, 9, [unit], value(unit), within=NEAR)
    for op, value in (("Log", np.log), ("Sqrt", np.sqrt), ("Reciprocal", np.reciprocal)):
        gives(checks, op, 13, [unit + 1], value(unit + 1), within=NEAR)
    gives(checks, "Acosh", 9, [unit + 2], np.arccosh(unit + 2), within=NEAR)
    gives(checks, "Not", 6, [x > 0], x <= 0)
    odd = np.array([0, 1e-20, 0.3, -0.3, 2, -5, 30, INF, -INF, np.nan], "f4")
    gives(checks, "Erf", 9, [odd], np.array([math.erf(v) for v in odd], "f4"), within=NEAR)
    gives(checks, "IsNaN", 9, [odd], np.isnan(odd))
    gives(checks, "IsInf", 10, [odd], np.isinf(odd))
    gives(checks, "IsInf", 10, [odd], odd == INF, detect_negative=0)
    gives(checks, "IsInf", 10, [odd], odd == -INF, detect_positive=0)
    gives(checks, "IsInf", 10, [odd], np.zeros(10, "?"), detect_negative=0, detect_positive=0)
    refuses(checks, "not floating point", "Exp", 13, [np.array([1, 2], "i4")])


def test_casts(checks):
    x = np.array([-2.75, -0.5, 0, 0.5, 3.99], "f4")
    gives(checks, "Cast", 13, [x], x.astype("i4"), to=INT32)
    gives(checks, "Cast", 13, [x], x != 0, to=BOOL)
    gives(checks, "Cast", 13, [x], x.astype("f2"), to=FLOAT16)
    n = np.array([200, -1, 300], "i4")
    gives(checks, "Cast", 13, [n], n.astype("i1"), to=INT8)
    gives(checks, "Cast", 13, [n], n.astype("u1"), to=UINT8)
    gives(checks, "Cast", 13, [n], n.astype("f4"), to=FLOAT)
    gives(checks, "Cast", 13, [n != 0], np.ones(3, "f4"), to=FLOAT)
    gives(checks, "CastLike", 15, [x, n[:1]], x.astype("i4"))
    refuses(checks, "99 is not a type", "Cast", 13, [x], to=99)
    refuses(checks, "the type float8e8m0 is not supported: containers do not have it", "Cast", 24, [x], to=24)
    refuses(checks, "cannot be cast to string", "Cast", 13, [x], to=8)


def test_activations(checks):
    x = grid(2, 4, 3, low=-4.0, high=4.0)
    sigmoid = 1 / (1 + np.exp(-x.astype("f8")))
    exp = np.exp(x.astype("f8"))
    gives(checks, "Relu", 14, [x], np.maximum(x, 0))
    gives(checks, "LeakyRelu", 6, [x], np.where(x < 0, x * np.float32(0.01), x))
    gives(checks, "LeakyRelu", 16, [x], np.where(x < 0, x * np.float32(0.25), x), alpha=0.25)
    gives(checks, "PRelu", 9, [x, Const(grid(4, 1), "f4")], np.where(x < 0, x * grid(4, 1), x))
    gives(checks, "Elu", 6, [x], np.where(x > 0, x, 0.5 * (exp - 1)).astype("f4"), within=NEAR, alpha=0.5)
    gives(checks, "Celu", 12, [x], np.where(x > 0, x, 2 * (np.exp(x / 2) - 1)).astype("f4"), within=NEAR, alpha=2.0)
    gives(checks, "Selu", 6, [x], (3 * np.where(x > 0, x, 2 * (exp - 1))).astype("f4"), within=NEAR, alpha=2.0,
          gamma=3.0)
    gives(checks, "Sigmoid", 13, [x], sigmoid.astype("f4"), within=NEAR)
    gives(checks, "HardSigmoid", 6, [x], np.clip(0.2 * x + 0.5, 0, 1).astype("f4"), within=NEAR)
    gives(checks, "HardSigmoid", 6, [x], np.clip(0.5 * x + 0.25, 0, 1), within=NEAR, alpha=0.5, beta=0.25)
    gives(checks, "HardSwish", 14, [x], x * np.clip(x / 6 + 0.5, 0, 1), within=NEAR)
    gives(checks, "Softplus", 6, [x], np.log(1 + exp).astype("f4"), within=NEAR)
    gives(checks, "Softsign", 6, [x], x / (1 + np.abs(x)), within=NEAR)
    gives(checks, "Swish", 24, [x], (x / (1 + np.exp(-1.5 * x))), within=NEAR, alpha=1.5)
    gives(checks, "Mish", 18, [x], (x * np.tanh(np.log(1 + exp))).astype("f4"), within=NEAR)
    gives(checks, "ThresholdedRelu", 10, [x], np.where(x > 2, x, 0), alpha=2.0)
    gives(checks, "Shrink", 9, [x], np.where(x > 1, x - 0.5, np.where(x < -1, x + 0.5, 0)), bias=0.5, lambd=1.0)
    gives(checks, "Shrink", 9, [x], np.where(x > 0.5, x - 0.25, np.where(x < -0.5, x + 0.25, 0)), bias=0.25)
    edges = np.array([-2.5, -2, -1.5, 1.5, 2, 2.5], "f4")
    gives(checks, "Shrink", 9, [edges], np.array([-2.5, 0, 0, 0, 0, 2.5], "f4"), lambd=2.0)
    phi = np.array([0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x.ravel()]).reshape(x.shape)
    gives(checks, "Gelu", 20, [x], (x * phi).astype("f4"), within=NEAR)
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x.astype("f8") ** 3)
    gives(checks, "Gelu", 20, [x], (x / 2 * (1 + np.tanh(inner))).astype("f4"), within=NEAR, approximate="tanh")
    refuses(checks, 'approximate "sine" is not known', "Gelu", 20, [x], approximate="sine")


def test_clip(checks):
    x, n = grid(3, 4, low=-9.0, high=9.0), np.arange(-6, 6, dtype="i4")
    gives(checks, "Clip", 6, [x], np.clip(x, -1, 6), min=-1.0, max=6.0)
    gives(checks, "Clip", 6, [x], np.maximum(x, 0), min=0.0)
    gives(checks, "Clip", 11, [x, Const(-1, "f4"), Const(6, "f4")], np.clip(x, -1, 6))
    gives(checks, "Clip", 13, [x, None, Const(2, "f4")], np.minimum(x, 2))
    gives(checks, "Clip", 13, [x, np.array(-1, "f4"), np.array(6, "f4")], np.clip(x, -1, 6))
    gives(checks, "Clip", 13, [x, np.array(-1, "f4")], np.maximum(x, -1))
    gives(checks, "Clip", 13, [x], x)
    gives(checks, "Clip", 12, [n, Const(-2, "i4"), Const(3, "i4")], np.clip(n, -2, 3))
    refuses(checks, "input 1 (min) is not one value", "Clip", 13, [x, Const([0, 1], "f4")])


def test_reductions(checks):
    x = grid(2, 3, 4)
    wide = x.astype("f8")
    for op, value in (("ReduceSum", np.sum), ("ReduceMean", np.mean), ("ReduceMax", np.max), ("ReduceMin", np.min),
                      ("ReduceProd", np.prod)):
        gives(checks, op, 12, [x], value(wide, (0, 2), keepdims=True).astype("f4"), within=NEAR, axes=[0, -1])
        gives(checks, op, 18, [x, Const([1])], value(wide, 1).astype("f4"), within=NEAR, keepdims=0)
        gives(checks, op, 18, [x], value(wide, keepdims=True).astype("f4"), within=NEAR)
    gives(checks, "ReduceSum", 13, [x, Const([2])], wide.sum(2, keepdims=True).astype("f4"), within=NEAR)
    gives(checks, "ReduceSum", 13, [x], x, noop_with_empty_axes=1)
    gives(checks, "ReduceL1", 11, [x], np.abs(wide).sum(1).astype("f4"), within=NEAR, axes=[1], keepdims=0)
    gives(checks, "ReduceL2", 18, [x, Const([0])], np.sqrt((wide**2).sum(0, keepdims=True)).astype("f4"), within=NEAR)
    gives(checks, "ReduceSumSquare", 11, [x], (wide**2).sum((1, 2)).astype("f4"), within=NEAR, axes=[1, 2], keepdims=0)
    y = np.abs(wide) + 1
    gives(checks, "ReduceLogSum", 18, [y.astype("f4"), Const([1])], np.log(y.sum(1, keepdims=True)).astype("f4"),
          within=NEAR)
    lse = np.log(np.exp(wide).sum(2))
    gives(checks, "ReduceLogSumExp", 11, [x], lse.astype("f4"), within=NEAR, axes=[2], keepdims=0)
    far = np.array([[1000, 1001], [-INF, -INF], [-INF, 3]], "f4")
    gives(checks, "ReduceLogSumExp", 18, [far, Const([1])], np.array([[1001.3132], [-INF], [3]], "f4"), within=NEAR)
    n = np.array([[1, 2], [4, 4]], "i4")
    gives(checks, "ReduceMean", 11, [n], np.array([1, 4], "i4"), axes=[1], keepdims=0)
    refuses(checks, "axes has axis 1 twice", "ReduceSum", 11, [x], axes=[1, -2])
    refuses(checks, "axes 3 is outside a tensor of rank 3", "ReduceMax", 11, [x], axes=[3])
    for op, expected in (("L1", np.abs(x)), ("L2", np.abs(x)), ("SumSquare", x * x), ("LogSumExp", x), ("Max", x)):
        gives(checks, f"Reduce{op}", 18, [x], expected, noop_with_empty_axes=1, keepdims=0)
    gives(checks, "ReduceLogSum", 18, [np.abs(x) + 1], np.log(np.abs(x) + 1), within=NEAR, noop_with_empty_axes=1)
    for dtype, rows in (("i4", [[3, -4], [0, 0], [46340, 0], [-46339, 304], [2, 2]]),
                        ("u4", [[3, 4], [65535, 361], [65535, 0], [1, 1], [0, 0]])):
        whole = np.array(rows, dtype)
        roots = np.array([math.isqrt(int(a)**2 + int(b)**2) for a, b in rows], dtype)
        gives(checks, "ReduceL2", 18, [whole, Const([1])], roots, keepdims=0)
    # The functions of the operators: logarithms in double, of which the whole part is kept.
    for dtype, rows in (("i4", [[3, 1, 2], [5, 5, 5], [-3, -3, -3], [-1, -2, -1], [-1, -1, -9], [0, 0, 0], [100, 1, -100],
                                [2**31 - 1, -2**31, 2**31 - 2], [20000001, 20000000, 20000000], [-20000001] * 3]),
                        ("u4", [[3, 1, 2], [0, 0, 0], [2**32 - 1, 0, 2**32 - 2], [7, 0, 7]]),
                        ("i8", [[3, 1, 2], [-7, -7, -7]])):
        whole = np.array(rows, dtype)
        top = whole.max(1).astype("f8")
        logarithms = np.trunc(top + np.log(np.exp(whole - top[:, None]).sum(1))).astype(dtype)
        gives(checks, "ReduceLogSumExp", 18, [whole, Const([1])], logarithms, keepdims=0)
        gives(checks, "ReduceLogSumExp", 18, [Const(whole, dtype), Const([1])], logarithms[:, None])
    for dtype, rows in (("i4", [[1, 1], [7, 13], [403, 0], [2, 402], [2**30, 2**30 - 1]]), ("u4", [[2, 1], [2**31, 5]])):
        whole = np.array(rows, dtype)
        logarithms = np.trunc(np.log(whole.sum(1, dtype="f8"))).astype(dtype)
        gives(checks, "ReduceLogSum", 18, [whole, Const([1])], logarithms, keepdims=0)
    # What is wrong with an op that an operator becomes is said of the operator.
    refuses(checks, "'node': Mish: an input of type int32 is not floating point", "Mish", 18, [n])
    refuses(checks, "'node': Sum: the operands' types int32 and float32 differ", "Sum", 13, [n, x])
    none = np.zeros((2, 0, 3), bool)
    gives(checks, "ReduceMax", 20, [none, Const([1])], np.zeros((2, 3), bool), keepdims=0)
    gives(checks, "ReduceMin", 20, [none, Const([1])], np.ones((2, 1, 3), bool))
    refuses(checks, "depends on the graph input in1", "ReduceSum", 13, [x, np.array([1])])


def test_one_axis(checks):
    x = np.array([[3, 1, 3], [0, 2, -1]], "f4")
    gives(checks, "ArgMax", 13, [x], np.array([[0], [1]]), axis=1)
    gives(checks, "ArgMin", 11, [x], np.array([1, 0, 1]), axis=0, keepdims=0)
    ties = np.array([[1, 4, 4, 0], [2, 2, 2, 2]], "f4")
    gives(checks, "ArgMax", 13, [ties], np.array([2, 3]), axis=1, keepdims=0, select_last_index=1)
    gives(checks, "ArgMin", 12, [ties], np.array([[0, 1, 1, 0]]), select_last_index=1)
    gives(checks, "CumSum", 14, [x, Const(1)], np.cumsum(x, 1))
    gives(checks, "CumSum", 11, [x, Const([-2])], np.array([[0, 2, -1], [0, 0, 0]], "f4"), exclusive=1, reverse=1)
    y = grid(2, 3, 4)

    def softmax(values, axes):
        e = np.exp(values.astype("f8"))
        return (e / e.sum(axes, keepdims=True)).astype("f4")

    gives(checks, "Softmax", 13, [y], softmax(y, -1), within=NEAR)
    gives(checks, "Softmax", 13, [y], softmax(y, 1), within=NEAR, axis=1)
    gives(checks, "Softmax", 11, [y], softmax(y, (1, 2)), within=NEAR)
    gives(checks, "Softmax", 11, [y], softmax(y, 2), within=NEAR, axis=-1)
    gives(checks, "Softmax", 7, [grid(2, 5, 1, 1)], softmax(grid(2, 5, 1, 1), 1), within=NEAR)
    gives(checks, "LogSoftmax", 11, [y], np.log(softmax(y, (0, 1, 2)).astype("f8")).astype("f4"), within=NEAR, axis=0)
    refuses(checks, "axis 3 is outside a tensor of rank 3", "Softmax", 13, [y], axis=3)


def normal(values, axes, epsilon):
    wide = values.astype("f8")
    return (wide - wide.mean(axes, keepdims=True)) / np.sqrt(wide.var(axes, keepdims=True) + epsilon)


def test_channel_norms(checks):
    x = grid(2, 6, 4, 5)
    scale, shift, mean = grid(6, low=0.5), grid(6, low=-1.0), grid(6, low=-0.5)
    var = grid(6, low=0.5, high=2.0)
    column = (slice(None), None, None)
    batchnorm = (x - mean[column].astype("f8")) / np.sqrt(var[column] + 0.01) * scale[column] + shift[column]
    weights = [Const(v, "f4") for v in (scale, shift, mean, var)]
    gives(checks, "BatchNormalization", 9, [x, *weights], batchnorm.astype("f4"), within=NEAR, epsilon=0.01)
    gives(checks, "BatchNormalization", 6, [x, *weights], batchnorm.astype("f4"), within=NEAR, epsilon=0.01, is_test=1)
    gives(checks, "BatchNormalization", 15, [x, scale, shift, mean, var], batchnorm.astype("f4"), within=NEAR,
          epsilon=0.01)
    flat = x[:, :, 0, 0]
    gives(checks, "BatchNormalization", 15, [flat, *weights], batchnorm[:, :, 0, 0].astype("f4"), within=NEAR,
          epsilon=0.01)
    refuses(checks, "from the batch", "BatchNormalization", 6, [x, *weights])
    refuses(checks, "a statistic of training", "BatchNormalization", 9, [x, *weights], n_outputs=3)
    refuses(checks, "input 1 has the shape [5] instead of [6]", "BatchNormalization", 9, [x, Const(scale[:5], "f4"),
            *weights[1:]])
    instance = normal(x, (2, 3), 1e-5) * scale[column] + shift[column]
    gives(checks, "InstanceNormalization", 6, [x, *weights[:2]], instance.astype("f4"), within=NEAR)
    grouped = normal(x.reshape(2, 3, 2, 4, 5), (2, 3, 4), 0.1).reshape(x.shape)
    gives(checks, "GroupNormalization", 21, [x, *weights[:2]], (grouped * scale[column] + shift[column]).astype("f4"),
          within=NEAR, num_groups=3, epsilon=0.1)
    per_group = np.repeat(scale[:3], 2)[column]
    gives(checks, "GroupNormalization", 18, [x, *(Const(scale[:3], "f4"),) * 2],
          (grouped * per_group + per_group).astype("f4"),
          within=NEAR, num_groups=3, epsilon=0.1)
    refuses(checks, "6 channels do not divide into 4 groups", "GroupNormalization", 21, [x, *weights[:2]], num_groups=4)
    squares = np.zeros(x.shape)
    for c in range(6):
        squares[:, c] = (x[:, max(0, c - 1):c + 2].astype("f8") ** 2).sum(1)
    lrn = x / (2 + 0.3 / 3 * squares) ** 0.5
    gives(checks, "LRN", 13, [x], lrn.astype("f4"), within=NEAR, size=3, alpha=0.3, beta=0.5, bias=2.0)
    for size in (2, 4, 16):
        squares = np.zeros(x.shape)
        for c in range(6):
            squares[:, c] = (x[:, max(0, c - size // 2 + 1):c + size // 2 + 1].astype("f8") ** 2).sum(1)
        even = x / (2 + 0.3 / size * squares) ** 0.5
        gives(checks, "LRN", 13, [x], even.astype("f4"), within=NEAR, size=size, alpha=0.3, beta=0.5, bias=2.0)
    centered = normal(x, (0, 2, 3), 0)
    gives(checks, "MeanVarianceNormalization", 13, [x], centered.astype("f4"), within=NEAR)


def test_axis_norms(checks):
    x, scale, shift = grid(2, 3, 4), grid(3, 4, low=0.5), grid(3, 4)
    last = normal(x, 2, 1e-5)
    weights = [Const(scale[0], "f4"), Const(shift[0], "f4")]
    gives(checks, "LayerNormalization", 17, [x, *weights], (last * scale[0] + shift[0]).astype("f4"), within=NEAR)
    gives(checks, "LayerNormalization", 17, [x, weights[0]], (last * scale[0]).astype("f4"), within=NEAR)
    both = normal(x, (1, 2), 0.1) * scale + shift
    gives(checks, "LayerNormalization", 17, [x, Const(scale, "f4"), Const(shift, "f4")], both.astype("f4"),
          within=NEAR, axis=1,
          epsilon=0.1)
    gives(checks, "LayerNormalization", 17, [x, Const([2.0], "f4"), weights[1]], (last * 2 + shift[0]).astype("f4"),
          within=NEAR)
    wide = x.astype("f8")
    mean = wide.mean(2, keepdims=True).astype("f4")
    inverse = (1 / np.sqrt(wide.var(2, keepdims=True) + 1e-5)).astype("f4")
    gives(checks, "LayerNormalization", 17, [x, weights[0]], [(last * scale[0]).astype("f4"), mean, inverse],
          within=NEAR)
    rms = wide / np.sqrt((wide**2).mean(2, keepdims=True) + 1e-5) * scale[0]
    gives(checks, "RMSNormalization", 23, [x, weights[0]], rms.astype("f4"), within=NEAR)
    # Statistics are float32 whatever x is; RMSNormalization's result is of the type of its scale.
    half = x.astype("f2")
    wide = half.astype("f8")
    last = (wide - wide.mean(2, keepdims=True)) / np.sqrt(wide.var(2, keepdims=True) + 1e-5)
    expected = [(last * np.float16(2)).astype("f2"), wide.mean(2, keepdims=True).astype("f4"),
                (1 / np.sqrt(wide.var(2, keepdims=True) + 1e-5)).astype("f4")]
    gives(checks, "LayerNormalization", 17, [half, np.full(4, 2, "f2")], expected, within=1e-3)
    rms = wide / np.sqrt((wide**2).mean(2, keepdims=True) + 1e-5) * scale[0]
    gives(checks, "RMSNormalization", 23, [half, weights[0]], rms.astype("f4"), within=NEAR)
    refuses(checks, "7 is not a floating-point type", "LayerNormalization", 17, [x, weights[0]], 3, stash_type=7)
    rows = np.array([[3, 4], [0, 0]], "f4")
    gives(checks, "LpNormalization", 22, [rows], np.array([[0.6, 0.8], [0, 0]], "f4"), within=NEAR)
    gives(checks, "LpNormalization", 6, [rows], np.array([[1, 1], [0, 0]], "f4"), within=NEAR, p=1, axis=0)
    refuses(checks, "p = 3 is not known", "LpNormalization", 6, [rows], p=3)


def main():
    checks = Checks()
    if np is None:
        checks.skip("elementwise operators", "python3-numpy is not there")
        checks.finish()
    for test in (test_binary, test_legacy_broadcast, test_variadic, test_unary, test_casts, test_activations, test_clip,
                 test_reductions, test_one_axis, test_channel_norms, test_axis_norms):
        test(checks)
    checks.finish()


main()
