#include "converters/driver/target_release.h"

#include <stdio.h>

#include "base/map.h"
#include "op/release.h"

#define MAJOR(release) ((release) / RELEASE(1, 0))
#define MINOR(release) ((release) % RELEASE(1, 0))

odlc_status read_target_release(const struct context *c, uint32_t *out)
{
    /* "2.20", and "2.20.0.231229" as containers have it. */
    const char *asked = c->options->target_release;
    unsigned major = 0, minor = 0;
    int end = 0;
    *out = RELEASE_DEFAULT;
    if (!asked)
        return ODLC_OK;
    bool read = sscanf(asked, "%1u.%3u%n", &major, &minor, &end) == 2 && (asked[end] == '\0' || asked[end] == '.');
    *out = RELEASE(major, minor);
    if (!read || *out < RELEASE_OLDEST)
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
    map_init(&noted, c->scratch);
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        uint32_t since = n->op->package ? RELEASE_OLDEST : op_type_known_since(n->op->dlc_type);
        bool known = since && since <= c->release;
        if (!known && map_add(&noted, n->op->dlc_type, 1) == MAP_NONE)
            note_type(c, n);
    }
}
