/* SPDX-License-Identifier: Apache-2.0 */
/* What the names of the graph that is being lowered stand for. */
#include "converters/driver/lowering.h"

void scope_define(struct scope *s, fw_name name, struct lower_value value)
{
    struct lowering *all = s->all;
    uint32_t known = bindings_find(&all->names, name);
    struct defined defined = {.kind = value.kind, .at = value.tensor};
    if (value.kind != VALUE_TENSOR && value.kind != VALUE_SPOILED) {
        defined.at = (uint32_t)all->others.count;
        vec_push(all->c->model_arena, &all->others, value);
    }
    if (known != NOT_BOUND && known >= s->first_definition) {
        all->values.data[known] = defined;
        return;
    }
    bindings_add(&all->names, name);
    vec_push(all->c->model_arena, &all->values, defined);
}

void scope_define_tensor(struct scope *s, fw_name name, tensor_id id)
{
    scope_define(s, name, (struct lower_value){.kind = VALUE_TENSOR, .tensor = id});
}

bool scope_find(const struct scope *s, fw_name name, struct lower_value *out)
{
    const uint32_t known = bindings_find(&s->all->names, name);
    if (known == NOT_BOUND)
        return false;
    const struct defined *defined = &s->all->values.data[known];
    if (defined->kind == VALUE_TENSOR || defined->kind == VALUE_SPOILED)
        *out = (struct lower_value){.kind = defined->kind, .tensor = defined->at};
    else
        *out = s->all->others.data[defined->at];
    return true;
}

const char *value_kind_text(const struct lower_value *value)
{
    switch (value->kind) {
    case VALUE_SEQUENCE:
        return "a sequence";
    case VALUE_COMPLEX:
        return "made of complex numbers";
    case VALUE_RANDOM:
        return "made of random numbers";
    case VALUE_TEXT:
        return "made of strings that depend on the model's inputs";
    case VALUE_DEAD:
        return "of a branch that is not taken";
    default:
        return "an empty optional";
    }
}

void scope_leave(struct scope *s)
{
    bindings_leave(&s->all->names, s->first_definition);
    s->all->values.count = s->first_definition;
    s->all->others.count = s->first_other;
}

/* ---- what the model declares ---- */

/* A graph may speak of a value twice, and then says more in one place. */
static bool says_less(const struct fw_value *v, const struct fw_value *known)
{
    return known && known->has_shape && !v->has_shape;
}

static void note_declared(struct scope *s, const struct fw_value *v)
{
    if (!s->outer) {
        if (!says_less(v, s->declared[v->id]))
            s->declared[v->id] = v;
        return;
    }
    uint32_t known = map_get(&s->declared_index, v->name);
    if (known != MAP_NONE && says_less(v, s->declared_values.data[known]))
        return;
    map_put(&s->declared_index, v->name, (uint32_t)s->declared_values.count);
    vec_push(s->all->c->model_arena, &s->declared_values, v);
}

static void know_declared(struct scope *s)
{
    s->knows_declared = true;
    if (s->outer)
        map_init(&s->declared_index, s->all->c->model_arena);
    else
        s->declared = arena_array(s->all->c->model_arena, const struct fw_value *, s->all->in->model->n_names);
    for (size_t i = 0; i < s->graph->values.count; i++)
        note_declared(s, &s->graph->values.data[i]);
    for (size_t i = 0; i < s->graph->outputs.count; i++)
        note_declared(s, &s->graph->outputs.data[i]);
}

const struct fw_value *scope_declared(struct scope *s, const struct fw_node *n, size_t k)
{
    fw_name name = fw_out_id(n, k);
    if (name == FW_NO_NAME)
        return NULL;
    if (!s->knows_declared)
        know_declared(s);
    if (!s->outer)
        return s->declared[name];
    uint32_t at = map_get(&s->declared_index, n->outputs[k]);
    return at == MAP_NONE ? NULL : s->declared_values.data[at];
}

const char *scope_name(const struct scope *s, const char *name)
{
    return s->prefix && *name ? arena_printf(s->all->c->arena, "%s/%s", s->prefix, name) : name;
}

odlc_status report_not_given(const struct lowering *all, const char *node, const char *value)
{
    return diag_error(all->c->diags, ODLC_ERR_UNSUPPORTED, AT(.file = all->path, .node = node), "output-not-given",
                      "%s is used, but its node does not give that output", value);
}
