/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as net-run's input list: what comes of it is what a plain count of its words says. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "tools/input_list.h"

static const char blanks[] = " \t\r";

/* The words of a line, joined by single spaces. */
static const char *words_of(struct arena *arena, const char *line, size_t *count)
{
    text joined = {0};
    text_add(arena, &joined, "%s", "");
    *count = 0;
    for (const char *word = line + strspn(line, blanks); *word; word += strspn(word, blanks)) {
        size_t length = strcspn(word, blanks);
        text_add(arena, &joined, "%s", (*count)++ ? " " : "");
        text_add_bytes(arena, &joined, word, length);
        word += length;
    }
    return joined.data;
}

static void compare_inference(struct arena *arena, const struct inference *got, const char *words, size_t count)
{
    text written = {0};
    if (got->n_items != count)
        abort();
    for (size_t i = 0; i < count; i++) {
        const struct input_item *item = &got->items[i];
        if (!*item->path || (item->name && !*item->name) || (!item->name && count > 1))
            abort();
        text_add(arena, &written, "%s%s%s%s", i ? " " : "", item->name ? item->name : "", item->name ? ":=" : "",
                 item->path);
    }
    if (strcmp(written.data, words) != 0)
        abort();
}

static void compare_choice(struct arena *arena, const struct input_list *got, const char *words, size_t count)
{
    text written = {0};
    bool apart = !words[1] || words[1] == ' ';
    if (got->choice == LIST_ALL_OUTPUTS || (got->choice == LIST_NODES) != (*words == '#') ||
        got->n_chosen != count - apart)
        abort();
    for (size_t i = 0; i < got->n_chosen; i++) {
        if (!*got->chosen[i])
            abort();
        text_add(arena, &written, "%s%s", i ? " " : "", got->chosen[i]);
    }
    if (strcmp(written.data, words + 1 + apart) != 0)
        abort();
}

/* Every line that is not empty is an inference, but for one that chooses, which is the first. */
static void compare(struct arena *arena, const struct input_list *got, const char *list)
{
    size_t inferences = 0, choices = 0;
    uint32_t number = 0;
    for (const char *line = list; *line; line += *line == '\n') {
        size_t length = strcspn(line, "\n"), count;
        const char *words = words_of(arena, arena_strndup(arena, line, length), &count);
        number++;
        line += length;
        if (!count)
            continue;
        if (*words == '#' || *words == '%') {
            if (inferences || choices++)
                abort();
            compare_choice(arena, got, words, count);
            continue;
        }
        if (inferences == got->inferences.count || got->inferences.data[inferences].line != number)
            abort();
        compare_inference(arena, &got->inferences.data[inferences++], words, count);
    }
    if (inferences != got->inferences.count || (!choices && got->choice != LIST_ALL_OUTPUTS))
        abort();
}

static void try_list(struct arena *arena, const uint8_t *bytes, size_t size)
{
    struct diags diags;
    struct input_list list;
    diags_init(&diags, arena);
    odlc_status status = input_list_parse(arena, &diags, "list", (const char *)bytes, size, &list);
    if ((status == ODLC_OK) != (diags.errors == 0) || (status != ODLC_OK && status != ODLC_ERR_USAGE))
        abort();
    if (status == ODLC_OK)
        compare(arena, &list, arena_strndup(arena, (const char *)bytes, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct arena *arena = arena_create();
    if (!arena)
        abort();
    if (setjmp(*arena_catch(arena)) == 0)
        try_list(arena, bytes, size);
    arena_destroy(arena);
    return 0;
}
