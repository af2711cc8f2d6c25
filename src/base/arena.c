#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define CHUNK_SIZE ((size_t)64 * 1024)
#define BIG_BLOCK 4096 /* from here blocks are aligned for vector loads */

struct chunk {
    struct chunk *previous;
    size_t size, used;
    unsigned char *data;
};

struct cleanup {
    struct cleanup *previous;
    void (*fn)(void *object);
    void *object;
};

struct arena {
    struct chunk *chunk; /* newest */
    struct cleanup *cleanup;
    bool catches;
    jmp_buf recovery;
};

/* calloc, because large blocks then come as untouched zero pages; the data start is aligned by hand. */
static struct chunk *chunk_create(struct chunk *previous, size_t size)
{
    size_t total;
    if (ckd_add(&total, size, sizeof(struct chunk) + 64))
        return NULL;
    unsigned char *block = calloc(1, total);
    if (!block)
        return NULL;
    struct chunk *chunk = (struct chunk *)(void *)block;
    chunk->previous = previous;
    chunk->size = size;
    chunk->data = (unsigned char *)align_up((uintptr_t)(block + sizeof *chunk), 64);
    return chunk;
}

struct arena *arena_create(void)
{
    struct arena *arena = calloc(1, sizeof *arena);
    if (!arena)
        return NULL;
    arena->chunk = chunk_create(NULL, CHUNK_SIZE);
    if (!arena->chunk) {
        free(arena);
        return NULL;
    }
    return arena;
}

static void run_cleanups(struct arena *arena, const struct cleanup *until)
{
    while (arena->cleanup != until) {
        struct cleanup *c = arena->cleanup;
        arena->cleanup = c->previous;
        c->fn(c->object);
    }
}

void arena_destroy(struct arena *arena)
{
    if (!arena)
        return;
    run_cleanups(arena, NULL);
    while (arena->chunk) {
        struct chunk *chunk = arena->chunk;
        arena->chunk = chunk->previous;
        free(chunk);
    }
    free(arena);
}

jmp_buf *arena_catch(struct arena *arena)
{
    arena->catches = true;
    return &arena->recovery;
}

void arena_exhausted(struct arena *arena)
{
    if (!arena->catches)
        abort();
    longjmp(arena->recovery, 1);
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t alignment = size >= BIG_BLOCK ? 64 : 16;
    struct chunk *chunk = arena->chunk;
    size_t start = align_up(chunk->used, alignment);
    if (start > chunk->size || size > chunk->size - start) {
        chunk = chunk_create(arena->chunk, size > CHUNK_SIZE ? size : CHUNK_SIZE);
        if (!chunk)
            arena_exhausted(arena);
        arena->chunk = chunk;
        start = 0;
    }
    chunk->used = start + size;
    return chunk->data + start;
}

void *arena_calloc(struct arena *arena, size_t count, size_t size)
{
    size_t total;
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
    return arena_memdup(arena, string, strlen(string) + 1);
}

char *arena_strndup(struct arena *arena, const char *bytes, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    if (length)
        memcpy(copy, bytes, length);
    return copy;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    char small[256];
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(small, sizeof small, format, args);
    if (length < 0)
        arena_exhausted(arena);
    char *out = arena_alloc(arena, (size_t)length + 1);
    if ((size_t)length < sizeof small)
        memcpy(out, small, (size_t)length);
    else
        vsnprintf(out, (size_t)length + 1, format, again);
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
    struct cleanup *c = arena_new(arena, struct cleanup);
    *c = (struct cleanup){.previous = arena->cleanup, .fn = fn, .object = object};
    arena->cleanup = c;
}

struct arena_mark arena_mark(struct arena *arena)
{
    return (struct arena_mark){.chunk = arena->chunk, .used = arena->chunk->used, .cleanup = arena->cleanup};
}

void arena_rewind(struct arena *arena, struct arena_mark mark)
{
    run_cleanups(arena, mark.cleanup);
    while (arena->chunk != mark.chunk) {
        struct chunk *chunk = arena->chunk;
        arena->chunk = chunk->previous;
        free(chunk);
    }
    struct chunk *chunk = arena->chunk;
    memset(chunk->data + mark.used, 0, chunk->used - mark.used);
    chunk->used = mark.used;
}

void *vec_grow(struct arena *arena, const void *data, size_t count, size_t *capacity, size_t element_size)
{
    size_t grown = *capacity ? *capacity : 8, bytes;
    if (*capacity && ckd_mul(&grown, *capacity, 2))
        arena_exhausted(arena);
    if (ckd_mul(&bytes, grown, element_size))
        arena_exhausted(arena);
    void *moved = arena_alloc(arena, bytes);
    if (count)
        memcpy(moved, data, count * element_size);
    *capacity = grown;
    return moved;
}

void text_add_bytes(struct arena *arena, text *t, const char *bytes, size_t length)
{
    while (t->capacity - t->count < length + 1)
        t->data = vec_grow(arena, t->data, t->count, &t->capacity, 1);
    memcpy(t->data + t->count, bytes, length);
    t->count += length;
    t->data[t->count] = '\0';
}

void text_add(struct arena *arena, text *t, const char *format, ...)
{
    char buffer[512];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(buffer, sizeof buffer, format, args);
    if (length >= 0 && (size_t)length < sizeof buffer) {
        text_add_bytes(arena, t, buffer, (size_t)length);
    } else {
        char *whole = arena_vprintf(arena, format, again);
        text_add_bytes(arena, t, whole, strlen(whole));
    }
    va_end(again);
    va_end(args);
}
