/* SPDX-License-Identifier: Apache-2.0 */
/* What pages_heap.c has not, of pages in WebAssembly. */
#include "base/pages.h"

#include <errno.h>
#include <stdlib.h>

enum { ALIGNMENT = 64 };

void pages_populate(void *bytes, size_t size)
{
    (void)bytes;
    (void)size;
}

void *pages_reserve(size_t size)
{
    return size > PTRDIFF_MAX - ALIGNMENT ? NULL : aligned_alloc(ALIGNMENT, (size_t)align_up(size, ALIGNMENT));
}

void pages_use(void *bytes, size_t size)
{
    (void)bytes;
    (void)size;
}

void pages_unreserve(void *pages, size_t size)
{
    (void)size;
    free(pages);
}

void pages_forget(void *bytes, size_t size)
{
    (void)bytes;
    (void)size;
}

const void *pages_map_file(int fd, size_t size)
{
    (void)fd;
    (void)size;
    errno = ENOSYS; /* files of a browser are sources (base/file.h) */
    return NULL;
}

void pages_unmap_file(const void *pages, size_t size)
{
    (void)pages;
    (void)size;
}
