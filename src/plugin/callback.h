/* SPDX-License-Identifier: Apache-2.0 */
/* Calls into a package while a graph is prepared: what goes wrong there names library, op and callback. */
#ifndef PLUGIN_CALLBACK_H
#define PLUGIN_CALLBACK_H

#include "plugin/plugin_graph.h"

/* Around a call of one of the op's functions; `callback` is what qhpi.h calls it. Calls do not nest. */
void callback_begin(const QHPI_Op *op, const char *callback);
/* ODLC_ERR_INVALID: the callback called the host wrongly, which is reported. */
odlc_status callback_end(const QHPI_Op *op) MUST_USE;

/* An error at the op's library and node: "CALLBACK of op NAME …". callback NULL: "op NAME …". */
odlc_status callback_error(const QHPI_Op *op, const char *callback, const char *code, const char *hint,
                           const char *format, ...) PRINTF_LIKE(5, 6);

/* The error of a callback that gave another answer when it was called again. */
odlc_status callback_impure(const QHPI_Op *op, const char *callback);

#endif
