/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that are blocks of the heap: for AddressSanitizer, which then knows of those that have moved or gone, and for
 * WebAssembly, whose memory only grows. */
#include "base/pages.h"

#if ADDRESS_SANITIZER || defined(__EMSCRIPTEN__)

#include <stdlib.h>
#include <string.h>

void *pages_map(size_t size)
{
    void *pages;
    if (size > PTRDIFF_MAX || posix_memalign(&pages, 64, size) != 0)
        return NULL;
    return memset(pages, 0, size);
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
    (void)size;
    free(pages);
}

#endif
