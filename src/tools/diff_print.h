/* SPDX-License-Identifier: Apache-2.0 */
/* What dlc-diff found, for people and for spreadsheets. */
#ifndef TOOLS_DIFF_PRINT_H
#define TOOLS_DIFF_PRINT_H

#include "report/diff.h"

void diff_print_text(FILE *stream, const struct diff *d);
void diff_csv(const struct diff *d, text *csv);

#endif
