/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/track_interface.h"

#include <string.h>

#include "pass/input_layout.h"

static bool preserves(const struct track *t, const char *name)
{
    const struct pass_options *o = t->c->options;
    bool named = !o->preserve_names || map_get(o->preserve_names, name) != MAP_NONE;
    bool custom = o->custom_io && map_get(o->custom_io, name) != MAP_NONE;
    return custom || o->model_layout || (o->preserve_layout && named);
}

bool track_places_input(const struct pass_options *o, uint32_t rank)
{
    return o->channels_first && (rank == 3 || rank == 4);
}

static void place_input(struct track *t, tensor_id id)
{
    const struct pass_options *o = t->c->options;
    struct tensor *tensor = graph_tensor(t->g, id);
    const struct shape before = tensor->type->shape;
    uint32_t index = o->input_layouts ? map_get(o->input_layouts, tensor->name) : MAP_NONE;
    const struct input_layout *layout = index == MAP_NONE ? NULL : input_layout_at(index);
    bool spatial = t->preferred[id].spatial || track_places_input(o, before.rank);
    bool first = before.rank >= 3 && (layout ? layout->order == ORDER_CHANNELS_FIRST : spatial);
    if (first && !preserves(t, tensor->name)) {
        const struct perm last = perm_channels_last(before.rank);
        const char *ways = "--preserve_io layout %s or --input_layout %s NONTRIVIAL keeps the model's order";
        const char *hint = arena_printf(t->c->scratch, ways, tensor->name, tensor->name);
        track_store(t, id, &last);
        diag_note(t->c->diags, AT(.node = tensor->name, .hint = hint), "input-layout",
                  "graph input %s is stored channels-last: %s instead of %s", tensor->name,
                  shape_text(t->c->scratch, &tensor->type->shape), shape_text(t->c->scratch, &before));
    } else if (layout || first) {
        tensor->axis_format = layout ? layout->axis_format : AXIS_FORMAT_NONTRIVIAL;
    }
}

void track_place_inputs(struct track *t)
{
    for (size_t i = 0; i < t->g->inputs.count; i++)
        place_input(t, t->g->inputs.data[i]);
}

/* Makes `id` the graph output called name. A tensor that is already an input, a constant or another output is copied.
 */
static odlc_status claim_output(struct track *t, tensor_id id, const char *name, tensor_id *out)
{
    *out = id;
    if (strcmp(graph_tensor(t->g, id)->name, name) == 0 && graph_tensor(t->g, id)->kind != TENSOR_STATIC)
        return ODLC_OK;
    tensor_id holder = graph_find_tensor(t->g, name);
    if (holder != NO_TENSOR) {
        const char *suffix = order_suffix(ORDER_CHANNELS_LAST, graph_tensor(t->g, holder)->type->shape.rank);
        const char *aside = arena_printf(t->g->arena, "%s.%s", name, suffix);
        graph_rename_tensor(t->g, holder, graph_free_tensor_name(t->g, aside));
    }
    if (graph_tensor(t->g, id)->kind == TENSOR_NATIVE) {
        graph_rename_tensor(t->g, id, name);
        return ODLC_OK;
    }
    *out = build_copy(t->g, id, name);
    return ODLC_OK;
}

/* The axis format of a graph output says whether it is in another order than the model's. */
static odlc_status place_output(struct track *t, size_t i, const char *name)
{
    const tensor_id before = t->g->outputs.data[i];
    const struct location at = t->at[before];
    bool as_it_comes = is_channels_last(&at.perm) && !preserves(t, name);
    tensor_id value = at.stored;
    if (!as_it_comes)
        TRY(track_bring_own_order(t, before, NO_NODE, &value));
    else
        diag_note(t->c->diags,
                  AT(.node = name,
                     .hint = arena_printf(t->c->scratch, "--preserve_io layout %s keeps the model's order", name)),
                  "output-layout", "graph output %s is stored channels-last: %s", name,
                  shape_text(t->c->scratch, &graph_tensor(t->g, value)->type->shape));
    if (graph_tensor(t->g, before)->kind == TENSOR_OUTPUT) /* whose name may be another one's now */
        graph_tensor(t->g, before)->kind = TENSOR_NATIVE;
    TRY(claim_output(t, value, name, &value));
    graph_replace_result(t->g, i, value);
    struct tensor *output = graph_tensor(t->g, value);
    if (graph_tensor(t->g, before)->quant && !output->quant)
        output->quant = graph_tensor(t->g, before)->quant;
    /* What is channels-last inside may be the model's own order of this output, by a Transpose that was not needed. */
    bool says_last = output->axis_format == AXIS_FORMAT_NHWC || output->axis_format == AXIS_FORMAT_NFC;
    if (as_it_comes || says_last)
        output->axis_format = as_it_comes ? order_format(ORDER_CHANNELS_LAST, at.perm.rank) : AXIS_FORMAT_NONTRIVIAL;
    return ODLC_OK;
}

odlc_status track_place_outputs(struct track *t, const char *const *names)
{
    for (size_t i = 0; i < t->g->outputs.count; i++)
        TRY(place_output(t, i, names[i]));
    return ODLC_OK;
}
