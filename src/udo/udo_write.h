/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the definitions of a set as a config. */
#ifndef UDO_UDO_WRITE_H
#define UDO_UDO_WRITE_H

#include "udo/udo.h"

enum udo_form { UDO_JSON, UDO_XML };

/* Writes the set's definitions as a config in that form to *out, in the set's arena, and reads that back to be sure.
 * ODLC_ERR_INVALID: the set is empty; ODLC_ERR_UNSUPPORTED: the form has no words for something, and the rest would not
 * make sense without ("udo-cannot-write"). Where the rest does, there is a warning ("udo-lost"). All are reported. */
odlc_status udo_write(struct udo_set *set, enum udo_form form, text *out) MUST_USE;

/* ---- what the two writers share (write_parts.c) ---- */

/* The state of a writer; it counts its errors. */
struct udo_writer {
    struct arena *arena;
    struct diags *diags;
    const struct udo_set *set;
    text out;
    size_t errors;
};

void udo_write_json(struct udo_writer *w);
void udo_write_xml(struct udo_writer *w);

void write_lost(struct udo_writer *w, const struct udo_place *place, const char *format, ...) PRINTF_LIKE(3, 4);
void write_impossible(struct udo_writer *w, const struct udo_place *place, const char *format, ...) PRINTF_LIKE(3, 4);
/* "input 1 ('scale') of 'Warp'" */
const char *write_label(struct udo_writer *w, const struct udo_def *def, const char *kind, uint32_t i,
                        const char *name);
/* Writes element k of a value, or the scalar, with all its digits; a float always looks like one. */
void write_number(struct udo_writer *w, const struct param *value, uint64_t k);
/* Writes the elements in nested lists; leaf writes element k. */
void write_nested(struct udo_writer *w, const struct param *value, const char brackets[2],
                  void (*leaf)(struct udo_writer *w, const struct param *value, uint64_t k));

#endif
