/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the lowering of attention share. */
#ifndef CONVERTERS_ONNX_LOWER_ATTENTION_H
#define CONVERTERS_ONNX_LOWER_ATTENTION_H

#include "converters/lowering/emit.h"

/* Query heads share the heads of keys and values in groups: query head h reads head h / group. */
struct attention {
    struct emit s;
    tensor_id q, k, v; /* [batch, heads, positions, size], whatever the model's form */
    enum dtype dtype;  /* of q and k */
    int64_t batch, q_heads, kv_heads, queries, keys, size, v_size;
    int64_t past; /* keys that stand before those of this call; part of `keys` */
    bool packed;  /* the model has [batch, positions, heads * size] */
};

/* ---- operands ---- */

/* [batch, positions, heads * size] → [batch, heads, positions, size]; `what` is x in errors. */
odlc_status attention_unpack(struct attention *a, const char *what, int64_t heads, tensor_id *x) MUST_USE;
/* Keys and values of earlier calls, always [batch, heads, positions, size], come first; NO_TENSOR: none. */
odlc_status attention_join_past(struct attention *a, tensor_id past_key, tensor_id past_value) MUST_USE;
/* The extents, when q, k and v fit together. */
odlc_status attention_extents(struct attention *a) MUST_USE;

/* ---- products ---- */

/* scale · Q · K'. ONNX's pattern has the root of the scale at both operands, which keeps small types in range; a
 * negative scale has no root, so its sign goes to Q. */
tensor_id attention_scores(struct attention *a, double scale);
/* The attribute softcap: softcap · tanh(x / softcap) */
odlc_status attention_cap(struct attention *a, tensor_id *x) MUST_USE;
/* The type in which tensors of both are multiplied. */
enum dtype attention_wider(enum dtype x, enum dtype y);
/* probabilities · V, in the type of the result and the model's form. */
tensor_id attention_weigh(struct attention *a, tensor_id probabilities, enum dtype compute, enum dtype result);

/* ---- masks ---- */

/* A query at position p (counted over all keys) sees the keys from p - left to p + right. */
struct attention_limits {
    int64_t left, right; /* INT64_MAX: no limit */
};
/* Queries stand right after `past` keys: bools [queries, keys], or NO_TENSOR where all is visible. */
odlc_status attention_fixed_limits(struct attention *a, const struct attention_limits *limits, tensor_id *out) MUST_USE;
/* The same for samples of which each has as many keys as `lengths`, [batch], says: the last of them belongs to the last
 * query, and keys behind it are padding. */
odlc_status attention_limits_of_lengths(struct attention *a, const struct attention_limits *limits, tensor_id lengths,
                                        tensor_id *out) MUST_USE;
/* 0 where visible, else `hidden`, in the type of q. */
tensor_id attention_bias_of_bools(struct attention *a, tensor_id visible, double hidden);

/* ODLC_ERR_INVALID unless a bias, [batch or 1, heads or 1, queries, keys], broadcasts to the scores. */
odlc_status attention_check_bias(const struct attention *a, tensor_id bias) MUST_USE;

/* What is added to the scores, broadcast to [batch, q_heads, queries, keys]: the mask and the limits on which positions
 * see which (causal, windows, padding). NO_TENSOR when everything is visible. */
odlc_status attention_bias(struct attention *a, tensor_id *out) MUST_USE;

/* Probabilities with the rows set to 0 that the bias masks completely, where a softmax has no value. */
tensor_id attention_guard(struct attention *a, tensor_id bias, tensor_id probabilities);

#endif
