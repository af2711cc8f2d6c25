/* SPDX-License-Identifier: Apache-2.0 */
/* Context caches: a start from one neither builds nor converts, by the options of then or those of now; caches of
 * others are refused, and files that are damaged count as none. */
#include "backend/gpu/gpu_cache.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu_facts.h"
#include "gpu_net.h"
#include "store_faults.h"

enum { LINES = 6 };

static char path[128];
static struct arena *arena;
static struct diags diags;
static const struct gpu_store_kind kind = {.letters = "ODLCGPUC"};

static void setup(void)
{
    net_setup();
    arena = arena_create();
    diags_init(&diags, arena);
    (void)snprintf(path, sizeof(path), "%s/net.cache", net_folder);
}

static void teardown(void)
{
    arena_destroy(arena);
    net_teardown();
}

/* One execution by a context with the cache, and what it counted. */
static struct odlc_gpu_counts start(struct odlc_gpu_config config, size_t warnings, float *y)
{
    size_t count;
    config.context_cache = path;
    odlc_gpu *gpu = net_context(config);
    net_execute(gpu, false, y);
    const struct odlc_gpu_counts counts = odlc_gpu_count(gpu);
    ck_assert_int_eq(odlc_gpu_close(gpu), ODLC_OK);
    (void)odlc_gpu_diags(gpu, &count);
    ck_assert_uint_eq(count, warnings);
    odlc_gpu_free(gpu);
    return counts;
}

static void expect_from_cache(struct odlc_gpu_counts counts)
{
    ck_assert_uint_eq(counts.builds, 0);
    ck_assert_uint_eq(counts.conversions, 0);
    ck_assert_uint_gt(counts.loads, 0);
    ck_assert_uint_gt(counts.uploads, 0);
}

/* The status and the last words of a run that cannot be prepared. */
static odlc_status refused(struct odlc_gpu_config config, char *words, size_t size)
{
    static const char *const names[] = {"gpu"};
    size_t count;
    config.context_cache = path;
    odlc_gpu *gpu = net_context(config);
    odlc_run *run = odlc_run_new();
    net_expect_ok(run, odlc_run_open(run, net_path));
    net_expect_ok(run, odlc_run_set_backends(run, names, 1));
    net_expect_ok(run, odlc_run_set_gpu(run, gpu));
    const odlc_status status = odlc_run_want_outputs(run);
    const struct odlc_diag *list = odlc_run_diags(run, &count);
    (void)snprintf(words, size, "%s", count ? list[count - 1].message : "");
    odlc_run_free(run);
    odlc_gpu_free(gpu);
    return status;
}

START_TEST(a_start_from_the_cache_neither_builds_nor_converts)
{
    float cold[COUNT], warm[COUNT];
    const struct odlc_gpu_counts counts = start((struct odlc_gpu_config){0}, 0, cold);
    net_expect_values(cold, 1e-5);
    ck_assert_uint_gt(counts.builds, 0);
    ck_assert_int_eq(counts.conversions > 0, !device_is_gpu()); /* on GPUs nothing is packed */
    expect_from_cache(start((struct odlc_gpu_config){0}, 0, warm));
    ck_assert_mem_eq(warm, cold, sizeof(cold));
}
END_TEST

START_TEST(options_of_then_count_unless_others_are_given)
{
    float hybrid[COUNT], y[COUNT];
    struct gpu_container nobody = {0};
    struct gpu_graph_options options;
    bool found;
    const struct odlc_gpu_config other = {.precision = ODLC_GPU_HYBRID, .performance = ODLC_GPU_LOW};
    ck_assert_uint_gt(start(other, 0, hybrid).conversions, 0);
    net_expect_values(hybrid, 2e-3);
    expect_from_cache(start((struct odlc_gpu_config){0}, 0, y));
    ck_assert_mem_eq(y, hybrid, sizeof(y));
    const struct odlc_gpu_counts counts = start((struct odlc_gpu_config){.precision = ODLC_GPU_FP32}, 0, y);
    net_expect_values(y, 1e-5);
    ck_assert_mem_ne(y, hybrid, sizeof(y));
    ck_assert_uint_gt(counts.builds, 0);
    (void)start((struct odlc_gpu_config){.given = ODLC_GPU_GIVEN_PRECISION}, 0, y);
    net_expect_values(y, 1e-5);
    expect_from_cache(start((struct odlc_gpu_config){0}, 0, y)); /* the file is as it was */
    ck_assert_mem_eq(y, hybrid, sizeof(y));
    struct gpu_cache *cache = gpu_cache_open(&diags, path, false);
    ck_assert_int_eq(gpu_cache_find_graph(cache, &diags, &nobody, &found, &options), ODLC_ERR_INVALID);
    gpu_cache_close(cache);
}
END_TEST

/* The hint cannot be seen from outside: a queue has it, where the driver lets be asked. */
START_TEST(the_performance_hint_is_kept)
{
    static const struct gpu_container ours = {.hash = 0x123456789abcdef0, .size = 77};
    static const struct gpu_graph_options low = {.performance = GPU_PERFORMANCE_LOW, .no_recording = true};
    struct gpu_graph_options found;
    struct gpu_context *context;
    bool is_there;
    struct gpu_cache *cache = gpu_cache_open(&diags, path, false);
    ck_assert_int_eq(gpu_cache_add_graph(cache, &ours, &low), ODLC_OK);
    ck_assert_int_eq(gpu_context_create(&diags, NULL, &context), ODLC_OK);
    ck_assert_int_eq(gpu_context_use_cache(context, &diags, cache), ODLC_OK);
    gpu_cache_keep(context, &diags);
    gpu_cache_close(cache);
    gpu_context_destroy(context);
    ck_assert_uint_eq(diags.list.count, 0);
    cache = gpu_cache_open(&diags, path, false);
    ck_assert_int_eq(gpu_cache_find_graph(cache, &diags, &ours, &is_there, &found), ODLC_OK);
    ck_assert(is_there);
    ck_assert_int_eq((int)found.performance, GPU_PERFORMANCE_LOW);
    ck_assert(found.no_recording && !found.no_fusion && !found.has_own_places);
    ck_assert_int_eq((int)found.precision, GPU_PRECISION_USER_PROVIDED);
    gpu_cache_close(cache);
}
END_TEST

START_TEST(another_container_is_refused_and_rebuilt_on_request)
{
    float y[COUNT];
    char words[256];
    (void)start((struct odlc_gpu_config){0}, 0, y);
    net_write("another");
    ck_assert_int_eq(refused((struct odlc_gpu_config){0}, words, sizeof(words)), ODLC_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(words, "another container"));
    const struct odlc_gpu_counts counts = start((struct odlc_gpu_config){.rebuild_context_cache = 1}, 0, y);
    ck_assert_uint_gt(counts.builds, 0);
    expect_from_cache(start((struct odlc_gpu_config){0}, 0, y));
    net_expect_values(y, 1e-5);
}
END_TEST

/* Changes the first float w of the container, and with `drops` the CRCs of all its entries to none, as they are in
 * files of version 4.1. */
static void change_container(float w, bool drops)
{
    static const uint8_t local[] = {'P', 'K', 3, 4}, central[] = {'P', 'K', 1, 2};
    const float weights[] = {-48.0F / 128, 5.0F / 128, -39.0F / 128};
    struct content c = content_read(net_path);
    bool found = false;
    for (size_t i = 0; i + 30 < c.size; i++) {
        if (drops && memcmp(c.data + i, local, sizeof(local)) == 0)
            memset(c.data + i + 14, 0, 4);
        if (drops && memcmp(c.data + i, central, sizeof(central)) == 0)
            memset(c.data + i + 16, 0, 4);
        if (found || memcmp(c.data + i, weights, sizeof(weights)) != 0)
            continue;
        memcpy(c.data + i, &w, sizeof(w));
        found = true;
    }
    ck_assert(found);
    content_write(net_path, c.data, c.size);
}

/* Weights that were damaged are found by their CRC before the cache is asked. */
START_TEST(a_damaged_container_is_refused)
{
    float y[COUNT];
    size_t count;
    (void)start((struct odlc_gpu_config){0}, 0, y);
    change_container(1, false);
    odlc_run *run = odlc_run_new();
    ck_assert_int_eq(odlc_run_open(run, net_path), ODLC_ERR_INVALID);
    const struct odlc_diag *list = odlc_run_diags(run, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(list[0].code, "dlc-crc");
    odlc_run_free(run);
}
END_TEST

/* Where no CRC says so, all bytes are read to see that a container is the same. */
START_TEST(a_container_without_crcs_is_known_by_all_its_bytes)
{
    float y[COUNT];
    char words[256];
    change_container(-48.0F / 128, true);
    (void)start((struct odlc_gpu_config){0}, 0, y);
    net_expect_values(y, 1e-5);
    expect_from_cache(start((struct odlc_gpu_config){0}, 0, y));
    change_container(1, true);
    ck_assert_int_eq(refused((struct odlc_gpu_config){0}, words, sizeof(words)), ODLC_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(words, "another container"));
}
END_TEST

/* The file with another line k of its description. */
static void write_other(const struct gpu_contents *sound, int k)
{
    struct gpu_binary all[64];
    uint64_t key[2];
    gpu_binary_key("context cache", "description", key);
    ck_assert_uint_le(sound->count, COUNT_OF(all));
    memcpy(all, sound->binaries, sound->count * sizeof(*all));
    for (size_t i = 0; i < sound->count; i++) {
        text t = {0};
        if (memcmp(all[i].key, key, sizeof(key)) != 0)
            continue;
        const char *line = (const char *)all[i].bytes, *const end = line + all[i].size;
        for (int n = 0; line < end; n++) {
            const char *stop = memchr(line, '\n', (size_t)(end - line));
            text_add(arena, &t, "%.*s%s\n", (int)(stop - line), line, n == k ? "x" : "");
            line = stop + 1;
        }
        all[i].bytes = (const uint8_t *)t.data;
        all[i].size = t.count;
    }
    ck_assert_int_eq(gpu_store_write(&diags, path, &kind, all, sound->count), ODLC_OK);
}

START_TEST(another_device_driver_or_version_is_refused)
{
    static const char *const says[LINES] = {"of OpenDLC ", "of platform ", "of device ",
                                            "of driver ",  "of OpenCL ",   "of kernels "};
    float y[COUNT];
    char words[512];
    struct gpu_contents sound;
    (void)start((struct odlc_gpu_config){0}, 0, y);
    ck_assert_int_eq((int)gpu_store_read(path, &kind, &sound), GPU_STORE_SOUND);
    for (int k = 0; k < LINES; k++) {
        write_other(&sound, k);
        ck_assert_int_eq(refused((struct odlc_gpu_config){0}, words, sizeof(words)), ODLC_ERR_INVALID);
        ck_assert_msg(strstr(words, says[k]) && strstr(words, "x, and this is "), "%s", words);
    }
    (void)start((struct odlc_gpu_config){.rebuild_context_cache = 1}, 0, y);
    expect_from_cache(start((struct odlc_gpu_config){0}, 0, y));
    gpu_store_forget(&sound);
}
END_TEST

START_TEST(a_damaged_file_is_replaced_and_a_foreign_one_is_not)
{
    static const char notes[] = "what somebody wrote\n";
    float y[COUNT];
    (void)start((struct odlc_gpu_config){0}, 0, y);
    struct stat now;
    ck_assert_int_eq(stat(path, &now), 0);
    ck_assert_int_eq(truncate(path, now.st_size / 2), 0);
    ck_assert_uint_gt(start((struct odlc_gpu_config){0}, 0, y).builds, 0); /* the run has the warning */
    net_expect_values(y, 1e-5);
    expect_from_cache(start((struct odlc_gpu_config){0}, 0, y));
    content_write(path, notes, strlen(notes));
    ck_assert_uint_gt(start((struct odlc_gpu_config){.rebuild_context_cache = 1}, 0, y).builds, 0);
    const struct content c = content_read(path);
    ck_assert_uint_eq(c.size, strlen(notes));
    ck_assert_mem_eq(c.data, notes, c.size);
}
END_TEST

START_TEST(what_cannot_be_written_is_a_warning)
{
    float y[COUNT];
    strcpy(path, "/nowhere/at/all");
    ck_assert_uint_gt(start((struct odlc_gpu_config){0}, 1, y).builds, 0);
    net_expect_values(y, 1e-5);
}
END_TEST

START_TEST(a_process_of_its_own_writes_the_file_too)
{
    float y[COUNT];
    odlc_gpu *gpu = net_context((struct odlc_gpu_config){.context_cache = path});
    net_execute(gpu, true, y);
    odlc_gpu_free(gpu);
    expect_from_cache(start((struct odlc_gpu_config){0}, 0, y));
    net_expect_values(y, 1e-5);
}
END_TEST

/* ---- faults ---- */

static const struct gpu_container container = {.hash = 1, .size = 2};
static uint8_t bytes[5000];
static uint64_t key[2];

static struct faults faults_of_sound(void)
{
    static const char description[] = "a\nb\nc\nd\ne\nf\n0000000000000001 2 0 0 0 0 0\n";
    struct gpu_binary all[3] = {{.bytes = (const uint8_t *)description, .size = strlen(description)},
                                {.bytes = bytes, .size = sizeof(bytes)},
                                {.bytes = bytes + 1, .size = 333}};
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 31 + i / 251);
    gpu_binary_key("context cache", "description", all[0].key);
    gpu_binary_key("source", "-DA", key);
    memcpy(all[1].key, key, sizeof(key));
    gpu_binary_key("source", "-DB", all[2].key);
    ck_assert_int_eq(gpu_store_write(&diags, path, &kind, all, COUNT_OF(all)), ODLC_OK);
    return (struct faults){.path = path, .letters = "ODLCGPUC", .sound = content_read(path)};
}

/* What is found is right. */
static bool is_found(void)
{
    bool found = false;
    struct gpu_graph_options options;
    struct gpu_cache *cache = gpu_cache_open(&diags, path, false);
    ck_assert_ptr_nonnull(cache);
    const odlc_status status = gpu_cache_find_graph(cache, &diags, &container, &found, &options);
    ck_assert(status == ODLC_OK || !found);
    const struct gpu_binary *b = gpu_cache_find(cache, key);
    if (b) {
        ck_assert_uint_eq(b->size, sizeof(bytes));
        ck_assert_mem_eq(b->bytes, bytes, sizeof(bytes));
    }
    gpu_cache_close(cache);
    return found && b;
}

static void expect_none(enum fault fault)
{
    const size_t before = diags.warnings;
    ck_assert(!is_found());
    ck_assert_uint_eq(diags.warnings, before + (fault != FAULT_ABSENT));
    const char *words = diags.list.count ? diags.list.data[diags.list.count - 1].message : "";
    ck_assert(fault != FAULT_DAMAGED || strstr(words, "damaged"));
    ck_assert(fault != FAULT_FOREIGN || strstr(words, "no context cache"));
}

START_TEST(faulty_files_count_as_none)
{
    struct faults faults = faults_of_sound();
    faults.expect = expect_none;
    ck_assert(is_found());
    faults_try(&faults);
    content_write(path, faults.sound.data, faults.sound.size);
    ck_assert(is_found());
}
END_TEST

static void look(void)
{
    (void)is_found();
}

START_TEST(changes_at_random_are_never_believed)
{
    const struct faults faults = faults_of_sound();
    faults_at_random(&faults, look);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu_cache");
    TCase *tc = tcase_create("gpu_cache");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, a_start_from_the_cache_neither_builds_nor_converts);
    tcase_add_test(tc, options_of_then_count_unless_others_are_given);
    tcase_add_test(tc, the_performance_hint_is_kept);
    tcase_add_test(tc, another_container_is_refused_and_rebuilt_on_request);
    tcase_add_test(tc, a_damaged_container_is_refused);
    tcase_add_test(tc, a_container_without_crcs_is_known_by_all_its_bytes);
    tcase_add_test(tc, another_device_driver_or_version_is_refused);
    tcase_add_test(tc, a_damaged_file_is_replaced_and_a_foreign_one_is_not);
    tcase_add_test(tc, what_cannot_be_written_is_a_warning);
    tcase_add_test(tc, a_process_of_its_own_writes_the_file_too);
    tcase_add_test(tc, faulty_files_count_as_none);
    tcase_add_test(tc, changes_at_random_are_never_believed);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
