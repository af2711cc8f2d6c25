/* SPDX-License-Identifier: Apache-2.0 */
/* The public API of the GPU backend: contexts that runs share, and what their configuration does. Expected values are
 * computed in double precision (gpu_net.c). */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu_facts.h"
#include "gpu_net.h"

START_TEST(runs_share_what_is_built)
{
    float y[COUNT], again[COUNT];
    odlc_gpu *gpu = net_context((struct odlc_gpu_config){0});
    ck_assert_uint_eq(odlc_gpu_count(gpu).builds, 0);
    net_execute(gpu, false, y);
    const struct odlc_gpu_counts first = odlc_gpu_count(gpu);
    net_execute(gpu, false, again);
    const struct odlc_gpu_counts both = odlc_gpu_count(gpu);
    ck_assert_uint_gt(first.builds, 0);
    ck_assert_uint_eq(first.loads, 0);
    ck_assert_uint_eq(both.builds, first.builds);
    net_expect_values(y, 1e-5);
    ck_assert_mem_eq(y, again, sizeof(y));
    odlc_gpu_free(gpu);
}
END_TEST

START_TEST(memory_and_recording_change_no_bit)
{
    float plain[COUNT], y[COUNT];
    odlc_gpu *gpus[] = {net_context((struct odlc_gpu_config){0}),
                        net_context((struct odlc_gpu_config){.disable_memory_optimizations = 1}),
                        net_context((struct odlc_gpu_config){.disable_queue_recording = 1}),
                        net_context((struct odlc_gpu_config){.performance = ODLC_GPU_LOW})};
    net_execute(gpus[0], false, plain);
    for (int i = 1; i < 4; i++) {
        net_execute(gpus[i], false, y);
        ck_assert_mem_eq(y, plain, sizeof(y));
    }
    for (int i = 0; i < 4; i++) /* the second of two executions, where it is not switched off */
        ck_assert_uint_eq(odlc_gpu_count(gpus[i]).replays, device_records() && i != 2);
    for (int i = 0; i < 4; i++)
        odlc_gpu_free(gpus[i]);
}
END_TEST

START_TEST(nodes_are_fused_unless_switched_off)
{
    float y[COUNT];
    odlc_gpu *fuses = net_context((struct odlc_gpu_config){0});
    odlc_gpu *splits = net_context((struct odlc_gpu_config){.disable_node_optimizations = 1});
    const size_t fused = net_execute(fuses, false, y), split = net_execute(splits, false, y);
    net_expect_values(y, 1e-5);
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
    net_expect_ok(run, odlc_run_open(run, net_path));
    net_expect_ok(run, odlc_run_set_backends(run, names, 1));
    net_expect_ok(run, odlc_run_time_kernels(run, 1));
    net_expect_ok(run, odlc_run_want_each(run, ODLC_FLOATS, see, &n_seen));
    const struct odlc_step *steps = odlc_run_steps(run, &count);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_le(steps[i].n_nodes, 1);
    net_expect_ok(run, odlc_run_set_floats(run, 0, net_input(), COUNT));
    net_expect_ok(run, odlc_run_execute(run));
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
        net_context((struct odlc_gpu_config){.precision = ODLC_GPU_FP32}),
        net_context((struct odlc_gpu_config){.precision = ODLC_GPU_HYBRID, .graph_names = &other, .n_graph_names = 1}),
        net_context((struct odlc_gpu_config){.precision = ODLC_GPU_HYBRID, .graph_names = &ours, .n_graph_names = 1}),
        net_context((struct odlc_gpu_config){.precision = ODLC_GPU_FP16})};
    net_execute(gpus[0], false, plain);
    net_expect_values(plain, 1e-5);
    net_execute(gpus[1], false, y);
    ck_assert_mem_eq(y, plain, sizeof(y));
    net_execute(gpus[2], false, y);
    net_expect_values(y, 2e-3);
    ck_assert_mem_ne(y, plain, sizeof(y));
    net_execute(gpus[3], false, y);
    net_expect_values(y, 1e-2);
    for (int i = 0; i < 4; i++)
        odlc_gpu_free(gpus[i]);
}
END_TEST

START_TEST(kernels_are_kept_for_the_next_context)
{
    float first[COUNT], second[COUNT];
    odlc_gpu *gpu = net_context((struct odlc_gpu_config){.kernel_repository = net_folder});
    net_execute(gpu, false, first);
    const uint64_t builds = odlc_gpu_count(gpu).builds;
    ck_assert_int_eq(odlc_gpu_close(gpu), ODLC_OK);
    odlc_gpu_free(gpu);
    gpu = net_context((struct odlc_gpu_config){.kernel_repository = net_folder});
    net_execute(gpu, false, second);
    ck_assert_uint_eq(odlc_gpu_count(gpu).builds, 0);
    ck_assert_uint_eq(odlc_gpu_count(gpu).loads, builds);
    ck_assert_mem_eq(first, second, sizeof(first));
    odlc_gpu_free(gpu);
}
END_TEST

START_TEST(a_process_of_its_own_has_a_context_of_its_own)
{
    float y[COUNT];
    odlc_gpu *gpu = net_context((struct odlc_gpu_config){0});
    net_execute(gpu, true, y);
    net_expect_values(y, 1e-5);
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
    net_execute(gpu, false, y);
    ck_assert_int_eq(odlc_gpu_configure(gpu, &config), ODLC_ERR_USAGE); /* it is too late */
    odlc_gpu_free(gpu);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu_api");
    TCase *tc = tcase_create("gpu_api");
    tcase_add_checked_fixture(tc, net_setup, net_teardown);
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
