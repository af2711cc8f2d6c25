/* SPDX-License-Identifier: Apache-2.0 */
/* What JavaScript does for the reader (imports.js). */
#ifndef WEB_IMPORTS_H
#define WEB_IMPORTS_H

#include <stddef.h>
#include <stdint.h>

/* Reads bytes of the file of that number, which lie in the file. 0: they are read. */
extern int web_read(int file, double offset, void *bytes, size_t size);
/* Inflates raw deflate data, which web_read read last, to exactly `size` bytes. 0: they are damaged, or browsers must
 * inflate them first, while nobody waits: then web_open is called once more, and finds them. */
extern int web_inflate(const void *packed, size_t packed_size, void *out, size_t size);
/* How far the work is; bytes. */
extern void web_progress(double done, double total);

#endif
