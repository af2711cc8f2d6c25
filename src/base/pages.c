#include "base/pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if ADDRESS_SANITIZER

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

#else

void *pages_map(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void *pages_grow(void *pages, size_t old_size, size_t new_size)
{
    void *grown = mremap(pages, old_size, new_size, MREMAP_MAYMOVE);
    return grown == MAP_FAILED ? NULL : grown;
}

void pages_unmap(void *pages, size_t size)
{
    munmap(pages, size);
}

#endif
