/* SPDX-License-Identifier: Apache-2.0 */
#include "op/op.h"
#include "udo/site.h"

#include <string.h>

#include "udo/param_value.h"

/* The node's constant input that no input of the definition stands for, or -1. */
static int unclaimed_constant(const struct site_build *s)
{
    if (repeated_of(s->def->inputs, s->def->n_inputs) < s->def->n_inputs)
        return -1;
    for (uint32_t i = s->def->n_inputs; i < s->site->n_in; i++)
        if (build_is_const(s->b, s->site->in[i]))
            return (int)i;
    return -1;
}

/* An attribute with nearly that name that no param stands for, or NULL. */
static const char *near_attribute(const struct site_build *s, const char *name)
{
    const char **names = arena_array(s->scratch, const char *, s->site->n_attrs);
    size_t count = 0;
    for (uint32_t i = 0; i < s->site->n_attrs; i++)
        if (op_param_index(s->def->row, s->site->attrs[i].name) < 0)
            names[count++] = s->site->attrs[i].name;
    return nearest_word(name, names, count);
}

static void missing(struct site_build *s, const struct udo_tensor *w)
{
    int input = unclaimed_constant(s);
    const char *near = near_attribute(s, w->name), *hint;
    if (near)
        hint = arena_printf(s->arena, "the node has an attribute '%s': is that the name that is meant at %s?", near,
                            site_place(s, &w->place));
    else if (input >= 0)
        hint = arena_printf(
            s->arena,
            "the node has an input %d ('%s') with data that the definition does not list: if that is meant, "
            "list it as an input with %s, not as a param",
            input, graph_tensor(s->b->graph, s->site->in[input])->name,
            udo_words_of(&w->place, "\"static\": true", "<IsStaticTensor>"));
    else if (w->unused_default)
        hint = arena_printf(s->arena, "<Mandatory> is true at %s, so that the <Default> is not used",
                            site_place(s, &w->place));
    else if (!w->place.pointer)
        hint = arena_printf(s->arena, "make <Mandatory> false at %s, or give a <Default> as well",
                            site_place(s, &w->place));
    else
        hint = arena_printf(s->arena, "give a default_value at %s", site_place(s, &w->place));
    site_error(s, w->name, hint, "udo-missing-param",
               "the node has no attribute '%s', and the definition no default for it", w->name);
}

/* Brings the attribute's value into the form of a scalar or tensor param. */
static bool reform(struct site_build *s, const struct udo_tensor *w, bool is_tensor, struct param *value)
{
    if (is_tensor && !value->is_tensor) {
        value_to_tensor(s->arena, value);
    } else if (!is_tensor && value->is_tensor) {
        uint64_t count = shape_count(&value->shape);
        if (!value_to_scalar(value)) {
            site_error(s, w->name,
                       arena_printf(s->arena, "%s at %s",
                                    udo_words_of(&w->place, "list it under tensor_params", "give it another <Rank>"),
                                    site_place(s, &s->def->place)),
                       "udo-param-misfit", "'%s' is a scalar param, but the attribute holds %llu values", w->name,
                       (unsigned long long)count);
            return false;
        }
        if (site_first(s, "one-element", w->name))
            site_warn(s, w->name,
                      udo_words_of(&w->place, "list it under tensor_params if the operation takes a list",
                                   "give it another <Rank> than SCALAR if the operation takes a list"),
                      "udo-list-as-scalar",
                      "'%s' is a scalar param, and the attribute a list of one element, which is taken", w->name);
    }
    return true;
}

/* The number of an enumeration's value, given by name or as the number itself. */
static bool enumerate_one(struct site_build *s, const struct udo_tensor *w, const char *name, int64_t *number)
{
    const struct udo_words *e = &w->enumeration;
    const char *place = site_place(s, &w->place);
    if (!name) {
        if (*number >= 0 && *number < e->count)
            return true;
        site_error(s, w->name, arena_printf(s->arena, "the enumeration is at %s", place), "udo-unknown-enum",
                   "'%s' is %lld, but its enumeration has %u values, from 0 on", w->name, (long long)*number, e->count);
        return false;
    }
    for (uint32_t i = 0; i < e->count; i++)
        if (strcmp(name, e->words[i]) == 0) {
            *number = i;
            return true;
        }
    const char *nearest = nearest_word(name, e->words, e->count);
    site_error(s, w->name,
               nearest ? arena_printf(s->arena, "did you mean '%s'? The enumeration is at %s", nearest, place)
                       : arena_printf(s->arena, "the enumeration is at %s", place),
               "udo-unknown-enum", "'%s' is '%s', which its enumeration does not have", w->name, name);
    return false;
}

static bool enumerate(struct site_build *s, const struct udo_tensor *w, struct param *value)
{
    const char *why;
    if (dtype_is_float(value->dtype) && !value_convert(s->arena, value, DT_INT64, &why)) {
        site_error(s, w->name, NULL, "udo-unknown-enum", "'%s' is an enumeration, but the model gives a fraction",
                   w->name);
        return false;
    }
    if (!value->is_tensor) {
        if (!enumerate_one(s, w, value->dtype == DT_STRING ? value->s : NULL, &value->i))
            return false;
        value->s = NULL;
    } else {
        uint64_t count = shape_count(&value->shape);
        int64_t *ints = arena_array(s->arena, int64_t, count);
        for (uint64_t k = 0; k < count; k++) {
            ints[k] = value->ints ? value->ints[k] : 0;
            if (!enumerate_one(s, w, value->dtype == DT_STRING ? value->strings[k] : NULL, &ints[k]))
                return false;
        }
        value->ints = ints;
        value->strings = NULL;
    }
    value->dtype = DT_INT64;
    return true;
}

/* A value that some core does not take. */
static void check_only_default(struct site_build *s, const struct udo_tensor *w, const struct param *value)
{
    struct param only;
    const char *why;
    if (!w->only_default || !w->only_value)
        return;
    only = *w->only_value;
    bool same = value_convert(s->arena, &only, value->dtype, &why) && value_equal(&only, value);
    if (same || !site_first(s, "only default", w->name))
        return;
    struct odlc_udo_value shown = {.name = w->name}, given = {.name = w->name};
    report_param(s, &shown, ODLC_UDO_DEFAULT, w->only_value);
    report_param(s, &given, ODLC_UDO_ATTRIBUTE, value);
    site_warn(s, w->name, arena_printf(s->arena, "<OnlyDefaultSupported> is said of %s", site_place(s, &w->place)),
              "udo-only-default", "'%s' is %s in the model, but its default, %s, is all that is supported on %s",
              w->name, given.text, shown.text, w->only_default);
}

/* Tensor params, and scalar params as if they were ones. */
static void fill(struct site_build *s, const struct udo_tensor *w, bool is_tensor, struct param *out,
                 struct odlc_udo_value *report)
{
    const struct param *attr = site_attr(s, w->name), *schema = NULL;
    if (!attr && !w->default_value)
        schema = site_default(s, w->name);
    if (!attr && !w->default_value && !schema) {
        if (w->optional)
            report->origin = ODLC_UDO_ABSENT;
        else
            missing(s, w);
        return;
    }
    struct param value = attr ? *attr : schema ? *schema : *w->default_value;
    if (!reform(s, w, is_tensor, &value) || (w->enumeration.count && !enumerate(s, w, &value)))
        return;
    struct perm perm;
    if (attr && is_tensor && layout_perm(s->site, w->layout, value.shape.rank, &perm))
        value_permute(s->arena, &value, &perm);
    const char *why;
    enum dtype dtype = w->default_value && !attr ? w->dtype : udo_pick_dtype(w->dtype, w->several, value.dtype);
    if (!value_convert(s->arena, &value, dtype_narrowed(dtype ? dtype : value.dtype), &why)) {
        site_error(s, w->name, arena_printf(s->arena, "the data_type is declared at %s", site_place(s, &w->place)),
                   "udo-param-misfit", "param '%s': %s", w->name, why);
        return;
    }
    if (attr || schema)
        check_only_default(s, w, &value);
    value.name = w->name;
    value.usage = 1;
    value.set = true;
    report_param(s, report, attr ? ODLC_UDO_ATTRIBUTE : schema ? ODLC_UDO_SCHEMA : ODLC_UDO_DEFAULT, &value);
    *out = value;
}

void site_fill_params(struct site_build *s, struct param *params)
{
    const struct udo_def *def = s->def;
    report_params(s);
    struct odlc_udo_value *report = s->params;
    for (uint32_t i = 0; i < def->n_scalar_params; i++) {
        const struct udo_scalar *p = &def->scalar_params[i];
        const struct udo_tensor w = {.name = p->name,
                                     .dtype = p->dtype,
                                     .default_value = p->default_value,
                                     .place = p->place,
                                     .several = p->several,
                                     .optional = p->optional,
                                     .unused_default = p->unused_default,
                                     .enumeration = p->enumeration,
                                     .only_value = p->only_value,
                                     .only_default = p->only_default};
        fill(s, &w, false, params++, report++);
    }
    for (uint32_t i = 0; i < def->n_tensor_params; i++)
        fill(s, &def->tensor_params[i], true, params++, report++);
    for (uint32_t i = 0; i < def->n_supplemental; i++)
        *params++ = def->supplemental[i];
}
