/* SPDX-License-Identifier: Apache-2.0 */
/* Changes a container along its structure: the zip stays whole and its CRCs right, flatbuffers are changed field by
 * field as their descriptions (src/dlc/schema.h) lead to them, and the version stays what it is. */
#ifndef FUZZ_MUTATE_CONTAINER_H
#define FUZZ_MUTATE_CONTAINER_H

#include "op/op.h"

struct container_version {
    uint32_t major, minor;
};

/* bytes have room for max_size. Returns the new size; bytes that are no zip are changed as bytes. */
size_t mutate_container(uint8_t *bytes, size_t size, size_t max_size, unsigned seed,
                        const struct container_version *version);

/* A row of the operator table. */
const struct op *random_op(uint32_t *random);

#endif
