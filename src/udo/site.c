#include "udo/site.h"

#include <string.h>

#include "op/op.h"
#include "udo/param_value.h"
#include "udo/udo_row.h"

/* ---- diagnostics ---- */

void site_error(struct site_build *s, const char *operand, const char *hint, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(s->scratch, format, args);
    va_end(args);
    s->errors++;
    (void)diag_error(s->set->diags, ODLC_ERR_INVALID,
                     AT(.file = s->site->path, .node = s->site->label, .attribute = operand, .hint = hint), code, "%s",
                     message);
}

void site_warn(struct site_build *s, const char *operand, const char *hint, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(s->scratch, format, args);
    va_end(args);
    diag_warn(s->set->diags, AT(.file = s->site->path, .node = s->site->label, .attribute = operand, .hint = hint),
              code, "%s", message);
}

bool site_first(struct site_build *s, const char *what, const char *name)
{
    const char *key = arena_printf(s->scratch, "%u %s %s", s->def->index, what, name);
    if (map_get(&s->set->said, key) != MAP_NONE)
        return false;
    map_put(&s->set->said, arena_strdup(s->set->arena, key), 0);
    return true;
}

const char *site_place(struct site_build *s, const struct udo_place *place)
{
    return arena_printf(s->scratch, "%s:%u:%u", place->file, place->line, place->column);
}

/* ---- operands ---- */

uint32_t repeated_of(const struct udo_tensor *tensors, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && !tensors[i].repeated)
        i++;
    return i;
}

const struct udo_tensor *operand_of(const struct udo_tensor *tensors, uint32_t count, uint32_t total, uint32_t i)
{
    uint32_t repeated = repeated_of(tensors, count), more = total > count ? total - count : 0;
    if (repeated < count && i > repeated)
        i = i - repeated <= more ? repeated : i - more;
    return i < count ? &tensors[i] : NULL;
}

const struct udo_tensor *site_input(const struct site_build *s, uint32_t i)
{
    return operand_of(s->def->inputs, s->def->n_inputs, s->n_in, i);
}

const struct udo_tensor *site_output(const struct site_build *s, uint32_t j)
{
    return operand_of(s->def->outputs, s->def->n_outputs, s->n_out, j);
}

const char *operand_label(struct site_build *s, const char *kind, uint32_t i, const struct udo_tensor *t)
{
    return t && t->name ? arena_printf(s->scratch, "%s %u ('%s')", kind, i, t->name)
                        : arena_printf(s->scratch, "%s %u", kind, i);
}

static const struct param *find_param(const struct param *params, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(params[i].name, name) == 0)
            return &params[i];
    return NULL;
}

const struct param *site_attr(const struct site_build *s, const char *name)
{
    return find_param(s->site->attrs, s->site->n_attrs, name);
}

const struct param *site_default(const struct site_build *s, const char *name)
{
    return find_param(s->site->defaults, s->site->n_defaults, name);
}

/* ---- layouts ---- */

bool layout_perm(const struct udo_site *site, enum udo_layout layout, uint32_t rank, struct perm *out)
{
    if (site->channels_first && layout == UDO_LAYOUT_NHWC && rank == 4) {
        *out = perm_channels_last(rank);
        return true;
    }
    if (!site->channels_first && layout == UDO_LAYOUT_NCHW && rank >= 3 && rank <= 5) {
        *out = perm_channels_first(rank);
        return true;
    }
    return false;
}

struct operand_form form_of(const struct udo_site *site, const struct udo_tensor *t, uint32_t rank)
{
    bool no_image = t->layout == UDO_LAYOUT_NHWC && site->channels_first && rank >= 3 && rank != 4;
    enum dtype dtype = udo_pick_dtype(t->dtype, t->several, DT_FLOAT32);
    return (struct operand_form){.as_stored = t->layout == UDO_LAYOUT_NONE || no_image,
                                 .fixed_bits = dtype_is_fixed(dtype) ? (uint8_t)dtype_value_bits(dtype) : 0};
}

const char *layout_suffix(enum udo_layout layout)
{
    return layout == UDO_LAYOUT_NCHW ? ".nchw" : ".nhwc";
}

int declared_rank(const struct udo_tensor *t)
{
    if (t->rank && t->rank[0] >= '0' && t->rank[0] <= '9')
        return t->rank[0] - '0';
    return t->shape ? (int)t->shape_rank : t->default_value ? (int)t->default_value->shape.rank : -1;
}

bool layout_fits(enum udo_layout layout, uint32_t rank)
{
    return layout == UDO_LAYOUT_NONE || (rank >= 3 && rank <= 5);
}

/* A layout that says nothing of this tensor; where the definition tells the rank, it has been said. */
static void check_layout(struct site_build *s, const char *label, const struct udo_tensor *t, uint32_t rank)
{
    int declared = declared_rank(t);
    bool said = declared >= 0 && !layout_fits(t->layout, (uint32_t)declared);
    if (!said && !layout_fits(t->layout, rank) && site_first(s, "layout", label))
        site_warn(s, t->name, "layouts are those of images, of rank 3 to 5: the tensor is taken as it is",
                  "udo-layout-rank", "%s of '%s' is declared %s, but has rank %u", label, s->def->type,
                  t->layout == UDO_LAYOUT_NCHW ? "NCHW" : "NHWC", rank);
}

static void check_layouts(struct site_build *s, const struct site_operands *in, const struct type *types)
{
    for (uint32_t i = 0; i < in->count; i++)
        if (in->known[i])
            check_layout(s, operand_label(s, "input", i, site_input(s, i)), site_input(s, i), in->shapes[i].rank);
    for (uint32_t j = 0; j < s->n_out; j++)
        if (types[j].dtype != DT_NONE)
            check_layout(s, operand_label(s, "output", j, site_output(s, j)), site_output(s, j), types[j].shape.rank);
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
            names[j] = arena_printf(s->arena, "%s%s", names[j], layout_suffix(out->layout));
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

uint32_t site_count_outputs(const struct udo_def *def, const struct udo_site *site)
{
    uint32_t total = def->n_outputs, used = site->n_out;
    while (used > 0 && !*site->out_names[used - 1])
        used--;
    uint32_t repeated = repeated_of(def->outputs, total);
    if (repeated < total && (repeated + 1 < total ? site->n_out : used) > total)
        return site->n_out;
    while (total > least_outputs(def) && total > used)
        total--;
    return total;
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
    site_output_types(&s, &in, types, total); /* before the params, whose faults do not concern it */
    site_fill_params(&s, params);
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
