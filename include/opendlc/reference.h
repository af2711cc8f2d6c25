/* SPDX-License-Identifier: Apache-2.0 */
/* Reference kernels for op packages: an op of a package computes what the native operator of its name does.
 *
 *     odlc_reference *r = odlc_reference_new("Softmax", ODLC_REFERENCE_AS_STORED);
 *     odlc_reference_number(r, "axis", -1);
 *     odlc_reference_input(r, 0x0232, 2, (const uint32_t[]){3, 5}, &x);
 *     odlc_reference_output(r, 0x0232, 2, (const uint32_t[]){3, 5}, &y);
 *     if (odlc_reference_prepare(r) != ODLC_OK)
 *         … odlc_reference_problem(r) …
 *     x = …, y = …;
 *     if (odlc_reference_execute(r) != ODLC_OK) …
 *     odlc_reference_free(r);
 *
 * `udo-package-generator --reference` writes such calls. Operators are those of the container (docs/operators.md), by
 * their own names, with the params of those names, and of ONNX's operators that a conversion makes several of:
 *
 *     Selu      one input; alpha and gamma, numbers
 *     MaxPool   one image of two or three spatial axes; kernel_shape, strides, pads, tensors; ceil_mode is what the
 *               output's dimensions say
 *
 * Params that are not given have the operator's default. An `axis`, and elements of `axes`, may be counted from the
 * end.
 *
 * An object describes one node. It may be used by one thread at a time, several objects by as many threads. Strings,
 * dimensions and elements of params are copied. odlc_reference_prepare allocates what is needed, but for what kernels
 * need beyond 256 KiB of room for intermediate values: that is memory of the system (mmap, not malloc), which
 * odlc_reference_execute takes and gives back. */
#ifndef OPENDLC_REFERENCE_H
#define OPENDLC_REFERENCE_H

#include "opendlc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct odlc_reference odlc_reference;

/* The order of the axes of images of rank 3 to 5. */
enum odlc_reference_order {
    ODLC_REFERENCE_AS_STORED,      /* as the operator takes them */
    ODLC_REFERENCE_CHANNELS_FIRST, /* NCHW */
    ODLC_REFERENCE_CHANNELS_LAST   /* NHWC */
};

/* An object for a node of that type, without params and operands, which belongs to the caller; NULL when memory runs
 * out. All functions below take NULL, for which odlc_reference_prepare is ODLC_ERR_NOMEM. */
ODLC_API odlc_reference *odlc_reference_new(const char *type, enum odlc_reference_order order);
ODLC_API void odlc_reference_free(odlc_reference *r);

/* Params: a number whatever its type, a text, a tensor. data_type is a code of the container and of Qnn_DataType_t:
 * 0x0232 is float32. Elements are row-major and dense. What is wrong with a param, odlc_reference_prepare says. */
ODLC_API void odlc_reference_number(odlc_reference *r, const char *name, double value);
ODLC_API void odlc_reference_text(odlc_reference *r, const char *name, const char *value);
ODLC_API void odlc_reference_tensor(odlc_reference *r, const char *name, uint32_t data_type, uint32_t rank,
                                    const uint32_t *dimensions, const void *elements);

/* The next input or output. data is where the address of the elements stands whenever odlc_reference_execute is called;
 * it must stay until the object is freed. data NULL: an optional operand that the node leaves out; its type and
 * dimensions are not looked at. */
ODLC_API void odlc_reference_input(odlc_reference *r, uint32_t data_type, uint32_t rank, const uint32_t *dimensions,
                                   void *const *data);
ODLC_API void odlc_reference_output(odlc_reference *r, uint32_t data_type, uint32_t rank, const uint32_t *dimensions,
                                    void *const *data);

/* Once, behind all of the above. ODLC_ERR_UNSUPPORTED: there is no such operator, or fixed-point elements are given,
 * whose encodings nobody says. ODLC_ERR_INVALID: params or operands do not fit the operator, or another type or other
 * dimensions of an output follow from them. ODLC_ERR_USAGE: a second call. ODLC_ERR_NOMEM. */
ODLC_API odlc_status odlc_reference_prepare(odlc_reference *r) ODLC_MUST_USE;

/* Computes the outputs. They must not overlap inputs. ODLC_ERR_USAGE: the node is not prepared. ODLC_ERR_INVALID:
 * values do not fit (an index past its axis). ODLC_ERR_UNSUPPORTED: the kernel has no loops for these types.
 * ODLC_ERR_NOMEM. */
ODLC_API odlc_status odlc_reference_execute(odlc_reference *r) ODLC_MUST_USE;

/* What was wrong with the last call that failed, a sentence; "" when none did. The object's, until the next call. */
ODLC_API const char *odlc_reference_problem(const odlc_reference *r);

#ifdef __cplusplus
}
#endif
#endif
