/* SPDX-License-Identifier: Apache-2.0 */
/* An XML text as a tree whose every element and attribute knows its place.
 *
 * libxml2 checks and splits the text; the tree is our own. No network, no external entities, no DTD: a DOCTYPE is an
 * error, so that only the five predefined entities exist and nothing can expand. The text must be UTF-8, whatever its
 * declaration says. */
#ifndef UDO_XML_H
#define UDO_XML_H

#include "text/source.h"

#define XML_MAX_ELEMENTS ((size_t)1 << 19)
#define XML_MAX_LEVELS 64
#define XML_MAX_TAG_ATTRS 200            /* of one element */
#define XML_MAX_ATTRS ((size_t)1 << 19)  /* of all */
#define XML_MAX_NAMES ((size_t)4096)     /* that differ, of elements, attributes and instructions */
#define XML_MAX_NAME ((size_t)1024)      /* bytes of one */
#define XML_MAX_NAMESPACES ((size_t)512) /* that are declared, in all */

struct xml_attr {
    const char *name, *value; /* the name without its prefix */
    uint32_t offset;
};

struct xml_node {
    const char *name; /* without a prefix */
    const char *text; /* what stands directly inside, without white space around it; "" if nothing */
    const struct xml_attr *attrs;
    struct xml_node *parent, *child, *last, *next;
    uint32_t offset, content; /* of the '<', and of what follows the '>' */
    uint32_t n_attrs;
};

struct xml {
    struct source source;
    const struct xml_node *root;
};

/* Whether a text is XML rather than JSON: the first thing in it is a '<'. */
bool xml_recognise(const char *text, size_t size);

/* Reads the text, which is borrowed. ODLC_ERR_LIMIT: it is larger than SOURCE_MAX_BYTES; ODLC_ERR_INVALID: it has
 * faults, or goes beyond a limit above; all faults are reported. */
odlc_status xml_parse(struct arena *arena, struct diags *diags, const char *path, const char *text, size_t size,
                      struct xml **out) MUST_USE;

/* ---- what reading takes (xml_limits.c, xml_fault.c) ---- */
/* Whether the text keeps the limits that the parser's time depends on; false with an error. */
bool xml_within_limits(struct xml *x);
/* What the parser says of a fault: its code, its message, and the names in that. */
struct xml_fault {
    int code;
    const char *message, *name, *other;
};
/* Reports the fault in our words; open is the innermost element that has not ended, or NULL. */
void xml_report_fault(struct xml *x, size_t at, const struct xml_fault *fault, const struct xml_node *open);

/* ---- looking at the tree ---- */
/* The first child of that name, or the next one after a child; NULL: none. */
const struct xml_node *xml_child(const struct xml_node *node, const char *name);
const struct xml_node *xml_next(const struct xml_node *child);
const struct xml_attr *xml_attr(const struct xml_node *node, const char *name);
/* Where the text of an element begins; its tag when there is none. */
size_t xml_text_offset(const struct xml *x, const struct xml_node *node);

/* Report at an offset: node->offset, attr->offset, or xml_text_offset. xml_error gives ODLC_ERR_INVALID. */
odlc_status xml_error(struct xml *x, size_t offset, const char *hint, const char *code, const char *format, ...)
    PRINTF_LIKE(5, 6);
void xml_warn(struct xml *x, size_t offset, const char *hint, const char *code, const char *format, ...)
    PRINTF_LIKE(5, 6);
/* A note at another place, for the error just reported. */
void xml_note(struct xml *x, size_t offset, const char *code, const char *format, ...) PRINTF_LIKE(4, 5);

#endif
