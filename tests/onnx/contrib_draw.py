# SPDX-License-Identifier: Apache-2.0
"""Random nodes of ONNX Runtime's own operators."""

import contrib_by_hand as by_hand
from contrib_node import HALF, Node, floats
from one_node import Const, np


def maybe(r, value, part=0.5):
    return value if r.rand() < part else None


def known(r, array):
    """The array, or a constant of it."""
    return array if array is None or r.rand() < 0.5 else Const(array, array.dtype.str[1:])


def trimmed(inputs):
    while inputs and inputs[-1] is None:
        inputs.pop()
    return inputs


def attributes(r, **choices):
    """Some of the attributes, each with one of its values."""
    return {name: values[r.randint(len(values))] for name, values in choices.items() if r.rand() < 0.6}


def typed(r, arrays, half=0.2):
    """The arrays as floats or, now and then, halves; the type code and how near results are."""
    code = "f2" if r.rand() < half else "f4"
    return [a if a is None or a.dtype.kind != "f" else a.astype(code) for a in arrays], code, HALF if code == "f2" else 2e-5


def extent(r, low=1, high=6):
    return int(r.randint(low, high + 1))


def node(r, op, arrays, outputs=1, half=0.2, **more):
    """outputs: a number of them, or a list of type codes where "T" is that of the floats."""
    arrays, code, within = typed(r, arrays, half)
    codes = ["T"] * outputs if isinstance(outputs, int) else outputs
    return Node(op, op, trimmed([arrays[0], *(known(r, a) for a in arrays[1:])]), [code if c == "T" else c for c in codes],
                within, **more)


def rows(r, rank=None):
    return [extent(r) for _ in range(rank or extent(r, 2, 4))]


def draw_bias_activation(op, optional):
    def draw(r):
        dims = rows(r)
        bias = floats(r, dims[-1])
        return node(r, op, [floats(r, *dims), maybe(r, bias) if optional else bias], half=0 if op == "BiasGelu" else 0.2)
    return draw


def draw_quick_gelu(r):
    return node(r, "QuickGelu", [floats(r, *rows(r))], half=0, **attributes(r, alpha=[1.0, 1.702, -0.5, 3.0]))


def draw_layer_norm(op, inputs):
    def draw(r):
        dims = rows(r)
        axis = int(r.randint(-len(dims), len(dims)))
        weights = [floats(r, *dims[axis:]) for _ in range(inputs)]
        more = weights[:1] + [maybe(r, w) for w in weights[1:]]
        return node(r, "::" + op, [floats(r, *dims), *more], ["T", *(["f4"] * extent(r, 0, 1))], opset=extent(r, 8, 16), axis=axis,
                    **attributes(r, epsilon=[0.5, 1e-3], stash_type=[1]))
    return draw


def draw_skip_norm(op, simplified):
    def draw(r):
        dims = rows(r, extent(r, 2, 3))
        skip = [dims, [1, *dims[1:]], dims[1:]][r.randint(3)] if len(dims) == 3 else dims
        line = [floats(r, dims[-1]) for _ in range(3)]
        more = [line[0], *([] if simplified else [maybe(r, line[1])]), maybe(r, line[2])]
        return node(r, op, [floats(r, *dims), floats(r, *skip), *more], ["T", *([None, None, "T"] if r.rand() < 0.5 else [])],
                    **attributes(r, epsilon=[0.5, 1e-3]))
    return draw


def draw_embedding(r):
    batch, positions, width, segments = extent(r), extent(r), extent(r, 2, 8), r.rand() < 0.6
    count = [extent(r), positions + extent(r, 0, 3), extent(r)]
    table = [floats(r, n, width) for n in count]

    def ids(n, first=batch):
        return r.randint(0, n, (first, positions)).astype("i4")

    return node(r, "EmbedLayerNormalization",
                [ids(count[0]), ids(count[2]) if segments else None, *table[:2], table[2] if segments else None,
                 floats(r, width), floats(r, width), maybe(r, ids(2)), maybe(r, ids(count[1], [1, batch][r.randint(2)]))],
                ["T", "i4", *(["T"] * extent(r, 0, 1))], **attributes(r, epsilon=[0.5, 1e-3], mask_index_type=[0, 1]))


def draw_quantized_embedding(r):
    batch, positions, width, segments = extent(r), extent(r), extent(r, 2, 8), r.rand() < 0.6
    count = [extent(r), positions + extent(r, 0, 3), extent(r)]
    kind, low = ("u1", 0) if r.rand() < 0.5 else ("i1", -128)

    def of_all(make):
        made = [make(i) for i in range(5)]
        return [value if segments or i != 2 else None for i, value in enumerate(made)]

    def ids(n):
        return r.randint(0, n, (batch, positions)).astype("i4")

    shapes = [*([n, width] for n in count), [width], [width]]
    tables = of_all(lambda i: known(r, r.randint(low, low + 256, shapes[i]).astype(kind)))
    scales = of_all(lambda i: known(r, np.array(2.0**-r.randint(5, 8), "f4")))
    zeros = of_all(lambda i: known(r, np.array(r.randint(low, low + 256), kind)))
    return Node("QEmbedLayerNormalization", "QEmbedLayerNormalization",
                [ids(count[0]), ids(count[2]) if segments else None, *tables, maybe(r, ids(2)), *scales, *zeros], ("f4", "i4"),
                1e-4, **attributes(r, epsilon=[0.5, 1e-3]))


def draw_bias_softmax(r):
    dims = rows(r)
    axis, inner = int(r.randint(len(dims))), int(r.randint(2))
    split = int(r.randint(axis + 1))
    bias = [n if i >= axis or (i < split) == inner else 1 for i, n in enumerate(dims)]
    return node(r, "BiasSoftmax", [floats(r, *dims), floats(r, *bias)], by_hand=by_hand.bias_softmax, axis=axis,
                is_inner_broadcast=inner)


def draw_bias_add(r):
    dims = rows(r, 3)
    return node(r, "BiasAdd", [floats(r, *dims), floats(r, dims[2]), floats(r, *dims)], by_hand=by_hand.bias_add)


def draw_bias_split_gelu(r):
    dims = [extent(r), extent(r), 2 * extent(r)]
    return node(r, "BiasSplitGelu", [floats(r, *dims), floats(r, dims[2])], by_hand=by_hand.bias_split_gelu)


def draw_group_norm(skips):
    def draw(r):
        groups, last = extent(r, 1, 3), int(r.randint(2))
        n, h, w, c = extent(r, 1, 3), extent(r, 1, 4), extent(r, 1, 4), groups * extent(r, 1, 4)
        dims = (n, h, w, c) if last else (n, c, h, w)
        arrays = [floats(r, *dims), floats(r, c), floats(r, c)]
        if skips:
            shape = [dims, (n, c), (n, 1, 1, c) if last else (n, c, 1, 1)][r.randint(3)]
            arrays += [floats(r, *shape), *([floats(r, c)] if r.rand() < 0.5 else [])]
        return node(r, "SkipGroupNorm" if skips else "GroupNorm", arrays, 2 if skips else 1, by_hand=by_hand.group_norm,
                    half=0.1, groups=groups, activation=int(r.randint(2)), channels_last=last, **attributes(r, epsilon=[0.5]))
    return draw


DRAWS = {
    "BiasAdd": draw_bias_add,
    "BiasGelu": draw_bias_activation("BiasGelu", False),
    "BiasSoftmax": draw_bias_softmax,
    "BiasSplitGelu": draw_bias_split_gelu,
    "EmbedLayerNormalization": draw_embedding,
    "FastGelu": draw_bias_activation("FastGelu", True),
    "Gelu": lambda r: node(r, "Gelu", [floats(r, *rows(r))], half=0),
    "GroupNorm": draw_group_norm(False),
    "LayerNormalization": draw_layer_norm("LayerNormalization", 2),
    "QEmbedLayerNormalization": draw_quantized_embedding,
    "QuickGelu": draw_quick_gelu,
    "SimplifiedLayerNormalization": draw_layer_norm("SimplifiedLayerNormalization", 1),
    "SkipGroupNorm": draw_group_norm(True),
    "SkipLayerNormalization": draw_skip_norm("SkipLayerNormalization", False),
    "SkipSimplifiedLayerNormalization": draw_skip_norm("SkipSimplifiedLayerNormalization", True),
}
