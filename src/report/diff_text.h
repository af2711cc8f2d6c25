/* SPDX-License-Identifier: Apache-2.0 */
/* What dlc-diff found, for people and for spreadsheets. */
#ifndef REPORT_DIFF_TEXT_H
#define REPORT_DIFF_TEXT_H

#include "report/diff.h"
#include "text/text_table.h"

void diff_print_text(FILE *stream, struct arena *arena, const struct diff *d, const struct text_form *form);
/* As CSV (RFC 4180). */
void diff_csv(struct arena *arena, const struct diff *d, text *csv);

#endif
