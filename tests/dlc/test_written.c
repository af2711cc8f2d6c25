/* SPDX-License-Identifier: Apache-2.0 */
/* A container that is written over in place after it was read: what was checked of it stays as it was. */
#include "dlc_fixture.h"

#include <fcntl.h>

#include "base/file_copy.h"

/* Every byte of the file, but not its size, becomes another one. */
static void write_over(const char *path)
{
    size_t size;
    uint8_t *bytes = read_all(path, &size);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)~bytes[i];
    ck_assert_int_eq(pwrite(fd, bytes, size, 0), (ssize_t)size);
    close(fd);
}

static void add_tensor(FILE *to, const struct dlc_tensor *t)
{
    fprintf(to, "%s %s\n", t->name, shape_text(arena, t->shape));
    for (uint64_t i = 0; t->dtype == DT_STRING && t->view && i < shape_count(t->shape); i++)
        fprintf(to, " %s\n", t->view->strings[i]);
}

static void add_attrs(FILE *to, const struct dlc_attr *attrs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fprintf(to, "%s %s\n", attrs[i].name, attrs[i].kind == DLC_STRING ? attrs[i].s : "");
        if (attrs[i].kind == DLC_TENSOR)
            add_tensor(to, attrs[i].tensor);
        if (attrs[i].kind == DLC_NESTED)
            add_attrs(to, attrs[i].nested, attrs[i].n_nested);
    }
}

static void add_op(FILE *to, const struct dlc_op *op)
{
    fprintf(to, "%s %s\n", op->name, op->type);
    for (uint32_t i = 0; i < op->n_inputs; i++)
        fprintf(to, "<%s\n", op->inputs[i]);
    for (uint32_t i = 0; i < op->n_outputs; i++)
        fprintf(to, ">%s\n", op->outputs[i]);
    add_attrs(to, op->attrs, op->n_attrs);
    for (uint32_t i = 0; i < op->n_params; i++)
        add_tensor(to, &op->params[i]);
}

/* All texts and shapes of the records; weights are not among them. */
static const char *said(const struct dlc_file *dlc)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(to);
    for (uint32_t i = 0; i < dlc->n_metadata; i++)
        fprintf(to, "%s=%s\n", dlc->metadata[i].key, dlc->metadata[i].value);
    for (uint32_t i = 0; i < dlc->n_entries; i++)
        fprintf(to, "%s\n", dlc->entries[i].name);
    for (uint32_t g = 0; g < dlc->n_graphs; g++) {
        fprintf(to, "%s\n", dlc->graphs[g].name);
        for (uint32_t i = 0; i < dlc->graphs[g].n_tensors; i++)
            add_tensor(to, &dlc->graphs[g].tensors[i]);
        for (uint32_t i = 0; i < dlc->graphs[g].n_ops; i++)
            add_op(to, &dlc->graphs[g].ops[i]);
    }
    ck_assert_int_eq(fclose(to), 0);
    const char *kept = arena_strdup(arena, text);
    free(text);
    return kept;
}

static void stays(const char *path, const char *known)
{
    struct dlc_file *dlc;
    ck_status_ok(dlc_read(arena, &diags, path, &dlc));
    const char *before = said(dlc);
    ck_assert_msg(strstr(before, known) != NULL, "%s is not in %s", known, before);
    write_over(path);
    ck_assert_str_eq(said(dlc), before);
}

START_TEST(names_and_strings_stay)
{
    stays(write_sample("sample.dlc", _i != 0), "zwei Wörter");
}
END_TEST

START_TEST(every_layout_stays)
{
    static const struct {
        const char *name, *known;
    } files[] = {{"netp", "zwei Wörter"}, {"nr64", "zwei Wörter"}, {"v3", "OutputDims"}, {"v41", "c [2]"}};
    const char *root = getenv("ODLC_SOURCE_ROOT");
    size_t size;
    const uint8_t *bytes =
        read_all(arena_printf(arena, "%s/testdata/%s.dlc", root ? root : ".", files[_i].name), &size);
    write_all(in_folder("copy.dlc"), bytes, size);
    stays(in_folder("copy.dlc"), files[_i].known);
}
END_TEST

/* Pieces that are not asked for are not read; those that were are not read again. */
START_TEST(copies_are_made_of_what_is_asked_for)
{
    enum { SIZE = 100000, START = 10, FAR = 90000 };
    uint8_t bytes[SIZE];
    struct file *file;
    memset(bytes, 0x5A, sizeof bytes);
    write_all(in_folder("bytes"), bytes, sizeof bytes);
    ck_status_ok(file_map(arena, &diags, in_folder("bytes"), &file));
    struct file_copy *copy = file_copy_new(arena, file, START, SIZE - START);
    ck_assert(file_copy_need(copy, 0, 0));
    ck_assert(file_copy_need(copy, 5, 1));
    write_over(in_folder("bytes"));
    ck_assert(file_copy_need(copy, 5, 1));
    ck_assert(file_copy_need(copy, FAR, SIZE - START - FAR));
    ck_assert_uint_eq(copy->bytes[5], 0x5A);
    ck_assert_uint_eq(copy->bytes[FAR], 0xA5);
    ck_assert_uint_eq(copy->bytes[SIZE - START - 1], 0xA5);
    struct file_copy *later = file_copy_new(arena, file, 0, SIZE);
    ck_assert_int_eq(truncate(in_folder("bytes"), 50000), 0);
    ck_assert(file_copy_need(later, 0, 16));
    ck_assert(!file_copy_need(later, FAR, 1));
    ck_assert(!file_copy_need(later, FAR, 1));
    ck_assert_int_ne(later->error, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("written");
    TCase *tc = tcase_create("all");
    tcase_add_checked_fixture(tc, fixture_start, fixture_end);
    tcase_add_loop_test(tc, names_and_strings_stay, 0, 2);
    tcase_add_loop_test(tc, every_layout_stays, 0, 4);
    tcase_add_test(tc, copies_are_made_of_what_is_asked_for);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
