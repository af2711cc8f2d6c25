/* SPDX-License-Identifier: Apache-2.0 */
/* What comes of a conversion beside its container and its diagnostics. */
#ifndef CONVERTERS_DRIVER_OUTCOME_H
#define CONVERTERS_DRIVER_OUTCOME_H

#include "base/file.h"
#include "opendlc/convert.h"

struct outcome {
    struct odlc_conversion_summary summary;
    const char *udo_stub;     /* the config to start from (udo_template.h), or NULL */
    const char *target_stub;  /* the config for what targets' lists lack (target_lists.h), or NULL */
    const char *dumped;       /* the graph after the pass that the options name, or NULL */
    struct out_file *depfile; /* written, not yet under its name; NULL: none is wanted */
};

#endif
