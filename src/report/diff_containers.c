/* SPDX-License-Identifier: Apache-2.0 */
/* What belongs to a container as a whole, and its graphs in pairs. */
#include <inttypes.h>
#include <string.h>

#include "report/constant_bytes.h"
#include "report/diff.h"

static const char COPYRIGHT[] = "model-copyright";

static void compare_metadata(struct diff *d, const struct odlc_summary *const s[2])
{
    const char **keys[2];
    struct diff_pairs pairs = diff_pairs_create(d->arena, s[0]->n_metadata, s[1]->n_metadata);
    for (size_t side = 0; side < 2; side++) {
        keys[side] = arena_array(d->arena, const char *, s[side]->n_metadata);
        for (size_t i = 0; i < s[side]->n_metadata; i++)
            keys[side][i] = strcmp(s[side]->metadata[i].key, COPYRIGHT) == 0 ? NULL : s[side]->metadata[i].key;
    }
    diff_pair_by_key(d->arena, &pairs, (const char *const *const[]){keys[0], keys[1]});
    for (size_t i = 0; i < pairs.n[0]; i++) {
        size_t other = pairs.other[0][i];
        if (keys[0][i])
            diff_compare_text(d, ODLC_DIFF_METADATA, keys[0][i], s[0]->metadata[i].value,
                              other == DIFF_NONE ? NULL : s[1]->metadata[other].value);
    }
    for (size_t i = 0; i < pairs.n[1]; i++)
        if (keys[1][i] && pairs.other[1][i] == DIFF_NONE)
            diff_compare_text(d, ODLC_DIFF_METADATA, keys[1][i], NULL, s[1]->metadata[i].value);
}

/* Files whose content is compared as what it means. */
static bool is_understood(const char *entry)
{
    static const char *const names[] = {"model", "model.params", "model.params.bin"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(entry, names[i]) == 0)
            return true;
    return strncmp(entry, "dlc.metadata", strlen("dlc.metadata")) == 0;
}

static const char *entry_words(struct diff *d, const struct odlc_entry *e)
{
    return arena_printf(d->arena, "%" PRIu64 " bytes%s", e->size,
                        e->stored_size == e->size ? ""
                                                  : arena_printf(d->arena, ", packed to %" PRIu64, e->stored_size));
}

/* Of the same size. */
static bool same_entries(struct diff *d, const struct odlc_entry *first, const struct odlc_entry *second)
{
    const struct stored bytes[] = {stored_entry(d->containers[0], first), stored_entry(d->containers[1], second)};
    return diff_same_bytes(d, &bytes[0], &bytes[1]);
}

static void compare_entry(struct diff *d, const struct odlc_entry *first, const struct odlc_entry *second)
{
    bool same =
        first->size == second->size && first->stored_size == second->stored_size && same_entries(d, first, second);
    if (!diff_count(d, ODLC_DIFF_METADATA, same))
        return;
    const char *subject = arena_printf(d->arena, "entry %s", first->name);
    struct odlc_difference *found =
        diff_record(d, ODLC_DIFF_METADATA, subject, same, entry_words(d, first), entry_words(d, second));
    if (!same && strcmp(found->values[0], found->values[1]) == 0)
        found->values[1] = arena_printf(d->arena, "%s, others", found->values[1]);
}

static void compare_entries(struct diff *d, const struct odlc_summary *const s[2])
{
    const char **names[2];
    struct diff_pairs pairs = diff_pairs_create(d->arena, s[0]->n_entries, s[1]->n_entries);
    for (size_t side = 0; side < 2; side++) {
        names[side] = arena_array(d->arena, const char *, s[side]->n_entries);
        for (size_t i = 0; i < s[side]->n_entries; i++)
            names[side][i] = is_understood(s[side]->entries[i].name) ? NULL : s[side]->entries[i].name;
    }
    diff_pair_by_key(d->arena, &pairs, (const char *const *const[]){names[0], names[1]});
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; i < pairs.n[side]; i++) {
            const struct odlc_entry *e = &s[side]->entries[i];
            size_t other = pairs.other[side][i];
            if (other != DIFF_NONE && side == 0)
                compare_entry(d, e, &s[1]->entries[other]);
            else if (other == DIFF_NONE && names[side][i])
                diff_compare_text(d, ODLC_DIFF_METADATA, arena_printf(d->arena, "entry %s", e->name),
                                  side ? NULL : entry_words(d, e), side ? entry_words(d, e) : NULL);
        }
    }
}

static const char *format_words(struct diff *d, const struct odlc_summary *s)
{
    return arena_printf(d->arena, "%" PRIu32 ".%" PRIu32 ", parameters %s", s->major, s->minor, s->params_format);
}

static void compare_summaries(struct diff *d, const struct odlc_summary *const s[2])
{
    diff_compare_text(d, ODLC_DIFF_COPYRIGHTS, "copyright of the model", s[0]->model_copyright, s[1]->model_copyright);
    if (!d->options->selected[ODLC_DIFF_METADATA])
        return;
    diff_compare_text(d, ODLC_DIFF_METADATA, "format", format_words(d, s[0]), format_words(d, s[1]));
    compare_metadata(d, s);
    compare_entries(d, s);
}

/* Graphs by name; those without a partner in their order, so that two files of one graph each are always compared. */
static struct diff_pairs pair_graphs(struct diff *d, const struct odlc_graph *const g[2], const size_t n[2])
{
    struct diff_pairs pairs = diff_pairs_create(d->arena, n[0], n[1]);
    const char **names[2];
    for (size_t side = 0; side < 2; side++) {
        names[side] = arena_array(d->arena, const char *, n[side]);
        for (size_t i = 0; i < n[side]; i++)
            names[side][i] = d->options->by_id ? NULL : g[side][i].name;
    }
    diff_pair_by_key(d->arena, &pairs, (const char *const *const[]){names[0], names[1]});
    for (size_t i = 0, k = 0; i < n[0]; i++) {
        while (k < n[1] && pairs.other[1][k] != DIFF_NONE)
            k++;
        if (k < n[1] && pairs.other[0][i] == DIFF_NONE)
            diff_pair(&pairs, i, k);
    }
    return pairs;
}

static void compare_graphs(struct diff *d)
{
    size_t n[2];
    const struct odlc_graph *const g[] = {odlc_container_graphs(d->containers[0], &n[0]),
                                          odlc_container_graphs(d->containers[1], &n[1])};
    struct diff_pairs pairs = pair_graphs(d, g, n);
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; i < n[side]; i++) {
            if (pairs.other[side][i] == DIFF_NONE) {
                const char *words = arena_printf(d->arena, "%zu layers", g[side][i].n_ops);
                d->graph = g[side][i].name;
                d->layer = NULL;
                diff_compare_text(d, ODLC_DIFF_LAYERS, "graph", side ? NULL : words, side ? words : NULL);
            } else if (side == 0) {
                diff_graphs(d, &g[0][i], &g[1][pairs.other[0][i]]);
            }
        }
    }
}

struct diff diff_containers(struct arena *arena, const struct diff_options *options, const odlc_container *first,
                            const odlc_container *second)
{
    struct diff d = {.arena = arena, .options = options, .containers = {first, second}, .total = constant_bytes(first)};
    const struct odlc_summary *const s[] = {odlc_container_summary(first), odlc_container_summary(second)};
    d.versions_differ = s[0]->major != s[1]->major;
    if (d.versions_differ)
        vec_push(arena, &d.notes,
                 "versions 3 and 4 name types, parameters and weights differently: compared are names of layers, "
                 "outputs, dimensions and encodings");
    diff_make_rooms(&d);
    diff_tell(&d, 0);
    compare_summaries(&d, s);
    compare_graphs(&d);
    diff_tell(&d, d.total);
    return d;
}
