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

/* What is added to the scores, broadcast to [batch, q_heads, queries, keys]: the mask and the limits on which positions
 * see which (causal, windows, padding). NO_TENSOR when everything is visible. */
odlc_status attention_bias(struct attention *a, tensor_id *out) MUST_USE;

/* Probabilities with the rows set to 0 that the bias masks completely, where a softmax has no value. */
tensor_id attention_guard(struct attention *a, tensor_id bias, tensor_id probabilities);

#endif
