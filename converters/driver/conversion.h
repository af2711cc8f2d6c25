/* SPDX-License-Identifier: Apache-2.0 */
/* A conversion as a whole: the parts that its stages fill one after the other. */
#ifndef CONVERTERS_DRIVER_CONVERSION_H
#define CONVERTERS_DRIVER_CONVERSION_H

#include "converters/driver/check_support.h"
#include "converters/driver/custom_io.h"
#include "converters/driver/lowering.h"
#include "converters/driver/outcome.h"
#include "converters/driver/overrides.h"

/* Lives in its own arena, shared.arena. */
struct odlc_conversion {
    struct context shared; /* points to the following four */
    struct diags diags;
    struct arena_budget memory; /* of the three arenas together */
    struct progress progress;
    enum odlc_stage stage;
    struct udo_set udos;
    struct input input;
    struct support support;
    struct odlc_op_report **op_reports; /* per note of the survey; *op_reports is NULL until they are asked for */
    struct lowering lowering;
    struct overrides overrides;
    struct custom_io custom_io;
    struct outcome outcome;
    struct file *container; /* in memory; NULL: none is */
};

#endif
