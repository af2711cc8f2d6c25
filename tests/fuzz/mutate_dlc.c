/* Mutations of containers. Most are inside an entry, with the zip kept whole and the CRC mended, because plain
 * mutations seldom get past the zip. */
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/reader.h"
#include "dlc/zip.h"
#include "engine.h"

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* A word becomes a special value, a neighbour's, or, as a reference, one that leads somewhere else in the entry. */
static void change_words(uint8_t *bytes, size_t size, uint32_t *state)
{
    static const uint32_t special[] = {0, 1, 2, 4, 8, 0xFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    for (uint32_t i = next_random(state) % 4 + 1; i > 0; i--) {
        size_t at = next_random(state) % (size / 4) * 4, other = next_random(state) % (size / 4) * 4;
        uint32_t word = (uint32_t)load_le(bytes + at, 4);
        switch (next_random(state) % 5) {
        case 0:
            word = special[next_random(state) % COUNT_OF(special)];
            break;
        case 1:
            word += next_random(state) % 9 - 4;
            break;
        case 2: /* what the other word leads to */
            word = (uint32_t)(other + load_le(bytes + other, 4) - at);
            break;
        case 3:
            word = (uint32_t)(other - at);
            break;
        default:
            word = (uint32_t)load_le(bytes + other, 4);
            break;
        }
        store_le(bytes + at, 4, word);
    }
}

/* The CRC in the entry's record of the central directory, the one that counts. */
static void mend_crc(uint8_t *bytes, size_t size, const struct dlc_entry *entry)
{
    size_t length = strlen(entry->name);
    for (size_t at = entry->offset + entry->size; at + 46 + length <= size; at++) {
        if (load_le(bytes + at, 4) == 0x02014B50 && load_le(bytes + at + 28, 2) == length &&
            memcmp(bytes + at + 46, entry->name, length) == 0) {
            store_le(bytes + at + 16, 4, libdeflate_crc32(0, bytes + entry->offset, entry->size));
            return;
        }
    }
}

/* False when there is no zip to keep whole. */
static bool change_entry(struct arena *arena, uint8_t *bytes, size_t size, uint32_t *state)
{
    struct diags diags;
    struct file *file;
    struct dlc_entry *entries;
    uint32_t count;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    diags_init(&diags, arena);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        abort();
    if (file_map_fd(arena, &diags, "fuzz.dlc", fd, &file) != ODLC_OK ||
        zip_list(arena, &diags, file, &entries, &count) != ODLC_OK || !count)
        return false;
    const struct dlc_entry *entry = &entries[next_random(state) % count];
    if (entry->compressed || entry->size < 16)
        return false;
    if (next_random(state) % 3)
        change_words(bytes + entry->offset, entry->size, state);
    else
        LLVMFuzzerMutate(bytes + entry->offset, entry->size, entry->size);
    mend_crc(bytes, size, entry);
    return true;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
    struct arena *arena = arena_create();
    if (!arena)
        abort();
    volatile bool changed = false;
    if (setjmp(*arena_catch(arena)) == 0)
        changed = seed % 4 && change_entry(arena, bytes, size, &seed);
    arena_destroy(arena);
    return changed ? size : LLVMFuzzerMutate(bytes, size, max_size);
}
