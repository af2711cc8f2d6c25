/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/normalize/normalize.h"

#include <string.h>

#include "converters/tensorflow/normalize/aliases.h"
#include "converters/tensorflow/normalize/arguments.h"
#include "converters/tensorflow/normalize/conditionals.h"
#include "converters/tensorflow/normalize/served.h"
#include "converters/tensorflow/normalize/state.h"
#include "converters/tensorflow/normalize/variables.h"
#include "converters/tensorflow/normalize/wanted.h"
#include "converters/tensorflow/normalize/while_loops.h"
#include "converters/tensorflow/schema/tf_names.h"

/* ---- which graph ---- */

/* What is converted. */
static odlc_status choose_root(struct normalize *nz, const struct tf_source *source)
{
    nz->root = nz->top;
    if (!source->function)
        return ODLC_OK;
    uint32_t at = map_get(&nz->m->function_index, source->function);
    if (at == MAP_NONE)
        return diag_error(nz->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(nz->m)), "tensorflow-function",
                          "the model has no function %s", source->function);
    TRY(frame_create(nz, NULL, &nz->m->functions.data[at], NULL, NULL, &nz->root));
    nz->args_read = arena_array(nz->m->memory.scratch, bool, nz->root->function->arg_names.count);
    return ODLC_OK;
}

/* ---- from the outputs back ---- */

/* An output of the graph: under that name, if the value has another. */
static void add_output(struct walk *w, const char *name, const struct source *s)
{
    struct normalize *nz = w->nz;
    const fw_name id = names_number(&nz->m->names, name, strlen(name));
    const char *kept = names_text(&nz->m->names, id);
    const struct operand value = {.id = source_id(nz, s)};
    if (id != value.id)
        walk_append(w, &(struct new_node){.name = tensorflow_short_name(nz->m->memory.kept, kept),
                                          .op = "Identity",
                                          .output = kept,
                                          .operands = &value,
                                          .n_operands = 1});
    vec_push(nz->m->memory.graph, &w->graph->outputs, (struct fw_value){.name = kept, .id = id});
}

static odlc_status prune(struct normalize *nz, const struct tf_source *source)
{
    struct walk w = walk_begin(nz, NULL, &nz->model->graph);
    struct map given;
    w.graph->name = "";
    map_init(&given, nz->m->memory.scratch);
    for (size_t i = 0; i < nz->n_outputs; i++) {
        struct source s = nz->outputs[i].source;
        const char *name = output_name(nz, &nz->outputs[i]);
        if (map_add(&given, name, 1) != MAP_NONE)
            continue;
        TRY(walk_need(&w, &s, tensorflow_short_name(nz->m->memory.scratch, name)));
        add_output(&w, name, &s);
    }
    if (nz->root->function)
        TRY(add_arguments(&w, source));
    TRY(check_state(nz));
    return walk_finish(&w);
}

/* Of the graph around a function that is served, it is the signature's inputs that count. */
static void note_unconsumed_inputs(struct normalize *nz, const struct tf_signature *signature)
{
    struct map used;
    map_init(&used, nz->m->memory.scratch);
    for (size_t i = 0; i < nz->model->graph.inputs.count; i++)
        map_put(&used, nz->model->graph.inputs.data[i].name, 1);
    for (size_t i = 0; i < signature->inputs.count; i++) {
        const uint32_t node = body_node(nz, nz->top, signature->inputs.data[i].value.name);
        const struct source input = {.frame = nz->top, .node = node};
        if (node != MAP_NONE && map_add(&used, source_name(nz, &input), 1) == MAP_NONE)
            vec_push(nz->m->memory.kept, &nz->model->unconsumed, source_node_name(nz, &input));
    }
}

static void note_unconsumed(struct normalize *nz, const struct tf_signature *signature)
{
    const struct frame *frame = nz->served ? nz->served : nz->root;
    const struct tf_body *body = frame->body;
    struct arena *arena = nz->m->memory.kept;
    for (size_t i = 0; i < body->nodes.count; i++) {
        const struct seen *seen = &frame->seen[i];
        if (seen->state == SEEN_NEW && !seen->inner)
            vec_push(arena, &nz->model->unconsumed, arena_strdup(arena, body->nodes.data[i].name));
    }
    if (nz->served)
        note_unconsumed_inputs(nz, signature);
    for (size_t i = 0; nz->root->function && i < nz->root->function->arg_names.count; i++)
        if (!nz->args_read[i])
            vec_push(arena, &nz->model->unconsumed, arena_strdup(arena, nz->root->function->arg_names.data[i]));
}

/* Keys are what users know; results have their names. */
static void note_keys(struct normalize *nz)
{
    text renamed = {0};
    for (size_t i = 0; i < nz->n_outputs; i++) {
        const struct output *out = &nz->outputs[i];
        if (out->key && strcmp(tensorflow_short_name(nz->m->memory.scratch, output_name(nz, out)), out->key) != 0)
            text_add(nz->m->diags->arena, &renamed, "%s%s is %s", renamed.count ? ", " : "", out->key,
                     output_name(nz, out));
    }
    if (renamed.count)
        diag_note(nz->m->diags, AT(.file = NULL), "signature-outputs", "outputs of the signature: %s", renamed.data);
}

/* ---- all of it ---- */

const struct stage *const normalize_stages[] = {&restore_variables, &while_from_loops, &select_from_merges};
const size_t normalize_n_stages = COUNT_OF(normalize_stages);

odlc_status normalize_graph(struct tf_model *m, const struct wanted *wanted, const struct stage *const *stages,
                            size_t n_stages, struct fw_model **out)
{
    struct normalize nz = {.m = m,
                           .claims = wanted->options->claims,
                           .claims_user = wanted->options->claims_user,
                           .model = arena_new(m->memory.graph, struct fw_model),
                           .stages = stages,
                           .n_stages = n_stages};
    const struct tf_source *source = wanted->source;
    nz.model->path = source->path;
    nz.model->file = m->file;
    if (strcmp(source->path, m->file->path) != 0)
        vec_push(m->memory.graph, &nz.model->files, m->file->path);
    map_init(&nz.ops, m->memory.scratch);
    map_init(&nz.condition_index, m->memory.scratch);
    map_init(&nz.cuts, m->memory.scratch);
    nz.variables = variables_create(&nz, source);
    TRY(frame_create(&nz, NULL, NULL, NULL, NULL, &nz.top));
    TRY(choose_root(&nz, source));
    TRY(find_served(&nz, wanted->signature));
    TRY(find_cuts(&nz, wanted->options, wanted->signature));
    TRY(find_outputs(&nz, wanted->options, wanted->signature));
    TRY(prune(&nz, source));
    TRY(note_aliases(&nz, wanted->signature));
    note_unconsumed(&nz, wanted->signature);
    note_keys(&nz);
    variables_list_files(nz.variables);
    nz.model->n_names = (uint32_t)m->names.texts.count;
    *out = nz.model;
    return ODLC_OK;
}
