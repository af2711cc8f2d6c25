/* SPDX-License-Identifier: Apache-2.0 */
/* --pad_dynamic: operators whose result is as large as values say, with a result of the most that there can be, and the
 * number of its valid rows as a graph output of its own. Behind the valid rows the last one is repeated; where nothing
 * is valid stands what is at position 0. */
#ifndef CONVERTERS_LOWERING_PADDED_H
#define CONVERTERS_LOWERING_PADDED_H

#include "converters/lowering/lower.h"

/* Input i is not known, and the option asks for room. */
bool lower_pads(const struct lower *l, uint32_t i);
/* ODLC_ERR_UNSUPPORTED unless input i, which is there, is known at conversion; the error names the option. */
odlc_status lower_need_values(const struct lower *l, uint32_t i, const char *what) MUST_USE;

/* The sum of flags (0 and 1, Int_32, of any shape) as a graph output: Uint_32 [1], called after output 0. */
odlc_status lower_count_output(struct lower *l, tensor_id flags, tensor_id *count) MUST_USE;

/* What an operator gives of the different slices of a tensor, besides themselves. */
struct unique_outputs {
    bool sorted;     /* in ascending order, else in that of their first occurrence */
    enum dtype type; /* of the outputs below, each the number of one */
    uint32_t places; /* where each stands first; 0: the operator does not tell */
    uint32_t inverse, counts;
};

/* As lower_unique_slices (unique.h), for a tensor that is not known, with output 0 the slices. ODLC_ERR_LIMIT: too many
 * pairs of elements would be compared; ODLC_ERR_UNSUPPORTED: the tensor holds strings, or nothing. */
odlc_status lower_padded_outputs(struct lower *l, tensor_id data, uint32_t axis,
                                 const struct unique_outputs *outputs) MUST_USE;

/* Output 0: the slices of the data that the list of flags, input i, says to keep. */
odlc_status lower_padded_kept(struct lower *l, tensor_id data, uint32_t axis, uint32_t i) MUST_USE;

#endif
