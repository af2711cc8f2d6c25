/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/normalize/arguments.h"

#include <string.h>

#include "converters/tensorflow/decode/tf_graph.h"
#include "converters/tensorflow/normalize/variables.h"

static odlc_status named_constant(struct normalize *nz, const char *name, struct view *out)
{
    const uint32_t node = tf_body_find(nz->top->body, name);
    const struct fw_attr *attrs;
    uint32_t count = 0;
    if (node != MAP_NONE)
        TRY(node_attrs(nz, nz->top, node, &attrs, &count));
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(attrs[i].name, "value") == 0 && attrs[i].kind == FW_TENSOR) {
            *out = attrs[i].tensor->view;
            return ODLC_OK;
        }
    return diag_error(nz->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(nz->m), .node = name), "tensorflow-function",
                      "the graph has no constant %s, which the function takes", name);
}

/* What the function took from around it as its argument; *bound false: the argument is an input. */
static odlc_status bound_value(struct normalize *nz, const struct tf_source *source, uint32_t arg, bool *bound,
                               struct view *out)
{
    const size_t n_args = nz->root->function->arg_names.count;
    const char *name = nz->root->function->arg_names.data[arg];
    *bound = arg + source->bound.count >= n_args;
    if (!*bound)
        return ODLC_OK;
    if (source->bound.count > n_args)
        return diag_error(nz->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(nz->m)), "tensorflow-function",
                          "function %s takes more from around it than it has arguments", source->function);
    const struct tf_bound *b = &source->bound.data[arg + source->bound.count - n_args];
    nz->n_variables += b->kind == BOUND_VARIABLE;
    if (b->kind == BOUND_VARIABLE)
        return variable_at_path(nz->variables, b->path, b->n_path, name, out);
    if (b->kind == BOUND_CONSTANT)
        return named_constant(nz, b->node, out);
    return diag_error(nz->m->diags, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(nz->m)), "tensorflow-function",
                      "function %s takes %s from around it, which is neither a variable nor a constant",
                      source->function, name);
}

odlc_status add_arguments(struct walk *w, const struct tf_source *source)
{
    struct normalize *nz = w->nz;
    for (uint32_t i = 0; i < nz->root->function->arg_names.count; i++) {
        const struct source s = {.frame = nz->root, .node = i, .is_arg = true};
        struct fw_value declared = {0};
        struct fw_tensor t = {.name = source_name(nz, &s), .id = source_id(nz, &s)};
        bool bound;
        if (!nz->args_read[i])
            continue;
        TRY(bound_value(nz, source, i, &bound, &t.view));
        if (bound) {
            walk_constant(w, t);
            continue;
        }
        TRY(tf_describe_argument(nz->m, nz->root->function, i, &declared));
        walk_input(w, &s, declared);
    }
    return ODLC_OK;
}
