/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/input_layout.h"

#include <string.h>

#include "base/map.h"

/* N batch, C channels, D depth, H height, W width, F features, T time. No axis format is known for volumes, time and
 * the channels of a matrix. */
static const struct input_layout layouts[] = {
    {"NCHW", 4, ORDER_CHANNELS_FIRST, AXIS_FORMAT_NCHW},
    {"NHWC", 4, ORDER_CHANNELS_LAST, AXIS_FORMAT_NHWC},
    {"NCF", 3, ORDER_CHANNELS_FIRST, AXIS_FORMAT_NCF},
    {"NFC", 3, ORDER_CHANNELS_LAST, AXIS_FORMAT_NFC},
    {"NCDHW", 5, ORDER_CHANNELS_FIRST, AXIS_FORMAT_NONTRIVIAL},
    {"NDHWC", 5, ORDER_CHANNELS_LAST, AXIS_FORMAT_NONTRIVIAL},
    {"NTF", 3, ORDER_OTHER, AXIS_FORMAT_NONTRIVIAL},
    {"TNF", 3, ORDER_OTHER, AXIS_FORMAT_NONTRIVIAL},
    {"NF", 2, ORDER_OTHER, AXIS_FORMAT_NF},
    {"NC", 2, ORDER_OTHER, AXIS_FORMAT_NF},
    {"F", 1, ORDER_OTHER, AXIS_FORMAT_ANY},
    {"NONTRIVIAL", 0, ORDER_OTHER, AXIS_FORMAT_NONTRIVIAL},
};

const struct input_layout *input_layout_at(uint32_t index)
{
    return index < COUNT_OF(layouts) ? &layouts[index] : NULL;
}

uint32_t input_layout_find(const char *name)
{
    for (uint32_t i = 0; i < COUNT_OF(layouts); i++)
        if (strcmp(layouts[i].name, name) == 0)
            return i;
    return MAP_NONE;
}
