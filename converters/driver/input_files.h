/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a conversion reads. */
#ifndef CONVERTERS_DRIVER_INPUT_FILES_H
#define CONVERTERS_DRIVER_INPUT_FILES_H

#include "converters/driver/input.h"

/* Collects the paths of all files that the options and the loaded model name, the model first. */
void list_input_files(const struct context *c, struct input *in);
/* Adds the path of a file that is found later, unless it is listed. */
void add_input_file(const struct context *c, struct input *in, const char *path);
/* The bytes of the listed files, and of those in memory, together. */
uint64_t input_bytes(const struct context *c, const struct input *in);
uint64_t bytes_in_memory(const struct context *c);

#endif
