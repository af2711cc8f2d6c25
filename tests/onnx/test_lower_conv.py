# SPDX-License-Identifier: Apache-2.0
"""ONNX convolutions, pools, matrix products and resizing, each as a model of one node that is converted and executed.
What must come out is computed here from the definitions, element by element. What cannot be converted must be refused
with the reason."""

import itertools
import math

from one_node import Const, gives, np, refuses
from checks import Checks

WITHIN = 1e-5


def noise(*shape, dtype="f4"):
    """Numbers without a pattern that a mistake in the order of axes could miss."""
    return (np.sin(np.arange(np.prod(shape, dtype=int)) ** 1.3) * 4).reshape(shape).astype(dtype)


def positions(extents):
    return itertools.product(*(range(extent) for extent in extents))


# ---- convolutions ----


def conv(x, w, bias, strides, pads, dilations, group):
    axes = x.ndim - 2
    ends = [(n + pads[i] + pads[axes + i] - (k - 1) * d - 1) // s + 1
            for i, (n, k, s, d) in enumerate(zip(x.shape[2:], w.shape[2:], strides, dilations))]
    y = np.zeros((x.shape[0], w.shape[0], *ends))
    depth, per_group = w.shape[1], w.shape[0] // group
    for at in positions(ends):
        for tap in positions(w.shape[2:]):
            source = [o * s + t * d - p for o, s, t, d, p in zip(at, strides, tap, dilations, pads)]
            if not all(0 <= i < n for i, n in zip(source, x.shape[2:])):
                continue
            for channel in range(w.shape[0]):
                first = channel // per_group * depth
                values = x[(slice(None), slice(first, first + depth), *source)].astype("f8")
                y[(slice(None), channel, *at)] += values @ w[(channel, slice(None), *tap)].astype("f8")
    return (y + bias.reshape(1, -1, *[1] * axes)).astype("f4")


def test_conv(checks):
    for axes, group, dilation in [(1, 1, 2), (1, 2, 1), (2, 1, 1), (2, 1, 2), (2, 3, 1), (3, 1, 1), (3, 2, 2)]:
        x, w, bias = noise(2, 2 * group, *(7, 6, 5)[:axes]), noise(3 * group, 2, *(3, 2, 1)[:axes]), noise(3 * group)
        strides, pads, dilations = [2, 1, 1][:axes], [1, 0, 2][:axes] + [0, 1, 1][:axes], [dilation] * axes
        expected = conv(x, w, bias, strides, pads, dilations, group)
        options = {"strides": strides, "pads": pads, "dilations": dilations, "group": group}
        gives(checks, "Conv", 11, [x, Const(w, "f4"), Const(bias, "f4")], expected, WITHIN, **options)
        gives(checks, "Conv", 11, [x, w, bias], expected, WITHIN, **options)
    x, w = noise(1, 3, 6, 5), noise(6, 1, 3, 3)
    expected = conv(x, w, np.zeros(6), [1, 1], [0] * 4, [1, 1], 3)
    gives(checks, "Conv", 22, [x, Const(w, "f4")], expected, WITHIN, group=3)


def test_conv_auto_pad(checks):
    # 6 rows and 5 columns, 3 positions of each by strides of 2: the kernel of 5 by 4 lacks 3 elements in both directions.
    x, w = noise(1, 2, 6, 5), noise(2, 2, 5, 4)
    for auto_pad, pads in {"SAME_UPPER": [1, 1, 2, 2], "SAME_LOWER": [2, 2, 1, 1], "VALID": [0] * 4}.items():
        expected = conv(x, w, np.zeros(2), [2, 2], pads, [1, 1], 1)
        gives(checks, "Conv", 11, [x, Const(w, "f4")], expected, WITHIN, auto_pad=auto_pad, strides=[2, 2])


def conv_transpose(x, w, strides, pads, dilations, group, more):
    """Every element spreads over the positions under the filter."""
    axes, depth = x.ndim - 2, x.shape[1] // group
    full = [(n - 1) * s + (k - 1) * d + 1 + m
            for n, s, k, d, m in zip(x.shape[2:], strides, w.shape[2:], dilations, more)]
    y = np.zeros((x.shape[0], w.shape[1] * group, *full))
    for at in positions(x.shape[2:]):
        for tap in positions(w.shape[2:]):
            to = [i * s + t * d for i, s, t, d in zip(at, strides, tap, dilations)]
            for channel in range(x.shape[1]):
                first = channel // depth * w.shape[1]
                values = np.multiply.outer(x[(slice(None), channel, *at)], w[(channel, slice(None), *tap)])
                y[(slice(None), slice(first, first + w.shape[1]), *to)] += values
    kept = [slice(pads[i], full[i] - pads[axes + i]) for i in range(axes)]
    return y[(slice(None), slice(None), *kept)].astype("f4")


def test_conv_transpose(checks):
    for axes, group, dilation, more in [
        (1, 1, 1, 0), (1, 1, 2, 1), (2, 1, 1, 1), (2, 2, 1, 0), (2, 1, 2, 0), (3, 1, 2, 1)
    ]:
        x, w = noise(2, 2 * group, *(4, 3, 2)[:axes]), noise(2 * group, 3, *(3, 2, 2)[:axes])
        strides, pads, dilations = [2, 3, 2][:axes], [1, 0, 0][:axes] + [0, 1, 1][:axes], [dilation] * axes
        expected = conv_transpose(x, w, strides, pads, dilations, group, [more] * axes)
        gives(checks, "ConvTranspose", 11, [x, Const(w, "f4")], expected, WITHIN, strides=strides, pads=pads,
              dilations=dilations, group=group, output_padding=[more] * axes)
    # The full result has 9 elements. 7 are asked for: one is cut off at each end; 6: the third at the start; 10: one is
    # added.
    x, w = noise(1, 1, 1, 4), noise(1, 1, 1, 3)
    for length, pads, more in [(7, [0, 1, 0, 1], 0), (6, [0, 2, 0, 1], 0), (10, [0] * 4, 1)]:
        expected = conv_transpose(x, w, [1, 2], pads, [1, 1], 1, [0, more])
        gives(checks, "ConvTranspose", 11, [x, Const(w, "f4")], expected, WITHIN, strides=[1, 2],
              output_shape=[1, length])
    # SAME asks for 8, in · stride.
    for auto_pad, pads in {"SAME_UPPER": [0, 0, 0, 1], "SAME_LOWER": [0, 1, 0, 0]}.items():
        expected = conv_transpose(x, w, [1, 2], pads, [1, 1], 1, [0, 0])
        gives(checks, "ConvTranspose", 11, [x, Const(w, "f4")], expected, WITHIN, strides=[1, 2], auto_pad=auto_pad)


def test_conv_refusals(checks):
    x, w = noise(1, 4, 5, 5), Const(noise(2, 4, 3, 3), "f4")
    refuses(checks, "negative padding", "Conv", 11, [x, w], pads=[0, -1, 0, 0])
    refuses(checks, "pads has 2 elements instead of 4", "Conv", 11, [x, w], pads=[1, 1])
    refuses(checks, "strides has 0", "Conv", 11, [x, w], strides=[0, 1])
    refuses(checks, "unknown auto_pad SAME", "Conv", 11, [x, w], auto_pad="SAME")
    refuses(checks, "cannot be divided into 3 groups", "Conv", 11, [x, w], group=3)
    refuses(checks, "do not fit 4 channels in 2 groups", "Conv", 11, [x, w], group=2)
    refuses(checks, "kernel_shape has 2 where the weights are [2,4,3,3]", "Conv", 11, [x, w], kernel_shape=[2, 3])
    refuses(checks, "the bias [3] does not have 2 elements", "Conv", 11, [x, w, Const([1, 2, 3], "f4")])
    refuses(checks, "the filter is larger", "Conv", 11, [x[:, :, :2], w])
    few = Const(noise(4, 2, 1, 1), "f4")
    refuses(checks, "would be negative", "ConvTranspose", 11, [x, few], strides=[2, 1], auto_pad="SAME_UPPER")
    refuses(checks, "leaves nothing", "ConvTranspose", 11, [x, Const(noise(4, 2, 3, 3), "f4")], pads=[4, 4, 4, 4])


# ---- pools ----


def windows(x, kernel, strides, pads, dilations, ceil):
    """For every position of the output: the elements under the window, and how many it has on the padded input."""
    axes = x.ndim - 2
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    ends = []
    for i, n in enumerate(x.shape[2:]):
        free = n + pads[i] + pads[axes + i] - reach[i]
        count = (math.ceil if ceil else math.floor)(free / strides[i]) + 1
        ends.append(count - (ceil and (count - 1) * strides[i] >= n + pads[i]))
    for at in positions(ends):
        elements, padded = [], 0
        for tap in positions(kernel):
            source = [o * s + t * d - p for o, s, t, d, p in zip(at, strides, tap, dilations, pads)]
            padded += all(i < n + pads[axes + k] for k, (i, n) in enumerate(zip(source, x.shape[2:])))
            if all(0 <= i < n for i, n in zip(source, x.shape[2:])):
                elements.append(x[(slice(None), slice(None), *source)])
        yield ends, at, np.array(elements), padded


def pool(x, kernel, strides, pads, dilations, ceil, result):
    y = None
    for ends, at, elements, padded in windows(x, kernel, strides, pads, dilations, ceil):
        y = np.zeros((*x.shape[:2], *ends)) if y is None else y
        y[(slice(None), slice(None), *at)] = result(elements.astype("f8"), padded)
    return y.astype(x.dtype)


POOLS = [
    ([3], [2], [1, 1], [1]),
    ([3], [1], [1, 0], [2]),
    ([3, 2], [2, 3], [1, 0, 1, 1], [1, 1]),
    ([2, 2], [3, 3], [0, 0, 0, 0], [1, 1]),
    ([3, 2], [2, 2], [1, 1, 2, 1], [2, 2]),
    ([2, 3, 2], [2, 2, 1], [1, 1, 0, 0, 1, 1], [1, 1, 1]),
    ([2, 2, 2], [2, 1, 1], [1, 0, 0, 1, 0, 0], [2, 1, 2]),
]


def test_pools(checks):
    for (kernel, strides, pads, dilations), ceil in itertools.product(POOLS, (0, 1)):
        x = noise(2, 2, *(8, 7, 6)[: len(kernel)])
        options = {"kernel_shape": kernel, "strides": strides, "pads": pads, "dilations": dilations, "ceil_mode": ceil}
        largest = pool(x, *list(options.values())[:4], ceil, lambda e, _: e.max(0))
        gives(checks, "MaxPool", 12, [x], largest, **options)
        for include in (0, 1):
            mean = pool(x, *list(options.values())[:4], ceil, lambda e, n: e.sum(0) / (n if include else len(e)))
            gives(checks, "AveragePool", 19, [x], mean, WITHIN, count_include_pad=include, **options)
        for p in (1, 2, 3):
            norm = pool(x, *list(options.values())[:4], ceil, lambda e, _: (np.abs(e) ** p).sum(0) ** (1 / p))
            gives(checks, "LpPool", 18, [x], norm, WITHIN, p=p, **options)


def test_other_pools(checks):
    x = noise(1, 2, 6, 5)
    whole = lambda result: result(x.reshape(1, 2, -1)).reshape(1, 2, 1, 1).astype("f4")  # noqa: E731
    gives(checks, "GlobalMaxPool", 6, [x], whole(lambda e: e.max(2)))
    gives(checks, "GlobalAveragePool", 6, [x], whole(lambda e: e.mean(2)), WITHIN)
    gives(checks, "GlobalLpPool", 6, [x], whole(lambda e: np.sqrt((e * e).sum(2))), WITHIN)
    gives(checks, "GlobalAveragePool", 22, [x[:, :, 0]], x[:, :, 0].mean(2, keepdims=True), WITHIN)
    largest = pool(x, [3, 3], [2, 2], [0, 1, 1, 1], [1, 1], 0, lambda e, _: e.max(0))
    gives(checks, "MaxPool", 8, [x], largest, kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER")
    # A window over padding alone must not win, however small the numbers are.
    small = np.full((1, 1, 3, 3), -128, "i1")
    gives(checks, "MaxPool", 12, [small], np.full((1, 1, 3, 3), -128, "i1"), kernel_shape=[3, 3], pads=[1] * 4)
    # 6 columns by strides of 3 would take a padding of -2. One element that no window reaches is nothing.
    refuses(checks, "would be negative", "MaxPool", 12, [x], kernel_shape=[1, 1], strides=[3, 1], auto_pad="SAME_UPPER")
    refuses(checks, "would be negative", "MaxPool", 12, [x], kernel_shape=[1, 1], strides=[2, 1], auto_pad="SAME_LOWER")
    gives(checks, "MaxPool", 12, [x], x[:, :, ::2], kernel_shape=[1, 1], strides=[2, 1], auto_pad="SAME_UPPER")
    # 7 of 6 rows: a part of a window, which counts when sizes are rounded up.
    for op, result in {"MaxPool": lambda e, _: e.max(0), "AveragePool": lambda e, _: e.mean(0)}.items():
        part = pool(x, [7, 2], [2, 3], [0, 0, 0, 0], [1, 1], 1, result)
        gives(checks, op, 11, [x], part, WITHIN, kernel_shape=[7, 2], strides=[2, 3], ceil_mode=1)
    # The same without padding by auto_pad; its dims are those of ONNX's own shape inference.
    for op, result in {"MaxPool": lambda e, _: e.max(0), "AveragePool": lambda e, _: e.mean(0),
                       "LpPool": lambda e, _: (np.abs(e) ** 3).sum(0) ** (1 / 3)}.items():
        other = {"p": 3} if op == "LpPool" else {}
        for kernel, strides, dims in (([7, 2], [2, 3], (1, 2)), ([2, 2], [3, 2], (2, 3)), ([4, 4], [4, 2], (2, 2)),
                                      ([1, 1], [7, 4], (1, 2)), ([3, 2], [1, 1], (4, 4))):
            part = pool(x, kernel, strides, [0, 0, 0, 0], [1, 1], 1, result)
            checks.equal("dims of the loop", part.shape[2:], dims)
            gives(checks, op, 22, [x], part, WITHIN, kernel_shape=kernel, strides=strides, ceil_mode=1,
                  auto_pad="VALID", **other)
    gives(checks, "MaxPool", 22, [x], [x[:, :, ::4, ::4], np.array([[[[0, 4], [20, 24]], [[30, 34], [50, 54]]]], "i8")],
          kernel_shape=[1, 1], strides=[4, 4], ceil_mode=1, auto_pad="VALID")
    # [p, 1], [2, 3]; a third window would be over padding alone.
    line = np.array([[[1, 2, 3]]], "f4")
    for op, result in {"MaxPool": [1, 3], "AveragePool": [1, 2.5]}.items():
        gives(checks, op, 11, [line], np.array([[result]], "f4"), kernel_shape=[2], strides=[2], pads=[1, 1], ceil_mode=1)
    refuses(checks, "larger than the padded input", "MaxPool", 11, [x], kernel_shape=[8, 2], strides=[2, 3], ceil_mode=1)
    refuses(checks, "kernel_shape is missing", "MaxPool", 12, [x])
    refuses(checks, "larger than the padded input", "AveragePool", 11, [x], kernel_shape=[7, 2])
    refuses(checks, "1 to 3 spatial axes", "AveragePool", 11, [x[0, :, 0]], kernel_shape=[2])
    refuses(checks, "p is 0", "LpPool", 11, [x], kernel_shape=[2, 2], p=0)


# ---- matrix products ----


def test_matmul(checks):
    for a, b in [
        ((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)),
        ((2, 3, 4), (4,)), ((4,), (2, 4, 5))
    ]:
        a, b = noise(*a), noise(*b)
        gives(checks, "MatMul", 13, [a, b], np.asarray(a @ b), WITHIN)
        gives(checks, "MatMul", 13, [a, Const(b, "f4")], np.asarray(a @ b), WITHIN)
    integers = np.arange(6, dtype="i4").reshape(2, 3)
    gives(checks, "MatMul", 13, [integers, Const(integers.T, "i4")], integers @ integers.T)
    refuses(checks, "the inner extents differ", "MatMul", 13, [noise(2, 3), noise(2, 3)])
    refuses(checks, "an operand is a scalar", "MatMul", 13, [noise(2, 3), noise()])


def test_gemm(checks):
    a, b = noise(3, 4), noise(4, 5)
    for turned_a, turned_b, constant in itertools.product((0, 1), repeat=3):
        left, right = a.T.copy() if turned_a else a, b.T.copy() if turned_b else b
        right = Const(right, "f4") if constant else right
        for c in (None, noise(), noise(1), noise(5), noise(1, 5), noise(3, 1), noise(3, 5)):
            expected = (0.5 * (a @ b) + (0 if c is None else 2 * c)).astype("f4")
            bias = [] if c is None else [Const(c, "f4")]
            gives(checks, "Gemm", 11, [left, right, *bias], expected, WITHIN, alpha=0.5, beta=2.0, transA=turned_a,
                  transB=turned_b)
    gives(checks, "Gemm", 13, [a, Const(b, "f4"), noise(5)], a @ b + noise(5), WITHIN)
    gives(checks, "Gemm", 13, [a, b, np.full(5, np.nan, "f4")], a @ b, WITHIN, beta=0.0)
    gives(checks, "Gemm", 13, [np.zeros((2, 0), "f4"), Const(np.zeros((0, 5)), "f4"), noise(5)],
          np.broadcast_to(noise(5), (2, 5)))
    refuses(checks, "cannot be multiplied", "Gemm", 13, [a, a])


# ---- resizing ----

KEYS = {
    "half_pixel": lambda o, scale, n, m: (o + 0.5) / scale - 0.5,
    "pytorch_half_pixel": lambda o, scale, n, m: (o + 0.5) / scale - 0.5 if m > 1 else 0,
    "align_corners": lambda o, scale, n, m: o * (n - 1) / (m - 1) if m > 1 else 0,
    "asymmetric": lambda o, scale, n, m: o / scale,
}
ROUND = {
    "floor": math.floor,
    "ceil": math.ceil,
    "round_prefer_floor": lambda x: math.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: math.floor(x + 0.5),
}


def weights(n, m, scale, mode, transformation, nearest="round_prefer_floor"):
    """The matrix [m, n] that resizes an axis."""
    matrix = np.zeros((m, n))
    for o in range(m):
        x = KEYS[transformation](o, scale, n, m)
        if mode == "nearest":
            matrix[o, min(max(ROUND[nearest](x), 0), n - 1)] = 1
        else:
            low = math.floor(x)
            for index, share in ((low, low + 1 - x), (low + 1, x - low)):
                matrix[o, min(max(index, 0), n - 1)] += share
    return matrix


def resized(x, axes, lengths, scales, *how):
    for axis, length, scale in zip(axes, lengths, scales):
        matrix = weights(x.shape[axis], length, scale, *how)
        x = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
    return x.astype("f4")


def row_of(values):
    return np.array(values, "f4").reshape(1, 1, 1, -1)


def test_resize(checks):
    for shape, lengths in [
        ((1, 2, 5), [8]), ((1, 2, 4, 3), [7, 5]), ((1, 2, 6, 5), [3, 2]), ((1, 1, 3, 2, 3), [5, 4, 2])
    ]:
        x, axes = noise(*shape), range(2, len(shape))
        scales = [m / n for m, n in zip(lengths, shape[2:])]
        sizes = Const([*shape[:2], *lengths])
        for transformation in KEYS:
            expected = resized(x, axes, lengths, scales, "linear", transformation)
            gives(checks, "Resize", 13, [x, None, None, sizes], expected, WITHIN, mode="linear",
                  coordinate_transformation_mode=transformation)
    x = noise(1, 2, 4, 3)
    for nearest, transformation in itertools.product(ROUND, ("asymmetric", "half_pixel")):
        for scales in ([2.0, 3.0], [0.5, 1.0], [1.5, 2.0]):
            lengths = [math.floor(n * s) for n, s in zip((4, 3), scales)]
            expected = resized(x, (2, 3), lengths, scales, "nearest", transformation, nearest)
            gives(checks, "Resize", 11, [x, Const([], "f4"), Const([1, 1, *scales], "f4")], expected,
                  nearest_mode=nearest, coordinate_transformation_mode=transformation)


def test_resize_ties(checks):
    """Numbers of ONNX Runtime half a pixel further on; and 8 of 14, where every second position is whole."""
    x = np.arange(7, dtype="f4").reshape(1, 1, 1, 7)
    nearest = {"floor": [0, 2, 4, 6], "ceil": [1, 3, 5, 6], "round_prefer_floor": [1, 3, 4, 6],
               "round_prefer_ceil": [1, 3, 4, 6]}
    half = {"coordinate_transformation_mode": "tf_half_pixel_for_nn"}
    empty = [Const([], "f4"), Const([], "f4")]
    for mode, expected in nearest.items():
        gives(checks, "Resize", 11, [x, *empty, Const([1, 1, 1, 4])], row_of(expected), nearest_mode=mode, **half)
        gives(checks, "Resize", 11, [x[..., 0, :], *empty, Const([1, 1, 4])], row_of(expected)[..., 0, :],
              nearest_mode=mode, **half)
    gives(checks, "Resize", 11, [x, *empty, Const([1, 1, 1, 4])], row_of([0.875, 2.625, 4.375, 6]), WITHIN,
          mode="linear", **half)
    gives(checks, "Resize", 11, [x[..., :3], Const([], "f4"), Const([1, 1, 1, 2.5], "f4")],
          row_of([0, 0, 1, 1, 1, 2, 2]), nearest_mode="floor", **half)
    refuses(checks, "unknown coordinate_transformation_mode", "Resize", 13, [x, *empty, Const([1, 1, 1, 4])], **half)
    fourteen = np.arange(14, dtype="f4").reshape(1, 1, 1, 14)
    for name in ("sizes", "scales"):
        given = [Const([1, 1, 2, 8])] if name == "sizes" else [Const([1, 1, 2, 8 / 14], "f4")]
        before = [None, None] if name == "sizes" else [None]
        expected = np.repeat(row_of([0, 1, 3, 5, 7, 8, 10, 12]), 2, axis=2)
        gives(checks, "Resize", 18, [fourteen, *before, *given], expected, nearest_mode="floor",
              coordinate_transformation_mode="asymmetric")


def test_resize_aligned_fractions(checks):
    """Corners align with the end of 5 · 1.5 = 7.5 elements, of which 7 are there. The numbers are those of ONNX's own
    reference implementation; docs/operators.md says who gives others."""
    x, scales = row_of(range(5)), Const([1, 1, 1, 1.5], "f4")
    for mode, expected in (("linear", [o * 4 / 6.5 for o in range(7)]), ("nearest", [0, 1, 1, 2, 2, 3, 4])):
        gives(checks, "Resize", 19, [x, None, scales], row_of(expected), WITHIN, mode=mode,
              coordinate_transformation_mode="align_corners")


def test_resize_by_tables(checks):
    """What the container's Resize cannot say becomes picks and products along each axis."""
    x = noise(2, 3, 4, 5)
    for axes in ([0], [1], [3], [1, 2], [3, 0]):
        lengths, scales = [2 * x.shape[i] for i in axes], [2.0] * len(axes)
        for mode in ("linear", "nearest"):
            expected = resized(x, axes, lengths, scales, mode, "half_pixel")
            gives(checks, "Resize", 18, [x, None, Const(scales, "f4")], expected, WITHIN, mode=mode, axes=axes)
    line = np.array([[[1, 2, 3, 4, 5, 6, 7, 8]]], "f4")
    # Antialiasing by 2: a triangle over four elements, 1 3 3 1; the ends are repeated.
    smooth = np.array([[[(1 + 3 + 6 + 3) / 8, 3.5, 5.5, (6 + 21 + 24 + 8) / 8]]], "f4")
    gives(checks, "Resize", 18, [line, None, Const([1, 1, 0.5], "f4")], smooth, WITHIN, mode="linear", antialias=1)
    # A crop from a half of the axis to one and a half: beyond the end stands the given value.
    crop = [line, Const([0, 0, 0.5, 1, 1, 1.5], "f4"), None, Const([1, 1, 3])]
    gives(checks, "Resize", 13, crop, np.array([[[4.5, 8, 10]]], "f4"), WITHIN, mode="linear",
          coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=10.0)
    # 5 · 0.5 rounded down is 2: these two lie at equal distances from the middle of the five, at 1 and 3.
    five = line[:, :, :5]
    gives(checks, "Resize", 19, [five, None, Const([1, 1, 0.5], "f4")], np.array([[[2, 4]]], "f4"), WITHIN,
          mode="linear", coordinate_transformation_mode="half_pixel_symmetric")
    expected = resized(x, (2, 3), (6, 8), (1.5, 1.5), "nearest", "half_pixel")
    gives(checks, "Resize", 18, [x, None, None, Const([6, 20])], expected, axes=[2, 3],
          keep_aspect_ratio_policy="not_larger")


def test_resize_integers(checks):
    """Numbers of ONNX Runtime, which interpolates floats and drops what is behind the point."""
    x = np.array([[[[3, -8], [127, -128]]]], "i1")
    double = np.array([[3, 0, -5, -8], [34, 16, -20, -38], [96, 47, -49, -98], [127, 63, -64, -128]], "i1")
    scales = [None, Const([1, 1, 2, 2], "f4")]
    gives(checks, "Resize", 13, [x, *scales], double[None, None], mode="linear")
    gives(checks, "Resize", 13, [x[0, 0], None, Const([2, 2], "f4")], double, mode="linear")
    expected = [[131, 128, 122, 120], [162, 144, 108, 90], [224, 175, 78, 30], [255, 191, 63, 0]]
    gives(checks, "Resize", 13, [(x.astype("i2") + 128).astype("u1"), *scales], np.array([[expected]], "u1"), mode="linear")
    rows = [[3000, -2500, -8000, -8000], [65000, -1500, -68000, -68000], *[[127000, -500, -128000, -128000]] * 2]
    gives(checks, "Resize", 13, [x.astype("i4") * 1000, *scales], np.array([[rows]], "i4"), mode="linear",
          coordinate_transformation_mode="asymmetric")
    expected = [[3, 0, -4, -8], [65, 20, -23, -68], [127, 41, -43, -128]]
    gives(checks, "Resize", 18, [x, None, None, Const([1, 1, 3, 4])], np.array([[expected]], "i1"), mode="linear",
          coordinate_transformation_mode="align_corners")
    expected = [[3, -2, -8, -8], [65, -1, -68, -68], *[[127, 0, -128, -128]] * 2]
    gives(checks, "Upsample", 9, [x, scales[1]], np.array([[expected]], "i1"), mode="linear")
    exact = x.astype("i4") * (1 << 24) + 1  # no float32
    gives(checks, "Resize", 13, [exact, None, Const([1, 1, 1, 1], "f4")], exact, mode="linear")


def test_resize_refusals(checks):
    x = noise(1, 2, 4, 3)
    refuses(checks, "3 scales for 4 axes", "Resize", 13, [x, None, Const([1, 1, 2], "f4")])
    refuses(checks, "cannot be scaled by", "Resize", 13, [x, None, Const([1, 1, 0.1, 1], "f4")])
    refuses(checks, "the size 0 is out of range", "Resize", 13, [x, None, None, Const([1, 2, 0, 3])])
    refuses(checks, "unknown mode spline", "Resize", 13, [x, None, Const([1, 1, 2, 2], "f4")], mode="spline")
    scales = Const([1, 1, 2, 2], "f4")
    for code, mode, antialias in (("i4", "cubic", 0), ("u1", "linear", 1), ("i8", "linear", 0)):
        refuses(checks, "interpolated so", "Resize", 18, [x.astype(code), None, scales], mode=mode, antialias=antialias)
    refuses(checks, "depends on the graph input in1", "Upsample", 9, [x, np.array([1, 1, 2, 2], "f4")])
    refuses(checks, "an Upsample does not reduce", "Upsample", 7, [x], scales=[1.0, 1.0, 0.5, 1.0])


def test_upsample(checks):
    x = noise(1, 2, 3, 2)
    for mode in ("nearest", "linear"):
        expected = resized(x, (2, 3), (6, 6), (2, 3), mode, "asymmetric", "floor")
        gives(checks, "Upsample", 7, [x], expected, WITHIN, mode=mode, scales=[1.0, 1.0, 2.0, 3.0])
        gives(checks, "Upsample", 9, [x, Const([1, 1, 2, 3], "f4")], expected, WITHIN, mode=mode)
        gives(checks, "Resize", 10, [x, Const([1, 1, 2, 3], "f4")], expected, WITHIN, mode=mode)


def test_depth_and_space(checks):
    x = noise(2, 12, 2, 3)
    dcr = x.reshape(2, 2, 2, 3, 2, 3).transpose(0, 3, 4, 1, 5, 2).reshape(2, 3, 4, 6)
    crd = x.reshape(2, 3, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(2, 3, 4, 6)
    gives(checks, "DepthToSpace", 6, [x], dcr, blocksize=2)
    gives(checks, "DepthToSpace", 13, [x], crd, blocksize=2, mode="CRD")
    gives(checks, "SpaceToDepth", 6, [dcr], x, blocksize=2)
    gives(checks, "SpaceToDepth", 28, [crd], x, blocksize=2, mode="CRD")
    gives(checks, "SpaceToDepth", 28, [dcr], x, blocksize=2, mode="DCR")
    refuses(checks, "not a multiple of the block", "DepthToSpace", 13, [x], blocksize=5)
    refuses(checks, "blocksize is 0", "SpaceToDepth", 13, [x], blocksize=0)
    refuses(checks, "does not have 4 axes", "SpaceToDepth", 13, [x[0]], blocksize=2)


def main():
    checks = Checks()
    if np is None:
        checks.skip("convolution operators", "python3-numpy is not there")
        checks.finish()
    for test in (test_conv, test_conv_auto_pad, test_conv_transpose, test_conv_refusals, test_pools, test_other_pools,
                 test_matmul, test_gemm, test_resize, test_resize_ties, test_resize_aligned_fractions,
                 test_resize_by_tables, test_resize_integers, test_resize_refusals, test_upsample,
                 test_depth_and_space):
        test(checks)
    checks.finish()


main()
