/* Quantized tensors with an encoding for each index of an axis: what the passes do to nodes around them, by numbers. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "ir/quant.h"
#include "op/build.h"
#include "pass/pass.h"
#include "runtime/executor.h"

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

/* x → Quantize, each column by its own encoding → Dequantize. */
static tensor_id quantized_input(void)
{
    const struct type real = {DT_FLOAT32, SHAPE(ROWS, COLUMNS, DEPTH)}, fixed = {DT_UFXP8, real.shape};
    const char *names[] = {"q", "d"};
    tensor_id x = graph_add_tensor(b.graph, "x", TENSOR_INPUT, &real), q, d;
    vec_push(arena, &b.graph->inputs, x);
    build_op(&b, "Quantize", "quantize");
    build_in(&b, x);
    ck_assert_int_eq(build_end_typed(&b, &names[0], &fixed, 1, &q), ODLC_OK);
    graph_tensor(b.graph, q)->quant = quant_create(arena, DT_UFXP8, scale, zero, COLUMNS, true, 1);
    build_op(&b, "Dequantize", "dequantize");
    build_in(&b, q);
    ck_assert_int_eq(build_end_typed(&b, &names[1], &real, 1, &d), ODLC_OK);
    return d;
}

/* All passes, and the numbers of the graph's output. */
static const float *run_with(tensor_id out)
{
    struct graph *g = b.graph;
    struct pass_options options = {0};
    struct pass_context context = {.scratch = scratch, .diags = &diags, .options = &options};
    struct executor *e;
    graph_tensor(g, out)->kind = TENSOR_OUTPUT;
    vec_push(arena, &g->outputs, out);
    ck_assert_int_eq(pass_run_all(&context, g), ODLC_OK);
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, g->outputs.data, 1, &e), ODLC_OK);
    for (int i = 0; i < COUNT; i++)
        ((float *)e->buffers[g->inputs.data[0]].data)[i] = (float)given(i);
    ck_assert_int_eq(executor_run(e), ODLC_OK);
    return e->buffers[g->outputs.data[0]].data;
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

int main(void)
{
    Suite *suite = suite_create("quantized");
    TCase *tests = tcase_create("quantized");
    tcase_add_checked_fixture(tests, start, stop);
    tcase_add_test(tests, per_axis_encodings_stay_behind);
    tcase_add_test(tests, per_axis_encodings_keep_their_shape);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
