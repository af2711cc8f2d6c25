/* SPDX-License-Identifier: Apache-2.0 */
#include "text/json.h"

#include <string.h>

#include "base/c_locale.h"
#include "base/utf8.h"

struct scan {
    struct json *j;
    const char *text;
    size_t size, pos;
    size_t n_values;
    uint32_t depth;
    bool stopped; /* after an error from which no sure way leads on */
};

/* An error that leaves no doubt about what is meant. */
static void tell(struct scan *s, size_t offset, const char *hint, const char *message)
{
    (void)json_error_at(s->j, offset, NULL, hint, "json-syntax", "%s", message);
}

static void complain(struct scan *s, size_t offset, const char *hint, const char *message)
{
    tell(s, offset, hint, message);
    s->j->broken = true;
}

static void give_up(struct scan *s, size_t offset, const char *hint, const char *message)
{
    complain(s, offset, hint, message);
    s->stopped = true;
}

static bool at_end(const struct scan *s)
{
    return s->pos >= s->size;
}

static char peek(const struct scan *s)
{
    return at_end(s) ? '\0' : s->text[s->pos];
}

static bool is_word(char c)
{
    return c_isalpha(c) || c_isdigit(c) || c == '_';
}

static bool starts_comment(const struct scan *s)
{
    const struct source *source = &s->j->source;
    return peek(s) == '#' || source_has(source, s->pos, "//") || source_has(source, s->pos, "/*");
}

/* Up to the end of the line, or of its own. */
static void skip_comment(struct scan *s)
{
    size_t from = s->pos;
    tell(s, from, "remove it", "JSON has no comments");
    const char *line = memchr(s->text + from, '\n', s->size - from);
    s->pos = line ? (size_t)(line - s->text) : s->size;
    if (source_has(&s->j->source, from, "/*"))
        s->pos = source_skip_past(&s->j->source, from + 2, "*/");
    for (size_t i = from; i < s->pos; i++)
        if (s->text[i] == '\n')
            vec_push(s->j->source.arena, &s->j->source.lines, (uint32_t)(i + 1));
}

static void skip_space(struct scan *s)
{
    while (!at_end(s)) {
        char c = s->text[s->pos];
        if (starts_comment(s)) {
            skip_comment(s);
            continue;
        }
        if (c == '\n')
            vec_push(s->j->source.arena, &s->j->source.lines, (uint32_t)(s->pos + 1));
        else if (c != ' ' && c != '\t' && c != '\r')
            return;
        s->pos++;
    }
}

/* The four hex digits after \u, or -1. */
static int32_t hex4(const struct scan *s, size_t at)
{
    int32_t value = 0;
    for (size_t i = 0; i < 4; i++) {
        char c = at + i < s->size ? s->text[at + i] : '\0';
        int digit = c_isdigit(c)           ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* An escape whose backslash is at s->pos, and not the last byte. */
static void scan_escape(struct scan *s, char quote)
{
    size_t at = s->pos;
    char c = s->text[at + 1];
    s->pos += 2;
    if (c != 'u') {
        if (c != quote && (!c || !strchr("\"\\/bfnrt", c)))
            complain(s, at, "write a backslash as \\\\", "unknown escape in a string");
        return;
    }
    int32_t unit = hex4(s, at + 2);
    if (unit < 0) {
        complain(s, at, NULL, "\\u needs four hexadecimal digits");
        return;
    }
    s->pos += 4;
    if (unit == 0) {
        complain(s, at, NULL, "a string must not hold the character \\u0000");
    } else if (unit >= 0xd800 && unit <= 0xdfff) {
        bool paired = unit < 0xdc00 && s->pos + 1 < s->size && s->text[s->pos] == '\\' && s->text[s->pos + 1] == 'u';
        int32_t low = paired ? hex4(s, s->pos + 2) : -1;
        if (low >= 0xdc00 && low <= 0xdfff)
            s->pos += 6;
        else
            complain(s, at, NULL, "half of a surrogate pair in a string");
    }
}

/* The rest of the line counts as the string's, but for the punctuation at its end, so that what follows still reads. */
static void unterminated(struct scan *s, size_t open)
{
    complain(s, open, s->text[open] == '"' ? "end it with a double quote on the same line" : "use double quotes",
             "unterminated string");
    while (!at_end(s) && peek(s) != '\n')
        s->pos++;
    while (s->pos > open + 1 && strchr(" \t\r,]}", s->text[s->pos - 1]))
        s->pos--;
}

/* Such a string holds what would mean something else in double quotes: it may not end where it seems to. */
static void single_quoted(struct scan *s, size_t open, size_t close)
{
    tell(s, open, "use double quotes", "string in single quotes");
    for (size_t i = open + 1; i < close; i++)
        s->j->broken = s->j->broken || s->text[i] == '"' || (s->text[i] == '\\' && s->text[i + 1] == '\'');
}

static void scan_string(struct scan *s)
{
    size_t open = s->pos++;
    char quote = s->text[open];
    for (;;) {
        if (at_end(s) || peek(s) == '\n') {
            unterminated(s, open);
            return;
        }
        char c = peek(s);
        if (c == quote) {
            if (quote == '\'')
                single_quoted(s, open, s->pos);
            s->pos++;
            if (is_word(peek(s))) /* ["CPU, "GPU"]: that was the next string's opening quote */
                unterminated(s, open);
            return;
        }
        if (c == '\\' && s->pos + 1 < s->size && s->text[s->pos + 1] != '\n') {
            scan_escape(s, quote);
            continue;
        }
        size_t length = source_utf8_length(&s->j->source, s->pos);
        if ((unsigned char)c < 0x20)
            complain(s, s->pos, "write it as an escape, such as \\t", "control character in a string");
        else if (length == 0)
            complain(s, s->pos, "save the file as UTF-8", "bytes that are not UTF-8 in a string");
        s->pos += length ? length : 1;
    }
}

/* The character of an escape at *from, which has been checked and is passed. */
static uint32_t escaped_character(const struct scan *s, size_t *from)
{
    static const char letters[] = "bfnrt", characters[] = "\b\f\n\r\t";
    char c = s->text[*from + 1];
    const char *letter = strchr(letters, c);
    size_t at = *from + 2;
    *from = at;
    if (c != 'u')
        return (uint32_t)(letter ? characters[letter - letters] : c);
    uint32_t unit = (uint32_t)hex4(s, at);
    *from += 4;
    if (unit < 0xd800 || unit > 0xdbff)
        return unit;
    *from += 6;
    return 0x10000 + ((unit - 0xd800) << 10) + ((uint32_t)hex4(s, at + 6) - 0xdc00);
}

/* The text between the quotes at `open` and before s->pos without its escapes; NULL when some are wrong. */
static const char *unescape(const struct scan *s, size_t open)
{
    if (s->j->broken)
        return NULL;
    size_t end = s->pos - 1;
    char *string = arena_alloc(s->j->source.arena, s->pos - open), *to = string;
    for (size_t from = open + 1; from < end;) {
        if (s->text[from] == '\\')
            to += utf8_encode(escaped_character(s, &from), to);
        else
            *to++ = s->text[from++];
    }
    return string;
}

/* What other languages call these; `literal` is what some of them mean. */
static const struct {
    const char *word, *literal, *hint;
} foreign[] = {
    {"True", "true", "did you mean true?"},
    {"TRUE", "true", "did you mean true?"},
    {"False", "false", "did you mean false?"},
    {"FALSE", "false", "did you mean false?"},
    {"None", NULL, "leave the key out where there is no value"},
    {"nil", NULL, "leave the key out where there is no value"},
    {"undefined", NULL, "leave the key out where there is no value"},
    {"NaN", NULL, "JSON has finite numbers alone"},
    {"nan", NULL, "JSON has finite numbers alone"},
    {"inf", NULL, "JSON has finite numbers alone"},
    {"Inf", NULL, "JSON has finite numbers alone"},
    {"Infinity", NULL, "JSON has finite numbers alone"},
};

/* The entry of a word, or -1. */
static int find_foreign(const char *word, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(foreign); i++)
        if (strlen(foreign[i].word) == length && memcmp(foreign[i].word, word, length) == 0)
            return (int)i;
    return -1;
}

static size_t skip_digits(struct scan *s)
{
    size_t from = s->pos;
    while (c_isdigit(peek(s)))
        s->pos++;
    return s->pos - from;
}

static void scan_number(struct scan *s, struct json_value *value)
{
    enum { LONGEST = 60 };
    char number[LONGEST + 1] = "";
    size_t from = s->pos;
    bool good = true;
    if (peek(s) == '-')
        s->pos++;
    bool zero = peek(s) == '0';
    size_t digits = skip_digits(s);
    good = digits > 0 && !(zero && digits > 1);
    if (peek(s) == '.') {
        s->pos++;
        good = skip_digits(s) > 0 && good;
    }
    if (peek(s) == 'e' || peek(s) == 'E') {
        s->pos++;
        if (peek(s) == '+' || peek(s) == '-')
            s->pos++;
        good = skip_digits(s) > 0 && good;
    }
    if (is_word(peek(s)) || peek(s) == '.') {
        good = false;
        while (is_word(peek(s)) || peek(s) == '.')
            s->pos++;
    }
    size_t sign = s->text[from] == '-';
    int word = good ? -1 : find_foreign(s->text + from + sign, s->pos - from - sign);
    if (!good)
        complain(s, from, word >= 0 ? foreign[word].hint : "JSON numbers look like -1, 0.5 or 2e-3",
                 "malformed number");
    else if (s->pos - from > LONGEST)
        complain(s, from, NULL, "number of more than 60 characters");
    else
        memcpy(number, s->text + from, s->pos - from);
    value->kind = JSON_NUMBER;
    value->number = c_strtod(number, NULL);
}

/* Of true, false or null. */
static void set_literal(struct json_value *value, const char *literal)
{
    value->kind = *literal == 'n' ? JSON_NULL : JSON_BOOL;
    value->truth = *literal == 't';
}

static void scan_word(struct scan *s, struct json_value *value)
{
    struct arena *arena = s->j->source.arena;
    size_t from = s->pos;
    while (is_word(peek(s)))
        s->pos++;
    size_t length = s->pos - from;
    static const char *const literals[] = {"true", "false", "null"};
    for (size_t i = 0; i < COUNT_OF(literals); i++)
        if (length == strlen(literals[i]) && memcmp(s->text + from, literals[i], length) == 0) {
            set_literal(value, literals[i]);
            return;
        }
    const char *shown = arena_strndup(arena, s->text + from, length < 40 ? length : 40);
    const char *message = arena_printf(arena, "bad literal '%s'", shown);
    int i = find_foreign(s->text + from, length);
    if (i >= 0 && foreign[i].literal) {
        tell(s, from, foreign[i].hint, message);
        set_literal(value, foreign[i].literal);
        return;
    }
    const char *nearest = i < 0 ? nearest_word(shown, literals, COUNT_OF(literals)) : NULL;
    complain(s, from,
             i >= 0    ? foreign[i].hint
             : nearest ? arena_printf(arena, "did you mean %s?", nearest)
                       : "put text in double quotes",
             message);
}

/* A byte that cannot begin anything. */
static void unexpected(struct scan *s)
{
    char c = peek(s);
    if (c > ' ' && c < 0x7f)
        give_up(s, s->pos, NULL, arena_printf(s->j->source.arena, "unexpected '%c'", c));
    else
        give_up(s, s->pos, NULL, arena_printf(s->j->source.arena, "unexpected byte 0x%02x", (unsigned char)c));
}

static bool starts_value(char c)
{
    return c == '{' || c == '[' || c == '"' || c == '\'' || c == '-' || is_word(c);
}

static struct json_value *scan_value(struct scan *s, struct json_value *parent, uint32_t position);

/* What stands between a key and its value. */
static void scan_colon(struct scan *s)
{
    size_t end = s->pos;
    skip_space(s);
    if (peek(s) == ':')
        s->pos++;
    else if (starts_value(peek(s)))
        complain(s, end, NULL, "missing ':' after a key");
    else
        give_up(s, end, NULL, "missing ':' and value after a key");
}

/* A key without quotes, and a colon behind it that may be missing. */
static void scan_bare_key(struct scan *s)
{
    if (!is_word(peek(s))) {
        unexpected(s);
        return;
    }
    complain(s, s->pos, "put the key in double quotes", "key without quotes");
    while (is_word(peek(s)))
        s->pos++;
    skip_space(s);
    if (peek(s) == ':')
        s->pos++;
}

/* "key": value. NULL when there is no value. */
static struct json_value *scan_member(struct scan *s, struct json_value *parent, uint32_t position)
{
    uint32_t begin = JSON_NO_KEY;
    const char *key = NULL;
    if (peek(s) == '"' || peek(s) == '\'') {
        begin = (uint32_t)s->pos;
        scan_string(s);
        key = unescape(s, begin);
        scan_colon(s);
    } else {
        scan_bare_key(s);
    }
    struct json_value *value = s->stopped ? NULL : scan_value(s, parent, position);
    if (value) {
        value->key = key;
        value->key_begin = begin;
    }
    return value;
}

static void unclosed(struct scan *s, size_t open, char close)
{
    bool object = close == '}';
    give_up(s, open, arena_printf(s->j->source.arena, "add the missing '%c'", close),
            object ? "unclosed brace" : "unclosed bracket");
}

/* What follows a child: a comma or the end. Sets *comma to the comma's offset + 1, or 0. Returns whether to go on. */
static bool scan_separator(struct scan *s, size_t open, char close, size_t *comma)
{
    size_t end = s->pos;
    *comma = 0;
    skip_space(s);
    char c = peek(s);
    if (c == ',') {
        s->pos++;
        *comma = s->pos;
    } else if (at_end(s)) {
        unclosed(s, open, close);
    } else if (starts_value(c)) {
        tell(s, end, NULL, "missing comma");
        s->j->broken = s->j->broken || end == s->pos; /* with no blank between, they may be one value */
    } else if (c != close) {
        if (c == '}' || c == ']') {
            give_up(s, s->pos, NULL, arena_printf(s->j->source.arena, "'%c' where '%c' is due", c, close));
            source_note(&s->j->source, open, "json-opened", "this is still open");
        } else {
            unexpected(s);
        }
    }
    return !s->stopped;
}

static void scan_container(struct scan *s, struct json_value *self)
{
    struct json_value **last = &self->child;
    size_t open = s->pos++;
    char close = s->text[open] == '{' ? '}' : ']';
    if (s->depth == JSON_MAX_DEPTH) {
        give_up(s, open, NULL, arena_printf(s->j->source.arena, "nested more than %d levels deep", JSON_MAX_DEPTH));
        return;
    }
    s->depth++;
    size_t comma = 0;
    for (uint32_t n = 0; !s->stopped;) {
        skip_space(s);
        if (at_end(s)) {
            unclosed(s, open, close);
        } else if (peek(s) == close) {
            if (comma)
                tell(s, comma - 1, "remove it", arena_printf(s->j->source.arena, "trailing comma before '%c'", close));
            s->pos++;
            break;
        } else if (peek(s) == ',') {
            tell(s, s->pos++, "remove it", "nothing before this comma");
        } else {
            *last = close == '}' ? scan_member(s, self, n++) : scan_value(s, self, n++);
            last = *last ? &(*last)->next : last;
            if (s->stopped || !scan_separator(s, open, close, &comma))
                break;
        }
    }
    s->depth--;
}

/* NULL when there are too many. */
static struct json_value *scan_value(struct scan *s, struct json_value *parent, uint32_t position)
{
    skip_space(s);
    if (s->n_values++ == JSON_MAX_VALUES) {
        give_up(s, s->pos, NULL, arena_printf(s->j->source.arena, "more than %zu values", JSON_MAX_VALUES));
        return NULL;
    }
    struct json_value *value = arena_new(s->j->source.arena, struct json_value);
    *value = (struct json_value){
        .begin = (uint32_t)s->pos, .key_begin = JSON_NO_KEY, .position = position, .parent = parent};
    char c = peek(s);
    if (at_end(s)) {
        give_up(s, s->size, NULL, "the text ends where a value is due");
    } else if (c == '{' || c == '[') {
        value->kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        scan_container(s, value);
    } else if (c == '"' || c == '\'') {
        scan_string(s);
        value->kind = JSON_STRING;
        value->string = unescape(s, value->begin);
    } else if (c == '-' || c_isdigit(c)) {
        scan_number(s, value);
    } else if (is_word(c)) {
        scan_word(s, value);
    } else if (c == ',' || c == '}' || c == ']') {
        complain(s, s->pos, NULL, "missing value");
    } else {
        unexpected(s);
    }
    value->end = (uint32_t)s->pos;
    return value;
}

void json_scan(struct json *j)
{
    struct scan s = {.j = j, .text = j->source.text, .size = j->source.size};
    vec_push(j->source.arena, &j->source.lines, 0);
    s.pos = source_text_start(&j->source);
    j->root = scan_value(&s, NULL, 0);
    if (s.stopped)
        return;
    skip_space(&s);
    if (!at_end(&s))
        complain(&s, s.pos, NULL, "text after the end of the value");
}
