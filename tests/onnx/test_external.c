/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors in files beside the model, and locations that must not be followed. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "converters/frontend/model_folder.h"
#include "onnx_model.h"

/* A folder with a secret in it, and below it the model's folder. */
static char *outside, *folder;

static const float weights[] = {1.0f, 2.0f, 3.0f, 4.0f};

static const char *in_folder(const char *name)
{
    return arena_printf(arena, "%s/%s", folder, name);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

static void make_folders(void)
{
    setup();
    const char *base = getenv("TMPDIR");
    outside = arena_printf(arena, "%s/odlc-external-XXXXXX", base ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(outside));
    folder = arena_printf(arena, "%s/model", outside);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    ck_assert_int_eq(mkdir(in_folder("data"), 0700), 0);
    write_file(arena_printf(arena, "%s/secret", outside), weights, sizeof weights);
    write_file(in_folder("w.bin"), weights, sizeof weights);
    write_file(in_folder("data/w.bin"), weights, sizeof weights);
    ck_assert_int_eq(symlink("w.bin", in_folder("inside")), 0);
    ck_assert_int_eq(symlink("../secret", in_folder("climbing")), 0);
    ck_assert_int_eq(symlink("..", in_folder("up")), 0);
    ck_assert_int_eq(symlink("/etc/passwd", in_folder("absolute")), 0);
    ck_assert_int_eq(symlink("circle", in_folder("circle")), 0);
    ck_assert_int_eq(mkfifo(in_folder("fifo"), 0600), 0);
}

static void remove_folders(void)
{
    static const char *const names[] = {
        "model/w.bin",  "model/data/w.bin", "model/inside", "model/climbing", "model/absolute",
        "model/circle", "model/fifo",       "model/up",     "model/m.onnx",   "secret"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        unlink(arena_printf(arena, "%s/%s", outside, names[i]));
    rmdir(in_folder("data"));
    rmdir(folder);
    rmdir(outside);
    teardown();
}

/* A tensor of elements floats; entries are pairs of key and value, NULL at the end. */
static struct pb external_tensor(const char *name, int64_t elements, const char *const *entries)
{
    struct pb t = tensor(name, 1, DIMS(elements));
    for (; *entries; entries += 2) {
        struct pb e = {0};
        pb_text(&e, 1, entries[0]);
        pb_text(&e, 2, entries[1]);
        pb_add(&t, 13, e);
    }
    pb_int(&t, 14, 1);
    return t;
}

#define ENTRIES(...) ((const char *const[]){__VA_ARGS__, NULL})

static odlc_status load_with(struct pb t, struct fw_model **out)
{
    struct pb g = graph_x_to_y();
    pb_add(&g, 5, t);
    pb_add(&g, 1, node("Relu", "x", "y"));
    struct pb m = model(g);
    const char *path = in_folder("m.onnx");
    write_file(path, m.bytes.data, m.bytes.count);
    return onnx_load(&memory, &diags, &(struct fw_load_options){.input = path}, out);
}

static const struct view *loads(struct pb t)
{
    struct fw_model *out;
    ck_assert_int_eq(load_with(t, &out), ODLC_OK);
    return &out->graph.initializers.data[0].view;
}

static void refused(const char *location, const char *code, const char *part)
{
    struct fw_model *out;
    size_t before = diags.list.count;
    ck_assert_int_ne(load_with(external_tensor("w", 4, ENTRIES("location", location)), &out), ODLC_OK);
    ck_assert_uint_eq(diags.list.count, before + 1);
    ck_assert_str_eq(diags.list.data[before].code, code);
    ck_assert_msg(strstr(diags.list.data[before].message, part), "%s", diags.list.data[before].message);
}

START_TEST(test_ranges)
{
    const struct view *v = loads(external_tensor("w", 4, ENTRIES("location", "w.bin")));
    ck_assert_mem_eq(v->bytes, weights, sizeof weights);
    ck_assert_ptr_nonnull(v->file);
    ck_assert_ptr_eq(v->bytes, v->file->data);
    v = loads(external_tensor("w", 2, ENTRIES("location", "./data//w.bin", "offset", "4", "length", "8")));
    ck_assert_mem_eq(v->bytes, &weights[1], 8);
    v = loads(external_tensor("w", 4, ENTRIES("location", "inside")));
    ck_assert_mem_eq(v->bytes, weights, sizeof weights);
    v = loads(external_tensor("w", 0, ENTRIES("location", "w.bin", "offset", "16", "length", "0")));
    ck_assert_int_eq(v->shape.dims[0], 0);
}
END_TEST

START_TEST(test_one_mapping)
{
    struct pb g = graph_x_to_y();
    pb_add(&g, 5, external_tensor("a", 2, ENTRIES("location", "w.bin")));
    pb_add(&g, 5, external_tensor("b", 2, ENTRIES("location", "./w.bin", "offset", "8")));
    pb_add(&g, 1, node("Relu", "x", "y"));
    struct pb m = model(g);
    write_file(in_folder("m.onnx"), m.bytes.data, m.bytes.count);
    struct fw_model *out;
    ck_assert_int_eq(onnx_load(&memory, &diags, &(struct fw_load_options){.input = in_folder("m.onnx")}, &out),
                     ODLC_OK);
    const struct view *a = &out->graph.initializers.data[0].view, *b = &out->graph.initializers.data[1].view;
    ck_assert_ptr_eq(a->file, b->file);
    ck_assert_ptr_eq(a->bytes + 8, b->bytes);
}
END_TEST

/* A path without a folder means the working directory. */
START_TEST(test_bare_path)
{
    loads(external_tensor("w", 4, ENTRIES("location", "w.bin")));
    ck_assert_int_eq(chdir(folder), 0);
    struct fw_model *out;
    ck_assert_int_eq(onnx_load(&memory, &diags, &(struct fw_load_options){.input = "m.onnx"}, &out), ODLC_OK);
    ck_assert_mem_eq(out->graph.initializers.data[0].view.bytes, weights, sizeof weights);
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(test_refused_paths)
{
    const char *leads_out = "leads out of the model's folder";
    refused("../secret", "onnx-external-path", leads_out);
    refused("data/../w.bin", "onnx-external-path", leads_out);
    refused("/etc/passwd", "onnx-external-path", leads_out);
    refused(in_folder("w.bin"), "onnx-external-path", leads_out);
    refused("climbing", "onnx-external-path", leads_out);
    refused("up/secret", "onnx-external-path", leads_out);
    refused("absolute", "onnx-external-path", leads_out);
    refused("circle", "onnx-external-path", leads_out);
    refused("", "onnx-external-path", leads_out);
    refused(".", "onnx-external-path", leads_out);
    refused("missing.bin", "onnx-external", "No such file or directory");
    refused("fifo", "not-a-file", "not a regular file");
    refused("data", "not-a-file", "not a regular file");
}
END_TEST

START_TEST(test_refused_ranges)
{
    static const struct {
        const char *entries[7];
        const char *code, *part;
    } cases[] = {
        {{"location", "w.bin", "offset", "4"}, "onnx-external-range", "ends at byte 16, before offset 4 + 16 bytes"},
        {{"location", "w.bin", "offset", "18446744073709551615"}, "onnx-external-range", "ends at byte 16"},
        {{"location", "w.bin", "offset", "18446744073709551616"}, "onnx-external", "is no byte count"},
        {{"location", "w.bin", "offset", "-1"}, "onnx-external", "has the offset '-1'"},
        {{"location", "w.bin", "length", "15"}, "onnx-tensor-size", "has 15 bytes for a tensor that needs 16"},
        {{"location", "w.bin", "length", ""}, "onnx-external", "has the length ''"},
        {{"offset", "0"}, "onnx-external", "has no location"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fw_model *out;
        ck_assert_int_eq(load_with(external_tensor("w", 4, cases[i].entries), &out), ODLC_ERR_INVALID);
        ck_assert_uint_eq(diags.list.count, i + 1);
        ck_assert_str_eq(diags.list.data[i].code, cases[i].code);
        ck_assert_msg(strstr(diags.list.data[i].message, cases[i].part), "%s", diags.list.data[i].message);
    }
}
END_TEST

/* Both ways of opening: the system's own, and the one for systems that lack it, which follows no links. */
START_TEST(test_open_beneath)
{
    int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int (*const ways[])(int, const char *) = {open_beneath, open_beneath_stepwise};
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        int fd = ways[i](at, "data/w.bin");
        ck_assert_int_ge(fd, 0);
        close(fd);
        ck_assert_int_lt(ways[i](at, "climbing"), 0);
        ck_assert(errno == EXDEV || errno == ELOOP);
        ck_assert_int_lt(ways[i](at, "up/secret"), 0);
        ck_assert_int_lt(ways[i](at, "w.bin/x"), 0);
        ck_assert_int_lt(ways[i](at, "data/missing"), 0);
        ck_assert_int_eq(errno, ENOENT);
    }
    ck_assert_int_lt(open_beneath_stepwise(at, "inside"), 0);
    ck_assert_int_eq(errno, ELOOP);
    close(at);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx external data");
    TCase *tests = tcase_create("files");
    tcase_add_checked_fixture(tests, make_folders, remove_folders);
    tcase_add_test(tests, test_ranges);
    tcase_add_test(tests, test_one_mapping);
    tcase_add_test(tests, test_bare_path);
    tcase_add_test(tests, test_refused_paths);
    tcase_add_test(tests, test_refused_ranges);
    tcase_add_test(tests, test_open_beneath);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
