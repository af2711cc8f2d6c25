/* SPDX-License-Identifier: Apache-2.0 */
/* --out_node: the graph ends at given values or nodes. And with or without it, which nodes the outputs need. */
#ifndef CONVERTERS_DRIVER_CUT_OUTPUTS_H
#define CONVERTERS_DRIVER_CUT_OUTPUTS_H

#include "converters/driver/input.h"

/* The values and nodes of --out_node become the graph outputs. ODLC_ERR_USAGE: the model has no value or node of such a
 * name; all such names are reported. */
odlc_status cut_at_outputs(const struct context *c, struct input *in) MUST_USE;

/* Fills in->live. */
void find_live_nodes(const struct context *c, struct input *in);

/* Takes out the graph inputs that live nodes do not read. */
void drop_unread_inputs(const struct context *c, struct input *in);

#endif
