/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/normalize/wanted.h"

#include <string.h>

#include "converters/frontend/unknown_name.h"
#include "converters/tensorflow/normalize/inline_calls.h"
#include "converters/tensorflow/normalize/served.h"
#include "converters/tensorflow/schema/tf_names.h"

/* ---- keys of the signature ---- */

typedef VEC(const char *) name_list;

static const struct tf_end *end_of_key(struct normalize *nz, const struct tf_end *ends, size_t count, const char *name)
{
    struct arena_mark mark = arena_mark(nz->m->memory.scratch);
    const struct tf_end *found = NULL;
    for (size_t i = 0; i < count && !found; i++)
        if (strcmp(tensorflow_canonical_name(nz->m->memory.scratch, ends[i].key), name) == 0)
            found = &ends[i];
    arena_rewind(nz->m->memory.scratch, mark);
    return found;
}

/* A name of options that stands for another value, too. */
static void warn_of_other(struct normalize *nz, const char *option, const char *name, const char *meant,
                          const char *other)
{
    if (strcmp(meant, other) != 0)
        diag_warn(nz->m->diags, AT(IN_MODEL(nz->m)), "ambiguous-name", "%s %s: %s is meant, not %s", option,
                  tensorflow_short_name(nz->m->diags->arena, name), meant, other);
}

/* ---- inputs ---- */

static void add_cut(struct normalize *nz, const struct fw_value *v)
{
    if (map_add(&nz->cuts, v->name, (uint32_t)nz->cut_values.count) == MAP_NONE)
        vec_push(nz->m->memory.scratch, &nz->cut_values, *v);
}

odlc_status name_in_graph(struct normalize *nz, const char *name, const char **out)
{
    struct source place;
    TRY(find_place(nz, nz->root, name, &place));
    *out = place.frame ? source_name(nz, &place) : name;
    return ODLC_OK;
}

/* The value that an option makes an input. */
static odlc_status named_input(struct normalize *nz, const struct tf_signature *signature, const char *name,
                               const char **out)
{
    const struct tf_end *end = end_of_key(nz, signature->inputs.data, signature->inputs.count, name);
    const char *outside;
    struct source inside = {0}, place;
    if (end && end->value.not_a_tensor)
        end = NULL;
    TRY(find_place(nz, nz->root, name, &place));
    TRY(name_in_graph(nz, end ? end->value.name : name, out));
    outside = place.frame ? source_name(nz, &place) : *out;
    if (end)
        warn_of_other(nz, "--input_dim", name, *out, outside);
    if (end || !nz->served)
        return ODLC_OK;
    TRY(find_place(nz, nz->served, name, &inside));
    if (!inside.frame)
        return ODLC_OK;
    if (!place.frame || place.frame->seen[place.node].inner == nz->served)
        *out = source_name(nz, &inside); /* an input is no result of the function */
    else
        warn_of_other(nz, "--input_dim", name, *out, source_name(nz, &inside));
    return ODLC_OK;
}

odlc_status find_cuts(struct normalize *nz, const struct fw_load_options *options, const struct tf_signature *signature)
{
    for (size_t i = 0; i < signature->inputs.count; i++) {
        struct fw_value v = signature->inputs.data[i].value;
        if (v.not_a_tensor)
            continue;
        TRY(name_in_graph(nz, v.name, &v.name));
        add_cut(nz, &v);
    }
    for (size_t i = 0; i < options->n_cut_inputs; i++) {
        struct fw_value v = {0};
        TRY(named_input(nz, signature, options->cut_inputs[i], &v.name));
        add_cut(nz, &v);
    }
    return ODLC_OK;
}

/* ---- outputs that nobody names ---- */

/* Operators that are run for what they do, and those whose results are there to be read. */
static bool gives_nothing(const char *op)
{
    static const char *const whole[] = {"Const", "Placeholder", "PlaceholderWithDefault",
                                        "NoOp",  "Assert",      "MergeV2Checkpoints"};
    static const char *const begin[] = {"Assign", "Apply", "ResourceApply", "Save", "Restore"};
    for (size_t i = 0; i < COUNT_OF(whole); i++)
        if (strcmp(op, whole[i]) == 0)
            return true;
    for (size_t i = 0; i < COUNT_OF(begin); i++)
        if (strncmp(op, begin[i], strlen(begin[i])) == 0)
            return true;
    return fw_has_suffix(op, "Summary");
}

/* TensorFlow itself puts what trains and saves a model under these names. */
static bool is_training(const char *name)
{
    return strncmp(name, "gradients/", 10) == 0 || strncmp(name, "save/", 5) == 0;
}

/* The nodes that no other reads. */
static void find_ends(const struct normalize *nz, name_list *out)
{
    const struct tf_body *body = nz->top->body;
    bool *read = arena_array(nz->m->memory.scratch, bool, body->nodes.count);
    for (size_t i = 0; i < body->nodes.count; i++) {
        const struct tf_node *n = &body->nodes.data[i];
        for (uint32_t k = 0; k < n->n_inputs; k++) {
            uint32_t at = body_node(nz, nz->top, n->inputs[k]);
            if (at != MAP_NONE)
                read[at] = true;
        }
    }
    for (size_t i = 0; i < body->nodes.count; i++)
        if (!read[i] && !gives_nothing(body->nodes.data[i].op) && !is_training(body->nodes.data[i].name))
            vec_push(nz->m->memory.scratch, out, body->nodes.data[i].name);
}

/* ---- outputs by their names ---- */

/* The output that a key of the signature names. */
static odlc_status output_of_key(struct normalize *nz, const struct tf_end *end, struct output *out)
{
    if (end->value.not_a_tensor)
        return diag_error(nz->m->diags, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(nz->m)), "output-type",
                          "the output %s of the signature is no tensor", end->key);
    if (nz->served) {
        TRY(find_result(nz, end->value.name, out));
    } else {
        TRY(find_named(nz, nz->root, end->value.name, &out->source));
        out->name = end->value.name;
    }
    out->key = end->key;
    out->asked = end->value.name;
    return ODLC_OK;
}

const char *output_name(struct normalize *nz, const struct output *out)
{
    return out->name ? out->name : source_name(nz, &out->source);
}

/* The name may stand for the other output as well. */
static odlc_status compare_outputs(struct normalize *nz, const char *name, const struct output *meant,
                                   const struct output *other)
{
    bool same = true;
    if (meant->source.frame && other->source.frame)
        TRY(same_result(nz, &meant->source, &other->source, &same));
    if (!same)
        warn_of_other(nz, "--out_node", name, output_name(nz, meant), output_name(nz, other));
    return ODLC_OK;
}

/* Of a name that is no key: a value of the graph, or of the function that is served. */
static odlc_status output_of_name(struct normalize *nz, const char *name, struct output *out)
{
    struct output inside = {.name = name};
    if (!nz->served) {
        out->name = name;
        return find_named(nz, nz->root, name, &out->source);
    }
    TRY(find_result(nz, name, out));
    TRY(find_named(nz, nz->served, name, &inside.source));
    if (out->source.frame)
        return compare_outputs(nz, name, out, &inside);
    *out = inside;
    return ODLC_OK;
}

/* out->source.frame NULL: nothing has the name. */
static odlc_status named_output(struct normalize *nz, const struct tf_signature *signature, const char *name,
                                struct output *out)
{
    const struct tf_end *end = end_of_key(nz, signature->outputs.data, signature->outputs.count, name);
    struct output other = {0};
    *out = other;
    if (!end) {
        TRY(output_of_name(nz, name, out));
        out->asked = name;
        return ODLC_OK;
    }
    TRY(output_of_key(nz, end, out));
    TRY(output_of_name(nz, name, &other));
    return compare_outputs(nz, name, out, &other);
}

/* Keys come first, then nodes, the last ones before others. */
static name_list known_names(const struct normalize *nz, const struct tf_signature *signature)
{
    const struct tf_body *body = nz->served ? nz->served->body : nz->root->body;
    name_list known = {0};
    for (size_t i = 0; i < signature->outputs.count; i++)
        vec_push(nz->m->memory.scratch, &known, signature->outputs.data[i].key);
    for (size_t i = body->nodes.count; i-- > 0;)
        vec_push(nz->m->memory.scratch, &known, body->nodes.data[i].name);
    return known;
}

static odlc_status report_unknown(const struct normalize *nz, const struct tf_signature *signature,
                                  const name_list *known, const char *name)
{
    return unknown_name(nz->m->diags, nz->m->file->path,
                        &(struct unknown_name){.code = "unknown-output",
                                               .message = "--out_node: the model has no value or node",
                                               .name = tensorflow_short_name(nz->m->diags->arena, name),
                                               .known = known->data,
                                               .n_known = known->count,
                                               .listed_as = signature->outputs.count
                                                                ? "keys of the signature and last nodes"
                                                                : "last nodes"});
}

/* ---- which outputs ---- */

typedef VEC(struct output) output_list;

static odlc_status add_named(struct normalize *nz, const struct tf_signature *signature, const char *const *names,
                             size_t count, output_list *out)
{
    enum { MAX_MISSING = 8 }; /* for each, a name like it is sought among all nodes */
    odlc_status status = ODLC_OK;
    uint32_t missing = 0;
    const name_list known = count ? known_names(nz, signature) : (name_list){0};
    for (size_t i = 0; i < count && missing < MAX_MISSING; i++) {
        struct output output;
        TRY(named_output(nz, signature, names[i], &output));
        if (output.source.frame) {
            vec_push(nz->m->memory.scratch, out, output);
            continue;
        }
        status = report_unknown(nz, signature, &known, names[i]);
        missing++;
    }
    return status;
}

static odlc_status add_of_signature(struct normalize *nz, const struct tf_signature *signature, output_list *out)
{
    for (size_t i = 0; i < signature->outputs.count; i++) {
        struct output output = {0};
        TRY(output_of_key(nz, &signature->outputs.data[i], &output));
        if (!output.source.frame)
            return diag_error(nz->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(nz->m)), "unknown-output",
                              "the output %s of the signature is %s, which the graph does not have", output.key,
                              output.asked);
        vec_push(nz->m->memory.scratch, out, output);
    }
    return ODLC_OK;
}

/* What the function gives. */
static odlc_status add_results(struct normalize *nz, output_list *out)
{
    const struct tf_function *function = nz->root->function;
    for (size_t i = 0; i < function->rets.count; i++) {
        struct output result = {0};
        TRY(find_source(nz, nz->root, function->rets.data[i], function->name, &result.source));
        if (result.source.is_arg)
            return diag_error(nz->m->diags, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(nz->m)), "input-is-output",
                              "result %zu of function %s is its argument %s", i, function->name,
                              function->arg_names.data[result.source.node]);
        result.asked = source_name(nz, &result.source);
        vec_push(nz->m->memory.scratch, out, result);
    }
    return ODLC_OK;
}

static odlc_status add_ends(struct normalize *nz, output_list *out)
{
    name_list ends = {0};
    find_ends(nz, &ends);
    for (size_t i = 0; i < ends.count; i++)
        ends.data[i] = tensorflow_canonical_name(nz->m->memory.scratch, ends.data[i]);
    TRY(add_named(nz, &(struct tf_signature){0}, ends.data, ends.count, out));
    if (!out->count)
        return diag_error(nz->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(nz->m), .hint = "name outputs with --out_node"),
                          "tensorflow-no-output", "the graph has no node that could be an output");
    return ODLC_OK;
}

odlc_status find_outputs(struct normalize *nz, const struct fw_load_options *options,
                         const struct tf_signature *signature)
{
    output_list outputs = {0};
    if (options->n_out_names)
        TRY(add_named(nz, signature, options->out_names, options->n_out_names, &outputs));
    else if (nz->root->function)
        TRY(add_results(nz, &outputs));
    else if (signature->outputs.count)
        TRY(add_of_signature(nz, signature, &outputs));
    else
        TRY(add_ends(nz, &outputs));
    nz->outputs = outputs.data;
    nz->n_outputs = outputs.count;
    return ODLC_OK;
}
