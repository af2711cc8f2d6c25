/* SPDX-License-Identifier: Apache-2.0 */
/* Containers whose bytes are read where they are asked for (struct file_source), and the bytes of any container. */
#ifndef API_STORED_H
#define API_STORED_H

#include "base/file.h"
#include "opendlc/container.h"

/* odlc_container_open of a source, which must outlive the container; the name stands in diagnostics and the summary.
 * Constants of such a container are read by the functions for elements; odlc_tensor's data and odlc_entry's stored are
 * NULL. Bytes that cannot be read are zeros, and the source's `error` says so. ODLC_ERR_IO also when the source's room
 * was too small, which its needs_room says. */
odlc_status container_open_source(odlc_container *container, const char *name, struct file_source *source) MUST_USE;

struct view;

/* Bytes of a container, wherever they are. */
struct stored {
    const void *bytes; /* NULL: read them */
    uint64_t size;
    const struct view *view; /* of a constant; NULL: of a file, from offset on */
    const struct file *file;
    uint64_t offset;
};

/* The elements of a readable tensor that are no strings. */
struct stored stored_elements(const struct odlc_tensor *tensor);
/* An entry as it is in the file, packed if it is compressed. */
struct stored stored_entry(const odlc_container *container, const struct odlc_entry *entry);
/* `size` bytes from `at` on: where they are, or read into the buffer. Of elements, at and size are multiples of an
 * element's size. */
const void *stored_bytes(const struct stored *stored, uint64_t at, size_t size, void *buffer);

#endif
