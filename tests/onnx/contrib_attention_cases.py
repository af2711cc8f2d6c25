# SPDX-License-Identifier: Apache-2.0
"""Attention of ONNX Runtime: cases for each attribute, form of mask and optional operand."""

import contrib_by_hand as by_hand
from contrib_node import HALF, Node, floats, source
from one_node import Const, np

BATCH, QUERIES, HEADS, SIZE, PAST = 2, 3, 2, 4, 2
MASKED = {"mask_filter_value": -500.0}


def masks(keys):
    """Samples of which the second ends early, in all forms."""
    row = np.ones((BATCH, keys), "i4")
    row[1, -1] = 0
    full = np.repeat(row[:, None], QUERIES, 1)
    full[0, 1, 1] = 0
    return {"rows": row, "all": full, "ends": np.array([keys, keys - 1], "i4")}


def projected():
    r, op = source("Attention"), "Attention"
    x, w, b = floats(r, BATCH, QUERIES, 6), floats(r, 6, 3 * HEADS * SIZE, low=-1, high=1), floats(r, 3 * HEADS * SIZE)
    past = floats(r, 2, BATCH, HEADS, PAST, SIZE)
    known = [Const(w, "f4"), Const(b, "f4")]
    yield Node("Attention", op, [x, w, b], num_heads=HEADS)
    yield Node("Attention with known weights", op, [x, *known], ("f4", "f4"), num_heads=HEADS, scale=0.25)
    yield Node("Attention without bias", op, [x, known[0]], num_heads=1)
    starts = {"starts": np.array([3, 2, 0, 1], "i4")}
    for label, mask in (masks(QUERIES) | starts).items():
        yield Node(f"Attention, mask by {label}", op, [x, *known, mask], num_heads=HEADS)
        yield Node(f"Attention, known mask by {label}", op, [x, *known, Const(mask, "i4")], num_heads=HEADS, unidirectional=1, **MASKED)
    yield Node("Attention, unidirectional", op, [x, *known], num_heads=HEADS, unidirectional=1)
    yield Node("Attention with a past", op, [x, *known, None, past], ("f4", "f4"), num_heads=HEADS)
    for label, mask in masks(QUERIES + PAST).items():
        yield Node(f"Attention with a past, mask by {label}", op, [x, *known, mask, past], ("f4", "f4"), num_heads=HEADS,
                   unidirectional=1)
    for shape in ((1, 1), (BATCH, HEADS)):
        yield Node(f"Attention, bias of {shape}", op, [x, *known, None, None, floats(r, *shape, QUERIES, QUERIES)], num_heads=HEADS)
    yield Node("Attention, wide values", op, [x, Const(floats(r, 6, 28), "f4"), floats(r, 28)], num_heads=HEADS,
               qkv_hidden_sizes=[8, 8, 12])


def quantized():
    r, op = source("QAttention"), "QAttention"
    columns = 3 * HEADS * SIZE
    x, w = r.randint(0, 256, (BATCH, QUERIES, 6)).astype("u1"), r.randint(-128, 128, (6, columns)).astype("i1")
    b, past, scale = floats(r, columns), floats(r, 2, BATCH, HEADS, PAST, SIZE), Const(2.0**-7, "f4")
    zero, zeros = Const(121, "u1"), Const(r.randint(-9, 9, columns), "i1")
    each = Const(2.0**-r.randint(6, 9, columns), "f4")
    known = [Const(w, "i1"), Const(b, "f4")]
    yield Node(op, op, [x, w, b, scale, scale], num_heads=HEADS)
    yield Node(f"{op} with zero points", op, [x, *known, np.array(0.01, "f4"), scale, None, np.array(77, "u1"), Const(3, "i1")],
               ("f4", "f4"), num_heads=HEADS)
    yield Node(f"{op} by columns", op, [x, *known, scale, each, None, zero, zeros], num_heads=HEADS, unidirectional=1)
    yield Node(f"{op} of two kinds of bytes", op, [x, Const(w.astype("u1"), "u1"), known[1], scale, scale, None, zero, Const(128, "u1")],
               num_heads=1, scale=0.25)
    for label, mask in masks(QUERIES).items():
        yield Node(f"{op}, mask by {label}", op, [x, *known, scale, scale, mask, zero], num_heads=HEADS, **MASKED)
    yield Node(f"{op} with a past", op, [x, *known, scale, each, masks(QUERIES + PAST)["rows"], zero, zeros, past], ("f4", "f4"),
               num_heads=HEADS)


def multi_head():
    r, op = source("MultiHeadAttention"), "MultiHeadAttention"
    keys, wide = 5, 6
    q, k, v = floats(r, BATCH, QUERIES, HEADS * SIZE), floats(r, BATCH, keys, HEADS * SIZE), floats(r, BATCH, keys, HEADS * wide)
    bias = floats(r, HEADS * (2 * SIZE + wide))
    near, more = floats(r, BATCH, QUERIES, HEADS * SIZE), floats(r, BATCH, QUERIES, HEADS * SIZE)
    past = [floats(r, BATCH, HEADS, PAST, SIZE), floats(r, BATCH, HEADS, PAST, SIZE)]
    yield Node("MultiHeadAttention", op, [q, k, v], num_heads=HEADS)
    yield Node("MultiHeadAttention with a bias", op, [q, k, v, bias], ("f4",) * 3, num_heads=HEADS, scale=0.75)
    yield Node("MultiHeadAttention with a known bias", op, [q, k, v, Const(bias, "f4")], num_heads=HEADS)
    for label, mask in masks(keys).items():
        yield Node(f"MultiHeadAttention, mask by {label}", op, [q, k, v, None, mask], ("f4",) * 4, num_heads=HEADS, **MASKED)
        yield Node(f"MultiHeadAttention, known mask by {label}", op, [q, k, v, bias, Const(mask, "i4")], num_heads=HEADS)
    for shape in ((1, 1), (BATCH, 1), (1, HEADS)):
        yield Node(f"MultiHeadAttention, bias of {shape}", op, [q, k, v, None, None, floats(r, *shape, QUERIES, keys)], num_heads=HEADS)
    for label, mask in ({"nothing": None} | masks(QUERIES + PAST)).items():
        yield Node(f"MultiHeadAttention with a past, mask by {label}", op, [q, near, more, None, mask, None, *past], ("f4",) * 3,
                   num_heads=HEADS, unidirectional=1)
    yield Node("MultiHeadAttention, unidirectional", op, [q, near, more], num_heads=HEADS, unidirectional=1)
    apart = [floats(r, BATCH, HEADS, keys, SIZE), floats(r, BATCH, HEADS, keys, SIZE)]
    yield Node("MultiHeadAttention of keys with heads", op, [q, *apart], num_heads=HEADS)
    yield Node("MultiHeadAttention of keys with heads and a bias", op, [q, *apart, floats(r, 3 * HEADS * SIZE)], num_heads=HEADS)
    packed = {"by_hand": by_hand.multi_head, "num_heads": HEADS}
    for label, line in (("", None), (" and a bias", floats(r, 3 * HEADS * SIZE))):
        yield Node(f"MultiHeadAttention, all packed{label}", op, [floats(r, BATCH, QUERIES, HEADS, 3, SIZE), None, None, line], **packed)
        yield Node(f"MultiHeadAttention, keys packed{label}", op, [q, floats(r, BATCH, keys, HEADS, 2, SIZE), None, line], **packed)


def group_query():
    r, op = source("GroupQueryAttention"), "GroupQueryAttention"
    heads, shared, size, queries = 4, 2, 16, 3
    q, k, v = floats(r, BATCH, queries, heads * size), *(floats(r, BATCH, queries, shared * size) for _ in range(2))
    cache = [Const(floats(r, 9, size // 2, low=-1, high=1), "f4") for _ in range(2)]
    counts = {"num_heads": heads, "kv_num_heads": shared}
    three = ("f4",) * 3

    def call(lengths, total, room=0):
        """past, seqlens_k, total_sequence_length"""
        past = [floats(r, len(lengths), shared, room, size) if room else None for _ in range(2)]
        return [*past, np.array(lengths, "i4") - 1, Const(total, "i4")]

    start = call([3, 3], 3)
    yield Node("GroupQueryAttention", op, [q, k, v, *start], three, **counts)
    yield Node("GroupQueryAttention, packed", op, [np.concatenate([q, k, v], 2), None, None, *start], three, **counts, scale=0.5)
    yield Node("GroupQueryAttention, room for more", op, [q, k, v, *call([3, 3], 3, 5)], three, **counts)
    yield Node("GroupQueryAttention, softcap and window", op, [q, k, v, *start], **counts, softcap=2.0, local_window_size=2)
    yield Node("GroupQueryAttention, all visible", op, [q, k, v, *start], **counts, causal=0, smooth_softmax=1)
    for label, ids in (("", None), (", positions", r.randint(0, 5, (BATCH, queries)).astype("i8"))):
        yield Node(f"GroupQueryAttention, rotary{label}", op, [q, k, v, *start, *cache, ids], three, **counts, do_rotary=1)
        yield Node(f"GroupQueryAttention, rotary and interleaved{label}", op, [q, k, v, *start, *cache, ids], **counts, do_rotary=1,
                   rotary_interleaved=1)
    yield Node("GroupQueryAttention, bias and sinks", op, [q, k, v, *start, None, None, None, floats(r, 1, heads, 3, 3),
                                                           floats(r, heads)], **counts)
    one = [a[:, :1] for a in (q, k, v)]
    for label, lengths, room in (("", [5, 5], 4), (", room for more", [5, 5], 7), (", uneven", [5, 3], 4), (", uneven, room", [4, 5], 8)):
        for rotary in (0, 1):
            inputs = call(lengths, 5, room)
            more = cache if rotary else []
            compared = 1 if label else 3
            yield Node(f"GroupQueryAttention, one more{label}, rotary {rotary}", op, [*one, *inputs, *more], three, **counts,
                       do_rotary=rotary, compared=compared)
            inputs[2] = Const(inputs[2], "i4")
            yield Node(f"GroupQueryAttention, one more, known{label}, rotary {rotary}", op, [*one, *inputs, *more], three, **counts,
                       do_rotary=rotary, local_window_size=2, compared=compared)
    later = [a[:1] for a in (q, k, v)]
    yield Node("GroupQueryAttention, several more", op, [*later, *call([6], 6, 3), *cache], three, **counts, do_rotary=1)
    yield Node("GroupQueryAttention, positions of one more", op, [*one, *call([5, 5], 5, 4), *cache, np.array([[4], [2]])], three,
               **counts, do_rotary=1)


def rotary():
    r, op = source("RotaryEmbedding"), "RotaryEmbedding"
    x, caches = floats(r, 2, 2, 3, 8), [floats(r, 7, 4, low=-1, high=1) for _ in range(2)]
    short = [Const(c[:, :2], "f4") for c in caches]
    flat = x.transpose(0, 2, 1, 3).reshape(2, 3, 16)
    first, each = np.array([2]), np.array([[0, 1, 2], [2, 4, 3]])
    for label, ids in (("", first), (", known", Const(first)), (" each", each), (" each, known", Const(each))):
        yield Node(f"RotaryEmbedding, position{label}", op, [x, ids, *caches])
        yield Node(f"RotaryEmbedding of a matrix, position{label}", op, [flat, ids, *caches], interleaved=1)
    yield Node("RotaryEmbedding, a part", op, [x, first, *short], num_heads=2, rotary_embedding_dim=4, interleaved=1)
    yield Node("RotaryEmbedding of a matrix, a part", op, [flat, each, *short], num_heads=2, rotary_embedding_dim=4)
    yield Node("RotaryEmbedding of a matrix, heads", op, [flat, each, *caches], num_heads=2)
    yield Node("RotaryEmbedding, ragged", op, [x, each, *caches], is_packed_batching=1)
    yield Node("RotaryEmbedding of halves", op, [x.astype("f2"), first, *(c.astype("f2") for c in caches)], ("f2",), HALF)


CASES = [*projected(), *quantized(), *multi_head(), *group_query(), *rotary()]
