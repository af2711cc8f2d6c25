/* The GPU backend against the reference (random_check.h), in all precision modes, with fused nodes and without. All
 * executions share a context, whose kernels are therefore built once. */
#include "backend/gpu/gpu.h"

#include <stdio.h>

#include "backend/gpu/gpu_config.h"
#include "backend/gpu/gpu_context.h"
#include "tests/backend/random_check.h"

static struct gpu_config config;

static void choose(struct executor_options *options, uint64_t seed)
{
    config.precision = (enum gpu_precision)(seed % 4);
    config.no_fusion = seed % 3 == 0;
    config.products = (enum gpu_products)(seed % 2 + 1);
    options->gpu = &config;
}

static double inner_tolerance(uint64_t seed)
{
    static const double tolerances[] = {
        [GPU_PRECISION_USER_PROVIDED] = 0,
        [GPU_PRECISION_FP32] = 0,
        [GPU_PRECISION_FP16] = 1e-2,
        [GPU_PRECISION_HYBRID] = 2e-3,
    };
    return tolerances[seed % 4];
}

int main(int argc, char **argv)
{
    static const enum op_id ops[] = {
#define GPU_OP(op, family) OP_##op,
#include "backend/gpu/gpu_ops.def"
#undef GPU_OP
    };
    const struct random_check check = {.backend = &gpu_backend,
                                       .ops = ops,
                                       .n_ops = COUNT_OF(ops),
                                       .usual = 24,
                                       .longer = 1000,
                                       .choose = choose,
                                       .inner_tolerance = inner_tolerance};
    struct arena *arena = arena_create();
    struct diags diags;
    diags_init(&diags, arena);
    int status = 1;
    if (gpu_context_create(&diags, NULL, &config.context) == ODLC_OK) {
        status = random_check(&check, argc, argv);
        printf("%llu programs built\n", (unsigned long long)config.context->builds);
    }
    gpu_context_destroy(config.context);
    arena_destroy(arena);
    return status;
}
