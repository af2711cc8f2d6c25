/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX models are changed along their schema, because other bytes seldom get past the decoder. */
#include "base/base.h"
#include "engine.h"
#include "mutate_wire.h"
#include "onnx.pb-c.h"

#define ONNX_ROW(domain, op, ...) op,
static const char *const ops[] = {
#include "converters/onnx/lower/onnx_rows.def"
    "MyScale", "MySplit", "SoftClamp", "Constant"};

/* Many operators' attributes have no default; those that have one are likelier the more operators share them. */
#define ONNX_DEFAULT(op, attribute, ...) attribute,
static const char *const attributes[] = {
#include "converters/onnx/schema/onnx_schema_defaults.def"
    "activation_alpha",
    "activation_beta",
    "activations",
    "axes",
    "axis",
    "blocksize",
    "body",
    "clip",
    "dilations",
    "direction",
    "dtype",
    "else_branch",
    "end",
    "equation",
    "group",
    "hidden_size",
    "k_outputs",
    "kernel_shape",
    "ngram_indexes",
    "num_heads",
    "num_outputs",
    "num_scan_inputs",
    "output_dtype",
    "output_padding",
    "output_shape",
    "pads",
    "perm",
    "pool_int64s",
    "scales",
    "scan_input_axes",
    "scan_input_directions",
    "scan_output_axes",
    "scan_output_directions",
    "shape",
    "size",
    "sizes",
    "sparse_value",
    "split",
    "starts",
    "strides",
    "then_branch",
    "to",
    "value",
    "value_float",
    "value_floats",
    "value_int",
    "value_ints",
    "value_string",
    "value_strings"};

static const char *const domains[] = {
    "", "ai.onnx", "ai.onnx.ml", "ai.onnx.preview", "com.example", "com.microsoft", "fuzz", "ai.onnx.preview.training"};
static const char *const texts[] = {"SAME_UPPER",
                                    "SAME_LOWER",
                                    "VALID",
                                    "NOTSET",
                                    "constant",
                                    "reflect",
                                    "edge",
                                    "wrap",
                                    "nearest",
                                    "linear",
                                    "cubic",
                                    "forward",
                                    "reverse",
                                    "bidirectional",
                                    "Sigmoid",
                                    "Tanh",
                                    "Relu",
                                    "ij,jk->ik",
                                    "...ij,...j",
                                    "mean",
                                    "sum",
                                    "none",
                                    "add",
                                    "mul",
                                    "max",
                                    "min",
                                    "RIGHT",
                                    "LEFT",
                                    "half_pixel",
                                    "asymmetric",
                                    "align_corners",
                                    "tf_crop_and_resize",
                                    "round_prefer_floor",
                                    "DCR",
                                    "CRD",
                                    "TFIDF",
                                    "IDF",
                                    "TF"};
static const char *const keys[] = {"location", "offset", "length", "checksum"};

static const struct wire_words words[] = {{"NodeProto.op_type", ops, COUNT_OF(ops)},
                                          {"AttributeProto.name", attributes, COUNT_OF(attributes)},
                                          {"AttributeProto.ref_attr_name", attributes, COUNT_OF(attributes)},
                                          {"FunctionProto.attribute", attributes, COUNT_OF(attributes)},
                                          {"AttributeProto.s", texts, COUNT_OF(texts)},
                                          {"AttributeProto.strings", texts, COUNT_OF(texts)},
                                          {"NodeProto.domain", domains, COUNT_OF(domains)},
                                          {"OperatorSetIdProto.domain", domains, COUNT_OF(domains)},
                                          {"StringStringEntryProto.key", keys, COUNT_OF(keys)}};
static const struct wire_language onnx = {&onnx__model_proto__descriptor, words, COUNT_OF(words)};

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
    return seed % 16 ? mutate_wire(bytes, size, max_size, seed, &onnx) : LLVMFuzzerMutate(bytes, size, max_size);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *bytes, size_t size, const uint8_t *others, size_t others_size,
                                 uint8_t *out, size_t max_size, unsigned seed)
{
    return cross_wire(bytes, size, others, others_size, out, max_size, seed, &onnx);
}
