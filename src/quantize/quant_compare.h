/* SPDX-License-Identifier: Apache-2.0 */
/* What quantization costs: a network of floats and a quantized one, computed from the same inputs.
 *
 *     TRY(quant_compare_create(arena, scratch, diags, floats, fixed, &options, &c));
 *     for each set of inputs:
 *         TRY(quant_compare_give(c, input, values, false, &place));
 *         TRY(quant_compare_run(c, &place));
 *     layers = quant_compare_layers(c, &count);
 *
 * Tensors are of the same name and shape in both graphs; others are not compared. Memory is that of all float tensors
 * of one set of inputs (of those compared), however many sets there are. */
#ifndef QUANTIZE_QUANT_COMPARE_H
#define QUANTIZE_QUANT_COMPARE_H

#include "ir/graph.h"
#include "quantize/quant_error.h"
#include "runtime/backend.h"

struct quant_compare_options {
    const struct backend *const *backends; /* NULL at the end */
    uint32_t threads;
    const struct package_set *packages; /* NULL: none */
    bool only_outputs; /* graph outputs alone are compared; otherwise all tensors are, and each quantized
                          op is also computed from the float network's values */
};

/* A real tensor of both graphs. A tensor whose only reader is a clamp with the same encoding (a layer before its Relu)
 * holds what is cut off already: it is compared with the float network's result of the clamp. */
struct quant_layer {
    tensor_id fixed, floats;    /* the tensor in either graph */
    tensor_id target;           /* of the float graph: whose values it should have; `floats`, or the clamp's result */
    struct quant_error error;   /* in the quantized network: all that has gathered up to the tensor */
    struct quant_error own;     /* of the op alone, in its quantized form, given the float network's values; of inputs
                                   and constants that of `spread.rounding`. count == 0: it was not computed */
    struct quant_spread spread; /* of float values beside the encoding; encoding NULL: the tensor has none, or, being a
                                   constant, one per channel */
    uint64_t saturated;         /* float values that the encoding, or the channel's, does not reach */
    uint32_t levels;            /* different integers met in the quantized tensor; 0: not counted, above 16 bits */
    uint64_t *met;              /* … as bits */
};

struct quant_compare;

/* The graphs, their constants and the options' arrays must outlive the comparison. ODLC_ERR_INVALID: an input has no
 * counterpart; and as executor_create. */
odlc_status quant_compare_create(struct arena *arena, struct arena *scratch, struct diags *diags,
                                 const struct graph *floats, const struct graph *fixed,
                                 const struct quant_compare_options *options, struct quant_compare **out) MUST_USE;
/* The values of an input of the float graph: floats, or elements of its own type. Fails as quantizer_give. */
odlc_status quant_compare_give(struct quant_compare *c, tensor_id input, const void *values, bool is_native,
                               const struct odlc_diag *place) MUST_USE;
/* Computes both networks and adds what differs to the sums. ODLC_ERR_USAGE: an input was not given. */
odlc_status quant_compare_run(struct quant_compare *c, const struct odlc_diag *place) MUST_USE;
/* Inputs, then what nodes compute in their order, then constants. `levels` are those of all runs. */
const struct quant_layer *quant_compare_layers(struct quant_compare *c, size_t *count);
/* The indices of layers that nodes compute, the least SQNR first; layers of one SQNR in their order. */
const uint32_t *quant_compare_worst(struct quant_compare *c, struct arena *arena, size_t *count);

#endif
