/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of an OpDef that hold a text, a flag or a word, and where they stand. */
#include "udo/opdef.h"

#include <string.h>

struct udo_place opdef_place(const struct opdef *o, const struct xml_node *node)
{
    struct udo_place place = {.file = o->xml->source.path, .source = &o->xml->source};
    source_line_column(&o->xml->source, node->offset, &place.line, &place.column);
    return place;
}

const struct xml_node *opdef_child(const struct xml_node *node, const char *name)
{
    const struct xml_node *child = xml_child(node, name);
    while (child && !*child->text)
        child = xml_next(child);
    return child;
}

const char *opdef_text(struct opdef *o, const struct xml_node *node, const char *child, bool required)
{
    const struct xml_node *found = xml_child(node, child);
    if (found && *found->text)
        return found->text;
    if (required)
        (void)xml_error(o->xml, found ? found->offset : node->offset, NULL, "udo-missing-element",
                        found ? "<%s> in <%s> is empty" : "<%s> is missing in <%s>", child, node->name);
    return NULL;
}

bool opdef_is_bool(const char *text, bool *value)
{
    static const char *const words[] = {"true", "True", "TRUE", "1", "false", "False", "FALSE", "0"};
    size_t i = 0;
    while (i < COUNT_OF(words) && strcmp(text, words[i]) != 0)
        i++;
    *value = i < COUNT_OF(words) / 2;
    return i < COUNT_OF(words);
}

bool opdef_bool(struct opdef *o, const struct xml_node *node, const char *child, bool absent)
{
    const struct xml_node *found = opdef_child(node, child);
    bool value = absent;
    if (found && !opdef_is_bool(found->text, &value))
        (void)xml_error(o->xml, xml_text_offset(o->xml, found), NULL, "udo-wrong-type",
                        "<%s> must be true or false, not '%s'", child, found->text);
    return value;
}

int opdef_word(struct opdef *o, size_t offset, const char *word, const char *const *words, size_t count,
               const char *what)
{
    text list = {0};
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0)
            return (int)i;
        text_add(o->arena, &list, "%s%s", i ? ", " : "", words[i]);
    }
    const char *nearest = nearest_word(word, words, count);
    const char *hint = nearest ? arena_printf(o->arena, "did you mean %s? Known are %s", nearest, list.data)
                               : arena_printf(o->arena, "known are %s", list.data);
    (void)xml_error(o->xml, offset, hint, "udo-unknown-word", "unknown %s '%s'", what, word);
    return -1;
}
