/* SPDX-License-Identifier: Apache-2.0 */
/* Containers whose bytes are read where they are asked for say what mapped ones say. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/stored.h"
#include "ir/nibbles.h"
#include "opendlc/diff.h"

static const char *const examples[] = {"netp", "nr64", "v3", "v41"};

struct counted_file {
    int fd;
    uint64_t bytes;  /* read so far */
    uint64_t broken; /* from here on bytes cannot be read */
};

static int read_counted(void *user, uint64_t offset, void *bytes, size_t size)
{
    struct counted_file *file = user;
    file->bytes += size;
    if (offset + size > file->broken)
        return EIO;
    return pread(file->fd, bytes, size, (off_t)offset) == (ssize_t)size ? 0 : EFAULT;
}

static const char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, SOURCE_ROOT "/testdata/%s.dlc", name);
    return path;
}

static odlc_container *open_mapped(const char *name)
{
    odlc_container *c = odlc_container_new();
    ck_assert_int_eq(odlc_container_open(c, path_of(name)), ODLC_OK);
    return c;
}

static struct file_source source_of(struct counted_file *file, const char *name)
{
    *file = (struct counted_file){.fd = open(path_of(name), O_RDONLY | O_CLOEXEC), .broken = UINT64_MAX};
    ck_assert_int_ge(file->fd, 0);
    return (struct file_source){
        .size = (uint64_t)lseek(file->fd, 0, SEEK_END), .read = read_counted, .user = file, .room = 1 << 20};
}

static void same_tensor(const struct odlc_tensor *a, const struct odlc_tensor *b)
{
    ck_assert_str_eq(a->name, b->name);
    ck_assert_int_eq(odlc_tensor_readable(a), odlc_tensor_readable(b));
    ck_assert_uint_eq(a->data_size, b->data_size);
    if (!odlc_tensor_readable(a))
        return;
    for (uint64_t i = 0; i < a->count; i++) {
        double x, y;
        if (a->element == ODLC_CLASS_STRING) {
            ck_assert_str_eq(odlc_tensor_string(a, i), odlc_tensor_string(b, i));
            continue;
        }
        odlc_tensor_reals(a, i, 1, &x);
        odlc_tensor_reals(b, i, 1, &y);
        ck_assert_mem_eq(&x, &y, sizeof x);
    }
}

static void same_graph(const struct odlc_graph *a, const struct odlc_graph *b)
{
    ck_assert_uint_eq(a->n_tensors, b->n_tensors);
    ck_assert_uint_eq(a->n_ops, b->n_ops);
    ck_assert_uint_eq(a->parameters, b->parameters);
    ck_assert_uint_eq(a->memory, b->memory);
    for (size_t i = 0; i < a->n_tensors; i++)
        same_tensor(&a->tensors[i], &b->tensors[i]);
    for (size_t i = 0; i < a->n_ops; i++) {
        const struct odlc_op *p = &a->ops[i], *q = &b->ops[i];
        ck_assert_uint_eq(p->n_params, q->n_params);
        for (size_t k = 0; k < p->n_params; k++)
            same_tensor(&p->params[k], &q->params[k]);
        for (size_t k = 0; k < p->n_attributes; k++)
            if (p->attributes[k].kind == ODLC_VALUE_TENSOR)
                same_tensor(p->attributes[k].tensor, q->attributes[k].tensor);
    }
}

START_TEST(reads_as_mapped)
{
    struct counted_file file;
    struct file_source source = source_of(&file, examples[_i]);
    odlc_container *mapped = open_mapped(examples[_i]), *c = odlc_container_new();
    ck_assert_int_eq(container_open_source(c, "a.dlc", &source), ODLC_OK);
    ck_assert_str_eq(odlc_container_summary(c)->path, "a.dlc");
    size_t n, m;
    const struct odlc_graph *a = odlc_container_graphs(mapped, &n), *b = odlc_container_graphs(c, &m);
    ck_assert_uint_eq(n, m);
    for (size_t i = 0; i < n; i++)
        same_graph(&a[i], &b[i]);
    ck_assert_int_eq(source.error, 0);
    odlc_diff *diff;
    ck_assert_int_eq(odlc_diff_new(mapped, c, NULL, &diff), ODLC_OK);
    ck_assert(odlc_diff_same(diff));
    odlc_diff_free(diff);
    odlc_container_free(c);
    odlc_container_free(mapped);
    close(file.fd);
}
END_TEST

/* Tables that do not fit say so; those that could not be read are an error. */
START_TEST(small_rooms_and_broken_files)
{
    struct counted_file file;
    struct file_source source = source_of(&file, "nr64");
    source.room = 64;
    odlc_container *c = odlc_container_new();
    ck_assert_int_eq(container_open_source(c, "a.dlc", &source), ODLC_ERR_IO);
    ck_assert(source.needs_room);
    odlc_container_free(c);
    source.room = 1 << 20;
    source.needs_room = false;
    file.broken = 200;
    c = odlc_container_new();
    ck_assert_int_eq(container_open_source(c, "a.dlc", &source), ODLC_ERR_IO);
    ck_assert_int_eq(source.error, EIO);
    ck_assert(!source.needs_room);
    odlc_container_free(c);
    close(file.fd);
}
END_TEST

/* A constant that cannot be read any more is zeros, and the source says so. */
START_TEST(late_failures_are_told)
{
    struct counted_file file;
    struct file_source source = source_of(&file, "nr64");
    odlc_container *c = odlc_container_new();
    ck_assert_int_eq(container_open_source(c, "a.dlc", &source), ODLC_OK);
    size_t n;
    const struct odlc_graph *g = odlc_container_graphs(c, &n);
    const struct odlc_tensor *t = odlc_container_find_tensor(c, g, "table"); /* 1.5, 4, -2, … */
    ck_assert(odlc_tensor_double(t, 0) == 1.5);
    ck_assert_ptr_null(t->data);
    file.broken = 0;
    ck_assert(odlc_tensor_double(t, 0) == 0);
    ck_assert_int_eq(source.error, EIO);
    odlc_container_free(c);
    close(file.fd);
}
END_TEST

static int read_memory(void *user, uint64_t offset, void *bytes, size_t size)
{
    memcpy(bytes, (const uint8_t *)user + offset, size);
    return 0;
}

/* Every piece of packed elements is what unpacking all of them gives there. */
START_TEST(pieces_of_nibbles)
{
    enum { ROWS = 3, COLUMNS = 7, COUNT = ROWS * COLUMNS };
    const bool by_row = _i & 1, is_signed = _i & 2;
    uint8_t elements[COUNT], packed[64] = {0xA5}, all[COUNT], piece[COUNT];
    const struct shape shape = SHAPE(ROWS, COLUMNS);
    for (unsigned i = 0; i < COUNT; i++)
        elements[i] = (uint8_t)(i * 11 & 15);
    nibbles_pack(packed + 1, elements, &shape, by_row);
    nibbles_unpack(all, packed + 1, &shape, by_row, is_signed);
    struct file_source source = {.size = sizeof packed, .read = read_memory, .user = packed};
    struct arena *arena = arena_create();
    const struct file *file = file_of_source(arena, "a.dlc", &source);
    for (uint64_t first = 0; first < COUNT; first++)
        for (uint64_t count = 1; count <= COUNT - first; count++) {
            ck_assert_int_eq(nibbles_read(file, 1, &shape, by_row, is_signed, first, count, piece), 0);
            ck_assert_mem_eq(piece, all + first, count);
        }
    arena_destroy(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source");
    TCase *tc = tcase_create("source");
    tcase_add_loop_test(tc, reads_as_mapped, 0, 4);
    tcase_add_test(tc, small_rooms_and_broken_files);
    tcase_add_test(tc, late_failures_are_told);
    tcase_add_loop_test(tc, pieces_of_nibbles, 0, 4);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
