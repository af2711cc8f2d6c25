/* SPDX-License-Identifier: Apache-2.0 */
/* One decoding at work: what all files of the ONNX decoder are handed, and how they report errors. */
#ifndef CONVERTERS_ONNX_DECODE_ONNX_DECODE_H
#define CONVERTERS_ONNX_DECODE_ONNX_DECODE_H

#include "converters/frontend/names.h"
#include "converters/frontend/wire.h"
#include "converters/onnx/schema/onnx_fields.h"

/* Errors after this many are counted, not kept. */
#define DECODE_MAX_ERRORS 100

struct external;

/* An operator and what it goes by: the number of its imports, and those of the names of its type, domain and overload.
 */
enum { OP_PARTS = 4 };
struct recent_op {
    const struct fw_op *op; /* NULL: none */
    uint32_t parts[OP_PARTS];
};

struct decode {
    struct fw_memory memory;
    struct diags *diags;
    const struct file *file;
    struct external *external;
    struct fw_model *model;
    struct fw_names names;
    struct map ops;              /* domain, type and overload, in one list of opsets → model->ops */
    struct recent_op recent[64]; /* by parts: most nodes' operators, without a look into ops */
    uint32_t n_opsets;           /* lists of imports read so far */
    odlc_status status;          /* of the first error */
    size_t unreported;           /* errors beyond DECODE_MAX_ERRORS */
    bool in_function;            /* a function's body is being decoded */
    bool warned_opset;           /* the one warning about newer opsets was given */
    bool missed_opset;           /* the one error about the missing default domain was given */
};

/* A place in the model that is being decoded:  AT(IN_MODEL(d), .node = name) */
#define IN_MODEL(d) .file = (d)->file->path

/* Reports an error and goes on; the decoding as a whole then fails with the status of its first error. Returns status.
 */
odlc_status decode_error(struct decode *d, odlc_status status, const struct odlc_diag *place, const char *code,
                         const char *format, ...) PRINTF_LIKE(5, 6);
/* Takes note of an error that was reported already, by a function of another room. Returns status. */
odlc_status decode_failed(struct decode *d, odlc_status status);

/* The text in a field: as a name, whose text is kept once however often the name occurs; and as a text of its own. */
fw_name decode_name(struct decode *d, const struct wire_field *f);
const char *decode_text(struct decode *d, const struct wire_field *f);
/* The names in all fields of that number. */
const fw_name *decode_names(struct decode *d, const struct sections *s, uint32_t number);

#endif
