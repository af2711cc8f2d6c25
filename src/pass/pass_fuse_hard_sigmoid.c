/* SPDX-License-Identifier: Apache-2.0 */
/* clamp(a · x + b, 0, 1) is HardSigmoid, and so is clamp(x + 3, 0, 6) / 6. */
#include <math.h>

#include "op/params.h"
#include "pass/fusion.h"

pass_fn pass_fuse_hard_sigmoid;

static bool make(struct fusing *f, const struct occurrence *o)
{
    const double slope = occurrence_number(o, 'a'), shift = occurrence_number(o, 'b');
    struct node *fused = fusion_of_x(f, o, OP_HardSigmoid);
    if (!fused)
        return false;
    node_set_float(fused, PARAM_alpha, isnan(slope) ? 1.0 / 6 : slope);
    node_set_float(fused, PARAM_beta, isnan(shift) ? 0.5 : shift);
    return true;
}

odlc_status pass_fuse_hard_sigmoid(struct pass_context *c, struct graph *g)
{
    static const char *const formulas[] = {"Relu6(x + 3) / 6", "ReluMinMax[min_value=0,max_value=6](x + 3) / 6",
                                           "ReluMinMax[min_value=0,max_value=1](#a * x + #b)"};
    const struct fusion f = {.formulas = formulas, .n_formulas = COUNT_OF(formulas), .make = make};
    return fusion_run(c, g, &f);
}
