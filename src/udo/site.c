/* SPDX-License-Identifier: Apache-2.0 */
#include "udo/site.h"

#include "op/op.h"

/* A layout that says nothing of operand i; where the definition tells the rank, it has been said. */
static void check_layout(struct site_build *s, const char *kind, uint32_t i, const struct udo_tensor *t, uint32_t rank)
{
    if (layout_fits(t->layout, rank))
        return;
    const char *label = operand_label(s, kind, i, t);
    int declared = declared_rank(t);
    bool said = declared >= 0 && !layout_fits(t->layout, (uint32_t)declared);
    if (!said && site_first(s, "layout", label))
        site_warn(s, t->name, "layouts are those of images, of rank 3 to 5: the tensor is taken as it is",
                  "udo-layout-rank", "%s of '%s' is declared %s, but has rank %u", label, s->def->type,
                  t->layout == UDO_LAYOUT_NCHW ? "NCHW" : "NHWC", rank);
}

static void check_layouts(struct site_build *s, const struct site_operands *in, const struct type *types)
{
    for (uint32_t i = 0; i < in->count; i++)
        if (in->known[i])
            check_layout(s, "input", i, site_input(s, i), in->shapes[i].rank);
    for (uint32_t j = 0; j < s->n_out; j++)
        if (types[j].dtype != DT_NONE)
            check_layout(s, "output", j, site_output(s, j), types[j].shape.rank);
}

/* ---- building ---- */

/* Attributes that the definition does not name are reported once, by udo_finish. */
static void note_unnamed(struct site_build *s)
{
    for (uint32_t i = 0; i < s->site->n_attrs; i++) {
        const char *name = s->site->attrs[i].name;
        if (op_param_index(s->def->row, name) < 0 && site_first(s, "attribute", name))
            vec_push(s->set->arena, &s->use->unnamed, arena_strdup(s->set->arena, name));
    }
}

/* Brings output j, which the node gives in the declared layout, into the model's order under its own name. */
static odlc_status restore_order(struct site_build *s, const struct udo_tensor *out, const char *name, tensor_id given,
                                 tensor_id *result)
{
    struct perm perm;
    *result = given;
    if (!layout_perm(s->site, out->layout, build_rank(s->b, given), &perm))
        return ODLC_OK;
    perm = perm_inverse(&perm);
    TRY(build_transpose(s->b, given, &perm, name, result));
    graph_node(s->b->graph, graph_tensor(s->b->graph, *result)->producer)->layout_only = true;
    return ODLC_OK;
}

static const char *output_name(const struct site_build *s, uint32_t j)
{
    return j < s->site->n_out && *s->site->out_names[j] ? s->site->out_names[j] : NULL;
}

static odlc_status add_node(struct site_build *s, const struct site_operands *in, const struct param *params,
                            const struct type *types, uint32_t total, tensor_id *given)
{
    const struct udo_def *def = s->def;
    const char **names = arena_array(s->scratch, const char *, total);
    struct operand_form *forms = arena_array(s->arena, struct operand_form, total);
    for (uint32_t j = 0; j < total; j++) {
        const struct udo_tensor *out = site_output(s, j);
        if (types[j].dtype == DT_NONE)
            continue;
        struct perm perm;
        names[j] = output_name(s, j);
        if (names[j] && layout_perm(s->site, out->layout, types[j].shape.rank, &perm))
            names[j] = arena_printf(s->arena, "%s.%s", names[j], layout_suffix(out->layout, types[j].shape.rank));
        forms[j] = form_of(s->site, out, types[j].shape.rank);
    }
    build_row(s->b, def->row, s->site->label);
    for (uint32_t i = 0; i < in->count; i++)
        build_in(s->b, in->ids[i]);
    for (uint32_t i = 0; i < def->row->n_params; i++)
        if (params[i].set)
            build_param(s->b, &params[i]);
    TRY(build_end_typed(s->b, names, types, total, given));
    struct node *node = &s->b->graph->nodes.data[s->b->graph->nodes.count - 1]; /* it has no kernel: never folded */
    struct operand_forms *all = arena_new(s->arena, struct operand_forms);
    *all = (struct operand_forms){.in = in->forms, .out = forms};
    node->forms = all;
    return ODLC_OK;
}

static void check_resolved(struct site_build *s, const struct udo_place *place, const char *name,
                           const char *unresolved)
{
    if (unresolved)
        site_error(
            s, name,
            arena_printf(s->arena, "see %s: give it in a <SupplementalOpDef> of the backend", site_place(s, place)),
            "udo-backend-specific", "the %s of '%s' is BACKEND_SPECIFIC, and nothing says what it is", unresolved,
            name ? name : s->def->type);
}

/* A config may describe operations that it leaves open; a node of them cannot be built. */
void site_check_definition(struct site_build *s)
{
    const struct udo_def *def = s->def;
    for (uint32_t i = 0; i < def->n_inputs; i++)
        check_resolved(s, &def->inputs[i].place, def->inputs[i].name, def->inputs[i].unresolved);
    for (uint32_t i = 0; i < def->n_outputs; i++)
        check_resolved(s, &def->outputs[i].place, def->outputs[i].name, def->outputs[i].unresolved);
    for (uint32_t i = 0; i < def->n_scalar_params; i++)
        check_resolved(s, &def->scalar_params[i].place, def->scalar_params[i].name, def->scalar_params[i].unresolved);
    for (uint32_t i = 0; i < def->n_tensor_params; i++)
        check_resolved(s, &def->tensor_params[i].place, def->tensor_params[i].name, def->tensor_params[i].unresolved);
}

/* All that the definition lists; more if one of them is repeated. Where others stand behind that one, they are counted
 * from the end of the node's, whether these are absent or not. */
static uint32_t count_inputs(const struct udo_def *def, const struct udo_site *site)
{
    uint32_t total = def->n_inputs, given = site->n_in, repeated = repeated_of(def->inputs, total);
    while (repeated + 1 >= total && given > 0 && site->in[given - 1] == NO_TENSOR)
        given--;
    return repeated < total && given > total ? given : total;
}

odlc_status udo_build(struct udo_set *set, const struct udo_def *def, struct build *b, const struct udo_site *site,
                      tensor_id *outs)
{
    struct site_build s = {.set = set, .def = def, .use = &set->uses.data[def->index], .b = b, .site = site};
    s.arena = b->graph->arena;
    s.scratch = site->scratch;
    s.use->nodes++;
    report_begin(&s);
    s.n_in = count_inputs(def, site);
    uint32_t total = s.n_out = site_count_outputs(def, site);
    struct site_operands in = {0};
    struct param *params = arena_array(s.scratch, struct param, def->row->n_params);
    struct type *types = arena_array(s.scratch, struct type, total);
    site_check_definition(&s);
    site_take_inputs(&s, &in);
    const size_t before = s.errors;
    site_fill_params(&s, params);
    s.param_errors = s.errors - before;
    site_ask(&s, &in, params, total);
    site_output_types(&s, &in, types, total);
    note_unnamed(&s);
    report_end(&s);
    if (s.errors)
        return ODLC_ERR_INVALID;
    check_layouts(&s, &in, types);
    tensor_id *given = arena_array(s.scratch, tensor_id, total);
    TRY(add_node(&s, &in, params, types, total, given));
    for (uint32_t j = total; j < site->n_out; j++)
        outs[j] = NO_TENSOR; /* unused ones, which are left out */
    for (uint32_t j = 0; j < site->n_out && j < total; j++) {
        tensor_id result = NO_TENSOR;
        outs[j] = result;
        if (given[j] == NO_TENSOR)
            continue;
        TRY(restore_order(&s, site_output(&s, j), output_name(&s, j), given[j], &result));
        outs[j] = result;
    }
    return ODLC_OK;
}
