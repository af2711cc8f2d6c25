/* SPDX-License-Identifier: Apache-2.0 */
/* What the published lists of processors say of the graph (--target). */
#ifndef CONVERTERS_DRIVER_TARGET_LISTS_H
#define CONVERTERS_DRIVER_TARGET_LISTS_H

#include "converters/driver/context.h"
#include "ir/graph.h"

/* ODLC_ERR_USAGE: one of the options' targets is no processor. */
odlc_status check_targets(const struct context *c) MUST_USE;

/* One warning for each of the targets that names the operators which its list says it does not have, and one for those
 * of which no list speaks. Gives a config, in XML, whose definitions replace all of these ("UseDefaultTranslation"), in
 * c->arena; NULL: there are none. */
const char *report_unlisted(const struct context *c, const struct graph *g);

#endif
