/* SPDX-License-Identifier: Apache-2.0 */
#include "api/shared_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "api/lent_gpu.h"
#ifdef ODLC_BACKEND_GPU
#include "backend/gpu/gpu_context.h"
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

static bool has_unknown_members(const struct odlc_gpu_config *config)
{
    const uint8_t *bytes = (const uint8_t *)config;
    for (size_t i = sizeof(*config); i < config->struct_size; i++)
        if (bytes[i])
            return true;
    return false;
}

static const char *copy_of(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

static odlc_status configure(odlc_gpu *gpu, const struct odlc_gpu_config *given)
{
    struct odlc_gpu_config config = {0};
    if (is_prepared(gpu))
        return misused(gpu, "a context is configured before runs are prepared with it");
    if (given->struct_size < sizeof(given->struct_size) || has_unknown_members(given))
        return misused(gpu, "the configuration has no size, or members that this version does not know");
    memcpy(&config, given, given->struct_size < sizeof(config) ? given->struct_size : sizeof(config));
    if ((unsigned)config.precision > ODLC_GPU_HYBRID || (unsigned)config.performance > ODLC_GPU_LOW ||
        (unsigned)config.priority > ODLC_GPU_PRIORITY_HIGH)
        return misused(gpu, "the configuration has a precision, a performance or a priority that does not exist");
    const char **names = arena_array(gpu->arena, const char *, config.n_graph_names);
    for (size_t i = 0; i < config.n_graph_names; i++)
        names[i] = arena_strdup(gpu->arena, config.graph_names[i]);
    const bool is_own = given->graph_names == gpu->config.graph_names;
    config.struct_size = sizeof(config);
    config.graph_names = is_own ? config.graph_names : names;
    config.device = copy_of(gpu->arena, config.device);
    config.kernel_repository = copy_of(gpu->arena, config.kernel_repository);
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

static bool is_among(const char *name, const char *const *names, size_t count)
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
        if (!is_among(gpu->config.graph_names[i], graphs, count))
            status = unknown_graph(gpu, value, gpu->config.graph_names[i], count ? graphs[0] : NULL);
        value = value ? value->next : NULL;
    }
    return status;
}

/* ---- for runs ---- */

#ifdef ODLC_BACKEND_GPU
static odlc_status open_context(const odlc_gpu *gpu, struct diags *diags, struct gpu_context **out)
{
    struct gpu_context *context;
    TRY(gpu_context_create(diags, gpu->config.device, &context));
    const odlc_status status = gpu->config.kernel_repository
                                   ? gpu_context_use_repository(context, diags, gpu->config.kernel_repository)
                                   : ODLC_OK;
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
    const struct odlc_gpu_counts counts = {context->builds, context->loads, context->uploads, context->copies,
                                           context->replays};
    (void)pthread_mutex_unlock(&context->lock);
    return counts;
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
#endif

void odlc_gpu_free(odlc_gpu *gpu)
{
    if (!gpu)
        return;
    gpu_memories_drop(gpu);
    close_context(gpu->context);
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

static enum gpu_precision precision_of(enum odlc_gpu_precision precision)
{
    static const enum gpu_precision precisions[] = {
        [ODLC_GPU_USER_PROVIDED] = GPU_PRECISION_USER_PROVIDED,
        [ODLC_GPU_FP32] = GPU_PRECISION_FP32,
        [ODLC_GPU_FP16] = GPU_PRECISION_FP16,
        [ODLC_GPU_HYBRID] = GPU_PRECISION_HYBRID,
    };
    return precisions[precision];
}

static enum gpu_performance performance_of(enum odlc_gpu_performance performance)
{
    static const enum gpu_performance performances[] = {
        [ODLC_GPU_HIGH] = GPU_PERFORMANCE_HIGH,
        [ODLC_GPU_NORMAL] = GPU_PERFORMANCE_NORMAL,
        [ODLC_GPU_LOW] = GPU_PERFORMANCE_LOW,
    };
    return performances[performance];
}

static enum gpu_priority priority_of(enum odlc_gpu_priority priority)
{
    static const enum gpu_priority priorities[] = {
        [ODLC_GPU_PRIORITY_NORMAL] = GPU_PRIORITY_NORMAL,
        [ODLC_GPU_PRIORITY_LOW] = GPU_PRIORITY_LOW,
        [ODLC_GPU_PRIORITY_HIGH] = GPU_PRIORITY_HIGH,
    };
    return priorities[priority];
}

odlc_status gpu_options(odlc_gpu *gpu, struct diags *diags, const char *graph, bool shares, struct gpu_config *config,
                        struct executor_options *options)
{
    const struct odlc_gpu_config *c = &gpu->config;
    config->device = c->device;
    config->repository = c->kernel_repository;
    config->performance = performance_of(c->performance);
    config->priority = priority_of(c->priority);
    if (shares)
        TRY(gpu_take_context(gpu, diags, &config->context));
    if (c->n_graph_names && !is_among(graph, c->graph_names, c->n_graph_names))
        return ODLC_OK;
    config->precision = precision_of(c->precision);
    config->no_fusion = c->disable_node_optimizations;
    config->no_recording = c->disable_queue_recording;
    options->has_own_places = c->disable_memory_optimizations;
    return ODLC_OK;
}
