/* SPDX-License-Identifier: Apache-2.0 */
/* What foreign libraries log while they are called: kept in fixed memory during the call, since nothing may be
 * allocated or jumped out of behind their backs, and handed to the diagnostics afterwards. */
#ifndef PACKAGE_LOG_SINK_H
#define PACKAGE_LOG_SINK_H

#include "base/diag.h"
#include "sdk/QNN/QnnLog.h"

/* The function for logInitialize. Messages of threads that are in no call are dropped. */
void log_sink_callback(const char *format, QnnLog_Level_t level, uint64_t timestamp, va_list args);

/* Around a call by this thread; messages of the calls before are forgotten. */
void log_sink_begin(void);
/* Reports what was logged since: errors and warnings as warnings, the rest as notes. `place` names library and node. */
void log_sink_end(struct diags *diags, const struct odlc_diag *place);

#endif
