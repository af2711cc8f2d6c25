/* A walk from the outputs of one graph back over what gives them, which fills the graph: the model's own, a function
 * that an operator holds, or a part of a loop. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_FLATTEN_WALK_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_FLATTEN_WALK_H

#include "converters/tensorflow/normalize/conditions.h"
#include "converters/tensorflow/normalize/loops.h"

/* A value that an input of a node stands for. */
struct operand {
    fw_name id;
    const struct condition *when; /* it is alive */
};

/* A node whose inputs are being walked. */
struct visit {
    struct frame *frame;
    uint32_t node;
    const struct loop *loop;   /* that the node, its LoopCond, stands for; or NULL */
    const char *const *inputs; /* of the node, or what the loop reads */
    uint32_t n_inputs, input;  /* the input that comes next */
    size_t first_operand;      /* its own are from here on */
};

/* One graph that is being filled. */
struct walk {
    struct flatten *f;
    struct walk *outer; /* whose values are seen here; of parts of loops alone */
    uint32_t number;
    struct fw_graph *graph;
    VEC(struct visit) visits;
    VEC(struct operand) operands; /* of all visits */
    VEC(struct emitted) emitted;
    struct map inputs; /* names of values that became inputs of the graph */
};

#endif
