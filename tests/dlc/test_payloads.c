/* SPDX-License-Identifier: Apache-2.0 */
/* Large payloads: the same bytes for any number of threads, and errors that do not depend on chance. */
#include <signal.h>
#include <sys/resource.h>

#include "dlc_fixture.h"

enum { CONSTANTS = 12, NOISE = 8 << 20 };

/* A file of made-up bytes, mapped. */
static struct file *noise_file(const char *name)
{
    uint32_t *words = arena_alloc(arena, NOISE);
    struct file *file;
    for (uint32_t i = 0; i < NOISE / 4; i++)
        words[i] = i * 2654435761u;
    write_all(in_folder(name), words, NOISE);
    ck_status_ok(file_map(arena, &diags, in_folder(name), &file));
    return file;
}

static tensor_id add_mapped(struct graph *g, const char *name, const struct file *file, uint64_t offset,
                            enum dtype dtype, const struct shape *shape, const struct perm *perm)
{
    struct view view = view_of(file->data + offset, dtype, shape);
    view.file = file;
    view_permute(&view, perm);
    return graph_add_constant(g, name, dtype, &view);
}

/* Constants for all kinds of work: handed on as they are, permuted from the mapping, permuted and too large for that,
 * tiny, repeated. 26 MB. */
static uint32_t add_constants(struct graph *g, const struct file *file, tensor_id *ids)
{
    static const struct {
        struct shape shape;
        struct perm perm;
        enum dtype dtype;
    } kinds[] = {
        {{1, {1000003}}, {1, {0}}, DT_UINT32},        {{4, {256, 200, 3, 3}}, {4, {2, 3, 1, 0}}, DT_FLOAT32},
        {{2, {1500, 1000}}, {2, {1, 0}}, DT_FLOAT32}, {{1, {3}}, {1, {0}}, DT_INT8},
        {{2, {350, 450}}, {2, {1, 0}}, DT_INT16},     {{2, {700, 90}}, {2, {0, 1}}, DT_UINT8},
    };
    for (uint32_t i = 0; i < CONSTANTS; i++) {
        size_t k = i % COUNT_OF(kinds);
        ids[i] = add_mapped(g, arena_printf(arena, "big%u", i), file, 3 + 1000 * i, kinds[k].dtype, &kinds[k].shape,
                            &kinds[k].perm);
    }
    struct view splat = view_splat_int(arena, DT_INT64, &SHAPE(70000), -5);
    ids[CONSTANTS] = graph_add_constant(g, "splat", DT_INT32, &splat);
    return CONSTANTS + 1;
}

static struct graph *graph_of(struct graph *g, tensor_id *constants, uint32_t count)
{
    struct type type = {DT_FLOAT32, SHAPE(1, 2, 3)};
    tensor_id inputs[CONSTANTS + 8], z;
    inputs[0] = graph_add_tensor(g, "x", TENSOR_INPUT, &type);
    memcpy(inputs + 1, constants, count * sizeof *constants);
    vec_push(arena, &g->inputs, inputs[0]);
    z = graph_add_tensor(g, "z", TENSOR_OUTPUT, &type);
    vec_push(arena, &g->order, graph_add_node(g, &blend, blend.n_params, "blend", inputs, count + 1, &z, 1));
    vec_push(arena, &g->outputs, z);
    return g;
}

static const uint8_t *written(const char *name, const struct graph *g, unsigned threads, bool netp, size_t *size)
{
    struct dlc_write_options options = {.threads = threads, .netp = netp};
    ck_status_ok(dlc_write(arena, &diags, g, in_folder(name), &options));
    return read_all(in_folder(name), size);
}

START_TEST(threads_do_not_change_a_byte)
{
    tensor_id ids[CONSTANTS + 1];
    struct graph *g = graph_create(arena, "g");
    graph_of(g, ids, add_constants(g, noise_file("noise"), ids));
    for (int netp = 0; netp < 2; netp++) {
        size_t size, other;
        const uint8_t *one = written("one.dlc", g, 1, netp, &size);
        ck_assert_uint_gt(size, 24000000);
        for (unsigned threads = 0; threads < 5; threads++) {
            const uint8_t *more = written("more.dlc", g, threads, netp, &other);
            ck_assert_uint_eq(size, other);
            ck_assert(memcmp(one, more, size) == 0);
        }
    }
}
END_TEST

START_TEST(payloads_hold_the_values)
{
    tensor_id ids[CONSTANTS + 1];
    struct graph *g = graph_create(arena, "g");
    struct dlc_file *dlc;
    graph_of(g, ids, add_constants(g, noise_file("noise"), ids));
    ck_status_ok(dlc_write(arena, &diags, g, in_folder("a.dlc"), &(struct dlc_write_options){.threads = 2}));
    ck_status_ok(dlc_read(arena, &diags, in_folder("a.dlc"), &dlc));
    ck_status_ok(dlc_verify(&diags, dlc, NULL)); /* the CRC, too */
    for (uint32_t i = 0; i <= CONSTANTS; i++) {
        const struct tensor *t = graph_tensor(g, ids[i]);
        const struct dlc_tensor *stored = dlc_tensor_find(&dlc->graphs[0], t->name);
        uint64_t size = view_size(t->view, t->type->dtype);
        ck_assert_ptr_nonnull(stored);
        ck_assert_uint_eq(view_size(stored->view, stored->dtype), size);
        ck_assert(memcmp(stored->view->bytes, view_load(arena, t->view, t->type->dtype), size) == 0);
        ck_assert_uint_eq((uintptr_t)stored->view->bytes % (size < 1024 ? 16 : 64), 0); /* weights can be mapped */
    }
}
END_TEST

START_TEST(the_first_payload_that_cannot_be_read_is_named)
{
    tensor_id ids[CONSTANTS + 8];
    struct graph *g = graph_create(arena, "g");
    struct file *shrinking = noise_file("shrinking");
    uint32_t count = add_constants(g, noise_file("noise"), ids);
    ids[count++] = add_mapped(g, "late", shrinking, 0, DT_FLOAT32, &SHAPE(1500, 1000), &PERM(1, 0));
    ids[count++] = add_mapped(g, "early", shrinking, 0, DT_FLOAT32, &SHAPE(1500, 1000), &PERM(0, 1));
    graph_of(g, ids, count);
    ck_assert_int_eq(truncate(in_folder("shrinking"), 0), 0);
    for (unsigned round = 0; round < 10; round++) {
        struct dlc_write_options options = {.threads = round % 5};
        ck_assert_int_eq(dlc_write(arena, &diags, g, in_folder("out.dlc"), &options), ODLC_ERR_IO);
        ck_assert_str_eq(last_diag()->message, "cannot read the data of tensor early");
        ck_assert_str_eq(last_diag()->file, in_folder("shrinking"));
    }
    ck_assert_int_ne(access(in_folder("out.dlc"), F_OK), 0);
}
END_TEST

START_TEST(a_write_that_fails_is_an_error)
{
    tensor_id ids[CONSTANTS + 1];
    struct graph *g = graph_create(arena, "g");
    graph_of(g, ids, add_constants(g, noise_file("noise"), ids));
    signal(SIGXFSZ, SIG_IGN);
    for (unsigned threads = 1; threads < 4; threads++) {
        struct rlimit limit = {(rlim_t)threads << 20, RLIM_INFINITY};
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        struct dlc_write_options options = {.threads = threads};
        ck_assert_int_eq(dlc_write(arena, &diags, g, in_folder("out.dlc"), &options), ODLC_ERR_IO);
        ck_assert_str_eq(last_diag()->message, "cannot write: File too large");
        ck_assert_str_eq(last_diag()->file, in_folder("out.dlc"));
    }
    ck_assert_int_ne(access(in_folder("out.dlc"), F_OK), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {threads_do_not_change_a_byte, payloads_hold_the_values,
                                  the_first_payload_that_cannot_be_read_is_named, a_write_that_fails_is_an_error};
    return run_tests("payloads", tests, COUNT_OF(tests));
}
