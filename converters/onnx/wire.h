/* From the bytes of a model file to its message tree, without the tensors' bytes. */
#ifndef CONVERTERS_ONNX_WIRE_H
#define CONVERTERS_ONNX_WIRE_H

#include "base/file.h"
#include "base/reader.h"
#include "converters/onnx/onnx.pb-c.h"

/* Messages nest at most this deep (a graph in an attribute of a node takes three levels). */
#define WIRE_MAX_DEPTH 100

/* Unpacks the file. Elements of tensors are left in the file: each tensor's payload entries say where. The tree is the
 * arena's, and what payload entries say has been checked to lie within the file. */
odlc_status wire_unpack(struct arena *arena, struct diags *diags, const struct file *file,
                        Onnx__ModelProto **out) MUST_USE;
/* The same for a file that holds one tensor. */
odlc_status wire_unpack_tensor(struct arena *arena, struct diags *diags, const struct file *file,
                               Onnx__TensorProto **out) MUST_USE;

/* A base-128 varint; past the end or longer than 64 bits it fails the reader and gives 0. */
uint64_t read_varint(struct reader *r);

#endif
