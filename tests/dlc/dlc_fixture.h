/* SPDX-License-Identifier: Apache-2.0 */
/* What the container tests share: an arena with diagnostics, a folder for files, the sample graph in them. */
#ifndef TESTS_DLC_FIXTURE_H
#define TESTS_DLC_FIXTURE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample.h"

static struct arena *arena;
static struct diags diags;
static char folder[64];

static inline void fixture_start(void)
{
    arena = arena_create();
    ck_assert_ptr_nonnull(arena);
    diags_init(&diags, arena);
    strcpy(folder, "/tmp/test-dlc-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static inline const char *in_folder(const char *name)
{
    return arena_printf(arena, "%s/%s", folder, name);
}

static inline void fixture_end(void)
{
    ck_assert_int_eq(system(arena_printf(arena, "rm -r %s", folder)), 0);
    arena_destroy(arena);
}

static inline const struct odlc_diag *last_diag(void)
{
    ck_assert_uint_gt(diags.list.count, 0);
    return &diags.list.data[diags.list.count - 1];
}

/* With the last diagnostic in the failure's text. */
#define ck_status_ok(expr)                                                                                       \
    do {                                                                                                         \
        odlc_status status_ = (expr);                                                                            \
        ck_assert_msg(status_ == ODLC_OK, "%s: %s", #expr, diags.list.count ? last_diag()->message : "no diag"); \
    } while (0)

static inline uint8_t *read_all(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *bytes = arena_alloc(arena, *size + 1);
    ck_assert_uint_eq(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

static inline void write_all(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static inline const char *write_sample(const char *name, bool netp)
{
    const char *path = in_folder(name);
    struct dlc_write_options options = {
        .netp = netp, .converter_command = "onnx-to-dlc a=1", .converter_version = "0.1"};
    ck_status_ok(dlc_write(arena, &diags, sample_graph(arena), path, &options));
    return path;
}

static inline int run_tests(const char *name, const TTest *const *tests, size_t count)
{
    Suite *suite = suite_create(name);
    TCase *tc = tcase_create(name);
    tcase_add_checked_fixture(tc, fixture_start, fixture_end);
    tcase_set_timeout(tc, 120);
    for (size_t i = 0; i < count; i++)
        tcase_add_test(tc, tests[i]);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}

#endif
