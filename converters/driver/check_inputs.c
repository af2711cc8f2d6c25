/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/check_inputs.h"

#include <string.h>

static odlc_status check_input(const struct context *c, const struct input *in, const struct fw_value *v)
{
    if (v->not_a_tensor)
        return diag_error(c->diags, ODLC_ERR_UNSUPPORTED, AT(.file = in->model->path), "input-type",
                          "graph input %s is not a tensor", v->name);
    if (v->dtype == DT_NONE)
        return diag_error(c->diags, ODLC_ERR_INVALID, AT(.file = in->model->path, .hint = "give it with --input_dtype"),
                          "input-type", "graph input %s has no element type", v->name);
    if (v->dtype == DT_STRING)
        return diag_error(c->diags, ODLC_ERR_UNSUPPORTED, AT(.file = in->model->path), "input-type",
                          "graph input %s holds strings: a container computes on numbers", v->name);
    return ODLC_OK;
}

static bool is_open(const struct fw_value *v)
{
    bool open = !v->has_shape;
    for (uint32_t k = 0; !open && k < v->rank; k++)
        open = v->dims[k] == DIM_OPEN;
    return open;
}

/* What is open of the graph inputs, and how it can be fixed. */
struct open_dims {
    text inputs, dims, symbols; /* each with its dimensions; --input_dim for each; --define_symbol for each */
    struct map known;           /* symbols */
    const struct fw_value *first;
    size_t count;
    bool firsts; /* one of them is open in its first dimension */
};

/* As an option takes them: <N>,<size>,3 */
static void add_option_dims(const struct context *c, text *to, const struct fw_value *v)
{
    if (!v->has_shape)
        text_add(c->arena, to, "<dimensions, [] for a scalar>");
    for (uint32_t k = 0; v->has_shape && k < v->rank; k++) {
        const char *symbol = fw_symbol(v, k), *before = k ? "," : "";
        if (v->dims[k] != DIM_OPEN)
            text_add(c->arena, to, "%s%lld", before, (long long)v->dims[k]);
        else
            text_add(c->arena, to, "%s<%s>", before, symbol ? symbol : "size");
    }
}

static void note_open(const struct context *c, struct open_dims *open, const struct fw_value *v)
{
    open->first = open->count ? open->first : v;
    text_add(c->arena, &open->inputs, "%s%s [%s]", open->count ? ", " : "", v->name, fw_dims_text(c->arena, v));
    text_add(c->arena, &open->dims, "%s--input_dim %s ", open->count++ ? " " : "", v->name);
    add_option_dims(c, &open->dims, v);
    open->firsts |= v->has_shape && v->dims[0] == DIM_OPEN;
    for (uint32_t k = 0; v->has_shape && k < v->rank; k++) {
        const char *symbol = v->dims[k] == DIM_OPEN ? fw_symbol(v, k) : NULL;
        if (symbol && map_add(&open->known, symbol, 1) == MAP_NONE)
            text_add(c->arena, &open->symbols, "%s--define_symbol %s <size>", open->symbols.count ? " " : "", symbol);
    }
}

static odlc_status report_open(const struct context *c, const struct input *in, const struct open_dims *open)
{
    text hint = {0};
    text_add(c->arena, &hint, "give %s", open->dims.data);
    if (open->symbols.count)
        text_add(c->arena, &hint, ", or %s", open->symbols.data);
    if (open->firsts)
        text_add(c->arena, &hint, ", or --batch <size> for the first dimension of every input");
    const struct odlc_diag *at = AT(.file = in->model->path, .hint = hint.data);
    if (open->count > 1)
        return diag_error(c->diags, ODLC_ERR_UNSUPPORTED, at, "open-dims", "%zu graph inputs have open dimensions: %s",
                          open->count, open->inputs.data);
    const char *name = open->first->name;
    return diag_error(c->diags, ODLC_ERR_UNSUPPORTED, at, "open-dims", "graph input %s has open dimensions: %s", name,
                      open->inputs.data + strlen(name) + 1);
}

odlc_status check_inputs(const struct context *c, const struct input *in)
{
    struct open_dims open = {.count = 0};
    odlc_status status = ODLC_OK;
    map_init(&open.known, c->model_arena);
    for (size_t i = 0; i < in->model->graph.inputs.count; i++) {
        const struct fw_value *v = &in->model->graph.inputs.data[i];
        odlc_status checked = check_input(c, in, v);
        if (checked != ODLC_OK)
            status = checked; /* all of them are reported */
        if (!v->not_a_tensor && v->dtype != DT_STRING && is_open(v))
            note_open(c, &open, v);
    }
    return open.count ? report_open(c, in, &open) : status;
}
