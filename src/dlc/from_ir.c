/* IR → records: ids, order, names, and what the container says of its own accord (packages, selectors). */
#include <stdlib.h>
#include <string.h>

#include "dlc/schema.h"
#include "dlc/write.h"
#include "op/op.h"

struct from_ir {
    const struct dlc_writing *w;
    const struct graph *g;
    VEC(struct dlc_tensor) tensors; /* in the order of their first use */
    bool *placed;                   /* by tensor_id */
    uint32_t next_id;
};

static odlc_status unwritable(const struct dlc_writing *w, const char *node, const char *attribute, const char *hint,
                              const char *format, ...) PRINTF_LIKE(5, 6);
static odlc_status unwritable(const struct dlc_writing *w, const char *node, const char *attribute, const char *hint,
                              const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(w->arena, format, args);
    va_end(args);
    return diag_error(w->diags, ODLC_ERR_UNSUPPORTED,
                      AT(.file = w->path, .node = node, .attribute = attribute, .hint = hint), "dlc-write", "%s",
                      message);
}

static uint32_t format_by_rank(uint32_t rank)
{
    static const uint32_t formats[] = {AXIS_FORMAT_NONTRIVIAL, AXIS_FORMAT_ANY, AXIS_FORMAT_NF, AXIS_FORMAT_NFC,
                                       AXIS_FORMAT_NHWC};
    return rank < COUNT_OF(formats) ? formats[rank] : AXIS_FORMAT_NONTRIVIAL;
}

static odlc_status set_type(const struct dlc_writing *w, const struct type *type, enum dtype source,
                            struct dlc_tensor *out)
{
    out->dtype = type->dtype;
    out->source_dtype = source == DT_NONE ? type->dtype : source;
    out->dtype_code = dtype_info(out->dtype)->dlc;
    out->source_dtype_code = dtype_info(out->source_dtype)->dlc;
    if (out->source_dtype_code == UINT32_MAX)
        out->source_dtype_code = out->dtype_code;
    if (out->dtype_code == UINT32_MAX)
        return unwritable(w, NULL, NULL, NULL, "tensor %s is of type %s, which containers do not have", out->name,
                          dtype_info(out->dtype)->name);
    for (uint32_t i = 0; i < type->shape.rank; i++)
        if (type->shape.dims[i] > UINT32_MAX)
            return unwritable(w, NULL, NULL, NULL, "tensor %s has a dimension of more than 32 bits", out->name);
    out->shape = type->shape;
    out->is_quantizable = dtype_is_float(out->source_dtype);
    return ODLC_OK;
}

static uint32_t kind_code(enum tensor_kind kind)
{
    static const uint32_t codes[] = {[TENSOR_NATIVE] = KIND_NATIVE,
                                     [TENSOR_INPUT] = KIND_APP_WRITE,
                                     [TENSOR_OUTPUT] = KIND_APP_READ,
                                     [TENSOR_STATIC] = KIND_STATIC};
    return codes[kind];
}

/* Strings have no pending work in practice: nothing permutes them. */
static odlc_status check_strings(const struct dlc_writing *w, const struct tensor *t)
{
    if (t->type->dtype != DT_STRING || perm_is_identity(&t->view->perm))
        return ODLC_OK;
    return unwritable(w, NULL, NULL, NULL, "string tensor %s would have to be permuted", t->name);
}

static odlc_status place_tensor(struct from_ir *f, tensor_id id)
{
    if (id == NO_TENSOR || f->placed[id])
        return ODLC_OK;
    const struct tensor *t = graph_tensor(f->g, id);
    struct dlc_tensor record = {.id = f->next_id++,
                                .name = t->name,
                                .kind = kind_code(t->kind),
                                .axis_format = t->axis_format ? t->axis_format : format_by_rank(t->type->shape.rank),
                                .encoding = t->quant ? t->quant->per_axis : NO_ENCODING,
                                .quant = t->quant,
                                .has_data = t->kind == TENSOR_STATIC};
    TRY(set_type(f->w, t->type, t->source_dtype, &record));
    if (record.has_data) {
        TRY(check_strings(f->w, t));
        record.view = *t->view;
    }
    f->placed[id] = true;
    vec_push(f->w->arena, &f->tensors, record);
    return ODLC_OK;
}

/* ---- params ---- */

static struct view param_view(const struct param *p)
{
    if (p->dtype == DT_STRING) {
        struct view view = view_of(NULL, DT_STRING, &p->shape);
        view.strings = p->strings;
        return view;
    }
    return dtype_is_float(p->dtype) ? view_of(p->floats, DT_FLOAT64, &p->shape) : view_of(p->ints, DT_INT64, &p->shape);
}

static odlc_status tensor_attr(struct from_ir *f, const char *op, const struct param *p, struct dlc_attr *attr)
{
    struct dlc_tensor *t = &attr->tensor;
    *t = (struct dlc_tensor){.id = f->next_id++,
                             .name = arena_printf(f->w->arena, "%s_%s", op, p->name),
                             .kind = KIND_STATIC,
                             .axis_format = format_by_rank(p->shape.rank),
                             .encoding = NO_ENCODING,
                             .has_data = true,
                             .view = param_view(p)};
    attr->kind = DLC_TENSOR;
    TRY(set_type(f->w, &(struct type){p->dtype, p->shape}, DT_NONE, t));
    uint64_t bad;
    if (p->dtype != DT_STRING && !view_fits(f->w->arena, &t->view, p->dtype, &bad))
        return unwritable(f->w, op, p->name, NULL, "element %llu of param %s does not fit %s", (unsigned long long)bad,
                          p->name, dtype_info(p->dtype)->name);
    return ODLC_OK;
}

static bool scalar_fits(const struct param *p)
{
    int64_t narrowed = 0, back = 0;
    if (dtype_is_float(p->dtype))
        return true; /* stored as a double */
    convert_elements(&narrowed, p->dtype, &p->i, DT_INT64, 1);
    convert_elements(&back, DT_INT64, &narrowed, p->dtype, 1);
    return back == p->i;
}

static odlc_status scalar_attr(struct from_ir *f, const char *op, const struct param *p, struct dlc_attr *attr)
{
    if (p->dtype == DT_STRING) {
        attr->kind = DLC_STRING;
        attr->dtype_code = STRING_DTYPE;
        attr->s = p->s ? p->s : "";
        return ODLC_OK;
    }
    attr->kind = dtype_is_float(p->dtype) ? DLC_FLOAT : DLC_INT;
    attr->dtype_code = dtype_info(p->dtype)->dlc;
    attr->i = p->i;
    attr->f = p->f;
    if (attr->dtype_code == UINT32_MAX || !scalar_fits(p))
        return unwritable(f->w, op, p->name, NULL, "the value of param %s cannot be stored as %s", p->name,
                          dtype_info(p->dtype)->name);
    return ODLC_OK;
}

static struct dlc_attr string_attr(const char *name, const char *value)
{
    return (struct dlc_attr){.name = name,
                             .kind = DLC_STRING,
                             .usage = USAGE_SUPPLEMENTAL,
                             .dtype = DT_STRING,
                             .dtype_code = STRING_DTYPE,
                             .s = value};
}

static int by_attr_name(const void *a, const void *b)
{
    const struct dlc_attr *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int by_param_name(const void *a, const void *b)
{
    const struct param *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* The set params in the order of their names, so that ids rise with it. */
static const struct param *sorted_params(struct arena *arena, const struct node *n, uint32_t *count)
{
    struct param *list = arena_array(arena, struct param, n->op->n_params);
    *count = 0;
    for (uint32_t i = 0; i < n->op->n_params; i++)
        if (n->params[i].set)
            list[(*count)++] = node_get_param(n, i);
    qsort(list, *count, sizeof *list, by_param_name);
    return list;
}

static odlc_status place_attrs(struct from_ir *f, const struct node *n, struct dlc_op *op)
{
    uint32_t count;
    const struct param *params = sorted_params(f->w->arena, n, &count);
    struct dlc_attr *attrs = arena_array(f->w->arena, struct dlc_attr, count + 2);
    for (uint32_t i = 0; i < count; i++) {
        const struct param *p = &params[i];
        attrs[i] = (struct dlc_attr){.name = p->name, .usage = p->usage ? p->usage : USAGE_PARAM, .dtype = p->dtype};
        TRY(p->is_tensor ? tensor_attr(f, n->name, p, &attrs[i]) : scalar_attr(f, n->name, p, &attrs[i]));
    }
    attrs[count++] = string_attr(PACKAGE_ATTRIBUTE, n->op->package ? n->op->package : NATIVE_PACKAGE);
    if (n->op->selector)
        attrs[count++] = string_attr(n->op->selector, n->op->name);
    qsort(attrs, count, sizeof *attrs, by_attr_name);
    for (uint32_t i = 1; i < count; i++)
        if (strcmp(attrs[i - 1].name, attrs[i].name) == 0)
            return unwritable(f->w, n->name, attrs[i].name, "give the param another name",
                              "op %s would have two attributes named %s", n->op->name, attrs[i].name);
    op->attrs = attrs;
    op->n_attrs = count;
    return ODLC_OK;
}

/* ---- ops ---- */

static const char **operand_names(const struct from_ir *f, const tensor_id *ids, uint32_t *count)
{
    while (*count > 0 && ids[*count - 1] == NO_TENSOR)
        --*count;
    const char **names = arena_array(f->w->arena, const char *, *count);
    for (uint32_t i = 0; i < *count; i++)
        names[i] = ids[i] == NO_TENSOR ? "" : graph_tensor(f->g, ids[i])->name;
    return names;
}

/* Ids are given to the inputs, the tensor params and the outputs, in this order. */
static odlc_status place_op(struct from_ir *f, const struct node *n, struct dlc_op *op)
{
    op->name = n->name;
    op->type = n->op->dlc_type;
    op->n_inputs = n->n_inputs;
    op->n_outputs = n->n_outputs;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        TRY(place_tensor(f, n->inputs[i]));
    TRY(place_attrs(f, n, op));
    for (uint32_t i = 0; i < n->n_outputs; i++)
        TRY(place_tensor(f, n->outputs[i]));
    op->inputs = operand_names(f, n->inputs, &op->n_inputs);
    op->outputs = operand_names(f, n->outputs, &op->n_outputs);
    return ODLC_OK;
}

static odlc_status check_outputs(const struct from_ir *f)
{
    for (size_t i = 0; i < f->g->outputs.count; i++) {
        const struct tensor *t = graph_tensor(f->g, f->g->outputs.data[i]);
        if (t->kind != TENSOR_OUTPUT)
            return unwritable(f->w, NULL, NULL, "no op computes it", "output %s of the graph is at the same time %s",
                              t->name, t->kind == TENSOR_STATIC ? "a constant" : "an input");
    }
    return ODLC_OK;
}

odlc_status dlc_from_ir(const struct dlc_writing *w, const struct graph *g, struct dlc_graph *out)
{
    struct from_ir f = {.w = w, .g = g, .next_id = 1};
    uint32_t n_ops = 0;
    f.placed = arena_array(w->arena, bool, g->tensors.count);
    struct dlc_op *ops = arena_array(w->arena, struct dlc_op, g->order.count);
    TRY(check_outputs(&f));
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        if (!n->op)
            continue;
        ops[n_ops].id = n_ops;
        TRY(place_op(&f, n, &ops[n_ops++]));
    }
    for (size_t i = 0; i < g->inputs.count; i++) /* those that no op reads */
        TRY(place_tensor(&f, g->inputs.data[i]));
    struct dlc_graph record = {.name = g->name, .ops = ops, .n_ops = n_ops, .tensors = f.tensors.data};
    record.n_tensors = (uint32_t)f.tensors.count;
    map_init(&record.tensor_index, w->arena);
    for (uint32_t i = 0; i < record.n_tensors; i++)
        map_put(&record.tensor_index, record.tensors[i].name, i);
    *out = record;
    return ODLC_OK;
}
