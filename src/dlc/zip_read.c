/* SPDX-License-Identifier: Apache-2.0 */
#include "dlc/zip.h"

#include "base/file_kind.h"
#include "base/reader.h"
#include "dlc/unpack.h"

enum {
    END_SIZE = 22,
    END64_SIZE = 56,
    LOCATOR_SIZE = 20,
    CENTRAL_SIZE = 46,
    LOCAL_SIZE = 30,
    MAX_COMMENT = 65535,
    MAX_ENTRIES = 4096,
    METHOD_STORED = 0,
    METHOD_DEFLATED = 8,
    EXTRA_ZIP64 = 1,
    FLAG_SIZES_LATER = 8, /* CRC and sizes follow the data */
    MAX_RATIO = 1032      /* deflate cannot do better */
};
static const uint64_t MAX_INFLATED = 512ull << 20, FREE_INFLATED = 32ull << 20;

struct zip_reader {
    struct arena *arena;
    struct diags *diags;
    const struct file *file;
};

static odlc_status broken(const struct zip_reader *z, uint64_t offset, const char *what)
{
    return diag_error(z->diags, ODLC_ERR_INVALID, AT(.file = z->file->path, .offset = offset, .has_offset = 1),
                      "dlc-zip", "broken zip: %s", what);
}

/* Bytes in memory that nobody else writes to: what is read of the file is read once. */
static odlc_status read_part(const struct zip_reader *z, uint64_t offset, uint64_t size, const uint8_t **bytes)
{
    uint8_t *part = arena_alloc(z->arena, size);
    *bytes = part;
    return file_read(z->file, z->diags, offset, part, size);
}

/* The end record, searched backwards over the comment that may follow it. */
static odlc_status find_end(const struct zip_reader *z, uint8_t record[END_SIZE], uint64_t *end)
{
    const struct file *f = z->file;
    uint8_t first[FILE_KIND_BYTES];
    size_t n_first = (size_t)min_u64(f->size, sizeof first);
    uint64_t lowest = f->size > END_SIZE + MAX_COMMENT ? f->size - END_SIZE - MAX_COMMENT : 0;
    struct arena_mark mark = arena_mark(z->arena);
    const uint8_t *tail;
    TRY(read_part(z, lowest, f->size - lowest, &tail));
    for (uint64_t at = f->size >= END_SIZE ? f->size - END_SIZE + 1 : 0; at-- > lowest;) {
        memcpy(record, tail + (at - lowest), END_SIZE);
        if (load_le(record, 4) == 0x06054B50 && at + END_SIZE + load_le(record + 20, 2) == f->size) {
            arena_rewind(z->arena, mark);
            *end = at;
            return ODLC_OK;
        }
    }
    arena_rewind(z->arena, mark);
    TRY(file_read(f, z->diags, 0, first, n_first));
    bool cut_off = n_first >= 4 && load_le(first, 4) == 0x04034B50;
    const char *form = "a DLC container is a zip file that holds an entry named model";
    const char *hint = cut_off ? form : file_kind_hint(z->arena, first, n_first, "a DLC container", form);
    return diag_error(z->diags, ODLC_ERR_INVALID, AT(.file = f->path, .hint = hint), "dlc-not-a-container",
                      "not a DLC container%s", cut_off ? ", or one that is cut off" : "");
}

struct directory {
    uint64_t at, end; /* in the file: of what is still to be read */
    uint64_t count;   /* of entries */
};

/* Where the central directory is, by the ZIP64 end record when there is one. */
static odlc_status find_directory(const struct zip_reader *z, uint64_t *end, struct directory *out)
{
    uint8_t record[END_SIZE], locator[LOCATOR_SIZE] = {0}, wide[END64_SIZE] = {0};
    TRY(find_end(z, record, end));
    out->count = load_le(record + 10, 2);
    uint64_t size = load_le(record + 12, 4), offset = load_le(record + 16, 4);
    if (*end >= LOCATOR_SIZE)
        TRY(file_read(z->file, z->diags, *end - LOCATOR_SIZE, locator, LOCATOR_SIZE));
    if (load_le(locator, 4) == 0x07064B50) {
        uint64_t at = load_le(locator + 8, 8);
        bool inside = *end >= END64_SIZE && at <= *end - END64_SIZE;
        if (inside)
            TRY(file_read(z->file, z->diags, at, wide, END64_SIZE));
        if (load_le(wide, 4) != 0x06064B50)
            return broken(z, *end, "the ZIP64 end record is not where its locator says");
        out->count = load_le(wide + 32, 8);
        size = load_le(wide + 40, 8);
        offset = load_le(wide + 48, 8);
    }
    if (offset > *end || size > *end - offset)
        return broken(z, *end, "the central directory lies outside the file");
    if (out->count > MAX_ENTRIES)
        return diag_error(z->diags, ODLC_ERR_LIMIT, AT(.file = z->file->path), "dlc-zip", "more than %d entries",
                          MAX_ENTRIES);
    out->at = offset;
    out->end = offset + size;
    return ODLC_OK;
}

/* Sizes and offset that do not fit 32 bits are in the ZIP64 extra field, in this order, only those that need it. */
static bool widen(struct reader extra, uint64_t *size, uint64_t *packed, uint64_t *offset)
{
    while (extra.size - extra.pos >= 4) {
        uint16_t id = read_u16(&extra), length = read_u16(&extra);
        const uint8_t *body = read_bytes(&extra, length);
        if (!body)
            return false;
        if (id != EXTRA_ZIP64)
            continue;
        struct reader values = reader_of(body, length);
        uint64_t *const wide[] = {size, packed, offset};
        for (size_t i = 0; i < COUNT_OF(wide); i++)
            if (*wide[i] == UINT32_MAX)
                *wide[i] = read_u64(&values);
        return !values.failed;
    }
    return true;
}

/* The offset of the entry's data, behind its local header. */
static odlc_status check_local(const struct zip_reader *z, struct dlc_entry *entry, uint64_t offset, uint64_t packed)
{
    const struct file *f = z->file;
    uint8_t fixed[LOCAL_SIZE] = {0};
    if (offset <= f->size && f->size - offset >= LOCAL_SIZE)
        TRY(file_read(f, z->diags, offset, fixed, LOCAL_SIZE));
    if (load_le(fixed, 4) != 0x04034B50)
        return broken(z, offset, "an entry is not where the directory says");
    uint64_t names = load_le(fixed + 26, 2), extras = load_le(fixed + 28, 2);
    uint64_t start = offset + LOCAL_SIZE + names + extras;
    if (start > f->size || packed > f->size - start)
        return broken(z, offset, "an entry is longer than the file");
    struct arena_mark mark = arena_mark(z->arena);
    const uint8_t *name;
    TRY(read_part(z, offset + LOCAL_SIZE, names, &name));
    if (names != strlen(entry->name) || memcmp(name, entry->name, names) != 0)
        return broken(z, offset, "an entry's name differs from the directory's");
    arena_rewind(z->arena, mark);
    entry->header = offset;
    entry->offset = start;
    return ODLC_OK;
}

/* The next entry's header of the directory, and what stands behind it: name, extra field and comment. */
static odlc_status read_central(const struct zip_reader *z, struct directory *d, uint8_t fixed[CENTRAL_SIZE],
                                const char **name, struct reader *extra)
{
    const uint64_t at = d->at, room = d->end - at;
    const uint8_t *rest;
    if (room >= CENTRAL_SIZE)
        TRY(file_read(z->file, z->diags, at, fixed, CENTRAL_SIZE));
    uint64_t name_length = load_le(fixed + 28, 2), extra_length = load_le(fixed + 30, 2);
    uint64_t total = CENTRAL_SIZE + name_length + extra_length + load_le(fixed + 32, 2);
    if (load_le(fixed, 4) != 0x02014B50 || total > room || !name_length)
        return broken(z, at, "the central directory is damaged");
    TRY(read_part(z, at + CENTRAL_SIZE, name_length + extra_length, &rest));
    if (memchr(rest, 0, name_length))
        return broken(z, at, "the central directory is damaged");
    *name = arena_strndup(z->arena, (const char *)rest, name_length);
    *extra = reader_of(rest + name_length, extra_length);
    d->at += total;
    return ODLC_OK;
}

static odlc_status read_entry(const struct zip_reader *z, struct directory *d, struct dlc_entry *entry)
{
    uint64_t at = d->at;
    uint8_t fixed[CENTRAL_SIZE] = {0};
    const char *name;
    struct reader extra;
    TRY(read_central(z, d, fixed, &name, &extra));
    uint64_t packed = load_le(fixed + 20, 4), size = load_le(fixed + 24, 4), offset = load_le(fixed + 42, 4);
    if (!widen(extra, &size, &packed, &offset))
        return broken(z, at, "a ZIP64 field is too short");
    uint64_t flags = load_le(fixed + 8, 2), method = load_le(fixed + 10, 2);
    *entry = (struct dlc_entry){.name = name,
                                .size = size,
                                .packed = packed,
                                .crc = (uint32_t)load_le(fixed + 16, 4),
                                .compressed = method == METHOD_DEFLATED};
    if ((flags & 1) || (method != METHOD_STORED && method != METHOD_DEFLATED))
        return diag_error(z->diags, ODLC_ERR_UNSUPPORTED, AT(.file = z->file->path, .offset = at, .has_offset = 1),
                          "dlc-zip", "entry %s is encrypted or packed by an unknown method", entry->name);
    if (method == METHOD_STORED && packed != size)
        return broken(z, at, "a stored entry has two sizes");
    return check_local(z, entry, offset, packed);
}

odlc_status zip_list(struct arena *arena, struct diags *diags, const struct file *file, struct dlc_entry **entries,
                     uint32_t *count)
{
    struct zip_reader z = {arena, diags, file};
    struct directory directory;
    uint64_t end;
    TRY(find_directory(&z, &end, &directory));
    uint64_t n = directory.count;
    if (n > (directory.end - directory.at) / CENTRAL_SIZE)
        return broken(&z, end, "fewer entries than the end record says");
    struct dlc_entry *list = arena_array(arena, struct dlc_entry, n);
    struct map names;
    map_init(&names, arena);
    for (uint32_t i = 0; i < n; i++) {
        TRY(read_entry(&z, &directory, &list[i]));
        if (map_add(&names, list[i].name, i) != MAP_NONE)
            return diag_error(diags, ODLC_ERR_INVALID, AT(.file = file->path), "dlc-zip", "two entries are named %s",
                              list[i].name);
    }
    *entries = list;
    *count = (uint32_t)n;
    return ODLC_OK;
}

const struct dlc_entry *zip_find(const struct dlc_entry *entries, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(entries[i].name, name) == 0)
            return &entries[i];
    return NULL;
}

static odlc_status crc_error(struct diags *diags, const struct file *file, const struct dlc_entry *entry)
{
    return diag_error(diags, ODLC_ERR_INVALID,
                      AT(.file = file->path, .offset = entry->offset, .has_offset = 1,
                         .hint = "the file was damaged after it was written"),
                      "dlc-crc", "the bytes of entry %s do not match their CRC", entry->name);
}

odlc_status zip_bytes(struct arena *arena, struct diags *diags, const struct file *file, const struct dlc_entry *entry,
                      const uint8_t **bytes)
{
    if (!entry->compressed) {
        *bytes = file->data ? file->data + entry->offset : NULL;
        return ODLC_OK;
    }
    if (entry->size > MAX_INFLATED || entry->packed > entry->size + 65536 || entry->size / MAX_RATIO > entry->packed)
        return diag_error(diags, ODLC_ERR_LIMIT, AT(.file = file->path, .offset = entry->offset, .has_offset = 1),
                          "dlc-zip", "entry %s is packed and larger than 512 MiB, or has an impossible size",
                          entry->name);
    /* Weights hardly shrink. What does by far more is a bomb, and memory stays in proportion to the file. */
    if (entry->size > 2 * file->size + FREE_INFLATED)
        return diag_error(diags, ODLC_ERR_LIMIT, AT(.file = file->path, .offset = entry->offset, .has_offset = 1),
                          "dlc-zip", "entry %s is packed, and unpacked it is over twice the file and 32 MiB",
                          entry->name);
    uint8_t *out = arena_alloc(arena, entry->size);
    struct arena_mark mark = arena_mark(arena);
    uint8_t *packed = arena_alloc(arena, entry->packed);
    TRY(file_read(file, diags, entry->offset, packed, entry->packed));
    bool unpacked = inflate_all(arena, packed, entry->packed, out, entry->size);
    arena_rewind(arena, mark);
    if (!unpacked)
        return diag_error(diags, ODLC_ERR_INVALID, AT(.file = file->path, .offset = entry->offset, .has_offset = 1),
                          "dlc-zip", "entry %s cannot be unpacked", entry->name);
    if (entry->crc && crc_of_more(0, out, entry->size) != entry->crc)
        return crc_error(diags, file, entry);
    *bytes = out;
    return ODLC_OK;
}

odlc_status zip_copy(struct arena *arena, struct diags *diags, const struct file *file, const struct dlc_entry *entry,
                     const uint8_t **bytes)
{
    const struct zip_reader z = {arena, diags, file};
    return entry->compressed ? zip_bytes(arena, diags, file, entry, bytes)
                             : read_part(&z, entry->offset, entry->size, bytes);
}

/* After each 4 MiB. */
static odlc_status tell_reading(struct diags *diags, struct zip_reading *reading, size_t piece)
{
    const uint64_t interval = 4 << 20, before = reading->done;
    reading->done += piece;
    if (before / interval == reading->done / interval)
        return ODLC_OK;
    return progress_report(reading->progress, diags, reading->done, reading->total);
}

odlc_status zip_check(struct diags *diags, const struct file *file, const struct dlc_entry *entry,
                      struct zip_reading *reading)
{
    uint8_t buffer[64 * 1024];
    uint32_t crc = 0;
    for (uint64_t done = 0; done < entry->size;) {
        size_t piece = (size_t)min_u64(sizeof buffer, entry->size - done);
        TRY(file_read(file, diags, entry->offset + done, buffer, piece));
        crc = crc_of_more(crc, buffer, piece);
        done += piece;
        if (reading)
            TRY(tell_reading(diags, reading, piece));
    }
    return zip_compare_crc(diags, file, entry, crc);
}

odlc_status zip_compare_crc(struct diags *diags, const struct file *file, const struct dlc_entry *entry, uint32_t crc)
{
    return crc == entry->crc ? ODLC_OK : crc_error(diags, file, entry);
}

odlc_status zip_check_header(struct diags *diags, const struct file *file, const struct dlc_entry *entry)
{
    uint8_t local[LOCAL_SIZE];
    uint64_t extra = entry->header + LOCAL_SIZE + strlen(entry->name), extra_length = entry->offset - extra;
    TRY(file_read(file, diags, entry->header, local, LOCAL_SIZE));
    uint8_t *bytes = arena_alloc(diags->arena, extra_length);
    TRY(file_read(file, diags, extra, bytes, extra_length));
    uint64_t packed = load_le(local + 18, 4), size = load_le(local + 22, 4);
    uint64_t unused = 0, flags = load_le(local + 6, 2), method = load_le(local + 8, 2), crc = load_le(local + 14, 4);
    bool later = flags & FLAG_SIZES_LATER;
    bool same = method == (entry->compressed ? METHOD_DEFLATED : METHOD_STORED) && (later || crc == entry->crc) &&
                widen(reader_of(bytes, extra_length), &size, &packed, &unused) &&
                (later || (size == entry->size && packed == entry->packed));
    return same ? ODLC_OK
                : diag_error(diags, ODLC_ERR_INVALID, AT(.file = file->path, .offset = entry->header, .has_offset = 1),
                             "dlc-zip", "the local header of entry %s differs from the central directory", entry->name);
}
