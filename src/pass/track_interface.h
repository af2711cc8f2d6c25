/* SPDX-License-Identifier: Apache-2.0 */
/* The graph's own inputs and outputs while axes are tracked: which order they have in the container. */
#ifndef PASS_TRACK_INTERFACE_H
#define PASS_TRACK_INTERFACE_H

#include "pass/track.h"

/* Whether graph inputs of that rank are stored channels-last whatever reads them, where no option says otherwise. */
bool track_places_input(const struct pass_options *o, uint32_t rank);
/* Stores graph inputs channels-last: those by track_places_input, by what is known of their readers, or by
 * --input_layout; not those that keep the model's order (--preserve_io, --io_layout, --input_layout). */
void track_place_inputs(struct track *t);
/* Makes graph outputs of what the walk made of them: channels-last where that is how the value comes, else in the
 * model's order; names[i] is what the model calls output i. Fails as building a Transpose or a copy does. */
odlc_status track_place_outputs(struct track *t, const char *const *names) MUST_USE;

#endif
