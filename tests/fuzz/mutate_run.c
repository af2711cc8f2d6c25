/* SPDX-License-Identifier: Apache-2.0 */
/* Mutations for fuzz_run: graphs as text are changed token by token, so that most of them are still graphs; containers
 * as fuzz_dlc's are. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "mutate_container.h"
#include "mutate_flatbuffer.h"
#include "op/op.h"

enum token_kind { NUMBER, WORD, STRING, LIST, MARK };

struct token {
    size_t start, end;
    enum token_kind kind;
};

struct script {
    char *text; /* has room for max_size */
    size_t size, max_size;
    VEC(struct token) tokens;
    uint32_t *random;
};

/* ---- tokens ---- */

static size_t token_end(const char *text, size_t size, size_t at, enum token_kind *kind)
{
    char c = text[at];
    size_t end = at + 1;
    if (c == '"') {
        *kind = STRING;
        while (end < size && text[end] != '"')
            end += text[end] == '\\' && end + 1 < size ? 2 : 1;
        return end < size ? end + 1 : size;
    }
    if (c == '[') {
        *kind = LIST;
        while (end < size && text[end] != ']')
            end++;
        return end < size ? end + 1 : size;
    }
    bool number = isdigit((unsigned char)c) || (c == '-' && end < size && isdigit((unsigned char)text[end]));
    *kind = number ? NUMBER : isalpha((unsigned char)c) ? WORD : MARK;
    while (*kind != MARK && end < size && (isalnum((unsigned char)text[end]) || strchr("._+-", text[end])) &&
           !(text[end] == '-' && (text[end - 1] != 'e' || *kind == WORD)))
        end++;
    return end;
}

static void find_tokens(struct arena *arena, struct script *s)
{
    for (size_t at = 0, end; at < s->size; at = end) {
        enum token_kind kind;
        end = token_end(s->text, s->size, at, &kind);
        if (!isspace((unsigned char)s->text[at]))
            vec_push(arena, &s->tokens, (struct token){at, end, kind});
    }
}

static bool is(const struct script *s, size_t token, const char *mark)
{
    if (token >= s->tokens.count)
        return false;
    const struct token *t = &s->tokens.data[token];
    return t->end - t->start == strlen(mark) && memcmp(s->text + t->start, mark, strlen(mark)) == 0;
}

/* A token of that kind, or the number of tokens. */
static size_t pick(const struct script *s, enum token_kind kind)
{
    for (int tries = 0; s->tokens.count && tries < 64; tries++) {
        size_t i = random_below(s->random, (uint32_t)s->tokens.count);
        if (s->tokens.data[i].kind == kind)
            return i;
    }
    return s->tokens.count;
}

/* Tokens are not valid any more after an edit. */
static void edit(struct script *s, size_t start, size_t end, const char *text, size_t length)
{
    if (s->size - (end - start) + length > s->max_size)
        return;
    memmove(s->text + start + length, s->text + end, s->size - end);
    memcpy(s->text + start, text, length);
    s->size = s->size - (end - start) + length;
}

static void put(struct script *s, size_t token, const char *text)
{
    edit(s, s->tokens.data[token].start, s->tokens.data[token].end, text, strlen(text));
}

/* One token in place of another one. */
static void copy_token(struct script *s, size_t from, size_t to)
{
    char copy[256];
    if (from >= s->tokens.count)
        return;
    const struct token *t = &s->tokens.data[from];
    if (t->end - t->start >= sizeof copy)
        return;
    memcpy(copy, s->text + t->start, t->end - t->start);
    copy[t->end - t->start] = 0;
    put(s, to, copy);
}

/* ---- changes ---- */

static const char *special_number(uint32_t *random)
{
    static const char *const numbers[] = {"0",           "1",          "-1",
                                          "2",           "3",          "4",
                                          "5",           "7",          "8",
                                          "15",          "31",         "32",
                                          "63",          "64",         "100",
                                          "255",         "-2",         "-8",
                                          "-9",          "65535",      "2147483647",
                                          "-2147483648", "4294967295", "0.5",
                                          "-0.5",        "1e-30",      "9223372036854775807",
                                          "1e30",        "nan",        "-nan",
                                          "inf",         "-inf",       "-9223372036854775808"};
    return numbers[random_below(random, COUNT_OF(numbers))];
}

static void change_number(struct script *s)
{
    char near[32];
    size_t token = pick(s, NUMBER);
    if (token == s->tokens.count)
        return;
    snprintf(near, sizeof near, "%lld",
             (long long)(strtoull(s->text + s->tokens.data[token].start, NULL, 10) + random_below(s->random, 5) - 2));
    switch (random_below(s->random, 3)) {
    case 0:
        put(s, token, special_number(s->random));
        break;
    case 1:
        put(s, token, near);
        break;
    default:
        copy_token(s, pick(s, NUMBER), token);
    }
}

enum { MAX_DIMS = 10 };

/* Dims of a list, at most MAX_DIMS. */
static uint32_t read_dims(const struct script *s, const struct token *list, long long dims[MAX_DIMS])
{
    char copy[256] = {0}, *p = copy;
    size_t length = list->end - list->start - 1;
    uint32_t rank = 0;
    memcpy(copy, s->text + list->start + 1, length < sizeof copy ? length : sizeof copy - 1);
    while (rank < MAX_DIMS && (isdigit((unsigned char)*p) || *p == '-')) {
        dims[rank++] = strtoll(p, &p, 10);
        p += *p == ',';
    }
    return rank;
}

static void put_dims(struct script *s, size_t token, const long long *dims, uint32_t rank)
{
    char list[256] = "[", *p = list + 1;
    for (uint32_t i = 0; i < rank; i++)
        p += snprintf(p, (size_t)(list + sizeof list - p), "%s%lld", i ? "," : "", dims[i]);
    snprintf(p, (size_t)(list + sizeof list - p), "]");
    put(s, token, list);
}

/* Elements in braces behind their shape: one more or one less, in both. Only lists of one dimension. */
static void change_elements(struct script *s, size_t token, long long count)
{
    char number[32];
    struct token first = s->tokens.data[token + 1];
    size_t end = first.end;
    bool more = count <= 0 || (count < 12 && random_below(s->random, 2));
    snprintf(number, sizeof number, count > 0 ? "%s," : "%s", special_number(s->random));
    while (!more && end < s->size && s->text[end] != ',' && s->text[end] != '}')
        end++;
    if (more)
        edit(s, first.end, first.end, number, strlen(number));
    else
        edit(s, first.end, end + (end < s->size && s->text[end] == ','), "", 0);
    put_dims(s, token, &(long long){(long long)((unsigned long long)count + (more ? 1 : -1ull))}, 1);
}

static void change_shape(struct script *s)
{
    long long dims[MAX_DIMS];
    size_t token = pick(s, LIST);
    if (token == s->tokens.count)
        return;
    uint32_t rank = read_dims(s, &s->tokens.data[token], dims), at = rank ? random_below(s->random, rank) : 0;
    if (rank == 1 && is(s, token + 1, "{") && random_below(s->random, 4)) {
        change_elements(s, token, dims[0]);
        return;
    }
    switch (random_below(s->random, 4)) {
    case 0: /* an axis goes */
        if (rank) {
            memmove(&dims[at], &dims[at + 1], (--rank - at) * sizeof *dims);
            put_dims(s, token, dims, rank);
        }
        break;
    case 1: /* an axis comes */
        if (rank < MAX_DIMS) {
            memmove(&dims[at + 1], &dims[at], (rank - at) * sizeof *dims);
            dims[at] = 1 + random_below(s->random, 4);
            put_dims(s, token, dims, rank + 1);
        }
        break;
    case 2:
        copy_token(s, pick(s, LIST), token);
        break;
    default:
        if (rank) {
            dims[at] = random_below(s->random, 2) ? random_below(s->random, 9) : dims[random_below(s->random, rank)];
            put_dims(s, token, dims, rank);
        }
    }
}

/* A type becomes another one; other words stay. */
static void change_type(struct script *s)
{
    size_t token = pick(s, WORD);
    char word[32] = {0};
    if (token == s->tokens.count || s->tokens.data[token].end - s->tokens.data[token].start >= sizeof word)
        return;
    memcpy(word, s->text + s->tokens.data[token].start, s->tokens.data[token].end - s->tokens.data[token].start);
    if (dtype_from_name(word) != DT_NONE)
        put(s, token, dtype_info((enum dtype)(1 + random_below(s->random, DT_COUNT - 1)))->name);
    else if (op_find(word) && random_below(s->random, 4) == 0) /* seldom of use: another op has other params */
        put(s, token, random_op(s->random)->name);
}

/* Operands and results: another one, none, one more, one less. */
static void change_operand(struct script *s)
{
    size_t token = pick(s, STRING), other = pick(s, STRING);
    if (token == s->tokens.count || other == s->tokens.count)
        return;
    const struct token *t = &s->tokens.data[token], *o = &s->tokens.data[other];
    switch (random_below(s->random, 5)) {
    case 0:
        if (is(s, token + 1, ",") || is(s, token + 1, ")"))
            put(s, token, "-");
        break;
    case 1: {
        char more[256];
        int length = snprintf(more, sizeof more, ", %.*s", (int)(o->end - o->start), s->text + o->start);
        if (length < (int)sizeof more && (is(s, token + 1, ",") || is(s, token + 1, ")")))
            edit(s, t->end, t->end, more, (size_t)length);
        break;
    }
    case 2:
        if (is(s, token + 1, ","))
            edit(s, t->start, s->tokens.data[token + 1].end, "", 0);
        break;
    default:
        copy_token(s, other, token);
    }
}

static const struct op *op_of_word(const struct script *s, size_t token)
{
    char word[48] = {0};
    const struct token *t = &s->tokens.data[token];
    if (t->kind != WORD || t->end - t->start >= sizeof word)
        return NULL;
    memcpy(word, s->text + t->start, t->end - t->start);
    return op_find(word);
}

/* Another param of the op, as its row has it. */
static void add_param(struct script *s)
{
    size_t token = pick(s, WORD);
    const struct op *op = token < s->tokens.count ? op_of_word(s, token) : NULL;
    if (!op || !op->n_params)
        return;
    const struct param_def *def = &op->params[random_below(s->random, op->n_params)];
    while (token < s->tokens.count && !is(s, token, ")"))
        token++;
    bool braces = token + 1 < s->tokens.count && is(s, token + 1, "{");
    char param[160];
    const char *value = def->dtype == DT_STRING ? "\"x\"" : special_number(s->random);
    int length = snprintf(param, sizeof param, "%s%s=%s%s%s%s%s", braces ? "" : " {", def->name,
                          def->dtype == DT_NONE ? "int32 " : "", def->is_tensor ? "[1]{" : "", value,
                          def->is_tensor ? "}" : "", braces ? ", " : "}");
    if (token < s->tokens.count && length < (int)sizeof param) {
        size_t at = s->tokens.data[braces ? token + 1 : token].end;
        edit(s, at, at, param, (size_t)length);
    }
}

/* A line is gone, or there twice: names that are taken become others. */
static void change_line(struct script *s)
{
    size_t start = random_below(s->random, (uint32_t)s->size), end;
    while (start > 0 && s->text[start - 1] != '\n')
        start--;
    for (end = start; end < s->size && s->text[end] != '\n';)
        end++;
    end += end < s->size;
    if (start == 0)
        return;
    char line[1024];
    if (random_below(s->random, 2) || end - start > sizeof line) {
        edit(s, start, end, "", 0);
        return;
    }
    memcpy(line, s->text + start, end - start);
    edit(s, end, end, line, end - start);
}

static size_t change_text(struct arena *arena, char *text, size_t size, size_t max_size, uint32_t *random)
{
    static void (*const changes[])(struct script *) = {change_number, change_number,  change_shape, change_shape,
                                                       change_type,   change_operand, add_param,    change_line};
    struct script s = {.text = text, .size = size, .max_size = max_size, .random = random};
    for (uint32_t n = 1 + random_below(random, 3); n > 0 && s.size; n--) {
        s.tokens.count = 0;
        find_tokens(arena, &s);
        changes[random_below(random, COUNT_OF(changes))](&s);
    }
    return s.size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
    static const struct container_version version = {4, 0};
    if (size > 2 && bytes[0] == 'P' && bytes[1] == 'K')
        return mutate_container(bytes, size, max_size, seed, &version);
    struct arena *arena = arena_create();
    uint32_t random = seed;
    volatile size_t made = 0;
    if (!arena)
        abort();
    if (setjmp(*arena_catch(arena)) == 0 && seed % 16)
        made = change_text(arena, (char *)bytes, size, max_size, &random);
    arena_destroy(arena);
    return made ? made : LLVMFuzzerMutate(bytes, size, max_size);
}
