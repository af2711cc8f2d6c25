/* SPDX-License-Identifier: Apache-2.0 */
/* libopendlc-plugin.so, which has the functions that plugin packages leave undefined. */
#ifndef PACKAGE_PLUGIN_HOST_H
#define PACKAGE_PLUGIN_HOST_H

#include "base/diag.h"
#include "package/plugin_registrar.h"

/* Loads the library for the whole process, so that packages which are loaded later find its functions; it stays. Looked
 * for beside this code's own file, then where it is installed, then as the loader does. ODLC_ERR_IO, with a diagnostic
 * about `package`, where it cannot be had. Any thread may call this. */
odlc_status plugin_host_load(struct arena *arena, struct diags *diags, const char *package) MUST_USE;

/* The library's function that says who registers; NULL: the library is not loaded, or is another one. */
set_plugin_registrar_fn *plugin_host_registrar(void);

#endif
