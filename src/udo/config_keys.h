/* SPDX-License-Identifier: Apache-2.0 */
/* What JSON configs are made of, as tables: for the reader, and for the schema that editors take. */
#ifndef UDO_CONFIG_KEYS_H
#define UDO_CONFIG_KEYS_H

#include <stdio.h>

#include "base/base.h"

/* The objects of a config; those of tensors are the roles that they have. */
enum config_object { CONFIG_INPUT, CONFIG_OUTPUT, CONFIG_PARAM, CONFIG_SCALAR, CONFIG_OPERATOR, CONFIG_PACKAGE };

/* What stands at a key. */
enum config_form {
    FORM_ANYTHING,
    FORM_NOTHING, /* an error */
    FORM_NAME,    /* a string that is not empty */
    FORM_TEXT,
    FORM_FLAG,
    FORM_UNSET, /* false */
    FORM_TYPE,
    FORM_TYPES, /* an object: a type for each core */
    FORM_LAYOUT,
    FORM_MODE,
    FORM_VALUE, /* a number, a truth value, a string, or nested lists of these */
    FORM_ONE_VALUE,
    FORM_SHAPE,
    FORM_CORES,
    FORM_ARCHS,
    FORM_OPERATORS,
    FORM_INPUTS,
    FORM_OUTPUTS,
    FORM_PARAMS,
    FORM_SCALARS
};

struct config_key {
    enum config_object object;
    const char *name;
    enum config_form form;
    bool required;
    const char *text; /* what it means, for people */
};

extern const struct config_key config_keys[];
extern const size_t config_n_keys;

/* The guide's types, those that published configs use beside them, and frameworks' types of 64 bits. */
extern const char *const config_types[];
extern const size_t config_n_types;
enum { CONFIG_LAYOUTS = 2, CONFIG_MODES = 2 };
extern const char *const config_layouts[CONFIG_LAYOUTS], *const config_modes[CONFIG_MODES];

/* The JSON Schema (draft 7) of configs. What depends on several places at once (names that repeat, inputs that rules
 * name) it does not know, nor what is only a warning. */
void config_write_schema(FILE *stream);

#endif
