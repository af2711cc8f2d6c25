/* SPDX-License-Identifier: Apache-2.0 */
/* Which version of which domain the nodes of a graph or a function are of. */
#ifndef CONVERTERS_ONNX_DECODE_ONNX_OPSETS_H
#define CONVERTERS_ONNX_DECODE_ONNX_OPSETS_H

#include "converters/onnx/decode/onnx_decode.h"

#define ONNX_MAX_OPSET 28

/* The opsets that a model or a function imports: domain → version. */
struct opsets {
    struct map index;
    VEC(int64_t) versions;
    uint32_t number; /* one list of imports from another */
};

/* The opsets in the fields of that number, each for one domain. An error for a version that is none, and for a domain
 * that has two. */
void decode_opsets(struct decode *d, const struct sections *s, uint32_t number, struct opsets *out);
/* As if the default domain were imported in that version. */
void assume_opset(struct decode *d, int64_t version, struct opsets *out);
/* The version of a domain; 0: the domain is not imported. */
int64_t opsets_version(const struct opsets *opsets, const char *domain);
/* The domain by one name: "" for each name of the default domain. */
const char *decode_domain(const char *domain);

#endif
