/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/callback.h"

#include <string.h>

#include "base/foreign.h"
#include "package/log_sink.h"

void callback_begin(const QHPI_Op *op, const char *callback)
{
    struct plugin_graph *g = op->graph;
    const char *words = arena_printf(g->arena, "node '%s': %s of op %s, library %s,", op->label ? op->label : "",
                                     callback, op->name, op->package->library.path);
    g->callback = callback;
    g->misuse[0] = '\0';
    pthread_mutex_lock(&op->package->lock);
    log_sink_begin();
    foreign_begin(words);
}

odlc_status callback_end(const QHPI_Op *op)
{
    struct plugin_graph *g = op->graph;
    foreign_end();
    pthread_mutex_unlock(&op->package->lock);
    log_sink_end(g->diags, AT(.file = op->package->library.path, .node = op->label));
    if (g->exhausted)
        arena_exhausted(g->arena);
    if (g->misuse[0])
        return callback_error(op, g->callback, "plugin-misuse", NULL, "calls the host wrongly: %s", g->misuse);
    return ODLC_OK;
}

odlc_status callback_error(const QHPI_Op *op, const char *callback, const char *code, const char *hint,
                           const char *format, ...)
{
    struct plugin_graph *g = op->graph;
    va_list args;
    va_start(args, format);
    const char *words = arena_vprintf(g->arena, format, args);
    va_end(args);
    return diag_error(g->diags, ODLC_ERR_INVALID,
                      AT(.file = op->package ? op->package->library.path : NULL, .node = op->label, .hint = hint), code,
                      "%s%sop %s %s", callback ? callback : "", callback ? " of " : "", op->name, words);
}

odlc_status callback_impure(const QHPI_Op *op, const char *callback)
{
    return callback_error(op, callback, "plugin-not-pure", "answers must depend on nothing but the arguments",
                          "gives another answer when it is called again");
}
