/* SPDX-License-Identifier: Apache-2.0 */
/* The error for a name in an option that the model does not have. */
#ifndef CONVERTERS_FRONTEND_UNKNOWN_NAME_H
#define CONVERTERS_FRONTEND_UNKNOWN_NAME_H

#include "base/diag.h"

struct unknown_name {
    odlc_status status; /* ODLC_OK: wrong usage */
    const char *code, *message, *name;
    const char *const *known;
    size_t n_known;
    const char *listed_as; /* what the known ones are: "graph inputs" */
};

/* The hint has the nearest of the known names, and lists at most 20 of them. Gives u->status, or ODLC_ERR_USAGE. */
odlc_status unknown_name(struct diags *diags, const char *path, const struct unknown_name *u) MUST_USE;

#endif
