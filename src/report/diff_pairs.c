/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the partner of a layer or a tensor, and keeping what was found. */
#include <string.h>

#include "base/map.h"
#include "report/diff.h"

struct diff_pairs diff_pairs_create(struct arena *arena, size_t n_first, size_t n_second)
{
    struct diff_pairs pairs = {.n = {n_first, n_second}};
    for (size_t side = 0; side < 2; side++) {
        pairs.other[side] = arena_array(arena, size_t, pairs.n[side]);
        for (size_t i = 0; i < pairs.n[side]; i++)
            pairs.other[side][i] = DIFF_NONE;
    }
    return pairs;
}

void diff_pair(struct diff_pairs *pairs, size_t first, size_t second)
{
    pairs->other[0][first] = second;
    pairs->other[1][second] = first;
}

void diff_pair_by_key(struct arena *arena, struct diff_pairs *pairs, const char *const *const keys[2])
{
    size_t n = pairs->n[1];
    size_t *next = arena_array(arena, size_t, n); /* of those with the same key, in their order; n: the last */
    struct map waiting;
    map_init(&waiting, arena);
    for (size_t i = n; i-- > 0;) {
        if (!keys[1][i] || pairs->other[1][i] != DIFF_NONE)
            continue;
        uint32_t later = map_get(&waiting, keys[1][i]);
        next[i] = later == MAP_NONE ? n : later;
        map_put(&waiting, keys[1][i], (uint32_t)i);
    }
    for (size_t i = 0; i < pairs->n[0]; i++) {
        if (!keys[0][i] || pairs->other[0][i] != DIFF_NONE)
            continue;
        uint32_t found = map_get(&waiting, keys[0][i]);
        if (found == MAP_NONE || found >= n)
            continue;
        diff_pair(pairs, i, found);
        map_put(&waiting, keys[0][i], (uint32_t)next[found]);
    }
}

/* ---- records ---- */

bool diff_count(struct diff *d, enum odlc_diff_category category, bool same)
{
    d->compared[category]++;
    d->differing[category] += !same;
    return !same || d->options->hits;
}

struct odlc_difference *diff_record(struct diff *d, enum odlc_diff_category category, const char *subject, bool same,
                                    const char *first, const char *second)
{
    vec_push(d->arena, &d->list,
             (struct odlc_difference){.category = category,
                                      .graph = d->graph,
                                      .layer = d->layer,
                                      .subject = subject,
                                      .same = same,
                                      .values = {first, second}});
    return &d->list.data[d->list.count - 1];
}

void diff_compare_text(struct diff *d, enum odlc_diff_category category, const char *subject, const char *first,
                       const char *second)
{
    bool same = first && second ? strcmp(first, second) == 0 : first == second;
    if (d->options->selected[category] && diff_count(d, category, same))
        diff_record(d, category, subject, same, first, second);
}

bool diff_found(const struct diff *d)
{
    for (size_t i = 0; i < ODLC_DIFF_CATEGORIES; i++)
        if (d->differing[i])
            return true;
    return false;
}

const char *odlc_diff_category_name(enum odlc_diff_category category)
{
    static const char *const names[] = {"metadata",   "copyrights", "layers",    "parameters", "outputs",
                                        "dimensions", "types",      "encodings", "weights"};
    return (size_t)category < COUNT_OF(names) ? names[category] : NULL;
}
