# SPDX-License-Identifier: Apache-2.0
"""Activations and normalisations of ONNX Runtime: cases for each attribute and optional operand."""

import contrib_by_hand as by_hand
from contrib_node import HALF, Node, floats, source
from one_node import Const, np


def activations():
    r = source("activations")
    x, bias = floats(r, 2, 3, 8), floats(r, 8)
    yield Node("FastGelu", "FastGelu", [x])
    yield Node("FastGelu with a bias", "FastGelu", [x, bias])
    yield Node("FastGelu with a known bias", "FastGelu", [x, Const(bias, "f4")])
    yield Node("FastGelu of halves", "FastGelu", [x.astype("f2"), bias.astype("f2")], ("f2",), HALF)
    yield Node("BiasGelu", "BiasGelu", [x, bias])
    yield Node("BiasGelu of a matrix", "BiasGelu", [x[0], Const(bias, "f4")])
    yield Node("Gelu", "Gelu", [x])
    yield Node("QuickGelu", "QuickGelu", [x])
    yield Node("QuickGelu, alpha 1", "QuickGelu", [x], alpha=1.0)
    yield Node("QuickGelu, alpha", "QuickGelu", [x], alpha=-0.5)
    yield Node("BiasSplitGelu", "BiasSplitGelu", [x, bias], by_hand=by_hand.bias_split_gelu)
    yield Node("BiasAdd", "BiasAdd", [x, bias, floats(r, 2, 3, 8)], by_hand=by_hand.bias_add)


def bias_softmax():
    r = source("BiasSoftmax")
    x = floats(r, 2, 3, 4, 5)
    for label, shape, axis, inner in (("inner", [2, 1, 1, 5], 3, 1), ("inner, first two", [2, 3, 1, 5], -1, 1),
                                      ("outer", [1, 1, 4, 5], 3, 0), ("outer of lower rank", [3, 4, 5], 3, 0),
                                      ("axes together", [2, 1, 4, 5], 2, 1), ("axis by default", [1, 3, 4, 5], None, 0)):
        attributes = {} if axis is None else {"axis": axis}
        yield Node(f"BiasSoftmax {label}", "BiasSoftmax", [x, floats(r, *shape)], by_hand=by_hand.bias_softmax,
                   is_inner_broadcast=inner, **attributes)


def layer_norms():
    r = source("layer norms")
    x, gamma, beta = floats(r, 2, 3, 8), floats(r, 8), floats(r, 8)
    yield Node("LayerNormalization 12", "::LayerNormalization", [x, gamma, beta], ("f4",) * 3, opset=12)
    yield Node("LayerNormalization 9, axis", "::LayerNormalization", [x, floats(r, 3, 8)], opset=9, axis=1, epsilon=0.5)
    yield Node("LayerNormalization 16 of halves", "::LayerNormalization", [x.astype("f2"), gamma.astype("f2")], ("f2",),
               HALF, opset=16)
    yield Node("SimplifiedLayerNormalization", "::SimplifiedLayerNormalization", [x, Const(gamma, "f4")], ("f4", "f4"))
    yield Node("SimplifiedLayerNormalization, axis", "::SimplifiedLayerNormalization", [x, floats(r, 3, 8)], opset=11, axis=-2,
               epsilon=0.25, stash_type=1)
    skips = {"": floats(r, 2, 3, 8), " of one sample": floats(r, 1, 3, 8), " without samples": floats(r, 3, 8)}
    for op, more in (("SkipLayerNormalization", [beta]), ("SkipSimplifiedLayerNormalization", [])):
        for label, skip in skips.items():
            yield Node(f"{op}, skip{label}", op, [x, skip, gamma], ("f4", None, None, "f4"))
        yield Node(f"{op} with all operands", op, [x, skips[""], gamma, *more, floats(r, 8)], ("f4", None, None, "f4"), epsilon=0.1)
        yield Node(f"{op} with known weights", op, [x, skips[""], *(Const(w, "f4") for w in (gamma, *more))])
        yield Node(f"{op} of rows", op, [x[0], skips[" without samples"], gamma])
        yield Node(f"{op} of halves", op, [a.astype("f2") for a in (x, skips[""], gamma)], ("f2",), HALF)
    yield Node("SkipLayerNormalization, bias alone", "SkipLayerNormalization", [x, skips[""], gamma, None, floats(r, 8)])


def embeddings():
    r = source("embeddings")
    op = "EmbedLayerNormalization"
    ids, segments = r.randint(0, 6, (2, 3)).astype("i4"), r.randint(0, 2, (2, 3)).astype("i4")
    words, places, kinds, gamma, beta = (floats(r, *s) for s in ((6, 8), (5, 8), (2, 8), (8,), (8,)))
    mask = np.array([[1, 1, 0], [1, 1, 1]], "i4")
    whole = [ids, segments, words, places, kinds, gamma, beta]
    yield Node(f"{op}", op, whole, ("f4", "i4"))
    yield Node(f"{op} with a mask", op, [*whole, mask], ("f4", "i4", "f4"), epsilon=0.5, mask_index_type=1)
    yield Node(f"{op}, a mask of other numbers", op, [*whole, mask * np.array([1, 2, 1], "i4")], ("f4", "i4"))
    yield Node(f"{op} without segments", op, [ids, None, words, places, None, gamma, beta], ("f4", "i4"))
    yield Node(f"{op} of known embeddings", op, [ids, segments, *(Const(a, "f4") for a in whole[2:]), mask], ("f4", "i4"))
    yield Node(f"{op}, positions", op, [*whole, None, r.randint(0, 5, (2, 3)).astype("i4")], ("f4", "i4", "f4"))
    yield Node(f"{op}, shared positions", op, [*whole, None, r.randint(0, 5, (1, 3)).astype("i4")], ("f4", "i4"))


def quantized_embeddings():
    r, op = source("QEmbedLayerNormalization"), "QEmbedLayerNormalization"
    ids, segments = r.randint(0, 6, (2, 3)).astype("i4"), r.randint(0, 2, (2, 3)).astype("i4")
    mask = np.array([[1, 1, 0], [1, 1, 1]], "i4")
    tables = [r.randint(0, 256, s).astype("u1") for s in ((6, 8), (5, 8), (2, 8), (8,), (8,))]
    known = [Const(table, "u1") for table in tables]
    scales = [Const(scale, "f4") for scale in (0.02, 0.03, 0.01, 0.015, 0.025)]
    zeros = [Const(zero, "u1") for zero in (128, 100, 140, 7, 120)]
    yield Node(op, op, [ids, segments, *tables, None, *scales, *zeros], ("f4", "i4"))
    yield Node(f"{op} of known bytes", op, [ids, segments, *known, mask, *scales, *zeros], ("f4", "i4"), epsilon=0.5)
    without = [[a, b, None, c, d] for a, b, _, c, d in (known, scales, zeros)]
    yield Node(f"{op} without segments", op, [ids, None, *without[0], mask, *without[1], *without[2]], ("f4", "i4"))


def group_norms():
    r = source("group norms")
    x, gamma, beta, bias = floats(r, 2, 3, 5, 8), floats(r, 8), floats(r, 8), floats(r, 8)
    first = x.transpose(0, 3, 1, 2)
    norm = {"by_hand": by_hand.group_norm}
    yield Node("GroupNorm", "GroupNorm", [x, gamma, beta], groups=4, activation=0, **norm)
    yield Node("GroupNorm, SiLU", "GroupNorm", [x, gamma, Const(beta, "f4")], groups=2, activation=1, epsilon=0.5, **norm)
    yield Node("GroupNorm, channels first", "GroupNorm", [first, gamma, beta], groups=2, activation=1, channels_last=0, **norm)
    yield Node("GroupNorm of halves", "GroupNorm", [x.astype("f2"), gamma, beta], ("f2",), HALF, groups=8, activation=0,
               channels_last=1, **norm)
    for label, shape in (("", x.shape), (" of channels", (2, 1, 1, 8)), (" as a matrix", (2, 8))):
        yield Node(f"SkipGroupNorm, skip{label}", "SkipGroupNorm", [x, gamma, beta, floats(r, *shape), bias], ("f4", "f4"),
                   groups=4, activation=1, **norm)
    yield Node("SkipGroupNorm without bias", "SkipGroupNorm", [x, gamma, beta, x[::-1]], groups=4, activation=0, **norm)
    for label, shape in (("", first.shape), (" of channels", (2, 8, 1, 1)), (" as a matrix", (2, 8))):
        yield Node(f"SkipGroupNorm, channels first, skip{label}", "SkipGroupNorm", [first, gamma, beta, floats(r, *shape), bias],
                   ("f4", "f4"), groups=2, activation=0, channels_last=0, **norm)


CASES = [*activations(), *bias_softmax(), *layer_norms(), *embeddings(), *quantized_embeddings(), *group_norms()]
