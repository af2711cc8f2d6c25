/* SPDX-License-Identifier: Apache-2.0 */
/* The ops of a plugin package: what it registers in qhpi_init, checked. */
#ifndef PACKAGE_PLUGIN_OPS_H
#define PACKAGE_PLUGIN_OPS_H

#include "package/library.h"
#include "sdk/QNN/HTP/core/qhpi.h"
#include "sdk/QNN/QnnOpPackage.h"

struct plugin_op {
    QHPI_OpInfo_v1 info; /* names, kernels, signatures and functions are the package's own memory */
    const char *type;    /* the name behind "<package>::" */
};

struct plugin_ops {
    struct plugin_op *list;
    size_t count;
};

#define PLUGIN_INIT "qhpi_init"

/* Whether the library is a plugin: it exports qhpi_init. */
bool plugin_is(const struct library *library);

/* Calls qhpi_init, and checks that what is registered can be used: all that is wrong is reported. ODLC_ERR_INVALID: a
 * name, a count or a function that does not go with the rest, or a registration that the package says failed. */
odlc_status plugin_register(struct arena *arena, struct diags *diags, const struct library *library,
                            const QnnOpPackage_Info_t *info, struct plugin_ops *out) MUST_USE;

/* The op of that type; NULL: the package has none. */
const struct plugin_op *plugin_find(const struct plugin_ops *ops, const char *type);

#endif
