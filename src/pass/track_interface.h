/* The graph's own inputs and outputs while axes are tracked: which order they have in the container. */
#ifndef PASS_TRACK_INTERFACE_H
#define PASS_TRACK_INTERFACE_H

#include "pass/track.h"

/* Stores graph inputs channels-last that are spatial, by what is known of their readers or by --input_layout. */
void track_place_inputs(struct track *t);
/* Makes graph outputs of what the walk made of them: channels-last where that is how the value comes, else in the
 * model's order; names[i] is what the model calls output i. Fails as building a Transpose or a copy does. */
odlc_status track_place_outputs(struct track *t, const char *const *names) MUST_USE;

#endif
