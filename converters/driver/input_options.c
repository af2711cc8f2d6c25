/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/input_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "converters/driver/model_inputs.h"

/* "1,3,224,224", or "[]" for a scalar. */
static bool parse_dims(const char *text, int64_t dims[MAX_RANK], uint32_t *rank)
{
    *rank = 0;
    if (strcmp(text, "[]") == 0)
        return true;
    for (const char *p = text; *p && *rank < MAX_RANK; p++) {
        char *end;
        errno = 0;
        long long value = strtoll(p, &end, 10);
        if (end == p || errno || value <= 0 || (*end && *end != ','))
            return false;
        dims[(*rank)++] = value;
        p = end;
        if (!*p)
            return true;
    }
    return false;
}

static odlc_status set_dims(const struct context *c, struct input *in, struct fw_value *value, const char *text)
{
    int64_t dims[MAX_RANK];
    uint32_t rank;
    if (!parse_dims(text, dims, &rank))
        return diag_error(c->diags, ODLC_ERR_USAGE,
                          AT(.hint = "positive numbers with commas: 1,3,224,224, or [] for a scalar"), "bad-dims",
                          "--input_dim %s: %s is not a list of dimensions", value->name, text);
    if (value->has_shape && value->rank != rank)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.file = in->model->path), "bad-dims",
                          "--input_dim %s: %u dimensions given, the model's input has %u", value->name, rank,
                          value->rank);
    if (!value->has_shape)
        value->dims = arena_array(c->model_arena, int64_t, rank);
    for (uint32_t i = 0; i < rank; i++) {
        if (value->has_shape && value->dims[i] != DIM_OPEN && value->dims[i] != dims[i]) {
            in->dims_overridden = true;
            diag_warn(c->diags, AT(.file = in->model->path), "dims-overridden",
                      "input %s: dimension %u is %lld in the model, %lld is used", value->name, i,
                      (long long)value->dims[i], (long long)dims[i]);
        }
        value->dims[i] = dims[i];
    }
    value->has_shape = true;
    value->rank = (uint8_t)rank;
    return ODLC_OK;
}

static odlc_status apply_named(const struct context *c, struct input *in)
{
    const struct odlc_convert_options *o = c->options;
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < o->n_input_dims; i++) {
        if (is_unneeded_input(c, in, o->input_dims[i].name, "--input_dim"))
            continue;
        struct fw_value *value = find_model_input(c, in, o->input_dims[i].name, "--input_dim");
        if (!value || set_dims(c, in, value, o->input_dims[i].value) != ODLC_OK)
            status = ODLC_ERR_USAGE;
    }
    for (size_t i = 0; i < o->n_input_dtypes; i++) {
        if (is_unneeded_input(c, in, o->input_dtypes[i].name, "--input_dtype"))
            continue;
        struct fw_value *value = find_model_input(c, in, o->input_dtypes[i].name, "--input_dtype");
        enum dtype dtype = dtype_from_name(o->input_dtypes[i].value);
        if (value && dtype != DT_NONE)
            value->dtype = dtype;
        else
            status = ODLC_ERR_USAGE;
        if (value && dtype == DT_NONE)
            status =
                diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = "float32, float16, int32, int64, uint8, bool, …"),
                           "bad-dtype", "--input_dtype %s: there is no type %s", value->name, o->input_dtypes[i].value);
    }
    for (size_t i = 0; i < o->n_input_layouts; i++)
        if (!is_unneeded_input(c, in, o->input_layouts[i].name, "--input_layout") &&
            !find_model_input(c, in, o->input_layouts[i].name, "--input_layout"))
            status = ODLC_ERR_USAGE;
    return status;
}

/* What --define_symbol is about. */
struct symbols {
    struct map known;   /* of the model's inputs */
    name_list names;    /* these, in their order */
    struct map defined; /* symbol → sizes */
    VEC(int64_t) sizes;
};

static void list_symbols(const struct context *c, struct input *in, struct symbols *s)
{
    const struct fw_graph *g = &in->model->graph;
    map_init(&s->known, c->scratch);
    map_init(&s->defined, c->scratch);
    for (size_t i = 0; i < g->inputs.count; i++) {
        const struct fw_value *v = &g->inputs.data[i];
        for (uint32_t k = 0; v->has_shape && k < v->rank; k++)
            if (fw_symbol(v, k) && map_add(&s->known, fw_symbol(v, k), 1) == MAP_NONE)
                vec_push(c->scratch, &s->names, fw_symbol(v, k));
    }
}

static odlc_status define_symbol(const struct context *c, struct input *in, struct symbols *s,
                                 const struct odlc_name_value *given)
{
    int64_t size[MAX_RANK];
    uint32_t rank;
    if (!parse_dims(given->value, size, &rank) || rank != 1)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.file = in->model->path), "bad-symbol",
                          "--define_symbol %s: %s is not a positive number", given->name, given->value);
    if (map_get(&s->known, given->name) == MAP_NONE)
        return report_unknown_name(c, in, "unknown-symbol",
                                   "--define_symbol: the model's inputs have no symbolic dimension", given->name,
                                   &s->names, "symbols");
    if (map_add(&s->defined, given->name, (uint32_t)s->sizes.count) == MAP_NONE)
        vec_push(c->scratch, &s->sizes, size[0]);
    return ODLC_OK;
}

static odlc_status apply_symbols(const struct context *c, struct input *in)
{
    const struct odlc_convert_options *o = c->options;
    const struct fw_graph *g = &in->model->graph;
    struct symbols s = {0};
    odlc_status status = ODLC_OK;
    list_symbols(c, in, &s);
    for (size_t i = 0; i < o->n_symbols; i++)
        if (define_symbol(c, in, &s, &o->symbols[i]) != ODLC_OK)
            status = ODLC_ERR_USAGE;
    for (size_t i = 0; i < g->inputs.count; i++) {
        const struct fw_value *v = &g->inputs.data[i];
        for (uint32_t k = 0; v->has_shape && k < v->rank; k++) {
            bool open = v->dims[k] == DIM_OPEN && fw_symbol(v, k);
            uint32_t size = open ? map_get(&s.defined, fw_symbol(v, k)) : MAP_NONE;
            if (size != MAP_NONE)
                v->dims[k] = s.sizes.data[size];
        }
    }
    return status;
}

/* --batch and --define_symbol fill the dimensions that are still open. */
static odlc_status fill_open_dims(const struct context *c, struct input *in)
{
    const struct odlc_convert_options *o = c->options;
    struct fw_graph *g = &in->model->graph;
    for (size_t i = 0; i < g->inputs.count; i++) {
        struct fw_value *v = &g->inputs.data[i];
        if (o->batch <= 0 || !v->has_shape || v->rank == 0)
            continue;
        in->dims_overridden |= v->dims[0] != DIM_OPEN && v->dims[0] != o->batch;
        v->dims[0] = o->batch;
    }
    return o->n_symbols ? apply_symbols(c, in) : ODLC_OK;
}

odlc_status apply_input_options(const struct context *c, struct input *in)
{
    TRY(apply_named(c, in));
    return fill_open_dims(c, in);
}
