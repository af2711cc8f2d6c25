/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOLS_OPEN_PAGE_H
#define TOOLS_OPEN_PAGE_H

#include "base/diag.h"

/* Starts the program that opens web pages, `xdg-open` found on PATH, on a file. */
odlc_status open_page(struct arena *arena, struct diags *diags, const char *path) MUST_USE;

#endif
