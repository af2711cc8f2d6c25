/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/target_release.h"

#include <ctype.h>

#include "base/map.h"
#include "op/release.h"

#define MAJOR(release) ((release) / RELEASE(1, 0))
#define MINOR(release) ((release) % RELEASE(1, 0))

/* A number of at most three digits at *at, which is moved behind it; false: there is none. */
static bool read_number(const char **at, uint32_t *out)
{
    const char *digit = *at;
    *out = 0;
    for (; isdigit((unsigned char)*digit) && digit - *at < 3; digit++)
        *out = *out * 10 + (uint32_t)(*digit - '0');
    bool read = digit > *at;
    *at = digit;
    return read;
}

/* "2.20", and "2.20.0.231229" as containers have it. */
static bool read_release(const char *at, uint32_t *out)
{
    uint32_t major, minor;
    if (!read_number(&at, &major) || *at++ != '.' || !read_number(&at, &minor))
        return false;
    *out = RELEASE(major, minor);
    return *at == '\0' || *at == '.';
}

odlc_status read_target_release(const struct context *c, uint32_t *out)
{
    const char *asked = c->options->target_release;
    *out = RELEASE_DEFAULT;
    if (asked && (!read_release(asked, out) || *out < RELEASE_OLDEST))
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = "2.18, 2.20 or a later one, for example 2.47"),
                          "bad-release", "--target_release %s: containers are written for releases from 2.18 on",
                          asked);
    return ODLC_OK;
}

static void note_type(const struct context *c, const struct node *n)
{
    const char *type = op_spelling(n->op, c->release).type, *hint = NULL;
    uint32_t since = op_type_known_since(n->op->dlc_type);
    if (since)
        hint = arena_printf(c->arena, "those of %u.%u have it: --target_release %u.%u", MAJOR(since), MINOR(since),
                            MAJOR(since), MINOR(since));
    diag_note(c->diags, AT(.node = n->source ? n->source : n->name, .hint = hint), "unknown-type",
              "op type %s is not known from containers of release %u.%u", type, MAJOR(c->release), MINOR(c->release));
}

void note_unknown_types(const struct context *c, const struct graph *g)
{
    struct map noted;
    bool seen[OP_IDS] = {false}; /* native operators; others have no number of their own */
    map_init(&noted, c->scratch);
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        if (n->op->id && seen[n->op->id])
            continue;
        seen[n->op->id] = true;
        uint32_t since = n->op->package ? RELEASE_OLDEST : op_type_known_since(n->op->dlc_type);
        bool known = since && since <= c->release;
        if (!known && map_add(&noted, n->op->dlc_type, 1) == MAP_NONE)
            note_type(c, n);
    }
}
