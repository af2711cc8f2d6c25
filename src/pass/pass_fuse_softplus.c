/* SPDX-License-Identifier: Apache-2.0 */
/* log(1 + eˣ) is ElementWiseSoftplus, whose result stays finite where eˣ does not. */
#include "op/params.h"
#include "pass/fusion.h"

pass_fn pass_fuse_softplus;

static bool make(struct fusing *f, const struct occurrence *o)
{
    struct node *fused = fusion_of_x(f, o, OP_ElementWiseSoftplus);
    if (!fused)
        return false;
    node_set_float(fused, PARAM_beta, 1);
    node_set_float(fused, PARAM_threshold, -1);
    return true;
}

odlc_status pass_fuse_softplus(struct pass_context *c, struct graph *g)
{
    static const char *const formulas[] = {"ElementWiseLog(1 + ElementWiseExp(x))"};
    const struct fusion f = {.formulas = formulas, .n_formulas = COUNT_OF(formulas), .make = make};
    return fusion_run(c, g, &f);
}
