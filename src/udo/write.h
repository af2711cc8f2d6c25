/* Writing definitions as a config. */
#ifndef UDO_WRITE_H
#define UDO_WRITE_H

#include "udo/udo.h"

enum udo_form { UDO_JSON, UDO_XML };

/* The set's definitions as a config in that form, which is read back to be sure. What the form has no words for is
 * reported: as a warning ("udo-lost") where the rest still makes sense, as an error ("udo-cannot-write") where it does
 * not; all of them in one go, in set->diags. */
odlc_status udo_write(struct udo_set *set, enum udo_form form, text *out) MUST_USE;

/* ---- what the two writers share (write.c) ---- */

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
/* A number with all its digits; a float always looks like one. */
void write_number(struct udo_writer *w, const struct param *value, uint64_t k);
/* The elements in nested lists; leaf writes element k. */
void write_nested(struct udo_writer *w, const struct param *value, const char brackets[2],
                  void (*leaf)(struct udo_writer *w, const struct param *value, uint64_t k));

#endif
