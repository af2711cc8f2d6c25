/* SPDX-License-Identifier: Apache-2.0 */
/* From definitions to the names of templates: what the kinds of packages share. */
#ifndef GEN_GEN_MODEL_H
#define GEN_GEN_MODEL_H

#include "gen/gen.h"

struct describe {
    struct arena *arena;
    struct diags *diags;
    enum gen_language language; /* of what runs on the CPU */
    size_t errors;              /* that are reported */
};

/* The package of that name, which is made when there is none, with the definition's config. */
struct gen_package *gen_package_of(struct describe *d, struct gen_packages *out, const char *name, enum gen_tree tree,
                                   const struct udo_def *def);

/* The definition that the package has of an op type; NULL: none. */
const struct udo_def *gen_find_op(const struct gen_package *package, const char *type);

/* Adds an op, which the package does not have. */
struct scope *gen_add_op(struct describe *d, struct gen_package *package, const struct udo_def *def);

/* What the sources of the GPU and of the DSP before v68 say of an op of that package, or part of one (gen_udo.c). */
void gen_describe_gpu(struct describe *d, struct scope *package, const struct udo_def *def, struct scope *op);
void gen_describe_dsp(struct describe *d, struct scope *package, const struct udo_def *def, struct scope *op);

/* Once for a package with more ops for the DSP before v68 than devices take. */
void gen_warn_of_dsp(struct describe *d, const struct gen_package *package);

/* What the sources of HTP packages say of an op (gen_htp.c). */
void gen_describe_htp(struct describe *d, const struct udo_def *def, struct scope *op);

/* Whether the reference computes the op, or a note why not (gen_reference.c). */
void gen_describe_reference(struct describe *d, const struct udo_def *def, struct scope *package, struct scope *op);

/* Adds a line to one of the op's lists of comments. */
void gen_comment(struct scope *op, const char *list, const char *line);

/* A text for a string literal or a comment in C++. */
const char *gen_quoted(struct arena *arena, const char *name);

/* "FLOAT_32"; `otherwise` for what has no such name. */
const char *gen_type_name(enum dtype dtype, const char *otherwise);

/* Of an input or an output, on a core. */
enum dtype gen_type_on(const struct udo_tensor *t, enum udo_core core);

/* Whether an architecture of the DSP is one before the HTP. */
bool gen_is_legacy_arch(const char *arch);

/* The name of a file without its folder. */
const char *gen_base(const char *path);

#endif
