# SPDX-License-Identifier: Apache-2.0
"""Makers of random nodes for random_cases.py: NODES has a function by operator. It gets the case, its source of random numbers
and the operator, and adds a node with inputs, of which each may be a constant."""

import numpy as np

F32, F16, I32, I64 = np.float32, np.float16, np.int32, np.int64
NODES = {}


class Skip(Exception):
    """There is no such case."""


def maker(*ops):
    def note(function):
        NODES.update(dict.fromkeys(ops, function))
        return function
    return note


# ---- choices ----


def pick(r, *options):
    return options[r.randint(len(options))]


def maybe(r):
    return bool(r.randint(2))


def dims(r, lowest=0, highest=4, largest=6):
    return [int(d) for d in r.randint(1, largest + 1, r.randint(lowest, highest + 1))]


def value(c, r, what, dtype=F32, low=-2, high=2):
    """A constant now and then, more often an input."""
    return c.either(r.randint(4) == 0, what, dtype, low, high)


def fixed(c, r, numbers, dtype=I32):
    """A constant that an operator needs to know."""
    return c.const(np.array(numbers, pick(r, I32, I64) if dtype is None else dtype))


def broadcast(r):
    """Two shapes that broadcast."""
    whole = dims(r)
    shapes = []
    for _ in range(2):
        shape = [1 if r.randint(4) == 0 else d for d in whole]
        shapes.append(shape[r.randint(len(shape) + 1):] if r.randint(3) == 0 else shape)
    return shapes


def leave_out(r, **attributes):
    """Some of the attributes, as models leave out what has its default."""
    return {key: v for key, v in attributes.items() if maybe(r)}


# ---- elementwise ----


RANGES = {"Acos": (-1, 1), "Acosh": (1, 4), "Asin": (-1, 1), "Atanh": (-0.9, 0.9), "Log": (0, 3), "Log1p": (-1, 3),
          "Rsqrt": (0.125, 4), "Sqrt": (0, 4)}


@maker(*"""Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Elu Erf Erfc Exp Expm1 Floor Inv IsFinite IsInf IsNan Log Log1p Neg
Reciprocal Relu Relu6 Rint Round Rsqrt Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Square Tan Tanh Identity ZerosLike
OnesLike""".split())
def unary(c, r, op):
    dtype = F32
    if op in ("Abs", "Neg", "Sign", "Square", "Relu", "Relu6", "Identity", "ZerosLike", "OnesLike"):
        dtype = pick(r, F32, F32, F16, I32, I64)
    low, high = RANGES.get(op, (-4, 4))
    c.gives(c.node(op, [value(c, r, dims(r), dtype, low, high)]))


@maker("Add", "AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", "FloorMod", "FloorDiv", "TruncateDiv",
       "TruncateMod", "Mod", "Div", "RealDiv", "DivNoNan", "MulNoNan", "Pow", "Atan2", "Xdivy", "Xlogy", "Xlog1py")
def binary(c, r, op):
    a, b = broadcast(r)
    floats = ("RealDiv", "DivNoNan", "MulNoNan", "Pow", "Atan2", "Xdivy", "Xlogy", "Xlog1py")
    dtype = F32 if op in floats else pick(r, F32, F32, I32, I64)
    x = c.random(a, dtype, -9 if dtype in (I32, I64) else -2, 9 if dtype in (I32, I64) else 2)
    y = c.random(b, dtype, -5, 5)
    if op in ("Pow", "Xlogy", "Xlog1py"):
        x, y = (np.abs(x) + 0.125, y / 4) if op == "Pow" else (x, np.abs(y) + 0.125)
    if "Div" in op or "Mod" in op:
        y = np.where(y == 0, np.array(3, dtype), y)
    c.gives(c.node(op, [value(c, r, np.asarray(x, dtype)), value(c, r, np.asarray(y, dtype))]))


@maker("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")
def compare(c, r, op):
    a, b = broadcast(r)
    dtype = pick(r, F32, I32, I64, np.bool_) if op in ("Equal", "NotEqual") else pick(r, F32, F16, I32, I64)
    c.gives(c.node(op, [value(c, r, np.asarray(np.round(c.random(shape, dtype))).astype(dtype)) for shape in (a, b)]))


@maker("LogicalAnd", "LogicalOr")
def logical(c, r, op):
    c.gives(c.node(op, [value(c, r, shape, np.bool_) for shape in broadcast(r)]))


@maker("SelectV2")
def select(c, r, op):
    a, b = broadcast(r)
    dtype = pick(r, F32, I32, np.bool_)
    c.gives(c.node(op, [value(c, r, a, np.bool_), value(c, r, b, dtype), value(c, r, a, dtype)]))


@maker("Select")
def select_rows(c, r, op):
    shape = dims(r, 1)
    condition = pick(r, [], shape, shape[:1])
    c.gives(c.node(op, [value(c, r, condition, np.bool_), value(c, r, shape), value(c, r, shape)]))


@maker("Cast")
def cast(c, r, op):
    kinds = (F32, F16, I32, I64, np.bool_, np.uint8, np.int8, np.int16)
    source, target = pick(r, *kinds), pick(r, *kinds)
    low = 0 if target == np.uint8 or source == np.uint8 else -9
    c.gives(c.node(op, [value(c, r, dims(r), source, low, 9)], DstT=target))


@maker("ClipByValue")
def clip(c, r, op):
    shape = dims(r)
    c.gives(c.node(op, [value(c, r, shape), value(c, r, [], F32, -1, 0), value(c, r, [], F32, 0, 1)]))


@maker("LeakyRelu")
def leaky(c, r, op):
    c.gives(c.node(op, [value(c, r, dims(r))], **leave_out(r, alpha=float(r.randint(0, 9) / 8))))


@maker("AddN")
def add_n(c, r, op):
    shape = dims(r)
    c.gives(c.node(op, [value(c, r, shape) for _ in range(r.randint(1, 5))]))


@maker("Softmax", "LogSoftmax")
def softmax(c, r, op):
    c.gives(c.node(op, [value(c, r, dims(r, 1))]))


# ---- sums and products ----


@maker("Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm", "All", "Any")
def reduce(c, r, op):
    shape = dims(r)
    dtype = np.bool_ if op in ("All", "Any") else F32 if op in ("Mean", "EuclideanNorm") else pick(r, F32, F32, I32, I64)
    axes = [int(a) - len(shape) * int(r.randint(2)) for a in np.flatnonzero(r.randint(0, 2, len(shape)))]
    axes = axes[0] if len(axes) == 1 and maybe(r) else axes
    c.gives(c.node(op, [value(c, r, shape, dtype), fixed(c, r, axes, None)], **leave_out(r, keep_dims=maybe(r))))


@maker("ArgMax", "ArgMin")
def arg(c, r, op):
    shape = dims(r, 1)
    axis = int(r.randint(-len(shape), len(shape)))
    x = value(c, r, shape, pick(r, F32, I32), -3, 3)
    c.gives(c.node(op, [x, fixed(c, r, axis, None)], **leave_out(r, output_type=pick(r, I32, I64))))


@maker("Cumsum", "Cumprod")
def running(c, r, op):
    shape = dims(r, 1)
    axis = int(r.randint(-len(shape), len(shape)))
    c.gives(c.node(op, [value(c, r, shape, pick(r, F32, I32)), fixed(c, r, axis, None)],
                   **leave_out(r, exclusive=maybe(r), reverse=maybe(r))))


@maker("MatMul")
def mat_mul(c, r, op):
    m, k, n = r.randint(1, 7, 3)
    a, b = maybe(r), maybe(r)
    c.gives(c.node(op, [value(c, r, [k, m] if a else [m, k]), value(c, r, [n, k] if b else [k, n])],
                   **({"transpose_a": a} if a else {}), **({"transpose_b": b} if b else {})))


@maker("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_mat_mul(c, r, op):
    m, k, n = r.randint(1, 6, 3)
    a, b = maybe(r), maybe(r)
    left, right = broadcast(r)
    left, right = (left, left) if op == "BatchMatMul" else (left[-2:], right[-2:])
    x = value(c, r, [*left, *([k, m] if a else [m, k])])
    y = value(c, r, [*right, *([n, k] if b else [k, n])])
    more = {"Tout": F32} if op == "BatchMatMulV3" else {}
    c.gives(c.node(op, [x, y], **({"adj_x": a} if a else {}), **({"adj_y": b} if b else {}), **more))


# ---- images ----


def image(c, r, first, channels, size=(3, 9), constant=False):
    """An image, channels first or last, of a batch."""
    n, h, w = r.randint(1, 3), *r.randint(*size, 2)
    shape = [n, channels, h, w] if first else [n, h, w, channels]
    return value(c, r, shape) if constant else c.input(shape)


def window(r, first, *sizes):
    """Numbers per axis of an image."""
    return [1, 1, *map(int, sizes)] if first else [1, *map(int, sizes), 1]


def padding(r, first, explicit):
    kind = pick(r, "SAME", "VALID", *(["EXPLICIT"] if explicit else []))
    if kind != "EXPLICIT":
        return {"padding": kind}
    pads = [int(p) for p in r.randint(0, 3, 4)]
    return {"padding": kind, "explicit_paddings": [0] * 4 + pads if first else [0, 0, *pads, 0, 0]}


def form(first, r):
    return {"data_format": "NCHW"} if first else leave_out(r, data_format="NHWC")


@maker("Conv2D")
def conv(c, r, op):
    first = r.randint(4) == 0
    groups, taken, given = pick(r, 1, 1, 1, 2), int(r.randint(1, 4)), int(r.randint(1, 4))
    x = image(c, r, first, taken * groups)
    filters = value(c, r, [*map(int, r.randint(1, 4, 2)), taken, given * groups])
    step = pick(r, (1, 1), (2, 2), (1, 2), (3, 2))
    spread = (1, 1) if step != (1, 1) else pick(r, (1, 1), (2, 2), (1, 2))
    c.gives(c.node(op, [x, filters], strides=window(r, first, *step), **padding(r, first, True), **form(first, r),
                   **({"dilations": window(r, first, *spread)} if spread != (1, 1) or maybe(r) else {})))


@maker("DepthwiseConv2dNative")
def depthwise(c, r, op):
    first = r.randint(4) == 0
    channels = int(r.randint(1, 5))
    x = image(c, r, first, channels)
    filters = value(c, r, [*map(int, r.randint(1, 4, 2)), channels, int(r.randint(1, 3))])
    step = pick(r, 1, 2, 3)
    spread = 1 if step > 1 else pick(r, 1, 2)
    c.gives(c.node(op, [x, filters], strides=window(r, first, step, step), **padding(r, first, True), **form(first, r),
                   dilations=window(r, first, spread, spread)))


@maker("Conv2DBackpropInput")
def transposed(c, r, op):
    first = False
    n, h, w, taken, given = (int(v) for v in r.randint(1, 7, 5))
    kh, kw = (int(v) for v in r.randint(1, 4, 2))
    sh, sw = pick(r, (1, 1), (2, 2), (1, 2), (2, 3))
    kind = pick(r, "SAME", "VALID")
    if kind == "VALID" and (h < kh or w < kw):
        raise Skip
    out = [-(-h // sh), -(-w // sw)] if kind == "SAME" else [(h - kh) // sh + 1, (w - kw) // sw + 1]
    c.gives(c.node(op, [fixed(c, r, [n, h, w, given]), value(c, r, [kh, kw, given, taken]), c.input([n, *out, taken])],
                   strides=window(r, first, sh, sw), padding=kind))


@maker("MaxPool", "AvgPool")
def pool(c, r, op):
    first = r.randint(4) == 0
    x = image(c, r, first, int(r.randint(1, 4)))
    c.gives(c.node(op, [x], ksize=window(r, first, *r.randint(1, 4, 2)), strides=window(r, first, *r.randint(1, 4, 2)),
                   **padding(r, first, op == "MaxPool"), **form(first, r)))


@maker("Conv3D")
def conv_3d(c, r, op):
    taken, given = (int(v) for v in r.randint(1, 3, 2))
    x = c.input([1, *map(int, r.randint(3, 6, 3)), taken])
    c.gives(c.node(op, [x, value(c, r, [*map(int, r.randint(1, 4, 3)), taken, given])],
                   strides=[1, *map(int, r.randint(1, 3, 3)), 1], padding=pick(r, "SAME", "VALID")))


@maker("MaxPool3D", "AvgPool3D")
def pool_3d(c, r, op):
    x = c.input([int(r.randint(1, 3)), *map(int, r.randint(3, 6, 3)), 2])
    c.gives(c.node(op, [x], ksize=[1, *map(int, r.randint(1, 4, 3)), 1], strides=[1, *map(int, r.randint(1, 3, 3)), 1],
                   padding=pick(r, "SAME", "VALID")))


@maker("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea")
def resize(c, r, op):
    x = image(c, r, False, int(r.randint(1, 3)), (1, 7))
    how = pick(r, {}, {"align_corners": True}, {"half_pixel_centers": True})
    if op == "ResizeArea":
        how.pop("half_pixel_centers", None)
    c.gives(c.node(op, [x, fixed(c, r, [int(v) for v in r.randint(1, 13, 2)])], **how))


@maker("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def batch_norm(c, r, op):
    first = r.randint(4) == 0
    channels = int(r.randint(1, 5))
    x = image(c, r, first, channels)
    parts = [value(c, r, [channels], F32, 0.125, 2) for _ in range(4)]
    c.gives(c.node(op, [x, *parts], is_training=False, **form(first, r), **leave_out(r, epsilon=0.01)))


@maker("BiasAdd")
def bias_add(c, r, op):
    shape = dims(r, 2)
    first = len(shape) > 2 and maybe(r)
    c.gives(c.node(op, [c.input(shape), value(c, r, [shape[1 if first else -1]])],
                   **({"data_format": "NCHW"} if first else {})))


@maker("LRN")
def lrn(c, r, op):
    x = image(c, r, False, int(r.randint(1, 9)))
    c.gives(c.node(op, [x], **leave_out(r, depth_radius=int(r.randint(0, 4)), bias=1.5, alpha=0.5, beta=0.75)))


@maker("SpaceToDepth", "DepthToSpace")
def blocks(c, r, op):
    b, h, w, channels = int(r.randint(2, 4)), *map(int, r.randint(1, 4, 3))
    first = r.randint(4) == 0
    size = [h, w] if op == "DepthToSpace" else [h * b, w * b]
    channels *= b * b if op == "DepthToSpace" else 1
    c.gives(c.node(op, [c.input([2, channels, *size] if first else [2, *size, channels])], block_size=b, **form(first, r)))


@maker("SpaceToBatchND", "BatchToSpaceND")
def batches(c, r, op):
    block = [int(b) for b in r.randint(1, 4, r.randint(1, 4))]
    if op == "SpaceToBatchND":
        pads = r.randint(0, 3, (len(block), 2))
        sizes = [int(r.randint(1, 4)) * b for b in block]
        pads = [[int(p[0]), int(-(p[0] + s) % b)] for p, s, b in zip(pads, sizes, block)]
        c.gives(c.node(op, [c.input([2, *sizes, 2]), fixed(c, r, block), fixed(c, r, pads)]))
        return
    sizes = [int(s) for s in r.randint(2, 5, len(block))]
    crops = [[int(v) for v in r.randint(0, 2, 2)] for _ in block]
    c.gives(c.node(op, [c.input([2 * int(np.prod(block)), *sizes, 2]), fixed(c, r, block), fixed(c, r, crops)]))


# ---- shapes ----


def some_type(r):
    return pick(r, F32, F32, F32, F16, I32, I64, np.bool_)


@maker("Reshape")
def reshape(c, r, op):
    shape = dims(r)
    target = [int(d) for d in r.permutation(shape)]
    if target and maybe(r):
        target[r.randint(len(target))] = -1
    c.gives(c.node(op, [value(c, r, shape, some_type(r)), fixed(c, r, target, None if target else I32)]))


@maker("Transpose")
def transpose(c, r, op):
    shape = dims(r, 0, 5, 4)
    c.gives(c.node(op, [value(c, r, shape, some_type(r)), fixed(c, r, r.permutation(len(shape)), None)]))


@maker("ExpandDims")
def expand(c, r, op):
    shape = dims(r)
    c.gives(c.node(op, [value(c, r, shape, some_type(r)), fixed(c, r, int(r.randint(-len(shape) - 1, len(shape) + 1)), None)]))


@maker("Squeeze")
def squeeze(c, r, op):
    shape = dims(r, 0, 5, 2)
    ones = [i - len(shape) * int(r.randint(2)) for i, d in enumerate(shape) if d == 1 and maybe(r)]
    c.gives(c.node(op, [value(c, r, shape, some_type(r))], **({"squeeze_dims": ones} if maybe(r) else {})))


@maker("ConcatV2", "Concat")
def concat(c, r, op):
    shape = dims(r, 1)
    axis = int(r.randint(-len(shape) if op == "ConcatV2" else 0, len(shape)))
    dtype = some_type(r)
    parts = []
    for _ in range(r.randint(2, 5)):
        part = list(shape)
        part[axis] = int(r.randint(1, 4))
        parts.append(value(c, r, part, dtype))
    where = fixed(c, r, axis, None if op == "ConcatV2" else I32)
    c.gives(c.node(op, [*parts, where] if op == "ConcatV2" else [where, *parts]))


@maker("Split")
def split(c, r, op):
    shape = dims(r, 1)
    axis, n = int(r.randint(-len(shape), len(shape))), int(r.randint(1, 4))
    shape[axis] = n * int(r.randint(1, 4))
    y = c.node(op, [fixed(c, r, axis), value(c, r, shape, some_type(r))], num_split=n)
    c.gives(*(y[i] for i in range(n) if n == 1 or maybe(r) or i == 0))


@maker("SplitV")
def split_sizes(c, r, op):
    shape = dims(r, 1)
    axis, sizes = int(r.randint(-len(shape), len(shape))), [int(s) for s in r.randint(1, 4, r.randint(1, 4))]
    shape[axis] = sum(sizes)
    if maybe(r):
        sizes[r.randint(len(sizes))] = -1
    y = c.node(op, [value(c, r, shape, some_type(r)), fixed(c, r, sizes, None), fixed(c, r, axis)], num_split=len(sizes))
    c.gives(*(y[i] for i in range(len(sizes))))


@maker("Pack")
def pack(c, r, op):
    shape, dtype = dims(r), some_type(r)
    axis = int(r.randint(-len(shape) - 1, len(shape) + 1))
    c.gives(c.node(op, [value(c, r, shape, dtype) for _ in range(r.randint(1, 4))], **({"axis": axis} if axis else {})))


@maker("Unpack")
def unpack(c, r, op):
    shape = dims(r, 1)
    axis = int(r.randint(-len(shape), len(shape)))
    y = c.node(op, [value(c, r, shape, some_type(r))], num=shape[axis], **({"axis": axis} if axis else {}))
    c.gives(*(y[i] for i in range(shape[axis])))


@maker("Slice")
def slice_(c, r, op):
    shape = dims(r, 1)
    begin = [int(r.randint(0, d)) for d in shape]
    size = [-1 if r.randint(3) == 0 else int(r.randint(1, d - b + 1)) for b, d in zip(begin, shape)]
    dtype = pick(r, I32, I64)
    c.gives(c.node(op, [value(c, r, shape, some_type(r)), fixed(c, r, begin, dtype), fixed(c, r, size, dtype)]))


@maker("StridedSlice")
def strided_slice(c, r, op):
    shape = dims(r, 1)
    n = r.randint(1, len(shape) + 2)
    parts = np.array([(r.randint(-7, 8), r.randint(-7, 8), pick(r, 1, 1, 2, -1, -2)) for _ in range(n)]).T
    masks = {}
    for key in ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"):
        if r.randint(3) == 0:
            mask = int(r.randint(0, 1 << n))
            masks[key] = mask & -mask if key == "ellipsis_mask" else mask
    dtype = pick(r, I32, I64)
    y = c.node(op, [value(c, r, shape, some_type(r)), *(fixed(c, r, part, dtype) for part in parts)], **masks)
    c.gives(y)


@maker("Pad", "PadV2", "MirrorPad")
def pad(c, r, op):
    shape, more = dims(r, 1, 4, 5), {}
    most = [min(3, d) if op == "MirrorPad" else 4 for d in shape]
    if op == "MirrorPad":
        more["mode"] = pick(r, "REFLECT", "SYMMETRIC")
        most = [d if more["mode"] == "REFLECT" else d + 1 for d in shape]
    dtype = pick(r, F32, F32, I32)
    extra = [value(c, r, [], dtype)] if op == "PadV2" else []
    pads = [[int(r.randint(0, m)), int(r.randint(0, m))] for m in most]
    c.gives(c.node(op, [value(c, r, shape, dtype), fixed(c, r, pads, None), *extra], **more))


@maker("Tile")
def tile(c, r, op):
    shape = dims(r, 1, 4, 4)
    c.gives(c.node(op, [value(c, r, shape, some_type(r)), fixed(c, r, r.randint(1, 4, len(shape)), None)]))


@maker("BroadcastTo")
def broadcast_to(c, r, op):
    whole = dims(r, 1)
    shape = [1 if maybe(r) else d for d in whole][r.randint(len(whole) + 1):]
    c.gives(c.node(op, [value(c, r, shape, some_type(r)), fixed(c, r, whole, None)]))


@maker("GatherV2")
def gather(c, r, op):
    shape = dims(r, 1)
    axis = int(r.randint(-len(shape), len(shape)))
    batch = int(r.randint(0, axis % len(shape) + 1))
    where = shape[:batch] + dims(r, 0, 2, 3)
    indices = c.random(where, pick(r, I32, I64), 0, shape[axis] - 1)
    c.gives(c.node(op, [value(c, r, shape, some_type(r)), value(c, r, indices), fixed(c, r, axis, None)],
                   **({"batch_dims": batch} if batch else {})))


@maker("Gather")
def gather_rows(c, r, op):
    shape = dims(r, 1)
    indices = c.random(dims(r, 0, 2, 3), pick(r, I32, I64), 0, shape[0] - 1)
    c.gives(c.node(op, [value(c, r, shape, some_type(r)), value(c, r, indices)]))


@maker("GatherNd")
def gather_nd(c, r, op):
    shape = dims(r, 1)
    depth = int(r.randint(1, len(shape) + 1))
    where = dims(r, 0, 2, 3)
    indices = np.stack([c.random(where, I32, 0, d - 1) for d in shape[:depth]], -1).astype(pick(r, I32, I64))
    c.gives(c.node(op, [value(c, r, shape, some_type(r)), value(c, r, indices)]))


@maker("ScatterNd", "TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin")
def scatter(c, r, op):
    shape = dims(r, 1)
    depth = int(r.randint(1, len(shape) + 1))
    places = np.stack(np.unravel_index(r.permutation(int(np.prod(shape[:depth])))[:4], shape[:depth]), -1).astype(I32)
    if op not in ("TensorScatterUpdate",) and maybe(r):
        places = np.concatenate([places, places[:1]])
    updates = value(c, r, [len(places), *shape[depth:]], pick(r, F32, F32, I32))
    indices = value(c, r, places)
    if op == "ScatterNd":
        c.gives(c.node(op, [indices, updates, fixed(c, r, shape)]))
    else:
        c.gives(c.node(op, [value(c, r, shape, np.dtype(updates.dtype).type), indices, updates]))


@maker("OneHot")
def one_hot(c, r, op):
    shape = dims(r, 0, 3)
    axis = int(r.randint(-1, len(shape) + 1))
    indices = value(c, r, shape, pick(r, I32, I64), -2, 5)
    c.gives(c.node(op, [indices, fixed(c, r, 5), value(c, r, []), value(c, r, [])], **({"axis": axis} if axis != -1 else {})))


@maker("TopKV2")
def top_k(c, r, op):
    shape = dims(r, 1)
    x = np.asarray(r.permutation(int(np.prod(shape))), F32).reshape(shape)
    y = c.node(op, [value(c, r, x), fixed(c, r, int(r.randint(1, shape[-1] + 1)))])
    c.gives(y, y[1])


@maker("ReverseV2")
def reverse(c, r, op):
    shape = dims(r, 1)
    axes = [int(a) - len(shape) * int(r.randint(2)) for a in np.flatnonzero(r.randint(0, 2, len(shape)))]
    c.gives(c.node(op, [value(c, r, shape, some_type(r)), fixed(c, r, axes, None)]))


@maker("ReverseSequence")
def reverse_sequence(c, r, op):
    shape = dims(r, 2)
    batch, seq = (int(a) for a in r.permutation(len(shape))[:2])
    lengths = c.random([shape[batch]], pick(r, I32, I64), 0, shape[seq])
    c.gives(c.node(op, [value(c, r, shape), value(c, r, lengths)], seq_dim=seq, **({"batch_dim": batch} if batch else {})))


@maker("Roll")
def roll(c, r, op):
    shape = dims(r, 1)
    n = r.randint(1, 3)
    c.gives(c.node(op, [value(c, r, shape), fixed(c, r, r.randint(-5, 6, n)), fixed(c, r, r.randint(0, len(shape), n))]))


@maker("Shape", "Size", "Rank")
def shape_of(c, r, op):
    x = value(c, r, dims(r), some_type(r))
    c.gives(c.node(op, [x], **({} if op == "Rank" else leave_out(r, out_type=pick(r, I32, I64)))))


@maker("Fill")
def fill(c, r, op):
    c.gives(c.node(op, [fixed(c, r, dims(r, 1), None), value(c, r, [], some_type(r))]))


@maker("Range")
def range_(c, r, op):
    dtype = pick(r, I32, I64, F32)
    c.gives(c.node(op, [fixed(c, r, v, dtype) for v in (int(r.randint(-5, 5)), int(r.randint(5, 20)), int(r.randint(1, 4)))]))


@maker("MatrixBandPart")
def band(c, r, op):
    c.gives(c.node(op, [value(c, r, dims(r, 2)), fixed(c, r, int(r.randint(-1, 3))), fixed(c, r, int(r.randint(-1, 3)))]))


@maker("CropAndResize")
def crop_and_resize(c, r, op):
    x = image(c, r, False, 2)
    boxes = c.random([3, 4], F32, -0.25, 1.25)
    n = int(c.given["in0"].shape[0])
    c.gives(c.node(op, [x, value(c, r, boxes), value(c, r, [3], I32, 0, n - 1),
                        fixed(c, r, [int(v) for v in r.randint(1, 6, 2)])],
                   **leave_out(r, method=pick(r, "bilinear", "nearest"), extrapolation_value=0.5)))


# ---- several nodes ----


def shape_of_steps(r, shape):
    """Other dims with as many elements."""
    shape = list(shape)
    kind = r.randint(3)
    if kind == 0 and len(shape) > 1:
        at = int(r.randint(len(shape) - 1))
        return shape[:at] + [shape[at] * shape[at + 1]] + shape[at + 2:]
    if kind == 1:
        at = int(r.randint(len(shape)))
        for factor in (2, 3):
            if shape[at] % factor == 0 and len(shape) < 5:
                return shape[:at] + pick(r, [factor, shape[at] // factor], [shape[at] // factor, factor]) + shape[at + 1:]
    return [int(d) for d in r.permutation(shape)]


def on_image(c, r, x, shape):
    """A step of a convolutional network, with channels last."""
    n, h, w, channels = shape
    kind = r.randint(6)
    if kind == 0:
        given = int(r.randint(1, 5))
        y = c.node("Conv2D", [x, c.random_const([pick(r, 1, 3), pick(r, 1, 3), channels, given], low=-0.5, high=0.5)],
                   strides=[1, 1, 1, 1], padding="SAME")
        return c.node("BiasAdd", [y, c.random_const([given])]) if maybe(r) else y, [n, h, w, given]
    if kind == 1:
        return c.node("DepthwiseConv2dNative", [x, c.random_const([3, 3, channels, 1])], strides=[1, 1, 1, 1],
                      padding="SAME"), shape
    if kind == 2:
        return c.node(pick(r, "MaxPool", "AvgPool"), [x], ksize=[1, 2, 2, 1], strides=[1, 1, 2, 1],
                      padding="SAME"), [n, h, -(-w // 2), channels]
    if kind == 3:
        parts = [c.random_const([channels], low=0.25, high=2) for _ in range(4)]
        return c.node("FusedBatchNormV3", [x, *parts], is_training=False), shape
    if kind == 4:
        return c.node("ResizeNearestNeighbor", [x, fixed(c, r, [h + 1, w * 2])]), [n, h + 1, w * 2, channels]
    return c.node("BiasAdd", [x, c.random_const([channels])]), shape


def on_image_with_channels_first(c, r, x, shape):
    n, channels, h, w = shape
    if maybe(r):
        given = int(r.randint(1, 5))
        return c.node("Conv2D", [x, c.random_const([3, pick(r, 1, 3), channels, given], low=-0.5, high=0.5)],
                      strides=[1, 1, 1, 1], padding="SAME", data_format="NCHW"), [n, given, h, w]
    return c.node("MaxPool", [x], ksize=[1, 1, 2, 2], strides=[1, 1, 2, 1], padding="SAME",
                  data_format="NCHW"), [n, channels, -(-h // 2), w]


def on_any(c, r, x, shape):
    """A step that takes tensors of all ranks."""
    kind, axis = r.randint(9), int(r.randint(len(shape)))
    if kind == 0:
        perm = [int(p) for p in r.permutation(len(shape))]
        return c.node("Transpose", [x, fixed(c, r, perm)]), [shape[p] for p in perm]
    if kind == 1:
        other = shape_of_steps(r, shape)
        return c.node("Reshape", [x, fixed(c, r, other)]), other
    if kind == 2:
        y = c.node("ConcatV2", [x, c.node("Relu", [x]), fixed(c, r, axis)])
        return y, shape[:axis] + [2 * shape[axis]] + shape[axis + 1:]
    if kind == 3 and len(shape) > 2:
        keep = maybe(r)
        y = c.node(pick(r, "Mean", "Max"), [x, fixed(c, r, [axis])], keep_dims=keep)
        return y, shape[:axis] + ([1] if keep else []) + shape[axis + 1:]
    if kind == 4:
        pads = [[0, 0]] * axis + [[1, 2]] + [[0, 0]] * (len(shape) - axis - 1)
        return c.node("Pad", [x, fixed(c, r, pads)]), shape[:axis] + [shape[axis] + 3] + shape[axis + 1:]
    if kind == 5 and shape[axis] > 1:
        begin = [0] * axis + [1] + [0] * (len(shape) - axis - 1)
        return (c.node("Slice", [x, fixed(c, r, begin), fixed(c, r, [-1] * len(shape))]),
                shape[:axis] + [shape[axis] - 1] + shape[axis + 1:])
    if kind == 6:
        other = [d if maybe(r) else 1 for d in shape]
        return c.node(pick(r, "AddV2", "Mul"), [x, c.random_const(other[r.randint(len(other) + 1):])]), shape
    if kind == 7:
        return c.node("Softmax", [x]), shape
    return c.node(pick(r, "Relu", "Tanh", "Neg"), [x]), shape


@maker("network", "network with channels first")
def network(c, r, kind):
    """Convolutions and the like between nodes that move axes about, with values on the way that are outputs, too."""
    shape = [1, *map(int, r.randint(2, 6, 3))]
    x, seen = c.input(shape), []
    for _ in range(r.randint(3, 10)):
        if np.prod(shape) > 2000:
            break
        step = on_image if len(shape) == 4 and maybe(r) else on_any
        if step is on_image and kind != "network":
            step = on_image_with_channels_first
        other = pick(r, *seen) if seen and r.randint(4) == 0 else None
        if other and other[1] == shape and other[0] is not x:
            x = c.node("AddV2", [x, other[0]])
            continue
        seen.append((x, shape))
        x, shape = step(c, r, x, shape)
    outputs = [x] + [value for value, _ in seen[1:] if r.randint(6) == 0 and value is not x]
    c.gives(*outputs, within=1e-5)
