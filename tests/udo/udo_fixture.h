/* SPDX-License-Identifier: Apache-2.0 */
/* What the UDO tests share: a set in an arena, configs written with ' for ", and looking for diagnostics. */
#ifndef TESTS_UDO_FIXTURE_H
#define TESTS_UDO_FIXTURE_H

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "udo/udo.h"

struct fixture {
    struct arena *arena;
    struct diags diags;
    struct udo_set set;
};

static inline void fixture_start(struct fixture *f)
{
    f->arena = arena_create();
    ck_assert_ptr_nonnull(f->arena);
    diags_init(&f->diags, f->arena);
    udo_set_init(&f->set, f->arena, &f->diags, op_registry_new(f->arena));
}

static inline void fixture_end(struct fixture *f)
{
    arena_destroy(f->arena);
}

static inline const char *quoted(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

static inline odlc_status load_text(struct fixture *f, const char *path, const char *text)
{
    const char *json = quoted(f->arena, text);
    return udo_parse_json(&f->set, path, json, strlen(json));
}

/* A config of one package "P" with these operators. */
static inline odlc_status load_operators(struct fixture *f, const char *operators)
{
    return load_text(
        f, "ops.json",
        arena_printf(f->arena, "{'UdoPackage_0': {'UDO_PACKAGE_NAME': 'P',\n'Operators': [\n%s\n]}}", operators));
}

static inline const struct odlc_diag *find_diag(const struct fixture *f, const char *code)
{
    for (size_t i = 0; i < f->diags.list.count; i++)
        if (strcmp(f->diags.list.data[i].code, code) == 0)
            return &f->diags.list.data[i];
    return NULL;
}

static inline size_t count_diags(const struct fixture *f, const char *code)
{
    size_t count = 0;
    for (size_t i = 0; i < f->diags.list.count; i++)
        count += strcmp(f->diags.list.data[i].code, code) == 0;
    return count;
}

/* All diagnostics in one text, for the message of a failed assertion. */
static inline const char *all_diags(const struct fixture *f)
{
    text t = {0};
    text_add(f->arena, &t, "diagnostics:");
    for (size_t i = 0; i < f->diags.list.count; i++) {
        const struct odlc_diag *d = &f->diags.list.data[i];
        text_add(f->arena, &t, "\n  %s:%u:%u: [%s] %s (hint: %s)", d->file, d->line, d->column, d->code, d->message,
                 d->hint ? d->hint : "none");
    }
    return t.data;
}

#endif
