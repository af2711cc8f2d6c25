/* SPDX-License-Identifier: Apache-2.0 */
/* Texts are changed a token at a time: tokens go, come twice, change places, and become others. Fields have the names
 * that the schema gives them, so that most texts are read for more than a line. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "engine.h"
#include "tensorflow.pb-c.h"

struct token {
    const char *text;
    size_t size;
};

struct mutation {
    struct arena *arena;
    uint64_t random;
    VEC(struct token) tokens;
    VEC(const char *) words;
    VEC(const ProtobufCMessageDescriptor *) messages;
};

static const char *const values[] = {"0",
                                     "-1",
                                     "1",
                                     "2",
                                     "0x7fffffff",
                                     "017",
                                     "9223372036854775807",
                                     "-9223372036854775808",
                                     "18446744073709551615",
                                     "1e39",
                                     "-0.5f",
                                     "nan",
                                     "-inf",
                                     "true",
                                     "false",
                                     "t",
                                     "\"a\"",
                                     "'\\377\\x00\\n'",
                                     "\"\\u20ac\\U0001F600\"",
                                     "'\\ud83d\\ude00'",
                                     "DT_FLOAT",
                                     "DT_HALF",
                                     "DT_STRING",
                                     "{ }",
                                     "< >",
                                     "[ ]",
                                     "# comment\n",
                                     "[type.googleapis.com/a.b]",
                                     "{",
                                     "}",
                                     "<",
                                     ">",
                                     "[",
                                     "]",
                                     ":",
                                     ",",
                                     ";"};

static uint32_t below(struct mutation *m, uint64_t n)
{
    m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((m->random >> 33) % n);
}

/* ---- words ---- */

static void list_words(struct mutation *m, const ProtobufCMessageDescriptor *message)
{
    for (size_t i = 0; i < m->messages.count; i++)
        if (m->messages.data[i] == message)
            return;
    vec_push(m->arena, &m->messages, message);
    for (unsigned i = 0; i < message->n_fields; i++) {
        vec_push(m->arena, &m->words, message->fields[i].name);
        if (message->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
            list_words(m, message->fields[i].descriptor);
    }
}

static struct token token_of(const char *text)
{
    return (struct token){text, strlen(text)};
}

/* A field of any message with a value, a field's name, a value. */
static struct token new_token(struct mutation *m)
{
    const char *word = m->words.data[below(m, m->words.count)], *value = values[below(m, COUNT_OF(values))];
    switch (below(m, 4)) {
    case 0:
        return token_of(arena_printf(m->arena, "%s: %s", word, value));
    case 1:
        return token_of(arena_printf(m->arena, "%s {", word));
    case 2:
        return token_of(word);
    default:
        return token_of(value);
    }
}

/* ---- tokens ---- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("_.+-", c);
}

static size_t token_size(const char *text, size_t size)
{
    size_t end = 1;
    if (text[0] == '"' || text[0] == '\'') {
        while (end < size && text[end] != text[0])
            end += text[end] == '\\' ? 2 : 1;
        return end < size ? end + 1 : size;
    }
    if (text[0] == '\0' || !is_word(text[0]))
        return 1;
    while (end < size && text[end] && is_word(text[end]))
        end++;
    return end;
}

static void read_tokens(struct mutation *m, const char *text, size_t size)
{
    for (size_t at = 0, length; at < size; at += length) {
        length = token_size(text + at, size - at);
        if (!strchr(" \t\r\n", text[at]) || !text[at])
            vec_push(m->arena, &m->tokens, (struct token){text + at, length});
    }
}

static void insert(struct mutation *m, size_t at, struct token token)
{
    vec_push(m->arena, &m->tokens, token);
    memmove(m->tokens.data + at + 1, m->tokens.data + at, (m->tokens.count - 1 - at) * sizeof token);
    m->tokens.data[at] = token;
}

static void change(struct mutation *m)
{
    size_t count = m->tokens.count, at = below(m, count + 1), other = below(m, count + 1);
    uint32_t what = at < count && other < count ? below(m, 6) : 5;
    if (what == 0) {
        memmove(m->tokens.data + at, m->tokens.data + at + 1, (count - 1 - at) * sizeof *m->tokens.data);
        m->tokens.count--;
    } else if (what == 1) {
        struct token first = m->tokens.data[at];
        m->tokens.data[at] = m->tokens.data[other];
        m->tokens.data[other] = first;
    } else if (what == 2) {
        m->tokens.data[at] = m->tokens.data[other];
    } else if (what == 3) {
        m->tokens.data[at] = new_token(m);
    } else if (what == 4) { /* a run of tokens comes again */
        for (uint32_t run = below(m, 12) + 1; run > 0 && at < m->tokens.count; run--, at += 2, other++)
            insert(m, other % m->tokens.count, m->tokens.data[at]);
    } else {
        insert(m, at, new_token(m));
    }
}

static size_t write_tokens(const struct mutation *m, uint8_t *bytes, size_t max_size)
{
    text out = {0};
    for (size_t i = 0; i < m->tokens.count && out.count + m->tokens.data[i].size < max_size; i++) {
        text_add_bytes(m->arena, &out, m->tokens.data[i].text, m->tokens.data[i].size);
        text_add(m->arena, &out, " ");
    }
    size_t size = out.count < max_size ? out.count : max_size;
    if (size)
        memcpy(bytes, out.data, size);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
    if (seed % 4 == 0)
        return LLVMFuzzerMutate(bytes, size, max_size);
    struct mutation m = {.arena = arena_create(), .random = seed};
    if (!m.arena)
        abort();
    list_words(&m, &tensorflow__saved_model__descriptor);
    read_tokens(&m, arena_strndup(m.arena, (const char *)bytes, size), size);
    for (uint32_t changes = 1 + below(&m, 4); changes > 0; changes--)
        change(&m);
    size = write_tokens(&m, bytes, max_size);
    arena_destroy(m.arena);
    return size;
}
