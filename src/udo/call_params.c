#include "udo/call.h"

#include "udo/value.h"

/* A param of either kind. */
struct wanted {
    const char *name;
    enum dtype dtype;
    bool is_tensor;
    enum udo_layout layout;
    const struct param *default_value;
    const struct udo_place *place;
};

/* The node's constant input that no input of the definition stands for, or -1. */
static int unclaimed_constant(const struct site *s)
{
    if (s->def->inputs[s->def->n_inputs - 1].repeated)
        return -1;
    for (uint32_t i = s->def->n_inputs; i < s->call->n_in; i++)
        if (build_is_const(s->b, s->call->in[i]))
            return (int)i;
    return -1;
}

static void missing(struct site *s, const struct wanted *w)
{
    int input = unclaimed_constant(s);
    const char *hint;
    if (input >= 0)
        hint = arena_printf(
            s->arena,
            "the node has an input %d ('%s') with data that the definition does not list: if that is meant, "
            "list it as an input with \"static\": true, not as a param",
            input, graph_tensor(s->b->graph, s->call->in[input])->name);
    else
        hint = arena_printf(s->arena, "give a default_value at %s", site_place(s, w->place));
    site_error(s, w->name, hint, "udo-missing-param",
               "the node has no attribute '%s', and the definition no default for it", w->name);
}

/* Brings the attribute's value into the form of a scalar or tensor param. */
static bool reform(struct site *s, const struct wanted *w, struct param *value)
{
    if (w->is_tensor && !value->is_tensor) {
        value_to_tensor(s->arena, value);
    } else if (!w->is_tensor && value->is_tensor) {
        uint64_t count = shape_count(&value->shape);
        if (!value_to_scalar(value)) {
            site_error(s, w->name,
                       arena_printf(s->arena, "list it under tensor_params at %s", site_place(s, &s->def->place)),
                       "udo-param-misfit", "'%s' is a scalar param, but the attribute holds %llu values", w->name,
                       (unsigned long long)count);
            return false;
        }
        if (site_first(s, "one-element", w->name))
            site_warn(s, w->name, "list it under tensor_params if the operation takes a list", "udo-list-as-scalar",
                      "'%s' is a scalar param, and the attribute a list of one element, which is taken", w->name);
    }
    return true;
}

static void fill(struct site *s, const struct wanted *w, struct param *out)
{
    struct param value;
    const struct param *attr = site_attr(s, w->name);
    bool from_schema = !attr && !w->default_value && s->call->schema_default &&
                       s->call->schema_default(s->call->user, w->name, &value);
    if (attr)
        value = *attr;
    else if (w->default_value)
        value = *w->default_value;
    else if (!from_schema) {
        missing(s, w);
        return;
    }
    if (!reform(s, w, &value))
        return;
    struct perm perm;
    if (attr && w->is_tensor && layout_perm(s->call, w->layout, value.shape.rank, &perm))
        value_permute(s->arena, &value, &perm);
    const char *why;
    if (!value_convert(s->arena, &value, w->dtype ? w->dtype : dtype_narrowed(value.dtype), &why)) {
        site_error(s, w->name, arena_printf(s->arena, "the data_type is declared at %s", site_place(s, w->place)),
                   "udo-param-misfit", "param '%s': %s", w->name, why);
        return;
    }
    value.name = w->name;
    value.usage = 1;
    value.set = true;
    *out = value;
}

void call_params(struct site *s, struct param *params)
{
    const struct udo_def *def = s->def;
    for (uint32_t i = 0; i < def->n_scalar_params; i++) {
        const struct udo_scalar *p = &def->scalar_params[i];
        struct wanted w = {.name = p->name, .dtype = p->dtype, .default_value = p->default_value, .place = &p->place};
        fill(s, &w, params++);
    }
    for (uint32_t i = 0; i < def->n_tensor_params; i++) {
        const struct udo_tensor *p = &def->tensor_params[i];
        struct wanted w = {p->name, p->dtype, true, p->layout, p->default_value, &p->place};
        fill(s, &w, params++);
    }
    for (uint32_t i = 0; i < def->n_supplemental; i++)
        *params++ = def->supplemental[i];
}
