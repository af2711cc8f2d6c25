/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_program.h"

#include <unistd.h>

#include "backend/gpu/gpu_store.h"
#include "base/helper_thread.h"

/* ---- building ---- */

static cl_int build_handle(const struct gpu_context *context, const struct gpu_program *p)
{
    return clBuildProgram(p->handle, 1, &context->device.id, p->options, NULL, NULL);
}

/* False: there is no binary, or the driver does not take it. */
static bool load(const struct gpu_context *context, struct gpu_program *p)
{
    const struct gpu_binary *binary = p->binary;
    cl_int status, error;
    if (!binary)
        return false;
    const size_t size = binary->size;
    p->handle = clCreateProgramWithBinary(context->handle, 1, &context->device.id, &size,
                                          (const unsigned char *[]){binary->bytes}, &status, &error);
    if (error == CL_SUCCESS && status == CL_SUCCESS && build_handle(context, p) == CL_SUCCESS)
        return true;
    if (p->handle)
        (void)clReleaseProgram(p->handle);
    p->handle = NULL;
    return false;
}

static void build(const struct gpu_context *context, struct gpu_program *p)
{
    const char *own[] = {gpu_source_find("codes")->text, gpu_source_find("common")->text, p->source->text};
    const char **texts = p->package ? own + 2 : own;
    p->handle = clCreateProgramWithSource(context->handle, p->package ? 1 : COUNT_OF(own), texts, NULL, &p->error);
    if (p->error == CL_SUCCESS)
        p->error = build_handle(context, p);
}

/* The lock is held, and released in between. */
static void make(struct gpu_context *context, struct gpu_program *p)
{
    p->state = GPU_PROGRAM_IN_WORK;
    (void)pthread_mutex_unlock(&context->lock);
    const bool is_loaded = load(context, p);
    if (!is_loaded)
        build(context, p);
    (void)pthread_mutex_lock(&context->lock);
    p->state = p->error == CL_SUCCESS ? GPU_PROGRAM_BUILT : GPU_PROGRAM_FAILED;
    context->loads += is_loaded;
    context->builds += !is_loaded && p->state == GPU_PROGRAM_BUILT;
    (void)pthread_cond_broadcast(&context->builders.changed);
}

/* ---- the queue ---- */

/* NULL: nothing is queued. */
static struct gpu_program *take_first(struct gpu_builders *b)
{
    struct gpu_program *p = b->first;
    if (!p)
        return NULL;
    b->first = p->then;
    b->n_queued--;
    if (!b->first)
        b->last = &b->first;
    return p;
}

static void *work(void *object)
{
    struct gpu_context *context = object;
    struct gpu_builders *b = &context->builders;
    (void)pthread_mutex_lock(&context->lock);
    while (!b->ends) {
        struct gpu_program *p = take_first(b);
        if (p) {
            make(context, p);
            continue;
        }
        b->n_idle++;
        (void)pthread_cond_wait(&b->changed, &context->lock);
        b->n_idle--;
    }
    (void)pthread_mutex_unlock(&context->lock);
    return NULL;
}

void gpu_program_queue(struct gpu_context *context, struct gpu_program *p)
{
    struct gpu_builders *b = &context->builders;
    p->then = NULL;
    *b->last = p;
    b->last = &p->then;
    b->n_queued++;
    if (b->n_queued > b->n_idle && b->n_threads < b->most &&
        helper_thread_start(&b->threads[b->n_threads], work, context))
        b->n_threads++;
    (void)pthread_cond_broadcast(&b->changed);
}

void gpu_program_wait(struct gpu_context *context, struct gpu_program *p)
{
    struct gpu_builders *b = &context->builders;
    while (p->state < GPU_PROGRAM_BUILT) {
        struct gpu_program *first = take_first(b);
        if (first)
            make(context, first);
        else
            (void)pthread_cond_wait(&b->changed, &context->lock);
    }
}

/* ---- threads ---- */

/* On processors the driver builds one program at a time. */
void gpu_builders_init(struct gpu_context *context)
{
    struct gpu_builders *b = &context->builders;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t others = cores > 1 ? (uint32_t)cores - 1 : 0;
    (void)pthread_cond_init(&b->changed, NULL);
    b->last = &b->first;
    b->most = !context->device.is_gpu ? 0 : others < GPU_MOST_BUILDERS ? others : GPU_MOST_BUILDERS;
}

void gpu_builders_end(struct gpu_context *context)
{
    struct gpu_builders *b = &context->builders;
    (void)pthread_mutex_lock(&context->lock);
    b->ends = true;
    (void)pthread_cond_broadcast(&b->changed);
    (void)pthread_mutex_unlock(&context->lock);
    for (uint32_t i = 0; i < b->n_threads; i++)
        (void)pthread_join(b->threads[i], NULL);
    (void)pthread_cond_destroy(&b->changed);
}
