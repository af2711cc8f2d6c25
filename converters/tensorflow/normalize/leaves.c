/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/normalize/leaves.h"

#include <string.h>

#include "converters/tensorflow/decode/tf_attr.h"
#include "converters/tensorflow/schema/tf_types.h"

/* Up to that version of its graphs, TensorFlow wrote an unknown shape as that of a scalar. */
enum { LAST_WITHOUT_UNKNOWN = 21 };

/* What a Placeholder of that operator says of its shape. */
static void set_dims(const struct normalize *nz, const char *op, const struct fw_attr *shape, struct fw_value *v)
{
    if (!shape || shape->kind != FW_INTS)
        return;
    if (shape->count == 0 && strcmp(op, "Placeholder") == 0 && nz->m->producer <= LAST_WITHOUT_UNKNOWN)
        return;
    v->has_shape = true;
    v->rank = (uint8_t)shape->count;
    v->dims = arena_array(nz->m->memory.graph, int64_t, shape->count);
    for (size_t i = 0; i < shape->count; i++)
        v->dims[i] = shape->ints[i] < 0 ? DIM_OPEN : shape->ints[i];
}

odlc_status make_input(struct walk *w, const struct visit *v)
{
    const struct source s = visited(v);
    const struct fw_attr *dtype = find_attr(v->attrs, v->n_attrs, "dtype");
    int64_t code = dtype && dtype->kind == FW_INT ? dtype->i : 0;
    if (code % TF_REF == TF_RESOURCE || code % TF_REF == TF_VARIANT)
        return diag_error(w->nz->m->diags, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(w->nz->m), .node = source_node(&s)->name),
                          "input-type", "graph input %s is no tensor", source_node(&s)->name);
    struct fw_value declared = {.dtype = tf_dtype(code)};
    set_dims(w->nz, source_node(&s)->op, find_attr(v->attrs, v->n_attrs, "shape"), &declared);
    walk_input(w, &s, declared);
    return ODLC_OK;
}

odlc_status cut_here(struct walk *w, const struct source *s)
{
    const struct fw_attr *attrs;
    uint32_t count;
    struct fw_value declared = {0};
    if (map_get(&w->inputs, source_name(w->nz, s)) != MAP_NONE)
        return ODLC_OK;
    TRY(note_expansion(w->nz, s->output, source_node(s)->name)); /* shapes before the output's are stepped over */
    TRY(node_attrs(w->nz, s->frame, s->node, &attrs, &count));
    TRY(tf_decode_output_shapes(w->nz->m, source_node(s), s->output, &declared, 1));
    declared.dtype = tf_output_dtype(source_node(s)->op, attrs, count, s->output);
    if (strncmp(source_node(s)->op, "Placeholder", strlen("Placeholder")) == 0)
        set_dims(w->nz, source_node(s)->op, find_attr(attrs, count, "shape"), &declared);
    walk_input(w, s, declared);
    return ODLC_OK;
}

bool is_constant(const char *op)
{
    return op_is(op, "Const") || op_is(op, "HostConst");
}

odlc_status constant_value(struct walk *w, const struct visit *v, bool *has_form, struct fw_tensor *out)
{
    const struct source s = visited(v);
    const struct fw_attr *value = find_attr(v->attrs, v->n_attrs, "value");
    *has_form = !value || (value->kind != FW_COMPLEX && (value->kind != FW_OTHER || value->i <= 0));
    if (!*has_form)
        return ODLC_OK;
    if (!value || value->kind != FW_TENSOR)
        return diag_error(w->nz->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(w->nz->m), .node = source_node(&s)->name),
                          "tensorflow-const", "the constant has no value");
    *out = (struct fw_tensor){.name = source_name(w->nz, &s), .id = source_id(w->nz, &s), .view = value->tensor->view};
    return ODLC_OK;
}

/* The tensor is all that is wanted of a constant. */
static void forget_attrs(struct walk *w, const struct visit *v)
{
    if (!w->fresh_attrs)
        return;
    visit_seen(v)->has_attrs = false;
    arena_rewind(w->nz->m->memory.graph, w->before_attrs);
}

odlc_status make_constant(struct walk *w, const struct visit *v)
{
    const struct source s = visited(v);
    struct new_node node = {.op = "Const",
                            .attrs = v->attrs,
                            .n_attrs = v->n_attrs,
                            .from = source_node(&s),
                            .operands = visit_operands(w, v)};
    struct fw_tensor t;
    bool has_form;
    TRY(constant_value(w, v, &has_form, &t));
    if (has_form) {
        struct walk *outermost = walk_outermost(w);
        visit_seen(v)->walk = outermost->number;
        forget_attrs(w, v);
        walk_constant(outermost, t);
        return ODLC_OK;
    }
    node.name = source_node_name(w->nz, &s);
    node.n_operands = visit_n_operands(w, v);
    walk_stand_for(w, v, &node);
    return ODLC_OK;
}
