/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning: what is measured, kept, used again, merged and thrown away; results stay what they are. */
#include "backend/gpu/gpu_tuning.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu_net.h"

enum { BUDGET = 60000 };

static struct arena *arena;
static struct diags diags;
static char folder[96];
static struct gpu_device device = {.name = "a device", .platform_name = "a platform", .driver = "1.0", .version = 300};

static void setup(void)
{
    char command[128];
    net_setup();
    arena = arena_create();
    diags_init(&diags, arena);
    (void)snprintf(folder, sizeof(folder), "%s/tuned", net_folder);
    (void)snprintf(command, sizeof(command), "mkdir %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void teardown(void)
{
    arena_destroy(arena);
    net_teardown();
}

struct tuned_run {
    struct odlc_gpu_counts counts;
    size_t choices, measured;
    float y[COUNT];
};

static struct tuned_run run(struct odlc_gpu_config config)
{
    struct tuned_run r = {.choices = 0};
    odlc_gpu *gpu = net_context(config);
    net_execute(gpu, false, r.y);
    net_expect_values(r.y, 1e-5);
    r.counts = odlc_gpu_count(gpu);
    const struct odlc_gpu_choice *list = odlc_gpu_choices(gpu, &r.choices);
    for (size_t i = 0; i < r.choices; i++) {
        ck_assert_double_le(list[i].microseconds, list[i].usual_microseconds);
        ck_assert(!list[i].measured || strcmp(list[i].choice, list[i].usual) != 0 ||
                  list[i].microseconds == list[i].usual_microseconds);
        ck_assert_uint_gt(list[i].uses, 0);
        r.measured += list[i].measured != 0;
    }
    ck_assert_int_eq(odlc_gpu_close(gpu), ODLC_OK);
    odlc_gpu_free(gpu);
    return r;
}

static struct odlc_gpu_config tuning(void)
{
    return (struct odlc_gpu_config){.performance_cache = folder, .tuning = 1, .tuning_budget = BUDGET};
}

/* The only file of the folder. */
static const char *only_file(void)
{
    const char *found = NULL;
    DIR *dir = opendir(folder);
    for (const struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.') {
            ck_assert_ptr_null(found);
            found = arena_printf(arena, "%s/%s", folder, e->d_name);
        }
    (void)closedir(dir);
    ck_assert_ptr_nonnull(found);
    return found;
}

static char *file_text(const char *path)
{
    char *text = arena_alloc(arena, 65536);
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, 65535, f)] = '\0';
    (void)fclose(f);
    return text;
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

START_TEST(what_is_measured_is_used_again)
{
    const struct tuned_run first = run(tuning());
    ck_assert_uint_gt(first.counts.measured, 0);
    ck_assert_uint_eq(first.counts.skipped, 0);
    ck_assert_uint_gt(first.choices, 0);
    ck_assert_uint_eq(first.measured, first.choices);
    ck_assert_uint_gt(first.counts.tuning_nanoseconds, 0);
    const struct tuned_run again = run(tuning());
    ck_assert_uint_eq(again.counts.measured, 0);
    ck_assert_uint_eq(again.counts.tuning_nanoseconds, 0);
    ck_assert_uint_eq(again.choices, first.choices);
    ck_assert_uint_eq(again.measured, 0);
    ck_assert_mem_eq(again.y, first.y, sizeof(first.y));
    const struct tuned_run without = run((struct odlc_gpu_config){.performance_cache = folder});
    ck_assert_uint_eq(without.choices, first.choices);
    ck_assert_mem_eq(without.y, first.y, sizeof(first.y));
}
END_TEST

START_TEST(a_cache_is_invalidated_on_request)
{
    struct odlc_gpu_config config = tuning();
    const struct tuned_run first = run(config);
    const char *path = only_file();
    const char *other = arena_printf(arena, "%.*s.other.json", (int)(strlen(path) - strlen(".json")), path);
    write_text(other, file_text(path));
    config.invalidate_performance_cache = 1;
    const struct tuned_run again = run(config);
    ck_assert_uint_eq(again.counts.measured, first.counts.measured);
    ck_assert_str_eq(only_file(), path);
    odlc_gpu *gpu = odlc_gpu_new();
    config.performance_cache = NULL;
    config.struct_size = sizeof(config);
    ck_assert_int_eq(odlc_gpu_configure(gpu, &config), ODLC_ERR_USAGE);
    odlc_gpu_free(gpu);
}
END_TEST

START_TEST(time_is_bounded)
{
    struct odlc_gpu_config config = tuning();
    config.tuning_budget = 1;
    const struct tuned_run r = run(config);
    ck_assert_uint_gt(r.counts.skipped, 0);
    ck_assert_uint_lt(r.counts.tuning_nanoseconds, (uint64_t)BUDGET * 1000000);
}
END_TEST

/* The text with another choice for each product. */
static const char *with_choice(const char *at, const char *choice)
{
    static const char member[] = "\"choice\": \"";
    const char *changed = "";
    for (const char *found = at; found; at = found) {
        found = strstr(at, "\"kernel\": \"product\"");
        found = found ? strstr(found, member) : NULL;
        if (!found)
            break;
        found += strlen(member);
        changed = arena_printf(arena, "%s%.*s%s", changed, (int)(found - at), at, choice);
        found = strchr(found, '"');
    }
    return arena_printf(arena, "%s%s", changed, at);
}

/* A choice that there is not, and ones of all kinds: results are the same within the tolerance, which run() checks. */
START_TEST(results_do_not_depend_on_choices)
{
    static const char *const choices[] = {"nonsense", "tiles of 16x32x64 by 4x4 and 8 in 1",
                                          "tiles of 32x32x32 by 4x4 and 2 in 1", "panels of 4x32", "panels of 2x16"};
    const struct tuned_run first = run(tuning());
    const char *path = only_file(), *text = file_text(path);
    ck_assert_ptr_nonnull(strstr(text, "\"product\""));
    for (size_t i = 0; i < COUNT_OF(choices); i++) {
        write_text(path, with_choice(text, choices[i]));
        const struct tuned_run other = run((struct odlc_gpu_config){.performance_cache = folder});
        ck_assert_uint_eq(other.counts.measured, 0);
        ck_assert_uint_le(other.choices, first.choices);
    }
}
END_TEST

START_TEST(a_context_cache_has_what_was_tuned)
{
    struct odlc_gpu_config config = tuning();
    const char *cache = arena_printf(arena, "%s/net.cache", net_folder);
    config.context_cache = cache;
    const struct tuned_run first = run(config);
    const struct tuned_run again = run((struct odlc_gpu_config){.context_cache = cache});
    ck_assert_uint_eq(again.choices, first.choices);
    ck_assert_uint_eq(again.measured, 0);
    ck_assert_uint_eq(again.counts.builds, 0);
    ck_assert_uint_eq(again.counts.conversions, 0);
    ck_assert_mem_eq(again.y, first.y, sizeof(first.y));
}
END_TEST

/* ---- files ---- */

static struct gpu_tuning *open_tuning(void)
{
    struct gpu_tuning *t = gpu_tuning_create(&(struct gpu_tuning_options){.folder = folder});
    ck_assert_ptr_nonnull(t);
    gpu_tuning_read(t, &diags, &device);
    return t;
}

static void write_case(const char *where, const char *choice, double microseconds)
{
    const struct gpu_tuned tuned = {.kernel = "k.f",
                                    .where = where,
                                    .choice = choice,
                                    .usual = "usual",
                                    .microseconds = microseconds,
                                    .usual_microseconds = 10,
                                    .is_measured = true};
    struct gpu_tuning *t = open_tuning();
    ck_assert_ptr_nonnull(gpu_tuning_note(t, &tuned));
    gpu_tuning_write(t, &diags, &device);
    gpu_tuning_destroy(t);
}

static void expect_case(const char *where, const char *choice)
{
    struct gpu_tuning *t = open_tuning();
    const struct gpu_tuned *found = gpu_tuning_find(t, "k.f", where);
    ck_assert_int_eq(found != NULL, choice != NULL);
    if (found)
        ck_assert_str_eq(found->choice, choice);
    gpu_tuning_destroy(t);
}

START_TEST(files_of_several_are_merged)
{
    write_case("both", "slow", 9);
    write_case("ours", "good", 5);
    const char *path = only_file(), *ours = file_text(path);
    ck_assert_int_eq(unlink(path), 0);
    write_case("both", "fast", 3);
    write_case("theirs", "fine", 4);
    const char *theirs = file_text(path);
    const char *other = arena_printf(arena, "%.*s.theirs.json", (int)(strlen(path) - strlen(".json")), path);
    write_text(path, ours);
    write_text(other, theirs);
    expect_case("both", "fast");
    expect_case("ours", "good");
    expect_case("theirs", "fine");
    struct gpu_tuning *t = open_tuning();
    gpu_tuning_write(t, &diags, &device); /* what was merged is in one file then */
    gpu_tuning_destroy(t);
    ck_assert_int_eq(unlink(other), 0);
    expect_case("both", "fast");
    expect_case("theirs", "fine");
    struct gpu_device newer = device;
    strcpy(newer.driver, "1.1");
    t = gpu_tuning_create(&(struct gpu_tuning_options){.folder = folder});
    gpu_tuning_read(t, &diags, &newer); /* has a file of its own */
    ck_assert_ptr_null(gpu_tuning_find(t, "k.f", "ours"));
    gpu_tuning_destroy(t);
    ck_assert_uint_eq(diags.list.count, 0);
}
END_TEST

/* The text with `from` replaced. */
static const char *changed(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    ck_assert_ptr_nonnull(at);
    return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

START_TEST(faulty_files_are_left_out_and_replaced)
{
    write_case("c", "good", 5);
    const char *path = only_file(), *text = file_text(path);
    const char *const faulty[] = {
        "",
        "{",
        "[]",
        "{}",
        "\x7f\x45\x4c\x46\x02\x01",
        changed(text, "opendlc.gpu-performance", "opendlc.other"),
        changed(text, "\"schema_version\": 1", "\"schema_version\": 2"),
        changed(text, "\"schema_version\": 1", "\"schema_version\": \"1\""),
        changed(text, "a device", "another device"),
        changed(text, "a platform", "another platform"),
        changed(text, "\"1.0\"", "\"1.1\""),
        changed(text, "\"kernels\": \"", "\"kernels\": \"0"),
        changed(text, "\"choices\": [", "\"choices\": 3, \"x\": ["),
        changed(text, "\"case\"", "\"place\""),
        changed(text, "\"good\"", "\"\""),
        changed(text, "\"good\"", "7"),
        changed(text, "\"microseconds\": 5", "\"microseconds\": -5"),
        changed(text, "\"microseconds\": 5", "\"microseconds\": 1e999"),
        changed(text, "\"microseconds\": 5", "\"microseconds\": \"5\""),
        changed(text, "\"kernel\": \"k.f\"", "\"kernel\": null"),
        arena_printf(arena, "%.*s", (int)strlen(text) / 2, text),
    };
    for (size_t i = 0; i < COUNT_OF(faulty); i++) {
        const size_t before = diags.warnings;
        write_text(path, faulty[i]);
        expect_case("c", NULL);
        ck_assert_msg(diags.warnings == before + 1, "%zu: %s", i, faulty[i]);
        ck_assert_str_eq(diags.list.data[diags.list.count - 1].code, "gpu-tuning");
        write_case("c", "good", 5);
        expect_case("c", "good");
    }
    ck_assert_uint_eq(diags.errors, 0);
}
END_TEST

START_TEST(what_cannot_be_kept_is_a_warning)
{
    strcpy(folder, "/nowhere/at/all");
    struct gpu_tuning *t = open_tuning();
    ck_assert_uint_eq(diags.warnings, 1);
    const struct gpu_tuned tuned = {.kernel = "k", .where = "w", .choice = "c", .usual = "u"};
    ck_assert_ptr_nonnull(gpu_tuning_note(t, &tuned));
    gpu_tuning_write(t, &diags, &device);
    gpu_tuning_destroy(t);
    ck_assert_uint_eq(diags.warnings, 2);
    ck_assert_uint_eq(diags.errors, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu_tuning");
    TCase *tc = tcase_create("gpu_tuning");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, what_is_measured_is_used_again);
    tcase_add_test(tc, a_cache_is_invalidated_on_request);
    tcase_add_test(tc, time_is_bounded);
    tcase_add_test(tc, results_do_not_depend_on_choices);
    tcase_add_test(tc, a_context_cache_has_what_was_tuned);
    tcase_add_test(tc, files_of_several_are_merged);
    tcase_add_test(tc, faulty_files_are_left_out_and_replaced);
    tcase_add_test(tc, what_cannot_be_kept_is_a_warning);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
