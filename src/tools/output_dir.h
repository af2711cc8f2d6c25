/* SPDX-License-Identifier: Apache-2.0 */
/* Where net-run puts results: DIR/Result_<n>/<tensor name>.raw, or .npy. */
#ifndef TOOLS_OUTPUT_DIR_H
#define TOOLS_OUTPUT_DIR_H

#include "base/diag.h"

/* The path of a tensor's file below folder. Slashes in the name make folders; empty parts (as in "/conv/out") are left
 * out. A name with a part "." or ".." is refused: the file must lie below folder. */
odlc_status output_path(struct arena *arena, struct diags *diags, const char *folder, const char *tensor,
                        const char *suffix, const char **out) MUST_USE;

/* Writes a head (which may be empty) and the bytes as a file that appears when it is complete, making the folders on
 * the way. */
odlc_status output_write(struct arena *scratch, struct diags *diags, const char *path, const text *head,
                         const void *bytes, size_t size) MUST_USE;

#endif
