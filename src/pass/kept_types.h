/* SPDX-License-Identifier: Apache-2.0 */
/* Graph inputs and outputs that keep their dtype, behind a Cast, where all others get another one. */
#ifndef PASS_KEPT_TYPES_H
#define PASS_KEPT_TYPES_H

#include "pass/pass.h"

typedef bool keeps_type_fn(const struct pass_context *c, const struct tensor *t);
typedef enum dtype other_type_fn(enum dtype dtype);

/* --preserve_io datatype, for types that containers have. */
bool preserves_type(const struct pass_context *c, const struct tensor *t);

/* Flags by tensor, for all that keep_types will make; none is set. */
bool *kept_types(struct arena *scratch, const struct graph *g);
/* Casts between the graph inputs that keep their dtype and their readers, and between what is computed and the graph
 * outputs that do, where `other` would change it. `kept` is set for those inputs and outputs; what is computed has the
 * other dtype. No tensor but graph inputs has new readers. Fails as build_cast. */
odlc_status keep_types(const struct pass_context *c, struct build *b, keeps_type_fn *keeps, other_type_fn *other,
                       bool *kept) MUST_USE;

#endif
