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
    uint32_t last_error;        /* where; the parser may repeat itself there */
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

static bool starts_with(const struct source *s, size_t at, const char *word)
{
    size_t length = strlen(word);
    return at + length <= s->size && memcmp(s->text + at, word, length) == 0;
}

/* The offset after the next `word` from at on; the end of the text when there is none. */
static size_t skip_past(const struct source *s, size_t at, const char *word)
{
    const char *found = memmem(s->text + at, s->size - at, word, strlen(word));
    return found ? (size_t)(found - s->text) + strlen(word) : s->size;
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
        if (starts_with(s, at, "<!--"))
            at = skip_past(s, at, "-->");
        else if (starts_with(s, at, "<![CDATA["))
            at += strlen("<![CDATA[");
        else
            return at < s->size && s->text[at] != '<' ? at : node->offset;
    }
}

/* ---- diagnostics ---- */

odlc_status xml_error(struct xml *x, size_t offset, const char *hint, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(x->source.arena, format, args);
    va_end(args);
    return source_error(&x->source, offset, NULL, hint, code, message);
}

void xml_warn(struct xml *x, size_t offset, const char *hint, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(x->source.arena, format, args);
    va_end(args);
    source_warn(&x->source, offset, NULL, hint, code, message);
}

void xml_note(struct xml *x, size_t offset, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(x->source.arena, format, args);
    va_end(args);
    source_note(&x->source, offset, code, message);
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
    for (size_t i = at; i > 0; i--)
        if (s->text[i - 1] == '<')
            return i - 1;
    return 0;
}

static bool ends_name(char c)
{
    return c_isspace(c) || c == '=' || c == '>' || c == '/';
}

/* Where attribute `name` stands in the tag at an offset. */
static uint32_t attr_offset(const struct source *s, size_t tag, size_t end, const char *name)
{
    size_t at = tag, length = strlen(name);
    while (at < end && !ends_name(s->text[at]))
        at++;
    while (at < end) {
        while (at < end && c_isspace(s->text[at]))
            at++;
        size_t start = at;
        while (at < end && !ends_name(s->text[at]))
            at++;
        if (at - start >= length && memcmp(s->text + at - length, name, length) == 0 &&
            (at - start == length || s->text[at - length - 1] == ':'))
            return (uint32_t)start;
        while (at < end && s->text[at] != '"' && s->text[at] != '\'')
            at++;
        const char *close = at < end ? memchr(s->text + at + 1, s->text[at], end - at - 1) : NULL;
        at = close ? (size_t)(close - s->text) + 1 : end;
    }
    return (uint32_t)tag;
}

/* ---- making the tree ---- */

/* The parser's names live as long as its dictionary, which the arena holds; values are given as a range. */
static const struct xml_attr *read_attrs(struct reader *r, const xmlChar **given, int count, uint32_t tag, size_t end)
{
    enum { NAME = 0, VALUE = 3, END = 4, WIDTH = 5 };
    struct source *s = &r->x->source;
    struct xml_attr *attrs = arena_array(s->arena, struct xml_attr, (size_t)count);
    for (int i = 0; i < count; i++) {
        const char *const *a = (const char *const *)given + (size_t)i * WIDTH;
        attrs[i] = (struct xml_attr){.name = a[NAME],
                                     .value = arena_strndup(s->arena, a[VALUE], (size_t)(a[END] - a[VALUE])),
                                     .offset = attr_offset(s, tag, end, a[NAME])};
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

/* The parser's message in the form of ours: no capital at the start, no line end. What it calls internal is of the
 * text, too. */
static const char *parser_message(struct reader *r, const xmlError *e)
{
    static const char internal[] = "internal error: ";
    const char *given = e->message ? e->message : "malformed XML";
    if (strncmp(given, internal, sizeof internal - 1) == 0)
        given += sizeof internal - 1;
    char *message = arena_strdup(r->x->source.arena, given);
    size_t length = strlen(message);
    while (length && (c_isspace(message[length - 1]) || message[length - 1] == '.'))
        message[--length] = '\0';
    if (c_isupper(message[0]) && !c_isupper(message[1]))
        message[0] = c_tolower(message[0]);
    return message;
}

static const char *parser_hint(const xmlError *e)
{
    switch (e->code) {
    case XML_ERR_INVALID_ENCODING:
    case XML_ERR_INVALID_CHAR:
        return "save the file as UTF-8 without control characters";
    case XML_ERR_UNDECLARED_ENTITY:
    case XML_WAR_UNDECLARED_ENTITY:
        return "only &lt; &gt; &amp; &quot; and &apos; are known; write a plain & as &amp;";
    case XML_ERR_NAME_REQUIRED:
    case XML_ERR_ENTITYREF_SEMICOL_MISSING:
    case XML_ERR_LT_IN_ATTRIBUTE:
        return "write a plain < as &lt; and a plain & as &amp;";
    default:
        return NULL;
    }
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
    bool mismatch = e->code == XML_ERR_TAG_NAME_MISMATCH;
    if (mismatch || e->code == XML_ERR_ATTRIBUTE_REDEFINED)
        at = tag_start(s, at);
    if (s->errors && r->last_error == at)
        return;
    r->last_error = (uint32_t)at;
    (void)xml_error(r->x, at, parser_hint(e), "xml-syntax", "%s", parser_message(r, e));
    if (mismatch && r->open)
        xml_note(r->x, r->open->offset, "xml-opened", "<%s> begins here", r->open->name);
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
    if (size >= 4 && (memcmp(text, "\xff\xfe<\0", 4) == 0 || memcmp(text, "\xfe\xff\0<", 4) == 0))
        return true; /* UTF-16: refused, but as XML */
    return at < size && text[at] == '<';
}

enum { MAX_ATTRS = 200 };

/* The parser compares the attributes of an element with each other, all with all: a tag of a million would take it
 * hours. An offset at which a tag has too many, or 0. */
static size_t crowded_tag(const struct source *s)
{
    uint32_t attrs = 0;
    bool in_tag = false;
    char quote = '\0';
    for (size_t at = 0; at < s->size; at++) {
        char c = s->text[at];
        if (c == '<') {
            bool comment = starts_with(s, at, "<!--"), data = starts_with(s, at, "<![CDATA[");
            in_tag = !comment && !data;
            attrs = 0;
            quote = '\0';
            if (!in_tag)
                at = skip_past(s, at, comment ? "-->" : "]]>") - 1;
        } else if (in_tag && quote) {
            quote = c == quote ? '\0' : quote;
        } else if (in_tag && (c == '"' || c == '\'')) {
            quote = c;
            if (++attrs > MAX_ATTRS)
                return at;
        } else if (c == '>') {
            in_tag = false;
        }
    }
    return 0;
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
    const char *zero = memchr(s->text, '\0', size);
    if (zero)
        return xml_error(x, (size_t)(zero - s->text), "save the file as UTF-8", "xml-syntax",
                         "the text holds a NUL byte");
    if (!size)
        return xml_error(x, 0, NULL, "xml-syntax", "the file is empty");
    size_t crowded = crowded_tag(s);
    if (crowded)
        return xml_error(x, crowded, NULL, "xml-limit", "more than %d attributes in one tag", MAX_ATTRS);
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
