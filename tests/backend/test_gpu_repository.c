/* SPDX-License-Identifier: Apache-2.0 */
/* The repository of built kernels: what is built, what is found again, and files that are damaged, foreign, or written
 * by others at the same time. A program that is found is the one that was written, byte for byte; else there is none.
 */
#include "backend/gpu/gpu_repository.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/gpu/gpu_kernels.h"
#include "store_faults.h"

enum { PROGRAMS = 3, HASH = 77 };

static struct arena *arena;
static struct diags diags;
static char folder[64], path[128];
static uint8_t bytes[PROGRAMS][5000];
static struct gpu_binary programs[PROGRAMS];
static struct gpu_device device = {.name = "a device", .platform_name = "a platform", .driver = "1.0", .version = 300};

static void setup(void)
{
    static const uint64_t sizes[PROGRAMS] = {1, 5000, 333};
    arena = arena_create();
    diags_init(&diags, arena);
    strcpy(folder, "/tmp/odlc-gpu-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/gpukernelcache.test", folder);
    for (int i = 0; i < PROGRAMS; i++) {
        for (size_t k = 0; k < sizeof(bytes[i]); k++)
            bytes[i][k] = (uint8_t)(k * 31 + k / 251 + (size_t)i * 97);
        programs[i] = (struct gpu_binary){.bytes = bytes[i], .size = sizes[i]};
        gpu_binary_key("source", i == 0 ? "-DA" : i == 1 ? "-DB" : "-DC", programs[i].key);
    }
}

static void teardown(void)
{
    char command[160];
    (void)snprintf(command, sizeof(command), "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
    arena_destroy(arena);
}

/* How many of the programs a repository has; those that it has are right. */
static int found(const struct gpu_repository *r)
{
    int count = 0;
    for (int i = 0; i < PROGRAMS; i++) {
        const struct gpu_binary *b = gpu_repository_find(r, programs[i].key);
        if (!b)
            continue;
        ck_assert_uint_eq(b->size, programs[i].size);
        ck_assert_mem_eq(b->bytes, programs[i].bytes, b->size);
        count++;
    }
    return count;
}

static int found_for(const struct gpu_device *d, uint64_t hash)
{
    struct gpu_repository *r = gpu_repository_open(d, folder, "test", hash);
    ck_assert_ptr_nonnull(r);
    const int count = found(r);
    gpu_repository_close(r);
    return count;
}

static void write_programs(void)
{
    struct gpu_repository *r = gpu_repository_open(&device, folder, "test", HASH);
    gpu_repository_write(r, &diags, programs, PROGRAMS);
    gpu_repository_close(r);
    ck_assert_uint_eq(diags.warnings, 0);
}

static struct content sound_file(void)
{
    (void)unlink(path);
    write_programs();
    return content_read(path);
}

/* The file as it is now counts as none, and is replaced by the next that is written. */
static void expect_rebuilt(enum fault fault)
{
    (void)fault;
    ck_assert_int_eq(found_for(&device, HASH), 0);
    write_programs();
    ck_assert_int_eq(found_for(&device, HASH), PROGRAMS);
}

START_TEST(written_programs_are_found)
{
    const struct content once = sound_file();
    ck_assert_int_eq(found_for(&device, HASH), PROGRAMS);
    struct content again = once;
    content_sign(&again);
    ck_assert_mem_eq(again.data, once.data, once.size); /* so the test knows the format */
    struct gpu_repository *r = gpu_repository_open(&device, folder, "test", HASH);
    struct gpu_binary other = {.bytes = bytes[1], .size = 10};
    gpu_binary_key("source", "-DD", other.key);
    ck_assert_ptr_null(gpu_repository_find(r, other.key));
    gpu_repository_write(r, &diags, &other, 1);
    gpu_repository_close(r);
    ck_assert_int_eq(found_for(&device, HASH), PROGRAMS); /* those of others stay */
    r = gpu_repository_open(&device, folder, "test", HASH);
    ck_assert_uint_eq(gpu_repository_find(r, other.key)->size, 10);
    gpu_repository_close(r);
}
END_TEST

/* ---- faults ---- */

/* Of another device, driver, library or package: invalid as a whole. */
static void change_identity(void)
{
    struct gpu_device others[] = {device, device, device, device};
    strcpy(others[0].name, "another device");
    strcpy(others[1].platform_name, "another platform");
    strcpy(others[2].driver, "1.1");
    others[3].version = 120;
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        (void)sound_file();
        ck_assert_int_eq(found_for(&others[i], HASH), 0);
    }
    ck_assert_int_eq(found_for(&device, HASH + 1), 0);
    ck_assert_int_eq(found_for(&device, HASH), PROGRAMS);
    struct gpu_repository *r = gpu_repository_open(&device, folder, "test", HASH + 1);
    gpu_repository_write(r, &diags, programs, 1);
    gpu_repository_close(r);
    ck_assert_int_eq(found_for(&device, HASH + 1), 1);
    ck_assert_int_eq(found_for(&device, HASH), 0); /* it was replaced */
}

static struct faults faults_of_sound(void)
{
    return (struct faults){.path = path, .letters = "ODLCGPUK", .sound = sound_file(), .expect = expect_rebuilt};
}

START_TEST(faulty_files_count_as_none_and_are_replaced)
{
    struct faults faults = faults_of_sound();
    faults_try(&faults);
    change_identity();
}
END_TEST

static void expect_unwritable(const char *where)
{
    const size_t before = diags.warnings;
    struct gpu_repository *r = gpu_repository_open(&device, where, "test", HASH);
    ck_assert_int_eq(found(r), 0);
    gpu_repository_write(r, &diags, programs, PROGRAMS);
    gpu_repository_close(r);
    ck_assert_uint_eq(diags.warnings, before + 1);
    ck_assert_uint_eq(diags.errors, 0);
    ck_assert_str_eq(diags.list.data[diags.list.count - 1].code, "gpu-repository");
}

START_TEST(what_cannot_be_written_is_a_warning)
{
    expect_unwritable("/proc");
    expect_unwritable("/nowhere/at/all");
    expect_unwritable("/dev/null");
    ck_assert_int_eq(mkdir(path, 0700), 0); /* in the place of the file */
    expect_unwritable(folder);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0); /* nobody waits for the other end */
    expect_unwritable(folder);
}
END_TEST

START_TEST(an_open_repository_stays_as_it_is)
{
    (void)sound_file();
    struct gpu_repository *r = gpu_repository_open(&device, folder, "test", HASH);
    const int fd = open(path, O_WRONLY | O_TRUNC);
    ck_assert_int_ge(fd, 0);
    (void)close(fd);
    ck_assert_int_eq(found(r), PROGRAMS);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(found(r), PROGRAMS);
    gpu_repository_close(r);
}
END_TEST

static void look(void)
{
    (void)found_for(&device, HASH);
}

/* Whatever the bytes are: nothing that is found is wrong. */
START_TEST(changes_at_random_are_never_believed)
{
    const struct faults faults = faults_of_sound();
    faults_at_random(&faults, look);
}
END_TEST

/* ---- processes ---- */

static int wait_for(pid_t child)
{
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(processes_may_write_at_the_same_time)
{
    pid_t writers[2];
    for (int w = 0; w < 2; w++) {
        writers[w] = fork();
        for (int i = 0; writers[w] == 0 && i < 40; i++) {
            struct gpu_repository *r = gpu_repository_open(&device, folder, "test", HASH);
            gpu_repository_write(r, &diags, &programs[w], 2);
            if (found(r) < 0 || diags.warnings)
                _exit(1);
            gpu_repository_close(r);
        }
        if (writers[w] == 0)
            _exit(0);
    }
    for (int i = 0; i < 40; i++)
        (void)found_for(&device, HASH);
    ck_assert_int_eq(wait_for(writers[0]), 0);
    ck_assert_int_eq(wait_for(writers[1]), 0);
    ck_assert_int_ge(found_for(&device, HASH), 2);
}
END_TEST

static const struct gpu_source tiny = {
    "tiny", "kernel void fill(global int *out) { out[get_global_id(0)] = 1000 * NUMBER + (int)get_global_id(0); }\n"};

/* Runs kernel `number`; true: its results are right. */
static bool run_kernel(struct gpu_context *context, int number)
{
    enum { ITEMS = 16 };
    char options[32];
    cl_int out[ITEMS] = {0}, error;
    struct gpu_program *program;
    cl_kernel kernel;
    bool right = true;
    (void)snprintf(options, sizeof(options), "-DNUMBER=%d", number);
    if (gpu_program_take(context, &tiny, options, true, &program) != ODLC_OK ||
        gpu_program_kernel(context, &diags, program, "fill", &kernel) != ODLC_OK)
        return false;
    cl_command_queue queue = clCreateCommandQueue(context->handle, context->device.id, 0, &error);
    cl_mem buffer = clCreateBuffer(context->handle, CL_MEM_READ_WRITE, sizeof(out), NULL, &error);
    (void)clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer);
    (void)clEnqueueNDRangeKernel(queue, kernel, 1, NULL, (size_t[]){ITEMS}, NULL, 0, NULL, NULL);
    (void)clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL);
    for (int i = 0; i < ITEMS; i++)
        right = right && out[i] == 1000 * number + i;
    (void)clReleaseMemObject(buffer);
    (void)clReleaseCommandQueue(queue);
    (void)clReleaseKernel(kernel);
    return right;
}

/* In a process of its own: graph A needs kernels 1, 2 and 3, graph B 3 and 4. How many programs were built and loaded:
 * 10 * builds + loads. */
static int builds_of_a_process(void)
{
    static const int needed[] = {1, 2, 3, 3, 4};
    const pid_t child = fork();
    if (child)
        return wait_for(child);
    struct gpu_context *context;
    bool right = gpu_context_create(&diags, NULL, &context) == ODLC_OK &&
                 gpu_context_use_repository(context, &diags, folder) == ODLC_OK;
    for (size_t i = 0; right && i < COUNT_OF(needed); i++)
        right = run_kernel(context, needed[i]);
    if (!right || diags.list.count)
        _exit(255);
    gpu_context_keep(context, &diags);
    const int builds = (int)(10 * context->builds + context->loads);
    gpu_context_destroy(context);
    _exit(builds);
}

/* Programs of the right keys that no driver has made. */
static void write_garbage(void)
{
    struct gpu_context *context;
    const pid_t child = fork();
    if (child) {
        ck_assert_int_eq(wait_for(child), 0);
        return;
    }
    if (gpu_context_create(&diags, NULL, &context) != ODLC_OK ||
        gpu_context_use_repository(context, &diags, folder) != ODLC_OK)
        _exit(255);
    struct gpu_binary garbage = {.bytes = bytes[1], .size = 500};
    gpu_binary_key("tiny", "-DNUMBER=2", garbage.key);
    gpu_repository_write(context->repository, &diags, &garbage, 1);
    gpu_context_destroy(context);
    _exit((int)diags.list.count);
}

START_TEST(kernels_are_built_once)
{
    (void)snprintf(path, sizeof(path), "%s/gpukernelcache.opendlc", folder);
    ck_assert_int_eq(builds_of_a_process(), 40);
    ck_assert_int_eq(builds_of_a_process(), 4);
    write_garbage();
    ck_assert_int_eq(builds_of_a_process(), 13);
    ck_assert_int_eq(builds_of_a_process(), 4);
    const int fd = open(path, O_RDWR);
    ck_assert_int_eq(pwrite(fd, "\x55\xaa", 2, 200), 2);
    (void)close(fd);
    ck_assert_int_eq(builds_of_a_process(), 40);
    ck_assert_int_eq(builds_of_a_process(), 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu_repository");
    TCase *tc = tcase_create("gpu_repository");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, written_programs_are_found);
    tcase_add_test(tc, faulty_files_count_as_none_and_are_replaced);
    tcase_add_test(tc, what_cannot_be_written_is_a_warning);
    tcase_add_test(tc, an_open_repository_stays_as_it_is);
    tcase_add_test(tc, changes_at_random_are_never_believed);
    tcase_add_test(tc, processes_may_write_at_the_same_time);
    tcase_add_test(tc, kernels_are_built_once);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
