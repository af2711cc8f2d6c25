# SPDX-License-Identifier: Apache-2.0
"""ONNX attention and what stands around it in transformers, each as a model of one node that is converted and executed;
NumPy says what must come out. What cannot be converted must be refused with the reason."""

from one_node import Const, Model, gives, np, refuses
from checks import Checks
from onnx_writer import FLOAT, FLOAT16

NEAR = 4e-6  # of the largest value: a few roundings of float32
HALF = 2e-3  # of float16


def values(*shape, seed=0, dtype="f4"):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def heads(x, count):
    """[batch, positions, heads * size] with an axis of heads."""
    return x.reshape(*x.shape[:2], count, -1).transpose(0, 2, 1, 3)


def attend(q, k, v, bias=0.0, scale=None, cap=0.0):
    """(y, [raw, capped, biased, probabilities]) of [batch, heads, positions, size]; rows without a key give 0."""
    q, k, v = (x.astype("f8") for x in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    raw = q @ k.transpose(0, 1, 3, 2) * (scale or 1 / np.sqrt(q.shape[3]))
    capped = cap * np.tanh(raw / cap) if cap else raw
    biased = capped + bias
    dead = np.broadcast_to(np.max(bias + 0 * raw, axis=3, keepdims=True) == -np.inf, raw.shape)
    shifted = np.where(dead, -np.inf, biased - np.where(dead, 0, biased).max(3, keepdims=True))
    weights = np.exp(shifted)
    weights /= np.where(dead, 1, weights.sum(3, keepdims=True))
    return weights @ v, [raw, capped, biased, weights]


def hidden(visible):
    return np.where(visible, 0, -np.inf)


def single(arrays):
    return [array.astype("f4") for array in arrays]


# Two queries' heads share one of keys: no two axes are alike.
Q, K, V = values(2, 6, 4, 8), values(2, 3, 5, 8), values(2, 3, 5, 7)
ROW, COLUMN = np.arange(4)[:, None], np.arange(5)


def test_heads(checks):
    y, _ = attend(Q, K, V)
    gives(checks, "Attention", 23, [Q, K, V], y.astype("f4"), within=NEAR)
    packed = [x.transpose(0, 2, 1, 3).reshape(2, x.shape[2], -1) for x in (Q, K, V, y.astype("f4"))]
    gives(checks, "Attention", 24, packed[:3], packed[3], within=NEAR, q_num_heads=6, kv_num_heads=3)
    gives(checks, "Attention", 23, [Q, K, V], attend(Q, K, V, scale=0.5)[0].astype("f4"), within=NEAR, scale=0.5)
    gives(checks, "Attention", 23, [Q, K, V], attend(-Q, K, V, scale=0.5)[0].astype("f4"), within=NEAR, scale=-0.5)
    refuses(checks, "cannot be divided into 5 heads", "Attention", 23, packed[:3], q_num_heads=5, kv_num_heads=3)
    refuses(checks, "the numbers of heads are not those of the inputs", "Attention", 23, [Q, K, V], q_num_heads=3)
    refuses(checks, "do not fit together", "Attention", 23, [Q[:, :4], K, V])
    refuses(checks, "Q, K and V have the ranks 4, 3 and 4", "Attention", 23, [Q, packed[1], V])
    refuses(checks, "Q and K are float32 and float16", "Attention", 23, [Q, K.astype("f2"), V])


def test_masks(checks):
    mask = values(6, 4, 5, seed=1)
    gives(checks, "Attention", 23, [Q, K, V, mask], attend(Q, K, V, mask)[0].astype("f4"), within=NEAR)
    column = values(4, 1, seed=2)
    gives(checks, "Attention", 23, [Q, K, V, column], attend(Q, K, V, column)[0].astype("f4"), within=NEAR)
    visible = values(2, 1, 4, 5, seed=3) > -0.5
    visible[1, 0, 2] = False  # sees nothing
    for given in (visible, Const(visible, "b1"), hidden(visible).astype("f4")):
        gives(checks, "Attention", 23, [Q, K, V, given], attend(Q, K, V, hidden(visible))[0].astype("f4"), within=NEAR)
    # From opset 24 on a mask may end early: the other keys are not seen.
    for given in (mask[..., :3], mask[0, :, :1]):
        bias = np.full((*given.shape[:-1], 5), -np.inf)
        bias[..., : given.shape[-1]] = given
        gives(checks, "Attention", 24, [Q, K, V, given], attend(Q, K, V, bias)[0].astype("f4"), within=NEAR)
    refuses(checks, "the mask [6,4,3] cannot be broadcast to the scores [2,6,4,5]", "Attention", 23,
            [Q, K, V, mask[..., :3]])
    refuses(checks, "cannot be float32[]", "Attention", 23, [Q, K, V, np.array(1, "f4")])


def test_positions(checks):
    causal = hidden(COLUMN <= ROW)
    gives(checks, "Attention", 23, [Q, K, V], attend(Q, K, V, causal)[0].astype("f4"), within=NEAR, is_causal=1)
    mask = values(4, 5, seed=4) > -0.3
    both = hidden((COLUMN <= ROW) & mask)
    gives(checks, "Attention", 23, [Q, K, V, mask], attend(Q, K, V, both)[0].astype("f4"), within=NEAR, is_causal=1)
    near = hidden((COLUMN >= ROW - 1) & (COLUMN <= ROW + 2))
    gives(checks, "Attention", 25, [Q, K, V], attend(Q, K, V, near)[0].astype("f4"), within=NEAR,
          left_window_size=1, right_window_size=2)
    past = [values(2, 3, 2, 8, seed=5), values(2, 3, 2, 7, seed=6)]
    k, v = np.concatenate([past[0], K], 2), np.concatenate([past[1], V], 2)
    late = hidden((np.arange(7) <= ROW + 2) & (np.arange(7) >= ROW + 2 - 3))
    gives(checks, "Attention", 25, [Q, K, V, None, *past], single([attend(Q, k, v, late)[0], k, v]), within=NEAR,
          is_causal=1, left_window_size=3)
    refuses(checks, "given together or not at all", "Attention", 23, [Q, K, V, None, past[0]])
    refuses(checks, "left_window_size is -2", "Attention", 25, [Q, K, V], left_window_size=-2)


def test_lengths(checks):
    """The first of the keys are valid: how many, only the running model knows."""
    lengths = np.array([2, 5])
    ends = lengths[:, None, None, None]
    given = [Q, K, V, None, None, None]
    padded = hidden(COLUMN < ends)
    for each in (lengths, Const(lengths)):
        gives(checks, "Attention", 24, [*given, each], attend(Q, K, V, padded)[0].astype("f4"), within=NEAR)
    causal = hidden((COLUMN < ends) & (COLUMN <= ROW + ends - 4))
    gives(checks, "Attention", 24, [*given, lengths], attend(Q, K, V, causal)[0].astype("f4"), within=NEAR, is_causal=1)
    near = hidden((COLUMN < ends) & (COLUMN <= ROW + ends - 4 + 1) & (COLUMN >= ROW + ends - 4 - 1))
    mask = values(6, 4, 5, seed=7)
    gives(checks, "Attention", 25, [Q, K, V, mask, None, None, lengths], attend(Q, K, V, near + mask)[0].astype("f4"),
          within=NEAR, left_window_size=1, right_window_size=1)
    refuses(checks, "nonpad_kv_seqlen [3] is not one length per sample", "Attention", 24,
            [*given, np.array([1, 2, 3])])
    refuses(checks, "exclude each other", "Attention", 24, [Q, K, V, None, K, V, lengths])


def test_scores(checks):
    bias = hidden(COLUMN <= ROW)
    y, stages = attend(Q, K, V, bias, cap=0.5)
    for mode, stage in enumerate(stages):
        expected = single([y, K, V, stage])
        gives(checks, "Attention", 24, [Q, K, V], expected, within=NEAR, is_causal=1, softcap=0.5,
              qk_matmul_output_mode=mode)
    half = [x.astype("f2") for x in (Q, K, V)]
    y, stages = attend(*half)
    gives(checks, "Attention", 23, half, y.astype("f2"), within=HALF)
    gives(checks, "Attention", 23, half, [x.astype("f2") for x in (y, *half[1:], stages[3])], within=HALF,
          softmax_precision=FLOAT, qk_matmul_output_mode=3)
    gives(checks, "Attention", 23, [Q, K, half[2]], attend(Q, K, half[2])[0].astype("f4"), within=NEAR)
    gives(checks, "Attention", 23, [Q, K, V], attend(Q, K, V)[0].astype("f4"), within=HALF, softmax_precision=FLOAT16)
    refuses(checks, "7 is not a floating-point type", "Attention", 23, [Q, K, V], softmax_precision=7)
    refuses(checks, "the mode 4 is not known", "Attention", 23, [Q, K, V], qk_matmul_output_mode=4)
    refuses(checks, "softcap is -1", "Attention", 23, [Q, K, V], softcap=-1.0)


def subgraph(op, dims=(2, 6, 4, 5)):
    """x op x"""
    graph = Model()
    graph.input("x", FLOAT, dims)
    graph.node(op, ["x", "x"], ["y"])
    graph.output("y", FLOAT, None)
    return graph


def test_flex_attention(checks):
    op = "ai.onnx.preview::FlexAttention"
    gives(checks, op, 26, [Q, K, V], attend(Q, K, V, scale=0.25)[0].astype("f4"), within=NEAR, scale=0.25)
    half = [x.astype("f2") for x in (Q, K, V)]
    gives(checks, op, 26, half, attend(*half)[0].astype("f2"), within=HALF)
    doubled = attend(Q, K, V, scale=2 / np.sqrt(8))[0]
    gives(checks, op, 26, [Q, K, V], doubled.astype("f4"), within=NEAR, score_mod=subgraph("Add"))
    squares = attend(Q, K, V)[1][3] ** 2 @ np.repeat(V, 2, axis=1)
    gives(checks, op, 26, [Q, K, V], squares.astype("f4"), within=NEAR, prob_mod=subgraph("Mul"))
    refuses(checks, "score_mod makes bool[2,6,4,5] of float32[2,6,4,5]", op, 26, [Q, K, V],
            score_mod=subgraph("Greater"))


def recurrence(q, k, v, state, decay=None, rate=None, scale=None):
    """Position by position; all with an axis of heads."""
    group, y = q.shape[1] // k.shape[1], []
    state = np.zeros((*k.shape[:2], k.shape[3], v.shape[3])) if state is None else state.astype("f8")
    for t in range(q.shape[2]):
        key, value = k[:, :, t, :, None], v[:, :, t, None, :]
        if decay is not None:
            state = state * np.exp(decay[:, :, t, :, None])
        if rate is not None:
            value = rate[:, :, t, :, None] * (value - np.sum(state * key, axis=2, keepdims=True))
        state = state + key * value
        y.append(np.einsum("bhd,bhdv->bhv", q[:, :, t], np.repeat(state, group, axis=1)))
    scale = scale or 1 / np.sqrt(q.shape[3])
    return (scale * np.stack(y, 1)).reshape(q.shape[0], q.shape[2], -1), state


def test_linear_attention(checks):
    q, k, v = values(2, 5, 6 * 4), values(2, 5, 3 * 4), values(2, 5, 3 * 7)
    state = values(2, 3, 4, 7)
    slow, fast = -np.abs(values(2, 5, 3 * 4, seed=1)), -np.abs(values(2, 5, 3, seed=2))
    one, each = np.abs(values(2, 5, 1, seed=3)) / 2, np.abs(values(2, 5, 3, seed=4)) / 2
    of_heads = [heads(q, 6), heads(k, 3), heads(v, 3)]
    counts = {"q_num_heads": 6, "kv_num_heads": 3}
    for rule, start, decay, rate in (("linear", state, None, None), ("linear", None, None, None),
                                     ("gated", state, slow, None), ("gated", None, fast, None),
                                     ("delta", state, None, each), ("delta", None, None, one),
                                     ("gated_delta", state, fast, each), ("gated_delta", None, slow, one)):
        y = recurrence(*of_heads, start, None if decay is None else heads(decay, 3),
                       None if rate is None else heads(rate, rate.shape[2]), scale=0.3)
        gives(checks, "LinearAttention", 27, [q, k, v, start, decay, rate], single(y), within=NEAR, update_rule=rule,
              scale=0.3, **counts)
    # One step in float16 with a state in float32; the default rule and scale.
    step = [x[:, :1].astype("f2") for x in (q, k, v, slow, each)]
    y, end = recurrence(*(heads(x, n) for x, n in zip(step, (6, 3, 3))), state, heads(step[3], 3), heads(step[4], 3))
    gives(checks, "LinearAttention", 27, [*step[:3], state, *step[3:]], [y.astype("f2"), end.astype("f4")], within=HALF,
          **counts)
    refuses(checks, "the rule gated needs the input decay", "LinearAttention", 27, [q, k, v], 2, update_rule="gated",
            **counts)
    refuses(checks, "the rule linear excludes the input beta", "LinearAttention", 27, [q, k, v, None, None, one], 2,
            update_rule="linear", **counts)
    refuses(checks, "the state is [2,3,7,4] instead of [2,3,4,7]", "LinearAttention", 27,
            [q, k, v, state.transpose(0, 1, 3, 2)], 2, update_rule="linear", **counts)
    long = [values(1, 600, size) for size in (12, 6, 9)]
    refuses(checks, "600 positions are not between 1 and 512", "LinearAttention", 27, long, 2, update_rule="linear",
            **counts)


def rotate(x, cos, sin, interleaved):
    """[..., size] with cos and sin of half the size."""
    half = cos.shape[-1]
    first, second = (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    pair = first * cos - second * sin, first * sin + second * cos
    return np.stack(pair, -1).reshape(x.shape) if interleaved else np.concatenate(pair, -1)


def test_rotary_embedding(checks):
    x, cos, sin = values(2, 3, 4, 6), values(9, 3), values(9, 3, seed=1)
    ids = np.array([[0, 3, 8, 1], [2, 2, 7, 5]])
    for interleaved in (0, 1):
        y = rotate(x, cos[ids][:, None], sin[ids][:, None], interleaved)
        for each in (ids, Const(ids)):
            gives(checks, "RotaryEmbedding", 23, [x, cos, sin, each], y, within=NEAR, interleaved=interleaved)
        gives(checks, "RotaryEmbedding", 23, [x, cos[ids], sin[ids]], y, within=NEAR, interleaved=interleaved)
        flat = x.transpose(0, 2, 1, 3).reshape(2, 4, 18)
        expected = y.transpose(0, 2, 1, 3).reshape(2, 4, 18)
        gives(checks, "RotaryEmbedding", 23, [flat, cos, sin, ids], expected, within=NEAR, interleaved=interleaved,
              num_heads=3)
        part = [cache[:, :2] for cache in (cos, sin)]
        rotated = rotate(x[..., :4], *(cache[ids][:, None] for cache in part), interleaved)
        gives(checks, "RotaryEmbedding", 23, [x, *part, ids], np.concatenate([rotated, x[..., 4:]], -1), within=NEAR,
              interleaved=interleaved, rotary_embedding_dim=4)
    refuses(checks, "3 of 6 elements cannot be rotated in pairs", "RotaryEmbedding", 23, [x, cos, sin, ids],
            rotary_embedding_dim=3)
    refuses(checks, "cos_cache gives [2,4,3] instead of [2,4,2]", "RotaryEmbedding", 23, [x, cos, sin, ids],
            rotary_embedding_dim=4)
    refuses(checks, "position_ids [4,2] do not pick rows", "RotaryEmbedding", 23, [x, cos, sin, ids.T.copy()])
    refuses(checks, "cannot be divided into 0 heads", "RotaryEmbedding", 23, [flat, cos, sin, ids])


def scatter(cache, update, begin, axis, circular):
    out, extent = cache.copy(), cache.shape[axis]
    for sample, first in enumerate(begin):
        for i in range(update.shape[axis]):
            at = (first + i) % extent if circular else first + i
            target, source = (np.moveaxis(x[sample], axis - 1, 0) for x in (out, update))
            target[at] = source[i]
    return out


def test_tensor_scatter(checks):
    cache, update, begin = values(2, 3, 5, 4), values(2, 3, 2, 4, seed=1), np.array([3, 1])
    for each in (begin, Const(begin)):
        gives(checks, "TensorScatter", 24, [cache, update, each], scatter(cache, update, begin, 2, False))
    gives(checks, "TensorScatter", 24, [cache, update], scatter(cache, update, [0, 0], 2, False))
    around = np.array([4, 0])
    gives(checks, "TensorScatter", 24, [cache, update, around], scatter(cache, update, around, 2, True),
          mode="circular")
    last, first = values(2, 3, 5, 3, seed=2), values(2, 1, 5, 4, seed=3)
    gives(checks, "TensorScatter", 24, [cache, last, np.array([1, 0])], scatter(cache, last, [1, 0], 3, False), axis=-1)
    gives(checks, "TensorScatter", 24, [cache, first, np.array([2, 0])], scatter(cache, first, [2, 0], 1, False), axis=1)
    whole = np.arange(40).reshape(2, 5, 4).astype("i4")
    gives(checks, "TensorScatter", 24, [whole, -whole[:, :2], begin], scatter(whole, -whole[:, :2], begin, 1, False))
    refuses(checks, "position 5 is outside the cache", "TensorScatter", 24, [cache, update, Const([4, 0])])
    refuses(checks, "the axis of the batch cannot be the sequence", "TensorScatter", 24, [cache, update], axis=0)
    refuses(checks, "an update [2,3,2,4] does not fit a cache [2,3,5,4]", "TensorScatter", 24, [cache, update], axis=3)
    refuses(checks, "the mode ring is not known", "TensorScatter", 24, [cache, update], mode="ring")
    refuses(checks, "write_indices [3] are not one per sample", "TensorScatter", 24,
            [cache, update, np.array([0, 1, 2])])


def test_causal_conv(checks):
    x, w, bias, past = values(2, 3, 5), values(3, 1, 4), values(3), values(2, 3, 3)
    for state in (past, None):
        line = np.concatenate([np.zeros_like(past) if state is None else state, x], 2)
        y = sum(line[:, :, i : i + 5] * w[:, 0, i, None] for i in range(4))
        end = line[:, :, 5:]
        gives(checks, "CausalConvWithState", 27, [x, w, None, state], [y, end], within=NEAR)
        for weights in (w, Const(w, "f4")):
            gives(checks, "CausalConvWithState", 27, [x, weights, bias, state], [y + bias[:, None], end], within=NEAR)
        gives(checks, "CausalConvWithState", 27, [x, w, None, state], [y / (1 + np.exp(-y)), end], within=NEAR,
              activation="silu")
    short = np.concatenate([past, x[:, :, :1]], 2)
    gives(checks, "CausalConvWithState", 27, [x[:, :, :1], w, None, past],
          [(short * w[:, 0]).sum(2, keepdims=True), short[:, :, 1:]], within=NEAR)
    gives(checks, "CausalConvWithState", 27, [x, w[:, :, :1].copy()], x * w[:, 0, :1], within=NEAR)
    refuses(checks, "the state is [2,3,2] instead of [2,3,3]", "CausalConvWithState", 27,
            [x, w, None, past[:, :, 1:].copy()], 2)
    refuses(checks, "the activation tanh is not known", "CausalConvWithState", 27, [x, w], 2, activation="tanh")
    refuses(checks, "weights [3,1,4] do not fit an input [2,4,5]", "CausalConvWithState", 27, [values(2, 4, 5), w], 2)


def test_swiglu(checks):
    a, b = values(2, 3, 4), values(2, 3, 4, seed=1)
    gives(checks, "SwiGLU", 28, [a, b], a / (1 + np.exp(-a)) * b, within=NEAR)
    gives(checks, "SwiGLU", 28, [a, b], a / (1 + np.exp(-a * np.float32(1.5))) * b, within=NEAR, alpha=1.5)
    refuses(checks, "the operands [2,3,4] and [3,4] differ in shape", "SwiGLU", 28, [a, b[0]])


def einsum(checks, equation, *shapes, numpy=None, dtype="i4"):
    """Small integers, whose sums are exact."""
    terms = [(np.random.default_rng([i, *shape]).integers(-4, 5, shape)).astype(dtype) for i, shape in enumerate(shapes)]
    expected = np.einsum(numpy or equation, *terms).astype(dtype)
    gives(checks, "Einsum", 12, terms, np.asarray(expected), equation=equation)


def test_einsum(checks):
    for dtype in ("f4", "i4"):
        einsum(checks, "bij,bjk->bik", (2, 3, 4), (2, 4, 5), dtype=dtype)
    einsum(checks, "bhqd, bhkd -> bhqk", (2, 3, 4, 5), (2, 3, 6, 5))  # as it stands, transposed by the product
    einsum(checks, "jbi,kjb->kib", (4, 2, 3), (5, 4, 2))
    einsum(checks, "ij,jk,kl->li", (2, 3), (3, 4), (4, 5))
    einsum(checks, "aij,ajk,k->a", (2, 3, 4), (2, 4, 5), (5,))
    einsum(checks, "ijk->kij", (2, 3, 4))
    einsum(checks, "ijk->j", (2, 3, 4))
    einsum(checks, "bA,Ab", (2, 3), (3, 2))  # nothing stands once
    einsum(checks, "bAc,c", (2, 3, 4), (4,))  # A before b
    einsum(checks, "i,j->ji", (2,), (3,))
    einsum(checks, "iji->j", (3, 2, 3))
    einsum(checks, "iijj->ij", (2, 2, 3, 3))
    einsum(checks, "iii", (3, 3, 3))
    einsum(checks, "ii,i->i", (3, 3), (3,))
    einsum(checks, "...ij,...jk->...ik", (2, 3, 4), (5, 1, 4, 6))
    einsum(checks, "...i,...i", (2, 3, 4), (3, 4))
    einsum(checks, "i...->...i", (2, 3, 4))
    einsum(checks, "...ii->...i", (2, 3, 3))
    einsum(checks, "i...j,j->i...", (2, 3, 4, 5), (5,))
    einsum(checks, ",ij->ji", (), (2, 3))
    einsum(checks, "ij,ij->i", (2, 1), (2, 3))  # axes of 1 are repeated
    einsum(checks, "abcdefg,gfhi->abcdehi", (1, 2, 1, 2, 1, 3, 2), (2, 3, 2, 2))
    refuses(checks, "does not have a term for each of 2 inputs", "Einsum", 12, [Q, K], equation="abcd->a")
    refuses(checks, "term 0 names 3 axes of an input [2,6,4,8]", "Einsum", 12, [Q], equation="abc")
    refuses(checks, "'1' has no meaning there", "Einsum", 12, [Q], equation="abc1")
    refuses(checks, "the result has a label twice", "Einsum", 12, [Q], equation="abcd->aba")
    refuses(checks, "the result has a label that no term has", "Einsum", 12, [Q], equation="abcd->x")
    refuses(checks, "the result lacks the ellipsis", "Einsum", 12, [Q], equation="...a->a")
    refuses(checks, "axes 0 and 1 of [2,6,4,8] have one label", "Einsum", 12, [Q], equation="aabc")
    refuses(checks, "axes of 8 and 7 elements", "Einsum", 12, [Q, V], equation="abcd,efgd->a")
    refuses(checks, "a product on the way has more than 8 axes", "Einsum", 12, [values(*[1] * 5), values(*[1] * 5)] * 2,
            equation="abcde,fghij,abcde,fghij->a")
    refuses(checks, "the equation is missing", "Einsum", 12, [Q])


def main():
    checks = Checks()
    if np is None:
        checks.skip("attention operators", "python3-numpy is not there")
        checks.finish()
    for test in (test_heads, test_masks, test_positions, test_lengths, test_scores, test_flex_attention,
                 test_linear_attention, test_rotary_embedding, test_tensor_scatter, test_causal_conv, test_swiglu,
                 test_einsum):
        test(checks)
    checks.finish()


main()
