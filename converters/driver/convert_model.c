/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/convert_model.h"

#include <string.h>
#include <sys/stat.h>

#include "converters/driver/adopt_options.h"
#include "converters/driver/check_inputs.h"
#include "converters/driver/conversion.h"
#include "converters/driver/input_files.h"
#include "converters/driver/lower_graph.h"
#include "converters/driver/option_name.h"
#include "converters/driver/output_files.h"
#include "converters/driver/prepare.h"
#include "converters/driver/run_passes.h"
#include "converters/driver/target_lists.h"
#include "converters/driver/target_release.h"
#include "converters/driver/udo_template.h"
#include "dlc/record.h"
#include "opendlc/version.h"
#include "package/inference.h"
#include "pass/pass.h"

static bool claims(void *user, const char *op_type, const char *domain)
{
    return udo_find(user, op_type, domain) != NULL;
}

static odlc_status load_udos(const struct context *c, struct udo_set *udos)
{
    odlc_status status = ODLC_OK;
    udo_set_init(udos, c->arena, c->diags, c->registry);
    udos->promote_static = c->options->promote_static;
    for (size_t i = 0; i < c->options->n_udo_configs; i++) {
        odlc_status loaded = udo_load(udos, c->options->udo_configs[i]);
        if (status == ODLC_OK)
            status = loaded; /* the errors of all configs are reported */
    }
    const size_t count = c->options->n_inference_libraries;
    odlc_status opened =
        count ? inference_open(c->arena, c->diags, c->options->inference_libraries, count, &udos->oracle) : ODLC_OK;
    return status == ODLC_OK ? opened : status;
}

/* Said before anything else can fail. */
static void match_udos(const struct context *c, const struct fw_model *model, struct udo_set *udos)
{
    size_t count = model->ops.count;
    struct udo_operator *operators = arena_array(c->arena, struct udo_operator, count);
    for (size_t i = 0; i < count; i++)
        operators[i] = (struct udo_operator){model->ops.data[i]->type, model->ops.data[i]->domain};
    udo_match(udos, operators, count);
}

static odlc_status check_dump(const struct context *c)
{
    const char *pass = c->options->dump_ir_after;
    if (!pass)
        return ODLC_OK;
    for (size_t i = 0; pass_name(i); i++)
        if (strcmp(pass_name(i), pass) == 0)
            return ODLC_OK;
    text names = {0};
    for (size_t i = 0; pass_name(i); i++)
        text_add(c->arena, &names, "%s%s", i ? ", " : "the passes are: ", pass_name(i));
    return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = names.data), "unknown-pass", "there is no pass %s", pass);
}

/* All names that are wrong are reported. */
static odlc_status check_fusions(const struct context *c)
{
    const struct odlc_convert_options *o = c->options;
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < o->n_no_fusions; i++)
        if (!pass_is_fusion(o->no_fusions[i]))
            status = diag_error(c->diags, ODLC_ERR_USAGE,
                                AT(.hint = "all, or a pass fuse_NAME of docs/graphs-and-passes.md: gelu, for example"),
                                "unknown-fusion", "there is no fusion %s", o->no_fusions[i]);
    return status;
}

/* Weights in blocks stay integers where nothing else that is asked for makes floats of them. */
static odlc_status read_block_weights(const struct context *c, bool *packed)
{
    const struct odlc_convert_options *o = c->options;
    const char *text = o->block_weights ? o->block_weights : "float";
    *packed = strcmp(text, "packed") == 0;
    if (!*packed && strcmp(text, "float") != 0)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = "packed or float"), "bad-block-weights",
                          "--block_weights %s: there is no such form", text);
    const bool encodings = o->quantization_overrides || (o->qdq && strcmp(o->qdq, "encodings") == 0);
    if (*packed && (encodings || o->dequantize_weights))
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = "give one of the two"), "bad-block-weights",
                          "--block_weights packed stores integers, and %s leaves none",
                          o->dequantize_weights       ? "--dequantize_weights"
                          : o->quantization_overrides ? "--quantization_overrides"
                                                      : "--qdq encodings");
    return ODLC_OK;
}

static odlc_status check_options(const struct context *c)
{
    const struct odlc_convert_options *o = c->options;
    if (!c->frontend)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.file = o->input), "no-framework",
                          "there is no framework of that number");
    if (!o->input)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.file = NULL), "no-input", "no model is given");
    if (o->threads < 0 || o->threads > ODLC_MAX_THREADS)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.file = NULL), "threads",
                          "a container is written by 1 to %d threads, or 0 for a choice", ODLC_MAX_THREADS);
    if (o->model_version && strlen(o->model_version) > 64)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.file = NULL), "model-version",
                          "the model version is longer than 64 bytes");
    TRY(check_fusions(c));
    TRY(check_targets(c));
    return check_dump(c);
}

/* The graph goes by the stem of the file that is written first (dlc-format.md). */
static const char *graph_name(const struct context *c)
{
    const char *path = c->options->output ? c->options->output : c->options->input;
    const char *slash = strrchr(path, '/'), *stem = slash ? slash + 1 : path, *dot = strrchr(stem, '.');
    return dot && dot != stem ? arena_strndup(c->arena, stem, (size_t)(dot - stem)) : arena_strdup(c->arena, stem);
}

static odlc_status write_container(struct odlc_conversion *conversion, const struct graph *graph)
{
    const struct context *c = &conversion->shared;
    const char *path = c->options->output ? c->options->output : c->options->input;
    const struct odlc_convert_options *o = c->options;
    struct dlc_write_options options = {.netp = o->netp,
                                        .release = c->release,
                                        .threads = (unsigned)o->threads,
                                        .converter_command = o->converter_command,
                                        .converter_version = "OpenDLC-" ODLC_VERSION,
                                        .model_copyright = o->model_copyright,
                                        .model_version = o->model_version,
                                        .progress = c->progress,
                                        .most_payload = growth_payload(&graph->growth),
                                        .ready = commit_depfile,
                                        .ready_user = conversion->outcome.depfile,
                                        .kept = c->options->in_memory ? &conversion->container : NULL,
                                        .packed = c->packs_blocks ? dlc_pack_4_bits(c->arena, graph) : NULL};
    if (o->dry_run)
        return dlc_try_write(c->scratch, c->diags, graph, o->output, &options);
    return dlc_write(c->scratch, c->diags, graph, path, &options);
}

static bool report_progress(void *user, uint64_t done, uint64_t total)
{
    const struct odlc_conversion *conversion = user;
    const struct odlc_convert_options *o = conversion->shared.options;
    return !o->progress || o->progress(o->progress_user, &(struct odlc_progress){conversion->stage, done, total}) == 0;
}

static odlc_status begin(struct odlc_conversion *conversion, enum odlc_stage stage)
{
    conversion->stage = stage;
    return progress_report(&conversion->progress, &conversion->diags, 0, 0);
}

/* ---- the road ---- */

static odlc_status load_model(struct odlc_conversion *conversion)
{
    const struct context *c = &conversion->shared;
    struct input *in = &conversion->input;
    const struct fw_memory memory = model_memory(c);
    struct fw_load_options options = load_options(c);
    options.claims = claims;
    options.claims_user = &conversion->udos;
    TRY(c->frontend->load(&memory, c->diags, &options, &in->model));
    c->diags->model = in->model->path;
    adopt_model_names(&conversion->shared, in->model);
    in->unconsumed = in->model->unconsumed.data;
    in->n_unconsumed = in->model->unconsumed.count;
    list_input_files(c, in);
    return ODLC_OK;
}

/* A dry run goes on where nodes are missing and lowers what is supported: its user learns all that is wrong. */
static odlc_status check_model(struct odlc_conversion *conversion)
{
    const struct context *c = &conversion->shared;
    struct input *in = &conversion->input;
    struct support *support = &conversion->support;
    odlc_status surveyed = check_support(c, in, &conversion->udos, support), checked = check_inputs(c, in);
    conversion->outcome.summary.model_nodes = (uint32_t)support->notes.count;
    if (c->options->dry_run)
        conversion->outcome.udo_stub = write_udo_template(c, in, support);
    else
        TRY(surveyed);
    return checked == ODLC_OK ? ODLC_OK : surveyed == ODLC_OK ? checked : surveyed;
}

static odlc_status lower_model(struct odlc_conversion *conversion, struct graph *graph)
{
    struct lowering *lowering = &conversion->lowering;
    lowering->c = &conversion->shared;
    lowering->in = &conversion->input;
    lowering->udos = &conversion->udos;
    odlc_status status = lower_graph(lowering, graph);
    note_refusals(&conversion->input, &conversion->support);
    TRY(status);
    TRY(apply_overrides(lowering, &conversion->overrides));
    return apply_custom_io(lowering, &conversion->custom_io);
}

/* The framework graph is as large as the IR graph, which has taken its place. */
static void forget_model(struct odlc_conversion *conversion)
{
    arena_destroy(conversion->shared.model_arena);
    conversion->shared.model_arena = NULL;
    conversion->input.model = NULL;
    conversion->input.types = NULL;
}

/* Which files the model has is not known yet; graphs are in the first one, or in a folder of a small one. */
static void limit_loading(struct odlc_conversion *conversion)
{
    struct stat st;
    const char *input = conversion->shared.options->input;
    const uint64_t on_disk = stat(input, &st) == 0 ? (uint64_t)st.st_size : 0;
    const struct growth growth = {.model_bytes = sat_add(on_disk, bytes_in_memory(&conversion->shared))};
    conversion->memory.most = growth_memory(&growth);
}

static odlc_status run(struct odlc_conversion *conversion)
{
    const struct context *c = &conversion->shared;
    struct input *in = &conversion->input;
    conversion->diags.buffers = c->options->buffers;
    conversion->diags.n_buffers = c->options->n_buffers;
    if (!c->options->command_words)
        conversion->diags.option_name = option_member;
    TRY(check_options(c));
    TRY(read_target_release(c, &conversion->shared.release));
    TRY(read_block_weights(c, &conversion->shared.packs_blocks));
    TRY(begin(conversion, ODLC_STAGE_READ));
    TRY(load_udos(c, &conversion->udos));
    TRY(read_overrides(c, &conversion->overrides));
    TRY(read_custom_io(c, &conversion->custom_io));
    limit_loading(conversion);
    TRY(load_model(conversion));
    const struct growth growth = {.model_bytes = input_bytes(c, in), .model_nodes = in->model->graph.nodes.count};
    conversion->memory.most = growth_memory(&growth);
    TRY(begin(conversion, ODLC_STAGE_CHECK));
    match_udos(c, in->model, &conversion->udos);
    TRY(prepare_model(c, in));
    TRY(check_outputs(c, in, &conversion->outcome.depfile));
    TRY(check_model(conversion));
    struct graph *graph = graph_create(c->arena, graph_name(c));
    graph->growth = growth;
    if (c->options->output && !c->options->in_memory)
        graph->spill = spill_beside(c->arena, c->diags, c->options->output);
    TRY(begin(conversion, ODLC_STAGE_LOWER));
    TRY(lower_model(conversion, graph));
    forget_model(conversion);
    TRY(begin(conversion, ODLC_STAGE_PASSES));
    TRY(run_passes(c, &conversion->udos, &conversion->custom_io, graph, &conversion->outcome));
    report_lost_overrides(c, graph, &conversion->overrides);
    if (!c->options->output && !c->options->dry_run && !c->options->in_memory)
        return ODLC_OK;
    note_unknown_types(c, graph);
    conversion->outcome.target_stub = report_unlisted(c, graph);
    graph_forget_names(graph);
    TRY(begin(conversion, ODLC_STAGE_WRITE));
    return write_container(conversion, graph);
}

/* ---- memory ---- */

/* An arena whose exhaustion is that of `whole`. */
#define DEPENDENT_ARENA(out, whole)              \
    do {                                         \
        (out) = arena_create();                  \
        if (!(out) || setjmp(*arena_catch(out))) \
            arena_exhausted(whole);              \
    } while (0)

/* Memory ran out, or the conversion came to the end of its budget: then there is enough left to say so. */
static odlc_status report_exhausted(struct odlc_conversion *conversion)
{
    const size_t most = conversion->memory.most;
    const char *at_node = conversion->lowering.at_node;
    conversion->memory.most = SIZE_MAX;
    if (!conversion->memory.reached)
        return ODLC_ERR_NOMEM;
    return diag_error(&conversion->diags, ODLC_ERR_LIMIT,
                      AT(.file = conversion->shared.options->input, .node = at_node,
                         .hint = at_node ? "leave what is unrolled, or computed of constants, to a user-defined op"
                                         : "the model's files may hold few bytes that stand for many"),
                      "model-memory",
                      "converting takes more than the %llu MiB of memory that a model of this size may have",
                      (unsigned long long)(most >> 20));
}

/* Its arena is there. */
static struct odlc_conversion *new_conversion(struct arena *arena, const struct frontend *frontend)
{
    struct odlc_conversion *conversion = arena_new(arena, struct odlc_conversion);
    conversion->op_reports = arena_new(arena, struct odlc_op_report *);
    conversion->memory.most = SIZE_MAX;
    conversion->progress = (struct progress){report_progress, conversion};
    conversion->shared = (struct context){.arena = arena,
                                          .diags = &conversion->diags,
                                          .progress = &conversion->progress,
                                          .registry = op_registry_new(arena),
                                          .frontend = frontend};
    return conversion;
}

odlc_status convert_model(const struct frontend *frontend, const struct odlc_convert_options *options,
                          struct odlc_conversion **out)
{
    *out = NULL;
    struct arena *arena = arena_create();
    struct odlc_conversion *volatile made = NULL;
    if (!arena || setjmp(*arena_catch(arena))) {
        if (made && report_exhausted(made) != ODLC_ERR_NOMEM) {
            *out = made;
            return ODLC_ERR_LIMIT;
        }
        if (made) {
            arena_destroy(made->shared.scratch);
            arena_destroy(made->shared.model_arena);
        }
        arena_destroy(arena);
        return ODLC_ERR_NOMEM;
    }
    struct odlc_conversion *conversion = made = new_conversion(arena, frontend);
    struct context *c = &conversion->shared;
    DEPENDENT_ARENA(c->scratch, arena);
    DEPENDENT_ARENA(c->model_arena, arena);
    arena_share(arena, &conversion->memory);
    arena_share(c->scratch, &conversion->memory);
    arena_share(c->model_arena, &conversion->memory);
    diags_init(&conversion->diags, arena);
    odlc_status status = adopt_options(c, options);
    if (status == ODLC_OK)
        status = run(conversion);
    if (status != ODLC_OK && conversion->diags.errors == 0)
        (void)diag_error(&conversion->diags, status, AT(.file = c->options->input), "failed", "%s",
                         odlc_status_name(status));
    *out = conversion;
    return status;
}
