# SPDX-License-Identifier: Apache-2.0
"""Biases and normalizations."""

import numpy as np
from case import Cases

CASES = Cases()


def biases():
    for shape in ([2, 3], [2, 3, 4], [1, 4, 5, 3], [1, 2, 3, 4, 5]):
        c = CASES.new(f"bias of rank {len(shape)}")
        c.gives(c.node("BiasAdd", [c.input(shape), c.random_const(shape[-1:])]))
    for dtype in (np.float16, np.int32, np.int64):
        c = CASES.new(f"bias of {np.dtype(dtype).name}")
        c.gives(c.node("BiasAdd", [c.input([2, 3], dtype), c.random_const([3], dtype)]))
    c = CASES.new("computed bias")
    c.gives(c.node("BiasAdd", [c.input([1, 4, 5, 3]), c.input([3])]))
    c = CASES.new("older bias")
    c.gives(c.node("BiasAddV1", [c.input([1, 4, 5, 3]), c.random_const([3])]))
    c = CASES.new("bias with channels first of rank 2")
    c.node("BiasAdd", [c.input([2, 3]), c.random_const([3])], data_format="NCHW")
    c.refused("a value of rank 2 has no channels")
    c = CASES.new("bias of another size")
    c.node("BiasAdd", [c.input([2, 3]), c.random_const([4])])
    c.refused("the bias [4] does not have 3 elements")
    c = CASES.new("bias with channels first")
    c.gives(c.node("BiasAdd", [c.input([2, 3, 4, 5]), c.random_const([3])], data_format="NCHW"))


def statistics(c, constant=True, dtype=np.float32, channels=3):
    return [c.either(constant, [channels], dtype, low, high) for low, high in ((-1, 2), (-2, 2), (-2, 2), (0.1, 3))]


def batch_norms():
    for op in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
        for constant in (True, False):
            c = CASES.new(f"{op} by {'constants' if constant else 'inputs'}")
            x = c.input([2, 4, 5, 3])
            c.gives(c.node(op, [x, *statistics(c, constant)], is_training=False, epsilon=0.01), within=1e-5)
        c = CASES.new(f"{op} with default epsilon")
        scale, offset, mean, _ = statistics(c)
        variance = c.random_const([3], low=0.0001, high=0.001)
        c.gives(c.node(op, [c.input([2, 4, 5, 3]), scale, offset, mean, variance], is_training=False))
    for op in ("FusedBatchNormV2", "FusedBatchNormV3"):
        c = CASES.new(f"{op} of float16")
        c.gives(c.node(op, [c.input([2, 4, 5, 3], np.float16), *statistics(c)], is_training=False, epsilon=0.01),
                within=2e-3)
    c = CASES.new("statistics of FusedBatchNormV3")
    y = c.node("FusedBatchNormV3", [c.input([2, 4, 5, 3]), *statistics(c)], is_training=False)
    c.gives(y, c.node("Relu", [y[1]]), c.node("Relu", [y[2]]))
    for scaled in (True, False):
        for constant in (True, False):
            c = CASES.new(f"global normalization, scaled {scaled}, constant {constant}")
            c.producer = 8  # later versions do not have it
            x = c.input([1, 4, 5, 3])
            gamma, beta, mean, variance = statistics(c, constant)
            c.gives(c.node("BatchNormWithGlobalNormalization", [x, mean, variance, beta, gamma],
                           variance_epsilon=0.01, scale_after_normalization=scaled))
    c = CASES.new("unfused normalization behind a conv")
    y = c.node("Conv2D", [c.input([1, 5, 6, 2]), c.random_const([3, 3, 2, 3])], strides=[1, 1, 1, 1], padding="SAME")
    gamma, beta, mean, variance = statistics(c)
    inverse = c.node("Rsqrt", [c.node("Add", [variance, c.const(np.float32(0.01))])])
    factor = c.node("Mul", [inverse, gamma])
    offset = c.node("Sub", [beta, c.node("Mul", [mean, factor])])
    c.gives(c.node("Add", [c.node("Mul", [y, factor]), offset]))
    c = CASES.new("normalization of a biased conv")
    y = c.node("Conv2D", [c.input([1, 5, 6, 2]), c.random_const([3, 3, 2, 3])], strides=[1, 1, 1, 1], padding="SAME")
    y = c.node("BiasAdd", [y, c.random_const([3])])
    c.gives(c.node("FusedBatchNormV3", [y, *statistics(c)], is_training=False))
    for data_format, shape in (("NHWC", [2, 4, 5, 3]), ("NCHW", [2, 3, 4, 5]), ("NHWC", [1, 6, 7, 3])):
        c = CASES.new(f"statistics of the input itself, {data_format}, batch of {shape[0]}")
        scale, offset, _, _ = statistics(c)
        none = c.const(np.zeros([0], np.float32))
        x = c.input(shape, low=3, high=9)
        c.gives(c.node("FusedBatchNormV3", [x, scale, offset, none, none], data_format=data_format, epsilon=0.01))
    c = CASES.new("normalization with training's outputs")
    y = c.node("FusedBatchNorm", [c.input([2, 4, 5, 3]), *statistics(c)], is_training=False)
    c.node("Add", [y, y[4]])
    c.refused("is there for training")
    c = CASES.new("normalization by statistics of another size")
    c.node("FusedBatchNormV3", [c.input([2, 4, 5, 3]), *statistics(c, channels=5)], is_training=False)
    c.refused("scale has the shape [5] instead of [3]")


def channels_first():
    c = CASES.new("normalization with channels first")
    c.gives(c.node("FusedBatchNormV3", [c.input([2, 3, 4, 5]), *statistics(c)], is_training=False, data_format="NCHW"))
    c = CASES.new("normalization of volumes")
    c.gives(c.node("FusedBatchNormV3", [c.input([1, 2, 4, 5, 3]), *statistics(c)], is_training=False,
                   data_format="NDHWC"))
    c = CASES.new("bias of volumes with channels first")
    c.gives(c.node("BiasAdd", [c.input([1, 3, 4, 5, 6]), c.random_const([3])], data_format="NCHW"))


def by_the_batch():
    """As training normalizes: some graphs are frozen so."""
    for op in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
        c = CASES.new(f"{op} by the batch's statistics")
        c.gives(c.node(op, [c.input([2, 4, 5, 3]), *statistics(c)]))
        c = CASES.new(f"{op} by the batch's statistics, of a constant")
        c.gives(c.node(op, [c.random_const([1, 4, 5, 3]), *statistics(c)], is_training=True, epsilon=0.25))
    c = CASES.new("the batch's statistics of float16")
    c.gives(c.node("FusedBatchNormV3", [c.input([2, 4, 5, 3], np.float16), *statistics(c)]), within=2e-3)
    c = CASES.new("the batch's statistics of a convolution")
    y = c.node("Conv2D", [c.input([1, 5, 6, 2]), c.random_const([3, 3, 2, 3])], strides=[1, 1, 1, 1], padding="SAME")
    c.gives(c.node("Relu", [c.node("FusedBatchNorm", [y, *statistics(c)])]))


def by_own_statistics():
    """Graphs that were frozen in training."""
    nothing = np.zeros([0], np.float32)
    for op in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
        for batch in (1, 2):
            c = CASES.new(f"{op} of a batch of {batch} by its own statistics")
            scale, offset, *_ = statistics(c)
            y = c.node(op, [c.input([batch, 4, 5, 3]), scale, offset, c.const(nothing), c.const(nothing)],
                       epsilon=0.01)
            c.gives(y)
            c = CASES.new(f"{op} of a batch of {batch} and its own statistics")
            scale, offset, *_ = statistics(c)
            y = c.node(op, [c.input([batch, 4, 5, 3]), scale, offset, c.const(nothing), c.const(nothing)])
            c.gives(y, y[1], y[2])
    c = CASES.new("own statistics of float16")
    scale, offset, *_ = statistics(c)
    y = c.node("FusedBatchNormV3", [c.input([2, 4, 5, 3], np.float16), scale, offset, c.const(nothing),
                                    c.const(nothing)])
    c.gives(y, y[1], y[2], within=2e-3)
    c = CASES.new("own statistics with channels first")
    scale, offset, *_ = statistics(c)
    y = c.node("FusedBatchNormV3", [c.input([2, 3, 4, 5]), scale, offset, c.const(nothing), c.const(nothing)],
               data_format="NCHW")
    c.gives(y)
    c = CASES.new("own statistics of volumes")
    scale, offset, *_ = statistics(c)
    y = c.node("FusedBatchNormV3", [c.input([2, 2, 4, 5, 3]), scale, offset, c.const(nothing), c.const(nothing)],
               data_format="NDHWC")
    c.gives(y, y[1])
    c = CASES.new("averaged statistics")
    y = c.node("FusedBatchNormV3", [c.input([2, 4, 5, 3]), *statistics(c)], exponential_avg_factor=0.25)
    c.gives(y, y[1], y[2])
    c = CASES.new("own statistics of one element")
    scale, offset, *_ = statistics(c)
    y = c.node("FusedBatchNormV3", [c.input([1, 1, 1, 3]), scale, offset, c.const(nothing), c.const(nothing)])
    c.gives(y, y[1], y[2])


def activated():
    def fused(name, activation, side):
        c = CASES.new(name)
        operands = [c.input([2, 4, 5, 6]), *statistics(c, channels=4)]
        more = [c.input([2, 4, 5, 6])] if side else []
        return c, c.node("_FusedBatchNormEx", operands + more, name="fused", num_side_inputs=len(more), T=np.float32,
                         U=np.float32, is_training=False, activation_mode=activation, data_format="NCHW")

    for name, activation, side in (("nothing", "Identity", False), ("Relu", "Relu", False),
                                   ("a side input and Relu", "Relu", True)):
        c, y = fused(f"normalization fused with {name}", activation, side)
        c.gives(y)
    c, y = fused("normalization fused with a side input alone", "Identity", True)
    c.refused("a side input without an activation")


def across_channels():
    for name, attributes in (("by default", {}), ("of radius 1", {"depth_radius": 1, "alpha": 0.5, "beta": 0.75}),
                             ("of radius 0", {"depth_radius": 0, "bias": 2.0}),
                             ("with a bias", {"depth_radius": 2, "bias": 3.0, "beta": 1.5})):
        c = CASES.new(f"local response {name}")
        c.gives(c.node("LRN", [c.input([2, 3, 4, 9])], **attributes))
    c = CASES.new("local response of float16")
    c.gives(c.node("LRN", [c.input([1, 3, 4, 9], np.float16)], depth_radius=2), within=2e-3)
    c = CASES.new("local response of rank 3")
    c.node("LRN", [c.input([3, 4, 9])])
    c.refused("does not have 4 axes")


biases()
batch_norms()
channels_first()
by_the_batch()
by_own_statistics()
activated()
across_channels()
