# SPDX-License-Identifier: Apache-2.0
"""What containers say of pools and resizes: which params, of which types, with which values. The numbers are worked out by
hand from what the models say."""

import struct
import tempfile

from conversion import Workshop, onnx, op_types, params_of

from checks import Checks  # found by the module before


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def one_node(op, dims, out, opset=13, constants=(), **attributes):
    """x -> op(x, constants) -> y; constants: arrays of floats, None for operands that are left out."""
    m = onnx.Model(opset=opset)
    m.input("x", onnx.FLOAT, dims)
    operands = ["x"]
    for i, values in enumerate(constants):
        operands.append("" if values is None else m.tensor(f"c{i}", onnx.FLOAT, [len(values)], values))
    m.node(op, operands, ["y"], **attributes)
    m.output("y", onnx.FLOAT, out)
    return m


def op_params(w, label, type_, m):
    """The params of the container's one op, which is of that type."""
    container, _ = w.convert(label, m)
    if not container or not w.checks.equal(f"{label}: ops", op_types(container), [type_]):
        return {}
    return params_of(container.ops[0])


# ---- pools ----


def pool(pool_type, filter_, stride, pads, strategy):
    params = {"filter_size": ("UINT_32", filter_), "pad_amount": ("UINT_32", pads),
              "padding_size_strategy*": ("UINT_8", strategy), "pool_type*": ("STRING", pool_type),
              "stride": ("UINT_32", stride)}
    if pool_type == "PoolAvg2d":
        params["count_pad_for_edges"] = ("BOOL_8", 0)
    return params


def global_pools(w):
    """One window, which steps over the whole image."""
    for op, type_ in (("GlobalAveragePool", "PoolAvg2d"), ("GlobalMaxPool", "PoolMax2d")):
        for dims, filter_ in (([1, 2, 5, 7], [5, 7]), ([1, 2, 1, 1], [1, 1]), ([1, 2, 6], [1, 6])):
            m = one_node(op, dims, [*dims[:2], *[1] * (len(dims) - 2)])
            container, _ = w.convert(f"{op} {dims}", m)
            if container:
                found, = [op for op in container.ops if op.type == "Pool"]
                w.checks.equal(f"{op} {dims}", params_of(found), pool(type_, filter_, filter_, [0, 0, 0, 0], 0))
    for op, type_ in (("GlobalAveragePool", "PoolAvg3d"), ("GlobalMaxPool", "PoolMax3d"), ("GlobalLpPool", "L2Pool2d")):
        dims = [1, 2, 3, 4] if op == "GlobalLpPool" else [1, 2, 3, 4, 5]
        params = op_params(w, f"{op} {dims}", type_, one_node(op, dims, [*dims[:2], *[1] * (len(dims) - 2)]))
        w.checks.equal(f"{op} {dims}: steps", params.get("stride"), ("UINT_32", dims[2:]))


def padding_of_pools(w):
    """Windows of 3 every 2 elements of 6, from one before the first: the last of them ends with the input."""
    for op, type_ in (("MaxPool", "PoolMax2d"), ("AveragePool", "PoolAvg2d")):
        # The last but one is rounded up: a third window, from 4 on, reaches over the end.
        for side, out, pads, ceil, wanted in ((6, 3, 1, 0, [1, 0]), (7, 4, 1, 0, [1, 1]), (112, 56, 1, 0, [1, 0]),
                                              (6, 3, 0, 1, [0, 1]), (6, 2, 0, 0, [0, 0])):
            m = one_node(op, [1, 2, side, side], [1, 2, out, out], kernel_shape=[3, 3], strides=[2, 2], pads=[pads] * 4,
                         ceil_mode=ceil)
            w.checks.equal(f"{op} of {side}, padded by {pads}", op_params(w, op, "Pool", m),
                           pool(type_, [3, 3], [2, 2], 2 * wanted, 5))
    m = one_node("MaxPool", [1, 2, 6, 6], [1, 2, 3, 3], kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER")
    w.checks.equal("SAME_UPPER", op_params(w, "SAME_UPPER", "Pool", m), pool("PoolMax2d", [3, 3], [2, 2], [0, 1] * 2, 2))
    # Convolutions keep what the model says.
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [1, 2, 6, 6])
    m.tensor("w", onnx.FLOAT, [2, 2, 3, 3], [1.0] * 36)
    m.node("Conv", ["x", "w"], ["y"], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    m.output("y", onnx.FLOAT, [1, 2, 3, 3])
    params = op_params(w, "convolution", "Conv2d", m)
    w.checks.equal("padding of a convolution", params.get("pad_amount"), ("UINT_32", [1, 1, 1, 1]))


# ---- resizes ----


def resize(transformation, interpolation, scales, **more):
    return {"align_corners": ("BOOL_8", int(transformation == 2)),
            "half_pixel_centers": ("BOOL_8", int(transformation < 2)),
            "interpolation_mode*": ("UINT_32", interpolation), "scale_height*": ("FLOAT_32", f32(scales[0])),
            "scale_width*": ("FLOAT_32", f32(scales[1])), "transformation_mode*": ("UINT_32", transformation), **more}


def resizes(w):
    """Params say what the model does: nearest neighbours of other rules than the op's own (0, halves down) by nearest_mode."""
    for scales, out in (([2, 2], [8, 6]), ([3, 2], [12, 6]), ([1.5, 1], [6, 3])):
        for mode, interpolation in (("nearest", 0), ("linear", 1)):
            for number, position in enumerate(("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")):
                for rounding, name in enumerate(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")):
                    m = one_node("Resize", [1, 2, 4, 3], [1, 2, *out], constants=[None, [1, 1, *scales]], mode=mode,
                                 nearest_mode=name, coordinate_transformation_mode=position)
                    stored = {"nearest_mode": ("UINT_32", rounding)} if mode == "nearest" and rounding else {}
                    label = f"{mode} {position} {name} {scales}"
                    w.checks.equal(label, op_params(w, label, "Resize", m), resize(number, interpolation, scales, **stored))


def upsamples(w):
    """Asymmetric and rounded down, which no attribute says."""
    for op, opset, out, scales in (("Upsample", 9, [12, 6], [3, 2]), ("Resize", 10, [12, 6], [3, 2]),
                                   ("Upsample", 9, [10, 3], [2.5, 1]), ("Resize", 10, [2, 3], [0.5, 1])):
        for mode in ("nearest", "linear"):
            m = one_node(op, [1, 2, 4, 3], [1, 2, *out], opset, [[1, 1, *scales]], mode=mode)
            more = {"nearest_mode": ("UINT_32", 3 if scales[0] < 1 else 2)} if mode == "nearest" else {}
            label = f"{op}-{opset} {mode} {scales}"
            w.checks.equal(label, op_params(w, label, "Resize", m), resize(3, int(mode == "linear"), scales, **more))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        w = Workshop(checks, folder)
        for part in (global_pools, padding_of_pools, resizes, upsamples):
            part(w)
    checks.finish()


main()
