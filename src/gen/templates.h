/* SPDX-License-Identifier: Apache-2.0 */
/* The templates of src/gen/templates, in the program. */
#ifndef GEN_TEMPLATES_H
#define GEN_TEMPLATES_H

#include <stddef.h>

struct gen_template {
    const char *name; /* "cpu/op.cpp" */
    const char *text;
};

extern const struct gen_template gen_templates[]; /* ends with a name of NULL */

#endif
