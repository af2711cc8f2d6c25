/* SPDX-License-Identifier: Apache-2.0 */
/* Making calls: descriptions of tensors, attributes, primitives, packed weights. Objects of oneDNN that are made here
 * belong to the scope's arena. */
#ifndef BACKEND_CPU_CPU_CALL_H
#define BACKEND_CPU_CPU_CALL_H

#include "backend/cpu/cpu_step.h"

/* A tensor as oneDNN counts its axes. Images are [batch, spatial…, channels] here and (batch, channels, spatial…)
 * there, in the same memory. */
struct dnnl_axes {
    int rank;
    dnnl_dims_t dims, strides;
};
struct dnnl_axes axes_of(const struct shape *shape);
struct dnnl_axes axes_of_image(const struct shape *shape);
dnnl_memory_desc_t desc_of(const struct dnnl_axes *axes); /* float32 */
dnnl_memory_desc_t desc_typed(const struct dnnl_axes *axes, dnnl_data_type_t type);
/* The same dims in whatever layout is best. */
dnnl_memory_desc_t desc_any(const struct dnnl_axes *axes, dnnl_data_type_t type);

/* ODLC_ERR_INTERNAL, or ODLC_ERR_NOMEM, with a diagnostic that names the step's node. */
odlc_status call_failed(const struct cpu_making *m, dnnl_status_t status, const char *function);
#define TRY_DNNL(m, call)                            \
    do {                                             \
        dnnl_status_t status_ = (call);              \
        if (status_ != dnnl_success)                 \
            return call_failed((m), status_, #call); \
    } while (0)

/* Attributes for primitives whose scratchpad is the execution's. */
odlc_status make_attributes(const struct cpu_making *m, dnnl_primitive_attr_t *out) MUST_USE;
/* The implementation of an operation; *plain: it is one that computes followers slowly, or broadcasts their operands
 * wrongly (products by gemm in oneDNN 2.6). */
odlc_status make_description(const struct cpu_making *m, const_dnnl_op_desc_t operation, dnnl_primitive_attr_t attr,
                             dnnl_primitive_desc_t *out, bool *plain) MUST_USE;
/* A call of it, at the end of the step's, with its scratchpad. */
odlc_status make_call(const struct cpu_making *m, dnnl_primitive_desc_t description, struct cpu_call **out) MUST_USE;
/* A call that copies elements from one layout to another. */
odlc_status make_reorder(const struct cpu_making *m, const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to,
                         struct cpu_call **out) MUST_USE;
/* An operand that lies in a place of step_io. */
odlc_status call_place(const struct cpu_making *m, struct cpu_call *call, int arg, const dnnl_memory_desc_t *desc,
                       uint32_t place) MUST_USE;
/* An operand that lies there for good. */
odlc_status call_fixed(const struct cpu_making *m, struct cpu_call *call, int arg, const dnnl_memory_desc_t *desc,
                       const void *data) MUST_USE;
/* Constant elements brought into the layout that the description asks for as its `index`-th weights. `data` may be in
 * the scope's scratch. */
odlc_status call_packed(const struct cpu_making *m, struct cpu_call *call, int arg, dnnl_primitive_desc_t description,
                        int index, const dnnl_memory_desc_t *plain, const void *data) MUST_USE;
/* Executes a call whose operands are all there, while it is prepared: on these elements of its source. */
odlc_status call_now(const struct cpu_making *m, struct cpu_call *call, const void *source, void *result) MUST_USE;
/* Executes a call of a loop: on these elements of its source, with that result. Its other operands are fixed, or in the
 * step's scratchpad. */
odlc_status call_run(const struct cpu_step *step, struct cpu_call *call, const void *source, void *result) MUST_USE;

#endif
