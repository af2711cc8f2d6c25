/* SPDX-License-Identifier: Apache-2.0 */
/* --custom_io: the layouts and types that a user's graph inputs and outputs have, where they are not the model's. */
#ifndef CONVERTERS_DRIVER_CUSTOM_IO_H
#define CONVERTERS_DRIVER_CUSTOM_IO_H

#include "base/map.h"
#include "converters/driver/lowering.h"
#include "text/json.h"

struct custom_entry {
    const char *name; /* as the graph has it */
    const struct json_value *place;
    const char *model, *custom;       /* layouts, a letter an axis; NULL: the model's */
    enum dtype source, dtype;         /* the model's, and the user's; DT_NONE: not given */
    const struct json_value *encoded; /* where scale and offset stand; NULL: they are not given */
    double scale, offset;             /* real = (integer + offset) · scale */
};

struct custom_io {
    struct json *file; /* NULL: none is given */
    VEC(struct custom_entry) entries;
    struct map names; /* of the entries, as the graph has them → place in the list */
};

/* Reads the file, a list of tensors or the vendor's configuration of inputs and outputs (docs/custom-io.md). All that
 * is wrong with the file is reported: ODLC_ERR_INVALID, ODLC_ERR_UNSUPPORTED. */
odlc_status read_custom_io(const struct context *c, struct custom_io *out) MUST_USE;

/* Makes the lowered graph's inputs and outputs what the file says. All entries that do not fit are reported. */
odlc_status apply_custom_io(const struct lowering *all, const struct custom_io *io) MUST_USE;

#endif
