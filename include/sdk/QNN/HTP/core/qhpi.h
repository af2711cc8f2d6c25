/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin interface (QHPI): ops for a compiler of HTP graphs, which may rewrite them, cut them into tiles, and
 * choose among several kernels of each.
 *
 *     QNN_API const char *qhpi_init(void);    exported by the package beside its QnnOpPackage_InterfaceProvider_t
 *
 * qhpi_init calls qhpi_register_ops_v1 for the package's ops, and returns the package's name. The other functions below
 * are the host's: a package leaves them undefined. What a package registers is its own memory, and the host keeps
 * pointers to it until it unloads the library.
 *
 * Names, and the order of members, are those of published documentation and public sources; values of enums are
 * published nowhere and are ours. C11 and C++11. */
#ifndef QHPI_H
#define QHPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../../OdlcSdk.h"
#include "../../QnnCommon.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The package's name, as text, of -DTHIS_PKG_NAME=Name. */
#ifdef THIS_PKG_NAME
#define ODLC_QHPI_TEXT(name) #name
#define ODLC_QHPI_EXPANDED(name) ODLC_QHPI_TEXT(name)
#define THIS_PKG_NAME_STR ODLC_QHPI_EXPANDED(THIS_PKG_NAME)
#endif

/* ---- enums; qhpi_compat.h has their older spellings ---- */

typedef enum { QHPI_SUCCESS = 0, QHPI_ErrorFatal = 1 } QHPI_StatusCode;

/* Types of elements; those with a Q are quantized. */
typedef enum {
    QHPI_ELEMENT_TYPE_ANY = 0, /* in a signature alone */
    QHPI_QUINT8 = 1,
    QHPI_QUINT16 = 2,
    QHPI_QINT8 = 3,
    QHPI_QINT16 = 4,
    QHPI_INT32 = 5,
    QHPI_FLOAT32 = 6,
    QHPI_FLOAT16 = 7
} QHPI_Element_Type;

typedef enum {
    QHPI_LAYOUT_ANY = 0,       /* in a signature alone */
    QHPI_LAYOUT_FLAT_4 = 1,    /* dense, of rank 4, the last dimension fastest */
    QHPI_LAYOUT_CROUTON_8 = 2, /* in blocks of 2,048 bytes, of elements of 8 bits … */
    QHPI_LAYOUT_CROUTON_16 = 3 /* … and of 16; qhpi_tensor_block_table says what is in a block */
} QHPI_Layout;

/* One block of memory, or a table of blocks. */
typedef enum { QHPI_STORAGE_DIRECT = 1, QHPI_STORAGE_INDIRECT = 2, QHPI_STORAGE_DIRECT_OR_INDIRECT = 3 } QHPI_Storage;

typedef enum { QHPI_MEM_LOC_DDR_ONLY = 1, QHPI_MEM_LOC_TCM_ONLY = 2, QHPI_MEM_LOC_DDR_OR_TCM = 3 } QHPI_MemLoc;

/* Units that a kernel occupies: a mask. The name of the second one is ours. */
#define QHPI_RESOURCE_HVX 1u /* a thread of vectors */
#define QHPI_RESOURCE_HMX 2u /* the matrix unit */

/* ---- tensors and ops ---- */

typedef struct QHPI_Op QHPI_Op;                       /* of a graph that is compiled */
typedef struct QHPI_Tensor QHPI_Tensor;               /* has data when a kernel runs */
typedef struct QHPI_RuntimeHandle QHPI_RuntimeHandle; /* of one call of a kernel */

#define ODLC_QHPI_MAX_RANK 8

/* Of rank 4: batch, height, width, depth. */
typedef struct {
    uint32_t rank;
    uint32_t dims[ODLC_QHPI_MAX_RANK]; /* rank of them */
} QHPI_Shape;

/* real = (stored - zero_offset) * stepsize; a stepsize of 0 is that of a tensor that is not quantized. */
typedef struct {
    int32_t zero_offset;
    float stepsize;
} QHPI_Quant_Parameters;

typedef struct {
    QHPI_Element_Type type;
    QHPI_Quant_Parameters quant_parameters;
    QHPI_Shape shape;
} QHPI_OutputDef;

/* An output of an op. */
typedef struct {
    const QHPI_Op *op;
    uint32_t output_number;
} QHPI_OpRef;

/* ---- kernels ---- */

/* What a kernel takes as an operand. */
typedef struct {
    uint32_t element_type; /* QHPI_Element_Type */
    uint32_t layout;       /* QHPI_Layout */
    uint8_t storage;       /* QHPI_Storage */
    uint8_t mem_placement; /* QHPI_MemLoc */
} QHPI_Tensor_Signature_v1;

/* Computes the outputs. Inputs are the op's, then its params in the order of its description. Anything but QHPI_SUCCESS
 * ends the execution. */
typedef uint32_t (*ODLC_QHPI_Kernel_t)(QHPI_RuntimeHandle *handle, uint32_t num_outputs, QHPI_Tensor **outputs,
                                       uint32_t num_inputs, const QHPI_Tensor *const *inputs);
/* The parameters of these two are ours. The first fills the block of an op once, before it runs: the tensors stay where
 * they are until the op goes, so that the block may hold pointers to them. The second runs the op with it. */
typedef uint32_t (*ODLC_QHPI_Precomputation_t)(void *data, uint32_t num_outputs, QHPI_Tensor **outputs,
                                               uint32_t num_inputs, const QHPI_Tensor *const *inputs);
typedef uint32_t (*ODLC_QHPI_PrecomputedKernel_t)(QHPI_RuntimeHandle *handle, void *data);
/* What a call costs: a prediction, which chooses nothing. */
typedef float (*ODLC_QHPI_Cost_t)(const uint32_t num_inputs, const QHPI_Tensor *const *inputs);
/* Whether the kernel is for that op; 0: the next one is tried. The tensors have no data yet. */
typedef uint32_t (*ODLC_QHPI_Predicate_t)(const QHPI_Op *op, const uint32_t num_inputs,
                                          const QHPI_Tensor *const *inputs);

typedef struct {
    const char *function_name; /* unique in the package */
    ODLC_QHPI_Kernel_t function;
    uint32_t resources;      /* QHPI_RESOURCE_… */
    bool source_destructive; /* the first input and the first output may be the same memory */
    bool multithreaded;      /* called once for each slice, maybe at the same time */
    bool variable_inputs;    /* more inputs than min_inputs may come */
    bool variable_outputs;
    uint32_t min_inputs;                             /* with the params */
    const QHPI_Tensor_Signature_v1 *input_signature; /* min_inputs of them */
    uint32_t min_outputs;
    const QHPI_Tensor_Signature_v1 *output_signature; /* min_outputs of them */
    ODLC_QHPI_Cost_t cost_function;                   /* or NULL */
    size_t sync_block_size;                           /* 0 */
    size_t precomputed_data_size;                     /* bytes; 0: nothing is computed before */
    ODLC_QHPI_Precomputation_t do_precomputation_function;
    ODLC_QHPI_PrecomputedKernel_t function_with_precomputed_data; /* instead of function */
    ODLC_QHPI_Predicate_t predicate;                              /* or NULL */
} QHPI_Kernel_v1;

/* ---- ops, as a package registers them ---- */

/* Another op in place of this one, or the op itself. */
typedef const QHPI_Op *(*QHPI_RewriteOpFunc)(const QHPI_Op *op);
/* The tile that the op needs, a dimension 0 where any will do, or QHPI_NO_TILING. All 0, or rank 0: any tile. */
typedef QHPI_Shape (*QHPI_TileShapeRequired)(const QHPI_Op *op);
/* The shape in place of the candidate. */
typedef QHPI_Shape (*QHPI_TileShapeLegalized)(const QHPI_Op *op, const QHPI_Shape *candidate);
/* A smaller op for that part of the first output; op itself: it is not cut. */
typedef const QHPI_Op *(*QHPI_BuildTileOfOp)(const QHPI_Op *op, const QHPI_Shape *start, const QHPI_Shape *extent);

/* Of a required shape: this dimension is never cut. */
#define QHPI_NO_TILING UINT32_MAX

/* All functions but the kernels' may be NULL. They may be called any number of times, and change nothing. */
typedef struct {
    const char *name; /* "Package::Op" */
    uint32_t num_kernels;
    const QHPI_Kernel_v1 *kernels; /* the first that fits is taken */
    QHPI_RewriteOpFunc early_rewrite;
    QHPI_TileShapeRequired shape_required;
    QHPI_TileShapeLegalized shape_legalized;
    QHPI_BuildTileOfOp build_tile;
    QHPI_RewriteOpFunc late_rewrite; /* behind tiling */
} QHPI_OpInfo_v1;

/* ---- the package's function ---- */

QNN_API const char *qhpi_init(void);

/* ---- the host's functions ---- */

/* In qhpi_init. Gives a QHPI_StatusCode. */
uint32_t qhpi_register_ops_v1(uint32_t num_ops, const QHPI_OpInfo_v1 *operators, const char *package);

/* Ops, in all functions but kernels. What they return is the host's, while it compiles the graph. An index must be less
 * than the number. */
const char *qhpi_op_name(const QHPI_Op *op); /* "Package::Op" */
uint32_t qhpi_op_num_inputs(const QHPI_Op *op);
uint32_t qhpi_op_num_outputs(const QHPI_Op *op);
uint32_t qhpi_op_num_uses(const QHPI_Op *op);                /* consumers */
QHPI_OpRef qhpi_op_input(const QHPI_Op *op, uint32_t index); /* which output of which op it is */
QHPI_OutputDef qhpi_op_output(const QHPI_Op *op, uint32_t index);
QHPI_OpRef qhpi_op_reference(const QHPI_Op *op, uint32_t output_number);
uint32_t qhpi_op_is_constant(const QHPI_Op *op);      /* 0: it is not */
const void *qhpi_op_constant_data(const QHPI_Op *op); /* NULL: there is none */

/* New ops; root is the op that is rewritten. What they are given is copied. Without a root there is no graph to make
 * them in: they give NULL, a reference to no op. */
const QHPI_Op *qhpi_op_create(const QHPI_Op *root, const char *name, uint32_t num_inputs, const QHPI_OpRef *inputs,
                              uint32_t num_outputs, const QHPI_OutputDef *outputs);
const QHPI_Op *qhpi_op_create_constant(const QHPI_Op *root, const QHPI_OutputDef *out, size_t bytes, const void *data);
QHPI_OpRef qhpi_op_create_shape(const QHPI_Op *root, const QHPI_Shape *shape);
/* Part of a tensor. */
QHPI_OpRef qhpi_op_slice(QHPI_OpRef input, const QHPI_Shape *start, const QHPI_Shape *extent);

/* An option of the compilation by its name. Gives a QHPI_StatusCode: anything but QHPI_SUCCESS leaves *value as it is.
 */
QHPI_StatusCode qhpi_option_int(const QHPI_Op *op, const char *name, int32_t *value);

/* Tensors of kernels, cost functions, predicates and precomputations. */
QHPI_Shape qhpi_tensor_shape(const QHPI_Tensor *tensor);
QHPI_Quant_Parameters qhpi_tensor_quant_parameters(const QHPI_Tensor *tensor);
void *qhpi_tensor_raw_data(const QHPI_Tensor *tensor); /* NULL: no data yet, or not in one block */

/* The blocks of a tensor in a blocked layout. That there are such functions is published, their names and what is in a
 * block are not: both are ours. A block has 8 rows of 8 columns (of 4, where elements have 16 bits) of 32 depths, the
 * depth fastest, then the column; the shape is padded to whole blocks, and the padding's values mean nothing. Blocks
 * are in the order of batches, rows, columns, depths. */
void *const *qhpi_tensor_block_table(const QHPI_Tensor *tensor);       /* NULL: the layout is flat, or no data yet */
uint32_t qhpi_tensor_block_table_length(const QHPI_Tensor *tensor);    /* 0: the layout is flat */
QHPI_Shape qhpi_tensor_padded_shape(const QHPI_Tensor *tensor);        /* the shape itself, where the layout is flat */
uint32_t qhpi_tensor_is_indirect(const QHPI_Tensor *tensor);           /* 0: its memory is one block */
QHPI_Element_Type qhpi_tensor_element_type(const QHPI_Tensor *tensor); /* for kernels of QHPI_ELEMENT_TYPE_ANY */

/* Which share of the work a kernel's call has: slice qhpi_slice_number of qhpi_num_slices. */
uint32_t qhpi_num_slices(QHPI_RuntimeHandle *handle);
uint32_t qhpi_slice_number(QHPI_RuntimeHandle *handle);

#ifdef __cplusplus
}
#endif

#include "qhpi_compat.h"

#endif
