# SPDX-License-Identifier: Apache-2.0
"""Images that a kernel samples: what tf.image.resize makes of its better methods."""

import numpy as np
from case import Cases

CASES = Cases()
F32, I32 = np.float32, np.int32
KERNELS = ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic")


def scaled(c, x, size, scale, translation, **attributes):
    inputs = [c.const(np.array(values, kind)) for values, kind in ((size, I32), (scale, F32), (translation, F32))]
    return c.node("ScaleAndTranslate", [x, *inputs], **attributes)


def kernels():
    for kernel in KERNELS:
        for antialias in (False, True):
            for dims, size in (((2, 5, 7, 3), (9, 4)), ((1, 16, 3, 1), (5, 8)), ((1, 1, 2, 2), (3, 3)), ((1, 30, 20, 1), (4, 2))):
                scale = np.array(size, F32) / np.array(dims[1:3], F32)
                c = CASES.new(f"{kernel} of {dims} to {size}{', antialias' * antialias}")
                c.gives(scaled(c, c.input(list(dims)), size, scale, (0, 0), kernel_type=kernel, antialias=antialias))
            c = CASES.new(f"{kernel} moved{', antialias' * antialias}")
            c.gives(scaled(c, c.input([1, 6, 8, 2]), (7, 9), (1.3, 0.7), (-1.75, 2.5), kernel_type=kernel, antialias=antialias))


def others():
    c = CASES.new("ScaleAndTranslate as it is by default")
    c.gives(scaled(c, c.input([1, 8, 8, 2]), (5, 11), (0.625, 1.375), (0, 0)))
    c = CASES.new("ScaleAndTranslate out of the image")
    c.gives(scaled(c, c.input([1, 4, 4, 1]), (4, 4), (1, 1), (100, -100)))
    c = CASES.new("ScaleAndTranslate by whole numbers")
    c.gives(scaled(c, c.input([1, 4, 4, 1]), (8, 6), (2, 1), (0, 1), kernel_type="box", antialias=False))
    for dtype in (np.uint8, np.int16, np.float16):
        c = CASES.new(f"ScaleAndTranslate of {np.dtype(dtype).name}")
        c.gives(scaled(c, c.input([1, 4, 5, 2], dtype, 0, 200), (6, 3), (1.5, 0.6), (0, 0)))
    c = CASES.new("ScaleAndTranslate of a constant")
    c.gives(scaled(c, c.random_const([1, 4, 5, 2]), (6, 3), (1.5, 0.6), (0, 0)))


def refused():
    c = CASES.new("ScaleAndTranslate by a computed scale")
    inputs = [c.const(np.array([3, 3], I32)), c.input(np.array([1, 1], F32)), c.const(np.array([0, 0], F32))]
    c.node("ScaleAndTranslate", [c.input([1, 4, 4, 1]), *inputs])
    c.refused("input 2 (scale) is not a constant")
    for scale in (0, -1):
        c = CASES.new(f"ScaleAndTranslate by {scale}")
        scaled(c, c.input([1, 4, 4, 1]), (3, 3), (1, scale), (0, 0))
        c.refused(f"the scale {scale} is not positive")
    c = CASES.new("ScaleAndTranslate by next to nothing")
    scaled(c, c.input([1, 4, 4, 1]), (3, 3), (1, 1e-45), (0, 0))
    c.refused("are not possible")
    c = CASES.new("ScaleAndTranslate to nothing")
    scaled(c, c.input([1, 4, 4, 1]), (3, 0), (1, 1), (0, 0))
    c.refused("4 elements cannot be resized to 0")
    c = CASES.new("ScaleAndTranslate by another kernel")
    scaled(c, c.input([1, 4, 4, 1]), (3, 3), (1, 1), (0, 0), kernel_type="sinc")
    c.refused("sinc")
    c = CASES.new("ScaleAndTranslate of no images")
    scaled(c, c.input([4, 4, 1]), (3, 3), (1, 1), (0, 0))
    c.refused("the input [4,4,1] does not have 4 axes")


kernels()
others()
refused()
