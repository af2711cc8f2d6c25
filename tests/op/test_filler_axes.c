/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes keep rows apart: every operator is executed with other elements at the end of an axis, and where its rule
 * says that nothing is combined, only what lies at the end of the axes that it names may differ. Rules whose answers
 * execution cannot give stand here by hand. */
#include <stdio.h>

#include "node_fixture.h"
#include "op/filler_axes.h"
#include "op/graph_text.h"

enum { ROUNDS = 4, MOST_OPERANDS = 32 };

/* Elements that every operator takes: small, and none below 0 where they may be positions. */
static void fill(struct fixture *f, struct buffer *b)
{
    uint64_t count = shape_count(&b->shape);
    double *values = arena_array(f->arena, double, count);
    for (uint64_t i = 0; i < count; i++)
        values[i] = dtype_is_float(b->dtype) ? (double)draw(f, 1, 1000) / 100 : (double)draw(f, 0, 1);
    b->data = arena_calloc(f->arena, count, dtype_size(b->dtype));
    convert_elements(b->data, b->dtype, values, DT_FLOAT64, count);
}

static bool has_other_elements(enum dtype dtype)
{
    return dtype == DT_STRING || dtype == DT_NONE || dtype_is_fixed(dtype);
}

/* The operands of a node, with storage; false when their elements cannot be drawn. */
static bool make_buffers(struct fixture *f, const struct graph *g, const struct node *n, struct buffer *in,
                         struct buffer *out)
{
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *t = node_input(g, n, i);
        in[i] = (struct buffer){.dtype = DT_NONE};
        if (!t)
            continue;
        in[i] = (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape};
        if (has_other_elements(t->type->dtype))
            return false;
        if (t->kind == TENSOR_STATIC)
            in[i].data = (void *)(uintptr_t)view_load(f->arena, t->view, t->type->dtype);
        else
            fill(f, &in[i]);
    }
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct tensor *t = node_output(g, n, i);
        if (!t || has_other_elements(t->type->dtype))
            return false;
        out[i] = (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape};
        out[i].data = arena_calloc(f->arena, shape_count(&t->type->shape), dtype_size(t->type->dtype));
    }
    return true;
}

/* The input with other elements in the last place of an axis. */
static struct buffer changed_at_end(struct fixture *f, const struct buffer *in, uint32_t axis)
{
    struct buffer other = *in;
    fill(f, &other);
    for (uint64_t i = 0; i < shape_count(&in->shape); i++) {
        int64_t at[MAX_RANK];
        size_t size = dtype_size(in->dtype);
        unravel(i, &in->shape, at);
        if (at[axis] + 1 < in->shape.dims[axis])
            memcpy((char *)other.data + i * size, (const char *)in->data + i * size, size);
    }
    return other;
}

/* Whether the element lies in the last part of one of the axes, of as many parts as the input's axis has elements. */
static bool at_end(const struct shape *shape, uint64_t i, uint8_t axes, int64_t parts)
{
    int64_t at[MAX_RANK];
    unravel(i, shape, at);
    for (uint32_t d = 0; d < shape->rank; d++)
        if ((axes >> d & 1) && at[d] * parts >= shape->dims[d] * (parts - 1))
            return true;
    return false;
}

static void compare(const struct node *n, const struct buffer *one, const struct buffer *other, uint8_t axes,
                    int64_t parts)
{
    for (uint64_t i = 0; i < shape_count(&one->shape); i++)
        ck_assert_msg(same_element(one->dtype, one->data, i, other->data, i) || at_end(&one->shape, i, axes, parts),
                      "element %llu of %s depends on filler", (unsigned long long)i, n->op->name);
}

/* Returns whether the rule says that nothing is combined. */
static bool try_axis(struct fixture *f, const struct graph *g, const struct node *n, uint32_t input, uint32_t axis)
{
    struct buffer in[MOST_OPERANDS], out[MOST_OPERANDS], again[MOST_OPERANDS];
    uint8_t masks[MOST_OPERANDS] = {0}, results[MOST_OPERANDS];
    masks[input] = (uint8_t)(1u << axis);
    if (!filler_axes(g, n, masks, results) || !make_buffers(f, g, n, in, out))
        return false;
    ck_assert(make_buffers(f, g, n, (struct buffer[MOST_OPERANDS]){{.dtype = DT_NONE}}, again));
    if (eval_node(n, in, out, f->arena, &f->diags) != ODLC_OK) /* drawn positions that the operand does not have */
        return false;
    in[input] = changed_at_end(f, &in[input], axis);
    if (eval_node(n, in, again, f->arena, &f->diags) != ODLC_OK)
        return false;
    for (uint32_t i = 0; i < n->n_outputs; i++)
        compare(n, &out[i], &again[i], results[i], in[input].shape.dims[axis]);
    return true;
}

static uint32_t try_node(struct fixture *f, const struct graph *g, const struct node *n)
{
    uint32_t tried = 0;
    ck_assert_uint_le(n->n_inputs, MOST_OPERANDS);
    ck_assert_uint_le(n->n_outputs, MOST_OPERANDS);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *t = node_input(g, n, i);
        for (uint32_t axis = 0; t && t->kind != TENSOR_STATIC && axis < t->type->shape.rank; axis++)
            for (int round = 0; t->type->shape.dims[axis] > 1 && round < ROUNDS; round++)
                tried += try_axis(f, g, n, i, axis);
    }
    return tried;
}

static const char *read_graphs(struct arena *arena)
{
    FILE *file = fopen(SOURCE_ROOT "/tests/fuzz/graphs.txt", "rb");
    ck_assert_ptr_nonnull(file);
    char *text = arena_calloc(arena, 1, 1 << 20);
    ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
    fclose(file);
    return text;
}

static struct graph *parse(struct fixture *f, const char *text)
{
    struct graph *g = NULL;
    ck_assert_msg(graph_parse(f->arena, &f->diags, op_registry_new(f->arena), text, &g) == ODLC_OK, "%s", text);
    return g;
}

START_TEST(nodes_that_keep_rows_apart_do)
{
    struct fixture *f = fixture_start(1);
    uint32_t tried = 0, graphs = 0;
    const char *text = read_graphs(f->arena), *next;
    for (text = strstr(text, "graph \""); text; text = next) {
        next = strstr(text + 1, "graph \"");
        struct graph *g = parse(f, arena_strndup(f->arena, text, next ? (size_t)(next - text) : strlen(text)));
        for (size_t i = 0; i < g->order.count; i++)
            tried += try_node(f, g, graph_node(g, g->order.data[i]));
        graphs++;
    }
    ck_assert_uint_gt(graphs, 90);
    ck_assert_uint_gt(tried, 500);
    fixture_end(f);
}
END_TEST

/* The mask of the result when input 0 has filler along the axes of the mask; -1: the node combines. */
static int follow(const char *of_type, const char *node, unsigned axes)
{
    struct fixture *f = fixture_start(1);
    uint8_t in[2] = {(uint8_t)axes, 0}, out[2];
    struct graph *g = parse(
        f, arena_printf(f->arena, "graph \"g\"\ninput \"x\" float32%s\nnode \"n\" %s\noutput \"y\"\n", of_type, node));
    const struct node *n = graph_node(g, g->order.data[0]);
    int result = filler_axes(g, n, in, out) ? out[0] : -1;
    fixture_end(f);
    return result;
}

#define RESHAPE(rank, dims) "Reshape (\"x\") {shape=[" #rank "]{" dims "}} -> \"y\" float32[" dims "]"

START_TEST(filler_stays_at_the_end_of_what_axes_become)
{
    ck_assert_int_eq(follow("[6,4]", RESHAPE(3, "1,6,4"), 1), 2);
    ck_assert_int_eq(follow("[6,1]", RESHAPE(1, "6"), 1), 1);
    ck_assert_int_eq(follow("[1,6]", RESHAPE(1, "6"), 2), 1);
    ck_assert_int_eq(follow("[6,4]", RESHAPE(1, "24"), 1), 1);
    ck_assert_int_eq(follow("[24]", RESHAPE(2, "6,4"), 1), 1);
    ck_assert_int_eq(follow("[6,4]", RESHAPE(3, "6,2,2"), 1), 1);
    ck_assert_int_eq(follow("[6,4]", RESHAPE(3, "6,2,2"), 3), 3);
    ck_assert_int_eq(follow("[2,6,4]", RESHAPE(2, "2,24"), 2), 2);
    ck_assert_int_eq(follow("[4,6]", RESHAPE(1, "24"), 2), -1);
    ck_assert_int_eq(follow("[4,6]", RESHAPE(2, "8,3"), 2), -1);
}
END_TEST

#define SLICE(ranges, dims)                      \
    "StridedSlice (\"x\") {ranges=[2,3]{" ranges \
    "}, begin_mask=0, end_mask=0, shrink_axes=0, new_axes_mask=0} -> \"y\" float32[" dims "]"

START_TEST(rows_that_may_be_counted_from_the_end_are_combined)
{
    ck_assert_int_eq(follow("[6,4]", SLICE("0, 3, 1, 0, 4, 1", "3,4"), 1), 1);
    ck_assert_int_eq(follow("[6,4]", SLICE("0, 6, 2, 1, 3, 1", "3,2"), 1), 1);
    ck_assert_int_eq(follow("[6,4]", SLICE("3, 6, 1, 0, 4, 1", "3,4"), 1), -1);
    ck_assert_int_eq(follow("[6,4]", SLICE("5, -1, -1, 0, 4, 1", "6,4"), 1), -1);
    ck_assert_int_eq(follow("[6,4]", SLICE("3, 6, 1, 0, 4, 1", "3,4"), 2), 2);
}
END_TEST

START_TEST(what_finds_has_filler_itself)
{
    ck_assert_int_eq(follow("[6,4]", "NonZero (\"x\") -> \"y\" int32[24,2]", 0), 1);
    ck_assert_int_eq(follow("[6,4]", "NonZero (\"x\") -> \"y\" int32[24,2]", 1), -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("filler_axes");
    TCase *tests = tcase_create("filler_axes");
    tcase_add_test(tests, nodes_that_keep_rows_apart_do);
    tcase_add_test(tests, filler_stays_at_the_end_of_what_axes_become);
    tcase_add_test(tests, rows_that_may_be_counted_from_the_end_are_combined);
    tcase_add_test(tests, what_finds_has_filler_itself);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
