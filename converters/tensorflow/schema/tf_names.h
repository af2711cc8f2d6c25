/* SPDX-License-Identifier: Apache-2.0 */
/* Names of values as TensorFlow's files spell them. */
#ifndef CONVERTERS_TENSORFLOW_SCHEMA_TF_NAMES_H
#define CONVERTERS_TENSORFLOW_SCHEMA_TF_NAMES_H

#include "base/arena.h"

/* Tensors are "name:0", as the containers have them; "name" and "^name" mean the same: a part of the name, or a copy in
 * the arena. "" stays. */
const char *tensorflow_canonical_name(struct arena *arena, const char *name);
/* "name:0" is "name" to people: the name itself, or a copy in the arena. */
const char *tensorflow_short_name(struct arena *arena, const char *name);

#endif
