/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of quantized tensors, as text and as JSON. */
#ifndef TOOLS_ERROR_OUT_H
#define TOOLS_ERROR_OUT_H

#include "base/arena.h"
#include "quantize/quant_error.h"
#include "text/json_out.h"

/* "31.4", "exact", "-inf"; "" where nothing was compared. */
const char *error_decibels(struct arena *arena, const struct quant_error *e);
/* An object of docs/quantize-report-json.md; nothing where nothing was compared. */
void error_json(struct json_out *j, const char *key, const struct quant_error *e);

#endif
