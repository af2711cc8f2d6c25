/* SPDX-License-Identifier: Apache-2.0 */
/* What the parser's time grows with faster than the text: it compares the attributes of an element with each other,
 * looks up each prefix among all that are declared, and keeps the names of a text in lists. So these are counted before
 * it reads anything. */
#include <string.h>

#include "base/c_locale.h"
#include "base/map.h"
#include "udo/xml.h"

struct count {
    struct xml *x;
    const struct source *s;
    size_t at; /* in the text */
    struct map names;
    size_t n_names, n_attrs, n_namespaces;
    bool stopped;
};

static void refuse(struct count *c, size_t at, const char *what, size_t most, const char *where)
{
    (void)xml_error(c->x, at, NULL, "xml-limit", "more than %zu %s%s", most, what, where);
    c->stopped = true;
}

static bool ends_name(char c)
{
    return c_isspace(c) || strchr("=<>/?'\"", c);
}

/* The name at c->at, which is counted if it is new. An empty one is a fault that the parser finds. */
static void read_name(struct count *c)
{
    size_t start = c->at, size = c->s->size;
    while (c->at < size && !ends_name(c->s->text[c->at]))
        c->at++;
    size_t length = c->at - start;
    if (length > XML_MAX_NAME) {
        refuse(c, start, "bytes", XML_MAX_NAME, " in a name");
        return;
    }
    char name[XML_MAX_NAME + 1];
    memcpy(name, c->s->text + start, length);
    name[length] = '\0';
    if (!length || map_get(&c->names, name) != MAP_NONE)
        return;
    if (c->n_names++ == XML_MAX_NAMES)
        refuse(c, start, "different names of elements and attributes", XML_MAX_NAMES, "");
    else
        map_put(&c->names, arena_strndup(c->s->arena, name, length), 0);
}

/* The name and value of an attribute; where no name stands, what else does is passed. */
static void read_attr(struct count *c, uint32_t *in_tag)
{
    static const char xmlns[] = "xmlns";
    const struct source *s = c->s;
    size_t start = c->at, length = strlen(xmlns);
    if (s->text[c->at] == '"' || s->text[c->at] == '\'') {
        char quote = s->text[c->at++];
        while (c->at < s->size && s->text[c->at] != quote && s->text[c->at] != '<')
            c->at++;
        c->at += c->at < s->size && s->text[c->at] == quote;
        if (++*in_tag > XML_MAX_TAG_ATTRS)
            refuse(c, start, "attributes", XML_MAX_TAG_ATTRS, " in one tag");
        else if (c->n_attrs++ == XML_MAX_ATTRS)
            refuse(c, start, "attributes", XML_MAX_ATTRS, "");
        return;
    }
    read_name(c);
    if (c->at == start)
        c->at++;
    bool declares = c->at - start >= length && memcmp(s->text + start, xmlns, length) == 0 &&
                    (c->at - start == length || s->text[start + length] == ':');
    if (!c->stopped && declares && c->n_namespaces++ == XML_MAX_NAMESPACES)
        refuse(c, start, "namespace declarations", XML_MAX_NAMESPACES, "");
}

static void read_tag(struct count *c)
{
    const struct source *s = c->s;
    uint32_t in_tag = 0;
    c->at++;
    if (c->at < s->size && s->text[c->at] == '/')
        c->at++;
    read_name(c);
    while (!c->stopped && c->at < s->size && s->text[c->at] != '>' && s->text[c->at] != '<')
        read_attr(c, &in_tag);
}

/* The parser takes '<' and '?' for an instruction when a name follows. What else begins there is text to it, and which
 * letters beyond ASCII begin a name is its own secret. */
static void read_instruction(struct count *c, bool first)
{
    const struct source *s = c->s;
    size_t start = c->at;
    c->at += 2;
    char letter = c->at < s->size ? s->text[c->at] : '\0';
    if ((unsigned char)letter >= 0x80) {
        (void)xml_error(c->x, start, NULL, "xml-syntax", "a processing instruction whose name does not begin in ASCII");
        c->stopped = true;
    } else if (c_isalpha(letter) || letter == '_' || letter == ':') {
        read_name(c);
        bool declaration =
            first && source_has(s, start, "<?xml") && start + 5 < s->size && c_isspace(s->text[start + 5]);
        c->at = source_skip_past(s, c->at, declaration ? ">" : "?>");
    }
}

bool xml_within_limits(struct xml *x)
{
    struct count c = {.x = x, .s = &x->source};
    const struct source *s = c.s;
    map_init(&c.names, s->arena);
    size_t begin = source_text_start(s);
    for (c.at = begin; !c.stopped && c.at < s->size;) {
        const char *next = memchr(s->text + c.at, '<', s->size - c.at);
        c.at = next ? (size_t)(next - s->text) : s->size;
        if (source_has(s, c.at, "<!--"))
            c.at = source_skip_past(s, c.at + 4, "-->");
        else if (source_has(s, c.at, "<![CDATA["))
            c.at = source_skip_past(s, c.at + 9, "]]>");
        else if (source_has(s, c.at, "<?"))
            read_instruction(&c, c.at == begin);
        else if (c.at < s->size)
            read_tag(&c);
    }
    return !c.stopped;
}
