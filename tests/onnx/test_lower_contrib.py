# SPDX-License-Identifier: Apache-2.0
"""Operators that ONNX Runtime adds to ONNX, each as a model of one node that is converted and executed. What must come out is
what ONNX Runtime computed (make_contrib.py). What cannot be converted must be refused with the reason."""

from contrib_family import try_family
from one_node import Const, gives, np, refuses
from checks import Checks

X, LINE, IDS = (np.ones((2, 3, 8), "f4"), np.ones(8, "f4"), np.zeros((2, 3), "i4")) if np else (None,) * 3


def refuse(checks, message, op, inputs, n_outputs=1, **attributes):
    refuses(checks, message, f"com.microsoft::{op}", 17, inputs, n_outputs, **attributes)


def test_norm(checks):
    try_family(checks, "norm")
    refuse(checks, "bias is [7] instead of [8]", "FastGelu", [X, LINE[:7]])
    refuse(checks, "cannot be halved along a third axis", "BiasSplitGelu", [X[..., :7], LINE[:7]])
    refuse(checks, "are not of one shape", "BiasAdd", [X, LINE, X[:1]])
    refuse(checks, "it is neither 0 nor 1", "BiasSoftmax", [X, X])
    for shape, inner in (([2, 1, 8], 0), ([1, 3, 8], 1), ([2, 3, 1], 1), ([1, 2, 3, 8], 0)):
        refuse(checks, "does not fit [2,3,8] with axis 2", "BiasSoftmax", [X, np.ones(shape, "f4")], axis=2,
               is_inner_broadcast=inner)
    refuse(checks, "skip float32[2,1,8] cannot be added to float32[2,3,8]", "SkipLayerNormalization", [X, X[:, :1], LINE])
    refuse(checks, "skip float16[2,3,8] cannot be added", "SkipLayerNormalization", [X, X.astype("f2"), LINE])
    refuse(checks, "gamma is [1,8] instead of [8]", "SkipLayerNormalization", [X, X, LINE[None]])
    refuse(checks, "nothing defines the mean", "SkipSimplifiedLayerNormalization", [X, X, LINE], 2)
    embedding = np.ones((4, 8), "f4")
    refuse(checks, "does not pick rows of an embedding [4,8] for [2,3]", "EmbedLayerNormalization",
           [IDS, IDS[:1], embedding, embedding, embedding, LINE, LINE])
    refuse(checks, "position_embedding [2,8] does not have 3 rows", "EmbedLayerNormalization",
           [IDS, None, embedding, embedding[:2], None, LINE, LINE])
    refuse(checks, "rows of different lengths", "EmbedLayerNormalization",
           [IDS, None, embedding, embedding[:, :1], None, LINE, LINE])
    refuse(checks, "given together or not at all", "EmbedLayerNormalization",
           [IDS, None, embedding, embedding, embedding, LINE, LINE])
    refuse(checks, "the mask is int32[2,2] instead of int32[2,3]", "EmbedLayerNormalization",
           [IDS, None, embedding, embedding, None, LINE, LINE, IDS[:, :2]], 2)
    image = np.ones((1, 2, 3, 8), "f4")
    refuse(checks, "channels_last is 2, neither 0 nor 1", "GroupNorm", [image, LINE, LINE], groups=2, activation=0, channels_last=2)
    refuse(checks, "8 channels do not divide into 3 groups", "GroupNorm", [image, LINE, LINE], groups=3, activation=0)
    refuse(checks, "it is neither 0 nor 1", "GroupNorm", [image, LINE, LINE], groups=2)
    refuse(checks, "does not have four axes", "GroupNorm", [X, LINE, LINE], groups=2, activation=0)
    refuse(checks, "skip [2,3,8] cannot be added to [1,2,3,8]", "SkipGroupNorm", [image, LINE, LINE, X], groups=2, activation=0)


def test_layer(checks):
    try_family(checks, "layer")
    image, weights = np.ones((1, 2, 5, 4), "f4"), np.ones((3, 2, 3, 3), "f4")
    refuse(checks, "the operands are not of one rank of 3 or more", "FusedMatMul", [X, X[0]], transBatchA=1)
    refuse(checks, 'the activation "Gelu" is not supported', "FusedGemm", [X[0], X[0].T], activation="Gelu")
    refuse(checks, 'the activation "" is not supported', "FusedGemm", [X[0], X[0].T])
    refuse(checks, "activation_alpha is missing", "FusedGemm", [X[0], X[0].T], activation="LeakyRelu")
    refuse(checks, 'the activation "Elu" is not supported', "FusedConv", [image, weights], activation="Elu")
    refuse(checks, "1 numbers instead of 2", "FusedConv", [image, weights], activation="Clip", activation_params=[1.0])
    refuse(checks, "Z is [1,3,2,3] instead of [1,3,3,2]", "FusedConv", [image, weights, None, np.ones((1, 3, 2, 3), "f4")])
    refuse(checks, "do not fit 4 channels", "NhwcConv", [image, weights])
    refuse(checks, "is not made of square matrices of floats", "Inverse", [X])
    refuse(checks, "matrices of 129 rows are outside 1 to 128", "Inverse", [np.ones((129, 129), "f4")])
    refuse(checks, "the shapes of the results depend on its values", "Unique", [LINE], 3)


def test_attention(checks):
    try_family(checks, "attention")
    w, four = np.ones((8, 24), "f4"), np.ones((2, 2, 3, 4), "f4")
    refuse(checks, "unidirectional is 2, neither 0 nor 1", "Attention", [X, w], num_heads=2, unidirectional=2)
    refuse(checks, "weights [7,24] do not fit", "Attention", [X, w[:7]], num_heads=2)
    refuse(checks, "24 columns are not those of queries", "Attention", [X, w], num_heads=2, qkv_hidden_sizes=[8, 8, 9])
    refuse(checks, "24 columns are not those of queries", "Attention", [X, w], num_heads=2, qkv_hidden_sizes=[4, 12, 8])
    refuse(checks, "cannot be divided into 3 heads", "Attention", [X, w], num_heads=3)
    refuse(checks, "cannot be divided into 0 heads", "Attention", [X, w])
    refuse(checks, "rotary embeddings inside of it", "Attention", [X, w], num_heads=2, do_rotary=1)
    scale, two = np.array(0.5, "f4"), np.ones(2, "f4")
    integers = [X.astype("u1"), w.astype("i1"), np.ones(24, "f4")]
    refuse(checks, "a_scale has several elements", "QAttention", [*integers, two, scale], num_heads=2)
    refuse(checks, "weights [7,24] do not fit", "QAttention", [integers[0], integers[1][:7], integers[2], scale, scale], num_heads=2)
    refuse(checks, "buffers of past and present", "QAttention", [*integers, scale, scale], num_heads=2, past_present_share_buffer=1)
    refuse(checks, "buffers of past and present", "Attention", [X, w], num_heads=2, past_present_share_buffer=1)
    refuse(checks, "a mask [8] for a batch of 2", "Attention", [X, w, None, np.ones(8, "i4")], num_heads=2)
    refuse(checks, "a mask [2,4] for scores [2,2,3,3]", "Attention", [X, w, None, np.ones((2, 4), "i4")], num_heads=2)
    refuse(checks, "a mask of float32", "Attention", [X, w, None, np.ones((2, 3), "f4")], num_heads=2)
    refuse(checks, "past is [2,2,3,4]", "Attention", [X, w, None, None, four], num_heads=2)
    bias = np.ones((1, 1, 3, 4), "f4")
    refuse(checks, "cannot be added to the scores float32[2,2,3,3]", "Attention", [X, w, None, None, None, bias], num_heads=2)
    op = "MultiHeadAttention"
    refuse(checks, "have the ranks 3, 4 and 3", op, [X, four, X], num_heads=2)
    refuse(checks, "keys of four axes have no past", op, [X, four, four, None, None, None, four, four], num_heads=2)
    refuse(checks, "is not [batch, positions, 2, 3, size]", op, [X], num_heads=2)
    refuse(checks, "there are values without keys", op, [X, None, X], num_heads=2)
    refuse(checks, "bias is [8] instead of [24]", op, [X, X, X, LINE], num_heads=2)
    refuse(checks, "nothing says which keys a query follows", op, [X[:, :2], X, X], num_heads=2, unidirectional=1)
    refuse(checks, "nothing says which scores output 3", op, [X, X, X], 4, num_heads=2, unidirectional=1)
    refuse(checks, "buffers of past and present", op, [X, X, X, None, None, None, four, four, np.array([1], "i4")], num_heads=2)
    op = "RotaryEmbedding"
    refuse(checks, "nothing defines what a scale does", op, [four, IDS[0, :1], X[0], X[0]], scale=2.0)
    refuse(checks, "a ragged batch without a position for each", op, [four, IDS[0, :1], X[0], X[0]], is_packed_batching=1)
    refuse(checks, "without num_heads", op, [four, IDS[0, :1], X[0], X[0]], rotary_embedding_dim=4)
    refuse(checks, "is no matrix", op, [four, IDS[0, :1], X, X])
    refuse(checks, "position_ids [1,3] do not pick rows", op, [four, IDS[:1], X[0, :, :2], X[0, :, :2]])


def test_group_query(checks):
    op, total = "GroupQueryAttention", Const(3, "i4")
    q, k, ends = np.ones((2, 3, 32), "f4"), np.ones((2, 3, 16), "f4"), np.full(2, 2, "i4")
    past = np.ones((2, 2, 4, 8), "f4")
    heads = {"num_heads": 4, "kv_num_heads": 2}
    good = [q, k, k, None, None, ends, total]
    refuse(checks, "a cache that forgets", op, good, **heads, sliding_window_cache=1, local_window_size=2)
    refuse(checks, "a quantized cache", op, good, **heads, kv_cache_bit_width=8)
    refuse(checks, "the scores as an output", op, good, **heads, qk_output=1)
    refuse(checks, "input 16 is not supported", op, [*good, *[None] * 9, ends], **heads)
    refuse(checks, "does not have 0 heads", op, good)
    refuse(checks, "or has keys without values", op, [q, k, None, *good[3:]], **heads)
    refuse(checks, "it is the number of keys", op, [*good[:6], np.array(3, "i4")], **heads)
    refuse(checks, "is not one length per sample", op, [*good[:5], ends[:1], total], **heads)
    refuse(checks, "a sample of 4 keys for 3 queries", op, [*good[:5], Const([2, 3], "i4"), total], **heads)
    refuse(checks, "given together or not at all", op, [q, k, k, past, None, ends, total], **heads)
    refuse(checks, "are not of the form float32[2,2,4,8]", op, [q, k, k, past, past[:1], ends, total], **heads)
    refuse(checks, "does not have 6 keys", op, [q, k, k, past, past, ends, Const(9, "i4")], **heads)
    refuse(checks, "3 queries with 2 new keys", op, [q, k[:, :2], k[:, :2], *good[3:]], **heads)
    refuse(checks, "a window of 0", op, good, **heads, local_window_size=0)
    refuse(checks, "a window of 2", op, good, **heads, local_window_size=2, causal=0)
    refuse(checks, "head_sink [3] is not one number per head", op, [*good, *[None] * 4, LINE[:3]], **heads)
    angles = np.ones((5, 5), "f4")
    refuse(checks, "cos_cache [5,5] does not fit heads of 8", op, [*good, angles, angles], **heads, do_rotary=1)
    angles, ids = angles[:, :4], np.zeros((2, 2), "i8")
    refuse(checks, "position_ids are int64[2,2] instead of int64[2,3]", op, [*good, angles, angles, ids], **heads, do_rotary=1)


def test_groups_of_columns(checks):
    """Each column has the scale and the zero point of its group, which is not the block that it is stored in."""
    r = np.random.RandomState(3)
    for columns, more in ((40, 0), (40, 8), (48, 0)):
        x, q = (r.randint(-8, 9, (2, columns)) / 4).astype("f4"), r.randint(0, 16, (5, 48))
        scale, zero = (2.0**r.randint(-3, 2, (5, 3))).astype("f4"), r.randint(0, 16, (5, 4))
        group = r.randint(0, 3, columns + more).astype("i4")
        packed = (q[:, ::2] | q[:, 1::2] << 4).astype("u1").reshape(5, 3, 8)
        w = (q[:, :columns] - zero[:, group[:columns]]) * scale[:, group[:columns]]
        zeros = Const((zero[:, ::2] | zero[:, 1::2] << 4).astype("u1"), "u1")
        gives(checks, "com.microsoft::MatMulNBits", 17, [x, Const(packed, "u1"), Const(scale, "f4"), zeros, Const(group, "i4")],
              (x @ w.T).astype("f4"), K=columns, N=5, bits=4, block_size=16)


def refuse_nbits(checks):
    op, sizes = "MatMulNBits", {"K": 8, "N": 3, "bits": 4, "block_size": 16}
    w, scales = Const(np.ones((3, 1, 8)), "u1"), Const(np.ones(3), "f4")
    refuse(checks, "weights in the order of a processor", op, [X, w, scales], **{**sizes, "weight_prepacked": 1})
    refuse(checks, "numbers of 3 bits are not supported", op, [X, w, scales], **{**sizes, "bits": 3})
    refuse(checks, "there are no weights [3,0]", op, [X, w, scales], **{**sizes, "K": 0})
    refuse(checks, "a block size of 24 is not possible", op, [X, w, scales], **{**sizes, "block_size": 24})
    refuse(checks, "g_idx is of type int64", op, [X, w, scales, None, Const(np.zeros(8), "i8")], **sizes)
    refuse(checks, "g_idx [7] does not have 8 elements", op, [X, w, scales, None, Const(np.zeros(7), "i4")], **sizes)
    refuse(checks, "g_idx has 1, and there are 1 groups", op, [X, w, scales, None, Const([0] * 7 + [1], "i4")], **sizes)
    refuse(checks, "its numbers are weights", op, [X, w, scales, None, np.zeros(8, "i4")], **sizes)
    refuse(checks, "B [3,1,8] does not have 32 elements", op, [X, w, scales], **{**sizes, "N": 4})
    refuse(checks, "B is of type int8", op, [X, Const(np.ones((3, 1, 8)), "i1"), scales], **sizes)
    refuse(checks, "its numbers are weights", op, [X, np.ones((3, 1, 8), "u1"), scales], **sizes)
    refuse(checks, "A [2,3,8] does not have 9 columns", op, [X, w, scales], **{**sizes, "K": 9})
    refuse(checks, "the zero points are of type int8", op, [X, w, scales, Const(np.ones(3), "i1")], **sizes)
    refuse(checks, "bias is [1] instead of [3]", op, [X, w, scales, None, None, LINE[:1]], **sizes)


def test_quant(checks):
    try_family(checks, "quant")
    op, sizes = "MatMulBnb4", {"K": 8, "N": 4, "block_size": 16}
    bytes_, largest = Const(np.zeros(16, "u1"), "u1"), Const(LINE[:2], "f4")
    refuse(checks, "2 is neither 0 (FP4) nor 1 (NF4)", op, [X, bytes_, largest], **sizes, quant_type=2)
    refuse(checks, "a block size of 24 is not possible", op, [X, bytes_, largest], **{**sizes, "block_size": 24}, quant_type=1)
    refuse(checks, "absmax [8] does not have 2 elements", op, [X, bytes_, Const(LINE, "f4")], **sizes, quant_type=1)
    refuse(checks, "are not rows of as many features", "CDist", [X[0], X[0, :, :7]], metric="euclidean")
    op, rows, ids = "GatherBlockQuantized", Const(np.ones((3, 16)), "u1"), np.array([1])
    scales = Const(np.ones((3, 1)), "f4")
    refuse(checks, "there are no numbers of 3 bits", op, [rows, ids, scales], bits=3)
    refuse(checks, "a block size of 24 is not possible", op, [rows, ids, scales], block_size=24)
    refuse(checks, "rows along the axis of the blocks", op, [rows, ids, scales], gather_axis=1)
    refuse(checks, "data of type int32", op, [Const(np.ones((3, 16)), "i4"), ids, scales])
    refuse(checks, "several of its numbers share a byte", op, [np.ones((3, 16), "u1"), ids, scales])
    refuse(checks, "the scales are float32[3,1] instead of floats [3,2]", op, [rows, ids, scales], block_size=16)
    refuse(checks, "blocks along another axis than the last", op, [rows, ids, scales], quantize_axis=0, gather_axis=1)
    zeros = Const(np.ones((3, 2)), "u1")
    refuse(checks, "zero_points [3,2] does not have 1 numbers of 4 bits", op, [rows, ids, scales, zeros])
    refuse(checks, "the zero points are [3,2] instead of [3,1]", op, [rows, ids, scales, zeros], bits=8)
    refuse(checks, "the zero points are of type int32", op, [rows, ids, scales, Const(np.ones((3, 1)), "i4")])
    refuse_nbits(checks)
    for domain in ("qonnx.custom_op.general", "onnx.brevitas"):
        op, one, bits = f"{domain}::Quant", Const(1, "f4"), Const(8, "f4")
        refuses(checks, "the attribute signed or narrow is missing", op, 17, [X, one, one, bits], signed=1)
        refuses(checks, "the rounding mode NEAR is not known", op, 17, [X, one, one, bits], signed=1, narrow=0, rounding_mode="NEAR")
        refuses(checks, "bitwidth is 25, not between 1 and 24", op, 17, [X, one, one, Const(25, "f4")], signed=1, narrow=0)
        refuses(checks, "it says which integers there are", op, 17, [X, one, one, np.array(8, "f4")], signed=1, narrow=0)
        refuses(checks, "the scale [7] does not fit", op, 17, [X, LINE[:7], one, bits], signed=1, narrow=0)
        refuses(checks, "the tensor is of type int32", op, 17, [IDS, one, one, bits], signed=1, narrow=0)
    refuses(checks, "scales that are not one known number", "qonnx.custom_op.general@2::Trunc", 17,
            [X, LINE, Const(0, "f4"), Const(8, "f4"), Const(1, "f4"), Const(4, "f4")])
    refuses(checks, "no int32 is near 1e+10", "ai.onnx.ml::Binarizer", 17, [IDS], threshold=1e10)


def test_qlinear(checks):
    try_family(checks, "qlinear")


def test_refused_operators(checks):
    for op in ("DecoderMaskedMultiHeadAttention", "DecoderMaskedSelfAttention"):
        refuse(checks, f"op {op} (domain com.microsoft, version 1) is not supported: it changes a cache in place", op, [X])
    refuses(checks, "it has the layout of one machine", "com.microsoft.nchwc::Conv", 17, [X])


def test_statistics(checks):
    """Mean and inverse deviation, which ONNX Runtime leaves out on a CPU."""
    rng = np.random.default_rng(1)
    x, skip = rng.standard_normal((2, 2, 3, 8)).astype("f4")
    total = x + skip
    mean, root = total.mean(2, keepdims=True), 1 / np.sqrt(total.var(2, keepdims=True) + np.float32(0.5))
    expected = [(total - mean) * root, mean, root, total]
    gives(checks, "com.microsoft::SkipLayerNormalization", 17, [x, skip, LINE], expected, 2e-6, epsilon=0.5)
    root = 1 / np.sqrt((total**2).mean(2, keepdims=True) + np.float32(0.5))
    gives(checks, "com.microsoft::SkipSimplifiedLayerNormalization", 17, [x, skip, LINE], [total * root, None, root, total], 2e-6,
          epsilon=0.5)


def main():
    checks = Checks()
    if np is None:
        checks.skip("operators of ONNX Runtime", "python3-numpy is not there")
        checks.finish()
    for test in (test_norm, test_layer, test_attention, test_group_query, test_qlinear, test_quant, test_groups_of_columns, test_refused_operators, test_statistics):
        test(checks)
    checks.finish()


main()
