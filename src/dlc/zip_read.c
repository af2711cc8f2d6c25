#include "dlc/zip.h"

#include <libdeflate.h>

#include "base/reader.h"

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

/* The end record, searched backwards over the comment that may follow it. */
static odlc_status find_end(const struct zip_reader *z, uint64_t *end)
{
    const struct file *f = z->file;
    uint64_t lowest = f->size > END_SIZE + MAX_COMMENT ? f->size - END_SIZE - MAX_COMMENT : 0;
    for (uint64_t at = f->size >= END_SIZE ? f->size - END_SIZE + 1 : 0; at-- > lowest;) {
        if (load_le(f->data + at, 4) == 0x06054B50 && at + END_SIZE + load_le(f->data + at + 20, 2) == f->size) {
            *end = at;
            return ODLC_OK;
        }
    }
    return diag_error(z->diags, ODLC_ERR_INVALID,
                      AT(.file = f->path, .hint = "a DLC container is a zip file that holds an entry named model"),
                      "dlc-not-a-container", "not a DLC container%s",
                      f->size >= 4 && load_le(f->data, 4) == 0x04034B50 ? ", or one that is cut off" : "");
}

/* Where the central directory is, by the ZIP64 end record when there is one. */
static odlc_status find_directory(const struct zip_reader *z, uint64_t end, struct reader *directory, uint64_t *count)
{
    const uint8_t *data = z->file->data;
    *count = load_le(data + end + 10, 2);
    uint64_t size = load_le(data + end + 12, 4), offset = load_le(data + end + 16, 4);
    if (end >= LOCATOR_SIZE && load_le(data + end - LOCATOR_SIZE, 4) == 0x07064B50) {
        uint64_t at = load_le(data + end - LOCATOR_SIZE + 8, 8);
        if (end < END64_SIZE || at > end - END64_SIZE || load_le(data + at, 4) != 0x06064B50)
            return broken(z, end, "the ZIP64 end record is not where its locator says");
        *count = load_le(data + at + 32, 8);
        size = load_le(data + at + 40, 8);
        offset = load_le(data + at + 48, 8);
    }
    if (offset > end || size > end - offset)
        return broken(z, end, "the central directory lies outside the file");
    if (*count > MAX_ENTRIES)
        return diag_error(z->diags, ODLC_ERR_LIMIT, AT(.file = z->file->path), "dlc-zip", "more than %d entries",
                          MAX_ENTRIES);
    *directory = reader_of(data + offset, size);
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
static odlc_status check_local(const struct zip_reader *z, struct dlc_entry *entry, const uint8_t *name,
                               uint64_t name_length, uint64_t offset, uint64_t packed)
{
    const struct file *f = z->file;
    if (offset > f->size || f->size - offset < LOCAL_SIZE || load_le(f->data + offset, 4) != 0x04034B50)
        return broken(z, offset, "an entry is not where the directory says");
    uint64_t names = load_le(f->data + offset + 26, 2), extras = load_le(f->data + offset + 28, 2);
    uint64_t start = offset + LOCAL_SIZE + names + extras;
    if (start > f->size || packed > f->size - start)
        return broken(z, offset, "an entry is longer than the file");
    if (names != name_length || memcmp(f->data + offset + LOCAL_SIZE, name, names) != 0)
        return broken(z, offset, "an entry's name differs from the directory's");
    entry->header = offset;
    entry->offset = start;
    return ODLC_OK;
}

static odlc_status read_entry(const struct zip_reader *z, struct reader *r, struct dlc_entry *entry)
{
    uint64_t at = (uint64_t)(r->data - z->file->data) + r->pos;
    const uint8_t *fixed = read_bytes(r, CENTRAL_SIZE);
    if (!fixed || load_le(fixed, 4) != 0x02014B50)
        return broken(z, at, "the central directory is damaged");
    uint64_t name_length = load_le(fixed + 28, 2), extra_length = load_le(fixed + 30, 2);
    const uint8_t *name = read_bytes(r, name_length);
    const uint8_t *extra = read_bytes(r, extra_length);
    read_bytes(r, load_le(fixed + 32, 2));
    if (r->failed || !name_length || memchr(name, 0, name_length))
        return broken(z, at, "the central directory is damaged");
    uint64_t packed = load_le(fixed + 20, 4), size = load_le(fixed + 24, 4), offset = load_le(fixed + 42, 4);
    if (!widen(reader_of(extra, extra_length), &size, &packed, &offset))
        return broken(z, at, "a ZIP64 field is too short");
    uint64_t flags = load_le(fixed + 8, 2), method = load_le(fixed + 10, 2);
    *entry = (struct dlc_entry){.name = arena_strndup(z->arena, (const char *)name, name_length),
                                .size = size,
                                .packed = packed,
                                .crc = (uint32_t)load_le(fixed + 16, 4),
                                .compressed = method == METHOD_DEFLATED};
    if ((flags & 1) || (method != METHOD_STORED && method != METHOD_DEFLATED))
        return diag_error(z->diags, ODLC_ERR_UNSUPPORTED, AT(.file = z->file->path, .offset = at, .has_offset = 1),
                          "dlc-zip", "entry %s is encrypted or packed by an unknown method", entry->name);
    if (method == METHOD_STORED && packed != size)
        return broken(z, at, "a stored entry has two sizes");
    return check_local(z, entry, name, name_length, offset, packed);
}

odlc_status zip_list(struct arena *arena, struct diags *diags, const struct file *file, struct dlc_entry **entries,
                     uint32_t *count)
{
    struct zip_reader z = {arena, diags, file};
    struct reader directory;
    uint64_t end, n;
    TRY(find_end(&z, &end));
    TRY(find_directory(&z, end, &directory, &n));
    if (n > directory.size / CENTRAL_SIZE)
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

static bool inflate_all(struct arena *arena, const uint8_t *packed, uint64_t packed_size, uint8_t *out, uint64_t size)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    size_t inflated = 0;
    if (!d)
        arena_exhausted(arena);
    bool complete = libdeflate_deflate_decompress(d, packed, packed_size, out, size, &inflated) == LIBDEFLATE_SUCCESS;
    libdeflate_free_decompressor(d);
    return complete && inflated == size;
}

odlc_status zip_bytes(struct arena *arena, struct diags *diags, const struct file *file, const struct dlc_entry *entry,
                      const uint8_t **bytes)
{
    const uint8_t *stored = file->data + entry->offset;
    if (!entry->compressed) {
        *bytes = stored;
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
    if (!inflate_all(arena, stored, entry->packed, out, entry->size))
        return diag_error(diags, ODLC_ERR_INVALID, AT(.file = file->path, .offset = entry->offset, .has_offset = 1),
                          "dlc-zip", "entry %s cannot be unpacked", entry->name);
    if (entry->crc && libdeflate_crc32(0, out, entry->size) != entry->crc)
        return crc_error(diags, file, entry);
    *bytes = out;
    return ODLC_OK;
}

odlc_status zip_check(struct diags *diags, const struct file *file, const struct dlc_entry *entry)
{
    uint8_t buffer[64 * 1024];
    uint32_t crc = 0;
    for (uint64_t done = 0; done < entry->size;) {
        size_t piece = (size_t)min_u64(sizeof buffer, entry->size - done);
        TRY(file_read(file, diags, entry->offset + done, buffer, piece));
        crc = libdeflate_crc32(crc, buffer, piece);
        done += piece;
    }
    return crc == entry->crc ? ODLC_OK : crc_error(diags, file, entry);
}

odlc_status zip_check_header(struct diags *diags, const struct file *file, const struct dlc_entry *entry)
{
    const uint8_t *local = file->data + entry->header;
    uint64_t extra_length = load_le(local + 28, 2), packed = load_le(local + 18, 4), size = load_le(local + 22, 4);
    uint64_t unused = 0, flags = load_le(local + 6, 2), method = load_le(local + 8, 2), crc = load_le(local + 14, 4);
    bool later = flags & FLAG_SIZES_LATER;
    bool same = method == (entry->compressed ? METHOD_DEFLATED : METHOD_STORED) && (later || crc == entry->crc) &&
                widen(reader_of(file->data + entry->offset - extra_length, extra_length), &size, &packed, &unused) &&
                (later || (size == entry->size && packed == entry->packed));
    return same ? ODLC_OK
                : diag_error(diags, ODLC_ERR_INVALID, AT(.file = file->path, .offset = entry->header, .has_offset = 1),
                             "dlc-zip", "the local header of entry %s differs from the central directory", entry->name);
}
