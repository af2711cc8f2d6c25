/* SPDX-License-Identifier: Apache-2.0 */
/* Reading descriptions of user-defined ops (UDO configs) and listing what they define.
 *
 *     odlc_udo *u = odlc_udo_new();
 *     if (odlc_udo_load(u, "ops.json") != ODLC_OK)
 *         … odlc_udo_diags(u, &count) says what is wrong, all of it, and where …
 *     size_t n;
 *     const struct odlc_udo_definition *definitions = odlc_udo_definitions(u, &n);
 *     odlc_udo_free(u);
 *
 * Everything that is handed out belongs to the object and stays until the next odlc_udo_load or odlc_udo_free. An
 * object may be used by one thread at a time, several objects by as many threads; loaded files must not change
 * meanwhile. After ODLC_ERR_NOMEM an object is fit for odlc_udo_free only. */
#ifndef OPENDLC_UDO_H
#define OPENDLC_UDO_H

#include "opendlc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct odlc_udo odlc_udo;

/* An input, an output or a tensor param, or a scalar param. */
struct odlc_udo_operand {
    const char *name;      /* NULL: not given */
    const char *data_type; /* "FLOAT_32", what data and activations take; NULL: not given */
    const char *layout;    /* "NHWC", "NCHW"; NULL: not given */
    int is_static, is_optional, is_repeated, has_default, has_shape; /* has_shape: an output's rule */
};

struct odlc_udo_definition {
    const char *package, *type;
    const char *domain;  /* NULL: any */
    int replaces_native; /* the type names a native op, which it replaces after the translation */
    const char *file;
    uint32_t line, column;
    const char *core_types;     /* "CPU,DSP"; NULL: not given */
    const char *dsp_arch_types; /* "v68,v73"; NULL: not given */
    size_t n_inputs, n_outputs, n_scalar_params, n_tensor_params;
    const struct odlc_udo_operand *inputs, *outputs, *scalar_params, *tensor_params;
};

/* An object without definitions, which belongs to the caller; NULL when memory runs out. */
ODLC_API odlc_udo *odlc_udo_new(void);
/* NULL is allowed. */
ODLC_API void odlc_udo_free(odlc_udo *udo);

/* Adds the definitions of a config, JSON or XML. All errors of the file are reported in one go; definitions without
 * errors are added even when others have some. ODLC_ERR_IO: the file cannot be read. ODLC_ERR_INVALID: a definition has
 * errors, or the file is neither JSON nor XML. ODLC_ERR_LIMIT: larger than docs/limits.md allows. */
ODLC_API odlc_status odlc_udo_load(odlc_udo *udo, const char *path) ODLC_MUST_USE;

/* The same for a config in memory, whose bytes must not change before odlc_udo_free. */
ODLC_API odlc_status odlc_udo_load_bytes(odlc_udo *udo, const struct odlc_bytes *bytes) ODLC_MUST_USE;

enum odlc_udo_form { ODLC_UDO_JSON, ODLC_UDO_XML };

/* Writes all definitions that were added as one config. Parts of a definition that the form has no words for are
 * reported: as warnings where the definition still means the same without them, and else as errors, all in one go and
 * without a file. Descriptions and comments were never kept. ODLC_ERR_UNSUPPORTED: the form cannot say a definition.
 * ODLC_ERR_INVALID: there is no definition. ODLC_ERR_USAGE: the path is empty.
 * ODLC_ERR_IO: the file cannot be written. */
ODLC_API odlc_status odlc_udo_write(odlc_udo *udo, enum odlc_udo_form form, const char *path) ODLC_MUST_USE;

/* All definitions, in the order of the files. */
ODLC_API const struct odlc_udo_definition *odlc_udo_definitions(const odlc_udo *udo, size_t *count);

/* All diagnostics so far, oldest first, warnings included. */
ODLC_API const struct odlc_diag *odlc_udo_diags(const odlc_udo *udo, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
