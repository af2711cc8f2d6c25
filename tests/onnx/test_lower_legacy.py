# SPDX-License-Identifier: Apache-2.0
"""The oldest forms of ONNX operators, those of opsets 1 to 8 that later ones replaced, and the experimental operators. Each is
a model of one node that is converted and executed; NumPy says what must come out."""

from one_node import Const, gives, np, refuses
from checks import Checks

INF = float("inf")
NEAR = 2e-6  # of the largest value: a few roundings of float32


def wave(*shape, dtype="f4"):
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 1.7) * 3).reshape(shape).astype(dtype)


X = wave(2, 3, 4, 5) if np else None


def test_consumed_inputs(checks):
    for opset in (1, 5):
        gives(checks, "Abs", opset, [X], np.abs(X), consumed_inputs=[0])
        gives(checks, "Relu", opset, [X], np.maximum(X, 0), consumed_inputs=[0])
        gives(checks, "Sum", opset, [X, X, X], X + X + X, within=NEAR, consumed_inputs=[0, 0, 0])
        gives(checks, "Add", opset, [X, wave(3, 4)], X + wave(3, 4)[:, :, None], broadcast=1, axis=1,
              consumed_inputs=[0, 0])
        gives(checks, "Sigmoid", opset, [X], 1 / (1 + np.exp(-X)), within=NEAR, consumed_inputs=[0])
    gives(checks, "Not", 1, [X > 0], X <= 0)


def test_broadcast(checks):
    b = wave(4, 5)
    gives(checks, "Sub", 1, [X, b], X - b, broadcast=1)
    gives(checks, "Sub", 3, [X, wave(2)], X - wave(2)[:, None, None, None], broadcast=1, axis=0)
    gives(checks, "Mul", 1, [X, np.array([[2.5]], "f4")], X * np.float32(2.5), broadcast=1)
    gives(checks, "Mul", 1, [X, np.array([2.5], "f4")], X * np.float32(2.5), broadcast=1, axis=2)
    gives(checks, "Mul", 1, [X, Const(2.5, "f4")], X * np.float32(2.5), broadcast=1, axis=3)
    gives(checks, "Pow", 1, [np.abs(X), b], np.abs(X) ** b, within=NEAR, broadcast=1)
    gives(checks, "Greater", 1, [X, b], X > b, broadcast=1)
    gives(checks, "And", 1, [X > 0, b > 0], (X > 0) & (b > 0), broadcast=1)
    refuses(checks, "without broadcast = 1", "Add", 1, [X, b])
    refuses(checks, "[2,3,4,5] does not fit into [4,5]", "Add", 1, [b, X], broadcast=1)
    refuses(checks, "[2,4] does not fit into [3,4]", "Add", 1, [wave(3, 4), wave(2, 4)], broadcast=1)
    refuses(checks, "differ in shape: [2,3,4,5] and [5]", "Max", 7, [X, wave(5)])
    gives(checks, "Mean", 1, [X, X * 2], X * 1.5, within=NEAR)
    gives(checks, "Min", 4, [X, -X], np.minimum(X, -X))


def test_attributes_of_other_kinds(checks):
    gives(checks, "Cast", 1, [X], X.astype("i4"), to="INT32")
    gives(checks, "Cast", 5, [X], X != 0, to="BOOL")
    gives(checks, "Cast", 3, [X], X.astype("f2"), to="FLOAT16")
    refuses(checks, '"int32" is not a type', "Cast", 1, [X], to="int32")
    refuses(checks, "the type complex64 is not supported", "Cast", 1, [X], to="COMPLEX64")
    refuses(checks, "to", "Cast", 5, [X], to=1)
    gives(checks, "Clip", 1, [X], np.clip(X, -1, 2), min=-1.0, max=2.0)
    odd = np.array([-INF, -1, 5, INF], "f4")
    gives(checks, "Clip", 1, [odd], np.array([-INF, -1, 2, 2], "f4"), max=2.0)
    gives(checks, "Clip", 5, [odd], np.array([0, 0, 5, INF], "f4"), min=0.0)
    x = wave(2, 3, 4)
    gives(checks, "GlobalLpPool", 1, [x], (np.abs(x) ** 2.5).sum(2, keepdims=True) ** (1 / 2.5), within=NEAR, p=2.5)
    gives(checks, "GlobalLpPool", 1, [x], np.sqrt((x * x).sum(2, keepdims=True)), within=NEAR)
    pairs = np.abs(x).reshape(2, 3, 2, 2)
    gives(checks, "LpPool", 1, [x], (pairs ** 1.5).sum(3) ** (1 / 1.5), within=NEAR, p=1.5, kernel_shape=[2],
          strides=[2])
    gives(checks, "LpPool", 2, [x], (pairs ** 3).sum(3) ** (1 / 3), within=NEAR, p=3, kernel_shape=[2], strides=[2])
    refuses(checks, "p is 0.5", "GlobalLpPool", 1, [x], p=0.5)
    old, new = np.float32(1.6732), np.float32(1.0507)
    gives(checks, "Selu", 1, [X], new * np.where(X > 0, X, old * (np.exp(X) - 1)), within=1e-6)


def test_shapes(checks):
    gives(checks, "Concat", 1, [X, X[:, :2]], np.concatenate([X, X[:, :2]], 1))
    gives(checks, "Concat", 3, [X, X[..., :2]], np.concatenate([X, X[..., :2]], 3), axis=3)
    refuses(checks, "axis is missing", "Concat", 4, [X, X])
    gives(checks, "Reshape", 1, [X], X.reshape(2, 12, 5), shape=[0, -1, 5])
    gives(checks, "Reshape", 4, [X], X.reshape(6, 20), shape=[6, 20], consumed_inputs=[0])
    gives(checks, "Reshape", 5, [X, Const([0, -1])], X.reshape(2, 60))
    refuses(checks, "shape is missing", "Reshape", 1, [X])
    refuses(checks, "shape is missing", "Reshape", 5, [X])
    pads = [0, 1, 0, 2, 0, 0, 3, 1]
    padded = np.pad(X, list(zip(pads[:4], pads[4:])), constant_values=7)
    gives(checks, "Pad", 1, [X], padded, paddings=pads, value=7.0)
    gives(checks, "Pad", 2, [X], padded, pads=pads, value=7.0)
    gives(checks, "Pad", 1, [X], np.pad(X, list(zip(pads[:4], pads[4:])), mode="edge"), paddings=pads, mode="edge")
    refuses(checks, "version 1 of Pad does not have the attribute pads", "Pad", 1, [X], pads=pads)
    gives(checks, "Split", 1, [X], [X[:, :1], X[:, 1:]], axis=1, split=[1, 2])
    gives(checks, "Split", 1, [X, Const([1, 3], "f4")], [X[:, :, :1], X[:, :, 1:]], axis=2)
    gives(checks, "Split", 1, [X], [X[:1], X[1:]], axis=0)
    gives(checks, "Split", 2, [X], [X[:1], X[1:]])
    refuses(checks, "has no default for it", "Split", 1, [X], n_outputs=2)
    gives(checks, "Tile", 1, [X, Const([3], "f4"), Const([1], "f4")], np.tile(X, (1, 3, 1, 1)))
    gives(checks, "Tile", 5, [X, Const(2, "f4"), Const(-1, "f4")], np.tile(X, (1, 1, 1, 2)))
    refuses(checks, "not one whole number", "Tile", 1, [X, Const([1.5], "f4"), Const([1], "f4")])
    refuses(checks, "tiles is -1", "Tile", 1, [X, Const([-1], "f4"), Const([1], "f4")])
    gives(checks, "Tile", 6, [X, Const([1, 1, 2, 3])], np.tile(X, (1, 1, 2, 3)))
    gives(checks, "Slice", 1, [X], X[:, 1:3, :, :-1], starts=[1, 0], ends=[3, -1], axes=[1, 3])
    gives(checks, "Squeeze", 1, [X[:, :1]], X[:, 0], axes=[1])
    gives(checks, "Unsqueeze", 1, [X], X[:, None, ..., None], axes=[1, 5])
    gives(checks, "Flatten", 1, [X], X.reshape(2, 60))
    gives(checks, "Upsample", 1, [X], X.repeat(2, 2).repeat(3, 3), height_scale=2.0, width_scale=3.0)
    refuses(checks, "width_scale is missing", "Upsample", 1, [X], height_scale=2.0)
    refuses(checks, "not an image", "Upsample", 1, [X[0]], height_scale=2.0, width_scale=2.0)
    order = np.argsort(-X, 1, kind="stable")[:, :2]
    gives(checks, "TopK", 1, [X], [np.take_along_axis(X, order, 1), order.astype("i8")], axis=1, k=2)


def test_softmax(checks):
    flat = np.exp(X.reshape(6, 20))
    gives(checks, "Softmax", 1, [X], (flat / flat.sum(1, keepdims=True)).reshape(X.shape), within=NEAR, axis=2)
    whole = X.reshape(2, 60)
    gives(checks, "LogSoftmax", 1, [X], (whole - np.log(np.exp(whole).sum(1, keepdims=True))).reshape(X.shape),
          within=NEAR)


def test_matrices(checks):
    a, b, c = wave(3, 4), wave(4, 5), wave(5)
    full = wave(3, 5)
    gives(checks, "Gemm", 1, [a, b, c], a @ b + c, within=NEAR, broadcast=1)
    gives(checks, "Gemm", 6, [a, b, full], 0.5 * (a @ b) + 2 * full, within=NEAR, alpha=0.5, beta=2.0)
    gives(checks, "Gemm", 1, [a.T.copy(), Const(b.T, "f4"), Const(c, "f4")], a @ b + c, within=NEAR, transA=1, transB=1,
          broadcast=1)
    refuses(checks, "C is [5] and the product [3,5], without broadcast = 1", "Gemm", 6, [a, b, c])
    gives(checks, "Gemm", 7, [a, b, c], a @ b + c, within=NEAR)


def test_inference_flags(checks):
    scale, shift, mean, variance = (np.array(v, "f4") for v in ([1, 2, .5], [0, 1, -1], [.1, .2, .3], [1, 4, .25]))
    column = [v[:, None, None] for v in (scale, shift, mean, variance)]
    expected = column[0] * (X - column[2]) / np.sqrt(column[3] + 1e-5) + column[1]
    given = [X, *(Const(v, "f4") for v in (scale, shift, mean, variance))]
    gives(checks, "BatchNormalization", 1, given, expected, within=NEAR, is_test=1, consumed_inputs=[0, 0, 0, 1, 1])
    gives(checks, "BatchNormalization", 6, given, expected, within=NEAR, is_test=1)
    refuses(checks, "computes its statistics from the batch", "BatchNormalization", 1, given)
    scale, shift, mean, variance = (wave(3, 4, 5) * k for k in (.3, .2, .5, .4))
    variance = np.abs(variance) + .1
    expected = scale * (X - mean) / np.sqrt(variance + 1e-5) + shift
    for wrap in (lambda v: Const(v, "f4"), lambda v: v):
        given = [X, *map(wrap, (scale, shift, mean, variance))]
        gives(checks, "BatchNormalization", 7, given, expected, within=NEAR, spatial=0)
        gives(checks, "BatchNormalization", 1, given, expected, within=NEAR, spatial=0, is_test=1)
    scale, bias, mean, variance = (wave(3) ** power for power in (1, 2, 1, 2))
    line = [v.reshape(3, 1, 1) for v in (scale, bias, mean, variance)]
    expected = (X - line[2]) / np.sqrt(line[3] + np.float32(1e-5)) * line[0] + line[1]
    for opset, spatial in ((7, 0), (8, 0), (9, 0), (9, 1), (15, 0)):  # as MXNet's exporter writes layers by channel
        gives(checks, "BatchNormalization", opset, [X, scale, bias, mean, variance], expected, within=NEAR, spatial=spatial)
    refuses(checks, "version 9 of BatchNormalization does not have the attribute is_test", "BatchNormalization", 9,
            [X, scale, bias, mean, variance], is_test=1)
    refuses(checks, "has the shape [3,4,5] instead of [3]", "BatchNormalization", 9, given)
    gives(checks, "Dropout", 1, [X], X, is_test=1, consumed_inputs=[0])
    refuses(checks, "is_test", "Dropout", 1, [X])
    slope = np.array([.5, -1, 2], "f4")
    gives(checks, "PRelu", 1, [X, slope], np.where(X < 0, X * slope[:, None, None], X))
    gives(checks, "PRelu", 1, [X, slope[:1]], np.where(X < 0, X / 2, X))


def test_experimental(checks):
    gives(checks, "Affine", 1, [X], np.float32(.5) * X + 2, within=NEAR, alpha=.5, beta=2.0)
    gives(checks, "Affine", 9, [X], X)
    gives(checks, "Scale", 1, [X], X * 3, scale=3.0)
    gives(checks, "ScaledTanh", 1, [X], 2 * np.tanh(X / 2), within=NEAR, alpha=2.0, beta=.5)
    gives(checks, "ParametricSoftplus", 1, [X], 2 * np.log(np.exp(X / 2) + 1), within=NEAR, alpha=2.0, beta=.5)
    gives(checks, "ThresholdedRelu", 1, [X], np.where(X > 1.5, X, 0).astype("f4"), alpha=1.5)
    gives(checks, "ImageScaler", 1, [X], X * 2 + np.array([1, 2, 3], "f4")[:, None, None], within=NEAR, scale=2.0,
          bias=[1.0, 2.0, 3.0])
    gives(checks, "Crop", 1, [X], X[:, :, 1:2, 2:4], border=[2, 1, 1, 2])
    gives(checks, "Crop", 1, [X], X[:, :, 1:3, 0:4], border=[0, 1, 0, 0], scale=[2, 4])
    gives(checks, "GivenTensorFill", 1, [], np.array([[1, 2, 3]], "f4"), shape=[1, 3], values=[1.0, 2.0, 3.0])
    gives(checks, "ConstantFill", 1, [], np.full((2, 3), 4, "f4"), shape=[2, 3], value=4.0)
    gives(checks, "ConstantFill", 1, [Const([3, 2])], np.full((3, 2, 4), 1.5, "f4"), input_as_shape=1, value=1.5,
          extra_shape=[4])
    gives(checks, "DynamicSlice", 1, [X, Const([1, 0]), Const([3, -1]), Const([1, 3])], X[:, 1:3, :, :-1])
    refuses(checks, "op Affine (domain ai.onnx, version 10) is not supported", "Affine", 10, [X])
    refuses(checks, "alpha is missing", "ScaledTanh", 1, [X], beta=1.0)
    refuses(checks, "2 values of bias for 3 channels", "ImageScaler", 1, [X], bias=[1.0, 2.0])
    refuses(checks, "cannot be cropped", "Crop", 1, [X], border=[0, 1, 0, 0], scale=[4, 4])
    refuses(checks, "border has 0 values", "Crop", 1, [X])
    refuses(checks, "2 values for the shape [3]", "GivenTensorFill", 1, [], shape=[3], values=[1.0, 2.0])
    refuses(checks, "shape is missing", "ConstantFill", 1, [])


def main():
    checks = Checks()
    if np is None:
        checks.skip("old forms of operators", "python3-numpy is not there")
        checks.finish()
    for test in (test_consumed_inputs, test_broadcast, test_attributes_of_other_kinds, test_shapes, test_softmax,
                 test_matrices, test_inference_flags, test_experimental):
        test(checks)
    checks.finish()


main()
