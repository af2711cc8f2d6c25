/* SPDX-License-Identifier: Apache-2.0 */
/* What a converter did, as JSON: docs/conversion.schema.json. */
#ifndef TOOLS_CONVERT_JSON_H
#define TOOLS_CONVERT_JSON_H

#include <stdio.h>

#include "opendlc/convert.h"
#include "base/base.h"

/* Prints an object: of a dry run with every op of the model, of a conversion with the container. ODLC_ERR_NOMEM: there
 * is no memory for the list of ops; nothing is printed then. */
odlc_status convert_print_json(FILE *stream, const struct odlc_conversion *conversion,
                               const struct odlc_convert_options *options, bool converts) MUST_USE;

#endif
