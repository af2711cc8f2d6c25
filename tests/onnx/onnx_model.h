/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the ONNX decoder: writes models byte by byte with a protobuf writer of its own, loads them, and looks at
 * what was reported. Field numbers are those of the ONNX specification. */
#ifndef TESTS_ONNX_MODEL_H
#define TESTS_ONNX_MODEL_H

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "converters/onnx/decode/onnx_load.h"

/* A message being written. */
struct pb {
    text bytes;
};

/* What every test has: set up before and taken down after it. */
static struct arena *arena;
static struct fw_memory memory;
static struct diags diags;

static inline void setup(void)
{
    arena = arena_create();
    memory = (struct fw_memory){.kept = arena, .graph = arena_create(), .scratch = arena_create()};
    diags_init(&diags, arena);
}

static inline void teardown(void)
{
    arena_destroy(memory.scratch);
    arena_destroy(memory.graph);
    arena_destroy(arena);
}

/* ---- writing ---- */

static inline void pb_varint(struct pb *p, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        text_add_bytes(arena, &p->bytes, &(char){(char)(value | 0x80)}, 1);
    text_add_bytes(arena, &p->bytes, &(char){(char)value}, 1);
}

static inline void pb_int(struct pb *p, uint32_t field, int64_t value)
{
    pb_varint(p, field << 3);
    pb_varint(p, (uint64_t)value);
}

static inline void pb_fixed(struct pb *p, uint32_t field, const void *bytes, unsigned size)
{
    pb_varint(p, field << 3 | (size == 4 ? 5 : 1));
    text_add_bytes(arena, &p->bytes, bytes, size);
}

static inline void pb_blob(struct pb *p, uint32_t field, const void *bytes, size_t size)
{
    pb_varint(p, field << 3 | 2);
    pb_varint(p, size);
    text_add_bytes(arena, &p->bytes, bytes, size);
}

static inline void pb_text(struct pb *p, uint32_t field, const char *s)
{
    pb_blob(p, field, s, strlen(s));
}

static inline void pb_add(struct pb *p, uint32_t field, struct pb child)
{
    pb_blob(p, field, child.bytes.count ? child.bytes.data : "", child.bytes.count);
}

/* Each word of a list separated by blanks; "-" is the empty name. */
static inline void pb_words(struct pb *p, uint32_t field, const char *words)
{
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        pb_blob(p, field, at, length == 1 && *at == '-' ? 0 : length);
        at += length;
    }
}

static inline struct pb node(const char *op, const char *inputs, const char *outputs)
{
    struct pb n = {0};
    pb_words(&n, 1, inputs);
    pb_words(&n, 2, outputs);
    pb_text(&n, 4, op);
    return n;
}

/* An attribute without value. */
static inline struct pb attribute(const char *name, int64_t type)
{
    struct pb a = {0};
    pb_text(&a, 1, name);
    pb_int(&a, 20, type);
    return a;
}

/* An initializer or value without elements. */
static inline struct pb tensor(const char *name, int64_t type, size_t rank, const int64_t *dims)
{
    struct pb t = {0};
    for (size_t i = 0; i < rank; i++)
        pb_int(&t, 1, dims[i]);
    pb_int(&t, 2, type);
    pb_text(&t, 8, name);
    return t;
}

#define DIMS(...)                                                           \
    (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) \
    {                                                                       \
        __VA_ARGS__                                                         \
    }

static inline struct pb value(const char *name, int64_t type, size_t rank, const int64_t *dims)
{
    struct pb shape = {0}, tensor_type = {0}, any = {0}, v = {0};
    for (size_t i = 0; i < rank; i++) {
        struct pb dim = {0};
        pb_int(&dim, 1, dims[i]);
        pb_add(&shape, 1, dim);
    }
    pb_int(&tensor_type, 1, type);
    pb_add(&tensor_type, 2, shape);
    pb_add(&any, 1, tensor_type);
    pb_text(&v, 1, name);
    pb_add(&v, 2, any);
    return v;
}

/* A graph that reads x [2] and gives y; its nodes are still to be added. */
static inline struct pb graph_x_to_y(void)
{
    struct pb g = {0};
    pb_text(&g, 2, "g");
    pb_add(&g, 11, value("x", 1, DIMS(2)));
    pb_add(&g, 12, value("y", 1, DIMS(2)));
    return g;
}

static inline void import_opset(struct pb *p, uint32_t field, const char *domain, int64_t version)
{
    struct pb import = {0};
    pb_text(&import, 1, domain);
    pb_int(&import, 2, version);
    pb_add(p, field, import);
}

/* IR version 8, opset 13. */
static inline struct pb model(struct pb graph)
{
    struct pb m = {0};
    pb_int(&m, 1, 8);
    pb_add(&m, 7, graph);
    import_opset(&m, 8, "", 13);
    return m;
}

/* ---- loading ---- */

static inline struct file *file_of(const void *bytes, size_t size)
{
    int fd = memfd_create("model", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    struct file *file;
    ck_assert_int_eq(file_map_fd(arena, &diags, "model.onnx", fd, &file), ODLC_OK);
    return file;
}

static inline odlc_status load(struct pb m, struct fw_model **out)
{
    return onnx_load_file(&memory, &diags, file_of(m.bytes.data, m.bytes.count), NULL, out);
}

static inline struct fw_model *load_ok(struct pb m)
{
    struct fw_model *out = NULL;
    odlc_status status = load(m, &out);
    const char *said = diags.errors ? diags.list.data[diags.list.count - 1].message : "";
    ck_assert_msg(status == ODLC_OK, "%s", said);
    return out;
}

/* The load must fail with status and exactly one error, of that code, whose message has that part. */
static inline const struct odlc_diag *load_fails(struct pb m, odlc_status status, const char *code, const char *part)
{
    struct fw_model *out = NULL;
    size_t first = diags.list.count;
    ck_assert_int_eq(load(m, &out), status);
    ck_assert_ptr_null(out);
    const struct odlc_diag *found = NULL;
    for (size_t i = first; i < diags.list.count; i++) {
        if (diags.list.data[i].severity != ODLC_ERROR)
            continue;
        ck_assert_msg(!found, "a second error: %s", diags.list.data[i].message);
        found = &diags.list.data[i];
    }
    ck_assert_ptr_nonnull(found);
    ck_assert_str_eq(found->code, code);
    ck_assert_msg(strstr(found->message, part), "'%s' is not in '%s'", part, found->message);
    ck_assert_str_eq(found->file, "model.onnx");
    return found;
}

static inline int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* A case of a suite, with the set-up above and its tests. */
static inline void add_case(Suite *suite, const char *name, const TTest *const *tests, size_t count)
{
    TCase *tests_of = tcase_create(name);
    tcase_add_checked_fixture(tests_of, setup, teardown);
    tcase_set_timeout(tests_of, 120);
    for (size_t i = 0; i < count; i++)
        tcase_add_test(tests_of, tests[i]);
    suite_add_tcase(suite, tests_of);
}

#define ADD_CASE(suite, name, ...)                                 \
    add_case((suite), (name), (const TTest *const[]){__VA_ARGS__}, \
             sizeof((const TTest *const[]){__VA_ARGS__}) / sizeof(const TTest *))

#endif
