/* SPDX-License-Identifier: Apache-2.0 */
/* IR → records: ids, order, names, and what the container says of its own accord (packages, selectors). */
#include <stdlib.h>
#include <string.h>

#include "dlc/schema.h"
#include "dlc/write_container.h"
#include "op/op.h"
#include "op/params.h"
#include "op/release.h"

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

static odlc_status check_type(const struct dlc_writing *w, const char *name, enum dtype dtype,
                              const struct shape *shape)
{
    if (dtype_info(dtype)->dlc == UINT32_MAX)
        return unwritable(w, NULL, NULL, NULL, "tensor %s is of type %s, which containers do not have", name,
                          dtype_info(dtype)->name);
    for (uint32_t i = 0; i < shape->rank; i++)
        if (shape->dims[i] > UINT32_MAX)
            return unwritable(w, NULL, NULL, NULL, "tensor %s has a dimension of more than 32 bits", name);
    return ODLC_OK;
}

static void set_type(enum dtype dtype, enum dtype source, struct dlc_tensor *out)
{
    out->dtype = (uint8_t)dtype;
    out->source_dtype = (uint8_t)source;
    out->dtype_code = dtype_info(dtype)->dlc;
    out->source_dtype_code = dtype_info(source)->dlc;
    if (out->source_dtype_code == UINT32_MAX)
        out->source_dtype_code = out->dtype_code;
    out->is_quantizable = dtype_is_float(source);
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
    if (t->kind != TENSOR_STATIC || t->type->dtype != DT_STRING || perm_is_identity(&t->view->perm))
        return ODLC_OK;
    return unwritable(w, NULL, NULL, NULL, "string tensor %s would have to be permuted", t->name);
}

struct dlc_tensor dlc_tensor_record(const struct dlc_records *r, tensor_id id)
{
    const struct tensor *t = graph_tensor(r->g, id);
    struct dlc_tensor record = {.id = r->ids[id],
                                .name = t->name,
                                .shape = &t->type->shape,
                                .kind = (uint8_t)kind_code(t->kind),
                                .axis_format = t->axis_format ? t->axis_format : format_by_rank(t->type->shape.rank),
                                .encoding = t->quant ? t->quant->per_axis : NO_ENCODING,
                                .quant = t->quant,
                                .view = t->view};
    set_type(t->type->dtype, t->source_dtype == DT_NONE ? t->type->dtype : t->source_dtype, &record);
    return record;
}

/* Gives the tensor its id at its first use, or passes that place on a later walk. */
static odlc_status place_tensor(struct dlc_records *r, tensor_id id)
{
    if (id == NO_TENSOR)
        return ODLC_OK;
    if (!r->ids[id]) {
        const struct tensor *t = graph_tensor(r->g, id);
        TRY(check_type(r->w, t->name, t->type->dtype, &t->type->shape));
        TRY(check_strings(r->w, t));
        r->ids[id] = r->next_id;
        r->tensors[r->n_tensors++] = id;
    }
    r->next_id += r->ids[id] == r->next_id;
    return ODLC_OK;
}

/* ---- params ---- */

static const char *param_name(const struct node *n, uint32_t param)
{
    return n->op->params[param].name;
}

struct view dlc_param_view(const struct packed_param *p)
{
    if (p->dtype == DT_STRING) {
        struct view view = view_of(NULL, DT_STRING, p->shape);
        view.strings = p->strings;
        return view;
    }
    return dtype_is_float(p->dtype) ? view_of(p->floats, DT_FLOAT64, p->shape) : view_of(p->ints, DT_INT64, p->shape);
}

/* The param's own name, or "<op>_<param>" at the end of r->text, which has the room. */
static const char *tensor_param_name(struct dlc_records *r, const struct node *n, uint32_t index)
{
    const char *op = n->name, *param = param_name(n, index);
    if (n->op->params[index].named_alone)
        return param;
    size_t op_length = strlen(op), param_size = strlen(param) + 1;
    char *name = r->text.data + r->text.count;
    memcpy(name, op, op_length); /* NOLINT(bugprone-not-null-terminated-result): the name goes on */
    name[op_length] = '_';
    memcpy(name + op_length + 1, param, param_size);
    r->text.count += op_length + 1 + param_size;
    return name;
}

static odlc_status check_tensor_param(const struct dlc_records *r, const struct node *n, uint32_t param,
                                      const char *name)
{
    const struct packed_param *p = &n->params[param];
    TRY(check_type(r->w, name, p->dtype, p->shape));
    uint64_t bad;
    struct view view = dlc_param_view(p);
    if (p->dtype != DT_STRING && !view_fits(r->w->arena, &view, p->dtype, &bad))
        return unwritable(r->w, n->name, param_name(n, param), NULL, "element %llu of param %s does not fit %s",
                          (unsigned long long)bad, param_name(n, param), dtype_info(p->dtype)->name);
    return ODLC_OK;
}

static odlc_status tensor_attr(struct dlc_records *r, const struct node *n, uint32_t param, struct dlc_attr *attr)
{
    const struct packed_param *p = &n->params[param];
    struct dlc_tensor *t = &r->attr_tensors.data[r->attr_tensors.count++];
    *t = (struct dlc_tensor){.id = r->next_id++,
                             .name = tensor_param_name(r, n, param),
                             .shape = p->shape,
                             .kind = KIND_STATIC,
                             .axis_format = format_by_rank(p->shape->rank),
                             .encoding = NO_ENCODING};
    attr->kind = DLC_TENSOR;
    attr->tensor = t;
    set_type(p->dtype, p->dtype, t);
    if (r->surveyed)
        return ODLC_OK;
    vec_push(r->w->arena, &r->params, (struct dlc_param_place){(node_id)(n - r->g->nodes.data), param});
    return check_tensor_param(r, n, param, t->name);
}

static bool scalar_fits(const struct packed_param *p)
{
    int64_t narrowed = 0, back = 0;
    if (dtype_is_float(p->dtype))
        return true; /* stored as a double */
    convert_elements(&narrowed, p->dtype, &p->i, DT_INT64, 1);
    convert_elements(&back, DT_INT64, &narrowed, p->dtype, 1);
    return back == p->i;
}

static odlc_status scalar_attr(const struct dlc_records *r, const struct node *n, uint32_t param, struct dlc_attr *attr)
{
    const struct packed_param *p = &n->params[param];
    if (p->dtype == DT_STRING) {
        attr->kind = DLC_STRING;
        attr->dtype_code = STRING_DTYPE;
        attr->s = p->s ? p->s : "";
        return ODLC_OK;
    }
    attr->kind = dtype_is_float(p->dtype) ? DLC_FLOAT : DLC_INT;
    attr->dtype_code = dtype_info(p->dtype)->dlc;
    if (attr->kind == DLC_FLOAT)
        attr->f = p->f;
    else
        attr->i = p->i;
    if (attr->dtype_code == UINT32_MAX || !scalar_fits(p))
        return unwritable(r->w, n->name, param_name(n, param), NULL, "the value of param %s cannot be stored as %s",
                          param_name(n, param), dtype_info(p->dtype)->name);
    return ODLC_OK;
}

static int by_name(const void *a, const void *b, void *node)
{
    const uint32_t *x = a, *y = b;
    return strcmp(param_name(node, *x), param_name(node, *y));
}

/* Room for count elements, whose values are not kept. */
#define RESERVE(r, vec, n)        \
    while ((vec)->capacity < (n)) \
    (vec)->data = vec_grow((r)->w->arena, (vec)->data, &(vec)->capacity, sizeof(*(vec)->data))

/* The set params in the order of their names, so that ids rise with it. Also makes the room that their names need. */
static void sort_params(struct dlc_records *r, const struct node *n)
{
    size_t room = 0, op_length = strlen(n->name);
    bool sorted = true;
    RESERVE(r, &r->sorted, n->op->n_params);
    r->sorted.count = 0;
    for (uint32_t i = 0; i < n->op->n_params; i++) {
        if (!n->params[i].set)
            continue;
        uint32_t *last = r->sorted.data + r->sorted.count;
        sorted = sorted && (r->sorted.count == 0 || strcmp(param_name(n, last[-1]), param_name(n, i)) < 0);
        r->sorted.data[r->sorted.count++] = i;
        room += n->params[i].shape ? op_length + strlen(param_name(n, i)) + 2 : 0;
    }
    if (!sorted)
        qsort_r(r->sorted.data, r->sorted.count, sizeof *r->sorted.data, by_name, (void *)(uintptr_t)n);
    RESERVE(r, &r->text, room);
    r->text.count = 0;
}

/* Puts the attribute where its name belongs among the ones before it. */
static void insert_attr(struct dlc_records *r, const struct dlc_attr *attr)
{
    struct dlc_attr *attrs = r->attrs.data;
    size_t at = r->attrs.count++;
    for (; at > 0 && strcmp(attrs[at - 1].name, attr->name) > 0; at--)
        attrs[at] = attrs[at - 1];
    attrs[at] = *attr;
}

static void insert_string_attr(struct dlc_records *r, const char *name, const char *value)
{
    insert_attr(r, &(struct dlc_attr){.name = name,
                                      .kind = DLC_STRING,
                                      .usage = USAGE_SUPPLEMENTAL,
                                      .dtype = DT_STRING,
                                      .dtype_code = STRING_DTYPE,
                                      .s = value});
}

/* What tells the operators of one type apart. */
static void insert_operation(struct dlc_records *r, const struct node *n, const struct op_spelling *spelling)
{
    if (spelling->selector)
        insert_string_attr(r, spelling->selector, n->op->name);
    if (spelling->has_operation)
        insert_attr(r, &(struct dlc_attr){.name = OPERATION_ATTRIBUTE,
                                          .kind = DLC_INT,
                                          .usage = USAGE_PARAM,
                                          .dtype = DT_UINT32,
                                          .dtype_code = dtype_info(DT_UINT32)->dlc,
                                          .i = spelling->operation});
}

static struct dlc_known_attrs *place_known(struct dlc_records *r, const struct op *op)
{
    return &r->known[((uint64_t)(uintptr_t)op * 0x9E3779B97F4A7C15u >> 32) % KNOWN_OPS];
}

/* Whether these are the node's attributes. */
static bool are_known(const struct dlc_known_attrs *known, const struct node *n)
{
    return known->op == n->op && memcmp(known->params, n->params, n->op->n_params * sizeof *n->params) == 0;
}

static void keep_attrs(const struct dlc_records *r, const struct node *n, struct dlc_known_attrs *known)
{
    if (r->attr_tensors.count || r->attrs.count > FEW_ATTRS)
        return;
    *known = (struct dlc_known_attrs){.op = n->op, .params = n->params, .n_attrs = (uint32_t)r->attrs.count};
    memcpy(known->attrs, r->attrs.data, r->attrs.count * sizeof *known->attrs);
}

static odlc_status place_attrs(struct dlc_records *r, const struct node *n, const struct op_spelling *spelling)
{
    struct dlc_known_attrs *known = place_known(r, n->op);
    if (are_known(known, n)) {
        r->op.attrs = known->attrs;
        r->op.n_attrs = known->n_attrs;
        return ODLC_OK;
    }
    sort_params(r, n);
    RESERVE(r, &r->attrs, r->sorted.count + 2);
    RESERVE(r, &r->attr_tensors, r->sorted.count);
    r->attrs.count = r->attr_tensors.count = 0;
    for (size_t i = 0; i < r->sorted.count; i++) {
        uint32_t param = r->sorted.data[i];
        const struct packed_param *p = &n->params[param];
        struct dlc_attr *attr = &r->attrs.data[r->attrs.count++];
        *attr = (struct dlc_attr){
            .name = param_name(n, param), .usage = p->usage ? p->usage : USAGE_PARAM, .dtype = p->dtype};
        TRY(p->shape ? tensor_attr(r, n, param, attr) : scalar_attr(r, n, param, attr));
    }
    insert_string_attr(r, PACKAGE_ATTRIBUTE, n->op->package ? n->op->package : NATIVE_PACKAGE);
    insert_operation(r, n, spelling);
    for (size_t i = 1; i < r->attrs.count && !r->surveyed; i++)
        if (strcmp(r->attrs.data[i - 1].name, r->attrs.data[i].name) == 0)
            return unwritable(r->w, n->name, r->attrs.data[i].name, "give the param another name",
                              "op %s would have two attributes named %s", n->op->name, r->attrs.data[i].name);
    r->op.attrs = r->attrs.data;
    r->op.n_attrs = (uint32_t)r->attrs.count;
    keep_attrs(r, n, known);
    return ODLC_OK;
}

/* ---- ops ---- */

/* Absent operands at the end are left out. */
static uint32_t operand_names(struct dlc_records *r, const tensor_id *ids, uint32_t count)
{
    while (count > 0 && ids[count - 1] == NO_TENSOR)
        count--;
    for (uint32_t i = 0; i < count; i++)
        r->names.data[r->names.count++] = ids[i] == NO_TENSOR ? "" : graph_tensor(r->g, ids[i])->name;
    return count;
}

/* Ids are given to the inputs, the tensor params and the outputs, in this order. */
static odlc_status place_op(struct dlc_records *r, const struct node *n)
{
    struct dlc_op *op = &r->op;
    const struct op_spelling spelling = op_spelling(n->op, r->w->release);
    op->name = n->name;
    op->type = spelling.type;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        TRY(place_tensor(r, n->inputs[i]));
    TRY(place_attrs(r, n, &spelling));
    for (uint32_t i = 0; i < n->n_outputs; i++)
        TRY(place_tensor(r, n->outputs[i]));
    RESERVE(r, &r->names, (size_t)n->n_inputs + n->n_outputs + 1); /* never none: the lists are places in it */
    r->names.count = 0;
    op->inputs = r->names.data;
    op->n_inputs = operand_names(r, n->inputs, n->n_inputs);
    op->outputs = r->names.data + r->names.count;
    op->n_outputs = operand_names(r, n->outputs, n->n_outputs);
    return ODLC_OK;
}

odlc_status dlc_next_op(struct dlc_records *r, const struct dlc_op **op)
{
    const struct graph *g = r->g;
    while (r->next < g->order.count && !graph_node(g, g->order.data[r->next])->op)
        r->next++;
    *op = NULL;
    if (r->next == g->order.count) {
        for (size_t i = 0; i < g->inputs.count; i++) /* those that no op reads */
            TRY(place_tensor(r, g->inputs.data[i]));
        r->surveyed = true;
        return ODLC_OK;
    }
    r->op.id = r->walked++;
    TRY(place_op(r, graph_node(g, g->order.data[r->next++])));
    *op = &r->op;
    return ODLC_OK;
}

const char *dlc_param_name(struct dlc_records *r, const struct dlc_param_place *place)
{
    const struct node *n = graph_node(r->g, place->node);
    const char *param = param_name(n, place->param);
    RESERVE(r, &r->text, strlen(n->name) + strlen(param) + 2);
    r->text.count = 0;
    return tensor_param_name(r, n, place->param);
}

void dlc_records_again(struct dlc_records *r)
{
    r->next = 0;
    r->walked = 0;
    r->next_id = 1;
}

static odlc_status check_outputs(const struct dlc_records *r)
{
    for (size_t i = 0; i < r->g->outputs.count; i++) {
        const struct tensor *t = graph_tensor(r->g, r->g->outputs.data[i]);
        if (t->kind != TENSOR_OUTPUT)
            return unwritable(r->w, NULL, NULL, "no op computes it", "output %s of the graph is at the same time %s",
                              t->name, t->kind == TENSOR_STATIC ? "a constant" : "an input");
    }
    return ODLC_OK;
}

odlc_status dlc_records_start(const struct dlc_writing *w, const struct graph *g, struct dlc_records *out)
{
    *out = (struct dlc_records){.w = w,
                                .g = g,
                                .ids = arena_array(w->arena, uint32_t, g->tensors.count),
                                .tensors = arena_array(w->arena, tensor_id, g->tensors.count)};
    for (size_t i = 0; i < g->order.count; i++)
        out->n_ops += graph_node(g, g->order.data[i])->op != NULL;
    dlc_records_again(out);
    return check_outputs(out);
}
