# SPDX-License-Identifier: Apache-2.0
"""ONNX operators that sample images and regions or put patches and maxima back, each as a model of one node that is
converted and executed. What must come out is computed here from the definitions, element by element. What cannot be
converted must be refused with the reason."""

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


# ---- GridSample ----


def reflected(i, n, align):
    """Index i mirrored at the ends until it is on the axis: about the outer elements, or about their outer edges."""
    period = 2 * (n - 1) if align else 2 * n
    if period == 0:
        return 0
    i %= period
    return i if i < n else (period - i if align else period - 1 - i)


def element(image, at, padding, align):
    """The elements of all channels at whole positions that may lie outside."""
    extents = image.shape[1:]
    if padding == "zeros" and not all(0 <= i < n for i, n in zip(at, extents)):
        return np.zeros(image.shape[0])
    if padding == "reflection":
        at = [reflected(i, n, align) for i, n in zip(at, extents)]
    return image[(slice(None), *(min(max(i, 0), n - 1) for i, n in zip(at, extents)))].astype("f8")


def neighbours(x, mode):
    """(offset, weight) pairs along one axis, for the fraction x of a position."""
    if mode == "linear":
        return [(0, 1 - x), (1, x)]
    a = -0.75
    near = lambda d: (a + 2) * d**3 - (a + 3) * d**2 + 1  # noqa: E731
    far = lambda d: a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a  # noqa: E731
    return [(-1, far(1 + x)), (0, near(x)), (1, near(1 - x)), (2, far(2 - x))]


def sample(image, place, mode, padding, align):
    """All channels of image [C, ...] at a place in pixels."""
    if mode == "nearest":
        return element(image, [int(np.rint(p)) for p in place], padding, align)
    result = np.zeros(image.shape[0])
    axes = []
    for p, n in zip(place, image.shape[1:]):
        edge = 0 if align else 0.5
        if padding == "border" and (p < -edge or p > n - 1 + edge):
            p = min(max(p, 0), n - 1)
        axes.append([(math.floor(p) + k, weight) for k, weight in neighbours(p - math.floor(p), mode)])
    for corner in itertools.product(*axes):
        weight = np.prod([w for _, w in corner])
        result += weight * element(image, [i for i, _ in corner], padding, align)
    return result


def grid_sample(x, grid, mode, padding, align):
    y = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for at in positions((x.shape[0], *grid.shape[1:-1])):
        normalized = grid[at][::-1].astype("f8")
        place = [(p + 1) / 2 * (n - 1) if align else ((p + 1) * n - 1) / 2 for p, n in zip(normalized, x.shape[2:])]
        y[(at[0], slice(None), *at[1:])] = sample(x[at[0]], place, mode, padding, align)
    return y.astype(x.dtype)


def test_grid_sample(checks):
    for shape, out in [((2, 3, 5), (4,)), ((2, 3, 4, 5), (3, 2)), ((1, 2, 3, 2, 4), (2, 3, 1))]:
        x, grid = noise(*shape), (noise(shape[0], *out, len(out)) * 0.4).astype("f4")
        for mode, padding, align in itertools.product(
                ("linear", "nearest", "cubic"), ("zeros", "border", "reflection"), (0, 1)):
            expected = grid_sample(x, grid, mode, padding, align)
            gives(checks, "GridSample", 20, [x, grid], expected, WITHIN, mode=mode, padding_mode=padding,
                  align_corners=align)
    # The names of version 16, a constant grid, and one element along an axis.
    x, grid = noise(1, 2, 1, 4), (noise(1, 3, 2, 2) * 0.4).astype("f4")
    for old, new in (("bilinear", "linear"), ("bicubic", "cubic"), ("nearest", "nearest")):
        for align, padding in itertools.product((0, 1), ("zeros", "reflection")):
            expected = grid_sample(x, grid, new, padding, align)
            gives(checks, "GridSample", 16, [x, Const(grid, "f4")], expected, WITHIN, mode=old, align_corners=align,
                  padding_mode=padding)
    # Half an element: to the even neighbour. Integers are moved, not computed with.
    line = np.arange(1, 9, dtype="i4").reshape(1, 1, 2, 4) << 24
    ties = np.array([[[[-0.5, -0.5], [0, -0.5], [0.5, 0.5]]]], "f4")
    gives(checks, "GridSample", 22, [line, ties], grid_sample(line, ties, "nearest", "zeros", 0), mode="nearest")


def test_grid_sample_refusals(checks):
    x, grid = noise(1, 2, 3, 4), noise(1, 2, 2, 2)
    refuses(checks, "unknown mode spline", "GridSample", 20, [x, grid], mode="spline")
    refuses(checks, "the grid [1,2,2,1] does not fit", "GridSample", 20, [x, grid[..., :1]])
    refuses(checks, "elements of type int32 cannot be interpolated", "GridSample", 20, [x.astype("i4"), grid])
    refuses(checks, "does not have 1 to 3 spatial axes", "GridSample", 20, [noise(1, 1, 2, 2, 2, 2), noise(1, 2, 4)])


def test_affine_grid(checks):
    for extents, align in itertools.product(((3, 4), (2, 3, 4)), (0, 1)):
        axes = len(extents)
        theta = noise(2, axes, axes + 1)
        expected = np.zeros((2, *extents, axes))
        for at in positions(extents):
            place = [2 * i / (n - 1) - 1 if align else (2 * i + 1) / n - 1 for i, n in zip(at, extents)]
            expected[(slice(None), *at)] = theta @ np.array([*place[::-1], 1])
        size = Const([2, 5, *extents])
        gives(checks, "AffineGrid", 20, [theta, size], expected.astype("f4"), WITHIN, align_corners=align)
    refuses(checks, "does not fit a grid of 2 axes", "AffineGrid", 20, [noise(2, 3, 4), Const([2, 1, 3, 4])])
    refuses(checks, "size has 3 elements", "AffineGrid", 20, [noise(2, 2, 3), Const([2, 1, 3])])
    refuses(checks, "depends on the graph input in1", "AffineGrid", 20, [noise(2, 2, 3), np.array([2, 1, 3, 4])])


# ---- DeformConv ----


def deform_conv(x, w, offset, bias, mask, strides, pads, dilations, group, groups):
    kernel, axes = w.shape[2:], x.ndim - 2
    out, taps = offset.shape[2:], math.prod(w.shape[2:])
    offset = offset.reshape(x.shape[0], groups, taps, axes, *out)
    mask = mask.reshape(x.shape[0], groups, taps, *out)
    y = np.zeros((x.shape[0], w.shape[0], *out))
    depth, per_group, per_offset = w.shape[1], w.shape[0] // group, x.shape[1] // groups
    for n, at in itertools.product(range(x.shape[0]), positions(out)):
        columns = np.zeros((x.shape[1], taps))
        for tap, k in enumerate(positions(kernel)):
            regular = [o * s - p + i * d for o, s, p, i, d in zip(at, strides, pads, k, dilations)]
            for g in range(groups):
                place = [r + float(offset[(n, g, tap, i, *at)]) for i, r in enumerate(regular)]
                channels = slice(g * per_offset, (g + 1) * per_offset)
                values = sample(x[n, channels], place, "linear", "zeros", 0)
                columns[channels, tap] = values * mask[(n, g, tap, *at)]
        for c in range(w.shape[0]):
            first = c // per_group * depth
            y[(n, c, *at)] = np.sum(columns[first:first + depth] * w[c].reshape(depth, taps)) + bias[c]
    return y.astype("f4")


def test_deform_conv(checks):
    cases = [  # kernel, strides, pads, dilations, group, offset groups
        ((3,), [2], [1, 0], [1], 1, 1), ((2,), [1], [0, 1], [2], 2, 2), ((3, 2), [2, 1], [1, 0, 1, 1], [1, 2], 1, 1),
        ((2, 2), [1, 1], [0] * 4, [1, 1], 2, 1), ((2, 3), [1, 2], [0, 1, 0, 1], [2, 1], 1, 2),
        ((1, 2, 2), [1, 1, 2], [0, 1, 0, 0, 0, 1], [1, 1, 1], 1, 2),
    ]
    for kernel, strides, pads, dilations, group, groups in cases:
        axes = len(kernel)
        x, w = noise(2, 4, *(5, 4, 3)[:axes]), noise(3 * group, 4 // group, *kernel)
        out = [(x.shape[2 + i] + pads[i] + pads[axes + i] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1
               for i in range(axes)]
        taps = groups * math.prod(kernel)
        offset, mask = noise(2, taps * axes, *out) / 3, noise(2, taps, *out)
        bias, ones = noise(3 * group), np.ones_like(mask)
        options = {"strides": strides, "pads": pads, "dilations": dilations, "group": group, "offset_group": groups}
        expected = deform_conv(x, w, offset, bias, mask, strides, pads, dilations, group, groups)
        gives(checks, "DeformConv", 19, [x, Const(w, "f4"), offset, bias, mask], expected, 5 * WITHIN, **options)
        expected = deform_conv(x, w, offset, 0 * bias, ones, strides, pads, dilations, group, groups)
        gives(checks, "DeformConv", 22, [x, w, offset], expected, 5 * WITHIN, **options)
    x, w, offset = noise(1, 4, 4, 4), noise(2, 4, 2, 2), noise(1, 8, 3, 3)
    refuses(checks, "offset is [1,8,3,2] where [1,8,3,3]", "DeformConv", 19, [x, w, offset[..., :2]])
    refuses(checks, "mask is [1,8,3,3] where [1,4,3,3]", "DeformConv", 19, [x, w, offset, None, offset])
    refuses(checks, "cannot be divided into 3 groups", "DeformConv", 19, [x, w, offset], offset_group=3)
    refuses(checks, "larger than the padded input", "DeformConv", 19, [x, w, offset], dilations=[4, 1])


# ---- Col2Im ----


def col2im(x, image, block, strides, pads, dilations):
    axes, taps = len(image), math.prod(block)
    out = [(n + pads[i] + pads[axes + i] - (k - 1) * d - 1) // s + 1
           for i, (n, k, s, d) in enumerate(zip(image, block, strides, dilations))]
    y = np.zeros((x.shape[0], x.shape[1] // taps, *image), x.dtype)
    x = x.reshape(x.shape[0], -1, *block, *out)
    for k, at in itertools.product(positions(block), positions(out)):
        to = [o * s + i * d - p for o, s, i, d, p in zip(at, strides, k, dilations, pads)]
        if all(0 <= i < n for i, n in zip(to, image)):
            y[(slice(None), slice(None), *to)] += x[(slice(None), slice(None), *k, *at)]
    return y


def test_col2im(checks):
    cases = [  # image, block, strides, pads, dilations, blocks
        ([6], [2], [2], [1, 0], [2], 3), ([5, 4], [2, 3], [1, 1], [0] * 4, [1, 1], 8),
        ([5, 4], [3, 2], [2, 1], [1, 0, 0, 1], [1, 2], 6), ([3, 4, 2], [2, 2, 1], [1, 2, 1], [0, 1, 0, 1, 0, 0], [1, 1, 1], 12),
        ([2, 3, 2, 2], [1, 2, 2, 1], [1, 1, 1, 2], [0] * 8, [1, 2, 1, 1], 2),
    ]
    for image, block, strides, pads, dilations, blocks in cases:
        x = noise(2, 3 * math.prod(block), blocks)
        expected = col2im(x, image, block, strides, pads, dilations)
        gives(checks, "Col2Im", 18, [x, Const(image), Const(block)], expected, WITHIN, strides=strides, pads=pads,
              dilations=dilations)
        whole = (x * 100).astype("i4")
        expected = col2im(whole, image, block, strides, pads, dilations)
        gives(checks, "Col2Im", 18, [whole, Const(image), Const(block)], expected, strides=strides, pads=pads,
              dilations=dilations)
    x = noise(1, 6, 8)
    refuses(checks, "does not hold 16 blocks", "Col2Im", 18, [x, Const([5, 4]), Const([2, 1])])
    refuses(checks, "a block of 1 axes", "Col2Im", 18, [x, Const([5, 4]), Const([2])])
    refuses(checks, "larger than the padded image", "Col2Im", 18, [x, Const([5, 4]), Const([6, 1])])
    refuses(checks, "cannot be added", "Col2Im", 18, [x > 0, Const([5, 4]), Const([2, 3])])


# ---- regions ----


def roi_align(x, rois, batch, out, scale, ratio, mode, half_pixel):
    y = np.zeros((len(rois), x.shape[1], *out))
    for r, (x1, y1, x2, y2) in enumerate(rois.astype("f8") * scale - (0.5 if half_pixel else 0)):
        size = [y2 - y1, x2 - x1]
        size = size if half_pixel else [max(s, 1.0) for s in size]
        count = [ratio or math.ceil(s / o) for s, o in zip(size, out)]
        for at in positions(out):
            found = [np.zeros((1, x.shape[1]))]
            for k in positions(count):
                place = [start + (o + (i + 0.5) / c) * s / n
                         for start, o, i, c, s, n in zip((y1, x1), at, k, count, size, out)]
                if not all(-1 <= p <= n for p, n in zip(place, x.shape[2:])):
                    found.append(np.zeros((4, x.shape[1])))
                    continue
                place = [min(max(p, 0), n - 1) for p, n in zip(place, x.shape[2:])]
                axes = [[(min(math.floor(p) + i, n - 1), w) for i, w in neighbours(p - math.floor(p), "linear")]
                        for p, n in zip(place, x.shape[2:])]
                found.append([h[1] * w[1] * x[batch[r], :, h[0], w[0]] for h, w in itertools.product(*axes)])
            found = np.array(found[1:]) if len(found) > 1 else np.zeros((1, 4, x.shape[1]))
            y[(r, slice(None), *at)] = found.sum(1).mean(0) if mode == "avg" else found.max((0, 1))
    return y.astype("f4")


ROIS = np.array([[0.3, 1.2, 4.1, 5.2], [-2, -1.5, 2.4, 1.1], [2.2, 0.4, 9.3, 8.1], [1.3, 1.4, 1.5, 1.6]], "f4")


def test_roi_align(checks):
    for batch, mode, ratio in itertools.product(([0, 0, 0, 0], [1, 0, 1, 1]), ("avg", "max"), (2, 0)):
        x = noise(max(batch) + 1, 2, 7, 6)
        for scale, half_pixel in ((1.0, 1), (0.5, 0), (0.7, 1)):
            expected = roi_align(x, ROIS, batch, (3, 2), scale, ratio, mode, half_pixel)
            rois = Const(ROIS, "f4") if mode == "max" and not ratio else ROIS
            gives(checks, "RoiAlign", 16, [x, rois, np.array(batch)], expected, 5 * WITHIN, mode=mode,
                  sampling_ratio=ratio, output_height=3, output_width=2, spatial_scale=scale,
                  coordinate_transformation_mode="half_pixel" if half_pixel else "output_half_pixel")
    # Version 10 does not shift.
    x, batch = noise(1, 2, 7, 6), [0, 0, 0, 0]
    expected = roi_align(x, ROIS, batch, (1, 1), 1.0, 0, "avg", 0)
    gives(checks, "RoiAlign", 10, [x, Const(ROIS, "f4"), Const(batch)], expected, 5 * WITHIN)
    refuses(checks, "(rois) is not a constant", "RoiAlign", 16, [x, ROIS, np.array(batch)], mode="max")
    refuses(checks, "one element per region", "RoiAlign", 16, [x, ROIS, np.array([0, 0])])
    refuses(checks, "batch_indices are float32", "RoiAlign", 16, [x, ROIS, np.array(batch, "f4")])
    refuses(checks, "regions int32 of an input float32", "RoiAlign", 16, [x, ROIS.astype("i4"), np.array(batch)])
    refuses(checks, "not a list of 4 numbers", "RoiAlign", 16, [x, ROIS[:, :3], np.array(batch)])
    refuses(checks, "unknown mode sum", "RoiAlign", 16, [x, ROIS, np.array(batch)], mode="sum")
    refuses(checks, "spatial_scale is -1", "RoiAlign", 16, [x, ROIS, np.array(batch)], spatial_scale=-1.0)
    sizes = np.array([[0, 0, 2 + 3 * (i % 2), 2] for i in range(102)], "f4")
    refuses(checks, "more than 100 runs", "RoiAlign", 16, [x, Const(sizes, "f4"), np.zeros(102, "i8")], mode="max")


def max_roi_pool(x, rois, out, scale):
    y = np.zeros((len(rois), x.shape[1], *out))
    for r, (batch, x1, y1, x2, y2) in enumerate(rois):
        x1, y1, x2, y2 = (math.floor(v * np.float32(scale) + 0.5) for v in (x1, y1, x2, y2))
        bins = [max(y2 - y1 + 1, 1) / out[0], max(x2 - x1 + 1, 1) / out[1]]
        for at in positions(out):
            part = x[int(batch)]
            for axis, (o, size, start) in enumerate(zip(at, bins, (y1, x1)), 1):
                ends = [min(max(v + start, 0), part.shape[axis]) for v in (math.floor(o * size), math.ceil((o + 1) * size))]
                part = np.take(part, range(*ends), axis)
            y[(r, slice(None), *at)] = part.max((1, 2)) if part.size else 0
    return y.astype("f4")


def test_max_roi_pool(checks):
    x = noise(2, 3, 8, 7)
    rois = np.array([[1, 0, 1, 5, 6], [0, 2, 2, 2, 2], [1, 4, 3, 12, 14], [0, 20, 20, 22, 22]], "f4")
    for out, scale in (((2, 3), 1.0), ((3, 2), 0.5), ((2, 2), 0.3)):
        gives(checks, "MaxRoiPool", 6, [x, rois], max_roi_pool(x, rois, out, scale), pooled_shape=list(out),
              spatial_scale=scale)
    refuses(checks, "pooled_shape has 1 elements", "MaxRoiPool", 6, [x, rois], pooled_shape=[2])
    refuses(checks, "not a list of 5 numbers", "MaxRoiPool", 22, [x, rois[:, :4]], pooled_shape=[2, 2])


# ---- maxima and where they were ----


def max_pool_indices(x, kernel, strides, pads, dilations, column_major):
    axes = x.ndim - 2
    out = [(n + pads[i] + pads[axes + i] - (k - 1) * d - 1) // s + 1
           for i, (n, k, s, d) in enumerate(zip(x.shape[2:], kernel, strides, dilations))]
    largest, indices = np.zeros((*x.shape[:2], *out), x.dtype), np.zeros((*x.shape[:2], *out), "i8")
    for at in positions(largest.shape):
        best = None
        for k in positions(kernel):
            source = [o * s - p + i * d for o, s, p, i, d in zip(at[2:], strides, pads, k, dilations)]
            if not all(0 <= i < n for i, n in zip(source, x.shape[2:])):
                continue
            value = x[(*at[:2], *source)]
            if best is None or value > largest[at]:
                best, largest[at] = source, value
        channel = (at[0] * x.shape[1] + at[1]) * math.prod(x.shape[2:])
        order = "F" if column_major else "C"
        indices[at] = channel + np.ravel_multi_index(best, x.shape[2:], order=order)
    return [largest, indices]


def test_max_pool_indices(checks):
    cases = [([3], [2], [1, 1], [1]), ([2], [1], [1, 0], [2]), ([3, 2], [2, 1], [1, 0, 1, 1], [1, 1]),
             ([2, 3], [1, 2], [1, 1, 1, 1], [2, 1]), ([2, 2, 2], [2, 1, 1], [0, 1, 0, 1, 0, 0], [1, 1, 2])]
    for (kernel, strides, pads, dilations), order in itertools.product(cases, (0, 1)):
        # Few different values: the first of equal ones counts.
        x = np.round(noise(2, 3, *(6, 5, 4)[:len(kernel)]) / 2)
        expected = max_pool_indices(x, kernel, strides, pads, dilations, order)
        gives(checks, "MaxPool", 12, [x], expected, kernel_shape=kernel, strides=strides, pads=pads,
              dilations=dilations, storage_order=order)
    x = np.full((1, 1, 3, 3), -128, "i1")
    expected = max_pool_indices(x, [3, 3], [1, 1], [1] * 4, [1, 1], 0)
    gives(checks, "MaxPool", 12, [x], expected, kernel_shape=[3, 3], pads=[1] * 4)
    # Infinities are not less than what stands for the padding of windows that are laid out.
    x = np.full((1, 1, 5), -np.inf, "f4")
    gives(checks, "MaxPool", 12, [x], x, kernel_shape=[2], dilations=[2], pads=[1, 1])
    refuses(checks, "the padding alone", "MaxPool", 12, [x], n_outputs=2, kernel_shape=[2], strides=[6], pads=[2, 7])


def test_max_unpool(checks):
    x = noise(2, 3, 2, 3)
    indices = (np.arange(36) * 7 % 180).reshape(2, 3, 2, 3)  # into 2 · 3 · 5 · 6
    whole = np.zeros(180, "f4")
    whole[indices] = x
    whole = whole.reshape(2, 3, 5, 6)
    options = {"kernel_shape": [3, 2], "strides": [2, 2]}
    gives(checks, "MaxUnpool", 9, [x, indices], whole, **options)
    gives(checks, "MaxUnpool", 11, [x, Const(indices)], whole, **options)
    larger = np.zeros((2, 3, 7, 6), "f4")
    larger[:, :, :5] = whole
    gives(checks, "MaxUnpool", 11, [x, indices, Const([2, 3, 7, 6])], larger, **options)
    line = np.zeros(7, "f4")
    line[[1, 4, 6]] = [1, 2, 3]
    gives(checks, "MaxUnpool", 22, [np.array([[[1, 2, 3]]], "f4"), np.array([[[1, 4, 6]]])], line.reshape(1, 1, 7),
          kernel_shape=[3], strides=[3], pads=[1, 1])
    refuses(checks, "the shapes of X and I differ", "MaxUnpool", 11, [x, indices[:1]], **options)
    refuses(checks, "does not hold the result", "MaxUnpool", 11, [x, indices, Const([2, 3, 4, 6])], **options)
    refuses(checks, "output_shape has 3 elements", "MaxUnpool", 11, [x, indices, Const([2, 3, 5])], **options)


def main():
    checks = Checks()
    if np is None:
        checks.skip("vision operators", "python3-numpy is not there")
        checks.finish()
    for test in (test_grid_sample, test_grid_sample_refusals, test_affine_grid, test_deform_conv, test_col2im,
                 test_roi_align, test_max_roi_pool, test_max_pool_indices, test_max_unpool):
        test(checks)
    checks.finish()


main()
