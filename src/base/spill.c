/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { ALIGNMENT = 64 };
/* Bytes of a file: they are mapped at once, and few files need few descriptors. */
#define LEAST_FILE (UINT64_C(1) << 20)
#define MOST_FILE (UINT64_C(1) << 28)

struct spill {
    struct arena *arena;
    struct diags *diags;
    const char *beside;
    struct spill_room next; /* in the newest file; none yet: no room */
    uint64_t total;         /* bytes of all files */
};

struct spill *spill_beside(struct arena *arena, struct diags *diags, const char *beside)
{
    struct spill *spill = arena_new(arena, struct spill);
    *spill = (struct spill){.arena = arena, .diags = diags, .beside = arena_strdup(arena, beside)};
    return spill;
}

/* Each file is as large as all before: small needs take little of what the user may have. */
static odlc_status add_file(struct spill *spill, uint64_t size)
{
    struct out_file *out;
    struct file *file;
    uint64_t room = spill->total < LEAST_FILE ? LEAST_FILE : min_u64(spill->total, MOST_FILE);
    if (room < size)
        room = size;
    TRY(out_create(spill->arena, spill->diags, spill->beside, &out));
    if (ftruncate(out_fd(out), (off_t)room) != 0)
        return out_error(out, errno);
    int fd = fcntl(out_fd(out), F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return out_error(out, errno);
    TRY(file_map_fd(spill->arena, spill->diags, spill->beside, fd, &file));
    spill->next = (struct spill_room){.out = out, .file = file};
    spill->total += room;
    return ODLC_OK;
}

odlc_status spill_take(struct spill *spill, uint64_t size, struct spill_room *out)
{
    if (!spill->next.file || size > spill->next.file->size - spill->next.at)
        TRY(add_file(spill, size));
    *out = spill->next;
    spill->next.at = min_u64(spill->next.file->size, (out->at + size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    return ODLC_OK;
}

odlc_status spill_write(const struct spill_room *room, uint64_t offset, const void *bytes, size_t size)
{
    int error = out_write_at(room->out, room->at + offset, bytes, size);
    return error ? out_error(room->out, error) : ODLC_OK;
}
