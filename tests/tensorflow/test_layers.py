# SPDX-License-Identifier: Apache-2.0
"""What is left of convolutions and of what follows them: the operators of the containers of cases whose numbers
tests/reference compares. Layouts cost no Transposes, biases and factors are in the layers, dilated convolutions are one."""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
from tf_workshop import np, op_types, params_of, run_parts, value_of  # noqa: E402

if np is not None:
    from case import cases_of
    from tf_writer import Graph


def convert(w, name, *options, family="conv", says=""):
    case = next(case for case in cases_of(family) if case.name == name)
    outputs = [word for value in case.fetched for word in ("--out_node", value.name)]
    container, messages = w.convert(name, case, *outputs, *options)
    w.checks.check(f"messages: {name}", says in messages, messages)
    return container


def consists_of(w, name, *types, options=(), **more):
    container = convert(w, name, *options, **more)
    if container:
        w.checks.equal(f"operators: {name} {options}", op_types(container), list(types))
    return container


def floats(tensor):
    return list(struct.unpack(f"<{len(tensor.data) // 4}f", tensor.data))


def layouts(w):
    consists_of(w, "conv SAME strides (2, 2) of (7, 8)", "Conv2d")
    consists_of(w, "conv of an open batch", "Conv2d", options=["-d", "in0", "2,5,6,2"])
    consists_of(w, "depthwise conv of 3 channels, 2 filters for each", "DepthWiseConv2d")
    consists_of(w, "conv of 4 channels in 4 groups", "DepthWiseConv2d")
    # Channels first: the container's inputs and outputs have them last, too.
    consists_of(w, "network with channels first", "Conv2d", "Neuron", "Pool", "Batchnorm", "Conv2d", "Pool")
    consists_of(w, "conv of volumes with channels first", "Conv3d")
    consists_of(w, "transposed conv with channels first", "TransposeConv2d")
    container = convert(w, "network with channels first", "--preserve_io", "layout")
    if container:
        w.checks.equal("Transposes at input and output alone", op_types(container).count("Transpose"), 2)


def following(w):
    for op in ("Conv2D", "DepthwiseConv2dNative"):
        type_ = "Conv2d" if op == "Conv2D" else "DepthWiseConv2d"
        consists_of(w, f"{op} and bias", type_)
        consists_of(w, f"{op}, bias, factor and offset", type_)
    consists_of(w, "conv times a number and plus one", "Conv2d")
    consists_of(w, "conv of float16 and bias", "Conv2d")
    consists_of(w, "conv of volumes and bias", "Conv3d")
    consists_of(w, "transposed conv and bias", "TransposeConv2d")
    consists_of(w, "fully connected and bias", "FullyConnected")
    consists_of(w, "Conv2D, bias, factor and offset", "Conv2d", "Eltwise_Binary", "Eltwise_Binary",
                options=["--disable_batchnorm_folding"])
    for name in ("conv plus a constant per pixel", "conv plus a constant per column", "conv plus an input",
                 "conv plus a constant that makes it larger", "conv that is an output, and bias"):
        consists_of(w, name, "Conv2d", "Eltwise_Binary")
    consists_of(w, "conv that others read, too, and bias", "Conv2d", "Eltwise_Binary", "Eltwise_Binary")
    container = convert(w, "Conv2D and bias")
    if container:
        conv = container.ops[0]
        w.checks.equal("the bias has the model's name", conv.inputs[2], "Const_1:0")
        w.checks.equal("the layer notes who added it", conv.params["bias_op_name"].value, "BiasAdd")
        w.checks.equal("the result has the model's name", conv.outputs, ["BiasAdd:0"])


def without_bias(w):
    """Two inputs up to release 2.20, zeros later."""
    for release, inputs in (("2.20", []), ("2.47", ["Conv2D_bias"])):
        container = convert(w, "conv SAME strides (2, 2) of (7, 8)", "--target_release", release)
        if container:
            conv = container.ops[0]
            w.checks.equal(f"bias of {release}", conv.inputs[2:], inputs)
            w.checks.equal(f"its values of {release}", [set(container.tensors[name].data) for name in inputs], [{0}] * len(inputs))
            w.checks.equal(f"bias_op_name of {release}", conv.params["bias_op_name"].value, "")


def normalized(w):
    """The layer's bias is the layer's own, and beta and gamma are the model's."""
    for op, depthwise in (("Conv2D", False), ("DepthwiseConv2dNative", True)):
        g = Graph()
        x = g.placeholder("x", np.float32, [1, 2, 2, 2])
        kernel = g.const("kernel", np.float32([[[[1], [2]]]] if depthwise else [[[[1, 3], [2, 4]]]]))
        conv = g.node(op, [x, kernel], name="layer", strides=[1, 1, 1, 1], padding="VALID")
        scale, offset, mean, variance = (g.const(name, np.float32(values)) for name, values in (
            ("scale", [4, -2]), ("offset", [0.5, 1]), ("mean", [1, 3]), ("variance", [4, 4])))
        y = g.node("FusedBatchNormV3", [conv, scale, offset, mean, variance], name="norm", epsilon=0.0, is_training=False)
        container, _ = w.convert(f"normalized {op}", g, "--out_node", y.name)
        if not container:
            continue
        layer = container.ops[0]
        bias = container.tensors[layer.inputs[2]]
        w.checks.equal(f"{op}: bias", (bias.name, floats(bias)), ("layer_bias", [-1.5, 4]))
        w.checks.equal(f"{op}: bias_op_name", layer.params["bias_op_name"].value, "")
        w.checks.equal(f"{op}: beta", floats(layer.params["beta"].tensor), [0.5, 1])
        w.checks.equal(f"{op}: gamma", floats(layer.params["gamma"].tensor), [4, -2])


def in_training(w):
    """Statistics of one image are an op's; those of several are of one image that has the rows of all."""
    own = "normalizes by the mean and variance of its input"
    consists_of(w, "FusedBatchNormV3 of a batch of 1 by its own statistics", "InstanceNorm", family="norm", says=own)
    consists_of(w, "FusedBatchNormV3 of a batch of 2 by its own statistics", "Reshape", "InstanceNorm", "Reshape",
                family="norm", says=own)


def in_blocks(w):
    for name, dilation, pads in (
            ("Conv2D in blocks, as large as the image", [2, 2], [2, 2, 2, 2]),
            ("Conv2D in blocks, padded to whole blocks", [2, 3], [2, 2, 3, 3]),
            ("Conv2D in blocks without padding", [2, 3], [0, 0, 0, 0]),
            ("conv in blocks, cut at the start", [2, 2], [1, 2, 0, 1]),
            ("dilated conv in blocks", [4, 4], [4, 4, 2, 4]),
            ("conv in blocks with a bias between", [2, 2], [2, 2, 2, 2])):
        container = consists_of(w, name, "Conv2d")
        if container:
            conv = container.ops[0]
            w.checks.equal(f"dilation: {name}", value_of(conv.params["dilation"])[1], dilation)
            w.checks.equal(f"padding: {name}", value_of(conv.params["pad_amount"])[1], pads)
    consists_of(w, "DepthwiseConv2dNative in blocks, as large as the image", "DepthWiseConv2d")
    consists_of(w, "conv in blocks and a bias", "Conv2d", "Neuron")
    consists_of(w, "blocks that two convs read", "Conv2d", "Conv2d")
    consists_of(w, "conv of a line in blocks", "Reshape", "Conv2d", "Reshape")
    apart = ("SpaceToBatch", "Conv2d", "BatchToSpace")
    consists_of(w, "conv in blocks, cut more than padded", *apart)
    consists_of(w, "conv with strides in blocks", *apart)
    consists_of(w, "conv in blocks that come together in others", *apart)
    consists_of(w, "conv in blocks with an activation between", "SpaceToBatch", "Conv2d", "Neuron",
                "BatchToSpace")


def resized(position, interpolation, scales, **more):
    """The params of a Resize: 0 half pixels, 2 corners aligned, 3 asymmetric; 0 nearest, 1 linear, 2 cubic."""
    return {"align_corners": ("BOOL_8", int(position == 2)), "half_pixel_centers": ("BOOL_8", int(position == 0)),
            "interpolation_mode*": ("UINT_32", interpolation), "scale_height*": ("FLOAT_32", float(np.float32(scales[0]))),
            "scale_width*": ("FLOAT_32", float(np.float32(scales[1]))), "transformation_mode*": ("UINT_32", position), **more}


def resizes(w):
    """Each is a Resize. Nearest neighbours are rounded down (2), or to the nearest and halves up (1)."""
    for flag, position in (("", 3), (", align_corners", 2), (", half_pixel_centers", 0)):
        for sizes, scales in (("(4, 5) to (8, 10)", (2, 2)), ("(5, 7) to (7, 3)", (7 / 5, 3 / 7)), ("(4, 4) to (1, 1)", (1 / 4,) * 2)):
            for op, interpolation in (("ResizeNearestNeighbor", 0), ("ResizeBilinear", 1)):
                container = consists_of(w, f"{op} {sizes}{flag}", "Resize", family="image")
                more = {"nearest_mode": ("UINT_32", 2 if position == 3 else 1)} if interpolation == 0 else {}
                if container:
                    w.checks.equal(f"params: {op} {sizes}{flag}", params_of(container.ops[0]),
                                   resized(position, interpolation, scales, **more))
    # TensorFlow looks cubic weights up, at each 1024th of the way: where no position is between two, the op's are the same.
    for flag, position, coefficient in (("", 3, -0.75), (", half_pixel_centers", 0, -0.5)):
        more = {"exclude_outside": ("BOOL_8", 1)} if position == 0 else {}
        container = consists_of(w, f"ResizeBicubic (4, 5) to (8, 10){flag}", "Resize", family="image")
        if container:
            w.checks.equal(f"params: cubic{flag}", params_of(container.ops[0]),
                           resized(position, 2, (2, 2), cubic_coeff=("FLOAT_32", coefficient), **more))
        container = convert(w, f"ResizeBicubic (5, 7) to (7, 3){flag}", family="image")
        if container:
            w.checks.check(f"weights of a table{flag}", "MatMul" in op_types(container) and "Resize" not in op_types(container),
                           op_types(container))


def pools(w):
    """Padding behind what the last window sees is left out: of 2 behind 5 rows, 1."""
    container = consists_of(w, "MaxPool with explicit padding", "Pool", family="pool")
    if container:
        params = params_of(container.ops[0])
        w.checks.equal("padding of a pool", params["pad_amount"], ("UINT_32", [1, 1, 0, 1]))
        w.checks.equal("steps of a pool", params["stride"], ("UINT_32", [2, 2]))


run_parts(layouts, following, without_bias, normalized, in_training, in_blocks, resizes, pools)
