/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/map.h"
#include "base/pages.h"
#include "base/reader.h"

static struct arena *arena;

static void start(void)
{
    arena = arena_create();
    ck_assert_ptr_nonnull(arena);
}

static void stop(void)
{
    arena_destroy(arena);
}

static void check_bytes(const unsigned char *p, size_t size, unsigned char value)
{
    size_t different = 0;
    for (size_t i = 0; i < size; i++)
        different += p[i] != value;
    ck_assert_uint_eq(different, 0);
}

static void check_zeros(const unsigned char *p, size_t size)
{
    check_bytes(p, size, 0);
}

START_TEST(arena_memory_is_zero_and_aligned)
{
    for (size_t size = 0; size < 200000; size = size * 3 + 1) {
        unsigned char *p = arena_alloc(arena, size * 16);
        ck_assert_uint_eq((uintptr_t)p % (size * 16 >= 4096 ? 64 : 16), 0);
        check_zeros(p, size * 16);
        memset(p, 0xAA, size * 16);
        p = arena_alloc(arena, 12);
        ck_assert_uint_eq((uintptr_t)p % 4, 0);
        check_zeros(p, 12);
        memset(p, 0xAA, 12);
        ck_assert_str_eq(arena_strdup(arena, "text"), "text");
    }
}
END_TEST

START_TEST(blocks_grow_and_keep_their_bytes)
{
    unsigned char *first = NULL, *second = arena_alloc(arena, 100000);
    for (size_t size = 1, old = 0; size < 5000000; old = size, size = size * 2 + 1) {
        first = arena_grow(arena, first, old, size);
        check_zeros(first + old, size - old);
        memset(first + old, 0x55, size - old);
        second = arena_grow(arena, second, 100000 + old, 100000 + size);
        check_zeros(second + 100000 + old, size - old);
        check_bytes(first, size, 0x55);
    }
}
END_TEST

START_TEST(strings_are_packed)
{
    const char *before = arena_strdup(arena, "one");
    (void)arena_alloc(arena, 64);
    const char *after = arena_strdup(arena, "three");
    ck_assert_str_eq(after, "three");
    if (!ADDRESS_SANITIZER) /* which has every string in a place of its own */
        ck_assert_ptr_eq(after + strlen("three") + 1, before);
}
END_TEST

/* A block from before the mark may grow, be released or lie in the way: what is rewound is zeros, the rest stays. */
START_TEST(rewinding_after_blocks_grew)
{
    unsigned char *large = arena_alloc(arena, 70000), *small = arena_alloc(arena, 48);
    memset(large, 1, 70000);
    memset(small, 2, 48);
    struct arena_mark mark = arena_mark(arena);
    for (size_t i = 0; i < 3; i++) {
        large = arena_grow(arena, large, 70000 << i, 70000 << (i + 1));
        memset(arena_alloc(arena, 300000), 3, 300000);
        for (int k = 0; k < 20; k++)
            memset(arena_alloc(arena, 60000), 4, 60000);
        memset(arena_strdup(arena, "to be cleared"), 5, 5);
    }
    arena_release(arena, small, 48);
    arena_rewind(arena, mark);
    check_zeros(large + 70000, 7 * 70000);
    check_bytes(large, 70000, 1);
    for (int k = 0; k < 20; k++)
        check_zeros(arena_alloc(arena, 60000), 60000);
}
END_TEST

static void count_call(void *object)
{
    ++*(int *)object;
}

START_TEST(rewinding_runs_cleanups_and_clears)
{
    static int calls, kept; /* the clean-up of `kept` runs after the test */
    arena_defer(arena, count_call, &kept);
    struct arena_mark mark = arena_mark(arena);
    unsigned char *first = arena_alloc(arena, 100);
    memset(first, 0xFF, 100);
    arena_alloc(arena, 1000000);
    arena_defer(arena, count_call, &calls);
    arena_rewind(arena, mark);
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(kept, 0);
    unsigned char *again = arena_alloc(arena, 100);
    if (!ADDRESS_SANITIZER)
        ck_assert_ptr_eq(again, first);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(again[i], 0);
}
END_TEST

START_TEST(exhausted_memory_jumps_and_leaks_nothing)
{
    struct arena *own = arena_create();
    volatile int calls = 0;
    if (setjmp(*arena_catch(own))) {
        arena_destroy(own);
        ck_assert_int_eq(calls, 1);
        return;
    }
    arena_defer(own, count_call, (int *)&calls);
    arena_calloc(own, SIZE_MAX / 2, 4);
    ck_abort_msg("the product overflows");
}
END_TEST

/* As through the frames of another library, which has something to give back. */
static void return_through_library(struct arena *own, volatile int *given_back)
{
    jmp_buf here, *before = arena_divert(own, &here);
    if (setjmp(here) == 0)
        arena_calloc(own, SIZE_MAX / 2, 4);
    ++*given_back;
    arena_divert(own, before);
    arena_exhausted(own);
}

START_TEST(exhausted_memory_returns_through_libraries)
{
    struct arena *own = arena_create();
    volatile int given_back = 0;
    if (setjmp(*arena_catch(own))) {
        arena_destroy(own);
        ck_assert_int_eq(given_back, 1);
        return;
    }
    return_through_library(own, &given_back);
}
END_TEST

START_TEST(map_keeps_many_keys)
{
    struct map map;
    map_init(&map, arena);
    ck_assert_uint_eq(map_get(&map, "absent"), MAP_NONE);
    for (uint32_t i = 0; i < 10000; i++)
        ck_assert_uint_eq(map_add(&map, arena_printf(arena, "key%u", i), i), MAP_NONE);
    for (uint32_t i = 0; i < 10000; i++) {
        char key[16];
        snprintf(key, sizeof key, "key%u", i);
        ck_assert_uint_eq(map_get(&map, key), i);
    }
    ck_assert_uint_eq(map_add(&map, "key7", 99), 7);
    ck_assert_uint_eq(map_get(&map, "key7"), 7);
    map_put(&map, "key7", 99);
    ck_assert_uint_eq(map_get(&map, "key7"), 99);
    ck_assert_uint_eq(map_get(&map, "key10000"), MAP_NONE);
    map_put(&map, "", 5);
    ck_assert_uint_eq(map_get(&map, ""), 5);
}
END_TEST

/* Many small tables and a large one: their ends fill up at different times. */
START_TEST(map_grows_at_any_size)
{
    enum { KEYS = 100000 };
    size_t wrong = 0;
    const char **keys = arena_array(arena, const char *, KEYS);
    struct map large, reserved;
    map_init(&large, arena);
    map_init(&reserved, arena);
    map_reserve(&reserved, KEYS);
    for (uint32_t i = 0; i < KEYS; i++) {
        keys[i] = arena_printf(arena, "%u", i);
        map_put(&large, keys[i], i);
        wrong += map_add(&reserved, keys[i], i) != MAP_NONE;
    }
    ck_assert_uint_eq(large.count, KEYS);
    for (uint32_t i = 0; i < KEYS; i++)
        wrong += map_get(&large, keys[i]) != i || map_get(&reserved, keys[i]) != i;
    for (uint32_t count = 0; count < 300; count++) {
        struct map small;
        map_init(&small, arena);
        for (uint32_t i = 0; i < count; i++)
            map_put(&small, keys[count * 300 + i], i);
        for (uint32_t i = 0; i < 300; i++)
            wrong += map_get(&small, keys[count * 300 + i]) != (i < count ? i : MAP_NONE);
    }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* Tables that are filled alike, one of them by hashes, one with keys that are expected, the one before of which is
 * added late. */
START_TEST(fetched_keys_are_as_any_others)
{
    enum { KEYS = 20000 };
    size_t wrong = 0;
    const char **keys = arena_array(arena, const char *, KEYS);
    struct map plain, fetched, expecting;
    map_init(&plain, arena);
    map_init(&expecting, arena);
    map_init(&fetched, arena);
    for (uint32_t i = 0; i < KEYS; i++)
        keys[i] = arena_printf(arena, "/block%u/Mul_%u", i % 7000, i % 3); /* many come twice */
    uint32_t next = map_fetch(&fetched, keys[0], strlen(keys[0]));
    for (uint32_t i = 0; i < KEYS; i++) {
        const uint32_t hash = next;
        if (i + 1 < KEYS)
            next = map_fetch(&fetched, keys[i + 1], strlen(keys[i + 1]));
        wrong += map_add(&plain, keys[i], i) != map_add_fetched(&fetched, keys[i], hash, i);
        map_expect(&expecting, keys[i]);
        if (i > 0)
            map_add(&expecting, keys[i - 1], i - 1);
    }
    map_add(&expecting, keys[KEYS - 1], KEYS - 1);
    map_add(&expecting, keys[KEYS - 1], 0); /* expected once, added twice */
    for (uint32_t i = 0; i < KEYS; i++)
        wrong += map_get(&plain, keys[i]) != map_get(&fetched, keys[i]) || map_get(&fetched, keys[i]) > i ||
                 map_get(&plain, keys[i]) != map_get(&expecting, keys[i]);
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_eq(plain.count, fetched.count);
    ck_assert_uint_eq(plain.count, expecting.count);
}
END_TEST

START_TEST(expectations_end_with_their_bytes)
{
    struct map map;
    char bytes[] = "relu";
    map_init(&map, arena);
    map_reserve(&map, 10);
    map_expect(&map, bytes);
    map_expect(&map, NULL);
    memcpy(bytes, "tanh", sizeof bytes); /* another name at the same place */
    ck_assert_uint_eq(map_add(&map, bytes, 7), MAP_NONE);
    ck_assert_uint_eq(map_get(&map, "tanh"), 7);
    ck_assert_uint_eq(map_get(&map, "relu"), MAP_NONE);
}
END_TEST

START_TEST(forgotten_pages_are_zeros_that_take_no_memory)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *mapped = pages_map(6 * page), resident[4];
    ck_assert_ptr_nonnull(mapped);
    unsigned char *pages = mapped + -(uintptr_t)mapped % page; /* five at least */
    memset(pages, 7, 5 * page);
    pages_forget(pages + page - 10, 10 + page + page / 2); /* one whole page */
    check_bytes(pages, page, 7);
    ck_assert_int_eq(mincore(pages, 4 * page, resident), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(resident[i] & 1, i != 1);
    check_zeros(pages + page, page);
    check_bytes(pages + 2 * page, 3 * page, 7);
    pages_forget(pages + 1, page); /* none */
    pages_forget(pages + 2 * page, page - 1);
    pages_forget(pages + 3 * page, 0);
    check_bytes(pages, page, 7);
    check_bytes(pages + 2 * page, 3 * page, 7);
    pages_unmap(mapped, 6 * page);
}
END_TEST

START_TEST(reader_stops_at_the_end)
{
    const uint8_t bytes[] = {1, 2, 3, 4, 5};
    struct reader r = reader_of(bytes, sizeof bytes);
    ck_assert_uint_eq(read_u16(&r), 0x0201);
    ck_assert_uint_eq(read_u32(&r), 0);
    ck_assert(r.failed);
    ck_assert_uint_eq(read_u8(&r), 0); /* sticky, although a byte is left */
}
END_TEST

START_TEST(nearest_word_finds_typing_errors_only)
{
    static const char *const words[] = {"inputs", "outputs", "scalar_params", "tensor_params"};
    ck_assert_str_eq(nearest_word("input", words, 4), "inputs");
    ck_assert_str_eq(nearest_word("scalar_parmas", words, 4), "scalar_params");
    ck_assert_ptr_null(nearest_word("description", words, 4));
    static const char *const types[] = {"FLOAT_16", "FLOAT_32", "INT_32"};
    ck_assert_str_eq(nearest_word("float32", types, 3), "FLOAT_32");
    ck_assert_str_eq(nearest_word("Int_32", types, 3), "INT_32");
    ck_assert_ptr_null(nearest_word("a_word_that_is_longer_than_all_of_these", types, 3));
}
END_TEST

START_TEST(text_place_counts_lines_and_columns)
{
    const char *text = "one\ntwo three\nfour";
    struct odlc_diag place = {0};
    text_place(arena, text, strlen(text), 8, &place);
    ck_assert_uint_eq(place.line, 2);
    ck_assert_uint_eq(place.column, 5);
    ck_assert_str_eq(place.excerpt, "two three");
}
END_TEST

START_TEST(diagnostics_are_counted_and_copied)
{
    struct diags diags;
    char node[] = "conv";
    diags_init(&diags, arena);
    ck_assert_int_eq(diag_error(&diags, ODLC_ERR_INVALID, AT(.node = node), "a-code", "value %d", 7), ODLC_ERR_INVALID);
    diag_warn(&diags, AT(.hint = "do this"), "b-code", "careful");
    node[0] = 'X';
    ck_assert_uint_eq(diags.errors, 1);
    ck_assert_uint_eq(diags.warnings, 1);
    ck_assert_str_eq(diags.list.data[0].node, "conv");
    ck_assert_str_eq(diags.list.data[0].message, "value 7");
    ck_assert_str_eq(diags.list.data[1].hint, "do this");
}
END_TEST

/* ---- files: each test works in a folder of its own ---- */

static char folder[64];

static const char *in_folder(const char *name)
{
    return arena_printf(arena, "%s/%s", folder, name);
}

static void start_folder(void)
{
    start();
    strcpy(folder, "/tmp/odlc-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static size_t files_in_folder(void)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e; (e = readdir(dir));)
        count += e->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void stop_folder(void)
{
    DIR *dir = opendir(folder);
    for (struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.')
            unlink(in_folder(e->d_name));
    closedir(dir);
    rmdir(folder);
    stop();
}

START_TEST(output_appears_only_when_it_is_committed)
{
    struct diags diags;
    struct out_file *out;
    struct file *file;
    struct arena *own = arena_create();
    diags_init(&diags, own);
    const char *path = in_folder("out.bin");
    ck_assert_int_eq(out_create(own, &diags, path, &out), ODLC_OK);
    ck_assert_int_eq(out_write(out, "hello world", 11), ODLC_OK);
    ck_assert_int_eq(out_write(out, arena_alloc(own, 1000000), 1000000), ODLC_OK);
    ck_assert_int_eq(out_patch(out, 6, "WORLD", 5), ODLC_OK);
    ck_assert_uint_eq(out_offset(out), 1000011);
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert_int_eq(out_commit(out), ODLC_OK);
    ck_assert_uint_eq(files_in_folder(), 1);
    ck_assert_int_eq(file_map(own, &diags, path, &file), ODLC_OK);
    ck_assert_uint_eq(file->size, 1000011);
    ck_assert_mem_eq(file->data, "hello WORLD\0", 12);
    arena_destroy(own);
}
END_TEST

START_TEST(abandoned_output_leaves_the_old_file)
{
    struct diags diags;
    struct out_file *out;
    struct arena *own = arena_create();
    diags_init(&diags, own);
    const char *path = in_folder("out.bin");
    FILE *f = fopen(path, "w");
    fputs("old", f);
    fclose(f);
    ck_assert_int_eq(out_create(own, &diags, path, &out), ODLC_OK);
    ck_assert_int_eq(out_write(out, "new content", 11), ODLC_OK);
    ck_assert_int_eq(out_flush(out), ODLC_OK);
    arena_destroy(own);
    ck_assert_uint_eq(files_in_folder(), 1);
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_size, 3);
}
END_TEST

START_TEST(unreadable_inputs_are_errors)
{
    struct diags diags;
    struct file *file;
    diags_init(&diags, arena);
    ck_assert_int_eq(file_map(arena, &diags, in_folder("absent"), &file), ODLC_ERR_IO);
    ck_assert_ptr_nonnull(strstr(diags.list.data[0].message, "No such file"));
    ck_assert_int_eq(file_map(arena, &diags, folder, &file), ODLC_ERR_IO);
    ck_assert_str_eq(diags.list.data[1].message, "not a regular file");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base");
    TCase *memory = tcase_create("memory"), *files = tcase_create("files");
    tcase_add_checked_fixture(memory, start, stop);
    tcase_add_test(memory, arena_memory_is_zero_and_aligned);
    tcase_add_test(memory, blocks_grow_and_keep_their_bytes);
    tcase_add_test(memory, strings_are_packed);
    tcase_add_test(memory, rewinding_after_blocks_grew);
    tcase_add_test(memory, rewinding_runs_cleanups_and_clears);
    tcase_add_test(memory, exhausted_memory_jumps_and_leaks_nothing);
    tcase_add_test(memory, exhausted_memory_returns_through_libraries);
    tcase_add_test(memory, map_keeps_many_keys);
    tcase_add_test(memory, map_grows_at_any_size);
    tcase_add_test(memory, fetched_keys_are_as_any_others);
    tcase_add_test(memory, expectations_end_with_their_bytes);
    tcase_add_test(memory, forgotten_pages_are_zeros_that_take_no_memory);
    tcase_add_test(memory, reader_stops_at_the_end);
    tcase_add_test(memory, nearest_word_finds_typing_errors_only);
    tcase_add_test(memory, text_place_counts_lines_and_columns);
    tcase_add_test(memory, diagnostics_are_counted_and_copied);
    tcase_add_checked_fixture(files, start_folder, stop_folder);
    tcase_add_test(files, output_appears_only_when_it_is_committed);
    tcase_add_test(files, abandoned_output_leaves_the_old_file);
    tcase_add_test(files, unreadable_inputs_are_errors);
    suite_add_tcase(suite, memory);
    suite_add_tcase(suite, files);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
