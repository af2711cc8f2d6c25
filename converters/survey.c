/* Every node of the model against what can be converted, before anything is: so one run names all that is missing. */
#include <string.h>

#include "converters/driver.h"

const struct lower_row *find_row(const struct frontend *frontend, const char *domain, const char *op, int64_t version)
{
    size_t low = 0, high = frontend->n_rows;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct lower_row *row = &frontend->rows[mid];
        int order = strcmp(row->domain, domain);
        order = order ? order : strcmp(row->op, op);
        if (order < 0 || (order == 0 && row->hi < version))
            low = mid + 1;
        else
            high = mid;
    }
    if (low == frontend->n_rows)
        return NULL;
    const struct lower_row *row = &frontend->rows[low];
    bool same = strcmp(row->domain, domain) == 0 && strcmp(row->op, op) == 0;
    return same && row->lo <= version ? row : NULL;
}

/* The nodes of one (domain, op type) that nothing can convert. */
struct missing {
    const struct fw_node *first;
    text nodes;
    size_t count;
};

static bool has_row_of_any_version(const struct frontend *frontend, const struct fw_node *n)
{
    for (size_t i = 0; i < frontend->n_rows; i++)
        if (strcmp(frontend->rows[i].domain, n->domain) == 0 && strcmp(frontend->rows[i].op, n->op_type) == 0)
            return true;
    return false;
}

static odlc_status report_missing(struct conversion *c, const struct missing *m)
{
    const struct fw_node *n = m->first;
    bool other_version = has_row_of_any_version(c->frontend, n);
    const char *hint =
        other_version
            ? "another version of this op is supported: convert the model to a newer opset, or claim it by a UDO"
            : "describe it as a UDO (--udo_config_paths); --dry_run prints a config to start from";
    return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED, AT(.file = c->model->path, .node = n->name, .hint = hint),
                      "unsupported-op", "op %s (domain %s, version %lld) is not supported; %zu node%s: %s", n->op_type,
                      *n->domain ? n->domain : "ai.onnx", (long long)n->version, m->count, m->count == 1 ? "" : "s",
                      m->nodes.data);
}

odlc_status survey_ops(struct conversion *c)
{
    const struct fw_graph *g = &c->model->graph;
    struct map index;
    VEC(struct missing) missing = {0};
    map_init(&index, c->arena);
    for (size_t i = 0; i < g->nodes.count; i++) {
        const struct fw_node *n = &g->nodes.data[i];
        if (!c->live[i])
            continue;
        const struct udo_def *def = udo_find(&c->udos, n->op_type, n->domain);
        bool native = !def && find_row(c->frontend, n->domain, n->op_type, n->version);
        vec_push(c->arena, &c->ops,
                 (struct odlc_op_report){.node = n->name,
                                         .op_type = n->op_type,
                                         .domain = n->domain,
                                         .version = n->version,
                                         .status = def      ? ODLC_OP_UDO
                                                   : native ? ODLC_OP_NATIVE
                                                            : ODLC_OP_UNSUPPORTED,
                                         .package = def ? def->package : NULL});
        if (def || native)
            continue;
        const char *key = arena_printf(c->arena, "%s::%s", n->domain, n->op_type);
        uint32_t at = map_add(&index, key, (uint32_t)missing.count);
        if (at == MAP_NONE) {
            at = (uint32_t)missing.count;
            vec_push(c->arena, &missing, (struct missing){.first = n});
        }
        struct missing *m = &missing.data[at];
        text_add(c->arena, &m->nodes, "%s%s", m->count++ ? ", " : "", n->name);
    }
    for (size_t i = 0; i < missing.count; i++)
        (void)report_missing(c, &missing.data[i]);
    c->summary.model_nodes = (uint32_t)c->ops.count;
    return missing.count ? ODLC_ERR_UNSUPPORTED : ODLC_OK;
}
