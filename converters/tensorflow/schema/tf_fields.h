/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of TensorFlow's fields that are read (proto/tensorflow.proto has their types). */
#ifndef CONVERTERS_TENSORFLOW_SCHEMA_TF_FIELDS_H
#define CONVERTERS_TENSORFLOW_SCHEMA_TF_FIELDS_H

enum { GRAPH_NODE = 1, GRAPH_LIBRARY = 2, GRAPH_VERSIONS = 4 };

enum { VERSION_PRODUCER = 1 };

enum { NODE_NAME = 1, NODE_OP = 2, NODE_INPUT = 3, NODE_ATTR = 5 };

/* An entry of any map. */
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 };

/* AttrValue and, but for the first and the last, ListValue. */
enum {
    ATTR_LIST = 1,
    ATTR_S = 2,
    ATTR_I = 3,
    ATTR_F = 4,
    ATTR_B = 5,
    ATTR_TYPE = 6,
    ATTR_SHAPE = 7,
    ATTR_TENSOR = 8,
    ATTR_PLACEHOLDER = 9,
    ATTR_FUNC = 10,
    LIST_FUNC = 9
};

enum { FUNC_NAME = 1, FUNC_ATTR = 2 };

enum { SHAPE_DIM = 2, SHAPE_UNKNOWN_RANK = 3, DIM_SIZE = 1 };

enum {
    TENSOR_DTYPE = 1,
    TENSOR_SHAPE = 2,
    TENSOR_CONTENT = 4,
    TENSOR_FLOAT_VAL = 5,
    TENSOR_DOUBLE_VAL = 6,
    TENSOR_INT_VAL = 7,
    TENSOR_STRING_VAL = 8,
    TENSOR_SCOMPLEX_VAL = 9,
    TENSOR_INT64_VAL = 10,
    TENSOR_BOOL_VAL = 11,
    TENSOR_DCOMPLEX_VAL = 12,
    TENSOR_HALF_VAL = 13,
    TENSOR_UINT32_VAL = 16,
    TENSOR_UINT64_VAL = 17
};

enum { LIBRARY_FUNCTION = 1 };

enum { FUNCTION_SIGNATURE = 1, FUNCTION_NODE = 3, FUNCTION_RET = 4, FUNCTION_ARG_ATTR = 7, ARG_ATTRS_ATTR = 1 };

enum { OP_LIST_OP = 1 };

enum { OP_DEF_NAME = 1, OP_DEF_INPUT_ARG = 2, OP_DEF_OUTPUT_ARG = 3, OP_DEF_ATTR = 4 };

/* The definition of an attribute is an entry with its value in another field. */
enum { ATTR_DEF_DEFAULT = 3 };

enum { ARG_NAME = 1, ARG_TYPE = 3, ARG_TYPE_ATTR = 4, ARG_NUMBER_ATTR = 5, ARG_TYPE_LIST_ATTR = 6 };

enum { SAVED_MODEL_META_GRAPH = 2 };

enum { META_INFO = 1, META_GRAPH_DEF = 2, META_SAVER = 3, META_SIGNATURE = 5, META_OBJECTS = 7 };

enum { SAVED_OBJECT = 1, SAVED_CONCRETE = 2 };

enum { OBJECT_CHILD = 1, OBJECT_FUNCTION = 6, OBJECT_VARIABLE = 7, OBJECT_BARE_FUNCTION = 8, OBJECT_CONSTANT = 9 };

enum { CHILD_NODE = 1, CHILD_NAME = 2 };

/* The names that a function has where it is run, and of the node that a constant is. */
enum { FUNCTION_CONCRETE = 1, CONSTANT_OPERATION = 1, CONCRETE_BOUND = 2 };

enum { META_INFO_OPS = 2, META_INFO_TAG = 4 };

enum { SAVER_RESTORE_OP = 3 };

enum { SIGNATURE_INPUTS = 1, SIGNATURE_OUTPUTS = 2 };

enum { TENSOR_INFO_NAME = 1, TENSOR_INFO_DTYPE = 2, TENSOR_INFO_SHAPE = 3 };

enum { OBJECTS_NODE = 1, OBJECT_ATTRIBUTE = 2, SERIALIZED_FULL_NAME = 2, SERIALIZED_KEY = 3 };

#endif
