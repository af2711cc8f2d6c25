/* Packages of kernels for user-defined ops: the folders that a generator writes, with sources to be filled in. */
#ifndef GEN_GEN_H
#define GEN_GEN_H

#include "gen/template.h"
#include "udo/udo.h"

/* The names of templates for each package of a set, in the order of the configs. */
struct gen_package {
    const char *name;
    struct scope *scope; /* PACKAGE, and CPU, GPU, DSP, DSP_LEGACY, DSP_V68: "1" where an op is for that core, or "" */
    VEC(struct scope *) ops; /* OP and what gen_model.c adds */
    const char *config;      /* the file that defines the package */
};

struct gen_packages {
    VEC(struct gen_package) list;
};

/* Describes the packages of the set. ODLC_ERR_INVALID: the name of a package, an op or a param cannot stand in C++
 * source; all such names are reported. */
odlc_status gen_describe(struct udo_set *set, struct gen_packages *out) MUST_USE;

enum gen_tree { GEN_UDO };

struct gen_options {
    enum gen_tree tree;
    const char *folder; /* in which each package becomes a folder; made when there is none */
    bool force;         /* files that are there are written anew */
};

/* What came of a tree. */
struct gen_result {
    VEC(const char *) written, kept; /* paths: those that were there already, and differ, are kept */
};

/* Writes the trees. Files that exist stay as they are unless `force` is given. ODLC_ERR_IO: a file or folder cannot be
 * written; ODLC_ERR_INTERNAL: a template is at fault. */
odlc_status gen_write(struct udo_set *set, const struct gen_packages *packages, const struct gen_options *options,
                      struct gen_result *out) MUST_USE;

#endif
