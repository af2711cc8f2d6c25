/* SPDX-License-Identifier: Apache-2.0 */
/* The zip codec: extents, ZIP64, alignment, compressed entries, and files that only look like zips. */
#include "dlc_fixture.h"

#include <isa-l/crc.h>
#include <libdeflate.h>
#include <zlib.h>

#include "base/reader.h"
#include "dlc/zip.h"

static struct file *map(const char *path)
{
    struct file *file;
    ck_status_ok(file_map(arena, &diags, path, &file));
    return file;
}

static const char *write_two(uint32_t alignment)
{
    const char *path = in_folder("two.zip");
    struct zip_writer zip = {.diags = &diags, .path = path};
    ck_status_ok(out_create(arena, &diags, path, &zip.out));
    ck_status_ok(zip_begin(&zip, "first", 5, 1));
    ck_status_ok(zip_write(&zip, "hello", 5));
    ck_status_ok(zip_end(&zip));
    ck_status_ok(zip_begin(&zip, "second", 3, alignment));
    ck_status_ok(zip_write(&zip, "x", 1));
    ck_status_ok(zip_zeros(&zip, 2));
    ck_status_ok(zip_end(&zip));
    ck_status_ok(zip_finish(&zip));
    ck_status_ok(out_commit(zip.out));
    return path;
}

START_TEST(crcs_of_all_sizes_are_those_of_another_library)
{
    enum { SIZE = 3000 };
    uint8_t bytes[SIZE];
    for (int i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)rand();
    ck_assert_uint_eq(crc32_gzip_refl(0, (const unsigned char *)"123456789", 9), 0xCBF43926);
    for (int round = 0; round < 4000; round++) { /* from any place on, behind bytes of any CRC */
        size_t from = (size_t)rand() % 70, size = (size_t)rand() % (SIZE - 70);
        uint32_t before = round % 4 == 0 ? 0 : (uint32_t)rand() * 2654435761u;
        ck_assert_uint_eq(crc32_gzip_refl(before, bytes + from, size), crc32(before, bytes + from, (uInt)size));
    }
}
END_TEST

/* Bytes in the place of zeros, at the beginning, in the middle and at the end of what was written so far. */
START_TEST(zeros_are_filled_in)
{
    const char *path = in_folder("filled.zip");
    struct zip_writer zip = {.diags = &diags, .path = path};
    struct dlc_entry *entries;
    uint32_t count;
    ck_status_ok(out_create(arena, &diags, path, &zip.out));
    ck_status_ok(zip_begin(&zip, "open", ZIP_OPEN, 1));
    ck_status_ok(zip_zeros(&zip, 1000));
    ck_status_ok(zip_fill(&zip, 997, "end", 3));
    ck_status_ok(zip_write(&zip, "more", 4));
    ck_status_ok(zip_fill(&zip, 0, "begin", 5));
    ck_status_ok(zip_fill(&zip, 500, "middle", 6));
    ck_status_ok(zip_end(&zip));
    ck_status_ok(zip_finish(&zip));
    ck_status_ok(out_commit(zip.out));
    struct file *file = map(path);
    ck_status_ok(zip_list(arena, &diags, file, &entries, &count));
    uint8_t meant[1004] = "begin";
    memcpy(meant + 500, "middle", 6);
    memcpy(meant + 997, "endmore", 7);
    ck_assert_uint_eq(entries->size, sizeof meant);
    ck_assert_mem_eq(file->data + entries->offset, meant, sizeof meant);
    ck_assert_uint_eq(entries->crc, crc32(0, meant, sizeof meant));
    ck_status_ok(zip_check_header(&diags, file, entries));
}
END_TEST

START_TEST(written_entries_are_listed)
{
    struct file *file = map(write_two(64));
    struct dlc_entry *entries;
    uint32_t count;
    ck_status_ok(zip_list(arena, &diags, file, &entries, &count));
    ck_assert_uint_eq(count, 2);
    const struct dlc_entry *first = zip_find(entries, count, "first"), *second = zip_find(entries, count, "second");
    ck_assert_uint_eq(first->size, 5);
    ck_assert_uint_eq(first->crc, 0x3610A686); /* CRC-32 of "hello" */
    ck_assert_mem_eq(file->data + first->offset, "hello", 5);
    ck_assert_uint_eq(second->offset % 64, 0);
    ck_assert_mem_eq(file->data + second->offset, "x\0\0", 3);
    ck_assert_ptr_null(zip_find(entries, count, "third"));
    ck_status_ok(zip_check(&diags, file, first, NULL));
    ck_status_ok(zip_check(&diags, file, second, NULL));
}
END_TEST

START_TEST(every_alignment_is_reached)
{
    for (uint32_t alignment = 1; alignment <= 256; alignment *= 2) {
        struct dlc_entry *entries;
        uint32_t count;
        ck_status_ok(zip_list(arena, &diags, map(write_two(alignment)), &entries, &count));
        ck_assert_uint_eq(entries[1].offset % alignment, 0);
    }
}
END_TEST

/* Other programs walk the extra fields of a local header: each has its length, and the last ends where they all do. */
START_TEST(extra_fields_fill_their_room)
{
    for (uint32_t alignment = 1; alignment <= 256; alignment *= 2) {
        struct dlc_entry *entries;
        uint32_t count;
        struct file *file = map(write_two(alignment));
        ck_status_ok(zip_list(arena, &diags, file, &entries, &count));
        for (uint32_t i = 0; i < count; i++) {
            const uint8_t *header = file->data + entries[i].header;
            uint64_t at = 30 + load_le(header + 26, 2), end = at + load_le(header + 28, 2);
            ck_assert_uint_eq(entries[i].header + end, entries[i].offset);
            while (at < end)
                at += 4 + load_le(header + at + 2, 2);
            ck_assert_uint_eq(at, end);
        }
    }
}
END_TEST

START_TEST(entry_must_get_its_size)
{
    const char *path = in_folder("short.zip");
    struct zip_writer zip = {.diags = &diags, .path = path};
    ck_status_ok(out_create(arena, &diags, path, &zip.out));
    ck_status_ok(zip_begin(&zip, "first", 5, 1));
    ck_status_ok(zip_write(&zip, "hell", 4));
    ck_assert_int_eq(zip_end(&zip), ODLC_ERR_INTERNAL);
}
END_TEST

/* A zip of one deflated entry "model", 32-bit sizes, as a common tool makes it; `size` is what the directory promises.
 */
static const char *write_deflated(const void *content, size_t length, uint32_t size, uint32_t crc)
{
    uint8_t packed[1024], bytes[2048] = {0};
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
    uint32_t packed_size = (uint32_t)libdeflate_deflate_compress(c, content, length, packed, sizeof packed);
    uint32_t directory = 35 + packed_size;
    libdeflate_free_compressor(c);
    ck_assert_uint_gt(packed_size, 0);
    store_le(bytes, 4, 0x04034B50);
    store_le(bytes + 8, 2, 8);
    store_le(bytes + 26, 2, 5);
    memcpy(bytes + 30, "model", 5);
    memcpy(bytes + 35, packed, packed_size);
    uint8_t *central = bytes + directory;
    store_le(central, 4, 0x02014B50);
    store_le(central + 10, 2, 8);
    store_le(central + 16, 4, crc);
    store_le(central + 20, 4, packed_size);
    store_le(central + 24, 4, size);
    store_le(central + 28, 2, 5);
    memcpy(central + 46, "model", 5);
    uint8_t *end = central + 51;
    store_le(end, 4, 0x06054B50);
    store_le(end + 10, 2, 1);
    store_le(end + 12, 4, 51);
    store_le(end + 16, 4, directory);
    const char *path = in_folder("deflated.zip");
    write_all(path, bytes, directory + 51 + 22);
    return path;
}

static odlc_status unpack(const char *path, const uint8_t **bytes)
{
    struct file *file = map(path);
    struct dlc_entry *entries;
    uint32_t count;
    ck_status_ok(zip_list(arena, &diags, file, &entries, &count));
    ck_assert_uint_eq(count, 1);
    ck_assert(entries[0].compressed);
    return zip_bytes(arena, &diags, file, &entries[0], bytes);
}

START_TEST(compressed_entry)
{
    char text[600];
    memset(text, 'a', sizeof text);
    const uint8_t *bytes;
    uint32_t crc = libdeflate_crc32(0, text, sizeof text);
    ck_status_ok(unpack(write_deflated(text, sizeof text, sizeof text, crc), &bytes));
    ck_assert_mem_eq(bytes, text, sizeof text);
    ck_assert_int_eq(unpack(write_deflated(text, sizeof text, sizeof text, crc ^ 1), &bytes), ODLC_ERR_INVALID);
    ck_assert_str_eq(last_diag()->code, "dlc-crc");
    ck_assert_int_eq(unpack(write_deflated(text, sizeof text, sizeof text - 1, crc), &bytes), ODLC_ERR_INVALID);
    ck_assert_int_eq(unpack(write_deflated(text, sizeof text, sizeof text + 1, crc), &bytes), ODLC_ERR_INVALID);
    ck_assert_int_eq(unpack(write_deflated(text, sizeof text, 4000000000u, crc), &bytes), ODLC_ERR_LIMIT);
}
END_TEST

/* What unpacks to far more than the file is refused before there is memory for it, whatever the directory says. */
START_TEST(compressed_bomb)
{
    static const uint8_t byte = 0;
    const struct file file = {.path = "bomb.dlc", .fd = -1, .data = &byte, .size = 100000};
    struct dlc_entry entry = {.name = "model", .compressed = true, .packed = 90000, .size = 200000 + (32 << 20) + 1};
    const uint8_t *bytes;
    ck_assert_int_eq(zip_bytes(arena, &diags, &file, &entry, &bytes), ODLC_ERR_LIMIT);
    ck_assert_str_eq(last_diag()->message, "entry model is packed, and unpacked it is over twice the file and 32 MiB");
}
END_TEST

/* Whether an entry of these sizes, in a file that is no reason to refuse it, is refused before anything is unpacked. */
static bool impossible(uint64_t packed, uint64_t size)
{
    static const uint8_t zeros[(UINT64_C(512) << 20) / 1032];
    const struct file file = {.path = "large.dlc", .fd = -1, .data = zeros, .size = UINT64_C(1) << 40};
    struct dlc_entry entry = {.name = "model", .compressed = true, .packed = packed, .size = size};
    const uint8_t *bytes;
    odlc_status status = zip_bytes(arena, &diags, &file, &entry, &bytes);
    ck_assert_int_ne(status, ODLC_OK);
    ck_assert_str_eq(last_diag()->message,
                     status == ODLC_ERR_LIMIT
                         ? "entry model is packed and larger than 512 MiB, or has an impossible size"
                         : "entry model cannot be unpacked");
    return status == ODLC_ERR_LIMIT;
}

START_TEST(sizes_of_compressed_entries)
{
    const uint64_t most = UINT64_C(512) << 20;
    ck_assert(!impossible(1024, 1024 * 1032 + 1031));
    ck_assert(impossible(1024, 1024 * 1032 + 1032));
    /* Of so many packed bytes the first ones are no form of deflate. */
    ck_assert(!impossible(most / 1032, most));
    ck_assert(impossible(most, most + 1));
}
END_TEST

START_TEST(other_files_are_not_containers)
{
    static const char *const contents[] = {"", "P", "{\"UdoPackage_0\": {}}", "PK\3\4 and then nothing of the kind"};
    for (size_t i = 0; i < COUNT_OF(contents); i++) {
        struct dlc_file *dlc;
        const char *path = in_folder("other");
        write_all(path, contents[i], strlen(contents[i]));
        ck_assert_int_eq(dlc_read(arena, &diags, path, &dlc), ODLC_ERR_INVALID);
        ck_assert_str_eq(last_diag()->code, "dlc-not-a-container");
        ck_assert_ptr_nonnull(last_diag()->hint);
        ck_assert_str_eq(last_diag()->file, path);
    }
}
END_TEST

/* "second" renamed to "first" in both places it stands, with the same length to keep the rest. */
START_TEST(two_entries_of_one_name)
{
    size_t size;
    uint8_t *bytes = read_all(write_sample("a.dlc", false), &size);
    for (size_t i = 0; i + 12 <= size; i++)
        if (memcmp(bytes + i, "model.params", 12) == 0)
            memcpy(bytes + i, "dlc.metadata", 12);
    const char *path = in_folder("b.dlc");
    struct dlc_file *dlc;
    write_all(path, bytes, size);
    ck_assert_int_eq(dlc_read(arena, &diags, path, &dlc), ODLC_ERR_INVALID);
    ck_assert_str_eq(last_diag()->message, "two entries are named dlc.metadata");
}
END_TEST

/* The last byte that an entry may have is the file's. */
START_TEST(an_entry_ends_with_the_file)
{
    struct dlc_entry *entries;
    uint32_t count;
    size_t size;
    uint8_t *bytes = read_all(write_two(1), &size);
    ck_status_ok(zip_list(arena, &diags, map(in_folder("two.zip")), &entries, &count));
    uint64_t data = entries[1].offset;
    size_t central = size - 4;
    while (load_le(bytes + central, 4) != 0x02014B50) /* of "second" */
        central--;
    uint8_t *sizes = bytes + central + 46 + 6 + 4; /* behind name and head of the ZIP64 field */
    ck_assert_uint_eq(load_le(sizes, 8), 3);
    for (uint32_t beyond = 0; beyond < 2; beyond++) {
        store_le(sizes, 8, size - data + beyond);
        store_le(sizes + 8, 8, size - data + beyond);
        const char *path = in_folder(beyond ? "beyond.zip" : "whole.zip");
        write_all(path, bytes, size);
        odlc_status status = zip_list(arena, &diags, map(path), &entries, &count);
        ck_assert_int_eq(status, beyond ? ODLC_ERR_INVALID : ODLC_OK);
        if (!beyond)
            ck_assert_uint_eq(entries[1].offset + entries[1].size, size);
    }
    ck_assert_str_eq(last_diag()->message, "broken zip: an entry is longer than the file");
}
END_TEST

START_TEST(damaged_payload_fails_its_crc)
{
    size_t size;
    uint8_t *bytes = read_all(write_sample("a.dlc", false), &size);
    struct dlc_file *dlc;
    ck_status_ok(dlc_read(arena, &diags, in_folder("a.dlc"), &dlc));
    ck_status_ok(dlc_verify(&diags, dlc, NULL));
    const struct dlc_tensor *table = dlc_tensor_find(&dlc->graphs[0], "table");
    bytes[table->view->bytes - dlc->file->data] ^= 1;
    const char *path = in_folder("b.dlc");
    write_all(path, bytes, size);
    ck_status_ok(dlc_read(arena, &diags, path, &dlc));
    ck_assert_int_eq(dlc_verify(&diags, dlc, NULL), ODLC_ERR_INVALID);
    ck_assert_str_eq(last_diag()->message, "the bytes of entry model.params do not match their CRC");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {crcs_of_all_sizes_are_those_of_another_library,
                                  zeros_are_filled_in,
                                  written_entries_are_listed,
                                  every_alignment_is_reached,
                                  extra_fields_fill_their_room,
                                  entry_must_get_its_size,
                                  compressed_entry,
                                  compressed_bomb,
                                  sizes_of_compressed_entries,
                                  other_files_are_not_containers,
                                  two_entries_of_one_name,
                                  an_entry_ends_with_the_file,
                                  damaged_payload_fails_its_crc};
    return run_tests("zip", tests, COUNT_OF(tests));
}
