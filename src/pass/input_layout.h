/* SPDX-License-Identifier: Apache-2.0 */
/* The layouts that --input_layout knows. */
#ifndef PASS_INPUT_LAYOUT_H
#define PASS_INPUT_LAYOUT_H

#include "op/layout.h"

struct input_layout {
    const char *name;
    uint8_t rank;          /* of the inputs that may have the layout; 0: of any */
    enum axis_order order; /* of the model's tensor: a channels-first one is stored channels-last */
    uint8_t axis_format;   /* of an input that is stored in the model's own order */
};

/* NULL past the end. */
const struct input_layout *input_layout_at(uint32_t index);
/* The index of the layout of that name, or MAP_NONE. */
uint32_t input_layout_find(const char *name);

#endif
