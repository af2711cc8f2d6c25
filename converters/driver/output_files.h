/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a conversion writes: none of them is one that it reads, and the depfile lists the latter. */
#ifndef CONVERTERS_DRIVER_OUTPUT_FILES_H
#define CONVERTERS_DRIVER_OUTPUT_FILES_H

#include "base/file.h"
#include "converters/driver/input.h"

/* Checks the paths of the output and the depfile, and writes the latter without giving it its name: *depfile is what
 * commit_depfile takes, and is left alone where none is wanted. ODLC_ERR_USAGE: a file would be written over one that
 * is read, or both are one file; ODLC_ERR_UNSUPPORTED: a depfile cannot hold the name of a file; ODLC_ERR_IO: the
 * depfile cannot be written. */
odlc_status check_outputs(const struct context *c, const struct input *in, struct out_file **depfile) MUST_USE;

/* Gives the depfile its name. For dlc_write, once the container is complete: user is the struct out_file, or NULL for
 * none. ODLC_ERR_IO: the system refuses. */
odlc_status commit_depfile(void *user) MUST_USE;

#endif
