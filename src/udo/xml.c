/* SPDX-License-Identifier: Apache-2.0 */
#include "udo/xml.h"

#include <errno.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <string.h>

#include "base/c_locale.h"

/* The work on one text: what libxml2's calls share. */
struct reader {
    struct xml *x;
    xmlParserCtxtPtr parser;
    struct xml_node *open; /* the innermost element that has not ended */
    struct xml_node *root;
    uint32_t level;
    size_t elements;
    text texts[XML_MAX_LEVELS]; /* of the open elements */
    size_t faults;              /* that the parser found */
    uint32_t last_fault;        /* where the last one is; it may repeat itself there */
    bool stopped;               /* nothing more is read */
    bool exhausted;             /* memory ran out while the parser was at work */
};

/* ---- the tree ---- */

const struct xml_node *xml_child(const struct xml_node *node, const char *name)
{
    const struct xml_node *child = node ? node->child : NULL;
    while (child && strcmp(child->name, name) != 0)
        child = child->next;
    return child;
}

const struct xml_node *xml_next(const struct xml_node *child)
{
    const struct xml_node *next = child->next;
    while (next && strcmp(next->name, child->name) != 0)
        next = next->next;
    return next;
}

const struct xml_attr *xml_attr(const struct xml_node *node, const char *name)
{
    for (uint32_t i = 0; i < node->n_attrs; i++)
        if (strcmp(node->attrs[i].name, name) == 0)
            return &node->attrs[i];
    return NULL;
}

size_t xml_text_offset(const struct xml *x, const struct xml_node *node)
{
    const struct source *s = &x->source;
    if (!*node->text)
        return node->offset;
    size_t at = node->content;
    for (;;) {
        while (at < s->size && c_isspace(s->text[at]))
            at++;
        if (source_has(s, at, "<!--"))
            at = source_skip_past(s, at + 4, "-->");
        else if (source_has(s, at, "<![CDATA["))
            at += strlen("<![CDATA[");
        else
            return at < s->size && s->text[at] != '<' ? at : node->offset;
    }
}

static void stop(struct reader *r)
{
    r->stopped = true;
    xmlStopParser(r->parser);
}

/* ---- places ---- */

static size_t position(const struct reader *r)
{
    long consumed = xmlByteConsumed(r->parser);
    size_t at = consumed < 0 ? 0 : (size_t)consumed;
    return at < r->x->source.size ? at : r->x->source.size;
}

/* The '<' of the tag that ends at, or goes on to, an offset: no '<' can stand inside a tag. */
static size_t tag_start(const struct source *s, size_t at)
{
    const char *found = memrchr(s->text, '<', at);
    return found ? (size_t)(found - s->text) : 0;
}

static bool ends_name(char c)
{
    return c_isspace(c) || c == '=' || c == '>' || c == '/';
}

/* The next attribute of a tag: where its name begins, from *at on, which is moved behind its value. What declares a
 * namespace is none. The end of the tag when there is none left. */
static size_t next_attr(const struct source *s, size_t end, size_t *at)
{
    for (;;) {
        while (*at < end && !ends_name(s->text[*at]))
            ++*at;
        while (*at < end && c_isspace(s->text[*at]))
            ++*at;
        size_t start = *at;
        while (*at < end && !ends_name(s->text[*at]))
            ++*at;
        size_t length = *at - start;
        while (*at < end && s->text[*at] != '"' && s->text[*at] != '\'')
            ++*at;
        const char *close = *at < end ? memchr(s->text + *at + 1, s->text[*at], end - *at - 1) : NULL;
        *at = close ? (size_t)(close - s->text) + 1 : end;
        if (!source_has(s, start, "xmlns") || (length > 5 && s->text[start + 5] != ':') || start >= end)
            return start;
    }
}

/* Whether the attribute that begins at an offset has that name, perhaps behind a prefix. */
static bool is_named(const struct source *s, size_t at, const char *name)
{
    size_t end = at;
    while (end < s->size && !ends_name(s->text[end]))
        end++;
    size_t length = strlen(name);
    return end - at >= length && memcmp(s->text + end - length, name, length) == 0 &&
           (end - at == length || s->text[end - length - 1] == ':');
}

/* The parser's names live as long as its dictionary, which the arena holds; values are given as a range. They come in
 * the order of the text, but for those that are given twice. */
static const struct xml_attr *read_attrs(struct reader *r, const xmlChar **given, int count, uint32_t tag, size_t end)
{
    enum { NAME = 0, VALUE = 3, END = 4, WIDTH = 5 };
    struct source *s = &r->x->source;
    struct xml_attr *attrs = arena_array(s->arena, struct xml_attr, (size_t)count);
    size_t at = tag + 1;
    for (int i = 0; i < count; i++) {
        const char *const *a = (const char *const *)given + (size_t)i * WIDTH;
        size_t offset = next_attr(s, end, &at);
        while (offset < end && !is_named(s, offset, a[NAME]))
            offset = next_attr(s, end, &at);
        attrs[i] = (struct xml_attr){.name = a[NAME],
                                     .value = arena_strndup(s->arena, a[VALUE], (size_t)(a[END] - a[VALUE])),
                                     .offset = offset < end ? (uint32_t)offset : tag};
    }
    return attrs;
}

static void begin_element(struct reader *r, const char *name, int n_attrs, const xmlChar **attrs)
{
    struct source *s = &r->x->source;
    size_t end = position(r), tag = tag_start(s, end);
    bool deep = r->level == XML_MAX_LEVELS;
    if (deep || ++r->elements > XML_MAX_ELEMENTS) {
        (void)xml_error(r->x, tag, NULL, "xml-limit", deep ? "more than %zu levels" : "more than %zu elements",
                        deep ? (size_t)XML_MAX_LEVELS : XML_MAX_ELEMENTS);
        stop(r);
        return;
    }
    struct xml_node *node = arena_new(s->arena, struct xml_node), *parent = r->open;
    size_t content = end;
    while (content < s->size && s->text[content] != '>')
        content++;
    *node = (struct xml_node){.name = name,
                              .text = "",
                              .parent = parent,
                              .offset = (uint32_t)tag,
                              .content = (uint32_t)(content < s->size ? content + 1 : content),
                              .n_attrs = (uint32_t)n_attrs};
    node->attrs = n_attrs ? read_attrs(r, attrs, n_attrs, node->offset, end) : NULL;
    if (parent && parent->last)
        parent->last->next = node;
    else if (parent)
        parent->child = node;
    else
        r->root = node;
    if (parent)
        parent->last = node;
    r->texts[r->level++].count = 0;
    r->open = node;
}

static void finish_element(struct reader *r)
{
    const text *t = &r->texts[--r->level];
    size_t length = t->count;
    while (length && c_isspace(t->data[length - 1]))
        length--;
    if (length)
        r->open->text = arena_strndup(r->x->source.arena, t->data, length);
    r->open = r->open->parent;
}

static void add_characters(struct reader *r, const char *start, size_t length)
{
    const char *end = start + length;
    text *t = &r->texts[r->level - 1];
    while (!t->count && start < end && c_isspace(*start))
        start++; /* what stands between elements, mostly */
    if (start < end)
        text_add_bytes(r->x->source.arena, t, start, (size_t)(end - start));
}

static void refuse_doctype(struct reader *r)
{
    (void)xml_error(r->x, tag_start(&r->x->source, position(r)),
                    "remove it; &lt; &gt; &amp; &quot; and &apos; work without", "xml-doctype",
                    "a DOCTYPE is not allowed: nothing outside the file is read, and no entities are defined");
    stop(r);
}

static void report_fault(struct reader *r, const xmlError *e)
{
    struct source *s = &r->x->source;
    if (e->code == XML_ERR_NO_MEMORY)
        arena_exhausted(s->arena);
    /* Namespaces mean nothing here: a prefix that is not declared is no fault. */
    if (e->domain == XML_FROM_NAMESPACE || e->level < XML_ERR_ERROR)
        return;
    size_t at = position(r);
    if (e->code == XML_ERR_TAG_NAME_MISMATCH || e->code == XML_ERR_ATTRIBUTE_REDEFINED)
        at = tag_start(s, at);
    if (r->faults && r->last_fault == at)
        return;
    r->faults++;
    r->last_fault = (uint32_t)at;
    const struct xml_fault fault = {e->code, e->message, e->str1, e->str2};
    xml_report_fault(r->x, at, &fault, r->open);
    if (s->errors >= SOURCE_MAX_REPORTS)
        stop(r);
}

/* ---- what the parser calls ---- */

/* The parser has memory of its own, which it gives back when it is returned to: exhausted memory stops it. */
#define WITHIN_PARSER(r, call)                                  \
    do {                                                        \
        struct arena *arena_ = (r)->x->source.arena;            \
        jmp_buf here_, *before_ = arena_divert(arena_, &here_); \
        if (setjmp(here_)) {                                    \
            (r)->exhausted = true;                              \
            stop(r);                                            \
        } else {                                                \
            call;                                               \
        }                                                       \
        arena_divert(arena_, before_);                          \
    } while (0)

static void start_element(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int n_namespaces,
                          const xmlChar **namespaces, int n_attrs, int n_defaulted, const xmlChar **attrs)
{
    struct reader *r = user;
    (void)prefix, (void)uri, (void)n_namespaces, (void)namespaces, (void)n_defaulted;
    if (!r->stopped)
        WITHIN_PARSER(r, begin_element(r, (const char *)name, n_attrs, attrs));
}

static void end_element(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
    struct reader *r = user;
    (void)name, (void)prefix, (void)uri;
    if (!r->stopped && r->open)
        WITHIN_PARSER(r, finish_element(r));
}

static void characters(void *user, const xmlChar *bytes, int length)
{
    struct reader *r = user;
    if (!r->stopped && r->open)
        WITHIN_PARSER(r, add_characters(r, (const char *)bytes, (size_t)length));
}

static void doctype(void *user, const xmlChar *name, const xmlChar *external, const xmlChar *system)
{
    struct reader *r = user;
    (void)name, (void)external, (void)system;
    if (!r->stopped)
        WITHIN_PARSER(r, refuse_doctype(r));
}

static void parser_error(void *user, xmlErrorPtr e)
{
    struct reader *r = user;
    if (!r->stopped)
        WITHIN_PARSER(r, report_fault(r, e));
}

/* ---- reading ---- */

bool xml_recognise(const char *text, size_t size)
{
    size_t at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < size && c_isspace(text[at]))
        at++;
    return at < size && text[at] == '<';
}

/* The first offset from at on whose byte is of no character that XML has; the end of the text when there is none. */
static size_t next_bad_byte(const struct source *s, size_t at)
{
    for (size_t length = 1; at < s->size; at += length) {
        unsigned char c = (unsigned char)s->text[at];
        length = c < 0x80 ? 1 : source_utf8_length(s, at);
        bool none = c == 0xef && (source_has(s, at, "\xef\xbf\xbe") || source_has(s, at, "\xef\xbf\xbf"));
        if (!length || none || (c < ' ' && c != '\n' && c != '\r' && c != '\t'))
            return at;
    }
    return at;
}

/* Says where bytes are of no character. The parser would lose its way there: it reads an underscore in their place. */
static void check_bytes(struct xml *x)
{
    struct source *s = &x->source;
    size_t last = s->size, at = next_bad_byte(s, 0);
    char *mended = at < s->size ? arena_memdup(s->arena, s->text, s->size) : NULL;
    for (; at < s->size && s->errors < SOURCE_MAX_REPORTS; at = next_bad_byte(s, at + 1)) {
        bool control = (unsigned char)s->text[at] < ' ';
        if (at != last + 1)
            (void)xml_error(x, at, control ? "remove it" : "save the file as UTF-8", "xml-syntax",
                            control ? "a control character in the text" : "bytes that are not UTF-8");
        last = at;
        mended[at] = '_';
    }
    if (mended)
        s->text = mended;
}

static void free_parser(void *parser)
{
    xmlFreeParserCtxt(parser);
}

static xmlParserCtxtPtr make_parser(struct reader *r)
{
    const struct source *s = &r->x->source;
    xmlParserCtxtPtr parser = xmlCreateMemoryParserCtxt(s->text, (int)s->size);
    if (!parser)
        arena_exhausted(s->arena);
    arena_defer(s->arena, free_parser, parser);
    *parser->sax = (xmlSAXHandler){.initialized = XML_SAX2_MAGIC,
                                   .startElementNs = start_element,
                                   .endElementNs = end_element,
                                   .characters = characters,
                                   .ignorableWhitespace = characters,
                                   .cdataBlock = characters,
                                   .internalSubset = doctype,
                                   .serror = parser_error};
    /* After a fault it goes on, so that one run shows them all. The entities that it replaces are the predefined ones.
     * Its own limits of size would come before ours. */
    (void)xmlCtxtUseOptions(parser, XML_PARSE_NONET | XML_PARSE_RECOVER | XML_PARSE_IGNORE_ENC | XML_PARSE_NOENT |
                                        XML_PARSE_HUGE);
    parser->userData = r;
    return parser;
}

odlc_status xml_parse(struct arena *arena, struct diags *diags, const char *path, const char *text, size_t size,
                      struct xml **out)
{
    struct reader *r = arena_new(arena, struct reader);
    struct xml *x = r->x = arena_new(arena, struct xml);
    struct source *s = &x->source;
    TRY(source_init(s, arena, diags, path, text, size));
    source_find_lines(s);
    if (!size)
        return xml_error(x, 0, NULL, "xml-syntax", "the file is empty");
    check_bytes(x);
    if (s->errors >= SOURCE_MAX_REPORTS || !xml_within_limits(x))
        return ODLC_ERR_INVALID;
    errno = 0;
    r->parser = make_parser(r);
    (void)xmlParseDocument(r->parser);
    /* The parser does not say of all memory that it misses, and goes on without what was to be there. */
    if (r->exhausted || errno == ENOMEM)
        arena_exhausted(arena);
    if (!s->errors && !r->root)
        (void)xml_error(x, 0, NULL, "xml-syntax", "the file holds no element");
    if (s->errors)
        return ODLC_ERR_INVALID;
    x->root = r->root;
    *out = x;
    return ODLC_OK;
}
