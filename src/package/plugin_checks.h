/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what a plugin registers can be used. */
#ifndef PACKAGE_PLUGIN_CHECKS_H
#define PACKAGE_PLUGIN_CHECKS_H

#include "package/plugin_ops.h"

enum { PLUGIN_MAX_OPS = 65536 };

/* name: what qhpi_init returned; packages: per op, who it was registered for. Fills in the ops' types. Reports all that
 * is wrong. */
odlc_status plugin_check(struct diags *diags, const struct library *library, const QnnOpPackage_Info_t *info,
                         const char *name, const char *const *packages, struct plugin_ops *ops) MUST_USE;

#endif
