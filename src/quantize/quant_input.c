/* SPDX-License-Identifier: Apache-2.0 */
#include "quantize/quant_input.h"

#include <string.h>

#include "ir/tensor_name.h"

/* Says which inputs there are. */
static odlc_status no_input(struct arena *arena, struct diags *diags, const struct graph *g, const char *name,
                            const struct odlc_diag *place)
{
    const char **names = arena_array(arena, const char *, g->inputs.count);
    for (size_t i = 0; i < g->inputs.count; i++)
        names[i] = graph_tensor(g, g->inputs.data[i])->name;
    const char *nearest = name ? nearest_word(name, names, g->inputs.count) : NULL;
    const char *hint = nearest ? arena_printf(arena, "did you mean %s?", nearest) : NULL;
    if (name)
        return diag_error(diags, ODLC_ERR_USAGE, AT(.file = place->file, .line = place->line, .hint = hint),
                          "quantize-input", "the graph has no input %s", name);
    return diag_error(diags, ODLC_ERR_USAGE,
                      AT(.file = place->file, .line = place->line, .hint = "write name:=path for each input"),
                      "quantize-input", "the graph has %zu inputs", g->inputs.count);
}

odlc_status quant_find_input(struct arena *arena, struct diags *diags, const struct graph *g, const char *name,
                             const struct odlc_diag *place, tensor_id *out)
{
    *out = name ? graph_find_named(arena, g, name) : g->inputs.count == 1 ? g->inputs.data[0] : NO_TENSOR;
    return *out != NO_TENSOR && graph_tensor(g, *out)->kind == TENSOR_INPUT ? ODLC_OK
                                                                            : no_input(arena, diags, g, name, place);
}

/* Values that are not of the input's type are the wrong file. */
static odlc_status fill(struct arena *scratch, struct diags *diags, const struct tensor *t, const float *values,
                        const struct odlc_diag *place, struct buffer *b)
{
    uint64_t bad;
    const struct view view = view_of(values, DT_FLOAT32, &t->type->shape);
    const struct buffer wide = {.dtype = DT_FLOAT32, .shape = b->shape, .data = (void *)values};
    if (!dtype_is_float(b->dtype) && !dtype_is_fixed(b->dtype) && !view_fits(scratch, &view, b->dtype, &bad))
        return diag_error(diags, ODLC_ERR_INVALID,
                          AT(.file = place->file, .line = place->line,
                             .hint = "data that are in the input's own type already: --use_native_input_files"),
                          "quantize-input", "value %llu of input %s is %g, which is not a value of type %s",
                          (unsigned long long)bad, t->name, (double)values[bad], dtype_info(b->dtype)->display);
    buffer_narrow(&wide, b);
    return ODLC_OK;
}

odlc_status quant_fill_input(struct arena *scratch, struct diags *diags, const struct tensor *t, const void *values,
                             bool is_native, const struct odlc_diag *place, struct buffer *b)
{
    if (t->type->dtype == DT_STRING)
        return diag_error(diags, ODLC_ERR_UNSUPPORTED, place, "quantize-input", "input %s is one of strings", t->name);
    if (!b->data)
        return ODLC_OK;
    if (!is_native || dtype_is_float(b->dtype))
        return fill(scratch, diags, t, values, place, b);
    memcpy(b->data, values, tensor_bytes(t->type));
    return ODLC_OK;
}

odlc_status quant_take_inputs(struct diags *diags, const struct executor *e, bool *is_given,
                              const struct odlc_diag *place)
{
    const struct graph *g = e->scope.graph;
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < g->inputs.count; i++) {
        const tensor_id id = g->inputs.data[i];
        if (e->needed.used[id] && !is_given[id])
            status = diag_error(diags, ODLC_ERR_USAGE, place, "quantize-input", "there are no data for input %s",
                                graph_tensor(g, id)->name);
        is_given[id] = false;
    }
    return status;
}
