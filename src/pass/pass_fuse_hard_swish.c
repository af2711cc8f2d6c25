/* SPDX-License-Identifier: Apache-2.0 */
/* x · clamp(x + 3, 0, 6) / 6 is HardSwish. */
#include "pass/fusion.h"

pass_fn pass_fuse_hard_swish;

static bool make(struct fusing *f, const struct occurrence *o)
{
    return fusion_of_x(f, o, OP_HardSwish) != NULL;
}

odlc_status pass_fuse_hard_swish(struct pass_context *c, struct graph *g)
{
    static const char *const formulas[] = {"x * Relu6(x + 3) / 6", "x * ReluMinMax[min_value=0,max_value=6](x + 3) / 6",
                                           "x * ReluMinMax[min_value=0,max_value=1](0.16666666666666667 * x + 0.5)",
                                           "x * HardSigmoid[alpha=0.16666667,beta=0.5](x)"};
    const struct fusion f = {.formulas = formulas, .n_formulas = COUNT_OF(formulas), .make = make};
    return fusion_run(c, g, &f);
}
