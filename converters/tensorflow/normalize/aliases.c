/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/normalize/aliases.h"

#include <string.h>

#include "converters/tensorflow/normalize/wanted.h"
#include "converters/tensorflow/schema/tf_names.h"

/* A list in the making. */
struct listing {
    struct normalize *nz;
    fw_aliases *list;
    struct map known; /* names that are in it */
};

static struct listing listing_begin(struct normalize *nz, fw_aliases *list)
{
    struct listing l = {.nz = nz, .list = list};
    map_init(&l.known, nz->m->memory.scratch);
    return l;
}

/* The first one that has a name keeps it. */
static void add_alias(struct listing *l, const char *name, const char *key, const char *value)
{
    struct arena *kept = l->nz->m->memory.kept;
    const char *own = arena_strdup(kept, name);
    if ((key || strcmp(name, value) != 0) && map_add(&l->known, own, 1) == MAP_NONE)
        vec_push(l->nz->m->memory.graph, l->list, (struct fw_alias){own, key ? arena_strdup(kept, key) : NULL, value});
}

static void add_key(struct listing *l, const char *key, const char *value)
{
    add_alias(l, tensorflow_canonical_name(l->nz->m->memory.scratch, key), key, value);
}

static odlc_status list_inputs(struct normalize *nz, const struct tf_signature *signature)
{
    struct listing l = listing_begin(nz, &nz->model->input_aliases);
    for (size_t i = 0; i < signature->inputs.count; i++) {
        const char *value;
        if (signature->inputs.data[i].value.not_a_tensor)
            continue;
        TRY(name_in_graph(nz, signature->inputs.data[i].value.name, &value));
        add_key(&l, signature->inputs.data[i].key, value);
    }
    for (size_t i = 0; i < signature->inputs.count; i++) {
        const char *name = signature->inputs.data[i].value.name, *value;
        if (signature->inputs.data[i].value.not_a_tensor)
            continue;
        TRY(name_in_graph(nz, name, &value));
        add_alias(&l, name, NULL, value);
    }
    return ODLC_OK;
}

static void list_outputs(struct normalize *nz)
{
    struct listing l = listing_begin(nz, &nz->model->output_aliases);
    for (size_t i = 0; i < nz->n_outputs; i++)
        if (nz->outputs[i].key)
            add_key(&l, nz->outputs[i].key, output_name(nz, &nz->outputs[i]));
    for (size_t i = 0; i < nz->n_outputs; i++)
        add_alias(&l, nz->outputs[i].asked, NULL, output_name(nz, &nz->outputs[i]));
}

odlc_status note_aliases(struct normalize *nz, const struct tf_signature *signature)
{
    TRY(list_inputs(nz, signature));
    list_outputs(nz);
    return ODLC_OK;
}
