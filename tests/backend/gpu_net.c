/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu_net.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build/build.h"
#include "dlc/record.h"

static struct arena *arena;
static struct diags diags;
static struct graph *g;
static struct build b;
char net_folder[64], net_path[96];
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
void net_write(const char *name)
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
    const odlc_status status = dlc_write(scratch, &diags, g, net_path, &(struct dlc_write_options){.netp = false});
    ck_assert_msg(status == ODLC_OK, "%s", diags.list.count ? diags.list.data[0].message : "");
    arena_destroy(scratch);
}

void net_setup(void)
{
    arena = arena_create();
    diags_init(&diags, arena);
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)((i * 37 % 101) - 50) / 64;
    for (int i = 0; i < WIDTH * WIDTH; i++)
        w[i] = (float)((i * 53 % 97) - 48) / 128;
    compute_expected();
    strcpy(net_folder, "/tmp/odlc-gpu-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(net_folder));
    (void)snprintf(net_path, sizeof(net_path), "%s/net.dlc", net_folder);
    net_write("net");
}

void net_teardown(void)
{
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -r %s", net_folder);
    ck_assert_int_eq(system(command), 0);
    arena_destroy(arena);
}

const float *net_input(void)
{
    return x;
}

odlc_gpu *net_context(struct odlc_gpu_config config)
{
    odlc_gpu *gpu = odlc_gpu_new();
    ck_assert_ptr_nonnull(gpu);
    config.struct_size = sizeof(config);
    ck_assert_int_eq(odlc_gpu_configure(gpu, &config), ODLC_OK);
    return gpu;
}

void net_expect_ok(const odlc_run *run, odlc_status status)
{
    size_t count;
    const struct odlc_diag *list = odlc_run_diags(run, &count);
    ck_assert_msg(status == ODLC_OK, "%s", count ? list[count - 1].message : "");
}

/* The results of one execution, and how many steps there were. */
size_t net_execute(odlc_gpu *gpu, bool isolates, float *y)
{
    static const char *const names[] = {"gpu"};
    size_t n_steps;
    odlc_run *run = odlc_run_new();
    net_expect_ok(run, odlc_run_open(run, net_path));
    if (isolates)
        net_expect_ok(run, odlc_run_isolate(run, 300));
    net_expect_ok(run, odlc_run_set_backends(run, names, 1));
    net_expect_ok(run, odlc_run_set_gpu(run, gpu));
    net_expect_ok(run, odlc_run_want_outputs(run));
    ck_assert_int_eq(odlc_run_set_gpu(run, gpu), ODLC_ERR_USAGE); /* it is too late */
    net_expect_ok(run, odlc_run_set_floats(run, 0, x, COUNT));
    for (int i = 0; i < 2; i++)
        net_expect_ok(run, odlc_run_execute(run));
    net_expect_ok(run, odlc_run_get_floats(run, 0, y, COUNT));
    (void)odlc_run_steps(run, &n_steps);
    odlc_run_free(run);
    return n_steps;
}

void net_expect_values(const float *y, double tolerance)
{
    double largest = 0;
    for (int i = 0; i < COUNT; i++)
        largest = fmax(largest, expected[i]);
    for (int i = 0; i < COUNT; i++)
        ck_assert_double_eq_tol((double)y[i], expected[i], tolerance * largest);
}
