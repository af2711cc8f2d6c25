/* SPDX-License-Identifier: Apache-2.0 */
/* What a file that a reader does not understand seems to be, by its first bytes: for the hint of the error. */
#ifndef BASE_FILE_KIND_H
#define BASE_FILE_KIND_H

#include "base/arena.h"

/* How many bytes are looked at, if there are as many. */
#define FILE_KIND_BYTES 512

/* "this is a TensorFlow graph: tensorflow-to-dlc converts those". `wanted` is what the reader expects, as the table of
 * kinds calls it ("an ONNX model"); NULL when the file seems to be that, or nothing that is known. */
const char *file_kind_hint(struct arena *arena, const uint8_t *head, size_t size, const char *wanted);

#endif
