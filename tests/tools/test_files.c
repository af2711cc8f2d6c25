/* SPDX-License-Identifier: Apache-2.0 */
/* net-run's input lists, and the paths of its results. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/input_list.h"
#include "tools/output_dir.h"

static struct arena *arena;
static struct diags diags;
static char list_path[] = "/tmp/odlc-list-XXXXXX";

static void setup(void)
{
    arena = arena_create();
    diags_init(&diags, arena);
    memcpy(list_path + sizeof list_path - 7, "XXXXXX", 6);
    int fd = mkstemp(list_path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void teardown(void)
{
    unlink(list_path);
    arena_destroy(arena);
}

static odlc_status read_list(const char *content, size_t size, struct input_list *out)
{
    FILE *file = fopen(list_path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(content, 1, size, file), size);
    fclose(file);
    return input_list_read(arena, &diags, list_path, out);
}

static void expect_error(const char *content, uint32_t line, const char *message)
{
    struct input_list list;
    diags_init(&diags, arena);
    ck_assert_int_eq(read_list(content, strlen(content), &list), ODLC_ERR_USAGE);
    ck_assert_uint_eq(diags.list.count, 1);
    ck_assert_uint_eq(diags.list.data[0].line, line);
    ck_assert_str_eq(diags.list.data[0].message, message);
}

START_TEST(named_and_unnamed_inputs)
{
    static const char content[] = "  a.raw \r\n\n\tx:=b/c.raw  y:1:=d:=e.raw\nlast";
    struct input_list list;
    ck_assert_int_eq(read_list(content, sizeof content - 1, &list), ODLC_OK);
    ck_assert_int_eq(list.choice, LIST_ALL_OUTPUTS);
    ck_assert_uint_eq(list.inferences.count, 3);
    const struct inference *inferences = list.inferences.data;
    ck_assert_uint_eq(inferences[0].n_items, 1);
    ck_assert_ptr_null(inferences[0].items[0].name);
    ck_assert_str_eq(inferences[0].items[0].path, "a.raw");
    ck_assert_uint_eq(inferences[1].line, 3);
    ck_assert_uint_eq(inferences[1].n_items, 2);
    ck_assert_str_eq(inferences[1].items[0].name, "x");
    ck_assert_str_eq(inferences[1].items[0].path, "b/c.raw");
    ck_assert_str_eq(inferences[1].items[1].name, "y:1");
    ck_assert_str_eq(inferences[1].items[1].path, "d:=e.raw");
    ck_assert_str_eq(inferences[2].items[0].path, "last");
}
END_TEST

START_TEST(a_first_line_chooses)
{
    static const char nodes[] = "\n#conv1 conv2\na.raw\n", tensors[] = "% t:0\na.raw";
    struct input_list list;
    ck_assert_int_eq(read_list(nodes, sizeof nodes - 1, &list), ODLC_OK);
    ck_assert_int_eq(list.choice, LIST_NODES);
    ck_assert_uint_eq(list.n_chosen, 2);
    ck_assert_str_eq(list.chosen[1], "conv2");
    ck_assert_int_eq(read_list(tensors, sizeof tensors - 1, &list), ODLC_OK);
    ck_assert_int_eq(list.choice, LIST_TENSORS);
    ck_assert_uint_eq(list.n_chosen, 1);
    ck_assert_str_eq(list.chosen[0], "t:0");
}
END_TEST

START_TEST(mistakes_have_their_line)
{
    expect_error("a.raw\n:=b.raw\n", 2, "a name or path is missing in ':=b.raw'");
    expect_error("x:=\n", 1, "a name or path is missing in 'x:='");
    expect_error("\n\nx:=a b\n", 3, "which input is this for? 'b'");
    expect_error("a\n#b\n", 2, "too late to choose what is computed: '#b'");
    expect_error("#a\n%b\nc\n", 2, "too late to choose what is computed: '%b'");
    expect_error("#\na\n", 1, "no names after '#'");
    struct input_list list;
    diags_init(&diags, arena);
    ck_assert_int_eq(read_list("a\0b", 3, &list), ODLC_ERR_USAGE);
    ck_assert_str_eq(diags.list.data[0].message, "the input list is not text");
}
END_TEST

START_TEST(result_paths_stay_below_the_folder)
{
    static const struct {
        const char *tensor, *path;
    } good[] = {{"out", "dir/out.raw"}, {"/conv/out:0", "dir/conv/out:0.raw"}, {"a//b/", "dir/a/b.raw"},
                {"...", "dir/....raw"}, {"a..b/..c", "dir/a..b/..c.raw"},      {".hidden", "dir/.hidden.raw"}};
    static const char *const bad[] = {"..", "../x", "a/../b", "/..", "a/..", ".", "./a", "a/./b"};
    const char *path;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        ck_assert_int_eq(output_path(arena, &diags, "dir", good[i].tensor, ".raw", &path), ODLC_OK);
        ck_assert_str_eq(path, good[i].path);
    }
    ck_assert_int_eq(output_path(arena, &diags, "dir", "///", ".raw", &path), ODLC_ERR_INVALID);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        ck_assert_int_eq(output_path(arena, &diags, "dir", bad[i], ".raw", &path), ODLC_ERR_INVALID);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("files");
    TCase *tcase = tcase_create("files");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, named_and_unnamed_inputs);
    tcase_add_test(tcase, a_first_line_chooses);
    tcase_add_test(tcase, mistakes_have_their_line);
    tcase_add_test(tcase, result_paths_stay_below_the_folder);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
