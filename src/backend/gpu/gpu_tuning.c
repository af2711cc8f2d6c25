/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_tuning.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backend/gpu/gpu_performance.h"

struct gpu_tuning {
    struct gpu_tuning_options options; /* the folder is the tuning's */
    pthread_mutex_t lock;              /* of what follows */
    struct gpu_tuned *newest;
    bool has_new; /* since the folder's file was written */
    struct gpu_tuning_sums sums;
};

enum { USUAL_BUDGET = 60000 /* milliseconds */ };

struct gpu_tuning *gpu_tuning_create(const struct gpu_tuning_options *options)
{
    struct gpu_tuning *t = calloc(1, sizeof(*t));
    char *folder = options->folder ? strdup(options->folder) : NULL;
    if (!t || (options->folder && !folder)) {
        free(t);
        free(folder);
        return NULL;
    }
    t->options = *options;
    t->options.folder = folder;
    if (t->options.budget == 0)
        t->options.budget = USUAL_BUDGET;
    (void)pthread_mutex_init(&t->lock, NULL);
    return t;
}

void gpu_tuning_destroy(struct gpu_tuning *t)
{
    if (!t)
        return;
    for (struct gpu_tuned *e = t->newest, *next; e; e = next) {
        next = (struct gpu_tuned *)e->next;
        free(e);
    }
    (void)pthread_mutex_destroy(&t->lock);
    free((char *)t->options.folder);
    free(t);
}

/* ---- what is known ---- */

static struct gpu_tuned *find(const struct gpu_tuning *t, const char *kernel, const char *where)
{
    for (struct gpu_tuned *e = t->newest; e; e = (struct gpu_tuned *)e->next)
        if (strcmp(e->kernel, kernel) == 0 && strcmp(e->where, where) == 0)
            return e;
    return NULL;
}

/* An entry and its strings in one piece. */
static struct gpu_tuned *copy_of(const struct gpu_tuned *from)
{
    const char *const texts[] = {from->kernel, from->where, from->choice, from->usual};
    size_t sizes[COUNT_OF(texts)], all = 0;
    const char *copies[COUNT_OF(texts)];
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        all += sizes[i] = strlen(texts[i]) + 1;
    struct gpu_tuned *e = malloc(sizeof(*e) + all);
    if (!e)
        return NULL;
    char *at = (char *)(e + 1);
    for (size_t i = 0; i < COUNT_OF(texts); at += sizes[i], i++)
        copies[i] = memcpy(at, texts[i], sizes[i]);
    *e = *from;
    e->kernel = copies[0];
    e->where = copies[1];
    e->choice = copies[2];
    e->usual = copies[3];
    e->uses = 0;
    return e;
}

/* The lock is held. */
static struct gpu_tuned *add(struct gpu_tuning *t, const struct gpu_tuned *tuned)
{
    struct gpu_tuned *e = copy_of(tuned);
    if (!e)
        return NULL;
    e->next = t->newest;
    t->newest = e;
    t->has_new = true;
    return e;
}

const struct gpu_tuned *gpu_tuning_find(struct gpu_tuning *t, const char *kernel, const char *where)
{
    (void)pthread_mutex_lock(&t->lock);
    const struct gpu_tuned *e = find(t, kernel, where);
    (void)pthread_mutex_unlock(&t->lock);
    return e;
}

const struct gpu_tuned *gpu_tuning_note(struct gpu_tuning *t, const struct gpu_tuned *tuned)
{
    (void)pthread_mutex_lock(&t->lock);
    struct gpu_tuned *e = find(t, tuned->kernel, tuned->where);
    if (!e && (e = add(t, tuned)))
        t->sums.measured += e->is_measured;
    (void)pthread_mutex_unlock(&t->lock);
    return e;
}

void gpu_tuning_use(struct gpu_tuning *t, const struct gpu_tuned *tuned)
{
    (void)pthread_mutex_lock(&t->lock);
    ((struct gpu_tuned *)tuned)->uses++;
    (void)pthread_mutex_unlock(&t->lock);
}

const struct gpu_tuned *gpu_tuning_newest(struct gpu_tuning *t)
{
    (void)pthread_mutex_lock(&t->lock);
    const struct gpu_tuned *newest = t->newest;
    (void)pthread_mutex_unlock(&t->lock);
    return newest;
}

/* ---- time ---- */

bool gpu_tuning_has_time(struct gpu_tuning *t)
{
    (void)pthread_mutex_lock(&t->lock);
    const bool has = t->options.measures && t->sums.nanoseconds < (uint64_t)t->options.budget * 1000000;
    (void)pthread_mutex_unlock(&t->lock);
    return has;
}

void gpu_tuning_spend(struct gpu_tuning *t, uint64_t nanoseconds)
{
    (void)pthread_mutex_lock(&t->lock);
    t->sums.nanoseconds += nanoseconds;
    (void)pthread_mutex_unlock(&t->lock);
}

void gpu_tuning_skip(struct gpu_tuning *t)
{
    (void)pthread_mutex_lock(&t->lock);
    t->sums.skipped += t->options.measures;
    (void)pthread_mutex_unlock(&t->lock);
}

struct gpu_tuning_sums gpu_tuning_sum(struct gpu_tuning *t)
{
    (void)pthread_mutex_lock(&t->lock);
    const struct gpu_tuning_sums sums = t->sums;
    (void)pthread_mutex_unlock(&t->lock);
    return sums;
}

/* ---- files ---- */

/* Of several that know a case, the fastest counts: files are merged before anything is measured or used. */
static void merge(void *object, const struct gpu_tuned *tuned)
{
    struct gpu_tuning *t = object;
    (void)pthread_mutex_lock(&t->lock);
    struct gpu_tuned *e = find(t, tuned->kernel, tuned->where);
    if (!e || tuned->microseconds < e->microseconds) {
        if (e)
            e->kernel = ""; /* nobody finds it any more */
        (void)add(t, tuned);
    }
    (void)pthread_mutex_unlock(&t->lock);
}

void gpu_tuning_read(struct gpu_tuning *t, struct diags *diags, const struct gpu_device *device)
{
    if (!t->options.folder)
        return;
    if (t->options.invalidates)
        gpu_performance_delete(diags, device, t->options.folder);
    const bool differs = gpu_performance_read(diags, device, t->options.folder, (struct gpu_tuned_sink){t, merge});
    t->has_new = differs && (t->newest || t->options.measures);
}

bool gpu_tuning_read_text(struct gpu_tuning *t, struct arena *arena, const struct gpu_device *device, const char *text,
                          size_t size)
{
    return gpu_performance_parse(arena, device, text, size, (struct gpu_tuned_sink){t, merge}) == NULL;
}

const char *gpu_tuning_text(const struct gpu_tuning *t, struct arena *arena, const struct gpu_device *device)
{
    return gpu_performance_text(arena, device, t->newest);
}

void gpu_tuning_write(struct gpu_tuning *t, struct diags *diags, const struct gpu_device *device)
{
    (void)pthread_mutex_lock(&t->lock);
    const bool has_new = t->has_new && t->options.folder;
    const struct gpu_tuned *newest = t->newest;
    t->has_new = t->has_new && !has_new;
    (void)pthread_mutex_unlock(&t->lock);
    if (has_new)
        gpu_performance_write(diags, device, t->options.folder, newest);
}
