/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/source/pbtxt_scan.h"

#include <string.h>

#include "base/c_locale.h"
#include "base/utf8.h"

void scan_begin(struct scan *s, struct diags *diags, const struct file *file)
{
    *s = (struct scan){.diags = diags, .file = file, .text = (const char *)file->data, .size = file->size};
    if (s->size >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0)
        s->pos = 3; /* a byte order mark is no part of the text */
}

odlc_status scan_error(struct scan *s, size_t at, const char *code, const char *hint, const char *format, ...)
{
    struct odlc_diag place = {.file = s->file->path, .hint = hint};
    text_place(s->diags->arena, s->size ? s->text : "", s->size, at, &place);
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(s->diags->arena, format, args);
    va_end(args);
    return diag_error(s->diags, ODLC_ERR_INVALID, &place, code, "%s", message);
}

odlc_status scan_expected(struct scan *s, const char *expected)
{
    if (scan_at_end(s))
        return scan_error(s, s->pos, "pbtxt-syntax", NULL, "the text ends where %s is due", expected);
    unsigned char c = (unsigned char)s->text[s->pos];
    if (c > ' ' && c < 0x7f)
        return scan_error(s, s->pos, "pbtxt-syntax", NULL, "'%c' where %s is due", c, expected);
    return scan_error(s, s->pos, "pbtxt-syntax", "a file in the binary form is to be called .pb",
                      "the byte 0x%02x where %s is due", c, expected);
}

bool scan_at_end(const struct scan *s)
{
    return s->pos >= s->size;
}

/* The byte so far behind the place at work, or '\0'. */
static char ahead(const struct scan *s, size_t n)
{
    return n < s->size - s->pos ? s->text[s->pos + n] : '\0';
}

char scan_peek(struct scan *s)
{
    for (; s->pos < s->size; s->pos++) {
        char c = s->text[s->pos];
        if (c == '#') {
            const char *end = memchr(s->text + s->pos, '\n', s->size - s->pos);
            s->pos = end ? (size_t)(end - s->text) : s->size - 1;
        } else if (c != ' ' && !(c >= '\t' && c <= '\r')) {
            return c;
        }
    }
    return '\0';
}

bool scan_accept(struct scan *s, char c)
{
    if (scan_peek(s) != c || scan_at_end(s))
        return false;
    s->pos++;
    return true;
}

static bool is_word(char c)
{
    return starts_word(c) || c_isdigit(c);
}

odlc_status scan_word(struct scan *s, const char **word, size_t *length)
{
    if (!starts_word(scan_peek(s)))
        return scan_expected(s, "a name");
    size_t from = s->pos;
    while (is_word(ahead(s, 0)))
        s->pos++;
    *word = s->text + from;
    *length = s->pos - from;
    return ODLC_OK;
}

/* ---- strings ---- */

static int digit_value(char c)
{
    return c_isdigit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/* The value of up to `most` digits at the place at work, which they move on; *count: how many there are. */
static uint32_t digits(struct scan *s, int base, unsigned most, unsigned *count)
{
    uint32_t value = 0;
    for (*count = 0; *count < most && digit_value(ahead(s, 0)) < base; ++*count)
        value = value * (uint32_t)base + (uint32_t)digit_value(s->text[s->pos++]);
    return value;
}

/* \uXXXX (two of them for a surrogate pair) and \UXXXXXXXX, from behind the letter on. */
static odlc_status scan_unicode(struct scan *s, size_t at, char letter, char out[4], unsigned *length)
{
    unsigned most = letter == 'u' ? 4 : 8, count;
    uint32_t c = digits(s, 16, most, &count);
    if (count < most)
        return scan_error(s, at, "pbtxt-syntax", NULL, "\\%c needs %u hexadecimal digits", letter, most);
    if (c >= 0xd800 && c < 0xdc00 && ahead(s, 0) == '\\' && ahead(s, 1) == 'u') {
        s->pos += 2;
        uint32_t low = digits(s, 16, 4, &count);
        c = count == 4 && low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : c;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return scan_error(s, at, "pbtxt-syntax", NULL, "\\%c does not name a character", letter);
    *length = utf8_encode(c, out);
    return ODLC_OK;
}

/* What a backslash at the place at work, and what follows it, stand for. */
static odlc_status scan_escape(struct scan *s, char out[4], unsigned *length)
{
    static const char letters[] = "abfnrtv?\\'\"", bytes[] = "\a\b\f\n\r\t\v?\\'\"";
    size_t at = s->pos;
    char c = ahead(s, 1);
    unsigned count;
    const char *letter = c ? strchr(letters, c) : NULL;
    *length = 1;
    s->pos += 2;
    if (letter) {
        out[0] = bytes[letter - letters];
        return ODLC_OK;
    }
    if (c == 'u' || c == 'U')
        return scan_unicode(s, at, c, out, length);
    bool hex = c == 'x' || c == 'X';
    s->pos -= !hex;
    uint32_t value = hex ? digits(s, 16, 2, &count) : digits(s, 8, 3, &count);
    if (count == 0 || value > 0xff)
        return scan_error(s, at, "pbtxt-syntax", "write a backslash as \\\\", "unknown escape in a string");
    out[0] = (char)value;
    return ODLC_OK;
}

static void add_bytes(struct arena *arena, text *out, const char *bytes, size_t length)
{
    if (out && length > 0)
        text_add_bytes(arena, out, bytes, length);
}

/* One literal, whose quotation mark is at the place at work. */
static odlc_status scan_literal(struct scan *s, struct arena *arena, text *out)
{
    size_t open = s->pos++, from = s->pos;
    char quote = s->text[open];
    for (;;) {
        char c = ahead(s, 0);
        if (c != quote && c != '\\' && c != '\n' && c != '\0') {
            s->pos++;
            continue;
        }
        add_bytes(arena, out, s->text + from, s->pos - from);
        if (c == quote) {
            s->pos++;
            return ODLC_OK;
        }
        if (c != '\\')
            return scan_error(s, open, "pbtxt-syntax", "line breaks within a string are written as \\n",
                              "a string has no end on its line");
        char bytes[4];
        unsigned length;
        TRY(scan_escape(s, bytes, &length));
        add_bytes(arena, out, bytes, length);
        from = s->pos;
    }
}

odlc_status scan_string(struct scan *s, struct arena *arena, text *out)
{
    char c = scan_peek(s);
    if (c != '"' && c != '\'')
        return scan_expected(s, "a string");
    for (; c == '"' || c == '\''; c = scan_peek(s))
        TRY(scan_literal(s, arena, out));
    return ODLC_OK;
}

/* ---- numbers ---- */

static odlc_status bad_number(struct scan *s, const struct number *n)
{
    return scan_error(s, n->at, "pbtxt-syntax", "numbers look like 12, -0x1F, 0.5 or 2e-3", "malformed number");
}

static void read_integer(const struct scan *s, struct number *n, size_t skip, int base)
{
    n->integer = n->fits = true;
    for (size_t i = skip; i < n->length; i++) {
        uint64_t digit = (uint64_t)digit_value(s->text[n->from + i]);
        if (ckd_mul(&n->magnitude, n->magnitude, (uint64_t)base) || ckd_add(&n->magnitude, n->magnitude, digit))
            n->fits = false;
    }
}

static size_t span(const struct scan *s, const struct number *n, size_t from, const char *of)
{
    size_t i = from;
    while (i < n->length && strchr(of, s->text[n->from + i]))
        i++;
    return i - from;
}

#define DIGITS "0123456789"

/* Whether the characters are those of a decimal number with a point, an exponent or a final f. */
static bool is_real(const struct scan *s, const struct number *n)
{
    const char *text = s->text + n->from;
    size_t whole = span(s, n, 0, DIGITS), i = whole, part = 0;
    if (i < n->length && text[i] == '.') {
        part = span(s, n, i + 1, DIGITS);
        i += 1 + part;
    }
    if (whole + part == 0)
        return false;
    if (i < n->length && (text[i] == 'e' || text[i] == 'E')) {
        i++;
        i += i < n->length && (text[i] == '+' || text[i] == '-');
        size_t exponent = span(s, n, i, DIGITS);
        if (exponent == 0)
            return false;
        i += exponent;
    }
    i += i < n->length && (text[i] == 'f' || text[i] == 'F');
    return i == n->length;
}

/* Whether letters spell a word of small ones, in any case; locales have no say in it. */
static bool is_same_word(const char *letters, const char *word)
{
    size_t i = 0;
    while (word[i] && (letters[i] | 0x20) == word[i])
        i++;
    return !word[i];
}

static bool is_special(const struct scan *s, const struct number *n)
{
    static const char *const words[] = {"inf", "infinity", "nan"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (n->length == strlen(words[i]) && is_same_word(s->text + n->from, words[i]))
            return true;
    return false;
}

/* All characters that belong to the number, or would if it were well formed. */
static size_t number_length(const struct scan *s)
{
    size_t i = 0;
    bool hex = ahead(s, 0) == '0' && (ahead(s, 1) == 'x' || ahead(s, 1) == 'X');
    for (char c = ahead(s, 0); is_word(c) || c == '.'; c = ahead(s, i)) {
        bool exponent = !hex && (c == 'e' || c == 'E');
        i++;
        if (exponent && (ahead(s, i) == '+' || ahead(s, i) == '-'))
            i++;
    }
    return i;
}

odlc_status scan_number(struct scan *s, struct number *out)
{
    scan_peek(s);
    struct number n = {.at = s->pos};
    n.negative = scan_accept(s, '-');
    scan_peek(s);
    n.from = s->pos;
    n.length = number_length(s);
    if (n.length == 0)
        return scan_expected(s, "a number");
    const char *text = s->text + n.from;
    bool zero = text[0] == '0' && n.length > 1, hex = zero && (text[1] == 'x' || text[1] == 'X');
    bool octal = zero && c_isdigit(text[1]);
    if (hex && n.length > 2 && span(s, &n, 2, DIGITS "abcdefABCDEF") == n.length - 2)
        read_integer(s, &n, 2, 16);
    else if (octal && span(s, &n, 0, "01234567") == n.length)
        read_integer(s, &n, 1, 8);
    else if (!zero && span(s, &n, 0, DIGITS) == n.length)
        read_integer(s, &n, 0, 10);
    else if (octal || (!is_special(s, &n) && !is_real(s, &n)))
        return bad_number(s, &n);
    n.decimal = !hex && !octal;
    s->pos += n.length;
    *out = n;
    return ODLC_OK;
}

double number_real(const struct scan *s, const struct number *n)
{
    char near[128];
    const char *digits = near;
    if (n->length < sizeof near) {
        memcpy(near, s->text + n->from, n->length);
        near[n->length] = '\0';
    } else {
        digits = arena_strndup(s->diags->arena, s->text + n->from, n->length);
    }
    double value = c_strtod(digits, NULL);
    return n->negative ? -value : value;
}
