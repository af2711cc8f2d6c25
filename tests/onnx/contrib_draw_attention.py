# SPDX-License-Identifier: Apache-2.0
"""Random nodes of ONNX Runtime's operators of attention."""

import contrib_by_hand as by_hand
from contrib_draw import attributes, extent, known, maybe, trimmed
from contrib_node import Node, floats
from one_node import Const, np

NEAR = 1e-4


def raw_mask(r, *dims):
    """0 and 1; the first key is always visible."""
    mask = r.randint(0, 2, dims).astype("i4")
    mask[..., 0] = 1
    return mask


def score_bias(r, batch, heads, queries, keys):
    return floats(r, [1, batch][r.randint(2)], [1, heads][r.randint(2)], queries, keys)


def draw_attention(r):
    batch, heads, queries, size, past = extent(r, 1, 3), extent(r, 1, 3), extent(r, 1, 5), extent(r), extent(r, 0, 3)
    keys, width = queries + past, extent(r)
    value = size if past or r.rand() < 0.5 else extent(r)
    columns = heads * (2 * size + value)
    ends = r.randint(1, keys + 1, batch).astype("i4")
    mask = [None, raw_mask(r, batch, keys), raw_mask(r, batch, queries, keys), ends,
            np.concatenate([ends, np.minimum(r.randint(0, keys, batch), ends - 1)]).astype("i4")][r.randint(5)]
    more = attributes(r, scale=[0.25], mask_filter_value=[-20.0, -1000.0], unidirectional=[0, 1])
    if value != size or r.rand() < 0.3:
        more["qkv_hidden_sizes"] = [heads * size, heads * size, heads * value]
    inputs = [floats(r, batch, queries, width), known(r, floats(r, width, columns, low=-1, high=1)),
              maybe(r, known(r, floats(r, columns))), mask, floats(r, 2, batch, heads, past, size) if past else None,
              None if past else maybe(r, score_bias(r, batch, heads, queries, keys))]
    return Node("Attention", "Attention", trimmed(inputs), ("f4", "f4") if past or (value == size and r.rand() < 0.5) else ("f4",), NEAR,
                num_heads=heads, **more)


def draw_quantized(r):
    batch, heads, queries, size, past, width = (extent(r, 1, 3), extent(r, 1, 3), extent(r, 1, 5), extent(r), extent(r, 0, 3),
                                                extent(r, 1, 40))
    keys, columns = queries + past, 3 * heads * size
    mask = [None, raw_mask(r, batch, keys), raw_mask(r, batch, queries, keys), r.randint(1, keys + 1, batch).astype("i4")][r.randint(4)]
    kinds = ["u1", ["u1", "i1"][r.randint(2)]]
    each = [(), (columns,)][r.randint(2)]

    def integers(kind, *shape):
        low = -128 if kind == "i1" else 0
        return r.randint(low, low + 256, shape).astype(kind)

    inputs = [integers(kinds[0], batch, queries, width), known(r, integers(kinds[1], width, columns)), known(r, floats(r, columns)),
              known(r, np.array(2.0**-r.randint(5, 9), "f4")), known(r, np.array(2.0**-r.randint(6, 9, each), "f4")), mask,
              maybe(r, known(r, np.array(integers(kinds[0])))), maybe(r, known(r, np.array(integers(kinds[1], *each)))),
              floats(r, 2, batch, heads, past, size) if past else None]
    return Node("QAttention", "QAttention", trimmed(inputs), ("f4", "f4") if past or r.rand() < 0.5 else ("f4",), NEAR, num_heads=heads,
                **attributes(r, scale=[0.25], mask_filter_value=[-20.0, -1000.0], unidirectional=[0, 1]))


def draw_multi_head(r):
    batch, heads, queries, size = extent(r, 1, 3), extent(r, 1, 3), extent(r, 1, 5), extent(r)
    form, outputs = r.randint(4), ("f4",)
    past, keys, value = 0, extent(r, 1, 5), extent(r)
    bias = None
    if form == 0:  # keys of another attention
        value = size
        k, v = floats(r, batch, heads, keys, size), floats(r, batch, heads, keys, size)
        total = keys
        bias = maybe(r, floats(r, heads * 3 * size))
    else:
        past = extent(r, 1, 3) if form == 1 else 0
        keys = queries if r.rand() < 0.5 else keys
        value = size if past else value
        k, v = floats(r, batch, keys, heads * size), floats(r, batch, keys, heads * value)
        total = past + keys
        bias = maybe(r, floats(r, heads * (2 * size + value)))
        outputs = ("f4", "f4", "f4") if past or r.rand() < 0.5 else outputs
    more = attributes(r, scale=[0.25], mask_filter_value=[-20.0, -1000.0], unidirectional=[0, int(keys == queries)])
    if len(outputs) == 3 and not more.get("unidirectional") and r.rand() < 0.5:
        outputs = (*outputs, "f4")
    mask = [None, None, raw_mask(r, batch, total), raw_mask(r, batch, queries, total), r.randint(1, total + 1, batch).astype("i4")][
        r.randint(5)]
    pasts = [floats(r, batch, heads, past, size), floats(r, batch, heads, past, size)] if past else []
    inputs = [floats(r, batch, queries, heads * size), k, v, bias, mask, maybe(r, score_bias(r, batch, heads, queries, total)), *pasts]
    return Node("MultiHeadAttention", "MultiHeadAttention", trimmed(inputs), outputs, NEAR, num_heads=heads, **more)


def draw_rotary(r):
    batch, heads, positions, size = extent(r, 1, 3), extent(r, 1, 3), extent(r, 1, 4), 2 * extent(r, 1, 5)
    packed, part = r.rand() < 0.5, r.rand() < 0.5
    dim = 2 * extent(r, 1, size // 2) if part else size
    rows = positions + extent(r, 0, 3)
    caches = [known(r, floats(r, rows, dim // 2, low=-1, high=1)) for _ in range(2)]
    ids = r.randint(0, rows - positions + 1, 1) if r.rand() < 0.5 else r.randint(0, rows, (batch, positions))
    x = floats(r, batch, positions, heads * size) if packed else floats(r, batch, heads, positions, size)
    more = {"rotary_embedding_dim": dim, "num_heads": heads} if part else {"num_heads": heads} if r.rand() < 0.5 else {}
    return Node("RotaryEmbedding", "RotaryEmbedding", [x, known(r, ids.astype("i8")), *caches], **more,
                **attributes(r, interleaved=[0, 1]))


def draw_group_query(r):
    shared, group, rotary = extent(r, 1, 2), extent(r, 1, 3), r.rand() < 0.5
    size, heads = 16 if rotary else 8, shared * group
    first = r.rand() < 0.5
    batch = extent(r, 1, 3)
    queries = extent(r, 1, 5) if first or batch == 1 else 1
    past = 0 if first else extent(r, 1, 4)
    total = past + queries
    room = [0, total + 2][r.randint(2)] if first else past + [0, queries, queries + 2][r.randint(3)]
    uneven = batch > 1 and r.rand() < 0.5
    lengths = r.randint(1 if first else queries, total + 1, batch) if uneven else np.full(batch, total)
    lengths[0] = total
    ordinary = r.rand() < 0.7
    more = attributes(r, scale=[0.25], softcap=[3.0], smooth_softmax=[0, 1])
    more |= attributes(r, local_window_size=[1, 2, 3]) if ordinary else {"causal": 0}
    q, k, v = floats(r, batch, queries, heads * size), *(floats(r, batch, queries, shared * size) for _ in range(2))
    inputs = [np.concatenate([q, k, v], 2), None, None] if r.rand() < 0.3 else [q, k, v]
    inputs += [floats(r, batch, shared, room, size) if room else None for _ in range(2)]
    inputs += [known(r, (lengths - 1).astype("i4")), Const(total, "i4")]
    if rotary:
        more |= {"do_rotary": 1, **attributes(r, rotary_interleaved=[0, 1])}
        inputs += [known(r, floats(r, total + 2, size // 2, low=-1, high=1)) for _ in range(2)]
        inputs += [maybe(r, known(r, r.randint(0, 3 if first else total + 2, (batch, queries)).astype("i8")), 0.3)]
    else:
        inputs += [None] * 3
    inputs += [maybe(r, score_bias(r, batch, heads, queries, total), 0.3), maybe(r, floats(r, heads), 0.2)]
    return Node("GroupQueryAttention", "GroupQueryAttention", trimmed(inputs), ("f4", "f4", "f4"), NEAR, lengths=lengths, num_heads=heads,
                kv_num_heads=shared, **more)


DRAWS = {"Attention": draw_attention, "GroupQueryAttention": draw_group_query, "MultiHeadAttention": draw_multi_head,
         "QAttention": draw_quantized, "RotaryEmbedding": draw_rotary}
