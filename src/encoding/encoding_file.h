/* SPDX-License-Identifier: Apache-2.0 */
/* Files of encodings, JSON: what quantizers of models (AIMET, and whoever writes its forms) give for the tensors of a
 * model. Known are those without a version to 0.6.1 (objects by tensor), 1.0.0 (lists of named objects) and 2.0.0 (one
 * list, by ONNX's rules). */
#ifndef ENCODING_ENCODING_FILE_H
#define ENCODING_ENCODING_FILE_H

#include "ir/graph.h"
#include "text/json.h"

enum encoding_kind {
    ENCODING_INTEGERS, /* of a scale and an offset */
    ENCODING_WIDTH,    /* of `bits`, whose range is to be found by who quantizes */
    ENCODING_FLOAT,    /* the tensor stays, or becomes, a float of `bits` */
};

#define ENCODING_NO_AXIS INT32_MIN

/* What the file says of one tensor. */
struct encoding_entry {
    const char *name;
    const struct json_value *place;
    enum encoding_kind kind;
    uint32_t bits;
    uint32_t count; /* of encodings: 1, or one per index of an axis; 0 but for ENCODING_INTEGERS */
    bool per_channel;
    int32_t axis; /* of the model's tensor, as the file counts, from the end if negative; ENCODING_NO_AXIS: not said */
    const struct encoding *encodings;
    bool zero_range; /* a range is that of zero alone, before it was widened to the least one */
};

struct encoding_file {
    struct json *json;                  /* reports at places of entries */
    VEC(struct encoding_entry) entries; /* a name has one */
    VEC(const char *) excluded;         /* names of layers that stay float */
};

/* Reads a file; all that is wrong in it is reported. ODLC_ERR_INVALID: an error in the text, or an encoding that is
 * none; ODLC_ERR_UNSUPPORTED: blocks, or a width that containers do not have; ODLC_ERR_LIMIT: more than
 * SOURCE_MAX_BYTES; and as file_map. */
odlc_status encoding_file_read(struct arena *arena, struct diags *diags, const char *path,
                               struct encoding_file **out) MUST_USE;

#endif
