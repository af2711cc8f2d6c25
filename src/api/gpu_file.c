/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration files of the GPU backend (docs/gpu.md): the extension's own, or one that names it. */
#include <string.h>

#include "api/shared_gpu.h"
#include "base/file.h"

static odlc_status parse(odlc_gpu *gpu, const char *path, struct json **out)
{
    struct file *file;
    TRY(file_map(gpu->arena, &gpu->diags, path, &file));
    TRY(json_parse(gpu->arena, &gpu->diags, path, (const char *)file->data, file->size, out));
    if (!json_is((*out)->root, JSON_OBJECT))
        return json_error(*out, (*out)->root, NULL, "gpu-config", "the configuration must be an object");
    return ODLC_OK;
}

static void check_keys(struct json *j, const struct json_value *object, const char *const *known, size_t count)
{
    for (const struct json_value *m = json_child(object); m; m = m->next) {
        size_t i = 0;
        while (i < count && strcmp(m->key, known[i]) != 0)
            i++;
        const char *near = i < count ? NULL : nearest_word(m->key, known, count);
        if (i == count)
            json_key_warn(j, m, near ? arena_printf(j->source.arena, "did you mean '%s'?", near) : NULL,
                          "gpu-unknown-key", "unknown key '%s' is ignored", m->key);
    }
}

/* ---- values ---- */

static const char *read_string(struct json *j, const struct json_value *object, const char *key)
{
    const struct json_value *value = json_member(object, key);
    if (!value || (json_is(value, JSON_STRING) && *value->string))
        return value ? value->string : NULL;
    (void)json_error(j, value, NULL, "gpu-config", "'%s' must be a string that is not empty", key);
    return NULL;
}

static bool read_bool(struct json *j, const struct json_value *object, const char *key, bool absent)
{
    const struct json_value *value = json_member(object, key);
    if (!value || json_is(value, JSON_BOOL))
        return value ? value->truth : absent;
    (void)json_error(j, value, NULL, "gpu-config", "'%s' must be true or false", key);
    return absent;
}

/* The index of a word; 0 for a key that is absent, or wrong. */
static size_t read_word(struct json *j, const struct json_value *object, const char *key, const char *const *words,
                        size_t count, const char *hint)
{
    const struct json_value *value = json_member(object, key);
    if (!value)
        return 0;
    for (size_t i = 0; json_is(value, JSON_STRING) && i < count; i++)
        if (strcmp(value->string, words[i]) == 0)
            return i;
    if (json_is(value, JSON_STRING))
        (void)json_error(j, value, hint, "gpu-config", "'%s' cannot be '%s'", key, value->string);
    else
        (void)json_error(j, value, hint, "gpu-config", "'%s' must be a string", key);
    return 0;
}

static void read_graph_names(odlc_gpu *gpu, struct json *j, const struct json_value *names)
{
    VEC(const char *) list = {0};
    if (names && !json_child(names)) {
        (void)json_error(j, names, NULL, "gpu-config", "'graph_names' must be an array with names of graphs");
        return;
    }
    for (const struct json_value *v = json_child(names); v; v = v->next)
        if (json_is(v, JSON_STRING) && *v->string)
            vec_push(gpu->arena, &list, v->string);
        else
            (void)json_error(j, v, NULL, "gpu-config", "a graph's name must be a string that is not empty");
    gpu->config.graph_names = list.data;
    gpu->config.n_graph_names = list.count;
    gpu->graph_values = json_child(names);
}

/* ---- the files ---- */

static const char *const keys[] = {
    /* of graphs: with graph_names alone */
    "precision_mode",
    "disable_memory_optimizations",
    "disable_node_optimizations",
    "disable_queue_recording",
    /* … and without */
    "graph_names",
    "kernel_repo_path",
    "perf_hint",
    "priority",
    "weight_sharing",
    "enable_tuning_mode",
    "performance_cache_dir",
    "invalidate_performance_cache",
    "tuning_budget_ms",
};
enum { GRAPH_KEYS = 4, MOST_BUDGET = 86400000 /* milliseconds: a day */ };

static void check_dependencies(struct json *j, const struct json_value *root)
{
    for (size_t i = 0; i < GRAPH_KEYS; i++) {
        const struct json_value *member = json_member(root, keys[i]);
        if (member && !json_member(root, "graph_names"))
            (void)json_key_error(j, member, "\"graph_names\": [\"...\"]; dlc-info prints the names of graphs",
                                 "gpu-config", "'%s' is an option of graphs, and needs 'graph_names'", keys[i]);
    }
}

/* What the file says of options that a context cache has, too. */
static uint32_t given_by(const struct json_value *root)
{
    static const struct {
        const char *key;
        enum odlc_gpu_given given;
    } all[] = {
        {"perf_hint", ODLC_GPU_GIVEN_PERFORMANCE},
        {"precision_mode", ODLC_GPU_GIVEN_PRECISION},
        {"disable_memory_optimizations", ODLC_GPU_GIVEN_MEMORY_OPTIMIZATIONS},
        {"disable_node_optimizations", ODLC_GPU_GIVEN_NODE_OPTIMIZATIONS},
        {"disable_queue_recording", ODLC_GPU_GIVEN_QUEUE_RECORDING},
    };
    uint32_t given = 0;
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (json_member(root, all[i].key))
            given |= (uint32_t)all[i].given;
    return given;
}

static void read_tuning(struct odlc_gpu_config *c, struct json *j, const struct json_value *root)
{
    const struct json_value *budget = json_member(root, "tuning_budget_ms");
    c->tuning = read_bool(j, root, "enable_tuning_mode", false);
    c->performance_cache = read_string(j, root, "performance_cache_dir");
    c->invalidate_performance_cache = read_bool(j, root, "invalidate_performance_cache", false);
    if (c->invalidate_performance_cache && !json_member(root, "performance_cache_dir"))
        (void)json_key_error(j, json_member(root, "invalidate_performance_cache"), NULL, "gpu-config",
                             "'invalidate_performance_cache' needs 'performance_cache_dir'");
    if (!budget)
        return;
    if (!json_is(budget, JSON_NUMBER) || !(budget->number >= 1 && budget->number <= MOST_BUDGET) ||
        budget->number != (double)(uint32_t)budget->number)
        (void)json_error(j, budget, NULL, "gpu-config", "'tuning_budget_ms' must be a whole number from 1 to %d",
                         MOST_BUDGET);
    else
        c->tuning_budget = (uint32_t)budget->number;
}

static void read_options(odlc_gpu *gpu, struct json *j)
{
    /* In the order of the public enumerations. */
    static const char *const precisions[] = {"", "fp32", "fp16", "hybrid"};
    static const char *const performances[] = {"high", "normal", "low"};
    static const char *const priorities[] = {"normal", "low", "high"};
    const struct json_value *root = j->root;
    struct odlc_gpu_config *c = &gpu->config;
    check_keys(j, root, keys, COUNT_OF(keys));
    check_dependencies(j, root);
    read_graph_names(gpu, j, json_member(root, "graph_names"));
    c->precision = (enum odlc_gpu_precision)read_word(j, root, "precision_mode", precisions, COUNT_OF(precisions),
                                                      "fp32, fp16 or hybrid; without the key it is the container's");
    if (json_is(json_member(root, "precision_mode"), JSON_STRING) && !*json_member(root, "precision_mode")->string)
        (void)json_error(j, json_member(root, "precision_mode"), NULL, "gpu-config", "'precision_mode' is empty");
    c->performance = (enum odlc_gpu_performance)read_word(j, root, "perf_hint", performances, COUNT_OF(performances),
                                                          "high, normal or low");
    c->priority =
        (enum odlc_gpu_priority)read_word(j, root, "priority", priorities, COUNT_OF(priorities), "high, normal or low");
    c->disable_memory_optimizations = read_bool(j, root, "disable_memory_optimizations", false);
    c->disable_node_optimizations = read_bool(j, root, "disable_node_optimizations", false);
    c->disable_queue_recording = read_bool(j, root, "disable_queue_recording", false);
    c->kernel_repository = read_string(j, root, "kernel_repo_path");
    c->given = given_by(root);
    read_tuning(c, j, root);
    if (!read_bool(j, root, "weight_sharing", true))
        json_warn(j, json_member(root, "weight_sharing"), NULL, "gpu-config",
                  "graphs of a context share the weights that are the same; results do not depend on that");
}

/* The file of options that another one names. */
static odlc_status follow(odlc_gpu *gpu, struct json *j, const struct json_value *extensions, struct json **out)
{
    static const char *const known[] = {"shared_library_path", "config_file_path"}, *const outer[] = {
                                                                                        "backend_extensions"};
    check_keys(j, j->root, outer, COUNT_OF(outer));
    if (!json_is(extensions, JSON_OBJECT))
        return json_error(j, extensions, NULL, "gpu-config", "'backend_extensions' must be an object");
    check_keys(j, extensions, known, COUNT_OF(known));
    (void)read_string(j, extensions, "shared_library_path");
    const char *path = read_string(j, extensions, "config_file_path");
    if (!path && !json_member(extensions, "config_file_path"))
        (void)json_error(j, extensions, NULL, "gpu-config", "'config_file_path' is missing");
    if (j->source.errors)
        return ODLC_ERR_INVALID;
    TRY(parse(gpu, path, out));
    const struct json_value *again = json_member((*out)->root, "backend_extensions");
    return again ? json_key_error(*out, again, NULL, "gpu-config", "a file of options names no other") : ODLC_OK;
}

odlc_status gpu_file_read(odlc_gpu *gpu, const char *path)
{
    const struct odlc_gpu_config before = gpu->config;
    struct json *j;
    TRY(parse(gpu, path, &j));
    const struct json_value *extensions = json_member(j->root, "backend_extensions");
    if (extensions)
        TRY(follow(gpu, j, extensions, &j));
    gpu->config = (struct odlc_gpu_config){.struct_size = sizeof(gpu->config), .device = before.device};
    gpu->json = j;
    read_options(gpu, j);
    if (j->source.errors == 0)
        return ODLC_OK;
    gpu->config = before;
    return ODLC_ERR_INVALID;
}
