/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/target.h"

enum { SIZE = 1 << 20, THREADS = 4 };

static struct arena *arena;
static struct diags diags;
static char folder[64];

static const char *in_folder(const char *name)
{
    return arena_printf(arena, "%s/%s", folder, name);
}

static void start(void)
{
    arena = arena_create();
    ck_assert_ptr_nonnull(arena);
    diags_init(&diags, arena);
    strcpy(folder, "/tmp/odlc-fault-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void stop(void)
{
    ck_assert_int_eq(system(arena_printf(arena, "rm -r '%s'", folder)), 0);
    arena_destroy(arena);
}

static void write_file(const char *path, char byte, size_t size)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    for (size_t i = 0; i < size; i++)
        fputc(byte, f);
    ck_assert_int_eq(fclose(f), 0);
}

static struct file *map_new(const char *name)
{
    struct file *file;
    write_file(in_folder(name), 'x', SIZE);
    ck_assert_int_eq(file_map(arena, &diags, in_folder(name), &file), ODLC_OK);
    return file;
}

/* ---- names ---- */

START_TEST(scratch_names_are_short_enough)
{
    char wide[601] = "", buffer[sizeof wide + SCRATCH_SUFFIX], expected[64];
    for (int i = 0; i < 300; i++)
        strcat(wide, "ü");
    snprintf(expected, sizeof expected, ".%ld-7.part", (long)getpid());
    const struct {
        const char *target;
        size_t kept; /* bytes of it */
    } cases[] = {{"out.dlc", 7}, {"a/b/out.dlc", 11}, {wide, 200}, {arena_printf(arena, "dir/a%s", wide), 4 + 199}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        scratch_name(buffer, cases[i].target, 7);
        ck_assert_mem_eq(buffer, cases[i].target, cases[i].kept);
        ck_assert_str_eq(buffer + cases[i].kept, expected);
    }
}
END_TEST

START_TEST(links_are_followed)
{
    ck_assert_int_eq(symlink("two", in_folder("one")), 0);
    ck_assert_int_eq(symlink("nothing", in_folder("two")), 0);
    ck_assert_int_eq(symlink("/absolute/name", in_folder("away")), 0);
    ck_assert_int_eq(symlink("circle", in_folder("circle")), 0);
    ck_assert_str_eq(follow_links(arena, in_folder("one")), in_folder("nothing"));
    ck_assert_str_eq(follow_links(arena, in_folder("away")), "/absolute/name");
    ck_assert_str_eq(follow_links(arena, in_folder("plain")), in_folder("plain"));
    ck_assert_str_eq(follow_links(arena, in_folder("circle")), in_folder("circle"));
    ck_assert_str_eq(folder_of(arena, "name"), ".");
    ck_assert_str_eq(folder_of(arena, "/name"), "/");
    ck_assert_str_eq(folder_of(arena, "a/b/name"), "a/b");
}
END_TEST

START_TEST(targets_are_compared)
{
    write_file(in_folder("file"), 'x', 1);
    write_file(in_folder("other"), 'x', 1);
    ck_assert_int_eq(link(in_folder("file"), in_folder("hard")), 0);
    ck_assert_int_eq(symlink("file", in_folder("soft")), 0);
    ck_assert_int_eq(symlink("new", in_folder("hanging")), 0);
    ck_assert_int_eq(symlink(".", in_folder("here")), 0);
    const struct {
        const char *a, *b;
        bool same;
    } cases[] = {{"file", "./file", true},   {"file", "hard", true},      {"soft", "hard", true},
                 {"file", "other", false},   {"file", "new", false},      {"new", "./new", true},
                 {"new", "here/new", true},  {"hanging", "new", true},    {"new", "newer", false},
                 {"no/new", "no/new", true}, {"no/new", "other/n", false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        ck_assert_msg(same_target(arena, in_folder(cases[i].a), in_folder(cases[i].b)) == cases[i].same, "%s, %s",
                      cases[i].a, cases[i].b);
}
END_TEST

/* ---- inputs of a library's caller ---- */

static odlc_status commit_new(struct diags *own, const char *name)
{
    struct out_file *out;
    ck_assert_int_eq(out_create(arena, own, in_folder(name), &out), ODLC_OK);
    ck_assert_int_eq(out_write(out, "new", 3), ODLC_OK);
    return out_commit(out);
}

START_TEST(changed_inputs_stop_outputs)
{
    struct diags others;
    diags_init(&others, arena);
    map_new("input");
    ck_assert_int_eq(commit_new(&diags, "before"), ODLC_OK);
    ck_assert_int_eq(truncate(in_folder("input"), 10), 0);
    ck_assert_int_eq(commit_new(&others, "others"), ODLC_OK); /* it is no input of that work */
    ck_assert_int_eq(commit_new(&diags, "after"), ODLC_ERR_IO);
    ck_assert_uint_eq(diags.errors, 1);
    ck_assert_str_eq(diags.list.data[0].code, "file-changed");
    ck_assert_str_eq(diags.list.data[0].file, in_folder("input"));
    ck_assert_str_eq(diags.list.data[0].message, "the file became shorter while it was read");
    ck_assert_int_eq(access(in_folder("before"), F_OK), 0);
    ck_assert_int_ne(access(in_folder("after"), F_OK), 0);
}
END_TEST

START_TEST(grown_and_rewritten_inputs_are_noticed)
{
    struct file *file = map_new("input");
    ck_assert_int_eq(fault_check_inputs(&diags), ODLC_OK);
    ck_assert_int_eq(truncate(in_folder("input"), SIZE + 1), 0);
    ck_assert_int_eq(fault_check_inputs(&diags), ODLC_ERR_IO);
    ck_assert_str_eq(diags.list.data[0].message, "the file changed while it was read");
    file = map_new("again");
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1}};
    ck_assert_int_eq(futimens(file->fd, times), 0);
    ck_assert_int_eq(fault_check_inputs(&diags), ODLC_ERR_IO);
    ck_assert_uint_eq(diags.errors, 3); /* the first one again, then the other */
    ck_assert_str_eq(diags.list.data[2].file, in_folder("again"));
}
END_TEST

/* Who has a container open may write it anew. */
START_TEST(callers_may_replace_what_they_read)
{
    map_new("input");
    ck_assert_int_eq(commit_new(&diags, "input"), ODLC_OK);
    ck_assert_int_eq(fault_check_inputs(&diags), ODLC_OK);
}
END_TEST

START_TEST(files_are_forgotten)
{
    struct arena_mark mark = arena_mark(arena);
    map_new("one");
    struct diags *kept = &diags;
    ck_assert_int_eq(truncate(in_folder("one"), 1), 0);
    arena_rewind(arena, mark);
    diags_init(kept, arena);
    ck_assert_int_eq(fault_check_inputs(kept), ODLC_OK);
}
END_TEST

/* ---- guarded processes: each test is one of its own ---- */

START_TEST(shorter_files_read_as_zeros)
{
    fault_guard_process();
    struct file *file = map_new("input"), *whole = map_new("whole");
    ck_assert_int_eq(truncate(in_folder("input"), SIZE / 2), 0);
    volatile const uint8_t *bytes = file->data;
    ck_assert_uint_eq(bytes[SIZE / 2 - 1], 'x');
    ck_assert_uint_eq(bytes[SIZE - 1], 0);
    ck_assert_uint_eq(bytes[SIZE / 2], 0);
    ck_assert_uint_eq(whole->data[SIZE - 1], 'x');
    ck_assert_int_eq(fault_check_inputs(&diags), ODLC_ERR_IO);
    ck_assert_uint_eq(diags.errors, 1);
    ck_assert_str_eq(diags.list.data[0].message, "the file became shorter while it was read");
    /* It has its length again, but what was read is not what is there. */
    ck_assert_int_eq(truncate(in_folder("input"), SIZE), 0);
    ck_assert_int_eq(fault_check_inputs(&diags), ODLC_ERR_IO);
}
END_TEST

static void *sum_bytes(void *object)
{
    volatile const uint8_t *bytes = object;
    size_t sum = 0;
    for (size_t i = SIZE; i > 0; i--)
        sum += bytes[i - 1] == 'x';
    return (void *)sum;
}

START_TEST(any_thread_may_read_zeros)
{
    fault_guard_process();
    struct file *file = map_new("input");
    pthread_t threads[THREADS];
    ck_assert_int_eq(truncate(in_folder("input"), 0), 0);
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, sum_bytes, (void *)(uintptr_t)file->data), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *sum;
        ck_assert_int_eq(pthread_join(threads[i], &sum), 0);
        ck_assert_ptr_null(sum);
    }
    ck_assert_int_eq(fault_check_inputs(&diags), ODLC_ERR_IO);
}
END_TEST

/* How a child that does this ends. */
static int end_of(void (*act)(void))
{
    int status;
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        fault_guard_process();
        act();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

static void touch_foreign_mapping(void)
{
    int fd = open(in_folder("foreign"), O_RDWR | O_CREAT, 0600);
    volatile char *bytes = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0); /* of an empty file */
    (void)bytes[0];
}

static void send_bus(void)
{
    raise(SIGBUS);
}

static void leave_scratch(void)
{
    write_file(in_folder("x.part"), 'x', 1);
    write_file(in_folder("y.part"), 'x', 1);
    const char *x = in_folder("x.part"), *y = in_folder("y.part");
    fault_remember_scratch(x);
    fault_remember_scratch(y);
    fault_forget_scratch(y);
    raise(SIGTERM);
}

START_TEST(other_faults_end_the_process)
{
    /* A sanitizer's handler ends it in its own way. */
    int ends[] = {end_of(touch_foreign_mapping), end_of(send_bus)};
    for (size_t i = 0; i < COUNT_OF(ends); i++)
        ck_assert(WIFSIGNALED(ends[i]) ? WTERMSIG(ends[i]) == SIGBUS : WEXITSTATUS(ends[i]) != 0);
}
END_TEST

START_TEST(signals_remove_temporary_files)
{
    int end = end_of(leave_scratch);
    ck_assert(WIFSIGNALED(end));
    ck_assert_int_eq(WTERMSIG(end), SIGTERM);
    ck_assert_int_ne(access(in_folder("x.part"), F_OK), 0);
    ck_assert_int_eq(access(in_folder("y.part"), F_OK), 0); /* forgotten */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fault");
    TCase *t = tcase_create("fault");
    tcase_add_checked_fixture(t, start, stop);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, scratch_names_are_short_enough);
    tcase_add_test(t, links_are_followed);
    tcase_add_test(t, targets_are_compared);
    tcase_add_test(t, changed_inputs_stop_outputs);
    tcase_add_test(t, grown_and_rewritten_inputs_are_noticed);
    tcase_add_test(t, callers_may_replace_what_they_read);
    tcase_add_test(t, files_are_forgotten);
    tcase_add_test(t, shorter_files_read_as_zeros);
    tcase_add_test(t, any_thread_may_read_zeros);
    tcase_add_test(t, other_faults_end_the_process);
    tcase_add_test(t, signals_remove_temporary_files);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
