/* SPDX-License-Identifier: Apache-2.0 */
/* Packages of kernels for user-defined ops: the folders that a generator writes, with sources to be filled in. */
#ifndef GEN_GEN_H
#define GEN_GEN_H

#include "gen/template.h"
#include "udo/udo.h"

/* Which files a package has: gen/tree.def. */
enum gen_tree { GEN_UDO, GEN_QNN_CPU, GEN_QNN_GPU, GEN_QNN_DSP, GEN_HTP, GEN_CONVERTER };

/* The ops of a package that one of its libraries has. */
struct gen_part {
    const char *where;   /* as rows of tree.def name it */
    struct scope *scope; /* of the package, with these ops alone in its list */
    VEC(struct scope *) ops;
};

/* The names of templates for each package, in the order of the configs. */
struct gen_package {
    const char *name;
    enum gen_tree tree;
    struct scope *scope;              /* PACKAGE and what else the rows of tree.def ask for: "1", or "" */
    VEC(struct scope *) ops;          /* OP and what gen_model.c adds */
    VEC(const struct udo_def *) defs; /* of these */
    VEC(const char *) configs;        /* the files that define the package */
    VEC(struct gen_part) parts;       /* of rows that have none, all ops */
};

struct gen_packages {
    VEC(struct gen_package) list;
};

enum gen_language { GEN_CPP, GEN_C };

/* What packages may have one way or another. */
struct gen_choices {
    enum gen_language language; /* of registration and CPU libraries; parts for other cores are C++ */
    bool cmakelists;            /* a CMakeLists.txt */
    bool reference;             /* calls of the reference kernels in ops of the CPU that these compute */
};

/* Adds packages of the set's definitions: one for each package name, with registration and a part for each core.
 * ODLC_ERR_INVALID: the name of a package, an op or a param cannot stand in C++ source, two configs of a package have
 * one file name, or of its ops for the DSP some use QHPI and others do not; all are reported. */
odlc_status gen_describe(struct udo_set *set, const struct gen_choices *choices, struct gen_packages *out) MUST_USE;

/* Adds packages of the set's definitions, which are those of one XML config: one for each package name and backend,
 * and, with `converter`, one for each package name that tells converters shapes and types. Ops of a package that is
 * there already are added to it. ODLC_ERR_INVALID: as above; an op has no backend that packages are written for, or
 * another definition than the package has of it, or more combinations of types than kernels are written for. */
odlc_status gen_describe_qnn(struct udo_set *set, bool converter, struct gen_packages *out) MUST_USE;

struct gen_options {
    const char *folder; /* in which each package becomes a folder; made when there is none */
    bool force;         /* files that are there are written anew */
};

/* What came of a tree. */
struct gen_result {
    VEC(const char *) written, kept; /* paths: those that were there already, and differ, are kept */
};

/* Writes the trees. Files that exist stay as they are unless `force` is given. ODLC_ERR_IO: a file or folder cannot be
 * written; ODLC_ERR_INTERNAL: a template is at fault. */
odlc_status gen_write(struct arena *arena, struct diags *diags, const struct gen_packages *packages,
                      const struct gen_options *options, struct gen_result *out) MUST_USE;

#endif
