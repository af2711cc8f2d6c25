/* SPDX-License-Identifier: Apache-2.0 */
/* A node of a package, computed by the reference kernels of native operators. */
#include "opendlc/reference.h"

#include <stdlib.h>
#include <string.h>

#include "build/recipe.h"
#include "kernel/eval.h"

struct operand {
    struct type type; /* DT_NONE: absent */
    void *const *data;
    tensor_id id;
};

/* A node of the graph with its operands as its kernel gets them. */
struct call {
    const struct node *node;
    struct buffer *in, *out;
};

struct odlc_reference {
    struct arena *arena, *scratch;
    struct diags diags;
    struct arena_mark described, empty; /* of the arenas, when all was prepared */
    const char *type;
    enum axis_order order;
    VEC(struct param) params;
    VEC(struct operand) inputs, outputs;
    odlc_status status; /* of what was added so far */
    bool prepared, ready, exhausted;
    struct graph *graph;
    struct buffer *buffers; /* per tensor */
    VEC(struct call) calls;
};

static const enum axis_order orders[] = {[ODLC_REFERENCE_AS_STORED] = ORDER_OTHER,
                                         [ODLC_REFERENCE_CHANNELS_FIRST] = ORDER_CHANNELS_FIRST,
                                         [ODLC_REFERENCE_CHANNELS_LAST] = ORDER_CHANNELS_LAST};

/* Exhausted memory comes back here. */
static bool begin(odlc_reference *r, const char *type, enum odlc_reference_order order)
{
    if (setjmp(*arena_catch(r->arena)))
        return false;
    diags_init(&r->diags, r->arena);
    r->type = arena_strdup(r->arena, type ? type : "");
    r->order = (size_t)order < COUNT_OF(orders) ? orders[order] : ORDER_OTHER;
    return true;
}

odlc_reference *odlc_reference_new(const char *type, enum odlc_reference_order order)
{
    odlc_reference *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->arena = arena_create();
    r->scratch = arena_create();
    if (r->arena && r->scratch && begin(r, type, order))
        return r;
    odlc_reference_free(r);
    return NULL;
}

void odlc_reference_free(odlc_reference *r)
{
    if (!r)
        return;
    arena_destroy(r->arena);
    arena_destroy(r->scratch);
    free(r);
}

/* ---- describing ---- */

struct addition;
typedef void add_fn(odlc_reference *r, const struct addition *a);

/* What is added; only what its kind has is set. */
struct addition {
    add_fn *add;
    const char *name, *text;
    double number;
    uint32_t data_type, rank;
    const uint32_t *dimensions;
    const void *elements;
    void *const *data;
};

static void add_guarded(odlc_reference *r, const struct addition *a)
{
    if (!r || r->prepared)
        return;
    if (setjmp(*arena_catch(r->arena)))
        r->status = ODLC_ERR_NOMEM;
    else
        a->add(r, a);
}

/* The first problem of what is added is kept for odlc_reference_prepare. */
static void fault(odlc_reference *r, odlc_status status, const char *words, const char *name)
{
    if (r->status == ODLC_OK)
        r->status = diag_error(&r->diags, status, AT(.file = NULL), "reference", "%s: %s%s", r->type, words, name);
}

static struct param new_param(odlc_reference *r, const char *name, enum dtype dtype)
{
    return (struct param){.set = true, .name = arena_strdup(r->arena, name ? name : ""), .dtype = dtype};
}

static void add_number(odlc_reference *r, const struct addition *a)
{
    struct param p = new_param(r, a->name, DT_FLOAT64);
    p.f = a->number;
    p.i = a->number > -9e18 && a->number < 9e18 ? (int64_t)a->number : 0;
    vec_push(r->arena, &r->params, p);
}

static void add_text(odlc_reference *r, const struct addition *a)
{
    struct param p = new_param(r, a->name, DT_STRING);
    p.s = arena_strdup(r->arena, a->text ? a->text : "");
    vec_push(r->arena, &r->params, p);
}

static bool read_type(odlc_reference *r, const struct addition *a, struct type *out)
{
    *out = (struct type){.dtype = dtype_from_dlc(a->data_type), .shape = {.rank = a->rank}};
    if (out->dtype == DT_NONE || out->dtype == DT_STRING || dtype_is_fixed(out->dtype)) {
        fault(r, ODLC_ERR_UNSUPPORTED, "elements are neither floats, integers nor booleans", "");
        return false;
    }
    if (a->rank > MAX_RANK || (a->rank && !a->dimensions)) {
        fault(r, ODLC_ERR_INVALID, "a tensor has too many dimensions, or none are given", "");
        return false;
    }
    for (uint32_t i = 0; i < a->rank; i++)
        out->shape.dims[i] = a->dimensions[i];
    if (shape_too_large(&out->shape))
        fault(r, ODLC_ERR_INVALID, "a tensor is too large", "");
    return !shape_too_large(&out->shape);
}

static void add_tensor(odlc_reference *r, const struct addition *a)
{
    struct type type;
    if (!read_type(r, a, &type))
        return;
    struct param p = new_param(r, a->name, type.dtype);
    const uint64_t count = shape_count(&type.shape);
    if (!a->elements && count) {
        fault(r, ODLC_ERR_INVALID, "there are no elements of param ", p.name);
        return;
    }
    int64_t *ints = arena_array(r->arena, int64_t, count);
    double *floats = arena_array(r->arena, double, count);
    convert_elements(ints, DT_INT64, a->elements, type.dtype, count);
    convert_elements(floats, DT_FLOAT64, a->elements, type.dtype, count);
    p.is_tensor = true;
    p.shape = type.shape;
    p.ints = ints;
    p.floats = floats;
    vec_push(r->arena, &r->params, p);
}

static struct operand read_operand(odlc_reference *r, const struct addition *a)
{
    struct operand out = {.data = a->data, .id = NO_TENSOR};
    if (a->data)
        (void)read_type(r, a, &out.type);
    return out;
}

static void add_input(odlc_reference *r, const struct addition *a)
{
    vec_push(r->arena, &r->inputs, read_operand(r, a));
}

static void add_output(odlc_reference *r, const struct addition *a)
{
    vec_push(r->arena, &r->outputs, read_operand(r, a));
}

void odlc_reference_number(odlc_reference *r, const char *name, double value)
{
    add_guarded(r, &(struct addition){.add = add_number, .name = name, .number = value});
}

void odlc_reference_text(odlc_reference *r, const char *name, const char *value)
{
    add_guarded(r, &(struct addition){.add = add_text, .name = name, .text = value});
}

void odlc_reference_tensor(odlc_reference *r, const char *name, uint32_t data_type, uint32_t rank,
                           const uint32_t *dimensions, const void *elements)
{
    add_guarded(r, &(struct addition){.add = add_tensor,
                                      .name = name,
                                      .data_type = data_type,
                                      .rank = rank,
                                      .dimensions = dimensions,
                                      .elements = elements});
}

void odlc_reference_input(odlc_reference *r, uint32_t data_type, uint32_t rank, const uint32_t *dimensions,
                          void *const *data)
{
    add_guarded(r, &(struct addition){add_input, NULL, NULL, 0, data_type, rank, dimensions, NULL, data});
}

void odlc_reference_output(odlc_reference *r, uint32_t data_type, uint32_t rank, const uint32_t *dimensions,
                           void *const *data)
{
    add_guarded(r, &(struct addition){add_output, NULL, NULL, 0, data_type, rank, dimensions, NULL, data});
}

/* ---- preparing ---- */

static odlc_status build_graph(odlc_reference *r)
{
    struct build b;
    tensor_id *in = arena_array(r->arena, tensor_id, r->inputs.count);
    tensor_id *out = arena_array(r->arena, tensor_id, r->outputs.count);
    struct type *types = arena_array(r->arena, struct type, r->outputs.count);
    r->graph = graph_create(r->arena, "reference");
    build_init(&b, r->graph, &r->diags);
    for (size_t i = 0; i < r->inputs.count; i++) {
        struct operand *x = &r->inputs.data[i];
        if (x->data)
            x->id = graph_add_tensor(r->graph, "x", TENSOR_INPUT, &x->type);
        in[i] = x->id;
    }
    for (size_t i = 0; i < r->outputs.count; i++)
        types[i] = r->outputs.data[i].type;
    const struct recipe_op op = {.type = r->type,
                                 .order = r->order,
                                 .inputs = in,
                                 .n_inputs = (uint32_t)r->inputs.count,
                                 .outputs = types,
                                 .n_outputs = (uint32_t)r->outputs.count,
                                 .params = r->params.data,
                                 .n_params = (uint32_t)r->params.count};
    TRY(recipe_build(&b, &op, out));
    for (size_t i = 0; i < r->outputs.count; i++)
        r->outputs.data[i].id = out[i];
    return ODLC_OK;
}

static bool is_output(const odlc_reference *r, tensor_id id)
{
    for (size_t i = 0; i < r->outputs.count; i++)
        if (r->outputs.data[i].id == id)
            return true;
    return false;
}

/* Constants have their elements, and what nodes hand on to each other has room; the rest is the package's. */
static void make_buffers(odlc_reference *r)
{
    r->buffers = arena_array(r->arena, struct buffer, r->graph->tensors.count);
    for (tensor_id id = 0; id < r->graph->tensors.count; id++) {
        const struct tensor *t = graph_tensor(r->graph, id);
        struct buffer *b = &r->buffers[id];
        *b = (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape};
        if (t->kind == TENSOR_STATIC)
            b->data = (void *)(uintptr_t)view_load(r->arena, t->view, b->dtype);
        else if (t->kind != TENSOR_INPUT && !is_output(r, id))
            b->data = arena_calloc(r->arena, shape_count(&b->shape), dtype_size(b->dtype));
    }
}

static void make_calls(odlc_reference *r)
{
    for (size_t i = 0; i < r->graph->order.count; i++) {
        const struct node *n = graph_node(r->graph, r->graph->order.data[i]);
        vec_push(r->arena, &r->calls,
                 (struct call){.node = n,
                               .in = arena_array(r->arena, struct buffer, n->n_inputs),
                               .out = arena_array(r->arena, struct buffer, n->n_outputs)});
    }
}

static odlc_status exhausted(odlc_reference *r)
{
    r->exhausted = true;
    return ODLC_ERR_NOMEM;
}

/* Exhausted memory of either arena ends the function that contains this. */
#define CATCH_EXHAUSTION(r)                   \
    do {                                      \
        if (setjmp(*arena_catch(r->arena)))   \
            return exhausted(r);              \
        if (setjmp(*arena_catch(r->scratch))) \
            return exhausted(r);              \
    } while (0)

static odlc_status prepare(odlc_reference *r)
{
    r->prepared = true;
    TRY(r->status);
    TRY(build_graph(r));
    make_buffers(r);
    make_calls(r);
    r->described = arena_mark(r->arena);
    r->empty = arena_mark(r->scratch);
    r->ready = true;
    return ODLC_OK;
}

odlc_status odlc_reference_prepare(odlc_reference *r)
{
    if (!r)
        return ODLC_ERR_NOMEM;
    if (r->prepared)
        return ODLC_ERR_USAGE;
    CATCH_EXHAUSTION(r);
    return prepare(r);
}

/* ---- executing ---- */

static void gather(const odlc_reference *r, const tensor_id *ids, uint32_t count, struct buffer *out)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = ids[i] == NO_TENSOR ? (struct buffer){.dtype = DT_NONE} : r->buffers[ids[i]];
}

static void take_addresses(const odlc_reference *r, const struct operand *operands, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (operands[i].id != NO_TENSOR)
            r->buffers[operands[i].id].data = *operands[i].data;
}

/* What a call that failed left behind goes. */
static void forget_problem(odlc_reference *r)
{
    if (!r->diags.list.count && !r->exhausted)
        return;
    arena_rewind(r->scratch, r->empty);
    arena_rewind(r->arena, r->described);
    diags_init(&r->diags, r->arena);
    r->exhausted = false;
}

static odlc_status execute(odlc_reference *r)
{
    forget_problem(r);
    take_addresses(r, r->inputs.data, r->inputs.count);
    take_addresses(r, r->outputs.data, r->outputs.count);
    for (size_t i = 0; i < r->calls.count; i++) {
        struct call *call = &r->calls.data[i];
        gather(r, call->node->inputs, call->node->n_inputs, call->in);
        gather(r, call->node->outputs, call->node->n_outputs, call->out);
        TRY(eval_node(call->node, call->in, call->out, r->scratch, &r->diags));
    }
    return ODLC_OK;
}

odlc_status odlc_reference_execute(odlc_reference *r)
{
    if (!r || !r->ready)
        return ODLC_ERR_USAGE;
    CATCH_EXHAUSTION(r);
    return execute(r);
}

const char *odlc_reference_problem(const odlc_reference *r)
{
    if (!r || r->exhausted || r->status == ODLC_ERR_NOMEM)
        return "memory ran out";
    for (size_t i = r->diags.list.count; i-- > 0;)
        if (r->diags.list.data[i].severity == ODLC_ERROR)
            return r->diags.list.data[i].message;
    return "";
}
