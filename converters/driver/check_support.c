/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/check_support.h"

#include <string.h>

#include "converters/driver/check_signature.h"
#include "converters/lowering/lower_table.h"

/* The nodes of one (domain, op type) that nothing can convert. */
struct missing {
    const struct fw_node *first;
    text nodes;
    size_t count;
};

/* What a user can do about a node that nothing converts. */
static const char *missing_hint(const struct context *c, const struct fw_node *n)
{
    for (uint32_t i = 0; i < n->n_attrs; i++)
        if (fw_holds_graph(&n->attrs[i]))
            return arena_printf(c->arena,
                                "its attribute %s holds a graph, which no UDO can carry: end the model before it with "
                                "--out_node",
                                n->attrs[i].name);
    return lower_has_row(c->frontend->table, n->op->domain, n->op->type)
               ? "another version of this op is supported: convert the model to a newer opset, or claim it by a UDO"
               : "describe it as a UDO (--udo_config_paths); a config to start from comes by --udo_stub";
}

static odlc_status report_missing(const struct context *c, const struct input *in, const struct missing *m)
{
    const struct fw_node *n = m->first;
    const char *reason = c->frontend->refusal(n->op->domain, n->op->type), *hint = missing_hint(c, n);
    const char *of = "";
    if (c->frontend->has_opsets)
        of = arena_printf(c->arena, " (domain %s, version %lld)", *n->op->domain ? n->op->domain : "ai.onnx",
                          (long long)n->op->version);
    return diag_error(c->diags, ODLC_ERR_UNSUPPORTED, AT(.file = in->model->path, .node = n->name, .hint = hint),
                      "unsupported-op", "op %s%s is not supported%s%s; %zu node%s: %s", n->op->type, of,
                      reason ? ": " : "", reason ? reason : "", m->count, m->count == 1 ? "" : "s", m->nodes.data);
}

odlc_status report_missing_op(const struct context *c, const struct input *in, const struct fw_node *n)
{
    struct missing m = {.first = n, .count = 1};
    text_add(c->arena, &m.nodes, "%s", n->name);
    return report_missing(c, in, &m);
}

struct support_check {
    const struct context *c;
    const struct input *in;
    struct support *out;
    struct map index; /* domain and op type → missing */
    VEC(struct missing) missing;
    odlc_status invalid; /* that of a node which is not as its operator's definition says */
};

static void note_missing(struct support_check *s, const struct fw_node *n)
{
    struct arena *arena = s->c->model_arena;
    const char *key = arena_printf(arena, "%s::%s", n->op->domain, n->op->type);
    uint32_t at = map_add(&s->index, key, (uint32_t)s->missing.count);
    if (at == MAP_NONE) {
        at = (uint32_t)s->missing.count;
        vec_push(arena, &s->missing, (struct missing){.first = n});
    }
    s->in->model->ops.data[n->op->index]->reported = true;
    struct missing *m = &s->missing.data[at];
    text_add(arena, &m->nodes, "%s%s", m->count++ ? ", " : "", n->name);
}

/* What converts the nodes of each operator. */
static void find_converters(const struct context *c, struct input *in, const struct udo_set *udos, struct support *out)
{
    const struct frontend *frontend = c->frontend;
    out->ops = arena_array(c->arena, struct odlc_op_report, in->model->ops.count);
    for (size_t i = 0; i < in->model->ops.count; i++) {
        struct fw_op *op = in->model->ops.data[i];
        const struct udo_def *def = udo_find(udos, op->type, op->domain);
        op->claimed_by = def;
        op->row = def ? NULL : lower_find_row(frontend->table, op->domain, op->type, op->version);
        op->signature = op->row && frontend->signature ? frontend->signature(op->domain, op->type, op->version) : NULL;
        op->takes_strings = op->row && frontend->takes_strings(op->domain, op->type);
        out->ops[i] = (struct odlc_op_report){.op_type = op->type,
                                              .domain = op->domain,
                                              .version = op->version,
                                              .status = def       ? ODLC_OP_UDO
                                                        : op->row ? ODLC_OP_NATIVE
                                                                  : ODLC_OP_UNSUPPORTED,
                                              .package = def ? def->package : NULL};
    }
}

/* certain: the node is needed, whatever the model's values. */
static void check_node(struct support_check *s, struct fw_node *n, bool certain)
{
    const struct context *c = s->c;
    const struct lower_row *row = n->op->row;
    certain &= !n->conditional;
    vec_push(c->arena, &s->out->notes, (struct op_note){.node = n->name, .op = n->op->index});
    if (!n->op->claimed_by && !row) {
        vec_push(c->model_arena, &s->out->missing, n);
        if (certain)
            note_missing(s, n);
        return;
    }
    if (!row)
        return;
    n->refused = check_signature(c, s->in, n) != ODLC_OK;
    if (n->refused)
        s->invalid = ODLC_ERR_INVALID;
    bool inside = certain && !(row->kind.traits & HOLDS_BRANCHES);
    for (size_t i = 0; i < n->n_attrs; i++) {
        struct fw_graph *g = fw_attr_graph(&n->attrs[i]);
        for (size_t k = 0; g && k < g->nodes.count; k++)
            check_node(s, &g->nodes.data[k], inside);
    }
}

odlc_status check_support(const struct context *c, struct input *in, const struct udo_set *udos, struct support *out)
{
    struct fw_graph *g = &in->model->graph;
    struct support_check s = {.c = c, .in = in, .out = out, .invalid = ODLC_OK};
    map_init(&s.index, c->model_arena);
    find_converters(c, in, udos, out);
    out->notes.data = arena_array(c->arena, struct op_note, g->nodes.count);
    out->notes.capacity = g->nodes.count;
    for (size_t i = 0; i < g->nodes.count; i++)
        if (in->live[i])
            check_node(&s, &g->nodes.data[i], true);
    for (size_t i = 0; i < s.missing.count; i++)
        (void)report_missing(c, in, &s.missing.data[i]);
    return s.missing.count ? ODLC_ERR_UNSUPPORTED : s.invalid;
}

/* In the order in which check_node noted them. */
static void note_refusal(struct support *support, const struct fw_node *n, size_t *next)
{
    support->notes.data[(*next)++].refused = n->refused;
    for (size_t i = 0; n->op->row && i < n->n_attrs; i++) {
        const struct fw_graph *g = fw_attr_graph(&n->attrs[i]);
        for (size_t k = 0; g && k < g->nodes.count; k++)
            note_refusal(support, &g->nodes.data[k], next);
    }
}

void note_refusals(const struct input *in, struct support *support)
{
    const struct fw_graph *g = &in->model->graph;
    size_t next = 0;
    for (size_t i = 0; i < g->nodes.count; i++)
        if (in->live[i])
            note_refusal(support, &g->nodes.data[i], &next);
}
