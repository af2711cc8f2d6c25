/* SPDX-License-Identifier: Apache-2.0 */
/* What a file that a reader does not understand seems to be, by its first bytes: for the hint of the error. */
#ifndef BASE_FILE_KIND_H
#define BASE_FILE_KIND_H

#include "base/arena.h"

/* The first bytes that tell; more do no harm, and are not touched. */
#define FILE_KIND_BYTES 512

/* "this is a TensorFlow model: tensorflow-to-dlc converts it". `wanted` is what the reader expects, as the table of
 * kinds calls it ("an ONNX model"); `otherwise` when the file seems to be that, or nothing that is known. */
const char *file_kind_hint(struct arena *arena, const uint8_t *bytes, uint64_t size, const char *wanted,
                           const char *otherwise);

#endif
