/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_performance.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/gpu/gpu_source.h"
#include "backend/gpu/gpu_store.h"
#include "base/file.h"
#include "text/json.h"
#include "text/json_out.h"

#define SCHEMA "opendlc.gpu-performance"

enum { SCHEMA_VERSION = 1, MOST_BYTES = 64 << 20 };

/* ---- of which device ---- */

static const char *kernels_of_today(struct arena *arena)
{
    return arena_printf(arena, "%016" PRIx64, gpu_sources_hash());
}

/* "gpuperformance.0123456789abcdef": what names of the device's files begin with. */
static const char *stem_of(struct arena *arena, const struct gpu_device *d)
{
    const char *const texts[] = {d->platform_name, d->name, d->driver, kernels_of_today(arena)};
    uint64_t identity[2];
    gpu_identity(texts, COUNT_OF(texts), NULL, 0, identity);
    return arena_printf(arena, "gpuperformance.%016" PRIx64, identity[0]);
}

static const char *path_of(struct arena *arena, const struct gpu_device *d, const char *folder)
{
    return arena_printf(arena, "%s/%s.json", folder, stem_of(arena, d));
}

/* ---- texts ---- */

const char *gpu_performance_text(struct arena *arena, const struct gpu_device *d, const struct gpu_tuned *newest)
{
    char *written = NULL;
    size_t size;
    FILE *stream = open_memstream(&written, &size);
    if (!stream)
        return NULL;
    struct json_out j = json_out_to(stream, false);
    json_object(&j, NULL);
    json_string(&j, "schema", SCHEMA);
    json_int(&j, "schema_version", SCHEMA_VERSION);
    json_string(&j, "platform", d->platform_name);
    json_string(&j, "device", d->name);
    json_string(&j, "driver", d->driver);
    json_string(&j, "kernels", kernels_of_today(arena));
    json_array(&j, "choices");
    for (const struct gpu_tuned *e = newest; e; e = e->next) {
        if (!*e->kernel)
            continue;
        json_object_inline(&j, NULL);
        json_string(&j, "kernel", e->kernel);
        json_string(&j, "case", e->where);
        json_string(&j, "choice", e->choice);
        json_double(&j, "microseconds", e->microseconds);
        json_string(&j, "usual", e->usual);
        json_double(&j, "usual_microseconds", e->usual_microseconds);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_end_object(&j);
    const bool failed = ferror(stream) != 0;
    if (fclose(stream) != 0 || failed) {
        free(written);
        return NULL;
    }
    const char *copy = arena_strdup(arena, written);
    free(written);
    return copy;
}

static const char *string_of(const struct json_value *object, const char *key)
{
    const struct json_value *v = json_member(object, key);
    return json_is(v, JSON_STRING) && *v->string ? v->string : NULL;
}

static bool is_text(const struct json_value *root, const char *key, const char *wanted)
{
    const char *text = string_of(root, key);
    return text && strcmp(text, wanted) == 0;
}

static bool read_time(const struct json_value *object, const char *key, double *out)
{
    const struct json_value *v = json_member(object, key);
    if (!json_is(v, JSON_NUMBER) || !isfinite(v->number) || v->number < 0)
        return false;
    *out = v->number;
    return true;
}

static bool read_choice(const struct json_value *v, struct gpu_tuned *out)
{
    *out = (struct gpu_tuned){.kernel = string_of(v, "kernel"),
                              .where = string_of(v, "case"),
                              .choice = string_of(v, "choice"),
                              .usual = string_of(v, "usual")};
    return out->kernel && out->where && out->choice && out->usual && read_time(v, "microseconds", &out->microseconds) &&
           read_time(v, "usual_microseconds", &out->usual_microseconds);
}

const char *gpu_performance_parse(struct arena *arena, const struct gpu_device *d, const char *text, size_t size,
                                  struct gpu_tuned_sink sink)
{
    struct diags unheard;
    struct json *j;
    struct gpu_tuned tuned;
    diags_init(&unheard, arena);
    if (json_parse(arena, &unheard, "", text, size, &j) != ODLC_OK || !is_text(j->root, "schema", SCHEMA))
        return "it is no performance cache";
    const struct json_value *version = json_member(j->root, "schema_version");
    const struct json_value *choices = json_member(j->root, "choices");
    if (!json_is(version, JSON_NUMBER) || version->number != SCHEMA_VERSION)
        return "it is of another version";
    if (!is_text(j->root, "platform", d->platform_name) || !is_text(j->root, "device", d->name) ||
        !is_text(j->root, "driver", d->driver))
        return "it is of another device or driver";
    if (!is_text(j->root, "kernels", kernels_of_today(arena)))
        return "it is of other kernels";
    if (!json_is(choices, JSON_ARRAY))
        return "it has no choices";
    for (const struct json_value *v = json_child(choices); v; v = v->next)
        if (!read_choice(v, &tuned))
            return "a choice lacks a member, or has a wrong one";
    for (const struct json_value *v = json_child(choices); v; v = v->next)
        if (read_choice(v, &tuned))
            sink.see(sink.object, &tuned);
    return NULL;
}

/* ---- files ---- */

static void read_one(struct diags *diags, const struct gpu_device *d, const char *path, struct gpu_tuned_sink sink)
{
    struct diags unheard;
    struct file *file;
    diags_init(&unheard, diags->arena);
    const char *wrong = file_map(diags->arena, &unheard, path, &file) != ODLC_OK ? "it cannot be read"
                        : file->size > MOST_BYTES                                ? "it is too large"
                                                                                 : NULL;
    if (!wrong) {
        char *text = arena_alloc(diags->arena, file->size + 1); /* others may change the file */
        wrong = file_read(file, &unheard, 0, text, file->size) == ODLC_OK
                    ? gpu_performance_parse(diags->arena, d, text, file->size, sink)
                    : "it cannot be read";
    }
    if (wrong)
        diag_warn(diags, AT(.file = path), "gpu-tuning", "this file of the performance cache is left out: %s", wrong);
}

/* Names in the folder that begin with the device's stem and end in .json, sorted; the folder's own file is first. */
static int is_before(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    const size_t m = strlen(*x), n = strlen(*y);
    return m != n ? (m < n ? -1 : 1) : strcmp(*x, *y);
}

struct names {
    VEC(const char *) list;
};

static bool list_files(struct arena *arena, const struct gpu_device *d, const char *folder, struct names *out)
{
    const char *stem = stem_of(arena, d);
    const size_t length = strlen(stem), suffix = strlen(".json");
    DIR *dir = opendir(folder);
    if (!dir)
        return false;
    for (const struct dirent *e; (e = readdir(dir));) {
        const size_t n = strlen(e->d_name);
        if (n >= length + suffix && strncmp(e->d_name, stem, length) == 0 && e->d_name[length] == '.' &&
            strcmp(e->d_name + n - suffix, ".json") == 0)
            vec_push(arena, &out->list, arena_printf(arena, "%s/%s", folder, e->d_name));
    }
    (void)closedir(dir);
    if (out->list.count)
        qsort(out->list.data, out->list.count, sizeof(*out->list.data), is_before);
    return true;
}

bool gpu_performance_read(struct diags *diags, const struct gpu_device *d, const char *folder,
                          struct gpu_tuned_sink sink)
{
    struct names names = {.list = {0}};
    const char *own = path_of(diags->arena, d, folder);
    bool differs = access(own, F_OK) != 0;
    if (!list_files(diags->arena, d, folder, &names)) {
        diag_warn(diags, AT(.file = folder, .hint = "make a folder there that can be read and written to"),
                  "gpu-tuning", "what is tuned is not kept for the next time: this is no such folder");
        return false;
    }
    for (size_t i = 0; i < names.list.count; i++) {
        read_one(diags, d, names.list.data[i], sink);
        differs = differs || strcmp(names.list.data[i], own) != 0;
    }
    return differs;
}

void gpu_performance_delete(struct diags *diags, const struct gpu_device *d, const char *folder)
{
    struct names names = {.list = {0}};
    (void)list_files(diags->arena, d, folder, &names);
    for (size_t i = 0; i < names.list.count; i++)
        if (unlink(names.list.data[i]) != 0)
            diag_warn(diags, AT(.file = names.list.data[i]), "gpu-tuning",
                      "this file of the performance cache cannot be deleted: %s", strerror(errno));
}

static odlc_status write_text(struct diags *diags, const char *path, const char *text)
{
    struct out_file *out;
    TRY(out_create(diags->arena, diags, path, &out));
    TRY(out_write(out, text, strlen(text)));
    return out_commit(out);
}

struct other {
    struct arena *arena;
    const struct gpu_tuned *newest;
};

static void add_other(void *object, const struct gpu_tuned *tuned)
{
    struct other *o = object;
    for (const struct gpu_tuned *e = o->newest; e; e = e->next)
        if (strcmp(e->kernel, tuned->kernel) == 0 && strcmp(e->where, tuned->where) == 0)
            return;
    struct gpu_tuned *e = arena_new(o->arena, struct gpu_tuned);
    *e = *tuned;
    e->next = o->newest;
    o->newest = e;
}

/* With those cases that others put into the file since. */
void gpu_performance_write(struct diags *diags, const struct gpu_device *d, const char *folder,
                           const struct gpu_tuned *newest)
{
    struct diags unheard;
    const char *path = path_of(diags->arena, d, folder);
    struct other other = {diags->arena, newest};
    diags_init(&unheard, diags->arena);
    if (access(path, F_OK) == 0)
        read_one(&unheard, d, path, (struct gpu_tuned_sink){&other, add_other});
    const char *text = gpu_performance_text(diags->arena, d, other.newest);
    if (!text || write_text(&unheard, path, text) != ODLC_OK)
        diag_warn(diags, AT(.file = path, .hint = "give a folder that can be written to"), "gpu-tuning",
                  "what was tuned is not kept for the next time");
}
