#include "dlc/schema.h"

#define TYPE(table)            \
    {                          \
        table, COUNT_OF(table) \
    }

/* ---- version 4 ---- */

static const struct fb_field fxp_fields[] = {
    [FXP_BITWIDTH] = {FB_32, NULL}, [FXP_MIN] = {FB_32, NULL},    [FXP_MAX] = {FB_32, NULL},
    [FXP_SCALE] = {FB_32, NULL},    [FXP_OFFSET] = {FB_32, NULL}, [FXP_SYMMETRIC] = {FB_8, NULL},
};
static const struct fb_type fxp = TYPE(fxp_fields);

static const struct fb_field axis_fxp_fields[] = {
    [AXIS_FXP_AXIS] = {FB_32, NULL},
    [AXIS_FXP_ENCODINGS] = {FB_TABLES, &fxp},
};
static const struct fb_type axis_fxp = TYPE(axis_fxp_fields);

static const struct fb_field quant_fields[] = {
    [QUANT_ENCODING] = {FB_32, NULL},
    [QUANT_OVERRIDDEN] = {FB_8, NULL},
    [QUANT_SCALE_OFFSET] = {FB_TABLE, &fxp},
    [QUANT_AXIS] = {FB_TABLE, &axis_fxp},
};
static const struct fb_type quant = TYPE(quant_fields);

static const struct fb_field tensor_fields[] = {
    [TENSOR_ID] = {FB_32, NULL},      [TENSOR_NAME] = {FB_STRING, NULL},     [TENSOR_KIND] = {FB_32, NULL},
    [TENSOR_DIMS] = {FB_WORDS, NULL}, [TENSOR_AXIS_FORMAT] = {FB_32, NULL},  [TENSOR_QUANT] = {FB_TABLE, &quant},
    [TENSOR_DTYPE] = {FB_32, NULL},   [TENSOR_SOURCE_DTYPE] = {FB_32, NULL}, [TENSOR_QUANTIZABLE] = {FB_8, NULL},
};
const struct fb_type v4_tensor = TYPE(tensor_fields);

static const struct fb_field scalar_fields[] = {
    [SCALAR_DTYPE] = {FB_32, NULL},
    [SCALAR_INT] = {FB_64, NULL},
    [SCALAR_FLOAT] = {FB_64, NULL},
    [SCALAR_STRING] = {FB_STRING, NULL},
};
static const struct fb_type scalar = TYPE(scalar_fields);

static const struct fb_field attr_fields[] = {
    [ATTR_NAME] = {FB_STRING, NULL},
    [ATTR_KIND] = {FB_32, NULL},
    [ATTR_USAGE] = {FB_8, NULL},
    [ATTR_SCALAR] = {FB_TABLE, &scalar},
    [ATTR_TENSOR] = {FB_TABLE, &v4_tensor},
};
static const struct fb_type attr = TYPE(attr_fields);

static const struct fb_field op_fields[] = {
    [OP_NAME] = {FB_STRING, NULL},     [OP_TYPE] = {FB_STRING, NULL},        [OP_INPUTS] = {FB_STRINGS, NULL},
    [OP_OUTPUTS] = {FB_STRINGS, NULL}, [OP_ATTRIBUTES] = {FB_TABLES, &attr},
};
const struct fb_type v4_op = TYPE(op_fields);

static const struct fb_field graph_fields[] = {
    [GRAPH_NAME] = {FB_STRING, NULL},
    [GRAPH_OPS] = {FB_TABLES, &v4_op},
    [GRAPH_TENSORS] = {FB_TABLES, &v4_tensor},
    [GRAPH_NAME2] = {FB_STRING, NULL},
};
static const struct fb_type graph = TYPE(graph_fields);

static const struct fb_field network_fields[] = {[NETWORK_GRAPHS] = {FB_TABLES, &graph}};
const struct fb_type v4_network = TYPE(network_fields);

static const struct fb_field graph_outline_fields[] = {
    [GRAPH_NAME] = {FB_STRING, NULL},
    [GRAPH_OPS] = {FB_WORDS, NULL},
    [GRAPH_TENSORS] = {FB_WORDS, NULL},
    [GRAPH_NAME2] = {FB_STRING, NULL},
};
static const struct fb_type graph_outline = TYPE(graph_outline_fields);

static const struct fb_field network_outline_fields[] = {[NETWORK_GRAPHS] = {FB_TABLES, &graph_outline}};
const struct fb_type v4_network_outline = TYPE(network_outline_fields);

static const struct fb_field position_fields[] = {
    [POSITION_OFFSET] = {FB_64, NULL},
    [POSITION_SIZE] = {FB_64, NULL},
};
static const struct fb_type position = TYPE(position_fields);

static const struct fb_field data_fields[] = {
    [DATA_NAME] = {FB_STRING, NULL},
    [DATA_BYTES] = {FB_BYTES, FB_PAYLOAD},
    [DATA_INDEX] = {FB_64, NULL},
    [DATA_POSITION] = {FB_TABLE, &position},
};
const struct fb_type v4_data = TYPE(data_fields);

static const struct fb_field op_params_fields[] = {[OP_PARAMS_TENSORS] = {FB_TABLES, &v4_data}};
const struct fb_type v4_op_params = TYPE(op_params_fields);

static const struct fb_field graph_params_fields[] = {
    [GRAPH_PARAMS_NAME] = {FB_STRING, NULL},
    [GRAPH_PARAMS_TENSORS] = {FB_TABLES, &v4_data},
    [GRAPH_PARAMS_OPS] = {FB_TABLES, &v4_op_params},
};
static const struct fb_type graph_params = TYPE(graph_params_fields);

static const struct fb_field params_fields[] = {[PARAMS_GRAPHS] = {FB_TABLES, &graph_params}};
const struct fb_type v4_params = TYPE(params_fields);

static const struct fb_field graph_params_outline_fields[] = {
    [GRAPH_PARAMS_NAME] = {FB_STRING, NULL},
    [GRAPH_PARAMS_TENSORS] = {FB_WORDS, NULL},
    [GRAPH_PARAMS_OPS] = {FB_WORDS, NULL},
};
static const struct fb_type graph_params_outline = TYPE(graph_params_outline_fields);

static const struct fb_field params_outline_fields[] = {[PARAMS_GRAPHS] = {FB_TABLES, &graph_params_outline}};
const struct fb_type v4_params_outline = TYPE(params_outline_fields);

/* The 64-bit offset of a buffer is not one of flatbuffers' own kinds; the reader checks where it leads. */
static const struct fb_field buffer_fields[] = {[BUFFER_OFFSET] = {FB_64, NULL}};
const struct fb_type v4_buffer = TYPE(buffer_fields);

static const struct fb_field buffers_fields[] = {
    [NR64_BUFFERS] = {FB_TABLES, &v4_buffer}, [NR64_PARAMS] = {FB_BYTES, FB_PAYLOAD}, /* a buffer of its own, which has
                                                                                         weights in it, perhaps */
};
const struct fb_type v4_buffers = TYPE(buffers_fields);

static const struct fb_field buffers_outline_fields[] = {
    [NR64_BUFFERS] = {FB_WORDS, NULL},
    [NR64_PARAMS] = {FB_BYTES, NULL},
};
const struct fb_type v4_buffers_outline = TYPE(buffers_outline_fields);

/* ---- version 3 ---- */

static const struct fb_type arg;
static const struct fb_field arg_fields[] = {
    [ARG_NAME] = {FB_STRING, NULL},   [ARG_TYPE] = {FB_8, NULL},       [ARG_BOOL] = {FB_8, NULL},
    [ARG_INT] = {FB_32, NULL},        [ARG_UINT] = {FB_32, NULL},      [ARG_FLOAT] = {FB_32, NULL},
    [ARG_STRING] = {FB_STRING, NULL}, [ARG_BYTES] = {FB_BYTES, NULL},  [ARG_INTS] = {FB_WORDS, NULL},
    [ARG_UINTS] = {FB_WORDS, NULL},   [ARG_FLOATS] = {FB_WORDS, NULL}, [ARG_STRINGS] = {FB_STRINGS, NULL},
    [ARG_NESTED] = {FB_TABLES, &arg},
};
static const struct fb_type arg = TYPE(arg_fields);

static const struct fb_field layer_fields[] = {
    [LAYER_ID] = {FB_32, NULL},          [LAYER_NAME] = {FB_STRING, NULL},     [LAYER_TYPE] = {FB_STRING, NULL},
    [LAYER_INPUTS] = {FB_STRINGS, NULL}, [LAYER_OUTPUTS] = {FB_STRINGS, NULL}, [LAYER_ARGS] = {FB_TABLES, &arg},
};
static const struct fb_type layer = TYPE(layer_fields);

static const struct fb_field network3_fields[] = {
    [NETWORK3_NAME] = {FB_STRING, NULL},
    [NETWORK3_LAYERS] = {FB_TABLES, &layer},
    [NETWORK3_ARGS] = {FB_TABLES, &arg},
};
const struct fb_type v3_network = TYPE(network3_fields);

static const struct fb_field data3_fields[] = {
    [DATA3_TYPE] = {FB_8, NULL},
    [DATA3_BYTES] = {FB_BYTES, FB_PAYLOAD},
    [DATA3_FLOATS] = {FB_WORDS, FB_PAYLOAD},
};
static const struct fb_type data3 = TYPE(data3_fields);

static const struct fb_field tensor3_fields[] = {
    [TENSOR3_NAME] = {FB_STRING, NULL},
    [TENSOR3_DIMS] = {FB_WORDS, NULL},
    [TENSOR3_DATA] = {FB_TABLE, &data3},
    [TENSOR3_ARGS] = {FB_TABLES, &arg},
};
static const struct fb_type tensor3 = TYPE(tensor3_fields);

static const struct fb_field layer_param_fields[] = {
    [LAYER_PARAM_NAME] = {FB_STRING, NULL},
    [LAYER_PARAM_TENSORS] = {FB_TABLES, &tensor3},
};
static const struct fb_type layer_param = TYPE(layer_param_fields);

static const struct fb_field params3_fields[] = {[PARAMS3_LAYERS] = {FB_TABLES, &layer_param}};
const struct fb_type v3_params = TYPE(params3_fields);
