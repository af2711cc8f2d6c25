/* SPDX-License-Identifier: Apache-2.0 */
/* The public API of the GPU backend: contexts that runs share, and what their configuration does. Expected values are
 * computed here, in double precision. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build/build.h"
#include "dlc/record.h"
#include "opendlc/gpu.h"

enum { ROWS = 4, WIDTH = 32, COUNT = ROWS * WIDTH };

static struct arena *arena;
static struct diags diags;
static struct graph *g;
static struct build b;
static char folder[64], path[96];
static float x[COUNT], w[WIDTH * WIDTH];
static double expected[COUNT];

static void multiply(const double *from, double *to)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < WIDTH; j++) {
            to[i * WIDTH + j] = 0;
            for (int k = 0; k < WIDTH; k++)
                to[i * WIDTH + j] += from[i * WIDTH + k] * (double)w[k * WIDTH + j];
        }
}

static void compute_expected(void)
{
    double wide[COUNT], sum[COUNT];
    for (int i = 0; i < COUNT; i++)
        wide[i] = (double)x[i];
    multiply(wide, sum);
    for (int i = 0; i < COUNT; i++)
        sum[i] = tanh(sum[i]) + wide[i];
    multiply(sum, expected);
    for (int i = 0; i < COUNT; i++)
        expected[i] = expected[i] > 0 ? expected[i] : 0;
}

/* relu((tanh(x w) + x) w) */
static void write_network(const char *name)
{
    const struct type type = {DT_FLOAT32, SHAPE(ROWS, WIDTH)};
    const struct shape square = SHAPE(WIDTH, WIDTH);
    tensor_id t;
    g = graph_create(arena, name);
    build_init(&b, g, &diags);
    const tensor_id in = graph_add_tensor(g, "x", TENSOR_INPUT, &type);
    vec_push(arena, &g->inputs, in);
    const tensor_id weights = build_const_floats(&b, "w", &square, w);
    ck_assert_int_eq(build_binary(&b, OP_MatMul, in, weights, "a", &t), ODLC_OK);
    ck_assert_int_eq(build_unary(&b, OP_Tanh, t, "b", &t), ODLC_OK);
    ck_assert_int_eq(build_binary(&b, OP_ElementWiseAdd, t, in, "c", &t), ODLC_OK);
    ck_assert_int_eq(build_binary(&b, OP_MatMul, t, weights, "d", &t), ODLC_OK);
    ck_assert_int_eq(build_unary(&b, OP_Relu, t, "y", &t), ODLC_OK);
    graph_tensor(g, t)->kind = TENSOR_OUTPUT;
    vec_push(arena, &g->outputs, t);
    struct arena *scratch = arena_create();
    const odlc_status status = dlc_write(scratch, &diags, g, path, &(struct dlc_write_options){.netp = false});
    ck_assert_msg(status == ODLC_OK, "%s", diags.list.count ? diags.list.data[0].message : "");
    arena_destroy(scratch);
}

static void setup(void)
{
    arena = arena_create();
    diags_init(&diags, arena);
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)((i * 37 % 101) - 50) / 64;
    for (int i = 0; i < WIDTH * WIDTH; i++)
        w[i] = (float)((i * 53 % 97) - 48) / 128;
    compute_expected();
    strcpy(folder, "/tmp/odlc-gpu-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/net.dlc", folder);
    write_network("net");
}

static void teardown(void)
{
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
    arena_destroy(arena);
}

static odlc_gpu *context(struct odlc_gpu_config config)
{
    odlc_gpu *gpu = odlc_gpu_new();
    ck_assert_ptr_nonnull(gpu);
    config.struct_size = sizeof(config);
    ck_assert_int_eq(odlc_gpu_configure(gpu, &config), ODLC_OK);
    return gpu;
}

static void expect_ok(const odlc_run *run, odlc_status status)
{
    size_t count;
    const struct odlc_diag *list = odlc_run_diags(run, &count);
    ck_assert_msg(status == ODLC_OK, "%s", count ? list[count - 1].message : "");
}

/* The results of one execution, and how many steps there were. */
static size_t execute(odlc_gpu *gpu, bool isolates, float *y)
{
    static const char *const names[] = {"gpu"};
    size_t n_steps;
    odlc_run *run = odlc_run_new();
    expect_ok(run, odlc_run_open(run, path));
    if (isolates)
        expect_ok(run, odlc_run_isolate(run, 300));
    expect_ok(run, odlc_run_set_backends(run, names, 1));
    expect_ok(run, odlc_run_set_gpu(run, gpu));
    expect_ok(run, odlc_run_want_outputs(run));
    ck_assert_int_eq(odlc_run_set_gpu(run, gpu), ODLC_ERR_USAGE); /* it is too late */
    expect_ok(run, odlc_run_set_floats(run, 0, x, COUNT));
    for (int i = 0; i < 2; i++)
        expect_ok(run, odlc_run_execute(run));
    expect_ok(run, odlc_run_get_floats(run, 0, y, COUNT));
    (void)odlc_run_steps(run, &n_steps);
    odlc_run_free(run);
    return n_steps;
}

static void expect_values(const float *y, double tolerance)
{
    double largest = 0;
    for (int i = 0; i < COUNT; i++)
        largest = fmax(largest, expected[i]);
    for (int i = 0; i < COUNT; i++)
        ck_assert_double_eq_tol((double)y[i], expected[i], tolerance * largest);
}

START_TEST(runs_share_what_is_built)
{
    float y[COUNT], again[COUNT];
    odlc_gpu *gpu = context((struct odlc_gpu_config){0});
    ck_assert_uint_eq(odlc_gpu_count(gpu).builds, 0);
    execute(gpu, false, y);
    const struct odlc_gpu_counts first = odlc_gpu_count(gpu);
    execute(gpu, false, again);
    const struct odlc_gpu_counts both = odlc_gpu_count(gpu);
    ck_assert_uint_gt(first.builds, 0);
    ck_assert_uint_eq(first.loads, 0);
    ck_assert_uint_eq(both.builds, first.builds);
    expect_values(y, 1e-5);
    ck_assert_mem_eq(y, again, sizeof(y));
    odlc_gpu_free(gpu);
}
END_TEST

START_TEST(memory_and_recording_change_no_bit)
{
    float plain[COUNT], y[COUNT];
    odlc_gpu *gpus[] = {context((struct odlc_gpu_config){0}),
                        context((struct odlc_gpu_config){.disable_memory_optimizations = 1}),
                        context((struct odlc_gpu_config){.disable_queue_recording = 1}),
                        context((struct odlc_gpu_config){.performance = ODLC_GPU_LOW})};
    execute(gpus[0], false, plain);
    for (int i = 1; i < 4; i++) {
        execute(gpus[i], false, y);
        ck_assert_mem_eq(y, plain, sizeof(y));
    }
    for (int i = 0; i < 4; i++) /* the second of two executions, where it is not switched off */
        ck_assert_uint_eq(odlc_gpu_count(gpus[i]).replays, i != 2);
    for (int i = 0; i < 4; i++)
        odlc_gpu_free(gpus[i]);
}
END_TEST

START_TEST(nodes_are_fused_unless_switched_off)
{
    float y[COUNT];
    odlc_gpu *fuses = context((struct odlc_gpu_config){0});
    odlc_gpu *splits = context((struct odlc_gpu_config){.disable_node_optimizations = 1});
    const size_t fused = execute(fuses, false, y), split = execute(splits, false, y);
    expect_values(y, 1e-5);
    ck_assert_uint_eq(split, 5 + 2); /* nodes, and a copy there and back */
    ck_assert_uint_eq(fused, 2 + 2);
    odlc_gpu_free(fuses);
    odlc_gpu_free(splits);
}
END_TEST

static odlc_status see(void *user, const struct odlc_io *tensor, const void *values)
{
    (void)tensor, (void)values;
    ++*(int *)user;
    return ODLC_OK;
}

/* As --debug has them. */
START_TEST(nodes_whose_results_are_seen_are_not_fused)
{
    static const char *const names[] = {"gpu"};
    size_t count;
    int n_seen = 0;
    odlc_run *run = odlc_run_new();
    expect_ok(run, odlc_run_open(run, path));
    expect_ok(run, odlc_run_set_backends(run, names, 1));
    expect_ok(run, odlc_run_time_kernels(run, 1));
    expect_ok(run, odlc_run_want_each(run, ODLC_FLOATS, see, &n_seen));
    const struct odlc_step *steps = odlc_run_steps(run, &count);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_le(steps[i].n_nodes, 1);
    expect_ok(run, odlc_run_set_floats(run, 0, x, COUNT));
    expect_ok(run, odlc_run_execute(run));
    ck_assert_int_eq(n_seen, 5);
    const struct odlc_kernel *kernels = odlc_run_kernels(run, &count);
    ck_assert_uint_ge(count, 5);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(steps[kernels[i].step].n_nodes, 1);
    odlc_run_free(run);
}
END_TEST

START_TEST(precision_is_that_of_named_graphs)
{
    static const char *const other = "other", *const ours = "net";
    float plain[COUNT], y[COUNT];
    odlc_gpu *gpus[] = {
        context((struct odlc_gpu_config){.precision = ODLC_GPU_FP32}),
        context((struct odlc_gpu_config){.precision = ODLC_GPU_HYBRID, .graph_names = &other, .n_graph_names = 1}),
        context((struct odlc_gpu_config){.precision = ODLC_GPU_HYBRID, .graph_names = &ours, .n_graph_names = 1}),
        context((struct odlc_gpu_config){.precision = ODLC_GPU_FP16})};
    execute(gpus[0], false, plain);
    expect_values(plain, 1e-5);
    execute(gpus[1], false, y);
    ck_assert_mem_eq(y, plain, sizeof(y));
    execute(gpus[2], false, y);
    expect_values(y, 2e-3);
    ck_assert_mem_ne(y, plain, sizeof(y));
    execute(gpus[3], false, y);
    expect_values(y, 1e-2);
    for (int i = 0; i < 4; i++)
        odlc_gpu_free(gpus[i]);
}
END_TEST

START_TEST(kernels_are_kept_for_the_next_context)
{
    float first[COUNT], second[COUNT];
    odlc_gpu *gpu = context((struct odlc_gpu_config){.kernel_repository = folder});
    execute(gpu, false, first);
    const uint64_t builds = odlc_gpu_count(gpu).builds;
    ck_assert_int_eq(odlc_gpu_close(gpu), ODLC_OK);
    odlc_gpu_free(gpu);
    gpu = context((struct odlc_gpu_config){.kernel_repository = folder});
    execute(gpu, false, second);
    ck_assert_uint_eq(odlc_gpu_count(gpu).builds, 0);
    ck_assert_uint_eq(odlc_gpu_count(gpu).loads, builds);
    ck_assert_mem_eq(first, second, sizeof(first));
    odlc_gpu_free(gpu);
}
END_TEST

START_TEST(a_process_of_its_own_has_a_context_of_its_own)
{
    float y[COUNT];
    odlc_gpu *gpu = context((struct odlc_gpu_config){0});
    execute(gpu, true, y);
    expect_values(y, 1e-5);
    ck_assert_uint_eq(odlc_gpu_count(gpu).builds, 0);
    odlc_gpu_free(gpu);
}
END_TEST

START_TEST(configurations_are_checked)
{
    struct {
        struct odlc_gpu_config known;
        int later;
    } newer = {.known.struct_size = sizeof(newer)};
    static const char *const names[] = {"net", "other"};
    struct odlc_gpu_config config = {0};
    float y[COUNT];
    odlc_gpu *gpu = odlc_gpu_new();
    ck_assert_int_eq(odlc_gpu_configure(gpu, &config), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_gpu_configure(gpu, &newer.known), ODLC_OK);
    newer.later = 1;
    ck_assert_int_eq(odlc_gpu_configure(gpu, &newer.known), ODLC_ERR_USAGE);
    config = (struct odlc_gpu_config){.struct_size = sizeof(config), .precision = (enum odlc_gpu_precision)4};
    ck_assert_int_eq(odlc_gpu_configure(gpu, &config), ODLC_ERR_USAGE);
    config = (struct odlc_gpu_config){.struct_size = sizeof(config), .graph_names = names, .n_graph_names = 2};
    ck_assert_int_eq(odlc_gpu_configure(gpu, &config), ODLC_OK);
    ck_assert_int_eq(odlc_gpu_check_graphs(gpu, names, 2), ODLC_OK);
    ck_assert_int_eq(odlc_gpu_check_graphs(gpu, names, 1), ODLC_ERR_USAGE);
    execute(gpu, false, y);
    ck_assert_int_eq(odlc_gpu_configure(gpu, &config), ODLC_ERR_USAGE); /* it is too late */
    odlc_gpu_free(gpu);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu_api");
    TCase *tc = tcase_create("gpu_api");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, runs_share_what_is_built);
    tcase_add_test(tc, memory_and_recording_change_no_bit);
    tcase_add_test(tc, nodes_are_fused_unless_switched_off);
    tcase_add_test(tc, nodes_whose_results_are_seen_are_not_fused);
    tcase_add_test(tc, precision_is_that_of_named_graphs);
    tcase_add_test(tc, kernels_are_kept_for_the_next_context);
    tcase_add_test(tc, a_process_of_its_own_has_a_context_of_its_own);
    tcase_add_test(tc, configurations_are_checked);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
