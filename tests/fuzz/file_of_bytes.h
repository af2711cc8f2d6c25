/* SPDX-License-Identifier: Apache-2.0 */
/* Files for functions that take a path: in memory, one of each for the whole process. */
#ifndef FUZZ_FILE_OF_BYTES_H
#define FUZZ_FILE_OF_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* The path of a file that has these bytes until the next call. */
const char *file_of_bytes(const uint8_t *bytes, size_t size);

/* A path for a file that is going to be written. Whoever writes it removes it. */
const char *path_of_output(void);

#endif
