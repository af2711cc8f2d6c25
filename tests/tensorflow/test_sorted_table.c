/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a checkpoint's index: what is damaged in it is found, and nothing in it makes the reader use more memory
 * or time than a file of its size is worth. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bundle_writer.h"
#include "converters/tensorflow/source/sorted_table.h"

static struct arena *arena;
static struct diags diags;

static void setup(void)
{
    arena = arena_create();
    diags_init(&diags, arena);
}

static void teardown(void)
{
    arena_destroy(arena);
}

static odlc_status read_bytes_as_table(text bytes, struct table *out)
{
    struct file *file;
    int fd = memfd_create("table", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes.count ? bytes.data : "", bytes.count), (ssize_t)bytes.count);
    ck_assert_int_eq(file_map_fd(arena, &diags, "/m/x.index", fd, &file), ODLC_OK);
    return table_read(arena, &diags, file, out);
}

static void refused(text bytes, const char *part)
{
    struct table table;
    ck_assert_int_eq(read_bytes_as_table(bytes, &table), ODLC_ERR_INVALID);
    ck_assert_uint_eq(diags.list.count, 1);
    ck_assert_str_eq(diags.list.data[0].code, "checkpoint-index");
    ck_assert_str_eq(diags.list.data[0].file, "/m/x.index");
    ck_assert_msg(strstr(diags.list.data[0].message, part), "%s", diags.list.data[0].message);
    ck_assert(diags.list.data[0].hint);
    diags_init(&diags, arena);
}

static text value_of(const char *string)
{
    text t = {0};
    put(arena, &t, string, strlen(string));
    return t;
}

static text words_table(const char *const *keys, size_t n, bool compressed)
{
    struct table_writer w = {.arena = arena, .compressed = compressed, .per_block = 2};
    for (size_t i = 0; i < n; i++)
        table_add(&w, keys[i], strlen(keys[i]), value_of(keys[n - 1 - i]));
    return table_end(&w);
}

#define WORDS(...) (const char *const[]){__VA_ARGS__}, COUNT_OF(((const char *const[]){__VA_ARGS__}))

/* A file whose table has one block, which has these bytes. */
static text file_of_block(const void *bytes, size_t size, int compression)
{
    text file = {0};
    struct block index = {0};
    block_add_place(arena, &index, "z", 1, put_block(arena, &file, bytes, size, compression));
    put_footer(arena, &file, (struct place){0}, end_block(arena, &file, &index, false));
    return file;
}

#define BLOCK(bytes) file_of_block(bytes, sizeof(bytes) - 1, 0)
#define RESTART "\0\0\0\0\1\0\0\0"

START_TEST(test_entries)
{
    struct table table;
    ck_assert_int_eq(read_bytes_as_table(words_table(WORDS("a", "ab", "abc", "b", "c"), _i), &table), ODLC_OK);
    ck_assert_uint_eq(table.count, 5);
    ck_assert_str_eq(table.entries[2].key, "abc");
    ck_assert_uint_eq(table.entries[2].key_size, 3);
    const struct table_entry *e = table_find(&table, "ab", 2);
    ck_assert_ptr_eq(e, &table.entries[1]);
    ck_assert_uint_eq(e->value_size, 1);
    ck_assert_mem_eq(e->value, "b", 1);
    ck_assert_ptr_null(table_find(&table, "", 0));
    ck_assert_ptr_null(table_find(&table, "abb", 3));
    ck_assert_ptr_null(table_find(&table, "d", 1));
    ck_assert_ptr_null(table_find(&table, "a\0", 2));
    ck_assert_int_eq(read_bytes_as_table(words_table(NULL, 0, _i), &table), ODLC_OK);
    ck_assert_uint_eq(table.count, 0);
    ck_assert_ptr_null(table_find(&table, "a", 1));
}
END_TEST

START_TEST(test_no_table)
{
    text bytes = {0};
    refused(bytes, "not the index of a checkpoint");
    for (unsigned i = 0; i < 47; i++)
        put_le(arena, &bytes, 1, 0);
    refused(bytes, "not the index of a checkpoint");
    put_le(arena, &bytes, 1, 0);
    refused(bytes, "not the index of a checkpoint");
    bytes.count = 0;
    put_footer(arena, &bytes, (struct place){0}, (struct place){0, 100});
    refused(bytes, "beyond the end");
    bytes.count = 0;
    put_footer(arena, &bytes, (struct place){0}, (struct place){UINT64_MAX - 4, UINT64_MAX});
    refused(bytes, "beyond the end");
    memset(bytes.data, 0xff, 40);
    refused(bytes, "the footer of the index is broken");
}
END_TEST

/* Each byte but those that nobody reads is guarded: of the block about blocks, and what the footer is filled up with.
 */
START_TEST(test_each_byte)
{
    struct table table;
    text bytes = words_table(WORDS("a", "ab", "abc", "b", "c"), _i);
    size_t guarded = 0;
    for (size_t at = 0; at < bytes.count; at++) {
        bytes.data[at] ^= 0x20;
        guarded += read_bytes_as_table(bytes, &table) == ODLC_ERR_INVALID;
        bytes.data[at] ^= 0x20;
    }
    size_t meta = _i ? 10 + 5 : 8 + 5; /* snappy: one byte of length, one of the literal */
    ck_assert_uint_eq(guarded, bytes.count - meta - 40 + 2);
    ck_assert_uint_eq(diags.list.count, guarded);
}
END_TEST

START_TEST(test_truncated)
{
    struct table table;
    text bytes = words_table(WORDS("a", "b", "c"), false);
    for (size_t size = 0; size < bytes.count; size++) {
        text cut = bytes;
        cut.count = size;
        ck_assert_int_eq(read_bytes_as_table(cut, &table), ODLC_ERR_INVALID);
    }
}
END_TEST

START_TEST(test_order)
{
    refused(words_table(WORDS("b", "a"), false), "not sorted, or one occurs twice");
    refused(words_table(WORDS("a", "a"), false), "not sorted, or one occurs twice");
    refused(words_table(WORDS("a", "c", "b"), true), "not sorted, or one occurs twice"); /* in the next block */
    refused(words_table(WORDS("ab", "a"), false), "not sorted, or one occurs twice");
    refused(words_table(WORDS("\xff", "a"), false), "not sorted, or one occurs twice"); /* bytes have no sign */
}
END_TEST

START_TEST(test_blocks)
{
    struct table table;
    ck_assert_int_eq(read_bytes_as_table(BLOCK("\0\1\1kv" RESTART), &table), ODLC_OK);
    ck_assert_mem_eq(table_find(&table, "k", 1)->value, "v", 1);
    refused(BLOCK(""), "no valid list of restarts");
    refused(BLOCK("\0\0\0\0"), "no valid list of restarts");
    refused(BLOCK("\0\0\0\0\2\0\0\0"), "no valid list of restarts");
    refused(BLOCK("\0\0\0\0\xff\xff\xff\xff"), "no valid list of restarts");
    refused(BLOCK("\0\1\2kv" RESTART), "runs past its block");
    refused(BLOCK("\0\3\1kv" RESTART), "runs past its block");
    refused(BLOCK("\1\1\1kv" RESTART), "shares more than there is");
    refused(BLOCK("\0\1\1kv\2\1\1kv" RESTART), "shares more than there is");
    refused(BLOCK("\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1kv" RESTART), "runs past its block");
    refused(BLOCK("\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1\1kv" RESTART), "shares more than there is");
    refused(BLOCK("\0\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1kv" RESTART), "runs past its block");
}
END_TEST

START_TEST(test_compressions)
{
    refused(file_of_block("\0\1\1kv" RESTART, 13, 2), "compressed in an unknown way");
    refused(file_of_block("", 0, 1), "a compressed block of the index is broken");
    refused(file_of_block("\x0d\x30\0\1\1kv" RESTART, 14, 1), "a compressed block of the index is broken"); /* cut */
    /* a copy from before the start */
    refused(file_of_block("\x0d\x05\x63" RESTART, 11, 1), "a compressed block of the index is broken");
    refused(file_of_block("\xff\xff\xff\xff\x0f\0a", 7, 1), "a compressed block of the index is broken"); /* 4 GiB */
    ck_assert_uint_lt(arena_size(arena), 1 << 20);
}
END_TEST

/* Two entries of the index lead to the same block, or to the former after the latter. */
START_TEST(test_places)
{
    text file = {0};
    struct block one = {0}, two = {0}, index = {0}, broken = {0};
    block_add(arena, &one, "a", 1, "", 0);
    block_add(arena, &two, "b", 1, "", 0);
    struct place first = end_block(arena, &file, &one, false), second = end_block(arena, &file, &two, false);
    text blocks = {0};
    put(arena, &blocks, file.data, file.count);
    block_add_place(arena, &index, "a", 1, second);
    block_add_place(arena, &index, "b", 1, first);
    put_footer(arena, &file, first, end_block(arena, &file, &index, false));
    refused(file, "overlap or are out of order");
    block_add(arena, &broken, "b", 1, "\xff", 1);
    put_footer(arena, &blocks, first, end_block(arena, &blocks, &broken, false));
    refused(blocks, "the place of a block");
}
END_TEST

/* Each key is the one before and a byte more: whole, 20000 of them would be 200 MB. */
static text growing_keys(unsigned count)
{
    text block = {0};
    for (unsigned i = 0; i < count; i++) {
        put_varint(arena, &block, i);
        put(arena, &block, "\1\0a", 3);
    }
    put(arena, &block, RESTART, 8);
    return file_of_block(block.data, block.count, 0);
}

START_TEST(test_growing_keys)
{
    const char *message = "the keys of the index have more than 64 times its bytes";
    refused(growing_keys(20000), message);
    ck_assert_uint_lt(arena_size(arena), 64 << 20);
    uint64_t most = 1; /* the key of the block is a byte */
    while (1 + (most + 1) * (most + 2) / 2 <= 64 * (uint64_t)growing_keys((unsigned)most + 1).count)
        most++;
    struct table table;
    diags_init(&diags, arena);
    ck_assert_int_eq(read_bytes_as_table(growing_keys((unsigned)most), &table), ODLC_OK);
    ck_assert_uint_eq(table.count, most);
    refused(growing_keys((unsigned)most + 1), message);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint table");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, test_entries, 0, 2);
    tcase_add_test(tests, test_no_table);
    tcase_add_loop_test(tests, test_each_byte, 0, 2);
    tcase_add_test(tests, test_truncated);
    tcase_add_test(tests, test_order);
    tcase_add_test(tests, test_blocks);
    tcase_add_test(tests, test_compressions);
    tcase_add_test(tests, test_places);
    tcase_add_test(tests, test_growing_keys);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
