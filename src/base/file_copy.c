/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file_copy.h"

#include <errno.h>

#include "base/pages.h"

/* Small enough that a table between payloads brings little of them along, large enough that tables that stand together
 * take few reads. */
enum { PIECE = 16 * 1024 };

static void release(void *object)
{
    const struct file_copy *copy = object;
    if (copy->bytes)
        pages_unreserve(copy->bytes, copy->room);
}

struct file_copy *file_copy_new(struct arena *arena, const struct file *file, uint64_t offset, uint64_t size)
{
    struct file_copy *copy = arena_new(arena, struct file_copy);
    copy->file = file;
    copy->offset = offset;
    copy->size = size;
    copy->room = file->source ? min_u64(size, file->source->room) : size;
    copy->have = arena_array(arena, uint64_t, copy->room / PIECE / 64 + 1);
    arena_defer(arena, release, copy);
    if (!copy->room)
        return copy;
    copy->bytes = pages_reserve(copy->room);
    if (!copy->bytes)
        arena_exhausted(arena);
    return copy;
}

static bool take_in(struct file_copy *copy, uint64_t piece)
{
    uint64_t at = piece * PIECE, size = min_u64(PIECE, copy->room - at);
    pages_use(copy->bytes + at, size);
    copy->error = file_read_at(copy->file, copy->offset + at, copy->bytes + at, size);
    if (copy->error)
        return false;
    copy->have[piece / 64] |= UINT64_C(1) << piece % 64;
    return true;
}

bool file_copy_need(struct file_copy *copy, uint64_t at, uint64_t size)
{
    if (!size)
        return true;
    if (at + size > copy->room) {
        copy->file->source->needs_room = true;
        copy->error = ENOBUFS;
        return false;
    }
    for (uint64_t piece = at / PIECE; piece <= (at + size - 1) / PIECE; piece++)
        if (!(copy->have[piece / 64] >> piece % 64 & 1) && (copy->error || !take_in(copy, piece)))
            return false;
    return true;
}
