# SPDX-License-Identifier: Apache-2.0
"""Resizing, regions, patches and blocks of images."""

import numpy as np
from case import Cases

CASES = Cases()
FLAGS = ({}, {"align_corners": True}, {"half_pixel_centers": True})
SIZES = (((4, 5), (8, 10)), ((6, 8), (3, 4)), ((5, 7), (7, 3)), ((3, 4), (11, 13)), ((4, 4), (1, 1)), ((1, 3), (5, 2)))


def name_of(flags):
    return "".join(f", {flag}" for flag in flags)


def resized():
    for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"):
        for flags in FLAGS[:2] if op == "ResizeArea" else FLAGS:
            for from_, to in SIZES:
                c = CASES.new(f"{op} {from_} to {to}{name_of(flags)}")
                c.gives(c.node(op, [c.input([2, *from_, 2]), c.const(np.array(to, np.int32))], **flags))
        for dtype in (np.uint8, np.int32, np.float16):
            c = CASES.new(f"{op} of {np.dtype(dtype).name}")
            x = c.input([1, 4, 5, 2], dtype, -20, 20)
            c.gives(c.node(op, [x, c.const(np.array([7, 9], np.int32))]))
        c = CASES.new(f"{op} to the same size")
        c.gives(c.node(op, [c.input([1, 4, 5, 2]), c.const(np.array([4, 5], np.int32))]))
        c = CASES.new(f"{op} to a computed size")
        c.node(op, [c.input([1, 4, 5, 2]), c.input([2], np.int32)])
        c.refused("size")
        c = CASES.new(f"{op} to nothing")
        c.node(op, [c.input([1, 4, 5, 2]), c.const(np.array([0, 5], np.int32))])
        c.refused("4 elements cannot be resized to 0")
    for flags in FLAGS:
        c = CASES.new(f"nearest neighbours of many sizes{name_of(flags)}")
        x = c.input(np.arange(61, dtype=np.float32).reshape(1, 1, 61, 1))
        found = [c.node("ResizeNearestNeighbor", [x, c.const(np.array([1, to], np.int32))], **flags)
                 for to in range(2, 140, 3)]
        c.gives(*found, within=0)
    c = CASES.new("both flags")
    c.node("ResizeBilinear", [c.input([1, 4, 5, 2]), c.const(np.array([8, 8], np.int32))], align_corners=True,
           half_pixel_centers=True)
    c.refused("exclude each other")
    c = CASES.new("resizing of rank 3")
    c.node("ResizeBilinear", [c.input([4, 5, 2]), c.const(np.array([8, 8], np.int32))])
    c.refused("does not have 4 axes")


def regions():
    boxes = np.array([[0, 0, 1, 1], [0.2, 0.3, 0.7, 0.9], [0.9, 0.8, 0.1, 0.2], [-0.5, 0.1, 0.6, 1.4]], np.float32)
    for constant in (True, False):
        for method in (None, "bilinear", "nearest"):
            for size in ((3, 4), (1, 1), (5, 1)):
                c = CASES.new(f"regions {size} {method} constant {constant}")
                x = c.input([2, 6, 7, 2])
                c.gives(c.node("CropAndResize", [x, c.either(constant, boxes), c.const(np.array([0, 1, 1, 0], np.int32)),
                                                 c.const(np.array(size, np.int32))],
                               method=method, extrapolation_value=-3.5))
    c = CASES.new("regions of bytes")
    c.gives(c.node("CropAndResize", [c.input([2, 6, 7, 2], np.uint8, 0, 255), c.input(boxes),
                                     c.input(np.array([0, 1, 1, 0], np.int32)), c.const(np.array([3, 4], np.int32))]))
    c = CASES.new("regions of a computed size")
    c.node("CropAndResize", [c.input([2, 6, 7, 2]), c.input(boxes), c.const(np.array([0, 1, 1, 0], np.int32)),
                             c.input([2], np.int32)])
    c.refused("crop_size")


def depth():
    for dtype in (np.float32, np.float16, np.int32, np.uint8):
        c = CASES.new(f"depth to space of {np.dtype(dtype).name}")
        c.gives(c.node("DepthToSpace", [c.input([2, 3, 2, 12], dtype, 0, 99)], block_size=2), within=0)
        c = CASES.new(f"space to depth of {np.dtype(dtype).name}")
        c.gives(c.node("SpaceToDepth", [c.input([2, 6, 9, 2], dtype, 0, 99)], block_size=3), within=0)
    for op in ("DepthToSpace", "SpaceToDepth"):
        c = CASES.new(f"{op} with channels first")
        c.gives(c.node(op, [c.input([1, 12, 4, 6])], block_size=2, data_format="NCHW"), within=0)
        c = CASES.new(f"{op} with channels in blocks")
        c.node(op, [c.input([1, 4, 4, 12])], block_size=2, data_format="NCHW_VECT_C")
        c.refused("channels in blocks")
        c = CASES.new(f"{op} with a block of 0")
        c.node(op, [c.input([1, 4, 4, 12])], block_size=0)
        c.refused("block_size is 0")


def batches():
    def ints(c, values):
        return c.const(np.array(values, np.int32))

    c = CASES.new("space to batch")
    c.gives(c.node("SpaceToBatch", [c.input([2, 5, 6, 3]), ints(c, [[1, 0], [0, 2]])], block_size=2), within=0)
    c = CASES.new("batch to space")
    c.gives(c.node("BatchToSpace", [c.input([8, 3, 4, 2]), ints(c, [[1, 0], [0, 2]])], block_size=2), within=0)
    for name, shape, block, pairs in (
            ("rank 4", [2, 5, 7, 3], [2, 3], [[1, 0], [0, 2]]), ("a line", [2, 7, 3], [3], [[1, 1]]),
            ("rows", [2, 5, 4, 3], [2], [[0, 1]]), ("rank 5", [1, 4, 6, 3, 2], [2, 2], [[0, 0], [1, 1]]),
            ("rank 3", [2, 4, 6], [2, 3], [[0, 0], [0, 0]])):
        c = CASES.new(f"space to batch of {name}")
        y = c.node("SpaceToBatchND", [c.input(shape), ints(c, block), ints(c, pairs)])
        c.gives(y, within=0)
        c = CASES.new(f"space to batch and back of {name}")
        y = c.node("SpaceToBatchND", [c.input(shape), ints(c, block), ints(c, pairs)])
        c.gives(c.node("BatchToSpaceND", [c.node("Relu", [y]), ints(c, block), ints(c, pairs)]), within=0)
    c = CASES.new("space to batch of int32")
    c.gives(c.node("SpaceToBatchND", [c.input([1, 3, 4, 2], np.int32), ints(c, [2, 2]), ints(c, [[1, 0], [0, 0]])]))
    for block, pads, rest in (([2, 3, 2], [[1, 1], [0, 3], [0, 2]], [2]), ([2, 1, 2], [[0, 0], [2, 1], [1, 1]], []),
                              ([3, 2, 1], [[1, 1], [0, 0], [0, 0]], [2, 3])):
        c = CASES.new(f"blocks of three axes {block} {pads} {rest}")
        y = c.node("SpaceToBatchND", [c.input([2, 4, 6, 4, *rest]), c.const(np.array(block, np.int32)), c.const(np.array(pads, np.int32))])
        c.gives(y, c.node("BatchToSpaceND", [c.node("Neg", [y]), c.const(np.array(block, np.int32)), c.const(np.array(pads, np.int32))]), within=0)
    c = CASES.new("blocks of three axes that do not fit")
    c.node("SpaceToBatchND", [c.input([2, 4, 5, 4, 2]), c.const(np.full(3, 2, np.int32)), c.const(np.zeros([3, 2], np.int32))])
    c.refused("5 elements are no blocks of 2")
    c = CASES.new("a batch that is no blocks of three axes")
    c.node("BatchToSpaceND", [c.input([12, 4, 5, 4, 2]), c.const(np.full(3, 2, np.int32)), c.const(np.zeros([3, 2], np.int32))])
    c.refused("12 elements of the batch are no blocks of 8")
    c = CASES.new("crops of more than blocks of three axes have")
    c.node("BatchToSpaceND", [c.input([8, 1, 5, 4, 2]), c.const(np.full(3, 2, np.int32)), c.const(np.array([[2, 1], [0, 0], [0, 0]], np.int32))])
    c.refused("crops of 2 and 1 elements of 2")
    c = CASES.new("blocks of four axes")
    c.node("SpaceToBatchND", [c.input([2, 4, 4, 4, 4, 2]), c.const(np.full(4, 2, np.int32)), c.const(np.zeros([4, 2], np.int32))])
    c.refused("blocks of 4 axes are not supported")
    c = CASES.new("space to batch that does not divide")
    c.node("SpaceToBatchND", [c.input([1, 5, 4, 2]), ints(c, [2, 2]), ints(c, [[0, 0]] * 2)])
    c.refused("does not divide into blocks")
    c = CASES.new("batch to space by computed crops")
    c.node("BatchToSpaceND", [c.input([4, 5, 4, 2]), ints(c, [2, 2]), c.input([2, 2], np.int32)])
    c.refused("crops")


def contrast():
    for dtype in (np.float32, np.float16):
        c = CASES.new(f"contrast of {np.dtype(dtype).name}")
        c.gives(c.node("AdjustContrastv2", [c.input([2, 4, 5, 3], dtype), c.const(np.float32(1.7))]))
    c = CASES.new("contrast of one image by a computed factor")
    c.gives(c.node("AdjustContrastv2", [c.input([4, 5, 3]), c.input([])]))
    c = CASES.new("contrast of rank 2")
    c.node("AdjustContrastv2", [c.input([4, 5]), c.const(np.float32(1.7))])
    c.refused("an input of rank 2 has no height")


def formats():
    other = {"src_format": "NCHW", "dst_format": "NHWC"}
    for constant in (True, False):
        for name, attributes in (("by default", {}), ("back", other),
                                 ("of volumes", {"src_format": "NDHWC", "dst_format": "NCDHW"})):
            rank = 5 if "volumes" in name else 4
            for dims in ([rank], [rank, 2], [rank - 2], [rank - 2, 2]):
                c = CASES.new(f"vector {dims} in another format {name}, constant {constant}")
                x = c.either(constant, dims, np.int32, 1, 99)
                c.gives(c.node("Neg", [c.node("DataFormatVecPermute", [x], **attributes)]))
            c = CASES.new(f"axes in another format {name}, constant {constant}")
            x = c.either(constant, np.arange(-rank, rank, dtype=np.int32))
            c.gives(c.node("Neg", [c.node("DataFormatDimMap", [x], **attributes)]))
    c = CASES.new("an axis of int64 in another format")
    c.gives(c.node("DataFormatDimMap", [c.input(np.array(3, np.int64))]))
    for op in ("DataFormatVecPermute", "DataFormatDimMap"):
        c = CASES.new(f"{op} to a format with other axes")
        c.node(op, [c.input([4], np.int32)], src_format="NHWC", dst_format="NHHC")
        c.refused("NHHC is not another order of the axes of NHWC")
    c = CASES.new("a vector that is no list of axes")
    c.node("DataFormatVecPermute", [c.input([3], np.int32)])
    c.refused("does not have an element for each axis")


def patches():
    for name, attributes in (("SAME", {"padding": "SAME"}), ("VALID", {"padding": "VALID"}),
                             ("dilated", {"padding": "SAME", "rates": [1, 2, 2, 1]}),
                             ("with strides", {"padding": "VALID", "strides": [1, 2, 3, 1]})):
        c = CASES.new(f"patches {name}")
        c.gives(c.node("ExtractImagePatches", [c.input([2, 6, 7, 2])],
                       **{"ksizes": [1, 3, 2, 1], "strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], **attributes}),
                within=0)
        c = CASES.new(f"grey dilation {name}")
        c.gives(c.node("Dilation2D", [c.input([2, 6, 7, 2]), c.random_const([3, 2, 2])],
                       **{"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], **attributes}))
    c = CASES.new("patches of int32")
    c.gives(c.node("ExtractImagePatches", [c.input([1, 4, 5, 2], np.int32)], ksizes=[1, 3, 3, 1],
                   strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME"))
    c = CASES.new("grey dilation by a computed filter")
    c.gives(c.node("Dilation2D", [c.input([1, 4, 5, 2]), c.input([2, 2, 2])], strides=[1, 1, 1, 1],
                   rates=[1, 1, 1, 1], padding="SAME"))
    c = CASES.new("grey dilation of integers")
    c.node("Dilation2D", [c.input([1, 4, 5, 2], np.int32), c.random_const([2, 2, 2], np.int32)],
           strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME")
    c.refused("a dilation of integers")


def frames():
    """One over another, over the border, beside the image, inside out; gray images, and colours that are given."""
    boxes = np.array([[0.1, 0.2, 0.6, 0.9], [0.3, 0.3, 0.3, 0.3], [-0.5, 0.5, 0.5, 1.5], [0.5, -1, 2, 0.2], [0.8, 0.1, 0.2, 0.5],
                      [0, 1.2, 1, 1.6], [0, 0, 1, 1], [-3, -3, -2, -2], [0.9, 0.9, 5, 5], [0.4, 0, 0.6, 1], [0.25, 0.75, 0.25, 1],
                      [0.45, 0.55, 0.7, 0.6]], np.float32)
    for channels in (1, 3, 4):
        for constant in (False, True):
            c = CASES.new(f"frames on {channels} channels, {constant=}")
            at = c.either(constant, np.stack([boxes, boxes[::-1] * 0.75]))
            c.gives(c.node("DrawBoundingBoxes", [c.input([2, 9, 11, channels]), at]), within=0)
    for count, given in ((5, 3), (1, 4), (0, 3)):
        c = CASES.new(f"frames of {count} colours of {given} channels")
        c.gives(c.node("DrawBoundingBoxesV2", [c.input([1, 9, 11, 3]), c.input(boxes[None]), c.random_const([count, given])]), within=0)
    c = CASES.new("frames on halves, and none")
    c.gives(c.node("DrawBoundingBoxes", [c.input([1, 5, 4, 3], np.float16), c.input(boxes[None])]),
            c.node("Neg", [c.node("DrawBoundingBoxes", [c.input([1, 5, 4, 3]), c.input([1, 0, 4])])]), within=0)
    c = CASES.new("frames on more channels than colours have")
    c.node("DrawBoundingBoxes", [c.input([1, 5, 4, 5]), c.input(boxes[None])])
    c.refused("an image of 5 channels")
    c = CASES.new("frames of too few colours")
    c.node("DrawBoundingBoxesV2", [c.input([1, 5, 4, 3]), c.input(boxes[None]), c.random_const([4, 2])])
    c.refused("colors [4,2] of 3 channels")
    c = CASES.new("frames of another batch")
    c.node("DrawBoundingBoxes", [c.input([2, 5, 4, 3]), c.input(boxes[None])])
    c.refused("boxes [1,12,4] and images [2,5,4,3] do not match")
    c = CASES.new("frames of too many pixels")
    c.node("DrawBoundingBoxes", [c.placeholder("image", np.float32, [1, 20000, 20000, 1]), c.input([1, 1, 4])])
    c.refused("pixels of 1 frames are more than 268435456")


resized()
regions()
contrast()
formats()
depth()
batches()
patches()
frames()
