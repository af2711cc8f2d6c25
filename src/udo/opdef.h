/* SPDX-License-Identifier: Apache-2.0 */
/* Reading XML OpDef files: what the reader's files share. No function gives a status: each reports all errors that it
 * finds in the text, whose source counts them, and fills in something harmless, so that reading goes on. */
#ifndef UDO_OPDEF_H
#define UDO_OPDEF_H

#include "udo/udo_cores.h"
#include "udo/xml.h"

/* What one backend says about an OpDef. */
struct supplement {
    const struct xml_node *node,
        *name; /* the SupplementalOpDef, or the OpName of SupportedOps; and what names the op */
    enum udo_backend backend;
    bool supported_only; /* an OpName */
    uint32_t next;       /* the next one for that op, or MAP_NONE */
};

struct opdef {
    struct udo_set *set;
    struct arena *arena;
    struct xml *xml;
    const char *package;
    bool use_qhpi;
    VEC(const char *) names; /* of the OpDefs */
    struct map known;        /* the same: name → index */
    VEC(struct supplement) supplements;
    struct map by_op; /* op name → its first supplement */
};

/* The backends that an operation has, each with what it says of one OpDef, or of one of its tensors: NULL, if nothing.
 */
struct backends {
    struct {
        enum udo_backend backend;
        const struct xml_node *node;
    } list[BACKENDS];
    uint32_t count;
    VEC(const char *) archs; /* of the DSP: "v68" */
};

/* ---- structure (opdef_schema.c) ---- */
/* Checks which elements and attributes stand where, from the root on. False: the root is none that can be read. */
bool opdef_check(struct opdef *o);

/* ---- supplements (opdef_supplement.c) ---- */
void opdef_collect(struct opdef *o, const struct xml_node *collection);
/* Warns about supplements of operations that the file does not define. */
void opdef_check_supplements(struct opdef *o);
void opdef_backends(struct opdef *o, const struct xml_node *op, const char *name, struct backends *out);
/* The core that a backend runs on, or -1. */
int opdef_core(enum udo_backend backend);
/* "CPU", "DSP (HTP)" */
const char *opdef_core_label(enum udo_backend backend);
/* The cores whose backends say of a tensor that its default is all they take; NULL: none. */
const char *opdef_only_default(struct opdef *o, const struct backends *tensor);
/* Narrows the backends of an operation to what each says of one tensor; kind: "Input", "Output", "Parameter". */
void opdef_tensor_backends(const struct backends *op, const char *kind, const char *name, struct backends *out);
/* Reports overrides of tensors that the operation does not have. */
void opdef_check_overrides(struct opdef *o, const struct xml_node *op, const struct backends *backends);

/* ---- tensors (opdef_tensor.c) ---- */
enum opdef_role { OPDEF_INPUT, OPDEF_OUTPUT, OPDEF_PARAM, OPDEF_SCALAR };
void opdef_read_tensor(struct opdef *o, const struct xml_node *node, enum opdef_role role,
                       const struct backends *backends, struct udo_tensor *out);
void opdef_read_scalar(struct opdef *o, const struct xml_node *node, const struct backends *backends,
                       struct udo_scalar *out);
bool opdef_is_scalar(const struct xml_node *parameter);

/* ---- leaves ---- */
struct udo_place opdef_place(const struct opdef *o, const struct xml_node *node);
/* The first child of that name with text in it: what is optional and empty counts as absent. NULL: none, or no node. */
const struct xml_node *opdef_child(const struct xml_node *node, const char *name);
/* The text of a child; NULL when there is no such child or, with an error if required, no text in it. */
const char *opdef_text(struct opdef *o, const struct xml_node *node, const char *child, bool required);
/* An xs:boolean child, in letters of either case: absent gives `absent`. */
bool opdef_bool(struct opdef *o, const struct xml_node *node, const char *child, bool absent);
/* Whether a text is a boolean, and which. */
bool opdef_is_bool(const char *text, bool *value);
/* The index of a word, or -1 with an error at `offset` that names `what`. */
int opdef_word(struct opdef *o, size_t offset, const char *word, const char *const *words, size_t count,
               const char *what);

/* ---- values (opdef_value.c) ---- */
/* A Default in the type dtype; NULL, with an error or a warning, when it is none. For tensors a single value becomes
 * one element. */
const struct param *opdef_read_value(struct opdef *o, const struct xml_node *node, enum dtype dtype, bool is_tensor,
                                     const struct udo_words *enumeration);

#endif
