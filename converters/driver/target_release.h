/* SPDX-License-Identifier: Apache-2.0 */
/* The release of the vendor's tools whose containers ours resembles (--target_release). */
#ifndef CONVERTERS_DRIVER_TARGET_RELEASE_H
#define CONVERTERS_DRIVER_TARGET_RELEASE_H

#include "converters/driver/context.h"
#include "ir/graph.h"

/* The release that the options ask for, by RELEASE (op/release.h). ODLC_ERR_USAGE: it is no release, or too old. */
odlc_status read_target_release(const struct context *c, uint32_t *out) MUST_USE;

/* Notes each native type of ops in the graph that no container of the release, or of an older one, is known to have. */
void note_unknown_types(const struct context *c, const struct graph *g);

#endif
