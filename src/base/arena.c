/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/c_locale.h"
#include "base/hash.h"
#include "base/pages.h"

/* AddressSanitizer sees only what the C library's allocator gives out. With it each block is one of those, so that it
 * finds what is read beside a block or after a rewind, and so that every allocation is one that can fail. */
enum {
    HEADER = 64,
    CHUNK_SIZE = ADDRESS_SANITIZER ? HEADER : 256 * 1024,
    OWN_PAGES = ADDRESS_SANITIZER ? 1 : 64 * 1024, /* from here blocks have pages of their own, which are given back */
    GROWS = 64 * 1024,                             /* from here blocks grow in place */
    BIG_BLOCK = 4096,                              /* from here blocks are aligned for vector loads */
    SPARE_BLOCKS = ADDRESS_SANITIZER ? 0 : 4,
    SPARE_SIZE = 1024 * 1024 /* up to here blocks that were given back are kept for the next ones */
};

/* At the start of a chunk. Strings are taken from its end, everything else from its start, so that strings need no room
 * for alignment. */
struct chunk {
    struct chunk *previous;
    size_t used, top; /* the free bytes are data[used … top) */
};

/* At the start of a block's own pages. */
struct block {
    struct block *older, *newer;
    size_t size; /* with the header */
    uint64_t serial;
};

struct cleanup {
    struct cleanup *previous;
    void (*fn)(void *object);
    void *object;
};

struct arena {
    struct chunk *chunk;                          /* newest */
    struct chunk *spare;                          /* one that was rewound, or NULL */
    struct block *block;                          /* newest */
    struct block *spare_blocks[SPARE_BLOCKS + 1]; /* of those that were given back, or NULL */
    uint64_t serial;                              /* of the newest block ever */
    struct cleanup *cleanup;
    size_t size;                 /* bytes that it has of the system */
    struct arena_budget *budget; /* that they count to, or NULL */
    uint64_t hash_key[2];
    jmp_buf *recovery; /* where exhausted memory jumps, or NULL */
    jmp_buf owner;     /* of the public function that owns the work */
};

static unsigned char *chunk_data(struct chunk *chunk)
{
    return (unsigned char *)chunk + HEADER;
}

static void *block_data(struct block *block)
{
    return (unsigned char *)block + HEADER;
}

static struct block *block_of(void *data)
{
    return (struct block *)(void *)((unsigned char *)data - HEADER);
}

static struct chunk *chunk_create(struct chunk *previous)
{
    struct chunk *chunk = pages_map(CHUNK_SIZE);
    if (chunk)
        *chunk = (struct chunk){.previous = previous, .top = CHUNK_SIZE - HEADER};
    return chunk;
}

static void chunk_free(struct chunk *chunk)
{
    if (chunk)
        pages_unmap(chunk, CHUNK_SIZE);
}

struct arena *arena_create(void)
{
    struct arena *arena = calloc(1, sizeof *arena);
    if (!arena)
        return NULL;
    arena->chunk = chunk_create(NULL);
    arena->size = CHUNK_SIZE;
    if (!arena->chunk) {
        free(arena);
        return NULL;
    }
    /* Without entropy tables still work; only the protection against crafted keys is weaker. */
    if (getrandom(arena->hash_key, sizeof arena->hash_key, GRND_NONBLOCK) != (ssize_t)sizeof arena->hash_key)
        arena->hash_key[0] = (uintptr_t)arena->chunk;
    return arena;
}

const uint64_t *arena_hash_key(const struct arena *arena)
{
    return arena->hash_key;
}

size_t arena_size(const struct arena *arena)
{
    return arena->size;
}

static void count_more(struct arena *arena, size_t bytes)
{
    arena->size += bytes;
    if (arena->budget)
        arena->budget->used += bytes;
}

static void count_less(struct arena *arena, size_t bytes)
{
    arena->size -= bytes;
    if (arena->budget)
        arena->budget->used -= bytes;
}

static void leave_budget(struct arena *arena)
{
    if (arena->budget)
        arena->budget->used -= arena->size;
    arena->budget = NULL;
}

void arena_share(struct arena *arena, struct arena_budget *budget)
{
    leave_budget(arena);
    budget->used += arena->size;
    arena->budget = budget;
}

/* For bytes that are about to be asked of the system. */
static void check_budget(struct arena *arena, size_t more)
{
    struct arena_budget *budget = arena->budget;
    if (!budget || (budget->used <= budget->most && more <= budget->most - budget->used))
        return;
    budget->reached = true;
    arena_exhausted(arena);
}

static void run_cleanups(struct arena *arena, const struct cleanup *until)
{
    while (arena->cleanup != until) {
        struct cleanup *c = arena->cleanup;
        arena->cleanup = c->previous;
        c->fn(c->object);
    }
}

/* Work in steps takes as much in each of them: pages that are there already cost less than new ones. */
static void keep_or_unmap(struct arena *arena, struct block *block)
{
    for (int i = 0; i < SPARE_BLOCKS && block->size <= SPARE_SIZE; i++) {
        if (!arena->spare_blocks[i]) {
            arena->spare_blocks[i] = block;
            return;
        }
    }
    pages_unmap(block, block->size);
}

/* Pages for a block, which are zeros: a spare one's that is not much larger, or new ones. NULL without memory. */
static struct block *block_pages(struct arena *arena, size_t size)
{
    for (int i = 0; i < SPARE_BLOCKS; i++) {
        struct block *spare = arena->spare_blocks[i];
        if (!spare || spare->size < size || spare->size / 2 > size)
            continue;
        size_t whole = spare->size;
        arena->spare_blocks[i] = NULL;
        memset(spare, 0, whole);
        spare->size = whole;
        return spare;
    }
    struct block *block = pages_map(size);
    if (block)
        block->size = size;
    return block;
}

static void block_free(struct arena *arena, struct block *block)
{
    if (block->older)
        block->older->newer = block->newer;
    *(block->newer ? &block->newer->older : &arena->block) = block->older;
    count_less(arena, block->size);
    keep_or_unmap(arena, block);
}

void arena_destroy(struct arena *arena)
{
    if (!arena)
        return;
    run_cleanups(arena, NULL);
    leave_budget(arena);
    while (arena->block)
        block_free(arena, arena->block);
    while (arena->chunk) {
        struct chunk *chunk = arena->chunk;
        arena->chunk = chunk->previous;
        chunk_free(chunk);
    }
    chunk_free(arena->spare);
    for (int i = 0; i < SPARE_BLOCKS; i++)
        if (arena->spare_blocks[i])
            pages_unmap(arena->spare_blocks[i], arena->spare_blocks[i]->size);
    free(arena);
}

jmp_buf *arena_catch(struct arena *arena)
{
    arena->recovery = &arena->owner;
    return &arena->owner;
}

jmp_buf *arena_divert(struct arena *arena, jmp_buf *to)
{
    jmp_buf *before = arena->recovery;
    arena->recovery = to;
    return before;
}

void arena_exhausted(struct arena *arena)
{
    if (!arena->recovery)
        abort();
    longjmp(*arena->recovery, 1);
}

static void *block_create(struct arena *arena, size_t size)
{
    size_t total;
    if (ckd_add(&total, size, HEADER))
        arena_exhausted(arena);
    check_budget(arena, total);
    struct block *block = block_pages(arena, total);
    if (!block)
        arena_exhausted(arena);
    total = block->size;
    count_more(arena, total);
    *block = (struct block){.older = arena->block, .size = total, .serial = ++arena->serial};
    if (arena->block)
        arena->block->newer = block;
    arena->block = block;
    return block_data(block);
}

static void add_chunk(struct arena *arena)
{
    struct chunk *chunk = arena->spare;
    arena->spare = NULL;
    if (chunk) {
        chunk->previous = arena->chunk;
        arena->chunk = chunk;
        return;
    }
    check_budget(arena, CHUNK_SIZE);
    chunk = chunk_create(arena->chunk);
    if (!chunk)
        arena_exhausted(arena);
    count_more(arena, CHUNK_SIZE);
    arena->chunk = chunk;
}

/* An object's alignment divides its size, and thus that of an array of it. */
static size_t alignment_for(size_t size)
{
    size_t lowest_bit = size & (~size + 1);
    return size >= BIG_BLOCK ? 64 : lowest_bit < 16 ? lowest_bit : 16;
}

void *arena_alloc(struct arena *arena, uint64_t bytes)
{
    static const max_align_t nothing;
    const size_t size = (size_t)bytes;
    if (bytes == 0)
        return (void *)(uintptr_t)&nothing;
    if (bytes > PTRDIFF_MAX)
        arena_exhausted(arena);
    if (size >= OWN_PAGES)
        return block_create(arena, size);
    size_t alignment = alignment_for(size), start = align_up(arena->chunk->used, alignment);
    if (start > arena->chunk->top || size > arena->chunk->top - start) {
        add_chunk(arena);
        start = 0;
    }
    arena->chunk->used = start + size;
    return chunk_data(arena->chunk) + start;
}

/* Bytes of no alignment, from the end of a chunk. */
static char *alloc_text(struct arena *arena, size_t size)
{
    if (size >= OWN_PAGES)
        return block_create(arena, size);
    if (size > arena->chunk->top - arena->chunk->used)
        add_chunk(arena);
    arena->chunk->top -= size;
    return (char *)chunk_data(arena->chunk) + arena->chunk->top;
}

/* Whether the block of so many bytes is the last one at the start of the newest chunk. */
static bool is_last(const struct arena *arena, const unsigned char *data, size_t size)
{
    return data + size == chunk_data(arena->chunk) + arena->chunk->used;
}

void arena_release(struct arena *arena, void *data, size_t size)
{
    if (size >= OWN_PAGES) {
        block_free(arena, block_of(data));
    } else if (size && is_last(arena, data, size)) {
        memset(data, 0, size);
        arena->chunk->used -= size;
    }
}

static void *grow_block(struct arena *arena, struct block *block, size_t size)
{
    size_t total;
    if (ckd_add(&total, size, HEADER))
        arena_exhausted(arena);
    size_t old = block->size;
    if (total <= old)
        return block_data(block);
    check_budget(arena, total - old);
    struct block *grown = pages_grow(block, old, total);
    if (!grown)
        arena_exhausted(arena);
    count_more(arena, total - old);
    grown->size = total;
    if (grown->older)
        grown->older->newer = grown;
    *(grown->newer ? &grown->newer->older : &arena->block) = grown;
    return block_data(grown);
}

/* Makes the last block of a chunk longer; false when it has to move. */
static bool extend(struct arena *arena, const void *data, size_t old_size, size_t size)
{
    struct chunk *chunk = arena->chunk;
    if (!old_size || size >= OWN_PAGES || !is_last(arena, data, old_size) ||
        size - old_size > chunk->top - chunk->used || (uintptr_t)data % alignment_for(size))
        return false;
    chunk->used += size - old_size;
    return true;
}

void *arena_grow(struct arena *arena, void *data, size_t old_size, size_t size)
{
    if (old_size >= GROWS)
        return grow_block(arena, block_of(data), size);
    if (extend(arena, data, old_size, size))
        return data;
    void *grown = arena_alloc(arena, size);
    if (old_size)
        memcpy(grown, data, old_size);
    arena_release(arena, data, old_size);
    return grown;
}

void *arena_calloc(struct arena *arena, uint64_t count, size_t size)
{
    uint64_t total;
    if (ckd_mul(&total, count, size))
        arena_exhausted(arena);
    return arena_alloc(arena, total);
}

void *arena_memdup(struct arena *arena, const void *bytes, size_t size)
{
    void *copy = arena_alloc(arena, size);
    if (size)
        memcpy(copy, bytes, size);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *string)
{
    return arena_strndup(arena, string, strlen(string));
}

char *arena_strndup(struct arena *arena, const char *bytes, size_t length)
{
    char *copy = alloc_text(arena, length + 1);
    if (length)
        memcpy(copy, bytes, length);
    return copy;
}

char *arena_join(struct arena *arena, const char *first, const char *second, const char *third)
{
    const char *const parts[] = {first, second, third};
    size_t lengths[] = {strlen(first), strlen(second), strlen(third)};
    char *joined = alloc_text(arena, lengths[0] + lengths[1] + lengths[2] + 1), *end = joined;
    for (int i = 0; i < 3; i++) {
        memcpy(end, parts[i], lengths[i]);
        end += lengths[i];
    }
    *end = '\0';
    return joined;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    char small[256];
    va_list again;
    va_copy(again, args);
    int length = c_vsnprintf(small, sizeof small, format, args);
    if (length < 0)
        arena_exhausted(arena);
    char *out = alloc_text(arena, (size_t)length + 1);
    if ((size_t)length < sizeof small)
        memcpy(out, small, (size_t)length);
    else
        (void)c_vsnprintf(out, (size_t)length + 1, format, again);
    va_end(again);
    return out;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *out = arena_vprintf(arena, format, args);
    va_end(args);
    return out;
}

void arena_defer(struct arena *arena, void (*fn)(void *object), void *object)
{
    jmp_buf here, *before = arena_divert(arena, &here);
    if (setjmp(here)) {
        arena_divert(arena, before);
        fn(object);
        arena_exhausted(arena);
    }
    struct cleanup *c = arena_new(arena, struct cleanup);
    arena_divert(arena, before);
    *c = (struct cleanup){.previous = arena->cleanup, .fn = fn, .object = object};
    arena->cleanup = c;
}

struct arena_mark arena_mark(struct arena *arena)
{
    return (struct arena_mark){.chunk = arena->chunk,
                               .used = arena->chunk->used,
                               .top = arena->chunk->top,
                               .serial = arena->serial,
                               .cleanup = arena->cleanup};
}

/* What was taken of a chunk since it was filled that far becomes zeros again. */
static void chunk_rewind(struct chunk *chunk, size_t used, size_t top)
{
    unsigned char *data = chunk_data(chunk);
    if (chunk->used > used) { /* a block from before may have been released since */
        memset(data + used, 0, chunk->used - used);
        chunk->used = used;
    }
    if (chunk->top < top)
        memset(data + chunk->top, 0, top - chunk->top);
    chunk->top = top;
}

void arena_rewind(struct arena *arena, struct arena_mark mark)
{
    run_cleanups(arena, mark.cleanup);
    while (arena->block && arena->block->serial > mark.serial)
        block_free(arena, arena->block);
    while (arena->chunk != mark.chunk) {
        struct chunk *chunk = arena->chunk;
        arena->chunk = chunk->previous;
        if (arena->spare) {
            count_less(arena, CHUNK_SIZE);
            chunk_free(chunk);
        } else {
            chunk_rewind(chunk, 0, CHUNK_SIZE - HEADER);
            arena->spare = chunk;
        }
    }
    chunk_rewind(arena->chunk, mark.used, mark.top);
}
