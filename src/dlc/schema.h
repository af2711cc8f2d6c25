/* The container's flatbuffers: slot numbers, and descriptions for fb_verify. The same layouts in FlatBuffers' own
 * language, with what each field means, are in proto/dlc.fbs. */
#ifndef DLC_SCHEMA_H
#define DLC_SCHEMA_H

#include "dlc/flatbuf.h"

/* Every stream of the zip: u16 magic, u16 major, u16 minor, u16 patch; then the flatbuffer, whose bytes 4 … 7 identify
 * it. */
#define STREAM_MAGIC 0x0AD5
#define STREAM_HEADER 8
#define ID_MODEL "NETD"
#define ID_PARAMS "NETP"
#define ID_BUFFERS "NR64"

#define NO_ENCODING 0x7FFFFFFFu  /* quantization encoding: none. 0 is scale and offset, so it must be said */
#define STRING_DTYPE 0x7FFFFFFFu /* dtype of string scalars up to release 2.20; later 0x0608 */
#define NATIVE_PACKAGE "qti.aisw"
#define PACKAGE_ATTRIBUTE "packageName"

enum dlc_tensor_kind { KIND_APP_WRITE, KIND_APP_READ, KIND_APP_READWRITE, KIND_NATIVE, KIND_STATIC, KIND_NULL };
enum dlc_usage { USAGE_PARAM = 1, USAGE_SUPPLEMENTAL = 2 };

/* ---- version 4 ---- */
enum { NETWORK_GRAPHS };
enum { GRAPH_NAME, GRAPH_OPS, GRAPH_TENSORS, GRAPH_NAME2 = 4 };
enum { OP_NAME, OP_TYPE, OP_INPUTS, OP_OUTPUTS, OP_ATTRIBUTES };
enum { ATTR_NAME, ATTR_KIND, ATTR_USAGE, ATTR_SCALAR, ATTR_TENSOR };
enum { SCALAR_DTYPE, SCALAR_INT, SCALAR_FLOAT, SCALAR_STRING };
enum {
    TENSOR_ID,
    TENSOR_NAME,
    TENSOR_KIND,
    TENSOR_DIMS,
    TENSOR_AXIS_FORMAT,
    TENSOR_QUANT,
    TENSOR_DTYPE,
    TENSOR_SOURCE_DTYPE,
    TENSOR_QUANTIZABLE
};
enum { QUANT_ENCODING, QUANT_OVERRIDDEN, QUANT_SCALE_OFFSET, QUANT_AXIS };
enum { FXP_BITWIDTH, FXP_MIN, FXP_MAX, FXP_SCALE, FXP_OFFSET, FXP_SYMMETRIC };
enum { AXIS_FXP_AXIS, AXIS_FXP_ENCODINGS };
enum { NR64_BUFFERS, NR64_PARAMS };
enum { BUFFER_OFFSET };
enum { PARAMS_GRAPHS };
enum { GRAPH_PARAMS_NAME, GRAPH_PARAMS_TENSORS, GRAPH_PARAMS_OPS };
enum { OP_PARAMS_TENSORS };
enum { DATA_NAME, DATA_BYTES, DATA_INDEX, DATA_POSITION };
enum { POSITION_OFFSET, POSITION_SIZE };

extern const struct fb_type v4_network, v4_params, v4_buffers;
/* The same without what their long lists lead to, and the tables in these: for walking a table at a time. */
extern const struct fb_type v4_network_outline, v4_params_outline, v4_buffers_outline;
extern const struct fb_type v4_op, v4_tensor, v4_data, v4_op_params, v4_buffer;

/* ---- version 3 ---- */
enum { NETWORK3_NAME, NETWORK3_LAYERS, NETWORK3_ARGS = 4 };
enum { LAYER_ID, LAYER_NAME, LAYER_TYPE, LAYER_INPUTS, LAYER_OUTPUTS, LAYER_ARGS };
enum {
    ARG_NAME,
    ARG_TYPE,
    ARG_BOOL,
    ARG_INT,
    ARG_UINT,
    ARG_FLOAT,
    ARG_STRING,
    ARG_BYTES,
    ARG_INTS,
    ARG_UINTS,
    ARG_FLOATS,
    ARG_STRINGS,
    ARG_NESTED
};
enum arg_type {
    ARG_IS_BOOL = 1,
    ARG_IS_INT,
    ARG_IS_UINT,
    ARG_IS_FLOAT,
    ARG_IS_STRING,
    ARG_IS_BYTES,
    ARG_IS_INTS,
    ARG_IS_UINTS,
    ARG_IS_FLOATS,
    ARG_IS_STRINGS,
    ARG_IS_NESTED
};
enum { PARAMS3_LAYERS };
enum { LAYER_PARAM_NAME, LAYER_PARAM_TENSORS };
enum { TENSOR3_NAME, TENSOR3_DIMS, TENSOR3_DATA, TENSOR3_ARGS };
enum { DATA3_TYPE, DATA3_BYTES, DATA3_FLOATS };

extern const struct fb_type v3_network, v3_params;

#endif
