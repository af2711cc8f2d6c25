/* SPDX-License-Identifier: Apache-2.0 */
/* A line on a terminal that says how far a piece of work is:
 *
 *     writing: 1.2 of 3.2 GB, 37 %, 840 MB/s, 0:02 left
 *
 * It appears when the work takes longer than half a second, is drawn ten times a second at most, is never wider than
 * the terminal, and is gone when the work ends, by a signal too. It is drawn with carriage returns and blanks alone,
 * and only where that works: on a terminal that is not "dumb", while the process has it to itself. */
#ifndef TOOLS_PROGRESS_LINE_H
#define TOOLS_PROGRESS_LINE_H

#include <stdio.h>

#include "base/base.h"

/* How far a stage of the work is. */
struct work_progress {
    const char *stage; /* "writing"; a stage has one address */
    const char *unit;  /* " nodes", "" for none; NULL: bytes */
    uint64_t done, total;
    uint64_t before;  /* what was done before the stage began */
    const char *rate; /* "inputs/s": the rate is told; NULL: that of bytes alone */
};

struct progress_line {
    FILE *stream;
    double began, stage_began, drawn; /* seconds of the monotonic clock; drawn is 0 before the first time */
    const char *stage;
    size_t length; /* of what is on the screen */
};

/* False, and no line, when the stream is not a terminal that can show one. */
bool progress_line_begin(struct progress_line *line, FILE *stream);
void progress_line_report(struct progress_line *line, const struct work_progress *progress);
/* Before anything else is written to the stream. */
void progress_line_end(struct progress_line *line);

/* The text of the line, as many of its parts as fit the columns; seconds: since the stage began. */
void progress_text(char *out, size_t size, size_t columns, const struct work_progress *progress, double seconds);

#endif
