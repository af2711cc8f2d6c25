/* SPDX-License-Identifier: Apache-2.0 */
/* Templates of generated files: text with placeholders, and lines that say what is repeated or left out.
 *
 *     @NAME@          the value of NAME, of the innermost scope that has one
 *     @for LIST@      a line: what follows, up to the @end@ of its level, once for each item of LIST
 *     @if NAME@       a line: what follows only where NAME has a value that is not empty
 *     @else@          a line between @if@ and @end@: what follows only where NAME has none
 *     @end@           a line
 *     @include NAME@  a line: that template
 *
 * Any other @ is text. Templates are ours, so what is wrong with one is a fault of the program. */
#ifndef GEN_TEMPLATE_H
#define GEN_TEMPLATE_H

#include "base/diag.h"
#include "base/vec.h"

/* Names with values, in the scope of other ones. */
struct scope;

/* A scope inside of another one, or on its own (NULL). */
struct scope *scope_new(struct arena *arena, const struct scope *outer);
/* Gives a name a value; both must last as long as the scope. A later value replaces it. */
void scope_set(struct scope *s, const char *name, const char *value);
/* NULL: no scope has the name. */
const char *scope_get(const struct scope *s, const char *name);
/* Adds an item to the list of that name: a scope inside of this one. */
struct scope *scope_add(struct scope *s, const char *list);
/* Adds a scope that is there already as an item. */
void scope_share(struct scope *s, const char *list, struct scope *item);

/* The text of a template of that name; NULL: there is none. */
const char *template_find(const char *name);

/* Appends what the template gives; name is for diagnostics. ODLC_ERR_INTERNAL: a name has no value, there is no
 * template to include, or lines of @for@,
 * @if@ and @end@ do not match. */
odlc_status template_render(struct arena *arena, struct diags *diags, const char *name, const char *template,
                            const struct scope *scope, text *out) MUST_USE;

#endif
