/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that lives as long as one piece of work (a conversion, a pass).
 *
 * Allocation never returns NULL: when memory runs out the arena jumps to its recovery point, set once by the public
 * function that owns the work (see arena_catch). Everything that must be given back (mapped files, descriptors, trees
 * of other libraries) is registered with arena_defer, so the jump leaks nothing. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <setjmp.h>
#include <stdarg.h>

#include "base/base.h"

struct arena;

struct arena_mark {
    void *chunk;
    size_t used, top;
    uint64_t serial;
    void *cleanup;
};

/* NULL when there is no memory even for the first chunk. */
struct arena *arena_create(void);

/* Runs the deferred clean-ups, newest first, then frees everything. NULL is allowed. */
void arena_destroy(struct arena *arena);

/* The jump target for exhausted memory. Use as:
 *     if (setjmp(*arena_catch(arena))) { arena_destroy(arena); return ODLC_ERR_NOMEM; }
 * Without one, exhausted memory aborts the process. */
jmp_buf *arena_catch(struct arena *arena);

/* For calls by another library, whose frames must not be jumped over: makes `to` the target of the jump, and gives the
 * former target, which a second call puts in its place again. After a jump the caller returns through the library and
 * goes on by arena_exhausted. */
jmp_buf *arena_divert(struct arena *arena, jmp_buf *to);

/* Acts as if memory had run out; for sizes that overflow and for libraries that report exhaustion themselves. */
_Noreturn void arena_exhausted(struct arena *arena);

/* Zeroed, and aligned as an object of that size can be: to the largest power of two that divides the size, 16 at most
 * (64 for blocks of at least 4 KiB). 0 bytes give a valid pointer. Sizes of files may be larger than memory can be. */
void *arena_alloc(struct arena *arena, uint64_t bytes);
/* count * size, with the product checked. */
void *arena_calloc(struct arena *arena, uint64_t count, size_t size);

/* A block of old_size bytes made size (not fewer) bytes; the added bytes are zeros. Large blocks grow in place where
 * possible; data is not valid any more. NULL with old_size 0 is allowed. */
void *arena_grow(struct arena *arena, void *data, size_t old_size, size_t size);
/* Gives a block back before its time: all of a large one (64 KiB), others where it is possible. */
void arena_release(struct arena *arena, void *data, size_t size);

/* Bytes that the arena has of the system, used or not. */
size_t arena_size(const struct arena *arena);

/* A limit on the memory that several arenas take from the system together. */
struct arena_budget {
    size_t used, most;
    bool reached; /* an allocation would have gone beyond `most`, and acted as if memory had run out */
};
/* Counts the arena's memory in the budget until the arena is destroyed. The budget may lie in the arena itself. */
void arena_share(struct arena *arena, struct arena_budget *budget);

/* The key for hashing in tables of this arena, drawn by arena_create. */
const uint64_t *arena_hash_key(const struct arena *arena);

#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define arena_array(arena, type, count) ((type *)arena_calloc((arena), (count), sizeof(type)))

void *arena_memdup(struct arena *arena, const void *bytes, size_t size);
char *arena_strdup(struct arena *arena, const char *string);
/* A NUL-terminated copy of length bytes. */
char *arena_strndup(struct arena *arena, const char *bytes, size_t length);
/* Three strings one behind the other: printf takes ten times as long, and most nodes have names that are joined. */
char *arena_join(struct arena *arena, const char *first, const char *second, const char *third);
char *arena_printf(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
char *arena_vprintf(struct arena *arena, const char *format, va_list args) PRINTF_LIKE(2, 0);

/* Calls fn(object) when the arena is destroyed or rewound past this point; at once when memory runs out here. */
void arena_defer(struct arena *arena, void (*fn)(void *object), void *object);

/* Everything allocated and deferred after the mark goes when the arena is rewound to it. */
struct arena_mark arena_mark(struct arena *arena);
void arena_rewind(struct arena *arena, struct arena_mark mark);

#endif
