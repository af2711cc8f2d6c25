/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as an object of the public API. */
#include "base/struct_size.h"
#include "report/diff_text.h"
#include "report/report_text.h"

/* Lives in its own arena, diff.arena. */
struct odlc_diff {
    struct diff_options options;
    struct diff diff;
};

/* Out of line, so that none of its variables lives in the frame that the jump comes back to. */
__attribute__((noinline)) static odlc_diff *compare(struct arena *arena, const odlc_container *first,
                                                    const odlc_container *second, const struct odlc_diff_options *given)
{
    odlc_diff *made = arena_new(arena, odlc_diff);
    struct told_work told = {given->progress, given->progress_user};
    const struct progress progress = {progress_tell, &told};
    for (size_t i = 0; i < ODLC_DIFF_CATEGORIES; i++)
        made->options.selected[i] = !given->categories || given->categories >> i & 1;
    made->options.by_id = given->by_id != 0;
    made->options.hits = given->hits != 0;
    made->options.progress = &progress;
    made->diff = diff_containers(arena, &made->options, first, second);
    made->options.progress = NULL;
    return made;
}

static bool is_open(const odlc_container *container)
{
    size_t n_graphs;
    return odlc_container_graphs(container, &n_graphs) != NULL;
}

odlc_status odlc_diff_new(const odlc_container *first, const odlc_container *second,
                          const struct odlc_diff_options *options, odlc_diff **diff)
{
    if (!is_open(first) || !is_open(second))
        return ODLC_ERR_USAGE;
    struct odlc_diff_options given;
    if (!struct_read(&given, sizeof given, options) || given.categories >> ODLC_DIFF_CATEGORIES)
        return ODLC_ERR_USAGE;
    struct arena *arena = arena_create();
    if (!arena || setjmp(*arena_catch(arena))) {
        arena_destroy(arena);
        return ODLC_ERR_NOMEM;
    }
    odlc_diff *const made = compare(arena, first, second, &given);
    if (made->diff.stopped) {
        arena_destroy(arena);
        return ODLC_ERR_STOPPED;
    }
    *diff = made;
    return ODLC_OK;
}

void odlc_diff_free(odlc_diff *diff)
{
    if (diff)
        arena_destroy(diff->diff.arena);
}

int odlc_diff_same(const odlc_diff *diff)
{
    return !diff_found(&diff->diff);
}

const struct odlc_difference *odlc_diff_list(const odlc_diff *diff, size_t *count)
{
    *count = diff->diff.list.count;
    return diff->diff.list.data;
}

const char *const *odlc_diff_notes(const odlc_diff *diff, size_t *count)
{
    *count = diff->diff.notes.count;
    return diff->diff.notes.data;
}

void odlc_diff_count(const odlc_diff *diff, enum odlc_diff_category category, uint64_t *compared, uint64_t *differing)
{
    const bool is_known = (size_t)category < ODLC_DIFF_CATEGORIES;
    *compared = is_known ? diff->diff.compared[category] : 0;
    *differing = is_known ? diff->diff.differing[category] : 0;
}

/* ---- reports ---- */

static void print_json(FILE *stream, struct arena *arena, const void *diff)
{
    (void)arena;
    diff_print_json(stream, diff);
}

struct shown_diff {
    const struct diff *diff;
    struct text_form form;
};

/* Texts of the reports are of their own arena, not of the comparison's. */
static void print_text(FILE *stream, struct arena *arena, const void *subject)
{
    const struct shown_diff *shown = subject;
    diff_print_text(stream, arena, shown->diff, &shown->form);
}

static void print_csv(FILE *stream, struct arena *arena, const void *diff)
{
    text csv = {0};
    diff_csv(arena, diff, &csv);
    (void)fwrite(csv.data, 1, csv.count, stream);
}

odlc_status odlc_diff_json(const odlc_diff *diff, char **text, size_t *size)
{
    return report_text(print_json, &diff->diff, text, size);
}

odlc_status odlc_diff_text(const odlc_diff *diff, const struct odlc_report_options *options, char **text, size_t *size)
{
    struct odlc_report_options given;
    if (!struct_read(&given, sizeof given, options))
        return ODLC_ERR_USAGE;
    const struct shown_diff shown = {&diff->diff, {.width = given.width, .colours = given.colours}};
    return report_text(print_text, &shown, text, size);
}

odlc_status odlc_diff_csv(const odlc_diff *diff, char **text, size_t *size)
{
    return report_text(print_csv, &diff->diff, text, size);
}
