/* SPDX-License-Identifier: Apache-2.0 */
/* Element types of the model's values as far as the model tells them: by what it declares, by what its operators give,
 * and by what the readers of a value take. Asked for nodes that nothing but a UDO's definition describes. */
#ifndef CONVERTERS_DRIVER_VALUE_TYPES_H
#define CONVERTERS_DRIVER_VALUE_TYPES_H

#include "converters/driver/input.h"
#include "udo/udo.h"

/* The first of these calls looks at the whole model and keeps what it finds in in->types. */

/* The type by what declares or gives the value, or DT_NONE. */
enum dtype given_type(const struct context *c, struct input *in, fw_name name);
/* What readers of the value take, and what attributes of its node suggest. */
struct udo_demand demand_for(const struct context *c, struct input *in, fw_name name);
/* The most likely type by all of that, or DT_NONE. */
enum dtype known_type(const struct context *c, struct input *in, fw_name name);

#endif
