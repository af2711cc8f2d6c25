/* SPDX-License-Identifier: Apache-2.0 */
/* Memory from the system, by the page: zeroed, not resident before its first use, and given back at once.
 *
 * Builds with AddressSanitizer take pages from the heap instead and never grow them in place, so that a use of pages
 * that have moved or gone is found. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include "base/base.h"

#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#endif
#ifndef ADDRESS_SANITIZER
#define ADDRESS_SANITIZER 0
#endif

/* size bytes, aligned to 64 at least; NULL when there is no memory. */
void *pages_map(size_t size);
/* Makes old_size bytes new_size (not fewer) bytes, perhaps elsewhere; added bytes are zeros. NULL: nothing changed. */
void *pages_grow(void *pages, size_t old_size, size_t new_size);
void pages_unmap(void *pages, size_t size);
/* The whole pages among size bytes of a mapping count as memory only when they are written to again; their content is
 * lost. */
void pages_forget(void *bytes, size_t size);

/* Gives the pages of such bytes memory at once, where the system can: all of them will be written to, and page by page
 * costs more, most of all where pages are read before. */
void pages_populate(void *bytes, size_t size);

/* Room for size bytes, of which few will be used: only pages that were written to count as memory. NULL when there is
 * no room. AddressSanitizer finds reads of bytes that pages_use was not called for (in the first 64 MiB). */
void *pages_reserve(size_t size);
void pages_use(void *bytes, size_t size);
void pages_unreserve(void *pages, size_t size);

/* Maps all of a file that is not empty, for reading; NULL and errno on failure. AddressSanitizer finds reads behind the
 * file's end. */
const void *pages_map_file(int fd, size_t size);
void pages_unmap_file(const void *pages, size_t size);

#endif
