/* SPDX-License-Identifier: Apache-2.0 */
/* The backend that executes user-defined ops by the kernels of loaded packages. */
#include "package/package_backend.h"

#include <string.h>

#include "base/foreign.h"
#include "package/log_sink.h"
#include "package/op_create.h"
#include "package/status_text.h"

/* An operand that the package gets in another type than the tensor's. */
struct converted {
    float *values;
    uint64_t count;
};

struct step {
    struct package *package;
    const struct node *node;
    struct step_io io;
    const char *call; /* what the op is called when it ends the process */
    struct op_node *op;
    QnnOpPackage_OpImpl_t impl; /* NULL: not created */
    struct converted *inputs, *outputs;
};

/* ---- whose node is it ---- */

static bool has_package(const struct package_set *set, const char *name)
{
    for (size_t i = 0; i < set->packages.count; i++)
        if (package_is_named(set->packages.data[i], name))
            return true;
    return false;
}

static struct package *find_package(const struct package_set *set, const struct op *op, bool is_plugin)
{
    for (size_t i = 0; i < set->packages.count; i++)
        if (set->packages.data[i]->is_plugin == is_plugin && !set->packages.data[i]->is_device &&
            package_is_named(set->packages.data[i], op->package) && package_has_op(set->packages.data[i], op->name))
            return set->packages.data[i];
    return NULL;
}

static odlc_status open_set(const struct backend_scope *scope, void **state)
{
    static const struct package_set none;
    *state = (void *)(scope->packages ? scope->packages : &none);
    return ODLC_OK;
}

static bool claim(void *state, const struct claiming *c, node_id id, struct group *group)
{
    const struct package_set *set = state;
    const struct op *op = graph_node(c->scope->graph, id)->op;
    if (!op->package) {
        group->reason = "the op is native, and packages implement user-defined ops";
        return false;
    }
    if (!find_package(set, op, false)) {
        group->reason =
            arena_printf(c->scope->arena,
                         find_package(set, op, true)     ? "package %s, which implements op %s, is a plugin"
                         : has_package(set, op->package) ? "package %s is loaded, and has no op %s"
                                                         : "package %s, which implements op %s, is not loaded",
                         op->package, op->name);
        return false;
    }
    vec_push(c->scope->arena, &group->nodes, id);
    return true;
}

/* ---- preparing ---- */

static const struct odlc_diag *place_of(const struct step *s)
{
    static _Thread_local struct odlc_diag place;
    place = (struct odlc_diag){.file = s->package->library.path, .node = s->node->name};
    return &place;
}

static struct converted room_for(const struct backend_scope *scope, tensor_id id)
{
    const struct tensor *t = id == NO_TENSOR ? NULL : graph_tensor(scope->graph, id);
    if (!t || t->kind == TENSOR_STATIC || op_node_activation(t->type->dtype) == t->type->dtype)
        return (struct converted){0};
    const uint64_t count = shape_count(&t->type->shape);
    return (struct converted){arena_array(scope->arena, float, count), count};
}

static odlc_status prepare(void *state, const struct backend_scope *scope, const struct group *group,
                           const struct step_io *io, void **out)
{
    const struct node *n = graph_node(scope->graph, group->nodes.data[0]);
    struct step *s = arena_new(scope->arena, struct step);
    const SnpeUdo_OperationInfo_t *registered;
    struct op_refusal why;
    *s = (struct step){.package = find_package(state, n->op, false), .node = n, .io = *io};
    registered = registration_operation(&s->package->registration, n->op->name);
    TRY(op_check_types(scope, s->package, n));
    s->op = op_node_make(scope->arena, scope->graph, n, package_name(s->package), registered, scope->constants);
    if (registered)
        TRY(op_check_counts(scope, s->package, n, s->op, registered));
    s->inputs = arena_array(scope->arena, struct converted, n->n_inputs);
    s->outputs = arena_array(scope->arena, struct converted, n->n_outputs);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        s->inputs[i] = room_for(scope, n->inputs[i]);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        s->outputs[i] = room_for(scope, n->outputs[i]);
    s->call = arena_printf(scope->arena, "node '%s': op %s of package %s, library %s,", n->name, n->op->name,
                           package_name(s->package), s->package->library.path);
    pthread_mutex_lock(&s->package->lock);
    log_sink_begin();
    foreign_begin(s->call);
    const bool created = op_create(s->package, s->op, &s->impl, &why);
    foreign_end();
    pthread_mutex_unlock(&s->package->lock);
    log_sink_end(scope->diags, place_of(s));
    if (!created)
        return op_refused(scope->diags, s->node, s->package, &why);
    *out = s;
    return ODLC_OK;
}

static void release(void *prepared)
{
    struct step *s = prepared;
    pthread_mutex_lock(&s->package->lock);
    foreign_begin(s->call);
    s->package->functions.freeOpImpl(s->impl);
    foreign_end();
    pthread_mutex_unlock(&s->package->lock);
}

/* ---- running ---- */

static void give_input(const struct backend_scope *scope, struct step *s, uint32_t i, const struct buffer *in)
{
    QnnCpuOpPackage_Tensor_t *t = &s->op->inputs[i];
    t->data = in->data;
    if (!s->inputs[i].values)
        return;
    const struct buffer wide = buffer_widen(in, DT_FLOAT32, scope->scratch);
    memcpy(s->inputs[i].values, wide.data, s->inputs[i].count * sizeof(float));
    t->data = s->inputs[i].values;
}

static void give_output(struct step *s, uint32_t i, const struct buffer *out)
{
    const bool converted = s->outputs[i].values != NULL;
    void *data = converted ? s->outputs[i].values : out->data;
    memset(data, 0, shape_count(&out->shape) * (converted ? sizeof(float) : dtype_size(out->dtype)));
    s->op->outputs[i].data = data;
}

static void take_output(const struct step *s, uint32_t i, struct buffer *out)
{
    const struct buffer wide = {.dtype = DT_FLOAT32, .shape = out->shape, .data = s->outputs[i].values};
    if (s->outputs[i].values)
        buffer_narrow(&wide, out);
}

static odlc_status run(void *prepared, const struct backend_scope *scope, const struct buffer *in, struct buffer *out)
{
    struct step *s = prepared;
    const uint32_t *places = s->io.places, *out_places = places + s->node->n_inputs;
    for (uint32_t i = 0; i < s->node->n_inputs; i++)
        if (places[i] != PLACE_CONSTANT && places[i] != PLACE_ABSENT)
            give_input(scope, s, i, &in[places[i]]);
    for (uint32_t i = 0; i < s->node->n_outputs; i++)
        if (out_places[i] != PLACE_ABSENT)
            give_output(s, i, &out[out_places[i] - s->io.n_inputs]);
    log_sink_begin();
    foreign_begin(s->call);
    Qnn_ErrorHandle_t error = s->impl->opImplFn(s->impl->userData);
    foreign_end();
    log_sink_end(scope->diags, place_of(s));
    if (error != QNN_SUCCESS)
        return op_refused(scope->diags, s->node, s->package,
                          &(struct op_refusal){"execute", &s->package->library, error, false});
    for (uint32_t i = 0; i < s->node->n_outputs; i++)
        if (out_places[i] != PLACE_ABSENT)
            take_output(s, i, &out[out_places[i] - s->io.n_inputs]);
    return ODLC_OK;
}

const struct backend package_backend = {
    .name = "package", .open = open_set, .claim = claim, .prepare = prepare, .run = run, .release = release};
