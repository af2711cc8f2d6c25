/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of quantized types as TensorFlow's operators take and give them: integers, and beside them the least and the
 * greatest real of their range, as two more tensors, which the graph may compute. */
#ifndef CONVERTERS_TENSORFLOW_LOWER_QUANTIZED_TENSOR_H
#define CONVERTERS_TENSORFLOW_LOWER_QUANTIZED_TENSOR_H

#include "converters/lowering/emit.h"

struct quantized {
    tensor_id x;
    tensor_id min, max;     /* float32, of rank 0 */
    enum dtype integer;     /* of x */
    double lowest, highest; /* of these integers */
};

/* Where a tensor and the bounds of its range are among the inputs. */
struct quantized_places {
    uint32_t x, min, max;
};
/* That tensor, `what` in errors. ODLC_ERR_INVALID: an input is absent; ODLC_ERR_UNSUPPORTED: the integers are not of a
 * type listed in `types`, which ends with DT_NONE, or a bound is not one float. */
odlc_status read_quantized(const struct lower *l, struct quantized_places at, const char *what, const enum dtype *types,
                           struct quantized *out) MUST_USE;
/* Input i, a bound of a range. Statuses as above. */
odlc_status read_bound(const struct lower *l, uint32_t i, const char *what, tensor_id *out) MUST_USE;

/* Whether a bound is known; then *out is the number. */
bool quantized_known_float(const struct build *b, tensor_id x, float *out);
/* Reals from one integer to the next: a float32 scalar. */
tensor_id quantized_level(struct emit *s, const struct quantized *q);
/* The size of the bound that is farther from 0. */
tensor_id quantized_reach(struct emit *s, tensor_id min, tensor_id max);
/* The integers less the one that stands for 0, as int32. */
tensor_id quantized_centered(struct emit *s, const struct quantized *q);
/* The reals, of ranges that are moved so that 0 is one of their numbers. */
tensor_id quantized_reals(struct emit *s, const struct quantized *q);
/* The integers that stand for reals: of the range of q, whose x is not read. */
tensor_id quantized_integers(struct emit *s, const struct quantized *q, tensor_id reals);
/* The nearest whole numbers, halves away from zero. */
tensor_id emit_round_away(struct emit *s, tensor_id x);

/* What another row's function makes of these inputs instead of the node's own: a tensor without a name of the model's.
 */
odlc_status lower_step(const struct lower *l, lower_fn *fn, const char *variant, const tensor_id *in, uint32_t n_in,
                       tensor_id *out) MUST_USE;

/* Outputs 0 to 2: integers and their range. */
odlc_status give_quantized(struct emit *s, tensor_id x, tensor_id min, tensor_id max) MUST_USE;
/* The same for int32, with the range of integers that are so many reals apart. */
odlc_status give_sums(struct emit *s, tensor_id x, tensor_id level) MUST_USE;

#endif
