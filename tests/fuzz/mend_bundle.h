/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints as fuzz_bundle.c and fuzz_saved_model.c take them: the length of the index in 4 bytes, the index, the one
 * shard. */
#ifndef FUZZ_MEND_BUNDLE_H
#define FUZZ_MEND_BUNDLE_H

#include <stddef.h>
#include <stdint.h>

/* Sets the checksums of a checkpoint, as far as it can be read: without them nothing but checksums is ever reached. */
void mend_bundle(uint8_t *bytes, size_t size);

#endif
