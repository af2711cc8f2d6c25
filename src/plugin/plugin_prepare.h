/* SPDX-License-Identifier: Apache-2.0 */
/* The way from a group of nodes to steps that can be executed, in the order of the published guide: rewriting, tiling,
 * rewriting again, choosing kernels, and laying out. What was decided is kept, to be explained. */
#ifndef PLUGIN_PLUGIN_PREPARE_H
#define PLUGIN_PLUGIN_PREPARE_H

#include "plugin/plugin_graph.h"
#include "plugin/tensor.h"

/* What is simulated beside the execution. */
struct plugin_options {
    uint64_t fast_memory; /* bytes of TCM */
    uint32_t slices;      /* of a kernel that may be called for several */
    uint32_t threads;
    uint32_t least_tiles; /* of an op that can be cut into so many; 0: cuts serve memory and units alone */
    bool whole;           /* nothing is cut */
    bool plain;           /* kernels that run without what they computed before do */
    bool apart;           /* outputs never take over the memory of inputs */
    bool copies;          /* what comes from outside, and goes there, is copied: all else may share memory */
    bool asks_again;      /* callbacks are called again, in other orders, and have to give the same */
    /* Memory of its own for each value; NULL: one block for all. */
    void *(*take)(void *user, const char *name, size_t size);
    void (*seal)(void *user, void *data); /* what was taken is constant from now on */
    void *user;
};

/* ---- rewriting ---- */

struct rewriting {
    const char *callback, *op, *node;
    const char *before, *after; /* graphs as text, a line an op */
};

/* ---- tiling ---- */

/* Bytes of operands of a tile's kernel that may, or must, be in fast memory, at most; and how many they will be at
 * least however the op is cut, since each has a block. */
struct operand_bytes {
    uint64_t now, least;
};

/* How an op is cut. */
struct tiled {
    const QHPI_Op *op;
    uint32_t cluster; /* ops that are cut together have one number */
    bool may_be_cut;  /* it has build_tile */
    QHPI_Shape required, tile;
    QHPI_Shape finest; /* the smallest tile that the op can be cut into */
    /* Of the cut that was tried last, of all operands and of those that must be in fast memory: */
    struct operand_bytes operands, forced;
    uint32_t n_tiles;
    uint32_t counts[ODLC_QHPI_MAX_RANK]; /* tiles along each dimension */
    const QHPI_Op **tiles;               /* in row-major order; NULL: the op is whole */
    const char *reason;                  /* why it is whole, or why it is cut so */
};

/* Where a tile of that number stands in the first output, and its size. */
void tile_region(const struct tiled *t, uint32_t tile, QHPI_Shape *start, QHPI_Shape *extent);

/* ---- kernels ---- */

/* A kernel that was looked at. */
struct tried {
    const QHPI_Kernel_v1 *kernel;
    const char *reason;               /* why not; NULL: it is taken */
    const QHPI_Tensor *const *inputs; /* that its predicate got; NULL: it was not asked */
};

/* What an op runs by. */
struct choice {
    const QHPI_Kernel_v1 *kernel;
    struct tried *tried;
    uint32_t n_tried;
    uint32_t *layouts;                        /* per input, then per output */
    bool *indirect, *fast_alone, *slow_alone; /* the same: as the signature asks */
};

/* ---- steps ---- */

enum plugin_step_kind {
    PLUGIN_KERNEL,
    PLUGIN_NATIVE,
    PLUGIN_SLICE,   /* copies part of a tensor */
    PLUGIN_PART,    /* copies a tensor into part of another */
    PLUGIN_CONVERT, /* between layouts */
    PLUGIN_COPY     /* to a result */
};

#define NO_VALUE UINT32_MAX

/* A tensor of the prepared graph while it is executed. */
struct value {
    const QHPI_Op *op;
    uint32_t output;
    uint32_t layout;
    uint64_t bytes;       /* with padding */
    uint32_t first, last; /* steps */
    bool is_outer;        /* its memory is the caller's, or a constant's: bound for each run, or once */
    bool is_slow;         /* lives in DDR */
    uint32_t result;      /* index of a result that lies here; NO_VALUE: none */
    uint32_t shares;      /* the value whose memory this one takes over; NO_VALUE: it has its own */
    void *data;
    void **blocks; /* of a blocked layout */
    uint32_t n_blocks;
    QHPI_Shape padded;
};

struct plugin_step {
    enum plugin_step_kind kind;
    const QHPI_Op *op;
    const struct choice *choice; /* PLUGIN_KERNEL */
    uint32_t *inputs, *outputs;  /* values, NO_VALUE where an operand is absent */
    uint32_t n_inputs, n_outputs;
    QHPI_Shape from, to, extent; /* copies: where the part begins in the input, in the output, and its size */
    QHPI_Tensor *tensors;        /* PLUGIN_KERNEL: inputs, then outputs */
    const QHPI_Tensor **in;
    QHPI_Tensor **out;
    void *block; /* what was computed before */
    uint32_t slices;
    const struct native_call *native; /* PLUGIN_NATIVE */
    const char *call;                 /* how it is named when it ends the process */
    float cost;
    bool has_cost;
    uint64_t fast_bytes; /* of fast memory in use during the step */
    uint32_t n_direct;   /* operands that the kernel gets to in DDR */
    double begin, end;   /* of the simulated schedule */
};

struct preparation {
    struct arena *arena;
    struct diags *diags;
    const struct backend_scope *scope;
    const struct group *group;
    struct plugin_options options;
    struct plugin_graph *graph;
    VEC(struct rewriting) rewritings;
    VEC(struct tiled *) tilings;
    struct choice **choices; /* per op of the graph; NULL: it has no kernel */
    size_t n_choices;
    VEC(struct value) values;
    VEC(struct plugin_step) steps;
    uint64_t peak;      /* of fast memory, bytes */
    uint64_t needed;    /* … if all operands of kernels were there */
    uint64_t host_size; /* of the block in which values are */
    double cost, end;   /* of all kernels; when the simulated schedule ends */
    uint32_t n_without_cost;
};

/* ---- the stages, in their order; ODLC_ERR_INVALID for what a package does wrong, with a diagnostic ---- */

/* The plugin package that has an op of the IR; NULL: none has. */
struct package *plugin_package_of(const struct package_set *set, const struct op *op);

odlc_status prepare_import(struct preparation *p, const struct step_io *io) MUST_USE;
/* early_rewrite, or late_rewrite, of all ops until nothing changes. */
odlc_status prepare_rewrite(struct preparation *p, bool late) MUST_USE;
odlc_status prepare_tiles(struct preparation *p) MUST_USE;
/* Slices of what is made of tiles become tiles, or are made of the tiles that they need. */
void prepare_slices(struct preparation *p);
/* ODLC_ERR_INVALID: an op of the cluster (0: one of all) has no kernel, or a predicate misbehaves. Other ops may have
 * none yet. */
odlc_status prepare_kernels(struct preparation *p, uint32_t cluster) MUST_USE;
/* Steps and values, without memory. */
void prepare_steps(struct preparation *p);
/* Puts values into fast memory as long as there is room, and says how much of it each step uses. True: all operands of
 * the cluster's kernels (0: of all) are there. */
bool prepare_placement(struct preparation *p, uint32_t cluster);
/* Of a step of a tile, whose op can be cut into tiles of `finest`; forced: of those alone that must be in fast memory.
 */
struct operand_bytes step_operand_bytes(const struct preparation *p, const struct plugin_step *step,
                                        const QHPI_Shape *finest, bool forced);
odlc_status prepare_memory(struct preparation *p) MUST_USE;
odlc_status prepare_precomputation(struct preparation *p) MUST_USE;
/* Costs, and a schedule on the resources that kernels name. */
odlc_status prepare_timeline(struct preparation *p) MUST_USE;

/* All of them. */
odlc_status plugin_prepare(struct preparation *p, const struct step_io *io) MUST_USE;

static inline const struct choice *choice_of(const struct preparation *p, const QHPI_Op *op)
{
    return op->id < p->n_choices ? p->choices[op->id] : NULL;
}

/* The first of the values that lie in the same memory. */
static inline uint32_t value_owner(const struct preparation *p, uint32_t value)
{
    while (p->values.data[value].shares != NO_VALUE)
        value = p->values.data[value].shares;
    return value;
}

/* The layout in which an output is made. */
static inline uint32_t prepared_layout(const struct preparation *p, QHPI_OpRef ref)
{
    const struct choice *choice = choice_of(p, ref.op);
    return choice                         ? choice->layouts[ref.op->n_inputs + ref.output_number]
           : ref.op->kind == KIND_CONVERT ? ref.op->layout
                                          : (uint32_t)QHPI_LAYOUT_FLAT_4;
}

#endif
