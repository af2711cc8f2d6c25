/* How users name tensors. Those of TensorFlow models are called "node:0", and people say "node". */
#ifndef IR_TENSOR_NAME_H
#define IR_TENSOR_NAME_H

#include "base/arena.h"

/* The other spelling of a name: "x:0" for "x", and "x" for "x:0". A tensor of the name itself comes first. */
const char *tensor_name_respelled(struct arena *arena, const char *name);

#endif
