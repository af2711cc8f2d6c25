/* SPDX-License-Identifier: Apache-2.0 */
/* x · Φ(x), Φ by the error function, is Gelu. A model's Erf is spelled out by Gelu itself (lowering/functions.c): no
 * native operator computes the function. */
#include "pass/fusion.h"

pass_fn pass_fuse_gelu;

/* r is erf(x / √2). */
#define ERF                                                                                          \
    "u = x / 1.4142135623730951; z = 1.4142135623730951 * ReluMinMax[min_value=-6,max_value=6](u); " \
    "s = ElementWiseEqual(z, 0); "                                                                   \
    "r = ElementWiseSelect(s, 0, 2 * Gelu(z) / ElementWiseSelect(s, 1, z) - 1); "

/* r is erfc(-x / √2), as erfc is spelled out. */
#define ERFC                                                                                                 \
    "u = -1 * x / 1.4142135623730951; z = -1.4142135623730951 * ReluMinMax[min_value=-11,max_value=11](u); " \
    "s = ElementWiseEqual(z, 0); r = ElementWiseSelect(s, 1, 2 * Gelu(z) / ElementWiseSelect(s, 1, z)); "

static bool make(struct fusing *f, const struct occurrence *o)
{
    return fusion_of_x(f, o, OP_Gelu) != NULL;
}

#define TANH "t = Tanh(0.7978845608028654 * x + 0.035677408136300125 * x ^ 3); "
#define TANH_OF_PRODUCT "t = Tanh(0.7978845608028654 * x * (1 + 0.044715 * x ^ 2)); "
#define TANH_OF_SUM "t = Tanh(0.7978845608028654 * (x + 0.044715 * x ^ 3)); "

/* Functions that come near: by tanh up to 5e-4 away, by sigmoid up to 2e-2. They become Gelu when that is asked for. */
static odlc_status fuse_approximations(struct pass_context *c, struct graph *g)
{
    static const char *const formulas[] = {
        TANH_OF_SUM "0.5 * x * (1 + t)",       TANH_OF_SUM "x * (0.5 + 0.5 * t)", TANH_OF_PRODUCT "0.5 * x * (1 + t)",
        TANH_OF_PRODUCT "x * (0.5 + 0.5 * t)", TANH "0.5 * x * (1 + t)",          "x * Sigmoid(1.702 * x)",
    };
    const struct fusion f = {.formulas = formulas, .n_formulas = COUNT_OF(formulas), .make = make};
    size_t count;
    if (c->options->approximate_gelu)
        return fusion_run(c, g, &f);
    TRY(fusion_count(c, g, &f, &count));
    if (count)
        diag_note(c->diags, AT(.hint = "--approximate_gelu makes one Gelu op of each; numbers change a little"),
                  "approximate-gelu", "%zu approximation%s of Gelu, by tanh or sigmoid, %s computed step by step",
                  count, count == 1 ? "" : "s", count == 1 ? "is" : "are");
    return ODLC_OK;
}

odlc_status pass_fuse_gelu(struct pass_context *c, struct graph *g)
{
    static const char *const formulas[] = {ERF "0.5 * x * (1 + r)", ERF "x * (0.5 + 0.5 * r)",
                                           ERF "0.5 * x + 0.5 * x * r", ERFC "0.5 * x * r"};
    const struct fusion f = {.formulas = formulas, .n_formulas = COUNT_OF(formulas), .make = make};
    TRY(fusion_run(c, g, &f));
    return fuse_approximations(c, g);
}
