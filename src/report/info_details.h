/* SPDX-License-Identifier: Apache-2.0 */
/* What dlc-info says of one tensor, and of faults. */
#ifndef REPORT_INFO_DETAILS_H
#define REPORT_INFO_DETAILS_H

#include <stdio.h>

#include "base/diag.h"
#include "report/info_text.h"
#include "report/value_text.h"

/* ---- one tensor ---- */

struct info_tensor {
    const struct odlc_graph *graph;
    const struct odlc_op *owner; /* of an attribute's tensor, or a layer's weights; NULL for tensors of the graph */
    const struct odlc_tensor *tensor;
};

/* By its name; weights of version 3 as layer:name. An unknown name is an error that suggests a near one. */
odlc_status info_find_tensor(struct arena *arena, struct diags *diags, const odlc_container *container,
                             const char *name, struct info_tensor *out) MUST_USE;
void info_print_tensor(FILE *stream, struct arena *arena, const struct info_tensor *which,
                       const struct text_form *form);
void info_print_tensor_json(FILE *stream, const odlc_container *container, const struct info_tensor *which);

/* ---- findings ---- */

/* Of a container that odlc_container_open was asked for: its diagnostics, and a line that says how many findings there
 * are. */
void info_print_findings(FILE *stream, struct arena *arena, const odlc_container *container, bool colours);
void info_print_findings_json(FILE *stream, const odlc_container *container);

#endif
