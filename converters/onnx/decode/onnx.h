/* Reading ONNX models into the framework graph. Accepts IR versions 1 to 13 and opsets 1 to 28 of the default domain;
 * newer ones are read as far as they are alike, with a warning. */
#ifndef CONVERTERS_ONNX_DECODE_ONNX_H
#define CONVERTERS_ONNX_DECODE_ONNX_H

#include "converters/frontend/frontend.h"

/* How a model is to be read. */
struct onnx_reading {
    /* Which local functions stay calls instead of being inlined (because a user-defined operation claims them); NULL:
     * none. */
    bool (*claims)(void *user, const char *op_type, const char *domain);
    void *user;
    bool follow_links; /* out of the model's folder (model_folder.h) */
};

/* Reads the model at path; all local functions are inlined. Problems of one kind are all reported in one run. */
odlc_status onnx_load(const struct fw_memory *memory, struct diags *diags, const char *path,
                      struct fw_model **out) MUST_USE;

/* The same for a file that is mapped already. `how` may be NULL. The file must stay mapped while the model is used. */
odlc_status onnx_load_file(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                           const struct onnx_reading *how, struct fw_model **out) MUST_USE;

/* Reads a file that holds one tensor (a serialized TensorProto), as the ONNX project stores test data. It must stay
 * mapped while the tensor is used. */
odlc_status onnx_load_tensor(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                             struct fw_tensor *out) MUST_USE;

/* The default that the specification gives an attribute of a default-domain operator at that opset version; false when
 * there is none. Integers come as DT_INT64, floats as DT_FLOAT32, lists as tensors of rank 1. */
bool onnx_schema_default(const char *op_type, int64_t version, const char *attr, struct param *out);
/* Whether the attribute, an integer, is 0 or 1 by the specification. */
bool onnx_is_flag(const char *op_type, int64_t version, const char *attr);

#endif
