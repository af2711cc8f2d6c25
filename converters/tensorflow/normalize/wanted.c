#include "converters/tensorflow/normalize/wanted.h"

#include <string.h>

#include "converters/frontend/unknown_name.h"
#include "converters/tensorflow/normalize/inline_calls.h"

void find_cuts(struct normalize *nz, const struct fw_load_options *options, const struct tf_signature *signature)
{
    struct arena *arena = nz->m->memory.scratch;
    map_init(&nz->cuts, arena);
    for (size_t i = 0; i < signature->inputs.count; i++) {
        const struct fw_value *v = &signature->inputs.data[i].value;
        if (!v->not_a_tensor && map_add(&nz->cuts, v->name, (uint32_t)nz->cut_values.count) == MAP_NONE)
            vec_push(arena, &nz->cut_values, *v);
    }
    for (size_t i = 0; i < options->n_cut_inputs; i++) {
        const char *name = options->cut_inputs[i];
        if (map_add(&nz->cuts, name, (uint32_t)nz->cut_values.count) == MAP_NONE)
            vec_push(arena, &nz->cut_values, (struct fw_value){.name = name});
    }
}

/* ---- outputs ---- */

typedef VEC(const char *) name_list;

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

static odlc_status check_names(struct normalize *nz, const name_list *names)
{
    enum { MAX_MISSING = 8 };
    odlc_status status = ODLC_OK;
    uint32_t missing = 0;
    name_list known = {0};
    const struct tf_body *body = nz->root->body;
    for (size_t i = body->nodes.count; i-- > 0;)
        vec_push(nz->m->memory.scratch, &known, body->nodes.data[i].name);
    for (size_t i = 0; i < names->count; i++) {
        struct source s;
        TRY(find_named(nz, names->data[i], &s));
        if (s.frame)
            continue;
        status = unknown_name(nz->m->diags, nz->m->file->path,
                              &(struct unknown_name){.code = "unknown-output",
                                                     .message = "--out_node: the model has no value or node",
                                                     .name = names->data[i],
                                                     .known = known.data,
                                                     .n_known = known.count,
                                                     .listed_as = "last nodes"});
        if (++missing == MAX_MISSING) /* for each, a name like it is sought among all nodes */
            return status;
    }
    return status;
}

/* What the function gives. */
static odlc_status find_results(struct normalize *nz, name_list *out)
{
    const struct tf_function *function = nz->root->function;
    for (size_t i = 0; i < function->rets.count; i++) {
        struct source s;
        TRY(find_source(nz, nz->root, function->rets.data[i], function->name, &s));
        if (s.is_arg)
            return diag_error(nz->m->diags, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(nz->m)), "input-is-output",
                              "result %zu of function %s is its argument %s", i, function->name, source_name(nz, &s));
        vec_push(nz->m->memory.scratch, out, source_name(nz, &s));
    }
    return ODLC_OK;
}

static odlc_status list_outputs(struct normalize *nz, const struct fw_load_options *options,
                                const struct tf_signature *signature, name_list *out)
{
    struct arena *arena = nz->m->memory.scratch;
    for (size_t i = 0; i < options->n_out_names; i++)
        vec_push(arena, out, options->out_names[i]);
    if (out->count)
        return check_names(nz, out);
    if (nz->root->function)
        return find_results(nz, out);
    for (size_t i = 0; i < signature->outputs.count; i++) {
        if (signature->outputs.data[i].value.not_a_tensor)
            return diag_error(nz->m->diags, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(nz->m)), "output-type",
                              "the output %s of the signature is no tensor", signature->outputs.data[i].key);
        vec_push(arena, out, signature->outputs.data[i].value.name);
    }
    if (out->count)
        return check_names(nz, out);
    find_ends(nz, out);
    if (!out->count)
        return diag_error(nz->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(nz->m), .hint = "name outputs with --out_node"),
                          "tensorflow-no-output", "the graph has no node that could be an output");
    return ODLC_OK;
}

odlc_status find_outputs(struct normalize *nz, const struct fw_load_options *options,
                         const struct tf_signature *signature)
{
    name_list outputs = {0};
    TRY(list_outputs(nz, options, signature, &outputs));
    nz->outputs = outputs.data;
    nz->n_outputs = outputs.count;
    return ODLC_OK;
}
