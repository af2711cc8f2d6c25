/* SPDX-License-Identifier: Apache-2.0 */
/* The whole road from a model to a container. */
#ifndef CONVERTERS_DRIVER_CONVERT_MODEL_H
#define CONVERTERS_DRIVER_CONVERT_MODEL_H

#include "converters/frontend/frontend.h"
#include "opendlc/convert.h"

/* What odlc_convert does; frontend: NULL for a framework that there is none for (ODLC_ERR_USAGE). *out owns what is
 * reported, also of a conversion that fails, and is given back by odlc_conversion_free; NULL with ODLC_ERR_NOMEM. */
odlc_status convert_model(const struct frontend *frontend, const struct odlc_convert_options *options,
                          struct odlc_conversion **out) MUST_USE;

#endif
