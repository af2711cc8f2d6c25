/* Names of values as TensorFlow's files spell them. */
#ifndef CONVERTERS_TENSORFLOW_SCHEMA_TF_NAMES_H
#define CONVERTERS_TENSORFLOW_SCHEMA_TF_NAMES_H

#include "base/arena.h"

/* "name:0" is "name", "^name" too: a part of the name, or a copy in the arena. */
const char *tensorflow_canonical_name(struct arena *arena, const char *name);

#endif
