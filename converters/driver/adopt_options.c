/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/adopt_options.h"

#include <stdalign.h>
#include <string.h>

#include "base/struct_members.h"
#include "base/struct_size.h"

static const struct odlc_convert_options defaults = {
    .struct_size = sizeof defaults,
#define ODLC_DECLARE(type, member, initial) .member = (initial),
#include "opendlc/convert_options.def"
};

void odlc_convert_defaults(struct odlc_convert_options *options, size_t struct_size)
{
    struct_set_defaults(options, struct_size, &defaults, sizeof defaults);
}

const struct odlc_member *odlc_convert_members(size_t *count, size_t *size)
{
    static const struct odlc_member members[] = {
#define ODLC_DECLARE(type, member, initial) {#member, MEMBER_KIND(type), offsetof(struct odlc_convert_options, member)},
#include "opendlc/convert_options.def"
    };
    *count = COUNT_OF(members);
    *size = sizeof(struct odlc_convert_options);
    return members;
}

static const struct odlc_name_value *canonical_pairs(const struct context *c, const struct odlc_name_value *pairs,
                                                     size_t n)
{
    struct odlc_name_value *copy = arena_array(c->arena, struct odlc_name_value, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = (struct odlc_name_value){c->frontend->canonical_name(c->arena, pairs[i].name), pairs[i].value};
    return copy;
}

static const char *const *canonical_list(const struct context *c, const char *const *names, size_t n)
{
    const char **copy = arena_array(c->arena, const char *, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = c->frontend->canonical_name(c->arena, names[i]);
    return copy;
}

/* Names of values as the model spells them. */
static void spell_as_model(const struct context *c, struct odlc_convert_options *o)
{
    o->input_dims = canonical_pairs(c, o->input_dims, o->n_input_dims);
    o->input_dtypes = canonical_pairs(c, o->input_dtypes, o->n_input_dtypes);
    o->frozen_inputs = canonical_pairs(c, o->frozen_inputs, o->n_frozen_inputs);
    o->input_layouts = canonical_pairs(c, o->input_layouts, o->n_input_layouts);
    o->out_names = canonical_list(c, o->out_names, o->n_out_names);
    o->preserve_names = o->preserve_names ? canonical_list(c, o->preserve_names, o->n_preserve_names) : NULL;
}

odlc_status adopt_options(struct context *c, const struct odlc_convert_options *given)
{
    struct odlc_convert_options *own = arena_memdup(c->arena, &defaults, sizeof defaults);
    const size_t size = given->struct_size, least = offsetof(struct odlc_convert_options, input) + sizeof given->input;
    c->options = own;
    if (size < least || size % alignof(struct odlc_convert_options))
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = "odlc_convert_defaults sets it"), "struct-size",
                          "no version of struct odlc_convert_options has %zu bytes", size);
    if (struct_says_more(given, sizeof *own, size))
        return diag_error(c->diags, ODLC_ERR_USAGE,
                          AT(.hint = "run the program with the library that it was compiled for, or a newer one"),
                          "struct-size", "the options have something beyond the %zu bytes that this library knows",
                          sizeof *own);
    memcpy(own, given, size < sizeof *own ? size : sizeof *own);
    own->struct_size = sizeof *own;
    if (c->frontend && c->frontend->canonical_name)
        spell_as_model(c, own);
    return ODLC_OK;
}

/* ---- names by which the model knows its inputs and outputs ---- */

/* The value that is called so; NULL: none is, beside by its own name. */
static const char *value_called(const fw_aliases *aliases, const char *name)
{
    for (size_t i = 0; i < aliases->count; i++)
        if (strcmp(aliases->data[i].name, name) == 0)
            return aliases->data[i].value;
    return NULL;
}

static const struct odlc_name_value *resolved_pairs(const struct context *c, const struct fw_model *model,
                                                    const struct odlc_name_value *pairs, size_t n)
{
    struct odlc_name_value *copy = arena_array(c->arena, struct odlc_name_value, n);
    for (size_t i = 0; i < n; i++) {
        const char *value = value_called(&model->input_aliases, pairs[i].name);
        copy[i] = (struct odlc_name_value){value ? value : pairs[i].name, pairs[i].value};
    }
    return copy;
}

/* A name may be that of an input and of an output. */
static void resolve_preserved(const struct context *c, const struct fw_model *model, struct odlc_convert_options *o)
{
    VEC(const char *) names = {0};
    for (size_t i = 0; i < o->n_preserve_names; i++) {
        const char *input = value_called(&model->input_aliases, o->preserve_names[i]),
                   *output = value_called(&model->output_aliases, o->preserve_names[i]);
        if (input)
            vec_push(c->arena, &names, input);
        if (output)
            vec_push(c->arena, &names, output);
        if (!input && !output)
            vec_push(c->arena, &names, o->preserve_names[i]);
    }
    o->preserve_names = names.data;
    o->n_preserve_names = names.count;
}

void adopt_model_names(struct context *c, const struct fw_model *model)
{
    struct odlc_convert_options *o = arena_memdup(c->arena, c->options, sizeof *c->options);
    o->input_dims = resolved_pairs(c, model, o->input_dims, o->n_input_dims);
    o->input_dtypes = resolved_pairs(c, model, o->input_dtypes, o->n_input_dtypes);
    o->frozen_inputs = resolved_pairs(c, model, o->frozen_inputs, o->n_frozen_inputs);
    o->input_layouts = resolved_pairs(c, model, o->input_layouts, o->n_input_layouts);
    if (o->n_preserve_names)
        resolve_preserved(c, model, o);
    c->options = o;
}

struct fw_load_options load_options(const struct context *c)
{
    const struct odlc_convert_options *o = c->options;
    const char **cut = arena_array(c->arena, const char *, o->n_input_dims);
    for (size_t i = 0; i < o->n_input_dims; i++)
        cut[i] = o->input_dims[i].name;
    return (struct fw_load_options){.input = o->input,
                                    .out_names = o->out_names,
                                    .n_out_names = o->n_out_names,
                                    .cut_inputs = cut,
                                    .n_cut_inputs = o->n_input_dims,
                                    .saved_model_tag = o->saved_model_tag,
                                    .signature_key = o->signature_key,
                                    .saved_model_function = o->saved_model_function,
                                    .follow_links = o->follow_links};
}
