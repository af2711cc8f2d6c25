/* SPDX-License-Identifier: Apache-2.0 */
#include "api/lent_gpu.h"

#include <stdlib.h>
#include <string.h>

#ifdef ODLC_BACKEND_GPU
#include "backend/gpu/gpu_lent.h"
#include "backend/gpu/gpu_memory.h"
#include "base/struct_size.h"

struct odlc_gpu_memory {
    odlc_gpu_memory *next; /* of the object's list */
    odlc_gpu *gpu;
    struct gpu_lent lent;
    struct type type;
    size_t uses; /* tensors of runs that lie there; under the object's lock */
};

static odlc_status bad(struct diags *diags, odlc_status status, const char *code, const char *what)
{
    return diag_error(diags, status, AT(.file = NULL), code, "%s", what);
}

static odlc_status bad_argument(odlc_gpu *gpu, const char *what)
{
    return bad(&gpu->diags, ODLC_ERR_USAGE, "gpu-memory-argument", what);
}

/* ---- descriptors ---- */

static odlc_status read_shape(odlc_gpu *gpu, const struct odlc_gpu_descriptor *d, struct type *out)
{
    uint64_t bytes = dtype_size(out->dtype);
    if (d->rank == 0 || d->rank > MAX_RANK || !d->dims)
        return bad_argument(gpu, "a descriptor has no dimensions, or more than tensors have");
    out->shape.rank = d->rank;
    for (uint32_t i = 0; i < d->rank; i++) {
        if (d->dims[i] < 1 || __builtin_mul_overflow(bytes, (uint64_t)d->dims[i], &bytes) || bytes > INT64_MAX)
            return bad(&gpu->diags, ODLC_ERR_INVALID, "gpu-memory-shape",
                       "a dimension is not 1 or more, or there are too many elements");
        out->shape.dims[i] = d->dims[i];
    }
    return ODLC_OK;
}

static odlc_status read_descriptor(odlc_gpu *gpu, const struct odlc_gpu_descriptor *d, struct type *out)
{
    if (d->struct_size < sizeof(*d) || struct_says_more(d, sizeof *d, d->struct_size))
        return bad_argument(gpu, "a descriptor has no size, or members that this version does not know");
    if (d->type != ODLC_GPU_MEM_OPENCL)
        return bad(&gpu->diags, ODLC_ERR_UNSUPPORTED, "gpu-memory-type",
                   "a descriptor is of a kind of memory that is not known");
    if (!d->buffer || !d->dtype)
        return bad_argument(gpu, "a descriptor has no buffer, or does not say the type of its elements");
    *out = (struct type){.dtype = dtype_from_display(d->dtype)};
    if (out->dtype == DT_NONE || !dtype_size(out->dtype))
        return diag_error(&gpu->diags, ODLC_ERR_USAGE, AT(.file = NULL), "gpu-memory-argument",
                          "there are no tensors of type '%s'", d->dtype);
    return read_shape(gpu, d, out);
}

/* ---- registering ---- */

static bool is_registered(const odlc_gpu *gpu, const odlc_gpu_memory *fresh, const void *buffer)
{
    for (const odlc_gpu_memory *m = fresh; m; m = m->next)
        if (m->lent.buffer == buffer)
            return true;
    for (const odlc_gpu_memory *m = gpu->memories; m; m = m->next)
        if (m->lent.buffer == buffer)
            return true;
    return false;
}

/* Puts one more memory before those of this call. */
static odlc_status register_one(odlc_gpu *gpu, struct gpu_context *context, const struct odlc_gpu_descriptor *d,
                                odlc_gpu_memory **fresh)
{
    struct type type;
    struct gpu_lent lent;
    TRY(read_descriptor(gpu, d, &type));
    if (is_registered(gpu, *fresh, d->buffer))
        return bad(&gpu->diags, ODLC_ERR_USAGE, "gpu-memory-registered", "the buffer is registered already");
    TRY(gpu_lent_begin(context, &gpu->diags, d->buffer, &lent));
    odlc_gpu_memory *memory = calloc(1, sizeof(*memory));
    if (!memory || lent.size < shape_count(&type.shape) * dtype_size(type.dtype)) {
        gpu_lent_end(context, &lent);
        free(memory);
        return !memory ? ODLC_ERR_NOMEM
                       : diag_error(&gpu->diags, ODLC_ERR_INVALID, AT(.file = NULL), "gpu-memory-shape",
                                    "a buffer of %llu bytes has no room for the elements of the tensor",
                                    (unsigned long long)lent.size);
    }
    *memory = (odlc_gpu_memory){.next = *fresh, .gpu = gpu, .lent = lent, .type = type};
    *fresh = memory;
    return ODLC_OK;
}

static void drop(odlc_gpu_memory *list)
{
    for (odlc_gpu_memory *m = list, *next; m; m = next) {
        next = m->next;
        gpu_lent_end(m->gpu->context, &m->lent);
        free(m);
    }
}

/* Descriptors stand as far apart as the first one's size says. */
static odlc_status register_all(odlc_gpu *gpu, const struct odlc_gpu_descriptor *descriptors, size_t count,
                                odlc_gpu_memory **fresh)
{
    struct gpu_context *context;
    TRY(gpu_take_context(gpu, &gpu->diags, &context));
    for (size_t i = 0; i < count; i++) {
        const char *at = (const char *)descriptors + i * descriptors->struct_size;
        TRY(register_one(gpu, context, (const struct odlc_gpu_descriptor *)(const void *)at, fresh));
    }
    return ODLC_OK;
}

/* Out of line, so that none of its variables lives in a frame that the jump comes back to. */
__attribute__((noinline)) static odlc_status do_register(odlc_gpu *gpu, const struct odlc_gpu_descriptor *descriptors,
                                                         size_t count, odlc_gpu_memory **memories)
{
    odlc_gpu_memory *fresh = NULL;
    for (size_t i = 0; memories && i < count; i++)
        memories[i] = NULL;
    if (!memories || !descriptors || count == 0)
        return bad_argument(gpu, "nothing is to be registered, or an array is missing");
    const odlc_status status = register_all(gpu, descriptors, count, &fresh);
    if (status != ODLC_OK) {
        drop(fresh);
        return status;
    }
    (void)pthread_mutex_lock(&gpu->lock);
    for (size_t i = count; i-- > 0;) {
        odlc_gpu_memory *memory = fresh;
        fresh = memory->next;
        memory->next = gpu->memories;
        gpu->memories = memories[i] = memory;
    }
    (void)pthread_mutex_unlock(&gpu->lock);
    return ODLC_OK;
}

odlc_status odlc_gpu_register(odlc_gpu *gpu, const struct odlc_gpu_descriptor *descriptors, size_t count,
                              odlc_gpu_memory **memories)
{
    if (setjmp(*arena_catch(gpu->arena)))
        return ODLC_ERR_NOMEM;
    return do_register(gpu, descriptors, count, memories);
}

/* ---- deregistering ---- */

/* Where the object's list has it; NULL: it does not. */
static odlc_gpu_memory **find(odlc_gpu *gpu, const odlc_gpu_memory *memory)
{
    for (odlc_gpu_memory **at = &gpu->memories; *at; at = &(*at)->next)
        if (*at == memory)
            return at;
    return NULL;
}

/* What is wrong with ending these; NULL: nothing is. The lock is held. */
static const char *check_end(odlc_gpu *gpu, odlc_gpu_memory *const *memories, size_t count, const char **code)
{
    *code = "gpu-memory-argument";
    for (size_t i = 0; i < count; i++) {
        odlc_gpu_memory **at = find(gpu, memories[i]);
        if (!at)
            return "the memory is not registered";
        for (size_t k = 0; k < i; k++)
            if (memories[k] == memories[i])
                return "the memory is named twice";
        if ((*at)->uses > 0) {
            *code = "gpu-memory-used";
            return "a tensor of a run lies in the memory";
        }
    }
    return NULL;
}

__attribute__((noinline)) static odlc_status do_deregister(odlc_gpu *gpu, odlc_gpu_memory *const *memories,
                                                           size_t count)
{
    const char *code;
    odlc_gpu_memory *ended = NULL;
    if (!memories || count == 0)
        return bad_argument(gpu, "no memory is named");
    (void)pthread_mutex_lock(&gpu->lock);
    const char *wrong = check_end(gpu, memories, count, &code);
    for (size_t i = 0; !wrong && i < count; i++) {
        odlc_gpu_memory **at = find(gpu, memories[i]);
        *at = memories[i]->next;
        memories[i]->next = ended;
        ended = memories[i];
    }
    (void)pthread_mutex_unlock(&gpu->lock);
    drop(ended);
    return wrong ? bad(&gpu->diags, ODLC_ERR_USAGE, code, wrong) : ODLC_OK;
}

odlc_status odlc_gpu_deregister(odlc_gpu *gpu, odlc_gpu_memory *const *memories, size_t count)
{
    if (setjmp(*arena_catch(gpu->arena)))
        return ODLC_ERR_NOMEM;
    return do_deregister(gpu, memories, count);
}

void gpu_memories_drop(odlc_gpu *gpu)
{
    drop(gpu->memories);
}

odlc_status odlc_gpu_open(odlc_gpu *gpu, struct odlc_gpu_opencl *out)
{
    struct gpu_context *context;
    void *handles[3];
    if (setjmp(*arena_catch(gpu->arena)))
        return ODLC_ERR_NOMEM;
    TRY(gpu_take_context(gpu, &gpu->diags, &context));
    gpu_lent_handles(context, handles);
    *out = (struct odlc_gpu_opencl){handles[0], handles[1], handles[2]};
    return ODLC_OK;
}

/* ---- runs ---- */

bool gpu_loans_have(const struct gpu_loans *loans, tensor_id id)
{
    for (size_t i = 0; i < loans->list.count; i++)
        if (loans->list.data[i].tensor == id)
            return loans->list.data[i].memory != NULL;
    return false;
}

static void count_use(odlc_gpu_memory *memory, bool begins)
{
    if (!memory)
        return;
    (void)pthread_mutex_lock(&memory->gpu->lock);
    memory->uses += begins ? 1 : (size_t)-1;
    (void)pthread_mutex_unlock(&memory->gpu->lock);
}

static void end_loans(void *object)
{
    const struct gpu_loans *loans = object;
    for (size_t i = 0; i < loans->list.count; i++)
        count_use(loans->list.data[i].memory, false);
}

static odlc_status check_loan(const struct gpu_loans *loans, struct diags *diags, const odlc_gpu *gpu,
                              const struct tensor *tensor, tensor_id id, const odlc_gpu_memory *memory)
{
    if (memory->gpu != gpu)
        return bad(diags, ODLC_ERR_USAGE, "gpu-memory-context",
                   "the memory is registered with another object than the run's (odlc_run_set_gpu)");
    for (size_t i = 0; i < loans->list.count; i++)
        if (loans->list.data[i].memory == memory && loans->list.data[i].tensor != id)
            return bad(diags, ODLC_ERR_USAGE, "gpu-memory-used", "another tensor of the run lies in the memory");
    if (memory->type.dtype != tensor->type->dtype || !shape_equal(&memory->type.shape, &tensor->type->shape))
        return diag_error(diags, ODLC_ERR_INVALID, AT(.attribute = tensor->name), "gpu-memory-shape",
                          "the memory is registered for %s %s, and the tensor is %s %s",
                          dtype_info(memory->type.dtype)->display, shape_text(diags->arena, &memory->type.shape),
                          dtype_info(tensor->type->dtype)->display, shape_text(diags->arena, &tensor->type->shape));
    if (!memory->lent.is_read || (tensor->kind != TENSOR_INPUT && !memory->lent.is_written))
        return diag_error(diags, ODLC_ERR_USAGE, AT(.attribute = tensor->name, .hint = "make it as CL_MEM_READ_WRITE"),
                          "gpu-memory-flags", "kernels may not %s the memory", memory->lent.is_read ? "write" : "read");
    return ODLC_OK;
}

/* The tensor's entry, which is made where there is none. */
static struct gpu_loan *loan_of(struct gpu_loans *loans, struct arena *arena, tensor_id id)
{
    for (size_t i = 0; i < loans->list.count; i++)
        if (loans->list.data[i].tensor == id)
            return &loans->list.data[i];
    if (loans->list.count == 0)
        arena_defer(arena, end_loans, loans);
    vec_push(arena, &loans->list, (struct gpu_loan){.tensor = id});
    return &loans->list.data[loans->list.count - 1];
}

odlc_status gpu_loans_set(struct gpu_loans *loans, struct arena *arena, struct diags *diags, struct engine *engine,
                          const odlc_gpu *gpu, const struct tensor *tensor, tensor_id id, odlc_gpu_memory *memory)
{
    if (memory)
        TRY(check_loan(loans, diags, gpu, tensor, id, memory));
    struct gpu_loan *loan = loan_of(loans, arena, id);
    if (!engine->lend || !engine->lend(engine, &gpu_memory, id, memory ? memory->lent.buffer : NULL))
        return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.attribute = tensor->name), "gpu-memory-place",
                          engine->lend ? "no step of backend gpu reads or writes the tensor"
                                       : "memory of this process is not another one's, where this run is executed");
    count_use(memory, true);
    count_use(loan->memory, false);
    loan->memory = memory;
    return ODLC_OK;
}
#else
/* There is no device that memory could be of. */
static odlc_status no_device(struct diags *diags)
{
    return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.file = NULL), "gpu-device", "backend gpu is not in this build");
}

odlc_status odlc_gpu_register(odlc_gpu *gpu, const struct odlc_gpu_descriptor *descriptors, size_t count,
                              odlc_gpu_memory **memories)
{
    (void)descriptors;
    for (size_t i = 0; memories && i < count; i++)
        memories[i] = NULL;
    if (setjmp(*arena_catch(gpu->arena)))
        return ODLC_ERR_NOMEM;
    return no_device(&gpu->diags);
}

odlc_status odlc_gpu_deregister(odlc_gpu *gpu, odlc_gpu_memory *const *memories, size_t count)
{
    (void)memories, (void)count;
    if (setjmp(*arena_catch(gpu->arena)))
        return ODLC_ERR_NOMEM;
    return no_device(&gpu->diags);
}

odlc_status odlc_gpu_open(odlc_gpu *gpu, struct odlc_gpu_opencl *out)
{
    (void)out;
    if (setjmp(*arena_catch(gpu->arena)))
        return ODLC_ERR_NOMEM;
    return no_device(&gpu->diags);
}

void gpu_memories_drop(odlc_gpu *gpu)
{
    (void)gpu;
}

bool gpu_loans_have(const struct gpu_loans *loans, tensor_id id)
{
    (void)loans, (void)id;
    return false;
}

odlc_status gpu_loans_set(struct gpu_loans *loans, struct arena *arena, struct diags *diags, struct engine *engine,
                          const odlc_gpu *gpu, const struct tensor *tensor, tensor_id id, odlc_gpu_memory *memory)
{
    (void)loans, (void)arena, (void)engine, (void)gpu, (void)tensor, (void)id, (void)memory;
    return no_device(diags);
}
#endif
