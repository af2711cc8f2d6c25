/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions that replace native ops after the model has been translated (UseDefaultTranslation). */
#include <string.h>

#include "op/op.h"
#include "op/params.h"
#include "udo/param_value.h"
#include "udo/site.h"
#include "udo/udo_row.h"

/* The native node's params as the attributes that a definition finds its own by. */
static const struct param *native_attrs(struct site_build *s, const struct node *n, uint32_t *count)
{
    struct param *attrs = arena_array(s->arena, struct param, n->op->n_params);
    *count = 0;
    for (uint32_t i = 0; i < n->op->n_params; i++) {
        if (!n->params[i].set || n->op->params[i].supplemental)
            continue;
        attrs[(*count)++] = node_get_param(n, i);
        if (op_param_index(s->def->row, n->op->params[i].name) < 0 && site_first(s, "param", n->op->params[i].name))
            site_warn(s, n->op->params[i].name, "list it as a <Parameter> if the operation needs it",
                      "udo-unnamed-attribute", "param '%s' of native '%s' is not named by the definition and left out",
                      n->op->params[i].name, n->op->name);
    }
    return attrs;
}

/* Native ops see what the container has: channels last. */
static void check_operand(struct site_build *s, const char *label, const struct udo_tensor *declared, tensor_id id)
{
    const struct tensor *t = graph_tensor(s->b->graph, id);
    enum dtype dtype = dtype_narrowed(udo_pick_dtype(declared->dtype, declared->several, t->type->dtype));
    if (declared->layout == UDO_LAYOUT_NCHW && t->type->shape.rank >= 3)
        site_error(s, declared->name, "declare NHWC, or claim the model's operator with <UseDefaultTranslation> false",
                   "udo-native-layout", "%s is declared NCHW, but after the translation it has its channels last",
                   label);
    if (declared->is_static && t->kind != TENSOR_STATIC)
        site_error(s, declared->name,
                   arena_printf(s->arena, "remove <IsStaticTensor> at %s", site_place(s, &declared->place)),
                   "udo-static-without-data", "%s is static, but the model computes it when it runs", label);
    if (t->kind == TENSOR_STATIC && dtype != DT_NONE && dtype != t->type->dtype)
        site_error(s, declared->name, "declare the type that the native op has", "udo-value-misfit",
                   "%s is declared %s, but its data is %s after the translation", label, udo_type_name(dtype),
                   udo_type_name(t->type->dtype));
}

static void check_operands(struct site_build *s, const struct node *n)
{
    const struct udo_def *def = s->def;
    for (uint32_t i = 0; i < n->n_inputs || i < def->n_inputs; i++) {
        const struct udo_tensor *in = site_input(s, i);
        const char *label = operand_label(s, "input", i, in);
        tensor_id id = i < n->n_inputs ? n->inputs[i] : NO_TENSOR;
        if (!in)
            site_error(s, NULL, arena_printf(s->arena, "list every input at %s", site_place(s, &def->place)),
                       "udo-surplus-inputs", "the native op has %u inputs, but the definition of '%s' lists %u",
                       n->n_inputs, def->type, def->n_inputs);
        else if (id != NO_TENSOR)
            check_operand(s, label, in, id);
        else if (!in->optional || in->default_value)
            site_error(s, in->name, NULL, "udo-missing-input", "the native op has no %s", label);
    }
    for (uint32_t j = 0; j < n->n_outputs || j < least_outputs(def); j++) {
        const struct udo_tensor *out = site_output(s, j);
        if (!out || j >= n->n_outputs) {
            site_error(s, NULL, NULL, "udo-surplus-outputs",
                       "the native op has %u outputs, but the definition of '%s' lists %u", n->n_outputs, def->type,
                       def->n_outputs);
            return;
        }
        check_operand(s, operand_label(s, "output", j, out), out, n->outputs[j]);
    }
}

static odlc_status replace(struct udo_set *set, const struct udo_def *def, struct build *b, struct node *n)
{
    struct arena *arena = b->graph->arena;
    struct udo_site site = {.path = set->diags->model, .label = n->source ? n->source : n->name};
    struct site_build s = {.set = set,
                           .def = def,
                           .use = &set->uses.data[def->index],
                           .b = b,
                           .site = &site,
                           .n_in = n->n_inputs,
                           .n_out = n->n_outputs,
                           .arena = arena,
                           .scratch = arena};
    struct param *params = arena_array(s.arena, struct param, def->row->n_params);
    s.use->nodes++;
    report_begin(&s);
    report_native(&s, n);
    site.attrs = native_attrs(&s, n, &site.n_attrs);
    site_check_definition(&s);
    check_operands(&s, n);
    site_fill_params(&s, params);
    report_end(&s);
    if (s.errors)
        return ODLC_ERR_INVALID;
    n->op = def->row;
    n->params = arena_array(s.arena, struct packed_param, def->row->n_params);
    for (uint32_t i = 0; i < def->row->n_params; i++)
        if (params[i].set)
            node_set_param(b->graph, n, i, &params[i]);
    return ODLC_OK;
}

/* With the nearest op that the graph has: its nodes may have become another one. */
static void say_unused(struct udo_set *set, const struct udo_def *def, const struct graph *g)
{
    const char *nearest = NULL;
    for (size_t i = 0; i < g->order.count; i++) {
        const char *both[] = {nearest, graph_node(g, g->order.data[i])->op->name};
        nearest = nearest ? nearest_word(def->type, both, 2) : nearest_word(def->type, &both[1], 1);
    }
    const struct odlc_diag place =
        udo_at(&def->place, nearest ? arena_printf(set->arena, "did you mean '%s'?", nearest) : NULL);
    diag_warn(set->diags, &place, "udo-unused", "the definition of '%s' matches no native op of the translated model",
              def->type);
}

odlc_status udo_replace_natives(struct udo_set *set, struct graph *g)
{
    odlc_status status = ODLC_OK;
    struct build b;
    build_init(&b, g, set->diags);
    for (size_t i = 0; set->natives.count && i < g->order.count; i++) {
        struct node *n = graph_node(g, g->order.data[i]);
        uint32_t at = n->op->package ? MAP_NONE : map_get(&set->natives, n->op->name);
        if (at != MAP_NONE && replace(set, set->defs.data[at], &b, n) != ODLC_OK)
            status = ODLC_ERR_INVALID;
    }
    for (size_t i = 0; i < set->defs.count; i++)
        if (set->defs.data[i]->replaces_native && !set->uses.data[i].nodes)
            say_unused(set, set->defs.data[i], g);
    return status;
}
