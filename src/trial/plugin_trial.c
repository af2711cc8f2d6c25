/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/plugin_trial.h"

#include <math.h>
#include <string.h>

#include "plugin/explain.h"
#include "plugin/plugin_run.h"
#include "plugin/slice_pool.h"
#include "runtime/plan.h"
#include "trial/guarded.h"
#include "trial/made_node.h"
#include "trial/plugin_types.h"

/* Fast memory that no op is cut for. */
#define ROOM ((uint64_t)1 << 40)
enum { TRIAL_THREADS = 4, FEW_TILES = 3, MANY_TILES = 32 };
static const uint32_t slice_counts[] = {2, 3, 7};

/* One way to execute a made node. */
struct way {
    const char *words, *code; /* "cut into tiles", and of the finding if it gives another result */
    struct plugin_options options;
    bool at_start;  /* operands begin where a page does, instead of ending so */
    bool exact;     /* the same bits, and not only nearly the same reals */
    bool remembers; /* what was decided is kept, to be compared with what is decided later */
};

/* What was decided for a made node. */
struct decided {
    struct made_node made;
    const char *explained;
};

struct at_work {
    const struct kernel_trial *t;
    struct contained *c;
    struct package_set packages;
    struct made_node made;
    struct arena *scratch;
    bool at_start;
    uint8_t *first; /* the outputs of the plainest way */
    bool has_first;
    struct made_range *ranges; /* of floats that outputs were, for the others: MADE_SHAPES times n_outputs */
    VEC(struct decided) decided;
    bool rewritten;      /* the op, by early_rewrite */
    const char *refusal; /* of the last made node that the package does not take; NULL: it took all */
};

static void *take(void *user, const char *name, size_t size)
{
    const struct at_work *w = user;
    return guarded_take(w->t->arena, name, size, !w->at_start)->data;
}

static void seal(void *user, void *data)
{
    (void)user;
    guarded_seal((struct guarded *)guarded_find(data), true);
}

/* ---- operands ---- */

static struct step_io io_of(struct arena *arena, const struct made_node *made)
{
    const struct node *n = made->node;
    tensor_id *ids = arena_array(arena, tensor_id, n->n_inputs + n->n_outputs), *outputs = ids + n->n_inputs;
    struct step_io io = {.inputs = ids, .outputs = outputs};
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != NO_TENSOR && graph_tensor(made->graph, n->inputs[i])->kind != TENSOR_STATIC)
            ids[io.n_inputs++] = n->inputs[i];
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] != NO_TENSOR)
            outputs[io.n_outputs++] = n->outputs[i];
    return io;
}

static struct buffer buffer_of(const struct at_work *w, tensor_id id, const char *side, uint32_t i)
{
    const struct tensor *t = graph_tensor(w->made.graph, id);
    struct buffer b = {.dtype = t->type->dtype, .shape = t->type->shape, .quant = t->quant};
    const size_t size = shape_count(&b.shape) * dtype_size(b.dtype);
    b.data = guarded_take(w->t->arena, arena_printf(w->t->arena, "%s %u", side, i), size, !w->at_start)->data;
    return b;
}

/* ---- one way ---- */

/* A package need not take all made inputs. */
static bool is_refusal(const struct odlc_diag *d)
{
    return strcmp(d->code, "plugin-no-kernel") == 0 || strcmp(d->code, "plugin-op-refused") == 0;
}

static void report(struct at_work *w, const struct diags *diags, const char *words)
{
    for (size_t i = 0; i < diags->list.count; i++) {
        const struct odlc_diag *d = &diags->list.data[i];
        if (d->severity == ODLC_ERROR && is_refusal(d) && !w->has_first)
            w->refusal = d->message;
        else if (d->severity == ODLC_ERROR || strcmp(d->code, "plugin-tile-kernel") == 0)
            contained_found(w->c, d->code, d->hint, "%s (%s, %s)", d->message, w->made.label, words);
    }
}

static uint64_t bytes_of(const struct buffer *b)
{
    return shape_count(&b->shape) * dtype_size(b->dtype);
}

static bool is_near_number(double found, double expected, double tolerance)
{
    if (isnan(found) || isnan(expected))
        return isnan(found) && isnan(expected);
    /* Any number would be near an infinity. */
    return found == expected || (isfinite(expected) && fabs(found - expected) <= tolerance * fmax(1, fabs(expected)));
}

/* Floats of 16 bits have an unit in the last place of 1/1024. */
static bool is_near(const struct at_work *w, const struct buffer *b, const uint8_t *first)
{
    const double tolerance = b->dtype == DT_FLOAT16 ? 2e-3 : 1e-5;
    struct buffer other = *b;
    other.data = (void *)first;
    const struct buffer x = buffer_widen(b, DT_FLOAT64, w->t->arena), y = buffer_widen(&other, DT_FLOAT64, w->t->arena);
    for (uint64_t i = 0; i < shape_count(&b->shape); i++)
        if (!is_near_number(((const double *)x.data)[i], ((const double *)y.data)[i], tolerance))
            return false;
    return true;
}

static void compare(struct at_work *w, const struct way *way, const struct step_io *io, const struct buffer *out)
{
    uint8_t *first = w->first;
    for (uint32_t i = 0; i < io->n_outputs; i++) {
        const uint64_t size = bytes_of(&out[i]);
        const bool exact = way->exact || !dtype_is_float(out[i].dtype);
        if (!w->has_first)
            memcpy(first, out[i].data, size);
        else if (exact ? memcmp(first, out[i].data, size) != 0 : !is_near(w, &out[i], first))
            contained_found(w->c, way->code, NULL, "gives another output %u %s than whole, in one slice (%s)", i,
                            way->words, w->made.label);
        first += size;
    }
    w->has_first = true;
}

/* What a quantized output may hold is what the float one did. */
static void note_ranges(struct at_work *w, struct made_range *ranges, const struct step_io *io,
                        const struct buffer *out)
{
    for (uint32_t i = 0; i < io->n_outputs; i++) {
        const struct buffer reals = buffer_widen(&out[i], DT_FLOAT64, w->t->arena);
        struct made_range range = {HUGE_VAL, -HUGE_VAL};
        for (uint64_t k = 0; k < shape_count(&out[i].shape); k++) {
            range.low = fmin(range.low, ((const double *)reals.data)[k]);
            range.high = fmax(range.high, ((const double *)reals.data)[k]);
        }
        if (dtype_is_float(out[i].dtype) && range.low < range.high && range.high < 1e6 && range.low > -1e6)
            ranges[i] = range;
    }
}

static struct preparation preparation_of(struct at_work *w, const struct way *way, struct group *group,
                                         struct backend_scope *scope, struct diags *diags)
{
    struct arena *arena = w->t->arena;
    diags_init(diags, arena);
    *scope = (struct backend_scope){.arena = arena,
                                    .scratch = w->scratch,
                                    .diags = diags,
                                    .graph = w->made.graph,
                                    .constants = w->made.constants,
                                    .threads = way->options.threads,
                                    .packages = &w->packages};
    vec_push(arena, &group->nodes, (node_id)(w->made.node - w->made.graph->nodes.data));
    w->at_start = way->at_start;
    struct preparation p = {.arena = arena, .diags = diags, .scope = scope, .group = group, .options = way->options};
    p.options.take = take;
    p.options.seal = seal;
    p.options.user = w;
    return p;
}

static odlc_status execute(struct at_work *w, const struct way *way, struct preparation *p, const struct step_io *io,
                           const struct buffer *in, struct buffer *out)
{
    struct arena *arena = w->t->arena;
    struct slice_pool *pool = way->options.threads > 1 ? slice_pool_begin(arena, way->options.threads - 1) : NULL;
    const odlc_status status = plugin_run(p, io, pool, p->scope, in, out);
    if (pool)
        slice_pool_end(pool);
    for (uint32_t i = 0; i < io->n_inputs && status == ODLC_OK; i++) {
        struct buffer before = buffer_of(w, io->inputs[i], "input", i);
        made_fill(arena, &before, i + 1);
        if (memcmp(before.data, in[i].data, bytes_of(&before)) != 0)
            contained_found(w->c, "kernel-writes-input", "copy what is changed, or say source_destructive",
                            "writes into input %u (%s, %s)", i, way->words, w->made.label);
    }
    return status;
}

/* False: the package does not take the node, or fails on it, which is noted. ranges: of outputs, or NULL. */
static bool try_way(struct at_work *w, const struct way *way, struct made_range *ranges)
{
    struct arena *arena = w->t->arena;
    const struct step_io io = io_of(arena, &w->made);
    struct diags diags;
    struct group group = {0};
    struct backend_scope scope;
    struct preparation p = preparation_of(w, way, &group, &scope, &diags);
    struct buffer *in = arena_array(arena, struct buffer, io.n_inputs + io.n_outputs), *out = in + io.n_inputs;
    contained_stage(w->c, "%s, %s", way->words, w->made.label);
    odlc_status status = plugin_prepare(&p, &io);
    w->rewritten |= p.rewritings.count > 0 && strcmp(p.rewritings.data[0].callback, "early_rewrite") == 0;
    for (uint32_t i = 0; i < io.n_inputs; i++) {
        in[i] = buffer_of(w, io.inputs[i], "input", i);
        made_fill(arena, &in[i], i + 1);
    }
    for (uint32_t i = 0; i < io.n_outputs; i++)
        out[i] = buffer_of(w, io.outputs[i], "output", i);
    if (status == ODLC_OK && way->remembers)
        vec_push(arena, &w->decided, (struct decided){w->made, explain_json(&p, arena)});
    if (status == ODLC_OK)
        status = execute(w, way, &p, &io, in, out);
    report(w, &diags, way->words);
    if (status == ODLC_OK)
        compare(w, way, &io, out);
    if (status == ODLC_OK && ranges)
        note_ranges(w, ranges, &io, out);
    guarded_give_all();
    return status == ODLC_OK;
}

/* ---- all ways ---- */

static struct way way_of(const char *words, const char *code)
{
    return (struct way){
        .words = words,
        .code = code,
        .options = {.fast_memory = ROOM, .slices = 1, .threads = 1, .whole = true, .plain = true, .apart = true},
        .exact = true};
}

static void try_slices(struct at_work *w)
{
    for (size_t i = 0; i < COUNT_OF(slice_counts); i++)
        for (uint32_t threads = 1; threads <= TRIAL_THREADS; threads += TRIAL_THREADS - 1) {
            struct way way = way_of(arena_printf(w->t->arena, "in %u slices, %s", slice_counts[i],
                                                 threads > 1 ? "at the same time" : "one after the other"),
                                    "plugin-slices-differ");
            way.options.slices = slice_counts[i];
            way.options.threads = threads;
            try_way(w, &way, NULL);
        }
}

static struct way way_in_tiles(const char *words, uint32_t least_tiles)
{
    struct way way = way_of(words, "plugin-tiles-differ");
    way.options.whole = false;
    way.options.least_tiles = least_tiles;
    way.exact = false;
    return way;
}

/* A few tiles, along the rows, and many. */
static void try_tiles(struct at_work *w)
{
    struct way few = way_in_tiles("cut into tiles", FEW_TILES), many = way_in_tiles("cut into small tiles", MANY_TILES);
    few.remembers = true;
    try_way(w, &few, NULL);
    many.options.asks_again = true;
    try_way(w, &many, NULL);
}

static void try_node(struct at_work *w, struct made_range *ranges)
{
    struct way plain = way_of("whole", "kernel-not-repeatable"),
               again = way_of("a second time", "kernel-not-repeatable"),
               in_place = way_of("in the memory of its input", "plugin-in-place-differs"),
               blocks = way_of("with what it computed before", "plugin-precomputed-differs");
    w->c->cases++;
    w->has_first = false;
    w->first = arena_alloc(w->t->arena, 1 << 20);
    plain.options.asks_again = true;
    if (!try_way(w, &plain, ranges)) {
        w->c->refused++;
        return;
    }
    again.at_start = true;
    try_way(w, &again, NULL);
    try_tiles(w);
    in_place.options.apart = false;
    in_place.options.copies = true;
    try_way(w, &in_place, NULL);
    blocks.options.plain = false;
    try_way(w, &blocks, NULL);
    try_slices(w);
}

/* Nodes of all shapes, and of each of the types with which a kernel could be taken. */
static void try_nodes(struct at_work *w, const struct plugin_op *op)
{
    static const uint32_t shapes_of_types[] = {0, 1, 3};
    struct arena *arena = w->t->arena;
    const struct udo_def *def = w->t->def;
    const struct typings typings = plugin_typings(arena, op, def);
    w->ranges = arena_array(arena, struct made_range, (size_t)MADE_SHAPES * def->n_outputs);
    for (size_t i = 0; i < (size_t)MADE_SHAPES * def->n_outputs; i++)
        w->ranges[i] = (struct made_range){-4, 4};
    for (size_t k = 0; k < typings.list.count; k++)
        for (uint32_t i = 0; i < (k ? COUNT_OF(shapes_of_types) : MADE_SHAPES); i++) {
            const uint32_t which = k ? shapes_of_types[i] : i;
            struct made_range *ranges = w->ranges + (size_t)which * def->n_outputs;
            if (made_node(arena, w->t->set, def, which, false, &w->made) &&
                (k == 0 || made_node_retype(arena, &w->made, typings.list.data[k].dtypes, ranges)))
                try_node(w, k ? NULL : ranges);
        }
}

/* Callbacks that remember other ops are found when all is prepared once more, backwards. */
static void prepare_again(struct at_work *w)
{
    const struct way way = way_in_tiles("prepared again", FEW_TILES);
    for (size_t i = w->decided.count; i-- > 0;) {
        struct diags diags;
        struct group group = {0};
        struct backend_scope scope;
        w->made = w->decided.data[i].made;
        const struct step_io io = io_of(w->t->arena, &w->made);
        struct preparation p = preparation_of(w, &way, &group, &scope, &diags);
        contained_stage(w->c, "%s, %s", way.words, w->made.label);
        if (plugin_prepare(&p, &io) != ODLC_OK ||
            strcmp(explain_json(&p, w->t->arena), w->decided.data[i].explained) != 0)
            contained_found(w->c, "plugin-not-pure", "answers must depend on nothing but the arguments",
                            "is prepared in another way when other ops were prepared before (%s)", w->made.label);
        guarded_give_all();
    }
}

void plugin_trial_work(struct contained *c, void *user)
{
    const struct kernel_trial *t = user;
    struct at_work w = {.t = t, .c = c, .scratch = arena_create()};
    struct diags unheard;
    struct package *package;
    diags_init(&unheard, t->arena);
    contained_stage(c, "load the package");
    if (!w.scratch || package_load(t->arena, &unheard, t->library, t->provider, &package) != ODLC_OK)
        return; /* said before (trial_packages.c) */
    vec_push(t->arena, &w.packages.packages, package);
    const struct plugin_op *op = plugin_find(&package->plugin, t->def->type);
    try_nodes(&w, op);
    prepare_again(&w);
    plugin_signatures(c, op, t->def, w.rewritten);
    if (c->cases == 0)
        contained_found(c, "kernel-untried", "shape rules that hold for several shapes make trials possible",
                        "cannot be tried: the config fits none of the made inputs");
    else if (c->cases == c->refused && w.refusal)
        contained_found(c, "kernel-untried", "made inputs have the types of the config, and of kernels",
                        "takes none of the made inputs: %s", w.refusal);
    package_set_release(&w.packages);
    arena_destroy(w.scratch);
}
