/* SPDX-License-Identifier: Apache-2.0 */
#include "api/shared_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "api/lent_gpu.h"
#include "base/struct_size.h"
#ifdef ODLC_BACKEND_GPU
#include "backend/gpu/gpu_cache.h"
#include "backend/gpu/gpu_context.h"
#include "backend/gpu/gpu_tuning.h"
#endif

odlc_gpu *odlc_gpu_new(void)
{
    odlc_gpu *gpu = calloc(1, sizeof(*gpu));
    if (!gpu)
        return NULL;
    gpu->arena = arena_create();
    if (!gpu->arena) {
        free(gpu);
        return NULL;
    }
    diags_init(&gpu->diags, gpu->arena);
    gpu->config.struct_size = sizeof(gpu->config);
    (void)pthread_mutex_init(&gpu->lock, NULL);
    return gpu;
}

const struct odlc_diag *odlc_gpu_diags(const odlc_gpu *gpu, size_t *count)
{
    *count = gpu->diags.list.count;
    return gpu->diags.list.data;
}

struct odlc_gpu_config odlc_gpu_configuration(const odlc_gpu *gpu)
{
    return gpu->config;
}

/* ---- configuration ---- */

static odlc_status misused(odlc_gpu *gpu, const char *what)
{
    return diag_error(&gpu->diags, ODLC_ERR_USAGE, AT(.file = NULL), "gpu-config", "%s", what);
}

static bool is_prepared(odlc_gpu *gpu)
{
    (void)pthread_mutex_lock(&gpu->lock);
    const bool is = gpu->context != NULL;
    (void)pthread_mutex_unlock(&gpu->lock);
    return is;
}

static const char *copy_of(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

static odlc_status configure(odlc_gpu *gpu, const struct odlc_gpu_config *given)
{
    struct odlc_gpu_config config;
    if (is_prepared(gpu))
        return misused(gpu, "a context is configured before runs are prepared with it");
    if (!struct_read(&config, sizeof config, given))
        return misused(gpu, "the configuration has no size, or members that this version does not know");
    if ((unsigned)config.precision > ODLC_GPU_HYBRID || (unsigned)config.performance > ODLC_GPU_LOW ||
        (unsigned)config.priority > ODLC_GPU_PRIORITY_HIGH)
        return misused(gpu, "the configuration has a precision, a performance or a priority that does not exist");
    if (config.invalidate_performance_cache && !config.performance_cache)
        return misused(gpu, "a performance cache is invalidated, and none is named");
    const char **names = arena_array(gpu->arena, const char *, config.n_graph_names);
    for (size_t i = 0; i < config.n_graph_names; i++)
        names[i] = arena_strdup(gpu->arena, config.graph_names[i]);
    const bool is_own = given->graph_names == gpu->config.graph_names;
    config.graph_names = is_own ? config.graph_names : names;
    config.device = copy_of(gpu->arena, config.device);
    config.kernel_repository = copy_of(gpu->arena, config.kernel_repository);
    config.context_cache = copy_of(gpu->arena, config.context_cache);
    config.performance_cache = copy_of(gpu->arena, config.performance_cache);
    gpu->graph_values = is_own ? gpu->graph_values : NULL;
    gpu->config = config;
    return ODLC_OK;
}

odlc_status odlc_gpu_configure(odlc_gpu *gpu, const struct odlc_gpu_config *config)
{
    if (setjmp(*arena_catch(gpu->arena)))
        return ODLC_ERR_NOMEM;
    return configure(gpu, config);
}

odlc_status odlc_gpu_configure_from_file(odlc_gpu *gpu, const char *path)
{
    if (setjmp(*arena_catch(gpu->arena)))
        return ODLC_ERR_NOMEM;
    if (is_prepared(gpu))
        return misused(gpu, "a context is configured before runs are prepared with it");
    return gpu_file_read(gpu, arena_strdup(gpu->arena, path));
}

bool gpu_is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static odlc_status unknown_graph(odlc_gpu *gpu, const struct json_value *value, const char *name, const char *known)
{
    const char *hint = known ? arena_printf(gpu->arena, "there is a graph '%s'", known) : NULL;
    if (value)
        (void)json_error(gpu->json, value, hint, "gpu-graph", "there is no graph '%s'", name);
    else
        (void)diag_error(&gpu->diags, ODLC_ERR_USAGE, AT(.hint = hint), "gpu-graph", "there is no graph '%s'", name);
    return ODLC_ERR_USAGE;
}

odlc_status odlc_gpu_check_graphs(odlc_gpu *gpu, const char *const *graphs, size_t count)
{
    if (setjmp(*arena_catch(gpu->arena)))
        return ODLC_ERR_NOMEM;
    const struct json_value *value = gpu->graph_values;
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < gpu->config.n_graph_names; i++) {
        if (!gpu_is_among(gpu->config.graph_names[i], graphs, count))
            status = unknown_graph(gpu, value, gpu->config.graph_names[i], count ? graphs[0] : NULL);
        value = value ? value->next : NULL;
    }
    return status;
}

/* ---- for runs ---- */

struct gpu_tuning_options gpu_tuning_options(const odlc_gpu *gpu)
{
    return (struct gpu_tuning_options){.folder = gpu->config.performance_cache,
                                       .measures = gpu->config.tuning,
                                       .invalidates = gpu->config.invalidate_performance_cache,
                                       .budget = gpu->config.tuning_budget};
}

#ifdef ODLC_BACKEND_GPU
static odlc_status supply(const odlc_gpu *gpu, struct diags *diags, struct gpu_context *context)
{
    const struct gpu_tuning_options tuning = gpu_tuning_options(gpu);
    TRY(gpu_context_use_tuning(context, diags, &tuning));
    if (gpu->config.kernel_repository)
        TRY(gpu_context_use_repository(context, diags, gpu->config.kernel_repository));
    return gpu->cache ? gpu_context_use_cache(context, diags, gpu->cache) : ODLC_OK;
}

static odlc_status open_context(const odlc_gpu *gpu, struct diags *diags, struct gpu_context **out)
{
    struct gpu_context *context;
    TRY(gpu_context_create(diags, gpu->config.device, &context));
    const odlc_status status = supply(gpu, diags, context);
    if (status == ODLC_OK)
        *out = context;
    else
        gpu_context_destroy(context);
    return status;
}

static void close_context(struct gpu_context *context)
{
    gpu_context_destroy(context);
}

static void close_cache(struct gpu_cache *cache)
{
    gpu_cache_close(cache);
}

odlc_status odlc_gpu_close(odlc_gpu *gpu)
{
    if (setjmp(*arena_catch(gpu->arena)))
        return ODLC_ERR_NOMEM;
    if (is_prepared(gpu))
        gpu_context_keep(gpu->context, &gpu->diags);
    return ODLC_OK;
}

struct odlc_gpu_counts odlc_gpu_count(odlc_gpu *gpu)
{
    if (!is_prepared(gpu))
        return (struct odlc_gpu_counts){0};
    struct gpu_context *context = gpu->context;
    (void)pthread_mutex_lock(&context->lock);
    struct odlc_gpu_counts counts = {.builds = context->builds,
                                     .loads = context->loads,
                                     .uploads = context->uploads,
                                     .conversions = context->conversions,
                                     .copies = context->copies,
                                     .replays = context->replays};
    (void)pthread_mutex_unlock(&context->lock);
    const struct gpu_tuning_sums sums = context->tuning ? gpu_tuning_sum(context->tuning) : (struct gpu_tuning_sums){0};
    counts.measured = sums.measured;
    counts.skipped = sums.skipped;
    counts.tuning_nanoseconds = sums.nanoseconds;
    return counts;
}

const struct odlc_gpu_choice *odlc_gpu_choices(odlc_gpu *gpu, size_t *count)
{
    VEC(struct odlc_gpu_choice) list = {0};
    *count = 0;
    if (!is_prepared(gpu) || !gpu->context->tuning || setjmp(*arena_catch(gpu->arena)))
        return NULL;
    for (const struct gpu_tuned *t = gpu_tuning_newest(gpu->context->tuning); t; t = t->next)
        if (t->uses)
            vec_push(gpu->arena, &list,
                     (struct odlc_gpu_choice){t->kernel, t->where, t->choice, t->usual, t->microseconds,
                                              t->usual_microseconds, t->uses, t->is_measured});
    *count = list.count;
    return list.data;
}
#else
/* Nobody asks for a device that no backend uses. */
static odlc_status open_context(const odlc_gpu *gpu, struct diags *diags, struct gpu_context **out)
{
    (void)gpu, (void)out;
    return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.file = NULL), "gpu-device", "backend gpu is not in this build");
}

static void close_context(struct gpu_context *context)
{
    (void)context;
}

static void close_cache(struct gpu_cache *cache)
{
    (void)cache;
}

odlc_status odlc_gpu_close(odlc_gpu *gpu)
{
    (void)gpu;
    return ODLC_OK;
}

struct odlc_gpu_counts odlc_gpu_count(odlc_gpu *gpu)
{
    (void)gpu;
    return (struct odlc_gpu_counts){0};
}

const struct odlc_gpu_choice *odlc_gpu_choices(odlc_gpu *gpu, size_t *count)
{
    (void)gpu;
    *count = 0;
    return NULL;
}
#endif

void odlc_gpu_free(odlc_gpu *gpu)
{
    if (!gpu)
        return;
    gpu_memories_drop(gpu);
    close_context(gpu->context);
    close_cache(gpu->cache);
    (void)pthread_mutex_destroy(&gpu->lock);
    arena_destroy(gpu->arena);
    free(gpu);
}

/* Opened without the lock, which a jump out of exhausted memory would leave behind: who comes second uses the first's.
 */
odlc_status gpu_take_context(odlc_gpu *gpu, struct diags *diags, struct gpu_context **out)
{
    struct gpu_context *fresh = NULL;
    if (!is_prepared(gpu))
        TRY(open_context(gpu, diags, &fresh));
    (void)pthread_mutex_lock(&gpu->lock);
    if (!gpu->context) {
        gpu->context = fresh;
        fresh = NULL;
    }
    *out = gpu->context;
    (void)pthread_mutex_unlock(&gpu->lock);
    close_context(fresh);
    return ODLC_OK;
}
