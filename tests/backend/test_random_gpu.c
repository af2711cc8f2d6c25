/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU backend against the reference (random_check.h). All executions share a context, whose kernels are therefore
 * built once.
 *
 * Builds are what takes time: PoCL takes 0.4 s of a processor for each, so that without ODLC_LONG=1 float16, fixed
 * point and the precision modes are tried with some operators alone, one for each way in which kernels take types. */
#include "backend/gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>

#include "backend/gpu/gpu_config.h"
#include "backend/gpu/gpu_context.h"
#include "tests/backend/random_check.h"

static struct gpu_config config;
static bool is_long;

static bool has_all_types(enum op_id op)
{
    return is_long || op == OP_MatMul || op == OP_ElementWiseAdd;
}

static uint32_t types(enum op_id op)
{
    return has_all_types(op) ? ~0U : 1U << REALS_FLOAT32 | 1U << REALS_INTS;
}

/* Results jump where operands hardly differ. */
static bool jumps(enum op_id op)
{
    return op == OP_ElementWiseFloorDiv || op == OP_ElementWiseFmod || op == OP_ElementWiseMod;
}

static void choose(struct executor_options *options, enum op_id op, uint64_t seed)
{
    const bool all = has_all_types(op) && !jumps(op);
    config.precision = all ? (enum gpu_precision)(seed % 4) : GPU_PRECISION_USER_PROVIDED;
    config.products = is_long ? (enum gpu_products)(seed % 2 + 1) : GPU_PRODUCTS_BY_DEVICE;
    config.no_fusion = seed % 3 == 0;
    config.specializes = is_long && seed % 5 == 0;
    options->gpu = &config;
}

static double inner_tolerance(const struct executor_options *options)
{
    static const double tolerances[] = {
        [GPU_PRECISION_USER_PROVIDED] = 0,
        [GPU_PRECISION_FP32] = 0,
        [GPU_PRECISION_FP16] = 1e-2,
        [GPU_PRECISION_HYBRID] = 2e-3,
    };
    return tolerances[options->gpu->precision];
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
                                       .usual = 3,
                                       .longer = 300,
                                       .types = types,
                                       .choose = choose,
                                       .inner_tolerance = inner_tolerance};
    struct arena *arena = arena_create();
    struct diags diags;
    diags_init(&diags, arena);
    is_long = getenv("ODLC_LONG") && *getenv("ODLC_LONG");
    int status = 1;
    if (gpu_context_create(&diags, NULL, &config.context) == ODLC_OK) {
        status = random_check(&check, argc, argv);
        printf("%llu programs built\n", (unsigned long long)config.context->builds);
    }
    gpu_context_destroy(config.context);
    arena_destroy(arena);
    return status;
}
