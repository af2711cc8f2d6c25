/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { MOST_PIECES = 4096, ROUNDS = 3 };

struct change {
    uint8_t *bytes;
    size_t size, max_size;
    uint32_t random;
    const struct text_form *form;
    struct piece pieces[MOST_PIECES];
    size_t count;
};

static uint32_t next_random(struct change *c)
{
    c->random = c->random * 1664525u + 1013904223u;
    return c->random >> 8;
}

/* Puts other bytes, which are none of the buffer's, in the place of [start, end). */
static void put(struct change *c, size_t start, size_t end, const void *bytes, size_t length)
{
    if (c->size - (end - start) + length > c->max_size)
        return;
    memmove(c->bytes + start + length, c->bytes + end, c->size - end);
    memcpy(c->bytes + start, bytes, length);
    c->size = c->size - (end - start) + length;
}

static uint8_t *copy_of(const struct change *c, const struct piece *p)
{
    uint8_t *copy = malloc(p->end - p->start + 1);
    if (!copy)
        abort();
    memcpy(copy, c->bytes + p->start, p->end - p->start);
    return copy;
}

/* One of the pieces of that kind, or NULL. */
static const struct piece *pick(struct change *c, enum piece_kind kind)
{
    size_t first = c->count ? next_random(c) % c->count : 0;
    for (size_t i = 0; i < c->count; i++)
        if (c->pieces[(first + i) % c->count].kind == kind)
            return &c->pieces[(first + i) % c->count];
    return NULL;
}

static void duplicate(struct change *c, const struct piece *p)
{
    size_t length = p->end - p->start, between = strlen(c->form->separator);
    uint8_t *copy = copy_of(c, p);
    if (c->size + length + between <= c->max_size) {
        put(c, p->end, p->end, copy, length);
        put(c, p->end, p->end, c->form->separator, between);
    }
    free(copy);
}

/* With the separator on one of its sides. */
static void delete (struct change *c, const struct piece *p)
{
    size_t start = p->start, end = p->end;
    char mark = *c->form->separator;
    while (mark && end < c->size && strchr(" \t\r\n", c->bytes[end]))
        end++;
    if (mark && end < c->size && c->bytes[end] == (uint8_t)mark) {
        end++;
    } else if (mark) {
        end = p->end;
        while (start > 0 && strchr(" \t\r\n", c->bytes[start - 1]))
            start--;
        start = start > 0 && c->bytes[start - 1] == (uint8_t)mark ? start - 1 : p->start;
    }
    put(c, start, end, "", 0);
}

static void swap(struct change *c, const struct piece *a, const struct piece *b)
{
    if (a->start > b->start) {
        const struct piece *first = b;
        b = a;
        a = first;
    }
    if (a->end > b->start)
        return;
    uint8_t *copy_a = copy_of(c, a), *copy_b = copy_of(c, b);
    put(c, b->start, b->end, copy_a, a->end - a->start);
    put(c, a->start, a->end, copy_b, b->end - b->start);
    free(copy_a);
    free(copy_b);
}

static void replace(struct change *c, const struct piece *p, const struct piece *other)
{
    uint8_t *copy = copy_of(c, other);
    put(c, p->start, p->end, copy, other->end - other->start);
    free(copy);
}

static void replace_by_word(struct change *c, const struct piece *p)
{
    const char *const *words = c->form->words[p->kind];
    size_t count = 0;
    while (words && words[count])
        count++;
    if (!count)
        return;
    const char *word = words[next_random(c) % count];
    put(c, p->start, p->end, word, strlen(word));
}

/* The engine's own mutations inside a piece. */
static void mutate_inside(struct change *c, const struct piece *p)
{
    enum { ROOM = 16 };
    size_t length = p->end - p->start;
    uint8_t *copy = malloc(length + ROOM);
    if (!copy)
        abort();
    memcpy(copy, c->bytes + p->start, length);
    put(c, p->start, p->end, copy, LLVMFuzzerMutate(copy, length, length + ROOM));
    free(copy);
}

/* The text ends inside a word: readers must see the end wherever it is. */
static void cut(struct change *c)
{
    const struct piece *p = pick(c, PIECE_VALUE);
    if (p)
        c->size = p->start + 1 + next_random(c) % (p->end - p->start);
}

static void change_once(struct change *c)
{
    enum piece_kind kind = (enum piece_kind)(next_random(c) % PIECE_KINDS);
    const struct piece *p = pick(c, kind), *other = pick(c, kind);
    if (!p)
        return;
    bool tree = kind == PIECE_MEMBER || kind == PIECE_ELEMENT;
    switch (next_random(c) % 6) {
    case 0:
        if (tree)
            duplicate(c, p);
        else
            mutate_inside(c, p);
        break;
    case 1:
        if (tree)
            delete (c, p);
        else
            replace_by_word(c, p);
        break;
    case 2:
        swap(c, p, other);
        break;
    case 3:
        replace(c, p, other);
        break;
    default:
        replace_by_word(c, p);
        break;
    }
}

size_t mutate_text(uint8_t *bytes, size_t size, size_t max_size, unsigned seed, const struct text_form *form)
{
    static struct change c;
    c.bytes = bytes;
    c.size = size;
    c.max_size = max_size;
    c.random = seed;
    c.form = form;
    if (next_random(&c) % 8 == 0)
        return LLVMFuzzerMutate(bytes, size, max_size);
    for (uint32_t round = next_random(&c) % ROUNDS + 1; round > 0; round--) {
        c.count = form->find((const char *)bytes, c.size, c.pieces, MOST_PIECES);
        change_once(&c);
    }
    if (next_random(&c) % 8 == 0) {
        c.count = form->find((const char *)bytes, c.size, c.pieces, MOST_PIECES);
        cut(&c);
    }
    return c.size;
}
