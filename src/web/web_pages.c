/* SPDX-License-Identifier: Apache-2.0 */
/* Pages in WebAssembly, whose memory only grows: they are blocks of its heap. */
#include "base/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

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

void *pages_map(size_t size)
{
    void *pages = pages_reserve(size);
    return pages ? memset(pages, 0, size) : NULL;
}

void *pages_grow(void *pages, size_t old_size, size_t new_size)
{
    void *grown = pages_map(new_size);
    if (!grown)
        return NULL;
    memcpy(grown, pages, old_size);
    free(pages);
    return grown;
}

void pages_unmap(void *pages, size_t size)
{
    pages_unreserve(pages, size);
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
