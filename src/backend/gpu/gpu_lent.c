/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_lent.h"

#include "backend/gpu/gpu_context.h"

void gpu_lent_handles(const struct gpu_context *context, void *out[3])
{
    out[0] = context->device.platform;
    out[1] = context->device.id;
    out[2] = context->handle;
}

static odlc_status refuse(struct diags *diags, odlc_status status, const char *code, const char *hint, const char *why)
{
    return diag_error(diags, status, AT(.hint = hint), code, "the memory cannot be a tensor's: %s", why);
}

/* What a cl_mem says of itself. */
struct facts {
    cl_mem_object_type type;
    cl_mem_flags flags;
    cl_context context;
    cl_uint maps;
    size_t size;
};

static cl_int read_facts(cl_mem buffer, struct facts *f)
{
    const struct {
        cl_mem_info what;
        size_t size;
        void *value;
    } wanted[] = {{CL_MEM_TYPE, sizeof(f->type), &f->type},
                  {CL_MEM_FLAGS, sizeof(f->flags), &f->flags},
                  {CL_MEM_CONTEXT, sizeof(f->context), (void *)&f->context},
                  {CL_MEM_MAP_COUNT, sizeof(f->maps), &f->maps},
                  {CL_MEM_SIZE, sizeof(f->size), &f->size}};
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        const cl_int error = clGetMemObjectInfo(buffer, wanted[i].what, wanted[i].size, wanted[i].value, NULL);
        if (error != CL_SUCCESS)
            return error;
    }
    return CL_SUCCESS;
}

odlc_status gpu_lent_begin(const struct gpu_context *context, struct diags *diags, void *buffer, struct gpu_lent *out)
{
    struct facts f;
    const cl_int error = buffer ? read_facts(buffer, &f) : CL_INVALID_MEM_OBJECT;
    if (error != CL_SUCCESS)
        return refuse(diags, ODLC_ERR_USAGE, "gpu-memory-argument", NULL, gpu_error_text(diags->arena, error));
    if (f.context != context->handle)
        return refuse(diags, ODLC_ERR_USAGE, "gpu-memory-context", "odlc_gpu_open gives the context to make buffers in",
                      "it is of another OpenCL context");
    if (f.type != CL_MEM_OBJECT_BUFFER)
        return refuse(diags, ODLC_ERR_UNSUPPORTED, "gpu-memory-type", "make it by clCreateBuffer",
                      "it is an image, a pipe, or another kind than a buffer");
    if (f.maps > 0)
        return refuse(diags, ODLC_ERR_USAGE, "gpu-memory-mapped", "clEnqueueUnmapMemObject gives it back to the device",
                      "the host has it mapped");
    (void)clRetainMemObject(buffer);
    *out = (struct gpu_lent){.buffer = buffer,
                             .size = f.size,
                             .is_read = !(f.flags & CL_MEM_WRITE_ONLY),
                             .is_written = !(f.flags & CL_MEM_READ_ONLY)};
    return ODLC_OK;
}

void gpu_lent_end(struct gpu_context *context, const struct gpu_lent *lent)
{
    gpu_context_count(context, &context->withdrawn);
    (void)clReleaseMemObject(lent->buffer);
}
