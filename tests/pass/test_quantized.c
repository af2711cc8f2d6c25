/* SPDX-License-Identifier: Apache-2.0 */
/* Quantized tensors with an encoding for each index of an axis: what the passes do to nodes around them, by numbers. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "ir/quant.h"
#include "build/build.h"
#include "pass/pass.h"
#include "tests/support/reference_only.h"

enum { ROWS = 2, COLUMNS = 3, DEPTH = 4, COUNT = ROWS * COLUMNS * DEPTH };

static struct arena *arena, *scratch;
static struct diags diags;
static struct build b;
static const double scale[COLUMNS] = {0.5, 2, 16}, zero[COLUMNS] = {0, 3, 7};

static void start(void)
{
    arena = arena_create();
    scratch = arena_create();
    diags_init(&diags, arena);
    build_init(&b, graph_create(arena, "g"), &diags);
}

static void stop(void)
{
    arena_destroy(scratch);
    arena_destroy(arena);
}

/* Element i of the input, which no multiple of a scale is, and what is left of it when it was quantized. */
static double given(int i)
{
    return 1.3 * i - 4;
}

static double rounded(int i)
{
    int k = i / DEPTH % COLUMNS;
    double q = rint((double)((float)given(i) / (float)scale[k])) + zero[k];
    return (fmin(fmax(q, 0), 255) - zero[k]) * scale[k];
}

static tensor_id input(void)
{
    const struct type real = {DT_FLOAT32, SHAPE(ROWS, COLUMNS, DEPTH)};
    tensor_id x = graph_add_tensor(b.graph, "x", TENSOR_INPUT, &real);
    vec_push(arena, &b.graph->inputs, x);
    return x;
}

/* x → Quantize → Dequantize */
static tensor_id pair(tensor_id x, const struct quant *quant, const char *name)
{
    const struct type real = *build_type(&b, x), fixed = {DT_UFXP8, real.shape};
    const char *quantized = arena_printf(arena, "%s.quantized", name);
    tensor_id q, d;
    build_op(&b, OP_Quantize, quantized);
    build_in(&b, x);
    ck_assert_int_eq(build_end_typed(&b, &quantized, &fixed, 1, &q), ODLC_OK);
    graph_tensor(b.graph, q)->quant = quant;
    build_op(&b, OP_Dequantize, name);
    build_in(&b, q);
    ck_assert_int_eq(build_end_typed(&b, &name, &real, 1, &d), ODLC_OK);
    return d;
}

/* Each column by its own encoding. */
static tensor_id quantized_input(void)
{
    return pair(input(), quant_create(arena, DT_UFXP8, scale, zero, COLUMNS, true, 1), "d");
}

static void add_output(tensor_id out)
{
    graph_tensor(b.graph, out)->kind = TENSOR_OUTPUT;
    vec_push(arena, &b.graph->outputs, out);
}

/* All passes, and what is computed then. */
static const struct executor *run_all(void)
{
    struct graph *g = b.graph;
    struct pass_options options = {0};
    struct pass_context context = {.scratch = scratch, .diags = &diags, .options = &options};
    struct executor *e;
    ck_assert_int_eq(pass_run_all(&context, g), ODLC_OK);
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, g->outputs.data, g->outputs.count, &reference_only, &e),
                     ODLC_OK);
    for (int i = 0; i < COUNT; i++)
        ((float *)e->buffers[g->inputs.data[0]].data)[i] = (float)given(i);
    ck_assert_int_eq(executor_run(e), ODLC_OK);
    return e;
}

/* The numbers of the only output. */
static const float *run_with(tensor_id out)
{
    add_output(out);
    const struct executor *e = run_all();
    return e->buffers[b.graph->outputs.data[0]].data;
}

/* A Transpose or a Reshape does not move before the Dequantize: the encodings would belong to another axis. */
START_TEST(per_axis_encodings_stay_behind)
{
    const struct perm perm = PERM(1, 2, 0);
    tensor_id y;
    ck_assert_int_eq(build_transpose(&b, quantized_input(), &perm, "y", &y), ODLC_OK);
    const float *found = run_with(y);
    for (int k = 0; k < COLUMNS; k++)
        for (int i = 0; i < DEPTH; i++)
            for (int j = 0; j < ROWS; j++)
                ck_assert_float_eq(found[(k * DEPTH + i) * ROWS + j], (float)rounded((j * COLUMNS + k) * DEPTH + i));
}
END_TEST

START_TEST(per_axis_encodings_keep_their_shape)
{
    const struct shape flat = SHAPE(COLUMNS, ROWS * DEPTH);
    tensor_id y;
    ck_assert_int_eq(build_reshape(&b, quantized_input(), &flat, "y", &y), ODLC_OK);
    const float *found = run_with(y);
    for (int i = 0; i < COUNT; i++)
        ck_assert_float_eq(found[i], (float)rounded(i));
}
END_TEST

/* Two that read one value, each by its own encoding: by quarters and by fours. */
START_TEST(each_quantize_has_its_encoding)
{
    static const double fine = 0.25, coarse = 4, one = 1, none = 0, middle = 128;
    tensor_id d = pair(input(), quant_create(arena, DT_UFXP8, &one, &middle, 1, false, 0), "d"), a;
    ck_assert_int_eq(build_unary(&b, OP_ElementWiseAbs, d, "a", &a), ODLC_OK);
    add_output(pair(a, quant_create(arena, DT_UFXP8, &fine, &none, 1, false, 0), "fine"));
    add_output(pair(a, quant_create(arena, DT_UFXP8, &coarse, &none, 1, false, 0), "coarse"));
    const struct executor *e = run_all();
    for (int i = 0; i < COUNT; i++) {
        double value = fabs(rint(given(i)));
        ck_assert_float_eq(((const float *)e->buffers[b.graph->outputs.data[0]].data)[i], (float)value);
        ck_assert_float_eq(((const float *)e->buffers[b.graph->outputs.data[1]].data)[i], (float)(rint(value / 4) * 4));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("quantized");
    TCase *tests = tcase_create("quantized");
    tcase_add_checked_fixture(tests, start, stop);
    tcase_add_test(tests, per_axis_encodings_stay_behind);
    tcase_add_test(tests, per_axis_encodings_keep_their_shape);
    tcase_add_test(tests, each_quantize_has_its_encoding);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
