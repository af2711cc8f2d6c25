/* SPDX-License-Identifier: Apache-2.0 */
/* dlc-quantize --report: what quantization cost, as a page, as JSON, and as a few lines. */
#ifndef TOOLS_QUANTIZE_REPORT_H
#define TOOLS_QUANTIZE_REPORT_H

#include <stdio.h>

#include "quantize/quant_compare.h"
#include "text/html_page.h"
#include "tools/input_list.h"

struct quantize_report {
    const char *path;              /* FILE.html or FILE.json */
    const char *floats, *output;   /* containers; that of floats is read again */
    const struct graph *fixed;     /* what the container will hold */
    const struct input_list *list; /* both networks are computed from */
    const struct backend *const *backends;
    uint32_t threads;
    const struct package_set *packages; /* of both; NULL: none */
    bool native_inputs;
};

/* ODLC_ERR_USAGE: the file has none of the two suffixes. */
odlc_status quantize_report_check(struct diags *diags, const char *path) MUST_USE;
/* Computes both networks, writes the file, and prints the layers that lost most. */
odlc_status quantize_report_make(struct arena *arena, struct arena *scratch, struct diags *diags,
                                 const struct quantize_report *report) MUST_USE;

/* ---- for the parts of it ---- */

struct quantize_numbers {
    const struct quantize_report *report;
    const struct graph *floats;
    const struct quant_layer *layers;
    size_t n_layers;
    const uint32_t *worst; /* indices of layers */
    size_t n_worst;
    uint64_t float_bytes, fixed_bytes; /* of the constants of both networks */
};

/* The page's own files, joined at build time. */
extern const struct html_page report_page;

/* docs/quantize-report-json.md. `compact`: on one line. */
void quantize_report_json(FILE *stream, const struct quantize_numbers *numbers, bool compact);
/* The SQNR of the worst graph output; nothing is written. Fails as quantize_report_make. */
odlc_status quantize_report_outputs(struct arena *arena, struct arena *scratch, struct diags *diags,
                                    const struct quantize_report *report, double *sqnr) MUST_USE;

#endif
