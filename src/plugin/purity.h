/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks have to be pure: a host may ask them at any time, any number of times. Here they are asked while the graph
 * stays as it is: in order, backwards and each twice, and in an order that mixes ops, kernels and tiles. */
#ifndef PLUGIN_PURITY_H
#define PLUGIN_PURITY_H

#include "plugin/plugin_prepare.h"

/* Each does nothing unless the options ask for it. ODLC_ERR_INVALID: a callback gives another answer than before, or
 * misbehaves. */

/* early_rewrite, or late_rewrite, of all ops that are not settled. */
odlc_status purity_rewrites(struct preparation *p, bool late) MUST_USE;
/* The callbacks of tiling, for the tiles that were made. */
odlc_status purity_tiles(struct preparation *p) MUST_USE;
/* Predicates of all kernels that fit but for them, and the costs of those that are taken. */
odlc_status purity_kernels(struct preparation *p) MUST_USE;

#endif
