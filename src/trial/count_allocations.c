/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into udo-check: counts what a thread asks the C library for while it says so. operator new asks, too. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#define SHOWN __attribute__((visibility("default")))

/* glibc's own functions under names that nothing takes the place of.
 * NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *data, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *data);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

uint64_t odlc_count_allocations(int on);
int posix_memalign(void **out, size_t alignment, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size);
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *data, size_t size);
void free(void *data);

static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    int on;
    uint64_t count;
} thread;

static void note(void)
{
    thread.count += thread.on != 0;
}

/* on: begins at 0. Gives the number up to now. */
SHOWN uint64_t odlc_count_allocations(int on)
{
    const uint64_t count = thread.count;
    thread.on = on;
    thread.count = 0;
    return count;
}

SHOWN void *malloc(size_t size)
{
    note();
    return __libc_malloc(size);
}

SHOWN void *calloc(size_t count, size_t size)
{
    note();
    return __libc_calloc(count, size);
}

SHOWN void *realloc(void *data, size_t size)
{
    note();
    return __libc_realloc(data, size);
}

SHOWN void *aligned_alloc(size_t alignment, size_t size)
{
    note();
    return __libc_memalign(alignment, size);
}

SHOWN void *memalign(size_t alignment, size_t size)
{
    note();
    return __libc_memalign(alignment, size);
}

SHOWN int posix_memalign(void **out, size_t alignment, size_t size)
{
    note();
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    void *data = __libc_memalign(alignment, size);
    if (!data)
        return ENOMEM;
    *out = data;
    return 0;
}

SHOWN void free(void *data)
{
    if (data)
        note();
    __libc_free(data);
}
