/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a caller become those of the conversion. */
#ifndef CONVERTERS_DRIVER_ADOPT_OPTIONS_H
#define CONVERTERS_DRIVER_ADOPT_OPTIONS_H

#include "converters/driver/context.h"

/* c->options become the caller's, with defaults for what an older caller does not know, and names as the model spells
 * them. ODLC_ERR_USAGE: no version of the struct has that size, or a newer one asks for what is not known here; then
 * they are the defaults. */
odlc_status adopt_options(struct context *c, const struct odlc_convert_options *given) MUST_USE;

/* Names of graph inputs and outputs in c->options become those that the model's graph has: another name by which the
 * model knows them (struct fw_alias) is replaced. */
void adopt_model_names(struct context *c, const struct fw_model *model);

/* What the front end is told of the options. Whether an operator is claimed is left for the caller to fill in. */
struct fw_load_options load_options(const struct context *c);

#endif
