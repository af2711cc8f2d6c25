/* SPDX-License-Identifier: Apache-2.0 */
/* Reading JSON configs: what the reader's files share. No function gives a status: each reports all errors that it
 * finds in the text, whose source counts them, and fills in something harmless, so that reading goes on. */
#ifndef UDO_CONFIG_H
#define UDO_CONFIG_H

#include "text/json.h"
#include "udo/config_keys.h"
#include "udo/udo.h"

struct config {
    struct udo_set *set;
    struct arena *arena;
    struct json *json;
};

/* ---- members of objects ---- */
struct udo_place config_place(const struct config *c, const struct json_value *item);
/* False, with an error, when item is not an object. `what` names it: "an input". */
bool config_is_object(const struct config *c, const struct json_value *item, const char *what);
/* Warns about keys that such an object does not have. */
void config_check_keys(const struct config *c, const struct json_value *item, enum config_object object);
/* The member of that key, a non-empty string; NULL: it is absent (an error if required) or something else (an error).
 */
const char *config_string(const struct config *c, const struct json_value *object, const char *key, bool required);
bool config_bool(const struct config *c, const struct json_value *object, const char *key);
/* The index of a string among words, or -1 with an error that names `what`. */
int config_word(const struct config *c, const struct json_value *item, const char *const *words, size_t count,
                const char *what);
/* The core of a name, or -1 with an error at the value, or at the key of that name. */
int config_core(const struct config *c, const struct json_value *item, bool is_key);

/* ---- tensors and scalars (config_tensor.c) ---- */
void config_read_tensor(const struct config *c, const struct json_value *item, enum config_object role,
                        uint32_t n_inputs, struct udo_tensor *out);
void config_read_scalar(const struct config *c, const struct json_value *item, struct udo_scalar *out);

/* ---- values (config_value.c) ---- */
/* A default_value in the type dtype (DT_NONE: FLOAT_32, INT_32 or STRING by what is written); NULL, with an error: the
 * text is no such value. For tensors a scalar becomes one element. */
const struct param *config_read_value(const struct config *c, const struct json_value *item, enum dtype dtype,
                                      bool is_tensor);
/* Reads the shape rule of an output. */
void config_read_shape(const struct config *c, const struct json_value *item, uint32_t n_inputs,
                       struct udo_tensor *out);

#endif
