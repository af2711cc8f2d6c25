/* SPDX-License-Identifier: Apache-2.0 */
#include "opendlc/run.h"

#include <stdlib.h>
#include <string.h>

#include "api/backends.h"
#include "api/isolated.h"
#include "api/known_names.h"
#include "api/lent_gpu.h"
#include "api/shared_gpu.h"
#include "api/tensor_io.h"
#include "backend/gpu/gpu_profile.h"
#include "dlc/record.h"
#include "ir/tensor_name.h"
#include "op/registry.h"
#include "package/device_package.h"
#include "op/op.h"

/* Names listed in the hint of an unknown one. */

/* Showing tensors while they are computed. */
struct show {
    enum odlc_form form;
    odlc_see_fn *see;
    void *user;
    const uint32_t *place; /* per tensor: where the results list it */
};

struct odlc_run {
    struct arena *arena, *scratch;
    struct arena *execution; /* what belongs to one choice of results */
    struct arena_mark empty; /* of that arena */
    const struct backend *const *backends;
    unsigned threads;
    struct executor_options plugins; /* of plugin packages alone */
    odlc_gpu *gpu;                   /* NULL: a context of its own, with the defaults */
    struct gpu_config gpu_config;
    struct gpu_loans loans; /* tensors in memory of the caller's */
    bool times_kernels;
    struct told_work told;
    struct progress progress;
    struct package_set packages; /* with kernels of user-defined ops */
    bool isolates;               /* executes in a process of its own */
    struct isolation isolation;
    struct diags diags;
    const char *path;
    struct graph *graph; /* NULL before odlc_run_open */
    const struct dlc_file *container;
    struct odlc_io *inputs;
    struct map input_names;
    bool *is_set;            /* per input */
    struct engine engine;    /* .run NULL before something is wanted */
    const tensor_id *listed; /* what odlc_run_results lists */
    struct odlc_io *results;
    size_t n_listed;
    struct show show; /* how these are shown instead of kept; .see NULL: they are kept */
    bool executed;
};

/* What an object is asked out of order: "nothing is open". */
static odlc_status out_of_order(odlc_run *run, const char *what)
{
    return diag_error(&run->diags, ODLC_ERR_USAGE, AT(.file = run->path), "run-order", "%s", what);
}

static odlc_status need_open(odlc_run *run)
{
    return run->graph ? ODLC_OK : out_of_order(run, "no container is open");
}

static odlc_status need_wanted(odlc_run *run)
{
    return run->engine.run ? ODLC_OK : out_of_order(run, "nothing is wanted yet");
}

/* Exhausted memory ends the public function that contains this. */
#define CATCH_EXHAUSTION(run)                       \
    do {                                            \
        if (setjmp(*arena_catch((run)->arena)))     \
            return ODLC_ERR_NOMEM;                  \
        if (setjmp(*arena_catch((run)->scratch)))   \
            return ODLC_ERR_NOMEM;                  \
        if (setjmp(*arena_catch((run)->execution))) \
            return ODLC_ERR_NOMEM;                  \
    } while (0)

odlc_run *odlc_run_new(void)
{
    odlc_run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    run->arena = arena_create();
    run->scratch = arena_create();
    run->execution = arena_create();
    if (!run->arena || !run->scratch || !run->execution) {
        odlc_run_free(run);
        return NULL;
    }
    run->empty = arena_mark(run->execution);
    run->backends = default_backends;
    run->threads = 1;
    run->progress = (struct progress){progress_tell, &run->told};
    diags_init(&run->diags, run->arena);
    return run;
}

void odlc_run_free(odlc_run *run)
{
    if (!run)
        return;
    arena_destroy(run->execution); /* its steps hold parts of the others */
    package_set_release(&run->packages);
    arena_destroy(run->scratch);
    arena_destroy(run->arena);
    free(run);
}

const struct odlc_diag *odlc_run_diags(const odlc_run *run, size_t *count)
{
    *count = run->diags.list.count;
    return run->diags.list.data;
}

/* ---- opening ---- */

static odlc_status open_run(odlc_run *run, const char *path)
{
    const struct dlc_file *dlc;
    struct graph *g;
    if (run->path)
        return out_of_order(run, "an object opens one container only");
    run->path = arena_strdup(run->arena, path);
    TRY(dlc_open_graph(run->arena, &run->diags, op_registry_new(run->arena), run->path, "executed", &run->progress,
                       &dlc, &g));
    run->inputs = arena_array(run->arena, struct odlc_io, g->inputs.count);
    run->is_set = arena_array(run->arena, bool, g->inputs.count);
    map_init(&run->input_names, run->arena);
    for (size_t i = 0; i < g->inputs.count; i++) {
        run->inputs[i] = tensor_io(g, g->inputs.data[i]);
        map_put(&run->input_names, run->inputs[i].name, (uint32_t)i);
    }
    run->graph = g;
    run->container = dlc;
    return ODLC_OK;
}

odlc_status odlc_run_open(odlc_run *run, const char *path)
{
    CATCH_EXHAUSTION(run);
    return open_run(run, path);
}

odlc_status odlc_run_open_bytes(odlc_run *run, const struct odlc_bytes *bytes)
{
    CATCH_EXHAUSTION(run);
    diags_take_buffer(&run->diags, bytes);
    return open_run(run, bytes->name);
}

void odlc_run_set_progress(odlc_run *run, odlc_work_fn *fn, void *user)
{
    run->told = (struct told_work){fn, user};
}

const char *odlc_run_graph_name(const odlc_run *run)
{
    return run->graph ? run->graph->name : NULL;
}

/* ---- choosing who executes ---- */

static const struct backend *find_backend(const char *name)
{
    for (size_t i = 0; all_backends[i]; i++)
        if (strcmp(all_backends[i]->name, name) == 0)
            return all_backends[i];
    return NULL;
}

/* `problem` follows "backend 'NAME' ". */
static odlc_status bad_backend(odlc_run *run, const char *name, const char *problem)
{
    size_t count = 0;
    const char *const *known = odlc_backend_names();
    while (known[count])
        count++;
    return diag_error(&run->diags, ODLC_ERR_USAGE, AT(.hint = known_names_hint(run->arena, name, known, count)),
                      "run-backend", "backend '%s' %s", name, problem);
}

static odlc_status set_backends(odlc_run *run, const char *const *names, size_t count)
{
    const struct backend **backends = arena_array(run->arena, const struct backend *, count + 1);
    odlc_status status = ODLC_OK;
    if (count == 0)
        return out_of_order(run, "no backend is named");
    for (size_t i = 0; i < count; i++) {
        backends[i] = find_backend(names[i]);
        if (!backends[i])
            status = bad_backend(run, names[i], "is not in this build");
        for (size_t k = 0; backends[i] && k < i; k++)
            if (backends[k] == backends[i])
                status = bad_backend(run, names[i], "is named twice");
    }
    TRY(status);
    run->backends = backends;
    return ODLC_OK;
}

odlc_status odlc_run_set_backends(odlc_run *run, const char *const *names, size_t count)
{
    CATCH_EXHAUSTION(run);
    return set_backends(run, names, count);
}

odlc_status odlc_run_set_threads(odlc_run *run, unsigned threads)
{
    CATCH_EXHAUSTION(run);
    if (threads == 0)
        return out_of_order(run, "an execution needs a thread");
    run->threads = threads;
    return ODLC_OK;
}

odlc_status odlc_run_set_plugins(odlc_run *run, uint64_t tcm_size, unsigned slices)
{
    CATCH_EXHAUSTION(run);
    if (run->engine.run)
        return out_of_order(run, "an object is told how plugins execute before results are chosen");
    run->plugins.fast_memory = tcm_size;
    run->plugins.slices = slices;
    return ODLC_OK;
}

odlc_status odlc_run_set_explained(odlc_run *run)
{
    CATCH_EXHAUSTION(run);
    if (run->engine.run)
        return out_of_order(run, "an object is asked for explanations before results are chosen");
    run->plugins.explains = true;
    return ODLC_OK;
}

const char *odlc_run_explanation(const odlc_run *run, size_t step, enum odlc_explanation form)
{
    if (!run->engine.explanations || step >= run->engine.n_steps)
        return NULL;
    return run->engine.explanations[step][form == ODLC_EXPLAIN_JSON ? EXPLAIN_JSON : EXPLAIN_TEXT];
}

odlc_status odlc_run_set_gpu(odlc_run *run, odlc_gpu *gpu)
{
    CATCH_EXHAUSTION(run);
    if (run->engine.run)
        return out_of_order(run, "a context is set before results are chosen");
    run->gpu = gpu;
    return ODLC_OK;
}

odlc_status odlc_run_add_op_package(odlc_run *run, const char *path, const char *provider)
{
    CATCH_EXHAUSTION(run);
    if (!run->isolates)
        return package_set_add(run->arena, &run->diags, &run->packages, path, provider);
    isolation_add_package(run->arena, &run->isolation, path, provider);
    return ODLC_OK;
}

odlc_status odlc_run_isolate(odlc_run *run, unsigned seconds)
{
    CATCH_EXHAUSTION(run);
    if (run->packages.packages.count || run->engine.run)
        return out_of_order(run, "an object isolates its executions before packages are added and results chosen");
    run->isolates = true;
    run->isolation.seconds = seconds;
    return ODLC_OK;
}

/* ---- choosing results ---- */

/* What belongs to the last choice of results goes. */
static void forget_choice(odlc_run *run)
{
    run->engine = (struct engine){0};
    run->executed = false;
    run->show = (struct show){0};
    run->results = NULL;
    run->n_listed = 0;
    arena_rewind(run->execution, run->empty);
    run->loans = (struct gpu_loans){0};
}

static void list_results(odlc_run *run, const tensor_id *listed, size_t count)
{
    run->listed = listed;
    run->n_listed = count;
    run->results = arena_array(run->execution, struct odlc_io, count);
    for (size_t i = 0; i < count; i++)
        run->results[i] = tensor_io(run->graph, listed[i]);
}

#ifdef ODLC_BACKEND_GPU
/* NULL: kernels are not recorded. */
static struct gpu_recorder *make_recorder(odlc_run *run)
{
    if (!run->times_kernels || run->isolates)
        return NULL;
    struct gpu_recorder *recorder = gpu_recorder_create(run->execution);
    run->gpu_config.profile = gpu_recorder_profile(recorder);
    return recorder;
}
#else
static struct gpu_recorder *make_recorder(odlc_run *run)
{
    (void)run;
    return NULL;
}
#endif

static bool uses_backend(const odlc_run *run, const char *name)
{
    for (size_t i = 0; run->backends[i]; i++)
        if (strcmp(run->backends[i]->name, name) == 0)
            return true;
    return false;
}

/* Prepares the computation of `wanted`, which is kept to the end. */
static odlc_status prepare(odlc_run *run, const tensor_id *wanted, size_t count, struct executor_options options)
{
    const struct graph *g = run->graph;
    struct engine engine;
    package_set_add_for_all(run->arena, &run->packages);
    options.backends = run->backends;
    options.threads = run->threads;
    options.packages = run->packages.packages.count ? &run->packages : NULL;
    options.device_ops = &package_device_ops;
    options.fast_memory = run->plugins.fast_memory;
    options.slices = run->plugins.slices;
    options.explains = run->plugins.explains;
    run->gpu_config = (struct gpu_config){.context = NULL};
    if (run->gpu && uses_backend(run, "gpu"))
        TRY(gpu_options(run->gpu, &run->diags, &(struct gpu_graph){g->name, run->container}, !run->isolates,
                        &run->gpu_config, &options));
    options.gpu = &run->gpu_config;
    options.progress = &run->progress;
    const struct engine_request request = {.arena = run->execution,
                                           .scratch = run->scratch,
                                           .diags = &run->diags,
                                           .graph = g,
                                           .wanted = wanted,
                                           .n_wanted = count,
                                           .options = options,
                                           .recorder = make_recorder(run)};
    TRY(run->isolates ? engine_isolated(&request, &run->isolation, &engine) : engine_here(&request, &engine));
    for (size_t i = 0; i < g->inputs.count; i++) {
        run->inputs[i].needed = engine.needed[g->inputs.data[i]];
        run->is_set[i] = false;
    }
    run->engine = engine;
    return ODLC_OK;
}

static odlc_status want(odlc_run *run, const tensor_id *wanted, size_t count)
{
    forget_choice(run);
    TRY(prepare(run, wanted, count, (struct executor_options){0}));
    list_results(run, wanted, count);
    return ODLC_OK;
}

static odlc_status unknown_tensor(odlc_run *run, const char *name)
{
    const struct graph *g = run->graph;
    VEC(const char *) known = {0};
    for (size_t i = 0; i < g->outputs.count; i++) /* first, because a list of all tensors would be cut */
        vec_push(run->arena, &known, graph_tensor(g, g->outputs.data[i])->name);
    for (size_t i = 0; i < g->tensors.count; i++)
        if (g->tensors.data[i].kind != TENSOR_OUTPUT)
            vec_push(run->arena, &known, g->tensors.data[i].name);
    return diag_error(&run->diags, ODLC_ERR_USAGE,
                      AT(.file = run->path, .hint = known_names_hint(run->arena, name, known.data, known.count)),
                      "run-unknown-tensor", "the graph has no tensor '%s'", name);
}

static odlc_status want_names(odlc_run *run, const char *const *names, size_t count)
{
    tensor_id *wanted = arena_array(run->arena, tensor_id, count);
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < count; i++) {
        wanted[i] = graph_find_named(run->scratch, run->graph, names[i]);
        if (wanted[i] == NO_TENSOR)
            status = unknown_tensor(run, names[i]);
    }
    TRY(status);
    return want(run, wanted, count);
}

static odlc_status unknown_node(odlc_run *run, const char *name)
{
    const struct graph *g = run->graph;
    VEC(const char *) known = {0};
    for (size_t i = 0; i < g->order.count; i++)
        vec_push(run->arena, &known, graph_node(g, g->order.data[i])->name);
    return diag_error(&run->diags, ODLC_ERR_USAGE,
                      AT(.file = run->path, .hint = known_names_hint(run->arena, name, known.data, known.count)),
                      "run-unknown-node", "the graph has no node '%s'", name);
}

static odlc_status want_outputs_of(odlc_run *run, const char *const *names, size_t count)
{
    VEC(tensor_id) wanted = {0};
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < count; i++) {
        node_id id = map_get(&run->graph->node_names, names[i]);
        if (id == MAP_NONE || !graph_node(run->graph, id)->op) {
            status = unknown_node(run, names[i]);
            continue;
        }
        const struct node *n = graph_node(run->graph, id);
        for (uint32_t k = 0; k < n->n_outputs; k++)
            if (n->outputs[k] != NO_TENSOR)
                vec_push(run->arena, &wanted, n->outputs[k]);
    }
    TRY(status);
    return want(run, wanted.data, wanted.count);
}

typedef VEC(tensor_id) tensor_list;

/* In execution order. */
static tensor_list computed_tensors(odlc_run *run)
{
    const struct graph *g = run->graph;
    tensor_list all = {0};
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        for (uint32_t k = 0; k < n->n_outputs; k++)
            if (n->outputs[k] != NO_TENSOR)
                vec_push(run->arena, &all, n->outputs[k]);
    }
    return all;
}

static odlc_status want_everything(odlc_run *run)
{
    tensor_list all = computed_tensors(run);
    return want(run, all.data, all.count);
}

static odlc_status no_floats(odlc_run *run, const char *tensor)
{
    return diag_error(&run->diags, ODLC_ERR_UNSUPPORTED, AT(.attribute = tensor), "run-strings",
                      "strings cannot be given as floats");
}

static odlc_status show_tensor(void *object, tensor_id id, const struct buffer *value)
{
    odlc_run *run = object;
    const struct odlc_io *tensor = &run->results[run->show.place[id]];
    if (run->show.form == ODLC_NATIVE)
        return run->show.see(run->show.user, tensor, value->data);
    if (value->dtype == DT_STRING)
        return no_floats(run, tensor->name);
    struct arena_mark mark = arena_mark(run->scratch);
    struct buffer wide = buffer_widen(value, DT_FLOAT32, run->scratch);
    odlc_status status = run->show.see(run->show.user, tensor, wide.data);
    arena_rewind(run->scratch, mark);
    return status;
}

/* Computes what nobody reads, and with that everything; observed are all. */
static odlc_status want_each(odlc_run *run, const struct show *show)
{
    const struct graph *g = run->graph;
    tensor_list all = computed_tensors(run), ends = {0};
    forget_choice(run);
    struct uses uses = graph_uses_among(run->execution, g, g->order.data, g->order.count);
    bool *observed = arena_array(run->execution, bool, g->tensors.count);
    uint32_t *place = arena_array(run->execution, uint32_t, g->tensors.count);
    for (size_t i = 0; i < all.count; i++) {
        observed[all.data[i]] = true;
        place[all.data[i]] = (uint32_t)i;
        if (uses.count[all.data[i]] == 0)
            vec_push(run->execution, &ends, all.data[i]);
    }
    list_results(run, all.data, all.count);
    run->show = *show;
    run->show.place = place;
    const struct executor_options options = {.observed = observed, .observer = {run, show_tensor}};
    odlc_status status = prepare(run, ends.data, ends.count, options);
    if (status != ODLC_OK)
        forget_choice(run);
    return status;
}

odlc_status odlc_run_want(odlc_run *run, const char *const *names, size_t count)
{
    CATCH_EXHAUSTION(run);
    TRY(need_open(run));
    return want_names(run, names, count);
}

odlc_status odlc_run_want_nodes(odlc_run *run, const char *const *names, size_t count)
{
    CATCH_EXHAUSTION(run);
    TRY(need_open(run));
    return want_outputs_of(run, names, count);
}

odlc_status odlc_run_want_outputs(odlc_run *run)
{
    CATCH_EXHAUSTION(run);
    TRY(need_open(run));
    return want(run, run->graph->outputs.data, run->graph->outputs.count);
}

odlc_status odlc_run_want_all(odlc_run *run)
{
    CATCH_EXHAUSTION(run);
    TRY(need_open(run));
    return want_everything(run);
}

odlc_status odlc_run_want_each(odlc_run *run, enum odlc_form form, odlc_see_fn *see, void *user)
{
    CATCH_EXHAUSTION(run);
    TRY(need_open(run));
    return want_each(run, &(struct show){.form = form, .see = see, .user = user});
}

/* ---- inputs ---- */

const struct odlc_io *odlc_run_inputs(const odlc_run *run, size_t *count)
{
    *count = run->graph ? run->graph->inputs.count : 0;
    return run->inputs;
}

/* There is none of the name: the nearest, or all, are the hint. */
static odlc_status unknown_io(odlc_run *run, const char *kind, const char *name, const struct odlc_io *ios,
                              size_t count)
{
    const char **known = arena_array(run->arena, const char *, count);
    for (size_t i = 0; i < count; i++)
        known[i] = ios[i].name;
    return diag_error(&run->diags, ODLC_ERR_USAGE,
                      AT(.file = run->path, .hint = count ? known_names_hint(run->arena, name, known, count) : NULL),
                      arena_printf(run->arena, "run-unknown-%s", kind), "the graph has no %s '%s'", kind, name);
}

static odlc_status find_input(odlc_run *run, const char *name, size_t *index)
{
    struct arena_mark mark = arena_mark(run->scratch);
    uint32_t found = map_get(&run->input_names, name);
    if (found == MAP_NONE)
        found = map_get(&run->input_names, tensor_name_respelled(run->scratch, name));
    arena_rewind(run->scratch, mark);
    if (found != MAP_NONE) {
        *index = found;
        return ODLC_OK;
    }
    return unknown_io(run, "input", name, run->inputs, run->graph->inputs.count);
}

odlc_status odlc_run_find_input(odlc_run *run, const char *name, size_t *index)
{
    CATCH_EXHAUSTION(run);
    TRY(need_open(run));
    return find_input(run, name, index);
}

/* The buffer to fill for an input; *out NULL when nothing that is wanted depends on it. */
static odlc_status input_buffer(odlc_run *run, size_t input, struct buffer **out)
{
    TRY(need_wanted(run));
    if (input >= run->graph->inputs.count)
        return out_of_order(run, "there is no input of that index");
    struct buffer *b = &run->engine.buffers[run->graph->inputs.data[input]];
    *out = b->data ? b : NULL;
    return ODLC_OK;
}

/* Integers must come out exactly: a fraction in one means that the data are of another type than the caller thinks. */
static odlc_status check_exact(odlc_run *run, const struct buffer *b, const char *name, const float *values)
{
    if (dtype_is_float(b->dtype) || (dtype_is_fixed(b->dtype) && b->quant))
        return ODLC_OK;
    uint64_t bad;
    struct view view = view_of(values, DT_FLOAT32, &b->shape);
    if (view_fits(run->scratch, &view, b->dtype, &bad))
        return ODLC_OK;
    return diag_error(&run->diags, ODLC_ERR_INVALID,
                      AT(.file = run->path, .attribute = name,
                         .hint = "data that are in the input's own type already are given as native input"),
                      "run-input-value", "value %llu of the input is %g, which is not a value of type %s",
                      (unsigned long long)bad, (double)values[bad], dtype_info(b->dtype)->display);
}

/* Out of line, so that none of its variables lives in a frame that the jump comes back to. */
__attribute__((noinline)) static odlc_status set_floats(odlc_run *run, size_t input, const float *values, size_t count)
{
    struct buffer *b = NULL;
    TRY(input_buffer(run, input, &b));
    TRY(tensor_io_check(&run->diags, run->path, &run->inputs[input], count, run->inputs[input].count, "values"));
    if (!b)
        return ODLC_OK;
    if (b->dtype == DT_STRING)
        return diag_error(&run->diags, ODLC_ERR_UNSUPPORTED, AT(.attribute = run->inputs[input].name), "run-strings",
                          "an input of strings cannot be set from numbers");
    TRY(check_exact(run, b, run->inputs[input].name, values));
    struct buffer wide = {.dtype = DT_FLOAT32, .shape = b->shape, .data = (void *)values};
    buffer_narrow(&wide, b);
    run->is_set[input] = true;
    return ODLC_OK;
}

__attribute__((noinline)) static odlc_status set_native(odlc_run *run, size_t input, const void *bytes, size_t size)
{
    struct buffer *b = NULL;
    TRY(input_buffer(run, input, &b));
    TRY(tensor_io_check(&run->diags, run->path, &run->inputs[input], size, run->inputs[input].native_size, "bytes"));
    if (b && size)
        memcpy(b->data, bytes, size);
    run->is_set[input] = true;
    return ODLC_OK;
}

odlc_status odlc_run_set_floats(odlc_run *run, size_t input, const float *values, size_t count)
{
    CATCH_EXHAUSTION(run);
    return set_floats(run, input, values, count);
}

odlc_status odlc_run_set_native(odlc_run *run, size_t input, const void *bytes, size_t size)
{
    CATCH_EXHAUSTION(run);
    return set_native(run, input, bytes, size);
}

/* ---- memory of the caller's ---- */

/* The index of a needed input, or of a result that is kept, among all of them; false: the tensor is none. */
static bool find_place(const odlc_run *run, tensor_id id, bool *is_input, size_t *index)
{
    for (*index = 0; *index < run->graph->inputs.count; ++*index)
        if (run->graph->inputs.data[*index] == id && run->inputs[*index].needed)
            return *is_input = true;
    *is_input = false;
    for (*index = 0; !run->show.see && *index < run->n_listed; ++*index)
        if (run->listed[*index] == id)
            return true;
    return false;
}

__attribute__((noinline)) static odlc_status set_memory(odlc_run *run, const char *name, odlc_gpu_memory *memory)
{
    bool is_input;
    size_t index;
    TRY(need_wanted(run));
    const tensor_id id = graph_find_named(run->scratch, run->graph, name);
    if (id == NO_TENSOR)
        return unknown_tensor(run, name);
    if (!find_place(run, id, &is_input, &index))
        return out_of_order(run, "memory is set for inputs that are needed, and for results that are kept");
    TRY(gpu_loans_set(&run->loans, run->execution, &run->diags, &run->engine, run->gpu, graph_tensor(run->graph, id),
                      id, memory));
    if (is_input)
        run->is_set[index] = memory != NULL;
    run->executed = false;
    return ODLC_OK;
}

odlc_status odlc_run_set_memory(odlc_run *run, const char *tensor, odlc_gpu_memory *memory)
{
    CATCH_EXHAUSTION(run);
    return set_memory(run, tensor, memory);
}

/* ---- execution and results ---- */

static odlc_status execute(odlc_run *run)
{
    odlc_status status = ODLC_OK;
    TRY(need_wanted(run));
    for (size_t i = 0; i < run->graph->inputs.count; i++)
        if (run->inputs[i].needed && !run->is_set[i])
            status = diag_error(&run->diags, ODLC_ERR_USAGE, AT(.file = run->path), "run-input-missing",
                                "there are no data for input '%s'", run->inputs[i].name);
    TRY(status);
    run->executed = false;
    TRY(run->engine.run(&run->engine));
    run->executed = true;
    return ODLC_OK;
}

odlc_status odlc_run_execute(odlc_run *run)
{
    CATCH_EXHAUSTION(run);
    return execute(run);
}

const struct odlc_io *odlc_run_results(const odlc_run *run, size_t *count)
{
    *count = run->n_listed;
    return run->results;
}

static odlc_status find_result(odlc_run *run, const char *name, size_t *index)
{
    const struct arena_mark mark = arena_mark(run->scratch);
    const tensor_id wanted = graph_find_named(run->scratch, run->graph, name);
    size_t i = 0;
    arena_rewind(run->scratch, mark);
    while (i < run->n_listed && run->listed[i] != wanted)
        i++;
    if (i == run->n_listed)
        return unknown_io(run, "result", name, run->results, run->n_listed);
    *index = i;
    return ODLC_OK;
}

odlc_status odlc_run_find_result(odlc_run *run, const char *name, size_t *index)
{
    CATCH_EXHAUSTION(run);
    TRY(need_open(run));
    return find_result(run, name, index);
}

static bool is_kept(const odlc_run *run, size_t result)
{
    return run->executed && !run->show.see && result < run->n_listed &&
           !gpu_loans_have(&run->loans, run->listed[result]);
}

const void *odlc_run_native(const odlc_run *run, size_t result)
{
    return is_kept(run, result) ? run->engine.buffers[run->listed[result]].data : NULL;
}

static odlc_status get_floats(odlc_run *run, size_t result, float *values, size_t count)
{
    if (!is_kept(run, result) || count != run->results[result].count)
        return out_of_order(run, "results are read after an execution, with room for all their elements, unless they "
                                 "lie in memory of the caller's");
    const struct buffer *b = &run->engine.buffers[run->listed[result]];
    if (b->dtype == DT_STRING)
        return no_floats(run, run->results[result].name);
    struct arena_mark mark = arena_mark(run->scratch);
    struct buffer wide = buffer_widen(b, DT_FLOAT32, run->scratch);
    if (count)
        memcpy(values, wide.data, count * sizeof *values);
    arena_rewind(run->scratch, mark);
    return ODLC_OK;
}

odlc_status odlc_run_get_floats(odlc_run *run, size_t result, float *values, size_t count)
{
    CATCH_EXHAUSTION(run);
    return get_floats(run, result, values, count);
}

const struct odlc_step *odlc_run_steps(const odlc_run *run, size_t *count)
{
    *count = run->engine.n_steps;
    return run->engine.steps;
}

odlc_status odlc_run_time_kernels(odlc_run *run, int on)
{
    CATCH_EXHAUSTION(run);
    if (run->engine.run)
        return out_of_order(run, "times of kernels are asked for before results are chosen");
    run->times_kernels = on;
    return ODLC_OK;
}

const struct odlc_kernel *odlc_run_kernels(const odlc_run *run, size_t *count)
{
    *count = run->engine.kernels.count;
    return run->engine.kernels.data;
}

const struct odlc_refusal *odlc_run_refusals(const odlc_run *run, size_t *count)
{
    *count = run->engine.n_refusals;
    return run->engine.refusals;
}
