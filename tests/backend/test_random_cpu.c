/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU backend against the reference (random_check.h). */
#include "backend/cpu/cpu.h"
#include "tests/backend/random_check.h"

static uint32_t types(enum op_id op)
{
    (void)op;
    return ~0U;
}

static void choose(struct executor_options *options, enum op_id op, uint64_t seed)
{
    (void)op;
    options->threads = 1 + (uint32_t)(seed % 3);
}

static double inner_tolerance(const struct executor_options *options)
{
    (void)options;
    return 0;
}

int main(int argc, char **argv)
{
    static const enum op_id ops[] = {
#define CPU_OP(op, family) OP_##op,
#include "backend/cpu/cpu_ops.def"
#undef CPU_OP
    };
    const struct random_check check = {.backend = &cpu_backend,
                                       .ops = ops,
                                       .n_ops = COUNT_OF(ops),
                                       .usual = 60,
                                       .longer = 2000,
                                       .types = types,
                                       .choose = choose,
                                       .inner_tolerance = inner_tolerance};
    return random_check(&check, argc, argv);
}
