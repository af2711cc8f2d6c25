/* SPDX-License-Identifier: Apache-2.0 */
/* A saved model brings the definitions of the operators that it uses: of a user's own ones they are the only source. */
#include "converters/tensorflow/decode/op_list.h"

#include <string.h>

#include "converters/tensorflow/decode/tf_attr.h"
#include "converters/tensorflow/schema/tf_fields.h"

static struct tf_arg_def read_arg(const struct tf_model *m, const struct wire_field *arg)
{
    struct tf_arg_def o = {.name = ""};
    struct wire w = wire_in(m->file, arg);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.number == ARG_NAME)
            o.name = tf_text(m, &f);
        else if (f.number == ARG_TYPE)
            o.code = (int32_t)f.value;
        else if (f.number == ARG_TYPE_ATTR && f.size > 0)
            o.type = tf_text(m, &f);
        else if (f.number == ARG_NUMBER_ATTR && f.size > 0)
            o.count = tf_text(m, &f);
        else if (f.number == ARG_TYPE_LIST_ATTR && f.size > 0)
            o.type_list = tf_text(m, &f);
    }
    return o;
}

static struct tf_op_def read_op(const struct tf_model *m, const struct wire_field *op)
{
    struct arena *arena = m->memory.scratch;
    VEC(struct tf_arg_def) outputs = {0}, inputs = {0};
    struct tf_op_def def = {.op = ""};
    struct wire w = wire_in(m->file, op);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.number == OP_DEF_NAME)
            def.op = tf_text(m, &f);
        else if (f.number == OP_DEF_OUTPUT_ARG)
            vec_push(arena, &outputs, read_arg(m, &f));
        else if (f.number == OP_DEF_INPUT_ARG)
            vec_push(arena, &inputs, read_arg(m, &f));
    }
    def.inputs = inputs.data;
    def.n_inputs = inputs.count;
    def.outputs = outputs.data;
    def.n_outputs = outputs.count;
    return def;
}

/* For each reader of an output, its operator's outputs are gone through. */
static odlc_status check_size(const struct tf_model *m, const struct wire_field *op)
{
    const struct sections s = wire_sections(m->file, op->content, op->content + op->size);
    for (uint32_t part = OP_DEF_INPUT_ARG; part <= OP_DEF_ATTR; part++)
        if (s.of[part].count > TF_MAX_ATTRS)
            return diag_error(m->diags, ODLC_ERR_LIMIT, AT(IN_MODEL(m), .offset = op->at, .has_offset = 1),
                              "tensorflow-op-def",
                              "the definition of an operator has %zu inputs, outputs or attributes, more than %d",
                              s.of[part].count, TF_MAX_ATTRS);
    return ODLC_OK;
}

odlc_status tf_decode_op_list(struct tf_model *m, const struct wire_field *list)
{
    struct wire w = wire_in(m->file, list);
    struct wire_field f;
    map_init(&m->op_index, m->memory.scratch);
    while (wire_next_of(&w, OP_LIST_OP, &f)) {
        TRY(check_size(m, &f));
        const struct tf_op_def def = read_op(m, &f);
        map_put(&m->op_index, def.op, (uint32_t)m->ops.count);
        vec_push(m->memory.scratch, &m->ops, def);
        vec_push(m->memory.scratch, &m->op_messages, f);
    }
    return ODLC_OK;
}

/* Those of the first arguments that are one input each. */
static void name_inputs(struct tf_model *m, const struct wire_field *message, struct fw_op *op)
{
    struct wire w = wire_in(m->file, message);
    struct wire_field arg, list;
    VEC(const char *) names = {0};
    bool single = true;
    while (single && wire_next_of(&w, OP_DEF_INPUT_ARG, &arg)) {
        struct wire count = wire_in(m->file, &arg), types = count;
        single = !wire_next_of(&count, ARG_NUMBER_ATTR, &list) && !wire_next_of(&types, ARG_TYPE_LIST_ATTR, &list);
        if (single)
            vec_push(m->memory.graph, &names, read_arg(m, &arg).name);
    }
    op->input_names = names.data;
    op->n_input_names = (uint32_t)names.count;
}

static const struct tf_arg_def *keep_args(struct arena *arena, const struct tf_arg_def *args, size_t count)
{
    struct tf_arg_def *kept = arena_array(arena, struct tf_arg_def, count);
    for (size_t i = 0; i < count; i++) {
        const struct tf_arg_def *a = &args[i];
        kept[i] = (struct tf_arg_def){.name = arena_strdup(arena, a->name),
                                      .count = a->count ? arena_strdup(arena, a->count) : NULL,
                                      .type = a->type ? arena_strdup(arena, a->type) : NULL,
                                      .type_list = a->type_list ? arena_strdup(arena, a->type_list) : NULL,
                                      .code = a->code};
    }
    return kept;
}

/* The definition as it is needed when the model has been loaded. */
static const struct tf_op_def *keep_definition(struct arena *arena, const struct tf_op_def *def)
{
    struct tf_op_def *kept = arena_new(arena, struct tf_op_def);
    *kept = (struct tf_op_def){.op = arena_strdup(arena, def->op),
                               .outputs = keep_args(arena, def->outputs, def->n_outputs),
                               .n_outputs = def->n_outputs,
                               .inputs = keep_args(arena, def->inputs, def->n_inputs),
                               .n_inputs = def->n_inputs};
    return kept;
}

odlc_status tf_describe_op(struct tf_model *m, struct fw_op *op)
{
    uint32_t at = m->ops.count == 0 || tf_find_op(op->type) ? MAP_NONE : map_get(&m->op_index, op->type);
    if (at == MAP_NONE)
        return ODLC_OK;
    const struct wire_field *message = &m->op_messages.data[at];
    name_inputs(m, message, op);
    op->definition = keep_definition(m->memory.graph, &m->ops.data[at]);
    return tf_decode_defaults(m, message, op->type, &op->defaults, &op->n_defaults);
}

const struct tf_op_def *tf_op_of(const struct tf_model *m, const char *op)
{
    const struct tf_op_def *def = tf_find_op(op);
    uint32_t at = def || m->ops.count == 0 ? MAP_NONE : map_get(&m->op_index, op);
    return at == MAP_NONE ? def : &m->ops.data[at];
}
