/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics on a stream, in the forms of enum odlc_diag_form. */
#ifndef TEXT_DIAG_TEXT_H
#define TEXT_DIAG_TEXT_H

#include "text/json_out.h"
#include "opendlc/status.h"

/* What a terminal is told before and behind the parts of a text; "" for none. */
struct diag_style {
    const char *bold, *severity, *caret, *reset;
};

/* Of a diagnostic on a terminal with colours, or without. The style is static. */
const struct diag_style *diag_style_of(odlc_severity severity, bool colours);
/* `nowhere` stands where a diagnostic has no file. */
void diag_print_text(FILE *stream, const char *nowhere, const struct odlc_diag *diag, const struct diag_style *style);
/* The object of the JSON form, as an element of an array or the whole text. */
void json_diag(struct json_out *j, const struct odlc_diag *diag);

#endif
