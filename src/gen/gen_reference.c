/* SPDX-License-Identifier: Apache-2.0 */
/* Which ops of a package the reference kernels compute. */
#include "gen/gen_model.h"

#include "build/recipe.h"

static const enum axis_order orders[] = {
    [UDO_LAYOUT_NONE] = ORDER_OTHER, [UDO_LAYOUT_NHWC] = ORDER_CHANNELS_LAST, [UDO_LAYOUT_NCHW] = ORDER_CHANNELS_FIRST};

/* Operands at the end may be left out, and a repeated one may be any number. */
static struct recipe_count count_of(const struct udo_tensor *all, uint32_t count)
{
    struct recipe_count out = {count, count};
    for (uint32_t i = 0; i < count; i++)
        if (all[i].repeated)
            return (struct recipe_count){count - 1, UINT32_MAX};
    while (out.least > 0 && all[out.least - 1].optional && !all[out.least - 1].default_value)
        out.least--;
    return out;
}

static struct recipe_param *params_of(struct describe *d, const struct udo_def *def)
{
    struct recipe_param *out = arena_array(d->arena, struct recipe_param, def->n_scalar_params + def->n_tensor_params);
    for (uint32_t i = 0; i < def->n_scalar_params; i++) {
        const struct udo_scalar *p = &def->scalar_params[i];
        out[i] = (struct recipe_param){p->name, p->dtype == DT_STRING ? RECIPE_STRING : RECIPE_NUMBER,
                                       p->optional && !p->default_value};
    }
    for (uint32_t i = 0; i < def->n_tensor_params; i++) {
        const struct udo_tensor *p = &def->tensor_params[i];
        out[def->n_scalar_params + i] = (struct recipe_param){p->name, RECIPE_TENSOR, p->optional && !p->default_value};
    }
    return out;
}

/* Whether all that is computed has one layout, that of *out. */
static bool one_layout(const struct udo_tensor *all, uint32_t count, enum udo_layout *out)
{
    for (uint32_t i = 0; i < count; i++)
        if (!all[i].is_static && all[i].layout != *out)
            return false;
    return true;
}

/* Static inputs come in their stored types, and the reference is told no encodings. */
static bool has_fixed_point_weights(const struct udo_def *def)
{
    for (uint32_t i = 0; i < def->n_inputs; i++)
        if (def->inputs[i].is_static && dtype_is_fixed(gen_type_on(&def->inputs[i], UDO_CPU)))
            return true;
    return false;
}

static const char *misfit(struct describe *d, const struct udo_def *def, enum udo_layout *layout)
{
    *layout = def->n_outputs ? def->outputs[0].layout : UDO_LAYOUT_NONE;
    if (!one_layout(def->inputs, def->n_inputs, layout) || !one_layout(def->outputs, def->n_outputs, layout))
        return "declares several layouts";
    if (has_fixed_point_weights(def))
        return "has a static input in fixed point";
    const struct recipe_signature s = {.type = def->type,
                                       .is_native = def->replaces_native,
                                       .order = orders[*layout],
                                       .inputs = count_of(def->inputs, def->n_inputs),
                                       .outputs = count_of(def->outputs, def->n_outputs),
                                       .params = params_of(d, def),
                                       .n_params = def->n_scalar_params + def->n_tensor_params};
    return recipe_misfit(d->arena, &s);
}

void gen_describe_reference(struct describe *d, const struct udo_def *def, struct scope *package, struct scope *op)
{
    static const char *const names[] = {[UDO_LAYOUT_NONE] = "ODLC_REFERENCE_AS_STORED",
                                        [UDO_LAYOUT_NHWC] = "ODLC_REFERENCE_CHANNELS_LAST",
                                        [UDO_LAYOUT_NCHW] = "ODLC_REFERENCE_CHANNELS_FIRST"};
    enum udo_layout layout;
    const char *why = misfit(d, def, &layout);
    const struct odlc_diag at = udo_at(&def->place, NULL);
    if (why) {
        diag_note(d->diags, &at, "gen-reference", "op %s of package %s %s: no reference kernel is called", def->type,
                  def->package, why);
        return;
    }
    scope_set(package, "REFERENCES", "1");
    scope_set(op, "REFERENCE", "1");
    scope_set(op, "ORDER", names[layout]);
}
