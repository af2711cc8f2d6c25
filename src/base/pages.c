/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pages.h"

#include <sys/mman.h>
#include <unistd.h>

static void *reserve(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static void advise_whole_pages(void *bytes, size_t size, int advice)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)bytes;
    const uintptr_t from = (at + page - 1) / page * page, to = (at + size) / page * page;
    if (from < to)
        (void)madvise((unsigned char *)bytes + (from - at), to - from, advice);
}

void pages_forget(void *bytes, size_t size)
{
    advise_whole_pages(bytes, size, MADV_DONTNEED);
}

void pages_populate(void *bytes, size_t size)
{
    advise_whole_pages(bytes, size, MADV_POPULATE_WRITE);
}

#if ADDRESS_SANITIZER /* pages_heap.c has the rest */
#include <sanitizer/asan_interface.h>

/* What is poisoned takes an eighth of its size. The rest of the last page belongs to it. */
static size_t watched(size_t size)
{
    enum { MOST = 64 << 20 };
    return size < MOST ? align_up(size, (size_t)sysconf(_SC_PAGESIZE)) : MOST;
}

void *pages_reserve(size_t size)
{
    void *pages = reserve(size);
    if (pages)
        ASAN_POISON_MEMORY_REGION(pages, watched(size));
    return pages;
}

void pages_use(void *bytes, size_t size)
{
    ASAN_UNPOISON_MEMORY_REGION(bytes, size);
}

void pages_unreserve(void *pages, size_t size)
{
    ASAN_UNPOISON_MEMORY_REGION(pages, watched(size));
    munmap(pages, size);
}

/* Of the pages that a file of this size is mapped to, and one behind them that cannot be read. */
static size_t with_guard(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return align_up(size, page) + page;
}

const void *pages_map_file(int fd, size_t size)
{
    size_t total = with_guard(size);
    unsigned char *room = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    if (mmap(room, size, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        munmap(room, total);
        return NULL;
    }
    ASAN_POISON_MEMORY_REGION(room + size, total - size);
    return room;
}

void pages_unmap_file(const void *pages, size_t size)
{
    unsigned char *room = (unsigned char *)(uintptr_t)pages;
    ASAN_UNPOISON_MEMORY_REGION(room + size, with_guard(size) - size);
    munmap(room, with_guard(size));
}

#else

void *pages_reserve(size_t size)
{
    return reserve(size);
}

void pages_use(void *bytes, size_t size)
{
    (void)bytes;
    (void)size;
}

void pages_unreserve(void *pages, size_t size)
{
    munmap(pages, size);
}

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

const void *pages_map_file(int fd, size_t size)
{
    const void *pages = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void pages_unmap_file(const void *pages, size_t size)
{
    munmap((void *)(uintptr_t)pages, size);
}

#endif
