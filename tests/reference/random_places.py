# SPDX-License-Identifier: Apache-2.0
"""Makers of random nodes, as in random_nodes.py: segments, positions, sets, shapes, lists of tensors, windows of images."""

import numpy as np
from tf_writer import Shape

from random_nodes import F32, I32, I64, Skip, broadcast, dims, fixed, image, leave_out, maker, maybe, pick, value, window


# ---- segments and positions ----


@maker("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin")
def segments(c, r, op):
    shape, dtype = dims(r, 1), F32 if op == "SegmentMean" else pick(r, F32, I32)
    ids = np.cumsum(r.randint(0, 3, shape[0]))
    c.gives(c.node(op, [value(c, r, shape, dtype), fixed(c, r, ids, None)]))


@maker("UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin")
def unsorted(c, r, op):
    shape, dtype, count = dims(r, 1), pick(r, F32, I32), int(r.randint(1, 6))
    ids = r.randint(-1, count, shape[:r.randint(1, min(len(shape), 2) + 1)])
    c.gives(c.node(op, [value(c, r, shape, dtype), value(c, r, ids.astype(pick(r, I32, I64))), fixed(c, r, count)]))


@maker("DynamicPartition")
def partition(c, r, op):
    shape, count = dims(r, 1), int(r.randint(1, 4))
    ids = r.randint(0, count, shape[:r.randint(1, len(shape) + 1)])
    ids.ravel()[:min(count, ids.size)] = np.arange(min(count, ids.size))
    if ids.size < count:
        raise Skip
    y = c.node(op, [value(c, r, shape), fixed(c, r, ids)], num_partitions=count)
    c.gives(*(y[i] for i in range(count)))


@maker("DynamicStitch", "ParallelDynamicStitch")
def stitch(c, r, op):
    rows, more = int(r.randint(2, 7)), dims(r, 0, 2, 3)
    order = r.permutation(rows)
    if op == "DynamicStitch" and maybe(r):
        order = np.concatenate([order, r.randint(0, rows, 2)])
    cut = int(r.randint(1, len(order)))
    places = [order[:cut], order[cut:]]
    c.gives(c.node(op, [*(fixed(c, r, p) for p in places), *(value(c, r, [len(p), *more]) for p in places)], N=2))


@maker("InvertPermutation")
def inverse(c, r, op):
    c.gives(c.node(op, [value(c, r, r.permutation(int(r.randint(1, 7))).astype(pick(r, I32, I64)))]))


@maker("UnravelIndex")
def unravel(c, r, op):
    shape = dims(r, 1)
    places = r.randint(0, int(np.prod(shape)), int(r.randint(1, 6))) if maybe(r) else np.asarray(r.randint(0, int(np.prod(shape))))
    dtype = pick(r, I32, I64)
    y = c.node(op, [c.const(places.astype(dtype)), c.const(np.array(shape, dtype))])
    c.gives(c.node("AddV2", [y, c.input([1], dtype)]))


@maker("SparseToDense")
def dense(c, r, op):
    shape = dims(r, 1, 3)
    count = int(r.randint(1, int(np.prod(shape)) + 1))
    flat = np.sort(r.permutation(int(np.prod(shape)))[:count])
    places = np.stack(np.unravel_index(flat, shape), -1)
    dtype = pick(r, I32, I64)
    c.gives(c.node(op, [c.const(places.astype(dtype)), c.const(np.array(shape, dtype)), value(c, r, pick(r, [], [count])), value(c, r, [])],
                   **leave_out(r, validate_indices=True)))


@maker("LowerBound", "UpperBound")
def bounds(c, r, op):
    rows, count, wanted = (int(v) for v in r.randint(1, 6, 3))
    c.gives(c.node(op, [value(c, r, np.sort(c.random([rows, count]), 1)), value(c, r, [rows, wanted])], **leave_out(r, out_type=pick(r, I32, I64))))


@maker("NthElement")
def best(c, r, op):
    shape = dims(r, 1)
    c.gives(c.node(op, [value(c, r, shape), fixed(c, r, int(r.randint(shape[-1])))], **leave_out(r, reverse=maybe(r))))


@maker("Reverse")
def reverse_axes(c, r, op):
    shape = dims(r, 1)
    c.gives(c.node(op, [value(c, r, shape, pick(r, F32, I32)), c.const(np.array(r.randint(0, 2, len(shape)), np.bool_))]))


# ---- sets ----


@maker("Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2", "ListDiff")
def sets(c, r, op):
    values = r.randint(-2, 4, int(r.randint(1, 9)))
    x = c.const(values.astype(pick(r, F32, I32)))
    zero = c.input([1], I32)
    if op == "ListDiff":
        other = r.randint(-2, 1, 4)
        if not set(values) - set(other):
            raise Skip
        y = c.node(op, [c.const(values.astype(I32)), c.const(other.astype(I32))], **leave_out(r, out_idx=I32))
        c.gives(*(c.node("AddV2", [y[i], zero]) for i in range(2)))
        return
    axis = [c.const(np.array([0], I64) if maybe(r) else np.zeros(0, I64))] if op.endswith("V2") else []
    y = c.node(op, [x, *axis])
    c.gives(*(c.node("AddV2", [y[i], zero]) for i in range(1, 3 if "Counts" in op else 2)))


# ---- shapes ----


@maker("BroadcastArgs", "BroadcastGradientArgs")
def broadcasts(c, r, op):
    a, b = broadcast(r)
    y = c.node(op, [fixed(c, r, a), fixed(c, r, b)])
    outs = [y] if op == "BroadcastArgs" else [y[0], y[1]]
    x = c.input([1], I32)
    joined = c.node("ConcatV2", [x, *outs, c.const(np.int32(0))], N=len(outs) + 1)
    c.gives(joined)


@maker("ConcatOffset")
def offsets(c, r, op):
    shape = dims(r, 1)
    axis, count = int(r.randint(-len(shape), len(shape))), int(r.randint(2, 5))
    shapes = [[int(r.randint(1, 4)) if i == axis % len(shape) else d for i, d in enumerate(shape)] for _ in range(count)]
    y = c.node(op, [c.const(np.int32(axis)), *(fixed(c, r, s) for s in shapes)], N=count)
    x = c.input([1], I32)
    c.gives(*(c.node("AddV2", [y[i], x]) for i in range(count)))


@maker("ShapeN")
def shapes_of(c, r, op):
    count = int(r.randint(1, 4))
    y = c.node(op, [c.input(dims(r, 1)) for _ in range(count)], N=count, **leave_out(r, out_type=I32))
    x = c.input([1], I32)
    c.gives(*(c.node("AddV2", [y[i] if count > 1 else y, x]) for i in range(count)))


@maker("DataFormatDimMap", "DataFormatVecPermute")
def formats(c, r, op):
    source, target = pick(r, "NHWC", "NCHW"), pick(r, "NHWC", "NCHW", "HWNC")
    x = r.randint(-4, 4, dims(r, 0, 2)) if op == "DataFormatDimMap" else r.randint(0, 9, pick(r, [4], [4, 2]))
    c.gives(c.node(op, [value(c, r, np.asarray(x, I32))], **leave_out(r, src_format=source, dst_format=target)))


@maker("ParallelConcat")
def parallel(c, r, op):
    shape, count = dims(r, 0, 3), int(r.randint(1, 4))
    c.gives(c.node(op, [value(c, r, [1, *shape]) for _ in range(count)], N=count, shape=Shape([count, *shape])))


@maker("Where")
def where(c, r, op):
    x = r.randint(0, 2, dims(r, 1, 3))
    x.ravel()[0] = 1
    y = c.node(op, [c.const(x.astype(pick(r, F32, I32, np.bool_)))])
    c.gives(c.node("AddV2", [y, c.input([1], I64)]))


# ---- lists of tensors ----


def stacked(c, handle, shape):
    return c.node("TensorListStack", [handle, c.const(np.array(shape, I32))], element_dtype=F32)


@maker("TensorListReserve", "EmptyTensorList", "TensorListFromTensor", "TensorListSplit", "TensorListScatterV2")
def lists(c, r, op):
    """A list of items of one shape, on which some steps follow."""
    shape, count = dims(r, 1, 3, 4), int(r.randint(1, 6))
    size = c.const(np.array(shape, I32))
    item = lambda: c.input(shape)  # noqa: E731
    if op == "TensorListReserve":
        handle = c.node(op, [size, c.const(np.int32(count))], element_dtype=F32)
        for at in r.permutation(count):
            handle = c.node("TensorListSetItem", [handle, c.const(np.int32(at)), item()])
    elif op == "EmptyTensorList":
        handle = c.node(op, [size, c.const(np.int32(-1))], element_dtype=F32)
        for _ in range(count):
            handle = c.node("TensorListPushBack", [handle, item()])
    elif op == "TensorListFromTensor":
        handle = c.node(op, [c.input([count, *shape]), size])
    elif op == "TensorListSplit":
        handle = c.node(op, [c.input([count * shape[0], *shape[1:]]), size, c.const(np.full(count, shape[0], I64))])
    else:
        handle = c.node(op, [c.input([count, *shape]), c.const(r.permutation(count).astype(I32)), size, c.const(np.int32(pick(r, -1, count)))])
    for _ in range(r.randint(0, 4)):
        step = pick(r, "set", "push", "pop", "join", "longer", "scatter")
        if step == "set":
            handle = c.node("TensorListSetItem", [handle, c.const(np.int32(r.randint(count))), item()])
        elif step == "push":
            handle, count = c.node("TensorListPushBack", [handle, item()]), count + 1
        elif step == "pop" and count > 1:
            handle, count = c.node("TensorListPopBack", [handle, size], element_dtype=F32)[0], count - 1
        elif step == "join":
            handle, count = c.node("TensorListConcatLists", [handle, handle], element_dtype=F32), 2 * count
        elif step == "longer":
            longer = int(r.randint(1, count + 1))
            handle, count = c.node("TensorListResize", [handle, c.const(np.int32(longer))]), longer
        elif step == "scatter":
            handle = c.node("TensorListScatterIntoExistingList", [handle, c.input([1, *shape]), c.const(np.array([r.randint(count)], I32))])
    places = c.const(r.randint(0, count, int(r.randint(1, 5))).astype(I32))
    joined = c.node("TensorListConcatV2", [handle, c.const(np.array([-1, *shape[1:]], I32)), c.const(np.zeros(0, I64))], element_dtype=F32,
                    shape_type=I32)
    c.gives(stacked(c, handle, shape), c.node("TensorListGather", [handle, places, size], element_dtype=F32),
            c.node("TensorListGetItem", [handle, c.const(np.int32(r.randint(count))), size], element_dtype=F32), joined[0],
            c.node("AddV2", [c.node("TensorListLength", [handle]), c.input([1], I32)]))


# ---- images ----


@maker("Dilation2D")
def dilation(c, r, op):
    channels = int(r.randint(1, 4))
    x = image(c, r, False, channels)
    c.gives(c.node(op, [x, value(c, r, [*map(int, r.randint(1, 4, 2)), channels])], strides=window(r, False, *r.randint(1, 3, 2)),
                   rates=window(r, False, *r.randint(1, 3, 2)), padding=pick(r, "SAME", "VALID")))


@maker("ExtractImagePatches")
def patches(c, r, op):
    x = image(c, r, False, int(r.randint(1, 4)), (4, 9))
    c.gives(c.node(op, [x], ksizes=window(r, False, *r.randint(1, 4, 2)), strides=window(r, False, *r.randint(1, 4, 2)),
                   rates=window(r, False, *r.randint(1, 3, 2)), padding=pick(r, "SAME", "VALID")))


@maker("MaxPoolV2")
def pool_by_inputs(c, r, op):
    x = image(c, r, False, int(r.randint(1, 4)))
    c.gives(c.node(op, [x, *(fixed(c, r, window(r, False, *r.randint(1, 4, 2))) for _ in range(2))], padding=pick(r, "SAME", "VALID")))


@maker("MaxPoolWithArgmax")
def pool_places(c, r, op):
    x = image(c, r, False, int(r.randint(1, 4)))
    y = c.node(op, [x], ksize=window(r, False, *r.randint(1, 4, 2)), strides=window(r, False, *r.randint(1, 4, 2)), padding=pick(r, "SAME", "VALID"),
               **leave_out(r, Targmax=pick(r, I32, I64), include_batch_in_index=maybe(r)))
    c.gives(y[0], y[1])


@maker("DepthwiseConv2dNativeBackpropInput")
def depthwise_back(c, r, op):
    n, h, w, channels, times = (int(v) for v in r.randint(1, 6, 5))
    kh, kw = (int(v) for v in r.randint(1, 4, 2))
    step, kind = pick(r, 1, 2), pick(r, "SAME", "VALID")
    if kind == "VALID" and (h < kh or w < kw):
        raise Skip
    out = [-(-h // step), -(-w // step)] if kind == "SAME" else [(h - kh) // step + 1, (w - kw) // step + 1]
    c.gives(c.node(op, [fixed(c, r, [n, h, w, channels]), value(c, r, [kh, kw, channels, times]), c.input([n, *out, channels * times])],
                   strides=window(r, False, step, step), padding=kind))


@maker("Conv3DBackpropInputV2")
def volume_back(c, r, op):
    n, taken, given = (int(v) for v in r.randint(1, 3, 3))
    size, kernel, steps = ([int(v) for v in r.randint(low, high, 3)] for low, high in ((3, 6), (1, 4), (1, 3)))
    kind = pick(r, "SAME", "VALID")
    out = [-(-d // s) for d, s in zip(size, steps)] if kind == "SAME" else [(d - k) // s + 1 for d, k, s in zip(size, kernel, steps)]
    c.gives(c.node(op, [fixed(c, r, [n, *size, given]), value(c, r, [*kernel, given, taken]), c.input([n, *out, taken])],
                   strides=[1, *steps, 1], padding=kind))


@maker("SpaceToBatch", "BatchToSpace")
def square_batches(c, r, op):
    block = int(r.randint(2, 4))
    sides = r.randint(0, 2, (2, 2))
    if op == "SpaceToBatch":
        sizes = [int(r.randint(1, 4)) * block for _ in range(2)]
        pads = [[int(p[0]), int(-(p[0] + s) % block)] for p, s in zip(sides, sizes)]
        c.gives(c.node(op, [c.input([2, *sizes, 2]), fixed(c, r, pads)], block_size=block))
    else:
        c.gives(c.node(op, [c.input([2 * block * block, *map(int, r.randint(2, 5, 2)), 2]), fixed(c, r, sides)], block_size=block))


@maker("ScaleAndTranslate")
def scale_and_translate(c, r, op):
    x = image(c, r, False, int(r.randint(1, 3)), (1, 9))
    size = [int(v) for v in r.randint(1, 9, 2)]
    scale, shift = [pick(r, 0.5, 1.0, 1.75, 2.0) for _ in range(2)], [pick(r, -1.5, 0.0, 0.25, 2.0) for _ in range(2)]
    c.gives(c.node(op, [x, fixed(c, r, size), c.const(np.array(scale, F32)), c.const(np.array(shift, F32))],
                   **leave_out(r, kernel_type=pick(r, "lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"),
                               antialias=maybe(r))))
