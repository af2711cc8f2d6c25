/* SPDX-License-Identifier: Apache-2.0 */
/* A partitioned variable, which is saved in slices. */
#ifndef CONVERTERS_TENSORFLOW_SOURCE_BUNDLE_SLICES_H
#define CONVERTERS_TENSORFLOW_SOURCE_BUNDLE_SLICES_H

#include "converters/tensorflow/source/bundle_entry.h"

/* The view of an entry with slices, which are entries of their own. */
odlc_status bundle_load_slices(struct bundle *b, const struct bundle_entry *e, struct view *out) MUST_USE;

#endif
