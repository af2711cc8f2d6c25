/* SPDX-License-Identifier: Apache-2.0 */
/* Reports as texts of the caller's. */
#ifndef REPORT_REPORT_TEXT_H
#define REPORT_REPORT_TEXT_H

#include <stdio.h>

#include "opendlc/report.h"

/* What `print` writes on a stream, as a text that odlc_text_free takes. ODLC_ERR_NOMEM. */
odlc_status report_text(void (*print)(FILE *stream, const void *subject), const void *subject, char **text,
                        size_t *size);

#endif
