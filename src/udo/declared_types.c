/* SPDX-License-Identifier: Apache-2.0 */
/* Declared types of activations, which a float model does not have: they say what a processor's kernel gets after
 * quantization. */
#include "op/op.h"
#include "op/params.h"
#include "udo/param_value.h"
#include "udo/site.h"

struct keeper {
    struct udo_set *set;
    struct graph *g;
    const struct udo_def *def;
    struct udo_use *use;
    text kept; /* of the node */
};

/* Every type that the entry declares. */
static uint64_t declared_types(const struct udo_tensor *t)
{
    uint64_t types = t->several | DTYPE_BIT(t->dtype);
    for (int core = 0; core < UDO_CORES; core++)
        types |= DTYPE_BIT(t->core_dtypes[core]);
    return types & ~DTYPE_BIT(DT_NONE);
}

/* Fixed-point numbers are of either sign: the encoding says which. */
static bool is_declared(uint64_t types, enum dtype stored)
{
    bool found = false;
    for (int i = DT_NONE + 1; i < DT_COUNT; i++) {
        enum dtype dtype = (enum dtype)i;
        bool same = dtype == stored || dtype_narrowed(dtype) == stored;
        bool fixed = dtype_is_fixed(dtype) && dtype_is_fixed(stored);
        found |= (types & DTYPE_BIT(i)) && (same || (fixed && dtype_value_bits(dtype) == dtype_value_bits(stored)));
    }
    return found;
}

/* "UINT_8,FLOAT_16"; the first one first. */
static const char *type_list(struct arena *arena, const struct udo_tensor *t, uint64_t types)
{
    text list = {0};
    text_add(arena, &list, "%s", udo_type_name(t->dtype));
    for (int i = DT_NONE + 1; i < DT_COUNT; i++)
        if ((types & DTYPE_BIT(i)) && (enum dtype)i != t->dtype)
            text_add(arena, &list, ",%s", udo_type_name((enum dtype)i));
    return list.data;
}

static void keep_operand(struct keeper *k, const char *kind, uint32_t i, const struct udo_tensor *declared,
                         tensor_id id)
{
    if (id == NO_TENSOR || !declared || declared->dtype == DT_NONE)
        return;
    const struct tensor *t = graph_tensor(k->g, id);
    const uint64_t types = declared_types(declared);
    enum dtype stored = t->type->dtype;
    if (t->kind == TENSOR_STATIC || is_declared(types, stored))
        return;
    const char *list = type_list(k->g->arena, declared, types);
    bool suits = false;
    if (!declared->per_core) /* that table is kept by every node */
        text_add(k->g->arena, &k->kept, "%s%s%u: %s", k->kept.count ? "; " : "", *kind == 'i' ? "in" : "out", i, list);
    for (int d = DT_NONE + 1; d < DT_COUNT; d++)
        suits |= (types & DTYPE_BIT(d)) && udo_type_suits((enum dtype)d, stored);
    k->use->contradicted |= !suits;
    const char *name = declared->name ? arena_printf(k->set->arena, " ('%s')", declared->name) : "";
    const char *said =
        arena_printf(k->set->arena, "%s %u%s is %s, declared %s", kind, i, name, udo_type_name(stored), list);
    if (map_add(&k->set->said, arena_printf(k->set->arena, "%u type %s", k->def->index, said), 1) == MAP_NONE)
        vec_push(k->set->arena, &k->use->types, said);
}

static void keep_types(struct udo_set *set, struct graph *g, struct node *n)
{
    const struct udo_def *def = n->op->udo;
    struct keeper k = {.set = set, .g = g, .def = def, .use = &set->uses.data[def->index]};
    for (uint32_t i = 0; i < n->n_inputs; i++)
        keep_operand(&k, "input", i, operand_of(def->inputs, def->n_inputs, n->n_inputs, i), n->inputs[i]);
    for (uint32_t j = 0; j < n->n_outputs; j++)
        keep_operand(&k, "output", j, operand_of(def->outputs, def->n_outputs, n->n_outputs, j), n->outputs[j]);
    if (!k.kept.count)
        return;
    const struct param kept = {
        .set = true, .usage = 2, .name = UDO_PARAM_DECLARED, .dtype = DT_STRING, .s = k.kept.data};
    node_set_param(g, n, (uint32_t)op_param_index(n->op, UDO_PARAM_DECLARED), &kept);
}

static void report_types(struct udo_set *set, const struct udo_def *def, const struct udo_use *use)
{
    enum { SHOWN = 8 };
    text list = {0};
    for (size_t i = 0; i < use->types.count && i < SHOWN; i++)
        text_add(set->arena, &list, "%s%s", i ? "; " : "", use->types.data[i]);
    if (use->types.count > SHOWN)
        text_add(set->arena, &list, "; and %zu more", use->types.count - SHOWN);
    const struct odlc_diag place =
        udo_at(&def->place, use->contradicted ? "no processor takes the one for the other: check the declared types"
                                              : "the nodes keep the declared types for who quantizes the container");
    diag_warn(set->diags, &place, "udo-type-differs", "activations of '%s' keep the types of the model: %s", def->type,
              list.data);
}

void udo_keep_types(struct udo_set *set, struct graph *g)
{
    for (size_t i = 0; set->defs.count && i < g->order.count; i++) {
        struct node *n = graph_node(g, g->order.data[i]);
        if (n->op->udo)
            keep_types(set, g, n);
    }
    for (size_t i = 0; i < set->defs.count; i++)
        if (set->uses.data[i].types.count)
            report_types(set, set->defs.data[i], &set->uses.data[i]);
}
