/* SPDX-License-Identifier: Apache-2.0 */
#include "udo/config_keys.h"

const struct config_key config_keys[] = {
#define CONFIG_KEY(object, name, form, required, text) {CONFIG_##object, name, FORM_##form, required, text},
#include "udo/config_keys.def"
};
const size_t config_n_keys = COUNT_OF(config_keys);

const char *const config_types[] = {"FLOAT_16", "FLOAT_32", "FIXED_4", "FIXED_8", "FIXED_16", "UINT_8",
                                    "UINT_16",  "UINT_32",  "INT_8",   "INT_16",  "INT_32",   "BOOL_8",
                                    "STRING",   "INT_64",   "UINT_64", "FLOAT_64"};
const size_t config_n_types = COUNT_OF(config_types);

const char *const config_layouts[] = {"NHWC", "NCHW"};
const char *const config_modes[] = {"TF", "NONE"};
