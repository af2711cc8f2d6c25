/* SPDX-License-Identifier: Apache-2.0 */
/* The UDO config that a user can start from: one definition for each domain and operator that nothing can convert, with
 * what all nodes of the operator show of inputs, outputs and attributes. What only the author of the operator knows is
 * left to fill in. */
#ifndef CONVERTERS_DRIVER_UDO_TEMPLATE_H
#define CONVERTERS_DRIVER_UDO_TEMPLATE_H

#include "converters/driver/check_support.h"

/* The config as JSON text; NULL when no UDO could help. */
const char *write_udo_template(const struct context *c, struct input *in, const struct support *support);

#endif
