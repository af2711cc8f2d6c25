# SPDX-License-Identifier: Apache-2.0
"""Convolutions and their gradients by the input, which are transposed convolutions."""

import numpy as np
from case import Cases

CASES = Cases()


def case(name):
    return CASES.new(name)


def conv(c, x, w, op="Conv2D", **attributes):
    rank = 5 if "3D" in op else 4
    attributes = {"strides": [1] * rank, "padding": "SAME", **attributes}
    return c.node(op, [x, w], **attributes)


def paddings():
    for padding in ("SAME", "VALID"):
        for stride in ((1, 1), (2, 2), (2, 3)):
            for size in ((7, 8), (6, 5)):
                c = case(f"conv {padding} strides {stride} of {size}")
                x = c.input([2, *size, 3])
                c.gives(conv(c, x, c.random_const([3, 2, 3, 4]), padding=padding, strides=[1, *stride, 1]))
    c = case("conv SAME with strides beyond the kernel")
    c.gives(conv(c, c.input([1, 9, 8, 2]), c.random_const([2, 1, 2, 3]), strides=[1, 4, 3, 1]))
    c = case("conv with explicit padding")
    c.gives(conv(c, c.input([1, 6, 5, 2]), c.random_const([3, 3, 2, 4]), padding="EXPLICIT",
                 explicit_paddings=[0, 0, 2, 1, 0, 3, 0, 0]))
    c = case("conv with explicit padding and strides")
    c.gives(conv(c, c.input([1, 6, 5, 2]), c.random_const([3, 3, 2, 4]), padding="EXPLICIT", strides=[1, 2, 2, 1],
                 explicit_paddings=[0, 0, 1, 0, 2, 1, 0, 0], dilations=[1, 1, 1, 1], data_format="NHWC"))


def dilations():
    for padding in ("SAME", "VALID"):
        c = case(f"conv {padding} dilated")
        c.gives(conv(c, c.input([1, 9, 10, 2]), c.random_const([3, 2, 2, 3]), padding=padding, dilations=[1, 2, 3, 1]))
    c = case("depthwise conv dilated")
    c.gives(conv(c, c.input([1, 2, 9, 10]), c.random_const([3, 2, 2, 3]), "DepthwiseConv2dNative",
                 dilations=[1, 1, 2, 3], data_format="NCHW"))


def operands():
    c = case("conv of float16")
    c.gives(conv(c, c.input([1, 5, 6, 2], np.float16), c.random_const([3, 3, 2, 3], np.float16, -1, 1)), within=2e-3)
    c = case("conv of float64")
    c.gives(conv(c, c.input([1, 5, 6, 2], np.float64), c.random_const([3, 3, 2, 3], np.float64)))
    c = case("conv of int32")
    c.gives(conv(c, c.input([1, 5, 6, 2], np.int32, -9, 9), c.random_const([3, 3, 2, 3], np.int32, -9, 9)))
    c = case("conv by computed weights")
    c.gives(conv(c, c.input([1, 5, 6, 2]), c.input([3, 3, 2, 3])))
    c = case("conv of constants")
    c.gives(c.node("Relu", [conv(c, c.random_const([1, 5, 6, 2]), c.random_const([3, 3, 2, 3]))]))
    c = case("conv of an open batch")
    c.gives(conv(c, c.input([2, 5, 6, 2], shape=[None, None, None, 2]), c.random_const([3, 3, 2, 3])))
    c = case("two convs of one filter")
    w = c.random_const([3, 3, 2, 2])
    c.gives(conv(c, conv(c, c.input([1, 5, 6, 2]), w), w, padding="VALID"))


def groups():
    for channels, groups_ in ((4, 2), (6, 3), (4, 4)):
        c = case(f"conv of {channels} channels in {groups_} groups")
        c.gives(conv(c, c.input([1, 5, 6, channels]), c.random_const([3, 3, channels // groups_, 2 * groups_])))
    for channels, multiplier in ((3, 1), (3, 2), (1, 4)):
        c = case(f"depthwise conv of {channels} channels, {multiplier} filters for each")
        x, w = c.input([2, 5, 6, channels]), c.random_const([3, 2, channels, multiplier])
        c.gives(conv(c, x, w, "DepthwiseConv2dNative", strides=[1, 2, 2, 1]))
    c = case("depthwise conv by computed weights")
    c.gives(conv(c, c.input([2, 5, 6, 3]), c.input([3, 2, 3, 2]), "DepthwiseConv2dNative", padding="VALID"))
    c = case("depthwise conv of float16")
    c.gives(conv(c, c.input([1, 5, 6, 3], np.float16), c.random_const([3, 3, 3, 1], np.float16, -1, 1),
                 "DepthwiseConv2dNative"), within=2e-3)
    c = case("depthwise conv with explicit padding")
    c.gives(conv(c, c.input([1, 5, 6, 3]), c.random_const([3, 3, 3, 2]), "DepthwiseConv2dNative", padding="EXPLICIT",
                 explicit_paddings=[0, 0, 2, 1, 0, 3, 0, 0]))


def volumes():
    for padding in ("SAME", "VALID"):
        c = case(f"conv of volumes {padding}")
        c.gives(conv(c, c.input([1, 4, 5, 6, 2]), c.random_const([2, 3, 2, 2, 3]), "Conv3D", padding=padding,
                     strides=[1, 1, 2, 2, 1]))
    c = case("conv of volumes with default attributes written")
    c.gives(conv(c, c.input([1, 4, 5, 6, 2]), c.random_const([2, 3, 2, 2, 3]), "Conv3D", dilations=[1] * 5,
                 data_format="NDHWC"))


def transposed():
    """The result has the extents of what a convolution made x of."""
    for padding, stride, size, x in (("SAME", 2, (7, 8), (4, 4)), ("SAME", 2, (8, 8), (4, 4)),
                                     ("SAME", 1, (5, 4), (5, 4)), ("SAME", 3, (7, 9), (3, 3)),
                                     ("VALID", 2, (7, 8), (3, 3)), ("VALID", 2, (8, 9), (3, 4)),
                                     ("VALID", 1, (6, 7), (4, 5)), ("SAME", 4, (8, 5), (2, 2))):
        c = case(f"transposed conv {padding} stride {stride} to {size}")
        sizes = c.const(np.array([2, *size, 3], np.int32))
        w = c.random_const([3, 3, 3, 4])
        c.gives(c.node("Conv2DBackpropInput", [sizes, w, c.input([2, *x, 4])], strides=[1, stride, stride, 1],
                       padding=padding))
    c = case("transposed conv with explicit padding")
    sizes = c.const(np.array([1, 7, 8, 3], np.int32))
    c.gives(c.node("Conv2DBackpropInput", [sizes, c.random_const([3, 3, 3, 2]), c.input([1, 4, 5, 2])],
                   strides=[1, 2, 2, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1, 2, 1, 0, 0]))
    c = case("transposed conv by spatial sizes alone")
    sizes = c.const(np.array([7, 8], np.int32))
    c.gives(c.node("Conv2DBackpropInput", [sizes, c.random_const([3, 3, 3, 2]), c.input([1, 4, 4, 2])],
                   strides=[1, 2, 2, 1], padding="SAME"))
    c = case("transposed conv by a computed filter")
    sizes = c.const(np.array([1, 8, 8, 3], np.int32))
    c.gives(c.node("Conv2DBackpropInput", [sizes, c.input([3, 3, 3, 2]), c.input([1, 4, 4, 2])],
                   strides=[1, 2, 2, 1], padding="SAME"))
    c = case("transposed conv of float16")
    sizes = c.const(np.array([1, 8, 8, 3], np.int32))
    c.gives(c.node("Conv2DBackpropInput", [sizes, c.random_const([3, 3, 3, 2], np.float16, -1, 1),
                                           c.input([1, 4, 4, 2], np.float16)],
                   strides=[1, 2, 2, 1], padding="SAME"), within=2e-3)
    for padding, size in (("SAME", (7, 8)), ("VALID", (7, 9))):
        c = case(f"transposed depthwise conv {padding}")
        x = (4, 4) if padding == "SAME" else (3, 4)
        sizes = c.const(np.array([2, *size, 3], np.int32))
        c.gives(c.node("DepthwiseConv2dNativeBackpropInput", [sizes, c.random_const([3, 3, 3, 2]), c.input([2, *x, 6])],
                       strides=[1, 2, 2, 1], padding=padding))
    for padding, x in (("SAME", (2, 3, 4)), ("VALID", (2, 2, 3))):
        c = case(f"transposed conv of volumes {padding}")
        sizes = c.const(np.array([1, 4, 5, 7, 2], np.int32))
        c.gives(c.node("Conv3DBackpropInputV2", [sizes, c.random_const([2, 2, 3, 2, 3]), c.input([1, *x, 3])],
                       strides=[1, 2, 2, 2, 1], padding=padding))


def channels_first():
    first = {"data_format": "NCHW"}
    for padding, strides in (("SAME", [1, 1, 2, 3]), ("VALID", [1, 1, 1, 2])):
        c = case(f"conv {padding} with channels first")
        c.gives(conv(c, c.input([2, 3, 7, 8]), c.random_const([3, 2, 3, 4]), padding=padding, strides=strides, **first))
    c = case("conv with channels first and explicit padding")
    c.gives(conv(c, c.input([1, 3, 7, 8]), c.random_const([3, 2, 3, 4]), padding="EXPLICIT",
                 explicit_paddings=[0, 0, 0, 0, 2, 1, 0, 3], dilations=[1, 1, 2, 1], **first))
    c = case("depthwise conv with channels first")
    c.gives(conv(c, c.input([1, 3, 7, 8]), c.random_const([3, 2, 3, 2]), "DepthwiseConv2dNative", **first))
    c = case("transposed conv with channels first")
    sizes = c.const(np.array([1, 3, 7, 9], np.int32))
    c.gives(c.node("Conv2DBackpropInput", [sizes, c.random_const([3, 3, 3, 2]), c.input([1, 2, 4, 5])],
                   strides=[1, 1, 2, 2], padding="SAME", **first))
    c = case("conv of volumes with channels first")
    c.gives(conv(c, c.input([1, 2, 4, 5, 6]), c.random_const([2, 3, 2, 2, 3]), "Conv3D", data_format="NCDHW"))
    c = case("network with channels first")
    x = conv(c, c.input([1, 3, 8, 9]), c.random_const([3, 3, 3, 4]), **first)
    x = c.node("Relu", [c.node("BiasAdd", [x, c.random_const([4])], **first)])
    x = c.node("MaxPool", [x], ksize=[1, 1, 2, 2], strides=[1, 1, 2, 2], padding="SAME", **first)
    x = c.node("FusedBatchNormV3", [x, *(c.random_const([4], low=0.1) for _ in range(4))], is_training=False, **first)
    x = conv(c, x, c.random_const([3, 3, 4, 5]), **first)
    c.gives(c.node("AvgPool", [x], ksize=[1, 1, 2, 3], strides=[1, 1, 1, 1], padding="VALID", **first))


def following():
    """What is added to a result, or multiplied by, is put into the layer where that changes nothing."""
    def layer(c, op="Conv2D", channels=3):
        filter_ = {"Conv2D": [3, 3, 2, channels], "DepthwiseConv2dNative": [3, 3, 2, 2]}[op]
        return conv(c, c.input([2, 4, 5, 2]), c.random_const(filter_), op)

    for op, channels in (("Conv2D", 3), ("DepthwiseConv2dNative", 4)):
        c = case(f"{op} and bias")
        c.gives(c.node("BiasAdd", [layer(c, op), c.random_const([channels])]))
        c = case(f"{op}, bias, factor and offset")
        x = c.node("BiasAdd", [layer(c, op), c.random_const([channels])])
        x = c.node("Mul", [x, c.random_const([1, 1, 1, channels])])
        c.gives(c.node("AddV2", [c.random_const([channels]), x]))
    c = case("conv times a number and plus one")
    x = c.node("Mul", [layer(c), c.const(np.float32(0.5))])
    c.gives(c.node("Add", [x, c.const(np.float32(3))]))
    c = case("conv plus a constant per pixel")
    c.gives(c.node("AddV2", [layer(c), c.random_const([4, 5, 3])]))
    c = case("conv plus a constant per column")
    c.gives(c.node("AddV2", [layer(c), c.random_const([5, 1])]))
    c = case("conv plus a constant that makes it larger")
    c.gives(c.node("AddV2", [layer(c, channels=1), c.random_const([3])]))
    c = case("conv plus an input")
    c.gives(c.node("BiasAdd", [layer(c), c.input([3])]))
    c = case("conv that others read, too, and bias")
    x = layer(c)
    y = c.node("BiasAdd", [x, c.random_const([3])])
    c.gives(c.node("Mul", [x, y]), y)
    c = case("conv that is an output, and bias")
    x = layer(c)
    c.gives(x, c.node("BiasAdd", [x, c.random_const([3])]))
    c = case("conv of float16 and bias")
    x = conv(c, c.input([1, 5, 6, 2], np.float16), c.random_const([3, 3, 2, 3], np.float16, -1, 1))
    c.gives(c.node("BiasAdd", [x, c.random_const([3], np.float16)]), within=2e-3)
    c = case("conv of volumes and bias")
    x = conv(c, c.input([1, 4, 5, 6, 2]), c.random_const([2, 3, 2, 2, 3]), "Conv3D")
    c.gives(c.node("BiasAdd", [x, c.random_const([3])]))
    c = case("transposed conv and bias")
    sizes = c.const(np.array([1, 8, 8, 3], np.int32))
    x = c.node("Conv2DBackpropInput", [sizes, c.random_const([3, 3, 3, 2]), c.input([1, 4, 4, 2])],
               strides=[1, 2, 2, 1], padding="SAME")
    c.gives(c.node("BiasAdd", [x, c.random_const([3])]))
    c = case("fully connected and bias")
    c.gives(c.node("BiasAdd", [c.node("MatMul", [c.input([3, 4]), c.random_const([4, 5])]), c.random_const([5])]))


def in_blocks():
    """Dilated convolutions as models express them that split the image into the batch."""
    def ints(c, values):
        return c.const(np.array(values, np.int32))

    def blocks(c, op, size, block, pads, crops, filter_=(3, 3), between=lambda c, x: x, **more):
        x = c.node("SpaceToBatchND", [c.input([2, *size, 2]), ints(c, block), ints(c, pads)])
        x = conv(c, x, c.random_const([*filter_, 2, 3]), op, padding="VALID", **more)
        return c.node("BatchToSpaceND", [between(c, x), ints(c, block), ints(c, crops)])

    for op in ("Conv2D", "DepthwiseConv2dNative"):
        c = case(f"{op} in blocks, as large as the image")
        c.gives(blocks(c, op, (8, 8), [2, 2], [[2, 2], [2, 2]], [[0, 0], [0, 0]]))
        c = case(f"{op} in blocks, padded to whole blocks")
        c.gives(blocks(c, op, (7, 9), [2, 3], [[2, 3], [3, 3]], [[0, 1], [0, 0]]))
        c = case(f"{op} in blocks without padding")
        c.gives(blocks(c, op, (8, 9), [2, 3], [[0, 0], [0, 0]], [[0, 0], [0, 0]], (2, 2)))
    c = case("conv in blocks, cut at the start")
    c.gives(blocks(c, "Conv2D", (8, 8), [2, 2], [[2, 2], [2, 2]], [[1, 0], [2, 1]]))
    c = case("conv in blocks, cut more than padded")
    c.gives(blocks(c, "Conv2D", (8, 8), [2, 2], [[0, 2], [2, 2]], [[1, 0], [0, 3]]))
    c = case("dilated conv in blocks")
    c.gives(blocks(c, "Conv2D", (10, 10), [2, 2], [[4, 4], [2, 4]], [[0, 0], [0, 0]], (3, 2), dilations=[1, 2, 2, 1]))
    c = case("conv in blocks with a bias between")
    c.gives(blocks(c, "Conv2D", (8, 8), [2, 2], [[2, 2], [2, 2]], [[0, 0], [0, 0]],
                   between=lambda c, x: c.node("BiasAdd", [x, c.random_const([3])])))
    c = case("conv in blocks and a bias")
    x = blocks(c, "Conv2D", (8, 8), [2, 2], [[2, 2], [2, 2]], [[0, 0], [0, 0]])
    c.gives(c.node("Relu", [c.node("BiasAdd", [x, c.random_const([3])])]))
    c = case("conv with strides in blocks")
    c.gives(blocks(c, "Conv2D", (8, 8), [2, 2], [[2, 2], [2, 2]], [[0, 0], [0, 0]], strides=[1, 2, 2, 1]))
    c = case("conv in blocks with an activation between")
    c.gives(blocks(c, "Conv2D", (8, 8), [2, 2], [[2, 2], [2, 2]], [[0, 0], [0, 0]],
                   between=lambda c, x: c.node("Relu", [x])))
    c = case("conv in blocks that come together in others")
    x = c.node("SpaceToBatchND", [c.input([1, 8, 8, 2]), ints(c, [2, 2]), ints(c, [[2, 2], [2, 2]])])
    x = conv(c, x, c.random_const([3, 3, 2, 3]), padding="VALID")
    c.gives(c.node("BatchToSpaceND", [x, ints(c, [4, 1]), ints(c, [[0, 0], [0, 0]])]))
    c = case("blocks that two convs read")
    x = c.node("SpaceToBatchND", [c.input([1, 8, 8, 2]), ints(c, [2, 2]), ints(c, [[2, 2], [2, 2]])])
    c.gives(*[c.node("BatchToSpaceND", [conv(c, x, c.random_const([3, 3, 2, 3]), padding="VALID"), ints(c, [2, 2]),
                                        ints(c, [[0, 0], [0, 0]])]) for _ in range(2)])
    c = case("conv of a line in blocks")
    x = c.node("SpaceToBatchND", [c.input([2, 10, 2]), ints(c, [3]), ints(c, [[6, 2]])])
    x = c.node("ExpandDims", [x, ints(c, 1)])
    x = conv(c, x, c.random_const([1, 3, 2, 3]), padding="VALID")
    x = c.node("Squeeze", [x], squeeze_dims=[1])
    c.gives(c.node("BatchToSpaceND", [x, ints(c, [3]), ints(c, [[0, 2]])]))


def fused():
    def args(c):
        return [c.random_const([4], low=0.1, high=2) for _ in range(4)]

    for name, ops, more in (("BiasAdd", ["BiasAdd"], {}), ("BiasAdd and Relu", ["BiasAdd", "Relu"], {}),
                            ("BiasAdd and Relu6", ["BiasAdd", "Relu6"], {}), ("BiasAdd and Elu", ["BiasAdd", "Elu"], {}),
                            ("BiasAdd and LeakyRelu", ["BiasAdd", "LeakyRelu"], {"leakyrelu_alpha": 0.3}),
                            ("BiasAdd and LeakyRelu by default", ["BiasAdd", "LeakyRelu"], {}),
                            ("FusedBatchNorm", ["FusedBatchNorm"], {"epsilon": 0.01}),
                            ("FusedBatchNorm and Relu", ["FusedBatchNorm", "Relu"], {})):
        c = case(f"conv fused with {name}")
        operands = args(c) if "Norm" in name else [c.random_const([4])]
        c.gives(c.node("_FusedConv2D", [c.input([1, 5, 6, 2]), c.random_const([3, 3, 2, 4]), *operands],
                       name="fused", TArgs=[np.float32] * len(operands), num_args=len(operands), num_host_args=0,
                       strides=[1, 2, 2, 1], padding="SAME", fused_ops=ops, **more))
    c = case("conv fused with what is not known")
    c.node("_FusedConv2D", [c.input([1, 5, 6, 2]), c.random_const([3, 3, 2, 4]), c.random_const([4])],
           name="fused", TArgs=[np.float32], num_args=1, num_host_args=0, strides=[1, 1, 1, 1], padding="SAME",
           fused_ops=["BiasAdd", "_MklSwish"])
    c.refused("_MklSwish in a fused operator is not supported")


def refusals():
    for name, part, attributes in (
            ("strides over channels", "windows over those are not supported", {"strides": [1, 1, 1, 2]}),
            ("strides over the batch", "strides has 2 for the batch", {"strides": [2, 1, 1, 1]}),
            ("three strides", "strides has 3 elements instead of 4", {"strides": [1, 1, 1]}),
            ("strides of 0", "strides has 0, which is out of range", {"strides": [1, 0, 1, 1]}),
            ("channels in blocks", "channels in blocks", {"data_format": "NCHW_VECT_C"}),
            ("an unknown padding", "unknown padding HALF", {"padding": "HALF"}),
            ("a padded batch", "explicit_paddings pads the batch",
             {"padding": "EXPLICIT", "explicit_paddings": [1, 0, 0, 0, 0, 0, 0, 0]}),
            ("no amounts of padding", "explicit_paddings has 0 elements instead of 8", {"padding": "EXPLICIT"})):
        c = case(f"conv with {name}")
        conv(c, c.input([1, 5, 6, 2]), c.random_const([3, 3, 2, 4]), **attributes)
        c.refused(part)
    c = case("conv by a filter for other channels")
    conv(c, c.input([1, 5, 6, 2]), c.random_const([3, 3, 3, 4]))
    c.refused("does not fit 2 channels")
    c = case("conv by a filter of rank 3")
    conv(c, c.input([1, 5, 6, 2]), c.random_const([3, 3, 2]))
    c.refused("does not have 4 axes")
    c = case("conv of rank 3")
    conv(c, c.input([5, 6, 2]), c.random_const([3, 3, 2, 4]))
    c.refused("does not have batch, channels and 2 spatial axes")
    c = case("depthwise conv by a filter for other channels")
    conv(c, c.input([1, 5, 6, 2]), c.random_const([3, 3, 3, 4]), "DepthwiseConv2dNative")
    c.refused("does not fit 2 channels")
    for name, sizes, part in (("of another batch", [2, 8, 8, 3], "a batch of 2 instead of 1"),
                              ("that no convolution has", [1, 9, 8, 3], "does not make 4 elements of the 9"),
                              ("of other channels", [1, 8, 8, 4], "does not fit 2 channels"),
                              ("that are huge", [1, 2**31 - 1, 8, 3], "2147483647, which is out of range"),
                              ("that are negative", [1, 8, -8, 3], "-8, which is out of range"),
                              ("of 3 elements", [8, 8, 3], "3 elements instead of 4")):
        c = case(f"transposed conv to sizes {name}")
        c.node("Conv2DBackpropInput", [c.const(np.array(sizes, np.int32)), c.random_const([3, 3, 3, 2]),
                                       c.input([1, 4, 4, 2])], strides=[1, 2, 2, 1], padding="SAME")
        c.refused(part)
    c = case("transposed conv to computed sizes")
    c.node("Conv2DBackpropInput", [c.input([4], np.int32), c.random_const([3, 3, 3, 2]), c.input([1, 4, 4, 2])],
           strides=[1, 2, 2, 1], padding="SAME")
    c.refused("input_sizes")


paddings()
dilations()
operands()
groups()
volumes()
transposed()
channels_first()
following()
in_blocks()
fused()
refusals()
