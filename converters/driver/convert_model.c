#include <string.h>
#include <sys/stat.h>

#include "converters/driver/driver.h"
#include "dlc/record.h"
#include "opendlc/version.h"

struct odlc_conversion {
    struct conversion c;
};

static bool claims(void *user, const char *op_type, const char *domain)
{
    return udo_find(user, op_type, domain) != NULL;
}

static odlc_status load_udos(struct conversion *c)
{
    odlc_status status = ODLC_OK;
    c->registry = op_registry_new(c->arena);
    udo_set_init(&c->udos, c->arena, &c->diags, c->registry);
    c->udos.promote_static = c->options->promote_static;
    for (size_t i = 0; i < c->options->n_udo_configs; i++) {
        odlc_status loaded = udo_load(&c->udos, c->options->udo_configs[i]);
        if (status == ODLC_OK)
            status = loaded; /* the errors of all configs are reported */
    }
    return status;
}

/* Said before anything else can fail. */
static void match_udos(struct conversion *c)
{
    size_t count = c->model->ops.count;
    struct udo_operator *operators = arena_array(c->arena, struct udo_operator, count);
    for (size_t i = 0; i < count; i++)
        operators[i] = (struct udo_operator){c->model->ops.data[i]->type, c->model->ops.data[i]->domain};
    udo_match(&c->udos, operators, count);
}

static odlc_status check_options(struct conversion *c)
{
    const struct odlc_convert_options *o = c->options;
    if (!c->frontend)
        return diag_error(&c->diags, ODLC_ERR_USAGE, AT(.file = o->input), "no-framework",
                          "there is no framework of that number");
    if (!o->input)
        return diag_error(&c->diags, ODLC_ERR_USAGE, AT(.file = NULL), "no-input", "no model is given");
    if (o->threads < 1 || o->threads > ODLC_MAX_THREADS)
        return diag_error(&c->diags, ODLC_ERR_USAGE, AT(.file = NULL), "threads",
                          "a container is written by 1 to %d threads", ODLC_MAX_THREADS);
    if (o->model_version && strlen(o->model_version) > 64)
        return diag_error(&c->diags, ODLC_ERR_USAGE, AT(.file = NULL), "model-version",
                          "the model version is longer than 64 bytes");
    if (!o->dump_ir_after)
        return ODLC_OK;
    for (size_t i = 0; pass_name(i); i++)
        if (strcmp(pass_name(i), o->dump_ir_after) == 0)
            return ODLC_OK;
    text names = {0};
    for (size_t i = 0; pass_name(i); i++)
        text_add(c->arena, &names, "%s%s", i ? ", " : "the passes are: ", pass_name(i));
    return diag_error(&c->diags, ODLC_ERR_USAGE, AT(.hint = names.data), "unknown-pass", "there is no pass %s",
                      o->dump_ir_after);
}

/* preserve_names and input_layouts as maps, which live in `names` and `layouts`. */
static odlc_status pass_options(struct conversion *c, struct map *names, struct map *layouts, struct pass_options *out)
{
    static const char *const known[] = {
        [INPUT_NCHW] = "NCHW", [INPUT_NHWC] = "NHWC", [INPUT_NONTRIVIAL] = "NONTRIVIAL"};
    const struct odlc_convert_options *o = c->options;
    *out = (struct pass_options){.no_batchnorm_folding = o->no_batchnorm_folding,
                                 .fold_bias = c->frontend->bias_apart,
                                 .preserve_layout = o->preserve_layout,
                                 .preserve_dtype = o->preserve_dtype,
                                 .keep_disconnected = o->keep_disconnected_nodes,
                                 .keep_quant_nodes = o->keep_quant_nodes,
                                 .keep_int64_inputs = o->keep_int64_inputs,
                                 .dump_after = o->dump_ir_after};
    map_init(names, c->arena);
    map_init(layouts, c->arena);
    for (size_t i = 0; i < o->n_preserve_names; i++)
        map_put(names, o->preserve_names[i], 1);
    for (size_t i = 0; i < o->n_input_layouts; i++) {
        uint32_t layout = 0;
        while (layout < COUNT_OF(known) && strcmp(known[layout], o->input_layouts[i].value) != 0)
            layout++;
        if (layout == COUNT_OF(known))
            return diag_error(&c->diags, ODLC_ERR_USAGE, AT(.hint = "NCHW, NHWC or NONTRIVIAL"), "bad-layout",
                              "--input_layout %s: there is no layout %s", o->input_layouts[i].name,
                              o->input_layouts[i].value);
        map_put(layouts, o->input_layouts[i].name, layout);
    }
    out->preserve_names = o->n_preserve_names ? names : NULL;
    out->input_layouts = o->n_input_layouts ? layouts : NULL;
    return ODLC_OK;
}

static void summarize(struct conversion *c, const struct pass_context *passes)
{
    const struct graph *g = c->graph;
    bool *counted = arena_array(c->scratch, bool, g->tensors.count);
    c->summary.permutes_inserted = (uint32_t)passes->permutes.count;
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        c->summary.ops++;
        c->summary.udo_ops += n->op->package != NULL;
        for (uint32_t k = 0; k < n->n_inputs; k++) {
            if (n->inputs[k] == NO_TENSOR || counted[n->inputs[k]])
                continue;
            const struct tensor *t = graph_tensor(g, n->inputs[k]);
            counted[n->inputs[k]] = true;
            if (t->kind == TENSOR_STATIC)
                c->summary.static_bytes += shape_count(&t->type->shape) * dtype_size(t->type->dtype);
        }
    }
}

/* Hands the permutes that the passes found on to the reports of their nodes, which lowering made: the first n. */
static void add_permutes(struct conversion *c, const struct pass_context *passes, size_t n)
{
    typedef VEC(struct odlc_udo_permute) permutes;
    struct map nodes;
    map_init(&nodes, c->scratch);
    permutes *lists = arena_array(c->scratch, permutes, n);
    for (size_t i = 0; i < n; i++)
        map_put(&nodes, c->udos.reports.data[i].node, (uint32_t)i);
    for (size_t i = 0; i < passes->udo_permutes.count; i++) {
        const struct pass_permute *p = &passes->udo_permutes.data[i];
        uint32_t at = map_get(&nodes, p->node);
        const char *first = "NCHW", *last = "NHWC";
        if (at != MAP_NONE)
            vec_push(c->arena, &lists[at],
                     (struct odlc_udo_permute){.tensor = p->tensor,
                                               .from = p->to_first ? last : first,
                                               .to = p->to_first ? first : last,
                                               .after = p->after,
                                               .reason = p->reason});
    }
    for (size_t i = 0; i < n; i++) {
        c->udos.reports.data[i].permutes = lists[i].data;
        c->udos.reports.data[i].n_permutes = lists[i].count;
    }
}

static odlc_status replace_natives(void *udos, struct graph *g)
{
    return udo_replace_natives(udos, g);
}

static odlc_status keep_declared_types(void *udos, struct graph *g)
{
    udo_keep_types(udos, g);
    return ODLC_OK;
}

static odlc_status run_passes(struct conversion *c)
{
    const size_t n_claimed = c->udos.reports.count;
    struct pass_options options;
    struct map names, layouts;
    TRY(pass_options(c, &names, &layouts, &options));
    struct pass_context passes = {.scratch = c->scratch,
                                  .diags = &c->diags,
                                  .options = &options,
                                  .progress = &c->progress,
                                  .replace_natives = {replace_natives, &c->udos},
                                  .keep_declared_types = {keep_declared_types, &c->udos}};
    odlc_status status = pass_run_all(&passes, c->graph);
    c->dumped = passes.dumped;
    add_permutes(c, &passes, n_claimed);
    if (status == ODLC_OK)
        summarize(c, &passes);
    return status;
}

/* The graph goes by the stem of the file that is written first (dlc-format.md). */
static const char *graph_name(struct conversion *c)
{
    const char *path = c->options->output ? c->options->output : c->options->input;
    const char *slash = strrchr(path, '/'), *stem = slash ? slash + 1 : path, *dot = strrchr(stem, '.');
    return dot && dot != stem ? arena_strndup(c->arena, stem, (size_t)(dot - stem)) : arena_strdup(c->arena, stem);
}

static odlc_status write_container(struct conversion *c)
{
    const struct odlc_convert_options *o = c->options;
    struct dlc_write_options options = {.netp = o->netp,
                                        .threads = (unsigned)o->threads,
                                        .converter_command = o->converter_command,
                                        .converter_version = "OpenDLC-" ODLC_VERSION,
                                        .model_copyright = o->model_copyright,
                                        .model_version = o->model_version,
                                        .progress = &c->progress,
                                        .most_payload = growth_payload(&c->graph->growth),
                                        .ready = commit_depfile,
                                        .ready_user = c};
    if (o->dry_run)
        return dlc_try_write(c->scratch, &c->diags, c->graph, o->output, &options);
    return dlc_write(c->scratch, &c->diags, c->graph, o->output, &options);
}

static bool report_progress(void *user, uint64_t done, uint64_t total)
{
    struct conversion *c = user;
    const struct odlc_convert_options *o = c->options;
    return !o->progress || o->progress(o->progress_user, &(struct odlc_progress){c->stage, done, total}) == 0;
}

static odlc_status begin(struct conversion *c, enum odlc_stage stage)
{
    c->stage = stage;
    c->progress = (struct progress){report_progress, c};
    return progress_report(&c->progress, &c->diags, 0, 0);
}

/* The framework graph is as large as the IR graph, which has taken its place. */
static void forget_model(struct conversion *c)
{
    arena_destroy(c->model_arena);
    c->model_arena = NULL;
    c->model = NULL;
    c->value_types = NULL;
}

/* Which files the model has is not known yet; graphs are in the first one, or in a folder of a small one. */
static void limit_loading(struct conversion *c)
{
    struct stat st;
    const struct growth growth = {.model_bytes = stat(c->options->input, &st) == 0 ? (uint64_t)st.st_size : 0};
    c->memory.most = growth_memory(&growth);
}

/* The road, a step a line. */
static odlc_status run(struct conversion *c)
{
    const struct frontend *frontend = c->frontend;
    TRY(check_options(c));
    TRY(begin(c, ODLC_STAGE_READ));
    TRY(load_udos(c));
    limit_loading(c);
    const struct fw_memory memory = model_memory(c);
    TRY(frontend->load(&memory, &c->diags, c->options, claims, &c->udos, &c->model));
    c->diags.model = c->model->path;
    c->unconsumed = c->model->unconsumed.data;
    c->n_unconsumed = c->model->unconsumed.count;
    list_inputs(c);
    const struct growth growth = {.model_bytes = input_bytes(c), .model_nodes = c->model->graph.nodes.count};
    c->memory.most = growth_memory(&growth);
    TRY(begin(c, ODLC_STAGE_CHECK));
    match_udos(c);
    TRY(prepare_model(c));
    TRY(check_outputs(c));
    odlc_status surveyed = check_support(c), checked = check_inputs(c);
    if (c->options->dry_run) /* which lowers what is supported, too: its user learns all that is wrong */
        c->udo_stub = write_udo_template(c);
    else
        TRY(surveyed);
    TRY(checked == ODLC_OK ? ODLC_OK : surveyed == ODLC_OK ? checked : surveyed);
    c->graph = graph_create(c->arena, graph_name(c));
    c->graph->growth = growth;
    TRY(begin(c, ODLC_STAGE_LOWER));
    odlc_status lowered = lower_graph(c);
    note_refusals(c);
    TRY(lowered);
    forget_model(c);
    TRY(begin(c, ODLC_STAGE_PASSES));
    TRY(run_passes(c));
    if (!c->options->output && !c->options->dry_run)
        return ODLC_OK;
    TRY(begin(c, ODLC_STAGE_WRITE));
    return write_container(c);
}

/* An arena whose exhaustion is that of `whole`. */
#define DEPENDENT_ARENA(out, whole)              \
    do {                                         \
        (out) = arena_create();                  \
        if (!(out) || setjmp(*arena_catch(out))) \
            arena_exhausted(whole);              \
    } while (0)

/* Memory ran out, or the conversion came to the end of its budget: then there is enough left to say so. */
static odlc_status report_exhausted(struct conversion *c)
{
    const size_t most = c->memory.most;
    c->memory.most = SIZE_MAX;
    if (!c->memory.reached)
        return ODLC_ERR_NOMEM;
    return diag_error(&c->diags, ODLC_ERR_LIMIT,
                      AT(.file = c->options->input, .node = c->at_node,
                         .hint = c->at_node ? "leave what is unrolled, or computed of constants, to a user-defined op"
                                            : "the model's files may hold few bytes that stand for many"),
                      "model-memory",
                      "converting takes more than the %llu MiB of memory that a model of this size may have",
                      (unsigned long long)(most >> 20));
}

odlc_status convert_model(const struct frontend *frontend, const struct odlc_convert_options *options,
                          struct odlc_conversion **out)
{
    *out = NULL;
    struct arena *arena = arena_create();
    struct conversion *volatile made = NULL;
    if (!arena || setjmp(*arena_catch(arena))) {
        if (made && report_exhausted(made) != ODLC_ERR_NOMEM) {
            *out = (struct odlc_conversion *)made;
            return ODLC_ERR_LIMIT;
        }
        if (made) {
            arena_destroy(made->scratch);
            arena_destroy(made->model_arena);
        }
        arena_destroy(arena);
        return ODLC_ERR_NOMEM;
    }
    struct odlc_conversion *conversion = arena_new(arena, struct odlc_conversion);
    struct conversion *c = made = &conversion->c;
    c->arena = arena;
    c->ops = arena_new(arena, struct odlc_op_report *);
    DEPENDENT_ARENA(c->scratch, arena);
    DEPENDENT_ARENA(c->model_arena, arena);
    c->memory.most = SIZE_MAX;
    arena_share(c->arena, &c->memory);
    arena_share(c->scratch, &c->memory);
    arena_share(c->model_arena, &c->memory);
    c->frontend = frontend;
    diags_init(&c->diags, arena);
    odlc_status status = adopt_options(c, options);
    if (status == ODLC_OK)
        status = run(c);
    if (status != ODLC_OK && c->diags.errors == 0)
        (void)diag_error(&c->diags, status, AT(.file = c->options->input), "failed", "%s", odlc_status_name(status));
    *out = conversion;
    return status;
}

void odlc_conversion_free(struct odlc_conversion *conversion)
{
    if (!conversion)
        return;
    struct arena *arena = conversion->c.arena;
    arena_destroy(conversion->c.scratch);
    arena_destroy(conversion->c.model_arena);
    arena_destroy(arena);
}

const struct odlc_diag *odlc_conversion_diags(const struct odlc_conversion *conversion, size_t *count)
{
    *count = conversion->c.diags.list.count;
    return conversion->c.diags.list.data;
}

static struct odlc_op_report *report_ops(const struct conversion *c)
{
    struct odlc_op_report *ops = arena_array(c->arena, struct odlc_op_report, c->notes.count);
    for (size_t i = 0; i < c->notes.count; i++) {
        ops[i] = c->op_reports[c->notes.data[i].op];
        ops[i].node = c->notes.data[i].node;
        if (c->notes.data[i].refused && ops[i].status == ODLC_OP_NATIVE)
            ops[i].status = ODLC_OP_UNSUPPORTED;
    }
    return ops;
}

/* Few ask for them, and a report is larger than what else is known of most nodes. */
const struct odlc_op_report *odlc_conversion_ops(const struct odlc_conversion *conversion, size_t *count)
{
    const struct conversion *c = &conversion->c;
    *count = 0;
    if (setjmp(*arena_catch(c->arena)))
        return NULL;
    if (!*c->ops)
        *c->ops = report_ops(c);
    *count = c->notes.count;
    return *c->ops;
}

const struct odlc_udo_report *odlc_conversion_udo_nodes(const struct odlc_conversion *conversion, size_t *count)
{
    *count = conversion->c.udos.reports.count;
    return conversion->c.udos.reports.data;
}

const char *const *odlc_conversion_inputs(const struct odlc_conversion *conversion, size_t *count)
{
    *count = conversion->c.inputs.count;
    return conversion->c.inputs.data;
}

const char *const *odlc_conversion_unconsumed(const struct odlc_conversion *conversion, size_t *count)
{
    *count = conversion->c.n_unconsumed;
    return conversion->c.unconsumed;
}

const char *odlc_conversion_udo_stub(const struct odlc_conversion *conversion)
{
    return conversion->c.udo_stub;
}

const char *odlc_conversion_dump(const struct odlc_conversion *conversion)
{
    return conversion->c.dumped;
}

struct odlc_conversion_summary odlc_conversion_summary(const struct odlc_conversion *conversion)
{
    return conversion->c.summary;
}

const char *odlc_stage_name(enum odlc_stage stage)
{
    static const char *const names[] = {[ODLC_STAGE_READ] = "reading the model",
                                        [ODLC_STAGE_CHECK] = "checking ops",
                                        [ODLC_STAGE_LOWER] = "lowering",
                                        [ODLC_STAGE_PASSES] = "passes",
                                        [ODLC_STAGE_WRITE] = "writing"};
    return names[stage];
}

const char *odlc_pass_name(size_t i)
{
    return pass_name(i);
}
