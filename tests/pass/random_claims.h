/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of random graphs as user-defined operations: what a UDO computes is what the nodes that it stands for compute,
 * in the layouts that its definition declares. Its kernel executes those nodes, so that graphs with UDOs can be
 * executed, and their numbers show whether every UDO sees and gives its tensors in the declared order. */
#ifndef TESTS_PASS_RANDOM_CLAIMS_H
#define TESTS_PASS_RANDOM_CLAIMS_H

#include "udo/udo.h"

/* A result of replaced nodes, and what now stands for it. */
struct moved {
    tensor_id from, to;
};

struct claims {
    struct arena *arena;
    struct udo_set set;
    VEC(struct moved) moved;
};

void claims_init(struct claims *c, struct arena *arena, struct diags *diags);

/* Puts a UDO in the place of the nodes from order[first] on, through a definition of its own with random layouts and
 * udo_build. Constants become static inputs. Nothing happens when there are no such nodes. */
void claims_replace(struct claims *c, struct build *b, size_t first, uint64_t seed);

/* What stands for the tensor now: itself unless a UDO gives it. */
tensor_id claims_now(const struct claims *c, tensor_id id);

#endif
